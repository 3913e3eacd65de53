//! Until when to merge.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::delivery::Release;
use crate::pr::landing::Landing;
use crate::pr::report::Report;
use crate::pr::summary::Section;
use crate::pr::words::{following, local};

/// What is to be done where nothing has closed yet.
const FIRST: &str = "land before the first closing";

/// Says until when to merge, and what comes otherwise; `None` where nothing waits.
///
/// Of several deadlines the first one is told, and [`own_deadlines`] tells that of each landing time.
pub fn deadline(report: &Report, sections: &[Section]) -> Option<String> {
    let all = deadlines(report, sections);
    let mut waiting = sections.iter().filter(|section| section.lands.deadline.is_some());
    let none_opens = waiting.all(|section| section.lands.first_closing.is_some());
    match (&report.deadline, all.len()) {
        (Some(first), 2..) => Some(format!(
            "{} before {} to {}; each landing time has its own deadline.",
            first.release.map_or("Merge", Release::order),
            local(first, first.deadline?),
            if none_opens { FIRST } else { "reach every opening" }
        )),
        (None, 2..) => Some(match none_opens {
            true => format!("Too late to surely {FIRST}; each landing time says what comes next."),
            false => "Too late for the openings of now; each landing time says what comes next.".to_owned(),
        }),
        _ => all.into_iter().next(),
    }
}

/// Says until when to merge what lands at each of some times; nothing where all have the same deadline.
pub fn own_deadlines(sections: &[Section], report: &Report) -> Vec<Option<String>> {
    let own = sections.iter().map(|section| until(&section.lands, report.now));
    let has_several = deadlines(report, sections).len() > 1;
    own.map(|until| until.filter(|_| has_several)).collect()
}

fn deadlines(report: &Report, sections: &[Section]) -> BTreeSet<String> {
    sections.iter().filter_map(|section| until(&section.lands, report.now)).collect()
}

pub(super) fn until(lands: &Landing, merged: Timestamp) -> Option<String> {
    let deadline = lands.deadline?;
    let name = lands.window.as_deref().unwrap_or_default();
    let window =
        lands.window_of.as_ref().map_or_else(|| format!("window {name}"), |of| format!("the window of {of}"));
    let (aim, kind) = match (lands.first_closing, &lands.given) {
        (Some(_), _) => (FIRST.to_owned(), String::new()),
        (None, Some(given)) => {
            (format!("reach the override ({})", given.reason), format!(" of the override ({})", given.reason))
        }
        (None, None) => (format!("reach {window}"), format!(" of {window}")),
    };
    if deadline <= merged {
        let next = lands.otherwise.map(|at| format!("; the next one is {}", following(lands, at)));
        let next = next.unwrap_or_default();
        return Some(match lands.first_closing {
            Some(_) => format!("Too late to surely {FIRST}{next}."),
            None => format!("Too late for this opening{kind}: it may close before the change lands{next}."),
        });
    }
    let otherwise = lands.otherwise.map(|at| format!("; the opening after that is {}", following(lands, at)));
    let order = lands.release.map_or("Merge", Release::order);
    Some(format!("{order} before {} to {aim}{}.", local(lands, deadline), otherwise.unwrap_or_default()))
}
