//! `migrate`: from one Flux Kustomization to several, without an object being deleted.
//!
//! Where each entry point of each cluster stands is read from Git alone: `split` leaves the old Flux
//! Kustomization prepared, with remarks that say what its values were; its successors keep the
//! remark about `prune` until the last step takes it away. So no state is kept beside the repository.

mod behind;
mod by_hand;
mod confirm;
pub(crate) mod contents;
mod depends;
mod double;
pub(crate) mod effective;
mod finish;
mod hand_over;
mod heir;
mod hindrance;
pub(crate) mod identity;
pub(crate) mod misplaced;
mod obstacle;
pub(crate) mod part;
mod patch;
mod place;
mod reader;
mod readiness;
mod rest;
mod rules;
mod since;
mod standing;
mod together;
pub(crate) mod verify;
mod watcher;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub(super) use hindrance::hindered;

use crate::delivery::inventory::{Deletion, deletions, inventories};
use crate::delivery::{Input, builds};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::live::LiveKustomization;
use crate::mechanism;
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::prepare::prepare;
use crate::plan::migrate::depends::Succession;
use crate::plan::migrate::standing::{Move, moves};
use crate::plan::problem::Problem;
use crate::plan::refuse_unfetched;
use crate::plan::{EntryOutcome, Plan, Stage, gate};
use crate::proof::{Obligation, Renames};
use crate::repo::{FluxKustomization, Relation};
use crate::template::Templates;

/// What a migration is told on the command line.
#[derive(Clone, Debug, Default)]
pub struct MigrateOptions {
    /// The clusters to move; empty for all.
    pub clusters: Vec<String>,
    /// Whether a step may delete objects.
    pub allow_deletion: bool,
    /// What to call the revision that the clusters are taken to have.
    pub base: String,
    /// What clusters say, by name; a cluster that is not here is not asked.
    pub live: BTreeMap<String, Vec<LiveKustomization>>,
    /// How the commits that clusters have applied stand to the base, by hash.
    pub applied: BTreeMap<String, Relation>,
}

/// A Flux Kustomization's document with what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Rewritten {
    cluster: String,
    /// The namespace that it has in its cluster; empty where Git does not say it.
    namespace: String,
    before: Value,
    after: Vec<Value>,
}

impl Rewritten {
    fn of(cluster: &str, flux: &FluxKustomization, after: Vec<Value>) -> Rewritten {
        let (namespace, before) = (flux.namespace.clone(), flux.value.clone());
        Rewritten { cluster: cluster.to_owned(), namespace, before, after }
    }

    /// Gives the clusters in which something applies it: its own, and that of a hub whose build takes it in.
    fn applied_in(&self, input: &Input<'_>) -> BTreeSet<String> {
        let is_it = |flux: &&FluxKustomization| {
            flux.value == self.before && flux.namespace == self.namespace && flux.cluster == self.cluster
        };
        let parents = input.model.flux.iter().filter(is_it).flat_map(|flux| input.parents(flux));
        parents.map(|parent| parent.cluster.clone()).chain([self.cluster.clone()]).collect()
    }
}

/// A stop with what it speaks of: one entry point of a cluster, or all of the cluster's.
struct Halt {
    cluster: String,
    whole: Option<RepoPath>,
    stop: Problem,
}

/// Gives the clusters in which the next step of something depends on what is live.
pub fn under_way(input: &Input<'_>, clusters: &[String]) -> BTreeSet<String> {
    let meant = |one: &Move<'_>| clusters.is_empty() || clusters.contains(&one.cluster);
    let asked = |one: &Move<'_>| is_under_way(one) || one.stage == Stage::NotInGit;
    moves(input).into_iter().filter(|one| meant(one) && asked(one)).map(|one| one.cluster).collect()
}

fn is_under_way(one: &Move<'_>) -> bool {
    matches!(one.stage, Stage::Restructured | Stage::HandedOver)
}

