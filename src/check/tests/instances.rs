//! What a change deletes of what the Flux Kustomizations of FluxInstances apply.

use super::deletions::{FROM_HERE, cluster, kustomization, none, one, told};
use super::repository::Files;

/// As [`cluster`], where a FluxInstance makes what builds `clusters/edge`.
fn synced(files: &Files) -> Files {
    let mut files = files.clone();
    files.remove("clusters/edge/flux-system/gotk-sync.yaml");
    files.insert(
        "clusters/edge/flux-system/kustomization.yaml".to_owned(),
        "resources: [instance.yaml]\n".to_owned(),
    );
    let instance = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: { name: flux, namespace: flux-system }\nspec:\n  distribution: { version: 2.x, registry: ghcr.io/fluxcd }\n  sync: { kind: GitRepository, url: 'https://example.org/fleet', ref: refs/heads/main, path: ./clusters/edge }\n";
    files.insert("clusters/edge/flux-system/instance.yaml".to_owned(), instance.to_owned());
    files
}

#[test]
fn what_a_flux_instance_makes_prunes_as_what_stands_in_a_file() {
    let mut before = cluster("", &[]);
    let space = "apiVersion: v1\nkind: Namespace\nmetadata: { name: zz }\n".to_owned();
    before.insert("clusters/edge/zz.yaml".to_owned(), space.clone());
    let mut gone = before.clone();
    gone.remove("clusters/edge/zz.yaml");
    let mut moved = gone.clone();
    moved.insert("extra/zz.yaml".to_owned(), space);
    let extra = kustomization("extra", "extra", &format!("  prune: true\n{FROM_HERE}"));
    moved.insert("clusters/edge/extra.yaml".to_owned(), extra);
    let [of_file, of_instance] = [|files: &Files| files.clone(), synced].map(|of| {
        let before = of(&before);
        one(
            &before,
            &of(&gone),
            "GW054",
            "this change takes 1 object from flux-system, which deletes it: Namespace zz",
        );
        one(&before, &of(&moved), "GW012", "flux-system loses Namespace zz while extra starts to apply it");
        told(&before, &of(&moved))
    });
    assert_eq!(of_file, of_instance);
    // Flux Operator lets all stand as the FluxInstance goes.
    let mut without = synced(&before);
    without.remove("clusters/edge/flux-system/instance.yaml");
    without.remove("clusters/edge/flux-system/kustomization.yaml");
    none(&synced(&before), &without);
}

const INSTANCE: &str = "clusters/edge/flux-system/instance.yaml";
const SYNC: &str = "sync: { kind: GitRepository, ";

/// A cluster with a Namespace that a FluxInstance brings, and that with an edit of the FluxInstance.
fn edited(from: &str, to: &str) -> [Files; 2] {
    let mut before = cluster("", &[]);
    let space = "apiVersion: v1\nkind: Namespace\nmetadata: { name: zz }\n".to_owned();
    before.insert("clusters/edge/zz.yaml".to_owned(), space);
    let before = synced(&before);
    let mut after = before.clone();
    let text = after.get_mut(INSTANCE).unwrap();
    assert!(text.contains(from), "{text}");
    *text = text.replace(from, to);
    [before, after]
}

/// Flux Operator collects what a FluxInstance makes no more, and kustomize-controller prunes as that goes.
#[test]
fn what_a_flux_instance_that_stays_makes_no_more_goes_with_its_objects() {
    let [before, after] = edited(SYNC, "former: { kind: GitRepository, ");
    one(
        &before,
        &after,
        "GW054",
        "flux-system leaves Git, which deletes 2 objects that it applied: FluxInstance flux-system/flux, Namespace zz",
    );
    // What Flux Operator leaves alone stays.
    let mut idle = after;
    let text = idle.get_mut(INSTANCE).unwrap();
    let annotation = "annotations: { fluxcd.controlplane.io/reconcile: Disabled }";
    *text = text.replace("namespace: flux-system }", &format!("namespace: flux-system, {annotation} }}"));
    none(&before, &idle);
}

#[test]
fn a_sync_that_gets_a_name_makes_another_one() {
    let [before, after] = edited(SYNC, "sync: { kind: GitRepository, name: fleet, ");
    one(
        &before,
        &after,
        "GW012",
        "flux-system goes while fleet starts to apply FluxInstance flux-system/flux, Namespace zz",
    );
    // Also where it stands in another file by then.
    let mut elsewhere = after;
    let text = elsewhere.remove(INSTANCE).unwrap();
    elsewhere.insert("clusters/edge/operator.yaml".to_owned(), text);
    elsewhere.remove("clusters/edge/flux-system/kustomization.yaml");
    one(&before, &elsewhere, "GW012", "flux-system goes while fleet starts to apply FluxInstance");
    // The same name is no other one.
    let [before, after] = edited(SYNC, "sync: { kind: GitRepository, name: flux-system, ");
    none(&before, &after);
}

#[test]
fn a_sync_whose_folder_is_not_known_goes_on() {
    for path in ["./elsewhere", "'./${CLUSTER}'"] {
        let [before, after] = edited("path: ./clusters/edge", &format!("path: {path}"));
        none(&before, &after);
    }
}

#[test]
fn flux_kustomizations_go_with_what_applied_them_though_they_stand_in_git() {
    let before = synced(&cluster("", &[("a", "prune: true", &["x"])]));
    let mut after = before.clone();
    let text = after.get_mut(INSTANCE).unwrap();
    *text = text.replace(SYNC, "former: { kind: GitRepository, ");
    one(
        &before,
        &after,
        "GW054",
        "deletes 2 objects that it applied: FluxInstance flux-system/flux, Kustomization flux-system/a",
    );
}
