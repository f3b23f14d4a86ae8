//! `nonneg nmf`.

mod common;

use common::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("V.csv", "1,2,0,1\n2,4,0,2\n0,0,3,1\n1,2,3,2\n");
    sandbox.write("negative.csv", "1,2\n-1,3\n");
    sandbox
}

#[test]
fn factors_are_written_with_a_report_and_a_picture() {
    let sandbox = sandbox();
    let run = sandbox.run("nmf V.csv -k 2 -o out --tol 1e-8 --max-iterations 2000 --image 2x2").expect(0);
    assert!(run.stdout.contains("converged") && run.stdout.contains("W.npy"), "{}", run.stdout);
    let report = sandbox.json("out/report.json");
    assert_eq!((report["rank"].as_u64(), report["status"].as_str()), (Some(2), Some("converged")));
    assert!(report["residual_norm"].as_f64().unwrap() < 1e-2 && report["relative_residual"].as_f64().unwrap() < 1e-2);
    assert!(sandbox.read("out/factors.png").starts_with(b"\x89PNG"));
    let steps = sandbox.text("out/trace.csv");
    assert_eq!(steps.lines().count() as u64, 1 + report["iterations"].as_u64().unwrap());
    sandbox.run("convert out/W.npy W.csv").expect(0);
    sandbox.run("convert out/H.npy H.csv").expect(0);
    assert_eq!((sandbox.text("W.csv").lines().count(), sandbox.text("H.csv").lines().count()), (4, 2));
}

#[test]
fn a_step_limit_writes_what_there_is() {
    let sandbox = sandbox();
    let run = sandbox.run("nmf V.csv -k 2 -o out --max-iterations 1 --method exact --init random -v").expect(1);
    assert!(run.stdout.contains("step limit") && run.stderr.contains("step 1"), "{} {}", run.stdout, run.stderr);
    assert_eq!(sandbox.json("out/report.json")["status"].as_str(), Some("iteration_limit"));
}

#[test]
fn bad_input_writes_nothing() {
    let sandbox = sandbox();
    let before = sandbox.files();
    for (line, message) in [
        ("nmf negative.csv -k 1 -o out", "negative.csv"),
        ("nmf nowhere.csv -k 1 -o out", "nowhere.csv"),
        ("nmf V.csv -o out", "--rank"),
        ("nmf V.csv -k 0 -o out", "rank"),
        ("nmf V.csv -k 2 -o V.csv", "folder"),
        ("nmf V.csv -k 2 -o out --image 3x3", "3x3"),
        ("nmf V.csv -k 2 -o out --image three", "19x19"),
        ("nmf V.csv -k 2 -o out --method mu", "hals, exact"),
        ("nmf V.csv -k 2 -o out --init zero", "nndsvda"),
    ] {
        let run = sandbox.run(line).expect(2);
        assert!(run.stderr.contains(message), "{line}: {}", run.stderr);
        assert_eq!(sandbox.files(), before, "{line}");
    }
}
