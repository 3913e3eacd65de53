//! YAML as a tree that knows its places, before anything is understood of it.
//!
//! serde stops at the first problem; a tree lets the reader report all of them. The parser below
//! is the one that serde-saphyr stands on, so both read the same YAML.

use std::collections::BTreeMap;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, Span};

use crate::limit::{SPEC_DEPTH, SPEC_NODES};

/// A value with its byte range in the text.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) span: Range<usize>,
    /// How many nodes it holds, itself included.
    size: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Scalar { text: String, plain: bool },
    Sequence(Vec<Node>),
    Mapping(Vec<(Node, Node)>),
}

impl Node {
    /// Returns whether this is an absent value, `~` or `null`.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true }
            if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// Says what kind of value this is, with its article.
    pub(crate) fn describe(&self) -> &'static str {
        match &self.value {
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
            Value::Scalar { .. } if self.is_null() => "nothing",
            Value::Scalar { text, plain: true } => super::trap::meaning(text).unwrap_or("text"),
            Value::Scalar { .. } => "text",
        }
    }
}

/// A problem with the YAML itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) help: &'static str,
    pub(crate) span: Range<usize>,
}

impl Problem {
    fn new(span: Range<usize>, message: impl Into<String>, help: &'static str) -> Problem {
        Problem { message: message.into(), help, span }
    }
}

/// A collection that has been opened and not yet closed.
struct Open {
    start: usize,
    anchor: usize,
    size: usize,
    items: Vec<Node>,
    mapping: bool,
}

