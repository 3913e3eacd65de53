//! A report put together for people: what is equal in several clusters stands once, in the order in which it lands.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::delivery::Kind;
use crate::pr::field::Field;
use crate::pr::fold::folded;
use crate::pr::landing::{Landing, State};
use crate::pr::notice::Notice;
use crate::pr::report::{Line, Report};
use crate::pr::words::{Told, told, when};

/// What stands for a cluster's own name in what several clusters share.
pub const CLUSTER: &str = "{cluster}";

/// The shortest name of a cluster that is looked for in other names: a shorter one is in them by chance.
const SHORTEST: usize = 3;

/// How long the times of one section lie apart at most.
const SPREAD: Duration = Duration::from_secs(30 * 60);

/// The place of what leaves Git and stays in its cluster: behind all that lands.
const KEPT: u8 = 5;

/// What lands at one time.
#[derive(Clone, Debug)]
pub struct Section {
    /// When: the last time, with the first deadline.
    pub lands: Landing,
    /// When the first of it has landed.
    pub soonest: Option<Timestamp>,
    /// Whether all of it leaves Git and Flux deletes none of it.
    pub is_kept: bool,
    /// The objects.
    pub rows: Vec<Row>,
}

impl Section {
    /// Counts the objects of all clusters.
    pub fn objects(&self) -> usize {
        self.rows.iter().map(|row| row.clusters.len() * row.objects.len()).sum()
    }
}

/// What becomes of an object, or of several alike, in each cluster that gets it alike.
#[derive(Clone, Debug)]
pub struct Row {
    /// The clusters, in order.
    pub clusters: Vec<String>,
    /// What becomes of it.
    pub kind: Kind,
    /// Whether it leaves Git and Flux does not delete it.
    pub is_kept: bool,
    /// The objects; several where they differ in the same fields by the same values.
    pub objects: Vec<Named>,
    /// The type of the side that it is on.
    pub change_type: Option<String>,
    /// How it differs.
    pub fields: Vec<Field>,
    /// The whole object, where it is new or goes.
    pub whole: Option<Value>,
}

/// One object of a row.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its kind, namespace and name.
    pub object: String,
    /// What builds it, and what did before where that is another one: a Flux Kustomization, else a folder.
    pub by: String,
    /// Whether [`by`](Named::by) is a folder, since Git does not say what applies it.
    pub is_folder: bool,
    /// The files behind it.
    pub files: Vec<String>,
}

impl Named {
    /// Returns the word for what builds it.
    pub fn applier(&self) -> &'static str {
        if self.is_folder { "folder" } else { "Flux Kustomization" }
    }
}

impl Row {
    /// Returns the word for what becomes of it.
    pub fn word(&self) -> &'static str {
        if self.is_kept { "kept" } else { self.kind.as_str() }
    }
}

/// Lines of a report, with their positions in it.
type Placed<'r> = Vec<(usize, &'r Line)>;

/// Puts a report together.
pub fn sections(report: &Report) -> Vec<Section> {
    let mut by_time: BTreeMap<(u8, Option<Timestamp>, &Landing), Placed<'_>> = BTreeMap::new();
    for (position, line) in report.changes.iter().enumerate() {
        let order = match line.lands.state {
            State::AtOnce => 0,
            State::Frozen if line.lands.earliest.is_none() => 2,
            State::Window | State::Frozen => 1,
            State::Unknown => 3,
            State::Never if line.is_kept() => KEPT,
            State::Never => 4,
        };
        by_time.entry((order, line.lands.earliest, &line.lands)).or_default().push((position, line));
    }
    // Where only an override differs that is over, say, the words do not; some minutes more or less are one time.
    let mut alike: Vec<(u8, Landing, Option<Timestamp>, Placed<'_>)> = Vec::new();
    let mut known: BTreeMap<(u8, Told), Vec<usize>> = BTreeMap::new();
    for ((order, _, lands), lines) in by_time {
        let positions = known.entry((order, told(lands, report.now))).or_default();
        let is_it = |position: &&usize| {
            let of = alike.get(**position);
            of.is_some_and(|(_, all, soonest, _)| {
                is_near(*soonest, lands.latest) && is_near(all.deadline, lands.deadline)
            })
        };
        let position = positions.iter().find(is_it).copied();
        match position.and_then(|position| alike.get_mut(position)) {
            Some((_, all, _, placed)) => {
                all.latest = all.latest.max(lands.latest);
                all.deadline = all.deadline.min(lands.deadline);
                placed.extend(lines);
            }
            None => {
                positions.push(alike.len());
                alike.push((order, lands.clone(), lands.latest, lines));
            }
        }
    }
    let section = |(order, lands, soonest, mut lines): (u8, Landing, Option<Timestamp>, Placed<'_>)| {
        lines.sort_by_key(|(position, _)| *position);
        let shared = Shared::of(&lines);
        let mut rows: Vec<Row> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for (_, line) in lines {
            let row = row(line, &shared);
            let key = format!("{:?}{:?}{:?}{:?}", row.kind, row.objects, row.fields, row.whole);
            let position = *known.entry(key).or_insert(rows.len());
            match rows.get_mut(position) {
                Some(row) => row.clusters.push(line.cluster.clone()),
                None => rows.push(row),
            }
        }
        for row in rows.iter_mut().filter(|row| row.clusters.len() == 1) {
            named(row);
        }
        Section { lands, soonest, is_kept: order == KEPT, rows: folded(rows) }
    };
    alike.into_iter().map(section).collect()
}

/// Returns whether two times are told as one; one that is not known is another one.
fn is_near(one: Option<Timestamp>, other: Option<Timestamp>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => other.duration_since(one).unsigned_abs() <= SPREAD,
        (one, other) => one == other,
    }
}

