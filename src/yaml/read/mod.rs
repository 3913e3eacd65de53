//! Reads YAML text into documents whose every value knows its bytes.

mod error;
mod layout;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{Event, Parser, Span, StructureStyle};

pub use self::error::ReadError;
use self::layout::Layout;
use super::lines;
use super::node::{Document, DuplicateKey, Node, NodeKind, ScalarStyle};
use super::resolve::Schema;

/// How many nodes the aliases of one document may stand for, all expanded.
const MAX_ALIASED_NODES: usize = 1_000_000;
/// How deep a value may be nested, aliases followed.
const MAX_DEPTH: usize = 512;

/// Reads all documents of a file.
///
/// A text without a value or `---` gives no document; `---` alone gives an empty one. Values are
/// those of Go's YAML reader; notably a block scalar at the very end of a text that lacks the last
/// line break has none either. Aliases are resolved; duplicate keys are reported in each
/// [`Document`] and left to the caller to refuse.
///
/// # Errors
///
/// When the text is not YAML, when an alias has no anchor or stands within its own anchor, and when
/// aliases stand for more than a million nodes or nesting exceeds 255 levels (512 through aliases).
///
/// ```
/// use gitops_windows::yaml::read_documents;
///
/// let text = "a: 1 # one\n--- \nb: [x]\n";
/// let documents = read_documents(text).unwrap();
/// assert_eq!(&text[documents[1].span.clone()], "b: [x]\n");
/// let item = &documents[1].root.get("b").unwrap().items()[0];
/// assert_eq!(&text[item.span.clone()], "x");
/// ```
pub fn read_documents(text: &str) -> Result<Vec<Document>, ReadError> {
    if let Some(at) = text.char_indices().skip(1).find(|(_, c)| *c == '\u{feff}').map(|(at, _)| at) {
        let message =
            "a byte order mark stands within the text, which YAML readers take for different things";
        return Err(ReadError { message: message.to_owned(), span: lines::char_at(text, at) });
    }
    let layout = Layout::scan(text)?;
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    options.emit_anchor_events = true;
    let mut reader = Reader::new(text, layout);
    for next in Parser::new_from_str_with_options(text, options) {
        let (event, span) = next.map_err(|error| scan_error(text, &error))?;
        reader.event(event, span)?;
    }
    Ok(reader.documents)
}

fn scan_error(text: &str, error: &granit_parser::ScanError) -> ReadError {
    let at = error.marker().byte_offset().unwrap_or(text.len());
    ReadError { message: error.info(), span: lines::char_at(text, at) }
}

fn range(span: Span) -> Range<usize> {
    // Markers of a text always have byte offsets; an empty range at 0 can't mislead an edit, which
    // is verified.
    span.byte_range().unwrap_or(0..0)
}

/// A collection that is being read.
struct Frame {
    node: Node,
    anchor_id: usize,
    items: Vec<Node>,
    mapping: bool,
    weight: usize,
    depth: usize,
}

struct Anchored {
    node: Arc<Node>,
    weight: usize,
    depth: usize,
}

struct Reader<'a> {
    text: &'a str,
    layout: Layout,
    documents: Vec<Document>,
    frames: Vec<Frame>,
    /// A finished scalar waits here, since its anchor's name comes after it.
    waiting: Option<(Node, usize)>,
    anchors: HashMap<usize, Anchored>,
    aliased: usize,
    root: Option<Node>,
    duplicates: Vec<DuplicateKey>,
    /// Where the current or next document begins, head included.
    whole_start: usize,
    body_start: usize,
    explicit: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, layout: Layout) -> Reader<'a> {
        Reader {
            text,
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

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), ReadError> {
        if let Event::Anchor(_, name) = &event {
            let start = range(span).start;
            let node = match (&mut self.waiting, self.frames.last_mut()) {
                (Some((node, _)), _) => node,
                (None, Some(frame)) => &mut frame.node,
                (None, None) => return Ok(()),
            };
            node.anchor = Some(name.to_string());
            node.start = node.start.min(start);
            return Ok(());
        }
        self.settle()?;
        match event {
            Event::DocumentStart(explicit, _) => self.document_start(explicit, &range(span)),
            Event::DocumentEnd => self.document_end(&range(span)),
            Event::Alias(id) => self.alias(id, range(span))?,
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
            Event::SequenceEnd | Event::MappingEnd => self.close(&range(span))?,
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
    fn dash(&mut self) -> Option<usize> {
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
        let mut bytes = range(span);
        let dash = self.dash();
        let tag_start = tag_start(span);
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
        Node { kind, span: bytes, start, anchor: None, tag, flow: false, dash }
    }

    fn open(
        &mut self,
        mapping: bool,
        style: StructureStyle,
        anchor_id: usize,
        tag: Option<&granit_parser::Tag>,
        span: Span,
    ) {
        let bytes = range(span);
        let dash = self.dash();
        let node = Node {
            kind: if mapping { NodeKind::Mapping(Vec::new()) } else { NodeKind::Sequence(Vec::new()) },
            start: tag_start(span).unwrap_or(bytes.start).min(bytes.start),
            span: bytes,
            anchor: None,
            tag: tag.map(tag_text),
            flow: style == StructureStyle::Flow,
            dash,
        };
        self.frames.push(Frame { node, anchor_id, items: Vec::new(), mapping, weight: 1, depth: 1 });
    }

    fn close(&mut self, end: &Range<usize>) -> Result<(), ReadError> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        let Frame { mut node, anchor_id, items, mapping, weight, depth } = frame;
        let properties = node.start < node.span.start || node.anchor.is_some() || node.tag.is_some();
        let bracketed = node.flow && self.text[node.span.start..].starts_with(['[', '{']);
        if bracketed {
            node.span.end = end.end;
        } else if let (Some(first), Some(last)) = (items.first(), items.last()) {
            node.span = first.dash.unwrap_or(first.start)..last.span.end;
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
        if self.aliased > MAX_ALIASED_NODES {
            return Err(ReadError {
                message: format!("aliases stand for more than {MAX_ALIASED_NODES} nodes"),
                span,
            });
        }
        let start = span.start;
        let kind = NodeKind::Alias { name, target };
        self.attach(
            Node { kind, span, start, anchor: None, tag: None, flow: false, dash },
            0,
            weight,
            depth + 1,
        )
    }

    /// Puts the waiting scalar in its place.
    fn settle(&mut self) -> Result<(), ReadError> {
        match self.waiting.take() {
            Some((node, anchor_id)) => self.attach(node, anchor_id, 1, 1),
            None => Ok(()),
        }
    }

    fn attach(&mut self, node: Node, anchor_id: usize, weight: usize, depth: usize) -> Result<(), ReadError> {
        if depth > MAX_DEPTH {
            return Err(ReadError {
                message: format!("nested more than {MAX_DEPTH} levels deep"),
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

fn tag_start(span: Span) -> Option<usize> {
    span.tag_start().and_then(|marker| marker.byte_offset())
}

fn tag_text(tag: &granit_parser::Tag) -> String {
    format!("{}{}", tag.handle(), tag.suffix())
}

/// Makes the null of a place where nothing is written.
pub(crate) fn empty_node(at: usize) -> Node {
    Node { kind: NodeKind::Null, span: at..at, start: at, anchor: None, tag: None, flow: false, dash: None }
}
