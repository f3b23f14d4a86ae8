//! `.nnm`: what was written comes back where it lies, and damage is an error.

mod common;

use common::{Folder, rows};
use nonneg::{AnyMatrix, CscMatrix, DenseMatrix};
use nonneg_io::{Matrix, peek, read_problem, write_problem};

fn sparse() -> AnyMatrix {
    let entries: Vec<(usize, usize, f64)> = (0..300).map(|k| (k * 7 % 41, k * 11 % 23, 0.5 + k as f64)).collect();
    CscMatrix::<f64, u32>::from_triplets(41, 23, &entries).unwrap().into()
}

fn rhs() -> Vec<f64> {
    (0..41).map(|i| i as f64 / 3.0 - 2.0).collect()
}

#[test]
fn a_file_is_used_where_it_is_and_opened_by_its_header() {
    let folder = Folder::new();
    let path = folder.path("a.nnm");
    write_problem(&path, sparse().view(), Some(&rhs())).unwrap();
    let read = read_problem(&path, None).unwrap();
    assert!(matches!(read.matrix, Matrix::Mapped(_)) && read.rhs == Some(rhs()));
    assert_eq!(rows(&read.matrix), rows(&sparse()));
    let shape = peek(&path).unwrap().unwrap();
    assert_eq!((shape.rows, shape.cols, shape.nnz, shape.kind), (41, 23, Some(sparse().view().nnz()), "csc"));
    assert_eq!(shape.dtype, "float64");
}

#[test]
fn empty_matrices_and_columns_survive() {
    let folder = Folder::new();
    let path = folder.path("a.nnm");
    let empty: AnyMatrix = CscMatrix::<f32, u64>::from_triplets(3, 4, &[]).unwrap().into();
    let flat: AnyMatrix = DenseMatrix::<f64>::new(3, 0, vec![]).unwrap().into();
    for matrix in [empty, flat] {
        write_problem(&path, matrix.view(), Some(&[1.0, 2.0, 3.0])).unwrap();
        let read = read_problem(&path, None).unwrap();
        assert_eq!((rows(&read.matrix), read.rhs), (rows(&matrix), Some(vec![1.0, 2.0, 3.0])));
    }
}

/// Every byte of the header and every hundredth of the rest in turn; every length that is not the right one.
#[test]
fn any_damage_is_an_error() {
    let folder = Folder::new();
    let (path, damaged) = (folder.path("a.nnm"), folder.path("damaged.nnm"));
    write_problem(&path, sparse().view(), Some(&rhs())).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let fails = |bytes: &[u8], what: String| {
        let _ = std::fs::remove_file(&damaged); // earlier ones stay mapped
        std::fs::write(&damaged, bytes).unwrap();
        let message = read_problem(&damaged, None).expect_err(&what).to_string();
        assert!(
            message.starts_with(&damaged) && message.contains("expected") || message.contains("damaged"),
            "{what}: {message}"
        );
    };
    // What fills the gaps between arrays is not looked at.
    let gap = |at: usize| (256 + 24 * 8..512).contains(&at) || (512 + 41 * 8..896).contains(&at);
    for at in (0..256).chain((256..bytes.len()).step_by(101).filter(|&at| !gap(at))) {
        for mask in [1, 0x80] {
            let mut changed = bytes.clone();
            changed[at] ^= mask;
            fails(&changed, format!("byte {at} ^ {mask}"));
        }
    }
    for length in (0..bytes.len()).step_by(37).chain([bytes.len() - 1]) {
        fails(&bytes[..length], format!("{length} bytes"));
    }
    fails(&[&bytes[..], &[0]].concat(), "one byte too many".into());
    let mut newer = bytes.clone();
    newer[8] = 2;
    std::fs::remove_file(&damaged).unwrap();
    std::fs::write(&damaged, newer).unwrap();
    let message = read_problem(&damaged, None).unwrap_err().to_string();
    assert!(message.contains("version 2, expected 1"), "{message}");
}

/// Digests that fit do not make a row index valid: whoever wrote the file, nothing is read out of bounds.
#[test]
fn what_the_digests_say_is_checked_all_the_same() {
    let folder = Folder::new();
    let path = folder.path("a.nnm");
    write_problem(&path, sparse().view(), None).unwrap();
    let good = std::fs::read(&path).unwrap();
    // Arrays: 24 pointers from 256 on, row indices from the next multiple of 64.
    for (at, length, what) in [(256 + 8, 8, 0), (448, 4, 2)] {
        let mut bytes = good.clone();
        bytes[at..at + length].fill(0x70);
        let nnz = u64::from_le_bytes(bytes[32..40].try_into().unwrap()) as usize;
        let part = if what == 0 { &bytes[256..256 + 24 * 8] } else { &bytes[448..448 + 4 * nnz] };
        let piece = xxhash_rust::xxh3::xxh3_64(part);
        let digest = xxhash_rust::xxh3::xxh3_64(&piece.to_le_bytes());
        bytes[40 + 8 * what..][..8].copy_from_slice(&digest.to_le_bytes());
        let header = xxhash_rust::xxh3::xxh3_64(&bytes[..248]);
        bytes[248..256].copy_from_slice(&header.to_le_bytes());
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, &bytes).unwrap();
        let message = read_problem(&path, None).unwrap_err().to_string();
        assert!(!message.contains("digest"), "{message}");
    }
}

#[test]
fn a_dense_array_is_copied_in_parts() {
    let folder = Folder::new();
    let (from, to) = (folder.path("a.npy"), folder.path("a.nnm"));
    let values: Vec<f32> = (0..1_500_000 * 4).map(|k| (k % 1009) as f32).collect();
    let matrix: AnyMatrix = DenseMatrix::new(1_500_000, 4, values).unwrap().into();
    write_problem(&from, matrix.view(), None).unwrap();
    assert_eq!(nonneg_io::convert_in_parts(&from, &to).unwrap(), Some((1_500_000, 4)));
    let read = read_problem(&to, None).unwrap();
    let (nonneg::MatrixRef::DenseF32(read), nonneg::MatrixRef::DenseF32(matrix)) = (read.matrix.view(), matrix.view()) else {
        panic!("expected f32")
    };
    assert!(read.values() == matrix.values());
    assert_eq!(nonneg_io::convert_in_parts(&to, &from).unwrap(), None);
}
