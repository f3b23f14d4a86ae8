//! Bad input and usage: exit status 2, one message that names the culprit, nothing written.

mod common;

use common::{A_MTX, Sandbox, small_problem};

/// Runs, expects status 2 with all `words` in one line on standard error, and no new file.
#[track_caller]
fn refuse(sandbox: &Sandbox, line: &str, words: &[&str]) {
    let before = sandbox.files();
    let run = sandbox.run(line).expect(2);
    assert!(run.stdout.is_empty(), "{}", run.stdout);
    let message = run.stderr.trim_end();
    assert!(message.starts_with("error: ") && message.matches("error:").count() == 1, "{message}");
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
    assert_eq!(sandbox.files(), before, "nothing is written");
}

/// As [`refuse`], for messages of our own (clap's add a hint about `--help`).
#[track_caller]
fn refuse_in_one_line(sandbox: &Sandbox, line: &str, words: &[&str]) {
    refuse(sandbox, line, words);
    let run = sandbox.run(line);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}

const ALL_OUTPUTS: &str = "-o x.npy --report r.json --trace t.csv --plot p.svg --dual y.npy";

#[track_caller]
fn refuse_solve(sandbox: &Sandbox, inputs: &str, words: &[&str]) {
    refuse_in_one_line(sandbox, &format!("solve {inputs} {ALL_OUTPUTS}"), words);
}

#[test]
fn vectors_that_do_not_fit() {
    let sandbox = small_problem();
    sandbox.write("short.txt", "1\n2\n");
    sandbox.write("nan.txt", "1\nnan\n2\n3\n");
    sandbox.write("inf.txt", "1\n2\ninf\n3\n");
    sandbox.write("word.txt", "1\ntwo\n3\n4\n");
    sandbox.write("negative.txt", "1\n-1\n1\n1\n");
    refuse_solve(&sandbox, "A.mtx short.txt", &["short.txt", "2", "expected 4"]);
    refuse_solve(&sandbox, "A.mtx nan.txt", &["nan.txt"]);
    refuse_solve(&sandbox, "A.mtx inf.txt", &["inf.txt"]);
    refuse_solve(&sandbox, "A.mtx word.txt", &["word.txt", "line 2"]);
    refuse_solve(&sandbox, "A.mtx b.txt --weights negative.txt", &["negative.txt", "-1"]);
    refuse_solve(&sandbox, "A.mtx b.txt --weights short.txt", &["short.txt", "expected 4"]);
    refuse_solve(&sandbox, "A.mtx b.txt --upper b.txt", &["b.txt"]);
    refuse_solve(&sandbox, "A.mtx b.txt --upper -1", &["upper", "-1"]);
    refuse_solve(&sandbox, "A.mtx b.txt --x0 b.txt", &["b.txt", "expected 3"]);
    refuse_solve(&sandbox, "A.mtx --linear b.txt", &["b.txt", "expected 3"]);
    refuse_solve(&sandbox, "A.mtx missing.txt", &["missing.txt"]);
    refuse_solve(&sandbox, "missing.mtx b.txt", &["missing.mtx"]);
    refuse_solve(&sandbox, "A.mtx", &["b is missing", "A.mtx"]);
}

#[test]
fn matrices_that_are_broken() {
    let sandbox = small_problem();
    let head = "%%MatrixMarket matrix coordinate real general\n";
    for (name, text, words) in [
        ("nan.mtx", format!("{head}4 3 1\n1 1 nan\n"), vec!["nan.mtx"]),
        ("inf.mtx", format!("{head}4 3 1\n1 1 inf\n"), vec!["inf.mtx"]),
        ("negative.mtx", format!("{head}4 3 1\n-1 1 2\n"), vec!["negative.mtx", "line 3"]),
        ("range.mtx", format!("{head}4 3 1\n5 1 2\n"), vec!["range.mtx", "line 3"]),
        ("zero.mtx", format!("{head}4 3 1\n0 1 2\n"), vec!["zero.mtx", "line 3"]),
        ("short.mtx", A_MTX[..A_MTX.len() - 12].to_owned(), vec!["short.mtx"]),
        ("ragged.csv", "1,2,3\n4,5\n".to_owned(), vec!["ragged.csv", "line 2"]),
        ("empty.csv", String::new(), vec!["empty.csv"]),
        ("empty.mtx", format!("{head}0 0 0\n"), vec!["empty"]),
        ("nothing.mtx", String::new(), vec!["nothing.mtx"]),
        ("negative.svm", "1 -2:1\n".to_owned(), vec!["negative.svm", "line 1"]),
        ("nan.csv", "1,2\nnan,3\n".to_owned(), vec!["nan.csv"]),
    ] {
        sandbox.write(name, &text);
        refuse_solve(&sandbox, &format!("{name} b.txt"), &words);
        if name != "empty.mtx" {
            refuse_in_one_line(&sandbox, &format!("info {name}"), &words);
            refuse_in_one_line(&sandbox, &format!("convert {name} out.npz"), &words);
        }
    }
    sandbox.run("generate uniform --rows 30 --cols 20 -o A.npz").expect(0);
    let whole = sandbox.read("A.npz");
    std::fs::write(sandbox.path("cut.npz"), &whole[..whole.len() / 2]).unwrap();
    refuse_solve(&sandbox, "cut.npz", &["cut.npz"]);
}

#[test]
fn an_unbounded_objective_names_the_column() {
    let sandbox = small_problem();
    sandbox.write("empty.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n2 3 1\n");
    sandbox.write("c.txt", "1\n1\n1\n");
    refuse_solve(&sandbox, "empty.mtx --linear c.txt", &["unbounded", "column"]);
    // With a bound on x it is a problem like any other.
    sandbox.run("solve empty.mtx --linear c.txt --upper 2").expect(0);
}

