//! Brings the files of the gates up to date.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{self, ClusterGate, Files, GateTarget, Gates, Writing, shown};
use crate::path::RepoPath;
use crate::plan::Command;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, ownership, ownership_for, with_header};
use crate::plan::gate::point::Pointed;
use crate::plan::gate::target::waits_for_held;
use crate::plan::gate::whole::targets;
use crate::plan::gate::{Late, Lone, adopted, alerts, apart_without, carrier, gates_without, point, renamed};
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
    /// Those of them about what must not reach a cluster while its window is closed, with that.
    pub late: Vec<(String, Diagnostic)>,
    /// The clusters of which CronJobs begin to look at a table, and don't resume what those before have suspended.
    pub tabled: BTreeSet<String>,
    /// By cluster, what leaves a held source, with the name of the source that it reads again.
    pub back: BTreeMap<String, Readers>,
    /// The clusters of which a gate would hold back nothing.
    pub idle: BTreeSet<String>,
    /// The gates that were written; `None` where the spec wants none.
    pub gates: Option<Gates>,
    /// Those that stay as they stand, as not all of their clusters builds.
    pub kept: Vec<ClusterGate>,
}

impl Leftover {
    /// Takes over what became of what reads held sources.
    fn take(&mut self, pointed: Pointed) {
        let Pointed { late, mut turned, back } = pointed;
        turned.splice(..0, late.iter().map(|(_, late)| late.clone()));
        self.remarks.extend(turned.iter().cloned());
        (self.turned, self.late, self.back) = (turned, late, back);
    }

    /// Makes sure that nothing has to wait for a window; `help` is what to do otherwise.
    ///
    /// # Errors
    ///
    /// With all that has to.
    pub fn refuse_late(&self, help: &str) -> Result<(), Error> {
        let refuse = |(_, late): &(String, Diagnostic)| {
            Diagnostic { severity: Severity::Error, ..late.clone() }.help(help)
        };
        let diagnostics: Vec<Diagnostic> = self.late.iter().map(refuse).collect();
        if diagnostics.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Unsafe, diagnostics }) }
    }
}

/// Writes the gates' base and each cluster's patches into the builder.
///
/// Files that the tool wrote are written anew; of files that were there before, single values are
/// edited where what a cluster gets differs from what the spec says. `late` says whether Flux Kustomizations may leave held
/// sources that the gates no longer move; where that is left for later, so are the gates of those clusters. The gates of the
/// clusters in `without` stay as they stand.
///
/// # Errors
///
/// When a generated file was edited by hand, or a value can't be edited in place.
pub fn sync(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
    late: Late,
    without: &BTreeSet<String>,
) -> Result<Leftover, Error> {
    let mut leftover = Leftover::default();
    let found = match late {
        Late::Left => possible(input, templates, builder, &mut leftover, without)?,
        Late::Refused | Late::Written => gates_without(input, without)?,
    };
    let Some(gates) = found else {
        let mut pointed = Pointed::default();
        if late == Late::Written {
            point::forgotten(input, builder, &mut pointed)?;
        }
        leftover.take(pointed);
        return Ok(leftover);
    };
    let mechanism = mechanism::of(input.spec.gate.mechanism);
    let sides = input.sides();
    leftover.remarks.extend(waits_for_gated(input, &gates));
    let left = gates.clusters.iter().flat_map(|cluster| &cluster.left);
    leftover.remarks.extend(left.map(|one| Diagnostic { code: None, ..one.clone() }));
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
    if let Some((told, clusters)) = suspended_by_others(input, &gates) {
        leftover.remarks.push(told);
        leftover.tabled = clusters;
    }
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
    leftover.take(point::point(input, builder, &gates, late)?);
    for cluster in gates.clusters.iter().filter(|cluster| !cluster.is_idle()) {
        carrier::ensure(input, &sides, templates, builder, cluster, &mut leftover)?;
    }
    leftover.gates = Some(gates);
    Ok(leftover)
}

