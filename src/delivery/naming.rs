//! The names of clusters, by the folders of their roots.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::ClusterFolders;
use crate::path::RepoPath;

/// Folder names that say what a folder is for, and not which cluster it is.
const GENERIC: [&str; 9] =
    ["apps", "base", "bootstrap", "clusters", "config", "core", "flux", "flux-system", "kubernetes"];

/// Returns the folder of the cluster that a root is a part of: `clusters/NAME` where that is on its way, the nearest
/// to the root, else the root itself. Roots of one such folder are one cluster.
///
/// A number below it only counts clusters: `clusters/dev/01` and `clusters/dev/02` are two of them.
pub(super) fn prefix(root: &RepoPath) -> RepoPath {
    let Some(named) = root.ancestors().find(is_named) else { return root.clone() };
    let numbered = root.ancestors().find(|path| path.parent().as_ref() == Some(&named));
    numbered.filter(|path| path.name().is_some_and(is_number)).unwrap_or(named)
}

/// Returns the folder `clusters` in which the nearest cluster on the way to a folder lies.
pub(super) fn clusters_above(path: &RepoPath) -> Option<RepoPath> {
    path.ancestors().find(is_named)?.parent()
}

/// Returns whether the name of a folder only tells it from others around it.
fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a folder is `clusters/NAME`.
fn is_named(folder: &RepoPath) -> bool {
    folder.parent().is_some_and(|above| above.name() == Some("clusters"))
}

/// Returns a name for each cluster, of the folders that [`prefix`] gives; no two are equal.
///
/// `clusters/NAME` says it; otherwise it is the last word in which the folder differs from the others, so that
/// `kubernetes/main/flux` and `kubernetes/edge/flux` are `main` and `edge`. Where one word does not tell all of them apart,
/// each is named by all words in which they differ: `env/dev/01`, `env/prd/01` and `env/prd/02` are `dev-01`, `prd-01` and
/// `prd-02`. These are names only: what a cluster gets is read from its root.
///
/// A name that the spec `says` stays, whatever other clusters come and go: each way to name a folder is tried for one of these
/// first.
pub(super) fn names(folders: &[RepoPath], says: &BTreeSet<&str>) -> Vec<String> {
    let all: BTreeSet<&RepoPath> = folders.iter().collect();
    let words: Vec<Word> = folders.iter().map(|folder| Word::of(&all, folder)).collect();
    let count = counted(words.iter().map(|word| word.name.as_str()));
    let each = folders.iter().zip(&words).map(|(folder, word)| match count[word.name.as_str()] {
        1 => word.name.clone(),
        _ => long(folder),
    });
    let each: Vec<String> = each.collect();
    let usual = alike(folders, &words, &each).unwrap_or_else(|| each.clone());
    let said = said(folders, [&usual, &each], says);
    let count = counted(said.iter().flatten().map(String::as_str));
    let kept = said.iter().map(|name| name.as_deref().filter(|name| count[name] == 1));
    let taken: BTreeSet<&str> = kept.clone().flatten().collect();
    let free = |(folder, usual): (&RepoPath, &String)| match taken.contains(usual.as_str()) {
        true => long(folder),
        false => usual.clone(),
    };
    kept.zip(folders.iter().zip(&usual))
        .map(|(name, own)| name.map_or_else(|| free(own), str::to_owned))
        .collect()
}

fn long(folder: &RepoPath) -> String {
    folder.segments().filter(|name| *name != "clusters").collect::<Vec<_>>().join("-")
}

/// Counts how often each text is there.
fn counted<'t>(texts: impl Iterator<Item = &'t str>) -> BTreeMap<&'t str, usize> {
    let mut count = BTreeMap::new();
    for text in texts {
        *count.entry(text).or_default() += 1;
    }
    count
}

