//! The transcripts of `README.md` and of the guides in `docs/` are true: its commands run, in their order, in one shell a page, and
//! print what stands there.
//!
//! A line `[...]` stands for any lines. `GITOPS_WINDOWS_BLESS=1 cargo test --test readme` writes
//! anew what the commands without such a line print.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, and writes when asked")]

mod support;

use std::path::Path;
use std::process::Command;

use clap::CommandFactory;
use support::scratch::{clean, copy, fixtures};

/// Separates the outputs of commands; nothing prints it.
const MARK: &str = "\u{1}end\u{1}";

const ANY: &str = "[...]";

/// A part of the page.
#[derive(Debug, PartialEq)]
enum Part {
    /// A line that is no output.
    Text(String),
    /// A command of a transcript with what it prints.
    Command { command: String, output: Vec<String> },
}

fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut inside = false;
    for line in page.lines() {
        if inside && line != "```" {
            match (line.strip_prefix("$ "), parts.last_mut()) {
                (Some(command), _) => {
                    parts.push(Part::Command { command: command.to_owned(), output: Vec::new() });
                }
                (None, Some(Part::Command { output, .. })) => output.push(line.to_owned()),
                (None, _) => panic!("a transcript begins with {line:?}, not with a command"),
            }
            continue;
        }
        inside = line == "```console";
        parts.push(Part::Text(line.to_owned()));
    }
    parts
}

/// Runs commands in one shell and gives what each prints.
fn run(commands: &[&str]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    copy(&fixtures(), &folder.path().join("fixtures"));
    let mut script = String::from("exec 2>&1\n");
    for command in commands {
        script.push_str(&format!("{command}\nprintf '{MARK}'\n"));
    }
    let binary = Path::new(env!("CARGO_BIN_EXE_gitops-windows")).parent().unwrap().to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(binary).chain(std::env::split_paths(&others))).unwrap();
    let mut bash = clean(Command::new("bash"), folder.path());
    let output = bash.args(["-c", &script]).env("PATH", path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let printed: Vec<_> =
        text.split_terminator(MARK).map(|part| part.lines().map(str::to_owned).collect()).collect();
    assert_eq!(printed.len(), commands.len(), "the shell ended early:\n{text}");
    printed
}

/// Tells whether lines are what a pattern says.
fn matches(pattern: &[String], lines: &[String]) -> bool {
    match pattern {
        [] => lines.is_empty(),
        [first, rest @ ..] if first == ANY => (0..=lines.len()).any(|skip| matches(rest, &lines[skip..])),
        [first, rest @ ..] => lines.first() == Some(first) && matches(rest, &lines[1..]),
    }
}

#[test]
fn the_transcripts_are_true() {
    assert!(transcripts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")) > 0);
}

#[test]
fn the_transcripts_of_the_guides_are_true() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let mut pages: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    let commands: usize = pages
        .iter()
        .filter(|page| page.extension().is_some_and(|end| end == "md"))
        .map(|page| transcripts(page))
        .sum();
    assert!(commands > 0);
}

/// What a guide links to is there.
#[test]
fn links_between_pages_lead_somewhere() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in [top.to_owned(), top.join("docs")] {
        for page in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if page.extension().is_none_or(|end| end != "md") {
                continue;
            }
            let text = std::fs::read_to_string(&page).unwrap();
            for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                let file = link.split('#').next().unwrap();
                let is_local = !file.is_empty() && !link.contains("://") && !link.contains(' ');
                assert!(!is_local || folder.join(file).exists(), "{}: {link}", page.display());
            }
        }
    }
}

/// Holds the transcripts of a page to what their commands print, and gives the number of commands.
fn transcripts(place: &Path) -> usize {
    let mut parts = parts(&std::fs::read_to_string(place).unwrap());
    let commands: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Command { command, .. } => Some(command.as_str()),
            Part::Text(_) => None,
        })
        .collect();
    if commands.is_empty() {
        return 0;
    }
    let count = commands.len();
    let bless = std::env::var_os("GITOPS_WINDOWS_BLESS").is_some_and(|value| value == "1");
    let mut printed = run(&commands).into_iter();
    let mut wrong = Vec::new();
    for part in &mut parts {
        let Part::Command { command, output } = part else { continue };
        let lines = printed.next().unwrap();
        if matches(output, &lines) {
            continue;
        }
        if bless && !output.iter().any(|line| line == ANY) {
            *output = lines;
            continue;
        }
        wrong.push(format!("$ {command}\n{}\n--- printed:\n{}", output.join("\n"), lines.join("\n")));
    }
    if bless {
        std::fs::write(place, page(&parts)).unwrap();
    }
    assert!(wrong.is_empty(), "{} is not true:\n{}", place.display(), wrong.join("\n\n"));
    count
}

fn page(parts: &[Part]) -> String {
    let mut page = String::new();
    for part in parts {
        let lines = match part {
            Part::Text(line) => line.clone(),
            Part::Command { command, output } => {
                std::iter::once(&format!("$ {command}")).chain(output).cloned().collect::<Vec<_>>().join("\n")
            }
        };
        page.push_str(&lines);
        page.push('\n');
    }
    page
}

#[test]
fn the_spec_is_valid() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let (_, rest) = page.split_once("```yaml\n").unwrap();
    let (spec, _) = rest.split_once("```\n").unwrap();
    let parsed = gitops_windows::spec::parse(&support::path("windows.yaml"), spec.as_bytes()).unwrap();
    assert_eq!(parsed.warnings, []);
    assert_eq!(parsed.spec.clusters.len(), 2);
}

#[test]
fn the_page_names_every_command() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    for command in gitops_windows::commands::Cli::command().get_subcommands() {
        let name = command.get_name();
        let named = page.contains(&format!("`{name}`")) || page.contains(&format!("`{name} "));
        assert!(named, "README.md says nothing of `{name}`");
    }
}

#[test]
fn a_page_is_read_and_written_without_loss() {
    let text = "# A\n\n```console\n$ true\n$ echo a; echo b\na\n[...]\n```\n```sh\n$ no\n```\n";
    assert_eq!(page(&parts(text)), text);
    assert_eq!(parts(text).iter().filter(|part| matches!(part, Part::Command { .. })).count(), 2);
}

#[test]
fn an_elision_stands_for_any_lines() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let printed = lines("a\nb\nc");
    for good in ["a\nb\nc", "[...]", "a\n[...]", "[...]\nc", "a\n[...]\nb\nc", "[...]\nb\n[...]"] {
        assert!(matches(&lines(good), &printed), "{good}");
    }
    for bad in ["", "a\nb", "[...]\nb", "b\n[...]", "a\n[...]\nd"] {
        assert!(!matches(&lines(bad), &printed), "{bad}");
    }
}