/// Plans the next step of everything that is under way.
///
/// `base` is the repository as the clusters are taken to have it. Each entry point takes one step,
/// and only where the step before stands in the base. One that can't is refused by itself and the
/// others go on.
///
/// # Errors
///
/// When a cluster is unknown, when a gate can't be brought up to date, and when a step would delete
/// something without leave.
pub fn migrate(
    input: &Input<'_>,
    base: &Input<'_>,
    templates: &Templates,
    options: &MigrateOptions,
) -> Result<Plan, Error> {
    input.known_clusters(&options.clusters)?;
    let meant = |one: &Move<'_>| options.clusters.is_empty() || options.clusters.contains(&one.cluster);
    let found: Vec<Move<'_>> = moves(input).into_iter().filter(meant).collect();
    let before = inventories(input.model, input.snapshot, input.renderer);
    let mut stopped = readiness::stopped(input, base, &found, &before, options);
    let stood = since::stood(input, base, &found);
    let plan = loop {
        let apart = together::apart(input, &found, &stopped);
        if !apart.is_empty() {
            stopped.extend(apart);
            continue;
        }
        let active: Vec<&Move<'_>> = found
            .iter()
            .filter(|one| !stopped.contains_key(&one.key()))
            .filter(|one| one.stage != Stage::NotInGit)
            .collect();
        let mut builder = Builder::new(input.snapshot);
        let mut rewritten = Vec::new();
        let succession = Succession::of(input, &active);
        let notes = match steps(input, &mut builder, &active, &succession, &mut rewritten) {
            Ok(notes) => notes,
            Err(halt) => {
                let halted = active.iter().filter(|one| {
                    one.cluster == halt.cluster && halt.whole.as_ref().is_none_or(|whole| *whole == one.whole)
                });
                stopped.extend(halted.map(|one| (one.key(), halt.stop.clone())));
                continue;
            }
        };
        if !builder.finish().changes.is_empty() {
            gate::follow(input, templates, &mut builder)?;
        }
        let model = input.again(builder.now());
        let after = inventories(&model, builder.now(), input.renderer);
        let renamed = succession.names(input);
        let wrong = verify::wrong(input, builder.now(), (&before, &after), &rewritten, &renamed);
        let blamed = verify::blamed(input, &wrong, &active);
        if !blamed.is_empty() {
            for (one, reason) in blamed {
                stopped.insert(
                    one.key(),
                    Problem::new(
                        format!("the cluster would not get the same: {reason}"),
                        "mend that by hand, or report this with the Flux Kustomizations involved",
                    ),
                );
            }
            continue;
        }
        if let Some(verify::Wrong { cluster, text, .. }) = wrong.first() {
            return Err(Error::new(
                ErrorKind::Unsafe,
                Diagnostic::error(format!("{cluster} would not get the same: {text}"))
                    .help("nothing was written; report this with the Flux Kustomizations involved"),
            ));
        }
        let lost = since::lost(&stood, &after, &active, options);
        if !lost.is_empty() {
            stopped.extend(lost);
            continue;
        }
        let mut plan = builder.finish();
        refuse_unfetched(input, &plan.changes)?;
        plan.remarks.extend(active.iter().flat_map(|one| behind::left_behind(input, one, &before)));
        plan.remarks.extend(allowed(deletions(&before, &after), options)?);
        plan.remarks.extend(notes.into_iter().map(Diagnostic::note));
        plan.obligations = obligations(input, &plan, &active);
        for obligation in &mut plan.obligations {
            let of = |one: &&&Move<'_>| {
                one.whole == obligation.before || one.sides.values().any(|side| *side == obligation.before)
            };
            obligation.renamed = renamed.of(active.iter().filter(of).map(|one| one.cluster.as_str()));
        }
        break plan;
    };
    let mut plan = plan;
    for one in found.iter().filter(|one| one.stage == Stage::NotInGit) {
        let live = options.live.get(&one.cluster).map(Vec::as_slice);
        let commands = by_hand::commands(input, one, live);
        if !commands.is_empty() {
            plan.remarks.push(by_hand::advice(input, one));
        }
        plan.commands.extend(commands);
    }
    plan.remarks.extend(found.iter().filter(|one| is_under_way(one)).flat_map(|one| sources(input, one)));
    plan.standings = found.iter().map(|one| one.standing(input)).collect();
    plan.entries = found
        .iter()
        .filter_map(|one| {
            let stop = stopped.get(&one.key())?;
            Some(EntryOutcome::new(&one.cluster, &one.whole).refused(stop.clone()))
        })
        .collect();
    Ok(plan)
}

/// Tells of old Flux Kustomizations that build from another source than the spec names: whether that
/// holds this repository too, Git does not say.
fn sources(input: &Input<'_>, one: &Move<'_>) -> Vec<Diagnostic> {
    let wanted = &input.spec.flux.source;
    let others = one
        .old
        .iter()
        .filter(|old| (old.source_kind(), old.source_name()) != (wanted.kind.as_str(), wanted.name.as_str()));
    others
        .map(|old| {
            Diagnostic::warning(format!(
                "Flux Kustomization {} builds from {} {}, while windows.yaml names {} {}: its successors build from the same, and fail where that is another repository",
                old.name,
                old.source_kind(),
                old.source_name(),
                wanted.kind,
                wanted.name
            ))
            .at(old.place("sourceRef"))
            .help("make sure that both hold this repository, at the same branch")
        })
        .collect()
}

