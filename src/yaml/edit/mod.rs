//! Byte-exact edits of one document, each verified by reading the result again.

mod expected;
mod insert;
mod remove;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use self::expected::{get_at, push_at, remove_at, set_at};

use super::block::{NewEntry, NewItem, Style, dedent};
use super::lines;
use super::node::{Document, Node, NodeKind};
use super::read::{ReadError, empty_node, read_documents};
use super::resolve::Schema;
use super::scalar::ScalarText;
use crate::diagnostic::{Diagnostic, Place};
use crate::repo::RepoPath;

/// Why an edit can't be made without writing the file anew.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EditError {
    /// What stands in the way.
    pub message: String,
    /// Where, if it is at one place of the text.
    pub span: Option<Range<usize>>,
}

impl EditError {
    pub(crate) fn new(message: impl Into<String>) -> EditError {
        EditError { message: message.into(), span: None }
    }

    pub(crate) fn at(message: impl Into<String>, span: Range<usize>) -> EditError {
        EditError { message: message.into(), span: Some(span) }
    }

    /// Makes the error a [`Diagnostic`] that points into the file.
    pub fn diagnostic(&self, path: RepoPath, text: Arc<str>) -> Diagnostic {
        let place = match &self.span {
            Some(span) => Place::span(path, text, span.clone()),
            None => Place { path, text: Some(text), span: None },
        };
        Diagnostic::error(format!("the file can't be edited without rewriting all of it: {}", self.message))
            .at(place)
            .help("write this place in plain block style, or make the edit by hand")
    }
}

impl From<ReadError> for EditError {
    fn from(error: ReadError) -> EditError {
        EditError { message: format!("not valid YAML: {}", error.message), span: Some(error.span) }
    }
}

/// One step of a path into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// A mapping's key.
    Name(String),
    /// A sequence's item.
    Index(usize),
}

impl From<&str> for Key {
    fn from(name: &str) -> Key {
        Key::Name(name.to_owned())
    }
}

impl From<String> for Key {
    fn from(name: String) -> Key {
        Key::Name(name)
    }
}

impl From<usize> for Key {
    fn from(index: usize) -> Key {
        Key::Index(index)
    }
}

/// A replacement of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// A node on the way of a path, with the key that it is the value of.
#[derive(Clone, Copy)]
pub(super) struct Step<'n> {
    pub(super) node: &'n Node,
    pub(super) key: Option<&'n Node>,
    /// Whether the key's mapping is written in flow style.
    pub(super) in_flow: bool,
}

/// Edits one document of a text.
///
/// Every method either makes its whole edit or changes nothing. After each edit the text is read
/// again: the document must have exactly the expected value, all other documents their bytes, and
/// outside of the lines that the edit names no byte differs.
///
/// What is kept: comments (also those above a removed key or item; only a comment on the removed
/// lines, or right below a removed collection and indented deeper than it, goes), order, quotes, indentation, the line breaks of
/// the neighbouring line, a byte order mark, a missing final line break, blank lines at the end.
///
/// What is refused: a document with a duplicate key, and places written with an anchor, alias, merge
/// key or tag.
///
/// ```
/// use gitops_windows::yaml::Editor;
///
/// let text = "resources: # all\n  - a # first\n  - b\n";
/// let mut editor = Editor::new(text, 0).unwrap();
/// editor.remove_item(&["resources".into()], 1).unwrap();
/// editor.append_item(&["resources".into()], "../c").unwrap();
/// editor.set_scalar(&["namespace".into()], "on").unwrap();
/// assert_eq!(editor.text(), "resources: # all\n  - a # first\n  - ../c\nnamespace: \"on\"\n");
/// ```
#[derive(Clone, Debug)]
pub struct Editor {
    text: String,
    index: usize,
    ignore_case: bool,
    documents: Vec<Document>,
}

impl Editor {
    /// Reads a text, to edit the document with the given number, counted from 0.
    ///
    /// A text without any document (empty, or comments only) counts as one empty document.
    ///
    /// # Errors
    ///
    /// When the text is not YAML, has no such document, or the document holds a key twice.
    pub fn new(text: &str, index: usize) -> Result<Editor, EditError> {
        let documents = read(text)?;
        let Some(document) = documents.get(index) else {
            return Err(EditError::new(format!(
                "the file has {} documents, not {}",
                documents.len(),
                index + 1
            )));
        };
        if let Some(duplicate) = document.duplicates.first() {
            let message = format!("the key `{}` stands twice", duplicate.key);
            return Err(EditError::at(message, duplicate.second.clone()));
        }
        Ok(Editor { text: text.to_owned(), index, ignore_case: false, documents })
    }