/// Returns the first way to name each folder that the spec says, of the `usual` ones, the words at its end, and those that it
/// has alone.
fn said(folders: &[RepoPath], usual: [&Vec<String>; 2], says: &BTreeSet<&str>) -> Vec<Option<String>> {
    let count = counted(folders.iter().flat_map(|folder| folder.segments().collect::<BTreeSet<&str>>()));
    let of_folder = |(at, folder): (usize, &RepoPath)| {
        let words: Vec<&str> = folder.segments().collect();
        let ends = (0..words.len()).rev().map(|from| words[from..].join("-"));
        let alone = words.iter().rev().filter(|word| count[**word] == 1).map(|word| (*word).to_owned());
        let mut ways = usual.into_iter().map(|names| names[at].clone()).chain(ends).chain(alone);
        ways.find(|name| says.contains(name.as_str()))
    };
    folders.iter().enumerate().map(of_folder).collect()
}

/// Returns names of which all that no `clusters` folder tells have all words in which these folders differ; `None` where one
/// word at the same place tells each of them, or the names would not differ.
fn alike(folders: &[RepoPath], words: &[Word], each: &[String]) -> Option<Vec<String>> {
    let unlike = || folders.iter().zip(words).filter_map(|(folder, word)| Some((folder, word, word.places?)));
    let several = unlike().count();
    let is_one = |side: usize| {
        let mut places = unlike().map(|(.., places)| places[side]);
        let first = places.next();
        places.all(|place| Some(place) == first)
    };
    let are_told = || unlike().map(|(_, word, _)| &word.name).collect::<BTreeSet<_>>().len() == several;
    if several < 2 || (is_one(0) || is_one(1)) && are_told() {
        return None;
    }
    let (first, ..) = unlike().next()?;
    let shared =
        |folder: &RepoPath| first.segments().zip(folder.segments()).take_while(|(a, b)| a == b).count();
    let common = unlike().map(|(folder, ..)| shared(folder)).min().unwrap_or_default();
    let rest = |folder: &RepoPath| folder.segments().skip(common).collect::<Vec<_>>().join("-");
    let names = folders.iter().zip(words).zip(each).map(|((folder, word), name)| match word.places {
        Some(_) => rest(folder),
        None => name.clone(),
    });
    let names: Vec<String> = names.collect();
    let distinct: BTreeSet<&String> = names.iter().filter(|name| !name.is_empty()).collect();
    (distinct.len() == names.len()).then_some(names)
}

/// Returns the name of the nearest folder below `clusters` that a path lies in, with the number that it counts clusters by.
pub(super) fn below_clusters(path: &RepoPath) -> Option<String> {
    let named = path.ancestors().find(is_named)?;
    let skipped = named.segments().count() - 1;
    Some(prefix(path).segments().skip(skipped).collect::<Vec<_>>().join("-"))
}

/// The word that names the cluster of a folder.
struct Word {
    name: String,
    /// Its place from either end, where nothing but a difference to other folders tells it; `None` below `clusters`.
    places: Option<[Option<usize>; 2]>,
}

impl Word {
    fn of(all: &BTreeSet<&RepoPath>, folder: &RepoPath) -> Word {
        match below_clusters(folder) {
            Some(name) => Word { name, places: None },
            None => Word::unlike(all, folder),
        }
    }

    /// The last word of a folder in which it differs from those that end alike.
    fn unlike(all: &BTreeSet<&RepoPath>, folder: &RepoPath) -> Word {
        let own: Vec<&str> = folder.segments().rev().collect();
        let shared =
            |other: &&RepoPath| own.iter().zip(other.segments().rev()).take_while(|(a, b)| **a == *b).count();
        let others = all.iter().filter(|other| **other != folder).copied();
        let shared = others.map(|other| shared(&other)).max().unwrap_or_default();
        let mut words = own.iter().enumerate().skip(shared);
        let (name, places) = match words.find(|(_, name)| !GENERIC.contains(name)) {
            Some((place, name)) => (*name, [Some(place), Some(own.len() - place)]),
            None => ("cluster", [None, None]),
        };
        Word { name: name.to_owned(), places: Some(places) }
    }
}

