//! What the CronJobs of clusters, and the like, open and close, read from what is built: the one reader of gates.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::about::owned;
use crate::delivery::brought::{Brought, brought};
use crate::delivery::gate::WrittenJob;
use crate::delivery::metadata::{is_only_created, is_passed_over};
use crate::delivery::privilege::Privileges;
use crate::delivery::withheld::DEEPEST;
use crate::delivery::{
    Cluster, Clusters, Doubt, Hold, Input, KEPT_OUT, Model, Reached, SourceId, UNBUILT, UNPRIVILEGED, UNSAID,
    World,
};
use crate::error::Error;
use crate::mechanism::{self, Action, GateTarget, HeldId, Parameter, read};
use crate::path::RepoPath;
use crate::render::{Object, Renderer, Request};
use crate::repo::{FluxKustomization, Snapshot, built};
use crate::schedule::OpenTimes;
use crate::spec::MechanismName;

/// A CronJob that opens or closes, or what else does, as it is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltJob {
    /// `metadata.name`.
    pub name: String,
    /// The mechanism by which it does it.
    pub mechanism: MechanismName,
    /// Whether it opens or closes.
    pub action: Action,
    /// What it resumes or suspends; the name `*` is all of a namespace.
    pub targets: BTreeSet<GateTarget>,
    /// What it suspends in vain: Git resumes it each time.
    pub resumed: BTreeSet<GateTarget>,
    /// `spec.schedule`, as it is written.
    pub schedule: String,
    /// `spec.timeZone`; `None` leaves it to the controller.
    pub time_zone: Option<String>,
    /// The open times of the table at which it looks; `None` where the schedule says when it opens or closes.
    pub table: Option<OpenTimes>,
    /// How many minutes lie between two looks at its table; 0 where it has none.
    pub every: u32,
    /// The source that it lets follow another one.
    pub held: Option<HeldId>,
    /// The name of that other one.
    pub follows: Option<String>,
    /// Where it keeps whether its type is open, for policies.
    pub parameter: Option<Parameter>,
    /// Whether it looks for the annotation by which people stop it.
    pub obeys_stop: bool,
    /// Whether Git lets it run: the CronJob is not suspended.
    pub is_running: bool,
    /// Why the cluster may not have it as Git says it. Of what does not build it is what the files say, as far as they can be
    /// read.
    pub doubt: Option<Doubt>,
}

impl BuiltJob {
    /// Reads a CronJob; `None` for one that turns nothing, or both ways in one run.
    pub fn of(job: &Value) -> Option<BuiltJob> {
        let reading = read(job, None);
        Some(BuiltJob {
            name: job["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
            mechanism: reading.mechanism,
            action: reading.action()?,
            table: reading.table,
            every: reading.every,
            held: reading.held,
            follows: reading.follows,
            parameter: reading.parameter,
            obeys_stop: reading.obeys_stop,
            targets: reading.turns.into_iter().map(GateTarget::from).collect(),
            resumed: BTreeSet::new(),
            schedule: job["spec"]["schedule"].as_str().unwrap_or_default().to_owned(),
            time_zone: job["spec"]["timeZone"].as_str().map(str::to_owned),
            is_running: !mechanism::is_off(job),
            doubt: None,
        })
    }

    /// Returns whether nothing new of it arrives, while what the cluster has of it runs on: Git suspends what applies it, or
    /// that does not build, or may apply nothing.
    pub fn is_kept_out(&self) -> bool {
        matches!(self.doubt, Some(Doubt::Suspended(_) | Doubt::Unbuilt(_) | Doubt::Unprivileged(..)))
    }

    /// Says what is taken for granted where the cluster may not have it as Git says it.
    pub fn assumption(&self) -> Option<&'static str> {
        self.doubt.as_ref().map(|doubt| match doubt {
            Doubt::Suspended(_) => KEPT_OUT,
            Doubt::Unbuilt(_) => UNBUILT,
            Doubt::Unsaid(..) => UNSAID,
            Doubt::Unprivileged(..) => UNPRIVILEGED,
        })
    }