/// Explains the placeholder for the names of clusters, where a row or a notice has it.
pub fn legend(sections: &[Section], notices: &[Notice]) -> Option<String> {
    let has_it = |row: &Row| row.clusters.len() > 1 && format!("{row:?}").contains(CLUSTER);
    let is_used = sections.iter().flat_map(|section| &section.rows).any(has_it)
        || notices.iter().any(|notice| notice.message.contains(CLUSTER));
    is_used.then(|| format!("`{CLUSTER}` stands for the name of each cluster"))
}

/// The texts that objects of one name have in several clusters, though they hold the name of one of these by chance, such as
/// `/dev/null` in a cluster `dev`.
struct Shared(BTreeSet<(String, String)>);

impl Shared {
    fn of(lines: &Placed<'_>) -> Shared {
        let mut clusters: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
        let mut candidates: BTreeSet<(String, String)> = BTreeSet::new();
        let of = |line: &Line, each: &mut dyn FnMut((String, String))| {
            let id = replace(&line.id.to_string(), &line.cluster, CLUSTER);
            let values = line
                .object
                .iter()
                .chain(line.fields.iter().flat_map(|field| field.before.iter().chain(&field.after)));
            values.for_each(|value| texts(value, &mut |text| each((id.clone(), text.to_owned()))));
        };
        for (_, line) in lines {
            of(line, &mut |key| {
                if replace(&key.1, &line.cluster, CLUSTER) != key.1 {
                    candidates.insert(key);
                }
            });
        }
        if candidates.is_empty() {
            return Shared(candidates);
        }
        for (_, line) in lines {
            of(line, &mut |key| {
                if candidates.contains(&key) {
                    clusters.entry(key).or_default().insert(&line.cluster);
                }
            });
        }
        Shared(clusters.into_iter().filter(|(_, clusters)| clusters.len() > 1).map(|(key, _)| key).collect())
    }
}

/// Hands out all texts of a value.
fn texts<'v>(value: &'v Value, each: &mut dyn FnMut(&'v str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, each)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            each(name);
            texts(value, each);
        }),
        _ => {}
    }
}

/// Makes a row of one cluster's object, with a placeholder for the name of the cluster.
fn row(line: &Line, shared: &Shared) -> Row {
    let hide = |text: &str| replace(text, &line.cluster, CLUSTER);
    let id = hide(&line.id.to_string());
    let hide_own =
        |text: &str| match shared.0.is_empty() || !shared.0.contains(&(id.clone(), text.to_owned())) {
            true => hide(text),
            false => text.to_owned(),
        };
    let by = match &line.from {
        Some(from) => format!("{} → {}", from.name_beside(&line.by), line.by.name_beside(from)),
        None => line.by.name().to_owned(),
    };
    let value = |value: &Option<Value>| value.as_ref().map(|value| replaced(value, &hide_own));
    let field = |field: &Field| Field {
        path: hide(&field.path),
        before: value(&field.before),
        after: value(&field.after),
    };
    Row {
        clusters: vec![line.cluster.clone()],
        kind: line.kind,
        is_kept: line.is_kept(),
        objects: vec![Named {
            object: hide(&line.id.to_string()),
            by: hide(&by),
            is_folder: line.by.kustomization.is_none(),
            files: line.files.iter().map(|file| hide(&file.to_string())).collect(),
        }],
        change_type: line.change_type.clone(),
        fields: line.fields.iter().map(field).collect(),
        whole: value(&line.object),
    }
}

/// Writes the name of its only cluster into a row.
fn named(row: &mut Row) {
    let cluster = row.clusters[0].clone();
    let show = |text: &str| replace(text, CLUSTER, &cluster);
    let value = |value: &Option<Value>| value.as_ref().map(|value| replaced(value, &show));
    for one in &mut row.objects {
        (one.object, one.by) = (show(&one.object), show(&one.by));
        one.files.iter_mut().for_each(|file| *file = show(file));
    }
    for field in &mut row.fields {
        *field = Field { path: show(&field.path), before: value(&field.before), after: value(&field.after) };
    }
    row.whole = value(&row.whole);
}

/// Puts a text in place of a name, unless that is so short that it stands elsewhere by chance.
pub fn replace(text: &str, from: &str, to: &str) -> String {
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

/// Clusters that get as many objects at the same times, with these times and numbers of objects.
pub type Alike<'s> = (BTreeSet<&'s str>, Vec<(String, usize)>);

/// Counts the objects of each cluster by the time at which they land; clusters that agree stand together.
pub fn clusters_by_time<'s>(sections: &'s [Section], merged: Timestamp) -> Vec<Alike<'s>> {
    let mut by_cluster: BTreeMap<&str, Vec<(String, usize)>> = BTreeMap::new();
    for section in sections {
        let when = when(section, merged);
        let of_row = |row: &'s Row| row.clusters.iter().map(|cluster| (cluster, row.objects.len()));
        for (cluster, objects) in section.rows.iter().flat_map(of_row) {
            let counts = by_cluster.entry(cluster).or_default();
            match counts.last_mut().filter(|(last, _)| *last == when) {
                Some((_, number)) => *number += objects,
                None => counts.push((when.clone(), objects)),
            }
        }
    }
    let mut alike: BTreeMap<Vec<(String, usize)>, BTreeSet<&str>> = BTreeMap::new();
    for (cluster, counts) in by_cluster {
        alike.entry(counts).or_default().insert(cluster);
    }
    let mut alike: Vec<Alike<'_>> = alike.into_iter().map(|(counts, clusters)| (clusters, counts)).collect();
    alike.sort();
    alike
}
