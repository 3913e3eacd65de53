//! A source of its own for what is gated, which follows the one that lands at once while a window is open.
//!
//! In Git the held source has no commit, and a tag that git forbids: until a job has set `spec.ref.commit`, nothing is
//! fetched, also where the object was made again. An OCIRepository has no digest, and a tag that registries forbid. As Git does not name that field, what applies the object leaves it
//! alone. A job copies the commit of the other source at each tick within the table's open times and writes nothing else,
//! so nothing has to close: a lost job, a controller that is down or a missing right leave the gate shut, while drift heals
//! to the commit that was let in last.
//!
//! What was let in last also stands in a ConfigMap that nothing prunes. Without it, a cluster in which the source and all
//! that reads it were made again would look like a new one, into which the newest commit is let at once.

mod files;

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use crate::error::Error;
use crate::mechanism::cron_job::{check_names, each, in_shell};
use crate::mechanism::{
    Action, ClusterGate, Field, Files, GateTarget, Gates, HeldId, Jobs, Left, Mechanism, Observed, Reading,
    STOP, SourceKind, Standing, StandingSource, State, Turn, Writing, annotate, held, pod_of, table,
};
use crate::spec::{MechanismName, Spec};

/// The name of the jobs, before that of a further type.
const JOB: &str = "follow-reconciliation-window";

/// What a job needs to know, as variables of its container.
const VARIABLES: [&str; 6] = ["KIND", "NAMESPACE", "LIVE", "HELD", "GATED", "NOTES"];

/// The annotation of a held source in which its job tells people until when it is held or open.
const WINDOW: &str = "gitops-windows/window";

/// The program of a job.
const SCRIPT: &str = include_str!("follow.sh");

/// Returns the name of the source that what is of a gated type reads in place of another one.
pub fn held_name(live: &str, change_type: &str) -> String {
    format!("{live}-{change_type}")
}

/// The mechanism that fails closed.
pub(super) struct Follow;

impl Mechanism for Follow {
    fn jobs(&self, spec: &Spec) -> Result<Jobs, Error> {
        let mut found = Jobs { all: held::jobs(spec, JOB), ..Jobs::default() };
        check_names(spec, &found.all)?;
        // A spec that was read has one.
        let Some(def) = &spec.gate.table else { return Ok(found) };
        for cluster in spec.clusters.keys() {
            found.tables.insert(cluster.clone(), table::tables(spec, cluster, def)?);
            let all = (0..found.all.len()).map(|job| (job, table::schedule(def)));
            found.schedules.insert(cluster.clone(), all.collect());
        }
        Ok(found)
    }

    fn type_of(&self, spec: &Spec, job: &str) -> Option<usize> {
        held::type_of(&held::jobs(spec, JOB), job)
    }

    fn base(&self, writing: &Writing<'_>, wanted: &mut Files) -> Result<(), Error> {
        files::base(writing, wanted)
    }

    fn cluster(
        &self,
        writing: &Writing<'_>,
        cluster: &ClusterGate,
        alerts: &[&str],
        wanted: &mut Files,
    ) -> Result<(), Error> {
        files::cluster(writing, cluster, alerts, wanted)
    }

