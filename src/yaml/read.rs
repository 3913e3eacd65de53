//! Reads YAML text into documents whose every value knows its bytes.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{Event, Parser, Scanner, Span, StrInput, StructureStyle, TokenType};

use super::lines;
use super::node::{Document, DuplicateKey, Node, NodeKind, ScalarStyle};
use super::resolve::Schema;
use crate::diagnostic::{Diagnostic, Place};
use crate::repo::RepoPath;

/// How many nodes the aliases of one document may stand for, all expanded.
const MAX_ALIASED_NODES: usize = 1_000_000;
/// How deep a value may be nested, aliases followed.
const MAX_DEPTH: usize = 512;

/// Why a text could not be read as YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ReadError {
    /// What is wrong.
    pub message: String,
    /// Where it was noticed; within the text and on character boundaries.
    pub span: Range<usize>,
}

impl ReadError {
    /// Makes the error a [`Diagnostic`] that points into the file.
    pub fn diagnostic(&self, path: RepoPath, text: Arc<str>) -> Diagnostic {
        Diagnostic::error(format!("not valid YAML: {}", self.message)).at(Place::span(
            path,
            text,
            self.span.clone(),
        ))
    }
}

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

/// What the events don't tell: where dashes stand and where block scalars' headers may begin.
struct Layout {
    dashes: std::vec::IntoIter<usize>,
    headers: HashMap<usize, usize>,
}

