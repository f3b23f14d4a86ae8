//! `nonneg solve` and `nonneg verify`: answers, files, exit statuses.

mod common;

use common::{Sandbox, numbers, small_problem};

const REPORT_NUMBERS: [&str; 11] = [
    "m",
    "n",
    "nnz",
    "objective",
    "residual_norm",
    "lower_bound",
    "relative_gap",
    "natural_residual",
    "passes",
    "restarts",
    "support",
];

#[test]
fn solves_and_writes_every_output() {
    let sandbox = small_problem();
    let run =
        sandbox.run("solve A.mtx b.txt --tol 1e-9 -o x.txt --report r.json --trace t.csv --plot p.svg --dual y.npy --seed 3");
    let run = run.expect(0);
    assert!(run.stdout.contains("solved: within") && run.stdout.contains("x.txt"), "{}", run.stdout);
    assert!(run.stdout.lines().count() <= 12 && run.stderr.is_empty(), "{}{}", run.stdout, run.stderr);

    // The optimum has x₃ = 0 (b₄ < 0) and solves the normal equations of the first two columns.
    let x = numbers(&sandbox.text("x.txt"));
    let det = 5.0 * 10.0 - 2.0 * 2.0;
    let expected = [(6.0 * 10.0 - 2.0 * 7.0) / det, (5.0 * 7.0 - 2.0 * 6.0) / det, 0.0];
    for (got, want) in x.iter().zip(expected) {
        assert!((got - want).abs() < 1e-4, "{x:?}");
    }

    let report = sandbox.json("r.json");
    assert_eq!((report["status"].as_str(), report["certified"].as_bool()), (Some("solved"), Some(true)));
    assert_eq!((report["m"].as_u64(), report["n"].as_u64(), report["nnz"].as_u64()), (Some(4), Some(3), Some(6)));
    assert!(REPORT_NUMBERS.iter().all(|name| report[name].is_number()), "{report}");
    assert!(["read", "presolve", "solve", "certify", "total"].iter().all(|stage| report["seconds"][stage].is_number()));
    assert!(report["relative_gap"].as_f64().unwrap() <= 1e-9);
    assert!(report["lower_bound"].as_f64().unwrap() <= report["objective"].as_f64().unwrap());
    assert_eq!((report["seed"].as_u64(), report["tol"].as_f64()), (Some(3), Some(1e-9)));
    assert_eq!(report["method"].as_str(), Some("auto"));
    assert_eq!(report["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
    #[cfg(target_os = "linux")]
    assert!(report["peak_memory_bytes"].as_u64().unwrap() > 100_000);

    let trace = sandbox.text("t.csv");
    let mut lines = trace.lines();
    let header = "passes,seconds,objective,lower_bound,relative_gap,natural_residual,support,restarts,event";
    assert_eq!(lines.next(), Some(header));
    assert!(lines.clone().count() >= 1 && lines.all(|line| line.split(',').count() == 9), "{trace}");
    assert!(sandbox.read("p.svg").starts_with(b"<svg"));
    assert!(sandbox.read("y.npy").starts_with(b"\x93NUMPY"));
}

#[test]
fn quiet_prints_nothing_and_png_is_written() {
    let sandbox = small_problem();
    let run = sandbox.run("solve A.mtx b.txt --quiet --plot p.png --method si-nnls-norestart --tol 1e-3").expect(0);
    assert!(run.stdout.is_empty() && run.stderr.is_empty());
    assert!(sandbox.read("p.png").starts_with(b"\x89PNG"));
}

#[test]
fn standard_output_holds_x_alone() {
    let sandbox = small_problem();
    let run = sandbox.run("solve A.mtx b.txt -o -").expect(0);
    assert_eq!(numbers(&run.stdout).len(), 3);
    assert!(run.stderr.contains("solved: within"), "{}", run.stderr);
    let report = sandbox.run("solve A.mtx b.txt --report -").expect(0);
    assert!(serde_json::from_str::<serde_json::Value>(&report.stdout).is_ok(), "{}", report.stdout);
}

#[test]
fn without_a_file_the_example_is_solved() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("solve --report r.json -o x.txt --plot p.svg").expect(0);
    for part in ["ultramarine", "░", "proved gap", "solved: within", "nonneg solve A.npz"] {
        assert!(run.stdout.contains(part), "{part} is missing:\n{}", run.stdout);
    }
    assert!(!run.stdout.contains('\x1b'), "no colour into a pipe");
    let x = numbers(&sandbox.text("x.txt"));
    for (found, truth) in x.iter().zip([0.0, 0.32, 0.0, 0.18, 0.22, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.28, 0.0, 0.0]) {
        assert!((found - truth).abs() < 0.02, "{x:?}");
    }
    assert_eq!(sandbox.json("r.json")["n"].as_u64(), Some(14));
}

#[test]
fn the_example_files_are_problem_files_too() {
    let sandbox = Sandbox::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/example");
    sandbox.run(&format!("solve {folder}/pigments.csv {folder}/measured.csv --report r.json --quiet")).expect(0);
    let direct = sandbox.json("r.json");
    sandbox.run("solve --report e.json --quiet").expect(0);
    assert_eq!(direct["objective"], sandbox.json("e.json")["objective"]);
}

#[test]
fn options_of_the_problem_reach_the_solver() {
    let sandbox = small_problem();
    sandbox.write("w.txt", "1\n0\n0\n0\n");
    sandbox.write("upper.txt", "0.25\n0.5\ninf\n");
    sandbox.write("c.txt", "6\n7\n-1\n");
    let solve = |options: &str| {
        sandbox.run(&format!("solve A.mtx {options} --tol 1e-8 -o x.txt --quiet")).expect(0);
        numbers(&sandbox.text("x.txt"))
    };
    assert!((solve("b.txt --weights w.txt")[0] - 1.0).abs() < 1e-3);
    assert!(solve("b.txt --upper 0.3").iter().all(|&v| v <= 0.3));
    assert!(solve("b.txt --upper upper.txt")[0] <= 0.25);
    let plain = solve("b.txt");
    assert!(solve("b.txt --l1 1")[0] < plain[0] && solve("b.txt --l2 1")[0] < plain[0]);
    let linear = solve("--linear c.txt");
    assert!(linear.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-3), "{linear:?} {plain:?}");
    sandbox.write("x0.txt", "1\n0.5\n0\n");
    assert!(solve("b.txt --x0 x0.txt").iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-3));
    assert!(solve("b.txt --batch-size 2").iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-3));
}

