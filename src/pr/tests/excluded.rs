//! Objects whose own settings keep Flux from applying or deleting them.

use super::repository::{Files, compared, files, lines, map, with, without, words};

/// A repository with a ConfigMap for each word that a setting may have.
fn set(data: &str) -> Files {
    let settings =
        ["ssa: Ignore", "ssa: IfNotPresent", "ssa: Merge", "reconcile: Disabled", "prune: Disabled"];
    let own = |(position, setting): (usize, &&str)| {
        let annotated = format!("shop, annotations: {{ kustomize.toolkit.fluxcd.io/{setting} }}");
        let text = map(&format!("c{position}"), data).replace("shop", &annotated);
        (format!("apps/apps-rt/{position}.yaml"), text)
    };
    let base = without(&files(), "apps/apps-rt/kustomization.yaml");
    base.into_iter().chain(settings.iter().enumerate().map(own)).collect()
}

#[test]
fn what_flux_passes_over_never_lands() {
    let none = without(&files(), "apps/apps-rt/kustomization.yaml");
    let (old, new) = (set("a: '1'"), set("a: '2'"));
    let all = [lines(&compared(&none, &old)), lines(&compared(&old, &new)), lines(&compared(&old, &none))];
    insta::assert_snapshot!(all.map(|lines| lines.join("\n")).join("\n\n"));
    insta::assert_snapshot!(words(&compared(
        &old,
        &with(&new, &[("apps/apps-rt/4.yaml", "Disabled", "enabled")])
    )));
}
