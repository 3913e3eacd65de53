//! The answer for people.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::fleet::GateState;
use crate::delivery::unnamed;
use crate::delivery::{Stuck, UNTIL_FIRST};
use crate::diagnostic::clean;
use crate::path::RepoPath;
use crate::schedule::{Changing, moment, zone_name};
use crate::spec::exceptions::{UNTIL_REMOVED, is_endless};
use crate::text::{fold, length, pointed, ranges};
use crate::when::{Answer, Line, notes};

/// What is open only as a change of its gate has not arrived.
const UNTIL_CHANGED: &str = "open until the gate has its new times";

/// What is open as soon as a change of its gate has arrived.
const ONCE_CHANGED: &str = "open once the gate has its new times";

/// The most Flux Kustomizations that a line names, unless all are wanted.
const MOST_NAMED: usize = 4;

/// Writes an answer in lines of at most `width` characters where names allow that; `is_all` names every Flux Kustomization
/// where many have one answer.
///
/// Clusters with equal answers stand below one heading. The times of a gated type are told in the zones of its windows, in
/// UTC and in that of whoever asks; zones that show the same time are one. Remarks stand below, each once.
pub fn text(answer: &Answer, width: usize, is_all: bool) -> String {
    let twins = twins(answer);
    let mut blocks: Vec<(String, Vec<String>)> = Vec::new();
    for lines in answer.lines.chunk_by(|a, b| a.cluster == b.cluster) {
        let block = block(answer, lines, &twins, width, is_all);
        let cluster = lines.iter().take(1).map(|line| clean(&line.cluster));
        match blocks.iter_mut().find(|(known, _)| *known == block) {
            Some((_, clusters)) => clusters.extend(cluster),
            None => blocks.push((block, cluster.collect())),
        }
    }
    let mut text = String::new();
    for (block, clusters) in blocks {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &format!("{}\n{block}", named(clusters.iter().map(String::as_str), width));
    }
    let say = |words: String, room: usize| fold(words.split(' '), room, 2) + "\n";
    for (path, others) in &answer.elsewhere {
        for other in others {
            let reached = format!("a change of {path} reaches it once it is there");
            text += &say(clean(&format!("{other}: {reached}.")), width);
        }
    }
    for path in answer.unreached.iter().filter(|path| !answer.elsewhere.contains_key(*path)) {
        text += &say(
            format!("No entry point of these clusters reads {}: a change of it reaches none.", clean(path)),
            width,
        );
    }
    for note in notes(answer) {
        let names: Vec<String> = note.clusters.iter().map(|name| clean(name)).collect();
        if !text.is_empty() {
            text.push('\n');
        }
        text += &say(
            format!("{}: {}.", ranges(names.iter().map(String::as_str)).join(", "), note.message),
            width,
        );
        for line in pointed(note.help, width.saturating_sub(2)) {
            text += &format!("  {line}\n");
        }
    }
    text
}

/// Names clusters, and ranges of them, in a heading.
fn named<'n>(clusters: impl Iterator<Item = &'n str>, width: usize) -> String {
    let names = ranges(clusters);
    let last = names.len().saturating_sub(1);
    let names = names.iter().enumerate();
    let names: Vec<String> =
        names.map(|(at, name)| if at == last { name.clone() } else { format!("{name},") }).collect();
    fold(names.iter().map(String::as_str), width, 2)
}

