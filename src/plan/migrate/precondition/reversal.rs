//! A hand-over that was taken back at once.

use crate::delivery::inventory::{deletes_anyway, prunes};
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::precondition::subject::Subject;
use crate::plan::problem::Problem;
use crate::plan::{BACK, Stage};
use crate::repo::FluxKustomization;

/// A hand-over that was taken back while what took over still deletes what it loses.
pub fn check(subject: &Subject<'_>, one: &Move<'_>) -> Option<Problem> {
    let stood = subject.bases.get(&one.key()).filter(|_| one.stage == Stage::Restructured)?;
    let stays = |new: &FluxKustomization| {
        one.all().any(|other| (&other.name, &other.namespace) == (&new.name, &new.namespace))
    };
    let gone = stood.new.values().flatten().filter(|new| !stays(new));
    let gone: Vec<(&str, String)> =
        gone.filter_map(|new| Some((new.name.as_str(), deleting(new)?))).collect();
    let (_, with) = gone.first()?;
    let names: Vec<&str> = gone.iter().map(|(name, _)| *name).collect();
    let step = if stood.stage == Stage::Finished { "finished" } else { "handed over" };
    Some(Problem::new(
        format!(
            "it was {step} in {}: {} would go with `{with}` and delete their objects",
            subject.options.base,
            names.join(" and ")
        ),
        format!(
            "revert the commit that did this\n{BACK}\nrun `gitops-windows join` if the split should go too"
        ),
    ))
}

/// Returns what makes a Flux Kustomization delete what it applies when it goes.
fn deleting(one: &FluxKustomization) -> Option<String> {
    let policy = one.spec("deletionPolicy").as_str().unwrap_or_default();
    if deletes_anyway(policy) {
        return Some(format!("deletionPolicy: {policy}"));
    }
    (policy != "Orphan" && prunes(one.spec("prune"))).then(|| "prune: true".to_owned())
}
