//! Edits with their exact results, over the styles that real repositories hold.

use super::*;

fn path(text: &str) -> Vec<Key> {
    text.split('.')
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().map_or_else(|_| Key::from(part), Key::Index))
        .collect()
}

/// Runs one edit written as `set P V`, `del P`, `drop P N,N`, `put P N V`, `add P V`, `raw P LINES`
/// or `name P V`; `puts P N V,N V` and `adds P V,V` are of several items at once.
fn run(text: &str, edit: &str) -> Result<String, EditError> {
    run_on(Editor::new(text, 0)?, edit)
}

fn run_on(mut editor: Editor, edit: &str) -> Result<String, EditError> {
    let mut words = edit.splitn(3, ' ');
    let (verb, at, rest) =
        (words.next().unwrap(), path(words.next().unwrap_or("")), words.next().unwrap_or_default());
    match verb {
        "set" => editor.set_scalar(&at, rest),
        "del" => editor.remove_key(&at),
        "drop" => {
            let indices: Vec<usize> = rest.split(',').map(|n| n.parse().unwrap()).collect();
            editor.remove_items(&at, &indices)
        }
        "put" => {
            let (index, value) = rest.split_once(' ').unwrap();
            editor.replace_items(&at, &[(index.parse().unwrap(), value.into())])
        }
        "puts" => {
            let item = |text: &str| {
                let (index, value) = text.split_once(' ').unwrap();
                (index.parse().unwrap(), value.into())
            };
            editor.replace_items(&at, &rest.split(',').map(item).collect::<Vec<_>>())
        }
        "add" => editor.append_item(&at, rest),
        "adds" => editor
            .append_items(&at, rest.split(',').filter(|text| !text.is_empty()).map(Into::into).collect()),
        "raw" => editor.append_raw_item(&at, rest),
        "name" => editor.rename_key(&at, rest),
        other => panic!("{other}"),
    }?;
    Ok(editor.into_text())
}

#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    for (before, edit, after) in cases {
        match run(before, edit) {
            Ok(text) => assert_eq!(&text, after, "\n{edit} on\n{before}"),
            Err(error) => panic!("{edit} on\n{before}\n{error:?}"),
        }
    }
}

#[track_caller]
fn refused(cases: &[(&str, &str, &str)]) {
    for (before, edit, reason) in cases {
        let error = run(before, edit).expect_err(edit);
        assert!(error.message.contains(reason), "{edit} on\n{before}\n{error:?}");
    }
}

#[test]
fn scalars_are_set_in_place() {
    check(&[
        ("a: 1 # one\nb: 2\n", "set a x", "a: x # one\nb: 2\n"),
        ("a: \"1\"\n", "set a x", "a: \"x\"\n"),
        ("a: 'it''s' # c\n", "set a it's", "a: 'it''s' # c\n"),
        ("a: 'b'\n", "set a é", "a: \"é\"\n"),
        ("a:\nb: 2\n", "set a x", "a: x\nb: 2\n"),
        ("a: # c\nb: 2\n", "set a x", "a: x # c\nb: 2\n"),
        ("a: ~\n", "set a x", "a: x\n"),
        ("a: |\n  l1\n  l2\n\nb: 2\n", "set a x", "a: x\n\nb: 2\n"),
        ("a: b\n  c\n  d # c\n", "set a x", "a: x # c\n"),
        ("a: {b: c, d: [e, f]}\n", "set a.d.1 x y", "a: {b: c, d: [e, x y]}\n"),
        ("a:\n  - b # c\n  -\n", "set a.1 x", "a:\n  - b # c\n  - x\n"),
        ("a:\n  - b # c\n  - d\n", "put a 0 x", "a:\n  - x # c\n  - d\n"),
        ("a: yes", "set a no", "a: \"no\""),
        ("\u{feff}a: 1\r\nb: 2\r\n", "set a x", "\u{feff}a: x\r\nb: 2\r\n"),
    ]);
}

