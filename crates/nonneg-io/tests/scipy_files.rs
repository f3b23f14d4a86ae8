//! Files as SciPy, NumPy, scikit-learn, bzip2, xz and zstd write them (`fixtures/make.py`).

mod common;

use common::{Folder, fixture, is_dense, is_single, rows};
use nonneg_io::{Problem, peek, read_problem, read_vector, scan_libsvm};

fn read(name: &str) -> Problem {
    read_problem(&fixture(name), None).unwrap_or_else(|e| panic!("{e}"))
}

fn a() -> Vec<Vec<f64>> {
    vec![vec![1.5, 0.0, -2.0], vec![0.0, 0.0, 0.0], vec![0.1, 3.0, 0.0], vec![0.0, 1e-7, 4.0]]
}

fn b() -> Vec<f64> {
    vec![1.0, -2.5, 0.0, 7.0]
}

#[test]
fn sparse_archives() {
    for format in ["csc", "csr", "coo"] {
        for (variant, rhs) in [("", None), ("_compressed", None), ("_b", Some(b()))] {
            let name = format!("sparse_{format}{variant}.npz");
            let problem = read(&name);
            assert_eq!(rows(&problem.matrix), a(), "{name}");
            assert_eq!(problem.rhs, rhs, "{name}");
            assert!(!is_dense(&problem.matrix));
            let shape = peek(&fixture(&name)).unwrap().unwrap();
            assert_eq!((shape.rows, shape.cols, shape.nnz), (4, 3, Some(6)));
            assert_eq!((shape.kind, shape.dtype.as_str()), (format, "float64"));
        }
    }
    assert_eq!(rows(&read("sparse_array.npz").matrix), a());
    assert_eq!(rows(&read("sparse_int64_indices.npz").matrix), a());
}

#[test]
fn sparse_types() {
    let c = vec![vec![1.0, 0.0, 2.0], vec![0.0, 2.0, 1.0]];
    let single = read("sparse_f4.npz").matrix;
    assert!(is_single(&single));
    assert_eq!(rows(&single), c);
    assert_eq!(rows(&read("sparse_i4.npz").matrix), c);
    assert_eq!(rows(&read("sparse_bool.npz").matrix), [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]);
    assert_eq!(rows(&read("coo_duplicates.npz").matrix), [[0.0, 0.0, 2.0], [1.5, 0.0, 0.0]]);
}

#[test]
fn dense_arrays() {
    let c = vec![vec![1.0, 0.0, 2.0], vec![0.0, 2.0, 1.0]];
    for dtype in ["le_f4", "le_f8", "be_f4", "be_f8", "le_i2", "le_i4", "le_i8", "be_i4", "u1", "le_u2"] {
        let matrix = read(&format!("dense_c_{dtype}.npy")).matrix;
        assert_eq!(rows(&matrix), c, "{dtype}");
        assert_eq!(is_single(&matrix), dtype.ends_with("f4"));
        assert!(is_dense(&matrix));
    }
    assert_eq!(rows(&read("dense_c_bool.npy").matrix), [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]);
    assert_eq!(rows(&read("dense_c_f8.npy").matrix), a());
    assert_eq!(rows(&read("dense_f_f8.npy").matrix), a());
    let shape = peek(&fixture("dense_c_le_i2.npy")).unwrap().unwrap();
    assert_eq!((shape.rows, shape.cols, shape.nnz, shape.kind), (2, 3, Some(6), "dense"));
    assert_eq!(shape.dtype, "int16");
}

#[test]
fn plain_archives() {
    let problem = read("plain.npz");
    assert_eq!((rows(&problem.matrix), problem.rhs), (a(), Some(b())));
    assert_eq!(rows(&read("plain_only_matrix.npz").matrix), a());
    let problem = read("plain_two_matrices.npz:Q");
    assert_eq!((rows(&problem.matrix), problem.rhs), (a(), Some(b())));
    assert_eq!(peek(&fixture("plain.npz")).unwrap().unwrap().kind, "dense");

    let message = read_problem(&fixture("plain_two_matrices.npz"), None).unwrap_err().to_string();
    assert!(message.contains("exactly one 2-D array") && message.contains("P, Q, b"), "{message}");
    let message = read_problem(&fixture("plain.npz:Z"), None).unwrap_err().to_string();
    assert!(message.contains("there is no array 'Z', expected one of: A, b"), "{message}");
}

#[test]
fn vectors() {
    for name in ["vector.npy", "vector_column.npy", "plain.npz:b", "sparse_csc_b.npz:b"] {
        assert_eq!(read_vector(&fixture(name)).unwrap(), b(), "{name}");
    }
    let refused =
        [("dense_c_f8.npy", "one row or column"), ("plain.npz", "plain.npz:KEY"), ("one_based.svm", "expected a vector")];
    for (name, reason) in refused {
        let message = read_vector(&fixture(name)).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains(reason), "{message}");
    }
}

