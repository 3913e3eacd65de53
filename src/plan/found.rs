//! What `init` found in a repository, for people.

use std::collections::BTreeSet;

use crate::text::{ranges, some, table};

/// The most names and entry points that are told without being asked for more.
const MOST_NAMES: usize = 6;
const MOST_ENTRIES: usize = 30;

/// Stands for a cluster's own name where clusters are told together.
const NAME: &str = "{cluster}";

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The clusters by name, each with its entry points.
    pub clusters: Vec<(String, Vec<FoundEntry>)>,
    /// What else there is, in lines.
    pub others: Vec<String>,
}

/// An entry point that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundEntry {
    /// Its folder.
    pub path: String,
    /// The Flux Kustomizations that apply it.
    pub flux: Vec<String>,
    /// Whether the root of its cluster applies it, where it has none of its own.
    pub is_of_root: bool,
    /// What it is for: apps by name, or one word.
    pub holds: Holding,
}

/// What an entry point is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holding {
    /// Apps, by name.
    Apps(Vec<String>),
    /// What brings the cluster's Flux Kustomizations; most people need not hear of it.
    Bootstrap,
    /// Anything else, in words.
    Other(&'static str),
}

impl Found {
    /// Returns it in lines: a heading for each cluster, and a line for each entry point.
    ///
    /// Clusters that are equal but for their names share a heading, with `{cluster}` in the place of the name. Long lists are
    /// cut, unless `all` of it is wanted.
    pub fn lines(&self, all: bool) -> Vec<String> {
        let mut groups: Vec<(Vec<&str>, Vec<Vec<String>>)> = Vec::new();
        for (cluster, entries) in &self.clusters {
            let told = entries.iter().filter(|entry| all || entry.holds != Holding::Bootstrap);
            let rows: Vec<Vec<String>> = told.map(|entry| entry.row(cluster, all)).collect();
            match groups.iter_mut().find(|(_, known)| !all && *known == rows) {
                Some((names, _)) => names.push(cluster),
                None => groups.push((vec![cluster], rows)),
            }
        }
        let mut lines = Vec::new();
        for (names, mut rows) in groups {
            if let [name] = names[..] {
                rows.iter_mut().for_each(|row| row[0] = own_path(&row[0], NAME, name));
            }
            lines.push(some(&names, if all { usize::MAX } else { MOST_NAMES }));
            let is_cut = !all && rows.len() > MOST_ENTRIES + 1;
            let more = if is_cut { rows.len() - MOST_ENTRIES } else { 0 };
            rows.truncate(rows.len() - more);
            lines.extend(table(&rows).lines().map(|row| format!("  {row}")));
            if more > 0 {
                lines.push(format!("  and {more} more entry points (--verbose names them)"));
            }
        }
        lines.extend(self.others.iter().cloned());
        lines
    }
}

impl FoundEntry {
    fn row(&self, cluster: &str, all: bool) -> Vec<String> {
        let most = if all { usize::MAX } else { MOST_NAMES };
        let distinct: BTreeSet<&str> = self.flux.iter().map(String::as_str).collect();
        let distinct: Vec<&str> = distinct.into_iter().collect();
        let by = match distinct.len() {
            0 if self.is_of_root => "applied with the root".to_owned(),
            0 => "no Flux Kustomization in Git".to_owned(),
            1 => format!("Flux Kustomization {}", distinct[0]),
            _ => format!("Flux Kustomizations {}", some(&distinct, most)),
        };
        let holds = match &self.holds {
            Holding::Apps(names) if names.is_empty() => String::new(),
            Holding::Apps(names) => format!("apps {}", some(names, most)),
            Holding::Bootstrap => "bootstraps the cluster".to_owned(),
            Holding::Other(words) => (*words).to_owned(),
        };
        vec![own_path(&self.path, cluster, NAME), by, holds]
    }
}

/// Returns lines below the names of their clusters. Clusters that are equal but for their names share a heading, with `{cluster}`
/// in the place of the name, unless `all` are wanted by themselves.
pub fn by_cluster<'c>(told: impl Iterator<Item = (&'c str, Vec<String>)>, all: bool) -> Vec<String> {
    let mut clusters: Vec<(&str, Vec<String>)> = Vec::new();
    for (cluster, lines) in told {
        match clusters.last_mut().filter(|(last, _)| *last == cluster) {
            Some((_, known)) => known.extend(lines),
            None => clusters.push((cluster, lines)),
        }
    }
    let mut groups: Vec<(Vec<&str>, Vec<String>, Vec<String>)> = Vec::new();
    for (cluster, lines) in clusters {
        let shared: Vec<String> = lines.iter().map(|line| without_name(line, cluster)).collect();
        match groups.iter_mut().find(|(_, known, _)| !all && *known == shared) {
            Some((names, ..)) => names.push(cluster),
            None => groups.push((vec![cluster], shared, lines)),
        }
    }
    let (mut found, mut last) = (Vec::new(), String::new());
    for (names, shared, own) in groups {
        let heading = if all { names.join(", ") } else { ranges(names.iter().copied()).join(", ") };
        if heading != last {
            found.push(heading.clone());
        }
        last = heading;
        found.extend(if names.len() > 1 { shared } else { own });
    }
    found
}

/// Puts `{cluster}` in the place of a cluster's name in the paths of a line.
fn without_name(line: &str, cluster: &str) -> String {
    let words = line.split(' ').map(|word| match word.contains('/') {
        true => own_path(word, cluster, NAME),
        false => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Puts another name in the place of a cluster's, where that is a whole segment.
fn own_path(path: &str, from: &str, to: &str) -> String {
    let segments = path.split('/').map(|segment| if segment == from { to } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, flux: &[&str], apps: &[&str]) -> FoundEntry {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let holds = Holding::Apps(owned(apps));
        FoundEntry { path: path.to_owned(), flux: owned(flux), is_of_root: false, holds }
    }

    #[test]
    fn equal_clusters_share_their_lines_and_long_lists_are_cut() {
        let apps: Vec<String> = (1..=9).map(|number| format!("app-{number}")).collect();
        let apps: Vec<&str> = apps.iter().map(String::as_str).collect();
        let of = |cluster: &str| {
            let path = |folder: &str| format!("clusters/{cluster}/{folder}");
            vec![entry(&path("apps"), &["apps"], &apps), entry(&path("infra"), &["istio", "istio"], &[])]
        };
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let root = FoundEntry { holds: Holding::Bootstrap, ..entry("lone", &["flux-system"], &[]) };
        let mut clusters: Vec<_> = names.iter().map(|name| ((*name).to_owned(), of(name))).collect();
        let part = FoundEntry { is_of_root: true, ..entry("lone/part", &[], &[]) };
        clusters.push(("lone".to_owned(), vec![entry("lone/apps", &[], &["web"]), part, root]));
        let found = Found { clusters, others: vec!["gate infra/jobs".to_owned()] };
        insta::assert_snapshot!(found.lines(false).join("\n"), @"
        a, b, c, d, e, f and 1 more
          clusters/{cluster}/apps   Flux Kustomization apps   apps app-1, app-2, app-3, app-4, app-5, app-6 and 3 more
          clusters/{cluster}/infra  Flux Kustomization istio
        lone
          lone/apps  no Flux Kustomization in Git  apps web
          lone/part  applied with the root
        gate infra/jobs
        ");
        assert_eq!(found.lines(true).len(), 7 * 3 + 4 + 1);
    }
}
