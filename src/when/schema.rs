//! The JSON Schema of the answer for programs.

use serde_json::{Value, json};

use crate::delivery::fleet::GateState;
use crate::text::json_schema::{list, nullable, object, one_of};
use crate::when::json::VERSION;
use crate::when::note::kinds;
use crate::when::{CloseReason, Reason};

/// Returns the JSON Schema (draft 2020-12) of what `when --format json` prints; [`json`](crate::when::json()) says what its
/// fields mean.
pub fn schema() -> Value {
    let (text, truth) = (|| json!({ "type": "string" }), || json!({ "type": "boolean" }));
    let instant = || json!({ "type": "string", "format": "date-time" });
    let time = || nullable(json!({ "$ref": "#/$defs/time" }));
    let stretch = || nullable(json!({ "$ref": "#/$defs/stretch" }));
    let line = object(vec![
        ("cluster", text()),
        ("type", nullable(text())),
        ("entryPoint", nullable(text())),
        (
            "kustomization",
            nullable(object(vec![
                ("name", text()),
                ("namespace", text()),
                ("inGit", truth()),
                ("interval", nullable(text())),
                ("suspended", truth()),
                ("after", nullable(one_of(&["push", "tag", "commit"]))),
            ])),
        ),
        ("realTime", truth()),
        ("gate", one_of(&GateState::ALL.map(GateState::as_str))),
        ("open", truth()),
        ("doubt", nullable(text())),
        ("reason", one_of(&Reason::ALL.map(Reason::as_str))),
        ("timeZone", nullable(text())),
        ("timeZones", list(text())),
        ("windowOpen", nullable(truth())),
        ("nextOpen", time()),
        ("nextClose", time()),
        ("letsInUntil", time()),
        ("nextCloseReason", nullable(one_of(&CloseReason::ALL.map(CloseReason::as_str)))),
        ("nextFreeze", stretch()),
        ("gateSince", time()),
        ("gateChanges", time()),
        ("reaches", time()),
        ("delay", stretch()),
        ("freeze", stretch()),
        ("override", stretch()),
        ("race", time()),
    ]);
    let kinds: Vec<&str> = kinds().collect();
    let note = object(vec![
        ("kind", one_of(&kinds)),
        ("clusters", list(text())),
        ("message", text()),
        ("help", text()),
    ]);
    let mut top = object(vec![
        ("version", json!({ "const": VERSION })),
        ("at", object(vec![("utc", instant()), ("local", instant())])),
        ("localTimeZone", nullable(text())),
        ("timeZoneDatabase", nullable(text())),
        ("lines", list(line)),
        ("unreached", list(text())),
        ("notes", list(note)),
    ]);
    top["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    top["title"] = json!("Answers of gitops-windows when");
    top["$defs"] = json!({
        "time": object(vec![("utc", instant()), ("cluster", instant()), ("local", instant())]),
        "stretch": object(vec![
            ("from", json!({ "$ref": "#/$defs/time" })),
            ("until", json!({ "$ref": "#/$defs/time" })),
            ("reason", text()),
        ]),
    });
    top
}
