//! The answer for people.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::UNTIL_FIRST;
use crate::delivery::fleet::GateState;
use crate::diagnostic::clean;
use crate::text::{fold, length, table};
use crate::when::{Answer, Line, notes};

/// The most clusters that a remark names.
const MOST_NAMED: usize = 5;

/// Writes an answer as a table that is readable without colour, or as a list where a table has no room in `width`
/// characters.
///
/// The times of a gated type are told in the zones of its windows, in UTC and in that of whoever asks, a line
/// each; zones that show the same time share a line. Remarks stand below, each once.
pub fn text(answer: &Answer, width: usize) -> String {
    let mut rows = vec![header()];
    let twins = twins(answer);
    for line in &answer.lines {
        rows.extend(lines_of(answer, line, &twins));
    }
    let mut text = if answer.lines.is_empty() { String::new() } else { table(&rows) };
    let has_room = text.lines().all(|line| line.chars().count() <= width);
    if !has_room {
        text = answer.lines.iter().map(|line| narrow(answer, line, &twins, width)).collect();
    }
    let room = if has_room { usize::MAX } else { width };
    let say = |words: String, room: usize| fold(words.split(' '), room, 2) + "\n";
    for path in &answer.unreached {
        text += &say(
            format!("No entry point of these clusters reads {}: a change of it reaches none.", clean(path)),
            room,
        );
    }
    for note in notes(answer) {
        let names: Vec<String> = note.clusters.iter().take(MOST_NAMED).map(|name| clean(name)).collect();
        let more = match note.clusters.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        text += "\n";
        text += &say(format!("{}{more}: {}.", names.join(", "), note.message), room);
        text += &format!("  {}", say(format!("→ {}.", note.help), room.saturating_sub(2)));
    }
    text
}

fn header() -> Vec<String> {
    ["CLUSTER", "TYPE", "FLUX KUSTOMIZATION", "NOW", "NEXT OPENING", "NEXT CLOSING", "TIME ZONE"]
        .map(str::to_owned)
        .to_vec()
}

fn lines_of(answer: &Answer, line: &Line, twins: &Twins<'_>) -> Vec<Vec<String>> {
    let mut first = vec![
        clean(&line.cluster),
        line.change_type.as_deref().map_or_else(|| "(all)".to_owned(), clean),
        kustomization(line, twins),
        now(line),
    ];
    let Some(times) = line.times else {
        return vec![first];
    };
    let mut rows = Vec::new();
    for (zone, label) in zones(answer, line) {
        let told = |at: Option<Timestamp>| at.map_or_else(|| "never".to_owned(), |at| show(at, &zone));
        let mut row = if rows.is_empty() { std::mem::take(&mut first) } else { vec![String::new(); 4] };
        row.extend([told(times.next_open), told(times.next_close), label]);
        rows.push(row);
    }
    rows
}

/// Writes a line of the table below each other.
fn narrow(answer: &Answer, line: &Line, twins: &Twins<'_>, width: usize) -> String {
    let change_type = line.change_type.as_deref().map_or_else(|| "(all)".to_owned(), clean);
    let head = [clean(&line.cluster), change_type, format!("{}:", kustomization(line, twins)), now(line)];
    let mut text = fold(head.iter().flat_map(|part| part.split(' ')), width, 2) + "\n";
    let Some(times) = line.times else { return text };
    for (label, at) in [("  opens  ", times.next_open), ("  closes ", times.next_close)] {
        for (index, (zone, zones)) in zones(answer, line).into_iter().enumerate() {
            let label = if index == 0 { label } else { "         " };
            let told = at.map_or_else(|| "never".to_owned(), |at| show(at, &zone));
            let zones = if at.is_some() { zones.as_str() } else { "" };
            if at.is_some() || index == 0 {
                let pieces =
                    [label, &told].into_iter().chain(zones.split(' ').filter(|word| !word.is_empty()));
                text += &(fold(pieces, width, 10) + "\n");
            }
        }
    }
    text
}

/// By cluster and name, the namespaces of Flux Kustomizations.
type Twins<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<&'a str>>;

