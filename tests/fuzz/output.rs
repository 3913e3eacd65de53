//! What is printed for machines, of names and messages that mean harm; a real reader of each format is the judge.

use std::collections::BTreeMap;

use gitops_windows::change::{Change, Changes};
use gitops_windows::check::{CODES, github, sarif};
use gitops_windows::diagnostic::{Diagnostic, Place, render};
use gitops_windows::diff::{brief, json, markdown, patch, unified};
use gitops_windows::path::RepoPath;
use gitops_windows::repo::File;
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::fuzz;
use crate::support::scratch::Scratch;

const HARM: [&str; 49] = [
    "\n::error::x",
    "::error::x",
    "::set-output name=a::b",
    "##[error]x",
    "##vso[task.complete]",
    "%0A::error::x",
    "%0D",
    "%25",
    "\u{1b}[31m",
    "\u{1b}]0;x\u{7}",
    "\u{202e}",
    "\u{2066}",
    "\u{200b}",
    "\u{9b}31m",
    "\u{e0041}",
    "`",
    "```\n",
    "~~~\n",
    "</details>",
    "<script>",
    "<!--",
    "-->",
    "<img src=x>",
    "@octocat",
    "#1",
    "[a](javascript:b)",
    "![a](b)",
    "https://evil.example",
    "| a | b |\n|-|-|\n",
    "\n# h\n",
    "\n- x\n",
    "-rf",
    "--exec=x",
    "-",
    "\n--- a/x\n+++ b/x\n",
    "@@ -1 +1 @@\n",
    "diff --git a/x b/x\n",
    "\\ No newline at end of file",
    "\"",
    "'",
    "\\",
    "\\n",
    "\t",
    "\r",
    "{{",
    "${{ github }}",
    "&amp;",
    " ",
    "/",
];

fn names() -> Vec<String> {
    ["apps/web/kustomization.yaml", "a b/c.yaml", "x", "clusters/edge-01/flux/apps.yaml"]
        .map(str::to_owned)
        .to_vec()
}

/// A path that may be one, made of a text.
fn named(text: &str) -> Option<RepoPath> {
    let short: String = text.chars().filter(|letter| *letter != '\0').take(60).collect();
    RepoPath::parse(&short).ok().filter(|path| path.as_str() == short && !short.is_empty())
}

fn finding(text: &str) -> Diagnostic {
    let place = named(text).map(|path| Place::span(path, text.into(), 0..text.len().min(1)));
    let code = CODES[text.len() % CODES.len()].finding(text).help(text);
    match place.filter(|_| text.is_char_boundary(text.len().min(1))) {
        Some(place) => code.at(place),
        None => code,
    }
}

#[test]
fn a_workflow_command_is_one_line_with_one_command() {
    fuzz("commands", 300, &names(), &HARM, &mut |text| {
        let printed = github(&[finding(text)]);
        assert_eq!(printed.matches('\n').count(), 1, "{printed:?}");
        assert!(printed.ends_with('\n') && !printed.contains('\r'), "{printed:?}");
        // As the runner reads it (actions/runner, `ActionCommand.TryParseV2`).
        let rest = printed.strip_prefix("::").unwrap();
        let (head, message) = rest.split_once("::").unwrap();
        let (command, properties) = head.split_once(' ').unwrap_or((head, ""));
        assert!(["notice", "warning", "error"].contains(&command), "{printed:?}");
        for property in properties.split(',').filter(|one| !one.is_empty()) {
            let (key, value) = property.split_once('=').unwrap();
            assert!(["file", "line", "col", "title"].contains(&key), "{printed:?}");
            assert!(!value.contains([':', ',']), "{printed:?}");
        }
        assert!(
            !message.chars().any(|letter| letter.is_control() && letter != '\n' && letter != '\t'),
            "{printed:?}"
        );
    });
}

#[test]
fn sarif_is_json_that_says_the_same() {
    fuzz("sarif", 300, &names(), &HARM, &mut |text| {
        let printed = serde_json::to_string(&sarif(&[finding(text)], None)).unwrap();
        let value: serde_json::Value = serde_json::from_str(&printed).unwrap();
        let result = &value["runs"][0]["results"][0];
        let said = result["message"]["text"].as_str().unwrap();
        assert!(
            !said.chars().any(|letter| letter.is_control() && letter != '\n' && letter != '\t'),
            "{said:?}"
        );
        if let Some(place) = result["locations"].get(0) {
            let uri = place["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
            assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri:?}");
            assert!(!uri.starts_with('/') && !uri.contains("://"), "{uri:?}");
        }
    });
}

