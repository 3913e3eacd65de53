//! Hostile names, values and messages must do nothing but show.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use html5gum::{DefaultEmitter, Token, Tokenizer};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::json;

use crate::delivery::{Cause, Kind};
use crate::page::end;
use crate::path::RepoPath;
use crate::pr::behind::Behind;
use crate::pr::field::Field;
use crate::pr::finding::{Finding, Topic};
use crate::pr::landing::{Landing, State};
use crate::pr::markdown::{Flavor, markdown};
use crate::pr::report::{By, Line, Report};
use crate::pr::train::{Commit, Train, Waiting};
use crate::pr::withheld::Withheld;
use crate::pr::{html, text};
use crate::repo::manifest::ObjectId;

/// Texts with everything that Markdown, HTML, a terminal or a CI system could take for its own.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "`",
        "```",
        "~~~",
        "|",
        "<",
        ">",
        "<!--",
        "-->",
        "</details>",
        "<script>alert(1)</script>",
        "<img src=x>",
        "@octocat",
        "#1",
        "!2",
        "[a](javascript:b)",
        "![a](b)",
        "https://evil.example",
        "www.evil.example",
        "**",
        "_",
        "\n",
        "\r",
        "\n\n",
        "\n# h",
        "\n- x",
        "::set-output name=a::b",
        "##[error]x",
        "\n::error::x",
        "\u{1b}[31m",
        "\u{202e}",
        "\u{200b}",
        "\u{0}",
        "&amp;",
        "&#64;",
        "\\",
        "$$",
        "{{",
        "/close",
        "\n/approve",
        "a",
        " ",
        "\t",
        "é",
        "\n***\n",
        "[^1]",
        "\"",
        "'",
    ]);
    prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

/// A path that is as hostile as one may be.
fn path(text: &str) -> RepoPath {
    let text = text.replace(['\0', '\\'], "");
    let names: Vec<&str> = text.split('/').filter(|name| *name != "..").collect();
    RepoPath::parse(names.join("/").trim_start_matches('/')).unwrap()
}

fn line(texts: &[String], number: usize) -> Line {
    let text = |at: usize| texts[(number + at) % texts.len()].clone();
    let path = |at: usize| path(&texts[(number + at) % texts.len()]);
    let instant = "2026-11-23T12:00:00Z".parse().unwrap();
    let mut lands = Landing::at_once(instant, Some(instant)).because(text(1));
    if number % 2 == 1 {
        (lands.state, lands.window, lands.zone) = (State::Window, Some(text(2)), Some(text(3)));
        lands.deadline = Some(instant);
    }
    Line {
        cluster: format!("c{number}{}", text(4)),
        by: By { path: path(20), kustomization: Some((text(5), text(6))) },
        from: (number % 4 == 3)
            .then(|| By { path: path(21), kustomization: (number % 8 == 3).then(|| (text(22), text(23))) }),
        change_type: Some(text(7)),
        api_version: text(8),
        id: ObjectId { group: text(9), kind: text(10), namespace: text(11), name: text(12) },
        built: ObjectId::default(),
        is_substituted: false,
        kind: [Kind::Created, Kind::Changed, Kind::Deleted, Kind::Moved][number % 4],
        fields: vec![Field { path: text(13), before: Some(json!(text(14))), after: Some(json!(text(15))) }],
        object: number.is_multiple_of(2).then(|| json!({ text(16): [text(17), { text(18): text(19) }] })),
        files: vec![Behind { path: path(22), line: Some(number + 1) }, Behind { path: path(23), line: None }],
        refused: None,
        is_forced: false,
        lands,
    }
}

fn report() -> impl Strategy<Value = Report> {
    (prop::collection::vec(hostile(), 24), 0_usize..12).prop_map(|(texts, lines)| {
        let now = "2026-11-23T12:00:00Z".parse().unwrap();
        let by = By { path: path(&texts[5]), kustomization: None };
        let changes: Vec<Line> = (0..lines).map(|number| line(&texts, number)).collect();
        Report {
            base: "0123456789abcdef".to_owned(),
            head: None,
            now,
            deadline: changes.iter().map(|line| line.lands.clone()).find(|lands| lands.deadline.is_some()),
            changes,
            built: Vec::new(),
            findings: vec![Finding {
                topic: Topic::Skew,
                cluster: texts[0].clone(),
                object: None,
                message: texts[1].clone(),
                from: None,
                help: texts[2].clone(),
                ..Finding::default()
            }],
            trains: vec![Train {
                window: texts[20].clone(),
                zone: Some(texts[20].clone()),
                since: now,
                opens: None,
                clusters: [texts[21].clone()].into(),
                commits: vec![Commit { hash: "0123".to_owned(), subject: texts[22].clone(), paths: None }],
                waiting: vec![Waiting {
                    cluster: texts[21].clone(),
                    by: by.clone(),
                    id: ObjectId {
                        group: texts[22].clone(),
                        kind: texts[23].clone(),
                        namespace: texts[0].clone(),
                        name: texts[1].clone(),
                    },
                    kind: Kind::Moved,
                    is_superseded: true,
                }],
            }],
            withheld: vec![Withheld {
                cluster: texts[3].clone(),
                by,
                cause: [Cause::Build, Cause::Parent, Cause::Source, Cause::NoFlux][lines % 4],
                is_head: true,
                is_new: lines % 8 == 0,
                reason: texts[4].clone(),
            }],
            unreached: RepoPath::parse(texts[23].trim_matches('/')).into_iter().collect(),
        }
    })
}

