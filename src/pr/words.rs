//! What a report says in words, the same in all forms for people.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::Cause;
use crate::pr::deadline::until;
use crate::pr::finding::Topic;
use crate::pr::landing::{Landing, State};
use crate::pr::report::{Line, Report};
use crate::pr::summary::Section;
use crate::pr::train::Train;
use crate::pr::withheld::Withheld;
use crate::schedule::{moment, zone};
use crate::spec::exceptions::{UNTIL_REMOVED, is_endless};
use crate::text::{count, length};

/// What stands above the windows, freezes and overrides that change.
pub const WINDOWS: &str = "Windows change";

/// What stands below them.
pub const CALENDAR: &str = "`gitops-windows calendar` shows the openings that this makes.";

/// What a freeze holds that nothing opens after.
const HELD: &str = "held by a freeze";

/// What nothing brings.
const NEVER: &str = "never";

/// Says in a sentence what happens, and in others what nothing is said of.
pub fn verdict(report: &Report) -> String {
    let mut sentences: Vec<String> = other_windows(report).into_iter().chain(changing(report)).collect();
    sentences.extend(unsaid(report));
    if sentences.is_empty() {
        sentences.push("Nothing changes in any cluster.".to_owned());
    }
    let unreached = report.unreached.len();
    if unreached > 0 {
        let reach = if unreached == 1 { "reaches" } else { "reach" };
        sentences.push(format!("{} {reach} no cluster.", count(unreached, "changed file")));
    }
    sentences.join(" ")
}