/// Returns the gates that can be brought up to date now; those of other clusters stay as they stand, with a warning. They
/// build upon the common base, so where that would become another one all stay.
fn possible(
    input: &Input<'_>,
    templates: &Templates,
    builder: &Builder<'_>,
    leftover: &mut Leftover,
    without: &BTreeSet<String>,
) -> Result<Option<Gates>, Error> {
    let Some((gates, mut refused)) = apart_without(input, without)? else { return Ok(None) };
    for gate in &gates.clusters {
        if let Some((target, held)) = point::astray(input, &gate.cluster, &gate.sources).first() {
            refused.insert(gate.cluster.clone(), point::waits(input, &gate.cluster, target, held));
        } else if let Some(why) = point::opening_needed(input, gate) {
            let help = "let `gitops-windows sync --while-open` write that, while the window is open";
            refused.insert(gate.cluster.clone(), Error::new(ErrorKind::Unsafe, why.help(help)));
        }
    }
    if refused.is_empty() {
        return Ok(Some(gates));
    }
    for (cluster, error) in &refused {
        let text = format!("this edit does not reach cluster {cluster}: its gate stays as it is");
        let help = format!("`gitops-windows stop --without-git --cluster {cluster}` prints what closes it");
        let place = Place::file(input.spec.path.clone());
        leftover.remarks.push(Diagnostic::warning(text).at(place).help(help));
        let why = error.diagnostics.iter().cloned();
        leftover.remarks.extend(why.map(|why| Diagnostic { severity: Severity::Warning, ..why }));
    }
    let Gates { base, jobs, mut clusters, .. } = gates;
    clusters.retain(|gate| !refused.contains_key(&gate.cluster));
    let gates = Gates::new(base, jobs, clusters);
    let mut shared = Files::new();
    if !adopted::is_adopted(builder, &gates.base) {
        let writing = Writing { spec: input.spec, templates, gates: &gates, has_adopted_base: false };
        mechanism::of(input.spec.gate.mechanism).base(&writing, &mut shared)?;
    }
    if shared.iter().all(|(path, body)| is_written(builder, path, body)) {
        return Ok((!gates.clusters.is_empty()).then_some(gates));
    }
    for gate in &gates.clusters {
        let text =
            format!("the gate of cluster {} stays as it stands, as it has the same base", gate.cluster);
        leftover.remarks.push(Diagnostic::warning(text).at(Place::file(gates.base.clone())));
    }
    Ok(None)
}

/// Returns whether a file of ours has a body already. A checkout with CRLF holds the same text.
fn is_written(builder: &Builder<'_>, path: &RepoPath, body: &str) -> bool {
    let text = builder.now().file(path).and_then(|file| file.text());
    text.map(|text| text.replace("\r\n", "\n")) == Some(with_header(body))
}

