//! What the builds that apply Flux Kustomizations make of them.
//!
//! A file may say `prune: false` while a patch of the parent says otherwise for all of its children; the
//! controller goes by what the cluster has.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::Value;

use crate::delivery::Input;
use crate::delivery::inventory::{Inventory, inventories_of, prunes};
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::plan::migrate::moving::{Move, heir_name};
use crate::plan::migrate::patch::{setting, spelt};
use crate::plan::problem::Problem;
use crate::render::Request;
use crate::repo::field::CHANGING;
use crate::repo::flux;
use crate::repo::manifest::ObjectId;
use crate::repo::{FluxKustomization, Kustomization, Reference, Target, built};
use crate::text::some;
use crate::yaml::read_documents;

/// What helps where a build that may patch can't be asked.
const PATCHES: &str = "name the kinds that the patches there are for\nor make the folder build, and go on";

/// How many Flux Kustomizations a problem names at most.
const MOST: usize = 5;

/// What parents make of old Flux Kustomizations, with what was found out of each parent: most have many children.
pub struct Parents<'i> {
    inventories: Cow<'i, [Inventory]>,
    /// The positions of these, by cluster and name.
    named: HashMap<(String, String), Vec<usize>>,
    /// Whether the build of a Flux Kustomization may change others in it, by its address in the model.
    may_change: RefCell<HashMap<*const FluxKustomization, bool>>,
}

impl<'i> Parents<'i> {
    /// Looks things up in inventories that hold what the parents apply.
    pub fn new(inventories: impl Into<Cow<'i, [Inventory]>>) -> Parents<'i> {
        let inventories = inventories.into();
        let mut named: HashMap<(String, String), Vec<usize>> = HashMap::new();
        for (position, one) in inventories.iter().enumerate() {
            named.entry((one.cluster.clone(), one.name.clone())).or_default().push(position);
        }
        Parents { inventories, named, may_change: RefCell::default() }
    }

    /// Returns what the parents of some moves' old Flux Kustomizations make of these, and no other objects.
    pub fn of(input: &Input<'_>, moves: &[&Move<'_>]) -> Parents<'static> {
        let olds: Vec<&FluxKustomization> = moves.iter().flat_map(|one| &one.old).copied().collect();
        Parents::of_olds(input, &olds)
    }

    fn of_olds(input: &Input<'_>, olds: &[&FluxKustomization]) -> Parents<'static> {
        let parents: HashSet<*const FluxKustomization> =
            olds.iter().flat_map(|old| input.parents(old)).map(std::ptr::from_ref).collect();
        let is_parent = |flux: &FluxKustomization| {
            parents.contains(&std::ptr::from_ref(flux))
                && flux.path.as_ref().is_some_and(|path| may_change(input, flux, path))
        };
        Parents::new(inventories_of(input.model, input.snapshot, input.renderer, &is_parent))
    }

    /// Finds one as [`Inventory::find`] does.
    fn find(&self, flux: &FluxKustomization) -> Option<&Inventory> {
        let named = self.named.get(&(flux.cluster.clone(), flux.name.clone()))?;
        Inventory::find(named.iter().map(|position| &self.inventories[*position]), &flux.cluster, flux)
    }

    fn may_change(&self, input: &Input<'_>, flux: &FluxKustomization, path: &RepoPath) -> bool {
        let mut known = self.may_change.borrow_mut();
        *known.entry(flux).or_insert_with(|| may_change(input, flux, path))
    }
}

/// Stops a hand-over where an old Flux Kustomization is kept from deleting in its file alone, or where
/// what applies it does not build and may change that.
///
/// `parents` hold what its parents apply.
pub fn overridden(input: &Input<'_>, one: &Move<'_>, parents: &Parents<'_>) -> Option<Problem> {
    Some(match kept(input, one, parents)? {
        Kept::Otherwise(problem) => problem,
        Kept::Set(set) => told(&[&set]),
    })
}

