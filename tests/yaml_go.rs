//! Go's YAML readers, which kustomize and Kubernetes use, as the judge of reading and quoting.
//!
//! Builds `tests/yaml-oracle`; says so and passes where Go is not at hand.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test's helpers may fail loudly and speak")]

#[path = "support/oracle.rs"]
mod oracle;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gitops_windows::yaml::{EditError, Editor, NodeKind, Schema, quote, read_documents};
use oracle::{built, same};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

/// Builds the oracle once; `None` without Go.
fn oracle() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(|| built("yaml-oracle")).as_deref()
}

/// Asks Go what the texts mean.
fn ask(program: &Path, texts: &[String]) -> Vec<Value> {
    let questions: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
    oracle::ask(program, &questions)
}

fn runner(cases: u32) -> TestRunner {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    TestRunner::new_with_rng(Config { cases, ..Config::default() }, rng)
}

fn sample<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, count: u32) -> Vec<T> {
    let mut runner = runner(count);
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.is_symlink() {
            yaml_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            found.push(path);
        }
    }
}

#[test]
fn quoted_text_is_read_back_by_go() {
    let Some(program) = oracle() else { return };
    let strings = prop_oneof![
        3 => any::<String>(),
        1 => "\\PC{0,6}",
        2 => "[ -~]{0,12}",
        3 => "[-+.:_~0-9a-fA-FxoeEtTzZ]{0,8}",
        2 => "[0-9]{1,4}[-:_.][0-9]{1,2}([-:_.][0-9]{1,2})?",
        2 => "[ \t\r\n#:,{}\\[\\]&*!|>'\"%@`$?-]{0,6}",
        2 => "[a-z./]{1,4}[ :#,-]{1,3}[a-z/]{0,3}",
        1 => "(?i)(null|true|false|yes|no|on|off|y|n|nan|inf|\\.nan|\\.inf)[a-z ]?",
        1 => "[\u{7f}-\u{a0}\u{ad}\u{2000}-\u{200f}\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}\u{e000}\u{10000}-\u{10ffff}]{1,3}",
    ];
    let strings = sample(strings, 40_000);
    let texts: Vec<String> = strings
        .iter()
        .map(|text| {
            let quoted = quote(text);
            format!("key: {quoted}\nlist:\n- {quoted}\nflow: [{quoted}, {{{quoted}: {quoted}}}]\n")
        })
        .collect();
    for ((text, file), answer) in strings.iter().zip(&texts).zip(ask(program, &texts)) {
        let expected = json!({"key": text, "list": [text], "flow": [text, {text.clone(): text}]});
        assert_eq!(answer["v3"], json!([expected]), "{file}");
        assert_eq!(answer["v2"], expected, "{file}");
    }
    eprintln!("{} quoted strings read alike by go-yaml v2 and v3", strings.len());
}

