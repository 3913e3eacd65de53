//! The answer for programs.

use serde_json::{Value, json};

use crate::schedule::utc;
use crate::schedule::zone::database_release;
use crate::status::{Answer, By, Cluster, Gated, Held, LiveJob, Problem, Run, Setter, Waits, Window};

/// The version of the form; it grows when something is taken away or means something else.
const VERSION: u32 = 1;

/// Writes an answer as JSON; `schema status` prints its schema.
///
/// Times are RFC 3339 in UTC. `open` of a window is what the spec says, `state` of a Flux Kustomization what its cluster
/// has. `setBy.at` is when the field manager changed the object last, so what it set is as old as that or older.
pub fn json(answer: &Answer) -> Value {
    json!({
        "version": VERSION,
        "now": utc(answer.now),
        "timeZoneDatabase": database_release(),
        "fine": answer.is_fine(),
        "clusters": answer.clusters.iter().map(cluster).collect::<Vec<_>>(),
    })
}

fn cluster(cluster: &Cluster) -> Value {
    json!({
        "cluster": cluster.name,
        "context": cluster.context,
        "unread": cluster.unread,
        "gates": cluster.gates.iter().map(gated).collect::<Vec<_>>(),
        "problems": cluster.problems.iter().map(problem).collect::<Vec<_>>(),
    })
}

fn gated(gated: &Gated) -> Value {
    json!({
        "type": gated.change_type,
        "window": gated.window.as_ref().map(window),
        "kustomizations": gated.held.iter().map(held).collect::<Vec<_>>(),
        "jobs": gated.jobs.iter().map(job).collect::<Vec<_>>(),
        "waits": waits(&gated.waits),
    })
}

fn window(window: &Window) -> Value {
    json!({
        "open": window.is_open,
        "since": window.since.map(utc),
        "until": window.until.map(utc),
        "reason": window.reason,
        "timeZone": window.zone.iana_name(),
    })
}

fn held(held: &Held) -> Value {
    json!({
        "namespace": held.target.namespace,
        "name": held.target.name,
        "mechanism": held.mechanism.as_str(),
        "state": held.state.map(|state| state.as_str()),
        "setBy": held.setter.as_ref().map(setter),
        "pinned": held.pin,
        "note": held.note,
        "applied": held.applied,
        "newest": held.newest,
    })
}

fn setter(setter: &Setter) -> Value {
    json!({
        "manager": setter.manager,
        "at": setter.at.map(utc),
        "by": setter.by.as_str(),
        "job": match &setter.by {
            By::Job(name) => Some(name),
            _ => None,
        },
    })
}

fn job(job: &LiveJob) -> Value {
    json!({
        "namespace": Some(&job.namespace).filter(|namespace| !namespace.is_empty()),
        "name": job.name,
        "present": job.is_there,
        "suspended": job.is_suspended,
        "asInGit": job.is_as_in_git,
        "lastScheduled": job.scheduled.map(utc),
        "missed": job.missed.map(utc),
        "runs": job.runs.iter().map(run).collect::<Vec<_>>(),
    })
}

fn run(run: &Run) -> Value {
    json!({
        "job": run.name,
        "started": run.started.map(utc),
        "ended": run.ended.map(utc),
        "outcome": run.outcome.as_str(),
        "failures": run.failures,
        "reason": run.reason,
    })
}

fn waits(waits: &Waits) -> Value {
    json!({
        "objects": waits.objects.iter().map(|one| json!({
            "kustomization": { "namespace": one.by.namespace, "name": one.by.name },
            "group": one.id.group,
            "kind": one.id.kind,
            "namespace": Some(&one.id.namespace).filter(|namespace| !namespace.is_empty()),
            "name": one.id.name,
            "change": one.kind.as_str(),
        })).collect::<Vec<_>>(),
        "commits": waits.commits.iter().map(|(hash, subject)| json!({
            "hash": hash, "subject": subject,
        })).collect::<Vec<_>>(),
        "unknown": waits.unknown,
    })
}

fn problem(problem: &Problem) -> Value {
    json!({
        "kind": problem.kind.as_str(),
        "type": problem.change_type,
        "message": problem.message,
        "reasons": problem.reasons,
        "steps": problem.steps,
    })
}
