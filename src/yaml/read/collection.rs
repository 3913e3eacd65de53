//! Lists and mappings, from their beginning to their end.

use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Span, StructureStyle};

use super::reader::{Reader, at, tag_text, tagged};
use super::{ReadError, empty_node};
use crate::yaml::lines;
use crate::yaml::node::{DuplicateKey, Node, NodeKind};
use crate::yaml::resolve::Schema;

/// A collection that is being read.
pub(super) struct Frame {
    pub(super) node: Node,
    pub(super) anchor_id: usize,
    pub(super) items: Vec<Node>,
    pub(super) mapping: bool,
    pub(super) weight: usize,
    pub(super) depth: usize,
}

impl Reader<'_> {
    /// Begins a list or mapping; what comes next is in it.
    pub(super) fn open(
        &mut self,
        mapping: bool,
        style: StructureStyle,
        anchor_id: usize,
        tag: Option<&granit_parser::Tag>,
        span: Span,
    ) {
        let bytes = self.range(span);
        let dash = self.dash();
        let node = Node {
            kind: if mapping { NodeKind::Mapping(Vec::new()) } else { NodeKind::Sequence(Vec::new()) },
            start: self.tag_start(span).unwrap_or(bytes.start).min(bytes.start),
            span: bytes,
            flow: style == StructureStyle::Flow,
            at_dash: at(dash),
            marks: tagged(tag.map(tag_text)),
        };
        self.frames.push(Frame { node, anchor_id, items: Vec::new(), mapping, weight: 1, depth: 1 });
    }

    /// Ends the innermost list or mapping and puts it in its place.
    pub(super) fn close(&mut self, end: &Range<usize>) -> Result<(), ReadError> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        let Frame { mut node, anchor_id, mut items, mapping, weight, depth } = frame;
        let properties = node.start < node.span.start || node.marks.is_some();
        let bracketed = node.flow && self.text[node.span.start..].starts_with(['[', '{']);
        if bracketed {
            node.span.end = end.end;
        } else if let (Some(first), Some(last)) = (items.first(), items.last()) {
            node.span = first.dash().unwrap_or(first.start)..last.span.end;
        }
        if !properties {
            node.start = node.span.start;
        }
        node.kind = if mapping {
            let entries = self.entries(items, &node.span)?;
            if !bracketed && let Some((_, value)) = entries.last() {
                node.span.end = node.span.end.max(value.span.end);
            }
            NodeKind::Mapping(entries)
        } else {
            items.shrink_to_fit();
            NodeKind::Sequence(items)
        };
        self.attach(node, anchor_id, weight, depth)
    }

    /// Pairs keys with values and notes keys that stand twice.
    fn entries(&mut self, items: Vec<Node>, span: &Range<usize>) -> Result<Vec<(Node, Node)>, ReadError> {
        let mut entries: Vec<(Node, Node)> = Vec::with_capacity(items.len() / 2);
        let mut seen: HashMap<String, Range<usize>> = HashMap::new();
        let mut items = items.into_iter();
        while let Some(key) = items.next() {
            let mut value = items.next().unwrap_or_else(|| empty_node(span.end));
            if value.span.is_empty()
                && matches!(value.kind, NodeKind::Null)
                && value.start == value.span.start
            {
                let at = lines::after_colon(self.text, key.span.end).unwrap_or(value.span.start);
                value.span = at..at;
                value.start = at;
            }
            if matches!(key.resolved().kind, NodeKind::Mapping(_) | NodeKind::Sequence(_)) {
                let message = "a list or mapping stands as a key, for which JSON has no form".to_owned();
                return Err(ReadError { message, span: key.span.clone() });
            }
            let name = key.key_text(Schema::Manifest);
            if key.is_merge() {
                // `<<` may stand more than once.
            } else if let Some(first) = seen.get(&name) {
                self.duplicates.push(DuplicateKey {
                    key: name,
                    first: first.clone(),
                    second: key.span.clone(),
                });
            } else {
                seen.insert(name, key.span.clone());
            }
            entries.push((key, value));
        }
        Ok(entries)
    }
}
