//! The answer for programs.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::delivery::fleet::GateState;
use crate::delivery::{Release, Stuck};
use crate::repo::Appeared;
use crate::schedule::Stretch;
use crate::schedule::zone::database_release;
use crate::when::{Answer, CloseReason, Line, notes};

/// The version of the form; it grows when something is taken away or means something else.
pub(super) const VERSION: u32 = 1;

/// Writes an answer as JSON.
///
/// Times are objects of the same instant in `utc`, in the zone of the windows (`cluster`) and in that of
/// whoever asks (`local`), all RFC 3339. `open` says whether a change merged at `at` would be applied at once;
/// `windowOpen`, `nextOpen` and `nextClose` speak of the windows whether or not the gate closes (`gate`:
/// `closes`, `none` without windows, `off`, `not-in-git`, `not-handed-over`, `unseen`, `no-job`,
/// `foreign`; see
/// [`GateState`](crate::delivery::fleet::GateState)). `timeZones` are those of the windows, and `timeZone` is that name where
/// they have only one; the `cluster` of an opening or closing is in the zone of the window that opens or closes.
/// `reason` is a word for why it is open or closed ([`Reason`](crate::when::Reason)), and `nextCloseReason` for what closes
/// next ([`CloseReason`](crate::when::CloseReason)), with `nextFreeze` where that is a freeze. Before anything has closed,
/// `reason` is `before-first-closing`, `open` is true, and `gateSince` the time of the commit that brought the CronJobs,
/// if they are in one.
/// `doubt` says why the cluster perhaps lacks the Flux Kustomization; all else holds if it is there.
/// `gateChanges` is the instant by which the gate has what Git says, where the times before count until then.
/// `delay` is the freeze that takes what would be the next opening, so that `nextOpen` comes later.
/// `freeze` is that which holds at `at`, and `override` that which lets changes in although no window does, each with
/// `from`, `until` and `reason`; `null` where there is none.
/// `race` is the instant at which one of them opens and one closes, so that the order of two Jobs decides.
/// `timeZoneDatabase` is the release of the IANA database that all of it was computed with.
pub fn json(answer: &Answer) -> Value {
    json!({
        "version": VERSION,
        "at": { "utc": utc(answer.at), "local": zoned(answer.at, &answer.local) },
        "localTimeZone": answer.local.iana_name(),
        "timeZoneDatabase": database_release(),
        "lines": answer.lines.iter().map(|line| one(answer, line)).collect::<Vec<_>>(),
        "unreached": answer.unreached,
        "notes": notes(answer).into_iter().map(|note| json!({
            "kind": note.kind, "clusters": note.clusters, "message": note.message, "help": note.help,
        })).collect::<Vec<_>>(),
    })
}

fn one(answer: &Answer, line: &Line) -> Value {
    let told = |at: Option<Timestamp>, zone: &TimeZone| at.map(|at| time(at, &answer.local, zone));
    let stretch = |one: Option<&Stretch>| {
        one.map(|one| {
            json!({
                "from": told(Some(one.interval.open), &line.open_zone),
                "until": told(Some(one.interval.close), &line.open_zone),
                "reason": one.reason,
            })
        })
    };
    let names: Vec<&str> = line.zones.iter().map(|zone| zone.iana_name().unwrap_or("UTC")).collect();
    json!({
        "cluster": line.cluster,
        "type": line.change_type,
        "entryPoint": line.folder.as_ref().map(ToString::to_string),
        "kustomization": line.kustomization.as_ref().map(|kustomization| json!({
            "name": kustomization.name,
            "namespace": kustomization.namespace,
            "inGit": kustomization.in_git,
            "interval": kustomization.interval,
            "suspended": kustomization.stuck == Some(Stuck::Suspended),
            "after": kustomization.release.map(Release::as_str),
        })),
        "realTime": line.times.is_none() && !matches!(line.gate, GateState::Foreign | GateState::Unmoved),
        "gate": line.gate.as_str(),
        "open": line.is_open() && !line.lands_never(),
        "doubt": line.doubt().map(ToString::to_string),
        "reason": line.reason(answer.at).as_str(),
        "timeZone": if let [name] = names.as_slice() { Some(*name) } else { None },
        "timeZones": names,
        "windowOpen": line.times.map(|times| {
            (times.open || line.settles.is_some()) && line.before_first_closing.is_none()
        }),
        "nextOpen": told(line.times.and_then(|times| times.next_open), &line.open_zone),
        "nextClose": told(line.times.and_then(|times| times.next_close), &line.close_zone),
        "letsInUntil": told(line.times.and_then(|times| times.lets_in_until), &line.close_zone),
        "nextCloseReason": line.closes_by.map(CloseReason::as_str),
        "nextFreeze": stretch(line.next_freeze.as_ref()),
        "gateSince": match line.before_first_closing {
            Some(Appeared::At(since)) => told(Some(since), &line.close_zone),
            _ => None,
        },
        "gateChanges": told(line.changes, &line.close_zone),
        "reaches": told(line.reaches(answer.at), &line.open_zone),
        "delay": stretch(line.delay.as_ref()),
        "freeze": stretch(line.freeze.as_ref()),
        "override": stretch(line.given.as_ref()),
        "race": told(line.times.and_then(|times| times.race), &line.close_zone),
    })
}

fn time(at: Timestamp, local: &TimeZone, cluster: &TimeZone) -> Value {
    json!({ "utc": utc(at), "cluster": zoned(at, cluster), "local": zoned(at, local) })
}

fn utc(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn zoned(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}