    /// Finds keys in any case, as kustomize does in `kustomization.yaml`.
    #[must_use]
    pub fn ignore_case(mut self) -> Editor {
        self.ignore_case = true;
        self
    }

    /// Gives the text as edited so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Gives the text as edited so far.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Gives the document's value as edited so far.
    pub fn root(&self) -> &Node {
        &self.document().root
    }

    /// Sets a scalar, or adds `key: value` at the end of its mapping, with the mappings above it
    /// where they are missing.
    ///
    /// A replaced scalar keeps its quotes where they can hold the new value, and its comment.
    ///
    /// # Errors
    ///
    /// When a collection stands there, or the path leads through something that holds no keys.
    pub fn set_scalar(&mut self, path: &[Key], value: impl Into<ScalarText>) -> Result<(), EditError> {
        let value = value.into();
        let (steps, json_path) = self.walk(path)?;
        let mut expected = self.root().to_json();
        set_at(&mut expected, &json_path, value.to_json())?;
        let rest = &path[steps.len() - 1..];
        let candidates = match (rest, steps.last()) {
            ([], Some(target)) => vec![self.replace_scalar(target, &value)?],
            (_, Some(target)) => {
                let mut names = names(rest)?;
                let last = names.pop().ok_or_else(|| EditError::new("the path is empty"))?;
                let style = self.style();
                let entry = names
                    .iter()
                    .rev()
                    .fold(NewEntry::scalar(last, &value.to_yaml()), |entry, name| entry.under(name, style));
                self.add_entry(target, &entry)?
            }
            (_, None) => return Err(EditError::new("the path is empty")),
        };
        self.commit_first(candidates, &expected)
    }

    /// Replaces a scalar item of a list, keeping its comment and, where safe, its quotes.
    ///
    /// # Errors
    ///
    /// When there is no such item, or it is no scalar.
    pub fn replace_item(
        &mut self,
        path: &[Key],
        index: usize,
        value: impl Into<ScalarText>,
    ) -> Result<(), EditError> {
        self.set_scalar(&item_path(path, index), value)
    }

    /// Removes a key with its value and the comment on its lines.
    ///
    /// Comments above it stay. Of a mapping's only key `{}` is left.
    ///
    /// # Errors
    ///
    /// When there is no such key.
    pub fn remove_key(&mut self, path: &[Key]) -> Result<(), EditError> {
        let (steps, json_path) = self.walk(path)?;
        let [.., mapping, target] = steps.as_slice() else {
            return Err(EditError::new("the path names no key"));
        };
        if steps.len() != path.len() + 1 || target.key.is_none() {
            return Err(EditError::new(format!("there is no key {}", show(path))));
        }
        let mut expected = self.root().to_json();
        remove_at(&mut expected, &json_path)?;
        let splices = self.cut_entry(mapping, target)?;
        self.commit(splices, &expected)
    }

    /// Removes one item of a list; see [`Editor::remove_items`].
    ///
    /// # Errors
    ///
    /// When there is no such item.
    pub fn remove_item(&mut self, path: &[Key], index: usize) -> Result<(), EditError> {
        self.remove_items(path, &[index])
    }

    /// Removes items of a list with their whole lines.
    ///
    /// The comments of other items and those on lines of their own stay. Of a list whose last item
    /// goes `[]` is left.
    ///
    /// # Errors
    ///
    /// When the path leads to no list, or an item is not there.
    pub fn remove_items(&mut self, path: &[Key], indices: &[usize]) -> Result<(), EditError> {
        let mut indices = indices.to_vec();
        indices.sort_unstable();
        indices.dedup();
        let before = self.clone();
        let result = self.remove_sorted(path, &indices);
        if result.is_err() {
            *self = before;
        }
        result
    }

    fn remove_sorted(&mut self, path: &[Key], indices: &[usize]) -> Result<(), EditError> {
        let flow = self.list(path)?.node.flow;
        if flow {
            return indices.iter().rev().try_for_each(|index| self.remove_lines(path, &[*index]));
        }
        self.remove_lines(path, indices)
    }

    fn remove_lines(&mut self, path: &[Key], indices: &[usize]) -> Result<(), EditError> {
        if indices.is_empty() {
            return Ok(());
        }
        let list = self.list(path)?;
        let mut expected = self.root().to_json();
        for index in indices.iter().rev() {
            let (_, json_path) = self.walk(&item_path(path, *index))?;
            remove_at(&mut expected, &json_path)?;
        }
        let splices = self.cut_items(&list, indices)?;
        self.commit(splices, &expected)
    }

