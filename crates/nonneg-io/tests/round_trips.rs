//! What we write we read back, bit for bit.

mod common;

use std::sync::atomic::{AtomicU64, Ordering};

use common::{Folder, is_dense, is_single, rows};
use nonneg::{AnyMatrix, CscMatrix, CsrMatrix, DenseMatrix};
use nonneg_io::{Matrix, holds_rhs, read_problem, read_vector, write_problem, write_vector};

const AWKWARD: [f64; 8] = [1.0, 0.1, -1e-300, 5e-324, f64::MAX, 123456789.123, 1e22, 0.30000000000000004];

/// 5×4 with the last row and the last column empty.
fn sparse() -> CscMatrix {
    let entries: Vec<_> = AWKWARD.iter().enumerate().map(|(k, &value)| (k % 4, k % 3, value)).collect();
    CscMatrix::from_triplets(5, 4, &entries).unwrap()
}

fn dense() -> DenseMatrix {
    DenseMatrix::new(2, 4, AWKWARD.to_vec()).unwrap()
}

#[test]
fn matrices() {
    let single = CscMatrix::<f32>::from_triplets(3, 2, &[(0, 0, 0.1f32), (2, 1, 3.0)]).unwrap();
    let wide = CscMatrix::<f64, u64>::from_triplets(3, 2, &[(0, 0, 0.1), (2, 1, 3.0)]).unwrap();
    let by_rows: CsrMatrix = CsrMatrix::new(2, 3, vec![0, 2, 3], vec![0, 2, 1], vec![1.5, 2.5, -3.5]).unwrap();
    let single_dense = DenseMatrix::<f32>::new(2, 2, vec![0.1, 0.2, 0.3, 0.4]).unwrap();
    let matrices: [AnyMatrix; 6] =
        [sparse().into(), single.into(), wide.into(), by_rows.into(), dense().into(), single_dense.into()];

    let folder = Folder::new();
    for matrix in matrices {
        let rhs: Vec<f64> = (0..matrix.view().rows()).map(|i| i as f64 - 0.7).collect();
        for name in [
            "a.mtx",
            "a.mtx.gz",
            "a.svm",
            "a.libsvm.gz",
            "a.npz",
            "a.mat",
            "a.h5",
            "a.npy",
            "a.nnm",
            "a.csv",
            "a.csv.gz",
            "a.tsv",
            "a.tsv.gz",
            "A.MTX.GZ",
            "a.mtx.bz2",
            "a.svm.xz",
            "a.mtx.zst",
            "a.csv.xz",
            "a.tsv.zst",
        ] {
            let path = folder.path(name);
            let dense_only = [".npy", ".csv", ".tsv"].iter().any(|ending| name.contains(ending));
            if dense_only && !is_dense(&matrix) {
                let message = write_problem(&path, matrix.view(), None).unwrap_err().to_string();
                assert!(message.contains("dense matrices only") && message.contains(".npz"), "{message}");
                continue;
            }
            for rhs in [None, Some(rhs.as_slice())] {
                write_problem(&path, matrix.view(), rhs).unwrap();
                let read = read_problem(&path, None).unwrap();
                assert_eq!(rows(&read.matrix), rows(&matrix), "{name}");
                if [".npz", ".npy", ".nnm"].iter().any(|ending| name.ends_with(ending)) {
                    assert_eq!(is_single(&read.matrix), is_single(&matrix));
                }
                if !name.contains("svm") {
                    assert_eq!(read.matrix.view().nnz(), matrix.view().nnz());
                    assert_eq!(is_dense(&read.matrix), is_dense(&matrix));
                }
                let zeros = vec![0.0; rows(&matrix).len()];
                let kept = if name.contains("svm") { Some(rhs.unwrap_or(&zeros)) } else { rhs };
                assert_eq!(read.rhs.as_deref(), kept.filter(|_| holds_rhs(&path)), "{name}");
            }
        }
    }
}

