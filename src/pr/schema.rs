//! The JSON Schema of the answer for programs.

use serde_json::{Value, json};

use crate::delivery::{Cause, Kind};
use crate::text::json_schema::{list, nullable, object, one_of};

/// Returns the JSON Schema (draft 2020-12) of what `pr --format json` prints.
pub fn schema() -> Value {
    let text = || json!({ "type": "string" });
    let number = || nullable(json!({ "type": "integer", "minimum": 1 }));
    let instant = || json!({ "type": "string", "format": "date-time" });
    let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let kind = one_of(&Kind::WORDS);
    let mut top = object(vec![
        ("version", json!({ "const": 1 })),
        ("base", text()),
        ("head", nullable(text())),
        ("now", instant()),
        ("timeZoneDatabase", nullable(text())),
        ("changes", list(reference("change"))),
        ("substituted", list(reference("change"))),
        ("deadline", nullable(instant())),
        ("train", list(reference("train"))),
        ("findings", list(reference("finding"))),
        ("unreached", list(text())),
        ("notRendered", list(reference("notRendered"))),
    ]);
    let definitions = json!({
        "kustomization": nullable(object(vec![("namespace", text()), ("name", text())])),
        "by": object(vec![("path", text()), ("kustomization", reference("kustomization"))]),
        "object": object(vec![
            ("apiVersion", text()),
            ("kind", text()),
            ("namespace", nullable(text())),
            ("name", text()),
        ]),
        "change": object(vec![
            ("cluster", text()),
            ("path", text()),
            ("kustomization", reference("kustomization")),
            ("from", nullable(reference("by"))),
            ("type", nullable(text())),
            ("object", reference("object")),
            ("live", nullable(reference("object"))),
            ("change", kind.clone()),
            ("fields", list(object(vec![("path", text()), ("before", json!(true)), ("after", json!(true))]))),
            ("files", list(text())),
            ("places", list(object(vec![("file", text()), ("line", number())]))),
            ("kept", json!({ "type": "boolean" })),
            ("lands", object(vec![
                ("state", one_of(&["at-once", "window", "frozen", "never", "unknown"])),
                ("earliest", nullable(instant())),
                ("latest", nullable(instant())),
                ("after", nullable(one_of(&["push", "tag", "commit"]))),
                ("window", nullable(text())),
                ("windowOf", nullable(text())),
                ("freeze", reference("stretch")),
                ("override", reference("stretch")),
                ("deadline", nullable(instant())),
                ("otherwise", nullable(instant())),
                ("reason", nullable(text())),
            ])),
        ]),
        "stretch": nullable(object(vec![("from", instant()), ("until", instant()), ("reason", text())])),
        "train": object(vec![
            ("window", text()),
            ("closed", instant()),
            ("opens", nullable(instant())),
            ("clusters", list(text())),
            ("commits", list(object(vec![("hash", text()), ("subject", text())]))),
            ("waiting", list(object(vec![
                ("cluster", text()),
                ("path", text()),
                ("kustomization", reference("kustomization")),
                ("object", text()),
                ("change", kind),
                ("superseded", json!({ "type": "boolean" })),
            ]))),
        ]),
        "finding": object(vec![
            ("topic", one_of(&["skew", "deletion", "immutable", "outside-window", "error", "check", "windows"])),
            ("cluster", text()),
            ("object", nullable(text())),
            ("message", text()),
            ("from", nullable(instant())),
            ("help", text()),
            ("code", nullable(text())),
            ("file", nullable(text())),
            ("line", number()),
        ]),
        "notRendered": object(vec![
            ("cluster", text()),
            ("path", text()),
            ("kustomization", reference("kustomization")),
            ("side", one_of(&["base", "head"])),
            ("cause", one_of(&Cause::WORDS)),
            ("reason", text()),
        ]),
    });
    top["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    top["title"] = json!("Answers of gitops-windows pr");
    top["$defs"] = definitions;
    top
}