#[test]
fn matrix_market() {
    assert_eq!(rows(&read("sparse.mtx").matrix), a());
    let dense = read("dense.mtx").matrix;
    assert!(is_dense(&dense));
    assert_eq!(rows(&dense), a());
    assert_eq!(rows(&read("symmetric.mtx").matrix), [[2.0, 1.0], [1.0, 0.0]]);
    assert_eq!(rows(&read("skew.mtx").matrix), [[0.0, -1.5], [1.5, 0.0]]);
    assert_eq!(rows(&read("symmetric_array.mtx").matrix), [[2.0, 1.0, 3.0], [1.0, 0.0, 4.0], [3.0, 4.0, 5.0]]);
    assert_eq!(rows(&read("integer.mtx").matrix), [[1.0, 0.0, 2.0], [0.0, 2.0, 1.0]]);
    assert_eq!(rows(&read("pattern.mtx").matrix), [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]);
    let shape = peek(&fixture("sparse.mtx")).unwrap().unwrap();
    assert_eq!((shape.rows, shape.cols, shape.nnz, shape.kind), (4, 3, Some(6), "coo"));
    assert_eq!(peek(&fixture("symmetric.mtx")).unwrap().unwrap().nnz, None);
}

#[test]
fn svmlight() {
    for name in ["zero_based.svm", "one_based.svm", "query.svm"] {
        let problem = read(name);
        assert_eq!((rows(&problem.matrix), problem.rhs), (a(), Some(b())), "{name}");
        assert_eq!(peek(&fixture(name)).unwrap(), None);
    }
}

#[test]
fn compressed_text() {
    for ending in ["bz2", "xz", "zst"] {
        assert_eq!(rows(&read(&format!("sparse.mtx.{ending}")).matrix), a());
        assert_eq!(peek(&fixture(&format!("sparse.mtx.{ending}"))).unwrap().unwrap().nnz, Some(6));
        let problem = read(&format!("two_streams.svm.{ending}"));
        assert_eq!((rows(&problem.matrix), problem.rhs), (a(), Some(b())));
    }
    let folder = Folder::new();
    for name in ["real-sim.bz2", "news20.binary.bz2", "E2006.train.bz2"] {
        let path = folder.path(name);
        std::fs::copy(fixture("two_streams.svm.bz2"), &path).unwrap();
        assert_eq!(rows(&read_problem(&path, None).unwrap().matrix), a(), "{name}");
    }
    let text = std::fs::read(fixture("one_based.svm")).unwrap();
    assert_eq!(rows(&read_problem(&folder.write("real-sim", text), None).unwrap().matrix), a());
}

#[test]
fn shapes_without_values() {
    // The name tells the format of a file that is called something else.
    let folder = Folder::new();
    let path = folder.path("real-sim.bz2.part");
    std::fs::copy(fixture("two_streams.svm.bz2"), &path).unwrap();
    let shape = scan_libsvm(&path, "real-sim.bz2", None).unwrap();
    assert_eq!((shape.rows, shape.cols, shape.nnz), (4, 3, Some(6)));
    // Zeros that are written count as entries.
    let path = folder.write("a.svm", "1 0:2 4:0\n-1 1:1\n");
    assert_eq!(scan_libsvm(&path, "a.svm", None).unwrap().nnz, Some(3));
    assert_eq!(scan_libsvm(&path, "a.svm", None).unwrap().cols, 5);
    for (text, reason) in [("1 1:x\n", "a.svm, line 1"), ("", "holds no rows"), ("1\n", "holds labels only")] {
        let message = scan_libsvm(&folder.write("a.svm", text), "a.svm", None).unwrap_err().to_string();
        assert!(message.contains(reason), "{message}");
    }
    let message = scan_libsvm(&fixture("sparse.mtx"), "sparse.mtx", None).unwrap_err().to_string();
    assert!(message.contains("expected a LIBSVM file"), "{message}");
}

#[test]
fn tables() {
    assert_eq!(rows(&read("table.csv").matrix), a());
    assert_eq!(rows(&read("table.txt").matrix), a());
}

#[test]
fn refused_with_a_reason() {
    for (name, reason) in [
        ("sparse_bsr.npz", "sparse format 'bsr' is not supported"),
        ("sparse_dia.npz", "sparse format 'dia' is not supported"),
        ("complex.npy", "arrays of type '<c16' are not supported"),
        ("object.npy", "arrays of type '|O' are not supported"),
        ("complex.mtx", "complex matrices are not supported"),
    ] {
        let message = read_problem(&fixture(name), None).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains(reason), "{message}");
    }
}
