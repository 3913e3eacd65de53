//! The answers for services.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::schedule::{Length, WindowKey};
use crate::spec::windows::{VERSION, revision, unknown_cluster, unknown_window};
use crate::spec::{Cluster, Spec, WindowDef, WindowUse};

/// Answers with every window, and who uses it: types and clusters.
///
/// The form is [`schema`](crate::spec::schema())'s `WindowList`; everything is in the order of the spec.
pub fn list(spec: &Spec, bytes: &[u8]) -> Value {
    let windows = spec.windows.values().map(|definition| {
        let mut window = window(definition);
        let name = definition.name.as_ref().map(|name| name.value.as_str());
        window.insert("usedBy".into(), used_by(spec, name.unwrap_or_default()).into());
        Value::Object(window)
    });
    let types = spec.types.iter().map(|change_type| {
        let names: Vec<&str> = change_type.windows.iter().map(|name| name.as_str()).collect();
        json!({ "name": change_type.name.value, "windows": names })
    });
    json!({
        "version": VERSION,
        "kind": "WindowList",
        "revision": revision(bytes),
        "windows": windows.collect::<Vec<_>>(),
        "types": types.collect::<Vec<_>>(),
        "clusters": spec.clusters.values().map(|own| cluster(spec, own)).collect::<Vec<_>>(),
    })
}

/// Answers with one named window.
///
/// # Errors
///
/// When there is none of that name.
pub fn get(spec: &Spec, bytes: &[u8], name: &str) -> Result<Value, Error> {
    let definition = spec.windows.get(name).ok_or_else(|| unknown_window(spec, name))?;
    let mut window = window(definition);
    window.insert("usedBy".into(), used_by(spec, name).into());
    Ok(json!({ "version": VERSION, "kind": "Window", "revision": revision(bytes), "window": window }))
}

/// Answers with the windows of one cluster, by type.
///
/// # Errors
///
/// When the spec has no such cluster.
pub fn of_cluster(spec: &Spec, bytes: &[u8], name: &str) -> Result<Value, Error> {
    let own = spec.clusters.get(name).ok_or_else(|| unknown_cluster(spec, name))?;
    Ok(json!({
        "version": VERSION,
        "kind": "ClusterWindows",
        "revision": revision(bytes),
        "cluster": cluster(spec, own),
    }))
}

/// Answers what an edit did: the revision that it found, that which it leaves, the difference as
/// [`diff::json`](crate::diff::json()) has it, and the clusters that it should reach and does not.
pub fn changed(
    before: &[u8],
    after: &[u8],
    changes: &Value,
    unreached: &BTreeSet<String>,
    written: bool,
) -> Value {
    json!({
        "version": VERSION,
        "kind": "WindowChange",
        "before": revision(before),
        "revision": revision(after),
        "written": written,
        "changes": changes,
        "unreached": unreached,
    })
}

fn window(definition: &WindowDef) -> Map<String, Value> {
    let mut window = Map::new();
    if let Some(name) = &definition.name {
        window.insert("name".into(), name.value.as_str().into());
    }
    for key in WindowKey::all() {
        if let Some(text) = definition.text(key) {
            window.insert(key.as_str().into(), text.value.as_str().into());
        }
    }
    window
}

/// Who has a named window.
pub(super) struct User<'a> {
    /// The type.
    pub change_type: &'a str,
    /// The cluster that has it instead of the type's own; `None` for the type itself.
    pub cluster: Option<&'a str>,
}

/// Returns the types, and the types of clusters, that have a named window.
pub(super) fn users<'a>(spec: &'a Spec, name: &str) -> Vec<User<'a>> {
    let types = spec
        .types
        .iter()
        .filter(|change_type| change_type.windows.iter().any(|window| window.value == name))
        .map(|change_type| User { change_type: change_type.name.value.as_str(), cluster: None });
    let clusters = spec.clusters.values().flat_map(|cluster| {
        let named = |uses: &[WindowUse]| {
            uses.iter().any(|window| matches!(window, WindowUse::Named(other) if other.value == name))
        };
        let types = cluster.windows.iter().filter(move |(_, uses)| named(uses));
        let of_cluster = Some(cluster.name.value.as_str());
        types.map(move |(change_type, _)| User { change_type: change_type.as_str(), cluster: of_cluster })
    });
    types.chain(clusters).collect()
}

fn used_by(spec: &Spec, name: &str) -> Vec<Value> {
    let json = |user: &User<'_>| match user.cluster {
        None => json!({ "type": user.change_type }),
        Some(cluster) => json!({ "type": user.change_type, "cluster": cluster }),
    };
    users(spec, name).iter().map(json).collect()
}

fn cluster(spec: &Spec, cluster: &Cluster) -> Value {
    let name = cluster.name.as_str();
    let gated = spec.gated_types();
    let types = gated.map(|change_type| {
        let type_name = change_type.name.as_str();
        let windows = spec.windows_of(name, type_name).into_iter().map(|definition| window(definition));
        json!({
            "type": type_name,
            "own": cluster.windows.contains_key(type_name),
            "windows": windows.collect::<Vec<_>>(),
        })
    });
    let mut answer =
        json!({ "name": name, "enabled": spec.gate_enabled(name), "types": types.collect::<Vec<_>>() });
    if let Some(later) = Length::from_minutes(spec.later(name)) {
        answer["later"] = later.to_string().into();
    }
    answer
}
