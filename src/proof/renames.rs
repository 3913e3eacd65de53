//! Flux Kustomizations that a plan takes away or brings, and what the proof forgives for them.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::render::Object;
use crate::repo::flux;
use crate::repo::manifest::ObjectId;

/// A Flux Kustomization of a cluster: (cluster, namespace, name). The namespace is empty where
/// something else gives it; then any counts.
pub type FluxName = (String, String, String);

/// Flux Kustomizations that a plan takes away or brings, in all clusters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renames {
    /// Those that go.
    pub gone: BTreeSet<FluxName>,
    /// Those that come, or stand already and take over.
    pub come: BTreeSet<FluxName>,
    /// Those of other clusters that stay, called like one that goes.
    pub stay: BTreeSet<FluxName>,
}

impl Renames {
    /// Returns whether none comes or goes.
    pub fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.come.is_empty()
    }

    /// Adds those of another step.
    pub fn extend(&mut self, other: &Renames) {
        self.gone.extend(other.gone.iter().cloned());
        self.come.extend(other.come.iter().cloned());
        self.stay.extend(other.stay.iter().cloned());
    }

    /// Returns what they mean for a build that only these clusters get.
    pub fn of<'c>(&self, clusters: impl IntoIterator<Item = &'c str>) -> Renamed {
        let clusters: BTreeSet<&str> = clusters.into_iter().collect();
        let bare = |(_, namespace, name): &FluxName| (namespace.clone(), name.clone());
        let is_own = |one: &&FluxName| clusters.contains(one.0.as_str());
        let stay: BTreeSet<(String, String)> = self.stay.iter().filter(is_own).map(bare).collect();
        let is_needed = |one: &&FluxName| !is_own(one) && stay.contains(&bare(one));
        Renamed {
            gone: self.gone.iter().filter(is_own).map(bare).collect(),
            // An Alert that clusters share loses a name when the last of them hands over.
            unnamed: self.gone.iter().filter(|one| !is_needed(one)).map(bare).collect(),
            // An Alert that clusters share names the successors in each of them.
            come: self.come.iter().map(bare).collect(),
        }
    }
}

/// [`Renames`] as one build sees them: by namespace and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renamed {
    gone: BTreeSet<(String, String)>,
    unnamed: BTreeSet<(String, String)>,
    come: BTreeSet<(String, String)>,
}

impl Renamed {
    pub(super) fn is_empty(&self) -> bool {
        self.unnamed.is_empty() && self.come.is_empty()
    }

    /// Returns whether one goes.
    pub(super) fn goes(&self, namespace: &str, name: &str) -> bool {
        holds(&self.gone, namespace, name)
    }

    /// Returns whether an Alert, or whatever waits for others, may name one or not.
    fn speaks_of(&self, namespace: &str, name: &str) -> bool {
        holds(&self.unnamed, namespace, name) || holds(&self.come, namespace, name)
    }
}

fn holds(names: &BTreeSet<(String, String)>, namespace: &str, name: &str) -> bool {
    let is_it = |of: &str| of.is_empty() || namespace.is_empty() || of == namespace;
    names.iter().any(|(of, other)| other == name && is_it(of))
}

/// Takes the names of some Flux Kustomizations away from an Alert or a Receiver.
pub(crate) fn without_names(mut object: Object, renamed: &Renamed) -> Object {
    let field = flux::watches(&object.value).filter(|_| !renamed.is_empty());
    let own = object.value["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    if let Some(list) = field.and_then(|field| Arc::make_mut(&mut object.value)["spec"][field].as_array_mut())
    {
        list.retain(|item| {
            let namespace = item["namespace"].as_str().unwrap_or(&own);
            flux::names_kustomization(item).is_none_or(|name| !renamed.speaks_of(namespace, name))
        });
    }
    object
}

/// Takes the names of some Flux Kustomizations away from those that one waits for.
pub(super) fn without_awaited(mut object: Object, renamed: &Renamed) -> Object {
    if renamed.is_empty() || ObjectId::of(&object.value).group != flux::GROUP {
        return object;
    }
    let own = object.value["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    let Some(spec) = Arc::make_mut(&mut object.value)["spec"].as_object_mut() else { return object };
    if let Some(list) = spec.get_mut("dependsOn").and_then(Value::as_array_mut) {
        list.retain(|item| {
            let namespace = item["namespace"].as_str().unwrap_or(&own);
            item["name"].as_str().is_none_or(|name| !renamed.speaks_of(namespace, name))
        });
        if list.is_empty() {
            spec.remove("dependsOn");
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn renames() -> Renames {
        let name = |name: &str| ("north".to_owned(), "flux-system".to_owned(), name.to_owned());
        let other = ("south".to_owned(), "flux-system".to_owned(), "apps".to_owned());
        Renames { gone: [name("apps")].into(), come: [name("apps-rt")].into(), stay: [other].into() }
    }

    #[test]
    fn only_what_goes_in_a_cluster_may_be_lost_there() {
        let (north, south) = (renames().of(["north"]), renames().of(["south"]));
        assert!(north.goes("flux-system", "apps"));
        assert!(!north.goes("other", "apps") && !north.goes("flux-system", "apps-rt"));
        assert!(!south.goes("flux-system", "apps"));
    }

    #[test]
    fn only_those_that_come_or_go_may_be_awaited_or_not() {
        let left = |names: &[&str]| {
            let items: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
            let value = json!({
                "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
                "kind": "Kustomization",
                "metadata": { "name": "issuer", "namespace": "flux-system" },
                "spec": { "prune": true, "dependsOn": items },
            });
            without_awaited(Object { value: value.into(), origin: None }, &renames().of(["north"])).value["spec"].clone()
        };
        assert_eq!(left(&["apps", "apps-rt"]), json!({ "prune": true }));
        let kept = json!({ "prune": true, "dependsOn": [{ "name": "db" }] });
        assert_eq!(left(&["db", "apps"]), kept);
    }

    #[test]
    fn an_alert_is_forgiven_by_namespace_group_and_cluster() {
        let left = |cluster: &str| {
            let alert = json!({
                "apiVersion": "notification.toolkit.fluxcd.io/v1beta3",
                "kind": "Alert",
                "metadata": { "name": "chat", "namespace": "flux-system" },
                "spec": { "eventSources": [
                    { "kind": "Kustomization", "name": "apps" },
                    { "kind": "Kustomization", "name": "apps-rt" },
                    { "kind": "Kustomization", "name": "apps", "namespace": "other" },
                    { "kind": "Kustomization", "name": "apps", "apiVersion": "example.org/v1" },
                    { "kind": "HelmRelease", "name": "apps" },
                ] },
            });
            let object =
                without_names(Object { value: alert.into(), origin: None }, &renames().of([cluster]));
            object.value["spec"]["eventSources"].as_array().map_or(0, Vec::len)
        };
        // The last one handed over before, and reads the same file.
        assert_eq!((left("north"), left("south"), left("west")), (3, 4, 3));
    }
}
