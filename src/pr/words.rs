//! What a report says in words, the same in all forms for people.

use std::collections::{BTreeMap, BTreeSet};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::pr::landing::{Landing, State};
use crate::pr::report::{Report, Withheld};
use crate::pr::summary::Section;
use crate::pr::train::Train;
use crate::schedule::zone;

/// Says how many of what: `1 object`, `2 objects`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Says in a sentence what happens.
pub fn verdict(report: &Report) -> String {
    if report.changes.is_empty() {
        return match report.withheld.is_empty() {
            true => "Nothing changes in any cluster.".to_owned(),
            false => format!(
                "{} not built, so nothing is said of what changes there.",
                were(report.withheld.len())
            ),
        };
    }
    let clusters: BTreeSet<&str> = report.changes.iter().map(|line| line.cluster.as_str()).collect();
    let of = |state: State| report.changes.iter().filter(|line| line.lands.state == state).count();
    let parts = [
        (of(State::AtOnce), "at once"),
        (of(State::Window), "in a window"),
        (of(State::Frozen), "after a freeze"),
        (of(State::Unknown), "at a time that Git does not say"),
        (of(State::Never), "never"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, when)| format!("{number} {when}"))
        .collect();
    let objects = report.changes.len();
    let (verb, land) = if objects == 1 { ("changes", "it lands ") } else { ("change", "all land ") };
    let when = match &parts[..] {
        [_] => format!("{land}{}", parts[0].trim_start_matches(|c: char| c.is_ascii_digit()).trim()),
        parts => parts.join(", "),
    };
    format!("{} {verb} in {}: {when}.", count(objects, "object"), count(clusters.len(), "cluster"))
}

fn were(number: usize) -> String {
    if number == 1 { "1 folder is".to_owned() } else { format!("{number} folders are") }
}

/// Says when something lands that is merged at `merged`, as a heading.
///
/// What lands at once is told by how long it takes, so that the words stay the same from one run to the next.
pub fn heading(lands: &Landing, merged: Timestamp) -> String {
    let window = lands.window.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    let within = |start: Timestamp| {
        lands.latest.map(|at| format!(", within {}", length(at.duration_since(start)))).unwrap_or_default()
    };
    match (lands.state, lands.earliest) {
        (State::AtOnce, _) => format!("at once{}", within(merged)),
        (State::Window, Some(from)) if from <= merged => {
            // Where the window may close too soon, the next one brings it.
            let next = lands.otherwise.filter(|next| lands.latest.is_some_and(|latest| latest >= *next));
            match next {
                Some(next) => format!("at once or from {}{window}{}", local(lands, next), within(next)),
                None => format!("at once, while its window is open{window}{}", within(merged)),
            }
        }
        (State::Window, Some(from)) => format!("{}{window}{}", local(lands, from), within(from)),
        (State::Frozen, Some(from)) => {
            format!("{}{window}, after a freeze{}", local(lands, from), within(from))
        }
        (State::Window | State::Frozen | State::Unknown, _) => {
            format!("at a time that Git does not say{window}")
        }
        (State::Never, _) => "never".to_owned(),
    }
}

/// Returns the title of a section: when, and how many objects.
pub fn title(section: &Section, merged: Timestamp) -> String {
    let when = heading(&section.lands, merged);
    let (first, rest) = when.split_at(when.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}: {}", first.to_uppercase(), count(section.objects(), "object"))
}

/// Says why something lands then, or what is taken for granted.
pub fn reason(lands: &Landing) -> Option<String> {
    let word = if matches!(lands.state, State::AtOnce | State::Window) { "Note" } else { "Why" };
    lands.reason.as_ref().map(|reason| format!("{word}: {reason}"))
}

/// Writes how long something takes, in the two largest units, rounded up to minutes.
fn length(duration: SignedDuration) -> String {
    let minutes = usize::try_from(duration.as_secs().max(0)).unwrap_or_default().div_ceil(60).max(1);
    let (days, hours) = (minutes / 1440, minutes % 1440 / 60);
    let units = [(days, "day"), (hours, "hour"), (minutes % 60, "minute")];
    let units = units.into_iter().skip_while(|(number, _)| *number == 0).take(2);
    let told = units.filter(|(number, _)| *number > 0).map(|(number, unit)| count(number, unit));
    told.collect::<Vec<_>>().join(" ")
}

/// Writes an instant in the zone of the window.
fn local(lands: &Landing, at: Timestamp) -> String {
    moment(at, &lands.zone.as_deref().and_then(|name| zone::parse(name).ok()).unwrap_or(TimeZone::UTC))
}

