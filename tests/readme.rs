//! The transcripts of `README.md` and of the guides in `docs/` are true: its commands run, in their order, in one shell a page, and
//! print what stands there.
//!
//! Commands stand in blocks `sh run`, to be pasted. Each of them must succeed, unless the block is one of `sh run fails`; the
//! output may follow in a block `text`. A line `[...]` there stands for any lines. `GITOPS_WINDOWS_BLESS=1 cargo test --test
//! readme` writes anew what the commands without such a line print.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, and writes when asked")]

mod support;

use std::path::Path;
use std::process::Command;

use clap::CommandFactory;
use support::scratch::{clean, copy, fixtures};

/// Separates the outputs of commands; nothing prints it.
const MARK: &str = "\u{1}end\u{1}";

const ANY: &str = "[...]";

/// The first line of a block of commands.
const RUN: &str = "```sh run";

/// The first line of a block of commands that may fail.
const FAILS: &str = "```sh run fails";

/// A part of the page.
#[derive(Debug, PartialEq)]
enum Part {
    /// A line that is no output.
    Text(String),
    /// A block to be pasted, with its first line, and its output, if it stands there.
    Block { head: String, commands: Vec<String>, output: Option<Vec<String>> },
}

impl Part {
    /// Returns the script and what is written of its output.
    fn script(&self) -> Option<(String, Option<&Vec<String>>)> {
        match self {
            Part::Text(_) => None,
            Part::Block { head, commands, output } => {
                let commands = commands.join("\n");
                // Whoever fails ends the shell, and that is noticed.
                let script = if head == FAILS { commands } else { format!("set -e\n{commands}\nset +e") };
                Some((script, output.as_ref()))
            }
        }
    }
}

fn parts(page: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        match line {
            RUN | FAILS => {
                let commands = lines.by_ref().take_while(|line| *line != "```").map(str::to_owned).collect();
                let mut output = None;
                // Output follows at once, or after an empty line.
                let mut ahead = lines.clone();
                if ahead.next() == Some("") && ahead.next() == Some("```text") {
                    lines.by_ref().take(2).for_each(drop);
                    output =
                        Some(lines.by_ref().take_while(|line| *line != "```").map(str::to_owned).collect());
                }
                parts.push(Part::Block { head: line.to_owned(), commands, output });
            }
            line => parts.push(Part::Text(line.to_owned())),
        }
    }
    parts
}

/// Runs commands in one shell and gives what each prints.
fn run(commands: &[String]) -> Vec<Vec<String>> {
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
    let bash = bash.args(["-c", &script]).env("PATH", path).env("TMPDIR", folder.path());
    let output = bash.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let printed: Vec<_> =
        text.split_terminator(MARK).map(|part| part.lines().map(str::to_owned).collect()).collect();
    assert_eq!(printed.len(), commands.len(), "the shell ended early:\n{text}");
    printed
}

/// Returns whether lines are what a pattern says.
fn matches(pattern: &[String], lines: &[String]) -> bool {
    match pattern {
        [] => lines.is_empty(),
        [first, rest @ ..] if first == ANY => (0..=lines.len()).any(|skip| matches(rest, &lines[skip..])),
        [first, rest @ ..] => lines.first() == Some(first) && matches(rest, &lines[1..]),
    }
}

/// A prompt before a command fails when it is pasted.
#[test]
fn no_block_of_commands_has_a_prompt() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in [top.to_owned(), top.join("docs")] {
        for page in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            if page.extension().is_some_and(|end| end == "md") {
                let text = std::fs::read_to_string(&page).unwrap();
                assert!(!text.contains("\n```console\n"), "{} has prompts", page.display());
            }
        }
    }
}

/// Whoever opens the repository reads one page, and no more than that.
#[test]
fn the_readme_is_short() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    assert!(page.lines().count() <= 150, "{} lines", page.lines().count());
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
    let commands: Vec<String> =
        parts.iter().filter_map(|part| part.script().map(|(script, _)| script)).collect();
    if commands.is_empty() {
        return 0;
    }
    let count = commands.len();
    let bless = std::env::var_os("GITOPS_WINDOWS_BLESS").is_some_and(|value| value == "1");
    let mut printed = run(&commands).into_iter();
    let mut wrong = Vec::new();
    for part in &mut parts {
        let Some((script, _)) = part.script() else { continue };
        let lines = printed.next().unwrap();
        let output = match part {
            Part::Block { output: Some(output), .. } => output,
            _ => continue,
        };
        if matches(output, &lines) {
            continue;
        }
        if bless && !output.iter().any(|line| line == ANY) {
            *output = lines;
            continue;
        }
        wrong.push(format!("$ {script}\n{}\n--- printed:\n{}", output.join("\n"), lines.join("\n")));
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
            Part::Block { head, commands, output } => {
                let block = |head: &str, lines: &[String]| format!("{head}\n{}```", ended(lines));
                let shown = output.as_ref().map(|output| format!("\n\n{}", block("```text", output)));
                block(head, commands) + &shown.unwrap_or_default()
            }
        };
        page.push_str(&lines);
        page.push('\n');
    }
    page
}

fn ended(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_spec_is_valid() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/spec.md")).unwrap();
    let (_, rest) = page.split_once("```yaml\n").unwrap();
    let (spec, _) = rest.split_once("```\n").unwrap();
    let parsed = gitops_windows::spec::parse(&support::path("windows.yaml"), spec.as_bytes()).unwrap();
    assert_eq!(parsed.warnings, []);
    assert_eq!(parsed.spec.clusters.len(), 2);
}

#[test]
fn the_page_names_every_command() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/commands.md")).unwrap();
    for command in gitops_windows::commands::Cli::command().get_subcommands() {
        if command.is_hide_set() {
            continue;
        }
        let name = command.get_name();
        let named = page.contains(&format!("`{name}`")) || page.contains(&format!("`{name} "));
        assert!(named, "docs/commands.md says nothing of `{name}`");
    }
}

#[test]
fn a_page_is_read_and_written_without_loss() {
    let text = "# A\n\n```sh run fails\ntrue\nfalse\necho a; echo b\n```\n\n```text\na\n[...]\n```\n```sh\n$ no\n```\n\
        ```sh run\ntrue\n```\n\nB\n```sh run\necho a\n```\n\n```text\na\n```\n";
    assert_eq!(page(&parts(text)), text);
    let outputs = parts(text);
    let outputs: Vec<Option<usize>> =
        outputs.iter().filter_map(Part::script).map(|(_, output)| output.map(Vec::len)).collect();
    assert_eq!(outputs, [Some(2), None, Some(1)]);
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
