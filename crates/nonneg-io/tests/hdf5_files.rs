//! HDF5 files as h5py, AnnData, 10x Genomics and MATLAB write them (`fixtures/make.py`).
#![cfg(feature = "hdf5")]

mod common;

use std::sync::atomic::{AtomicU64, Ordering};

use common::{Folder, fixture, is_dense, is_single, rows};
use nonneg::{AnyMatrix, CscMatrix, CsrMatrix, DenseMatrix};
use nonneg_io::{Problem, RightHandSides, peek, read_problem, read_right_hand_sides, read_vector, write_problem};

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
fn old_and_new_files_in_every_layout() {
    for layout in ["contiguous", "gzip", "growing", "fletcher"] {
        for suffix in ["", "_new"] {
            let name = format!("{layout}{suffix}.h5");
            let problem = read(&name);
            assert_eq!((rows(&problem.matrix), problem.rhs), (a(), Some(b())), "{name}");
            assert!(is_dense(&problem.matrix));
            let shape = peek(&fixture(&name)).unwrap().unwrap();
            assert_eq!((shape.rows, shape.cols, shape.nnz, shape.kind), (4, 3, Some(12), "dense"));
            assert_eq!(shape.dtype, "float64");
            assert_eq!(read_vector(&fixture(&format!("{name}:/b"))).unwrap(), b());
            assert_eq!(rows(&read(&format!("{name}:b")).matrix).concat(), b());
        }
    }
    let wide: Vec<Vec<f64>> = a().iter().map(|row| row.iter().flat_map(|&value| [value; 20]).collect()).collect();
    assert_eq!(rows(&read("lzf.h5").matrix), wide);
}

#[test]
fn every_type_of_numbers() {
    let c = vec![vec![1.0, 0.0, 2.0], vec![0.0, 2.0, 1.0]];
    for dtype in ["f4", "f8", ">f4", ">f8", "i1", "i2", "i4", ">i4", "i8", "u1", "u2", "u4", "u8"] {
        let problem = read(&format!("types.h5:/inner/{dtype}"));
        assert_eq!(rows(&problem.matrix), c, "{dtype}");
        assert_eq!(problem.rhs, Some(b()[..2].to_vec()), "b is beside it");
        assert_eq!(is_single(&problem.matrix), dtype.ends_with("f4"));
    }
    assert_eq!(rows(&read("types.h5:bool").matrix), [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]);
    assert_eq!(peek(&fixture("types.h5:inner/>i4")).unwrap().unwrap().dtype, "int32");
}

#[test]
fn sparse_groups() {
    for (name, kind, dtype) in [
        ("csr.h5ad", "csr", "float64"),
        ("csc.h5ad", "csc", "float64"),
        ("old.h5ad", "csc", "float64"),
        ("tenx.h5", "csc", "float32"),
        ("tenx.h5:/matrix", "csc", "float32"),
        ("v73.mat:S", "csc", "float64"),
    ] {
        let matrix = read(name).matrix;
        let expected = if dtype == "float32" {
            a().iter().map(|row| row.iter().map(|&v| f64::from(v as f32)).collect()).collect()
        } else {
            a()
        };
        assert_eq!(rows(&matrix), expected, "{name}");
        assert!(!is_dense(&matrix));
        let shape = peek(&fixture(name)).unwrap().unwrap();
        assert_eq!((shape.rows, shape.cols, shape.nnz), (4, 3, Some(6)), "{name}");
        assert_eq!((shape.kind, shape.dtype.as_str()), (kind, dtype), "{name}");
    }
    let single = read("dense.h5ad").matrix;
    assert!(is_dense(&single) && is_single(&single));
}

#[test]
fn matlab_stores_columns() {
    let problem = read("v73.mat");
    assert_eq!((rows(&problem.matrix), problem.rhs), (a(), Some(b())));
    assert_eq!(read_vector(&fixture("v73.mat:b")).unwrap(), b());
    let zero = read("v73.mat:Z").matrix;
    assert_eq!((zero.view().rows(), zero.view().cols(), zero.view().nnz()), (3, 2, 0));
}

#[test]
fn right_hand_sides() {
    match read_right_hand_sides(&fixture("gzip.h5:/b"), None).unwrap() {
        RightHandSides::One(values) => assert_eq!(values, b()),
        RightHandSides::Many(_) => panic!("one dimension is one right-hand side"),
    }
    match read_right_hand_sides(&fixture("gzip.h5:/A"), None).unwrap() {
        RightHandSides::Many(matrix) => assert_eq!(rows(&matrix.parts(1).next().unwrap().unwrap()), a()),
        RightHandSides::One(_) => panic!("three columns are three right-hand sides"),
    }
}

