//! What begins to wait for a window, and what waits no more.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::delivery::Hold;
use crate::mechanism::shell_line;
use crate::pr::clock::Clock;
use crate::pr::finding::{Finding, Topic};

/// What lets something land that leaves its held source.
pub(super) const UNHELD: &str = "only once CronJobs suspend";

/// What becomes of what a Flux Kustomization waits for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    /// It lands at once from now on.
    Freed(Hold),
    /// It stays suspended, as nothing resumes it any more.
    Left(Hold),
    /// It waits from now on, and is closed first at an instant; `None` where that is not known.
    Held(Hold, Option<Timestamp>),
    /// It stays suspended: CronJobs with a table resume only what they suspended.
    Kept(Hold),
    /// Nothing suspends it yet as it leaves its held source.
    Unheld(Hold),
    /// It waits for another type.
    Other(Hold, Hold),
}

/// Finds the Flux Kustomizations that are there before and after, and that a gate begins to hold back, or holds back no
/// more. What comes or goes is told with its objects.
pub(super) fn waits(clock: &Clock<'_>) -> Vec<Finding> {
    let (before, after) = (clock.before.held(), clock.after.held());
    let ids: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut found: BTreeMap<(&str, Turn, &str), Vec<&str>> = BTreeMap::new();
    for id in ids {
        let (cluster, namespace, name) = id;
        let [old, new] = [&clock.before, &clock.after].map(|tree| tree.find(cluster, "", (namespace, name)));
        let (Some(old), Some(new)) = (old, new) else { continue };
        let counts = |hold: &Hold| new.spec()["suspend"] != true && hold.opens();
        let turn = match (before.get(id), after.get(id)) {
            (Some(hold), None) if counts(hold) => Some(match clock.stays_without_gate(&old, &new, hold) {
                true => Turn::Left(hold.clone()),
                false => Turn::Freed(hold.clone()),
            }),
            (None, Some(hold)) if counts(hold) => {
                Some(Turn::Held(hold.clone(), clock.after.first_closing(&new, hold, clock.now)))
            }
            (Some(_), Some(hold)) if counts(hold) && clock.stays_suspended(&old, &new, hold) => {
                Some(Turn::Kept(hold.clone()))
            }
            (Some(_), Some(hold)) if counts(hold) && clock.after.is_freed(&new) => {
                Some(Turn::Unheld(hold.clone()))
            }
            (Some(was @ Hold::Window(_)), Some(is @ Hold::Window(_))) if was != is => {
                Some(Turn::Other(was.clone(), is.clone()))
            }
            _ => None,
        };
        if let Some(turn) = turn {
            found.entry((cluster, turn, namespace)).or_default().push(name);
        }
    }
    let told = found.into_iter();
    told.map(|((cluster, turn, namespace), names)| finding(clock, cluster, turn, namespace, &names)).collect()
}

fn finding(clock: &Clock<'_>, cluster: &str, turn: Turn, namespace: &str, names: &[&str]) -> Finding {
    let (subject, verb, it) = match names {
        [one] => (format!("Flux Kustomization {one}"), "waits", "it"),
        all => (format!("Flux Kustomizations {}", all.join(", ")), "wait", "they"),
    };
    let s = if names.len() == 1 { "s" } else { "" };
    let them = if names.len() == 1 { "it" } else { "them" };
    let resume = || {
        let namespace = format!("--namespace={namespace}");
        let names = names.iter().copied().chain([namespace.as_str()]).map(str::to_owned);
        let resume = shell_line(&names.collect::<Vec<_>>());
        format!("merge it while the window is open, or run `flux resume kustomization {resume}`")
    };
    let accept = "let a gate suspend it; or accept that it lands at once";
    let (topic, what, help) = match turn {
        Turn::Freed(hold) => {
            let what = format!("for {hold} no more: {it} land{s} at once from now on");
            (Topic::OutsideWindow, what, accept.to_owned())
        }
        Turn::Left(hold) => {
            let what = format!("for {hold} no more, and nothing resumes what is suspended");
            (Topic::OutsideWindow, what, resume())
        }
        Turn::Kept(hold) => {
            let what = format!("for {hold}, and nothing resumes what the CronJobs before suspended");
            (Topic::Check, what, resume())
        }
        Turn::Unheld(hold) => {
            let what = format!("for {hold} {UNHELD} {them}: all lands that waited at the held source");
            let help = format!("merge it while the window is open, or suspend {them} until then");
            (Topic::OutsideWindow, what, help)
        }
        Turn::Held(hold, first) => {
            let first = first.map(|at| format!(". The first closing is {at}")).unwrap_or_default();
            let help = "give objects that must not wait a real-time type, or split them off";
            (Topic::Check, format!("for {hold} from now on{first}"), help.to_owned())
        }
        Turn::Other(was, is) => {
            let help = "look at the openings that this makes: `gitops-windows calendar`";
            (Topic::Check, format!("for {is} instead of {was}"), help.to_owned())
        }
    };
    Finding {
        topic,
        cluster: cluster.to_owned(),
        message: format!("{subject} {verb} {what}"),
        from: Some(clock.now),
        help,
        zone: clock.after.zone_of(cluster),
        ..Finding::default()
    }
}
