//! What the tool believes of a cluster, compared with what Flux made of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::fleet::Fleet;

/// Where the Flux Kustomizations of all namespaces are.
const EVERYWHERE: &str = "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations";

/// Flux Kustomizations by namespace and name, with what both sides say of each.
type Kustomizations = BTreeMap<String, Value>;

/// Compares all Flux Kustomizations of all clusters: path, source, `prune`, and which one applied it.
///
/// `suspend` is left out, since gates change it.
///
/// # Panics
///
/// When something differs.
#[track_caller]
pub fn holds(fleet: &Fleet, step: &str) {
    let belief: Value = serde_json::from_str(&fleet.tool(&["clusters", "--format", "json"])).unwrap();
    for cluster in &fleet.clusters {
        let (believed, found) = (believed(&belief, &cluster.name), found(cluster));
        println!("belief: {}, {step}: {} Flux Kustomizations", cluster.name, found.len());
        assert_eq!(believed, found, "{}, {step}: the belief (left) is not what Flux made", cluster.name);
    }
}

fn believed(belief: &Value, cluster: &str) -> Kustomizations {
    let mut all = belief["clusters"].as_array().unwrap().iter();
    let own = all.find(|own| own["name"] == cluster).unwrap_or_else(|| panic!("no {cluster}: {belief:#}"));
    let told = own["kustomizations"].as_array().unwrap().iter().map(|one| {
        let path = one["path"].as_str().unwrap().to_owned();
        (id(one), fact(&path, &one["source"], &one["prune"], one["appliedBy"].as_str()))
    });
    distinct(told)
}

fn found(cluster: &Cluster) -> Kustomizations {
    let made = cluster.api.list(EVERYWHERE).into_iter().map(|one| {
        let (metadata, spec) = (&one["metadata"], &one["spec"]);
        let label = |name: &str| metadata["labels"][format!("kustomize.toolkit.fluxcd.io/{name}")].as_str();
        let by = label("name").map(|name| format!("{}/{name}", label("namespace").unwrap()));
        let path = spec["path"].as_str().unwrap().trim_start_matches("./").trim_end_matches('/');
        let mut source = spec["sourceRef"].clone();
        if source["namespace"].is_null() {
            source["namespace"] = metadata["namespace"].clone();
        }
        (id(metadata), fact(path, &source, &spec["prune"], by.as_deref()))
    });
    distinct(made)
}

/// Keeps them by id, none of which may come twice.
fn distinct(all: impl Iterator<Item = (String, Value)>) -> Kustomizations {
    let mut found = Kustomizations::new();
    for (id, fact) in all {
        assert!(found.insert(id.clone(), fact).is_none(), "{id} is there twice");
    }
    found
}

fn id(metadata: &Value) -> String {
    format!("{}/{}", metadata["namespace"].as_str().unwrap(), metadata["name"].as_str().unwrap())
}

fn fact(path: &str, source: &Value, prune: &Value, applied_by: Option<&str>) -> Value {
    let source = ["kind", "namespace", "name"].map(|key| source[key].as_str().unwrap());
    json!({ "path": path, "source": source.join("/"), "prune": prune, "appliedBy": applied_by })
}
