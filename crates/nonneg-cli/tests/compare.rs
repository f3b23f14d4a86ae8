//! `nonneg compare` and `nonneg reproduce`: files, figures, and going on where a run stopped.

mod common;

use common::Sandbox;
use serde_json::Value;

fn with_text(rows: usize, cols: usize) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(&format!("generate text --rows {rows} --cols {cols} -o A.npz")).expect(0);
    sandbox
}

fn methods(dataset: &Value) -> Vec<&str> {
    dataset["methods"].as_array().unwrap().iter().map(|method| method["method"].as_str().unwrap()).collect()
}

const HEADER: &str = "dataset,method,passes,seconds,objective,lower_bound,relative_gap,natural_residual,support,restarts,event";
const PANELS: [&str; 4] = ["residual-passes", "gap-passes", "residual-seconds", "gap-seconds"];

#[test]
fn compare_writes_report_summary_curves_and_panels() {
    let sandbox = with_text(300, 200);
    let run = sandbox.run("compare A.npz -o out --methods auto,cd,fista-norestart --budget 5s --tol 1e-8").expect(0);
    assert!(run.stdout.contains("fista-norestart") && run.stdout.contains("report.html"), "{}", run.stdout);
    assert!(run.stderr.is_empty(), "{}", run.stderr);

    let summary = sandbox.json("out/summary.json");
    let dataset = &summary["datasets"][0];
    assert_eq!((dataset["name"].as_str(), dataset["m"].as_u64(), dataset["n"].as_u64()), (Some("A.npz"), Some(300), Some(200)));
    assert_eq!(methods(dataset), ["auto", "cd", "fista-norestart"]);
    for method in dataset["methods"].as_array().unwrap() {
        assert!(method["final_gap"].as_f64().unwrap() <= 1e-7, "{method}");
        for costs in ["passes_to", "seconds_to"] {
            let costs: Vec<f64> = ["1e-2", "1e-4", "1e-6"].map(|level| method[costs][level].as_f64().unwrap()).into();
            assert!(costs[0] > 0.0 && costs.is_sorted(), "{method}");
        }
    }
    // The optimum is between what was proved and what was found.
    assert!(dataset["unknown"].as_f64().unwrap() <= 1e-8);
    assert!(dataset["lower_bound"].as_f64().unwrap() <= dataset["best_objective"].as_f64().unwrap());
    assert!(summary.get("claims").is_none(), "claims are about the paper's data");

    let curves = sandbox.text("out/curves.csv");
    let mut lines = curves.lines();
    assert_eq!(lines.next(), Some(HEADER));
    assert!(lines.clone().all(|line| line.split(',').count() == 11 && line.starts_with("A.npz,")), "{curves}");
    for method in ["auto", "cd", "fista-norestart"] {
        assert!(lines.clone().any(|line| line.split(',').nth(1) == Some(method)), "{method}");
    }
    let html = sandbox.text("out/report.html");
    assert!(html.contains("<svg") && html.contains("coordinate descent") && !html.contains("<script") && !html.contains("<link"));
    for name in PANELS.map(|panel| format!("out/A.npz-{panel}")).into_iter().chain(["out/figure".to_owned()]) {
        assert!(sandbox.text(&format!("{name}.svg")).starts_with("<svg"), "{name}");
        assert!(sandbox.read(&format!("{name}.png")).starts_with(b"\x89PNG"), "{name}");
    }
}

#[test]
fn finished_curves_are_not_run_again() {
    let sandbox = with_text(200, 150);
    sandbox.run("compare A.npz -o out --methods cd --budget 5s -q").expect(0);
    let first = sandbox.read("out/finished/A.npz.cd.json");
    let seconds = |sandbox: &Sandbox| sandbox.json("out/summary.json")["datasets"][0]["methods"][0]["seconds"].clone();
    let before = seconds(&sandbox);
    // One more method: the old curve stays to the last bit of its times.
    sandbox.run("compare A.npz -o out --methods cd,auto --budget 5s -q").expect(0);
    assert_eq!((sandbox.read("out/finished/A.npz.cd.json"), seconds(&sandbox)), (first.clone(), before.clone()));
    // Another seed, another problem or --fresh: run again.
    sandbox.run("compare A.npz -o out --methods cd --budget 5s --seed 1 -q").expect(0);
    assert_ne!(sandbox.read("out/finished/A.npz.cd.json"), first);
    let second = sandbox.read("out/finished/A.npz.cd.json");
    sandbox.run("compare A.npz -o out --methods cd --budget 5s --seed 1 --l2 0.1 -q").expect(0);
    assert_ne!(sandbox.read("out/finished/A.npz.cd.json"), second);
    // A damaged file is none.
    sandbox.write("out/finished/A.npz.cd.json", "{\"identity\": 3");
    sandbox.run("compare A.npz -o out --methods cd --budget 5s -q").expect(0);
    assert!(sandbox.json("out/finished/A.npz.cd.json")["curve"]["rows"].is_array());
}

