//! Whether sides are what the rules of the spec say.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::gate;
use crate::plan::migrate::misplaced::misplaced_in;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::precondition::subject::Subject;
use crate::plan::problem::Problem;

/// Stops where the spec was edited since the split.
pub fn check(subject: &Subject<'_>, one: &Move<'_>) -> Option<Problem> {
    if !one.is_under_way() {
        return None;
    }
    let all = subject.outdated.get_or_init(|| outdated(subject.input, subject.found));
    all.get(&one.whole).cloned()
}

/// Returns the entry points under way of which an object is on the side of another type than the rules say:
/// the spec was edited since, and a step would give the object to the wrong Flux Kustomization.
fn outdated(input: &Input<'_>, found: &[Move<'_>]) -> BTreeMap<RepoPath, Problem> {
    let wholes: BTreeSet<&RepoPath> =
        found.iter().filter(|one| one.is_under_way()).map(|one| &one.whole).collect();
    if wholes.is_empty() {
        return BTreeMap::new();
    }
    let (all, carriers) = (input.sides(), gate::carriers(input).unwrap_or_default());
    let name = |position: usize| input.spec.types[position].name.value.as_str();
    let stop = |whole: &RepoPath| {
        let misplaced = misplaced_in(input, &all, &carriers, whole);
        let first = misplaced.first()?;
        let more = match misplaced.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more are on a wrong side"),
        };
        Some(Problem::new(
            format!(
                "{} is on the side of {}, but the rules of {} say {}{more}",
                first.id,
                name(first.side),
                input.spec.path,
                name(first.rule)
            ),
            "run `gitops-windows sync`, which moves it or says what to do\ngo on",
        ))
    };
    wholes.into_iter().filter_map(|whole| Some((whole.clone(), stop(whole)?))).collect()
}
