//! Spans, documents, aliases and errors.

use super::*;
use serde_json::json;
use std::ops::Range;

fn slices(text: &str, pick: impl Fn(&Document) -> Range<usize>) -> Vec<&str> {
    read_documents(text).unwrap().iter().map(|document| &text[pick(document)]).collect()
}

#[test]
fn spans_are_bytes_whatever_stands_before_them() {
    let text = "\u{feff}# é\r\nä: 'ö' # ü\r\nlist:\r\n-\tx\r\n- &n !!str 1 # c\r\n-\r\n- - y\r\n  - {a: [b, \"ß\"]}\r\nblock: >- # h\r\n  t\r\n\r\n  u\r\n\r\nend:";
    let document = &read_documents(text).unwrap()[0];
    let root = &document.root;
    let at = |node: &Node| &text[node.span.clone()];
    assert_eq!(at(&root.entries()[0].0), "ä");
    assert_eq!(at(root.get("ä").unwrap()), "'ö'");
    let list = root.get("list").unwrap();
    assert_eq!(at(list), "-\tx\r\n- &n !!str 1 # c\r\n-\r\n- - y\r\n  - {a: [b, \"ß\"]}");
    let items = list.items();
    assert_eq!(&text[items[1].start..items[1].span.end], "&n !!str 1");
    assert_eq!(items[1].anchor(), Some("n"));
    assert!(items.iter().all(|item| text[item.dash().unwrap()..].starts_with('-')));
    assert_eq!(at(&items[2]), "");
    assert_eq!(items[3].items()[0].dash(), Some(items[3].span.start));
    assert_eq!(at(items[3].items()[1].get("a").unwrap()), "[b, \"ß\"]");
    assert_eq!(at(root.get("block").unwrap()), ">- # h\r\n  t\r\n\r\n  u");
    assert_eq!(root.get("end").unwrap().span, text.len()..text.len());
    assert_eq!(
        root.to_json(),
        json!({"ä": "ö", "list": ["x", "1", null, ["y", {"a": ["b", "ß"]}]], "block": "t\nu", "end": null})
    );
}

#[test]
fn block_scalars_end_where_their_text_ends() {
    for (text, value, span) in [
        ("a: |\n  t\n", "t\n", "|\n  t"),
        ("a: |\n  t", "t", "|\n  t"),
        ("a: |+\n  t", "t", "|+\n  t"),
        ("a: |-\n  t", "t", "|-\n  t"),
        ("a: >\n  t\n  u", "t u", ">\n  t\n  u"),
        ("a: |\n  t\n\n\n", "t\n", "|\n  t"),
        ("a: |+\n  t\n\n\n", "t\n\n\n", "|+\n  t\n\n"),
        ("a: |\n  t\n ", "t\n", "|\n  t"),
        ("a: |2\n   t\nb:", " t\n", "|2\n   t"),
        ("a: |\n\n  t\n# c\n", "\nt\n", "|\n\n  t"),
        ("a: # x | y\n  |\n  t\n", "t\n", "|\n  t"),
        ("a: |\nb: 1\n", "", "|"),
        ("a: |", "", "|"),
        ("a: | # c\n", "", "|"),
    ] {
        let documents = read_documents(text).unwrap();
        let node = documents[0].root.get("a").unwrap();
        assert_eq!(node.as_str(), Some(value), "{text:?}");
        assert_eq!(&text[node.span.clone()], span, "{text:?}");
    }
}

