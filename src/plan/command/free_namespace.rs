//! A namespace for the gate that is nobody else's.

use std::collections::BTreeSet;

use crate::delivery::Model;
use crate::repo::flux::is_yaml;
use crate::repo::manifest::{ObjectId, manifests, objects};
use crate::repo::{Entry, Snapshot};
use crate::spec::GateDef;

/// What is taken where the default is not free.
const OTHERS: [&str; 2] = ["reconciliation-windows", "gitops-windows"];

/// Returns the namespace for a new gate: the default, or another where something in the repository makes or uses
/// that one.
///
/// The gate makes its Namespace itself. A second one of the same name would be of two Flux Kustomizations, and
/// whoever takes one of them away deletes it with all that is in it (kustomize-controller, `prune`).
pub fn free_namespace(snapshot: &Snapshot, model: &Model) -> String {
    let default = GateDef::default().namespace;
    let mut taken: BTreeSet<String> = model
        .graph
        .iter()
        .filter_map(|list| Some(list.root.get("namespace")?.as_str()?.to_owned()))
        .collect();
    for one in model.all_flux() {
        taken.insert(one.namespace.clone());
        taken.extend(one.spec("targetNamespace").as_str().map(str::to_owned));
    }
    for (path, entry) in snapshot.entries() {
        let Entry::File(file) = entry else { continue };
        if !is_yaml(path) || !file.text().is_some_and(|text| text.contains("amespace")) {
            continue;
        }
        let documents = manifests(file).unwrap_or_default();
        for object in documents.iter().flat_map(|document| objects(&document.value)) {
            let id = ObjectId::of(object);
            taken.extend(
                [(id.kind == "Namespace").then_some(id.name), Some(id.namespace)].into_iter().flatten(),
            );
        }
    }
    let others = OTHERS.into_iter().map(str::to_owned);
    let numbered = (2..).map(|number| format!("{}-{number}", OTHERS[0]));
    let all = std::iter::once(default.clone()).chain(others).chain(numbered);
    all.into_iter().find(|name| !taken.contains(name)).unwrap_or(default)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::Known;
    use crate::path::RepoPath;
    use crate::render::Nothing;
    use crate::repo::File;

    fn free(files: &[(&str, &str)]) -> String {
        let mut snapshot = Snapshot::default();
        for (path, text) in files {
            snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
        }
        let model = Model::read(&snapshot, &RepoPath::top(), &Known::default(), &Nothing);
        free_namespace(&snapshot, &model)
    }

    #[test]
    fn a_namespace_that_something_makes_or_uses_is_not_taken() {
        let made = |name: &str| {
            format!("apiVersion: v1\nkind: Namespace\nmetadata: {{ name: {name} }}\n---\n{{}}\n")
        };
        let (jobs, other) = (made("jobs"), made("reconciliation-windows"));
        assert_eq!(free(&[("a/namespace.yaml", &made("web"))]), "jobs");
        assert_eq!(free(&[("a/namespace.yaml", &jobs)]), "reconciliation-windows");
        assert_eq!(free(&[("a/namespaces.yaml", &format!("{jobs}---\n{other}"))]), "gitops-windows");
        let third = made("gitops-windows");
        let all = format!("{jobs}---\n{other}---\n{third}");
        assert_eq!(free(&[("a/namespaces.yaml", &all)]), "reconciliation-windows-2");
        let used = "kind: Deployment\nmetadata: { name: a, namespace: jobs }\n";
        assert_eq!(free(&[("a/a.yaml", used)]), "reconciliation-windows");
        let list = "apiVersion: v1\nkind: List\nitems:\n- kind: Namespace\n  metadata: { name: jobs }\n";
        assert_eq!(free(&[("a/a.yaml", list)]), "reconciliation-windows");
        let list = "namespace: jobs\nresources: [app.yaml]\n";
        assert_eq!(free(&[("a/kustomization.yaml", list)]), "reconciliation-windows");
        let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: a, namespace: b }\nspec: { path: a, targetNamespace: jobs, sourceRef: { kind: GitRepository, name: s } }\n";
        assert_eq!(free(&[("clusters/b/a.yaml", flux), ("a/x.yaml", "{}\n")]), "reconciliation-windows");
    }
}
