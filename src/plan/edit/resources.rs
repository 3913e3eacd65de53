//! Rewrites the `resources` of a kustomization, leaving every other byte alone.

use std::collections::BTreeSet;

use crate::path::RepoPath;
use crate::repo::{Kustomization, Reference, Target};
use crate::yaml::{EditError, Editor, Key};

/// What becomes of one item of `resources`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// It stays as written.
    Keep,
    /// It goes, with its line.
    Remove,
    /// Its text is replaced.
    Replace(String),
}

/// Returns the text of a kustomization with its resources changed; `items` are theirs, in order.
///
/// # Errors
///
/// When the list can't be edited without writing it anew.
pub fn rewrite(kustomization: &Kustomization, items: &[Item]) -> Result<String, EditError> {
    let mut editor = Editor::new(&kustomization.text, 0)?.ignore_case();
    let path = [Key::from("resources")];
    let replaced = items.iter().enumerate().filter_map(|(index, item)| match item {
        Item::Replace(text) => Some((index, text.as_str().into())),
        Item::Keep | Item::Remove => None,
    });
    editor.replace_items(&path, &replaced.collect::<Vec<_>>())?;
    let removed = items.iter().enumerate().filter(|(_, item)| **item == Item::Remove);
    let removed: Vec<usize> = removed.map(|(index, _)| index).collect();
    if !removed.is_empty() {
        editor.remove_items(&path, &removed)?;
    }
    Ok(editor.into_text())
}

/// Returns the text of a kustomization that lists a file or a folder no more.
///
/// # Errors
///
/// When the list can't be edited without writing it anew.
pub fn remove(kustomization: &Kustomization, path: &RepoPath) -> Result<String, EditError> {
    let target = Target::Path(path.clone());
    let item = |gone: bool| if gone { Item::Remove } else { Item::Keep };
    let items: Vec<Item> =
        kustomization.resources().iter().map(|reference| item(reference.target == target)).collect();
    rewrite(kustomization, &items)
}

/// Returns the text of a kustomization with one more resource at the end of its list; the same text
/// where the folder is listed already.
///
/// # Errors
///
/// When the list can't be edited without writing it anew.
pub fn add(kustomization: &Kustomization, path: &RepoPath) -> Result<String, EditError> {
    add_all(kustomization, [path])
}

/// Returns the text of a kustomization with these resources at the end of its list, but for those that it lists already.
///
/// # Errors
///
/// When the list can't be edited without writing it anew.
pub fn add_all<'p>(
    kustomization: &Kustomization,
    paths: impl IntoIterator<Item = &'p RepoPath>,
) -> Result<String, EditError> {
    let listed = kustomization.resources();
    let known: BTreeSet<&RepoPath> = listed.iter().filter_map(Reference::path).collect();
    let dotted = listed.iter().any(|reference| reference.text.starts_with("./"));
    let lead = if dotted { "./" } else { "" };
    let new = paths.into_iter().filter(|path| !known.contains(path));
    let texts = new.map(|path| format!("{lead}{}", path.relative_to(&kustomization.folder)).into());
    let mut editor = Editor::new(&kustomization.text, 0)?.ignore_case();
    editor.append_items(&[Key::from("resources")], texts.collect())?;
    Ok(editor.into_text())
}

/// Writes a path in the manner of another: with `./` before it and `/` behind it where that had.
pub fn respell(manner: &str, path: &str) -> String {
    let lead = if manner.starts_with("./") { "./" } else { "" };
    let is_of_folder = manner.ends_with('/') && manner != "./";
    let tail = if is_of_folder && !path.ends_with('/') { "/" } else { "" };
    format!("{lead}{path}{tail}")
}