#[test]
fn bad_requests_are_refused() {
    let sandbox = with_text(30, 20);
    for (line, expected) in [
        ("compare A.npz --methods simplex", "expected one of"),
        ("compare A.npz --methods cd,cd", "cd twice"),
        ("compare A.npz --methods fnnls --upper 1", "fnnls does not take upper bounds"),
        ("compare missing.npz", "missing.npz"),
        ("compare A.npz -o A.npz", "A.npz"),
        ("reproduce --data nowhere", "nowhere: no such file"),
        ("reproduce --data A.npz --data nowhere", "nowhere: no such file"),
        ("reproduce --data .", "holds none of the data sets"),
        ("reproduce --quick --data A.npz", "cannot be used with"),
        ("reproduce --budget soon", "--budget"),
    ] {
        let run = sandbox.run(line).expect(2);
        assert!(run.stderr.contains(expected), "{line}: {}", run.stderr);
    }
    sandbox.write("matrix.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 3\n");
    let run = sandbox.run("reproduce --data matrix.mtx -o out").expect(2);
    assert!(run.stderr.contains("matrix.mtx") && run.stderr.contains("expected one with b"), "{}", run.stderr);
    assert_eq!(sandbox.files(), ["A.npz", "matrix.mtx"], "bad requests leave nothing behind");
}

/// Files in the place of the paper's sets: known names play their parts, and every claim gets a verdict.
#[test]
fn reproduce_holds_the_claims_against_the_data() {
    let sandbox = Sandbox::new();
    for (name, seed) in [("real-sim", 1), ("news20", 2), ("E2006", 3)] {
        sandbox.run(&format!("generate text --rows 200 --cols 150 --seed {seed} -o {name}.npz")).expect(0);
    }
    sandbox.run("reproduce --data . --budget 200ms -o out -q").expect(0);
    let summary = sandbox.json("out/summary.json");
    let datasets = summary["datasets"].as_array().unwrap();
    let names: Vec<&str> = datasets.iter().map(|dataset| dataset["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["real-sim", "news20", "E2006"]);
    for dataset in datasets {
        let methods = methods(dataset);
        for wanted in ["si-nnls", "si-nnls-norestart", "si-nnls-bs10", "si-nnls-bs10-spectral", "fista", "oa-ds", "cd", "auto"] {
            assert!(methods.contains(&wanted), "{wanted} of {methods:?}");
        }
        let shown = dataset["methods"].as_array().unwrap().iter().filter(|method| method["shown"] == true).count();
        assert_eq!(shown, methods.len() - 6, "one of four block sizes, with either constants");
    }
    let claims = summary["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 5);
    assert!(claims.iter().all(|claim| !claim["evidence"].as_array().unwrap().is_empty()), "{claims:?}");
    for panel in PANELS {
        assert!(sandbox.read(&format!("out/news20-{panel}.png")).starts_with(b"\x89PNG"));
    }
    assert!(sandbox.text("out/report.html").contains("held against this run"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on_where_it_stopped() {
    let sandbox = Sandbox::new();
    // Dense and large enough that FISTA needs its budget.
    sandbox.run("generate uniform --rows 400 --cols 300 -o A.npz").expect(0);
    let line = ["compare", "A.npz", "-o", "out", "--methods", "auto,fista-norestart", "--budget", "30s", "--tol", "1e-12", "-v"];
    let child = sandbox.command(&line).stderr(std::process::Stdio::piped()).spawn().expect("the command starts");
    let finished = sandbox.path("out/finished/A.npz.auto.json");
    for _ in 0..600 {
        if finished.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    let output = child.wait_with_output().expect("the command ends");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{messages}");
    assert!(messages.contains("1 finished curves are kept in out"), "{messages}");
    assert!(!sandbox.path("out/report.html").exists());
    let kept = std::fs::read(&finished).expect("the finished curve");
    sandbox.run("compare A.npz -o out --methods auto --budget 30s --tol 1e-12 -q").expect(0);
    assert_eq!(std::fs::read(&finished).expect("the finished curve"), kept);
}