#[test]
fn what_stands_for_another_file_was_said_to_be_missing() {
    for (name, reason) in [
        ("virtual.h5", "virtual.h5:A: is a virtual dataset"),
        ("virtual.h5:/A", "virtual.h5:/A: is a virtual dataset"),
        ("virtual.h5:N", "there is no 'N'"),
        ("link.h5", "link.h5:A: is a link to another file, contiguous.h5, and not followed"),
        ("link.h5:/A", "link.h5:/A: is a link to another file"),
        ("link.h5:N", "there is no 'N', expected one of: b"),
    ] {
        let message = read_problem(&fixture(name), None).unwrap_err().to_string();
        assert!(message.contains(reason), "{message}");
    }
    // One of its arrays keeps the reader from listing the others.
    let message = read_vector(&fixture("virtual.h5")).unwrap_err().to_string();
    assert!(message.contains("its arrays cannot be listed, name one as"), "{message}");
    assert_eq!(rows(&read("virtual.h5:M").matrix), a());
}

#[test]
fn refused_with_a_reason() {
    for (name, reason) in [
        ("types.h5", "expected an array 'A' or exactly one matrix; name one as"),
        ("types.h5:nothing", "there is no 'nothing', expected one of: bool, inner/"),
        ("types.h5:inner", "is a group, expected a dataset or a sparse matrix"),
        ("types.h5:text", "does not hold numbers that we know"),
        ("types.h5:f2", "does not hold numbers that we know"),
        ("types.h5:cube", "has 3 dimensions"),
    ] {
        let message = read_problem(&fixture(name), None).unwrap_err().to_string();
        assert!(message.contains("types.h5") && message.contains(reason), "{message}");
    }
    let message = read_vector(&fixture("gzip.h5")).unwrap_err().to_string();
    assert!(message.contains("holds several arrays; name one as"), "{message}");
    let folder = Folder::new();
    for bytes in [&b""[..], b"\x89HDF\r\n\x1a\n", b"not a file of this kind"] {
        let path = folder.write("a.h5", bytes);
        let message = read_problem(&path, None).unwrap_err().to_string();
        assert!(message.starts_with(&path) && message.contains("is not a complete HDF5 file"), "{message}");
    }
    let matrix = DenseMatrix::new(1, 1, vec![1.0]).unwrap();
    let message = write_problem(&folder.path("a.h5ad"), (&matrix).into(), None).unwrap_err().to_string();
    assert!(message.contains("AnnData files are read, not written"), "{message}");
}

#[test]
fn what_is_written_is_read_back() {
    let folder = Folder::new();
    let path = folder.path("a.h5");
    let sparse = CscMatrix::<f64>::from_triplets(5, 4, &[(0, 0, 0.1), (3, 0, -2.0), (4, 2, 5e-324)]).unwrap();
    let wide = CscMatrix::<f32, u64>::from_triplets(3, 2, &[(0, 0, 0.1), (2, 1, 3.0)]).unwrap();
    let by_rows: CsrMatrix = CsrMatrix::new(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.5, 2.5, -3.5]).unwrap();
    let single = DenseMatrix::<f32>::new(3, 1, vec![0.1, 0.2, 0.3]).unwrap();
    let empty = CscMatrix::<f64>::from_triplets(2, 2, &[]).unwrap();
    // More than one block.
    let dense = DenseMatrix::new(30_000, 20, (0..600_000).map(|k| 1.0 / f64::from(k + 1)).collect()).unwrap();
    let matrices: [AnyMatrix; 6] = [sparse.into(), wide.into(), by_rows.into(), single.into(), empty.into(), dense.into()];
    for matrix in matrices {
        let rhs: Vec<f64> = (0..matrix.view().rows()).map(|i| i as f64 - 0.7).collect();
        for rhs in [None, Some(rhs.as_slice())] {
            write_problem(&path, matrix.view(), rhs).unwrap();
            let size = std::fs::metadata(&path).unwrap().len();
            let last = AtomicU64::new(0);
            let progress = |read: u64, total: Option<u64>| {
                assert!(read <= size && total == Some(size));
                last.fetch_max(read, Ordering::Relaxed);
            };
            let read = read_problem(&path, Some(&progress)).unwrap();
            assert!(rows(&read.matrix) == rows(&matrix));
            assert_eq!((read.rhs.as_deref(), last.into_inner()), (rhs, size));
            assert_eq!((is_dense(&read.matrix), is_single(&read.matrix)), (is_dense(&matrix), is_single(&matrix)));
            assert_eq!(read.matrix.view().nnz(), matrix.view().nnz());
        }
    }
}