#[test]
fn several_items_change_in_one_edit() {
    check(&[
        ("a:\n  - b # c\n  - 'd'\n  - e\n", "puts a 0 x,1 z", "a:\n  - x # c\n  - 'z'\n  - e\n"),
        ("a: [b, c]\n", "puts a 1 x,0 z", "a: [z, x]\n"),
        ("a:\n- b\n-\n", "puts a 1 x,0 yes", "a:\n- \"yes\"\n- x\n"),
        ("a:\n  - b # c\n  # d\ne: 1\n", "adds a x,z", "a:\n  - b # c\n  # d\n  - x\n  - z\ne: 1\n"),
        ("a:\r\n-   b", "adds a x,z", "a:\r\n-   b\r\n-   x\r\n-   z"),
        ("a: [b]\n", "adds a x,z", "a: [b, x, z]\n"),
        ("a: [] # c\nb: 1\n", "adds a x,z", "a: # c\n  - x\n  - z\nb: 1\n"),
        ("b: 1\n", "adds a x,z", "b: 1\na:\n  - x\n  - z\n"),
        ("b: {}\n", "adds b.a x,z", "b: {a: [x, z]}\n"),
        ("a: [b] # c\n", "adds a ", "a: [b] # c\n"),
    ]);
    refused(&[
        ("a:\n- b\n", "puts a 0 x,1 z", "the list has 1 items, not 2"),
        ("a:\n- b\n- [c]\n", "puts a 0 x,1 z", "a list or mapping stands"),
        ("a: &x [b]\n", "adds a x,z", "anchor"),
    ]);
}

#[test]
fn keys_are_added_at_the_end_of_their_mapping() {
    check(&[
        ("a: 1\n", "set b x", "a: 1\nb: x\n"),
        ("a: 1", "set b x", "a: 1\nb: x"),
        ("a: 1\r\nc: 3", "set b x", "a: 1\r\nc: 3\r\nb: x"),
        ("a: 1\n\n\n", "set b x", "a: 1\nb: x\n\n\n"),
        ("a: 1\n# tail\n\n# end\n", "set b x", "a: 1\n# tail\nb: x\n\n# end\n"),
        ("a:\n  b: 1\n  # about b\nc: 2\n", "set a.d x", "a:\n  b: 1\n  # about b\n  d: x\nc: 2\n"),
        ("a:\n  b: 1\n# about c\nc: 2\n", "set a.d x", "a:\n  b: 1\n  d: x\n# about c\nc: 2\n"),
        ("a:\n    b: 1\n", "set c.d.e x", "a:\n    b: 1\nc:\n    d:\n        e: x\n"),
        ("  a: 1\n  b: 2\n", "set c x", "  a: 1\n  b: 2\n  c: x\n"),
        ("- a: 1\n  b: 2\n- c: 3\n", "set 0.d x", "- a: 1\n  b: 2\n  d: x\n- c: 3\n"),
        ("-   a: 1\n", "set 0.d x", "-   a: 1\n    d: x\n"),
        ("a: {b: 1}\n", "set a.c x", "a: {b: 1, c: x}\n"),
        ("a: { b: 1 } # c\n", "set a.c.d x", "a: { b: 1, c: {d: x} } # c\n"),
        ("a: {}\n", "set a.c x", "a: {c: x}\n"),
        ("{}\n", "set a x", "{a: x}\n"),
        ("a:\nb: 1\n", "set a.c x", "a:\n  c: x\nb: 1\n"),
        ("a: # c\nb: 1\n", "set a.c x", "a: # c\n  c: x\nb: 1\n"),
        ("", "set a x", "a: x\n"),
        ("# only\n", "set a x", "# only\na: x\n"),
        ("# only", "set a x", "# only\na: x\n"),
        ("---\n# only\n", "set a.b x", "---\n# only\na:\n  b: x\n"),
        ("---\na: 1\n...\n", "set b x", "---\na: 1\nb: x\n...\n"),
        ("a: 1\n---\nb: 2\n", "set c x", "a: 1\nc: x\n---\nb: 2\n"),
        ("a: |+\n  t\n\n", "set b x", "a: |+\n  t\n\nb: x\n"),
        ("a: |-\n  t", "set b x", "a: |-\n  t\nb: x"),
        ("a: 1\nb: |\n  t", "set c x", "a: 1\nc: x\nb: |\n  t"),
        ("b: |\n  t", "set c x", "c: x\nb: |\n  t"),
        ("a: 1\n", "set on:x x", "a: 1\non:x: x\n"),
        ("a: 1\n", "set no x", "a: 1\n\"no\": x\n"),
    ]);
}