/// The HTML that the tool itself writes.
fn is_own(html: &str) -> bool {
    let title =
        html.trim().strip_prefix("<details><summary>").and_then(|rest| rest.strip_suffix("</summary>"));
    let is_title = title.is_some_and(|title| !title.contains(['<', '>', '@', '[', '`', '&', '#']));
    is_title || ["</details>", "<sub>", "</sub>"].contains(&html.trim())
}

/// The elements of a page with their attributes, as the page itself writes them.
const OWN: [&str; 42] = [
    "body",
    "br",
    "button type",
    "code",
    "details",
    "details data-clusters data-type",
    "details data-clusters data-type open",
    "form hidden",
    "h1",
    "h2",
    "head",
    "html lang",
    "label",
    "li",
    "li data-clusters",
    "main",
    "meta charset",
    "meta content http-equiv",
    "meta content name",
    "option value",
    "output",
    "p",
    "p class",
    "pre",
    "script",
    "section",
    "select name",
    "span",
    "span class",
    "strong",
    "style",
    "summary",
    "table",
    "tbody",
    "td",
    "th scope",
    "thead",
    "title",
    "tr",
    "tr data-clusters",
    "ul",
    "ul class",
];

/// Reads a page as the HTML standard says, and returns its elements with the names of their attributes.
fn elements(page: &str) -> Result<BTreeSet<String>, TestCaseError> {
    let mut found = BTreeSet::new();
    let mut open: Vec<Vec<u8>> = Vec::new();
    let mut reading = DefaultEmitter::default();
    // What stands in scripts and styles is no markup.
    reading.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(page, reading) {
        match token.map_err(|never| match never {})? {
            Token::StartTag(tag) => {
                let names = std::iter::once(&*tag.name).chain(tag.attributes.keys().map(|name| &**name));
                found.insert(names.map(|name| String::from_utf8_lossy(name)).collect::<Vec<_>>().join(" "));
                let is_void = [&b"br"[..], b"meta"].contains(&&**tag.name);
                open.extend((!is_void).then(|| tag.name.to_vec()));
            }
            Token::EndTag(tag) => {
                prop_assert_eq!(open.pop().unwrap_or_default(), tag.name.to_vec(), "{}", page)
            }
            Token::String(_) | Token::Doctype(_) => {}
            Token::Comment(text) => prop_assert!(false, "a comment {:?} in {}", text, page),
            Token::Error(error) => prop_assert!(false, "{} in {}", *error, page),
        }
    }
    prop_assert!(open.is_empty(), "{:?} stay open in {}", open, page);
    Ok(found)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if crate::is_thorough() { 100 } else { 8 }))]

    #[test]
    fn nothing_hostile_means_anything_in_a_comment(report in report(), limit in 0_usize..8_000) {
        for flavor in [Flavor::Github, Flavor::Bitbucket] {
            let text = markdown(&report, flavor, limit);
            prop_assert!(text.len() <= limit.max(crate::pr::markdown::SMALLEST));
            let mut is_code = false;
            for event in Parser::new_ext(&text, Options::all()) {
                match event {
                    Event::Start(Tag::CodeBlock(_)) => is_code = true,
                    Event::End(pulldown_cmark::TagEnd::CodeBlock) => is_code = false,
                    Event::Html(html) | Event::InlineHtml(html) => prop_assert!(is_own(&html), "{html:?} in {text}"),
                    Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::FootnoteDefinition(_) | Tag::HtmlBlock)
                        if flavor == Flavor::Bitbucket => prop_assert!(false, "{text}"),
                    Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::FootnoteDefinition(_)) => {
                        prop_assert!(false, "{text}");
                    }
                    Event::InlineMath(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) | Event::TaskListMarker(_) => {
                        prop_assert!(false, "{text}");
                    }
                    Event::Text(words) if !is_code => {
                        let reserved = ["@", "://", "www.", "#1", "!2"];
                        prop_assert!(!reserved.iter().any(|word| words.contains(word)), "{words:?} in {text}");
                    }
                    _ => {}
                }
            }
            prop_assert!(!is_code, "an open fence: {text}");
            prop_assert_eq!(text.matches("<details>").count(), text.matches("\n</details>").count());
            let is_command = |line: &str| ["::", "##[", "/"].iter().any(|begin| line.trim_start().starts_with(begin));
            prop_assert!(!text.lines().any(is_command), "{text}");
            prop_assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\r', '\u{0}']), "{text}");
        }
    }

    #[test]
    fn nothing_hostile_makes_json_of_another_shape(report in report()) {
        static VALIDATOR: LazyLock<jsonschema::Validator> =
            LazyLock::new(|| jsonschema::validator_for(&crate::pr::schema()).unwrap());
        let printed = crate::pr::json(&report).to_string();
        let read: serde_json::Value = serde_json::from_str(&printed).unwrap();
        let errors: Vec<String> = VALIDATOR.iter_errors(&read).map(|error| error.to_string()).collect();
        prop_assert!(errors.is_empty(), "{:#?} in {}", errors, printed);
    }

    #[test]
    fn nothing_hostile_means_anything_on_a_page_or_in_a_terminal(report in report()) {
        let page = html(&report, None);
        let foreign: Vec<String> =
            elements(&page)?.into_iter().filter(|element| !OWN.contains(&element.as_str())).collect();
        prop_assert!(foreign.is_empty(), "{:?} in {}", foreign, page);
        prop_assert!(page.ends_with(&end()), "{page}");
        prop_assert!(!page.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\u{0}']), "{page}");
        let lines = text(&report);
        let is_command = |line: &str| ["::", "##["].iter().any(|begin| line.trim_start().starts_with(begin));
        prop_assert!(!lines.lines().any(is_command), "{lines}");
        prop_assert!(!lines.contains(['\u{1b}', '\u{202e}', '\u{200b}', '\u{0}']), "{lines}");
    }
}
