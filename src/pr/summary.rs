//! A report put together for people: what is equal in several clusters stands once, in the order in which it lands.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::Value;

use crate::delivery::Kind;
use crate::pr::field::Field;
use crate::pr::fold::folded;
use crate::pr::landing::{Landing, State};
use crate::pr::notice::Notice;
use crate::pr::report::{Line, Report};
use crate::pr::words::when;

/// What stands for a cluster's own name in what several clusters share.
pub const CLUSTER: &str = "{cluster}";

/// The shortest name of a cluster that is looked for in other names: a shorter one is in them by chance.
const SHORTEST: usize = 3;

/// The place of what leaves Git and stays in its cluster: behind all that lands.
const KEPT: u8 = 5;

/// What lands at one time.
#[derive(Clone, Debug)]
pub struct Section {
    /// When.
    pub lands: Landing,
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

/// Puts a report together.
pub fn sections(report: &Report) -> Vec<Section> {
    let mut by_time: BTreeMap<(u8, Option<Timestamp>, &Landing), Vec<&Line>> = BTreeMap::new();
    for line in &report.changes {
        let order = match line.lands.state {
            State::AtOnce => 0,
            State::Frozen if line.lands.earliest.is_none() => 2,
            State::Window | State::Frozen => 1,
            State::Unknown => 3,
            State::Never if line.is_kept() => KEPT,
            State::Never => 4,
        };
        by_time.entry((order, line.lands.earliest, &line.lands)).or_default().push(line);
    }
    let section = |((order, _, lands), lines): ((u8, Option<Timestamp>, &Landing), Vec<&Line>)| {
        let mut rows: Vec<Row> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for line in lines {
            let row = row(line);
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
        Section { lands: lands.clone(), is_kept: order == KEPT, rows: folded(rows) }
    };
    by_time.into_iter().map(section).collect()
}

/// Explains the placeholder for the names of clusters, where a row or a notice has it.
pub fn legend(sections: &[Section], notices: &[Notice]) -> Option<String> {
    let has_it = |row: &Row| row.clusters.len() > 1 && format!("{row:?}").contains(CLUSTER);
    let is_used = sections.iter().flat_map(|section| &section.rows).any(has_it)
        || notices.iter().any(|notice| notice.message.contains(CLUSTER));
    is_used.then(|| format!("`{CLUSTER}` stands for the name of each cluster"))
}

/// Makes a row of one cluster's object, with a placeholder for the name of the cluster.
fn row(line: &Line) -> Row {
    let hide = |text: &str| replace(text, &line.cluster, CLUSTER);
    let by = match &line.from {
        Some(from) => format!("{} → {}", from.name_beside(&line.by), line.by.name_beside(from)),
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
