//! Tables as pandas, pyarrow and polars write them (`fixtures/make.py`).
#![cfg(feature = "parquet")]

mod common;

use common::{Folder, fixture, is_dense, is_single, rows};
use nonneg::{CscMatrix, DenseMatrix};
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
fn every_column_is_one_of_a() {
    // The labels of rows that pandas writes are none.
    for name in ["pandas.parquet", "pandas_index.parquet", "polars.parquet"] {
        let problem = read(name);
        assert_eq!((rows(&problem.matrix), problem.rhs), (a(), None), "{name}");
        assert!(is_dense(&problem.matrix));
        let shape = peek(&fixture(name)).unwrap().unwrap();
        assert_eq!((shape.rows, shape.cols, shape.nnz, shape.kind), (4, 3, Some(12), "dense"));
        assert_eq!(shape.dtype, "float64");
    }
}

#[test]
fn row_labels_with_a_name_were_columns() {
    for name in ["pandas_named.parquet", "pandas_two.parquet", "fastparquet.parquet"] {
        assert_eq!(rows(&read(name).matrix), a(), "{name}");
        assert_eq!(peek(&fixture(name)).unwrap().unwrap().cols, 3, "{name}");
    }
    assert_eq!(read_vector(&fixture("pandas_two.parquet:wavelength")).unwrap(), [400.0, 400.5, 401.0, 401.5]);
}

#[test]
fn every_compression_in_several_groups_of_rows() {
    let mut with_b = a();
    with_b.iter_mut().zip(b()).for_each(|(row, b)| row.push(b));
    for compression in ["none", "snappy", "gzip", "brotli", "lz4", "zstd"] {
        let name = format!("arrow_{compression}.parquet");
        assert_eq!(rows(&read(&name).matrix), with_b, "{name}");
        assert_eq!(read_vector(&fixture(&format!("{name}:b"))).unwrap(), b());
    }
}

#[test]
fn every_type_of_numbers() {
    let (large, small) = (vec![2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 4294967295.0, 9223372036854777856.0, 2.0, 2.0, 1.0], vec![1.0; 11]);
    assert_eq!(rows(&read("types.parquet").matrix), [large, small]);
    assert_eq!(peek(&fixture("types.parquet")).unwrap().unwrap().dtype, "mixed");
    assert_eq!(peek(&fixture("types.parquet:u4")).unwrap().unwrap().dtype, "uint32");
    let single = read("f4.parquet").matrix;
    assert!(is_single(&single));
    assert_eq!(rows(&single), [[1.0, 0.0, 2.0], [0.0, 2.0, 1.0]]);
}

#[test]
fn right_hand_sides() {
    match read_right_hand_sides(&fixture("arrow_zstd.parquet:b"), None).unwrap() {
        RightHandSides::One(values) => assert_eq!(values, b()),
        RightHandSides::Many(_) => panic!("one column is one right-hand side"),
    }
    match read_right_hand_sides(&fixture("pandas.parquet"), None).unwrap() {
        RightHandSides::Many(matrix) => assert_eq!(rows(&matrix.parts(1).next().unwrap().unwrap()), a()),
        RightHandSides::One(_) => panic!("three columns are three right-hand sides"),
    }
}

#[test]
fn refused_with_a_reason() {
    for (name, reason) in [
        ("nulls.parquet", "column 'x' has missing values (nulls)"),
        ("text.parquet", "column 'text' holds text or bytes"),
        ("half.parquet", "column 'x' holds float16, expected float32, float64"),
        ("lists.parquet", "holds lists or records"),
        ("times.parquet", "column 'x' holds dates, times or decimals"),
        ("arrow_none.parquet:c", "there is no column 'c', expected one of: x, y, z, b"),
    ] {
        let message = read_problem(&fixture(name), None).unwrap_err().to_string();
        let file = name.split(':').next().unwrap();
        assert!(message.contains(file) && message.contains(reason), "{message}");
    }
    assert_eq!(read_vector(&fixture("nulls.parquet:y")).unwrap(), [2.0, 3.0]);
    assert_eq!(rows(&read("text.parquet:y").matrix), [[0.0], [0.0], [3.0], [1e-7]]);
    let message = read_vector(&fixture("pandas.parquet")).unwrap_err().to_string();
    assert!(message.contains("holds a 4×3 matrix, expected a vector"), "{message}");
    let folder = Folder::new();
    for bytes in [&b""[..], b"PAR1", b"PAR1PAR1", b"not a table at all"] {
        let path = folder.write("a.parquet", bytes);
        let message = read_problem(&path, None).unwrap_err().to_string();
        assert!(message.starts_with(&path) && message.contains("is not a complete Parquet file"), "{message}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    let folder = Folder::new();
    let path = folder.path("a.parquet");
    let values: Vec<f64> = (0..40_000).map(|k| 1.0 / f64::from(k + 1)).collect();
    let dense = DenseMatrix::new(20_000, 2, values).unwrap();
    write_problem(&path, (&dense).into(), None).unwrap();
    assert_eq!(rows(&read_problem(&path, None).unwrap().matrix), rows(&dense));
    assert_eq!(read_vector(&format!("{path}:1")).unwrap(), dense.values()[20_000..]);
    let single = DenseMatrix::<f32>::new(2, 2, vec![0.1, 0.2, 0.3, 0.4]).unwrap();
    write_problem(&path, (&single).into(), None).unwrap();
    let read = read_problem(&path, None).unwrap().matrix;
    assert!(is_single(&read));
    assert_eq!(rows(&read), rows(&single));

    let sparse = CscMatrix::<f64>::from_triplets(2, 2, &[(0, 0, 1.0)]).unwrap();
    let message = write_problem(&path, (&sparse).into(), None).unwrap_err().to_string();
    assert!(message.contains("dense matrices only"), "{message}");
}
