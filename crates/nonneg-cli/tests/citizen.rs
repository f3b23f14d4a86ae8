//! What a terminal, a shell and a batch system expect.

mod common;

use common::Sandbox;

#[cfg(unix)]
#[test]
fn signals_write_the_best_x_and_tell_which_they_were() {
    use std::time::Duration;
    let sandbox = Sandbox::new();
    sandbox.run("generate spectra --rows 600 --cols 500 --seed 2 -o A.npz").expect(0);
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let line = "solve A.npz --method si-nnls --tol 0 --max-passes 1e7 -v -o x.txt --report r.json --checkpoint run.ckpt";
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = sandbox.command(&words);
        let mut run = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        // It is solving once it has told of a check.
        let mut told = [0; 1];
        std::io::Read::read_exact(run.stderr.as_mut().unwrap(), &mut told).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let sent = std::process::Command::new("kill").args([signal, &run.id().to_string()]).status().unwrap();
        assert!(sent.success());
        // Its messages must have somewhere to go.
        let mut rest = run.stderr.take().unwrap();
        let reader = std::thread::spawn(move || std::io::copy(&mut rest, &mut std::io::sink()));
        assert_eq!(run.wait().unwrap().code(), Some(code), "{signal}");
        reader.join().unwrap().unwrap();
        assert_eq!(sandbox.json("r.json")["status"], "interrupted");
        assert_eq!(sandbox.text("x.txt").lines().count(), 500);
        for name in ["x.txt", "r.json", "run.ckpt"] {
            std::fs::remove_file(sandbox.path(name)).unwrap();
        }
    }
}

/// A file system with no room: one message, and no half-written file. Needs the right to mount one.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_gives_one_message_and_leaves_nothing() {
    use std::process::Command;
    let sandbox = Sandbox::new();
    sandbox.run("generate uniform --rows 40 --cols 30000 --seed 2 -o A.npy").expect(0);
    std::fs::create_dir(sandbox.path("small")).unwrap();
    let small = sandbox.path("small");
    let mount = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&small).output();
    if !mount.is_ok_and(|mount| mount.status.success()) {
        eprintln!("skipped: a tmpfs cannot be mounted here");
        return;
    }
    let attempts = [
        "solve A.npy A.b.txt --quiet -o small/x.npy",
        "solve A.npy A.b.txt --quiet --checkpoint small/run.ckpt --checkpoint-every 0",
        "convert A.npy small/A.nnm",
        "convert A.npy small/A.mtx",
        "solve A.npy A.npy --quiet --time-limit 0 -o small/X.npy --certificates small/c.csv",
    ];
    let outcomes = attempts.map(|line| (line, sandbox.run(line), std::fs::read_dir(&small).unwrap().count()));
    let unmounted = Command::new("umount").arg(&small).status().unwrap();
    assert!(unmounted.success());
    for (line, run, left) in outcomes {
        let run = run.expect(2);
        assert!(run.stderr.contains("No space left") && run.stderr.lines().count() == 1, "{line}: {}", run.stderr);
        assert_eq!(left, 0, "{line}");
    }
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = sandbox.run(&format!("completions {shell}")).expect(0);
        assert!(
            ["solve", "--checkpoint-every", "nmf"].iter().all(|word| run.stdout.contains(word.trim_start_matches('-'))),
            "{shell}"
        );
    }
    sandbox.run("completions tcsh").expect(2);
    let run = sandbox.run("manual").expect(0);
    assert!(run.stdout.contains(".TH nonneg") && run.stdout.contains("SUBCOMMANDS"), "{}", run.stdout);
    std::fs::create_dir(sandbox.path("man1")).unwrap();
    sandbox.run("manual -o man1").expect(0);
    let page = sandbox.text("man1/nonneg-solve.1");
    assert!(page.contains("checkpoint") && page.contains(".TH nonneg-solve"), "{page}");
    assert_eq!(std::fs::read_dir(sandbox.path("man1")).unwrap().count(), 12);
    sandbox.run("manual -o no/such").expect(2);
}
