//! One value after another, as the parser tells of them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{Event, Span};

use super::collection::Frame;
use super::error::ALIASED;
use super::layout::Layout;
use super::source::Source;
use super::{ReadError, empty_node};
use crate::limit::{ALIASED_NODES, YAML_DEPTH};
use crate::yaml::lines;
use crate::yaml::node::{Document, DuplicateKey, Marks, Node, NodeKind, ScalarStyle};

struct Anchored {
    node: Arc<Node>,
    weight: usize,
    depth: usize,
}

/// Turns the events of the parser into documents.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    source: &'a Source<'a>,
    layout: Layout,
    pub(super) documents: Vec<Document>,
    pub(super) frames: Vec<Frame>,
    /// A finished scalar waits here, since its anchor's name comes after it.
    waiting: Option<(Node, usize)>,
    anchors: HashMap<usize, Anchored>,
    aliased: usize,
    root: Option<Node>,
    pub(super) duplicates: Vec<DuplicateKey>,
    /// Where the current or next document begins, head included.
    whole_start: usize,
    body_start: usize,
    explicit: bool,
}

impl<'a> Reader<'a> {
    /// Begins before the first event.
    pub(super) fn new(source: &'a Source<'a>, layout: Layout) -> Reader<'a> {
        Reader {
            text: source.text,
            source,
            layout,
            documents: Vec::new(),
            frames: Vec::new(),
            waiting: None,
            anchors: HashMap::new(),
            aliased: 0,
            root: None,
            duplicates: Vec::new(),
            whole_start: 0,
            body_start: 0,
            explicit: false,
        }
    }

    /// Takes the next event and where it stands.
    pub(super) fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), ReadError> {
        if let Event::Anchor(_, name) = &event {
            let start = self.range(span).start;
            let node = match (&mut self.waiting, self.frames.last_mut()) {
                (Some((node, _)), _) => node,
                (None, Some(frame)) => &mut frame.node,
                (None, None) => return Ok(()),
            };
            node.marks.get_or_insert_default().anchor = Some(name.to_string());
            node.start = node.start.min(start);
            return Ok(());
        }
        self.settle()?;
        match event {
            Event::DocumentStart(explicit, _) => self.document_start(explicit, &self.range(span)),
            Event::DocumentEnd => self.document_end(&self.range(span)),
            Event::Alias(id) => self.alias(id, self.range(span))?,
            Event::Scalar(value, style, anchor_id, tag) => {
                let node = self.scalar(value.into_owned(), style, tag.as_deref(), span);
                self.waiting = Some((node, anchor_id));
            }
            Event::SequenceStart(style, anchor_id, tag) => {
                self.open(false, style, anchor_id, tag.as_deref(), span);
            }
            Event::MappingStart(style, anchor_id, tag) => {
                self.open(true, style, anchor_id, tag.as_deref(), span);
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(&self.range(span))?,
            _ => {}
        }
        Ok(())
    }

    fn document_start(&mut self, explicit: bool, marker: &Range<usize>) {
        if explicit {
            if !self.documents.last().is_none_or(|document| document.ended) {
                self.whole_start = marker.start;
            }
            self.body_start = lines::content_after_marker(self.text, marker.end);
        } else {
            self.body_start = lines::without_bom(self.text, self.whole_start);
        }
        if let Some(last) = self.documents.last_mut() {
            last.whole.end = self.whole_start;
            if !last.ended {
                last.span.end = self.whole_start;
            }
        }
        self.explicit = explicit;
        self.anchors.clear();
        self.aliased = 0;
    }

    fn document_end(&mut self, marker: &Range<usize>) {
        let ended = !marker.is_empty();
        let root = self.root.take().unwrap_or_else(|| empty_node(self.body_start));
        let end = if ended { marker.start } else { self.text.len() };
        self.documents.push(Document {
            root,
            span: self.body_start.min(end)..end,
            whole: self.whole_start..self.text.len(),
            explicit: self.explicit,
            ended,
            duplicates: std::mem::take(&mut self.duplicates),
        });
        if ended {
            self.whole_start = lines::next_line(self.text, marker.end);
        }
    }

    /// Takes the next dash if the node about to be read is an item of a block sequence.
    pub(super) fn dash(&mut self) -> Option<usize> {
        match self.frames.last() {
            Some(frame) if !frame.mapping && !frame.node.flow => self.layout.dashes.next(),
            _ => None,
        }
    }

    fn scalar(
        &mut self,
        value: String,
        style: granit_parser::ScalarStyle,
        tag: Option<&granit_parser::Tag>,
        span: Span,
    ) -> Node {
        let mut bytes = self.range(span);
        let dash = self.dash();
        let tag_start = self.tag_start(span);
        let tag = tag.map(tag_text);
        let style = match style {
            granit_parser::ScalarStyle::SingleQuoted => ScalarStyle::SingleQuoted,
            granit_parser::ScalarStyle::DoubleQuoted => ScalarStyle::DoubleQuoted,
            granit_parser::ScalarStyle::Literal => ScalarStyle::Literal,
            granit_parser::ScalarStyle::Folded => ScalarStyle::Folded,
            _ => ScalarStyle::Plain,
        };
        let is_string = tag.as_deref().is_some_and(|tag| tag == "!" || tag == "tag:yaml.org,2002:str");
        let kind = if style == ScalarStyle::Plain && bytes.is_empty() {
            // The parser stands `~` where nothing is written.
            if let Some(dash) = dash {
                bytes = dash + 1..dash + 1;
            }
            if is_string { NodeKind::Scalar { value: String::new(), style } } else { NodeKind::Null }
        } else if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
            let after = self.layout.headers.get(&bytes.start).copied().unwrap_or(0);
            let block = lines::block_scalar(self.text, after, &bytes, span.indent);
            bytes = block.span;
            let value = match value.strip_suffix('\n') {
                Some(cut) if block.unterminated => cut.to_owned(),
                _ => value,
            };
            NodeKind::Scalar { value, style }
        } else if style == ScalarStyle::Plain
            && !is_string
            && matches!(value.as_str(), "~" | "null" | "Null" | "NULL")
        {
            NodeKind::Null
        } else {
            NodeKind::Scalar { value, style }
        };
        let start = tag_start.unwrap_or(bytes.start).min(bytes.start);
        Node { kind, span: bytes, start, flow: false, at_dash: at(dash), marks: tagged(tag) }
    }

    fn alias(&mut self, id: usize, span: Range<usize>) -> Result<(), ReadError> {
        let name = self.text.get(span.start + 1..span.end).unwrap_or_default().to_owned();
        let dash = self.dash();
        let Some(anchored) = self.anchors.get(&id) else {
            return Err(ReadError {
                message: format!(
                    "alias `*{name}` stands within its own anchor, so the value would be endless"
                ),
                span,
            });
        };
        let (target, weight, depth) = (anchored.node.clone(), anchored.weight, anchored.depth);
        self.aliased = self.aliased.saturating_add(weight);
        if self.aliased > ALIASED_NODES {
            return Err(ReadError { message: format!("{ALIASED} {ALIASED_NODES} nodes"), span });
        }
        let start = span.start;
        let kind = NodeKind::Alias { name: name.into(), target };
        self.attach(
            Node { kind, span, start, flow: false, at_dash: at(dash), marks: None },
            0,
            weight,
            depth + 1,
        )
    }

    /// Returns where something stands in the file.
    pub(super) fn range(&self, span: Span) -> Range<usize> {
        self.source.range(span)
    }

    /// Returns where the tag of a value begins.
    pub(super) fn tag_start(&self, span: Span) -> Option<usize> {
        span.tag_start()?.byte_offset().map(|at| self.source.offset(at))
    }

    /// Puts the waiting scalar in its place.
    fn settle(&mut self) -> Result<(), ReadError> {
        match self.waiting.take() {
            Some((node, anchor_id)) => self.attach(node, anchor_id, 1, 1),
            None => Ok(()),
        }
    }

    /// Puts a whole value where it belongs: into what is being read, or at the root.
    pub(super) fn attach(
        &mut self,
        node: Node,
        anchor_id: usize,
        weight: usize,
        depth: usize,
    ) -> Result<(), ReadError> {
        if depth > YAML_DEPTH {
            return Err(ReadError {
                message: format!("nested more than {YAML_DEPTH} levels deep"),
                span: lines::char_at(self.text, node.span.start),
            });
        }
        if anchor_id != 0 {
            self.anchors.insert(anchor_id, Anchored { node: Arc::new(node.clone()), weight, depth });
        }
        match self.frames.last_mut() {
            Some(frame) => {
                frame.weight = frame.weight.saturating_add(weight);
                frame.depth = frame.depth.max(depth + 1);
                frame.items.push(node);
            }
            None => self.root = Some(node),
        }
        Ok(())
    }
}

/// Returns what a node keeps of the offset of its dash.
pub(super) fn at(dash: Option<usize>) -> Option<u32> {
    dash.and_then(|dash| u32::try_from(dash).ok())
}

/// Returns what a node keeps of its tag.
pub(super) fn tagged(tag: Option<String>) -> Option<Box<Marks>> {
    tag.map(|tag| Box::new(Marks { anchor: None, tag: Some(tag) }))
}

/// Returns a tag in full.
pub(super) fn tag_text(tag: &granit_parser::Tag) -> String {
    format!("{}{}", tag.handle(), tag.suffix())
}
