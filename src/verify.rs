//! The proof at any time: whether entry points and their sides agree, and what changed since a
//! revision.

mod adjusted;
mod note;
mod parts;
mod since;
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::delivery::{EntryPoint, Input, Role, Sides, builds, rebuilt};
use crate::path::RepoPath;
use crate::plan::gate::Carriers;
use crate::plan::migrate::misplaced::misplaced_in;
use crate::plan::split::left_list::{apart, is_left};
use crate::plan::{gate, is_remote};
use crate::proof::{Mismatch, compare};
use crate::render::{Object, RenderError, Request};
use crate::repo::Snapshot;
use crate::repo::manifest::ObjectId;
use crate::text::json_schema::{answers, list, nullable, number, object, one_of, text};
use crate::text::words_of;
use crate::verify::note::shown;
use crate::verify::parts::{Appliers, Part, known, sides, views, wholes};

pub use note::Note;
pub use since::verify_since;

words_of! {
    /// What became of one object.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Difference {
        /// Nothing applies it any more.
        Lost = "lost",
        /// Several folders apply it.
        Doubled(Vec<RepoPath>) = "doubled",
        /// It lies on the side of another type than the rules say: (side, by rule).
        WrongSide(String, String) = "wrong-side",
        /// It went from one type to another.
        Moved(String, String) = "moved",
        /// A field changed: (path, before, after), values as JSON.
        Changed(String, String, String) = "changed",
        /// It is new.
        Added(RepoPath) = "added",
        /// The folder does not build.
        Unbuildable(RepoPath, String) = "unbuildable",
        /// What the folder makes is not known: it can't be built without what is elsewhere, or Git does not tell.
        Unknown(RepoPath, String) = "unknown",
    }
}

impl Difference {
    /// What stands elsewhere is no fault of this tree.
    fn forgive_remote(&mut self) {
        if let Difference::Unbuildable(folder, message) = self
            && is_remote(message)
        {
            *self = Difference::Unknown(folder.clone(), std::mem::take(message));
        }
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Difference::Lost => f.write_str("is applied by nothing any more"),
            Difference::Doubled(folders) => {
                let folders: Vec<String> = folders.iter().map(ToString::to_string).collect();
                write!(f, "is applied by {}", folders.join(" and by "))
            }
            Difference::WrongSide(side, rule) => {
                write!(f, "is on the side of {side}; by the rules it is {rule}")
            }
            Difference::Moved(before, after) => write!(f, "moved from {before} to {after}"),
            Difference::Changed(field, before, after) => {
                write!(f, "changed: {field} from {} to {}", shown(before), shown(after))
            }
            Difference::Added(folder) => write!(f, "is new in {folder}"),
            Difference::Unbuildable(folder, message) => write!(f, "{folder} does not build: {message}"),
            Difference::Unknown(folder, message) => {
                write!(f, "{folder} is not checked: {message}")
            }
        }
    }
}

/// What one entry point came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// The cluster, or of a shared entry point each of them, for people.
    pub cluster: String,
    /// The entry point, whether or not it still stands there.
    pub path: RepoPath,
    /// How many objects there were.
    pub objects: usize,
    /// Whether there was something to compare it with: sides, or a revision.
    pub is_compared: bool,
    /// Nothing, or every difference; without an object where a folder does not build.
    pub differences: Vec<(Option<ObjectId>, Difference)>,
    /// What a step changes on purpose, since a revision.
    pub notes: Vec<(ObjectId, Note)>,
}

impl Check {
    /// Returns the check as JSON.
    pub fn to_json(&self) -> Value {
        let differences: Vec<Value> = self
            .differences
            .iter()
            .map(|(id, difference)| {
                let object = id.as_ref().map(ToString::to_string);
                json!({ "object": object, "kind": difference.as_str(), "text": difference.to_string() })
            })
            .collect();
        let worst = self.differences.iter().map(|(_, difference)| difference).min();
        let notes = self.notes.iter().map(
            |(id, note)| json!({ "object": id.to_string(), "kind": note.as_str(), "text": note.told(false) }),
        );
        json!({
            "cluster": self.cluster,
            "path": self.path.to_string(),
            "objects": self.objects,
            "status": worst.map_or(if self.is_compared { "equal" } else { "not-split" }, Difference::as_str),
            "differences": differences,
            "notes": notes.collect::<Vec<Value>>(),
        })
    }
}

/// Returns the JSON Schema (draft 2020-12) of what `verify --format json` prints.
pub fn schema() -> Value {
    let kinds = Difference::WORDS;
    let entry = object(vec![
        ("cluster", text()),
        ("path", text()),
        ("objects", number()),
        ("status", one_of(&[&["equal", "not-split"], &kinds[..]].concat())),
        (
            "differences",
            list(object(vec![("object", nullable(text())), ("kind", one_of(&kinds)), ("text", text())])),
        ),
        ("notes", list(object(vec![("object", text()), ("kind", one_of(&Note::WORDS)), ("text", text())]))),
    ]);
    answers("verify", object(vec![("entryPoints", list(entry))]))
}

