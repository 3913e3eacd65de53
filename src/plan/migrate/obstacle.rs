//! What an entry point of a cluster is stuck at: states that no step leads out of.

use crate::delivery::{Hold, Input, Unapplied};
use crate::path::RepoPath;
use crate::plan::BACK;
use crate::plan::migrate::double::{differ, doubled};
use crate::plan::migrate::identity::unclear;
use crate::plan::migrate::part;
use crate::plan::migrate::standing::{Move, heir_name};
use crate::plan::problem::Problem;
use crate::repo::flux::artifact_path;
use crate::repo::{FluxKustomization, built};

/// Gives what is wrong with the Flux Kustomizations of an entry point, whatever its next step is.
pub fn obstacle(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    missing_folder(input, one)
        .or_else(|| twin(input, one))
        .or_else(|| unclear(input, one))
        .or_else(|| doubled(input, one))
        .or_else(|| suspended(input, one))
        .or_else(|| several(input, one))
}

/// A Flux Kustomization of a side that is not there any more.
fn missing_folder(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    let names = input.spec.types.iter().map(|change_type| change_type.name.value.as_str());
    let gone: Vec<RepoPath> = names
        .filter_map(|name| input.side(&one.whole, &one.cluster, name))
        .filter(|side| !input.snapshot.is_dir(side))
        .collect();
    let found = input.applying(|path| gone.contains(path)).find(|found| found.cluster == one.cluster)?;
    let stop = Problem::new(
        format!(
            "Flux Kustomization {} names {}, which is not there, so what it applied is applied by nothing",
            found.name,
            found.path.as_ref().map(ToString::to_string).unwrap_or_default()
        ),
        format!(
            "take back the commit that removed the folder; where nothing of that type is left, remove the Flux Kustomization too; to undo the split, {BACK} the commit of the split"
        ),
    );
    Some(stop.at(found.place("path")))
}

/// Two Flux Kustomizations of one name in a cluster.
fn twin(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    let (found, other) = one.all().find_map(|found| {
        let other = input.model.flux.iter().find(|other| {
            (&other.name, &other.namespace) == (&found.name, &found.namespace)
                && (&other.file, other.document) != (&found.file, found.document)
                && other.cluster == one.cluster
        });
        Some((found, other?))
    })?;
    Some(Problem::lasting(
        format!("Flux Kustomization {} stands twice, in {} and in {}", found.name, found.file, other.file),
        format!(
            "a cluster keeps only one of them, and what applied the other deletes {0} with all that it applied if it applied it last: first give both the annotation `kustomize.toolkit.fluxcd.io/prune: disabled` and let that reach the cluster; then remove one of the two from Git; when that has reached the cluster too, take the annotation out again",
            found.name
        ),
        other.place("path"),
    ))
}

/// One that is suspended in Git, or above which something is.
fn suspended(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    if let Some(found) = one.all().find(|found| found.is_suspended()) {
        return Some(Problem::lasting(
            format!(
                "Flux Kustomization {} has `suspend: true` in Git, so nothing of it reaches the cluster",
                found.name
            ),
            "take that line out, let it reach the cluster, then go on",
            found.place("suspend"),
        ));
    }
    let (found, (above, held)) = one.all().find_map(|found| Some((found, input.held_above(found)?)))?;
    let (above_name, name) = (&above.name, &found.name);
    Some(match held {
        Hold::Suspended => Problem::new(
            format!(
                "Flux Kustomization {above_name}, which applies {name}, has `suspend: true` in Git: the steps would reach the cluster all at once"
            ),
            format!("resume {above_name}, let it reach the cluster, then go on"),
        )
        .at(above.place("suspend")),
        Hold::Job(_) | Hold::Window(_) => Problem::lasting(
            format!(
                "a CronJob holds back Flux Kustomization {above_name}, which applies {name}: the steps would reach the cluster all at once when it is resumed"
            ),
            format!(
                "take {above_name} out of the jobs where you wrote them, or let something that no gate holds back apply {name}, as what applies {above_name}; or leave it whole"
            ),
            above.place("path"),
        ),
    })
}

