//! Runs that are cut off, and go on.

mod common;

use std::time::Duration;

use common::Sandbox;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run("generate spectra --rows 300 --cols 200 --seed 5 -o A.npz").expect(0);
    sandbox
}

#[test]
fn a_run_that_is_killed_at_any_moment_goes_on_to_the_same_answer() {
    let sandbox = Sandbox::new();
    sandbox.run("generate spectra --rows 600 --cols 500 --seed 2 -o A.npz").expect(0);
    sandbox.run("solve A.npz --tol 1e-8 --quiet -o whole.txt --report whole.json").expect(0);
    let objective = |name: &str| sandbox.json(name)["objective"].as_f64().unwrap();
    // It would go on for minutes, and writes all the time; what it leaves is tried on a copy.
    let endless = "solve A.npz --method si-nnls --tol 0 --quiet --checkpoint run.ckpt --checkpoint-every 0 -o x.txt";
    let endless: Vec<&str> = endless.split_whitespace().collect();
    let (mut state, mut resumed) = (7u64, 0);
    for kill in 0..50 {
        let mut run = sandbox.command(&endless).spawn().unwrap();
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        std::thread::sleep(Duration::from_millis(1 + (state >> 33) % 60));
        run.kill().unwrap(); // SIGKILL
        assert_eq!(run.wait().unwrap().code(), None, "kill {kill}: it ended by itself");
        if !sandbox.path("run.ckpt").exists() {
            continue; // killed before there was anything to keep
        }
        resumed += 1;
        std::fs::copy(sandbox.path("run.ckpt"), sandbox.path("copy.ckpt")).unwrap();
        sandbox.run("solve A.npz --tol 1e-8 --quiet --checkpoint copy.ckpt -o x.txt --report r.json").expect(0);
        let report = sandbox.json("r.json");
        assert_eq!(report["status"], "solved", "kill {kill}");
        assert!(report["relative_gap"].as_f64().unwrap() <= 1e-8, "kill {kill}");
        assert!((objective("whole.json") / objective("r.json") - 1.0).abs() < 1e-6, "kill {kill}");
    }
    assert!(resumed > 0, "no run lived long enough to keep anything");
    // Nothing is left but what was asked for, and what a kill in the middle of a write leaves under a name of its own.
    let known = ["A.npz", "whole.txt", "whole.json", "run.ckpt", "copy.ckpt", "x.txt", "r.json"];
    let strange = |name: &String| !known.contains(&name.as_str());
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
