//! States of an entry point of a cluster that no step leads out of.

use crate::delivery::{Input, Unapplied};
use crate::path::RepoPath;
use crate::plan::migrate::moving::{Move, heir_name};
use crate::plan::problem::Problem;
use crate::repo::{FluxKustomization, built};

/// An entry point whose Flux Kustomizations have left Git.
pub fn left(unapplied: &Unapplied) -> Problem {
    let sides = unapplied.sides.values().map(ToString::to_string).collect::<Vec<_>>();
    Problem::new(
        format!(
            "no Flux Kustomization of cluster {} in Git applies it or its sides. Their objects are deleted or unmanaged",
            unapplied.cluster
        ),
        format!(
            "revert the commit that removed or broke its Flux Kustomization\nor, where the cluster still has it, commit the output of `flux export kustomization`\nor, where its apps should go, remove {} too",
            sides.join(" and ")
        ),
    )
}

/// A Flux Kustomization that names the folder in another source.
pub fn elsewhere(found: &FluxKustomization) -> Problem {
    if let Some(other) = &found.other {
        let remedy = format!("divide it on {} by itself\nor let it follow {}", other.follows, other.of_root);
        return Problem::new(other.to_string(), remedy).at(found.place("sourceRef"));
    }
    let stop = Problem::new(
        format!(
            "Flux Kustomization {} has its path, but {} {} is not this repository",
            found.name,
            found.source_kind(),
            found.source_name()
        ),
        "let it build from this repository\nor divide it where its source is made",
    );
    stop.at(found.place("sourceRef"))
}

/// A Flux Kustomization outside of the spec's folder that builds an entry point or a side of it, which
/// nothing inside does.
pub fn outside(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    let is_meant = |path: &RepoPath| *path == one.whole || one.sides.values().any(|side| side == path);
    let builds = |flux: &FluxKustomization| {
        let path = flux.spec("path").as_str().and_then(|path| flux.folder_of(path));
        path.is_some_and(|path| is_meant(&path) || built(&input.model.graph, &path).iter().any(is_meant))
    };
    let found = input.model.outside().iter().find(|flux| builds(flux))?;
    let spec = &input.spec.path;
    Some(Problem::lasting(
        format!(
            "Flux Kustomization {} in {} applies it, but lies outside of the folder of {spec}",
            found.name, found.file
        ),
        format!(
            "move {spec} up into a folder that holds both, as a change of {} by hand does not last\nwrite the folders under `layout` and `clusters` from there\ngo on",
            found.name
        ),
        found.place("path"),
    ))
}

/// Sides without a Flux Kustomization where others have one.
pub fn incomplete(input: &Input<'_>, one: &Move<'_>, missing: &[usize]) -> Problem {
    let of = |position: usize| input.spec.types[position].name.value.as_str();
    let sibling = one.new.iter().find_map(|(position, several)| Some((*position, several.first()?)));
    let wanted = missing.iter().map(|position| {
        let old = sibling.and_then(|(other, found)| predecessor(input, &found.name, other));
        let old = old.as_deref().unwrap_or_else(|| input.model.name_of_folder(&one.whole));
        let name = heir_name(input, old, *position);
        let side = &one.sides[position];
        let path = sibling.map_or_else(|| side.to_string(), |(_, found)| found.spelt(side));
        format!("{name} with `path: ./{path}` and `prune: false`")
    });
    let wanted = wanted.collect::<Vec<_>>().join(" and ");
    let like = sibling.map(|(_, found)| format!(", otherwise like {} in {}", found.name, found.file));
    Problem::new(
        format!(
            "nothing applies its side for {}",
            missing.iter().map(|position| of(*position)).collect::<Vec<_>>().join(" and ")
        ),
        format!(
            "take the commit back that removed its Flux Kustomization, or write {wanted}{}",
            like.unwrap_or_default()
        ),
    )
}

/// Returns the name of the old Flux Kustomization from which one took over a type; `None` where it has a
/// name of its own.
fn predecessor(input: &Input<'_>, heir: &str, position: usize) -> Option<String> {
    const NAME: &str = "\0";
    let made = heir_name(input, NAME, position);
    let (before, after) = made.split_once(NAME)?;
    Some(heir.strip_prefix(before)?.strip_suffix(after)?.to_owned())
}
