//! Entry points that several clusters apply: of a folder that keeps a rest, or in one file, what moves leaves all of them
//! at once.

use std::collections::{BTreeMap, HashMap};

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::Stage;
use crate::plan::migrate::moving::{Key, Move};
use crate::plan::migrate::standing::moves;
use crate::plan::problem::Problem;
use crate::repo::FluxKustomization;

/// Returns the moves that can't take their step by themselves: another cluster would lose what moves, since it applies
/// the same folder, or would take the step unasked, since it applies the same file of a Flux Kustomization.
///
/// `found` are the moves that were asked for, of which those go that are not `stopped`.
pub fn apart(
    input: &Input<'_>,
    found: &[Move<'_>],
    stopped: &BTreeMap<Key, Problem>,
) -> BTreeMap<Key, Problem> {
    let going = found.iter().filter(|one| one.edits() && !stopped.contains_key(&one.key()));
    let going: BTreeMap<Key, &Move<'_>> = going.map(|one| (one.key(), one)).collect();
    let all = found.iter().flat_map(|one| one.all().map(move |flux| (std::ptr::from_ref(flux), &one.whole)));
    let wholes: HashMap<*const FluxKustomization, &RepoPath> = all.collect();
    let with = |one: &Move<'_>, other: &FluxKustomization, flux: Option<&FluxKustomization>| {
        let whole = match (flux, wholes.get(&std::ptr::from_ref(other))) {
            (None, _) => one.whole.clone(),
            // The path of one that stands in the same file may have variables.
            (Some(_), Some(whole)) => (*whole).clone(),
            (Some(_), None) => whole_of(input, other),
        };
        let is_with =
            going.get(&(other.cluster.clone(), whole.clone())).is_some_and(|go| go.stage == one.stage);
        (is_with, whole)
    };
    let mut stops = BTreeMap::new();
    for one in going.values() {
        let twins = one.all().flat_map(|flux| input.model.twins(flux).map(move |twin| (twin, Some(flux))));
        let loses = one.stage == Stage::Restructured && one.leaves_rest();
        let losers = input.model.flux_at(&one.whole).filter(|other| loses && other.cluster != one.cluster);
        let mut others = losers.map(|other| (other, None)).chain(twins);
        let without = others.find_map(|(other, flux)| match with(one, other, flux) {
            (true, _) => None,
            (false, whole) => Some((other, flux, whole)),
        });
        if let Some((other, flux, whole)) = without {
            let other = other.cluster.as_str();
            let reason = match flux {
                None => {
                    format!(
                        "cluster {other} applies {} too and does not take this step. It would lose objects",
                        one.whole
                    )
                }
                Some(flux) => format!(
                    "cluster {other} applies Flux Kustomization {} from the same file. It does not take this step, and would get it unasked",
                    flux.name
                ),
            };
            stops.insert(one.key(), stop(input, (other.to_owned(), whole), reason, found, stopped));
        }
    }
    stops
}

/// Returns the entry point that a Flux Kustomization applies, or applies a side of.
fn whole_of(input: &Input<'_>, flux: &FluxKustomization) -> RepoPath {
    let path = flux.path.clone().unwrap_or_default();
    input.sides().get(&path).map(|(whole, _)| whole.clone()).unwrap_or(path)
}

/// Says what keeps the other cluster from taking the step too, of which the key is given.
fn stop(
    input: &Input<'_>,
    key: Key,
    reason: String,
    found: &[Move<'_>],
    stopped: &BTreeMap<Key, Problem>,
) -> Problem {
    let other = key.0.as_str();
    let remedy = match (stopped.get(&key), found.iter().any(|found| found.key() == key)) {
        (Some(stop), _) => {
            format!("{other} can't go on: {}\n{}\nlet both go on together", stop.reason, stop.remedy())
        }
        (None, true) => format!("bring {other} to the same step first\nlet both go on together"),
        (None, false) if !input.spec.clusters.contains_key(other) => format!(
            "name {other} under `clusters` in {}\nrun `gitops-windows sync`\nrun `gitops-windows migrate` for both\nor give it a folder of its own",
            input.spec.path
        ),
        (None, false) => {
            let stage = moves(input).into_iter().find(|found| found.key() == key).map(|found| found.stage);
            match stage {
                Some(Stage::Stuck(stop)) => {
                    format!("{other} is stuck: {}\n{}\nlet both go on together", stop.reason, stop.remedy())
                }
                Some(_) => format!("add `--cluster {other}`, so that both take the step in one commit"),
                None => format!(
                    "divide {} of cluster {other} too: `gitops-windows split --all`\ncommit that\nlet both go on together",
                    key.1
                ),
            }
        }
    };
    Problem::new(reason, remedy)
}
