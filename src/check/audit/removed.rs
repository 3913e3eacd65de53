//! Divided entry points that nothing applies any more.

use crate::check::code::UNAPPLIED_SIDE;
use crate::check::subject::Subject;
use crate::delivery::{Input, Unapplied, unapplied};
use crate::diagnostic::{Diagnostic, Place};
use crate::plan::migrate::precondition::identity::may_apply;

/// Finds sides that stand in Git while no Flux Kustomization applies them or the whole.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let Some(spec) = subject.spec else { return Vec::new() };
    let input = Input { spec, snapshot: subject.snapshot, model: subject.model, renderer: subject.renderer };
    // Whose a path with a variable is, Git does not say; and what fails to build deletes nothing.
    let fails = |cluster: &str| {
        let all = subject.model.delivered.named(cluster).into_iter().flat_map(|own| &own.kustomizations);
        all.into_iter().any(|one| one.error.is_some())
    };
    let is_known = |one: &Unapplied| {
        if fails(&one.cluster) {
            return false;
        }
        let mut paths = [&one.whole].into_iter().chain(one.sides.values());
        paths.all(|path| may_apply(&input, &one.cluster, path).is_none())
    };
    let found = unapplied(&input).into_iter().filter(is_known).map(|one| {
        let sides = one.sides.values().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        let file = one.sides.values().find_map(|side| subject.model.graph.get(side)).map(|found| &found.file);
        UNAPPLIED_SIDE
            .finding(format!(
                "no Flux Kustomization of cluster {} applies {sides} any more. Their objects are deleted or stay unmanaged",
                one.cluster
            ))
            .at(Place::file(file.cloned().unwrap_or(one.whole)))
            .help("revert the commit that removed the Flux Kustomization\nor remove these folders too")
    });
    found.collect()
}
