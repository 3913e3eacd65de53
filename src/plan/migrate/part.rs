//! Entry points that only the build of another one applies.

use crate::delivery::{Input, Reached, unnamed};
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::plan::problem::Problem;
use crate::plan::{apart, apart_from_made};

/// Says how an entry point gets a Flux Kustomization of its own without a cluster deleting what it holds.
pub fn of_another(input: &Input<'_>, whole: &RepoPath, above: &RepoPath) -> Problem {
    let bootstrap = input.model.entry(above);
    let list = match input.model.graph.has(above) {
        true => format!("remove {whole} from the list of {above}"),
        false => format!(
            "write a kustomization.yaml for {above} that lists the new Flux Kustomization and all but {whole}"
        ),
    };
    let written = bootstrap.and_then(|bootstrap| input.model.flux_of(bootstrap).next());
    let made = || {
        let bootstrap = bootstrap?;
        bootstrap.clusters().find_map(|cluster| input.model.made(bootstrap, cluster)).map(Reached::name)
    };
    let folder = whole.as_str();
    let through = |name: &str| format!("{name} applies it through {above}, all types together");
    let (applies, steps) = match (written.map(|one| one.name.as_str()), made()) {
        (Some(name), _) => (through(name), apart(&format!("Flux Kustomization {name}"), folder, &list, name)),
        (None, Some(name)) => (through(name), apart_from_made(name, folder, &list)),
        (None, None) => {
            let above = unnamed(above);
            (format!("{above} has all types together"), apart(&above, folder, &list, &above))
        }
    };
    Problem::lasting(
        format!("it has no Flux Kustomization of its own. {applies}"),
        steps,
        Place::file(whole.clone()),
    )
    .then("split, or migrate what is split")
}