/// Checks every entry point of the working tree against its sides, for each source that fetches other files of it.
pub fn verify(input: &Input<'_>) -> Vec<Check> {
    let (all, carriers) = (input.sides(), gate::carriers(input).unwrap_or_default());
    let check = |(path, clusters): (RepoPath, Appliers)| {
        let sides = sides(input, &path, &clusters.first);
        let (mut count, mut differences, mut is_whole) = (0, Differences::new(), true);
        for artifact in views(input, &path, &sides) {
            let files = input.model.delivered.files(input.snapshot, artifact);
            let (objects, found) = rendered_whole(input, &files, &path, &sides);
            is_whole &= found.is_empty();
            count = count.max(objects.len());
            if found.is_empty() && !sides.is_empty() && input.model.graph.has(&path) {
                let (added, found) = compared(input, &files, &path, &sides, &carriers, &objects);
                count = count.max(objects.len() + added);
                differences.extend(found);
            }
            differences.extend(found);
        }
        if !sides.is_empty() && is_whole {
            differences.extend(wrong_sides(input, &all, &carriers, &path));
        }
        differences.sort();
        differences.dedup();
        let is_compared = !sides.is_empty();
        Check { cluster: clusters.named(), path, objects: count, is_compared, differences, notes: Vec::new() }
    };
    wholes(input).into_iter().map(check).chain(broken_roots(input)).collect()
}

/// Checks the roots, which have no sides: one that does not build brings nothing new of all that it applies.
fn broken_roots<'a>(input: &'a Input<'_>) -> impl Iterator<Item = Check> + 'a {
    known(input, Role::Bootstrap).filter_map(|entry| {
        let path = &entry.path;
        let found = views(input, path, &[]).into_iter().flat_map(|artifact| {
            rendered_whole(input, &input.model.delivered.files(input.snapshot, artifact), path, &[]).1
        });
        let is_broken =
            |(_, one): &(Option<ObjectId>, Difference)| matches!(one, Difference::Unbuildable(..));
        let mut differences: Differences = found.filter(is_broken).collect();
        differences.sort();
        differences.dedup();
        (!differences.is_empty()).then(|| Check {
            cluster: entry.named_clusters(),
            path: path.clone(),
            objects: 0,
            is_compared: false,
            differences,
            notes: Vec::new(),
        })
    })
}

/// Builds an entry point, or its sides where that no longer stands; with what does not build.
fn rendered_whole(
    input: &Input<'_>,
    files: &Snapshot,
    path: &RepoPath,
    sides: &[Part],
) -> (Vec<Object>, Differences) {
    // Flux lists by itself what lies in a folder without a list.
    let is_built = input.model.graph.has(path) || sides.is_empty() && input.is_applied(path);
    let whole: Vec<Part> = if is_built { vec![(None, path.clone())] } else { sides.to_vec() };
    let (objects, mut found) = rendered(input, files, path, &whole);
    if sides.is_empty() {
        found.iter_mut().for_each(|(_, difference)| difference.forgive_remote());
    }
    (objects, found)
}

/// Compares an entry point with its sides; also counts the objects that only these have by now.
fn compared(
    input: &Input<'_>,
    files: &Snapshot,
    path: &RepoPath,
    sides: &[Part],
    carriers: &Carriers,
    objects: &[Object],
) -> (usize, Differences) {
    let (_, parts) = parts_of(input, files, path, sides, true);
    let mut differences = against(objects, &parts);
    let folders: Vec<RepoPath> = sides.iter().map(|(_, side)| side.clone()).collect();
    let is_left = is_left(input, path, folders.iter());
    // What no side has of a list that nobody applies is gone, but for what others apply.
    let is_forgiven = match is_left {
        true => apart(input, path, &folders).0.is_empty(),
        false => true,
    };
    if is_forgiven && is_partial(input, path, sides) {
        differences.retain(|(_, difference)| *difference != Difference::Lost);
    }
    let gates = gate_objects(input, carriers, sides);
    differences.retain(|(id, _)| !id.as_ref().is_some_and(|id| gates.contains(id)));
    // After the hand-over the old one applies the other apps, the new ones these.
    let handed =
        |difference: &Difference| matches!(difference, Difference::Added(side) if input.is_applied(side));
    let before = differences.len();
    differences.retain(|(_, difference)| !handed(difference));
    (before - differences.len(), differences)
}

/// Returns the objects of gates that sides carry: they belong to no app, and the entry point that the
/// sides were made of never had them.
fn gate_objects(input: &Input<'_>, carriers: &Carriers, sides: &[Part]) -> BTreeSet<ObjectId> {
    let folders = sides.iter().filter_map(|(_, side)| carriers.get(side).cloned());
    let requests: Vec<Request> = folders.map(Request::delivered).collect();
    let objects = input.renderer.render(input.snapshot, &requests).into_iter().flatten().flatten();
    objects.map(|object| ObjectId::of(&object.value)).collect()
}

