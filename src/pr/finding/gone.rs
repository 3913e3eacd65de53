//! Folders that are missing while their Flux Kustomizations stay in the cluster.

use crate::delivery::Reached;
use crate::diagnostic::one_line;
use crate::pr::clock::Clock;
use crate::pr::withheld::Withheld;
use crate::text::count;

/// Says what fails where the folder of a Flux Kustomization is none, what that causes, and what to do; `None` for what fails
/// otherwise, or nobody in Git applies (kustomize-controller, `reconcile`).
pub(super) fn gone(clock: &Clock<'_>, one: &Withheld) -> Option<(String, String)> {
    let (namespace, name) = one.by.kustomization.as_ref()?;
    let path = &one.by.path;
    let cluster = clock.after.cluster(&one.cluster)?;
    let world = clock.after.world;
    if world.model.graph.has(path) || world.snapshot.is_dir(path) {
        return None;
    }
    let own = cluster
        .kustomizations
        .iter()
        .find(|own| (own.namespace(), own.name()) == (namespace, name) && own.path.as_ref() == Some(path))?;
    let is_child = |other: &&Reached| cluster.parent(other).is_some_and(|by| by.key() == own.key());
    let children = cluster.kustomizations.iter().filter(is_child).filter(|other| other.key() != own.key());
    let others = match children.count() {
        0 => String::new(),
        1 => ". The Flux Kustomization that it applied goes on".to_owned(),
        more => format!(". The {} that it applied go on", count(more, "Flux Kustomization")),
    };
    let was = clock.before.world;
    let had = was.model.graph.has(path) || was.snapshot.is_dir(path);
    let help = match (had, cluster.brings_itself(own)) {
        (true, true) => format!(
            "bring {path} back until {name} reads another folder\nor do nothing, where the cluster is gone too"
        ),
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
