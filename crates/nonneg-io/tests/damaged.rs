//! Binary files cut off anywhere and with bytes changed: reading ends with a result or an error that names the file.

mod common;

use common::{Folder, fixture};
use nonneg_io::{peek, read_problem, read_vector};

/// Changes tried on each file.
const CHANGES: u64 = 300;
/// Places where a file is cut off, spread over all of it.
const MOST_CUTS: usize = 800;

fn check(names: &[&str]) {
    let folder = Folder::new();
    for name in names {
        let whole = std::fs::read(fixture(name)).unwrap();
        let path = folder.path(name);
        let read = |bytes: &[u8], what: &str| {
            std::fs::write(&path, bytes).unwrap();
            let results = [
                peek(&path).map(|_| ()),
                read_problem(&path, None).map(|problem| assert!(problem.matrix.view().bytes() < 1 << 28, "{what}")),
                read_vector(&path).map(|_| ()),
            ];
            for error in results.into_iter().filter_map(Result::err) {
                assert!(error.to_string().starts_with(&path), "{what}: {error}");
            }
        };
        for length in (0..whole.len()).step_by(1 + whole.len() / MOST_CUTS) {
            read(&whole[..length], &format!("{name}, first {length} bytes"));
        }
        let mut state = 1u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize
        };
        for change in 0..CHANGES {
            let mut bytes = whole.clone();
            for _ in 0..1 + random() % 3 {
                let at = random() % bytes.len();
                bytes[at] = [random() as u8, 0, 0xff, 0x7f, bytes[at] ^ 1][random() % 5];
            }
            read(&bytes, &format!("{name}, change {change}"));
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet() {
    check(&["polars.parquet", "arrow_none.parquet", "types.parquet", "f4.parquet", "fastparquet.parquet"]);
}

#[test]
fn mat() {
    check(&["dense.mat", "sparse.mat", "sparse_v4.mat", "types.mat", "testsparse_6.1_SOL2.mat", "testmatrix_4.2c_SOL2.mat"]);
}

#[cfg(feature = "hdf5")]
#[test]
fn hdf5() {
    check(&["contiguous.h5", "gzip_new.h5", "fletcher_new.h5", "csc.h5ad", "v73.mat", "virtual.h5", "link.h5"]);
}
