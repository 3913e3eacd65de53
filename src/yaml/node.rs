//! A YAML value with the bytes that stand for it.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::resolve::{Schema, plain_value};

/// How a scalar is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarStyle {
    /// Without quotes.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

/// What a [`Node`] is.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// Nothing written, or a plain `null`, `~`, `Null` or `NULL`.
    Null,
    /// A scalar: text, number or boolean.
    Scalar {
        /// The text after escapes and folding.
        value: String,
        /// How it is written.
        style: ScalarStyle,
    },
    /// Keys and values in the order of the file, duplicates and `<<` included.
    Mapping(Vec<(Node, Node)>),
    /// Items in the order of the file.
    Sequence(Vec<Node>),
    /// `*name`, with the node that it stands for.
    Alias {
        /// The name without `*`.
        name: Box<str>,
        /// The anchored node.
        target: Arc<Node>,
    },
}

/// A YAML value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub kind: NodeKind,
    /// Bytes of the value itself, without anchor and tag and without the line break after it.
    ///
    /// A block collection goes from its first key or dash to the end of its last value; a flow
    /// collection includes its brackets; a block scalar goes from its `|` or `>` to the end of its
    /// last line. Empty where nothing is written.
    pub span: Range<usize>,
    /// Where the node begins with its anchor and tag; `span.start` if it has none.
    pub start: usize,
    /// Whether a collection is written in flow style, `[…]` or `{…}`.
    pub flow: bool,
    /// The offset of the dash before an item of a block sequence; no file is so large that it would not fit.
    pub(super) at_dash: Option<u32>,
    /// What few nodes have.
    pub(super) marks: Option<Box<Marks>>,
}

/// What stands before a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Marks {
    pub(super) anchor: Option<String>,
    pub(super) tag: Option<String>,
}

/// A key that a mapping holds twice, of which Go's readers silently take the last or stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateKey {
    /// The key.
    pub key: String,
    /// Bytes of its first appearance.
    pub first: Range<usize>,
    /// Bytes of the repetition.
    pub second: Range<usize>,
}

/// One document of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The value; [`NodeKind::Null`] for an empty or comment-only document.
    pub root: Node,
    /// Bytes of the content: from after the `---` line (or after `---` where content follows on
    /// that line, or from the file's start) up to the next separator, comments included.
    pub span: Range<usize>,
    /// Bytes of the document with its directives and `---` line before and `...` line after it.
    /// The `whole` of all documents, one after the other, are the file.
    pub whole: Range<usize>,
    /// Whether the document begins with `---`.
    pub explicit: bool,
    /// Whether the document ends with a `...` line.
    pub ended: bool,
    /// Keys that stand twice in one mapping, compared exactly.
    pub duplicates: Vec<DuplicateKey>,
}

impl Document {
    /// Returns whether the document holds no value at all, so that kustomize skips it.
    pub fn is_empty(&self) -> bool {
        self.root.is_null()
    }
}

impl Node {
    /// Returns the value of a text that has none.
    pub fn nothing() -> Node {
        Node { kind: NodeKind::Null, span: 0..0, start: 0, flow: false, at_dash: None, marks: None }
    }

    /// Returns the anchor's name without `&`.
    pub fn anchor(&self) -> Option<&str> {
        self.marks.as_ref()?.anchor.as_deref()
    }

    /// Returns the tag, resolved, such as `tag:yaml.org,2002:str` or `!local`.
    pub fn tag(&self) -> Option<&str> {
        self.marks.as_ref()?.tag.as_deref()
    }

    /// Returns the offset of the dash before an item of a block sequence.
    pub fn dash(&self) -> Option<usize> {
        self.at_dash.map(|at| at as usize)
    }

    /// Follows aliases to the node that is meant.
    pub fn resolved(&self) -> &Node {
        let mut node = self;
        while let NodeKind::Alias { target, .. } = &node.kind {
            node = target;
        }
        node
    }

    /// Returns whether the value is null.
    pub fn is_null(&self) -> bool {
        matches!(self.resolved().kind, NodeKind::Null)
    }

    /// Returns the text of a scalar that Go's reader of manifests takes for a string.
    ///
    /// `None` for a number, boolean or null that is written without quotes.
    pub fn as_str(&self) -> Option<&str> {
        let node = self.resolved();
        match (&node.kind, node.scalar_value(Schema::Manifest)) {
            (NodeKind::Scalar { value, .. }, Value::String(_)) => Some(value),
            _ => None,
        }
    }

