//! Brings the files of the gates up to date.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{self, ClusterGate, Files, GateTarget, Gates, Writing, shown};
use crate::path::RepoPath;
use crate::plan::Command;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, ownership, with_header};
use crate::plan::gate::point::Pointed;
use crate::plan::gate::target::waits_for_held;
use crate::plan::gate::{adopted, alerts, carrier, gates, point, renamed};
use crate::proof::Readers;
use crate::spec::MechanismName;
use crate::template::Templates;
use crate::text::did_you_mean;

/// What bringing the gates up to date leaves to people.
#[derive(Debug, Default)]
pub struct Leftover {
    /// Commands for what does not stand in Git.
    pub commands: Vec<Command>,
    /// What else is to be said.
    pub remarks: Vec<Diagnostic>,
    /// Those of the remarks that are about what begins to read a held source.
    pub turned: Vec<Diagnostic>,
    /// Those of them about what must not reach a cluster while its window is closed.
    pub late: Vec<Diagnostic>,
    /// By cluster, what leaves a held source, with the name of the source that it reads again.
    pub back: BTreeMap<String, Readers>,
    /// The clusters of which a gate would hold back nothing.
    pub idle: BTreeSet<String>,
    /// The gates that were written; `None` where the spec wants none.
    pub gates: Option<Gates>,
}

/// Writes the gates' base and each cluster's patches into the builder.
///
/// Files that the tool wrote are written anew; of files that were there before, single values are
/// edited where what a cluster gets differs from what the spec says. `while_open` lets Flux Kustomizations leave held
/// sources that the gates no longer move.
///
/// # Errors
///
/// When a generated file was edited by hand, or a value can't be edited in place.
pub fn sync(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
    while_open: bool,
) -> Result<Leftover, Error> {
    let mut leftover = Leftover::default();
    let Some(gates) = gates(input)? else { return Ok(leftover) };
    let mechanism = mechanism::of(input.spec.gate.mechanism);
    let sides = input.sides();
    leftover.remarks.extend(waits_for_gated(input, &gates));
    leftover.remarks.extend(gates.clusters.iter().flat_map(|cluster| cluster.left.iter().cloned()));
    leftover.remarks.extend(held_whole(input, builder, &gates));
    leftover.remarks.extend(alerts::needs(input, &gates.clusters));
    let has_adopted_base = adopted::is_adopted(builder, &gates.base);
    let mut wanted = Files::new();
    if has_adopted_base && !input.model.gates.iter().any(|gate| gate.base == gates.base) {
        return Err(Error::new(
            ErrorKind::Conflict,
            Diagnostic::error(format!("{} is the place of the gate, but holds other files", gates.base))
                .at(Place::file(gates.base.clone()))
                .help("choose another folder for `gate` under `layout`"),
        ));
    }
    let adopted = gates.clusters.iter().find(|cluster| adopted::is_adopted(builder, &cluster.folder));
    if let Some(table) = &input.spec.gate.table
        && (has_adopted_base || adopted.is_some())
    {
        let folder = adopted.map_or(&gates.base, |cluster| &cluster.folder);
        return Err(Error::new(
            ErrorKind::Unsafe,
            Diagnostic::error(format!("the gate in {folder} is its authors', so its CronJobs get no table"))
                .at(table.place.clone())
                .help("choose other folders for `gate` and `clusterGate` under `layout`\nremove the old gate in the same commit\nor remove `every`"),
        ));
    }
    leftover.remarks.extend(suspended_by_others(input, &gates));
    let writing = Writing { spec: input.spec, templates, gates: &gates, has_adopted_base };
    if !has_adopted_base {
        mechanism.base(&writing, &mut wanted)?;
    }
    for cluster in &gates.clusters {
        if cluster.is_idle() {
            // What is `left` may be held back later, so the gate it has stays.
            if cluster.left.is_empty() {
                leftover.idle.insert(cluster.cluster.clone());
                leftover.remarks.push(needs_none(input, &cluster.cluster));
            }
            alerts::sync(input, templates, builder, cluster, &mut wanted)?;
            continue;
        }
        renamed::check(input, cluster)?;
        if adopted::is_adopted(builder, &cluster.folder) {
            adopted::sync(input, builder, &writing, cluster)?;
            leftover.remarks.extend(adopted::not_held(input, &sides, cluster));
        } else {
            if has_adopted_base {
                fits_base(input, &gates, cluster)?;
            }
            mechanism.cluster(&writing, cluster, &alerts::names(input.spec, cluster), &mut wanted)?;
        }
        alerts::sync(input, templates, builder, cluster, &mut wanted)?;
    }
    write(input, builder, &gates, &wanted)?;
    let Pointed { late, mut turned, back } = point::point(input, builder, &gates, while_open)?;
    turned.splice(..0, late.iter().cloned());
    leftover.remarks.extend(turned.iter().cloned());
    (leftover.turned, leftover.late, leftover.back) = (turned, late, back);
    for cluster in gates.clusters.iter().filter(|cluster| !cluster.is_idle()) {
        carrier::ensure(input, &sides, templates, builder, cluster, &mut leftover)?;
    }
    leftover.gates = Some(gates);
    Ok(leftover)
}

