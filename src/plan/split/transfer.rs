//! Files that go from the part of one type to that of another, since the type of what they hold
//! changed: what a projection does by itself, for apps that were divided plainly.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::{Input, Sides, base_part};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::documents::owners;
use crate::plan::edit::resources::{add, remove};
use crate::plan::gate;
use crate::plan::gate::Carriers;
use crate::plan::migrate::misplaced::{Misplaced, misplaced_in};
use crate::render::Request;
use crate::repo::manifest::{ObjectId, manifests, objects};
use crate::yaml::cut_documents;

/// What lies on a wrong side, with what is asked for each file that moves.
pub struct Transfer<'a> {
    input: Input<'a>,
    sides: Sides,
    carriers: Carriers,
    /// The objects on wrong sides, by the entry point that was divided.
    misplaced: BTreeMap<RepoPath, Vec<Misplaced>>,
}

impl<'a> Transfer<'a> {
    /// Looks for what lies on a wrong side.
    pub fn of(input: &Input<'a>) -> Transfer<'a> {
        let (sides, carriers) = (input.sides(), gate::carriers(input).unwrap_or_default());
        let found = |whole: &RepoPath| (whole.clone(), misplaced_in(input, &sides, &carriers, whole));
        let misplaced = sides.divided(&input.model.graph).map(found).collect();
        Transfer { input: *input, sides, carriers, misplaced }
    }

    /// Returns the entry points of which something lies on a wrong side.
    pub fn wholes(&self) -> impl Iterator<Item = &RepoPath> {
        self.misplaced.iter().filter(|(_, found)| !found.is_empty()).map(|(whole, _)| whole)
    }

    /// Moves what lies on a wrong side of one entry point; gives the entry points whose sides change
    /// by it.
    ///
    /// What can't be moved stays for whoever tells of it: a file that others list too, an object
    /// without a file of its own, a type without a part, and what a move would not bring to its side.
    pub fn make(&self, builder: &mut Builder<'_>, whole: &RepoPath) -> BTreeSet<RepoPath> {
        let mut folders: BTreeSet<RepoPath> = BTreeSet::new();
        for (file, ids) in self.files(whole) {
            let mut trial = builder.clone();
            // Another entry point may have moved it already.
            if trial.now().file(&file).is_some()
                && let Some(touched) = self.move_file(&mut trial, whole, &file, &ids)
                && self.helps(&trial, whole, &touched, &ids)
            {
                folders.extend(touched);
                *builder = trial;
            }
        }
        self.reaching(&folders)
    }

    /// Returns the entry points of which a side builds one of the folders.
    fn reaching(&self, folders: &BTreeSet<RepoPath>) -> BTreeSet<RepoPath> {
        let graph = &self.input.model.graph;
        let reaches = |side: &RepoPath| !graph.reach(side).is_disjoint(folders);
        let sides = self.sides.iter().filter(|(side, _)| graph.has(side) && reaches(side));
        sides.map(|(_, (whole, _))| whole.clone()).collect()
    }

    /// Returns whether a move brought its objects to their side, and none to a wrong one.
    fn helps(
        &self,
        trial: &Builder<'_>,
        whole: &RepoPath,
        touched: &BTreeSet<RepoPath>,
        ids: &[Misplaced],
    ) -> bool {
        let model = self.input.again(trial.now());
        let next = Input { snapshot: trial.now(), model: &model, ..self.input };
        self.reaching(touched).iter().all(|of| {
            let before = self.misplaced.get(of).map(Vec::as_slice).unwrap_or_default();
            let after = misplaced_in(&next, &self.sides, &self.carriers, of);
            after.iter().all(|one| before.contains(one) && !(of == whole && ids.contains(one)))
        })
    }

    /// Returns the files that misplaced objects of an entry point come from.
    fn files(&self, whole: &RepoPath) -> BTreeMap<RepoPath, Vec<Misplaced>> {
        let input = &self.input;
        let misplaced = self.misplaced.get(whole).map(Vec::as_slice).unwrap_or_default();
        let mut found: BTreeMap<RepoPath, Vec<Misplaced>> = BTreeMap::new();
        for (side, position) in self.sides.of_whole(whole) {
            let own: Vec<&Misplaced> = misplaced.iter().filter(|one| one.side == position).collect();
            if own.is_empty() {
                continue;
            }
            let request = Request::delivered(side.clone()).with_origins();
            let Some(Ok(rendered)) = input.renderer.render(input.snapshot, &[request]).pop() else {
                continue;
            };
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

    /// Moves one file, or the documents of it that are meant; gives the folders that it leaves and
    /// enters.
    fn move_file(
        &self,
        builder: &mut Builder<'_>,
        whole: &RepoPath,
        file: &RepoPath,
        ids: &[Misplaced],
    ) -> Option<BTreeSet<RepoPath>> {
        let (first, rest) = ids.split_first()?;
        if rest.iter().any(|one| (one.side, one.rule) != (first.side, first.rule)) {
            return None;
        }
        let from = file.parent()?;
        let mut listing = self.input.model.graph.referrers(file);
        if listing.next() != Some(&from) || listing.next().is_some() {
            return None;
        }
        let to = self.counterpart(whole, &from, first.side, first.rule)?;
        let place = to.join(file.name()?).ok()?;
        let content = builder.now().file(file)?.clone();
        let documents = manifests(&content)?;
        if documents.iter().any(|document| document.value["items"].is_array()) {
            return None;
        }
        let naming = self.naming(whole, &from, first.side)?;
        let mut moving = Vec::new();
        for one in ids {
            let is_it = |value: &&Value| naming.gives(value, &one.id);
            let mut of = documents.iter().filter(|document| objects(&document.value).iter().any(is_it));
            moving.push(of.next()?.index);
            if of.next().is_some() {
                return None;
            }
        }
        let leaving = builder.kustomization(&from).ok()??;
        if documents.iter().all(|document| moving.contains(&document.index)) {
            builder.move_file(file, &place).ok()?;
            let text = remove(&leaving, file).ok()?;
            builder.put(&leaving.file, &text);
        } else {
            let text = content.text()?;
            let own = |index: usize| usize::from(moving.contains(&index));
            let types: Vec<(usize, usize)> =
                documents.iter().map(|document| (document.index, own(document.index))).collect();
            // A document that only holds comments goes with the next one.
            let owners = owners(text, &types);
            let piece = |owner: usize| {
                let own: Vec<usize> =
                    owners.iter().filter(|(_, of)| *of == owner).map(|(index, _)| *index).collect();
                cut_documents(text, &own).ok()
            };
            builder.create(&place, &piece(1)?).ok()?;
            builder.put(file, &piece(0)?);
        }
        let entered = builder.kustomization(&to).ok()??;
        let text = add(&entered, &place).ok()?;
        builder.put(&entered.file, &text);
        Some([from, to].into())
    }

    /// Returns what the kustomizations from a side down to a folder make of the names of its objects;
    /// `None` where several ways lead there.
    fn naming(&self, whole: &RepoPath, folder: &RepoPath, position: usize) -> Option<Naming> {
        let graph = &self.input.model.graph;
        let side = self.sides.of_type(whole, position).find(|side| graph.has(side))?;
        let mut reach = graph.reach(side);
        reach.insert(side.clone());
        let (mut naming, mut at) = (Naming::default(), folder.clone());
        // A circle does not build, so this ends; the bound is for what is read while it is broken.
        for _ in 0..=reach.len() {
            let kustomization = graph.get(&at)?;
            let text = |field: &str| {
                let value = kustomization.field(field).map(|node| node.to_json());
                value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
            };
            naming.prefix.insert_str(0, &text("namePrefix"));
            naming.suffix.push_str(&text("nameSuffix"));
            naming.has_namespace |= !text("namespace").is_empty();
            if at == *side {
                return Some(naming);
            }
            let above: Vec<&RepoPath> = graph.referrers(&at).filter(|above| reach.contains(*above)).collect();
            let [next] = above[..] else { return None };
            at = next.clone();
        }
        None
    }

    /// Returns the part of another type beside one: of a base by the layout, of an overlay by its side.
    fn counterpart(&self, whole: &RepoPath, part: &RepoPath, from: usize, to: usize) -> Option<RepoPath> {
        let input = &self.input;
        let name = |position: usize| input.spec.types[position].name.value.as_str();
        let above = part.parents();
        let bases = above.filter(|base| base_part(input.spec, base, name(from)).as_ref() == Some(part));
        let of_base = bases.filter_map(|base| base_part(input.spec, &base, name(to)));
        let side = |position: usize| self.sides.of_type(whole, position).next();
        let of_side = side(from).zip(side(to)).filter(|(from, _)| part.is_within(from));
        let of_side = of_side.and_then(|(from, to)| to.join(&part.relative_to(from)).ok());
        of_base.chain(of_side).find(|folder| input.model.graph.has(folder))
    }
}

/// What kustomizations make of the names of objects.
#[derive(Default)]
struct Naming {
    prefix: String,
    suffix: String,
    has_namespace: bool,
}

impl Naming {
    /// Returns whether an object of a file comes out of the build with an id.
    fn gives(&self, value: &Value, built: &ObjectId) -> bool {
        let id = ObjectId::of(value);
        let is_same_namespace = self.has_namespace || id.namespace == built.namespace;
        let name = built.name.strip_prefix(&self.prefix).and_then(|rest| rest.strip_suffix(&self.suffix));
        (&id.group, &id.kind) == (&built.group, &built.kind)
            && !id.name.is_empty()
            && name == Some(id.name.as_str())
            && is_same_namespace
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_found_by_its_whole_name() {
        let object = |namespace: &str, name: &str| json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": name, "namespace": namespace } });
        let naming = |prefix: &str, suffix: &str, has_namespace| Naming {
            prefix: prefix.to_owned(),
            suffix: suffix.to_owned(),
            has_namespace,
        };
        let built = ObjectId::of(&object("web", "front-web"));
        for (naming, value, found) in [
            (naming("", "", true), object("", "front-web"), true),
            (naming("", "", true), object("", "web"), false),
            (naming("", "", true), object("", ""), false),
            (naming("front-", "", true), object("", "web"), true),
            (naming("", "-web", true), object("", "front"), true),
            (naming("front-web", "", true), object("", ""), false),
            (naming("back-", "", true), object("", "web"), false),
            (naming("", "", false), object("web", "front-web"), true),
            (naming("", "", false), object("other", "front-web"), false),
            (naming("", "", true), object("other", "front-web"), true),
        ] {
            assert_eq!(naming.gives(&value, &built), found, "{value} {}", naming.prefix);
        }
        let kind =
            json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "front-web" } });
        assert!(!naming("", "", true).gives(&kind, &built));
    }
}
