//! Clusters that have another name in another tree.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Cluster, Model, Root};
use crate::path::RepoPath;

/// Returns the names of clusters after, by those before: of clusters with another name, that with the same roots.
///
/// A root is the same where it is the same folder, or where the object that applies it is the same: with another path that
/// one builds another folder of the same cluster.
pub fn counterparts<'m>(before: &'m Model, after: &'m Model) -> BTreeMap<&'m str, &'m str> {
    let renamed = before.delivered.all.iter().filter(|old| after.delivered.named(&old.name).is_none());
    let is_new = |new: &&Cluster| before.delivered.named(&new.name).is_none();
    let news: Vec<&Cluster> = after.delivered.all.iter().filter(is_new).collect();
    let other = |old: &Cluster| {
        let by_folder = news.iter().find(|new| folders(new) == folders(old));
        by_folder.or_else(|| news.iter().find(|new| has_root(after, new, old))).map(|new| new.name.as_str())
    };
    renamed.filter_map(|old| Some((old.name.as_str(), other(old)?))).collect()
}

fn folders(cluster: &Cluster) -> BTreeSet<&RepoPath> {
    cluster.roots.iter().map(|root| &root.folder).collect()
}

/// Tells whether a cluster has an object that applies a root of a former one.
fn has_root(after: &Model, new: &Cluster, old: &Cluster) -> bool {
    let own: BTreeSet<_> = new.roots.iter().filter_map(Root::identity).collect();
    old.roots.iter().filter_map(Root::identity).any(|(file, namespace, name)| {
        let mut named = after.flux_named(&new.name, name);
        own.contains(&(file, namespace, name))
            || named.any(|one| one.file == *file && one.namespace == namespace)
    })
}
