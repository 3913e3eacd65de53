//! What Flux Kustomizations depend on, in the cluster that gets them.

use super::repository::{edited, findings};

/// kustomize-controller asks its own cluster only (`checkDependencies`).
#[test]
fn another_cluster_has_no_dependency_of_this_one() {
    let mut files = edited(&[]);
    for (path, with) in
        [("flux-system/gotk-sync.yaml", ""), ("apps.yaml", "name: apps-rt"), ("kustomization.yaml", "")]
    {
        let text = files[&format!("clusters/edge/{path}")].replace("clusters/edge", "clusters/other");
        // It gets all but what one of them depends on.
        let own =
            text.split_inclusive("---\n").filter(|one| with.is_empty() || !one.contains(&format!("{with},")));
        files.insert(format!("clusters/other/{path}"), own.collect());
    }
    let gate = files["clusters/edge/infra/kustomization.yaml"]
        .replace("patches", "#patches")
        .replace("\n- path", "\n#- path");
    files.insert("clusters/other/infra/kustomization.yaml".to_owned(), gate);
    let (_, found) = findings(&[files], None).remove(0);
    let own = found.iter().filter(|one| one.code == Some("GW049"));
    let told: Vec<&str> = own.map(|one| one.message.as_str()).collect();
    assert_eq!(
        told,
        ["apps-rw depends on apps-rt, which is not in Git. Where the cluster lacks it too, nothing lands"]
    );
}

/// A build that fails brings what its files show; what it reads elsewhere may be anything of its namespace.
#[test]
fn a_build_that_fails_may_bring_what_its_files_do_not_show() {
    let list = "apps/rt/kustomization.yaml";
    let broken = |text: &str| (list, "", text.to_owned());
    let patch = "patches: [{ patch: '{ apiVersion: v1, kind: Gone, metadata: { name: gone } }' }]\n";
    let remote = "https://github.com/example/shop//deploy?ref=v1";
    let told = |edits: &[(&str, &str, String)]| {
        let missing = ("clusters/edge/apps.yaml", "[{ name: apps-rt }]", "[{ name: apps-gone }]".to_owned());
        let mut files = edited(&[]);
        for (path, from, to) in edits.iter().chain([&missing]) {
            let old = files.get(*path).cloned().unwrap_or_default();
            assert!(old.contains(from), "{path} does not hold {from:?}:\n{old}");
            let new = if from.is_empty() { to.clone() } else { old.replace(from, to) };
            files.insert((*path).to_owned(), new);
        }
        let (_, found) = findings(&[files], None).remove(0);
        found.iter().filter(|one| one.code == Some("GW049")).count()
    };
    assert_eq!(told(&[]), 1);
    assert_eq!(told(&[broken(&format!("resources: []\n{patch}"))]), 1, "all of it is here");
    assert_eq!(told(&[broken("resources: [gone.yaml]\n")]), 0, "it lists what is gone");
    assert_eq!(told(&[broken(&format!("resources: ['{remote}']\n"))]), 0, "it reads another repository");
    let elsewhere = format!("namespace: shop\nresources: ['{remote}']\n");
    assert_eq!(told(&[broken(&elsewhere)]), 1, "it brings nothing to that namespace");
    // What waits for it brings it no more than itself.
    let own = ("apps/rw/kustomization.yaml", "", format!("resources: ['{remote}']\n"));
    assert_eq!(told(&[own]), 1, "the one that depends on it");
    // By another name.
    let inner = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: gone, namespace: flux-system }\nspec: { interval: 5m, path: ./inner, prune: true, sourceRef: { kind: GitRepository, name: flux-system } }\n";
    let named = format!("namePrefix: apps-\nresources: [inner.yaml]\n{patch}");
    assert_eq!(
        told(&[broken(&named), ("apps/rt/inner.yaml", "", inner.to_owned())]),
        0,
        "it gives another name"
    );
}
