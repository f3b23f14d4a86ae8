//! `nonneg solve` with a B of many columns, and x that sums to one.

mod common;

use common::{Sandbox, numbers};

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("A.csv", "1,0\n1,0\n0,1\n");
    sandbox.write("B.csv", "2,0,1,4\n1,0,1,4\n1,-3,5,0.5\n");
    sandbox.write("short.csv", "2,0\n1,0\n");
    sandbox.write("b.txt", "2\n1\n1\n");
    sandbox
}

/// Rows of a table, to twelve digits.
fn table(text: &str) -> Vec<Vec<f64>> {
    let rounded = |v: f64| (v * 1e12).round() / 1e12;
    text.lines().map(|line| numbers(&line.replace(',', "\n")).into_iter().map(rounded).collect()).collect()
}

#[test]
fn every_column_of_b_is_solved() {
    let sandbox = sandbox();
    let run = sandbox.run("solve A.csv B.csv -o X.csv --report r.json --certificates c.csv").expect(0);
    assert!(run.stdout.contains("4 right-hand sides") && run.stdout.contains("proved"), "{}", run.stdout);
    assert_eq!(table(&sandbox.text("X.csv")), [[1.5, 0.0, 1.0, 4.0], [1.0, 0.0, 5.0, 0.5]]);
    let report = sandbox.json("r.json");
    assert_eq!((report["status"].as_str(), report["certified"].as_bool()), (Some("solved"), Some(true)));
    assert_eq!((report["right_hand_sides"].as_u64(), report["statuses"]["solved"].as_u64()), (Some(4), Some(4)));
    assert!((report["objective"].as_f64().unwrap() - (0.25 + 4.5)).abs() < 1e-12);
    assert!(report["relative_gap"].as_f64().unwrap() <= 1e-6 && report["support"].as_u64() == Some(6));
    let certificates = sandbox.text("c.csv");
    let lines: Vec<&str> = certificates.lines().collect();
    assert_eq!((lines.len(), lines[0]), (5, "column,status,objective,residual_norm,lower_bound,relative_gap,support"));
    assert!(lines[2].starts_with("1,solved,4.5e0,3e0,") && lines[2].ends_with(",0"), "{}", lines[2]);
}

#[test]
fn x_is_written_in_every_format_for_matrices() {
    let sandbox = sandbox();
    for name in ["X.npy", "X.npz", "X.mtx", "X.tsv", "X.csv.gz"] {
        sandbox.run(&format!("solve A.csv B.csv --quiet -o {name}")).expect(0);
        sandbox.run(&format!("convert {name} back.csv")).expect(0);
        assert_eq!(table(&sandbox.text("back.csv"))[0], [1.5, 0.0, 1.0, 4.0]);
    }
    let run = sandbox.run("solve A.csv B.csv --quiet -o -").expect(0);
    assert!(run.stdout.starts_with("%%MatrixMarket"));
    sandbox.run("convert B.csv B.mtx").expect(0);
    sandbox.run("solve A.csv B.mtx --quiet -o X2.csv").expect(0);
    assert_eq!(sandbox.text("X2.csv"), sandbox.text("back.csv"));
}

#[test]
fn abundances_sum_to_one() {
    let sandbox = sandbox();
    sandbox.run("solve A.csv B.csv --sum-to-one -o X.csv").expect(0);
    let x = table(&sandbox.text("X.csv"));
    assert!((0..4).all(|k| (x[0][k] + x[1][k] - 1.0).abs() < 1e-12), "{x:?}");
    sandbox.run("solve A.csv b.txt --sum-to-one -o x.txt --report r.json").expect(0);
    let one = numbers(&sandbox.text("x.txt"));
    assert!((one[0] - x[0][0]).abs() < 1e-9 && (one[1] - x[1][0]).abs() < 1e-9);
    assert_eq!(sandbox.json("r.json")["certified"].as_bool(), Some(true));
    sandbox.run("verify A.csv b.txt x.txt --sum-to-one").expect(0);
    sandbox.write("half.txt", "0.5\n0.4\n");
    let run = sandbox.run("verify A.csv b.txt half.txt --sum-to-one").expect(2);
    assert!(run.stderr.contains("0.9"), "{}", run.stderr);
}

#[test]
fn what_goes_with_one_right_hand_side_only_is_refused() {
    let sandbox = sandbox();
    let before = sandbox.files();
    for (line, message) in [
        ("solve A.csv B.csv --trace t.csv", "--trace"),
        ("solve A.csv B.csv --plot t.svg", "--plot"),
        ("solve A.csv B.csv --dual y.txt", "--dual"),
        ("solve A.csv B.csv --x0 b.txt", "x0"),
        ("solve A.csv B.csv --lower -1", "--lower"),
        ("solve A.csv B.csv --free 0", "--free"),
        ("solve A.csv B.csv -o X.txt", ".txt"),
        ("solve A.csv short.csv -o X.npy", "short.csv"),
        ("solve A.csv b.txt --certificates c.csv", "--certificates"),
        ("solve A.csv b.txt --sum-to-one --upper 0.3", "sum_to_one"),
        ("solve A.csv B.csv --sum-to-one --upper 0.3", "sum_to_one"),
        ("verify A.csv B.csv b.txt", "B.csv"),
    ] {
        let run = sandbox.run(line).expect(2);
        assert!(run.stderr.contains(message), "{line}: {}", run.stderr);
        assert_eq!(sandbox.files(), before, "{line}");
    }
}

