//! What a step may leave behind.

use super::*;
use crate::delivery::Known;
use crate::render::{Embedded, Limits};
use crate::repo::File;

/// Reads a cluster of Flux Kustomizations, each with the one that it depends on.
fn model(all: &[(&str, &str)]) -> Model {
    let mut snapshot = Snapshot::default();
    for (name, wanted) in all {
        let text = format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec:\n  path: ./{name}\n  prune: true\n  sourceRef: {{ kind: GitRepository, name: flux-system }}\n  dependsOn: [{{ name: {wanted} }}]\n"
        );
        let file = RepoPath::parse(&format!("clusters/edge/{name}.yaml")).unwrap();
        snapshot.insert(file, File::new(text.as_bytes()));
    }
    // What `flux bootstrap` writes: what no root brings is nowhere.
    let root = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: flux-system, namespace: flux-system }\nspec:\n  path: ./clusters/edge\n  prune: true\n  sourceRef: { kind: GitRepository, name: flux-system }\n";
    snapshot.insert(RepoPath::parse("clusters/edge/flux-system.yaml").unwrap(), File::new(root.as_bytes()));
    Model::read(&snapshot, &RepoPath::top(), &Known::default(), &Embedded::new(Limits::default()))
}

#[test]
fn whoever_depends_on_what_goes_is_told() {
    let before = model(&[("infra", "none"), ("apps", "infra"), ("late", "missing")]);
    let told = |after: &[(&str, &str)]| -> Vec<String> {
        left_waiting(&before, &model(after)).into_iter().map(|one| one.text).collect()
    };
    assert_eq!(
        told(&[("infra-rt", "none"), ("apps", "infra"), ("late", "missing")]),
        ["apps depends on infra, which goes"]
    );
    assert_eq!(told(&[("infra-rt", "none"), ("apps", "infra-rt"), ("late", "missing")]), [""; 0]);
}
