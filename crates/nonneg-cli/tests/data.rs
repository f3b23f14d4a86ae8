//! `nonneg data`: messages, exit statuses, what is left behind. Downloads that succeed are tested beside the code.

mod common;
#[path = "common/server.rs"]
mod server;

use common::{Run, Sandbox};
use server::{Server, cut, nobody, ranged, status};

/// Runs `nonneg data` whatever proxies are set.
fn data(sandbox: &Sandbox, line: &str) -> Run {
    let args: Vec<&str> = ["data"].into_iter().chain(line.split_whitespace()).collect();
    Run::of(direct(sandbox, &args).output().expect("the command runs"), line)
}

fn direct(sandbox: &Sandbox, args: &[&str]) -> std::process::Command {
    let mut command = sandbox.command(args);
    for name in ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "all_proxy", "https_proxy", "http_proxy"] {
        command.env_remove(name);
    }
    command
}

/// bzip2 of "1 1:2\n", and its digest.
const TINY: &[u8] = b"\
    \x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x56\x3a\x7d\x1b\x00\x00\x01\x58\x00\x00\x10\x40\
    \x00\x30\x10\x20\x00\x30\xcd\x00\xc3\x40\x53\x1c\x5d\xc9\x14\xe1\x42\x41\x58\xe9\xf4\x6c";
const TINY_DIGEST: &str = "1bd3419609ce6e4fe7fb8dc9c04da26fc596f91786402584e92c924960525664";

#[test]
fn the_list_names_sizes_and_sources() {
    let run = data(&Sandbox::new(), "list").expect(0);
    for part in ["real-sim ", "news20 ", "E2006 ", "72,309 × 20,958, 3,709,083 entries", "1,355,191", "E2006.train.bz2"] {
        assert!(run.stdout.contains(part), "{part} is missing:\n{}", run.stdout);
    }
}

#[test]
fn failures_are_one_line_and_leave_nothing() {
    let sandbox = Sandbox::new();
    let missing = Server::start(|_, _| status("404 Not Found"));
    let other = Server::start(|_, asked| ranged(TINY, asked));
    let (gone, zeros) = (nobody(), "0".repeat(64));
    for (line, words) in [
        (format!("real-sim --url {}", missing.url), vec![missing.url.as_str(), "404"]),
        (format!("real-sim --url {gone}"), vec![gone.as_str(), "refused"]),
        (format!("real-sim --url {} --sha256 {zeros}", other.url), vec!["SHA-256", TINY_DIGEST, &zeros, "removed"]),
        (format!("E2006 -o here --url {}", other.url), vec!["is not E2006", "1 × 1, 1 entries", "16,087 × 150,360", "removed"]),
    ] {
        let run = data(&sandbox, &format!("fetch {line}")).expect(2);
        assert!(run.stdout.is_empty() && run.stderr.starts_with("error: ") && run.stderr.lines().count() == 1, "{}", run.stderr);
        for word in words {
            assert!(run.stderr.contains(word), "`{word}` is not in: {}", run.stderr);
        }
        for folder in ["data", "here"] {
            let left = std::fs::read_dir(sandbox.path(folder)).map_or(0, |entries| entries.count());
            assert_eq!(left, 0, "{line}");
        }
    }
    assert!(data(&sandbox, "fetch mnist").expect(2).stderr.contains("real-sim, news20, E2006"));
    assert!(data(&sandbox, "fetch real-sim --sha256 12").expect(2).stderr.contains("64 hexadecimal digits"));
}

#[test]
fn what_is_there_is_verified() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("data")).unwrap();
    std::fs::write(sandbox.path("data/real-sim.bz2"), TINY).unwrap();
    sandbox.write("data/real-sim.bz2.sha256", &format!("{TINY_DIGEST}  real-sim.bz2\n"));
    let run = data(&sandbox, "fetch real-sim --url nowhere").expect(0);
    assert!(run.stdout.contains("is there already, digest matches") && run.stdout.contains(TINY_DIGEST), "{}", run.stdout);
    let run = data(&sandbox, "fetch real-sim --quiet --threads 1").expect(0);
    assert!(run.stdout.is_empty() && run.stderr.is_empty());
    sandbox.run("solve data/real-sim.bz2 --quiet").expect(0);
    sandbox.write("data/real-sim.bz2", "changed");
    assert!(data(&sandbox, "fetch real-sim").expect(2).stderr.contains("SHA-256"));
    assert_eq!(sandbox.text("data/real-sim.bz2"), "changed");
}

/// Ctrl-C keeps the part and says so; the next run asks for the rest only.
#[cfg(unix)]
#[test]
fn interrupted_downloads_go_on() {
    let sandbox = Sandbox::new();
    let stalling = Server::start(|number, asked| match number {
        0 => cut(ranged(TINY, asked), 20),
        _ => {
            std::thread::sleep(std::time::Duration::from_secs(600));
            vec![]
        }
    });
    let mut command = direct(&sandbox, &["data", "fetch", "real-sim", "--url", &stalling.url]);
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    stalling.wait_for_request(2);
    let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let run = Run::of(child.wait_with_output().unwrap(), "data fetch").expect(130);
    let received = TINY.len() - 20;
    for part in ["interrupted", "real-sim.bz2.part", &format!("{received} bytes received so far"), "goes on from there"] {
        assert!(run.stderr.contains(part), "{part} is missing: {}", run.stderr);
    }
    assert_eq!(sandbox.read("data/real-sim.bz2.part"), &TINY[..received]);

    let server = Server::start(|_, asked| ranged(TINY, asked));
    let run = data(&sandbox, &format!("fetch real-sim --url {}", server.url)).expect(2);
    assert!(run.stderr.contains("is not real-sim as published"), "{}", run.stderr);
    assert_eq!(server.asked(), [Some(received)]);
}