/// Returns the builds of some folders, each as its own Flux Kustomization builds it; or all `alike`, as the one
/// of the entry point does, since clusters that share it may build it each in another way.
fn requests(input: &Input<'_>, path: &RepoPath, parts: &[Part], alike: bool) -> Vec<Request> {
    let any = |folder: &RepoPath| input.model.entry(folder);
    let of = |folder: &RepoPath| any(folder).filter(|entry| !entry.flux.is_empty());
    // Once the sides have taken over, they build as the whole did.
    let heir = || {
        let clusters = input.spec.clusters.keys();
        let mut sides = clusters.flat_map(|cluster| sides(input, path, cluster));
        sides.find_map(|(_, side)| of(&side))
    };
    let build = |folder: &RepoPath| -> Option<Value> {
        let own = || of(folder).filter(|_| !alike);
        let entry: &EntryPoint = own().or_else(|| of(path)).or_else(heir).or_else(|| any(path))?;
        let build = builds(input.model, entry).into_iter().next()?;
        Some(rebuilt(&build, &entry.path, folder))
    };
    let request = |folder: &RepoPath| Request::flux(folder.clone(), &build(folder).unwrap_or_default());
    parts.iter().map(|(_, folder)| request(folder)).collect()
}

/// Builds some folders of the files that a source fetches.
fn built(
    input: &Input<'_>,
    files: &Snapshot,
    path: &RepoPath,
    parts: &[Part],
    alike: bool,
) -> Vec<Result<Vec<Object>, RenderError>> {
    input.renderer.render(files, &requests(input, path, parts, alike))
}

type Differences = Vec<(Option<ObjectId>, Difference)>;

/// Renders folders into one list; what two of them give, or what does not build, is a difference.
fn rendered(
    input: &Input<'_>,
    files: &Snapshot,
    path: &RepoPath,
    parts: &[Part],
) -> (Vec<Object>, Differences) {
    let results = built(input, files, path, parts, false);
    let mut objects: Vec<Object> = Vec::new();
    let mut differences = Differences::new();
    let mut places: BTreeMap<ObjectId, Vec<RepoPath>> = BTreeMap::new();
    for ((_, folder), result) in parts.iter().zip(results) {
        match result {
            Ok(found) => {
                for object in found {
                    places.entry(ObjectId::of(&object.value)).or_default().push(folder.clone());
                    objects.push(object);
                }
            }
            Err(error) => differences.push((None, Difference::Unbuildable(folder.clone(), error.message))),
        }
    }
    for (id, folders) in places.into_iter().filter(|(_, folders)| folders.len() > 1) {
        differences.push((Some(id), Difference::Doubled(folders)));
    }
    (objects, differences)
}

type Rendered = Vec<(Part, Result<Vec<Object>, RenderError>)>;

/// Renders folders one by one; also gives each object's type where its folder is a side.
fn parts_of(
    input: &Input<'_>,
    files: &Snapshot,
    path: &RepoPath,
    parts: &[Part],
    alike: bool,
) -> (BTreeMap<ObjectId, String>, Rendered) {
    let results = built(input, files, path, parts, alike);
    let rendered: Rendered = parts.iter().cloned().zip(results).collect();
    let mut types = BTreeMap::new();
    for ((name, _), result) in &rendered {
        if let (Some(name), Ok(objects)) = (name, result) {
            types.extend(objects.iter().map(|object| (ObjectId::of(&object.value), name.clone())));
        }
    }
    (types, rendered)
}

fn against(objects: &[Object], parts: &Rendered) -> Differences {
    let parts: Vec<_> = parts.iter().map(|((_, folder), result)| (folder, result)).collect();
    let difference = |mismatch: Mismatch| match mismatch {
        Mismatch::Lost { id } => (Some(id), Difference::Lost),
        Mismatch::Added { id, folder } => (Some(id), Difference::Added(folder)),
        Mismatch::Doubled { id, folders } => (Some(id), Difference::Doubled(folders)),
        Mismatch::Changed { id, field, before, after } => {
            (Some(id), Difference::Changed(field, before, after))
        }
        Mismatch::Unbuildable { folder, message } => (None, Difference::Unbuildable(folder, message)),
    };
    compare(objects, &parts).into_iter().map(difference).collect()
}

/// Returns whether some apps of an entry point are on no side yet.
fn is_partial(input: &Input<'_>, path: &RepoPath, sides: &[Part]) -> bool {
    let graph = &input.model.graph;
    let listed: Vec<RepoPath> = sides.iter().flat_map(|(_, side)| graph.children(side)).collect();
    graph.children(path).iter().any(|child| {
        !listed.iter().any(|folder| {
            folder == child
                || graph.children(folder).contains(child)
                || graph.children(child).contains(folder)
        })
    })
}

fn wrong_sides(input: &Input<'_>, all: &Sides, carriers: &Carriers, path: &RepoPath) -> Differences {
    let name = |position: usize| input.spec.types[position].name.value.clone();
    misplaced_in(input, all, carriers, path)
        .into_iter()
        .map(|one| (Some(one.id), Difference::WrongSide(name(one.side), name(one.rule))))
        .collect()
}
