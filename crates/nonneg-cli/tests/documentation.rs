//! Every `nonneg` command in the documentation runs, in order, and succeeds.

mod common;

use common::Sandbox;

fn commands_of(page: &str) -> Vec<Vec<String>> {
    let path = format!("{}/../../{page}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
    let mut in_shell = false;
    let mut commands = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            in_shell = line == "```sh";
        } else if in_shell && line.starts_with("nonneg ") {
            let command = line.split(" #").next().unwrap_or(line);
            commands.push(command.split_whitespace().skip(1).map(str::to_owned).collect());
        }
    }
    commands
}

#[test]
fn documented_commands_run() {
    for (page, least) in [("README.md", 3), ("docs/certificate.md", 3), ("docs/formats.md", 5)] {
        let commands = commands_of(page);
        assert!(commands.len() >= least, "{page} shows {} commands", commands.len());
        let sandbox = Sandbox::new();
        for command in commands {
            let args: Vec<&str> = command.iter().map(String::as_str).collect();
            let output = sandbox.command(&args).output().expect("the command starts");
            assert!(output.status.success(), "{page}: nonneg {}: {}", command.join(" "), String::from_utf8_lossy(&output.stderr));
        }
    }
}
