//! Entry points that only the build of another one applies.

use crate::delivery::Input;
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::plan::problem::Problem;

/// Says how an entry point gets a Flux Kustomization of its own without a cluster deleting what it holds.
///
/// Whoever applied it prunes in the pass that creates the new one, which has applied nothing by then.
pub fn of_another(input: &Input<'_>, whole: &RepoPath, above: &RepoPath) -> Problem {
    let bootstrap = input.model.entry(above);
    let name = bootstrap.map_or("flux-system", |bootstrap| input.model.name_of(bootstrap));
    let list = match input.model.graph.has(above) {
        true => format!("remove {whole} from the list of {above}"),
        false => format!("write a kustomization.yaml for {above} that lists all but {whole}"),
    };
    Problem::lasting(
        format!(
            "it has no Flux Kustomization of its own. {name} applies it through {above}, all types together"
        ),
        format!("give Flux Kustomization {name} `prune: false`\nwait until the cluster has applied that"),
        Place::file(whole.clone()),
    )
    .then(format!("write a Flux Kustomization for {whole}, {list}, and wait until it is Ready"))
    .then(format!("give {name} its `prune` back; then split, or migrate what is split"))
}
