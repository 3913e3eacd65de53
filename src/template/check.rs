//! Whether a result means what the template says.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::template::place::place;
use crate::yaml::{self, Node, NodeKind};

/// Refuses a result that is no YAML, that Flux would substitute in, or in which a written value is not
/// one whole value; `written` are the bytes of those.
pub(super) fn check(name: &str, text: &str, written: &[Range<usize>]) -> Result<(), Error> {
    let fail = |what: &str, span: Range<usize>| {
        let line = text[..span.start].matches('\n').count() + 1;
        let message = format!("what template `{name}` renders {what}, in line {line} of the result");
        Error::invalid(
            Diagnostic::error(message)
                .at(place(name, &Arc::from(text), Some(span)))
                .help("correct the template"),
        )
    };
    if let Some(at) = text.find("${") {
        return Err(fail("holds `${`, which Flux would try to substitute", at..at + 2));
    }
    let documents = yaml::read_documents(text)
        .map_err(|error| fail(&format!("is not YAML ({})", error.message), error.span.clone()))?;
    let mut spans = BTreeSet::new();
    for document in &documents {
        if let Some(twice) = document.duplicates.first() {
            return Err(fail(&format!("has the key `{}` twice", twice.key), twice.second.clone()));
        }
        collect(&document.root, &mut spans)
            .map_err(|span| fail("holds `${` behind escapes, which Flux would try to substitute", span))?;
    }
    for span in written {
        let harmless = text[span.clone()].bytes().all(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'@' | b'+' | b'=' | b'-')
        });
        if !harmless && !spans.contains(&(span.start, span.end)) {
            return Err(fail(
                "writes a value as part of other text, where it could mean something else",
                span.clone(),
            ));
        }
    }
    Ok(())
}

/// Notes the bytes of every value and key; the error is the place of a text that holds `${`.
fn collect(node: &Node, spans: &mut BTreeSet<(usize, usize)>) -> Result<(), Range<usize>> {
    spans.insert((node.span.start, node.span.end));
    match &node.kind {
        NodeKind::Scalar { value, .. } if value.contains("${") => Err(node.span.clone()),
        NodeKind::Mapping(entries) => entries.iter().try_for_each(|(key, value)| {
            collect(key, spans)?;
            collect(value, spans)
        }),
        NodeKind::Sequence(items) => items.iter().try_for_each(|item| collect(item, spans)),
        _ => Ok(()),
    }
}
