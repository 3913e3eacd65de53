//! Files that go from the part of one type to that of another, since the type of what they hold
//! changed: what a projection does by itself, for apps that were divided plainly.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::plan::folder::FolderSplit;
use crate::plan::relocation::{Misplaced, misplaced_in};
use crate::plan::resources::{Item, add, rewrite};
use crate::plan::{Builder, Input, gate};
use crate::render::Request;
use crate::repo::manifest::{ObjectId, manifests, objects};
use crate::repo::{RepoPath, Target};
use crate::yaml::cut_documents;

/// Moves what lies on a wrong side of a plain split; gives the entry points whose sides change by it.
///
/// What can't be moved stays for whoever tells of it: a file that others list too, an object without a
/// file of its own, a type without a part.
pub fn transfer(input: &Input<'_>, builder: &mut Builder<'_>) -> BTreeSet<RepoPath> {
    let wholes: BTreeSet<RepoPath> = input.sides().into_values().map(|(whole, _)| whole).collect();
    let mut folders: BTreeSet<RepoPath> = BTreeSet::new();
    for whole in &wholes {
        for (file, ids) in files(input, whole) {
            let mut trial = builder.clone();
            // Another entry point may have moved it already.
            if trial.now().file(&file).is_some()
                && let Some(touched) = move_file(input, &mut trial, whole, &file, &ids)
            {
                folders.extend(touched);
                *builder = trial;
            }
        }
    }
    let reaches = |side: &RepoPath| !input.model.graph.reach(side).is_disjoint(&folders);
    let sides = input.sides().into_iter().filter(|(side, _)| reaches(side));
    sides.map(|(_, (whole, _))| whole).collect()
}

/// Gives the files that misplaced objects of an entry point come from.
fn files(input: &Input<'_>, whole: &RepoPath) -> BTreeMap<RepoPath, Vec<Misplaced>> {
    let (all, carriers) = (input.sides(), gate::carriers(input).unwrap_or_default());
    let misplaced = misplaced_in(input, &all, &carriers, whole);
    let mut found: BTreeMap<RepoPath, Vec<Misplaced>> = BTreeMap::new();
    let sides = all.into_iter().filter(|(_, (of, _))| of == whole);
    for (side, (_, position)) in sides {
        let own: Vec<&Misplaced> = misplaced.iter().filter(|one| one.side == position).collect();
        if own.is_empty() {
            continue;
        }
        let request = Request { path: side, origins: true, flux: None };
        let Some(Ok(rendered)) = input.renderer.render(input.snapshot, &[request]).pop() else { continue };
        for object in rendered {
            let id = ObjectId::of(&object.value);
            let one = own.iter().find(|one| one.id == id);
            if let (Some(one), Some(origin)) =
                (one, object.origin.filter(|origin| origin.generator.is_none()))
            {
                found.entry(origin.path).or_default().push((*one).clone());
            }
        }
    }
    found
}

/// Moves one file, or the documents of it that are meant; gives the folders that it leaves and enters.
fn move_file(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    whole: &RepoPath,
    file: &RepoPath,
    ids: &[Misplaced],
) -> Option<[RepoPath; 2]> {
    let (first, rest) = ids.split_first()?;
    if rest.iter().any(|one| one.rule != first.rule) {
        return None;
    }
    let from = file.parent()?;
    let mut listing = input.model.graph.referrers(file);
    if listing.next() != Some(&from) || listing.next().is_some() {
        return None;
    }
    let to = counterpart(input, whole, &from, first.side, first.rule)?;
    let place = to.join(file.name()?).ok()?;
    let content = builder.now().file(file)?.clone();
    let documents = manifests(&content)?;
    let mut moving = Vec::new();
    for one in ids {
        let is_it = |value: &&Value| {
            let id = ObjectId::of(value);
            // A kustomization may have put a prefix or a suffix to the name.
            (&id.group, &id.kind) == (&one.id.group, &one.id.kind) && one.id.name.contains(&id.name)
        };
        let mut of = documents.iter().filter(|document| objects(&document.value).iter().any(is_it));
        moving.push(of.next()?.index);
        if of.next().is_some() || documents.iter().any(|document| document.value["items"].is_array()) {
            return None;
        }
    }
    moving.sort_unstable();
    moving.dedup();
    let leaving = builder.kustomization(&from).ok()??;
    if moving.len() == documents.len() {
        builder.move_file(file, &place).ok()?;
        let target = Target::Path(file.clone());
        let item = |gone: bool| if gone { Item::Remove } else { Item::Keep };
        let items: Vec<Item> =
            leaving.resources().iter().map(|reference| item(reference.target == target)).collect();
        let text = rewrite(&leaving, &items).ok()?;
        builder.put(&leaving.file, &text);
    } else {
        let text = content.text()?;
        let staying: Vec<usize> =
            documents.iter().map(|document| document.index).filter(|index| !moving.contains(index)).collect();
        builder.create(&place, &cut_documents(text, &moving).ok()?).ok()?;
        builder.put(file, &cut_documents(text, &staying).ok()?);
    }
    let entered = builder.kustomization(&to).ok()??;
    let text = add(&entered, &place).ok()?;
    builder.put(&entered.file, &text);
    Some([from, to])
}

/// Gives the part of another type beside one: of a base by the layout, of an overlay by its side.
fn counterpart(
    input: &Input<'_>,
    whole: &RepoPath,
    part: &RepoPath,
    from: usize,
    to: usize,
) -> Option<RepoPath> {
    let name = |position: usize| input.spec.types[position].name.value.as_str();
    let split = FolderSplit::new(input.spec, &input.model.graph, "");
    let above = std::iter::successors(part.parent(), RepoPath::parent);
    let bases = above.filter(|base| split.base_part(base, name(from)).as_ref() == Some(part));
    let of_base = bases.filter_map(|base| split.base_part(&base, name(to)));
    let sides = input.sides();
    let side = |position: usize| {
        let found = sides.iter().find(|(_, (of, other))| of == whole && *other == position);
        found.map(|(side, _)| side)
    };
    let of_side = side(from).zip(side(to)).filter(|(from, _)| part.is_within(from));
    let of_side = of_side.and_then(|(from, to)| to.join(&part.relative_to(from)).ok());
    of_base.chain(of_side).find(|folder| input.model.graph.has(folder))
}
