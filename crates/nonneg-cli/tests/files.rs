//! `nonneg info`, `generate`, `convert`, and the help texts.

mod common;

use common::{Sandbox, small_problem};

#[test]
fn info_describes_a_matrix() {
    let sandbox = small_problem();
    let run = sandbox.run("info A.mtx").expect(0);
    for part in ["4 × 3", "6 (50.0000 %)", "float64", "A ≥ 0", "0 rows, 0 columns", "not in the file", "suggested"] {
        assert!(run.stdout.contains(part), "{part} is missing:\n{}", run.stdout);
    }
    let run = sandbox.run("info A.mtx --json --threads 1 --quiet").expect(0);
    let info: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((info["m"].as_u64(), info["n"].as_u64(), info["nnz"].as_u64()), (Some(4), Some(3), Some(6)));
    assert_eq!((info["signed"].as_bool(), info["has_rhs"].as_bool()), (Some(false), Some(false)));
    assert_eq!((info["smallest_magnitude"].as_f64(), info["largest_magnitude"].as_f64()), (Some(1.0), Some(3.0)));
}

#[test]
fn generated_problems_are_deterministic_and_solvable() {
    let sandbox = Sandbox::new();
    for kind in ["text", "uniform", "spectra", "tomography", "blur", "counts"] {
        let size = match kind {
            "tomography" => "--rows 150 --cols 100",
            "blur" => "--cols 100",
            _ => "--rows 150 --cols 80",
        };
        sandbox.run(&format!("generate {kind} {size} --seed 5 -o {kind}.npz")).expect(0);
        sandbox.run(&format!("generate {kind} {size} --seed 5 -o again.npz --quiet")).expect(0);
        sandbox.run(&format!("generate {kind} {size} --seed 6 -o other.npz --quiet")).expect(0);
        assert_eq!(sandbox.read(&format!("{kind}.npz")), sandbox.read("again.npz"), "{kind}");
        assert_ne!(sandbox.read(&format!("{kind}.npz")), sandbox.read("other.npz"), "{kind}");
        let info = sandbox.run(&format!("info {kind}.npz --json")).expect(0);
        let info: serde_json::Value = serde_json::from_str(&info.stdout).unwrap();
        assert_eq!((info["signed"].as_bool(), info["has_rhs"].as_bool()), (Some(false), Some(true)), "{kind}");
        sandbox.run(&format!("solve {kind}.npz --tol 1e-3 --time-limit 60s -o x.npy")).expect(0);
    }
}

#[test]
fn formats_without_b_get_a_file_beside_them() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("generate counts --rows 40 --cols 30 -o A.mtx").expect(0);
    assert!(run.stdout.contains("b in A.b.txt"), "{}", run.stdout);
    sandbox.run("generate counts --rows 40 --cols 30 -o A.npz").expect(0);
    sandbox.run("solve A.mtx A.b.txt -o x1.npy").expect(0);
    sandbox.run("solve A.npz -o x2.npy").expect(0);
    assert_eq!(sandbox.read("x1.npy"), sandbox.read("x2.npy"));
}

#[test]
fn conversions_lose_nothing() {
    let sandbox = Sandbox::new();
    sandbox.run("generate text --rows 50 --cols 40 --density 0.1 -o A.npz").expect(0);
    for (from, to) in [
        ("A.npz", "A.svm"),
        ("A.svm", "B.npz"),
        ("A.npz", "A.mtx.gz"),
        ("A.mtx.gz", "C.mtx"),
        ("A.npz", "D.libsvm.gz"),
        ("A.mtx.gz", "E.mtx.zst"),
        ("A.svm", "F.svm.xz"),
    ] {
        sandbox.run(&format!("convert {from} {to} --quiet")).expect(0);
    }
    let describe = |file: &str| {
        let run = sandbox.run(&format!("info {file} --json")).expect(0);
        let info: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        ["nnz", "smallest_magnitude", "largest_magnitude", "smallest_column_norm", "largest_column_norm", "empty_columns"]
            .map(|field| info[field].clone())
    };
    // LIBSVM does not say how many columns there are: the empty ones at the end may be gone.
    assert_eq!(describe("A.npz"), describe("C.mtx"));
    assert_eq!(describe("A.npz")[..5], describe("B.npz")[..5]);
    assert_eq!(describe("A.svm"), describe("D.libsvm.gz"));
    assert_eq!(describe("A.npz"), describe("E.mtx.zst"));
    sandbox.run("convert A.npz G.mat").expect(0);
    assert_eq!(describe("A.npz"), describe("G.mat"));
    sandbox.run("convert G.mat H.h5").expect(0);
    sandbox.run("convert H.h5:/A --quiet I.npz").expect(0);
    assert_eq!(sandbox.read("A.npz"), sandbox.read("I.npz"));
    sandbox.run("convert H.h5 H.npz").expect(0);
    assert_eq!(sandbox.read("A.npz"), sandbox.read("H.npz"));
    assert_eq!(describe("A.svm"), describe("F.svm.xz"));

    sandbox.run("generate spectra --rows 20 --cols 10 -o S.npy").expect(0);
    sandbox.run("convert S.npy S.csv").expect(0);
    sandbox.run("convert S.csv T.npy").expect(0);
    assert_eq!(sandbox.read("S.npy"), sandbox.read("T.npy"));

    sandbox.run("convert S.npy S.parquet").expect(0);
    sandbox.run("convert S.parquet U.npy").expect(0);
    assert_eq!(sandbox.read("S.npy"), sandbox.read("U.npy"));
    sandbox.run("solve S.parquet S.parquet:3 -o x.txt").expect(0);
    let x = common::numbers(&sandbox.text("x.txt"));
    assert!((x[3] - 1.0).abs() < 1e-3, "{x:?}");
}

