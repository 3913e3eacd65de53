//! `sync`: brings everything that the spec implies up to date.

use std::collections::BTreeSet;

use crate::delivery::inventory::{deletions, inventories};
use crate::delivery::{EntryPoint, Input, builds, counterparts, side};
use crate::diagnostic::{Diagnostic, Place, Severity, numbered};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::gate::Late;
use crate::plan::split::refresh::refresh;
use crate::plan::split::transfer::Transfer;
use crate::plan::split::{later, layout, relocation};
use crate::plan::{BACK, Plan, Report, gate};
use crate::plan::{for_people, refuse_unfetched};
use crate::proof::Obligation;
use crate::spec;
use crate::spec::SCHEMA_FILE;
use crate::template::Templates;

/// What `sync` may write that is not safe at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncOptions {
    /// Whether gates may go that nobody needs, and Namespaces with what is written anew of a gate.
    pub allow_deletion: bool,
    /// What becomes of what has to reach the clusters while their windows are open.
    pub late: Late,
}

/// Plans what the spec implies and the repository lacks: gates, patches, projections, the schema.
///
/// What a cluster's apps are does not change, but for the type of an object: a rule that was edited
/// moves it from side to side where nothing is deleted by that; an entry point where something would be is
/// left as it is, with a warning, and the others go on. A second run changes nothing.
///
/// `allow_deletion` takes out the gates of clusters that the spec does not speak of any more, or that
/// have nothing to hold back any more, of those that the tool wrote; the plan then names each object that
/// a cluster deletes, and the commands that resume what was held back. Without it such a gate stays, with
/// a warning, and so it takes leave to let a Namespace go that the gate brought. Objects that change sides
/// are never deleted, whatever it says. `late` says whether what stands may begin to read a held source, which may be at an
/// older commit, and leave one, after which all that waits lands at once.
///
/// # Errors
///
/// When something does not build of a cluster whose gate can't stay as it stands, when a generated file was
/// edited by hand, when a value or a list can't be edited in place, and when a
/// cluster may delete an object that changes sides and nothing else is left to do. With `allow_deletion` also where nothing
/// but such gates is left, and what reads their held sources has to wait for a window. Without
/// `allow_deletion` also when a cluster would delete a Namespace with what is written anew of a gate, and where `late`
/// refuses when something would go back to a held commit, or leave its held source.
pub fn sync(input: &Input<'_>, templates: &Templates, options: SyncOptions) -> Result<Plan, Error> {
    let SyncOptions { allow_deletion, late } = options;
    no_unknown_types(input)?;
    layout::check(input)?;
    let mut builder = Builder::new(input.snapshot);
    let mut leftover = gate::sync_built(input, templates, &mut builder, late)?;
    if late == Late::Refused {
        leftover
            .refuse_late("merge it while the window is open: `gitops-windows sync --while-open` writes it")?;
    }
    let idle = std::mem::take(&mut leftover.idle);
    let mut left = if allow_deletion {
        gate::leave(input, &mut builder, &idle, &leftover.back)?
    } else {
        gate::Left::default()
    };
    left.readers = leftover.gates.iter().flat_map(gate::readers).collect();
    let mended = leftover.gates.as_ref().map(|gates| gate::mend(input, templates, &mut builder, gates));
    let mended = mended.transpose()?.unwrap_or_default();
    for (cluster, back) in std::mem::take(&mut leftover.back).into_iter().chain(mended) {
        left.readers.entry(cluster).or_default().extend(back);
    }
    let told = gate::told(input, &left, &idle);
    let is_refused = allow_deletion && gate::waits_for_window(input, &left, &idle);
    leftover.remarks.splice(..0, told.clone());
    leftover.commands.extend(left.commands.iter().cloned());
    gate::verify(input, leftover.gates.as_ref(), &builder)?;
    if let Ok(path) = input.spec.folder().join(SCHEMA_FILE)
        && builder.now().file(&path).is_some()
    {
        builder.put(&path, &schema_text());
    }
    let (mut plan, refused) = refreshed(input, &builder, &left)?;
    if is_refused && plan.changes.is_empty() {
        let refuse = |one| Diagnostic { severity: Severity::Error, ..one };
        return Err(Error { kind: ErrorKind::Unsafe, diagnostics: told.into_iter().map(refuse).collect() });
    }
    plan.while_open = leftover.late.into_iter().map(|(cluster, _)| cluster).collect();
    plan.while_open.extend(leftover.tabled);
    plan.commands = leftover.commands;
    plan.remarks.splice(..0, leftover.remarks);
    plan.remarks.extend(refused);
    let after = plan.changes.apply(input.snapshot);
    let again = (!plan.changes.is_empty()).then(|| input.again(&after));
    let model = again.as_ref().unwrap_or(input.model);
    if !allow_deletion && !plan.changes.is_empty() {
        gate::keeps_all(input, &after)?;
    }
    if allow_deletion {
        let (old, new) = (
            inventories(input.model, input.snapshot, input.renderer),
            inventories(model, &after, input.renderer),
        );
        let names = counterparts(input.model, model);
        plan.remarks.extend(gate::all_deleted(input, (model, &names), &deletions(&old, &new)));
        plan.remarks.extend(gate::remains(input, &after));
    }
    refuse_unfetched(input.model, &plan.changes, for_people(input.spec))?;
    let next = Input { snapshot: &after, model, ..*input };
    plan.remarks.extend(gate::opened(input, &next)?);
    plan.commands.extend(gate::released(input, &next)?);
    plan.report = Report::EntryPoints(relocation::misplaced(&next));
    Ok(plan)
}

