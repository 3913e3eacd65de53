//! The table of a gate, and the times that it is made of, as they are at an instant.

use jiff::{Timestamp, ToSpan};

use crate::check::code::{ENDED_TIME, TABLE_ENDS};
use crate::diagnostic::{Diagnostic, Place};
use crate::schedule::{Interval, moment};
use crate::spec::Spec;

/// How long before its end a table is told to end.
const AHEAD: i64 = 60 * 24;

/// Finds a table that is about to end or has not begun, and freezes and overrides that are over.
pub(super) fn findings(spec: &Spec, now: Timestamp) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let zone = spec.told_zone();
    let told = |at: Timestamp| moment(at, &zone);
    if let Some(table) = &spec.gate.table {
        let Interval { open, close } = table.bounds;
        let is_near = now.checked_add(AHEAD.hours()).is_ok_and(|soon| soon >= close);
        let told = if now < open {
            Some((
                format!("the table of open times begins on {}, and before that nothing opens", told(open)),
                "give `gate` an earlier `from`, and run `gitops-windows sync`",
            ))
        } else if close <= now {
            let message = format!("the table of open times ended on {}: every gate stays shut", told(close));
            Some((message, "run `gitops-windows sync --extend`, which moves its end"))
        } else {
            is_near.then(|| {
                (
                    format!(
                        "the table of open times ends on {}, and then nothing opens any more",
                        told(close)
                    ),
                    "`gitops-windows sync --extend` moves its end",
                )
            })
        };
        found.extend(
            told.map(|(message, help)| TABLE_ENDS.finding(message).at(table.place.clone()).help(help)),
        );
    }
    let mut over = |what: String, interval: Interval, place: &Place, help: String| {
        if interval.close <= now {
            let message = format!("{what} ended on {}, so it changes nothing any more", told(interval.close));
            found.push(ENDED_TIME.finding(message).at(place.clone()).help(help));
        }
    };
    let clean = || "`gitops-windows sync --clean` takes away what is over".to_owned();
    for (position, freeze) in spec.freezes.iter().enumerate() {
        let name = &freeze.name;
        let Some(calendar) = &freeze.calendar else {
            over(format!("freeze `{}`", name.value), freeze.interval, &name.place, clean());
            continue;
        };
        // Its events are told as one, by the last of them.
        let of_name = spec.freezes[..position].iter().any(|other| other.name == *name);
        let events = spec.freezes.iter().filter(|other| other.name == *name);
        if let Some(last) = events.max_by_key(|event| event.interval.close).filter(|_| !of_name) {
            let help = format!("put a newer calendar in the place of {}", calendar.path);
            over(format!("the last event of freeze `{}`", name.value), last.interval, &name.place, help);
        }
    }
    for given in &spec.overrides {
        over(
            format!("an override of type `{}`", given.type_name.value),
            given.interval,
            &given.place,
            clean(),
        );
    }
    found
}
