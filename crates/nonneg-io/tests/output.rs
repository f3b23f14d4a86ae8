//! Output is complete or absent, and checked before long work.

mod common;

use common::Folder;
use nonneg::CscMatrix;
use nonneg_io::*;

#[test]
fn checks_leave_nothing_behind() {
    let folder = Folder::new();
    for name in ["x.npy", "x.txt", "x.csv", "x.tsv", "x.mtx", "x.csv.gz", "x.txt.zst"] {
        check_vector_output(&folder.path(name)).unwrap();
    }
    for name in [
        "a.mtx",
        "a.svm.gz",
        "a.libsvm",
        "a.npz",
        "a.npy",
        "a.csv",
        "a.tsv.gz",
        "a.svm.bz2",
        "a.mtx.xz",
        "a.mat",
        "a.h5",
        "a.hdf5",
        "a.parquet",
    ] {
        check_problem_output(&folder.path(name)).unwrap();
    }
    check_output(&folder.path("report.json")).unwrap();
    check_vector_output("-").unwrap();
    assert!(folder.files().is_empty());
}

#[test]
fn checks_keep_what_is_there() {
    let folder = Folder::new();
    let path = folder.write("x.txt", "old");
    check_vector_output(&path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(folder.files(), ["x.txt"]);
}

#[test]
fn refused_outputs() {
    let folder = Folder::new();
    let missing = folder.path("no/such/folder/x.npy");
    for (result, reason) in [
        (check_vector_output(&missing), "cannot write"),
        (check_vector_output(&folder.path("x.npz")), "vectors are not written in this format"),
        (check_vector_output(&folder.path("x.svm")), "expected .npy"),
        (check_vector_output(&folder.path("x.doc")), "unknown file ending"),
        (check_problem_output(&folder.path("a.txt")), "matrices are not written as .txt"),
        (check_vector_output(&folder.path("x.parquet")), "vectors are not written in this format"),
        (check_problem_output(&folder.path("a.npy.zst")), "only text formats may end in .zst"),
        (check_problem_output(&folder.path("a.npz:A")), "one array of an archive"),
        (check_output(&folder.path("")), "is a folder"),
        (write_vector(&missing, &[1.0]), "cannot write"),
        (write_bytes(&folder.path("no/report.json"), b"{}"), "cannot write"),
    ] {
        let message = result.unwrap_err().to_string();
        assert!(message.contains(reason), "{message}");
    }
    assert!(folder.files().is_empty());
}

#[test]
fn replaces_and_cleans_up() {
    let folder = Folder::new();
    let path = folder.path("report.json");
    write_bytes(&path, b"first").unwrap();
    write_bytes(&path, b"second").unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"second");
    assert_eq!(folder.files(), ["report.json"]);
}

#[test]
fn wrong_right_hand_side_writes_nothing() {
    let folder = Folder::new();
    let matrix = CscMatrix::<f64, u32>::from_triplets(2, 2, &[(0, 0, 1.0)]).unwrap();
    let message = write_problem(&folder.path("a.npz"), (&matrix).into(), Some(&[1.0])).unwrap_err().to_string();
    assert!(message.contains("1 elements, the matrix 2 rows"), "{message}");
    assert!(folder.files().is_empty());
}

#[cfg(unix)]
#[test]
fn links_and_devices() {
    let folder = Folder::new();
    let real = folder.write("real.txt", "old");
    let link = folder.path("link.txt");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    write_vector(&link, &[1.0, 2.5]).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::read(&real).unwrap(), b"1\n2.5\n");
    check_output("/dev/null").unwrap();
    write_bytes("/dev/null", b"gone").unwrap();
}