/// Returns the cluster of which the spec names a root, or a folder around it; of several folders the nearest counts.
pub(super) fn by_root(known: &ClusterFolders, root: &RepoPath) -> Option<String> {
    let owner = |(name, folders): (&String, &Vec<RepoPath>)| {
        let around = folders.iter().filter(|folder| is_root_of(root, folder));
        around.map(|folder| folder.segments().count()).max().map(|depth| (depth, name.clone()))
    };
    known.iter().filter_map(owner).max_by_key(|(depth, _)| *depth).map(|(_, name)| name)
}

/// Returns whether a root is one of the cluster of which the spec names this folder: it lies there, and below no
/// `clusters/NAME` further down. The top is around everything, and so says nothing.
pub(super) fn is_root_of(root: &RepoPath, folder: &RepoPath) -> bool {
    let is_another = || root.ancestors().find(is_named).is_some_and(|own| !folder.is_within(&own));
    root == folder || !folder.is_top() && root.is_within(folder) && !is_another()
}

/// Names the cluster of a folder after the spec, or else after its path alone.
pub(super) fn of_path(known: &ClusterFolders, root: &RepoPath, path: &RepoPath) -> String {
    by_spec(known, path).or_else(|| by_folder_name(root, path)).unwrap_or_else(|| by_last_name(path))
}

/// Returns the folder above `clusters/` on the way to a folder of a cluster; empty where there is none.
///
/// A folder `cluster` may be anything, as people call databases so. It counts where the folder below it has the name of
/// the cluster.
pub(super) fn home(path: &RepoPath, cluster: &str) -> String {
    let segments: Vec<&str> = path.segments().collect();
    let is_it = |position: &usize| match segments[*position] {
        "clusters" => true,
        "cluster" => segments.get(position + 1) == Some(&cluster),
        _ => false,
    };
    let found = (0..segments.len()).find(is_it);
    found.map(|position| segments[..position].join("/")).unwrap_or_default()
}

/// Returns the cluster that the spec says to own a folder, or what lies around it.
pub(super) fn by_spec(known: &ClusterFolders, path: &RepoPath) -> Option<String> {
    let owner = |(name, folders): (&String, &Vec<RepoPath>)| {
        let depth =
            folders.iter().filter(|folder| path.is_within(folder)).map(|f| f.segments().count()).max();
        depth.map(|depth| (depth, name.clone()))
    };
    known.iter().filter_map(owner).max_by_key(|(depth, _)| *depth).map(|(_, name)| name)
}

pub(super) fn by_folder_name(root: &RepoPath, path: &RepoPath) -> Option<String> {
    below(root, path, &["clusters", "cluster"])
}

fn below(root: &RepoPath, path: &RepoPath, names: &[&str]) -> Option<String> {
    let mut segments = path.segments().skip(root.segments().count());
    segments.find(|segment| names.contains(segment))?;
    let name = segments.next()?;
    Some(
        segments
            .next()
            .filter(|next| is_number(next))
            .map_or(name.to_owned(), |next| format!("{name}-{next}")),
    )
}