/// Writes what is known of a cluster below its name; Flux Kustomizations with one answer share it.
fn block(answer: &Answer, lines: &[Line], twins: &Twins<'_>, width: usize, is_all: bool) -> String {
    let mut told: Vec<((String, String, String), Vec<String>)> = Vec::new();
    for line in lines {
        let change_type = line.change_type.as_deref().map_or_else(|| "(all)".to_owned(), clean);
        let now = match line.doubt() {
            Some(doubt) => format!("{}; {}", now(line), clean(&doubt.to_string())),
            None => now(line),
        };
        let key = (change_type, now, times(answer, line, width));
        let name = kustomization(line, twins);
        match told.iter_mut().find(|(known, _)| *known == key) {
            // One that applies several folders is one.
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => told.push((key, vec![name])),
        }
    }
    let room =
        told.iter().map(|((change_type, ..), _)| change_type.chars().count()).max().unwrap_or_default();
    // What one type does by several paces stands together, with its name once.
    let types: Vec<String> = told.iter().map(|((change_type, ..), _)| change_type.clone()).collect();
    told.sort_by_key(|((change_type, ..), _)| types.iter().position(|own| own == change_type));
    let (mut text, mut before) = (String::new(), None);
    for ((change_type, now, times), names) in told {
        let known = before.replace(change_type.clone());
        let change_type = if known.as_ref() == Some(&change_type) { String::new() } else { change_type };
        let most = if is_all || names.len() <= MOST_NAMED + 1 { names.len() } else { MOST_NAMED };
        let more = match names.len() - most {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let words = format!("{}{more}: {now}", names[..most].join(", "));
        let head = format!("  {change_type:room$} ");
        text += &(fold(std::iter::once(head.as_str()).chain(words.split(' ')), width, room + 4) + "\n");
        text += &times;
    }
    text
}

/// Writes when the windows of a line open and close, the next one first.
fn times(answer: &Answer, line: &Line, width: usize) -> String {
    let may_land = matches!(line.stuck(), None | Some(Stuck::Suspended)) && !line.is_left_suspended;
    let Some(times) = line.times.filter(|_| may_land && !line.is_failing) else { return String::new() };
    // What no gate holds keeps to no window.
    let is_ungated =
        matches!(line.gate, GateState::Off | GateState::NotInGit | GateState::NoJob | GateState::Resumed);
    let mut told = match is_ungated {
        true => [("would open ", times.next_open), ("would close", times.next_close)],
        false => [("opens ", times.next_open), ("closes", times.next_close)],
    };
    if times.open {
        told.reverse();
    }
    let changing = line.changing.zip(line.changes);
    // It opens while nobody knows it, and stays open.
    let opens = changing.filter(|(changing, by)| {
        times.open && *changing == Changing::Opens && times.next_close.is_none_or(|close| *by < close)
    });
    if let Some((_, by)) = opens {
        told = [("opens ", Some(by)), ("closes", times.next_close)];
    }
    let hedge = |label: &str, at: Timestamp| match changing.filter(|(_, by)| at <= *by) {
        None if label.contains("open") && line.unsaid().is_some() => ", at the earliest",
        None if label.contains("open") && line.unsaid_gate().is_some() => ", at the latest",
        None => "",
        Some(_) if label.contains("open") && opens.is_none() => ", at the earliest",
        Some(_) => ", at the latest",
    };
    // What stays as it is has no other end.
    let told = if told[0].1.is_none() { &told[..1] } else { &told[..] };
    let mut text = String::new();
    for (label, at) in told {
        let at = match *at {
            Some(at) => {
                let until = times.lets_in_until.filter(|until| *until < at && label.contains("close"));
                let settles = until.map(|until| {
                    format!(
                        "; its last {} let nothing new in",
                        length(at.duration_since(until).unsigned_abs())
                    )
                });
                in_zones(at, &zones(answer, line)) + hedge(label, at) + &settles.unwrap_or_default()
            }
            None => match line.freeze.as_ref().or(line.delay.as_ref()).filter(|one| is_endless(one.interval))
            {
                Some(freeze) if label.contains("open") => {
                    format!("never {UNTIL_REMOVED}: freeze {}", clean(&freeze.reason))
                }
                _ => match line.ended.filter(|_| *label == "opens ") {
                    Some(end) if end <= answer.at => {
                        format!("never: the table ended on {}", moment(end, &line.open_zone))
                    }
                    Some(end) => format!("never: the table ends on {}", moment(end, &line.open_zone)),
                    None => "never".to_owned(),
                },
            },
        };
        let label = format!("      {label} ");
        text += &(fold(std::iter::once(label.as_str()).chain(at.split(' ')), width, 14) + "\n");
    }
    text
}

/// Tells an instant in zones: the day again only where it is another one than before.
fn in_zones(at: Timestamp, zones: &[(TimeZone, String)]) -> String {
    let mut day = None;
    let told = zones.iter().map(|(zone, label)| {
        let at = at.to_zoned(zone.clone());
        let is_same = day.replace(at.date()) == Some(at.date());
        format!("{} {label}", at.strftime(if is_same { "%H:%M" } else { "%a %Y-%m-%d %H:%M" }))
    });
    told.collect::<Vec<_>>().join(" = ")
}

/// Flux Kustomizations of a cluster that have one name.
#[derive(Default)]
struct Namesakes<'a> {
    namespaces: BTreeSet<&'a str>,
    folders: BTreeSet<&'a RepoPath>,
}

/// They by cluster and name.
type Twins<'a> = BTreeMap<(&'a str, &'a str), Namesakes<'a>>;

fn twins(answer: &Answer) -> Twins<'_> {
    let mut found = Twins::new();
    for line in &answer.lines {
        if let Some(one) = &line.kustomization {
            let own = found.entry((&*line.cluster, &*one.name)).or_default();
            own.namespaces.insert(&*one.namespace);
            own.folders.extend(&line.folder);
        }
    }
    found
}

/// Names the Flux Kustomization of a line, with its namespace where the cluster has another one of that name.
fn kustomization(line: &Line, twins: &Twins<'_>) -> String {
    let Some(found) = &line.kustomization else {
        return line.entry.as_ref().map_or_else(|| "-".to_owned(), |folder| clean(&unnamed(folder)));
    };
    let own = twins.get(&(&*line.cluster, &*found.name));
    // A name that is only made of a folder's says nothing where other folders end alike.
    let is_vague = !found.in_git && own.is_some_and(|own| own.folders.len() > 1);
    if let Some(folder) = line.folder.as_ref().filter(|_| is_vague) {
        return format!("{} (not in Git)", clean(folder.as_str()));
    }
    let name = match own.is_some_and(|own| own.namespaces.len() > 1) {
        true => format!("{}/{}", clean(&found.namespace), clean(&found.name)),
        false => clean(&found.name),
    };
    if found.in_git { name } else { format!("{name} (not in Git)") }
}