    fn in_namespace(object: &Object, namespace: Option<&str>) -> Option<BuiltJob> {
        if !mechanism::is_job(&object.value) {
            return None;
        }
        let Some(namespace) = namespace else { return BuiltJob::of(&object.value) };
        let mut job = (*object.value).clone();
        job["metadata"]["namespace"] = Value::from(namespace);
        BuiltJob::of(&job)
    }

    /// Returns whether it turns a Flux Kustomization, by its name or with all others of its namespace.
    pub fn turns(&self, target: &GateTarget) -> bool {
        let is_it = |own: &GateTarget| own.name == target.name || own.name == "*";
        self.targets.iter().any(|own| own.namespace == target.namespace && is_it(own))
    }

    /// Returns whether it is a CronJob, and not what else can open and close.
    pub fn is_cron_job(&self) -> bool {
        self.mechanism != MechanismName::FluxOperator
    }

    /// Returns what it holds something back as, where nothing says a type.
    pub fn hold(&self) -> Hold {
        let name = self.name.clone();
        if self.is_cron_job() { Hold::Job(name) } else { Hold::Provider(name) }
    }

    /// Names it by its kind and its name.
    pub fn shown(&self) -> String {
        let kind = if self.is_cron_job() { "CronJob" } else { "ResourceSetInputProvider" };
        format!("{kind} {}", self.name)
    }

    /// Returns how many minutes lie between two looks at its table; 0 where it has none.
    pub fn tick(&self) -> u32 {
        self.every
    }

    /// Makes it hold back what reads its held source in a cluster, and nothing else, whatever it was told.
    fn hold_readers(&mut self, model: &Model, cluster: &str) {
        let Some(held) = &self.held else { return };
        let (own, namespace) = (SourceId::from(held), &held.namespace);
        let of_cluster = model.delivered.named(cluster).into_iter();
        let readers = of_cluster.flat_map(Cluster::held).filter(|(_, id)| own.is(id));
        let target = |one: &Reached| GateTarget {
            namespace: Some(one.namespace()).filter(|own| !own.is_empty()).unwrap_or(namespace).to_owned(),
            name: one.name().to_owned(),
        };
        self.targets = readers.map(|(one, _)| target(one)).collect();
    }

    /// Notes what Git resumes each time that it has suspended it: kustomize-controller applies `spec.suspend: false` as
    /// any other field, at each reconciliation of the parent, unless that is suspended too or leaves the object alone. An
    /// admission policy lets nobody resume, and a held source is not resumed.
    fn note_resumed(&mut self, model: &Model, cluster: &str) {
        if self.action != Action::Close || self.held.is_some() || self.parameter.is_some() {
            return;
        }
        let all = model.delivered.named(cluster).into_iter().flat_map(|own| &own.kustomizations);
        for one in all.filter(|one| resumes(model, cluster, one)) {
            let is_it = |own: &&GateTarget| {
                (own.name == "*" || own.name == one.name())
                    && (one.namespace().is_empty() || own.namespace == one.namespace())
            };
            let named = |own: &GateTarget| GateTarget { name: one.name().to_owned(), ..own.clone() };
            self.resumed.extend(self.targets.iter().filter(is_it).map(named));
        }
    }

    /// Returns whether it closes a Flux Kustomization.
    pub fn closes(&self, target: &GateTarget) -> bool {
        self.action.holds() && self.turns(target)
    }
}

/// The CronJobs that open and close, by cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closings {
    jobs: BTreeMap<String, Vec<BuiltJob>>,
    /// By cluster and name, the files that bring them: their own, and the lists from what is applied down to these.
    files: BTreeMap<(String, String), BTreeSet<RepoPath>>,
    /// By cluster and name, the keys of the Flux Kustomizations that apply them.
    appliers: BTreeMap<(String, String), BTreeSet<[String; 3]>>,
    /// By cluster, the keys of the Flux Kustomizations of which some are not known: the build fails and its files can't be
    /// read.
    unread: BTreeMap<String, BTreeSet<[String; 3]>>,
}