    fn problem(&self, spec: &Spec, _: &Gates, cluster: &ClusterGate, objects: &[&Value]) -> Option<String> {
        let named = |kind: &str, name: &str| {
            objects.iter().find(|one| one["kind"] == kind && one["metadata"]["name"] == name)
        };
        for source in &cluster.sources {
            let kind = source.kind.as_str();
            let Some(found) = named(kind, &source.name) else {
                return Some(format!("it has no {kind} {}", source.name));
            };
            let is_note = |note: &&&&Value| {
                note["metadata"]["namespace"] == spec.gate.namespace.as_str() && note["data"].is_null()
            };
            if named("ConfigMap", &source.name).as_ref().filter(is_note).is_none() {
                return Some(format!("it has no ConfigMap {} without data", source.name));
            }
            if found["spec"] != source.spec || found["metadata"]["namespace"] != source.namespace.as_str() {
                return Some(format!("{kind} {} is not a held copy of {}", source.name, source.live));
            }
            let name = &source.job;
            let Some(job) = named("CronJob", name) else { return Some(format!("it has no CronJob {name}")) };
            let container = &pod_of(job)["containers"][0];
            let lines = container["args"].as_array().into_iter().flatten().filter_map(Value::as_str).skip(1);
            let wanted = cluster.tables.get(&source.change_type).map(Vec::as_slice).unwrap_or_default();
            let env: Vec<Option<String>> =
                VARIABLES.into_iter().map(|name| variable(container, name)).collect();
            let is_it = env == files::variables(spec, source).map(Some)
                && lines.eq(wanted)
                && container["command"]
                    .as_array()
                    .is_some_and(|words| words.iter().any(|word| word == SCRIPT));
            if !is_it || job["spec"]["suspend"] == true {
                return Some(format!("CronJob {name} does something else"));
            }
        }
        let wanted = files::rules(spec, cluster);
        let is_allowed = |(namespace, rules): (&Option<String>, &Vec<Value>)| {
            let of = |kind: &str| {
                let kind = if namespace.is_some() { kind.to_owned() } else { format!("Cluster{kind}") };
                let mut all = objects.iter().filter(|one| one["kind"] == *kind);
                all.find(|one| one["metadata"]["namespace"].as_str() == namespace.as_deref())
            };
            of("RoleBinding").is_some()
                && of("Role").is_some_and(|role| role["rules"].as_array() == Some(rules))
        };
        let roles = objects.iter().filter(|one| one["kind"] == "Role" || one["kind"] == "ClusterRole");
        if roles.count() > wanted.len() || !wanted.iter().all(is_allowed) {
            return Some(format!(
                "its Role allows the ServiceAccount {} something else",
                spec.gate.service_account
            ));
        }
        None
    }

    fn read(&self, job: &Value, _: Option<&str>) -> Reading {
        let mut found = Reading { mechanism: MechanismName::Follow, ..Reading::default() };
        let containers = pod_of(job)["containers"].as_array().into_iter().flatten();
        for (position, container) in containers.enumerate() {
            let of = |name: &str| variable(container, name).filter(|value| !value.is_empty());
            let (Some(namespace), Some(held), Some(gated)) = (of("NAMESPACE"), of("HELD"), of("GATED"))
            else {
                continue;
            };
            let (Some(times), Some(live)) = (table::times(container), of("LIVE")) else { continue };
            for line in gated.lines() {
                let mut words = line.split_whitespace().map(str::to_owned);
                let Some(namespace) = words.next() else { continue };
                let turn = |name| Turn { action: Action::Follow, namespace: namespace.clone(), name };
                found.turns.extend(words.map(turn));
            }
            found.container = found.container.or(Some(position));
            // Jobs of older releases name no kind.
            let kind = of("KIND").and_then(|kind| SourceKind::of(&kind)).unwrap_or_default();
            let held = HeldId { kind, namespace, name: held };
            (found.table, found.held, found.follows) = (Some(times), Some(held), Some(live));
        }
        found
    }

    fn forget(&self, spec: &Spec, HeldId { name, .. }: &HeldId) -> Vec<String> {
        let of = format!("--namespace={}", spec.gate.namespace);
        ["kubectl", "delete", "configmap", name, &of, "--ignore-not-found"].map(str::to_owned).into()
    }

    /// Whatever its targets depend on reads another source, between which no revisions are compared: the sources of the
    /// type suffice.
    fn open_now(&self, standing: &Standing, _: &BTreeSet<GateTarget>) -> Vec<String> {
        let open = |StandingSource { held: HeldId { kind, namespace, name }, live, .. }: &StandingSource| {
            let (resource, field, prefix) = (kind.resource(), kind.field(), kind.prefix());
            let of = format!("--namespace={namespace}");
            let get =
                format!("kubectl get {resource} {live} {of} --output=jsonpath={{.status.artifact.revision}}");
            let patch = format!(
                "kubectl patch {resource} {name} {of} --type=merge --field-manager=flux \
                 --patch=\"{{\\\"spec\\\":{{\\\"ref\\\":{{\\\"{field}\\\":\\\"{prefix}${{commit##*:}}\\\"}}}}}}\""
            );
            format!("commit=$({get}) && [ -n \"$commit\" ] && {patch}")
        };
        let mut lines: Vec<String> = standing.sources.iter().map(open).collect();
        if lines.len() == 1 { in_shell(lines.remove(0)) } else { each(lines) }
    }

