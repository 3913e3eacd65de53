//! What does not build tells nothing of what a gate is to hold back.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::delivery::{EntryPoint, Role};
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{self, ClusterGate, GateTarget, Gates};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::gate::{self, Late, Leftover};
use crate::plan::problem::is_remote;
use crate::repo::flux::is_yaml;
use crate::repo::manifest::manifests;
use crate::repo::{Kustomization, Reference};
use crate::template::Templates;

/// Why something must be mended before a gate changes.
const UNKNOWN: &str = "until then the targets of the cluster's gate are unknown";

/// What is said of each thing that does not build, behind what it is.
pub(super) const BROKEN: &str = " does not build";

/// By cluster, what of it does not build.
type Broken = BTreeMap<String, Vec<Diagnostic>>;

/// As [`sync`](gate::sync), and leaves the gates as they stand of clusters of which something does not build.
///
/// Without what it holds back a gate would be written anew, and the jobs in the cluster would open what should wait, or act
/// on what is not there. A gate that goes on holding back just what it does may change otherwise. What needs the network to
/// build says the same each time, so it changes no gate.
///
/// # Errors
///
/// Those of [`sync`](gate::sync); also when no gate is left to write, or one that stays builds upon a base that would change:
/// each entry point that does not build, once.
pub fn sync_built(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
    late: Late,
) -> Result<Leftover, Error> {
    let mut all = builder.clone();
    let mut leftover = gate::sync(input, templates, &mut all, late, &BTreeSet::new())?;
    let (broken, goes_on) = unbuilt(input, &all, leftover.gates.as_ref())?;
    leftover.remarks.extend(goes_on);
    if broken.is_empty() {
        *builder = all;
        return Ok(leftover);
    }
    let all_gates = leftover.gates.map(|gates| gates.clusters).unwrap_or_default();
    let without: BTreeSet<String> = broken.keys().cloned().collect();
    let mut others = builder.clone();
    // What stops the others alone, as a file that they share, is no reason that people can act on.
    let Ok(mut leftover) = gate::sync(input, templates, &mut others, late, &without) else {
        return refuse(broken);
    };
    let writes_nothing = others.finish().changes.is_empty();
    let (refused, goes_on) = unbuilt(input, &others, leftover.gates.as_ref())?;
    leftover.remarks.extend(goes_on);
    if writes_nothing || !refused.is_empty() {
        return refuse(broken);
    }
    let kept = all_gates.into_iter().filter(|gate| broken.contains_key(&gate.cluster));
    leftover.kept = kept.collect();
    for (cluster, why) in broken {
        let text = format!("the gate of cluster {cluster} stays as it stands, since not all of it builds");
        leftover.remarks.push(Diagnostic::warning(text).at(Place::file(input.spec.path.clone())));
        let why = why.into_iter().map(|why| Diagnostic { severity: Severity::Warning, ..why });
        leftover.remarks.extend(why);
    }
    *builder = others;
    Ok(leftover)
}

/// Returns what does not build of clusters whose gates change, and would hold back something else than they do; and what to
/// say of the others whose gates change.
fn unbuilt(
    input: &Input<'_>,
    builder: &Builder<'_>,
    gates: Option<&Gates>,
) -> Result<(Broken, Vec<Diagnostic>), Error> {
    let mut found = unbuilt_of(input, builder, &|_, _| true)?;
    let mut goes_on = Vec::new();
    found.retain(|cluster, why| {
        let gate = gates.and_then(|gates| gates.of(cluster));
        let Some(gate) = gate.filter(|gate| holds_the_same(input, gate)) else { return true };
        // Of what no gate holds that is said already.
        let subject =
            |one: &Diagnostic| one.message.split_once(BROKEN).map(|(subject, _)| subject.to_owned());
        let known: BTreeSet<Option<String>> = gate.left.iter().map(subject).collect();
        let new = why.iter().filter(|one| subject(one).is_none() || !known.contains(&subject(one)));
        goes_on.extend(new.map(|why| {
            let told = Diagnostic { severity: Severity::Warning, ..why.clone() };
            told.help("mend it; until then its gate goes by the same targets")
        }));
        false
    });
    Ok((found, goes_on))
}

/// Returns whether a gate that stands holds back by each type just what it is to hold back, as its own folder says.
fn holds_the_same(input: &Input<'_>, gate: &ClusterGate) -> bool {
    if !input.model.graph.has(&gate.folder) {
        return false;
    }
    let jobs = input.jobs_of(&gate.cluster, &gate.folder);
    let mut held: BTreeMap<usize, BTreeSet<&GateTarget>> = BTreeMap::new();
    for job in jobs.iter().filter(|job| job.action.holds()) {
        let Some(position) = mechanism::of(job.mechanism).type_of(input.spec, &job.name) else {
            return false;
        };
        // One that the spec switches off or on knows what it is to hold back otherwise.
        if job.is_running != gate.switched_on.contains(&position) {
            return false;
        }
        held.entry(position).or_default().extend(&job.targets);
    }
    let wanted = gate.switched_on.iter().all(|position| held.contains_key(position));
    wanted
        && held.iter().all(|(position, held)| {
            gate.targets.get(position).is_some_and(|wanted| held.iter().copied().eq(wanted))
        })
}

