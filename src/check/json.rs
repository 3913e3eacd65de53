//! Findings for programs.

use serde_json::{Value, json};

use crate::check::Code;
use crate::diagnostic::{Diagnostic, Place, Severity, clean, line_column};

/// The version of the form; it grows when something is taken away or means something else.
const VERSION: u32 = 1;

/// Writes findings as JSON: lines and columns count from 1, `start` and `end` are bytes of the file.
pub fn json(findings: &[Diagnostic]) -> Value {
    json!({ "version": VERSION, "findings": findings.iter().map(one).collect::<Vec<_>>() })
}

fn one(finding: &Diagnostic) -> Value {
    let mut value = place(finding.place.as_ref());
    value["code"] = finding.code.into();
    value["name"] = finding.code.and_then(Code::find).map(|code| code.name).into();
    value["severity"] = severity(finding.severity).into();
    value["message"] = clean(&finding.message).into();
    value["help"] = finding.help.as_deref().map(clean).into();
    value["related"] = finding
        .related
        .iter()
        .map(|(message, at)| {
            let mut value = place(Some(at));
            value["message"] = clean(message).into();
            value
        })
        .collect();
    value
}

/// Names a severity.
pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn place(place: Option<&Place>) -> Value {
    let span = place.and_then(|place| Some((place.text.as_deref()?, place.span.clone()?)));
    let position = span.as_ref().map(|(text, span)| line_column(text, span.start));
    json!({
        "path": place.map(|place| place.path.to_string()),
        "line": position.map(|(line, _)| line),
        "column": position.map(|(_, column)| column),
        "start": span.as_ref().map(|(_, span)| span.start),
        "end": span.as_ref().map(|(_, span)| span.end),
    })
}
