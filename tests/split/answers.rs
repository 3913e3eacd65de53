//! `when` and `explain` give one answer about a file.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::divided::finished;
use crate::support::scratch::Scratch;

fn asked(scratch: &Scratch, arguments: &[&str]) -> Value {
    serde_json::from_str(&scratch.expect(0, arguments).stdout).unwrap()
}

#[test]
fn when_and_explain_agree_about_every_file_of_objects() {
    let scratch = finished("sample", &["edge-01", "edge-02"]);
    for file in [
        "apps/web/web-rw/deployment.yaml",
        "apps/web/web-rw/service.yaml",
        "apps/web/web-rt/configmap.yaml",
        "apps/probe/deployment.yaml",
        "clusters/edge-01/apps/web/namespace.yaml",
    ] {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let when = asked(&scratch, &["when", file, "--format", "json"]);
        let lines = when["lines"].as_array().unwrap().iter();
        let when: BTreeSet<_> = lines.map(|line| (text(&line["cluster"]), text(&line["type"]))).collect();
        let explain = asked(&scratch, &["explain", file, "--format", "json"]);
        let found = explain["objects"].as_array().unwrap().iter();
        let explain: BTreeSet<_> = found
            .flat_map(|one| {
                let consumers = one["consumers"].as_array().unwrap().iter();
                consumers.map(|consumer| (text(&consumer["cluster"]), text(&one["type"])))
            })
            .collect();
        assert_eq!(when, explain, "{file}");
    }
}