/// Writes projections anew and moves files between the parts of what is divided plainly, where no cluster
/// deletes anything by that; else leaves that entry point as it is, and gives the reasons.
///
/// # Errors
///
/// When nothing else is left to do.
fn refreshed(
    input: &Input<'_>,
    builder: &Builder<'_>,
    left: &gate::Left,
) -> Result<(Plan, Vec<Diagnostic>), Error> {
    let mut all = builder.clone();
    let (moved, mut refused) = refresh(input, &mut all, &|_| true)?;
    let error = match transferred(input, &all, &moved, left) {
        Err(error) if error.kind == ErrorKind::Unsafe && !moved.is_empty() => error,
        Err(error) => return Err(error),
        Ok((plan, more)) => {
            if plan.changes.is_empty() && !refused.is_empty() {
                let refused = refused.into_iter().map(|one| Diagnostic { severity: Severity::Error, ..one });
                return Err(Error { kind: ErrorKind::Invalid, diagnostics: refused.collect() });
            }
            refused.extend(more);
            return Ok((plan, refused));
        }
    };
    // One entry point at a time, so that one which can't move holds up no other.
    let (mut kept, mut safe) = (builder.clone(), BTreeSet::new());
    for whole in &moved {
        let mut trial = kept.clone();
        let (mut together, _) = refresh(input, &mut trial, &|other| other == whole)?;
        together.extend(safe.iter().cloned());
        match guarded(input, &trial, &together, left) {
            Ok(_) => (kept, safe) = (trial, together),
            Err(error) if error.kind == ErrorKind::Unsafe => add_as_warnings(&mut refused, error),
            Err(error) => return Err(error),
        }
    }
    let (plan, more) = transferred(input, &kept, &safe, left)?;
    if plan.changes.is_empty() {
        return Err(error);
    }
    refused.extend(more);
    Ok((plan, refused))
}

/// Adds what is wrong with one entry point; those that share a file are refused for the same reason.
fn add_as_warnings(refused: &mut Vec<Diagnostic>, error: Error) {
    let new = error.diagnostics.into_iter().map(|one| Diagnostic { severity: Severity::Warning, ..one });
    let new: Vec<Diagnostic> = new.filter(|one| !refused.contains(one)).collect();
    refused.extend(new);
}

/// Moves files between the parts of apps that are divided plainly, where no cluster deletes anything by
/// that; else leaves those of that entry point where they are, and gives the reasons.
///
/// # Errors
///
/// When what the projections move is not safe either.
fn transferred(
    input: &Input<'_>,
    builder: &Builder<'_>,
    moved: &BTreeSet<RepoPath>,
    left: &gate::Left,
) -> Result<(Plan, Vec<Diagnostic>), Error> {
    let snapshot = builder.now().clone();
    let model = input.again(&snapshot);
    let transfer = Transfer::of(&Input { snapshot: &snapshot, model: &model, ..*input });
    let mut all = builder.clone();
    let touched: BTreeSet<RepoPath> =
        transfer.wholes().flat_map(|whole| transfer.make(&mut all, whole)).collect();
    if touched.is_empty() {
        return Ok((guarded(input, builder, moved, left)?, Vec::new()));
    }
    let mut refused = match guarded(input, &all, &touched.union(moved).cloned().collect(), left) {
        Ok(plan) => return Ok((plan, Vec::new())),
        Err(error) => error.diagnostics,
    };
    let mut plan = guarded(input, builder, moved, left).map_err(|mut error| {
        let new = refused.iter().filter(|one| !error.diagnostics.contains(one)).cloned();
        let new: Vec<Diagnostic> = new.collect();
        error.diagnostics.extend(new);
        error
    })?;
    // One entry point at a time, so that one which can't move holds up no other.
    refused.clear();
    let (mut kept, mut moved) = (builder.clone(), moved.clone());
    for whole in transfer.wholes() {
        let mut trial = kept.clone();
        let touched = transfer.make(&mut trial, whole);
        if touched.is_empty() {
            continue;
        }
        let together: BTreeSet<RepoPath> = touched.union(&moved).cloned().collect();
        match guarded(input, &trial, &together, left) {
            Ok(safe) => (plan, kept, moved) = (safe, trial, together),
            Err(error) if error.kind == ErrorKind::Unsafe => add_as_warnings(&mut refused, error),
            Err(error) => return Err(error),
        }
    }
    Ok((plan, refused))
}

