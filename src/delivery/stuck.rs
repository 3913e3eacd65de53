//! What Git itself keeps from ever applying a commit, whatever opens.

use std::collections::BTreeMap;

use crate::delivery::about::Id;
use crate::delivery::{Artifact, Cluster, Need, Reached, SourceId};
use crate::repo::Snapshot;

/// Why a Flux Kustomization applies no commit at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// `spec.suspend` is true in Git (kustomize-controller, `Reconcile`).
    Suspended,
    /// `spec.suspend` of its source is true in Git: that fetches nothing (source-controller, `Reconcile`).
    Source(SourceId),
    /// Its source fetches no newer commit, as its `spec.sparseCheckout` names this path, which is not there (source-controller,
    /// `validateSparseCheckoutPaths`).
    Unfetched(SourceId, String),
    /// It depends on itself, through these.
    Circle(Vec<String>),
    /// It depends on this one, which applies none.
    Dependency(String),
}

impl Stuck {
    /// Says it of a Flux Kustomization.
    pub fn of(&self, name: &str) -> String {
        match self {
            Stuck::Suspended => format!("Git suspends Flux Kustomization {name}"),
            Stuck::Source(source) => format!("Git suspends {} {}", source.kind, source.name),
            Stuck::Unfetched(source, path) => {
                format!(
                    "{} {} fetches nothing: its `sparseCheckout` names `{path}`, which is missing",
                    source.kind, source.name
                )
            }
            Stuck::Circle(through) => {
                let through = match through.is_empty() {
                    true => String::new(),
                    false => format!(", through {}", through.join(", ")),
                };
                format!("{name} depends on itself{through}, so Flux never applies it")
            }
            Stuck::Dependency(other) => format!("it depends on {other}, which never lands"),
        }
    }
}

impl Cluster {
    /// Returns whether Git suspends a source, so that it is not fetched.
    pub fn is_paused(&self, source: &SourceId) -> bool {
        self.source(source).is_some_and(|spec| spec["suspend"] == true)
    }

    /// Returns why a source can't fetch some files by the list that it has here.
    pub fn unfetched_of(&self, source: &SourceId, files: &Snapshot) -> Option<Stuck> {
        let paths = self.source(source)?["sparseCheckout"].as_array()?.iter();
        let sparse = paths.filter_map(|path| path.as_str().map(str::to_owned)).collect();
        let artifact = Artifact { sparse, ..Artifact::default() };
        Some(Stuck::Unfetched(source.clone(), artifact.missing(files)?.to_owned()))
    }

    /// Returns whether it is what reads a source that brings it, or nothing in Git brings it.
    pub fn is_own_source(&self, source: &SourceId) -> bool {
        self.bringer_of(source).is_none_or(|by| self.followed(&by.source()).is(source))
    }

    /// Returns why a Flux Kustomization applies no commit, where Git itself says so.
    ///
    /// What it depends on and that reads another source only has to be ready, as it may be at an older commit
    /// (kustomize-controller, `checkDependencies`).
    pub fn stuck(&self, one: &Reached) -> Option<Stuck> {
        Some(match self.stall(one)? {
            Stall::Own(stuck) => stuck.clone(),
            Stall::Behind(name) => Stuck::Dependency(name.clone()),
            Stall::Among(name) => {
                let names = |circle: Vec<&Reached>| circle.iter().map(|one| one.name().to_owned()).collect();
                let circle = self.circle(one).map(|circle| Stuck::Circle(names(circle)));
                circle.unwrap_or_else(|| Stuck::Dependency(name.clone()))
            }
        })
    }

    /// Returns whether Git itself says that a Flux Kustomization applies no commit.
    pub fn is_stuck(&self, one: &Reached) -> bool {
        self.stall(one).is_some()
    }

    fn stall(&self, one: &Reached) -> Option<&Stall> {
        let position = self.position(one)?;
        self.stalls.get_or_init(|| self.find_stalls()).get(&position)
    }

    /// Returns the position of one of its Flux Kustomizations.
    pub(super) fn position(&self, one: &Reached) -> Option<usize> {
        let mut named = self.by_name.get(one.name()).into_iter().flatten().copied();
        named.find(|position| self.kustomizations[*position].key() == one.key())
    }