#[test]
fn keys_are_removed_with_their_lines() {
    check(&[
        ("a: 1 # one\n# b\nb: 2\n", "del a", "# b\nb: 2\n"),
        ("a: 1\n# b\nb: # c\n- x\n- y\n# z\nz: 1\n", "del b", "a: 1\n# b\n# z\nz: 1\n"),
        ("a:\n  - x\n  # - y\n\nz: 1\n", "del a", "\nz: 1\n"),
        ("a: 1\nb: 2", "del b", "a: 1\n"),
        ("a: 1\nb: |\n  t\n\nc: 3\n", "del b", "a: 1\n\nc: 3\n"),
        ("a:\n  b: 1 # c\nd: 2\n", "del a.b", "a: {}\nd: 2\n"),
        ("a: # d\n  # above\n  b: 1\nd: 2\n", "del a.b", "a: {} # d\n  # above\nd: 2\n"),
        ("a: 1 # c\n", "del a", "{} # c\n"),
        ("- a: 1\n  b: 2\n", "del 0.a", "- b: 2\n"),
        ("- a: 1\n  b: 2\n- c: 3\n", "del 0.b", "- a: 1\n- c: 3\n"),
        ("- a: 1\n- b: 2\n", "del 0.a", "- {}\n- b: 2\n"),
        ("x: {a: 1, b: 2, c: 3}\n", "del x.b", "x: {a: 1, c: 3}\n"),
        ("x: {a: 1, b: 2}\n", "del x.b", "x: {a: 1}\n"),
        ("x: {a: 1} # c\n", "del x.a", "x: {} # c\n"),
        ("\u{feff}a: 1\r\nb: 2\r\n", "del a", "\u{feff}b: 2\r\n"),
        ("a: &x 1\nb: *x\nc: 3\n", "del c", "a: &x 1\nb: *x\n"),
    ]);
}

#[test]
fn items_are_removed_with_their_lines() {
    check(&[
        ("r:\n  - a # 1\n  # two\n  - b # 2\n  - c\n", "drop r 1", "r:\n  - a # 1\n  # two\n  - c\n"),
        ("r:\n- a\n- b\n- c", "drop r 1,2", "r:\n- a\n"),
        ("r:\r\n- a\r\n- b\r\nn: x", "drop r 0", "r:\r\n- b\r\nn: x"),
        ("r: # all\n- a # 1\n# two\n- b\nn: x\n", "drop r 0,1", "r: [] # all\n# two\nn: x\n"),
        ("r:\n- path: a\n  # of a\n  target:\n    kind: K\n- path: b\n", "drop r 0", "r:\n- path: b\n"),
        ("r:\n- path: a\n  p: |\n    t\n\n- path: b\n", "drop r 0", "r:\n\n- path: b\n"),
        ("r:\n- a\n- b\n  # - old\nn: x\n", "drop r 1", "r:\n- a\n  # - old\nn: x\n"),
        ("r: [a, b, c]\n", "drop r 1", "r: [a, c]\n"),
        ("r: [a, b, c]\n", "drop r 0,2", "r: [b]\n"),
        ("r: [ a, b ] # c\n", "drop r 0,1", "r: [] # c\n"),
        ("r: [\n  a,\n  b,\n]\n", "drop r 0", "r: [\n  b,\n]\n"),
        ("r: [\n  a,\n  b,\n]\n", "drop r 1", "r: [\n  a,\n]\n"),
        ("- a\n- b\n", "drop  0", "- b\n"),
        ("- a # c\n", "drop  0", "[] # c\n"),
        ("  r:\n  - a\n  - b\n", "drop r 0", "  r:\n  - b\n"),
        ("r:\n  - \"é: #\" # é\n  - b\n", "drop r 1", "r:\n  - \"é: #\" # é\n"),
    ]);
}

