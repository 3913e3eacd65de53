//! Recognises the gates that already stand in a repository, by what they do.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use crate::delivery::namespaces::Namespaces;
use crate::diagnostic::Place;
use crate::mechanism::{self, Action, Reading, Unclear, read};
use crate::path::RepoPath;
use crate::repo::flux::is_yaml;
use crate::repo::manifest::{Manifest, kept_manifests};
use crate::repo::{Entry, FluxKustomization, Graph, Snapshot, Target};
use crate::schedule::OpenTimes;
use crate::spec::MechanismName;

/// A CronJob whose containers suspend or resume Flux Kustomizations, as it stands in a file.
#[derive(Clone, Debug)]
pub struct WrittenJob {
    /// The file.
    pub file: RepoPath,
    /// The file's text.
    pub text: Arc<str>,
    /// The bytes of the document in the file.
    pub span: Range<usize>,
    /// `metadata.name`.
    pub name: String,
    /// The mechanism by which it does it.
    pub mechanism: MechanismName,
    /// Whether it opens or closes.
    pub action: Action,
    /// The open times of the table at which it looks, where it looks at one.
    pub table: Option<OpenTimes>,
    /// What it resumes or suspends, as (namespace, name).
    pub targets: BTreeSet<(String, String)>,
    /// The object.
    pub value: Value,
}

impl WrittenJob {
    /// Says what it does.
    fn told(&self) -> String {
        let names: Vec<&str> = self.targets.iter().map(|(_, name)| name.as_str()).collect();
        format!("CronJob `{}` {} {}", self.name, self.action.verb(), names.join(", "))
    }

    /// Points at the job's document.
    pub fn place(&self) -> Place {
        Place::span(self.file.clone(), self.text.clone(), self.span.clone())
    }
}

/// A pair of jobs over the same Flux Kustomizations, in one folder.
#[derive(Clone, Debug)]
pub struct Gate {
    /// The folder whose kustomization lists the jobs.
    pub base: RepoPath,
    /// The job that resumes.
    pub open: WrittenJob,
    /// The job that suspends.
    pub close: WrittenJob,
}

impl Gate {
    /// Returns the names of the Flux Kustomizations that the gate closes.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.close.targets.iter().map(|(_, name)| name.as_str())
    }
}

/// A CronJob that turns Flux Kustomizations and is no part of a gate.
#[derive(Clone, Debug)]
pub struct LooseJob {
    /// What it does, and what follows from that.
    pub told: String,
    /// What to do about it.
    pub help: &'static str,
    /// The job's document.
    pub place: Place,
}

/// What the CronJobs of a repository turn.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// Pairs of them.
    pub gates: Vec<Gate>,
    /// Those that are no part of one, and parts of others that are not understood.
    pub loose: Vec<LooseJob>,
    /// The folders that list CronJobs which let sources follow others.
    pub following: BTreeSet<RepoPath>,
    /// The lowest folders that hold a gate which no kustomization.yaml lists.
    pub unlisted: BTreeSet<RepoPath>,
    /// The files of all.
    pub turning: BTreeSet<RepoPath>,
}

/// What follows for a job that is no part of a gate.
const BESIDE: &str = "It is not adopted and goes on beside the gate";

/// What follows where a part of a gate's job is not understood.
const IN_PART: &str = "windows.yaml says nothing of that part of it";

/// What to do about a job that has no other half.
const PAIR: &str = "make a pair of it: CronJobs that suspend and resume the same Kustomizations by name\nrun this again\nor remove it once the gate is switched on";

/// What to do about a job of a gate of which a part is not understood.
const NAME: &str = "name each Kustomization in the command, or remove that part";

/// What to do about a job in a folder that Flux lists by itself.
const LIST: &str = "give its folder a kustomization.yaml that lists it\nrun this again\nor remove it once the gate is switched on";

/// Says that it is not understood what a job's command turns.
pub fn not_understood(job: &str, unclear: &Unclear) -> String {
    let verb = unclear.action.map_or("patches", Action::verb);
    let command: String = unclear.command.chars().take(80).collect();
    format!("which Flux Kustomizations CronJob `{job}` {verb} is not understood (`{}`)", command.trim())
}

