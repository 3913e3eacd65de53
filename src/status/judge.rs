//! Sets what a cluster has against what it should have.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::delivery::{BuiltJob, Doubt};
use crate::live::{Objects, by_hand, owner};
use crate::mechanism::{self, Action, Field, GateTarget, SourceKind, State};
use crate::schedule::minute;
use crate::status::job::not_ready;
use crate::status::observe::{elsewhere, shown};
use crate::status::step::{command, is_due, logs, once, pin, resume};
use crate::status::{By, Cluster, Expected, Gated, Held, Kind, LiveJob, Outcome, Problem, Setter, Window};

/// How long a gate may take to open or close, beside the time that its job runs: the job must start, and its pod.
const TURNS: SignedDuration = SignedDuration::from_secs(60);

/// How many characters of a commit are told.
pub(super) const SHORT: usize = 10;

/// Finds what is not as it should be in a cluster that answered, from how its gates are and from its objects; `made` says
/// when a commit was made.
pub fn judge(
    expected: &Expected<'_>,
    cluster: &Cluster,
    objects: &Objects,
    now: Timestamp,
    made: &dyn Fn(&str) -> Option<Timestamp>,
) -> Vec<Problem> {
    let mut judge = Judge { expected, cluster, objects, now, made, found: Vec::new() };
    if judge.is_another() {
        return judge.found;
    }
    for gated in &cluster.gates {
        gated.held.iter().for_each(|held| judge.held(gated, held));
        gated.jobs.iter().for_each(|job| judge.job(gated, job));
    }
    judge.sources();
    judge.foreign_jobs();
    judge.others();
    for why in &objects.unread {
        judge.add(Kind::Unread, None, why.clone());
    }
    judge.found.sort_by_key(|problem| problem.kind);
    judge.found
}

struct Judge<'a> {
    expected: &'a Expected<'a>,
    cluster: &'a Cluster,
    objects: &'a Objects,
    now: Timestamp,
    made: &'a dyn Fn(&str) -> Option<Timestamp>,
    found: Vec<Problem>,
}