fn twins(answer: &Answer) -> Twins<'_> {
    let mut found = Twins::new();
    for line in &answer.lines {
        if let Some(one) = &line.kustomization {
            found.entry((&line.cluster, &one.name)).or_default().insert(&one.namespace);
        }
    }
    found
}

/// Names the Flux Kustomization of a line, with its namespace where the cluster has another one of that name.
fn kustomization(line: &Line, twins: &Twins<'_>) -> String {
    let Some(found) = &line.kustomization else { return "-".to_owned() };
    let name = match twins.get(&(&*line.cluster, &*found.name)).is_some_and(|spaces| spaces.len() > 1) {
        true => format!("{}/{}", clean(&found.namespace), clean(&found.name)),
        false => clean(&found.name),
    };
    if found.in_git { name } else { format!("{name} (not in Git)") }
}

/// Says what becomes of a change that is merged at the instant.
fn now(line: &Line) -> String {
    if line.is_suspended() {
        return "suspended".to_owned();
    }
    let remark = match line.gate {
        _ if line.folder.is_none() => "no entry point".to_owned(),
        GateState::NotHandedOver => return "split, not handed over".to_owned(),
        GateState::RealTime => match line.kustomization.as_ref().and_then(|found| found.within) {
            Some(within) => format!("within {}", length(within)),
            None => {
                let after = line.awaited.as_ref().map(|(name, _)| format!("after {}", clean(name)));
                return after.unwrap_or_else(|| "at once".to_owned());
            }
        },
        GateState::Off => "gate off".to_owned(),
        GateState::NotInGit | GateState::NoJob => "not gated".to_owned(),
        GateState::Foreign => return "unknown".to_owned(),
        GateState::Closes | GateState::Unseen => {
            return match (line.times, &line.freeze, &line.given) {
                (Some(_), Some(freeze), _) => format!("frozen ({})", clean(&freeze.reason)),
                (Some(times), None, _) if !times.open => match &line.delay {
                    Some(delay) => format!("closed, then frozen ({})", clean(&delay.reason)),
                    None => "closed".to_owned(),
                },
                _ if line.before_first_closing.is_some() => UNTIL_FIRST.to_owned(),
                (_, _, Some(given)) => format!("open ({})", clean(&given.reason)),
                _ => "open".to_owned(),
            };
        }
    };
    format!("at once ({remark})")
}

/// The name of a zone and whose it is.
type Label<'a> = (String, Vec<&'a str>);

/// Gives the zones in which a line's times are told, with their labels: of the windows, UTC, of whoever asks.
///
/// Zones that show the same times are told once.
fn zones(answer: &Answer, line: &Line) -> Vec<(TimeZone, String)> {
    let told: Vec<Timestamp> =
        line.times.iter().flat_map(|times| [times.next_open, times.next_close]).flatten().collect();
    let same = |a: &TimeZone, b: &TimeZone| told.iter().all(|at| a.to_offset(*at) == b.to_offset(*at));
    let name = |zone: &TimeZone| match zone.iana_name() {
        Some("Etc/UTC") => "UTC".to_owned(),
        name => name.unwrap_or("local time").to_owned(),
    };
    let mut zones: Vec<(TimeZone, Vec<Label<'_>>)> = Vec::new();
    let windows = line.zones.iter().map(|zone| (zone, "cluster"));
    for (zone, role) in windows.chain([(&TimeZone::UTC, ""), (&answer.local, "local")]) {
        let position = zones.iter().position(|(known, _)| same(known, zone)).unwrap_or_else(|| {
            zones.push((zone.clone(), Vec::new()));
            zones.len() - 1
        });
        let names = &mut zones[position].1;
        let roles = (!role.is_empty()).then_some(role);
        match names.iter_mut().find(|(known, _)| *known == name(zone)) {
            Some((_, known)) => known.extend(roles),
            None => names.push((name(zone), roles.into_iter().collect())),
        }
    }
    let label = |(name, roles): Label<'_>| {
        if roles.is_empty() { name } else { format!("{name} ({})", roles.join(", ")) }
    };
    let labels =
        |names: Vec<(String, Vec<&str>)>| names.into_iter().map(label).collect::<Vec<_>>().join(", ");
    zones.into_iter().map(|(zone, names)| (zone, labels(names))).collect()
}

fn show(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M").to_string()
}