/// More Flux Kustomizations of a side than there are old ones that each have a successor, and which do not
/// differ as those of several old ones do.
fn several(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    let (position, several) = one.new.iter().find(|(position, several)| {
        several.len() > one.old.len().max(1) && !differ(input, &one.sides[position], several)
    })?;
    let names: Vec<&str> = several.iter().map(|one| one.name.as_str()).collect();
    let stop = Problem::new(
        format!("{} all apply {}", names.join(" and "), one.sides[position]),
        "give all but one `prune: false` and `deletionPolicy: Orphan`, let that reach the cluster, then remove them",
    );
    Some(stop.at(several.last()?.place("path")))
}

/// An entry point whose Flux Kustomizations have left Git.
pub fn left(unapplied: &Unapplied) -> Problem {
    let sides = unapplied.sides.values().map(ToString::to_string).collect::<Vec<_>>();
    Problem::new(
        format!(
            "no Flux Kustomization in Git applies it or its sides, though others of cluster {} are in Git: what it applied is deleted, or left to nobody",
            unapplied.cluster
        ),
        format!(
            "take back the commit that removed or broke its Flux Kustomization; where one applies it that is not in Git, commit what `flux export kustomization` prints; where its apps are to go, remove {} too",
            sides.join(" and ")
        ),
    )
}

/// A Flux Kustomization that names the folder in another source.
pub fn elsewhere(found: &FluxKustomization) -> Problem {
    let stop = Problem::new(
        format!(
            "Flux Kustomization {} names its folder, and builds from {} {}, which is not this repository",
            found.name,
            found.source_kind(),
            found.source_name()
        ),
        "let it build from this repository, or divide it where what it builds from is made",
    );
    stop.at(found.place("sourceRef"))
}

/// A Flux Kustomization outside of the spec's folder that builds an entry point or a side of it, which
/// nothing inside does.
pub fn outside(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    let is_meant = |path: &RepoPath| *path == one.whole || one.sides.values().any(|side| side == path);
    let builds = |flux: &FluxKustomization| {
        let path = flux.spec("path").as_str().and_then(artifact_path);
        path.is_some_and(|path| is_meant(&path) || built(&input.model.graph, &path).iter().any(is_meant))
    };
    let found = input.model.outside().iter().find(|flux| builds(flux))?;
    let spec = &input.spec.path;
    Some(Problem::lasting(
        format!(
            "Flux Kustomization {} in {} applies it and lies outside of the folder of {spec}, which is all that is read and written here",
            found.name, found.file
        ),
        format!(
            "move {spec} up into a folder that holds both, with the folders under `layout` and `clusters` spelt from there, then go on; a change by hand would not last, as what applies {} takes it back",
            found.name
        ),
        found.place("path"),
    ))
}

/// An entry point that is built only as part of another, above it.
pub fn part_of(input: &Input<'_>, one: &Move<'_>, above: &RepoPath) -> Problem {
    Problem::new(
        format!("it has no Flux Kustomization of its own: the one of {above} applies all types together"),
        part::apart(input, &one.whole, above),
    )
}

/// Sides without a Flux Kustomization where others have one.
pub fn incomplete(input: &Input<'_>, one: &Move<'_>, missing: &[usize]) -> Problem {
    let of = |position: usize| input.spec.types[position].name.value.as_str();
    let sibling = one.new.iter().find_map(|(position, several)| Some((*position, several.first()?)));
    let wanted = missing.iter().map(|position| {
        let old = sibling.and_then(|(other, found)| predecessor(input, &found.name, other));
        let name = heir_name(input, old.as_deref().or(one.whole.name()).unwrap_or("apps"), *position);
        format!("{name} with `path: ./{}` and `prune: false`", one.sides[position])
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

/// Gives the name of the old Flux Kustomization from which one took over a type; `None` where it has a
/// name of its own.
fn predecessor(input: &Input<'_>, heir: &str, position: usize) -> Option<String> {
    const NAME: &str = "\0";
    let made = heir_name(input, NAME, position);
    let (before, after) = made.split_once(NAME)?;
    Some(heir.strip_prefix(before)?.strip_suffix(after)?.to_owned())
}
