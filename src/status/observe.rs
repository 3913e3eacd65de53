//! Finds out how the gates of a cluster are.

use jiff::Timestamp;
use serde_json::Value;

use crate::delivery::{BuiltJob, SourceId};
use crate::live::{Objects, applied_revision, commit_of, fetched_revision};
use crate::mechanism::{self, GateTarget, Observed};
use crate::repo::flux::artifact_path;
use crate::status::expected::Targets;
use crate::status::job::instant;
use crate::status::{Expected, Gated, Held, LiveJob, Setter, Waits};

/// Looks up what a cluster has of its gates; what waits is not worked out yet.
pub fn observe(expected: &Expected<'_>, cluster: &str, objects: &Objects, now: Timestamp) -> Vec<Gated> {
    let gated = expected.gated(cluster).into_iter();
    let mut found: Vec<Gated> = gated
        .map(|(change_type, targets)| {
            let built = expected.model.closings.of(cluster).iter();
            let is_own = |job: &&BuiltJob| job.is_running && targets.keys().any(|target| job.turns(target));
            let jobs: Vec<LiveJob> = built.filter(is_own).map(|job| LiveJob::of(job, objects, now)).collect();
            let one = Look { expected, cluster, objects, jobs: &jobs, now };
            let held = one.all(&targets);
            let window = change_type.as_ref().and_then(|name| expected.window(cluster, name, now, &jobs));
            Gated { change_type, window, held, jobs, waits: Waits::default() }
        })
        .collect();
    let place = |gated: &Gated| {
        let name = gated.change_type.as_ref();
        expected.spec.types.iter().position(|one| Some(&one.name.value) == name)
    };
    found.sort_by_key(|gated| place(gated).unwrap_or(usize::MAX));
    found
}

/// What one type of a cluster is looked up in.
struct Look<'a> {
    expected: &'a Expected<'a>,
    cluster: &'a str,
    objects: &'a Objects,
    jobs: &'a [LiveJob],
    now: Timestamp,
}

impl Look<'_> {
    fn all(&self, targets: &Targets<'_>) -> Vec<Held> {
        targets.iter().map(|(target, job)| self.one(target, job)).collect()
    }

    fn one(&self, target: &GateTarget, job: &BuiltJob) -> Held {
        let mut held = Held {
            target: target.clone(),
            mechanism: job.mechanism,
            state: None,
            decider: String::new(),
            decider_namespace: target.namespace.clone(),
            annotation: None,
            verb: "",
            setter: None,
            created: None,
            newest_since: None,
            pin: None,
            note: None,
            applied: None,
            newest: None,
            unknown: None,
        };
        let Some(kustomization) = self.objects.kustomization(&target.namespace, &target.name) else {
            held.unknown = Some(format!("{} is not in the cluster", target.name));
            return held;
        };
        let id = SourceId::of(&kustomization["spec"], &target.namespace);
        let mut followed =
            self.expected.cluster(self.cluster).map_or_else(|| id.clone(), |own| own.live_of(&id));
        if followed.namespace.is_empty() {
            followed.namespace.clone_from(&id.namespace);
        }
        let source = self.source(&id);
        let observed = Observed {
            kustomization,
            source,
            followed: self.source(&followed),
            events: &self.objects.events,
            job: self.objects.job(&job.name).unwrap_or(&Value::Null),
            has_table: job.table.is_some(),
        };
        held.created = instant(&kustomization["metadata"]["creationTimestamp"]);
        held.applied = commit_of(applied_revision(&id.kind, kustomization)).map(str::to_owned);
        held.newest = commit_of(fetched_revision(observed.followed)).map(str::to_owned);
        held.unknown = match (&held.applied, &held.newest) {
            (None, None) if id.kind != "GitRepository" => {
                Some(format!("{} {} names no commit", id.kind, id.name))
            }
            (None, _) => Some(format!("{} has applied no commit", target.name)),
            (_, None) => Some(format!("{} {} has fetched no commit", followed.kind, followed.name)),
            _ => None,
        };
        if elsewhere(self.expected, self.cluster, target, kustomization).is_some() {
            return held;
        }
        let left = mechanism::of(job.mechanism).left(&observed);
        held.state = Some(left.state);
        held.decider = shown(left.field.object);
        let namespace = left.field.object["metadata"]["namespace"].as_str();
        namespace.into_iter().for_each(|own| own.clone_into(&mut held.decider_namespace));
        held.annotation = left.field.annotation();
        held.verb = left.verb;
        held.setter = Setter::of(left.field, left.at, self.jobs, self.now);
        held.newest_since = left.newest_since;
        held.pin = left.pin.map(str::to_owned);
        held.note = left.note.map(str::to_owned);
        held
    }

    fn source(&self, id: &SourceId) -> &Value {
        self.objects.source(&id.kind, &id.namespace, &id.name).unwrap_or(&Value::Null)
    }
}

/// Says in what a Flux Kustomization builds something else in its cluster than in Git, as what is there and what in Git.
pub(super) fn elsewhere(
    expected: &Expected<'_>,
    cluster: &str,
    target: &GateTarget,
    live: &Value,
) -> Option<(String, String)> {
    let one = expected.find(cluster, target)?;
    let (here, there) = (one.source(), SourceId::of(&live["spec"], &target.namespace));
    if !here.is(&there) {
        let told = |id: &SourceId| format!("{} {}", id.kind, id.name);
        return Some((told(&there), told(&here)));
    }
    let path = |spec: &Value| spec["path"].as_str().unwrap_or_default().to_owned();
    let (here, there) = (path(&one.value["spec"]), path(&live["spec"]));
    let is_same = artifact_path(&here) == artifact_path(&there) || here.contains("${");
    (!is_same).then_some((there, here))
}

/// Names an object by its kind and its name.
pub(super) fn shown(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let kind = match object["kind"].as_str() {
        Some("Kustomization") => "Flux Kustomization".to_owned(),
        _ => text(&object["kind"]),
    };
    format!("{kind} {}", text(&object["metadata"]["name"]))
}