#[test]
fn items_are_added_in_the_style_of_the_list() {
    check(&[
        ("r:\n  - a # 1\nn: x\n", "add r b", "r:\n  - a # 1\n  - b\nn: x\n"),
        ("r:\n- a\n# n\nn: x\n", "add r b", "r:\n- a\n- b\n# n\nn: x\n"),
        ("r:\n  - a\n  # - old\n# n\nn: x\n", "add r b", "r:\n  - a\n  # - old\n  - b\n# n\nn: x\n"),
        ("r:\n- a\n  # - old\nn: x\n", "add r b", "r:\n- a\n  # - old\n- b\nn: x\n"),
        ("r:\n-   a\n", "add r b", "r:\n-   a\n-   b\n"),
        ("r:\n- a", "add r b", "r:\n- a\n- b"),
        ("r:\r\n- a\r\n\r\n", "add r b", "r:\r\n- a\r\n- b\r\n\r\n"),
        ("r: [a, b] # c\n", "add r c, d", "r: [a, b, \"c, d\"] # c\n"),
        ("r: [a, b,]\n", "add r c", "r: [a, b, c,]\n"),
        ("r: [\n  a,\n  b # 2\n]\n", "add r c", "r: [\n  a,\n  b, # 2\n  c\n]\n"),
        ("r: [\n  a,\n  b, # 2\n]\n", "add r c", "r: [\n  a,\n  b, # 2\n  c,\n]\n"),
        ("r: []\nn: x\n", "add r a", "r:\n  - a\nn: x\n"),
        ("s:\n- a\nr: [ ] # none\nn: x\n", "add r a", "s:\n- a\nr: # none\n- a\nn: x\n"),
        ("r:\nn: x\n", "add r a", "r:\n  - a\nn: x\n"),
        ("r: null # c\nn: x\n", "add r a", "r: # c\n  - a\nn: x\n"),
        ("n: x", "add r a", "n: x\nr:\n  - a"),
        ("s:\n- a\n", "add r.q b", "s:\n- a\nr:\n  q:\n  - b\n"),
        ("x: {n: y}\n", "add x.r b", "x: {n: y, r: [b]}\n"),
        ("x: {r: }\n", "add x.r b", "x: {r: [b] }\n"),
        ("- a\n", "add  b", "- a\n- b\n"),
        ("# none\n", "add  b", "# none\n- b\n"),
        ("  r:\n  - a\n", "add r b", "  r:\n  - a\n  - b\n"),
        ("  r: []\n", "add r b", "  r:\n    - b\n"),
    ]);
}

#[test]
fn items_of_several_lines_are_indented_to_fit() {
    let raw = "  # about it\n  path: p.yaml\n  target:\n    kind: K\n";
    check(&[
        (
            "p:\n  - path: a\n",
            "raw p path: b\ntarget:\n  kind: K",
            "p:\n  - path: a\n  - path: b\n    target:\n      kind: K\n",
        ),
        (
            "p:\r\n-   path: a\r\n",
            "raw p patch: |-\n  - op: add\n\n    path: /x\n",
            "p:\r\n-   path: a\r\n-   patch: |-\r\n      - op: add\r\n\r\n        path: /x\r\n",
        ),
        ("n: x\n", "raw p path: b\nx: y", "n: x\np:\n  - path: b\n    x: y\n"),
        ("p: [{path: a}]\n", "raw p path: b\nx: [1, on]", "p: [{path: a}, {path: b, x: [1, \"on\"]}]\n"),
    ]);
    let after = run("p: []\n", &format!("raw p {raw}")).unwrap();
    assert_eq!(after, "p:\n  - # about it\n    path: p.yaml\n    target:\n      kind: K\n");
}

