//! Clusters that have another name in another tree.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Cluster, Model, Root};
use crate::path::RepoPath;
use crate::repo::FluxKustomization;

/// Returns the names of clusters after, by those before: of clusters with another name, that with the same roots.
///
/// A root is the same where it is the same folder, or where the object that applies it is the same: with another path that
/// one builds another folder of the same cluster. Each is the same as one other at most; where several could be, none is. What
/// both trees only propose is the same as that with which it shares most Flux Kustomizations of no other cluster. Where all
/// that are left get other names, each is the one that builds the same folders by the same lines.
pub fn counterparts<'m>(before: &'m Model, after: &'m Model) -> BTreeMap<&'m str, &'m str> {
    let is_gone = |old: &&Cluster| after.delivered.named(&old.name).is_none();
    let mut olds: Vec<&Cluster> = before.delivered.all.iter().filter(is_gone).collect();
    let is_new = |new: &&Cluster| before.delivered.named(&new.name).is_none();
    let mut news: Vec<&Cluster> = after.delivered.all.iter().filter(is_new).collect();
    let mut found = BTreeMap::new();
    olds.retain(|old| {
        let position = news.iter().position(|new| folders(new) == folders(old));
        position
            .map(|position| found.insert(old.name.as_str(), news.remove(position).name.as_str()))
            .is_none()
    });
    for old in &olds {
        let fitting: Vec<&&Cluster> = news.iter().filter(|new| has_root(after, new, old)).collect();
        let [new] = fitting[..] else { continue };
        if olds.iter().filter(|other| has_root(after, new, other)).count() == 1 {
            found.insert(old.name.as_str(), new.name.as_str());
        }
    }
    // Of what is only proposed the folder may be another guess about one cluster.
    olds.retain(|old| !found.contains_key(old.name.as_str()) && !old.is_said());
    news.retain(|new| !new.is_said() && !found.values().any(|name| *name == new.name));
    let (was, is) = (alone(before), alone(after));
    let mut shared: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (id, old) in was {
        let Some(new) = is.get(&id) else { continue };
        let is_asked =
            olds.iter().any(|one| one.name == old.read_in) && news.iter().any(|one| one.name == new.read_in);
        if is_asked {
            *shared.entry((&old.read_in, &new.read_in)).or_default() += 1;
        }
    }
    for ((old, new), count) in &shared {
        let mut others = shared.iter().filter(|((a, b), _)| (a == old) != (b == new));
        if others.all(|(_, other)| other < count) {
            found.insert(*old, *new);
        }
    }
    olds.retain(|old| !found.contains_key(old.name.as_str()));
    news.retain(|new| !found.values().any(|name| *name == new.name));
    let (was, is) = (by_lines(before, &olds), by_lines(after, &news));
    let is_one = |(lines, names): (&BTreeSet<Line<'_>>, &Vec<&str>)| !lines.is_empty() && names.len() == 1;
    if was.keys().eq(is.keys()) && was.iter().chain(&is).all(is_one) {
        found.extend(was.into_values().flatten().zip(is.into_values().flatten()));
    }
    found
}

/// The file, the namespace and the name of a Flux Kustomization, and the folder that it builds.
type Line<'m> = (&'m RepoPath, &'m str, &'m str, Option<&'m RepoPath>);

/// Returns the names of clusters by what each builds by which lines.
fn by_lines<'m>(model: &'m Model, all: &[&'m Cluster]) -> BTreeMap<BTreeSet<Line<'m>>, Vec<&'m str>> {
    let mut lines: BTreeMap<&str, BTreeSet<Line<'m>>> = BTreeMap::new();
    for one in model.all_flux() {
        let line = (&one.file, one.namespace.as_str(), one.name.as_str(), one.path.as_ref());
        lines.entry(&one.read_in).or_default().insert(line);
    }
    let mut found: BTreeMap<BTreeSet<Line<'m>>, Vec<&'m str>> = BTreeMap::new();
    for cluster in all {
        found.entry(lines.remove(cluster.name.as_str()).unwrap_or_default()).or_default().push(&cluster.name);
    }
    found
}

/// Returns the Flux Kustomizations that one cluster alone has from their lines, by the file, the namespace and the name: what
/// several take from a base tells none of them from another.
pub(super) fn alone(model: &Model) -> BTreeMap<(&RepoPath, &str, &str), &FluxKustomization> {
    let mut found: BTreeMap<_, Vec<&FluxKustomization>> = BTreeMap::new();
    for one in model.all_flux().iter().filter(|one| model.delivered.named(&one.read_in).is_some()) {
        found.entry((&one.file, one.namespace.as_str(), one.name.as_str())).or_default().push(one);
    }
    found
        .into_iter()
        .filter_map(|(id, all)| if let [one] = all[..] { Some((id, one)) } else { None })
        .collect()
}

fn folders(cluster: &Cluster) -> BTreeSet<&RepoPath> {
    cluster.roots.iter().map(|root| &root.folder).collect()
}

/// Returns whether a cluster has an object that applies a root of a former one.
fn has_root(after: &Model, new: &Cluster, old: &Cluster) -> bool {
    let has = |folder: &RepoPath| old.roots.iter().any(|root| root.folder == *folder);
    if new.roots.iter().filter_map(|root| root.was.as_ref()).any(has) {
        return true;
    }
    let own: BTreeSet<_> = new.roots.iter().filter_map(Root::identity).collect();
    old.roots.iter().filter_map(Root::identity).any(|(file, namespace, name)| {
        let mut named = after.flux_named(&new.name, name);
        own.contains(&(file, namespace, name))
            || named.any(|one| one.file == *file && one.namespace == namespace)
    })
}