/// Says what may be suspended as CronJobs begin to look at a table: they resume only what they have suspended.
fn suspended_by_others(input: &Input<'_>, gates: &Gates) -> Option<Diagnostic> {
    let is_suspend = input.spec.gate.mechanism == MechanismName::Suspend;
    let table = input.spec.gate.table.as_ref().filter(|_| is_suspend)?;
    let of_cluster = |cluster: &ClusterGate| {
        let by_others = |target: &&GateTarget| {
            let job = input.model.closings.running(&cluster.cluster, target);
            job.is_some_and(|job| job.table.is_none())
        };
        cluster.held().iter().filter(by_others).cloned().collect::<Vec<_>>()
    };
    let held: BTreeSet<GateTarget> = gates.clusters.iter().flat_map(of_cluster).collect();
    if held.is_empty() {
        return None;
    }
    Some(Diagnostic::warning(mechanism::RESUME_OWN).at(table.place.clone()).help(format!(
        "let this reach the clusters while the windows are open\nresume by hand all that is suspended then: {}",
        shown(&held, input.spec)
    )))
}

/// Says that a cluster has nothing to hold back.
fn needs_none(input: &Input<'_>, cluster: &str) -> Diagnostic {
    let text = format!("cluster {cluster} has no entry point with apps, so it needs no gate");
    let remark = Diagnostic::warning(text).at(Place::file(input.spec.path.clone()));
    let known = input.model.clusters();
    if known.contains(cluster) {
        return remark;
    }
    remark.help(
        did_you_mean(cluster, known.iter().copied()).unwrap_or_else(|| {
            "no folder or Flux Kustomization belongs to a cluster of that name".to_owned()
        }),
    )
}

/// Replaces what is ours, adds what is missing, takes away what is ours and no longer wanted.
fn write(input: &Input<'_>, builder: &mut Builder<'_>, gates: &Gates, wanted: &Files) -> Result<(), Error> {
    let mut edited = Vec::new();
    for (path, body) in wanted {
        match builder.now().file(path).map(ownership) {
            None => builder.put(path, &with_header(body)),
            Some(Ownership::Ours) => {
                // A checkout with CRLF holds the same text.
                let text = builder.now().file(path).and_then(|file| file.text());
                if text.map(|text| text.replace("\r\n", "\n")) != Some(with_header(body)) {
                    builder.put(path, &with_header(body));
                }
            }
            Some(Ownership::Edited) => edited.push(conflict(path)),
            Some(Ownership::Theirs) => edited.push(
                Diagnostic::error(format!("{path} is needed for a gate and holds something else"))
                    .at(Place::file(path.clone()))
                    .help("move it away, or choose other names under `layout`"),
            ),
        }
    }
    // Folders that belong to their authors hold patches of ours that only they list. A gate that holds
    // back nothing any more goes on request alone, and its base may be that of others.
    let mut active = gates.clusters.iter().filter(|cluster| !cluster.is_idle()).peekable();
    let base = active.peek().map(|_| &gates.base);
    let folders: BTreeSet<RepoPath> = active
        .map(|cluster| &cluster.folder)
        .chain(base)
        .filter(|folder| !adopted::is_adopted(builder, folder))
        .cloned()
        .collect();
    let stale: Vec<RepoPath> = builder
        .now()
        .entries()
        .filter(|(path, _)| path.is_within(&input.spec.folder()))
        .filter(|(path, _)| path.parent().is_some_and(|parent| folders.contains(&parent)))
        .filter(|(path, _)| !wanted.contains_key(*path))
        .map(|(path, _)| path.clone())
        .collect();
    for path in stale {
        match builder.now().file(&path).map(ownership) {
            Some(Ownership::Ours) => builder.remove(&path),
            Some(Ownership::Edited) => edited.push(conflict(&path)),
            _ => {}
        }
    }
    if edited.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Conflict, diagnostics: edited }) }
}

