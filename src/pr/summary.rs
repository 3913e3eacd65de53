//! A report put together for people: what is equal in several clusters stands once, in the order in which it lands.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::delivery::Kind;
use crate::pr::field::Field;
use crate::pr::landing::{Landing, State};
use crate::pr::report::{Line, Report};
use crate::pr::train::Train;
use crate::schedule::zone;

/// What stands for a cluster's own name in what several clusters share.
const CLUSTER: &str = "{cluster}";

/// The shortest name of a cluster that is looked for in other names: a shorter one is in them by chance.
const SHORTEST: usize = 3;

/// How many clusters are named one by one.
const MOST_NAMED: usize = 3;

/// What lands at one time.
#[derive(Clone, Debug)]
pub struct Section {
    /// When.
    pub lands: Landing,
    /// The objects.
    pub rows: Vec<Row>,
}

impl Section {
    /// Counts the objects of all clusters.
    pub fn objects(&self) -> usize {
        self.rows.iter().map(|row| row.clusters.len()).sum()
    }
}

/// One object, in each cluster that gets it alike.
#[derive(Clone, Debug)]
pub struct Row {
    /// The clusters, in order.
    pub clusters: Vec<String>,
    /// What becomes of it.
    pub kind: Kind,
    /// Its kind, namespace and name.
    pub object: String,
    /// What builds it, and what did before where that is another one.
    pub by: String,
    /// The type of the side that it is on.
    pub change_type: Option<String>,
    /// How it differs.
    pub fields: Vec<Field>,
    /// The whole object, where it is new or goes.
    pub whole: Option<Value>,
    /// The files behind it.
    pub files: Vec<String>,
}

/// Puts a report together.
pub fn sections(report: &Report) -> Vec<Section> {
    let mut by_time: BTreeMap<(u8, Option<Timestamp>, &Landing), Vec<&Line>> = BTreeMap::new();
    for line in &report.changes {
        let order = match line.lands.state {
            State::AtOnce => 0,
            State::Window => 1,
            State::Unknown => 2,
            State::Never => 3,
        };
        by_time.entry((order, line.lands.earliest, &line.lands)).or_default().push(line);
    }
    let section = |((.., lands), lines): ((u8, Option<Timestamp>, &Landing), Vec<&Line>)| {
        let mut rows: Vec<Row> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for line in lines {
            let row = row(line);
            let key = format!(
                "{:?}{}{}{:?}{:?}{:?}",
                row.kind, row.object, row.by, row.fields, row.whole, row.files
            );
            let position = *known.entry(key).or_insert(rows.len());
            match rows.get_mut(position) {
                Some(row) => row.clusters.push(line.cluster.clone()),
                None => rows.push(row),
            }
        }
        for row in rows.iter_mut().filter(|row| row.clusters.len() == 1) {
            named(row);
        }
        Section { lands: lands.clone(), rows }
    };
    by_time.into_iter().map(section).collect()
}

/// Makes a row of one cluster's object, with a placeholder for the name of the cluster.
fn row(line: &Line) -> Row {
    let hide = |text: &str| replace(text, &line.cluster, CLUSTER);
    let by = match &line.from {
        Some(from) => format!("{} → {}", from.name(), line.by.name()),
        None => line.by.name().to_owned(),
    };
    let value = |value: &Option<Value>| value.as_ref().map(|value| replaced(value, &hide));
    let field = |field: &Field| Field {
        path: hide(&field.path),
        before: value(&field.before),
        after: value(&field.after),
    };
    Row {
        clusters: vec![line.cluster.clone()],
        kind: line.kind,
        object: hide(&line.id.to_string()),
        by: hide(&by),
        change_type: line.change_type.clone(),
        fields: line.fields.iter().map(field).collect(),
        whole: value(&line.object),
        files: line.files.iter().map(|file| hide(&file.to_string())).collect(),
    }
}

/// Writes the name of its only cluster into a row.
fn named(row: &mut Row) {
    let cluster = row.clusters[0].clone();
    let show = |text: &str| replace(text, CLUSTER, &cluster);
    let value = |value: &Option<Value>| value.as_ref().map(|value| replaced(value, &show));
    (row.object, row.by) = (show(&row.object), show(&row.by));
    for field in &mut row.fields {
        *field = Field { path: show(&field.path), before: value(&field.before), after: value(&field.after) };
    }
    row.whole = value(&row.whole);
    row.files.iter_mut().for_each(|file| *file = show(file));
}

fn replace(text: &str, from: &str, to: &str) -> String {
    if from.chars().count() < SHORTEST { text.to_owned() } else { text.replace(from, to) }
}

fn replaced(value: &Value, replace: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(replace(text)),
        Value::Array(items) => items.iter().map(|item| replaced(item, replace)).collect(),
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, value)| (replace(name), replaced(value, replace))).collect(),
        ),
        other => other.clone(),
    }
}