/// Says what may be suspended as CronJobs begin to look at a table: they resume only what they have suspended.
fn suspended_by_others(input: &Input<'_>, gates: &Gates) -> Option<(Diagnostic, BTreeSet<String>)> {
    let is_suspend = input.spec.gate.mechanism == MechanismName::Suspend;
    let table = input.spec.gate.table.as_ref().filter(|_| is_suspend)?;
    let of_cluster = |cluster: &ClusterGate| {
        let by_others = |target: &&GateTarget| {
            let job = input.model.closings.running(&cluster.cluster, target);
            job.is_some_and(|job| job.table.is_none())
        };
        cluster.held().iter().filter(by_others).cloned().collect::<Vec<_>>()
    };
    let mut clusters = BTreeSet::new();
    let mut held: BTreeSet<GateTarget> = BTreeSet::new();
    for cluster in &gates.clusters {
        let own = of_cluster(cluster);
        if !own.is_empty() {
            clusters.insert(cluster.cluster.clone());
            held.extend(own);
        }
    }
    if held.is_empty() {
        return None;
    }
    let told = Diagnostic::warning(mechanism::RESUME_OWN).at(table.place.clone()).help(format!(
        "let this reach the clusters while the windows are open\nresume by hand all that is suspended then: {}",
        shown(&held, input.spec)
    ));
    Some((told, clusters))
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
        match builder.now().file(path).map(|file| ownership_for(file, body)) {
            None => builder.put(path, &with_header(body)),
            Some(Ownership::Ours) => {
                if !is_written(builder, path, body) {
                    builder.put(path, &with_header(body));
                }
            }
            Some(Ownership::Edited) => edited.push(conflict(path)),
            Some(Ownership::Unmerged) => edited.push(restored(path, &path.parent().unwrap_or_default())),
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
            Some(Ownership::Unmerged) => edited.push(unmerged(&path)),
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

/// Both versions are made from windows.yaml, so that neither has to be looked at.
pub fn unmerged(path: &RepoPath) -> Diagnostic {
    restored(path, path)
}

/// As [`unmerged`], of one whose whole folder is the tool's.
fn restored(path: &RepoPath, whole: &RepoPath) -> Diagnostic {
    Diagnostic::error(format!("generated file {path} has conflict markers of git, so it does not build"))
        .at(Place::file(path.clone()))
        .help(format!(
            "run `git checkout HEAD -- {}`\nrun `gitops-windows sync --yes --allow-dirty`, which writes it anew\ngo on with the merge or the revert",
            whole
        ))
}

/// Says what a gate begins to hold back without a split.
fn held_whole(input: &Input<'_>, builder: &Builder<'_>, gates: &Gates) -> Vec<Diagnostic> {
    let mut found: Vec<(&str, Vec<&GateTarget>)> = Vec::new();
    for cluster in gates.clusters.iter().filter(|cluster| !adopted::is_adopted(builder, &cluster.folder)) {
        let is_new = |target: &&GateTarget| input.model.closings.any(&cluster.cluster, target).is_none();
        let own: Vec<&GateTarget> = cluster.whole.iter().filter(is_new).collect();
        if !own.is_empty() {
            found.push((&cluster.cluster, own));
        }
    }
    let distinct: BTreeSet<&Vec<&GateTarget>> = found.iter().map(|(_, targets)| targets).collect();
    let holds = input.spec.gate.mechanism.holds_sources();
    // A Namespace that nothing earlier needs is held back with the rest of its entry point.
    let lone = if found.is_empty() { Lone::default() } else { Lone::of(input, &input.sides()) };
    let has_lone = |(cluster, own): &(&str, Vec<&GateTarget>)| {
        let mut alone = input.model.entries_of(cluster).filter(|entry| lone.rest(&entry.path).is_some());
        alone.any(|entry| targets(input, entry, cluster).iter().any(|target| own.contains(&target)))
    };
    let but = if found.iter().any(has_lone) { " but Namespaces" } else { "" };
    let told = |message: String, is_cut: bool| {
        let all = if is_cut { " (`gitops-windows when --verbose` names all)" } else { "" };
        Diagnostic::note(format!("{message}{all} entirely. Every object there{but} has a window"))
            .at(Place::file(input.spec.path.clone()))
            .help("leave it undivided\nor give objects that must not wait a real-time type under `rules`, then run `gitops-windows split --all`")
    };
    if distinct.len() > MOST_NOTES {
        let count: usize = found.iter().map(|(_, targets)| targets.len()).sum();
        let verb = if holds { "hold" } else { "suspend" };
        let message = format!("gates of {} clusters {verb} {count} Flux Kustomizations", found.len());
        return vec![told(message, true)];
    }
    let note = |(cluster, own): &(&str, Vec<&GateTarget>)| {
        let most = if own.len() > MOST_TARGETS + 1 { MOST_TARGETS } else { own.len() };
        let names = shown(own[..most].iter().copied(), input.spec);
        let (more, is_cut) = match own.len() - most {
            0 => (String::new(), false),
            more => (format!(" and {more} more"), true),
        };
        let off = if input.spec.gate_enabled(cluster) { "" } else { ", once enabled," };
        let verb = if holds { "holds" } else { "suspends" };
        told(format!("the gate of cluster {cluster}{off} {verb} {names}{more}"), is_cut)
    };
    found.iter().map(note).collect()
}

/// How many clusters with different answers are told one by one.
const MOST_NOTES: usize = 3;

/// How many Flux Kustomizations a note names.
const MOST_TARGETS: usize = 5;

/// A Flux Kustomization that waits for one that is suspended stops at the next commit ("revision is
/// not up to date", kustomize-controller `checkDependencies`).
fn waits_for_gated(input: &Input<'_>, gates: &Gates) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if !input.spec.gate.mechanism.stops_dependants() {
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
                .help(format!("remove {other} from the `dependsOn` of {}", kustomization.name)),
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