/// A generated file that somebody edited is never overwritten.
pub fn conflict(path: &RepoPath) -> Diagnostic {
    Diagnostic::error(format!(
        "generated file {path} was edited by hand. Writing it again would lose the edit"
    ))
    .at(Place::file(path.clone()))
    .help("put the change into windows.yaml or into a template beside it\nrestore the file")
}

/// Says what a gate begins to hold back without a split.
fn held_whole(input: &Input<'_>, builder: &Builder<'_>, gates: &Gates) -> Vec<Diagnostic> {
    let new = |cluster: &ClusterGate| {
        let is_new = |target: &&GateTarget| input.model.closings.any(&cluster.cluster, target).is_none();
        let targets = cluster.whole.iter().filter(is_new);
        (cluster.cluster.clone(), shown(targets, input.spec))
    };
    let ours = gates.clusters.iter().filter(|cluster| !adopted::is_adopted(builder, &cluster.folder));
    let found = ours.map(new).filter(|(_, names)| !names.is_empty());
    found
        .map(|(cluster, names)| {
            Diagnostic::note(format!(
                "the gate of cluster {cluster} suspends {names} entirely: every object there has a window"
            ))
            .at(Place::file(input.spec.path.clone()))
            .help("give objects that must not wait a real-time type under `rules`\nsplit it")
        })
        .collect()
}

/// A Flux Kustomization that waits for one that is suspended stops at the next commit ("revision is
/// not up to date", kustomize-controller `checkDependencies`).
fn waits_for_gated(input: &Input<'_>, gates: &Gates) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // Of two sources no revisions are compared.
    if input.spec.gate.mechanism == MechanismName::Follow {
        return found;
    }
    let of_cluster = |gate: &ClusterGate| (gate.cluster.clone(), gate.held());
    let clusters: BTreeMap<String, BTreeSet<GateTarget>> = gates.clusters.iter().map(of_cluster).collect();
    for kustomization in input.model.all_flux() {
        let Some(held) = clusters.get(&kustomization.cluster) else { continue };
        if held.contains(&GateTarget::of(input, kustomization)) {
            continue;
        }
        if let Some((other, place)) = waits_for_held(input, kustomization, held) {
            let other = other.shown(input.spec);
            found.push(
                Diagnostic::warning(format!(
                    "Flux Kustomization {} is real-time and depends on gated {other}. While the window is closed, it stops at the next commit",
                    kustomization.name
                ))
                .at(place)
                .help(format!("remove {other} from its `dependsOn`")),
            );
        }
    }
    found
}

/// A cluster that is new to a gate somebody else built gets its jobs as they are.
fn fits_base(input: &Input<'_>, gates: &Gates, cluster: &ClusterGate) -> Result<(), Error> {
    let jobs = input.jobs_in(&gates.base);
    let held = |target: &&GateTarget| jobs.iter().any(|job| job.closes(target));
    let wanted = cluster.held();
    let missing = shown(wanted.iter().filter(|target| !held(target)), input.spec);
    if missing.is_empty() || !cluster.enabled {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Unsafe,
        Diagnostic::error(format!(
            "in cluster {}, {} must wait, but the jobs in {} suspend something else",
            cluster.cluster, missing, gates.base
        ))
        .at(Place::file(gates.base.clone()))
        .help("add it to both jobs and to their Role\nor choose another folder for `gate` under `layout`, which gets a new gate"),
    ))
}