#[test]
fn b_may_be_in_the_file_and_the_block_size_is_in_the_name() {
    let sandbox = Sandbox::new();
    sandbox.run("generate uniform --rows 60 --cols 20 -o A.npz").expect(0);
    sandbox.run("solve A.npz --batch-size 5 --report r.json -o x.npy").expect(0);
    assert_eq!(sandbox.json("r.json")["method"].as_str(), Some("si-nnls-bs5"));
}

#[test]
fn limits_stop_short_with_everything_written() {
    let sandbox = Sandbox::new();
    sandbox.run("generate uniform --rows 200 --cols 150 -o A.npz").expect(0);
    for (limit, status) in [("--max-passes 6", "pass_limit"), ("--time-limit 1ms", "time_limit")] {
        let run = sandbox.run(&format!("solve A.npz --tol 1e-14 {limit} -o x.npy --report r.json --trace t.csv"));
        let run = run.expect(1);
        assert_eq!(sandbox.json("r.json")["status"].as_str(), Some(status), "{}", run.stdout);
        assert_eq!(sandbox.json("r.json")["certified"].as_bool(), Some(false));
        assert!(sandbox.read("x.npy").len() > 128);
        std::fs::remove_file(sandbox.path("x.npy")).unwrap();
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let sandbox = Sandbox::new();
    sandbox.run("generate text --rows 600 --cols 900 -o A.npz").expect(0);
    sandbox.run("solve A.npz --threads 1 -o x1.npy --dual y1.npy").expect(0);
    sandbox.run("solve A.npz --threads 2 -o x2.npy --dual y2.npy").expect(0);
    assert_eq!(sandbox.read("x1.npy"), sandbox.read("x2.npy"));
    assert_eq!(sandbox.read("y1.npy"), sandbox.read("y2.npy"));
}

#[test]
fn verbose_logs_each_check_without_a_terminal() {
    let sandbox = small_problem();
    let run = sandbox.run("solve A.mtx b.txt -v --trace t.csv").expect(0);
    let checks = sandbox.text("t.csv").lines().count() - 1;
    assert_eq!(run.stderr.lines().filter(|line| line.contains("passes")).count(), checks, "{}", run.stderr);
}

#[test]
fn verify_agrees_with_solve_and_refuses_what_is_far_off() {
    let sandbox = small_problem();
    sandbox.run("solve A.mtx b.txt --tol 1e-9 -o x.txt --report r.json").expect(0);
    sandbox.run("verify A.mtx b.txt x.txt --tol 1e-9 --report v.json").expect(0);
    let (solved, verified) = (sandbox.json("r.json"), sandbox.json("v.json"));
    for field in ["status", "certified", "objective", "lower_bound", "relative_gap", "support"] {
        assert_eq!(solved[field], verified[field], "{field}");
    }
    assert!(verified["method"].is_null() && verified["passes"].is_null() && verified["seconds"]["certify"].is_number());

    sandbox.write("far.txt", "0.1\n0\n0.3\n");
    let run = sandbox.run("verify A.mtx b.txt far.txt --report v.json").expect(1);
    assert!(run.stdout.contains("not certified: within"), "{}", run.stdout);
    assert_eq!(sandbox.json("v.json")["status"].as_str(), Some("not_certified"));

    sandbox.write("c.txt", "6\n7\n-1\n");
    sandbox.run("verify A.mtx x.txt --linear c.txt --tol 1e-8").expect(0);
    sandbox.run("generate uniform --rows 30 --cols 10 -o A.npz").expect(0);
    sandbox.run("solve A.npz -o x.npy").expect(0);
    sandbox.run("verify A.npz x.npy").expect(0);
}

#[cfg(unix)]
#[test]
fn an_interruption_writes_the_best_x() {
    let sandbox = Sandbox::new();
    sandbox.run("generate spectra --rows 600 --cols 500 -o A.npz").expect(0);
    let mut child = sandbox
        .command(&["solve", "A.npz", "--tol", "1e-15", "-v", "-o", "x.npy", "--report", "r.json"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Two lines of the log: it is solving.
    let mut log = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    for _ in 0..2 {
        std::io::BufRead::read_line(&mut log, &mut line).unwrap();
    }
    let drain = std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let status = child.wait().unwrap();
    let _ = drain.join();
    assert_eq!(status.code(), Some(130), "{line}");
    assert_eq!(sandbox.json("r.json")["status"].as_str(), Some("interrupted"));
    sandbox.run("verify A.npz x.npy --tol 1e3").expect(0);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_failure() {
    let sandbox = Sandbox::new();
    sandbox.run("generate uniform --rows 20 --cols 20000 --density 0.2 -o A.npz").expect(0);
    let mut child = sandbox
        .command(&["solve", "A.npz", "--max-passes", "5", "-o", "-"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}
