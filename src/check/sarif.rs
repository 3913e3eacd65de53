//! Findings in the Static Analysis Results Interchange Format, for code scanning services.

use serde_json::{Value, json};

use crate::check::CODES;
use crate::check::json::severity;
use crate::diagnostic::{Diagnostic, Place, clean, line_column};

/// Writes findings as SARIF 2.1.0 (OASIS, <https://docs.oasis-open.org/sarif/sarif/v2.1.0/>).
///
/// Paths are relative to the top of the repository. Lines and columns count from 1, columns in characters;
/// the end is that of the first line, as only that is shown.
///
/// With a revision to compare with, `marks` tells of each whether it is new since then (`baselineState`, §3.27.24).
pub fn sarif(findings: &[Diagnostic], marks: Option<&[bool]>) -> Value {
    let marked = |(position, finding): (usize, &Diagnostic)| {
        let mut value = result(finding);
        if let Some(is_new) = marks.and_then(|marks| marks.get(position)) {
            value["baselineState"] = if *is_new { "new" } else { "unchanged" }.into();
        }
        value
    };
    let rules: Vec<Value> = CODES
        .iter()
        .map(|code| {
            json!({
                "id": code.code,
                "name": code.name,
                "shortDescription": { "text": code.summary },
                "help": { "text": format!("Run `gitops-windows check --explain {}`.", code.code) },
                "defaultConfiguration": { "level": severity(code.severity) },
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": env!("CARGO_PKG_NAME"),
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": findings.iter().enumerate().map(marked).collect::<Vec<_>>(),
        }],
    })
}

fn result(finding: &Diagnostic) -> Value {
    let mut text = clean(&finding.message);
    if let Some(help) = &finding.help {
        text.push_str(&format!(". Help: {}", clean(help)));
    }
    let mut value = json!({
        "level": severity(finding.severity),
        "message": { "text": text },
        "locations": finding.place.iter().map(location).collect::<Vec<_>>(),
    });
    if let Some(code) = finding.code {
        value["ruleId"] = code.into();
        value["ruleIndex"] = CODES.iter().position(|known| known.code == code).into();
    }
    let related: Vec<Value> = finding
        .related
        .iter()
        .enumerate()
        .map(|(index, (message, place))| {
            let mut value = location(place);
            value["id"] = index.into();
            value["message"] = json!({ "text": clean(message) });
            value
        })
        .collect();
    if !related.is_empty() {
        value["relatedLocations"] = related.into();
    }
    value
}

fn location(place: &Place) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(&place.path.to_string()) } });
    if let (Some(text), Some(span)) = (&place.text, &place.span) {
        let (line, column) = line_column(text, span.start);
        let end = text.floor_char_boundary(span.end.max(span.start));
        let start = text.floor_char_boundary(span.start);
        let first = text[start..end].lines().next().unwrap_or_default();
        physical["region"] = json!({ "startLine": line, "startColumn": column, "endLine": line, "endColumn": column + first.chars().count() });
    }
    json!({ "physicalLocation": physical })
}

/// Writes a path as a relative URI reference (RFC 3986).
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RepoPath;

    #[test]
    fn a_result_has_its_rule_and_places() {
        let place = |start, end| {
            Place::span(RepoPath::parse("a b/ä.yaml").unwrap(), "a: 1\r\nbä: 2\r\n".into(), start..end)
        };
        let finding = crate::check::code::DOUBLE_OWNED
            .finding("x\u{1b}y")
            .at(place(6, 9))
            .related("other", place(0, 12));
        let value = sarif(&[finding.help("mend")], None);
        let result = &value["runs"][0]["results"][0];
        let region = &result["locations"][0]["physicalLocation"]["region"];
        assert_eq!(*region, json!({ "startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 3 }));
        assert_eq!(
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "a%20b/%C3%A4.yaml"
        );
        assert_eq!(result["relatedLocations"][0]["physicalLocation"]["region"]["endColumn"], 5);
        assert_eq!(result["message"]["text"], "x␛y. Help: mend");
        let rule = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(value["runs"][0]["tool"]["driver"]["rules"][rule]["id"], result["ruleId"]);
    }

    #[test]
    fn the_shape_is_that_of_the_standard() {
        // The parts of the published schema that this writer uses.
        let text = json!({ "type": "object", "required": ["text"], "properties": { "text": { "type": "string", "minLength": 1 } } });
        let region = json!({ "type": "object", "additionalProperties": false, "required": ["startLine"], "properties": {
            "startLine": { "type": "integer", "minimum": 1 }, "startColumn": { "type": "integer", "minimum": 1 },
            "endLine": { "type": "integer", "minimum": 1 }, "endColumn": { "type": "integer", "minimum": 1 } } });
        let location = json!({ "type": "object", "additionalProperties": false, "properties": {
            "id": { "type": "integer", "minimum": -1 }, "message": text,
            "physicalLocation": { "type": "object", "additionalProperties": false, "required": ["artifactLocation"], "properties": {
                "artifactLocation": { "type": "object", "properties": { "uri": { "type": "string", "pattern": "^[A-Za-z0-9._~/%-]+$" } } },
                "region": region } } } });
        let level = json!({ "enum": ["none", "note", "warning", "error"] });
        let schema = json!({ "type": "object", "required": ["version", "runs"], "additionalProperties": false, "properties": {
            "$schema": { "type": "string" }, "version": { "const": "2.1.0" },
            "runs": { "type": "array", "items": { "type": "object", "additionalProperties": false, "required": ["tool"], "properties": {
                "columnKind": { "enum": ["utf16CodeUnits", "unicodeCodePoints"] },
                "tool": { "type": "object", "required": ["driver"], "properties": { "driver": { "type": "object", "required": ["name"], "properties": {
                    "rules": { "type": "array", "uniqueItems": true, "items": { "type": "object", "required": ["id"], "properties": {
                        "id": { "type": "string" }, "name": { "type": "string" }, "shortDescription": text, "help": text,
                        "defaultConfiguration": { "type": "object", "properties": { "level": level } } } } } } } } },
                "results": { "type": "array", "items": { "type": "object", "required": ["message"], "additionalProperties": false, "properties": {
                    "ruleId": { "type": "string" }, "ruleIndex": { "type": "integer", "minimum": -1 }, "level": level, "message": text,
                    "locations": { "type": "array", "items": location },
                    "relatedLocations": { "type": "array", "uniqueItems": true, "items": location } } } } } } } } });
        let place = Place::span(RepoPath::parse("a.yaml").unwrap(), "a: 1\n".into(), 0..1);
        let findings: Vec<Diagnostic> = CODES
            .iter()
            .map(|code| code.finding("m").at(place.clone()).related("other", Place::file(place.path.clone())))
            .chain([Diagnostic::warning("without code or place")])
            .collect();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let value = sarif(&findings, None);
        let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}
