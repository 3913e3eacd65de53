//! Paths into a document and how they are followed.

use super::{EditError, Editor};
use crate::yaml::node::{Node, NodeKind};
use crate::yaml::resolve::Schema;

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

/// A node on the way of a path, with the key that it is the value of.
#[derive(Clone, Copy)]
pub(super) struct Step<'n> {
    pub(super) node: &'n Node,
    pub(super) key: Option<&'n Node>,
    /// Whether the key's mapping is written in flow style.
    pub(super) in_flow: bool,
}

impl Editor {
    /// Follows a path as far as it exists. The second value is the path with keys as they are spelt.
    pub(super) fn walk(&self, path: &[Key]) -> Result<(Vec<Step<'_>>, Vec<Key>), EditError> {
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

    /// Returns the list at a path.
    pub(super) fn list(&self, path: &[Key]) -> Result<Step<'_>, EditError> {
        let (steps, _) = self.walk(path)?;
        match steps.last() {
            Some(step)
                if steps.len() == path.len() + 1 && matches!(step.node.kind, NodeKind::Sequence(_)) =>
            {
                Ok(*step)
            }
            _ if steps.len() != path.len() + 1 => Err(self.absent(path)),
            Some(step) => Err(EditError::at(format!("{} is no list", show(path)), step.node.span.clone())),
            None => Err(EditError::new("the path is empty")),
        }
    }
}

pub(super) fn item_path(path: &[Key], index: usize) -> Vec<Key> {
    path.iter().cloned().chain([Key::Index(index)]).collect()
}

pub(super) fn names(path: &[Key]) -> Result<Vec<&str>, EditError> {
    path.iter()
        .map(|key| match key {
            Key::Name(name) => Ok(name.as_str()),
            Key::Index(index) => Err(EditError::new(format!("there is no list with an item {}", index + 1))),
        })
        .collect()
}

pub(super) fn show(path: &[Key]) -> String {
    let keys: Vec<String> = path
        .iter()
        .map(|key| match key {
            Key::Name(name) => name.clone(),
            Key::Index(index) => index.to_string(),
        })
        .collect();
    format!("`{}`", keys.join("."))
}