#[test]
fn keys_are_renamed() {
    check(&[
        ("a: 1 # c\nb: 2\n", "name a x", "x: 1 # c\nb: 2\n"),
        ("{\"a\": 1}\n", "name a no", "{\"no\": 1}\n"),
    ]);
    refused(&[("a: 1\nb: 2\n", "name a b", "taken"), ("a: 1\n", "name b c", "no key")]);
}

#[test]
fn what_can_not_be_edited_in_place_is_refused() {
    refused(&[
        ("a: 1\na: 2\n", "set b x", "stands twice"),
        ("a: &x 1\nb: *x\n", "set a 2", "anchor"),
        ("a: &x {b: 1}\nc: *x\n", "set c.b 2", "alias"),
        ("a: &x 1\nb: *x\n", "set b 2", "anchor, alias"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n", "del c", "merge key"),
        ("a: !!str 1\n", "set a x", "tag"),
        ("a: [1]\n", "set a x", "list or mapping"),
        ("a: | # c\n  t\n", "set a x", "comment"),
        ("a: x\n", "add a y", "no list"),
        ("a: x\n", "drop a 0", "no list"),
        ("a: [x]\n", "drop a 1", "1 items"),
        ("a: x\n", "set a.b y", "leads nowhere"),
        ("a: x\n", "del b", "no key"),
        ("r:\n- a: |\n    t", "raw r b: 1", "read differently"),
        ("r: [a, # one\n  b]\n", "drop r 0", "comment"),
        ("a: b: c\n", "set a x", "not valid YAML"),
    ]);
}

/// Runs an edit that may resolve anchors and aliases; a refusal gives the text that it points at.
fn resolved(text: &str, edit: &str) -> Result<String, String> {
    run_on(Editor::new(text, 0).unwrap().resolving(), edit)
        .map_err(|error| format!("{} at {:?}", error.message, error.span.map(|span| &text[span])))
}

#[test]
fn what_depends_on_an_edited_value_is_written_out() {
    for (before, edit, after) in [
        ("a: &x b # c\nd: *x # e\nf: [*x]\n", "set a z", "a: z # c\nd: b # e\nf: [b]\n"),
        ("a: &x 'b'\nd: *x\n", "set a z", "a: 'z'\nd: 'b'\n"),
        ("a: &x b,c\nd: {e: *x}\n", "set a z", "a: z\nd: {e: \"b,c\"}\n"),
        ("a: &x |\n  b\n  c\nd: *x\n", "set a z", "a: z\nd: \"b\\nc\\n\"\n"),
        ("a: &x 1\n*x : b\nd: *x\n", "set a z", "a: z\n1 : b\nd: 1\n"),
        ("a: &x b\nc: &x d\ne: *x\n", "set a z", "a: z\nc: &x d\ne: *x\n"),
        ("a: &x b\nc: *x\nd: &x e\nf: *x\n", "set a z", "a: z\nc: b\nd: &x e\nf: *x\n"),
        ("a: &x b\nc: *x\nd: *x\n", "set c z", "a: &x b\nc: z\nd: *x\n"),
        ("a: &x {b: 1}\nc: *x\n", "set a.b 2", "a: {b: \"2\"}\nc: {b: 1}\n"),
        ("a: &x {b: 1}\nc: *x\n", "set c.b 2", "a: &x {b: 1}\nc: {b: \"2\"}\n"),
        ("a: &x {b: &y c}\nd: *x\ne: *y\n", "set a.b 2", "a: {b: \"2\"}\nd: {b: c}\ne: c\n"),
        (
            "a: &x b\nc: &y [*x, {d: *x}]\ne: *y\n",
            "add c f",
            "a: &x b\nc: [*x, {d: *x}, f]\ne: [b, {d: b}]\n",
        ),
        ("a: &x [b]\nc: *x\n", "add c d", "a: &x [b]\nc: [b, d]\n"),
        ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n", "set a.b 2", "a: {b: \"2\"}\nc:\n  <<: {b: 1}\n  d: 1\n"),
        (
            "a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n",
            "set c.b 2",
            "a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n  b: \"2\"\n",
        ),
        ("a: &x {b: 1}\nc:\n  <<: *x\nd: 1\n", "del c", "a: &x {b: 1}\nd: 1\n"),
        ("a: &x\n  b: &y c\n  d: 1\ne: *y\n", "del a.b", "a:\n  d: 1\ne: c\n"),
        ("a: &x # c\n  b: 1\n  d: 1\n", "del a.b", "a: # c\n  d: 1\n"),
        ("&k a: &x b\nc: [*k, *x]\n", "del a", "c: [a, b]\n"),
        ("r:\n- n: &x a\n  m: *x\n- n: *x\n", "drop r 0", "r:\n- n: a\n"),
        ("r:\n- n: &x a\n  m: *x\n- n: *x\n", "drop r 1", "r:\n- n: &x a\n  m: *x\n"),
        ("r: &r\n- a\n- b\n", "drop r 0,1", "r: []\n"),
        ("r: &r\n- a\n", "add r b", "r:\n- a\n- b\n"),
        ("a: &x ~\nb: *x\n", "set a c", "a: c\nb: ~\n"),
        ("a: &x b\r\nc: *x\r\n---\nd: &x e\nf: *x\n", "set a z", "a: z\r\nc: b\r\n---\nd: &x e\nf: *x\n"),
    ] {
        assert_eq!(resolved(before, edit).as_deref(), Ok(after), "\n{edit} on\n{before}");
    }
}

#[test]
fn what_can_not_be_written_out_is_named() {
    for (before, edit, reason) in [
        (
            "a: &x\n  b: 1\nc: *x\n",
            "set a.b 2",
            "`*x` can't be written out in one line, and its meaning changes at Some(\"*x\")",
        ),
        ("a: &x\n  b: 1\nc:\n  <<: *x\n", "set a.b 2", "at Some(\"*x\")"),
        (
            "a: &x\n  b: 1\nc: *x\n",
            "set c.b 2",
            "`*x` can't be written out in one line, and only here it is to change at Some(\"*x\")",
        ),
        ("a: &x {b: 1,\n  c: 2}\nd: *x\n", "set a.b 2", "in one line"),
        (
            "a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n",
            "del c.b",
            "`c.b` comes from what is merged here at Some(\"<<: *x\")",
        ),
        ("a: &x {b: [1]}\nc:\n  <<: *x\n", "add c.b 2", "`c.b` comes from what is merged here"),
        ("a: &x {b: [1]}\nc:\n  <<: *x\n", "drop c.b 0", "`c.b` comes from what is merged here"),
        ("a: &x {b: {d: 1}}\nc:\n  <<: *x\n", "set c.b.e 2", "`c.b` comes from what is merged here"),
        ("a: &x !!str 1\nb: *x\n", "set a 2", "in one line"),
        ("a: !!str &x 1\nb: 2\n", "set a 2", "tag"),
    ] {
        let error = resolved(before, edit).expect_err(edit);
        assert!(error.contains(reason), "{edit} on\n{before}\n{error}");
    }
}

#[test]
fn a_refusal_points_into_the_text_of_the_beginning() {
    let text = "a: 1\nb: &x\n  c: 1\n# d\ne: *x\nf:\n- g\n";
    let mut editor = Editor::new(text, 0).unwrap().resolving();
    editor.remove_key(&["a".into()]).unwrap();
    editor.append_item(&["f".into()], "h").unwrap();
    let error = editor.set_scalar(&["b".into(), "c".into()], "2").unwrap_err();
    assert_eq!(&text[error.span.unwrap()], "*x");
    assert_eq!(editor.text(), "b: &x\n  c: 1\n# d\ne: *x\nf:\n- g\n- h\n");
}

#[test]
fn keys_are_found_in_any_case_when_asked() {
    let mut editor = Editor::new("Resources:\n- a\n", 0).unwrap().ignore_case();
    editor.append_item(&["resources".into()], "b").unwrap();
    assert_eq!(editor.text(), "Resources:\n- a\n- b\n");
    let mut editor = Editor::new("Resources:\n- a\nresources: []\n", 0).unwrap().ignore_case();
    assert!(editor.append_item(&["resources".into()], "b").unwrap_err().message.contains("different case"));
}

#[test]
fn only_the_named_document_is_edited() {
    let text = "a: 1\n--- # two\na: 1\n---\na: 1";
    let mut editor = Editor::new(text, 1).unwrap();
    editor.set_scalar(&["a".into()], "x").unwrap();
    editor.set_scalar(&["b".into()], true).unwrap();
    assert_eq!(editor.text(), "a: 1\n--- # two\na: x\nb: true\n---\na: 1");
    assert!(Editor::new(text, 3).is_err());
}

#[test]
fn a_failed_edit_changes_nothing() {
    let mut editor = Editor::new("r: [a, # c\n  b, c]\n", 0).unwrap();
    assert!(editor.remove_items(&["r".into()], &[0, 1]).is_err());
    assert_eq!(editor.text(), "r: [a, # c\n  b, c]\n");
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    const PIECES: [&str; 44] = [
        "a: ", "b:\n", "a:\n", "c: |\n", "d: >-\n", "e: |+\n", "  t\n", "  t", "    u\n", "\n", "\n\n", " ",
        "  ", "- ", "-\n", "  - x\n", "- a: 1\n", "  b: 2\n", "x\n", "1\n", "~\n", "'q'", "\"é\" ", "[a, b]",
        "{k: v}\n", "[", "]", "{", "}", ", ", "# c\n", " # c\n", "---\n", "--- ", "...\n", "&n ", "*n\n",
        "!!str ", "<<: *n\n", "? k\n", ": v\n", "\r\n", "\t", "[]\n",
    ];

    fn document() -> impl Strategy<Value = String> {
        let pieces = proptest::collection::vec(proptest::sample::select(PIECES.to_vec()), 0..14);
        (any::<bool>(), pieces)
            .prop_map(|(bom, pieces)| format!("{}{}", if bom { "\u{feff}" } else { "" }, pieces.concat()))
    }

    fn edits() -> impl Strategy<Value = String> {
        let at = proptest::sample::select(vec![
            "", "a", "b", "a.b", "a.a", "b.0", "0", "0.a", "a.0.b", "k", "a.k", "new", "a.new.b", "e",
        ]);
        let verb = proptest::sample::select(vec!["set", "del", "drop", "put", "add", "raw", "name"]);
        let number = proptest::sample::select(vec!["0", "1", "0,1", "0,2"]);
        (verb, at, number).prop_map(|(verb, at, number)| match verb {
            "drop" => format!("{verb} {at} {number}"),
            "put" => format!("{verb} {at} 0 x: y"),
            "raw" => format!("{verb} {at} p: 1 # c\nq:\n- r\n"),
            _ => format!("{verb} {at} x: y"),
        })
    }

    /// Counts comments as the scanner does: a `#` within a scalar, plain or of a block, begins none.
    fn comments(text: &str) -> usize {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut options = granit_parser::Options::default();
        options.set_emit_comments(true);
        granit_parser::Scanner::with_options(granit_parser::StrInput::new(text), options)
            .map_while(Result::ok)
            .filter(|token| matches!(token.token_type(), granit_parser::TokenType::Comment(_)))
            .count()
    }

    #[test]
    fn a_number_sign_within_a_scalar_is_no_comment() {
        for (text, edit, after) in [
            ("  t\n[# c\n", "set  x: y", "  \"x: y\"\n"),
            ("  t# c\n", "set  x: y", "  \"x: y\"\n"),
            ("e: |+\n # c\n", "set e x: y", "e: \"x: y\"\n"),
        ] {
            assert_eq!((comments(text), run(text, edit)), (0, Ok(after.to_owned())), "{text}");
        }
        assert_eq!(comments("\u{feff}# c\na: # c\n  - b # c\n"), 3);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn any_edit_of_any_text_is_right_or_refused(text in document(), edit in edits()) {
            if let Ok(after) = run(&text, &edit) {
                let adds = edit.starts_with("raw") && after.contains("p: 1 # c");
                if edit.starts_with("del") || edit.starts_with("drop") {
                    prop_assert!(comments(&after) <= comments(&text));
                } else {
                    prop_assert_eq!(comments(&after), comments(&text) + usize::from(adds), "{}\n{}", edit, after);
                }
                prop_assert_eq!(text.starts_with('\u{feff}'), after.starts_with('\u{feff}'));
            }
        }

        #[test]
        fn any_edit_with_references_is_right_or_refused(text in document(), edit in edits()) {
            let Ok(editor) = Editor::new(&text, 0) else { return Ok(()) };
            match run_on(editor.resolving(), &edit) {
                Ok(after) if !edit.starts_with("del") && !edit.starts_with("drop") => {
                    let adds = usize::from(edit.starts_with("raw") && after.contains("p: 1 # c"));
                    prop_assert_eq!(comments(&after), comments(&text) + adds, "{}\n{}", edit, after);
                }
                Ok(after) => prop_assert!(comments(&after) <= comments(&text)),
                Err(error) => {
                    let span = error.span.unwrap_or_default();
                    prop_assert!(text.get(span).is_some(), "{}", error.message);
                }
            }
        }

        #[test]
        fn any_text_is_read_without_panic(text in any::<String>()) {
            let _ = Editor::new(&text, 0);
        }

        #[test]
        fn any_name_and_value_can_be_written(name in any::<String>(), value in any::<String>()) {
            for text in ["a: 1\n", "{a: 1}\n", "", "  a: [x]", "a:\n  - x\r\n"] {
                let mut editor = Editor::new(text, 0).unwrap();
                prop_assume!(name != "a");
                editor.set_scalar(&[Key::from(name.as_str())], value.as_str()).unwrap();
                editor.append_item(&["new list".into()], value.as_str()).unwrap();
                prop_assert_eq!(editor.root().get(&name).unwrap().as_str(), Some(value.as_str()));
            }
        }
    }
}

#[test]
fn the_rest_of_a_list_is_replaced_in_the_manner_of_the_list() {
    let replaced = |text: &str, from: usize, values: &[&str]| {
        let mut editor = Editor::new(text, 0).unwrap();
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        let done = editor.replace_rest(&["args".into()], from, &values);
        done.map(|()| editor.into_text()).map_err(|error| error.message)
    };
    let text = "args: # all\r\n  -   a # first\r\n  -   b\r\n  -   c # last\r\nz: 1\r\n";
    let after = "args: # all\r\n  -   a # first\r\n  -   \"1 2 # x\"\r\n  -   d # last\r\nz: 1\r\n";
    assert_eq!(replaced(text, 1, &["1 2 # x", "d"]).unwrap(), after);
    assert_eq!(replaced("args:\n- a", 0, &["b", "c"]).unwrap(), "args:\n- b\n- c");
    for (text, from) in
        [("args: [a, b]\n", 1), ("args:\n- a\n", 1), ("args: a\n", 0), ("args:\n- a\n# c\n- b\n", 0)]
    {
        assert!(replaced(text, from, &["x"]).is_err(), "{text}");
    }
    assert!(replaced("args:\n- a\n", 0, &[]).is_err());
}