    /// Adds a scalar as the last item of a list.
    ///
    /// The list is made where the key is missing, null or `[]`.
    ///
    /// # Errors
    ///
    /// When something else than a list stands there.
    pub fn append_item(&mut self, path: &[Key], value: impl Into<ScalarText>) -> Result<(), EditError> {
        let value = value.into();
        let item = NewItem { content: vec![value.to_yaml()], flow: value.to_yaml() };
        self.append(path, &item, value.to_json())
    }

    /// Adds an item given as YAML lines, indented to fit; in a list in flow style as flow text.
    ///
    /// The lines may be indented as a whole; comments in them are kept in block style.
    ///
    /// # Errors
    ///
    /// When the lines are not YAML of one document, or something else than a list stands there.
    pub fn append_raw_item(&mut self, path: &[Key], block: &str) -> Result<(), EditError> {
        let content = dedent(block);
        let documents = read_documents(&format!("{}\n", content.join("\n")))?;
        let [document] = documents.as_slice() else {
            return Err(EditError::new("the new item is not one YAML value"));
        };
        let value = document.root.to_json();
        let item = NewItem { content, flow: super::flow_text(&value) };
        self.append(path, &item, value)
    }

    fn append(&mut self, path: &[Key], item: &NewItem, value: Value) -> Result<(), EditError> {
        let (steps, json_path) = self.walk(path)?;
        let mut expected = self.root().to_json();
        push_at(&mut expected, &json_path, value)?;
        let rest = &path[steps.len() - 1..];
        let candidates = match (rest, steps.last()) {
            ([], Some(target)) => vec![self.add_item(target, item)?],
            (_, Some(target)) => {
                let mut names = names(rest)?;
                let last = names.pop().ok_or_else(|| EditError::new("the path is empty"))?;
                let style = self.style();
                let entry = names
                    .iter()
                    .rev()
                    .fold(NewEntry::list(last, item, style), |entry, name| entry.under(name, style));
                self.add_entry(target, &entry)?
            }
            (_, None) => return Err(EditError::new("the path is empty")),
        };
        self.commit_first(candidates, &expected)
    }

    /// Gives a key another name, in its place.
    ///
    /// # Errors
    ///
    /// When there is no such key, or the new name is taken.
    pub fn rename_key(&mut self, path: &[Key], name: &str) -> Result<(), EditError> {
        let (steps, json_path) = self.walk(path)?;
        let Some(Step { key: Some(key), .. }) = steps.last().filter(|_| steps.len() == path.len() + 1) else {
            return Err(EditError::new(format!("there is no key {}", show(path))));
        };
        if key.has_reference() || key.scalar_text().is_none() {
            return Err(EditError::at("the key is not a plain name", key.span.clone()));
        }
        let mut expected = self.root().to_json();
        let value = remove_at(&mut expected, &json_path)?;
        let mut renamed = json_path;
        renamed.pop();
        renamed.push(Key::from(name));
        if get_at(&expected, &renamed).is_some() {
            return Err(EditError::at(format!("the key `{name}` is taken"), key.span.clone()));
        }
        set_at(&mut expected, &renamed, value)?;
        let splice = Splice { range: key.span.clone(), text: super::quote(name) };
        self.commit(vec![splice], &expected)
    }

    fn document(&self) -> &Document {
        // `new` and `commit` keep the index within the list.
        &self.documents[self.index]
    }

    fn style(&self) -> Style {
        Style::of(&self.text, self.root())
    }

