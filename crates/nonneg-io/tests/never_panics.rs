//! Whatever the bytes are, reading ends with a result or an error.

mod common;

use common::{Folder, fixture};
use nonneg_io::{peek, read_bounds, read_problem, read_vector};
use proptest::prelude::*;

const ENDINGS: [&str; 15] =
    ["mtx", "svm", "csv", "tsv", "txt", "npy", "npz", "mtx.gz", "svm.gz", "svm.bz2", "svm.xz", "svm.zst", "mat", "h5", "parquet"];

const VALID: [&str; 16] = [
    "sparse.mtx",
    "symmetric.mtx",
    "symmetric_array.mtx",
    "dense.mtx",
    "one_based.svm",
    "table.csv",
    "dense_c_f8.npy",
    "dense_c_be_i4.npy",
    "sparse_csc_b.npz",
    "sparse_csr.npz",
    "sparse_coo_compressed.npz",
    "plain.npz",
    "sparse.mtx.bz2",
    "two_streams.svm.bz2",
    "two_streams.svm.xz",
    "two_streams.svm.zst",
];

/// Reads it every way there is; a matrix that comes out is used, so that a broken one would show.
fn read_all_ways(path: &str) {
    let _ = peek(path);
    if let Ok(vector) = read_vector(path) {
        assert_eq!(read_bounds(path).unwrap().len(), vector.len());
    }
    if let Ok(problem) = read_problem(path, None) {
        let matrix = problem.matrix.view();
        assert!(problem.rhs.is_none_or(|rhs| rhs.len() == matrix.rows()));
        let out = Folder::new();
        if matrix.rows() < 1 << 20 {
            nonneg_io::write_problem(&out.path("copy.npz"), matrix, None).unwrap();
            nonneg_io::write_problem(&out.path("copy.mtx"), matrix, None).unwrap();
        }
    }
}

/// A change to a file.
#[derive(Debug, Clone)]
enum Change {
    Set(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Remove(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 1..9),
        prop::sample::select(vec![
            "-1",
            "0",
            "nan",
            "1e999",
            "18446744073709551615",
            "99999999999",
            "\n",
            " ",
            ",",
            ":",
            "%",
            "#"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        at().prop_map(Change::Cut),
        (at(), 1usize..20).prop_map(|(at, count)| Change::Remove(at, count)),
        (at(), piece).prop_map(|(at, piece)| Change::Insert(at, piece)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), ending in prop::sample::select(&ENDINGS[..])) {
        let folder = Folder::new();
        read_all_ways(&folder.write(&format!("a.{ending}"), bytes));
    }

    #[test]
    fn random_text(text in "[0-9:.,; \n#%e+-]{0,200}", ending in prop::sample::select(&ENDINGS[..5]), banner: bool) {
        let folder = Folder::new();
        let banner = if banner { "%%MatrixMarket matrix coordinate real general\n3 3 2\n" } else { "" };
        read_all_ways(&folder.write(&format!("a.{ending}"), format!("{banner}{text}")));
    }

    #[test]
    fn changed_files(name in prop::sample::select(&VALID[..]), changes in prop::collection::vec(change(), 1..4)) {
        let mut bytes = std::fs::read(fixture(name)).unwrap();
        for change in changes {
            if bytes.is_empty() {
                break;
            }
            match change {
                Change::Set(at, byte) => { let at = at.index(bytes.len()); bytes[at] = byte; }
                Change::Cut(at) => bytes.truncate(at.index(bytes.len())),
                Change::Remove(at, count) => {
                    let at = at.index(bytes.len());
                    bytes.drain(at..(at + count).min(bytes.len()));
                }
                Change::Insert(at, piece) => { let at = at.index(bytes.len()); bytes.splice(at..at, piece); }
            }
        }
        let folder = Folder::new();
        read_all_ways(&folder.write(name, bytes));
    }
}
