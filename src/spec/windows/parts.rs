//! The values of one window, set in place.

use crate::schedule::WindowKey;
use crate::spec::keys::WINDOW;
use crate::yaml::{EditError, Editor, Key};

/// Sets values of the window at a path, and takes away those that another way to write a window
/// leaves without meaning: `close` replaces `for`, and `from` replaces `open`.
///
/// What is still missing or too much is for the reader of the spec to say.
pub(super) fn set(editor: &mut Editor, path: &[Key], parts: &[(WindowKey, String)]) -> Result<(), EditError> {
    let existing = at(editor, path);
    let write = |editor: &mut Editor, path: &[Key]| {
        parts.iter().try_for_each(|(key, text)| {
            let path = below(path, key.as_str());
            // What says so already keeps its quotes, or their absence.
            let same = at(editor, &path).is_some_and(|value| value == text.as_str());
            if same { Ok(()) } else { editor.set_scalar(&path, text.as_str()) }
        })
    };
    if existing.is_some_and(|value| !value.is_object() && !value.is_null()) {
        // The name of a window, or several windows, give way to a window in place.
        return replace(editor, path, write);
    }
    write(editor, path)?;
    let left = left(editor, path, parts);
    for key in WindowKey::TIMES.map(WindowKey::as_str) {
        let key_path = below(path, key);
        if !left.contains(&key) && at(editor, &key_path).is_some() {
            editor.remove_key(&key_path)?;
        }
    }
    Ok(())
}

/// Returns which times the window at a path has once these values are set.
pub(super) fn left(editor: &Editor, path: &[Key], parts: &[(WindowKey, String)]) -> Vec<&'static str> {
    let given: Vec<&str> = parts.iter().map(|(key, _)| key.as_str()).collect();
    let times = || given.iter().filter(|key| **key != WindowKey::TimeZone.as_str());
    let fits = |form: &&&[&str]| times().all(|key| form.contains(key));
    let meant: Vec<&str> = WINDOW.forms.iter().filter(fits).copied().flatten().copied().collect();
    let stays =
        |key: &&str| given.contains(key) || meant.contains(key) && at(editor, &below(path, key)).is_some();
    WindowKey::TIMES.map(WindowKey::as_str).into_iter().filter(stays).collect()
}

/// Replaces the whole value of a key by what `write` writes at the path that it is given.
///
/// The new value is written beside the old one, so that a mapping never loses its last key, and
/// with it the style that it is written in.
pub(super) fn replace(
    editor: &mut Editor,
    path: &[Key],
    write: impl Fn(&mut Editor, &[Key]) -> Result<(), EditError>,
) -> Result<(), EditError> {
    let Some((Key::Name(name), above)) = path.split_last() else { return write(editor, path) };
    let mut beside = below(above, &format!("{name}-new"));
    let mut number = 1;
    while at(editor, &beside).is_some() {
        number += 1;
        beside = below(above, &format!("{name}-new-{number}"));
    }
    write(editor, &beside)?;
    editor.remove_key(path)?;
    editor.rename_key(&beside, name)
}

/// Returns the value at a path of names, if there is one.
pub(in crate::spec) fn at(editor: &Editor, path: &[Key]) -> Option<serde_json::Value> {
    let mut node = editor.root();
    for key in path {
        let Key::Name(name) = key else { return None };
        node = node.get(name)?;
    }
    Some(node.to_json())
}

pub(super) fn below(path: &[Key], name: &str) -> Vec<Key> {
    path.iter().cloned().chain([Key::from(name)]).collect()
}
