//! Objects on the side of another type than the rules say.

use std::collections::BTreeSet;

use crate::check::code::{BOTH_HALVES, WRONG_SIDE};
use crate::check::subject::Subject;
use crate::delivery::classify::classify_all;
use crate::delivery::{Apps, Delivery, Input};
use crate::diagnostic::Diagnostic;
use crate::path::RepoPath;
use crate::plan::gate::carriers;
use crate::plan::migrate::misplaced::misplaced_in;
use crate::plan::split::newcomer::newcomers;
use crate::plan::split::relocation::further_side;
use crate::render::Object;
use crate::spec::Spec;

/// Finds objects that a side applies and that the rules of the spec give to another type.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let Some(spec) = subject.spec else { return Vec::new() };
    let input = Input { spec, snapshot: subject.snapshot, model: subject.model, renderer: subject.renderer };
    let sides = input.sides();
    let doubtful = subject.deliveries.iter().filter(|delivery| is_doubtful(subject, spec, delivery));
    let wholes: BTreeSet<&RepoPath> =
        doubtful.filter_map(|delivery| sides.get(&delivery.path)).map(|(whole, _)| whole).collect();
    if wholes.is_empty() {
        return Vec::new();
    }
    let carriers = carriers(&input).unwrap_or_default();
    let newcomers = newcomers(&input, &sides);
    let mut findings = Vec::new();
    for whole in wholes {
        for misplaced in misplaced_in(&input, &sides, &carriers, whole) {
            let found = subject.deliveries.iter().find_map(|delivery| {
                sides.get(&delivery.path).filter(|side| **side == (whole.clone(), misplaced.side))?;
                let applied = delivery.objects.iter().find(|applied| *applied.id == misplaced.id)?;
                Some((delivery, applied))
            });
            let (Some((delivery, applied)), Some(side), Some(rule)) =
                (found, spec.types.get(misplaced.side), spec.types.get(misplaced.rule))
            else {
                continue;
            };
            let (side, rule) = (&side.name.value, &rule.name.value);
            let (code, consequence) = match misplaced.rule > misplaced.side {
                true => (BOTH_HALVES, "lands before its window"),
                false => (WRONG_SIDE, "waits for the wrong window"),
            };
            let file = applied.object.origin.as_ref().map(|origin| &origin.path);
            let newcomer = newcomers
                .iter()
                .find(|one| one.whole == *whole && file.is_some_and(|file| one.brings(&input, file)));
            let finding = code
                .finding(format!(
                    "{} stands on the side of type `{side}`, but the rules say `{rule}`. It {consequence}",
                    applied.id
                ))
                .at(subject.sources.place(applied, &["metadata", "name"]))
                .help(match newcomer {
                    _ if !sides.has(&subject.model.graph, whole, misplaced.rule) => further_side(whole, rule),
                    Some(newcomer) => format!("{}\nor change the rules", newcomer.help()),
                    None => format!(
                        "run `gitops-windows sync`, which moves it out of {}\nor change the rules",
                        delivery.path
                    ),
                });
            findings.push(finding);
        }
    }
    findings
}

/// Returns whether the objects of a side may be of other types, as far as its own build shows it.
///
/// What is asked then builds more; most sides never come to that.
fn is_doubtful(subject: &Subject<'_>, spec: &Spec, delivery: &Delivery) -> bool {
    let Some(side) = delivery.change_type else { return false };
    let entry = subject.model.entry(&delivery.path);
    let apps = entry.map(|entry| Apps::of(subject.model, entry));
    let app_of = |object: &Object| apps.as_ref().and_then(|apps| apps.bringing(object)).map(str::to_owned);
    let objects: Vec<Object> = delivery.objects.iter().map(|applied| applied.object.clone()).collect();
    // Rules about apps can't be asked of a side that lists no apps itself.
    if spec.rules.iter().any(|rule| rule.value.matcher.app.is_some())
        && objects.iter().any(|object| app_of(object).is_none())
    {
        return true;
    }
    match classify_all(spec, &objects, &|object| app_of(object).unwrap_or_default()) {
        Ok(types) => types.iter().any(|classified| classified.change_type != side),
        Err(_) => true,
    }
}
