//! Who set which field of an object: `metadata.managedFields`.

use jiff::Timestamp;
use serde_json::Value;

/// The managers that Flux's controllers, Flux Operator and the `flux` command set fields as. The jobs of gates set theirs
/// as `flux` too, since kustomize-controller takes back what plain `kubectl` sets.
const OF_FLUX: [&str; 6] = [
    "flux",
    "flux-operator",
    "kustomize-controller",
    "source-controller",
    "gotk-kustomize-controller",
    "gotk-source-controller",
];

/// A field manager, and when it last changed something of what it owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its name, as it calls itself.
    pub manager: String,
    /// The instant of its last change of the object, so its own field is as old as that or older.
    pub at: Option<Timestamp>,
}

impl Owner {
    /// Returns whether it is one of Flux's own, or the `flux` command.
    pub fn is_of_flux(&self) -> bool {
        OF_FLUX.contains(&self.manager.as_str())
    }

    /// Returns whether it sets what Git says.
    pub fn is_of_git(&self) -> bool {
        self.is_of_flux() && self.manager != "flux"
    }

    fn of(entry: &Value) -> Owner {
        let at = entry["time"].as_str().and_then(|time| time.parse().ok());
        Owner { manager: entry["manager"].as_str().unwrap_or_default().to_owned(), at }
    }
}

/// Returns who owns a field of an object: of several the one that changed something last.
pub fn owner(object: &Value, path: &[&str]) -> Option<Owner> {
    let owns = |entry: &&Value| {
        let mut at = &entry["fieldsV1"];
        path.iter().all(|name| {
            at = &at[format!("f:{name}")];
            !at.is_null()
        })
    };
    entries(object).filter(owns).map(Owner::of).max_by_key(|owner| owner.at)
}

/// Returns the managers whose names begin with `kubectl`, each with the fields of which it is the only owner, but for
/// notes of kubectl's own: what somebody changed by hand.
pub fn by_hand(object: &Value) -> Vec<(Owner, Vec<String>)> {
    let (hands, others): (Vec<&Value>, Vec<&Value>) =
        entries(object).partition(|entry| Owner::of(entry).manager.starts_with("kubectl"));
    let kept: Vec<Vec<String>> = others.into_iter().flat_map(|entry| leaves(&entry["fieldsV1"])).collect();
    let mut found = Vec::new();
    for entry in hands {
        let mut fields = leaves(&entry["fieldsV1"]);
        fields.retain(|path| {
            !kept.contains(path) && !path.iter().any(|name| name.starts_with("kubectl.kubernetes.io/"))
        });
        if !fields.is_empty() {
            found.push((Owner::of(entry), fields.into_iter().map(|path| path.join(".")).collect()));
        }
    }
    found
}

/// Returns the entries about the object itself, and not about its status.
fn entries(object: &Value) -> impl Iterator<Item = &Value> {
    let all = object["metadata"]["managedFields"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|entry| entry["subresource"].as_str().unwrap_or_default().is_empty())
}

/// Returns the fields that stand at the ends of a set (sigs.k8s.io/structured-merge-diff, `fieldpath`): `f:NAME` is a
/// field, and an item of a list is told by its list.
fn leaves(set: &Value) -> Vec<Vec<String>> {
    let Some(fields) = set.as_object() else { return Vec::new() };
    let mut found = Vec::new();
    for (key, below) in fields {
        let Some(name) = key.strip_prefix("f:") else { continue };
        let ends = leaves(below);
        if ends.is_empty() {
            found.push(vec![name.to_owned()]);
        }
        found.extend(ends.into_iter().map(|end| [vec![name.to_owned()], end].concat()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object() -> Value {
        json!({ "metadata": { "managedFields": [
            {
                "manager": "kustomize-controller", "operation": "Apply", "time": "2026-11-28T10:00:00Z",
                "fieldsV1": { "f:spec": { "f:interval": {}, "f:path": {}, "f:patches": {} } },
            },
            {
                "manager": "kubectl-edit", "operation": "Update", "time": "2026-11-29T09:12:00Z",
                "fieldsV1": {
                    "f:metadata": { "f:annotations": { ".": {}, "f:kubectl.kubernetes.io/x": {}, "f:who": {} } },
                    "f:spec": { "f:interval": {}, "f:timeout": {}, "f:suspend": {}, "f:dependsOn": { "k:{\"name\":\"a\"}": { ".": {} } } },
                },
            },
            {
                "manager": "kustomize-controller", "operation": "Update", "subresource": "status",
                "time": "2026-11-29T09:13:00Z", "fieldsV1": { "f:spec": { "f:suspend": {} } },
            },
        ] } })
    }

    #[test]
    fn a_field_has_the_owner_that_changed_last() {
        let found = owner(&object(), &["spec", "suspend"]).unwrap();
        assert_eq!(found.manager, "kubectl-edit");
        assert_eq!(found.at, "2026-11-29T09:12:00Z".parse().ok());
        assert!(!found.is_of_flux());
        assert!(owner(&object(), &["spec", "path"]).unwrap().is_of_git());
        assert_eq!(owner(&object(), &["spec", "ref", "commit"]), None);
    }

    #[test]
    fn what_kubectl_alone_owns_was_set_by_hand() {
        let found = by_hand(&object());
        let fields: Vec<&str> = found[0].1.iter().map(String::as_str).collect();
        assert_eq!(fields, ["metadata.annotations.who", "spec.dependsOn", "spec.suspend", "spec.timeout"]);
        assert_eq!(found.len(), 1);
    }
}
