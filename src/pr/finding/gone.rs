//! Folders that are missing while their Flux Kustomizations stay in the cluster.

use crate::check::{MISSING_PATH, once_more};
use crate::delivery::{Cluster, Reached};
use crate::diagnostic::one_line;
use crate::path::RepoPath;
use crate::pr::clock::Clock;
use crate::pr::finding::Finding;
use crate::pr::withheld::Withheld;
use crate::text::count;

/// Says what fails where the folder of a Flux Kustomization is none, what that causes, and what to do; `None` for what fails
/// otherwise, what applied nothing before, or what nobody in Git applies (kustomize-controller, `reconcile`).
pub(super) fn gone(clock: &Clock<'_>, one: &Withheld) -> Option<(String, String)> {
    let path = &one.by.path;
    let (cluster, own) = failing(clock, one)?;
    let was = clock.after.former_cluster(&one.cluster)?;
    was.reached(&own.remote, (own.namespace(), own.name())).filter(|old| !old.fails())?;
    let name = own.name();
    let is_child = |other: &&Reached| cluster.parent(other).is_some_and(|by| by.key() == own.key());
    let children = cluster.kustomizations.iter().filter(is_child).filter(|other| other.key() != own.key());
    let (fail, go_on): (Vec<&Reached>, Vec<&Reached>) = children.partition(|other| other.fails());
    let told = |all: &[&Reached], goes: &str, go: &str| match all {
        [] => String::new(),
        [_] => format!(". The Flux Kustomization that it applied {goes}"),
        [..] => format!(". The {} that it applied {go}", count(all.len(), "Flux Kustomization")),
    };
    let others = match (&go_on[..], &fail[..]) {
        ([], _) => told(&fail, "fails too", "fail too"),
        (_, []) => told(&go_on, "goes on", "go on"),
        (_, more) => format!(
            "{}, and {} fail{} too",
            told(&go_on, "goes on", "go on"),
            more.len(),
            if more.len() == 1 { "s" } else { "" }
        ),
    };
    let help = match (clock.before.world.stands(path), cluster.brings_itself(own)) {
        (true, true) => once_more(name, path, cluster, clock.after.world.snapshot, clock.after.spec),
        (true, false) => {
            format!("bring {path} back\nor give {name} another path, and let that be applied first")
        }
        (false, _) => format!("correct spec.path of {name}\nor add {path}"),
    };
    let message = format!(
        "there is no folder {path}, so {name} fails. It applies and deletes nothing, and its objects stay{others}"
    );
    Some((message, one_line(&help)))
}

/// Returns whether it belongs to a cluster that is retired on purpose.
pub(super) fn is_retired(clock: &Clock<'_>, one: &Withheld) -> bool {
    let (files, spec) = (clock.after.world.snapshot, clock.after.spec);
    failing(clock, one).is_some_and(|(cluster, _)| cluster.is_retired(files, spec))
}

/// Returns whether the folder of the root above it goes too, with which the cluster may go: that is told once.
pub(super) fn goes_with_its_root(clock: &Clock<'_>, one: &Withheld) -> bool {
    let goes = |path: &RepoPath| clock.before.world.stands(path) && !clock.after.world.stands(path);
    failing(clock, one).is_some_and(|(cluster, own)| goes(&one.by.path) && cluster.is_below_root(own, goes))
}

/// Returns whether `check` says of a Flux Kustomization that its folder is none.
pub(super) fn is_told(clock: &Clock<'_>, finding: &Finding, one: &Withheld) -> bool {
    let key = || failing(clock, one).map(|(cluster, own)| cluster.key(own));
    finding.code == Some(MISSING_PATH.code) && key().is_some_and(|key| finding.about.contains(&key))
}

/// Returns a Flux Kustomization of which the folder is none, with its cluster.
fn failing<'c>(clock: &Clock<'c>, one: &Withheld) -> Option<(&'c Cluster, &'c Reached)> {
    let (namespace, name) = one.by.kustomization.as_ref()?;
    let path = &one.by.path;
    let cluster = clock.after.cluster(&one.cluster).filter(|_| !clock.after.world.stands(path))?;
    let is_it = |own: &&Reached| {
        (own.namespace(), own.name()) == (namespace, name) && own.path.as_ref() == Some(path)
    };
    Some((cluster, cluster.kustomizations.iter().find(is_it)?))
}