impl Closings {
    /// Reads the jobs of all clusters, as each cluster builds them.
    ///
    /// Of a build that fails its files say what the cluster has: kustomize-controller then applies nothing and deletes
    /// nothing (`KustomizationReconciler.reconcile` returns before both).
    pub(super) fn read(snapshot: &Snapshot, model: &Model, renderer: &dyn Renderer) -> Closings {
        let is_gone = |one: &Reached| {
            one.fails() && one.path.as_ref().is_some_and(|path| !model.graph.stands(snapshot, path))
        };
        // A folder that is gone says nothing of the CronJobs that the cluster has of it.
        let mut found = Closings::default();
        for own in &model.delivered.all {
            for one in own.kustomizations.iter().filter(|one| is_gone(one)) {
                found.unread.entry(own.name.clone()).or_default().insert(owned(one.key()));
            }
        }
        let mut privileges = Privileges::new(World { snapshot, model }, renderer);
        for Brought { carried: one, objects, is_unbuilt } in brought(snapshot, model, renderer) {
            let is_unread = is_unbuilt && objects.is_none();
            if is_unread {
                found.unread.entry(one.cluster.clone()).or_default().insert(one.by.clone());
            }
            let mut jobs: Vec<(BuiltJob, Option<RepoPath>)> = match objects {
                Some(objects) => {
                    let job = |object: &Object| {
                        let file = object.origin.as_ref().map(|origin| origin.path.clone());
                        Some((BuiltJob::in_namespace(object, one.namespace.as_deref())?, file))
                    };
                    objects.iter().filter_map(job).collect()
                }
                None => written(model, &one.request.path),
            };
            // Whether a patch lets run what stands suspended in its file is not known then.
            if is_unread && is_patched(model, &one.request.path) {
                jobs.iter_mut().for_each(|(job, _)| job.is_running = true);
            }
            let doubt = match &one.doubt {
                Some(Doubt::Suspended(_)) => one.doubt.clone(),
                _ if is_unbuilt => Some(unbuilt(&one.by)),
                doubt => {
                    unprivileged(model, &mut privileges, &one.cluster, &one.by).or_else(|| doubt.clone())
                }
            };
            let known = found.jobs.entry(one.cluster.clone()).or_default();
            let before = known.len();
            for (mut job, file) in jobs {
                job.doubt.clone_from(&doubt);
                job.hold_readers(model, &one.cluster);
                job.note_resumed(model, &one.cluster);
                let id = (one.cluster.clone(), job.name.clone());
                found.appliers.entry(id.clone()).or_default().insert(one.by.clone());
                let files = found.files.entry(id).or_default();
                files.extend(one.lists.iter().cloned().chain(file));
                if !known[..before].contains(&job) {
                    known.push(job);
                }
            }
        }
        found
    }

    /// Takes over from what an earlier commit holds what clusters have of builds that fail here and can't be read.
    fn keep_unread(&mut self, clusters: &Clusters, older: &Model) {
        for (cluster, unread) in &self.unread {
            let (now, was) = (clusters.named(cluster), older.delivered.named(cluster));
            // What a former one applied goes on by itself where it is known here.
            let is_known = |[remote, namespace, name]: &[String; 3]| {
                now.is_some_and(|own| own.reached(remote, (namespace, name)).is_some())
            };
            let is_below = |[remote, namespace, name]: &[String; 3]| {
                let first = was.and_then(|own| own.reached(remote, (namespace, name)));
                let above = |one: &&Reached| was?.parent(one);
                let mut way = std::iter::successors(first, above).take(DEEPEST).skip(1);
                way.any(|one| unread.contains(&owned(one.key())))
            };
            let is_left = |by: &[String; 3]| unread.contains(by) || (!is_known(by) && is_below(by));
            let own = self.jobs.entry(cluster.clone()).or_default();
            for job in older.closings.of(cluster) {
                let id = (cluster.clone(), job.name.clone());
                let mut by = older.closings.appliers.get(&id).into_iter().flatten();
                let Some(left) = by.find(|by| is_left(by)) else { continue };
                if own.iter().any(|known| known.name == job.name) {
                    continue;
                }
                own.push(BuiltJob { doubt: Some(unbuilt(left)), ..job.clone() });
                self.appliers.entry(id.clone()).or_default().extend(older.closings.appliers[&id].clone());
                self.files.entry(id).or_default().extend(older.closings.files(cluster, &job.name).cloned());
            }
        }
    }