    fn stop_now(&self, standing: &Standing, reason: &str) -> Vec<String> {
        by_hand(standing, "suspend", &format!("{STOP}={reason}"))
    }

    fn stopped_until(&self, standing: &Standing) -> &'static str {
        if standing.obeys_stop {
            "the job lets nothing in while the source has the annotation gitops-windows/stop"
        } else {
            "its job obeys no annotation, so this suspends the source"
        }
    }

    fn go_on(&self, standing: &Standing) -> Vec<String> {
        by_hand(standing, "resume", &format!("{STOP}-"))
    }

    fn left<'v>(&self, observed: &Observed<'v>) -> Left<'v> {
        left_at(observed, Field::stop(observed.source))
    }

    fn kinds(&self) -> &'static [&'static str] {
        &[
            "CronJob",
            "GitRepository",
            "OCIRepository",
            "ConfigMap",
            "Role",
            "RoleBinding",
            "ClusterRole",
            "ClusterRoleBinding",
            "ServiceAccount",
            "Namespace",
        ]
    }
}

/// Returns how a held source has left what reads it; `stopped` is the field by which people keep everything out.
pub(super) fn left_at<'v>(observed: &Observed<'v>, stopped: Option<Field<'v>>) -> Left<'v> {
    let Observed { kustomization, source, followed, events, .. } = *observed;
    let metadata = &source["metadata"];
    let note = metadata["annotations"][WINDOW].as_str();
    let kind = source["kind"].as_str().and_then(SourceKind::of).unwrap_or_default();
    let pin = kind.pin(source);
    let newest = &followed["status"]["artifact"];
    let instant = |value: &Value| value.as_str()?.parse::<Timestamp>().ok();
    let is_suspended = |object: &Value| object["spec"]["suspend"] == true;
    let suspended = [source, kustomization].into_iter().find(|object| is_suspended(object));
    let suspended = suspended.map(|object| (Field::suspend(object), "suspended"));
    if let Some((field, verb)) = stopped.map(|field| (field, "stopped")).or(suspended) {
        return Left { state: State::Stopped, field, verb, at: None, newest_since: None, pin, note };
    }
    let is_newest = pin.is_some_and(|pin| newest["revision"].as_str().is_some_and(|at| at.ends_with(pin)));
    let advanced = events.iter().filter(|event| {
        let about = &event["involvedObject"];
        let message = event["message"].as_str().unwrap_or_default();
        let to = message.split_once(" to ").and_then(|(_, to)| to.split(',').next());
        about["name"] == metadata["name"] && about["namespace"] == metadata["namespace"] && to == pin
    });
    Left {
        state: if is_newest { State::Open } else { State::Closed },
        field: Field { object: source, path: kind.path() },
        verb: "let in",
        at: advanced.filter_map(|event| instant(&event["lastTimestamp"])).max(),
        newest_since: instant(&newest["lastUpdateTime"]),
        pin,
        note,
    }
}

/// Returns the words of the command that annotates the held sources; where the jobs would not obey that, of the one that
/// suspends or resumes them.
fn by_hand(standing: &Standing, verb: &str, annotation: &str) -> Vec<String> {
    let words = |StandingSource { held: HeldId { kind, namespace, name }, .. }: &StandingSource| {
        if standing.obeys_stop {
            return annotate(kind.resource(), namespace, &[name], annotation);
        }
        let of = format!("--namespace={namespace}");
        ["flux", verb, "source", kind.word(), name, &of].map(str::to_owned).into()
    };
    held::all_of(standing.sources.iter().map(words).collect())
}

/// Returns the value of a variable of a container; `None` where another object has it.
fn variable(container: &Value, name: &str) -> Option<String> {
    let variables = container["env"].as_array().into_iter().flatten();
    variables.rev().find(|variable| variable["name"] == name)?["value"].as_str().map(str::to_owned)
}
