//! Runs that are cut off, and go on.

mod common;

use std::time::Duration;

use common::Sandbox;

/// A problem that takes a while by a method that takes its time.
const METHOD: &str = "--method si-nnls --tol 1e-7";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run("generate spectra --rows 300 --cols 200 --seed 5 -o A.npz").expect(0);
    sandbox
}

#[test]
fn a_run_that_is_killed_at_any_moment_goes_on_to_the_same_answer() {
    let sandbox = sandbox();
    sandbox.run(&format!("solve A.npz {METHOD} --quiet -o whole.txt --report whole.json")).expect(0);
    let line = format!("solve A.npz {METHOD} --quiet --checkpoint run.ckpt --checkpoint-every 0 -o x.txt --report r.json");
    let words: Vec<&str> = line.split_whitespace().collect();
    let (mut state, mut cut_off) = (7u64, 0);
    for _ in 0..50 {
        let mut run = sandbox.command(&words).spawn().unwrap();
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        std::thread::sleep(Duration::from_millis(1 + (state >> 33) % 60));
        run.kill().unwrap(); // SIGKILL
        match run.wait().unwrap().code() {
            None => cut_off += 1,
            code => assert_eq!(code, Some(0), "it ended by itself, and not well"),
        }
    }
    assert!(cut_off >= 10, "{cut_off} of 50 were cut off: the problem is too easy for this test");
    sandbox.run(&line).expect(0);
    let (whole, resumed) = (sandbox.json("whole.json"), sandbox.json("r.json"));
    assert_eq!(resumed["status"], "solved");
    assert!(resumed["relative_gap"].as_f64().unwrap() <= 1e-7);
    let objective = |report: &serde_json::Value| report["objective"].as_f64().unwrap();
    assert!((objective(&whole) / objective(&resumed) - 1.0).abs() < 1e-5, "{} {}", objective(&whole), objective(&resumed));
    // Nothing is left but what was asked for, and what a kill in the middle of a write leaves under a name of its own.
    let strange = |name: &String| !["A.npz", "whole.txt", "whole.json", "run.ckpt", "x.txt", "r.json"].contains(&name.as_str());
    assert!(sandbox.files().iter().filter(|name| strange(name)).all(|name| name.starts_with('.') && name.ends_with(".tmp")));
}

#[test]
fn a_finished_run_is_continued_to_a_tighter_tolerance() {
    let sandbox = sandbox();
    let run = sandbox.run("solve A.npz --tol 1e-3 --checkpoint run.ckpt --report first.json").expect(0);
    assert!(!run.stdout.contains("resumed") && run.stdout.contains("run.ckpt"), "{}", run.stdout);
    let run = sandbox.run("solve A.npz --tol 1e-9 --checkpoint run.ckpt --report r.json").expect(0);
    assert!(run.stdout.contains("resumed") && run.stdout.contains("passes"), "{}", run.stdout);
    assert!(sandbox.json("r.json")["relative_gap"].as_f64().unwrap() <= 1e-9);
    // All is done: it takes a look, no more.
    sandbox.run("solve A.npz --tol 1e-9 --checkpoint run.ckpt --report again.json").expect(0);
    let passes = |name: &str| sandbox.json(name)["passes"].as_f64().unwrap();
    assert!(passes("again.json") < passes("first.json"), "{} {}", passes("again.json"), passes("first.json"));
    // The same problem from another file is the same problem.
    sandbox.run("convert A.npz A.svm").expect(0);
    sandbox.run("solve A.svm --tol 1e-9 --checkpoint run.ckpt").expect(0);
}

#[test]
fn what_is_no_checkpoint_of_this_problem_is_refused_and_kept() {
    let sandbox = sandbox();
    sandbox.run("solve A.npz --checkpoint run.ckpt --quiet").expect(0);
    sandbox.write("text", "not a checkpoint at all, but something that somebody may need");
    let good = sandbox.read("run.ckpt");
    std::fs::write(sandbox.path("cut.ckpt"), &good[..good.len() / 2]).unwrap();
    let mut newer = good.clone();
    newer[8] = 9;
    std::fs::write(sandbox.path("newer.ckpt"), newer).unwrap();
    sandbox.write("B.csv", &"1,2\n".repeat(300));
    let before = sandbox.files();
    for (line, message) in [
        ("solve A.npz --l1 0.5 --checkpoint run.ckpt -o x.txt", "another problem"),
        ("solve A.npz --upper 0.5 --checkpoint run.ckpt -o x.txt", "another problem"),
        ("solve A.npz --checkpoint text -o x.txt", "is not a checkpoint"),
        ("solve A.npz --checkpoint cut.ckpt -o x.txt", "damaged"),
        ("solve A.npz --checkpoint newer.ckpt -o x.txt", "version 9"),
        ("solve A.npz --checkpoint A.npz", "overwrite an input"),
        ("solve A.npz --checkpoint-every 5s", "--checkpoint"),
        ("solve A.npz --checkpoint no/such/folder", "no/such/folder"),
        ("solve A.npz B.csv --checkpoint many.ckpt", "one right-hand side only"),
    ] {
        let run = sandbox.run(line).expect(2);
        assert!(run.stderr.contains(message), "{line}: {}", run.stderr);
        assert_eq!(sandbox.files(), before, "{line}");
    }
    assert_eq!(sandbox.read("run.ckpt"), good);
}