/// Makes the plan, with what must be true of it; `moved` are the entry points of which a side changed.
fn guarded(
    input: &Input<'_>,
    builder: &Builder<'_>,
    moved: &BTreeSet<RepoPath>,
    left: &gate::Left,
) -> Result<Plan, Error> {
    let mut plan = builder.finish();
    plan.obligations = obligations(input, &plan, left)?;
    plan.remarks = relocation::guard(input, None, &mut plan, moved)?;
    Ok(plan)
}

/// A side of a type that the spec no longer has would be taken for an entry point of its own, and
/// the gate would go on to something that does not exist.
///
/// # Errors
///
/// When there is one.
fn no_unknown_types(input: &Input<'_>) -> Result<(), Error> {
    const ANY: &str = "any-type-of-any-name";
    let sides = input.sides();
    let mut found = Vec::new();
    for entry in input.model.all_entries().iter().filter(|entry| !sides.contains_key(&entry.path)) {
        for above in entry.path.parents() {
            let Some(pattern) = side(input.spec, &above, &entry.cluster, ANY) else { continue };
            let Some((head, tail)) = pattern.as_str().split_once(ANY) else { continue };
            let middle = entry.path.as_str().strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
            // Another side of the same folder shows that this is one too.
            let has_twin = || !sides.standing(&input.model.graph, &above).is_empty();
            let is_name = |name: &&str| !name.is_empty() && !name.contains('/') && *name != "all";
            let gone = middle.filter(is_name).filter(|_| has_twin());
            if let Some(name) = gone {
                found.push(
                    Diagnostic::error(format!(
                        "{above} is split into types, {} among them, and the spec has no type `{name}`",
                        entry.path
                    ))
                    .at(Place::file(input.spec.path.clone()))
                    .help(renamed(input, &above, &entry.cluster)),
                );
            }
        }
    }
    if found.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Invalid, diagnostics: found }) }
}

/// Returns the way on where a type was renamed or removed: nothing else tells the old name.
fn renamed(input: &Input<'_>, whole: &RepoPath, cluster: &str) -> String {
    let is_live = !later::applied_sides(input, whole, cluster).is_empty();
    let first = if is_live { format!("{BACK}\n") } else { String::new() };
    let last = if is_live { "\nrun `gitops-windows migrate`, step by step, as at first" } else { "" };
    numbered(&format!(
        "take that change of windows.yaml back\nor give the type another name so:\n{}",
        numbered(&format!(
            "{first}run `gitops-windows join --all`\nrename the type in windows.yaml\nrun `gitops-windows split --all`{last}"
        ))
    ))
}

/// Returns the text of the schema's file.
pub fn schema_text() -> String {
    format!("{:#}\n", spec::schema())
}

/// Every entry point must go on rendering what it did, but for the gate that it carries.
///
/// # Errors
///
/// When the layout gives no folder for a gate.
pub fn obligations(input: &Input<'_>, plan: &Plan, left: &gate::Left) -> Result<Vec<Obligation>, Error> {
    if plan.changes.is_empty() {
        return Ok(Vec::new());
    }
    let gates = gate::GateFolders::of(input)?;
    let mut found = Vec::new();
    // A folder that held nothing but a gate goes with it.
    let after = plan.changes.apply(input.snapshot);
    let is_gone = |path: &RepoPath| left.entries.contains(path) && !after.is_dir(path);
    for entry in input.model.all_entries().iter().filter(|entry| !is_gone(&entry.path)) {
        let free = gates.free(input, &entry.path);
        for build in builds(input.model, entry) {
            found.push(Obligation {
                flux_may_change: true,
                free: free.clone(),
                build,
                renamed: left.kustomizations.of(entry.clusters()),
                readers: left.readers_of(entry.clusters()),
                ..Obligation::same(entry.path.clone())
            });
        }
    }
    // What is live has its own already.
    let proven: BTreeSet<RepoPath> = found.iter().map(|one| one.before.clone()).collect();
    let sides = input.sides();
    let is_left = |side: &RepoPath| input.model.graph.has(side) && !proven.contains(side);
    for (side, (whole, _)) in sides.iter().filter(|(side, _)| is_left(side)) {
        let clusters = input.model.entry(whole).into_iter().flat_map(EntryPoint::clusters);
        let readers = left.readers_of(clusters);
        found.push(Obligation { free: gates.free(input, side), readers, ..Obligation::same(side.clone()) });
    }
    Ok(found)
}

#[cfg(test)]
#[path = "sync_tests.rs"]
mod tests;
