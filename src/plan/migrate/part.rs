//! Entry points that only the build of another one applies.

use crate::delivery::Input;
use crate::path::RepoPath;

/// Says how an entry point gets a Flux Kustomization of its own without a cluster deleting what it holds.
///
/// Whoever applied it prunes in the pass that creates the new one, which has applied nothing by then.
pub fn apart(input: &Input<'_>, whole: &RepoPath, above: &RepoPath) -> String {
    let bootstrap = input.model.entry(above);
    let name = bootstrap.map_or("flux-system", |bootstrap| input.model.name_of(bootstrap));
    format!(
        "first give Flux Kustomization {name} `prune: false` and let that reach the cluster, or it deletes what {above} no longer lists; then write a Flux Kustomization for {whole}, and take {whole} out of what {above} lists; when the new one is Ready, give {name} its `prune` back"
    )
}