/// Reads one document; `None` where there is none, or nothing but comments.
///
/// Spans count from the beginning of `text`, a byte order mark included.
pub(crate) fn read(text: &str) -> Result<Option<Node>, Problem> {
    let (mark, body) = match text.strip_prefix('\u{feff}') {
        Some(body) => (text.len() - body.len(), body),
        None => (0, text),
    };
    let options = granit_parser::options! {
        emit_comments: false,
        disallow_directives: true,
        block_nesting_limit: 64,
        flow_nesting_limit: 64,
    };
    let mut reader = Reader { root: None, open: Vec::new(), anchors: BTreeMap::new(), documents: 0 };
    for next in Parser::new_from_str_with_options(body, options) {
        match next {
            Ok((event, span)) => reader.take(event, range(&span, body, mark))?,
            Err(error) => {
                let start = error.marker().byte_offset().unwrap_or(body.len()).min(body.len());
                let length = body.get(start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
                let span = start + mark..start + length + mark;
                return Err(Problem::new(
                    span,
                    format!("this is no valid YAML: {}", error.info()),
                    "correct the YAML here; nothing after this point was read",
                ));
            }
        }
    }
    Ok(reader.root)
}

/// Returns a span's bytes in the whole text, of which `body` follows a mark.
fn range(span: &Span, body: &str, mark: usize) -> Range<usize> {
    let range = span.byte_range().unwrap_or(0..0);
    let end = range.end.min(body.len());
    let start = range.start.min(end);
    start + mark..end + mark
}

struct Reader {
    root: Option<Node>,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    documents: usize,
}

impl Reader {
    fn take(&mut self, event: Event<'_>, span: Range<usize>) -> Result<(), Problem> {
        const UNTAGGED: &str = "leave the tag out; quote the value if it is meant as text";
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(Problem::new(
                        span,
                        "a second YAML document begins here, and only one is read",
                        "remove the `---`, or move what follows to a file of its own",
                    ));
                }
                Ok(())
            }
            Event::Scalar(.., Some(_))
            | Event::SequenceStart(.., Some(_))
            | Event::MappingStart(.., Some(_)) => {
                Err(Problem::new(span, "a tag (`!…`) means nothing in this file", UNTAGGED))
            }
            Event::Scalar(text, style, anchor, None) => {
                let value =
                    Value::Scalar { text: text.into_owned(), plain: matches!(style, ScalarStyle::Plain) };
                self.finish(Node { value, span, size: 1 }, anchor)
            }
            Event::SequenceStart(_, anchor, None) => self.start(span, anchor, false),
            Event::MappingStart(_, anchor, None) => self.start(span, anchor, true),
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(node) => self.finish(node.clone(), 0),
                None => Err(Problem::new(
                    span,
                    "this alias stands inside of its own anchor, so it would never end",
                    "write the value out in place of the alias",
                )),
            },
            _ => Ok(()),
        }
    }

    fn start(&mut self, span: Range<usize>, anchor: usize, mapping: bool) -> Result<(), Problem> {
        if self.open.len() >= SPEC_DEPTH {
            return Err(Problem::new(span, "this is nested too deep", "flatten the structure"));
        }
        self.open.push(Open { start: span.start, anchor, size: 1, items: Vec::new(), mapping });
        Ok(())
    }

    fn end(&mut self, span: Range<usize>) -> Result<(), Problem> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        // A block collection's end lies at the next token; its last item says where it really ends.
        let end = open.items.last().map_or(span.end, |last| last.span.end.max(open.start));
        let value = if open.mapping {
            let mut pairs = Vec::with_capacity(open.items.len() / 2);
            let mut items = open.items.into_iter();
            while let (Some(key), Some(value)) = (items.next(), items.next()) {
                pairs.push((key, value));
            }
            Value::Mapping(pairs)
        } else {
            Value::Sequence(open.items)
        };
        let end = if span.end > span.start { span.end } else { end };
        self.finish(Node { value, span: open.start..end, size: open.size }, open.anchor)
    }

    /// Puts a whole node where it belongs.
    fn finish(&mut self, node: Node, anchor: usize) -> Result<(), Problem> {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        parent.size = parent.size.saturating_add(node.size);
        if parent.size > SPEC_NODES {
            return Err(Problem::new(
                node.span,
                "aliases make this file too large to read",
                "write the values out in place of the aliases",
            ));
        }
        parent.items.push(node);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(node: &Node) -> String {
        match &node.value {
            Value::Scalar { text, plain } => format!("{text}{}", if *plain { "" } else { "'" }),
            Value::Sequence(items) => {
                format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(","))
            }
            Value::Mapping(pairs) => {
                let pairs: Vec<_> = pairs.iter().map(|(k, v)| format!("{}:{}", show(k), show(v))).collect();
                format!("{{{}}}", pairs.join(","))
            }
        }
    }

    fn shown(text: &str) -> String {
        show(&read(text).unwrap().unwrap())
    }

    fn problem(text: &str) -> (String, usize) {
        let problem = read(text).unwrap_err();
        assert!(text.get(problem.span.clone()).is_some(), "{problem:?}");
        (problem.message, problem.span.start)
    }

    #[test]
    fn collections_scalars_and_quotes_are_kept_apart() {
        assert_eq!(shown("a: [1, 'x']\nb:\nc: {d: \"\"}\n"), "{a:[1,x'],b:~,c:{d:'}}");
    }

    #[test]
    fn spans_hold_with_mark_crlf_and_wide_characters() {
        let text = "\u{feff}# ä€😀\r\nkey: wert\r\nlist:\r\n  - eins\r\n";
        let root = read(text).unwrap().unwrap();
        let Value::Mapping(pairs) = root.value else { panic!() };
        assert_eq!(&text[pairs[0].1.span.clone()], "wert");
        let Value::Sequence(items) = &pairs[1].1.value else { panic!() };
        assert_eq!(&text[items[0].span.clone()], "eins");
    }

    #[test]
    fn duplicate_keys_reach_the_tree() {
        assert_eq!(shown("a: 1\na: 2\n"), "{a:1,a:2}");
    }

    #[test]
    fn nothing_is_none() {
        for text in ["", "\n", "# comment\n", "\u{feff}", "---\n"] {
            let node = read(text).unwrap();
            assert!(node.as_ref().is_none_or(Node::is_null), "{text:?}");
        }
    }

    #[test]
    fn aliases_repeat_what_they_name() {
        assert_eq!(shown("a: &x [1]\nb: *x\n"), "{a:[1],b:[1]}");
    }

    #[test]
    fn alias_bombs_stop_early() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..40 {
            let item = format!("*a{}", level - 1);
            text += &format!("a{level}: &a{level} [{}]\n", vec![item; 10].join(", "));
        }
        assert!(problem(&text).0.contains("too large"));
        assert!(problem("a: &a [*a]\n").0.contains("never end"));
    }

    #[test]
    fn a_second_document_tags_and_depth_are_refused_in_place() {
        assert_eq!(problem("a: 1\n---\nb: 2\n").1, 5);
        assert!(problem("a: !!str 1\n").0.contains("tag"));
        assert!(problem(&format!("{}{}", "[".repeat(40), "]".repeat(40))).0.contains("deep"));
        problem(&"[".repeat(100_000));
        problem(&"- ".repeat(100_000));
        problem("%YAML 1.1\n---\na: 1\n");
    }

    #[test]
    fn syntax_errors_have_a_place() {
        assert_eq!(problem("a: 1\nb: ]\n").1, 8);
        problem("a: [1,\nb: }\n");
        problem("a: \"x\n");
        problem("a: b: c\n");
        problem("a: *b\n");
        problem("a: \0\n");
    }
}
