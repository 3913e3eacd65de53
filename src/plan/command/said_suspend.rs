//! What Git says of `spec.suspend` where a gate is to own it.

use serde_json::Value;

use crate::delivery::{Holds, Model};
use crate::diagnostic::Diagnostic;
use crate::repo::FluxKustomization;

/// Tells of the Flux Kustomizations of which Git says `suspend` and that a gate holds back, or may hold back: what Git
/// suspends is left out of a new gate, and what builds no folder of this repository has no window.
pub fn said_in_git(model: &Model) -> Vec<Diagnostic> {
    let holds = Holds::new(model, None);
    let is_held = |one: &&FluxKustomization| {
        let by_jobs = || holds.by_jobs(&one.cluster, &one.namespace, &one.name, None).is_some();
        !one.is_suspended() && model.may_wait(one) || by_jobs()
    };
    let said = model.all_flux().iter().filter(|one| one.said("suspend").is_boolean());
    said.filter(is_held).map(told).collect()
}

fn told(kustomization: &FluxKustomization) -> Diagnostic {
    let value = kustomization.said("suspend");
    let effect = if value == &Value::Bool(true) {
        "whatever applies it from Git suspends it again: the window never opens"
    } else {
        "whatever applies it from Git resumes it again: the window never stays closed"
    };
    Diagnostic::warning(format!(
        "Flux Kustomization {} has `suspend: {value}` in Git, so {effect}",
        kustomization.name
    ))
    .at(kustomization.place("suspend"))
    .help("take the line out once nothing is suspended; the gate's jobs own the field")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::Known;
    use crate::path::RepoPath;
    use crate::render::Lent;
    use crate::repo::{File, Snapshot};

    #[test]
    fn what_no_gate_can_hold_may_say_that_it_is_not_suspended() {
        let flux = |name: &str, path: &str, source: &str, suspend: &str| {
            format!(
                "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec: {{ interval: 5m, path: {path}, prune: true, sourceRef: {{ kind: GitRepository, name: {source} }}, suspend: {suspend} }}\n"
            )
        };
        let source = |name: &str| {
            format!(
                "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec: {{ interval: 1m, url: 'https://example.org/{name}' }}\n"
            )
        };
        let all = [
            source("flux-system"),
            source("theirs"),
            flux("flux-system", "./clusters/edge", "flux-system", "false"),
            flux("apps", "./apps", "flux-system", "false"),
            flux("old", "./old", "flux-system", "true"),
            flux("theirs", "./", "theirs", "false"),
        ];
        let mut snapshot = Snapshot::default();
        let service = "apiVersion: v1\nkind: Service\nmetadata: { name: s, namespace: default }\n";
        for (path, text) in [
            ("clusters/edge/flux.yaml", all.concat().as_str()),
            ("apps/s.yaml", service),
            ("old/s.yaml", service),
        ] {
            snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
        }
        let renderer = Lent::default();
        let model = Model::read(&snapshot, &RepoPath::top(), &Known::default(), &renderer);
        let told: Vec<String> = said_in_git(&model).into_iter().map(|told| told.message).collect();
        assert_eq!(
            told,
            [
                "Flux Kustomization apps has `suspend: false` in Git, so whatever applies it from Git resumes it again: the window never stays closed"
            ]
        );
    }
}
