//! MATLAB files as SciPy and MATLAB write them (`fixtures/make.py`).

mod common;

use common::{Folder, fixture, is_dense, is_single, rows};
use nonneg::{AnyMatrix, CscMatrix, DenseMatrix};
use nonneg_io::{Problem, RightHandSides, peek, read_bounds, read_problem, read_right_hand_sides, read_vector, write_problem};

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
fn a_and_b() {
    for (name, dense) in [("dense.mat", true), ("sparse.mat", false), ("dense_v4.mat", true), ("sparse_v4.mat", false)] {
        let problem = read(name);
        assert_eq!((rows(&problem.matrix), problem.rhs), (a(), Some(b())), "{name}");
        assert_eq!(is_dense(&problem.matrix), dense);
        let shape = peek(&fixture(name)).unwrap().unwrap();
        assert_eq!((shape.rows, shape.cols, shape.dtype.as_str()), (4, 3, "float64"), "{name}");
        assert_eq!((shape.kind, shape.nnz), if dense { ("dense", Some(12)) } else { ("csc", None) });
        assert_eq!(read_vector(&fixture(&format!("{name}:b"))).unwrap(), b());
    }
}

#[test]
fn files_that_matlab_wrote() {
    let expected = [[1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0, 0.0]];
    for name in ["testsparse_4.2c_SOL2", "testsparse_6.1_SOL2", "testsparse_7.4_GLNX86"] {
        let problem = read(&format!("{name}.mat"));
        assert_eq!(rows(&problem.matrix), expected, "{name}");
        assert!(!is_dense(&problem.matrix) && problem.rhs.is_none());
    }
    let truth = [[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0; 4], [0.0; 4]];
    assert_eq!(rows(&read("logical_sparse.mat").matrix), truth);
    for name in ["testmatrix_4.2c_SOL2", "testmatrix_6.1_SOL2"] {
        assert_eq!(rows(&read(&format!("{name}.mat")).matrix), expected, "{name}");
    }
}

#[test]
fn every_type_of_numbers() {
    for dtype in ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"] {
        let matrix = read(&format!("types.mat:{dtype}")).matrix;
        assert_eq!(rows(&matrix), [[1.0, 0.0, 2.0], [0.0, 2.0, 1.0]], "{dtype}");
        assert_eq!(is_single(&matrix), dtype == "f4");
    }
    assert_eq!(rows(&read("types.mat:bool").matrix), [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]);
    assert_eq!(peek(&fixture("types.mat:u2")).unwrap().unwrap().dtype, "uint16");
}

#[test]
fn sparse_int8_was_read_as_unsigned() {
    assert_eq!(rows(&read("sparse_i1.mat").matrix), [[-1.0, 0.0, -2.0], [0.0, -2.0, -1.0]]);
}

#[test]
fn right_hand_sides() {
    match read_right_hand_sides(&fixture("dense.mat:b"), None).unwrap() {
        RightHandSides::One(values) => assert_eq!(values, b()),
        RightHandSides::Many(_) => panic!("one column is one right-hand side"),
    }
    match read_right_hand_sides(&fixture("dense.mat:A"), None).unwrap() {
        RightHandSides::Many(matrix) => assert_eq!(rows(&matrix.parts(1).next().unwrap().unwrap()), a()),
        RightHandSides::One(_) => panic!("three columns are three right-hand sides"),
    }
}

#[test]
fn refused_with_a_reason() {
    for (name, reason) in [
        ("types.mat", "expected an array 'A' or exactly one matrix; name one as"),
        ("types.mat:c8", "is complex, expected numbers"),
        ("dense.mat:note", "is text, expected numbers"),
        ("dense.mat:cells", "is a cell array, expected numbers"),
        ("dense.mat:x", "there is no array 'x', expected one of: A, b, note, cells"),
    ] {
        let message = read_problem(&fixture(name), None).unwrap_err().to_string();
        assert!(message.contains(name.split(':').next().unwrap()) && message.contains(reason), "{message}");
    }
    let message = read_vector(&fixture("dense.mat")).unwrap_err().to_string();
    assert!(message.contains("holds several arrays; name one as"), "{message}");

    let whole = std::fs::read(fixture("dense.mat")).unwrap();
    let mut infinite = whole.clone();
    let at = whole.windows(8).position(|window| window == 1.5f64.to_le_bytes()).unwrap();
    infinite[at..at + 8].copy_from_slice(&f64::INFINITY.to_le_bytes());
    let mut damaged = std::fs::read(fixture("sparse.mat")).unwrap();
    let end = damaged.len() - 1;
    damaged[end] ^= 1; // of the checksum
    let folder = Folder::new();
    for (bytes, reason) in [
        (damaged, "the compressed data are damaged"),
        (vec![], "is not a MATLAB file"),
        (whole[..100].to_vec(), "is not a MATLAB file"),
        (whole[..200].to_vec(), "the file is cut short"),
        (infinite, "column 0, row 0: inf is not a finite number"),
    ] {
        let path = folder.write("a.mat", bytes);
        let message = read_problem(&path, None).unwrap_err().to_string();
        assert!(message.starts_with(&path) && message.contains(reason), "{message}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    let folder = Folder::new();
    let path = folder.path("a.mat");
    let sparse = CscMatrix::<f64>::from_triplets(5, 4, &[(0, 0, 0.1), (3, 0, -2.0), (4, 2, 5e-324)]).unwrap();
    let wide = CscMatrix::<f64, u64>::from_triplets(3, 2, &[(0, 0, 0.1), (2, 1, 3.0)]).unwrap();
    let single = DenseMatrix::<f32>::new(3, 1, vec![0.1, 0.2, 0.3]).unwrap();
    let empty = CscMatrix::<f64>::from_triplets(2, 2, &[]).unwrap();
    let dense = DenseMatrix::new(2, 2, vec![1.0, f64::MAX, 0.1, -0.0]).unwrap();
    let matrices: [AnyMatrix; 5] = [sparse.into(), wide.into(), single.into(), empty.into(), dense.into()];
    for matrix in matrices {
        let rhs: Vec<f64> = (0..matrix.view().rows()).map(|i| i as f64 - 0.7).collect();
        for rhs in [None, Some(rhs.as_slice())] {
            write_problem(&path, matrix.view(), rhs).unwrap();
            let read = read_problem(&path, None).unwrap();
            assert_eq!((rows(&read.matrix), read.rhs.as_deref()), (rows(&matrix), rhs));
            assert_eq!((is_dense(&read.matrix), is_single(&read.matrix)), (is_dense(&matrix), is_single(&matrix)));
            assert_eq!(read.matrix.view().nnz(), matrix.view().nnz());
            if let Some(rhs) = rhs {
                assert_eq!(read_bounds(&format!("{path}:b")).unwrap(), rhs);
            }
        }
    }
}
