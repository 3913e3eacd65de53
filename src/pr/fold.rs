//! Rows that differ alike, told as one: a label or an image that goes through many objects.

use std::collections::BTreeMap;

use crate::pr::summary::Row;

/// The fewest rows that are told as one.
const FEWEST: usize = 3;

/// Brings together the rows of the same clusters that differ in the same fields by the same values, at the place of the
/// first.
pub(super) fn folded(rows: Vec<Row>) -> Vec<Row> {
    let key = |row: &Row| {
        let is_alike = row.whole.is_none() && !row.fields.is_empty();
        is_alike.then(|| format!("{:?}{:?}{:?}{:?}", row.kind, row.clusters, row.change_type, row.fields))
    };
    let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        alike.entry(key(row).unwrap_or_else(|| at.to_string())).or_default().push(at);
    }
    let mut first_of: Vec<usize> = (0..rows.len()).collect();
    for group in alike.into_values().filter(|group| group.len() >= FEWEST) {
        for at in &group {
            first_of[*at] = group[0];
        }
    }
    let mut found: Vec<Row> = Vec::new();
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, row) in rows.into_iter().enumerate() {
        match places.get(&first_of[at]).and_then(|place| found.get_mut(*place)) {
            Some(first) => first.objects.extend(row.objects),
            None => {
                places.insert(at, found.len());
                found.push(row);
            }
        }
    }
    found
}
