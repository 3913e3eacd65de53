//! Findings for programs.

use serde_json::{Value, json};

use crate::diagnostic::{Diagnostic, Severity, line_column};

/// The version of the form; it grows when something is taken away or means something else.
const VERSION: u32 = 1;

/// Writes findings as JSON: lines and columns count from 1, `start` and `end` are bytes of the file.
pub fn json(findings: &[Diagnostic]) -> Value {
    json!({ "version": VERSION, "findings": findings.iter().map(one).collect::<Vec<_>>() })
}

fn one(finding: &Diagnostic) -> Value {
    let severity = match finding.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    };
    let place = finding.place.as_ref();
    let span = place.and_then(|place| Some((place.text.as_deref()?, place.span.clone()?)));
    let position = span.as_ref().map(|(text, span)| line_column(text, span.start));
    json!({
        "code": finding.code,
        "severity": severity,
        "message": finding.message,
        "help": finding.help,
        "path": place.map(|place| place.path.to_string()),
        "line": position.map(|(line, _)| line),
        "column": position.map(|(_, column)| column),
        "start": span.as_ref().map(|(_, span)| span.start),
        "end": span.as_ref().map(|(_, span)| span.end),
    })
}