fn by_last_name(path: &RepoPath) -> String {
    path.name().unwrap_or("cluster").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_below_clusters_is_the_cluster() {
        let of = |root: &str| prefix(&RepoPath::parse(root).unwrap()).to_string();
        assert_eq!(of("clusters/prod/flux-system"), "clusters/prod");
        assert_eq!(of("clusters/stages/dev/clusters/eu/flux"), "clusters/stages/dev/clusters/eu");
        assert_eq!(of("kubernetes/main/flux"), "kubernetes/main/flux");
        assert_eq!(of("clusters/dev/01/flux"), "clusters/dev/01");
    }

    fn named(folders: &[&str], says: &[&str]) -> Vec<String> {
        let folders: Vec<RepoPath> = folders.iter().map(|folder| RepoPath::parse(folder).unwrap()).collect();
        names(&folders, &says.iter().copied().collect())
    }

    #[test]
    fn a_root_is_of_the_cluster_of_which_the_spec_names_a_folder_around_it() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let known = |all: &[(&str, &str)]| -> ClusterFolders {
            all.iter().map(|(name, folder)| ((*name).to_owned(), vec![path(folder)])).collect()
        };
        let fleet = known(&[("hub", "clusters/hub"), ("in", "clusters/hub/in"), ("env", "env/one")]);
        let of = |root: &str| by_root(&fleet, &path(root));
        assert_eq!(of("clusters/hub").as_deref(), Some("hub"));
        assert_eq!(of("clusters/hub/flux").as_deref(), Some("hub"));
        assert_eq!(of("clusters/hub/in/flux").as_deref(), Some("in"));
        assert_eq!(of("env/one/flux").as_deref(), Some("env"));
        assert_eq!(of("clusters/hub/clusters/edge"), None);
        assert_eq!(of("clusters/other"), None);
        let top = known(&[("all", "")]);
        assert_eq!(by_root(&top, &RepoPath::top()).as_deref(), Some("all"));
        assert_eq!(by_root(&top, &path("clusters/one")), None);
    }

    #[test]
    fn a_name_of_the_spec_stays_whatever_clusters_come_and_go() {
        let three = ["env/dev/01", "env/prd/01", "env/prd/02"];
        assert_eq!(named(&three, &["dev", "prd"]), ["dev", "prd", "prd-02"]);
        assert_eq!(named(&three, &["02", "dev", "prd"]), ["dev", "prd", "02"]);
        assert_eq!(named(&three[..2], &["dev-01", "prd-01", "prd-02"]), ["dev-01", "prd-01"]);
        assert_eq!(named(&["env/dev", "env/prd", "other/tst"], &["env-dev"]), ["env-dev", "prd", "tst"]);
        assert_eq!(named(&["a/dev/x", "b/prd/y"], &["a", "prd"]), ["a", "prd"]);
        // It may be of either.
        assert_eq!(named(&["a/dev/x", "b/dev/y"], &["dev"]), ["x", "y"]);
    }

    #[test]
    fn a_cluster_is_named_by_what_tells_it_from_the_others() {
        let named = |folders: &[&str]| named(folders, &[]);
        assert_eq!(named(&["clusters/dev", "clusters/prod"]), ["dev", "prod"]);
        assert_eq!(named(&["a/clusters/one", "b/clusters/one"]), ["a-one", "b-one"]);
        assert_eq!(
            named(&["clusters/dev/01", "clusters/dev/02", "clusters/prd/01"]),
            ["dev-01", "dev-02", "prd-01"]
        );
        assert_eq!(
            named(&["clusters/stages/dev/clusters/eu", "clusters/stages/dev/clusters/us"]),
            ["eu", "us"]
        );
        assert_eq!(named(&["kubernetes/edge/flux", "kubernetes/main/flux"]), ["edge", "main"]);
        assert_eq!(named(&["k/main/cluster/config", "k/staging/cluster/config"]), ["main", "staging"]);
        assert_eq!(named(&["env/dev/01", "env/prd/01", "env/prd/02"]), ["dev-01", "prd-01", "prd-02"]);
        assert_eq!(named(&["kubernetes/main/flux", "kubernetes/edge"]), ["main", "edge"]);
        assert_eq!(named(&["env/dev/01", "env/prd/01", "clusters/hub"]), ["dev", "prd", "hub"]);
        assert_eq!(named(&["kubernetes/flux/cluster"]), ["cluster"]);
        assert_eq!(named(&["home/bootstrap"]), ["home"]);
        assert_eq!(named(&["apps"]), ["cluster"]);
        assert_eq!(named(&[""]), ["cluster"]);
    }
}
