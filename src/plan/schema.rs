//! The JSON Schema of a plan.

use serde_json::{Value, json};

use crate::diff;
use crate::plan::{Stage, Way};
use crate::text::json_schema::{answers, list, object, object_with, one_of, text, truth};

/// Returns the JSON Schema (draft 2020-12) of what commands print with `--format json` that write a plan.
pub fn schema() -> Value {
    let mut top = diff::schema();
    let side = object(vec![("type", text()), ("path", text())]);
    let app = object(vec![("app", text()), ("way", one_of(&Way::WORDS)), ("reason", text())]);
    let entry = object_with(
        vec![
            ("cluster", text()),
            ("before", object(vec![("path", text())])),
            ("after", list(side)),
            ("way", one_of(&Way::WORDS)),
            ("reason", text()),
            ("apps", list(app)),
            ("remaining", list(text())),
        ],
        vec![("remedy", text())],
    );
    let standing = object_with(
        vec![
            ("cluster", text()),
            ("path", text()),
            ("stage", one_of(&Stage::WORDS)),
            ("old", list(text())),
            ("new", list(object(vec![("type", text()), ("kustomization", text())]))),
        ],
        vec![("reason", text()), ("remedy", text())],
    );
    let command = object(vec![("cluster", text()), ("purpose", text()), ("command", list(text()))]);
    let properties = [
        ("entryPoints", list(entry)),
        ("standings", list(standing)),
        ("commands", list(command)),
        ("written", truth()),
    ];
    for (name, value) in properties {
        top["properties"][name] = value;
    }
    top["required"] = json!(["version", "changes", "entryPoints", "commands", "written"]);
    answers("init, split, join, sync, diff and migrate", top)
}
