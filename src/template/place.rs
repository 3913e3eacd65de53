//! Where in a template something is wrong.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;

/// Points into a template, or into what it renders.
pub(super) fn place(name: &str, text: &Arc<str>, span: Option<Range<usize>>) -> Place {
    let path = RepoPath::parse("templates").and_then(|folder| folder.join(name)).unwrap_or_default();
    Place { path, text: Some(text.clone()), span }
}

/// Says what minijinja refuses, at its place in the template.
pub(super) fn template_diagnostic(
    sources: &BTreeMap<String, Arc<str>>,
    name: &str,
    error: &minijinja::Error,
) -> Diagnostic {
    let name = error.name().unwrap_or(name);
    let line = error.line().map(|line| format!(", line {line}")).unwrap_or_default();
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    let diagnostic = Diagnostic::error(format!("template `{name}`{line}: {}{detail}", error.kind()));
    match sources.get(name) {
        Some(source) => {
            let whole_line = error.line().map(|line| line_span(source, line));
            diagnostic.at(place(
                name,
                source,
                error.range().filter(|span| source.get(span.clone()).is_some()).or(whole_line),
            ))
        }
        None => diagnostic,
    }
}

fn line_span(text: &str, line: usize) -> Range<usize> {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let length = text[start..].lines().next().map_or(0, str::len);
    start..start + length
}