    /// Finds out which apply no commit, all at once and without recursion: chains may be as long as there are Flux
    /// Kustomizations.
    fn find_stalls(&self) -> BTreeMap<usize, Stall> {
        let all = &self.kustomizations;
        let mut positions: BTreeMap<Id<'_>, usize> = BTreeMap::new();
        for (position, one) in all.iter().enumerate() {
            positions.entry(one.key()).or_insert(position);
        }
        let needed = |one| self.needed(one).map(|(_, other)| positions[&other.key()]).collect::<Vec<_>>();
        let needed: Vec<Vec<usize>> = all.iter().map(needed).collect();
        let mut needing: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
        for (position, needed) in needed.iter().enumerate() {
            for other in needed {
                needing[*other].push(position);
            }
        }
        let mut paused: BTreeMap<SourceId, Option<SourceId>> = BTreeMap::new();
        let own: Vec<Option<Stuck>> = all.iter().map(|one| self.own_stall(one, &mut paused)).collect();
        let is_stuck =
            remaining(&needed, &needing, |position| own[position].is_none() && !all[position].fails());
        // What is left of both directions lies in a circle, or between two.
        let reaches = remaining(&needed, &needing, |_| true);
        let reached = remaining(&needing, &needed, |_| true);
        let stall = |(position, own): (usize, Option<Stuck>)| {
            if let Some(own) = own {
                return Some((position, Stall::Own(own)));
            }
            // What does not build says so itself.
            let is_behind = is_stuck[position] && !all[position].fails();
            let mut of = self.needed(&all[position]).filter(|_| is_behind);
            let (name, _) = of.find(|(_, other)| is_stuck[positions[&other.key()]])?;
            let is_among = reaches[position] && reached[position];
            let stall = if is_among { Stall::Among } else { Stall::Behind };
            Some((position, stall(name.to_owned())))
        };
        own.into_iter().enumerate().filter_map(stall).collect()
    }

    /// Returns what in a Flux Kustomization itself, or in its source, keeps it from applying a commit; `paused` has by source
    /// the one that Git suspends.
    fn own_stall(&self, one: &Reached, paused: &mut BTreeMap<SourceId, Option<SourceId>>) -> Option<Stuck> {
        if one.is_suspended() {
            return Some(Stuck::Suspended);
        }
        let found = paused.entry(one.source()).or_insert_with_key(|source| {
            let followed = self.followed(source);
            self.is_paused(&followed).then_some(followed)
        });
        found.clone().map(Stuck::Source).or_else(|| self.unfetched(one))
    }

    /// Returns why the source of a Flux Kustomization can't fetch this tree, by the lists of paths that stand in it.
    pub fn unfetched(&self, one: &Reached) -> Option<Stuck> {
        let held = self.fetched(&one.source());
        let live = self.live_of(&held);
        [live, held].into_iter().find_map(|source| self.unfetched_source(&source))
    }

    /// As [`unfetched`](Cluster::unfetched), of a source.
    pub fn unfetched_source(&self, source: &SourceId) -> Option<Stuck> {
        Some(Stuck::Unfetched(source.clone(), self.unfetched.get(source)?.clone()))
    }

    /// Returns what has to apply a commit before a Flux Kustomization does, with the names by which it says so.
    fn needed<'c>(&'c self, one: &'c Reached) -> impl Iterator<Item = (&'c str, &'c Reached)> {
        let all = self.dependencies(one).filter(|one| one.need == Need::Revision);
        all.filter_map(|one| Some((one.name, one.other?)))
    }
}

/// Why one applies no commit, as far as all of a cluster tell it at once.
#[derive(Clone, Debug)]
pub(super) enum Stall {
    /// For itself.
    Own(Stuck),
    /// As this one, on which it depends, applies none.
    Behind(String),
    /// Likewise, and it may be in a circle.
    Among(String),
}

