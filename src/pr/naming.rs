//! How clusters are named, so that each of them is found: numbered ones as a range, many as a group that is listed once.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::pr::notice::Notice;
use crate::pr::summary::{Section, clusters_by_time};
use crate::text::count;

/// How many numbered clusters are named one by one.
const MOST_NAMED: usize = 3;

/// How many names stand in a sentence.
const MOST_PIECES: usize = 6;

/// The names of the clusters of a report.
#[derive(Clone, Debug, Default)]
pub struct Names {
    groups: Vec<BTreeSet<String>>,
}

impl Names {
    /// Gathers the clusters that are named together in a report.
    pub fn new(sections: &[Section], notices: &[Notice], merged: Timestamp) -> Names {
        let mut names = Names::default();
        for (clusters, _) in clusters_by_time(sections, merged) {
            names.add(clusters.into_iter().map(str::to_owned).collect());
        }
        for row in sections.iter().flat_map(|section| &section.rows) {
            names.add(row.clusters.iter().cloned().collect());
        }
        for notice in notices {
            names.add(notice.clusters.iter().cloned().collect());
        }
        names
    }

    fn add(&mut self, clusters: BTreeSet<String>) {
        let is_long = pieces(clusters.iter().map(String::as_str)).len() > MOST_PIECES;
        if is_long && !self.groups.contains(&clusters) {
            self.groups.push(clusters);
        }
    }

    /// Names clusters, each name or range as `written` writes it, or as a group of [`groups`](Names::groups).
    pub fn of<'n>(
        &self,
        clusters: impl IntoIterator<Item = &'n str>,
        written: impl Fn(&str) -> String,
    ) -> String {
        let clusters: BTreeSet<&str> = clusters.into_iter().collect();
        let is_it = |group: &BTreeSet<String>| group.iter().map(String::as_str).eq(clusters.iter().copied());
        match self.groups.iter().position(is_it) {
            Some(position) => title(position, &self.groups[position]),
            None => listed(clusters.into_iter(), written),
        }
    }

    /// Returns the title of each group with its clusters.
    pub fn groups(&self, written: impl Fn(&str) -> String) -> Vec<(String, String)> {
        let groups = self.groups.iter().enumerate();
        let group = |(position, group)| {
            let group: &BTreeSet<String> = group;
            (title(position, group), listed(group.iter().map(String::as_str), &written))
        };
        groups.map(group).collect()
    }
}

fn title(position: usize, group: &BTreeSet<String>) -> String {
    format!("group {} ({})", position + 1, count(group.len(), "cluster"))
}

fn listed<'n>(clusters: impl Iterator<Item = &'n str>, written: impl Fn(&str) -> String) -> String {
    pieces(clusters).iter().map(|piece| written(piece)).collect::<Vec<_>>().join(", ")
}

/// Names clusters, and ranges such as `edge-01 … edge-40`, which hold each number between the first and the last.
fn pieces<'n>(clusters: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut names: Vec<(&str, &str)> = clusters.map(numbered).collect();
    // A number with more digits is a larger one.
    names.sort_by_key(|(name, number)| {
        let digits = number.trim_start_matches('0');
        (*name, digits.len(), digits, *number)
    });
    let mut runs: Vec<Vec<(&str, &str)>> = Vec::new();
    for (name, number) in names {
        let is_next = |(last, before): &(&str, &str)| *last == name && successor(before) == number;
        match runs.last_mut().filter(|run| run.last().is_some_and(is_next)) {
            Some(run) => run.push((name, number)),
            None => runs.push(vec![(name, number)]),
        }
    }
    let whole = |(name, number): &(&str, &str)| format!("{name}{number}");
    let told = |run: Vec<(&str, &str)>| match &run[..] {
        [first, .., last] if run.len() > MOST_NAMED => vec![format!("{} … {}", whole(first), whole(last))],
        all => all.iter().map(whole).collect(),
    };
    runs.into_iter().flat_map(told).collect()
}

/// Divides a name before the number at its end, which may be missing.
fn numbered(name: &str) -> (&str, &str) {
    name.split_at(name.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

/// Returns the number after another one, in as many digits; nothing comes after no number.
fn successor(number: &str) -> String {
    let mut digits: Vec<u8> = number.bytes().collect();
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return String::from_utf8(digits).unwrap_or_default();
        }
        *digit = b'0';
    }
    if number.is_empty() { " ".to_owned() } else { format!("1{}", "0".repeat(number.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_every_number() {
        let told = |names: &[&str]| pieces(names.iter().copied()).join(", ");
        assert_eq!(told(&["a1", "a2", "a3", "a4"]), "a1 … a4");
        assert_eq!(told(&["a1", "a2", "a3"]), "a1, a2, a3");
        assert_eq!(told(&["a1", "a2", "a4", "a5", "b"]), "a1, a2, a4, a5, b");
        assert_eq!(told(&["a1", "a3", "a4", "a5", "a6"]), "a1, a3 … a6");
        assert_eq!(told(&["e-10", "e-11", "e-7", "e-8", "e-9"]), "e-7 … e-11");
        assert_eq!(told(&["e-08", "e-09", "e-10", "e-11", "e-7"]), "e-7, e-08 … e-11");
        assert_eq!(told(&["asia", "emea", "oslo", "rome"]), "asia, emea, oslo, rome");
        assert_eq!(told(&[]), "");
    }

    #[test]
    fn many_names_are_a_group_that_is_listed_once() {
        let cities = ["bonn", "graz", "linz", "oslo", "paris", "rome", "turin"];
        let notice = |clusters: &[&str]| Notice {
            clusters: clusters.iter().map(|name| (*name).to_owned()).collect(),
            ..Notice::default()
        };
        let names = Names::new(&[], &[notice(&cities), notice(&cities[1..])], Timestamp::UNIX_EPOCH);
        let told = |clusters: &[&str]| names.of(clusters.iter().copied(), str::to_owned);
        assert_eq!(told(&cities), "group 1 (7 clusters)");
        assert_eq!(told(&cities[1..]), "graz, linz, oslo, paris, rome, turin");
        let listed = "bonn, graz, linz, oslo, paris, rome, turin".to_owned();
        assert_eq!(names.groups(str::to_owned), [("group 1 (7 clusters)".to_owned(), listed)]);
    }
}