impl Layout {
    fn scan(text: &str) -> Result<Layout, ReadError> {
        let mut options = granit_parser::Options::default();
        options.set_emit_comments(false);
        let mut dashes = Vec::new();
        let mut headers = HashMap::new();
        let mut previous = 0;
        for next in Scanner::with_options(StrInput::new(text), options) {
            // The parser reports the same error with more context.
            let Ok(token) = next else { break };
            let span = range(token.span());
            match token.token_type() {
                TokenType::BlockEntry => dashes.push(lines::dash_before(text, previous, span.start)),
                TokenType::Scalar(
                    granit_parser::ScalarStyle::Literal | granit_parser::ScalarStyle::Folded,
                    _,
                ) => {
                    headers.insert(span.start, previous);
                }
                _ => {}
            }
            previous = previous.max(span.end);
        }
        Ok(Layout { dashes: dashes.into_iter(), headers })
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn slices(text: &str, pick: impl Fn(&Document) -> Range<usize>) -> Vec<&str> {
        read_documents(text).unwrap().iter().map(|document| &text[pick(document)]).collect()
    }

    #[test]
    fn spans_are_bytes_whatever_stands_before_them() {
        let text = "\u{feff}# é\r\nä: 'ö' # ü\r\nlist:\r\n-\tx\r\n- &n !!str 1 # c\r\n-\r\n- - y\r\n  - {a: [b, \"ß\"]}\r\nblock: >- # h\r\n  t\r\n\r\n  u\r\n\r\nend:";
        let document = &read_documents(text).unwrap()[0];
        let root = &document.root;
        let at = |node: &Node| &text[node.span.clone()];
        assert_eq!(at(&root.entries()[0].0), "ä");
        assert_eq!(at(root.get("ä").unwrap()), "'ö'");
        let list = root.get("list").unwrap();
        assert_eq!(at(list), "-\tx\r\n- &n !!str 1 # c\r\n-\r\n- - y\r\n  - {a: [b, \"ß\"]}");
        let items = list.items();
        assert_eq!(&text[items[1].start..items[1].span.end], "&n !!str 1");
        assert_eq!(items[1].anchor.as_deref(), Some("n"));
        assert!(items.iter().all(|item| text[item.dash.unwrap()..].starts_with('-')));
        assert_eq!(at(&items[2]), "");
        assert_eq!(items[3].items()[0].dash, Some(items[3].span.start));
        assert_eq!(at(items[3].items()[1].get("a").unwrap()), "[b, \"ß\"]");
        assert_eq!(at(root.get("block").unwrap()), ">- # h\r\n  t\r\n\r\n  u");
        assert_eq!(root.get("end").unwrap().span, text.len()..text.len());
        assert_eq!(
            root.to_json(),
            json!({"ä": "ö", "list": ["x", "1", null, ["y", {"a": ["b", "ß"]}]], "block": "t\nu", "end": null})
        );
    }

    #[test]
    fn block_scalars_end_where_their_text_ends() {
        for (text, value, span) in [
            ("a: |\n  t\n", "t\n", "|\n  t"),
            ("a: |\n  t", "t", "|\n  t"),
            ("a: |+\n  t", "t", "|+\n  t"),
            ("a: |-\n  t", "t", "|-\n  t"),
            ("a: >\n  t\n  u", "t u", ">\n  t\n  u"),
            ("a: |\n  t\n\n\n", "t\n", "|\n  t"),
            ("a: |+\n  t\n\n\n", "t\n\n\n", "|+\n  t\n\n"),
            ("a: |\n  t\n ", "t\n", "|\n  t"),
            ("a: |2\n   t\nb:", " t\n", "|2\n   t"),
            ("a: |\n\n  t\n# c\n", "\nt\n", "|\n\n  t"),
            ("a: # x | y\n  |\n  t\n", "t\n", "|\n  t"),
            ("a: |\nb: 1\n", "", "|"),
            ("a: |", "", "|"),
            ("a: | # c\n", "", "|"),
        ] {
            let documents = read_documents(text).unwrap();
            let node = documents[0].root.get("a").unwrap();
            assert_eq!(node.as_str(), Some(value), "{text:?}");
            assert_eq!(&text[node.span.clone()], span, "{text:?}");
        }
    }

    #[test]
    fn documents_are_cut_at_their_separators() {
        for (text, bodies) in [
            ("", vec![]),
            ("# only\n", vec![]),
            ("a: 1", vec!["a: 1"]),
            ("---\na: 1\n---\nb: 2\n", vec!["a: 1\n", "b: 2\n"]),
            ("# head\n--- # c\na: 1\n---\n---\n# only\n", vec!["a: 1\n", "", "# only\n"]),
            ("a: 1\n# tail\n...\n# next\nb: 2\n...\n", vec!["a: 1\n# tail\n", "# next\nb: 2\n"]),
            ("%YAML 1.1\n---\na: 1\n...\n%YAML 1.1\n---\nb: 2", vec!["a: 1\n", "b: 2"]),
            ("--- {a: 1}\n--- |\n t\n---\n", vec![" {a: 1}\n", " |\n t\n", ""]),
            ("\u{feff}a: 1\r\n---\r\nb: |\r\n  ---\r\n  x", vec!["a: 1\r\n", "b: |\r\n  ---\r\n  x"]),
        ] {
            assert_eq!(slices(text, |document| document.span.clone()), bodies, "{text:?}");
            if !bodies.is_empty() {
                assert_eq!(slices(text, |document| document.whole.clone()).concat(), text);
            }
        }
    }

    #[test]
    fn aliases_and_merges_are_resolved_with_a_bound() {
        let text = "a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: [*a]\nd: {<<: [{z: 1}, *a]}\n";
        let root = &read_documents(text).unwrap()[0].root;
        assert_eq!(root.get("b").unwrap().to_json(), json!({"x": 1, "y": 3}));
        assert_eq!(root.get("b").unwrap().get("x").unwrap().to_json(), json!(1));
        assert_eq!(root.get("d").unwrap().to_json(), json!({"x": 1, "y": 2, "z": 1}));
        assert_eq!(root.get("c").unwrap().items()[0].get("x").unwrap().to_json(), json!(1));
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        let mut chain = "a0: &a0 [x]\n".to_owned();
        for n in 1..5000 {
            if n < 30 {
                bomb += &format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(", "));
            }
            chain += &format!("a{n}: &a{n} [*a{}]\n", n - 1);
        }
        assert!(read_documents(&bomb).unwrap_err().message.contains("aliases stand for"));
        assert!(read_documents(&chain).unwrap_err().message.contains("levels deep"));
        assert!(read_documents("a: &a [*a]\n").unwrap_err().message.contains("its own anchor"));
        assert!(read_documents("a: *b\n").is_err());
        assert!(read_documents(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn duplicate_keys_are_reported_with_their_places() {
        let text = "a: 1\nb: {c: 1, 'c': 2}\na: 2\n";
        let document = &read_documents(text).unwrap()[0];
        let places: Vec<_> = document
            .duplicates
            .iter()
            .map(|found| (found.key.as_str(), &text[..found.second.start]))
            .collect();
        assert_eq!(places, [("c", "a: 1\nb: {c: 1, "), ("a", "a: 1\nb: {c: 1, 'c': 2}\n")]);
        assert_eq!(document.root.get("a").unwrap().to_json(), json!(2));
    }

    #[test]
    fn an_error_points_into_the_text() {
        let error = read_documents("é: 1\n\tb: [\n").unwrap_err();
        assert!(error.span.end <= 12 && "é: 1\n\tb: [\n".is_char_boundary(error.span.start));
    }

    #[test]
    fn keys_are_found_in_any_case() {
        let root = &read_documents("Resources: [a]\n").unwrap()[0].root;
        assert!(root.get("resources").is_none());
        assert_eq!(root.get_ignore_case("resources").unwrap().items()[0].as_str(), Some("a"));
    }

    #[test]
    fn a_long_run_of_comments_is_no_error() {
        assert_eq!(read_documents(&format!("a:\n{}  b: 1\n", "# c\n".repeat(500))).unwrap().len(), 1);
    }
}
