//! Every `nonneg` command in the documentation runs, in order, and succeeds, and prints what the documentation shows.

mod common;

use common::Sandbox;

struct Page {
    commands: Vec<Vec<String>>,
    /// Lines of `text` blocks.
    shown: Vec<String>,
}

fn read(page: &str) -> Page {
    let path = format!("{}/../../{page}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{page}: {error}"));
    let mut block = "";
    let (mut commands, mut shown) = (Vec::new(), Vec::new());
    for line in text.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            block = kind;
        } else if block == "sh" && line.starts_with("nonneg ") {
            let command = line.split(" #").next().unwrap_or(line);
            commands.push(command.split_whitespace().skip(1).map(str::to_owned).collect());
        } else if block == "text" {
            shown.push(line.to_owned());
        }
    }
    Page { commands, shown }
}

#[test]
fn documented_commands_run_and_print_what_is_shown() {
    for (page, least_commands, least_shown) in
        [("README.md", 3, 3), ("docs/certificate.md", 3, 0), ("docs/formats.md", 5, 0), ("docs/long-runs.md", 7, 0)]
    {
        let Page { commands, shown } = read(page);
        assert!(commands.len() >= least_commands, "{page} shows {} commands", commands.len());
        assert!(shown.len() >= least_shown, "{page} shows {} lines of output", shown.len());
        let sandbox = Sandbox::new();
        let mut printed = String::new();
        for command in commands {
            let args: Vec<&str> = command.iter().map(String::as_str).collect();
            let output = sandbox.command(&args).output().expect("the command starts");
            let (out, messages) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success(), "{page}: nonneg {}: {messages}", command.join(" "));
            printed.push_str(&out);
            printed.push_str(&messages);
        }
        for line in shown {
            assert!(printed.lines().any(|other| other == line), "{page} shows `{line}`, not in: {printed}");
        }
    }
}
