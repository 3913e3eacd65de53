//! Entry points that only the build of another one applies.

use crate::delivery::{Input, Reached, unnamed};
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::plan::apart;
use crate::plan::problem::Problem;

/// Says how an entry point gets a Flux Kustomization of its own without a cluster deleting what it holds.
pub fn of_another(input: &Input<'_>, whole: &RepoPath, above: &RepoPath) -> Problem {
    let bootstrap = input.model.entry(above);
    let written =
        bootstrap.and_then(|bootstrap| input.model.flux_of(bootstrap).next()).map(|one| one.name.as_str());
    let made = || {
        let bootstrap = bootstrap?;
        bootstrap.clusters().find_map(|cluster| input.model.made(bootstrap, cluster)).map(Reached::name)
    };
    let (called, name, applies) = match written.or_else(made) {
        Some(name) => (
            format!("Flux Kustomization {name}"),
            name.to_owned(),
            format!("{name} applies it through {above}, all types together"),
        ),
        None => (unnamed(above), unnamed(above), format!("{} has all types together", unnamed(above))),
    };
    let list = match input.model.graph.has(above) {
        true => format!("remove {whole} from the list of {above}"),
        false => format!(
            "write a kustomization.yaml for {above} that lists the new Flux Kustomization and all but {whole}"
        ),
    };
    Problem::lasting(
        format!("it has no Flux Kustomization of its own. {applies}"),
        apart(&called, whole.as_str(), &list, &name),
        Place::file(whole.clone()),
    )
    .then("split, or migrate what is split")
}