    /// Returns the text of any scalar as it is written, after escapes; `None` for null.
    pub fn scalar_text(&self) -> Option<&str> {
        match &self.resolved().kind {
            NodeKind::Scalar { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Returns a sequence's items; `None` for everything else, null included.
    pub fn as_sequence(&self) -> Option<&[Node]> {
        match &self.resolved().kind {
            NodeKind::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// Returns a mapping's own entries, without those that `<<` brings in.
    pub fn as_mapping(&self) -> Option<&[(Node, Node)]> {
        match &self.resolved().kind {
            NodeKind::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// Returns a mapping's items; nothing for everything else.
    pub fn items(&self) -> &[Node] {
        self.as_sequence().unwrap_or_default()
    }

    /// Returns a mapping's own entries; nothing for everything else.
    pub fn entries(&self) -> &[(Node, Node)] {
        self.as_mapping().unwrap_or_default()
    }

    /// Returns the value of a key; of one that stands twice the last, as kustomize does. A key that is
    /// not there is looked up in what `<<` merges.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.find(&|name| name == key)
    }

    /// Returns the value of a key in any case, as kustomize reads `kustomization.yaml`.
    ///
    /// The exact spelling goes first.
    pub fn get_ignore_case(&self, key: &str) -> Option<&Node> {
        self.get(key).or_else(|| self.find(&|name| name.eq_ignore_ascii_case(key)))
    }

    /// Returns the value under a path of keys.
    pub fn get_path(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    fn find(&self, matches: &dyn Fn(&str) -> bool) -> Option<&Node> {
        let entries = self.as_mapping()?;
        let own = entries.iter().rev().find(|(name, _)| name.scalar_text().is_some_and(matches));
        if let Some((_, value)) = own {
            return Some(value);
        }
        entries.iter().filter(|(name, _)| name.is_merge()).find_map(|(_, value)| match value.as_sequence() {
            Some(items) => items.iter().find_map(|item| item.find(matches)),
            None => value.find(matches),
        })
    }

    /// Returns whether this is the merge key `<<`.
    pub(crate) fn is_merge(&self) -> bool {
        matches!(&self.kind, NodeKind::Scalar { value, style: ScalarStyle::Plain } if value == "<<" && self.tag().is_none())
            || self.tag() == Some("tag:yaml.org,2002:merge")
    }

    /// Returns whether the node or anything in it has an anchor, alias, tag or merge key.
    pub(crate) fn has_reference(&self) -> bool {
        if self.marks.is_some() {
            return true;
        }
        match &self.kind {
            NodeKind::Alias { .. } => true,
            NodeKind::Sequence(items) => items.iter().any(Node::has_reference),
            NodeKind::Mapping(entries) => entries
                .iter()
                .any(|(key, value)| key.is_merge() || key.has_reference() || value.has_reference()),
            NodeKind::Null | NodeKind::Scalar { .. } => false,
        }
    }

    /// Returns the text of a scalar without quotes and tag.
    pub(crate) fn as_plain(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::Scalar { value, style: ScalarStyle::Plain } if self.tag().is_none() => Some(value),
            _ => None,
        }
    }

    /// Returns whether the node or anything written in it has a tag.
    pub(crate) fn has_tag(&self) -> bool {
        self.tag().is_some() || self.parts().any(Node::has_tag)
    }

    /// Returns what is written in a collection: its keys, values and items, aliases not followed.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Node> {
        let (entries, items): (&[(Node, Node)], &[Node]) = match &self.kind {
            NodeKind::Mapping(entries) => (entries, &[]),
            NodeKind::Sequence(items) => (&[], items),
            _ => (&[], &[]),
        };
        entries.iter().flat_map(|(key, value)| [key, value]).chain(items)
    }

    /// Returns the value as kustomize's reader of manifests has it: aliases and `<<` resolved, of
    /// duplicate keys the last, keys as text.
    pub fn to_json(&self) -> Value {
        self.to_json_as(Schema::Manifest)
    }

    /// Returns the value as one of Go's two readers has it.
    pub fn to_json_as(&self, schema: Schema) -> Value {
        let node = self.resolved();
        match &node.kind {
            NodeKind::Sequence(items) => items.iter().map(|item| item.to_json_as(schema)).collect(),
            NodeKind::Mapping(_) => {
                let mut map = Map::new();
                node.merge_into(&mut map, schema);
                Value::Object(map)
            }
            _ => node.scalar_value(schema),
        }
    }

    fn merge_into(&self, map: &mut Map<String, Value>, schema: Schema) {
        let entries = self.entries();
        for (_, value) in entries.iter().filter(|(key, _)| key.is_merge()) {
            match value.as_sequence() {
                // Of several merged mappings the first wins, so it is written last.
                Some(items) => items.iter().rev().for_each(|item| item.merge_into(map, schema)),
                None => value.merge_into(map, schema),
            }
        }
        for (key, value) in entries.iter().filter(|(key, _)| !key.is_merge()) {
            map.insert(key.key_text(schema), value.to_json_as(schema));
        }
    }

    /// Returns the text that a key has in JSON.
    pub(crate) fn key_text(&self, schema: Schema) -> String {
        match self.to_json_as(schema) {
            Value::String(text) => text,
            Value::Number(number) if number.is_f64() => {
                // Go writes 1.0 as 1, Rust does in this form.
                number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string())
            }
            other => other.to_string(),
        }
    }

    fn scalar_value(&self, schema: Schema) -> Value {
        let NodeKind::Scalar { value, style } = &self.kind else { return Value::Null };
        match self.tag() {
            None if *style == ScalarStyle::Plain => plain_value(value, schema),
            None | Some("tag:yaml.org,2002:str" | "!") => Value::String(value.clone()),
            Some("tag:yaml.org,2002:float") => match plain_value(value, schema) {
                Value::Number(number) => {
                    number.as_f64().and_then(serde_json::Number::from_f64).map_or(Value::Null, Value::Number)
                }
                other => other,
            },
            Some("tag:yaml.org,2002:int" | "tag:yaml.org,2002:bool" | "tag:yaml.org,2002:null") => {
                plain_value(value, schema)
            }
            Some(_) => Value::String(value.clone()),
        }
    }
}