impl Judge<'_> {
    fn add(&mut self, kind: Kind, of: Option<&Gated>, message: String) -> &mut Problem {
        let change_type = of.and_then(|gated| gated.change_type.clone());
        let at = self.found.len();
        self.found.push(Problem { kind, change_type, message, reasons: Vec::new(), steps: Vec::new() });
        &mut self.found[at]
    }

    fn name(&self, target: &GateTarget) -> String {
        format!("Flux Kustomization {}", target.shown(self.expected.spec))
    }

    /// Finds a cluster that has none of the Flux Kustomizations that it should have.
    fn is_another(&mut self) -> bool {
        let all: Vec<GateTarget> =
            self.expected.reached(&self.cluster.name).map(|one| self.expected.target(one)).collect();
        let is_there = |one: &GateTarget| self.objects.kustomization(&one.namespace, &one.name).is_some();
        if all.is_empty() || all.iter().any(is_there) {
            return false;
        }
        let number = all.len();
        let problem = self.add(
            Kind::OtherCluster,
            None,
            format!("The cluster has none of the {number} Flux Kustomizations that Git has"),
        );
        problem.steps.push("Name the right context with --context CLUSTER=NAME".to_owned());
        true
    }

    /// Judges a Flux Kustomization that waits for windows.
    fn held(&mut self, gated: &Gated, held: &Held) {
        let (name, cluster) = (self.name(&held.target), self.cluster);
        let Some(live) = self.objects.kustomization(&held.target.namespace, &held.target.name) else {
            let doubt = self.expected.doubt(&cluster.name, &held.target);
            let problem = self.add(Kind::Missing, Some(gated), format!("{name} is not in the cluster"));
            problem.reasons.extend(doubt.map(Doubt::why));
            return;
        };
        if let Some((there, here)) = elsewhere(self.expected, &cluster.name, &held.target, live) {
            let problem = self.add(
                Kind::Elsewhere,
                Some(gated),
                format!("{name} has {there} there, and {here} in Git"),
            );
            problem.reasons.push("it has not got the last commit, or it is another cluster's".to_owned());
        }
        if let Some(said) = not_ready(live) {
            self.add(Kind::NotReady, Some(gated), format!("{name} is not ready: {said}"));
        }
        let mut is_told = false;
        if let (Some(state), Some(window)) = (held.state, &gated.window) {
            is_told = self.state(gated, held, state, window);
            self.landed(gated, held, window);
        }
        self.set_by_hand(gated, held, live, is_told);
    }

    /// Judges whether what is new gets in as the spec says, and tells whether it does not.
    fn state(&mut self, gated: &Gated, held: &Held, state: State, window: &Window) -> bool {
        let patience = SignedDuration::from_mins(window.tick.into()) + TURNS;
        let is_settled = |at: Option<Timestamp>| at.is_none_or(|at| self.now.duration_since(at) > patience);
        let is_settled =
            is_settled(window.since) && is_settled(held.newest_since) && is_settled(held.created);
        let fails_closed = mechanism::of(held.mechanism).fails_closed();
        let since = window.since.map(|at| format!(" since {}", minute(at, &window.zone))).unwrap_or_default();
        let name = self.name(&held.target);
        let setter = held.setter.as_ref();
        let by = setter.map(|setter| setter.told(held.verb, &window.zone));
        // Who suspends or resumes by hand has the manager that jobs have.
        let is_unknown = setter.is_some_and(|setter| setter.by == By::Flux);
        let is_unknown = is_unknown && (state == State::Stopped || !fails_closed);
        let by =
            by.into_iter().chain(is_unknown.then(|| "no run that the cluster remembers did that".to_owned()));
        match (state, window.is_open) {
            (State::Open, false) if is_settled && !fails_closed => {
                let run = self.run_once(gated, Action::Close);
                let problem = self.add(
                    Kind::Open,
                    Some(gated),
                    format!("{name} is open, and its window is closed{since}"),
                );
                problem.reasons.extend(by);
                let is_new = held.created.zip(window.since).filter(|(made, closed)| made > closed);
                problem.reasons.extend(
                    is_new.map(|(made, _)| format!("made {}, after the closing", minute(made, &window.zone))),
                );
                problem.reasons.push("what is merged lands at once".to_owned());
                problem.steps.extend(run);
                true
            }
            (State::Closed, true) if is_settled && !window.is_first => {
                let run = self.run_once(gated, Action::Open);
                let problem = self.add(
                    Kind::Closed,
                    Some(gated),
                    format!("{name} is closed, and its window is open{since}"),
                );
                problem.reasons.extend(by);
                problem.steps.extend(run);
                true
            }
            (State::Stopped, _) => {
                let resume = resume(held, self.cluster);
                let problem = self.add(
                    Kind::Stopped,
                    Some(gated),
                    format!("{} is {} by hand, so no window opens it", held.decider, held.verb),
                );
                problem.reasons.extend(by);
                problem.steps.push(format!("Once changes may land again: {resume}"));
                true
            }
            _ => false,
        }
    }

    /// Finds a commit that was made after the window had closed.
    fn landed(&mut self, gated: &Gated, held: &Held, window: &Window) {
        let (Some(applied), Some(closed)) = (&held.applied, window.since.filter(|_| !window.is_open)) else {
            return;
        };
        let is_old = held.created.is_some_and(|created| created < closed);
        let Some(made) = (self.made)(applied).filter(|made| is_old && *made > closed + TURNS) else { return };
        let short: String = applied.chars().take(SHORT).collect();
        let name = self.name(&held.target);
        let (made, closed) = (minute(made, &window.zone), minute(closed, &window.zone));
        let problem = self.add(
            Kind::Landed,
            Some(gated),
            format!("{name} has applied {short}, made after its window had closed"),
        );
        problem.reasons.push(format!("made {made}, closed since {closed}"));
        problem.steps.push(format!("See what landed: git show {short}"));
    }

    /// Finds what people have set; `is_told` says whether the field that decides is told already.
    fn set_by_hand(&mut self, gated: &Gated, held: &Held, live: &Value, is_told: bool) {
        let mut objects = vec![live];
        let source = held.pin.as_ref().and_then(|_| {
            let id = crate::delivery::SourceId::of(&live["spec"], &held.target.namespace);
            self.objects.source(&id.kind, &id.namespace, &id.name)
        });
        objects.extend(source);
        let zone = zone(gated);
        // Also of one that is stopped: with that over, the commit lands at once.
        let own = source.and_then(|object| {
            let kind = object["kind"].as_str().and_then(SourceKind::of).unwrap_or_default();
            let pin = Field { object, path: kind.path() };
            Setter::of(pin, None, &gated.jobs, self.now).filter(|setter| setter.by == By::Hand)
        });
        if let (Some(object), Some(setter), Some(pin)) = (source, &own, &held.pin) {
            let short: String = pin.chars().take(SHORT).collect();
            let message = format!("{} is at {short}, set by hand", shown(object));
            if !self.found.iter().any(|known| known.message == message) {
                let problem = self.add(Kind::Pinned, Some(gated), message);
                problem.reasons.push(setter.told("set", &zone));
                if setter.manager.starts_with("kubectl") {
                    problem.reasons.push("Flux takes it back at its next pass".to_owned());
                }
            }
        }
        for object in objects {
            let mut fields: Vec<(String, Option<Timestamp>, Vec<String>)> = by_hand(object)
                .into_iter()
                .map(|(owner, fields)| (owner.manager, owner.at, fields))
                .collect();
            let suspended = owner(object, &["spec", "suspend"]).filter(|owner| !owner.is_of_flux());
            if let Some(owner) = suspended.filter(|owner| !owner.manager.starts_with("kubectl")) {
                fields.push((owner.manager, owner.at, vec!["spec.suspend".to_owned()]));
            }
            for (manager, at, mut fields) in fields {
                fields.retain(|field| !matches!(field.as_str(), "spec.ref.commit" | "spec.ref.digest"));
                if is_told {
                    let is_told = |name: &str| held.annotation.is_some_and(|own| name.ends_with(own));
                    fields.retain(|field| field != "spec.suspend" && !is_told(field));
                }
                if fields.is_empty() {
                    continue;
                }
                let message = format!("{} has fields set by {manager}: {}", shown(object), fields.join(", "));
                if self.found.iter().any(|known| known.message == message) {
                    continue;
                }
                let problem = self.add(Kind::ByHand, Some(gated), message);
                problem.reasons.extend(at.map(|at| format!("changed {}", minute(at, &zone))));
                if manager.starts_with("kubectl") {
                    problem.reasons.push("Flux takes them back at its next pass".to_owned());
                }
                // What Git says of it no window changes.
                if fields.iter().any(|field| field != "spec.suspend") {
                    problem.steps.push("Write what is to stay into Git".to_owned());
                }
            }
        }
    }

    /// Judges a CronJob of a gate.
    fn job(&mut self, gated: &Gated, job: &LiveJob) {
        let (name, zone, cluster) = (job.shown.clone(), zone(gated), self.cluster);
        // One job may turn several types.
        if self.found.iter().any(|known| known.message.starts_with(&format!("{name} "))) {
            return;
        }
        if !job.is_there {
            let problem = self.add(Kind::NoJob, Some(gated), format!("{name} is not in the cluster"));
            problem.steps.push("See why Flux does not apply it: flux get kustomizations".into());
            return;
        }
        if job.is_suspended {
            self.add(Kind::JobSuspended, Some(gated), format!("{name} is suspended there, so it never runs"));
        }
        if !job.is_as_in_git {
            let problem = self.add(
                Kind::JobDiffers,
                Some(gated),
                format!("{name} does something else there than in Git"),
            );
            problem
                .reasons
                .push("the cluster has not got the last commit, or it was changed by hand".to_owned());
        }
        if let Some(why) = &job.failure {
            self.add(Kind::NotReady, Some(gated), format!("{name} is not ready: {why}"));
        }
        if let Some(missed) = job.missed {
            let problem =
                self.add(Kind::Missed, Some(gated), format!("{name} did not run {}", minute(missed, &zone)));
            problem.reasons.extend(job.scheduled.map(|at| format!("its last run was {}", minute(at, &zone))));
            let see = command(&["kubectl", "describe", "cronjob", &job.name], &job.namespace, cluster);
            problem.steps.push(format!("See why: {see}"));
        }
        let Some(run) = job.last() else { return };
        let at = run.started.map(|at| format!(" {}", minute(at, &zone))).unwrap_or_default();
        let message = match run.outcome {
            Outcome::Failed => {
                let why = run.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
                format!("{name} failed{at}{why}")
            }
            Outcome::Running if run.failures > 0 => {
                let times = if run.failures == 1 { "once".into() } else { format!("{} times", run.failures) };
                format!("{name} has failed {times} since{at}, and tries again")
            }
            _ => return,
        };
        let again = is_due(gated, job).then(|| format!("Run it again: {}", once(job, cluster)));
        let without_pin = |held: &&Held| job.action == Action::Follow && held.pin.is_none();
        let by_hand = gated.held.iter().find(without_pin).and_then(|held| pin(held, cluster));
        let steps = [logs(job, run, cluster)].into_iter().chain(by_hand).chain(again);
        self.add(Kind::Failed, Some(gated), message).steps.extend(steps);
    }

    /// Finds sources that are not ready, each once.
    fn sources(&mut self) {
        let mut seen = Vec::new();
        for (gated, held) in
            self.cluster.gates.iter().flat_map(|one| one.held.iter().map(move |held| (one, held)))
        {
            let Some(live) = self.objects.kustomization(&held.target.namespace, &held.target.name) else {
                continue;
            };
            let id = crate::delivery::SourceId::of(&live["spec"], &held.target.namespace);
            let own = self.expected.cluster(&self.cluster.name);
            let followed = own.map_or_else(|| id.clone(), |own| own.live_of(&id));
            for id in [id, followed] {
                let found = self.objects.sources.iter().find(|source| {
                    let metadata = &source["metadata"];
                    source["kind"] == id.kind.as_str()
                        && metadata["name"] == id.name.as_str()
                        && (id.namespace.is_empty() || metadata["namespace"] == id.namespace.as_str())
                });
                let Some(source) = found else { continue };
                let name = shown(source);
                if seen.contains(&name) {
                    continue;
                }
                if let Some(said) = not_ready(source) {
                    self.add(Kind::NotReady, Some(gated), format!("{name} is not ready: {said}"));
                }
                seen.push(name);
            }
        }
    }

    /// Finds CronJobs that close something and that Git does not have.
    fn foreign_jobs(&mut self) {
        let built = self.expected.model.closings.of(&self.cluster.name);
        let of_git = |name: &str| built.iter().any(|job| job.name == name);
        let foreign = self.objects.cron_jobs.iter().filter(|job| job["spec"]["suspend"] != true);
        let foreign: Vec<BuiltJob> =
            foreign.filter_map(BuiltJob::of).filter(|job| job.action.holds() && !of_git(&job.name)).collect();
        for job in foreign {
            let names: Vec<&str> = job.targets.iter().map(|target| target.name.as_str()).collect();
            let (name, verb) = (&job.name, job.action.verb());
            let message = format!("CronJob {name} {verb} {}, and Git does not have it", names.join(", "));
            let problem = self.add(Kind::ForeignJob, None, message);
            problem.steps.push("Take it into Git, or delete it".to_owned());
        }
    }

    /// Finds what is suspended although it waits for no window.
    fn others(&mut self) {
        let gated: Vec<&GateTarget> =
            self.cluster.gates.iter().flat_map(|gated| &gated.held).map(|held| &held.target).collect();
        for one in self.expected.reached(&self.cluster.name) {
            let target = self.expected.target(one);
            let Some(live) = self.objects.kustomization(&target.namespace, &target.name) else { continue };
            let in_git = one.value["spec"]["suspend"] == true;
            if in_git || live["spec"]["suspend"] != true || gated.contains(&&target) {
                continue;
            }
            let setter = owner(live, &["spec", "suspend"]);
            let name = self.name(&target);
            let resume =
                command(&["flux", "resume", "kustomization", &target.name], &target.namespace, self.cluster);
            let problem =
                self.add(Kind::Suspended, None, format!("{name} is suspended, and it waits for no window"));
            problem.reasons.extend(setter.map(|owner| {
                let at = owner.at.map(|at| format!(" {}", minute(at, &TimeZone::UTC))).unwrap_or_default();
                format!("suspended{at} by {}", owner.manager)
            }));
            problem.steps.push(format!("Once changes may land again: {resume}"));
        }
    }

    /// Returns the step that runs a job of a gate once.
    fn run_once(&self, gated: &Gated, action: Action) -> Option<String> {
        let is_run = |job: &&LiveJob| job.is_cron_job && job.is_there && !job.namespace.is_empty();
        let there = || gated.jobs.iter().filter(is_run);
        let own = there().find(|job| job.action == action);
        let own = own.or_else(|| there().find(|job| job.action == Action::Follow));
        own.map(|job| format!("Run CronJob {} once: {}", job.name, once(job, self.cluster)))
    }
}

fn zone(gated: &Gated) -> TimeZone {
    gated.window.as_ref().map_or(TimeZone::UTC, |window| window.zone.clone())
}
