//! Reads YAML text into documents whose every value knows its bytes.

mod collection;
mod error;
mod layout;
mod reader;
mod source;
#[cfg(test)]
mod tests;

use granit_parser::Parser;

pub use self::error::ReadError;
use self::layout::Layout;
use self::reader::Reader;
use self::source::Source;
use super::lines;
use super::node::{Document, Node, NodeKind};

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
    let source = Source::new(text);
    let layout = Layout::scan(&source);
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    options.emit_anchor_events = true;
    let mut reader = Reader::new(&source, layout);
    for next in Parser::new_from_str_with_options(source.parsed(), options) {
        let (event, span) = next.map_err(|error| scan_error(&source, &error))?;
        reader.event(event, span)?;
    }
    Ok(reader.documents)
}

fn scan_error(source: &Source<'_>, error: &granit_parser::ScanError) -> ReadError {
    let at = error.marker().byte_offset().map_or(source.text.len(), |at| source.offset(at));
    ReadError { message: error.info(), span: lines::char_at(source.text, at) }
}

/// Makes the null of a place where nothing is written.
pub(crate) fn empty_node(at: usize) -> Node {
    Node { kind: NodeKind::Null, span: at..at, start: at, flow: false, at_dash: None, marks: None }
}
