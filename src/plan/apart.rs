//! How a folder gets a Flux Kustomization of its own without a cluster deleting what it holds.

/// The steps, one a line.
///
/// Whoever applied it prunes in the pass that creates the new one, which has applied nothing by then: `$keep` keeps it from
/// that, and `$again` takes that back.
macro_rules! steps {
    ($keep:literal, $folder:literal, $list:literal, $again:literal) => {
        concat!(
            $keep,
            "\nwait until the cluster has applied that\nwrite a Flux Kustomization for ",
            $folder,
            "\n",
            $list,
            "\nwait until the new Flux Kustomization is Ready\n",
            $again
        )
    };
}

/// The steps for a folder that a root applies with all else; a gate needs them.
pub const OUT_OF_ROOT: &str = concat!(
    steps!(
        "give the Flux Kustomization of the root `prune: false` (of a FluxInstance by `spec.kustomize.patches`)",
        "the folder",
        "remove the folder from the list of the root",
        "give the root's Flux Kustomization its `prune` back"
    ),
    "\nrun `gitops-windows sync`"
);

/// The steps for objects that a root applies with all else; a gate needs them.
pub const OBJECTS_OUT_OF_ROOT: &str = concat!(
    steps!(
        "give the Flux Kustomization of the root `prune: false` (of a FluxInstance by `spec.kustomize.patches`)",
        "a folder that the root does not list",
        "move what should wait into that folder",
        "give the root's Flux Kustomization its `prune` back"
    ),
    "\nrun `gitops-windows sync`"
);

/// Returns the steps for a folder: who applies it, under that title and by its name, and what takes the folder out of its
/// list.
pub fn apart(above: &str, folder: &str, list: &str, name: &str) -> String {
    format!(
        steps!("give {} `prune: false`", "{}", "{}", "give {} its `prune` back"),
        above, folder, list, name
    )
}

/// As [`apart`], where a FluxInstance makes what applies the folder: that stands in no file.
pub fn apart_from_made(name: &str, folder: &str, list: &str) -> String {
    format!(
        steps!(
            "patch Flux Kustomization {} to `prune: false` by `spec.kustomize.patches` of its FluxInstance",
            "{}",
            "{}",
            "take that patch out of the FluxInstance"
        ),
        name, folder, list
    )
}