/// Takes away, again and again, what needs nothing that is left; only those that `may_go` go. Returns for each whether it is
/// left.
fn remaining(needed: &[Vec<usize>], needing: &[Vec<usize>], may_go: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut counts: Vec<usize> = needed.iter().map(Vec::len).collect();
    let mut is_left = vec![true; needed.len()];
    let mut free: Vec<usize> =
        (0..needed.len()).filter(|position| counts[*position] == 0 && may_go(*position)).collect();
    while let Some(position) = free.pop() {
        is_left[position] = false;
        for other in &needing[position] {
            counts[*other] -= 1;
            if counts[*other] == 0 && may_go(*other) {
                free.push(*other);
            }
        }
    }
    is_left
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock};

    use super::*;
    use crate::delivery::Known;
    use crate::delivery::reading::tests::{LIST, SERVICE, flux, read};

    /// A cluster of Flux Kustomizations, each with those on which it depends and with more fields.
    fn cluster(all: &[(String, Vec<String>, bool)]) -> Cluster {
        let root = flux("flux-system", "./clusters/prod", "");
        let files = [
            ("clusters/prod/sync.yaml", root.as_str()),
            ("clusters/prod/kustomization.yaml", LIST),
            ("clusters/prod/s.yaml", SERVICE),
        ];
        let model = read(&Known::default(), &files);
        let mut cluster = model.delivered.all[0].clone();
        let first = cluster.kustomizations[0].clone();
        cluster.kustomizations.extend(all.iter().map(|(name, needed, is_suspended)| {
            let mut value = (*first.value).clone();
            value["metadata"]["name"] = name.as_str().into();
            value["spec"]["suspend"] = (*is_suspended).into();
            let needed = needed.iter().map(|name| serde_json::json!({ "name": name }));
            value["spec"]["dependsOn"] = needed.collect();
            Reached { value: Arc::new(value), ..first.clone() }
        }));
        cluster.by_name.clear();
        cluster.stalls = OnceLock::new();
        cluster.index();
        cluster
    }

    fn one(name: &str, needed: &[&str], is_suspended: bool) -> (String, Vec<String>, bool) {
        (name.to_owned(), needed.iter().map(|name| (*name).to_owned()).collect(), is_suspended)
    }

    fn told(cluster: &Cluster) -> Vec<String> {
        let all = cluster.kustomizations.iter().skip(1);
        let told =
            |one: &Reached| cluster.stuck(one).map_or("lands".to_owned(), |stuck| stuck.of(one.name()));
        all.map(|one| format!("{}: {}", one.name(), told(one))).collect()
    }

    #[test]
    fn what_depends_on_what_never_lands_does_not_land() {
        let all = [
            one("free", &[], false),
            one("after", &["free", "outside"], false),
            one("paused", &[], true),
            one("behind", &["free", "paused"], false),
            one("far", &["behind"], false),
            one("a", &["b"], false),
            one("b", &["c", "paused"], false),
            one("c", &["a"], false),
            one("self", &["self"], false),
            one("between", &["a"], false),
            one("d", &["between", "e"], false),
            one("e", &["d"], true),
        ];
        assert_eq!(
            told(&cluster(&all)),
            [
                "free: lands",
                "after: lands",
                "paused: Git suspends Flux Kustomization paused",
                "behind: it depends on paused, which never lands",
                "far: it depends on behind, which never lands",
                "a: a depends on itself, through b, c, so Flux never applies it",
                "b: b depends on itself, through c, a, so Flux never applies it",
                "c: c depends on itself, through a, b, so Flux never applies it",
                "self: self depends on itself, so Flux never applies it",
                "between: it depends on a, which never lands",
                "d: d depends on itself, through e, so Flux never applies it",
                "e: Git suspends Flux Kustomization e",
            ]
        );
    }

    #[test]
    fn a_chain_may_be_as_long_as_a_cluster_has_flux_kustomizations() {
        const MANY: usize = 50_000;
        let chain = |is_suspended: bool| {
            let link = |at: usize| match at {
                0 => one("k0", &[], is_suspended),
                at => one(&format!("k{at}"), &[&format!("k{}", at - 1)], false),
            };
            cluster(&(0..MANY).map(link).collect::<Vec<_>>())
        };
        let free = chain(false);
        assert!(free.kustomizations.iter().all(|one| free.stuck(one).is_none()));
        assert!(free.pace(&free.kustomizations[MANY], &|_| false).is_some());
        let stuck = chain(true);
        let never = stuck.kustomizations.iter().filter(|one| stuck.stuck(one).is_some());
        assert_eq!(never.count(), MANY);
    }
}
