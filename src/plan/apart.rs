//! How a folder gets a Flux Kustomization of its own without a cluster deleting what it holds.

/// The steps, one a line.
///
/// Whoever applied it (`$above`) prunes in the pass that creates the new one, which has applied nothing by then.
macro_rules! steps {
    ($above:literal, $folder:literal, $list:literal, $again:literal) => {
        concat!(
            "give ",
            $above,
            " `prune: false`\nwait until the cluster has applied that\nwrite a Flux Kustomization for ",
            $folder,
            "\n",
            $list,
            "\nwait until the new Flux Kustomization is Ready\ngive ",
            $again,
            " its `prune` back"
        )
    };
}

/// The steps for a folder that a root applies with all else; a gate needs them.
pub const OUT_OF_ROOT: &str = concat!(
    steps!(
        "the Flux Kustomization of the root",
        "the folder",
        "remove the folder from the list of the root",
        "the root's Flux Kustomization"
    ),
    "\nrun `gitops-windows sync`"
);

/// The steps for objects that a root applies with all else; a gate needs them.
pub const OBJECTS_OUT_OF_ROOT: &str = concat!(
    steps!(
        "the Flux Kustomization of the root",
        "a folder that the root does not list",
        "move what should wait into that folder",
        "the root's Flux Kustomization"
    ),
    "\nrun `gitops-windows sync`"
);

/// Returns the steps for a folder: who applies it, under that title and by its name, and what takes the folder out of its
/// list.
pub fn apart(above: &str, folder: &str, list: &str, name: &str) -> String {
    format!(steps!("{}", "{}", "{}", "{}"), above, folder, list, name)
}
