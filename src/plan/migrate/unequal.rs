//! Clusters that one file can't serve: their folders behind it are not divided alike.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::migrate::moving::Move;
use crate::plan::problem::{OF_ITS_OWN, Problem};
use crate::repo::FluxKustomization;
use crate::text::some;

/// How many folders are named at most.
const MOST: usize = 5;

/// Returns the entry points of which a Flux Kustomization builds other folders in other clusters, from the same file by
/// variables, that are not divided into the same sides. All of one file have one problem. What was refused to be divided is
/// named as such.
pub fn problems(
    input: &Input<'_>,
    moves: &[Move<'_>],
    refused: &BTreeSet<RepoPath>,
) -> BTreeMap<RepoPath, Problem> {
    let mut of_old: BTreeMap<(&str, &RepoPath), &Move<'_>> = BTreeMap::new();
    for one in moves.iter().filter(|one| one.new.values().all(Vec::is_empty)) {
        of_old.insert((&one.cluster, &one.whole), one);
    }
    let mut found = BTreeMap::new();
    let mut known: BTreeMap<(&RepoPath, usize), Option<Problem>> = BTreeMap::new();
    for one in moves.iter().filter(|one| one.edits()) {
        for old in &one.old {
            // Items of one list are several in a document, and can't be edited at all.
            let of_file = known.entry((&old.file, old.document));
            let problem = of_file.or_insert_with(|| unequal(input, &of_old, old, refused)).clone();
            found.extend(problem.map(|problem| (one.whole.clone(), problem)));
        }
    }
    found
}

/// Compares what becomes of the folders of one Flux Kustomization.
fn unequal(
    input: &Input<'_>,
    of_old: &BTreeMap<(&str, &RepoPath), &Move<'_>>,
    old: &FluxKustomization,
    refused: &BTreeSet<RepoPath>,
) -> Option<Problem> {
    let all: Vec<&FluxKustomization> =
        input.model.flux_in_file(&old.file).iter().filter(|other| other.is_written_as(old)).collect();
    if all.iter().all(|other| other.path == old.path) {
        return None;
    }
    let left: BTreeSet<&str> = all
        .iter()
        .filter_map(|other| other.path.as_ref())
        .filter(|path| refused.contains(*path))
        .map(RepoPath::as_str)
        .collect();
    if !left.is_empty() {
        let left = some(&left.into_iter().collect::<Vec<_>>(), MOST);
        return Some(Problem::lasting(
            format!(
                "{left} can't be divided. Flux Kustomization {} in {} builds that too, and hands over all or none",
                old.name, old.file
            ),
            format!("mend what keeps {left} as it is\nor {OF_ITS_OWN}"),
            old.place("path"),
        ));
    }
    let mut ways: BTreeMap<(Vec<&str>, bool), Vec<&RepoPath>> = BTreeMap::new();
    for other in all {
        let Some(path) = &other.path else { continue };
        let own = of_old.get(&(other.cluster.as_str(), path));
        let names = own.into_iter().flat_map(|one| one.sides.keys());
        let names = names.map(|position| input.spec.types[*position].name.value.as_str()).collect();
        let folders = ways.entry((names, own.is_some_and(|one| one.leaves_rest()))).or_default();
        if !folders.contains(&path) {
            folders.push(path);
        }
    }
    if ways.len() < 2 {
        return None;
    }
    let mut ways: Vec<_> = ways.into_iter().collect();
    ways.sort_by_key(|(_, folders)| folders.len());
    let told = ways.iter().map(|((names, rest), folders)| {
        let folders: Vec<&str> = folders.iter().map(|folder| folder.as_str()).collect();
        let what = match (names.as_slice(), rest) {
            ([], _) => "no sides".to_owned(),
            (names, false) => format!("sides {}", names.join(", ")),
            (names, true) => format!("sides {} and a rest", names.join(", ")),
        };
        format!("{} {what}", some(&folders, MOST) + if folders.len() == 1 { " has" } else { " have" })
    });
    Some(Problem::lasting(
        format!(
            "Flux Kustomization {} in {} builds several folders, and can't hand over some alone: {}",
            old.name,
            old.file,
            told.collect::<Vec<_>>().join("; ")
        ),
        format!("let all of these folders have objects of the same types\nor {OF_ITS_OWN}"),
        old.place("path"),
    ))
}