#[test]
fn outputs_that_cannot_be_written() {
    let sandbox = small_problem();
    for output in ["-o no/such/x.npy", "--report no/r.json", "--trace no/t.csv", "--plot no/p.svg", "--dual no/y.npy"] {
        let path = output.split(' ').nth(1).unwrap();
        refuse_in_one_line(&sandbox, &format!("solve A.mtx b.txt {output} "), &[path]);
    }
    refuse_in_one_line(&sandbox, "solve A.mtx b.txt -o x.npy --report no/r.json", &["no/r.json"]);
    refuse_in_one_line(&sandbox, "generate blur --cols 25 -o no/A.npz", &["no/A.npz"]);
    refuse_in_one_line(&sandbox, "convert A.mtx no/A.npz", &["no/A.npz"]);
    refuse_in_one_line(&sandbox, "verify A.mtx b.txt b.txt --report no/r.json", &["no/r.json"]);
}

#[test]
fn endings_that_nobody_knows() {
    let sandbox = small_problem();
    sandbox.write("A.xyz", A_MTX);
    refuse_in_one_line(&sandbox, "solve A.xyz b.txt", &["A.xyz", ".mtx"]);
    refuse_in_one_line(&sandbox, "solve A.mtx b.txt -o x.xyz", &["x.xyz", ".npy"]);
    refuse_in_one_line(&sandbox, "solve A.mtx b.txt --plot p.pdf", &["p.pdf", ".svg or .png"]);
    refuse_in_one_line(&sandbox, "convert A.mtx A.docx", &["A.docx"]);
    refuse_in_one_line(&sandbox, "generate blur --cols 25 -o A", &["A"]);
}

#[test]
fn options_that_contradict_each_other_or_make_no_sense() {
    let sandbox = small_problem();
    sandbox.write("c.txt", "6\n7\n-1\n");
    refuse_in_one_line(&sandbox, "solve A.mtx b.txt --linear c.txt", &["--linear", "b.txt"]);
    refuse_in_one_line(&sandbox, "verify A.mtx b.txt c.txt --linear c.txt", &["--linear", "b.txt"]);
    refuse_in_one_line(&sandbox, "solve A.mtx b.txt -o x.txt --dual ./x.txt", &["--output", "--dual", "x.txt"]);
    refuse_in_one_line(&sandbox, "solve A.mtx b.txt -o - --report -", &["--output", "--report"]);
    refuse_in_one_line(&sandbox, "solve A.mtx b.txt -o b.txt", &["b.txt", "overwrite"]);
    refuse_in_one_line(&sandbox, "convert A.mtx A.mtx", &["A.mtx", "overwrite"]);
    refuse_in_one_line(&sandbox, "solve - -", &["standard input"]);
    refuse(&sandbox, "solve A.mtx b.txt -v --quiet", &["--quiet"]);
    refuse(&sandbox, "solve A.mtx b.txt --metric euclid", &["scale-invariant or spectral"]);
    refuse(&sandbox, "solve A.mtx b.txt --method fnnls --upper 1", &["fnnls", "upper bounds", "auto or cd"]);
    refuse(&sandbox, "solve A.mtx b.txt --method simplex", &["expected one of", "si-nnls"]);
    refuse(&sandbox, "solve A.mtx b.txt --tol -1", &["--tol", "expected a finite number"]);
    refuse(&sandbox, "solve A.mtx b.txt --tol nan", &["--tol", "expected a finite number"]);
    refuse(&sandbox, "solve A.mtx b.txt --l1 -1", &["--l1", "expected a finite number"]);
    refuse(&sandbox, "solve A.mtx b.txt --time-limit soon", &["--time-limit", "90s"]);
    refuse(&sandbox, "solve A.mtx b.txt --threads 0", &["--threads", "≥ 1"]);
    refuse(&sandbox, "solve A.mtx b.txt --batch-size 0", &["--batch-size", "≥ 1"]);
    refuse(&sandbox, "solve A.mtx b.txt --nonsense", &["--nonsense"]);
    refuse(&sandbox, "solve A.mtx b.txt x.txt", &["x.txt"]);
    refuse(&sandbox, "nonsense", &["nonsense"]);
    refuse(&sandbox, "generate nonsense -o A.npz", &["tomography"]);
    refuse(&sandbox, "generate text", &["--output"]);
    refuse_in_one_line(&sandbox, "generate blur --cols 10 -o A.npz", &["9 (3×3)"]);
    refuse_in_one_line(&sandbox, "generate spectra --density 0.1 -o A.npz", &["no meaning"]);
    refuse(&sandbox, "generate text --density 2 -o A.npz", &["--density"]);
}

#[test]
fn an_x_that_is_no_answer() {
    let sandbox = small_problem();
    sandbox.write("negative.txt", "1\n-0.5\n0\n");
    sandbox.write("nan.txt", "1\nnan\n0\n");
    sandbox.write("short.txt", "1\n");
    refuse_in_one_line(&sandbox, "verify A.mtx b.txt negative.txt --report r.json", &["negative.txt", "-0.5"]);
    refuse_in_one_line(&sandbox, "verify A.mtx b.txt nan.txt --report r.json", &["nan.txt"]);
    refuse_in_one_line(&sandbox, "verify A.mtx b.txt short.txt --report r.json", &["short.txt", "expected 3"]);
    refuse_in_one_line(&sandbox, "verify A.mtx short.txt", &["b is missing"]);
}
