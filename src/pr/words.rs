//! What a report says in words, the same in all forms for people.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::{Cause, UNTIL_FIRST};
use crate::pr::landing::{Landing, State};
use crate::pr::report::{Line, Report};
use crate::pr::summary::Section;
use crate::pr::train::Train;
use crate::pr::withheld::Withheld;
use crate::schedule::zone;
use crate::text::{count, length};

/// Says in a sentence what happens, and in others what nothing is said of.
pub fn verdict(report: &Report) -> String {
    let mut sentences: Vec<String> = changing(report).into_iter().collect();
    sentences.extend(unsaid(report));
    if sentences.is_empty() {
        sentences.push("Nothing changes in any cluster.".to_owned());
    }
    sentences.join(" ")
}

fn changing(report: &Report) -> Option<String> {
    let clusters: BTreeSet<&str> = report.changes.iter().map(|line| line.cluster.as_str()).collect();
    let of = |state: State| {
        let landing = report.changes.iter().filter(|line| !line.is_kept());
        landing.filter(|line| line.lands.state == state).count()
    };
    let kept = report.changes.iter().filter(|line| line.is_kept()).count();
    let is_unclosed = |line: &&Line| {
        !line.is_kept() && line.lands.state == State::Window && line.lands.first_closing.is_some()
    };
    let unclosed = report.changes.iter().filter(is_unclosed).count();
    let parts = [
        (of(State::AtOnce), "at once"),
        (unclosed, "before the first closing"),
        (of(State::Window) - unclosed, "in a window"),
        (of(State::Frozen), "after a freeze"),
        (of(State::Unknown), "at a time that Git does not say"),
        (of(State::Never), "never"),
        (kept, "kept"),
    ];
    let parts: Vec<(usize, &str)> = parts.into_iter().filter(|(number, _)| *number > 0).collect();
    let objects = report.changes.len();
    let (verb, subject) = if objects == 1 { ("changes", "it") } else { ("change", "all") };
    let when = match &parts[..] {
        [] => return None,
        [(_, "kept")] => {
            format!(
                "{subject} {} Git, and Flux keeps {}",
                if objects == 1 { "leaves" } else { "leave" },
                if objects == 1 { "it" } else { "them" }
            )
        }
        [(_, when)] => format!("{subject} {} {when}", if objects == 1 { "lands" } else { "land" }),
        parts => parts.iter().map(|(number, when)| format!("{number} {when}")).collect::<Vec<_>>().join(", "),
    };
    Some(format!("{} {verb} in {}: {when}.", count(objects, "object"), count(clusters.len(), "cluster")))
}

/// Says of how much nothing is said, and why.
fn unsaid(report: &Report) -> Vec<String> {
    let number = |is_it: &dyn Fn(&Withheld) -> bool| {
        let all = report.withheld.iter().filter(|one| is_it(one));
        all.map(|one| (&one.cluster, &one.by)).collect::<BTreeSet<_>>().len()
    };
    let has_no_flux = |one: &Withheld| one.cause == Cause::NoFlux;
    let told = [
        (number(&Withheld::is_broken), "folder", "built"),
        (number(&|one| !one.is_broken() && !has_no_flux(one)), "Flux Kustomization", "looked at"),
    ];
    let told = told.into_iter().filter(|(number, ..)| *number > 0).map(|(number, noun, verb)| {
        let are = if number == 1 { "is" } else { "are" };
        format!("{} {are} not {verb}, so nothing is said of what changes there.", count(number, noun))
    });
    let no_flux = report.withheld.iter().any(has_no_flux);
    let no_flux = no_flux
        .then(|| "There is no Flux Kustomization here, so nobody knows what reaches a cluster.".to_owned());
    told.chain(no_flux).collect()
}

/// Says when a section lands, as a heading.
pub fn when(section: &Section, merged: Timestamp) -> String {
    match section.is_kept {
        true => "kept, Flux does not delete it".to_owned(),
        false => heading(&section.lands, merged),
    }
}

/// Says when something lands that is merged at `merged`, as a heading.
///
/// What lands at once is told by how long it takes, so that the words stay the same from one run to the next.
pub fn heading(lands: &Landing, merged: Timestamp) -> String {
    let window = lands.window.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    let within = |start: Timestamp| {
        lands
            .latest
            .map(|at| format!(", within {}", length(at.duration_since(start).unsigned_abs())))
            .unwrap_or_default()
    };
    match (lands.state, lands.earliest) {
        (State::AtOnce, _) => format!("at once{}", within(merged)),
        (State::Window, Some(from)) if lands.first_closing.is_some() && from <= merged => {
            let first = lands.first_closing.map(|at| format!(", {}", local(lands, at))).unwrap_or_default();
            format!("at once, {UNTIL_FIRST}{first}{window}{}", within(merged))
        }
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
    let when = when(section, merged);
    let (first, rest) = when.split_at(when.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}: {}", first.to_uppercase(), count(section.objects(), "object"))
}

/// Says why something lands then, or what is taken for granted.
pub fn reason(lands: &Landing) -> Option<String> {
    let word = if matches!(lands.state, State::AtOnce | State::Window) { "Note" } else { "Why" };
    let reason = lands.reason.as_ref()?;
    Some(format!("{word}: {}", reason.strip_prefix("it is kept: ").unwrap_or(reason)))
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
    let aim = match lands.first_closing {
        Some(_) => "land before the first closing".to_owned(),
        None => format!("reach window {}", lands.window.as_deref().unwrap_or_default()),
    };
    Some(format!("Merge before {} to {aim}{}.", local(lands, lands.deadline?), otherwise.unwrap_or_default()))
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

/// Returns what nothing is said of and what is no finding, below two titles: what does not build, before or on both
/// sides, and what is not looked at.
pub fn withheld(report: &Report) -> Vec<(&'static str, Vec<&Withheld>)> {
    let (broken, unread): (Vec<&Withheld>, Vec<&Withheld>) =
        report.withheld.iter().filter(|one| !(one.is_head && one.is_new)).partition(|one| one.is_broken());
    let groups = [("Not built", broken), ("Not looked at", unread)];
    groups.into_iter().filter(|(_, all)| !all.is_empty()).collect()
}

/// Names what is withheld, and says where and on which side: the folder or the Flux Kustomization, the cluster, the side.
pub fn place(one: &Withheld) -> (Option<&str>, Option<&str>, Option<&'static str>) {
    let name = if one.is_broken() { one.by.path.as_str() } else { one.by.name() };
    let cluster = Some(one.cluster.as_str()).filter(|name| !name.is_empty());
    let side = if one.is_head { "now" } else { "before" };
    (Some(name).filter(|_| one.cause != Cause::NoFlux), cluster, Some(side).filter(|_| one.is_broken()))
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
        assert_eq!(until("2026-01-02T01:59:00Z"), "at once, within 1 day 2 hours");
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
