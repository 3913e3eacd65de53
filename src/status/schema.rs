//! The JSON Schema of the answer for programs.

use serde_json::{Value, json};

use crate::delivery;
use crate::mechanism::State;
use crate::spec::MechanismName;
use crate::status::{Kind, Outcome};
use crate::text::json_schema::{list, nullable, object, one_of};

/// Returns the JSON Schema (draft 2020-12) of what `status --format json` prints.
pub fn schema() -> Value {
    let text = || json!({ "type": "string" });
    let instant = || nullable(json!({ "type": "string", "format": "date-time" }));
    let flag = || json!({ "type": "boolean" });
    let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let mut top = object(vec![
        ("version", json!({ "const": 1 })),
        ("now", json!({ "type": "string", "format": "date-time" })),
        ("timeZoneDatabase", nullable(text())),
        ("fine", flag()),
        ("clusters", list(reference("cluster"))),
    ]);
    let definitions = json!({
        "cluster": object(vec![
            ("cluster", text()),
            ("context", nullable(text())),
            ("unread", nullable(text())),
            ("gates", list(reference("gate"))),
            ("problems", list(reference("problem"))),
        ]),
        "gate": object(vec![
            ("type", nullable(text())),
            ("window", nullable(object(vec![
                ("open", flag()),
                ("since", instant()),
                ("until", instant()),
                ("reason", nullable(text())),
                ("timeZone", nullable(text())),
            ]))),
            ("kustomizations", list(reference("kustomization"))),
            ("jobs", list(reference("job"))),
            ("waits", reference("waits")),
        ]),
        "kustomization": object(vec![
            ("namespace", text()),
            ("name", text()),
            ("mechanism", one_of(&MechanismName::WORDS)),
            ("state", nullable(one_of(&State::WORDS))),
            ("setBy", nullable(object(vec![
                ("manager", text()),
                ("at", instant()),
                ("by", one_of(&["job", "flux", "git", "hand"])),
                ("job", nullable(text())),
            ]))),
            ("pinned", nullable(text())),
            ("note", nullable(text())),
            ("applied", nullable(text())),
            ("newest", nullable(text())),
        ]),
        "job": object(vec![
            ("namespace", nullable(text())),
            ("name", text()),
            ("present", flag()),
            ("suspended", flag()),
            ("asInGit", flag()),
            ("lastScheduled", instant()),
            ("missed", instant()),
            ("runs", list(object(vec![
                ("job", text()),
                ("started", instant()),
                ("ended", instant()),
                ("outcome", one_of(&Outcome::WORDS)),
                ("failures", json!({ "type": "integer", "minimum": 0 })),
                ("reason", nullable(text())),
            ]))),
        ]),
        "waits": object(vec![
            ("objects", list(object(vec![
                ("kustomization", object(vec![("namespace", text()), ("name", text())])),
                ("group", text()),
                ("kind", text()),
                ("namespace", nullable(text())),
                ("name", text()),
                ("change", one_of(&delivery::Kind::WORDS)),
            ]))),
            ("commits", list(object(vec![("hash", text()), ("subject", text())]))),
            ("unknown", list(text())),
        ]),
        "problem": object(vec![
            ("kind", one_of(&Kind::WORDS)),
            ("type", nullable(text())),
            ("message", text()),
            ("reasons", list(text())),
            ("steps", list(text())),
        ]),
    });
    top["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    top["title"] = json!("Answers of gitops-windows status");
    top["$defs"] = definitions;
    top
}
