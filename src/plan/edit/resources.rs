//! Rewrites the `resources` of a kustomization, leaving every other byte alone.

use crate::path::RepoPath;
use crate::repo::{Kustomization, Target};
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

/// Gives the text of a kustomization with its resources changed; `items` are theirs, in order.
///
/// # Errors
///
/// When the list can't be edited without writing it anew.
pub fn rewrite(kustomization: &Kustomization, items: &[Item]) -> Result<String, EditError> {
    let mut editor = Editor::new(&kustomization.text, 0)?.ignore_case();
    let path = [Key::from("resources")];
    for (index, item) in items.iter().enumerate() {
        if let Item::Replace(text) = item {
            editor.replace_item(&path, index, text.as_str())?;
        }
    }
    let removed = items.iter().enumerate().filter(|(_, item)| **item == Item::Remove);
    let removed: Vec<usize> = removed.map(|(index, _)| index).collect();
    if !removed.is_empty() {
        editor.remove_items(&path, &removed)?;
    }
    Ok(editor.into_text())
}

/// Gives the text of a kustomization that lists a file or a folder no more.
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

/// Gives the text of a kustomization with one more resource at the end of its list; the same text
/// where the folder is listed already.
///
/// # Errors
///
/// When the list can't be edited without writing it anew.
pub fn add(kustomization: &Kustomization, path: &RepoPath) -> Result<String, EditError> {
    let listed = kustomization.resources();
    let target = Target::Path(path.clone());
    if listed.iter().any(|reference| reference.target == target) {
        return Ok(kustomization.text.to_string());
    }
    let relative = path.relative_to(&kustomization.folder);
    let dotted = listed.iter().any(|reference| reference.text.starts_with("./"));
    let text = if dotted { format!("./{relative}") } else { relative };
    let mut editor = Editor::new(&kustomization.text, 0)?.ignore_case();
    editor.append_item(&[Key::from("resources")], text)?;
    Ok(editor.into_text())
}

/// Writes a path in the manner of another: with `./` before it and `/` behind it where that had.
pub fn respell(manner: &str, path: &str) -> String {
    let lead = if manner.starts_with("./") { "./" } else { "" };
    let is_of_folder = manner.ends_with('/') && manner != "./";
    let tail = if is_of_folder && !path.ends_with('/') { "/" } else { "" };
    format!("{lead}{path}{tail}")
}