/// Says in how many clusters windows change.
fn other_windows(report: &Report) -> Option<String> {
    let all = report.findings.iter().filter(|one| one.topic == Topic::Windows);
    let clusters: BTreeSet<&str> = all.map(|one| one.cluster.as_str()).collect();
    (!clusters.is_empty()).then(|| format!("Windows change in {}.", count(clusters.len(), "cluster")))
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
    let (late, unclosed): (Vec<&Line>, Vec<&Line>) =
        report.changes.iter().filter(is_unclosed).partition(|line| line.lands.next().is_some());
    let (late, unclosed) = (late.len(), unclosed.len());
    let is_held = |line: &&Line| line.lands.state == State::Frozen && line.lands.earliest.is_none();
    let held = report.changes.iter().filter(is_held).count();
    let parts = [
        (of(State::AtOnce), "at once"),
        (unclosed, "before the first closing"),
        (late, "at once or in the next window"),
        (of(State::Window) - unclosed - late, "in a window"),
        (of(State::Frozen) - held, "after a freeze"),
        (held, HELD),
        (of(State::Unknown), "at a time that Git does not say"),
        (of(State::Never), NEVER),
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
        [(_, HELD)] => format!("{subject} {} {HELD}", if objects == 1 { "is" } else { "are" }),
        [(_, NEVER)] if objects == 1 => "it never lands".to_owned(),
        [(_, NEVER)] => "none of them lands".to_owned(),
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
    let is_unread = |one: &Withheld| !one.is_broken() && !has_no_flux(one);
    let is_folder = |one: &Withheld| one.by.kustomization.is_none();
    let told = [
        (number(&Withheld::is_broken), "folder", "built"),
        (number(&|one| is_unread(one) && is_folder(one)), "folder", "looked at"),
        (number(&|one| is_unread(one) && !is_folder(one)), "Flux Kustomization", "looked at"),
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
    let first = first_closing(&section.lands).map(|first| format!(" ({first})"));
    format!("{}{}", between(section, merged), first.unwrap_or_default())
}

/// As [`when`], without the first closing.
fn between(section: &Section, merged: Timestamp) -> String {
    match section.is_kept {
        true => "kept, Flux does not delete it".to_owned(),
        false => timed(&section.lands, section.soonest, merged),
    }
}

/// Says when the window closes that nothing has closed yet, where it lands before.
fn first_closing(lands: &Landing) -> Option<String> {
    let closing = lands.first_closing.filter(|_| lands.state == State::Window)?;
    let window = match (&lands.window_of, &lands.window) {
        (Some(of), _) => format!("the window of {of}"),
        (None, Some(name)) => format!("window {name}"),
        (None, None) => "its window".to_owned(),
    };
    Some(format!("{window} first closes {}", local(lands, closing)))
}

/// Says when something lands that is merged at `merged`, as a heading.
///
/// What lands at once is told by how long it takes, so that the words stay the same from one run to the next.
pub fn heading(lands: &Landing, merged: Timestamp) -> String {
    timed(lands, lands.latest, merged)
}

/// As [`heading`], of what lands within several times, of which `soonest` is the first.
fn timed(lands: &Landing, soonest: Option<Timestamp>, merged: Timestamp) -> String {
    let window = match (&lands.given, &lands.window_of, &lands.window) {
        (Some(given), ..) => format!(" (override: {})", given.reason),
        (None, Some(of), _) => format!(" (window of {of})"),
        (None, None, Some(name)) => format!(" ({name})"),
        (None, None, None) => String::new(),
    };
    // The windows decide what is not released at the merge, and else its release.
    let within = |start: Timestamp| {
        let own = |at: Timestamp| length(at.duration_since(start).unsigned_abs());
        let length = |at: Timestamp| match soonest.map(own) {
            Some(soonest) if soonest != own(at) => span(&soonest, &own(at)),
            _ => own(at),
        };
        match (lands.latest, lands.release) {
            (Some(at), None) => format!(", within {}", length(at)),
            (Some(at), Some(release)) if start == merged => {
                format!(", within {} {}", length(at), release.since())
            }
            (Some(at), Some(release)) => format!(", within {}, {}", length(at), release.once()),
            (None, Some(release)) => format!(", {}", release.since()),
            (None, None) => String::new(),
        }
    };
    let next = lands.next();
    // The opening after that may be of another window.
    let (here, there) = match &lands.other {
        Some(_) => (window.as_str(), ""),
        None => ("", window.as_str()),
    };
    match (lands.state, lands.earliest) {
        (State::AtOnce, _) => format!("at once{}", within(merged)),
        (State::Window, Some(from)) if lands.first_closing.is_some() && from <= merged => match next {
            Some(next) => {
                format!("at once{here} or from {}{there}{}", following(lands, next), within(next))
            }
            None => format!("at once{}", within(merged)),
        },
        (State::Window, Some(from)) if from <= merged => match next {
            Some(next) => {
                format!("at once{here} or from {}{there}{}", following(lands, next), within(next))
            }
            None => format!("at once, while its window is open{window}{}", within(merged)),
        },
        (State::Window | State::Frozen, Some(from)) => {
            let freeze = if lands.state == State::Frozen { ", after a freeze" } else { "" };
            match next {
                Some(next) => {
                    format!(
                        "{}{here} or from {}{there}{freeze}{}",
                        local(lands, from),
                        following(lands, next),
                        within(next)
                    )
                }
                None => format!("{}{window}{freeze}{}", local(lands, from), within(from)),
            }
        }
        (State::Frozen, None) => {
            let freeze = lands.freeze.as_ref().filter(|freeze| !is_endless(freeze.interval));
            let until = freeze.map(|freeze| format!("until {}", local(lands, freeze.interval.close)));
            format!("{HELD} {}", until.as_deref().unwrap_or(UNTIL_REMOVED))
        }
        (State::Window | State::Unknown, _) => {
            format!("at a time that Git does not say{window}")
        }
        (State::Never, _) => "never".to_owned(),
    }
}

/// Writes two lengths of time as one; the unit stands once.
fn span(least: &str, most: &str) -> String {
    let parts =
        |length: &'_ str| length.split_once(' ').map(|(number, unit)| (number.to_owned(), unit.to_owned()));
    match (parts(least), parts(most)) {
        (Some((number, unit)), Some((_, of))) if unit == of && !unit.contains(' ') => {
            format!("{number} to {most}")
        }
        _ => format!("{least} to {most}"),
    }
}

/// What is told of a landing, and whether it is too late for it.
pub(super) type Told = (Vec<Option<String>>, Option<bool>);

/// Returns all that is told of a landing but for the minutes that it takes: what differs otherwise is one to people.
pub(super) fn told(lands: &Landing, merged: Timestamp) -> Told {
    let is_late = lands.deadline.map(|deadline| deadline <= merged);
    let until = |deadline| until(&Landing { deadline: Some(deadline), ..lands.clone() }, merged);
    let next = lands.next();
    // No time at all, or one that is not known, is another thing than some minutes.
    let latest = lands.latest.map(|_| next.or(lands.earliest).unwrap_or(merged));
    let heading = heading(&Landing { latest, ..lands.clone() }, merged);
    (vec![Some(heading), first_closing(lands), reason(lands), until(merged)], is_late)
}

/// Returns the title of a section: when, and how many objects.
pub fn title(section: &Section, merged: Timestamp) -> String {
    let when = between(section, merged);
    let (first, rest) = when.split_at(when.chars().next().map_or(0, char::len_utf8));
    let closing = first_closing(&section.lands).map(|closing| format!(" ({closing})")).unwrap_or_default();
    format!("{}{rest}: {}{closing}", first.to_uppercase(), count(section.objects(), "object"))
}

/// Says why something lands then, or what is taken for granted.
pub fn reason(lands: &Landing) -> Option<String> {
    let word = if matches!(lands.state, State::AtOnce | State::Window) { "Note" } else { "Why" };
    let reason = lands.reason.as_ref()?;
    Some(format!("{word}: {}", reason.strip_prefix("it is kept: ").unwrap_or(reason)))
}

/// Writes an instant in the zone of the window.
pub(super) fn local(lands: &Landing, at: Timestamp) -> String {
    in_zone(lands.zone.as_deref(), at)
}

fn in_zone(zone: Option<&str>, at: Timestamp) -> String {
    moment(at, &zone.and_then(|name| zone::parse(name).ok()).unwrap_or(TimeZone::UTC))
}

/// Writes the instant of the opening after that, in the zone of its window, and names that where it is another one.
pub(super) fn following(lands: &Landing, at: Timestamp) -> String {
    let Some(other) = &lands.other else { return local(lands, at) };
    let name = other.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    format!("{}{name}", in_zone(other.zone.as_deref(), at))
}

/// Says what waits for an opening already.
pub fn waits(train: &Train) -> String {
    let superseded = train.waiting.iter().filter(|one| one.is_superseded).count();
    let never = match superseded {
        0 => String::new(),
        number => format!(" This pull request changes {number} of these objects again, before they land."),
    };
    let (objects, commits) = (train.waiting.len(), train.commits.len());
    // Which of the commits change these objects is not known.
    format!(
        "{} in {} {} for {}. {} {} merged since it closed at {}.{never}",
        count(objects, "object"),
        count(train.clusters.len(), "cluster"),
        if objects == 1 { "waits" } else { "wait" },
        train.window,
        count(commits, "commit"),
        if commits == 1 { "was" } else { "were" },
        in_zone(train.zone.as_deref(), train.since)
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

/// What stands above the changed files that reach no cluster.
pub const UNREACHED: &str = "No cluster gets these files, as far as Git says";

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