#[test]
fn documents_are_cut_at_their_separators() {
    for (text, bodies) in [
        ("", vec![]),
        ("# only\n", vec![]),
        ("a: 1", vec!["a: 1"]),
        ("---\na: 1\n---\nb: 2\n", vec!["a: 1\n", "b: 2\n"]),
        ("# head\n--- # c\na: 1\n---\n---\n# only\n", vec!["a: 1\n", "", "# only\n"]),
        ("a: 1\n# tail\n...\n# next\nb: 2\n...\n", vec!["a: 1\n# tail\n", "# next\nb: 2\n"]),
        ("%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\nb: 2", vec!["a: 1\n", "b: 2"]),
        ("--- {a: 1}\n--- |\n t\n---\n", vec![" {a: 1}\n", " |\n t\n", ""]),
        ("\u{feff}a: 1\r\n---\r\nb: |\r\n  ---\r\n  x", vec!["a: 1\r\n", "b: |\r\n  ---\r\n  x"]),
    ] {
        assert_eq!(slices(text, |document| document.span.clone()), bodies, "{text:?}");
        if !bodies.is_empty() {
            assert_eq!(slices(text, |document| document.whole.clone()).concat(), text);
        }
    }
}

#[test]
fn aliases_and_merges_are_resolved_with_a_bound() {
    let text = "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: [*a]\nd: {<<: [{z: 1}, *a]}\n";
    let root = &read_documents(text).unwrap()[0].root;
    assert_eq!(root.get("b").unwrap().to_json(), json!({"x": 1, "y": 3}));
    assert_eq!(root.get("b").unwrap().get("x").unwrap().to_json(), json!(1));
    assert_eq!(root.get("d").unwrap().to_json(), json!({"x": 1, "y": 2, "z": 1}));
    assert_eq!(root.get("c").unwrap().items()[0].get("x").unwrap().to_json(), json!(1));
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    let mut chain = "a0: &a0 [x]\n".to_owned();
    for n in 1..5000 {
        if n < 30 {
            bomb += &format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(", "));
        }
        chain += &format!("a{n}: &a{n} [*a{}]\n", n - 1);
    }
    assert!(read_documents(&bomb).unwrap_err().message.contains("aliases stand for"));
    assert!(read_documents(&chain).unwrap_err().message.contains("levels deep"));
    assert!(read_documents("a: &a [*a]\n").unwrap_err().message.contains("its own anchor"));
    assert!(read_documents("a: *b\n").is_err());
    assert!(read_documents(&"[".repeat(100_000)).is_err());
}

#[test]
fn an_alias_as_a_key_ends_at_its_colon() {
    let text =
        "a: &app x\nb:\n  *app: |\n    *app: y\n  \"*app: z\": {*app: \"*app: 1\"} # *app: no\n  z: 2\n";
    let document = &read_documents(text).unwrap()[0];
    let b = document.root.get("b").unwrap();
    assert_eq!(b.to_json(), json!({"x": "*app: y\n", "*app: z": {"x": "*app: 1"}, "z": 2}));
    assert_eq!(&text[b.entries()[0].0.span.clone()], "*app");
    assert_eq!(&text[b.get("z").unwrap().span.clone()], "2");
    assert!(read_documents("a: &b: c\n").is_err());
}

#[test]
fn duplicate_keys_are_reported_with_their_places() {
    let text = "a: 1\nb: {c: 1, 'c': 2}\na: 2\n";
    let document = &read_documents(text).unwrap()[0];
    let places: Vec<_> =
        document.duplicates.iter().map(|found| (found.key.as_str(), &text[..found.second.start])).collect();
    assert_eq!(places, [("c", "a: 1\nb: {c: 1, "), ("a", "a: 1\nb: {c: 1, 'c': 2}\n")]);
    assert_eq!(document.root.get("a").unwrap().to_json(), json!(2));
}

#[test]
fn an_error_points_into_the_text() {
    let error = read_documents("é: 1\n\tb: [\n").unwrap_err();
    assert!(error.span.end <= 12 && "é: 1\n\tb: [\n".is_char_boundary(error.span.start));
}

#[test]
fn keys_are_found_in_any_case() {
    let root = &read_documents("Resources: [a]\n").unwrap()[0].root;
    assert!(root.get("resources").is_none());
    assert_eq!(root.get_ignore_case("resources").unwrap().items()[0].as_str(), Some("a"));
}

#[test]
fn a_long_run_of_comments_is_no_error() {
    assert_eq!(read_documents(&format!("a:\n{}  b: 1\n", "# c\n".repeat(500))).unwrap().len(), 1);
}