    /// Returns the clusters that get some.
    pub fn clusters(&self) -> impl Iterator<Item = &str> {
        self.jobs.keys().map(String::as_str)
    }

    /// Returns the jobs of all clusters.
    pub fn all(&self) -> impl Iterator<Item = &BuiltJob> {
        self.jobs.values().flatten()
    }

    /// Returns all jobs that a cluster gets.
    pub fn of(&self, cluster: &str) -> &[BuiltJob] {
        self.jobs.get(cluster).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the files that bring jobs to clusters.
    pub(super) fn all_files(&self) -> impl Iterator<Item = &RepoPath> {
        self.files.values().flatten()
    }

    /// Returns the files that bring a job of a name to a cluster.
    pub(super) fn files(&self, cluster: &str, name: &str) -> impl Iterator<Item = &RepoPath> {
        self.files.get(&(cluster.to_owned(), name.to_owned())).into_iter().flatten()
    }

    /// Returns whether a job of a cluster runs that closes anything.
    pub fn closes_any(&self, cluster: &str) -> bool {
        self.of(cluster).iter().any(|job| job.is_running && job.action.holds())
    }

    /// Returns the job that closes a Flux Kustomization of a cluster, if one runs and Git does not undo it.
    pub fn running(&self, cluster: &str, target: &GateTarget) -> Option<&BuiltJob> {
        let closes = |job: &&BuiltJob| job.is_running && job.closes(target) && !job.resumed.contains(target);
        let mut all = self.of(cluster).iter().filter(closes);
        let first = all.next()?;
        Some(std::iter::once(first).chain(all).find(|job| job.doubt.is_none()).unwrap_or(first))
    }

    /// Returns whether Git resumes a Flux Kustomization each time that a gate has suspended it, and nothing else closes it.
    pub fn is_resumed(&self, cluster: &str, target: &GateTarget) -> bool {
        let all = || self.of(cluster).iter().filter(|job| job.is_running && job.closes(target));
        all().next().is_some() && all().all(|job| job.resumed.contains(target))
    }

    /// Returns a job that closes, by its name, with the one that opens the same; that may be the job itself.
    pub fn pair(&self, cluster: &str, close: &str) -> Option<(&BuiltJob, &BuiltJob)> {
        let jobs = || self.of(cluster).iter().filter(|job| job.is_running);
        let close = jobs().find(|job| job.action.holds() && job.name == close)?;
        let opens = |job: &&BuiltJob| job.action == Action::Open && job.targets == close.targets;
        let open = if close.held.is_some() { close } else { jobs().find(opens)? };
        Some((open, close))
    }

    /// Returns the job that closes a Flux Kustomization of a cluster, or would if it ran.
    pub fn any(&self, cluster: &str, target: &GateTarget) -> Option<&BuiltJob> {
        self.running(cluster, target).or_else(|| self.of(cluster).iter().find(|job| job.closes(target)))
    }
}

impl Model {
    /// Keeps the CronJobs that open and close which clusters have of builds that fail here, as an earlier state says them.
    pub fn keep_unread(&mut self, older: &Model) {
        self.closings.keep_unread(&self.delivered, older);
    }
}

/// Returns whether Git resumes a Flux Kustomization of a cluster each time that something has suspended it.
pub fn resumes(model: &Model, cluster: &str, one: &Reached) -> bool {
    // Few say it: the rest is asked of these alone.
    if one.value["spec"]["suspend"] != false || !one.remote.is_empty() {
        return false;
    }
    let is_applied = !is_passed_over(&one.value) && !is_only_created(&one.value);
    let mut of_cluster = model.flux_of_cluster(cluster);
    let flux = of_cluster.find(|flux| flux.name == one.name() && flux.namespace == one.namespace());
    is_applied && flux.is_none_or(|flux| model.kept_out_by(flux).is_none())
}

/// Returns the doubt about what a Flux Kustomization brings that does not build.
fn unbuilt([.., name]: &[String; 3]) -> Doubt {
    Doubt::Unbuilt(name.clone())
}

/// Returns the doubt about what a Flux Kustomization brings that a lockdown lets apply nothing.
fn unprivileged<'m>(
    model: &'m Model,
    privileges: &mut Privileges<'m>,
    cluster: &str,
    [remote, namespace, name]: &[String; 3],
) -> Option<Doubt> {
    let cluster = model.delivered.named(cluster)?;
    let account = privileges.lacking(cluster, cluster.reached(remote, (namespace, name))?)?;
    Some(Doubt::Unprivileged(name.clone(), account))
}

