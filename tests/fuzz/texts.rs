//! YAML, edits of it, and windows.yaml.

use gitops_windows::spec;
use gitops_windows::yaml::{Editor, Key, Node, NodeKind, Schema, cut_documents, quote, read_documents};

use crate::mutate::Dice;
use crate::support::path;
use crate::{fuzz, samples};

const YAML: [&str; 44] = [
    "a",
    "key",
    "- ",
    ": ",
    "? ",
    "&a ",
    "*a",
    "<<: *a",
    "!!str ",
    "!!binary ",
    "!x ",
    "|\n",
    ">-\n",
    "|2\n",
    "{}",
    "[]",
    "{a: b}",
    "[a, b]",
    "~",
    "null",
    "true",
    "yes",
    "0x1F",
    "0o17",
    "1.5",
    "2001-01-01",
    "---\n",
    "...\n",
    "--- |\n",
    "%YAML 1.1\n",
    "# comment\n",
    "\"a\\u0000\"",
    "'it''s'",
    "apiVersion: v1\n",
    "kind: List\n",
    "items:\n",
    "name: a\n",
    "  ",
    "    ",
    "\n\n",
    "metadata:\n",
    "resources:\n",
    "- ../a\n",
    "? a\n: b\n",
];

#[test]
fn yaml_is_read_or_refused() {
    fuzz("yaml", 100, &samples(".yaml"), &YAML, &mut |text| {
        let Ok(documents) = read_documents(text) else { return };
        let mut end = 0;
        for document in &documents {
            assert!(document.whole.start >= end && document.whole.end <= text.len(), "documents overlap");
            end = document.whole.end;
            assert!(text.is_char_boundary(document.span.start) && text.is_char_boundary(document.span.end));
            document.root.to_json_as(Schema::Kustomization);
            spans(&document.root, text);
        }
        let all: Vec<usize> = (0..documents.len()).collect();
        // All of them are what they were.
        if let Ok(cut) = cut_documents(text, &all) {
            assert_eq!(values(&cut), values(text));
        }
    });
}

fn values(text: &str) -> Option<Vec<serde_json::Value>> {
    Some(read_documents(text).ok()?.iter().map(|document| document.root.to_json()).collect())
}

fn spans(node: &Node, text: &str) {
    let span = &node.span;
    assert!(span.start <= span.end && text.get(span.clone()).is_some(), "{span:?}");
    for item in node.items() {
        spans(item, text);
    }
    for (key, value) in node.entries() {
        spans(key, text);
        spans(value, text);
    }
}

/// A way to a node of a document, and whether the node is a list.
fn way(dice: &mut Dice, root: &Node) -> (Vec<Key>, Option<usize>) {
    let (mut node, mut keys) = (root, Vec::new());
    while dice.below(4) > 0 {
        node = match &node.kind {
            NodeKind::Mapping(entries) if !entries.is_empty() => {
                let (key, value) = dice.of_all(entries);
                let Some(name) = key.as_str() else { break };
                keys.push(Key::from(name));
                value
            }
            NodeKind::Sequence(items) if !items.is_empty() => {
                let at = dice.below(items.len());
                keys.push(Key::from(at));
                &items[at]
            }
            _ => break,
        };
    }
    (keys, node.as_sequence().map(<[Node]>::len))
}