#[test]
fn a_transposed_file_is_turned_round() {
    let sandbox = small_problem();
    sandbox.write("At.csv", "1,2,0,0\n0,1,3,0\n0,0,1,2\n");
    let sparse = "%%MatrixMarket matrix coordinate real general\n3 4 6\n1 1 1\n1 2 2\n2 2 1\n2 3 3\n3 3 1\n3 4 2\n";
    sandbox.write("At.mtx", sparse);
    sandbox.run("solve A.mtx b.txt -o x.txt --tol 1e-12 --quiet").expect(0);
    let x = common::numbers(&sandbox.text("x.txt"));
    // In a file with both, b belongs to A.
    sandbox.write("with_b.svm", "9 1:1\n");
    sandbox.run("convert A.mtx A.npz").expect(0);
    for file in ["At.csv", "At.mtx"] {
        sandbox.run(&format!("solve {file} b.txt --transpose -o y.txt --tol 1e-12 --quiet")).expect(0);
        let y = common::numbers(&sandbox.text("y.txt"));
        assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() < 1e-9), "{file}: {x:?} {y:?}");
        sandbox.run(&format!("verify {file} b.txt x.txt --transpose")).expect(0);
        sandbox.run(&format!("convert {file} turned.mtx --transpose")).expect(0);
        let info = |command: &str| sandbox.run(command).expect(0).stdout;
        assert_eq!(info(&format!("info {file} --transpose")).lines().next(), info("info A.mtx").lines().next());
        sandbox.run("verify turned.mtx b.txt x.txt").expect(0);
    }
    assert_eq!(sandbox.text("turned.mtx"), sandbox.text("A.mtx"));
    sandbox.run("solve b.txt --transpose").expect(2);
    sandbox.run("solve --transpose").expect(2);
    assert!(!sandbox.run("convert with_b.svm C.npz --transpose").expect(0).stdout.contains("with b"));
}

#[test]
fn headers_tell_the_shape_without_the_values() {
    let sandbox = small_problem();
    for file in ["A.mat", "A.h5", "A.npz", "A.mtx"] {
        if file != "A.mtx" {
            sandbox.run(&format!("convert A.mtx {file}")).expect(0);
        }
        let run = sandbox.run(&format!("info {file} --header --json")).expect(0);
        let header: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((header["m"].as_u64(), header["n"].as_u64()), (Some(4), Some(3)), "{file}");
        assert!(sandbox.run(&format!("info {file} --header --transpose")).expect(0).stdout.contains("3 × 4"));
    }
    assert!(sandbox.run("info b.txt --header").expect(2).stderr.contains("has no header"));
}

#[test]
fn help_and_version() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("").expect(0);
    assert!(run.stdout.contains("Usage: nonneg") && run.stdout.contains("Exit status"), "{}", run.stdout);
    assert!(sandbox.run("--version").expect(0).stdout.starts_with("nonneg "));
    for command in ["solve", "verify", "info", "generate", "convert", "data fetch"] {
        let help = sandbox.run(&format!("{command} --help")).expect(0).stdout;
        assert!(help.contains("Example") && help.contains(&format!("nonneg {command}")), "{help}");
    }
}