/// Says what becomes of a change that is merged at the instant.
fn now(line: &Line) -> String {
    match line.stuck() {
        Some(Stuck::Suspended) => return "suspended".to_owned(),
        Some(Stuck::Source(_)) => return "never: its source is suspended".to_owned(),
        Some(Stuck::Unfetched(..)) => return "never: its source fetches nothing".to_owned(),
        Some(Stuck::Circle(_)) => return "never: it depends on itself".to_owned(),
        Some(Stuck::Dependency(name)) => {
            return format!("never: it depends on {}, which never lands", clean(name));
        }
        None if line.is_failing => return "never: it does not build".to_owned(),
        None => {}
    }
    if let Some(name) = line.unsaid().filter(|_| !line.is_left_suspended) {
        return format!("unknown: it depends on {}, which is not in Git", clean(name));
    }
    if let Some((above, other)) = line.unsaid_gate().filter(|_| !line.is_left_suspended) {
        let (above, other) = (clean(above), clean(other));
        return format!("unknown: {above}, which applies its gate, depends on {other}, which is not in Git");
    }
    let remark = match line.gate {
        _ if line.folder.is_none() => "no entry point".to_owned(),
        GateState::NotHandedOver => return "split, not handed over".to_owned(),
        GateState::RealTime => {
            match line.kustomization.as_ref().and_then(|found| Some((found.within?, found))) {
                Some((within, found)) => {
                    let since =
                        found.release.map(|release| format!(" {}", release.since())).unwrap_or_default();
                    format!("within {}{since}", length(within))
                }
                None => {
                    let after = line.awaited.as_ref().map(|(name, _)| format!("after {}", clean(name)));
                    return after.unwrap_or_else(|| "at once".to_owned());
                }
            }
        }
        GateState::Off => "gate off".to_owned(),
        GateState::NotInGit | GateState::NoJob | GateState::Resumed => "not gated".to_owned(),
        GateState::Foreign if line.times.is_none() => return "unknown".to_owned(),
        GateState::Unmoved => return "never: nothing moves its source".to_owned(),
        GateState::Closes if line.is_left_suspended => return "suspended by the gate before".to_owned(),
        GateState::Closes | GateState::Unseen | GateState::Foreign => {
            return match (line.times, &line.freeze, &line.given) {
                (Some(_), Some(freeze), _) => format!("frozen ({})", clean(&freeze.reason)),
                (Some(times), ..) if times.open && line.changing.is_some() => match line.changing {
                    Some(Changing::Opens) => ONCE_CHANGED.to_owned(),
                    _ => UNTIL_CHANGED.to_owned(),
                },
                (Some(_), None, _) if line.settles.is_some() => "closing, lets nothing new in".to_owned(),
                (Some(times), None, _) if !times.open => match &line.delay {
                    Some(delay) => format!("closed, then frozen ({})", clean(&delay.reason)),
                    None => "closed".to_owned(),
                },
                _ if line.is_uncome => "open: its gate has not come".to_owned(),
                _ if line.before_first_closing.is_some() => UNTIL_FIRST.to_owned(),
                (_, _, Some(given)) => format!("open ({})", clean(&given.reason)),
                _ => "open".to_owned(),
            };
        }
    };
    format!("at once ({remark})")
}

/// Returns the zones in which a line's times are told, with their names: those of the windows, UTC, that of whoever asks;
/// zones that show the same times are told by the first of them.
fn zones(answer: &Answer, line: &Line) -> Vec<(TimeZone, String)> {
    let told: Vec<Timestamp> =
        line.times.iter().flat_map(|times| [times.next_open, times.next_close]).flatten().collect();
    let same = |a: &TimeZone, b: &TimeZone| told.iter().all(|at| a.to_offset(*at) == b.to_offset(*at));
    let mut zones: Vec<(TimeZone, String)> = Vec::new();
    let windows = line.zones.iter().map(|zone| (zone, ""));
    for (zone, whose) in windows.chain([(&TimeZone::UTC, ""), (&answer.local, " (local)")]) {
        let name = zone_name(zone).unwrap_or("local time");
        if let Some((_, known)) = zones.iter_mut().find(|(known, _)| same(known, zone)) {
            // Whoever looks for it finds it, also where another clock shows the same now.
            if name == "UTC" && !known.contains("UTC") {
                *known += " and UTC";
            }
            continue;
        }
        zones.push((zone.clone(), format!("{name}{whose}")));
    }
    zones
}