/// Makes sure that no gate changes of a cluster of which something does not build that the gates hold back so far: what they
/// never held takes nothing from them.
///
/// # Errors
///
/// When one would: each entry point that does not build, once.
pub fn unbuilt_held(input: &Input<'_>, builder: &Builder<'_>) -> Result<(), Error> {
    let closings = &input.model.closings;
    let broken = unbuilt_of(input, builder, &|entry, cluster| {
        let mut own = input.model.flux_in(entry, cluster);
        own.any(|flux| closings.running(cluster, &GateTarget::of(input, flux)).is_some())
    })?;
    if broken.is_empty() { Ok(()) } else { refuse(broken) }
}

/// Tells of all that does not build, each once.
fn refuse<T>(broken: Broken) -> Result<T, Error> {
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    broken.into_values().flatten().for_each(|one| add(&mut diagnostics, one));
    Err(Error { kind: ErrorKind::Invalid, diagnostics })
}

/// Adds what is wrong at a place of which nothing is said yet.
fn add(found: &mut Vec<Diagnostic>, one: Diagnostic) {
    if !found.iter().any(|other| other.place == one.place) {
        found.push(one);
    }
}

fn unbuilt_of(
    input: &Input<'_>,
    builder: &Builder<'_>,
    is_meant: &dyn Fn(&EntryPoint, &str) -> bool,
) -> Result<Broken, Error> {
    let base = input.spec.gate_base()?;
    let changes = builder.finish().changes;
    let mut found = Broken::new();
    for cluster in input.spec.clusters.keys() {
        let own = input.spec.gate_folder(cluster)?;
        let stands = || input.snapshot.is_dir(&own);
        let is_changed = |path: &RepoPath| path.is_within(&own) || path.is_within(&base) && stands();
        if !changes.keys().any(is_changed) {
            continue;
        }
        let mut broken: Vec<Diagnostic> = Vec::new();
        let meant = input.model.entries_of(cluster).filter(|entry| is_meant(entry, cluster));
        let reasons = meant.filter_map(|entry| reason(input, entry, cluster));
        reasons.for_each(|one| add(&mut broken, one));
        broken.extend(unread(input, cluster));
        if !broken.is_empty() {
            found.insert(cluster.clone(), broken);
        }
    }
    Ok(found)
}

fn reason(input: &Input<'_>, entry: &EntryPoint, cluster: &str) -> Option<Diagnostic> {
    let told = |message: &str, place: Place| {
        Diagnostic::error(format!("{} of cluster {cluster}{BROKEN}: {message}", entry.path))
            .at(place)
            .help(format!("mend it first: {UNKNOWN}"))
    };
    let graph = &input.model.graph;
    if let Some(broken) = graph.reach(&entry.path).iter().find_map(|folder| graph.broken(folder)) {
        let place = broken.place.clone().unwrap_or_else(|| Place::file(entry.path.clone()));
        return Some(told(&broken.message, place));
    }
    let unreadable = || {
        let file = files(input, entry).into_iter().find(|file| is_unreadable(input, file))?;
        Some(told(&format!("{file} is not valid YAML"), Place::file(file)))
    };
    // `flux bootstrap` may bring what else a bootstrap folder lists.
    if entry.role == Role::Bootstrap {
        return unreadable();
    }
    let error = input.typed_entry(input.snapshot, entry).err()?;
    let message = error.unbuilt()?;
    if matches!(input.typed_as_applied(entry, cluster), Ok(Some(_))) {
        return None;
    }
    unreadable().or_else(|| (!is_remote(message)).then(|| told(message, Place::file(entry.path.clone()))))
}

/// Finds files beside the Flux Kustomizations of a cluster in which one may stand that nobody can read.
fn unread(input: &Input<'_>, cluster: &str) -> Vec<Diagnostic> {
    let own = input.model.flux_of_cluster(cluster);
    let folders: BTreeSet<RepoPath> = own.filter_map(|flux| flux.file.parent()).collect();
    let is_beside = |place: &Place| place.path.parent().is_some_and(|folder| folders.contains(&folder));
    let remarks = input.model.remarks.iter().filter(|remark| {
        remark.place.as_ref().is_some_and(|place| is_beside(place) && is_unreadable(input, &place.path))
    });
    let told = remarks.map(|remark| {
        let found = Diagnostic::error(remark.message.clone()).help(format!("mend it first: {UNKNOWN}"));
        Diagnostic { place: remark.place.clone(), ..found }
    });
    told.collect()
}

/// Returns the files that an entry point lists, or that Flux lists in its place.
fn files(input: &Input<'_>, entry: &EntryPoint) -> Vec<RepoPath> {
    let graph = &input.model.graph;
    if graph.has(&entry.path) {
        let lists = graph.reach(&entry.path).into_iter().filter_map(|folder| graph.get(&folder));
        return lists.flat_map(Kustomization::resources).filter_map(Reference::path).cloned().collect();
    }
    let is_own = |file: &RepoPath| {
        let mut folders = file.parents().take_while(|folder| folder.is_within(&entry.path));
        is_yaml(file) && !folders.any(|folder| graph.has(&folder))
    };
    let all = input.snapshot.below(&entry.path).map(|(file, _)| file);
    all.filter(|file| is_own(file)).cloned().collect()
}

fn is_unreadable(input: &Input<'_>, file: &RepoPath) -> bool {
    input.snapshot.file(file).is_some_and(|file| manifests(file).is_none())
}