/// Returns whether a list that takes part in a build has patches.
fn is_patched(model: &Model, folder: &RepoPath) -> bool {
    let lists = built(&model.graph, folder);
    let mut keys = lists.iter().filter_map(|folder| model.graph.get(folder)).flat_map(|list| list.keys());
    keys.any(|key| key.to_lowercase().starts_with("patches"))
}

/// Returns the jobs of gates that a build takes in, as their files say them, with these.
fn written(model: &Model, folder: &RepoPath) -> Vec<(BuiltJob, Option<RepoPath>)> {
    let folders = built(&model.graph, folder);
    let gates = model.gates.iter().filter(|gate| folders.contains(&gate.base));
    let target = |(namespace, name): &(String, String)| GateTarget {
        namespace: namespace.clone(),
        name: name.clone(),
    };
    let built = |job: &WrittenJob| BuiltJob {
        name: job.name.clone(),
        mechanism: job.mechanism,
        action: job.action,
        table: job.table.clone(),
        every: read(&job.value, None).every,
        held: None,
        follows: None,
        parameter: read(&job.value, None).parameter,
        obeys_stop: read(&job.value, None).obeys_stop,
        targets: job.targets.iter().map(target).collect(),
        resumed: BTreeSet::new(),
        schedule: job.value["spec"]["schedule"].as_str().unwrap_or_default().to_owned(),
        time_zone: job.value["spec"]["timeZone"].as_str().map(str::to_owned),
        is_running: !mechanism::is_off(&job.value),
        doubt: None,
    };
    let jobs = gates.flat_map(|gate| [&gate.open, &gate.close]);
    jobs.map(|job| (built(job), Some(job.file.clone()))).collect()
}

impl<'a> Input<'a> {
    /// Returns the folder of a cluster's gate, if the gate stands there.
    ///
    /// # Errors
    ///
    /// When the layout gives no folder.
    pub fn gate_of(&self, cluster: &str) -> Result<Option<RepoPath>, Error> {
        Ok(Some(self.spec.gate_folder(cluster)?).filter(|folder| self.model.graph.has(folder)))
    }

    /// Returns the jobs that a folder of a gate builds by itself; where it does not build, those that its files say.
    pub fn jobs_in(&self, folder: &RepoPath) -> Vec<BuiltJob> {
        let mut results = self.renderer.render(self.snapshot, &[Request::delivered(folder.clone())]);
        match results.pop() {
            Some(Ok(objects)) => objects.iter().filter_map(|one| BuiltJob::in_namespace(one, None)).collect(),
            _ => written(self.model, folder).into_iter().map(|(job, _)| job).collect(),
        }
    }

    /// As [`jobs_in`](Input::jobs_in), of the folder of a cluster's gate: each holds back there what reads its held source.
    pub fn jobs_of(&self, cluster: &str, folder: &RepoPath) -> Vec<BuiltJob> {
        let mut jobs = self.jobs_in(folder);
        jobs.iter_mut().for_each(|job| job.hold_readers(self.model, cluster));
        jobs
    }

    /// Returns a Flux Kustomization that applies another, directly or through others, and that something keeps from
    /// doing so, with what that is: `spec.suspend` in Git, or a CronJob.
    pub fn held_above(&self, one: &FluxKustomization) -> Option<(&'a FluxKustomization, Hold)> {
        let mut seen: Vec<&FluxKustomization> = Vec::new();
        let mut queue = self.parents(one);
        while let Some(next) = queue.pop() {
            if next.is_suspended() {
                return Some((next, Hold::Suspended));
            }
            if let Some(job) = self.model.closings.running(&next.cluster, &GateTarget::of(self, next)) {
                return Some((next, job.hold()));
            }
            if !seen.iter().any(|known| std::ptr::eq(*known, next)) {
                seen.push(next);
                queue.extend(self.parents(next));
            }
        }
        None
    }
}
