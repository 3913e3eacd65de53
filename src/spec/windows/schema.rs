//! The JSON Schema of the answers.

use serde_json::{Value, json};

use crate::schedule::WindowKey;
use crate::spec::windows::VERSION;

/// Returns the JSON Schema (draft 2020-12) of every answer of `windows`, `freeze` and `override`; `kind` tells them apart.
///
/// Fields may be added under the same version; none goes or changes its meaning.
pub fn schema() -> Value {
    let text = json!({ "type": "string" });
    let list = |item: Value| json!({ "type": "array", "items": item });
    let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let revision = json!({
        "type": "string",
        "pattern": "^[0-9a-f]{64}$",
        "description": "The SHA-256 of windows.yaml, for --if-revision.",
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Answers of gitops-windows windows, freeze and override",
        "oneOf": [
            answer("WindowList", &[
                ("revision", revision.clone()),
                ("windows", list(reference("namedWindow"))),
                ("types", list(object(&[("name", text.clone()), ("windows", list(text.clone()))], &[]))),
                ("clusters", list(reference("cluster"))),
            ]),
            answer("Window", &[("revision", revision.clone()), ("window", reference("namedWindow"))]),
            answer("ClusterWindows", &[("revision", revision.clone()), ("cluster", reference("cluster"))]),
            answer("FreezeList", &[("revision", revision.clone()), ("freezes", list(reference("freeze")))]),
            answer("OverrideList", &[("revision", revision.clone()), ("overrides", list(reference("override")))]),
            answer("WindowChange", &[
                ("before", revision.clone()),
                ("revision", revision.clone()),
                ("written", json!({ "type": "boolean" })),
                ("changes", list(reference("change"))),
                ("unreached", list(text.clone())),
            ]),
        ],
        "$defs": {
            "freeze": stretch(
                &[("name", text.clone()), ("types", list(text.clone()))],
                &[("calendar", object(&[("path", text.clone()), ("sha256", revision.clone())], &[]))],
            ),
            "override": stretch(&[("type", text.clone())], &[]),
            "namedWindow": object(
                &[("name", text.clone()), ("usedBy", list(reference("use")))],
                &times(),
            ),
            "use": object(&[("type", text.clone())], &[("cluster", text.clone())]),
            "cluster": object(&[
                ("name", text.clone()),
                ("enabled", json!({ "type": "boolean" })),
                ("types", list(object(&[
                    ("type", text.clone()),
                    ("own", json!({ "type": "boolean" })),
                    ("windows", list(reference("window"))),
                ], &[]))),
            ], &[("later", text.clone())]),
            "window": object(&[], &[&[("name", text.clone())], &times()[..]].concat()),
            "change": object(
                &[
                    ("path", text.clone()),
                    ("kind", json!({ "enum": ["create", "edit", "move", "remove"] })),
                    ("diff", text.clone()),
                ],
                &[("from", text.clone()), ("before", reference("file")), ("after", reference("file"))],
            ),
            "file": object(&[("sha256", text.clone()), ("mode", text)], &[]),
        },
    })
}

/// What freezes and overrides have in common; `until` is the first instant after them.
fn stretch(own: &[(&'static str, Value)], optional: &[(&'static str, Value)]) -> Value {
    let text = json!({ "type": "string" });
    let instant = json!({ "type": "string", "format": "date-time" });
    let common = [
        ("from", instant.clone()),
        ("until", instant),
        ("state", json!({ "enum": ["ahead", "now", "over"] })),
        ("reason", text.clone()),
        ("clusters", json!({ "type": "array", "items": text })),
    ];
    let labels = json!({ "type": "object", "patternProperties": { "": text } });
    object(&[&common[..], own].concat(), &[&[("labels", labels)], optional].concat())
}

/// The ways to write a window are the spec's.
fn times() -> Vec<(&'static str, Value)> {
    WindowKey::all().map(|key| (key.as_str(), json!({ "type": "string" }))).collect()
}

fn answer(kind: &str, fields: &[(&str, Value)]) -> Value {
    let head = [("version", json!({ "const": VERSION })), ("kind", json!({ "const": kind }))];
    object(&[&head, fields].concat(), &[])
}

fn object(required: &[(&str, Value)], optional: &[(&str, Value)]) -> Value {
    let properties = required.iter().chain(optional).map(|(name, value)| ((*name).to_owned(), value.clone()));
    json!({
        "type": "object",
        "properties": properties.collect::<serde_json::Map<_, _>>(),
        "required": required.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
    })
}