#[test]
fn transposed() {
    let folder = Folder::new();
    let single = CscMatrix::<f32>::from_triplets(3, 2, &[(0, 0, 0.1f32), (2, 1, 3.0)]).unwrap();
    let wide = CscMatrix::<f64, u64>::from_triplets(3, 2, &[(0, 0, 0.1), (2, 1, 3.0)]).unwrap();
    let single_dense = DenseMatrix::<f32>::new(2, 3, vec![0.1, 0.2, 0.3, 0.4, 0.5, 0.6]).unwrap();
    for matrix in [AnyMatrix::from(sparse()), single.into(), wide.into(), dense().into(), single_dense.into()] {
        for name in ["a.npz", "a.mat", "a.mtx", "a.svm"] {
            let path = folder.path(name);
            write_problem(&path, matrix.view(), None).unwrap();
            let turned = nonneg_io::read_transposed_problem(&path, None).unwrap();
            let rows_of_turned = rows(&turned.matrix);
            let columns: Vec<Vec<f64>> =
                (0..matrix.view().cols()).map(|j| rows(&matrix).iter().map(|row| row[j]).collect()).collect();
            assert_eq!((rows_of_turned, turned.rhs), (columns, None), "{name}");
        }
    }
    let tall = "%%MatrixMarket matrix coordinate real general\n4000000000 1 1\n1 1 1\n";
    let message = nonneg_io::read_transposed_problem(&folder.write("tall.mtx", tall), None).unwrap_err().to_string();
    assert!(message.contains("4000000000 columns for 1 entries is not plausible"), "{message}");
    // A right-hand side beside it belongs to A, not to what is stored.
    let path = folder.path("b.npz");
    let square = CscMatrix::<f64>::from_triplets(2, 2, &[(0, 1, 1.0)]).unwrap();
    write_problem(&path, (&square).into(), Some(&[1.0, 2.0])).unwrap();
    assert_eq!(nonneg_io::read_transposed_problem(&path, None).unwrap().rhs, Some(vec![1.0, 2.0]));
    write_problem(&path, (&sparse()).into(), Some(&[1.0; 5])).unwrap();
    let message = nonneg_io::read_transposed_problem(&path, None).unwrap_err().to_string();
    assert!(message.contains("has 5 elements, expected 4"), "{message}");
}

#[test]
fn vectors() {
    let folder = Folder::new();
    for values in [&AWKWARD[..], &[-0.0], &[2.0, 3.0]] {
        for name in [
            "x.npy",
            "x.txt",
            "x.txt.gz",
            "x.csv",
            "x.tsv",
            "x.csv.gz",
            "x.mtx",
            "x.mtx.gz",
            "x.txt.bz2",
            "x.txt.xz",
            "x.mtx.zst",
        ] {
            let path = folder.path(name);
            write_vector(&path, values).unwrap();
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&read_vector(&path).unwrap()), bits(values), "{name}");
        }
    }
}

#[test]
fn vectors_in_other_shapes() {
    let folder = Folder::new();
    for (name, text) in [
        ("row.csv", "1,2.5,-3\n"),
        ("row.txt", "1 2.5   -3"),
        ("row.tsv", "1\t2.5\t-3\r\n"),
        ("header.csv", "my value\n1\n2.5\n-3\n"),
        ("quoted.csv", "\"x\"\n\"1\"\n\"2.5\"\n\"-3\"\n"),
        ("comments.txt", "# x\n\n1\n# middle\n2.5\n-3\n\n"),
        ("mark.csv", "\u{FEFF}1\n2.5\n-3\n"),
        ("row.mtx", "%%MatrixMarket matrix array real general\n1 3\n1\n2.5\n-3\n"),
        ("sparse.mtx", "%%MatrixMarket matrix coordinate real general\n3 1 3\n3 1 -3\n1 1 1\n2 1 2.5D0\n"),
    ] {
        assert_eq!(read_vector(&folder.write(name, text)).unwrap(), [1.0, 2.5, -3.0], "{name}");
    }
}

/// More than one block of text, so that blocks are cut, parsed in parallel and put together.
#[test]
fn large_text_is_the_same_on_any_number_of_threads() {
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state >> 33
    };
    let mut entries = vec![];
    for i in 0..50_000 {
        for _ in 0..8 {
            entries.push((i, (random() % 5000) as usize, random() as f64 / 3e9));
        }
    }
    let matrix: AnyMatrix = CscMatrix::<f64, u32>::from_triplets(50_000, 5000, &entries).unwrap().into();
    let folder = Folder::new();
    for name in ["big.mtx", "big.svm", "big.mtx.gz", "big.svm.gz", "big.svm.zst"] {
        let path = folder.path(name);
        write_problem(&path, matrix.view(), None).unwrap();
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let read = pool.install(|| read_problem(&path, None)).unwrap();
            let (Matrix::Memory(AnyMatrix::CscF64(read)), AnyMatrix::CscF64(matrix)) = (&read.matrix, &matrix) else {
                panic!("not CSC")
            };
            assert!(read == matrix, "{name} on {threads} threads");
        }
    }
}

#[test]
fn progress_runs_up_to_the_size_of_the_file() {
    let folder = Folder::new();
    for name in ["a.mtx", "a.npz", "a.svm.gz", "a.svm.xz", "a.svm.zst"] {
        let path = folder.path(name);
        write_problem(&path, (&sparse()).into(), None).unwrap();
        let size = std::fs::metadata(&path).unwrap().len();
        let last = AtomicU64::new(0);
        let progress = |read: u64, total: Option<u64>| {
            assert_eq!(total, Some(size));
            last.fetch_max(read, Ordering::Relaxed);
        };
        read_problem(&path, Some(&progress)).unwrap();
        assert_eq!(last.into_inner(), size, "{name}");
    }
}
