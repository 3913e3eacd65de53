//! The lists for services.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::schedule::Interval;
use crate::spec::windows::{VERSION, revision};
use crate::spec::{CalendarFile, Clusters, Spec};

/// Answers with every freeze: the types and clusters that it is about, and how it stands to an instant.
///
/// `until` is the first instant after it, in UTC. The form is [`schema`](crate::spec::windows::schema())'s `FreezeList`.
pub fn freezes(spec: &Spec, bytes: &[u8], now: Timestamp) -> Value {
    let all: Vec<Value> = spec
        .freezes
        .iter()
        .map(|freeze| {
            let mut value = stretch(freeze.interval, &freeze.reason, now);
            value.insert("name".into(), freeze.name.value.as_str().into());
            let is_one = |name: &str| freeze.types.is_empty() || freeze.types.iter().any(|own| **own == name);
            let gated = spec.gated_types().map(|one| one.name.as_str());
            value.insert("types".into(), gated.filter(|name| is_one(name)).collect::<Vec<_>>().into());
            about(spec, &freeze.clusters, &mut value);
            if let Some(CalendarFile { path, sha256 }) = &freeze.calendar {
                value.insert("calendar".into(), json!({ "path": path.as_str(), "sha256": sha256 }));
            }
            Value::Object(value)
        })
        .collect();
    json!({ "version": VERSION, "kind": "FreezeList", "revision": revision(bytes), "freezes": all })
}

/// Answers with every override, as [`freezes`] does.
pub fn overrides(spec: &Spec, bytes: &[u8], now: Timestamp) -> Value {
    let all: Vec<Value> = spec
        .overrides
        .iter()
        .map(|given| {
            let mut value = stretch(given.interval, &given.reason, now);
            value.insert("type".into(), given.type_name.value.as_str().into());
            about(spec, &given.clusters, &mut value);
            Value::Object(value)
        })
        .collect();
    json!({ "version": VERSION, "kind": "OverrideList", "revision": revision(bytes), "overrides": all })
}

fn stretch(interval: Interval, reason: &str, now: Timestamp) -> Map<String, Value> {
    let mut value = Map::new();
    value.insert("from".into(), interval.open.to_string().into());
    value.insert("until".into(), interval.close.to_string().into());
    value.insert("state".into(), state(interval, now).into());
    value.insert("reason".into(), reason.into());
    value
}

/// Says how a time stands to an instant: `ahead`, `now` or `over`.
pub(super) fn state(interval: Interval, now: Timestamp) -> &'static str {
    if now < interval.open {
        "ahead"
    } else if now < interval.close {
        "now"
    } else {
        "over"
    }
}

fn about(spec: &Spec, clusters: &Clusters, value: &mut Map<String, Value>) {
    let own = spec.clusters.keys().filter(|name| spec.is_one_of(name, clusters));
    value.insert("clusters".into(), own.map(String::as_str).collect::<Vec<_>>().into());
    if let Clusters::Labelled(labels) = clusters {
        let labels = labels.iter().map(|(key, label)| (key.clone(), label.value.as_str().into()));
        value.insert("labels".into(), Value::Object(labels.collect()));
    }
}
