//! Bad files: each is refused with a message that names the file, the line and the reason.

mod common;

use std::io::Write;

use common::{Folder, fixture};
use nonneg_io::{peek, read_problem, read_vector};

/// (file name, contents, line or 0, part of the message)
type Case = (&'static str, &'static str, u64, &'static str);

const GENERAL: &str = "%%MatrixMarket matrix coordinate real general\n";

fn check(cases: &[Case], read: impl Fn(&str) -> String) {
    let folder = Folder::new();
    for &(name, contents, line, reason) in cases {
        let path = folder.write(name, contents);
        let message = read(&path);
        let place = if line == 0 { path.clone() } else { format!("{path}, line {line}: ") };
        assert!(message.starts_with(&place) && message.contains(reason), "{name} {contents:?}\n  gave: {message}");

        let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        gzip.write_all(contents.as_bytes()).unwrap();
        let path = folder.write(&format!("{name}.gz"), gzip.finish().unwrap());
        let message = read(&path);
        assert!(message.contains(".gz") && message.contains(reason), "{name}.gz {contents:?}\n  gave: {message}");
    }
}

fn problem_error(path: &str) -> String {
    read_problem(path, None).expect_err(path).to_string()
}

#[test]
fn matrix_market() {
    let body = |text: &str| -> &'static str { format!("{GENERAL}{text}").leak() };
    check(
        &[
            ("a.mtx", "", 0, "is empty"),
            ("a.mtx", "1 1 1\n1 1 2\n", 1, "expected '%%MatrixMarket"),
            ("a.mtx", "%%MatrixMarket matrix coordinate complex general\n", 1, "complex matrices are not supported"),
            ("a.mtx", "%%MatrixMarket matrix coordinate real hermitian\n", 1, "hermitian matrices are not supported"),
            ("a.mtx", "%%MatrixMarket matrix sparse real general\n", 1, "expected 'coordinate' or 'array', found 'sparse'"),
            ("a.mtx", "%%MatrixMarket vector coordinate real general\n", 1, "expected '%%MatrixMarket matrix"),
            ("a.mtx", "%%MatrixMarket matrix array pattern general\n", 1, "cannot be 'pattern'"),
            ("a.mtx", body("% only comments\n"), 2, "ends before the line with the sizes"),
            ("a.mtx", body("2 2\n"), 2, "expected 'rows columns entries', found '2 2'"),
            ("a.mtx", body("2 -2 1\n"), 2, "expected 'rows columns entries'"),
            ("a.mtx", body("2 2 1\n1 1 x\n"), 3, "expected a finite number, found 'x'"),
            ("a.mtx", body("2 2 1\n1 1 1.5x\n"), 3, "expected a finite number, found '1.5x'"),
            ("a.mtx", body("2 2 1\n1 1 nan\n"), 3, "expected a finite number, found 'nan'"),
            ("a.mtx", body("2 2 1\n1 1 -inf\n"), 3, "found '-inf'"),
            ("a.mtx", body("2 2 1\n1 1 1e999\n"), 3, "found '1e999'"),
            ("a.mtx", body("2 2 1\n1 1\n"), 3, "expected a finite number, found the end of the line"),
            ("a.mtx", body("2 2 1\n1\n"), 3, "expected a column index between 1 and 2"),
            ("a.mtx", body("2 2 1\n1 1 1 1\n"), 3, "expected the end of the line, found '1'"),
            ("a.mtx", body("% c\n\n2 2 2\n% c\n1 1 1\n0 1 1\n"), 7, "expected a row index between 1 and 2, found '0'"),
            ("a.mtx", body("2 2 1\n3 1 1\n"), 3, "row index between 1 and 2, found '3'"),
            ("a.mtx", body("2 2 1\n1 -1 1\n"), 3, "column index between 1 and 2, found '-1'"),
            ("a.mtx", body("2 2 1\n1.5 1 1\n"), 3, "row index between 1 and 2, found '1.5'"),
            ("a.mtx", body("2 2 1\n99999999999999999999999 1 1\n"), 3, "row index between 1 and 2"),
            ("a.mtx", body("2 2 3\n1 1 1\n2 2 1\n"), 4, "ends after 2 entries, the header promises 3"),
            ("a.mtx", body("2 2 1\n1 1 1\n\n2 2 1\n"), 5, "more entries than the 1 that the header promises"),
            ("a.mtx", body("2 2 1\n1 1 1\ngarbage\n"), 4, "expected a row index"),
            ("a.mtx", body("2 2 1000000000000000000\n1 1 1\n"), 2, "more than the file can hold"),
            ("a.mtx", body("1000000000000000000 2 1\n1 1 1\n"), 0, "1000000000000000000 rows for 1 entries is not plausible"),
            ("a.mtx", body("2 1000000000000000000 1\n1 1 1\n"), 0, "columns for 1 entries is not plausible"),
            ("a.mtx", body("2 2 2\n1 1 1e308\n1 1 1.7e308\n"), 0, "overflows"),
            ("a.mtx", "%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n", 2, "more than the file can hold"),
            ("a.mtx", "%%MatrixMarket matrix array real general\n2 99999999999999999999\n", 2, "expected 'rows columns'"),
            ("a.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n", 3, "ends after 1 values, the header promises 2"),
            ("a.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n3\n", 5, "more values than the 2"),
            ("a.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\nabc\n", 4, "expected a number, found 'abc'"),
            ("a.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\nnan\n", 4, "'nan' is not a finite number"),
            ("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", 2, "must be square"),
            ("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 2 1\n2 1 1\n", 4, "both sides of the diagonal"),
            ("a.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n", 3, "zeros on its diagonal"),
        ],
        problem_error,
    );
}

#[test]
fn libsvm() {
    check(
        &[
            ("a.svm", "", 0, "holds no rows"),
            ("a.svm", "# nothing\n\n", 0, "holds no rows"),
            ("a.svm", "1\n2\n", 0, "holds labels only"),
            ("a.svm", "1 1:1\n2 1:x\n", 2, "expected 'index:value' with an index from 1 (or 0) on, found '1:x'"),
            ("a.svm", "1 1:1\n\n# c\n2 1:\n", 4, "found '1:'"),
            ("a.svm", "1 1:1 2\n", 1, "found '2'"),
            ("a.svm", "1 -1:1\n", 1, "found '-1:1'"),
            ("a.svm", "1 1.5:1\n", 1, "found '1.5:1'"),
            ("a.svm", "1 1:1:1\n", 1, "found '1:1:1'"),
            ("a.svm", "1 1:nan\n", 1, "'1:nan' is not a finite number"),
            ("a.svm", "1 1:1e400\n", 1, "is not a finite number"),
            ("a.svm", "nan 1:1\n", 1, "expected a finite number as label"),
            ("a.svm", "1,2 1:1\n", 1, "several labels '1,2' are not supported"),
            ("a.svm", "1 1:1\n1:1 2:2\n", 2, "expected a label before '1:1'"),
            ("a.svm", "x 1:1\n", 1, "expected a finite number as label, found 'x'"),
            ("a.svm", "1 2:1 1:1\n", 1, "indices must increase along a line, found '1:1' after index 2"),
            ("a.svm", "1 2:1 2:1\n", 1, "indices must increase"),
            ("a.svm", "1 99999999999:1\n", 1, "index 99999999999 is too large"),
            ("a.svm", "1 99999999999999999999999:1\n", 1, "expected 'index:value'"),
            ("a.svm", "1 4000000000:1\n", 0, "4000000000 columns for 1 entries is not plausible"),
            ("a.libsvm", "\u{0}\u{1}\u{2}", 1, "expected a finite number as label"),
        ],
        problem_error,
    );
}

#[test]
fn tables() {
    let cases = [
        ("a.csv", "", 0, "holds no numbers"),
        ("a.csv", "\n\n# c\n", 0, "holds no numbers"),
        ("a.csv", "a,b\n", 0, "a header line and no numbers"),
        ("a.csv", "1,2\n3,4,5\n", 2, "3 fields, expected 2 as in line 1"),
        ("a.csv", "x,y\n1,2\n\n3\n", 4, "1 fields, expected 2 as in line 2"),
        ("a.csv", "x,y,z\n1,2\n", 2, "2 fields, expected 3 as in the header line"),
        ("a.csv", "1,2\n3,\n", 2, "field 2 is empty"),
        ("a.csv", "1,2\n3,abc\n", 2, "field 2: expected a number, found 'abc'"),
        ("a.csv", "1,x\n3,4\n", 1, "field 2: expected a number, found 'x'"),
        ("a.csv", "1,2\n3,NaN\n", 2, "'NaN' is not a finite number"),
        ("a.csv", "nan,nan\n", 1, "is not a finite number"),
        ("a.csv", "1;2\n1,5;2\n", 2, "field 1: expected a number, found '1,5'"),
        ("a.tsv", "1\t2\n3\n", 2, "1 fields, expected 2"),
        ("a.txt", "1 2\n3\n", 2, "1 fields, expected 2"),
    ];
    check(&cases, problem_error);
    check(&cases, |path| read_vector(path).expect_err(path).to_string());
    check(&[("b.csv", "1,2\n3,4\n", 0, "holds a 2×2 matrix, expected a vector")], |path| {
        read_vector(path).unwrap_err().to_string()
    });
    let header = "%%MatrixMarket matrix coordinate real general\n8000000000 1 1\n1 1 1\n";
    check(&[("b.mtx", header, 0, "not plausible")], |path| read_vector(path).unwrap_err().to_string());
}

/// Rows of short numbers, which are read several at a time: it was counted on that there are no more of them than columns.
#[test]
fn rows_with_too_many_short_numbers() {
    let cases = [
        ("a.csv", "1,2\n1,2,3,4,5,6,7,8\n3,4\n", 2, "8 fields, expected 2 as in line 1"),
        ("a.csv", "1.5,2\n1,2,\n3.25,4\n5,6\n", 2, "3 fields, expected 2 as in line 1"),
        ("a.csv", "1\n1,2,3,4,5,6,7,8,9\n", 2, "field 1: expected a number"),
    ];
    check(&cases, problem_error);
}

/// Line numbers must be right in every block.
#[test]
fn late_lines() {
    let folder = Folder::new();
    let mut svm = "1 1:0.5 7:0.25 9:123.456\n".repeat(200_000);
    svm.push_str("1 1:oops\n");
    let mut mtx = format!("{GENERAL}9 9 200001\n");
    mtx.push_str(&"1 1 0.125\n".repeat(200_000));
    mtx.push_str("1 1 oops\n");
    let mut csv = "0.5,0.25,123.456\n".repeat(200_000);
    csv.push_str("1,2\n");
    for (name, text, line) in [("a.svm", svm, 200_001), ("a.mtx", mtx, 200_003), ("a.csv", csv, 200_001)] {
        let message = problem_error(&folder.write(name, text));
        assert!(message.contains(&format!("{name}, line {line}: ")), "{message}");
    }
}

#[test]
fn arrays() {
    let folder = Folder::new();
    let good = std::fs::read(fixture("dense_c_f8.npy")).unwrap();
    let replace = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let at = good.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        let mut bytes = good.clone();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    let mut longer = good.clone();
    longer.push(0);
    let mut infinite = good.clone();
    let last = infinite.len() - 8;
    infinite[last..].copy_from_slice(&f64::INFINITY.to_le_bytes());
    for (bytes, reason) in [
        (vec![], "the file is cut short"),
        (b"PK".to_vec(), "the file is cut short"),
        (b"not an array at all".to_vec(), "is not a NumPy array"),
        (good[..good.len() - 1].to_vec(), "the file is cut short: shape [4, 3] needs 96 bytes of data, found 95"),
        (longer, "something after the array"),
        (infinite, "column 2, row 3: inf is not a finite number"),
        (replace("'<f8'", "'<c8'"), "arrays of type '<c8' are not supported"),
        (replace("'<f8'", "'<f2'"), "arrays of type '<f2' are not supported"),
        (replace("'descr': '<f8'", "'descr': [('a)"), "structured arrays are not supported"),
        (replace("(4, 3), }         ", "(1000000000000, 3)"), "shape [1000000000000, 3] needs 24000000000000 bytes"),
        (replace("(4, 3), }                ", "(4000000000, 4000000000,9)"[..25].into()), "the array header is damaged"),
        (replace("(4, 3)", "(-4,3)"), "the array header is damaged"),
        (replace("shape", "shame"), "the array header is damaged"),
        (replace("(4, 3), ", "(2,2,3),"), "has 3 dimensions"),
    ] {
        let path = folder.write("a.npy", bytes);
        let message = problem_error(&path);
        assert!(message.starts_with(&path) && message.contains(reason), "{message}");
        assert!(peek(&path).is_err() || reason.contains("finite"), "{reason}");
    }
}

#[test]
fn archives() {
    use zip::write::SimpleFileOptions;
    let folder = Folder::new();
    let array = |descr: &str, shape: &str, data: &[u8]| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    };
    let doubles = |values: &[f64]| {
        array("<f8", &format!("({},)", values.len()), &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
    };
    let integers = |values: &[i64]| {
        array("<i8", &format!("({},)", values.len()), &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
    };
    let format = |name: &str| array("|S3", "()", name.as_bytes());
    type Change = (&'static str, &'static str, Option<Vec<u8>>, &'static str);
    let cases: Vec<Change> = vec![
        ("csc", "format", Some(format("bsr")), "sparse format 'bsr' is not supported"),
        ("csc", "shape", Some(integers(&[3])), "'shape' holds 1 numbers"),
        ("csc", "shape", Some(integers(&[-3, 2])), "element 0 does not fit"),
        ("csc", "shape", Some(integers(&[3, i64::MAX])), "is not plausible"),
        ("csc", "shape", Some(integers(&[3, 3])), "3 column pointers, expected 4"),
        ("csr", "shape", Some(integers(&[3, 3])), "3 row pointers, expected 4"),
        ("csc", "shape", Some(doubles(&[3.0, 2.0])), "is float64 of shape [2], expected a 1-D array of integers"),
        ("csc", "data", None, "there is no array 'data'"),
        ("csc", "data", Some(doubles(&[1.0, 2.0])), "3 row indices but 2 values"),
        ("csc", "data", Some(doubles(&[1.0, f64::NAN, 2.0])), "NaN is not a finite number"),
        (
            "csc",
            "data",
            Some(array("<f8", "(3,)", &[0; 16])),
            "the file is cut short: shape [3] needs 24 bytes of data, found 16",
        ),
        ("csc", "data", Some(array("<f8", "(1000000000000000000,)", &[0; 16])), "needs 8000000000000000000 bytes"),
        ("csc", "data", Some(array("<f8", "(10000000000000000000,)", &[0; 16])), "is too large"),
        ("csc", "indptr", Some(integers(&[0, 3, 2])), "pointers run from 0 to 2, expected 0 to 3"),
        ("csc", "indptr", Some(integers(&[1, 2, 3])), "pointers run from 1"),
        ("csc", "indptr", Some(integers(&[0, 4, 3])), "pointers decrease"),
        ("csc", "indices", Some(integers(&[0, -1, 1])), "element 1 does not fit"),
        ("csc", "indices", Some(integers(&[0, 3, 1])), "row index 3 is out of range"),
        ("csc", "b", Some(doubles(&[1.0])), "has 1 elements, expected 3"),
        ("csc", "b", Some(doubles(&[1.0, f64::INFINITY, 0.0])), "element 1 is inf, expected a finite number"),
        ("coo", "row", Some(integers(&[0, 3, 1])), "row 3 is out of range"),
        ("coo", "col", Some(integers(&[0, 2, 1])), "column 2 is out of range"),
        ("coo", "col", Some(integers(&[0, 1])), "expected equally many"),
    ];
    for (layout, changed, contents, reason) in cases {
        let mut arrays = vec![("format", format(layout)), ("shape", integers(&[3, 2])), ("data", doubles(&[1.0, 2.0, 3.0]))];
        match layout {
            "csr" => arrays[1].1 = integers(&[2, 3]),
            "coo" => arrays.extend([("row", integers(&[0, 2, 1])), ("col", integers(&[0, 0, 1]))]),
            _ => {}
        }
        arrays.extend([("indices", integers(&[0, 2, 1])), ("indptr", integers(&[0, 2, 3]))]);
        arrays.retain(|(key, _)| *key != changed);
        arrays.extend(contents.map(|contents| (changed, contents)));
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
        for (key, bytes) in arrays {
            zip.start_file(format!("{key}.npy"), SimpleFileOptions::default()).unwrap();
            zip.write_all(&bytes).unwrap();
        }
        let path = folder.write("a.npz", zip.finish().unwrap().into_inner());
        let message = problem_error(&path);
        assert!(message.starts_with(&path) && message.contains(reason), "{reason}: {message}");
    }
}

#[test]
fn damaged_archives_and_gzip() {
    let folder = Folder::new();
    let npz = std::fs::read(fixture("sparse_csc_compressed.npz")).unwrap();
    let mut flipped = npz.clone();
    let data = npz.windows(8).position(|window| window == b"data.npy").unwrap();
    flipped[data + 60] ^= 0x55;
    for bytes in [vec![], b"PK\x03\x04".to_vec(), npz[..npz.len() / 2].to_vec(), flipped] {
        let message = problem_error(&folder.write("a.npz", bytes));
        assert!(message.contains("a.npz"), "{message}");
    }
    let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    gzip.write_all("1 1:2\n".repeat(1000).as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let mut trailing = gzip.clone();
    trailing.extend(b"garbage");
    for bytes in [b"1 1:2\n".to_vec(), gzip[..gzip.len() - 9].to_vec(), trailing] {
        let message = problem_error(&folder.write("a.svm.gz", bytes));
        assert!(message.contains("a.svm.gz") && message.contains("cannot read"), "{message}");
    }
}

#[test]
fn damaged_compressed_text() {
    let folder = Folder::new();
    for (ending, name) in [("bz2", "bzip2"), ("xz", "xz"), ("zst", "zstd")] {
        let whole = std::fs::read(fixture(&format!("two_streams.svm.{ending}"))).unwrap();
        let mut flipped = whole.clone();
        flipped[60] ^= 0x10;
        let trailing = [&whole[..], b"garbage!"].concat();
        // The second stream starts with the magic of the first.
        let second = 1 + whole[1..].windows(4).position(|window| window == &whole[..4]).unwrap();
        let foreign = format!("expected {name} data");
        // What follows the streams of xz may be padding.
        let after = if ending == "xz" { "xz data" } else { &foreign };
        for (bytes, reason) in [
            (vec![], "cut off"),
            (whole[..1].to_vec(), "cut off"),
            (whole[..whole.len() - 1].to_vec(), "cut off"),
            (whole[..second + 20].to_vec(), "cut off"),
            (flipped, "damaged"),
            (b"1 1:2 3:4 5:6 7:8\n".to_vec(), &foreign),
            (trailing, after),
        ] {
            let path = folder.write(&format!("a.svm.{ending}"), bytes);
            let message = problem_error(&path);
            assert!(message.starts_with(&format!("{path}: cannot read")) && message.contains(reason), "{reason}: {message}");
        }
    }
}

#[test]
fn files_that_are_not_there() {
    let folder = Folder::new();
    for name in ["a.mtx", "a.svm", "a.npy", "a.npz", "a.csv.gz", "a.npz:b", "a.mat", "a.h5", "a.h5ad:X", "a.parquet", "a.nnm"] {
        let message = problem_error(&folder.path(name));
        assert!(message.contains("cannot open"), "{message}");
    }
    std::fs::create_dir(folder.path("dir.mtx")).unwrap();
    assert!(problem_error(&folder.path("dir.mtx")).contains("is a folder"));
    assert!(problem_error("a.xyz").contains("unknown file ending"));
}
