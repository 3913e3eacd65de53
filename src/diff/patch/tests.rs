//! git itself decides: a patch is right when `git apply` makes of the old tree the new one.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::change::{Change, Changes};
use crate::diff::patch;
use crate::path::RepoPath;
use crate::repo::File;
use crate::repo::scratch::{Scratch, Tree};

/// Files by name: content and the executable bit.
type Files = BTreeMap<String, (Vec<u8>, bool)>;

fn lay(files: &Files) -> Scratch {
    let scratch = Scratch::git();
    for (name, (bytes, executable)) in files {
        scratch.put(name, bytes).mode(name, if *executable { 0o755 } else { 0o644 });
    }
    scratch
}

fn files_only(tree: Tree) -> Tree {
    tree.into_iter().filter(|(name, _)| !name.ends_with('/')).collect()
}

fn plan(before: &Files, after: &Files, moves: &BTreeMap<String, String>) -> Changes {
    let path = |text: &str| RepoPath::parse(text).unwrap();
    let file = |(bytes, executable): &(Vec<u8>, bool)| File::new(bytes.as_slice()).with_mode(*executable);
    let names: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let changes = names.into_iter().filter(|name| before.get(*name) != after.get(*name)).map(|name| {
        let change = Change {
            before: before.get(name).map(file),
            after: after.get(name).map(file),
            moved_from: moves.get(name).map(|from| path(from)),
        };
        (path(name), change)
    });
    changes.collect()
}

/// Applies the patch with git and compares the tree, with the index as well as without it.
fn check(before: &Files, after: &Files, moves: &BTreeMap<String, String>) {
    let patch = patch(&plan(before, after, moves));
    let scratch = lay(before);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file.as_file(), &patch).unwrap();
    if !patch.is_empty() {
        let output = scratch.try_run(&["apply", "--whitespace=nowarn", file.path().to_str().unwrap()]);
        assert!(
            output.status.success(),
            "{}\n{}",
            String::from_utf8_lossy(&output.stderr),
            String::from_utf8_lossy(&patch)
        );
    }
    assert_eq!(scratch.tree(), lay(after).tree(), "{}", String::from_utf8_lossy(&patch));
    assert_eq!(files_only(scratch.tree()).len(), after.len());
}

fn one(name: &str, before: Option<&[u8]>, after: Option<&[u8]>) {
    let files = |bytes: Option<&[u8]>| bytes.map(|bytes| (name.to_owned(), (bytes.to_vec(), false)));
    check(&files(before).into_iter().collect(), &files(after).into_iter().collect(), &BTreeMap::new());
}

#[test]
fn invariant_3_git_apply_takes_every_kind_of_content() {
    let contents: [&[u8]; 12] = [
        b"",
        b"a\n",
        b"a",
        b"a\nb\nc\nd\ne\nf\ng\nh\n",
        b"a\r\nb\r\n",
        b"a\rb\n\r",
        b"\xef\xbb\xbfkind: x\n",
        b"\n\n",
        b"\xff\xfe\x00a\x00\n",
        b"-- a\n++ b\n@@ -1 +1 @@\ndiff --git a/x b/x\n",
        b"\\ No newline at end of file",
        b" trailing \t \n\0\n",
    ];
    for before in contents {
        one("x", Some(before), None);
        one("x", None, Some(before));
        for after in contents {
            if before != after {
                one("x", Some(before), Some(after));
            }
        }
    }
}

#[test]
fn invariant_3_git_apply_takes_every_name() {
    for name in [
        "a b",
        " a",
        "a ",
        "dir with space/b c",
        "é/ü",
        "a\"b",
        "a\tb",
        "a\nb",
        "a\x07b",
        "a\x7f",
        "-a",
        "a/b/c",
        "dev/null",
        "a => b",
        "\u{202e}x",
        "{a}",
        "b/b/x b/x",
        ":(top)x",
        "#",
    ] {
        one(name, None, Some(b"x\n"));
        one(name, Some(b"x\n"), None);
        one(name, Some(b"x\n"), Some(b"y"));
        one(name, None, Some(b""));
        one(name, Some(b""), None);
        let moved = |to: &str| BTreeMap::from([(to.to_owned(), (b"x".to_vec(), false))]);
        check(&moved(name), &moved("to/z z"), &BTreeMap::from([("to/z z".to_owned(), name.to_owned())]));
        check(&moved("q"), &moved(name), &BTreeMap::from([(name.to_owned(), "q".to_owned())]));
        let mode = |bit| BTreeMap::from([(name.to_owned(), (b"x".to_vec(), bit))]);
        check(&mode(false), &mode(true), &BTreeMap::new());
        check(&mode(true), &mode(false), &BTreeMap::new());
    }
}

#[test]
fn invariant_3_git_apply_takes_an_edited_file_that_moves() {
    let one = |name: &str, bytes: &[u8], bit| (name.to_owned(), (bytes.to_vec(), bit));
    let old: &[u8] = b"a\nb\nc\nd\ne\nf\ng\nh";
    let new: &[u8] = b"a\nb\nc\nx\ne\nf\ng\nh\n";
    let (before, after) =
        (Files::from([one("k/a b", old, false)]), Files::from([one("k/a b/ks.yaml", new, true)]));
    let moved = String::from_utf8(patch(&plan(&before, &after, &BTreeMap::new()))).unwrap();
    insta::assert_snapshot!(moved);
    check(&before, &after, &BTreeMap::new());
    check(&after, &before, &BTreeMap::new());
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        4 => "[a-c]{0,2}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..4),
    ];
    let end = prop_oneof![8 => Just(&b"\n"[..]), 1 => Just(&b"\r\n"[..]), 1 => Just(&b""[..])];
    proptest::collection::vec((line, end), 0..12)
        .prop_map(|lines| lines.into_iter().flat_map(|(line, end)| [line, end.to_vec()].concat()).collect())
}

/// Names of which one may be a folder of another, so that files take folders' places and back.
fn files() -> impl Strategy<Value = Files> {
    let name = prop_oneof![
        Just("a"),
        Just("a/b"),
        Just("a/b/c"),
        Just("d e/f"),
        Just("d e/g\"h"),
        Just("é"),
        Just("i"),
        Just("j/k"),
    ];
    proptest::collection::btree_map(name.prop_map(str::to_owned), (content(), any::<bool>()), 0..6).prop_map(
        |files| {
            let names: Vec<String> = files.keys().cloned().collect();
            let is_folder = |name: &str| names.iter().any(|other| other.starts_with(&format!("{name}/")));
            files.into_iter().filter(|(name, _)| !is_folder(name)).collect()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn invariant_3_git_apply_makes_the_planned_tree(
        before in files(), mut after in files(), moving in any::<bool>(), edit in content(),
    ) {
        let mut moves = BTreeMap::new();
        if moving
            && let Some((from, file)) = before.iter().next()
            && let Some(to) = after.keys().find(|to| !before.contains_key(*to)).cloned()
            && !after.contains_key(from)
        {
            let mut file = file.clone();
            file.0.extend(edit);
            after.insert(to.clone(), file);
            moves.insert(to, from.clone());
        }
        check(&before, &after, &moves);
        // And the writer makes the same, and takes it back.
        let scratch = lay(&before);
        let plan = plan(&before, &after, &moves);
        let untouched = scratch.tree();
        crate::write::write(&scratch.repository(), &plan).unwrap();
        prop_assert_eq!(scratch.tree(), lay(&after).tree());
        prop_assert_eq!(crate::write::undo(&scratch.repository()).unwrap().is_some(), !plan.is_empty());
        prop_assert_eq!(scratch.tree(), untouched);
    }
}