    fn list(&self, path: &[Key]) -> Result<Step<'_>, EditError> {
        let (steps, _) = self.walk(path)?;
        match steps.last() {
            Some(step)
                if steps.len() == path.len() + 1 && matches!(step.node.kind, NodeKind::Sequence(_)) =>
            {
                Ok(*step)
            }
            Some(step) => Err(EditError::at(format!("{} is no list", show(path)), step.node.span.clone())),
            None => Err(EditError::new("the path is empty")),
        }
    }

    /// Follows a path as far as it exists. The second value is the path with keys as they are spelt.
    fn walk(&self, path: &[Key]) -> Result<(Vec<Step<'_>>, Vec<Key>), EditError> {
        let mut steps = vec![Step { node: self.root(), key: None, in_flow: false }];
        let mut spelt = path.to_vec();
        let mut node = self.root();
        for (depth, key) in path.iter().enumerate() {
            let step = match (&node.kind, key) {
                (NodeKind::Alias { .. }, _) => {
                    return Err(EditError::at(
                        "an alias stands here, so that the edit would reach other places too",
                        node.span.clone(),
                    ));
                }
                (NodeKind::Sequence(items), Key::Index(index)) => match items.get(*index) {
                    Some(item) => Step { node: item, key: None, in_flow: node.flow },
                    None => {
                        let message = format!("the list has {} items, not {}", items.len(), index + 1);
                        return Err(EditError::at(message, node.span.clone()));
                    }
                },
                (NodeKind::Mapping(entries), Key::Name(name)) => match self.entry(entries, name)? {
                    Some((key, value)) => {
                        spelt[depth] = Key::Name(key.key_text(Schema::Manifest));
                        Step { node: value, key: Some(key), in_flow: node.flow }
                    }
                    None => break,
                },
                (NodeKind::Null, Key::Name(_)) => break,
                _ => {
                    let message = format!("{} leads nowhere", show(&path[..=depth]));
                    return Err(EditError::at(message, node.span.clone()));
                }
            };
            node = step.node;
            steps.push(step);
        }
        Ok((steps, spelt))
    }

    fn entry<'n>(
        &self,
        entries: &'n [(Node, Node)],
        name: &str,
    ) -> Result<Option<(&'n Node, &'n Node)>, EditError> {
        let exact = entries.iter().find(|(key, _)| !key.is_merge() && key.key_text(Schema::Manifest) == name);
        if !self.ignore_case {
            return Ok(exact.map(|(key, value)| (key, value)));
        }
        let mut alike =
            entries.iter().filter(|(key, _)| key.key_text(Schema::Manifest).eq_ignore_ascii_case(name));
        let first = alike.next();
        if let Some((second, _)) = alike.next() {
            return Err(EditError::at(
                format!("the key `{name}` stands twice, in different case"),
                second.span.clone(),
            ));
        }
        Ok(first.map(|(key, value)| (key, value)))
    }

    /// Tries ways to make an edit and keeps the first whose result reads right.
    fn commit_first(&mut self, candidates: Vec<Vec<Splice>>, expected: &Value) -> Result<(), EditError> {
        let mut error = EditError::new("no place for it was found");
        for splices in candidates {
            match self.commit(splices, expected) {
                Ok(()) => return Ok(()),
                Err(reason) => error = reason,
            }
        }
        Err(error)
    }

    fn commit(&mut self, mut splices: Vec<Splice>, expected: &Value) -> Result<(), EditError> {
        splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
        let mut text = String::with_capacity(self.text.len() + 64);
        let mut at = 0;
        for splice in &splices {
            let Some(kept) = self.text.get(at..splice.range.start) else {
                return Err(EditError::new("the places to change overlap"));
            };
            text.push_str(kept);
            text.push_str(&splice.text);
            at = splice.range.end;
        }
        text.push_str(self.text.get(at..).unwrap_or_default());
        let touched = splices.first().map(|splice| splice.range.clone());
        let documents = read(&text).map_err(|error| EditError {
            message: format!("the result would be {}", error.message),
            span: touched.clone(),
        })?;
        let same_others = documents.len() == self.documents.len()
            && documents.iter().zip(&self.documents).enumerate().all(|(index, (after, before))| {
                index == self.index || text[after.whole.clone()] == self.text[before.whole.clone()]
            });
        let document = documents.get(self.index);
        let right = document
            .is_some_and(|document| document.duplicates.is_empty() && document.root.to_json() == *expected);
        if !same_others || !right {
            return Err(EditError {
                message: "the file would read differently elsewhere than at the place of the edit".to_owned(),
                span: touched,
            });
        }
        self.text = text;
        self.documents = documents;
        Ok(())
    }
}

/// Reads a text; one without any document counts as one empty document.
fn read(text: &str) -> Result<Vec<Document>, EditError> {
    let mut documents = read_documents(text)?;
    if documents.is_empty() {
        let start = lines::without_bom(text, 0);
        documents.push(Document {
            root: empty_node(text.len()),
            span: start..text.len(),
            whole: 0..text.len(),
            explicit: false,
            ended: false,
            duplicates: Vec::new(),
        });
    }
    Ok(documents)
}

fn item_path(path: &[Key], index: usize) -> Vec<Key> {
    path.iter().cloned().chain([Key::Index(index)]).collect()
}

fn names(path: &[Key]) -> Result<Vec<&str>, EditError> {
    path.iter()
        .map(|key| match key {
            Key::Name(name) => Ok(name.as_str()),
            Key::Index(index) => Err(EditError::new(format!("there is no list with an item {}", index + 1))),
        })
        .collect()
}

fn show(path: &[Key]) -> String {
    let keys: Vec<String> = path
        .iter()
        .map(|key| match key {
            Key::Name(name) => name.clone(),
            Key::Index(index) => index.to_string(),
        })
        .collect();
    format!("`{}`", keys.join("."))
}
