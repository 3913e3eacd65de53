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
        ["apps-rw depends on apps-rt, which is not in Git. It never becomes Ready and applies nothing"]
    );
}