/// Takes the next step of each into the builder.
fn steps(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    active: &[&Move<'_>],
    succession: &Succession,
    rewritten: &mut Vec<Rewritten>,
) -> Result<Vec<String>, Halt> {
    let mut notes = Vec::new();
    for one in active {
        let stop = |stop| Halt { cluster: one.cluster.clone(), whole: Some(one.whole.clone()), stop };
        match one.stage {
            Stage::Unprepared => {
                for old in &one.old {
                    prepare(builder, old).map_err(stop)?;
                    let (text, index) = place::find(builder, old).map_err(stop)?;
                    let documents = crate::yaml::read_documents(&text).unwrap_or_default();
                    let after = documents.get(index).map(|document| document.root.to_json());
                    rewritten.push(Rewritten::of(&one.cluster, old, after.into_iter().collect()));
                }
            }
            Stage::Restructured => {
                notes.extend(hand_over::hand_over(input, builder, one, succession, rewritten).map_err(stop)?);
            }
            Stage::HandedOver => {
                finish::finish(builder, one, rewritten).map_err(stop)?;
                finish::clear(input, builder, one);
            }
            Stage::Finished | Stage::NotInGit | Stage::Stuck(_) => {}
        }
    }
    let waiters = hand_over::rewrite_waiters(input, builder, succession, rewritten);
    let halt = |(cluster, stop)| Halt { cluster, whole: None, stop };
    notes.extend(waiters.map_err(halt)?);
    notes.extend(watcher::rewrite(input, builder, succession).map_err(halt)?);
    Ok(notes)
}

/// What became of an entry point whose live sides took over.
pub(super) struct TakenOver {
    /// The Flux Kustomizations that come or go.
    pub(super) renamed: Renames,
    /// Those that were rewritten.
    pub(super) rewritten: Vec<Rewritten>,
    /// What people are told: who waits for whom, and what only they can change.
    pub(super) notes: Vec<String>,
}

/// Lets the live sides of an entry point take over what was divided just now.
///
/// # Errors
///
/// When something is in the way.
pub(super) fn take_over(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    whole: &RepoPath,
) -> Result<TakenOver, Problem> {
    let found: Vec<Move<'_>> = moves(input).into_iter().filter(|one| one.whole == *whole).collect();
    for one in &found {
        if let Stage::Stuck(stop) = &one.stage {
            return Err(stop.clone());
        }
    }
    let active: Vec<&Move<'_>> = found.iter().filter(|one| one.stage == Stage::Restructured).collect();
    if active.is_empty() {
        return Err(Problem::new(
            format!(
                "nothing of {whole} would change hands: no Flux Kustomization of it is kept from pruning and applies what its sides hold too"
            ),
            "run `gitops-windows migrate` to see how far it is, and finish that first",
        ));
    }
    let succession = Succession::of(input, &active);
    let mut rewritten = Vec::new();
    match steps(input, builder, &active, &succession, &mut rewritten) {
        Ok(notes) => Ok(TakenOver { renamed: succession.names(input), rewritten, notes }),
        Err(halt) => Err(halt.stop),
    }
}

/// Gives what gates hold back, or will, with the positions of the types.
pub(crate) fn held(input: &Input<'_>) -> BTreeMap<depends::Name, usize> {
    let mut held = BTreeMap::new();
    let Ok(Some(gates)) = gate::gates(input) else { return held };
    for cluster in &gates.clusters {
        for (position, targets) in &cluster.targets {
            for mechanism::GateTarget { namespace, name } in targets {
                held.insert((cluster.cluster.clone(), namespace.clone(), name.clone()), *position);
            }
        }
    }
    held
}

/// What the proof holds a step to, beside what has been compared by cluster.
fn obligations(input: &Input<'_>, plan: &Plan, active: &[&Move<'_>]) -> Vec<Obligation> {
    if plan.changes.is_empty() {
        return Vec::new();
    }
    let after = plan.changes.apply(input.snapshot);
    let mut found: Vec<Obligation> = Vec::new();
    for one in active.iter().filter(|one| one.stage == Stage::Restructured) {
        let rest = one.leaves_rest().then(|| one.whole.clone());
        let parts: Vec<RepoPath> = one.sides.values().cloned().chain(rest).collect();
        let Some(entry) = input.model.entry(&one.whole) else {
            continue;
        };
        for build in builds(input.model, entry) {
            let obligation =
                Obligation { after: parts.clone(), build, ..Obligation::same(one.whole.clone()) };
            if !found.contains(&obligation) {
                found.push(obligation);
            }
        }
    }
    for side in active.iter().flat_map(|one| one.sides.values()).filter(|side| after.is_dir(side)) {
        let obligation = Obligation::same(side.clone());
        if !found.contains(&obligation) {
            found.push(obligation);
        }
    }
    // A side may carry a gate, which comes with it and which a step switches on.
    let gates = gate::GateFolders::of(input).unwrap_or_default();
    for obligation in &mut found {
        let all = obligation.after.iter().chain([&obligation.before]);
        let free: BTreeSet<RepoPath> = all.flat_map(|one| gates.free(input, one)).collect();
        obligation.free = free.into_iter().collect();
    }
    found
}

/// Stops where something would be deleted, unless that was allowed; then says what.
fn allowed(deletions: Vec<Deletion>, options: &MigrateOptions) -> Result<Vec<Diagnostic>, Error> {
    let make = if options.allow_deletion { Diagnostic::warning } else { Diagnostic::error };
    let found: Vec<Diagnostic> = deletions
        .iter()
        .map(|deletion| {
            make(format!("a cluster may delete {deletion}"))
                .at(deletion.place.clone())
                .help("give that Flux Kustomization `prune: false` and `deletionPolicy: Orphan` first, and let that reach the cluster; --allow-deletion goes on nevertheless")
        })
        .collect();
    if found.is_empty() || options.allow_deletion {
        Ok(found)
    } else {
        Err(Error { kind: ErrorKind::Unsafe, diagnostics: found })
    }
}
