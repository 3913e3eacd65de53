//! One round of a migration: every step is planned, and judged by what each cluster gets.

use std::collections::BTreeSet;

use crate::delivery::inventory::{Deletion, Inventory, deletions, inventories};
use crate::delivery::{Input, builds};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::migrate::depends::Succession;
use crate::plan::migrate::moving::{Key, Move};
use crate::plan::migrate::steps::steps;
use crate::plan::migrate::{MigrateOptions, behind, since, verify};
use crate::plan::problem::Problem;
use crate::plan::{Plan, Report, Stage, for_people, gate, refuse_unfetched};
use crate::proof::Obligation;
use crate::template::Templates;

/// What all rounds have in common.
pub struct Round<'a> {
    /// The tree.
    pub input: &'a Input<'a>,
    /// What generated files are made from.
    pub templates: &'a Templates,
    /// What was asked for.
    pub options: &'a MigrateOptions,
    /// What the tree's Flux Kustomizations apply.
    pub before: &'a [Inventory],
    /// What those that take part apply in the base, where that is another tree.
    pub stood: &'a [Inventory],
}

impl Round<'_> {
    /// Plans the steps of some moves together; the inner error has those that must wait.
    ///
    /// # Errors
    ///
    /// When a gate can't be brought up to date, and when a step would delete something without leave.
    pub fn plan(&self, active: &[&Move<'_>]) -> Result<Result<Plan, Vec<(Key, Problem)>>, Error> {
        let Round { input, options, before, .. } = self;
        let mut builder = Builder::new(input.snapshot);
        let mut rewritten = Vec::new();
        let succession = Succession::of(input, active);
        let notes = match steps(input, &mut builder, active, &succession, &mut rewritten) {
            Ok(notes) => notes,
            Err(halt) => {
                let halted = active.iter().filter(|one| halt.stops(one));
                return Ok(Err(halted.map(|one| (one.key(), halt.problem.clone())).collect()));
            }
        };
        let gates = match builder.is_unchanged() {
            true => gate::Leftover::default(),
            false => gate::follow_late(input, self.templates, &mut builder)?,
        };
        if !options.while_open && !gates.late.is_empty() {
            return Ok(Err(too_early(&gates, active)));
        }
        let readers = gates.gates.as_ref().map(gate::readers).unwrap_or_default();
        let model = input.again(builder.now());
        let after = inventories(&model, builder.now(), input.renderer);
        let renamed = succession.names(input);
        let mut wrong = verify::wrong(input, builder.now(), (before, &after), &rewritten, &renamed, &readers);
        wrong.extend(verify::left_waiting(input.model, &model));
        let blamed = verify::blamed(input, &wrong, active);
        if !blamed.is_empty() {
            let problem = |reason: &str| {
                Problem::new(
                    format!("the cluster would not get the same: {reason}"),
                    "mend that by hand, or report this with the Flux Kustomizations involved",
                )
            };
            return Ok(Err(blamed.into_iter().map(|(one, reason)| (one.key(), problem(reason))).collect()));
        }
        if let Some(verify::Wrong { cluster, text, .. }) = wrong.first() {
            return Err(Error::new(
                ErrorKind::Unsafe,
                Diagnostic::error(format!("{cluster} would not get the same: {text}"))
                    .help("nothing was written; report this with the Flux Kustomizations involved"),
            ));
        }
        let lost = since::lost(self.stood, &after, active, options);
        if !lost.is_empty() {
            return Ok(Err(lost));
        }
        let mut plan = builder.finish();
        refuse_unfetched(input.model, &plan.changes, for_people(input.spec))?;
        plan.remarks.extend(active.iter().flat_map(|one| behind::left_behind(input, one, before)));
        let (let_in, clusters) = behind::let_in(input, &model, &succession);
        plan.remarks.extend(let_in);
        plan.while_open = gates.late.into_iter().map(|(cluster, _)| cluster).chain(clusters).collect();
        plan.remarks.extend(allowed(deletions(before, &after), options)?);
        let mut beside = Vec::new();
        let held = behind::held_at_once(input, &model, &succession);
        for note in notes.into_iter().chain(held) {
            match note.beside() {
                Ok(told) => beside.extend(told),
                Err(text) => plan.remarks.push(Diagnostic::note(text)),
            }
        }
        plan.report = Report::Migrate { standings: Vec::new(), beside, refused: Vec::new() };
        plan.remarks.extend(gates.turned);
        plan.obligations = obligations(input, &plan, active);
        for obligation in &mut plan.obligations {
            let of = |one: &&&Move<'_>| {
                one.whole == obligation.before || one.sides.values().any(|side| *side == obligation.before)
            };
            obligation.renamed = renamed.of(active.iter().filter(of).map(|one| one.cluster.as_str()));
        }
        Ok(Ok(plan))
    }
}

/// Returns the steps after which something would go back to the older commit of a held source, with the reason: the last
/// ones of those clusters, since a gate holds back what has finished.
fn too_early(gates: &gate::Leftover, active: &[&Move<'_>]) -> Vec<(Key, Problem)> {
    let of_cluster = |(cluster, late): &(String, Diagnostic)| {
        let own = || active.iter().filter(|one| one.cluster == *cluster);
        let last: Vec<&&Move<'_>> = own().filter(|one| one.stage == Stage::HandedOver).collect();
        let all: Vec<&&Move<'_>> = if last.is_empty() { own().collect() } else { last };
        let help = "merge it while the window is open: `gitops-windows migrate --while-open` writes it";
        let problem = Problem::window(late.message.clone(), help);
        all.into_iter().map(|one| (one.key(), problem.clone())).collect::<Vec<_>>()
    };
    let found: Vec<(Key, Problem)> = gates.late.iter().flat_map(of_cluster).collect();
    if found.is_empty() {
        // Whatever it is that brings it about, nothing of this round may be written.
        let late = gates.late.first().map(|(_, late)| late.message.clone()).unwrap_or_default();
        let problem = Problem::window(late, "run `gitops-windows sync --while-open` in an open window first");
        return active.iter().map(|one| (one.key(), problem.clone())).collect();
    }
    found
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