/// Names clusters: `edge-01`, `edge-01, edge-02`, or runs such as `edge-01 … edge-40`, which hold no other of `all`.
pub fn named_clusters(clusters: &BTreeSet<&str>, all: &BTreeSet<&str>) -> Vec<String> {
    let mut runs: Vec<Vec<&str>> = Vec::new();
    let mut is_open = false;
    for cluster in all {
        match (clusters.contains(cluster), runs.last_mut().filter(|_| is_open)) {
            (true, Some(run)) => run.push(cluster),
            (true, None) => runs.push(vec![cluster]),
            (false, _) => {}
        }
        is_open = clusters.contains(cluster);
    }
    let name = |run: Vec<&str>| match &run[..] {
        [first, .., last] if run.len() > MOST_NAMED => vec![format!("{first} … {last}")],
        _ => run.into_iter().map(str::to_owned).collect(),
    };
    runs.into_iter().flat_map(name).collect()
}

/// Says how many of what: `1 object`, `2 objects`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Says in a sentence what happens.
pub fn verdict(report: &Report) -> String {
    if report.changes.is_empty() {
        return match report.withheld.is_empty() {
            true => "No cluster gets anything else.".to_owned(),
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

/// Says when something lands, as a heading.
pub fn heading(lands: &Landing) -> String {
    let zone = lands.zone.as_deref().and_then(|name| zone::parse(name).ok()).unwrap_or(TimeZone::UTC);
    let from = lands.earliest.map(|at| moment(at, &zone));
    let by = |word: &str| lands.latest.map(|at| format!("{word}{}", moment(at, &zone))).unwrap_or_default();
    let window = lands.window.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    match (lands.state, from) {
        (State::AtOnce, _) => format!("at once{}", by(", by ")),
        (State::Window, Some(from)) => format!("{from}{window}{}", by(", by ")),
        (State::Window | State::Unknown, _) => format!("at a time that Git does not say{window}"),
        (State::Never, _) => "never".to_owned(),
    }
}

/// Writes an instant in a zone.
pub fn moment(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%a %Y-%m-%d %H:%M %Z").to_string()
}

/// Says until when to merge, and what comes otherwise; `None` where nothing waits.
pub fn deadline(report: &Report) -> Option<String> {
    let lands = report.deadline.as_ref()?;
    let zone = lands.zone.as_deref().and_then(|name| zone::parse(name).ok()).unwrap_or(TimeZone::UTC);
    let otherwise = lands.otherwise.map(|at| format!(", else it waits until {}", moment(at, &zone)));
    Some(format!("Merge before {}{}.", moment(lands.deadline?, &zone), otherwise.unwrap_or_default()))
}

/// Says what waits for an opening already, in a line.
pub fn waits(train: &Train) -> String {
    let superseded = train.waiting.iter().filter(|one| one.is_superseded).count();
    let never = match superseded {
        0 => String::new(),
        number => format!("; {} of this pull request never land as they wait now", count(number, "object")),
    };
    let (objects, clusters) = (count(train.waiting.len(), "object"), count(train.clusters.len(), "cluster"));
    let since = moment(train.since, &TimeZone::UTC);
    format!(
        "{} waits for {} since {since}: {objects} in {clusters}{never}",
        count(train.commits.len(), "commit"),
        train.window
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_clusters_holds_no_other() {
        let all: BTreeSet<&str> = ["a1", "a2", "a3", "a4", "a5", "a6", "b"].into();
        let told = |names: &[&str]| named_clusters(&names.iter().copied().collect(), &all).join(", ");
        assert_eq!(told(&["a1", "a2", "a3", "a4"]), "a1 … a4");
        assert_eq!(told(&["a1", "a2", "a3"]), "a1, a2, a3");
        assert_eq!(told(&["a1", "a2", "a4", "a5", "b"]), "a1, a2, a4, a5, b");
        assert_eq!(told(&["a1", "a3", "a4", "a5", "a6"]), "a1, a3 … a6");
        assert_eq!(told(&[]), "");
    }

    #[test]
    fn what_never_lands_and_what_nobody_knows_decide() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let soon = Landing::at_once(at("2026-01-01T00:00:00Z"), Some(at("2026-01-01T00:10:00Z")));
        let window = Landing { state: State::Window, window: Some("rw".to_owned()), ..soon.clone() };
        assert_eq!(soon.clone().and(window.clone()).state, State::Window);
        assert_eq!(window.clone().and(soon.clone()).window.as_deref(), Some("rw"));
        assert_eq!(window.and(Landing::unknown("x")).state, State::Unknown);
        assert_eq!(Landing::unknown("x").and(Landing::never("y")).reason.as_deref(), Some("y"));
        assert_eq!(heading(&soon), "at once, by Thu 2026-01-01 00:10 UTC");
    }
}
