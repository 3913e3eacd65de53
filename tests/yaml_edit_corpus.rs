//! Random edits on real kustomization files: exactly the lines that the edit names differ, and an
//! independent reader finds the expected value.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test's helpers may fail loudly and speak")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gitops_windows::yaml::{EditError, Editor, Key, NodeKind, read_documents};
use serde_json::{Value, json};

/// A small generator of numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.is_symlink() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            found.push(path);
        }
    }
}

fn corpus() -> Vec<(PathBuf, String)> {
    let Some(corpus) = std::env::var_os("GITOPS_WINDOWS_CORPUS") else {
        eprintln!("skipped: GITOPS_WINDOWS_CORPUS is not set");
        return Vec::new();
    };
    let mut found = Vec::new();
    files(&Path::new(&corpus).join("repos"), &mut found);
    found
        .into_iter()
        .filter_map(|path| std::fs::read_to_string(&path).ok().map(|text| (path, text)))
        .collect()
}

/// The text and three variants of it: with CRLF, with a byte order mark, without the last line break.
fn variants(text: &str) -> Vec<String> {
    let mut variants = vec![text.to_owned(), text.trim_end_matches('\n').to_owned()];
    if !text.contains('\r') {
        variants.push(text.replace('\n', "\r\n"));
    }
    if !text.starts_with('\u{feff}') {
        variants.push(format!("\u{feff}{text}"));
    }
    variants
}

/// Every list and mapping of a document, by path.
fn places(value: &Value, at: &mut Vec<Key>, lists: &mut Vec<Vec<Key>>, maps: &mut Vec<Vec<Key>>) {
    match value {
        Value::Array(items) => {
            lists.push(at.clone());
            for (index, item) in items.iter().enumerate() {
                at.push(Key::Index(index));
                places(item, at, lists, maps);
                at.pop();
            }
        }
        Value::Object(map) => {
            maps.push(at.clone());
            for (key, value) in map {
                at.push(Key::Name(key.clone()));
                places(value, at, lists, maps);
                at.pop();
            }
        }
        _ => {}
    }
}

fn at<'v>(value: &'v mut Value, path: &[Key]) -> &'v mut Value {
    path.iter().fold(value, |value, key| match key {
        Key::Name(name) => value.get_mut(name).unwrap(),
        Key::Index(index) => value.get_mut(index).unwrap(),
    })
}

fn read(text: &str) -> Option<Value> {
    let values: Vec<Value> = serde_saphyr::from_multiple(text).ok()?;
    values.into_iter().next()
}

fn is_within(part: &[&str], whole: &[&str]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|line| rest.any(|other| other == line))
}

/// Lines without their line breaks: an edit may end a last line that was not ended.
fn lines(text: &str) -> Vec<&str> {
    text.trim_start_matches('\u{feff}').lines().collect()
}

#[derive(Default)]
struct Count {
    made: usize,
    refused: BTreeMap<String, usize>,
}

impl Count {
    fn take(&mut self, result: Result<(), EditError>) -> bool {
        match result {
            Ok(()) => self.made += 1,
            Err(error) => {
                *self.refused.entry(error.message).or_default() += 1;
                return false;
            }
        }
        true
    }
}

#[test]
fn random_edits_touch_nothing_else() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut count = Count::default();
    for (path, text) in corpus() {
        let name = path.file_name().unwrap().to_string_lossy().to_lowercase();
        let rounds = if name.starts_with("kustomization.") { 6 } else { 1 };
        for text in variants(&text) {
            let Ok(documents) = read_documents(&text) else { continue };
            if documents.is_empty() || documents[0].is_empty() || !documents[0].duplicates.is_empty() {
                continue;
            }
            // Where the independent reader agrees before, it must agree after.
            let before = documents[0].root.to_json();
            let independent = read(&text).is_some_and(|value| value == before);
            let (mut lists, mut maps) = (Vec::new(), Vec::new());
            places(&before, &mut Vec::new(), &mut lists, &mut maps);
            for _ in 0..rounds {
                edit(&text, &before, &lists, &maps, independent, &mut random, &mut count, &path);
            }
        }
    }
    let refused: usize = count.refused.values().sum();
    eprintln!("{} edits made, {refused} refused: {:#?}", count.made, count.refused);
}