/// Writes an instant in a zone.
pub fn moment(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M %Z").to_string()
}

/// Says until when to merge, and what comes otherwise; `None` where nothing waits.
pub fn deadline(report: &Report) -> Option<String> {
    let lands = report.deadline.as_ref()?;
    let otherwise = lands.otherwise.map(|at| format!("; the opening after that is {}", local(lands, at)));
    Some(format!(
        "Merge before {} to reach window {}{}.",
        local(lands, lands.deadline?),
        lands.window.as_deref().unwrap_or_default(),
        otherwise.unwrap_or_default()
    ))
}

/// Says what waits for an opening already.
pub fn waits(train: &Train) -> String {
    let superseded = train.waiting.iter().filter(|one| one.is_superseded).count();
    let never = match superseded {
        0 => String::new(),
        number => format!(" This pull request changes {number} of them again, before they land."),
    };
    format!(
        "{} in {} already wait for {}, from {} since {}.{never}",
        count(train.waiting.len(), "object"),
        count(train.clusters.len(), "cluster"),
        train.window,
        count(train.commits.len(), "commit"),
        moment(train.since, &TimeZone::UTC)
    )
}

/// Returns what does not build and is no finding: it did not build before either, or only before.
pub fn withheld(report: &Report) -> impl Iterator<Item = &Withheld> {
    report.withheld.iter().filter(|one| !(one.is_head && one.is_new))
}

/// Returns the time zone that all windows of a report have, else UTC.
pub fn zone_of(report: &Report) -> TimeZone {
    let zones: BTreeSet<&str> = report.changes.iter().filter_map(|line| line.lands.zone.as_deref()).collect();
    let only = zones.first().filter(|_| zones.len() == 1);
    only.and_then(|name| zone::parse(name).ok()).unwrap_or(TimeZone::UTC)
}

/// Returns the instants of a report to be pointed at in a picture, each with what happens.
pub fn marks(report: &Report) -> Vec<(Timestamp, String)> {
    let mut by_instant: BTreeMap<Timestamp, usize> = BTreeMap::from([(report.now, 0)]);
    for at in report.changes.iter().filter_map(|line| line.lands.earliest) {
        *by_instant.entry(at).or_default() += 1;
    }
    let mark = |(at, number): (Timestamp, usize)| {
        let text = match (at == report.now, number) {
            (true, 0) => "merge".to_owned(),
            (true, number) => format!("merge: {} at once", count(number, "object")),
            (false, number) => format!("{} at the opening", count(number, "object")),
        };
        (at, text)
    };
    by_instant.into_iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_lands_and_what_nobody_knows_decide() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let soon = Landing::at_once(at("2026-01-01T00:00:00Z"), Some(at("2026-01-01T00:10:00Z")));
        let window = Landing { state: State::Window, window: Some("rw".to_owned()), ..soon.clone() };
        assert_eq!(soon.clone().and(window.clone()).state, State::Window);
        assert_eq!(window.clone().and(soon.clone()).window.as_deref(), Some("rw"));
        assert_eq!(window.and(Landing::unknown("x")).state, State::Unknown);
        assert_eq!(Landing::unknown("x").and(Landing::never("y")).reason.as_deref(), Some("y"));
    }

    #[test]
    fn what_lands_at_once_is_told_by_how_long_it_takes() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let merged = at("2026-01-01T00:00:00Z");
        let until = |latest: &str| heading(&Landing::at_once(merged, Some(at(latest))), merged);
        assert_eq!(until("2026-01-01T00:00:05Z"), "at once, within 1 minute");
        assert_eq!(until("2026-01-01T00:10:01Z"), "at once, within 11 minutes");
        assert_eq!(until("2026-01-01T02:00:00Z"), "at once, within 2 hours");
        assert_eq!(until("2026-01-02T01:59:00Z"), "at once, within 1 day 1 hour");
        assert_eq!(heading(&Landing::at_once(merged, None), merged), "at once");
        let open = Landing {
            state: State::Window,
            window: Some("nights".to_owned()),
            otherwise: Some(at("2026-01-02T00:00:00Z")),
            ..Landing::at_once(merged, Some(at("2026-01-01T00:10:00Z")))
        };
        assert_eq!(heading(&open, merged), "at once, while its window is open (nights), within 10 minutes");
        let late = Landing { latest: Some(at("2026-01-02T00:10:00Z")), ..open };
        assert_eq!(
            heading(&late, merged),
            "at once or from Fri 2026-01-02 00:00 UTC (nights), within 10 minutes"
        );
    }
}