/// Finds the gates below a folder.
///
/// A job counts when every command of it that touches a Flux Kustomization turns it the same way.
/// Jobs are paired within a folder: same targets first, then whatever is left in the order of names.
pub(super) fn jobs(
    snapshot: &Snapshot,
    graph: &Graph,
    flux: &[FluxKustomization],
    folder: &RepoPath,
) -> Jobs {
    let (mut jobs, mut by_itself) = (Vec::<(RepoPath, WrittenJob)>::new(), Vec::new());
    let (mut loose, mut unclear) = (Vec::new(), Vec::new());
    let (mut turning, mut following) = (BTreeSet::new(), BTreeSet::new());
    let mut namespaces = Namespaces::new(flux, graph);
    for (path, entry) in snapshot.entries() {
        let Entry::File(file) = entry else { continue };
        if !path.is_within(folder) || !is_yaml(path) {
            continue;
        }
        let is_meant = |text: &&str| mechanism::JOBS.iter().any(|kind| text.contains(kind));
        let Some(text) = file.text().filter(is_meant) else { continue };
        let base = base_folder(graph, path);
        let Some(home) = base.clone().or_else(|| listed_by_flux(graph, flux, path)) else { continue };
        for manifest in kept_manifests(file).into_iter().flatten() {
            if !mechanism::is_job(&manifest.value) {
                continue;
            }
            let found = read(&manifest.value, namespaces.given(path, &home).as_deref());
            if !found.is_empty() {
                turning.insert(path.clone());
            }
            let name = manifest.value["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let place = Place::span(path.clone(), Arc::from(text), manifest.span.clone());
            unclear.extend(
                found.unclear.iter().map(|one| (name.clone(), not_understood(&name, one), place.clone())),
            );
            let Some(action) = found.action() else {
                if !found.turns.is_empty() {
                    let told =
                        format!("CronJob `{name}` both suspends and resumes Flux Kustomizations. {BESIDE}");
                    loose.push(LooseJob { told, help: PAIR, place });
                }
                continue;
            };
            // What lets a source follow another one needs no other half, and is nothing that people write.
            if action == Action::Follow {
                following.extend(base.clone());
                continue;
            }
            match job(path, text, manifest, action, found) {
                Some(job) if base.is_some() => jobs.push((home.clone(), job)),
                Some(job) => {
                    let told = format!("{}, and no kustomization.yaml lists it. {BESIDE}", job.told());
                    loose.push(LooseJob { told, help: LIST, place });
                    by_itself.push((home.clone(), job));
                }
                None => {}
            }
        }
    }
    jobs.sort_by(|a, b| (&a.0, &a.1.name).cmp(&(&b.0, &b.1.name)));
    let all = jobs.clone();
    let (mut gates, left) = pair(jobs);
    gates.sort_by(|a, b| (&a.base, &a.close.name).cmp(&(&b.base, &b.close.name)));
    let is_alone = |(base, job): &&(RepoPath, WrittenJob)| {
        !all.iter().any(|(folder, other)| {
            folder == base && other.action != job.action && !other.targets.is_disjoint(&job.targets)
        })
    };
    let lone = |job: &WrittenJob| {
        let other = match job.action {
            Action::Open => "suspends",
            _ => "resumes",
        };
        let told = format!("{}, and no job beside it {other} that. {BESIDE}", job.told());
        LooseJob { told, help: PAIR, place: job.place() }
    };
    loose.extend(left.iter().filter(is_alone).map(|(_, job)| lone(job)));
    loose.extend(unclear.into_iter().map(|(name, told, place)| {
        let is_it = |job: &WrittenJob| job.name == name && job.file == place.path;
        let is_taken = gates.iter().any(|gate| is_it(&gate.open) || is_it(&gate.close));
        let (follows, help) = if is_taken { (IN_PART, NAME) } else { (BESIDE, PAIR) };
        LooseJob { told: format!("{told}. {follows}"), help, place }
    }));
    let unlisted =
        pair(by_itself).0.iter().filter_map(|gate| common(&gate.open.file, &gate.close.file)).collect();
    Jobs { gates, loose, following, unlisted, turning }
}

fn base_folder(graph: &Graph, file: &RepoPath) -> Option<RepoPath> {
    let lists = |folder: &&RepoPath| {
        let resources = graph.get(folder).map(|kustomization| kustomization.resources()).unwrap_or_default();
        resources.iter().any(|reference| reference.target == Target::Path(file.clone()))
    };
    graph.referrers(file).find(lists).cloned()
}

/// Returns the folder whose build takes in a file that no list has: that of a Flux Kustomization, for which Flux makes a list of
/// every file below it (fluxcd/pkg/kustomize, `scanManifests`). Where none in Git builds it, another may, and it is the
/// folder in which it stands.
fn listed_by_flux(graph: &Graph, flux: &[FluxKustomization], file: &RepoPath) -> Option<RepoPath> {
    let built = flux.iter().filter_map(|one| one.path.as_ref()).filter(|path| graph.is_loose(file, path));
    let nearest = built.max_by_key(|path| path.segments().count()).cloned();
    nearest.or_else(|| file.parent().filter(|_| !file.parents().any(|above| graph.has(&above))))
}

/// Returns the lowest folder that holds two files.
fn common(one: &RepoPath, other: &RepoPath) -> Option<RepoPath> {
    one.parents().find(|folder| other.is_within(folder))
}

fn job(
    file: &RepoPath,
    text: &str,
    manifest: &Manifest,
    action: Action,
    found: Reading,
) -> Option<WrittenJob> {
    Some(WrittenJob {
        file: file.clone(),
        text: Arc::from(text),
        span: manifest.span.clone(),
        name: manifest.value["metadata"]["name"].as_str()?.to_owned(),
        mechanism: found.mechanism,
        action,
        table: found.table,
        targets: found.turns.into_iter().map(|turn| (turn.namespace, turn.name)).collect(),
        value: (*manifest.value).clone(),
    })
}

/// Pairs jobs, and gives those that are left over.
fn pair(jobs: Vec<(RepoPath, WrittenJob)>) -> (Vec<Gate>, Vec<(RepoPath, WrittenJob)>) {
    let (mut opens, mut closes): (Vec<_>, Vec<_>) =
        jobs.into_iter().partition(|(_, job)| job.action == Action::Open);
    let mut gates = Vec::new();
    for same_targets in [true, false] {
        let mut left = Vec::new();
        for (base, close) in closes {
            let partner = opens
                .iter()
                .position(|(other, open)| *other == base && (!same_targets || open.targets == close.targets));
            match partner {
                Some(position) => {
                    let (_, open) = opens.remove(position);
                    gates.push(Gate { base, open, close });
                }
                None => left.push((base, close)),
            }
        }
        closes = left;
    }
    (gates, opens.into_iter().chain(closes).collect())
}
