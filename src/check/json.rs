//! Findings for programs.

use serde_json::{Value, json};

use crate::check::Code;
use crate::diagnostic::{Diagnostic, Place, Severity, clean, line_column};
use crate::text::json_schema::{answers, list, nullable, number, object, one_of, text, truth};

/// The version of the form; it grows when something is taken away or means something else.
const VERSION: u32 = 1;

/// Writes findings as JSON: lines and columns count from 1, `start` and `end` are bytes of the file.
///
/// With a revision to compare with, `marks` tells of each whether it is new since then.
pub fn json(findings: &[Diagnostic], marks: Option<&[bool]>) -> Value {
    let marked = |(position, finding): (usize, &Diagnostic)| {
        let mut value = one(finding);
        value["new"] = marks.and_then(|marks| marks.get(position).copied()).into();
        value
    };
    let findings: Vec<Value> = findings.iter().enumerate().map(marked).collect();
    json!({ "version": VERSION, "findings": findings })
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

/// Returns the JSON Schema (draft 2020-12) of what `check --format json` prints; [`json()`] says what its fields mean.
pub fn schema() -> Value {
    let place = || {
        let fields = ["line", "column", "start", "end"].map(|name| (name, nullable(number())));
        [("path", nullable(text()))].into_iter().chain(fields).collect::<Vec<_>>()
    };
    let mut finding = place();
    let severities = [Severity::Note, Severity::Warning, Severity::Error].map(severity);
    finding.extend([
        ("code", nullable(text())),
        ("name", nullable(text())),
        ("severity", one_of(&severities)),
        ("message", text()),
        ("help", nullable(text())),
        ("new", nullable(truth())),
        ("related", list(object([place(), vec![("message", text())]].concat()))),
    ]);
    let top = vec![("version", json!({ "const": VERSION })), ("findings", list(object(finding)))];
    answers("check", object(top))
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