#[test]
fn edits_are_made_as_they_say_or_not_at_all() {
    let mut seed = 0;
    let mut made = 0;
    fuzz("edit", 150, &samples(".yaml"), &YAML, &mut |text| {
        seed += 1;
        let mut dice = Dice::of("edits", seed);
        let Ok(mut editor) = Editor::new(text, dice.below(2)) else { return };
        if dice.below(3) == 0 {
            editor = editor.resolving();
        }
        for _ in 0..4 {
            let before = editor.text().to_owned();
            let (mut keys, list) = way(&mut dice, editor.root());
            let word = dice.piece(&YAML);
            let done = match (dice.below(6), list) {
                (0, _) => editor.remove_key(&keys),
                (1, _) => editor.rename_key(&keys, &word),
                (2, Some(length)) if length > 0 => editor.remove_items(&keys, &[dice.below(length)]),
                (3, Some(_)) => editor.append_item(&keys, word.as_str()),
                (4, _) => {
                    keys.push(Key::from(word.clone()));
                    editor.set_scalar(&keys, word.as_str())
                }
                _ => editor.set_scalar(&keys, word.as_str()),
            };
            match done {
                Ok(()) => made += 1,
                Err(_) => assert_eq!(before, editor.text(), "refused, and changed"),
            }
            assert!(read_documents(editor.text()).is_ok(), "no YAML any more: {:?}", editor.text());
        }
    });
    assert!(made > 0, "no edit is ever made");
}

#[test]
fn a_quoted_text_is_itself() {
    fuzz("quote", 100, &samples(".yaml"), &YAML, &mut |text| {
        let short: String = text.chars().take(200).collect();
        let document = format!("a: {}\nb: [{0}]\n", quote(&short));
        let documents = read_documents(&document).unwrap();
        assert_eq!(documents[0].root.get("a").unwrap().as_str(), Some(short.as_str()));
        assert_eq!(documents[0].root.get("b").unwrap().items()[0].as_str(), Some(short.as_str()));
    });
}

const SPEC: [&str; 48] = [
    "apiVersion: gitops-windows/v1\n",
    "timeZone: Europe/Berlin\n",
    "types:\n",
    "  rt: {}\n",
    "  rw: { window: w }\n",
    "windows:\n",
    "  w: { open: 0 8 * * MON, close: 0 17 * * THU }\n",
    "  x: { open: 0 22 * * SAT, for: 4h }\n",
    "  y: { from: Mon 08:00, to: Thu 17:00 }\n",
    "  z: { on: second Tue of month, from: 20:00, for: 4h }\n",
    "freezes:\n",
    "  f: { from: 2026-12-18, to: 2027-01-07, reason: r }\n",
    "  g: { calendar: c.ics }\n",
    "overrides:\n",
    "  - { cluster: a, type: rw, from: 2026-11-21T20:00, until: 2026-11-21T22:00, reason: r }\n",
    "clusters:\n",
    "  a: { labels: { region: eu, wave: one } }\n",
    "waves: { order: [one, two], by: wave, offset: 30m }\n",
    "rules:\n",
    "  - { kind: Namespace, type: rt }\n",
    "  - { path: apps/**/x.yaml, type: rw }\n",
    "  - { type: rw }\n",
    "gate: { mechanism: follow, through: 2026-12-31 }\n",
    "layout: { app: '{cluster}/{app}' }\n",
    "flux: {}\n",
    "{cluster}",
    "{path}",
    "{labels.region}",
    "{{",
    "..",
    "/",
    "0 0 31 2 *",
    "*/5 * * * *",
    "@every 1h",
    "24:00",
    "2026-02-30",
    "9999-12-31",
    "-9999-01-01",
    "Europe/Berlin",
    "UTC",
    "Local",
    "28d",
    "29d",
    "0h",
    "1m",
    "null",
    "[]",
    "{}",
];

#[test]
fn a_spec_is_read_or_refused_with_places() {
    let place = path("windows.yaml");
    fuzz("spec", 100, &samples("windows.yaml"), &SPEC, &mut |text| {
        match spec::parse(&place, text.as_bytes()) {
            Ok(parsed) => {
                // What is true of a spec is true of it a second time.
                assert_eq!(spec::parse(&place, text.as_bytes()).unwrap().spec, parsed.spec);
            }
            Err(error) => {
                assert!(!error.diagnostics.is_empty(), "refused without a reason");
                for one in &error.diagnostics {
                    gitops_windows::diagnostic::render(std::slice::from_ref(one), true, 40);
                }
            }
        }
    });
}
