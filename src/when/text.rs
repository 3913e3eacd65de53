//! The answer for people.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::diagnostic::clean;
use crate::fleet::GateState;
use crate::when::table::table;
use crate::when::{Answer, Line, notes};

/// The most clusters that a remark names.
const MOST_NAMED: usize = 5;

/// Writes an answer as a table that is readable without colour.
///
/// The times of a gated type are told in the zone of its windows, in UTC and in that of whoever asks, a line
/// each; zones that show the same time share a line. Remarks stand below, each once.
pub fn text(answer: &Answer) -> String {
    let mut rows = vec![header()];
    for line in &answer.lines {
        rows.extend(lines_of(answer, line));
    }
    let mut text = if answer.lines.is_empty() { String::new() } else { table(&rows) };
    for path in &answer.unreached {
        text += &format!(
            "No entry point of these clusters reads {}: a change of it reaches none.\n",
            clean(path)
        );
    }
    for note in notes(answer) {
        let names: Vec<String> = note.clusters.iter().take(MOST_NAMED).map(|name| clean(name)).collect();
        let more = match note.clusters.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        text += &format!("\n{}{more}: {}.\n  → {}.\n", names.join(", "), note.message, note.help);
    }
    text
}

fn header() -> Vec<String> {
    ["CLUSTER", "TYPE", "FLUX KUSTOMIZATION", "NOW", "NEXT OPENING", "NEXT CLOSING", "TIME ZONE"]
        .map(str::to_owned)
        .to_vec()
}

fn lines_of(answer: &Answer, line: &Line) -> Vec<Vec<String>> {
    let mut first = vec![
        clean(&line.cluster),
        line.change_type.as_deref().map_or_else(|| "(all)".to_owned(), clean),
        kustomization(line),
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

fn kustomization(line: &Line) -> String {
    match &line.kustomization {
        Some(found) if found.in_git => clean(&found.name),
        Some(found) => format!("{} (not in Git)", clean(&found.name)),
        None => "-".to_owned(),
    }
}

/// Says what happens to a change that is merged now.
fn now(line: &Line) -> String {
    if line.is_suspended() {
        return "suspended".to_owned();
    }
    match line.gate {
        GateState::RealTime => {
            match line.kustomization.as_ref().and_then(|found| found.interval.as_deref()) {
                Some(interval) => format!("at once (within {})", clean(interval)),
                None => "at once".to_owned(),
            }
        }
        GateState::Closes if line.is_open() => "open".to_owned(),
        GateState::Closes => "closed".to_owned(),
        GateState::Off => "not gated (off)".to_owned(),
        GateState::NotInGit | GateState::NoJob => "not gated".to_owned(),
        GateState::Foreign => "unknown".to_owned(),
    }
}

/// Gives the zones in which a line's times are told, with their labels: of the windows, UTC, of whoever asks.
fn zones(answer: &Answer, line: &Line) -> Vec<(TimeZone, String)> {
    let mut zones: Vec<(TimeZone, Vec<&str>)> = vec![(line.zone.clone(), vec!["cluster"])];
    for (zone, role) in [(&TimeZone::UTC, ""), (&answer.local, "local")] {
        match zones.iter_mut().find(|(known, _)| known == zone) {
            Some((_, roles)) => roles.push(role),
            None => zones.push((zone.clone(), vec![role])),
        }
    }
    let label = |zone: &TimeZone, roles: &[&str]| {
        let name = zone.iana_name().unwrap_or("local time");
        let roles: Vec<&str> = roles.iter().copied().filter(|role| !role.is_empty()).collect();
        if roles.is_empty() { name.to_owned() } else { format!("{name} ({})", roles.join(", ")) }
    };
    zones
        .into_iter()
        .map(|(zone, roles)| (label(&zone, &roles), zone))
        .map(|(label, zone)| (zone, label))
        .collect()
}

fn show(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M").to_string()
}