#[allow(clippy::too_many_arguments)]
fn edit(
    text: &str,
    before: &Value,
    lists: &[Vec<Key>],
    maps: &[Vec<Key>],
    independent: bool,
    random: &mut Random,
    count: &mut Count,
    file: &Path,
) {
    let mut editor = Editor::new(text, 0).unwrap();
    let mut expected = before.clone();
    let kind = random.below(5);
    if kind < 3 && lists.is_empty() || kind >= 3 && maps.is_empty() {
        return;
    }
    let context = |after: &str| format!("{} kind {kind}\n{text}\n=====\n{after}", file.display());
    match kind {
        0 => {
            let path = &lists[random.below(lists.len())];
            let items = at(&mut expected, path).as_array_mut().unwrap();
            let count_before = items.len();
            items.push(json!("../new: #"));
            if !count.take(editor.append_item(path, "../new: #")) {
                return;
            }
            let after = editor.text().to_owned();
            if is_block_list(&editor, path) && count_before > 0 {
                let new: Vec<&str> = lines(&after);
                assert_eq!(new.len(), lines(text).len() + 1, "{}", context(&after));
                assert!(is_within(&lines(text), &new), "{}", context(&after));
                let mut back = editor.clone();
                back.remove_items(path, &[count_before]).unwrap();
                assert_eq!(lines(back.text()), lines(text), "{}", context(&after));
            }
        }
        1 => {
            let path = &lists[random.below(lists.len())];
            let items = at(&mut expected, path).as_array_mut().unwrap();
            let chosen: Vec<usize> = (0..items.len()).filter(|_| random.below(3) == 0).collect();
            chosen.iter().rev().for_each(|index| drop(items.remove(*index)));
            let empty = items.is_empty();
            let block = is_block_list(&editor, path);
            if !count.take(editor.remove_items(path, &chosen)) {
                return;
            }
            if block && !empty {
                assert!(is_within(&lines(editor.text()), &lines(text)), "{}", context(editor.text()));
            }
        }
        2 => {
            let path = &lists[random.below(lists.len())];
            at(&mut expected, path)
                .as_array_mut()
                .unwrap()
                .push(json!({"path": "p.yaml", "target": {"kind": "K"}}));
            if !count.take(editor.append_raw_item(path, "path: p.yaml # new\ntarget:\n  kind: K\n")) {
                return;
            }
        }
        3 => {
            let path = &maps[random.below(maps.len())];
            let map = at(&mut expected, path).as_object_mut().unwrap();
            if map.is_empty() {
                return;
            }
            let key = map.keys().nth(random.below(map.len())).unwrap().clone();
            map.remove(&key);
            let alone = map.is_empty();
            let path: Vec<Key> = path.iter().cloned().chain([Key::Name(key)]).collect();
            let flow = text.contains(['{', '[']);
            if !count.take(editor.remove_key(&path)) {
                return;
            }
            let first_of_item = path.len() > 1 && matches!(path[path.len() - 2], Key::Index(_));
            if !alone && !flow && !first_of_item {
                assert!(is_within(&lines(editor.text()), &lines(text)), "{}", context(editor.text()));
            }
        }
        _ => {
            let path = &maps[random.below(maps.len())];
            at(&mut expected, path).as_object_mut().unwrap().insert("newKey".to_owned(), json!({"a": "on"}));
            let path: Vec<Key> = path.iter().cloned().chain(["newKey".into(), "a".into()]).collect();
            if !count.take(editor.set_scalar(&path, "on")) {
                return;
            }
            if !text.contains('{') {
                assert_eq!(lines(editor.text()).len(), lines(text).len() + 2, "{}", context(editor.text()));
                assert!(is_within(&lines(text), &lines(editor.text())), "{}", context(editor.text()));
            }
            let mut back = editor.clone();
            back.remove_key(&path[..path.len() - 1]).unwrap();
            if !text.contains('{') {
                assert_eq!(lines(back.text()), lines(text), "{}", context(editor.text()));
            }
        }
    }
    assert_eq!(editor.root().to_json(), expected, "{}", context(editor.text()));
    if independent {
        assert_eq!(read(editor.text()), Some(expected), "{}", context(editor.text()));
    }
    assert_eq!(text.starts_with('\u{feff}'), editor.text().starts_with('\u{feff}'));
    if text.contains("\r\n") && !text.replace("\r\n", "").contains('\n') {
        assert!(!editor.text().replace("\r\n", "").contains('\n'), "{}", context(editor.text()));
    }
}

fn is_block_list(editor: &Editor, path: &[Key]) -> bool {
    let mut node = editor.root();
    for key in path {
        node = match key {
            Key::Name(name) => node.get(name).unwrap(),
            Key::Index(index) => &node.items()[*index],
        };
    }
    matches!(&node.kind, NodeKind::Sequence(items) if !items.is_empty() && !node.flow)
}
