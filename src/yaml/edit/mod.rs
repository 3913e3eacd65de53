//! Byte-exact edits of one document, each verified by reading the result again.

mod error;
mod expected;
mod insert;
mod path;
mod reference;
mod remove;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde_json::Value;

pub use self::error::EditError;
use self::expected::{get_at, push_at, remove_at, set_at};
pub use self::path::Key;
use self::path::{Step, item_path, names, show};

use super::block::{NewEntry, NewItems, Style, dedent};
use super::lines;
use super::node::{Document, Node};
use super::quote;
use super::read::{empty_node, read_documents};
use super::scalar::ScalarText;

/// A replacement of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Splice {
    pub(super) range: Range<usize>,
    pub(super) text: String,
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
/// key or tag; [`Editor::resolving`] edits most of those too. The span of a refusal is one of the text
/// that the editor was made with, whatever was edited before.
///
/// ```
/// use gitops_windows::yaml::Editor;
///
/// let text = "resources: # all\n  - a # first\n  - b\n";
/// let mut editor = Editor::new(text, 0).unwrap();
/// editor.remove_items(&["resources".into()], &[1]).unwrap();
/// editor.append_item(&["resources".into()], "../c").unwrap();
/// editor.set_scalar(&["namespace".into()], "on").unwrap();
/// assert_eq!(editor.text(), "resources: # all\n  - a # first\n  - ../c\nnamespace: \"on\"\n");
/// ```
#[derive(Clone, Debug)]
pub struct Editor {
    text: String,
    index: usize,
    ignore_case: bool,
    resolving: bool,
    documents: Vec<Document>,
    /// What was replaced so far, edit by edit, in the order of the text.
    history: Vec<Vec<Splice>>,
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
        Ok(Editor {
            text: text.to_owned(),
            index,
            ignore_case: false,
            resolving: false,
            documents,
            history: Vec::new(),
        })
    }

    /// Finds keys in any case, as kustomize does in `kustomization.yaml`.
    #[must_use]
    pub fn ignore_case(mut self) -> Editor {
        self.ignore_case = true;
        self
    }

    /// Edits places with anchors and aliases too: before a value changes or goes, what depends on it
    /// is written out in the place of each alias, and its anchor goes.
    ///
    /// Aliases of scalars and of lists and mappings on one line, `[…]` or `{…}`, can be written out; an
    /// edit that one of several lines is in the way of is refused, and names that alias.
    ///
    /// ```
    /// use gitops_windows::yaml::Editor;
    ///
    /// let text = "name: &app web # the app\nlabels: { app: *app }\n";
    /// let mut editor = Editor::new(text, 0).unwrap().resolving();
    /// editor.set_scalar(&["name".into()], "web-rt").unwrap();
    /// assert_eq!(editor.text(), "name: web-rt # the app\nlabels: { app: web }\n");
    /// ```
    #[must_use]
    pub fn resolving(mut self) -> Editor {
        self.resolving = true;
        self
    }

    /// Returns the text as edited so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text as edited so far.
    pub fn into_text(self) -> String {
        self.text
    }

    /// Returns the document's value as edited so far.
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
        self.attempt(|editor| {
            let parent = path.split_last().map_or(path, |(_, parent)| parent);
            editor.release(parent, &[path.to_vec()])?;
            editor.set(path, &value)
        })
    }

    fn set(&mut self, path: &[Key], value: &ScalarText) -> Result<(), EditError> {
        let (steps, json_path) = self.walk(path)?;
        if let Some(error) = path.split_last().and_then(|(_, parent)| self.merged(parent)) {
            return Err(error);
        }
        let mut expected = self.root().to_json();
        set_at(&mut expected, &json_path, value.to_json())?;
        let rest = &path[steps.len() - 1..];
        let candidates = match (rest, steps.last()) {
            ([], Some(target)) => vec![self.replace_scalar(target, value)?],
            (_, Some(target)) => {
                self.add_below(target, rest, &|name, _| NewEntry::scalar(name, &value.to_yaml()))?
            }
            (_, None) => return Err(EditError::new("the path is empty")),
        };
        self.commit_first(candidates, &expected)
    }

    /// Replaces scalar items of a list, all in one edit, keeping their comments and, where safe, their quotes.
    ///
    /// # Errors
    ///
    /// When there is no such item, or one is no scalar.
    pub fn replace_items(&mut self, path: &[Key], values: &[(usize, ScalarText)]) -> Result<(), EditError> {
        let places: Vec<Vec<Key>> = values.iter().map(|(index, _)| item_path(path, *index)).collect();
        if places.is_empty() {
            return Ok(());
        }
        self.attempt(|editor| {
            editor.release(path, &places)?;
            if let Some(error) = editor.merged(path) {
                return Err(error);
            }
            let mut expected = editor.root().to_json();
            let mut splices = Vec::new();
            for (place, (_, value)) in places.iter().zip(values) {
                let (steps, json_path) = editor.walk(place)?;
                let item = steps.last().filter(|_| steps.len() == place.len() + 1);
                let item = item.ok_or_else(|| editor.absent(place))?;
                set_at(&mut expected, &json_path, value.to_json())?;
                splices.extend(editor.replace_scalar(item, value)?);
            }
            editor.commit(splices, &expected)
        })
    }

    /// Removes a key with its value and the comment on its lines.
    ///
    /// Comments above it stay. Of a mapping's only key `{}` is left.
    ///
    /// # Errors
    ///
    /// When there is no such key.
    pub fn remove_key(&mut self, path: &[Key]) -> Result<(), EditError> {
        self.attempt(|editor| {
            let parent = path.split_last().map_or(path, |(_, parent)| parent);
            editor.release(parent, &[path.to_vec()])?;
            editor.remove(path)
        })
    }

    fn remove(&mut self, path: &[Key]) -> Result<(), EditError> {
        let (steps, json_path) = self.walk(path)?;
        if steps.len() != path.len() + 1 {
            return Err(self.absent(path));
        }
        let [.., mapping, target] = steps.as_slice() else {
            return Err(EditError::new("the path names no key"));
        };
        if target.key.is_none() {
            return Err(EditError::new(format!("there is no key {}", show(path))));
        }
        let mut expected = self.root().to_json();
        remove_at(&mut expected, &json_path)?;
        let splices = self.cut_entry(mapping, target)?;
        self.commit(splices, &expected)
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
        self.attempt(|editor| {
            let gone: Vec<Vec<Key>> = indices.iter().map(|index| item_path(path, *index)).collect();
            editor.release(path, &gone)?;
            editor.remove_sorted(path, &indices)
        })
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

    /// Replaces all items of a block list from a position on by text, each on a line of its own.
    ///
    /// # Errors
    ///
    /// When the path leads to no block list, nothing stands at the position, or a comment stands among what is replaced.
    pub fn replace_rest(&mut self, path: &[Key], from: usize, values: &[String]) -> Result<(), EditError> {
        let (_, json_path) = self.walk(path)?;
        let node = self.list(path)?.node;
        self.refuse_reference(node)?;
        let items = node.items();
        let (Some(first), Some(last), false) =
            (items.get(from), items.last(), node.flow || values.is_empty())
        else {
            return Err(EditError::at("no list of lines stands here", node.span.clone()));
        };
        let Some(dash) = first.dash() else { return Err(EditError::at("no dash", first.span.clone())) };
        for pair in items[from..].windows(2) {
            let between = pair[0].span.end..pair[1].dash().unwrap_or(pair[1].start);
            if self.text[between.clone()].contains('#') {
                return Err(EditError::at("a comment stands among what is replaced", between));
            }
        }
        let indent = " ".repeat(self.column(dash)?);
        let next =
            format!("{}{indent}{}", lines::line_break_near(&self.text, dash), &self.text[dash..first.start]);
        let text = values.iter().map(|value| quote(value)).collect::<Vec<_>>().join(&next);
        let splice = Splice { range: first.start..last.span.end, text };
        let mut expected = self.root().to_json();
        let mut list = get_at(&expected, &json_path).and_then(Value::as_array).cloned().unwrap_or_default();
        list.truncate(from);
        list.extend(values.iter().map(|value| Value::from(value.as_str())));
        set_at(&mut expected, &json_path, list.into())?;
        self.commit(vec![splice], &expected)
    }

    /// Adds a scalar as the last item of a list.
    ///
    /// The list is made where the key is missing, null or `[]`.
    ///
    /// # Errors
    ///
    /// When something else than a list stands there.
    pub fn append_item(&mut self, path: &[Key], value: impl Into<ScalarText>) -> Result<(), EditError> {
        self.append_items(path, vec![value.into()])
    }

    /// Adds scalars behind the last item of a list, all in one edit; see [`Editor::append_item`].
    ///
    /// # Errors
    ///
    /// When something else than a list stands there.
    pub fn append_items(&mut self, path: &[Key], values: Vec<ScalarText>) -> Result<(), EditError> {
        let texts: Vec<String> = values.iter().map(ScalarText::to_yaml).collect();
        if texts.is_empty() {
            return Ok(());
        }
        let flow = texts.join(", ");
        let items = NewItems { contents: texts.into_iter().map(|text| vec![text]).collect(), flow };
        self.append(path, &items, values.iter().map(ScalarText::to_json).collect())
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
        let items = NewItems { contents: vec![content], flow: super::flow_text(&value) };
        self.append(path, &items, vec![value])
    }

    fn append(&mut self, path: &[Key], items: &NewItems, values: Vec<Value>) -> Result<(), EditError> {
        self.attempt(|editor| {
            editor.release(path, &[])?;
            editor.add(path, items, values)
        })
    }

    fn add(&mut self, path: &[Key], items: &NewItems, values: Vec<Value>) -> Result<(), EditError> {
        let (steps, json_path) = self.walk(path)?;
        if let Some(error) = self.merged(path) {
            return Err(error);
        }
        let mut expected = self.root().to_json();
        for value in values {
            push_at(&mut expected, &json_path, value)?;
        }
        let rest = &path[steps.len() - 1..];
        let candidates = match (rest, steps.last()) {
            ([], Some(target)) => vec![self.add_items(target, items)?],
            (_, Some(target)) => {
                self.add_below(target, rest, &|name, style| NewEntry::list(name, items, style))?
            }
            (_, None) => return Err(EditError::new("the path is empty")),
        };
        self.commit_first(candidates, &expected)
    }

    /// Puts an entry below a mapping that lacks these keys, the last of which is its own.
    fn add_below(
        &self,
        target: &Step<'_>,
        keys: &[Key],
        entry: &dyn Fn(&str, Style) -> NewEntry,
    ) -> Result<Vec<Vec<Splice>>, EditError> {
        let mut names = names(keys)?;
        let last = names.pop().ok_or_else(|| EditError::new("the path is empty"))?;
        let style = self.style();
        let entry = names.iter().rev().fold(entry(last, style), |entry, name| entry.under(name, style));
        self.add_entry(target, &entry)
    }

    /// Returns a key another name, in its place.
    ///
    /// # Errors
    ///
    /// When there is no such key, or the new name is taken.
    pub fn rename_key(&mut self, path: &[Key], name: &str) -> Result<(), EditError> {
        self.attempt(|editor| editor.rename(path, name))
    }

    fn rename(&mut self, path: &[Key], name: &str) -> Result<(), EditError> {
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
        let splice = Splice { range: key.span.clone(), text: quote(name) };
        self.commit(vec![splice], &expected)
    }

    /// Makes a whole edit or changes nothing; a refusal points into the text of the beginning.
    fn attempt(&mut self, edit: impl FnOnce(&mut Editor) -> Result<(), EditError>) -> Result<(), EditError> {
        let before = self.clone();
        edit(self).map_err(|mut error| {
            error.span = error.span.map(|span| self.origin(span));
            *self = before;
            error
        })
    }

    /// Returns the bytes of the text of the beginning that became these.
    fn origin(&self, span: Range<usize>) -> Range<usize> {
        let back = |at: usize| self.history.iter().rev().fold(at, |at, splices| before(splices, at));
        let start = back(span.start);
        start..back(span.end).max(start)
    }

    fn document(&self) -> &Document {
        // `new` and `commit` keep the index within the list.
        &self.documents[self.index]
    }

    fn style(&self) -> Style {
        Style::of(&self.text, self.root())
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
        if let Some(splice) =
            splices.iter().find(|splice| lines::tab_line_follows(&self.text, splice.range.end))
        {
            let message = "a blank line with a tab follows, which Go's YAML reader takes only sometimes";
            return Err(EditError::at(message, lines::char_at(&self.text, splice.range.end)));
        }
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
        self.history.push(splices);
        Ok(())
    }
}

/// Returns where a place of a text was before these replacements, which are in order; where what stands
/// there is new, where that begins.
fn before(splices: &[Splice], at: usize) -> usize {
    let (mut old, mut new) = (0, 0);
    for Splice { range, text } in splices {
        let kept = range.start - old;
        if at < new + kept {
            break;
        }
        if at < new + kept + text.len() {
            return range.start;
        }
        new += kept + text.len();
        old = range.end;
    }
    old + (at - new)
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