#[test]
fn a_time_limit_writes_what_is_done() {
    let sandbox = sandbox();
    let run = sandbox.run("solve A.csv B.csv --time-limit 0 -o X.csv --certificates c.csv").expect(1);
    assert!(run.stdout.contains("time limit: 0 of 4"), "{}", run.stdout);
    assert_eq!(table(&sandbox.text("X.csv")), [[0.0; 4], [0.0; 4]]);
    assert_eq!(sandbox.text("c.csv").lines().nth(1), Some("0,time_limit,,,,,0"));
}

/// The same B as .npy, in both orders and both precisions, and in the memory of a text file.
#[test]
fn b_in_parts_gives_the_same_bits_as_b_in_one() {
    let sandbox = Sandbox::new();
    sandbox.run("generate uniform --rows 30 --cols 12 --seed 3 -o A.npy").expect(0);
    // So many that a file is read in several parts: 4 million numbers at a time.
    let (rows, cols, count) = (30, 12, 150_000);
    assert!(count * (rows + cols) > 1 << 22);
    let mut state = 1u64;
    let values: Vec<f64> = (0..rows * count)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 40) as f32 / (1 << 24) as f32) as f64
        })
        .collect();
    let by_rows: Vec<f64> = (0..rows * count).map(|k| values[(k % count) * rows + k / count]).collect();
    let single = |values: &[f64]| values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect::<Vec<u8>>();
    let double = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let npy = |descr: &str, fortran: &str, data: Vec<u8>| {
        let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({rows}, {count}), }}");
        let text = format!("{text:<117}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend(data);
        bytes
    };
    std::fs::write(sandbox.path("columns.npy"), npy("<f8", "True", double(&values))).unwrap();
    std::fs::write(sandbox.path("rows.npy"), npy("<f8", "False", double(&by_rows))).unwrap();
    std::fs::write(sandbox.path("rows32.npy"), npy("<f4", "False", single(&by_rows))).unwrap();
    sandbox.run("convert columns.npy whole.npz").expect(0); // an archive is read whole
    sandbox.run("solve A.npy whole.npz:A --quiet -o whole.npy --certificates whole.csv --report whole.json").expect(0);
    let report = sandbox.json("whole.json");
    assert_eq!((report["right_hand_sides"].as_u64(), report["status"].as_str()), (Some(count as u64), Some("solved")));
    for name in ["columns", "rows", "rows32"] {
        let line = format!("solve A.npy {name}.npy --quiet -o X.npy --certificates c.csv --report r.json");
        sandbox.run(&line).expect(0);
        assert!(sandbox.read("X.npy") == sandbox.read("whole.npy"), "{name}");
        assert!(sandbox.text("c.csv") == sandbox.text("whole.csv"), "{name}");
        for field in ["objective", "lower_bound", "relative_gap", "support"] {
            let (part, all) = (sandbox.json("r.json")[field].as_f64().unwrap(), report[field].as_f64().unwrap());
            assert!((part - all).abs() <= 1e-12 * all, "{name} {field}");
        }
    }
    assert_eq!(sandbox.read("whole.npy").len(), 128 + 8 * cols * count);

    // A part that cannot be used, far into the file: nothing is written.
    let mut bytes = sandbox.read("columns.npy");
    let place = 128 + 8 * (rows * 149_000 + 7);
    bytes[place..place + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    std::fs::write(sandbox.path("hole.npy"), &bytes).unwrap();
    let before = sandbox.files();
    let run = sandbox.run("solve A.npy hole.npy --quiet -o Y.npy --certificates y.csv").expect(2);
    assert!(run.stderr.contains("hole.npy: column 149000, row 7: NaN"), "{}", run.stderr);
    assert_eq!(sandbox.files(), before);

    // A limit in the middle: what is not done is zero, and every column has its line.
    let run = sandbox.run("solve A.npy columns.npy --time-limit 0 -o X.npy --certificates c.csv").expect(1);
    assert!(run.stdout.contains("0 of 150,000"), "{}", run.stdout);
    assert_eq!(sandbox.read("X.npy").len(), 128 + 8 * cols * count);
    let lines = sandbox.text("c.csv");
    assert_eq!((lines.lines().count(), lines.lines().last()), (count + 1, Some("149999,time_limit,,,,,0")));
}
