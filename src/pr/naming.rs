//! How clusters are named, so that each of them is found: numbered ones as a range, many as a group that is listed once.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::pr::notice::Notice;
use crate::pr::summary::{Section, clusters_by_time};
use crate::text::{count, ranges};

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
        let is_long = ranges(clusters.iter().map(String::as_str)).len() > MOST_PIECES;
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
    ranges(clusters).iter().map(|piece| written(piece)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

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