#[test]
fn a_terminal_gets_no_control_characters() {
    fuzz("terminal", 300, &names(), &HARM, &mut |text| {
        let printed = render(&[finding(text)], false, 60);
        let is_bad = |letter: char| {
            letter.is_control() && letter != '\n' && letter != '\t'
                || ('\u{202a}'..='\u{202e}').contains(&letter)
                || letter == '\u{e0041}'
        };
        assert!(!printed.chars().any(is_bad), "{printed:?}");
    });
}

fn change(before: Option<&str>, after: Option<&str>) -> Change {
    let file = |text: &str| File::new(text.as_bytes());
    Change { before: before.map(file), after: after.map(file), moved_from: None }
}

#[test]
fn markdown_of_a_diff_holds_code_and_nothing_else() {
    fuzz("markdown", 200, &names(), &HARM, &mut |text| {
        let Some(path) = named(text) else { return };
        let plan: Changes = [(path, change(Some("a: 1\n"), Some(text)))].into_iter().collect();
        let printed = markdown(&plan, 60_000);
        for event in Parser::new_ext(&printed, Options::all()) {
            match event {
                Event::Start(Tag::Link { .. } | Tag::Image { .. }) => panic!("a link: {printed}"),
                Event::Html(html) | Event::InlineHtml(html) => {
                    let is_ours = |tag: &str| {
                        [
                            "<details>",
                            "</details>",
                            "<summary>",
                            "</summary>",
                            "<code>",
                            "</code>",
                            "<b>",
                            "</b>",
                        ]
                        .contains(&tag)
                    };
                    let tags =
                        html.split_inclusive('>').map(|tag| &tag[tag.find('<').unwrap_or(tag.len())..]);
                    assert!(tags.filter(|tag| !tag.is_empty()).all(is_ours), "{html}");
                }
                _ => {}
            }
        }
        let is_bad = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
        assert!(!printed.chars().any(is_bad), "{printed:?}");
        assert!(!unified(&plan, false).chars().any(is_bad));
        assert!(!brief(&plan, false).0.chars().any(is_bad));
        let value: serde_json::Value = serde_json::from_str(&json(&plan).to_string()).unwrap();
        assert!(value.is_object());
    });
}

#[test]
fn git_applies_the_patch_to_names_and_contents_of_any_kind() {
    let scratch = Scratch::empty();
    let mut number = 0;
    fuzz("patch", 10, &names(), &HARM, &mut |text| {
        number += 1;
        let Some(path) = named(text).filter(|path| path.segments().all(is_usable)) else { return };
        let (old, new) = (format!("a\n{text}\nb"), format!("a\n{text}{text}\nc\n"));
        let (before, after) = match number % 3 {
            0 => (None, Some(new.as_str())),
            1 => (Some(old.as_str()), None),
            _ => (Some(old.as_str()), Some(new.as_str())),
        };
        let plan: Changes = BTreeMap::from([(path.clone(), change(before, after))]).into_iter().collect();
        let place = format!("case-{number}");
        std::fs::create_dir(scratch.top().join(&place)).unwrap();
        if let Some(before) = before {
            scratch.write(&format!("{place}/{path}"), before);
        }
        std::fs::write(scratch.outside().join("patch"), patch(&plan)).unwrap();
        let file = scratch.outside().join("patch");
        scratch.git(&[
            "apply",
            "--whitespace=nowarn",
            &format!("--directory={place}"),
            file.to_str().unwrap(),
        ]);
        let there = std::fs::read_to_string(scratch.top().join(&place).join(path.as_str())).ok();
        assert_eq!(there.as_deref(), after, "{path}");
    });
}

/// Names that neither git nor the file system refuses.
fn is_usable(segment: &str) -> bool {
    !segment.eq_ignore_ascii_case(".git") && segment.len() < 200 && segment != "." && segment != ".."
}
