//! Changed files with objects that reach no cluster.

use std::collections::BTreeSet;

use crate::delivery::{Applier, Cause, Readers, World};
use crate::path::RepoPath;
use crate::pr::withheld::Withheld;
use crate::repo::Entry;
use crate::repo::kustomization::FILE_NAMES;
use crate::repo::manifest::{manifests, objects};

/// The file that makes a folder a Helm chart, which helm-controller reads.
const CHART: &str = "Chart.yaml";

/// Finds the changed manifests and kustomizations that no build of any cluster takes in, before or after.
///
/// Nothing is found where something reads what is not looked at: that may be these files. What is withheld as such is not
/// told again.
pub(super) fn unreached(
    before: World<'_>,
    after: World<'_>,
    files: &BTreeSet<RepoPath>,
    withheld: &[Withheld],
) -> Vec<RepoPath> {
    let is_hiding =
        |one: &Withheld| matches!(one.cause, Cause::Source | Cause::Revision | Cause::Path | Cause::NoFlux);
    let may_be_read = |world: World<'_>| world.model.delivered.all.iter().any(|own| !own.unclear.is_empty());
    if withheld.iter().any(is_hiding) || may_be_read(before) || may_be_read(after) {
        return Vec::new();
    }
    let is_told = |file: &RepoPath| {
        let mut own = withheld.iter().filter(|one| one.cause == Cause::Unreached);
        own.any(|one| file.is_within(&one.by.path))
    };
    let is_of_tools = |file: &RepoPath| file.segments().next().is_some_and(|name| name.starts_with('.'));
    let mut found: Vec<&RepoPath> =
        files.iter().filter(|file| !is_of_tools(file) && !is_told(file)).collect();
    // One that goes and reached no cluster is no news.
    found.retain(|file| after.snapshot.entry(file).is_some() && makes_objects(after, file));
    for world in [before, after] {
        if !found.is_empty() {
            retain_unread(&mut found, world);
        }
    }
    found.into_iter().cloned().collect()
}

/// Returns whether a file is there to make objects: it holds some, or it is, or stands in, the list of a kustomization.
fn makes_objects(World { snapshot, model }: World<'_>, path: &RepoPath) -> bool {
    let is_chart = |folder: RepoPath| folder.join(CHART).is_ok_and(|chart| snapshot.entry(&chart).is_some());
    if path.parents().any(is_chart) {
        return false;
    }
    let is_list = path.name().is_some_and(|name| FILE_NAMES.contains(&name));
    let holds = || {
        let all = snapshot.file(path).and_then(manifests).unwrap_or_default();
        let all = all.iter().flat_map(|one| objects(&one.value)).collect::<Vec<_>>();
        !all.is_empty() && all.iter().all(|one| one["kind"].is_string() && one["apiVersion"].is_string())
    };
    is_list || model.graph.referrers(path).next().is_some() || holds()
}

/// Keeps the files that no build of any cluster takes in.
fn retain_unread(files: &mut Vec<&RepoPath>, World { snapshot, model }: World<'_>) {
    let (graph, readers) = (&model.graph, Readers::of(model));
    // What no source fetches is read by nobody but by whoever applies a folder by hand.
    let by_hand = readers.all.iter().any(|reader| reader.kustomization.is_none());
    let is_left_out = |file: &RepoPath| !by_hand && !model.delivered.is_fetched(file);
    files.retain(|file| is_left_out(file) || readers.reading(file).next().is_none());
    // Where a list names what is not understood, or by a link, its build may take in anything.
    let has_links = snapshot.entries().any(|(_, entry)| matches!(entry, Entry::Symlink { .. }));
    let may_take = |reader: &Applier<'_>, file: &RepoPath| match reader.surroundings(graph) {
        Some(known) => has_links && file.ancestors().any(|above| known.contains(&above)),
        None => true,
    };
    files.retain(|file| {
        let mut near = readers.all.iter().filter(|reader| has_links || file.is_within(&reader.path));
        is_left_out(file) || !near.any(|reader| may_take(reader, file))
    });
}
