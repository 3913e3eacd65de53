//! The answer for programs.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::delivery::{Kind, Release};
use crate::pr::field::Field;
use crate::pr::finding::Finding;
use crate::pr::landing::{Landing, State};
use crate::pr::report::{By, Line, Report};
use crate::pr::train::Train;
use crate::repo::manifest::ObjectId;
use crate::schedule::Stretch;
use crate::schedule::zone::database_release;

/// The version of the form; it grows when something is taken away or means something else.
const VERSION: u32 = 1;

/// Writes a report as JSON; `schema pr` prints its schema.
///
/// Paths begin at the top of the git repository; times are RFC 3339 in UTC. `head` is null for a working tree that
/// differs from its commit, `type` where the folder is no side of one. `changes` are those of what kustomize builds;
/// `substituted` are those that only the values of `postBuild.substitute` make.
pub fn json(report: &Report) -> Value {
    let (substituted, changes): (Vec<&Line>, Vec<&Line>) =
        report.changes.iter().partition(|line| line.is_substituted);
    let changes = changes.into_iter().chain(&report.built);
    json!({
        "version": VERSION,
        "base": report.base,
        "head": report.head,
        "now": utc(report.now),
        "timeZoneDatabase": database_release(),
        "changes": changes.map(change).collect::<Vec<_>>(),
        "substituted": substituted.iter().map(|line| change(line)).collect::<Vec<_>>(),
        "deadline": report.deadline.as_ref().and_then(|lands| lands.deadline).map(utc),
        "train": report.trains.iter().map(train).collect::<Vec<_>>(),
        "findings": report.findings.iter().map(finding).collect::<Vec<_>>(),
        "unreached": report.unreached.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "notRendered": report.withheld.iter().map(|one| json!({
            "cluster": one.cluster,
            "path": one.by.path.to_string(),
            "kustomization": kustomization(&one.by),
            "side": if one.is_head { "head" } else { "base" },
            "cause": one.cause.as_str(),
            "reason": one.reason,
        })).collect::<Vec<_>>(),
    })
}

fn change(line: &Line) -> Value {
    json!({
        "cluster": line.cluster,
        "path": line.by.path.to_string(),
        "kustomization": kustomization(&line.by),
        "from": line.from.as_ref().map(|from| json!({
            "path": from.path.to_string(), "kustomization": kustomization(from),
        })),
        "type": line.change_type,
        "object": object(&line.api_version, &line.built),
        "live": (line.id != line.built).then(|| object(&line.api_version, &line.id)),
        "change": line.kind.as_str(),
        "fields": line.fields.iter().map(field).collect::<Vec<_>>(),
        "files": line.files.iter().map(|one| one.path.to_string()).collect::<Vec<_>>(),
        "places": line.files.iter().map(|one| json!({
            "file": one.path.to_string(), "line": one.line,
        })).collect::<Vec<_>>(),
        "kept": line.kind == Kind::Deleted && line.lands.state == State::Never,
        "lands": landing(&line.lands),
    })
}

fn object(api_version: &str, id: &ObjectId) -> Value {
    json!({
        "apiVersion": api_version,
        "kind": id.kind,
        "namespace": Some(&id.namespace).filter(|namespace| !namespace.is_empty()),
        "name": id.name,
    })
}

fn kustomization(by: &By) -> Value {
    by.kustomization
        .as_ref()
        .map_or(Value::Null, |(namespace, name)| json!({ "namespace": namespace, "name": name }))
}

fn field(field: &Field) -> Value {
    json!({ "path": field.path, "before": field.before, "after": field.after })
}

fn landing(landing: &Landing) -> Value {
    json!({
        "state": landing.state.as_str(),
        "earliest": landing.earliest.map(utc),
        "latest": landing.latest.filter(|_| landing.release.is_none()).map(utc),
        "after": landing.release.map(Release::as_str),
        "window": landing.window.as_ref().filter(|_| landing.window_of.is_none()),
        "windowOf": landing.window_of,
        "freeze": stretch(landing.freeze.as_ref()),
        "override": stretch(landing.given.as_ref()),
        "deadline": landing.deadline.map(utc),
        "otherwise": landing.otherwise.map(utc),
        "reason": landing.reason,
    })
}

fn stretch(one: Option<&Stretch>) -> Value {
    one.map_or(Value::Null, |one| {
        json!({ "from": utc(one.interval.open), "until": utc(one.interval.close), "reason": one.reason })
    })
}

fn train(train: &Train) -> Value {
    json!({
        "window": train.window,
        "closed": utc(train.since),
        "opens": train.opens.map(utc),
        "clusters": train.clusters,
        "commits": train.commits.iter().map(|one| json!({ "hash": one.hash, "subject": one.subject })).collect::<Vec<_>>(),
        "waiting": train.waiting.iter().map(|one| json!({
            "cluster": one.cluster,
            "path": one.by.path.to_string(),
            "kustomization": kustomization(&one.by),
            "object": one.id.to_string(),
            "change": one.kind.as_str(),
            "superseded": one.is_superseded,
        })).collect::<Vec<_>>(),
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "topic": finding.topic.as_str(),
        "cluster": finding.cluster,
        "object": finding.object.as_ref().map(ToString::to_string),
        "message": finding.message,
        "from": finding.from.map(utc),
        "help": finding.help,
        "code": finding.code,
        "file": finding.file.as_ref().map(ToString::to_string),
        "line": finding.line,
    })
}

fn utc(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
