//! How two renders differ, object by object and field by field.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::path::RepoPath;
use crate::render::{Object, RenderError, without_origin};
use crate::repo::manifest::ObjectId;
use crate::repo::secret;

/// How a render differs from what it must be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mismatch {
    /// An object is gone.
    Lost {
        /// The object.
        id: ObjectId,
    },
    /// An object is there that was not.
    Added {
        /// The object.
        id: ObjectId,
        /// The folder that renders it.
        folder: RepoPath,
    },
    /// Several folders render the object.
    Doubled {
        /// The object.
        id: ObjectId,
        /// The folders.
        folders: Vec<RepoPath>,
    },
    /// A field differs.
    Changed {
        /// The object.
        id: ObjectId,
        /// The field as a path, for example `spec.template.spec.volumes[0].configMap.name`.
        field: String,
        /// Its value before, as JSON; empty where it was missing, `*** (before)` where it is a Secret's.
        before: String,
        /// Its value after, as JSON; empty where it is missing, `*** (after)` where it is a Secret's.
        after: String,
    },
    /// A folder does not build.
    Unbuildable {
        /// The folder.
        folder: RepoPath,
        /// What the renderer says.
        message: String,
    },
}

impl Mismatch {
    /// Returns the object that differs; `None` where a folder does not build.
    pub fn id(&self) -> Option<&ObjectId> {
        match self {
            Mismatch::Lost { id }
            | Mismatch::Added { id, .. }
            | Mismatch::Doubled { id, .. }
            | Mismatch::Changed { id, .. } => Some(id),
            Mismatch::Unbuildable { .. } => None,
        }
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Mismatch::Lost { id } => write!(f, "{id} would be lost"),
            Mismatch::Added { id, folder } => write!(f, "{id} would be added by {folder}"),
            Mismatch::Doubled { id, folders } => {
                let folders: Vec<String> = folders.iter().map(ToString::to_string).collect();
                write!(f, "{id} would be applied by {}", folders.join(" and by "))
            }
            Mismatch::Changed { id, field, before, after } => {
                let shown = |text: &str| if text.is_empty() { "nothing".to_owned() } else { text.to_owned() };
                write!(f, "{id} would change: {field} from {} to {}", shown(before), shown(after))
            }
            Mismatch::Unbuildable { folder, message } => write!(f, "{folder} would not build: {message}"),
        }
    }
}

/// Tells all objects that folders build where nothing was built before.
pub(super) fn appeared(parts: &[(&RepoPath, &Result<Vec<Object>, RenderError>)]) -> Vec<Mismatch> {
    let objects = parts.iter().filter_map(|(path, result)| Some((*path, result.as_ref().ok()?)));
    objects
        .flat_map(|(path, objects)| {
            objects
                .iter()
                .map(|object| Mismatch::Added { id: ObjectId::of(&object.value), folder: path.clone() })
        })
        .collect()
}

/// Compares a list of objects with the union of several builds.
pub fn compare(before: &[Object], parts: &[(&RepoPath, &Result<Vec<Object>, RenderError>)]) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    let mut found: BTreeMap<ObjectId, Vec<(&RepoPath, &Value)>> = BTreeMap::new();
    for (path, result) in parts {
        match result {
            Ok(objects) => {
                for object in objects {
                    found.entry(ObjectId::of(&object.value)).or_default().push((path, &object.value));
                }
            }
            Err(error) => mismatches
                .push(Mismatch::Unbuildable { folder: (*path).clone(), message: error.message.clone() }),
        }
    }
    if !mismatches.is_empty() {
        return mismatches;
    }
    for object in before {
        let id = ObjectId::of(&object.value);
        match found.remove(&id).as_deref() {
            None => mismatches.push(Mismatch::Lost { id }),
            Some([(_, value)]) => differences(&id, &object.value, value, &mut mismatches),
            Some(several) => mismatches.push(Mismatch::Doubled {
                id,
                folders: several.iter().map(|(path, _)| (*path).clone()).collect(),
            }),
        }
    }
    for (id, places) in found {
        for (path, _) in places {
            mismatches.push(Mismatch::Added { id: id.clone(), folder: path.clone() });
        }
    }
    mismatches
}

/// Compares two states of an object, but not where kustomize says that its file lies.
pub(crate) fn differences(id: &ObjectId, a: &Value, b: &Value, found: &mut Vec<Mismatch>) {
    walk(id, "", Some(&*without_origin(a)), Some(&*without_origin(b)), found);
}

/// Walks two values side by side; the order of keys means nothing, that of items everything.
fn walk(id: &ObjectId, field: &str, a: Option<&Value>, b: Option<&Value>, found: &mut Vec<Mismatch>) {
    match (a, b) {
        (Some(a), Some(b)) if a == b => {}
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let field = if field.is_empty() { key.clone() } else { format!("{field}.{key}") };
                walk(id, &field, a.get(key), b.get(key), found);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for index in 0..a.len().max(b.len()) {
                walk(id, &format!("{field}[{index}]"), a.get(index), b.get(index), found);
            }
        }
        (a, b) => {
            let is_hidden = secret::is_value(id, field);
            let text = |value: Option<&Value>, side| match value {
                Some(_) if is_hidden => format!("*** ({side})"),
                value => value.map(ToString::to_string).unwrap_or_default(),
            };
            found.push(Mismatch::Changed {
                id: id.clone(),
                field: field.to_owned(),
                before: text(a, "before"),
                after: text(b, "after"),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn object(name: &str, data: Value) -> Object {
        Object {
            value: Arc::new(
                json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": data }),
            ),
            origin: None,
        }
    }

    fn folder(name: &str) -> RepoPath {
        RepoPath::parse(name).unwrap()
    }

    #[test]
    fn values_of_secrets_are_not_told() {
        let secret = |data: Value| {
            let value =
                json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "a" }, "data": data });
            Object { value: Arc::new(value), origin: None }
        };
        let after = Ok(vec![secret(json!({ "k": "c2Vjb25k", "new": "bmV3" }))]);
        let found = compare(&[secret(json!({ "k": "Zmlyc3Q=" }))], &[(&folder("rt"), &after)]);
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "Secret a would change: data.k from *** (before) to *** (after)",
                "Secret a would change: data.new from nothing to *** (after)",
            ]
        );
    }

    #[test]
    fn invariant_5_a_disjoint_union_is_equal() {
        let before = [object("a", json!({})), object("b", json!({}))];
        let (rt, rw) = (Ok(vec![object("b", json!({}))]), Ok(vec![object("a", json!({}))]));
        assert_eq!(compare(&before, &[(&folder("rt"), &rt), (&folder("rw"), &rw)]), []);
    }

    #[test]
    fn every_kind_of_mismatch_names_its_object() {
        let before =
            [object("a", json!({})), object("b", json!({})), object("c", json!({ "k": ["x", "y"] }))];
        let rt = Ok(vec![object("a", json!({})), object("c", json!({ "k": ["x", "z"] }))]);
        let rw = Ok(vec![object("a", json!({})), object("d", json!({}))]);
        let texts: Vec<String> = compare(&before, &[(&folder("rt"), &rt), (&folder("rw"), &rw)])
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            texts,
            [
                "ConfigMap a would be applied by rt and by rw",
                "ConfigMap b would be lost",
                "ConfigMap c would change: data.k[1] from \"y\" to \"z\"",
                "ConfigMap d would be added by rw",
            ]
        );
    }
}
