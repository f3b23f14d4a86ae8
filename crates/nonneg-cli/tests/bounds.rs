//! `--lower`, `--upper` and `--free`.

mod common;

use common::{Sandbox, numbers};

/// min ‖x − b‖ with b = (−3, 0.5, 4), and a column of ones.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("A.csv", "1,0,0\n0,1,0\n0,0,1\n");
    sandbox.write("b.txt", "-3\n0.5\n4\n");
    sandbox.write("lower.txt", "-inf\n1\n-2\n");
    sandbox.write("upper.txt", "-1\ninf\n2\n");
    sandbox
}

fn solution(sandbox: &Sandbox, options: &str) -> Vec<f64> {
    sandbox.run(&format!("solve A.csv b.txt --tol 1e-10 -o x.txt --report r.json {options}")).expect(0);
    sandbox.run(&format!("verify A.csv b.txt x.txt --tol 1e-9 {options}")).expect(0);
    numbers(&sandbox.text("x.txt"))
}

#[test]
fn bounds_from_numbers_and_files() {
    let sandbox = sandbox();
    assert_eq!(solution(&sandbox, ""), [0.0, 0.5, 4.0]);
    assert_eq!(solution(&sandbox, "--lower -2"), [-2.0, 0.5, 4.0]);
    assert_eq!(solution(&sandbox, "--lower -2 --upper 0"), [-2.0, 0.0, 0.0]);
    assert_eq!(solution(&sandbox, "--lower lower.txt"), [-3.0, 1.0, 4.0]);
    assert_eq!(solution(&sandbox, "--lower lower.txt --upper upper.txt"), [-3.0, 1.0, 2.0]);
    assert_eq!(solution(&sandbox, "--free 0-1"), [-3.0, 0.5, 4.0]);
    assert_eq!(solution(&sandbox, "--free 0 --l1 0.5"), [-3.0, 0.0, 3.5]);
    assert_eq!(sandbox.json("r.json")["certified"].as_bool(), Some(true));
}

#[test]
fn bounds_that_make_no_sense_are_refused() {
    let sandbox = sandbox();
    let before = sandbox.files();
    for (options, message) in [
        ("--lower 2 --upper 1", "lower[0] is 2, expected at most its upper bound"),
        ("--lower nowhere.txt", "nowhere.txt"),
        ("--lower -1 --l2 1", "penalties"),
        ("--free 3", "free is 3"),
        ("--free 2-1", "ranges"),
        ("--free one", "ranges"),
        ("--lower b.txt --upper lower.txt", "lower.txt: upper[0] is -inf, expected"),
    ] {
        let run = sandbox.run(&format!("solve A.csv b.txt -o x.txt {options}")).expect(2);
        assert!(run.stderr.contains(message), "{options}: {}", run.stderr);
    }
    assert_eq!(sandbox.files(), before);
}