#[test]
fn real_files_read_as_go_reads_them() {
    let Some(program) = oracle() else { return };
    let Some(corpus) = std::env::var_os("GITOPS_WINDOWS_CORPUS") else {
        eprintln!("skipped: GITOPS_WINDOWS_CORPUS is not set");
        return;
    };
    let mut files = Vec::new();
    yaml_files(&Path::new(&corpus).join("repos"), &mut files);
    let texts: Vec<(PathBuf, String)> = files
        .into_iter()
        .filter_map(|path| std::fs::read_to_string(&path).ok().map(|text| (path, text)))
        .collect();
    let answers = ask(program, &texts.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>());
    let (mut equal, mut both_refuse, mut wrong) = (0, 0, Vec::new());
    for ((path, text), answer) in texts.iter().zip(&answers) {
        match compare(text, answer) {
            Ok(true) => equal += 1,
            Ok(false) => both_refuse += 1,
            Err(reason) => wrong.push(format!("{}: {reason}", path.display())),
        }
    }
    eprintln!("{equal} files equal, {both_refuse} refused by both, {} different", wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// True where both read the same, false where both refuse.
fn compare(text: &str, answer: &Value) -> Result<bool, String> {
    let documents = match read_documents(text) {
        Ok(documents) => documents,
        Err(_) if answer["v3error"].is_string() => return Ok(false),
        Err(error) => return Err(format!("only we refuse: {error}")),
    };
    if answer["v3error"].is_string() {
        return Err(format!("only Go refuses: {}", answer["v3error"]));
    }
    let whole: String = documents.iter().map(|document| &text[document.whole.clone()]).collect();
    if !documents.is_empty() && whole != text {
        return Err("the documents are not the file".to_owned());
    }
    let ours: Value = documents.iter().map(|document| document.root.to_json()).collect();
    let theirs = if answer["v3"].is_null() { json!([]) } else { answer["v3"].clone() };
    if !same(&ours, &theirs) {
        return Err(format!("\n ours {ours}\n v3   {theirs}"));
    }
    if let (Some(first), true) = (documents.first(), answer["v2error"].is_null()) {
        let ours = first.root.to_json_as(Schema::Kustomization);
        if first.duplicates.is_empty() && !same(&ours, &answer["v2"]) {
            return Err(format!("\n ours {ours}\n v2   {}", answer["v2"]));
        }
    }
    Ok(true)
}

/// Texts put together at random of what makes YAML hard.
fn generated() -> Vec<String> {
    let pieces = [
        "a: ",
        "b:\n",
        "c: |\n",
        "d: >-\n",
        "e: |+\n",
        "  t\n",
        "  t",
        "    u\n",
        "\n",
        "\n\n",
        " ",
        "  ",
        "- ",
        "-\n",
        "  - x\n",
        "- |\n",
        "x\n",
        "1\n",
        "0x1f\n",
        "~\n",
        "yes",
        "'q'",
        "\"\\u00e9\\n\"",
        "[a, b]",
        "{k: v}\n",
        "[",
        "]",
        "{",
        "}",
        ", ",
        "# c\n",
        " # c\n",
        "#",
        "---\n",
        "--- ",
        "...\n",
        "&n ",
        "*n",
        "*n\n",
        "*n: ",
        "*n:\n",
        "&n: ",
        "*n:x",
        "!!str ",
        "<<: ",
        "? k\n",
        ": v\n",
        "\r\n",
        "\t",
        "é: ö\n",
        "\u{feff}",
        "k: 'm\n  n'\n",
        "p: q\n  r\n",
        "%YAML 1.1\n",
        "08",
        "1_0",
        "1.0\n",
        "2001-01-01\n",
        "12:30\n",
        "|2\n",
        "   s\n",
    ];
    let texts = sample(proptest::collection::vec(proptest::sample::select(pieces.to_vec()), 1..12), 60_000);
    texts.iter().map(|pieces| pieces.concat()).collect()
}

#[test]
fn generated_texts_read_as_go_reads_them() {
    let Some(program) = oracle() else { return };
    let texts = generated();
    let (mut equal, mut refused, mut ours_only, mut go_only) = (0, 0, Vec::new(), Vec::new());
    let mut wrong = Vec::new();
    for (text, answer) in texts.iter().zip(ask(program, &texts)) {
        match compare(text, &answer) {
            Ok(true) => equal += 1,
            Ok(false) => refused += 1,
            Err(reason) if reason.starts_with("only we") => ours_only.push((text, reason)),
            Err(reason) if reason.starts_with("only Go") => go_only.push((text, reason)),
            Err(reason) => wrong.push(format!("{text:?}{reason}")),
        }
        for document in read_documents(text).unwrap_or_default() {
            check_spans(text, &document.root);
        }
    }
    eprintln!(
        "{equal} equal, {refused} refused by both, {} only by us, {} only by Go, {} different",
        ours_only.len(),
        go_only.len(),
        wrong.len()
    );
    let mut reasons: std::collections::BTreeMap<&str, (usize, &str)> = Default::default();
    for (text, reason) in &ours_only {
        let entry = reasons.entry(reason).or_insert((0, text));
        entry.0 += 1;
        if text.len() < entry.1.len() {
            entry.1 = text;
        }
    }
    eprintln!("only by us: {reasons:#?}");
    wrong.sort_by_key(String::len);
    assert!(wrong.is_empty(), "{}", wrong[..wrong.len().min(15)].join("\n"));
}

type Edit = dyn Fn(&mut Editor) -> Result<(), EditError>;

#[test]
fn edited_texts_read_as_go_reads_them() {
    let Some(program) = oracle() else { return };
    let generated = generated();
    let (mut edited, mut originals, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
    for (text, answer) in generated.iter().zip(ask(program, &generated)) {
        let Ok(editor) = Editor::new(text, 0) else { continue };
        if answer["v3error"].is_string() {
            continue;
        }
        let edits: [&Edit; 8] = [
            &|editor| editor.set_scalar(&["new".into(), "a".into()], "x: y"),
            &|editor| editor.set_scalar(&["a".into()], "x: y"),
            &|editor| editor.append_item(&["b".into()], "on"),
            &|editor| editor.append_raw_item(&["b".into()], "p: |\n  t\nq: # c\n- r"),
            &|editor| editor.append_item(&[], "on"),
            &|editor| editor.remove_items(&[], &[0]),
            &|editor| editor.remove_items(&["b".into()], &[0]),
            &|editor| editor.remove_key(&["a".into()]),
        ];
        for edit in edits {
            let mut editor = editor.clone();
            if edit(&mut editor).is_ok() {
                edited.push(editor.into_text());
                originals.push(text);
            }
        }
    }
    for ((before, text), answer) in originals.iter().zip(&edited).zip(ask(program, &edited)) {
        if let Err(reason) = compare(text, &answer) {
            wrong.push(format!("{before:?} {text:?} {reason}"));
        }
    }
    wrong.sort_by_key(String::len);
    assert!(wrong.is_empty(), "{} wrong: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
    eprintln!("{} edited texts read alike by Go", edited.len());
}

/// A node's bytes lie within its parent's, in order, and a scalar's bytes read as the scalar.
fn check_spans(text: &str, node: &gitops_windows::yaml::Node) {
    assert!(text.get(node.span.clone()).is_some() && node.start <= node.span.start, "{text:?} {node:#?}");
    if let Some(dash) = node.dash() {
        assert!(text[dash..].starts_with('-') && dash < node.start.max(dash + 1), "{text:?} {node:#?}");
    }
    let children: Vec<_> = match &node.kind {
        NodeKind::Mapping(entries) => entries.iter().flat_map(|(key, value)| [key, value]).collect(),
        NodeKind::Sequence(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    let mut at = node.span.start;
    for child in children {
        assert!(child.span.start >= at && child.span.end <= node.span.end, "{text:?} {node:#?}");
        at = child.span.end;
        check_spans(text, child);
    }
}

#[test]
fn ends_of_block_scalars_read_as_go_reads_them() {
    let Some(program) = oracle() else { return };
    let (heads, firsts) = (["|+", "|", "|-", ">+"], ["t", "", "\n", "\n ", " ", "- x", "#c"]);
    let tails =
        ["", "\n", "\n ", "\n  ", "\n   ", "\n\n", "\n\n ", "\n\n  ", "\n \n  ", "\n  \n", "\n  \n  "];
    let mut texts = Vec::new();
    for (head, first) in heads.iter().flat_map(|head| firsts.map(|first| (head, first))) {
        for (more, tail) in
            ["", "\n  u", "\n\n  u", "\n   u"].iter().flat_map(|more| tails.map(|tail| (more, tail)))
        {
            texts.push(format!("e: {head}\n  {first}{more}{tail}"));
        }
    }
    for (text, answer) in texts.iter().zip(ask(program, &texts)) {
        let outcome = compare(text, &answer);
        assert!(outcome.is_ok(), "{text:?} {outcome:?}");
    }
}