/// As [`overridden`], of several at once: what one patch does to many has one problem.
pub fn all_overridden<'m, 'a>(
    input: &Input<'_>,
    moves: &'m [Move<'a>],
    parents: &Parents<'_>,
) -> Vec<(&'m Move<'a>, Problem)> {
    let found = moves.iter().filter_map(|one| Some((one, kept(input, one, parents)?)));
    let found: Vec<(&Move<'_>, Kept)> = found.collect();
    let mut alike: BTreeMap<_, Vec<&Set>> = BTreeMap::new();
    for (_, kept) in &found {
        if let Kept::Set(set) = kept {
            alike.entry(set.key()).or_default().push(set);
        }
    }
    let problem = |kept: &Kept| match kept {
        Kept::Otherwise(problem) => problem.clone(),
        Kept::Set(set) => told(alike.get(&set.key()).map_or(&[set], Vec::as_slice)),
    };
    found.iter().map(|(one, kept)| (*one, problem(kept))).collect()
}

fn kept(input: &Input<'_>, one: &Move<'_>, parents: &Parents<'_>) -> Option<Kept> {
    one.old.iter().find_map(|old| {
        let heirs = (0..input.spec.types.len()).map(|position| heir_name(input, &old.name, position));
        let names: Vec<String> = std::iter::once(old.name.clone()).chain(heirs).collect();
        kept_in_file_alone(input, old, &names, parents)
    })
}

/// Returns the first of some Flux Kustomizations that are kept from deleting in their files alone, as
/// [`overridden`] does for those that a move replaces.
pub fn any_overridden(input: &Input<'_>, several: &[&FluxKustomization]) -> Option<Problem> {
    let parents = Parents::of_olds(input, several);
    let names: Vec<String> = several.iter().map(|one| one.name.clone()).collect();
    let found = several.iter().find_map(|one| kept_in_file_alone(input, one, &names, &parents))?;
    Some(match found {
        Kept::Otherwise(problem) => problem,
        Kept::Set(set) => told(&[&set]),
    })
}

/// Why one is kept from deleting in its file alone.
enum Kept {
    /// A patch sets a field.
    Set(Set),
    /// Anything else.
    Otherwise(Problem),
}

/// A field that a patch sets otherwise than a file.
struct Set {
    /// The one that it sets it of, and its file.
    of: (String, RepoPath),
    /// Those that a remedy speaks of.
    names: Vec<String>,
    field: &'static str,
    /// What the field must be.
    value: &'static str,
    /// The patch, where only one sets it.
    patch: Option<Place>,
    /// The field in the file.
    place: Place,
}

impl Set {
    /// Returns what is the same for all that one patch does it to.
    fn key(&self) -> (&'static str, &'static str, RepoPath, usize) {
        let place = self.patch.as_ref().unwrap_or(&self.place);
        (self.field, self.value, place.path.clone(), place.span.as_ref().map_or(0, |span| span.start))
    }
}

/// `names` are those that a remedy speaks of.
fn kept_in_file_alone(
    input: &Input<'_>,
    old: &FluxKustomization,
    names: &[String],
    parents: &Parents<'_>,
) -> Option<Kept> {
    let own = parents.find(old)?;
    sets_otherwise(input, old, names, own.prune, &own.deletion_policy)
        .map(Kept::Set)
        .or_else(|| unknown(input, old, parents).map(Kept::Otherwise))
        .or_else(|| by_lists(input, old, names).filter(|_| input.parents(old).is_empty()))
}

/// Stops where a parent that may change an old Flux Kustomization does not build.
fn unknown(input: &Input<'_>, old: &FluxKustomization, parents: &Parents<'_>) -> Option<Problem> {
    input.parents(old).into_iter().find_map(|parent| {
        let path = parent.path.as_ref()?;
        let Err(message) = &parents.find(parent)?.objects else { return None };
        parents.may_change(input, parent, path).then(|| {
            Problem::lasting(
                format!(
                    "{path}, by which {} applies {}, does not build, and may patch its `prune` and `deletionPolicy`: {message}",
                    parent.name, old.name
                ),
                PATCHES,
                parent.place("path"),
            )
        })
    })
}

/// Stops by what the topmost kustomizations that list a Flux Kustomization make of it, where nothing in
/// Git applies them: something outside of Git does.
fn by_lists(input: &Input<'_>, old: &FluxKustomization, names: &[String]) -> Option<Kept> {
    let mut tops = input.model.graph.tops(&old.file);
    tops.retain(|top| may_change_below(input, top));
    let requests: Vec<Request> = tops.iter().map(|top| Request::delivered(top.clone())).collect();
    let results = input.renderer.render(input.snapshot, &requests);
    tops.iter().zip(results).find_map(|(top, result)| match result {
        Ok(objects) => objects.iter().find_map(|object| {
            let (value, spec) = (&object.value, &object.value["spec"]);
            let is_it = ObjectId::of(value).group == flux::GROUP
                && value["metadata"]["name"] == *old.name
                && old.folder_of(spec["path"].as_str().unwrap_or_default()) == old.path;
            let policy = spec["deletionPolicy"].as_str().unwrap_or_default();
            sets_otherwise(input, old, names, prunes(&spec["prune"]), policy).filter(|_| is_it).map(Kept::Set)
        }),
        Err(error) => Some(Kept::Otherwise(Problem::lasting(
            format!(
                "{top}, which lists {}, does not build, and may patch its `prune` and `deletionPolicy`: {error}",
                old.name
            ),
            PATCHES,
            Place::file(top.clone()),
        ))),
    })
}

/// Returns the field by which what applies a Flux Kustomization lets it delete, if it does.
fn sets_otherwise(
    input: &Input<'_>,
    old: &FluxKustomization,
    names: &[String],
    prune: bool,
    policy: &str,
) -> Option<Set> {
    let (field, value) = match (prune, policy) {
        (true, _) => ("prune", "false"),
        (false, "Orphan") => return None,
        (false, _) if !old.takes("deletionPolicy") => return None,
        (false, _) => ("deletionPolicy", "\"Orphan\""),
    };
    let (patch, place) = (setting(input, old, field), old.place(field));
    let of = (old.name.clone(), old.file.clone());
    Some(Set { of, names: names.to_vec(), field, value, patch, place })
}

/// Says it of all that one patch does it to.
fn told(sets: &[&Set]) -> Problem {
    let Some(Set { of, field, value, patch, place, .. }) = sets.first().copied() else {
        return Problem::default();
    };
    let mut names: Vec<&str> = sets.iter().flat_map(|set| &set.names).map(String::as_str).collect();
    let mut of_all: Vec<&str> = sets.iter().map(|set| set.of.0.as_str()).collect();
    for list in [&mut names, &mut of_all] {
        let mut seen = BTreeSet::new();
        list.retain(|name| seen.insert(*name));
    }
    let which = patch.as_ref().map(|place| format!(" in {}", spelt(place))).unwrap_or_default();
    let (reason, excluded) = match of_all.as_slice() {
        [name] => (
            format!(
                "{name} still deletes objects that leave it: its parent's build overrides `spec.{field}` of {}",
                of.1
            ),
            (*name).to_owned(),
        ),
        several => (
            format!(
                "{} still delete objects that leave them: their parent's build overrides `spec.{field}` of their files",
                some(several, MOST)
            ),
            "them".to_owned(),
        ),
    };
    Problem::lasting(
        reason,
        format!(
            "exclude {excluded} from the patch that sets `{field}`{which}\nor add this patch after it until the migration is finished: `{{ target: {{ kind: Kustomization, name: \"{}\" }}, patch: '[{{\"op\": \"add\", \"path\": \"/spec/{field}\", \"value\": {value}}}]' }}`\nthen wait until the cluster has applied that, and go on",
            names.join("|")
        ),
        patch.clone().unwrap_or_else(|| place.clone()),
    )
}

/// Returns whether the build of a Flux Kustomization may change Flux Kustomizations in it.
fn may_change(input: &Input<'_>, flux: &FluxKustomization, path: &RepoPath) -> bool {
    let spec = |field: &str| flux.spec(field).as_array().map(Vec::as_slice).unwrap_or_default();
    let patches = spec("patches").iter().any(|patch| may_patch(patch, patch["patch"].as_str()));
    let others = ["components", "patchesStrategicMerge", "patchesJson6902"];
    patches || others.iter().any(|field| !spec(field).is_empty()) || may_change_below(input, path)
}

/// Returns whether a kustomization that the build of a folder takes in may change Flux Kustomizations.
fn may_change_below(input: &Input<'_>, folder: &RepoPath) -> bool {
    let graph = &input.model.graph;
    let may_change = |folder: &RepoPath| graph.get(folder).is_some_and(|found| may_change_in(input, found));
    built(graph, folder).iter().any(may_change)
}

fn may_change_in(input: &Input<'_>, kustomization: &Kustomization) -> bool {
    // A component of this repository is asked by itself.
    let is_unseen = |reference: &Reference| {
        reference.field == "components" && !matches!(reference.target, Target::Path(_))
    };
    if CHANGING.iter().any(|field| kustomization.field(field).is_some())
        || kustomization.references().iter().any(is_unseen)
    {
        return true;
    }
    let Some(patches) = kustomization.field("patches") else { return false };
    let file = |patch: &Value| {
        let name = patch["path"].as_str()?;
        let references = kustomization.references();
        let found = references.iter().find(|reference| reference.text == name)?;
        let Target::Path(path) = &found.target else { return None };
        input.snapshot.file(path)?.text().map(str::to_owned)
    };
    patches.to_json().as_array().is_none_or(|patches| {
        patches.iter().any(|patch| {
            let text = patch["patch"].as_str().map(str::to_owned).or_else(|| file(patch));
            may_patch(patch, text.as_deref())
        })
    })
}

/// Returns whether a patch may be for a Flux Kustomization: by the kind of its target, which is a pattern,
/// or else by the kind that it has itself.
fn may_patch(patch: &Value, text: Option<&str>) -> bool {
    let may_be = |kind: &str| kind == "Kustomization" || !kind.chars().all(|c| c.is_ascii_alphanumeric());
    if let Some(kind) = patch["target"]["kind"].as_str().filter(|kind| !kind.is_empty()) {
        return may_be(kind);
    }
    let documents = text.and_then(|text| read_documents(text).ok());
    documents.is_none_or(|documents| {
        documents.iter().any(|document| document.root.to_json()["kind"].as_str().is_none_or(may_be))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_patch_is_for_the_kind_that_it_names() {
        let named = |kind: &str| json!({ "target": { "kind": kind } });
        for (patch, text, expected) in [
            (named("Deployment"), None, false),
            (named("Kustomization"), None, true),
            (named("Kust.*"), None, true),
            (json!({}), Some("kind: Deployment\nmetadata: {name: a}\n"), false),
            (json!({}), Some("kind: Kustomization\nmetadata: {name: a}\n"), true),
            (json!({ "target": { "name": "a" } }), Some("- {op: remove, path: /spec/prune}\n"), true),
            (json!({}), None, true),
        ] {
            assert_eq!(may_patch(&patch, text), expected, "{patch} {text:?}");
        }
    }
}
