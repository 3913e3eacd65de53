//! Plain splits: the files of a folder divided into a folder for each type.
//!
//! Only folders that list resources and say nothing else that anybody edits are split plainly. A
//! patch, a generator, an image tag or a component would have to stand in two places, and two
//! copies of a value that people edit drift apart; such folders are projected instead.

use std::collections::BTreeSet;

use crate::delivery::base_part;
use crate::delivery::classify::{Context, classify};
use crate::delivery::values::Values;
use crate::path::RepoPath;
use crate::plan::edit::parts::Parts;
use crate::plan::edit::resources::{Item, respell, rewrite};
use crate::plan::edit::{Builder, documents};
use crate::repo::field::is_constant;
use crate::repo::manifest::{manifests, objects};
use crate::repo::{Graph, Kustomization, Reference, Target, umbrella};
use crate::spec::Spec;
use crate::yaml::cut_documents;

/// Splits folders plainly, each at most once.
#[derive(Clone, Debug)]
pub struct FolderSplit<'a> {
    spec: &'a Spec,
    graph: &'a Graph,
    app: String,
    values: &'a Values,
}

/// Where the parts of a folder go, by the name of the type.
pub type Destination<'a> = &'a dyn Fn(usize) -> Option<RepoPath>;

impl<'a> FolderSplit<'a> {
    /// Prepares to split the folders of an app, of which HelmReleases read these values.
    pub fn new(spec: &'a Spec, graph: &'a Graph, app: &str, values: &'a Values) -> FolderSplit<'a> {
        FolderSplit { spec, graph, app: app.to_owned(), values }
    }

    /// Recognises a folder that was split before: it lists its own parts and nothing else.
    pub fn existing_parts(&self, kustomization: &Kustomization) -> Option<Parts> {
        let mut parts = Parts::new();
        for reference in kustomization.resources() {
            let path = reference.path()?;
            let position = self.spec.types.iter().position(|change_type| {
                base_part(self.spec, &kustomization.folder, &change_type.name).as_ref() == Some(path)
            })?;
            parts.insert(position, path.clone());
        }
        (!parts.is_empty()).then_some(parts)
    }

    /// Splits a base: its parts go below or beside it as the layout says.
    ///
    /// # Errors
    ///
    /// When it can't be split plainly, with the reason; the builder may then hold half of it and
    /// must be thrown away.
    pub fn split_base(&self, builder: &mut Builder<'_>, folder: &RepoPath) -> Result<Parts, String> {
        let name = |position: usize| &self.spec.types[position].name;
        self.split(builder, folder, &|position| base_part(self.spec, folder, name(position)))
    }

    /// Splits a folder into the given destinations.
    ///
    /// # Errors
    ///
    /// As [`split_base`](FolderSplit::split_base).
    pub fn split(
        &self,
        builder: &mut Builder<'_>,
        folder: &RepoPath,
        destination: Destination<'_>,
    ) -> Result<Parts, String> {
        let kustomization = builder
            .kustomization(folder)
            .map_err(|diagnostic| diagnostic.message)?
            .ok_or_else(|| format!("{folder} has no kustomization.yaml"))?;
        if let Some(parts) = self.existing_parts(&kustomization) {
            return Ok(parts);
        }
        if let Some(field) = kustomization.keys().find(|key| makes_objects(key)) {
            return Err(format!("{folder} has `{field}`, which generates objects"));
        }
        let sources = self.sources(builder, &kustomization)?;
        let present: BTreeSet<usize> = sources.iter().flat_map(Source::types).collect();
        if let [only] = present.iter().copied().collect::<Vec<_>>()[..] {
            return Ok(Parts::from([(only, folder.clone())]));
        }
        if let Some(field) = kustomization.keys().find(|key| !is_constant(key)) {
            return Err(format!("{folder} has `{field}`, which can't be divided"));
        }
        let mut parts = Parts::new();
        for change_type in present {
            let part = destination(change_type)
                .ok_or_else(|| format!("`app` of the layout names segments that {folder} does not have"))?;
            parts.insert(change_type, part);
        }
        self.write_parts(builder, &kustomization, &sources, &parts)?;
        Ok(parts)
    }

    /// Finds out what each resource of a folder holds, by type.
    fn sources(
        &self,
        builder: &mut Builder<'_>,
        kustomization: &Kustomization,
    ) -> Result<Vec<Source>, String> {
        let mut sources = Vec::new();
        for reference in kustomization.resources() {
            if reference.field != "resources" {
                return Err(format!("{} has `bases`, which went with kustomize v5", kustomization.folder));
            }
            let path = match &reference.target {
                Target::Path(path) => self.graph.real(path),
                Target::Remote => return Err(format!("`{}` is fetched over the network", reference.text)),
                Target::Outside => return Err(format!("`{}` leaves the repository", reference.text)),
            };
            let source = if builder.now().file(&path).is_some() {
                self.file(builder, kustomization, reference.clone(), path)?
            } else {
                let parts = self.split_base(builder, &path)?;
                Source { reference: reference.clone(), content: Content::Folder(parts) }
            };
            sources.push(source);
        }
        if sources.is_empty() {
            return Err(format!("{} lists no resources", kustomization.folder));
        }
        Ok(sources)
    }

    fn file(
        &self,
        builder: &Builder<'_>,
        kustomization: &Kustomization,
        reference: Reference,
        path: RepoPath,
    ) -> Result<Source, String> {
        let file = builder.now().file(&path).ok_or_else(|| format!("{path} is missing"))?;
        let documents = manifests(file).ok_or_else(|| format!("{path} can't be read as YAML"))?;
        let relative = path.relative_to(&self.spec.folder());
        let context = Context { app: &self.app, path: Some(&relative), values: Some(self.values) };
        let mut types: Vec<(usize, usize)> = Vec::new();
        let executable = file.executable;
        for document in &documents {
            let mut of_document = BTreeSet::new();
            for object in objects(&document.value) {
                let classified = classify(self.spec, object, context).map_err(|error| error.message)?;
                of_document.insert(classified.change_type);
            }
            match of_document.iter().copied().collect::<Vec<_>>()[..] {
                [only] => types.push((document.index, only)),
                [] => return Err(format!("{path} holds an empty list")),
                _ => return Err(format!("{path} holds one list of objects of different types")),
            }
        }
        let mine = path.parent().as_ref() == Some(&kustomization.folder);
        let alone = self.graph.referrers(&path).all(|folder| *folder == kustomization.folder);
        let content = match types.first() {
            None => return Err(format!("{path} holds no objects")),
            Some((_, first)) if types.iter().all(|(_, other)| other == first) => {
                Content::File { path, change_type: *first, moves: mine && alone }
            }
            Some(_) if mine && alone && executable => {
                return Err(format!("{path} holds objects of different types and is executable"));
            }
            Some(_) if mine && alone => {
                let types = documents::owners(file.text().unwrap_or_default(), &types);
                Content::Mixed { path, types }
            }
            Some(_) => {
                return Err(format!("{path} holds objects of different types and is used elsewhere too"));
            }
        };
        Ok(Source { reference, content })
    }

    fn write_parts(
        &self,
        builder: &mut Builder<'_>,
        kustomization: &Kustomization,
        sources: &[Source],
        parts: &Parts,
    ) -> Result<(), String> {
        let failed = |error: crate::error::Error| error.to_string();
        for (change_type, part) in parts {
            let items: Vec<Item> = sources
                .iter()
                .map(|source| source.item(*change_type, &kustomization.folder, part))
                .collect::<Result<_, _>>()?;
            let text = rewrite(kustomization, &items).map_err(|error| error.to_string())?;
            let name = kustomization.file.name().unwrap_or("kustomization.yaml");
            let file = part.join(name).map_err(|error| error.to_string())?;
            builder.create(&file, &text).map_err(failed)?;
        }
        let mut notes = Vec::new();
        for source in sources {
            match &source.content {
                Content::File { path, change_type, moves: true } => {
                    let part = parts.get(change_type).ok_or("a type without a part")?;
                    builder.move_file(path, &inside(part, path)?).map_err(failed)?;
                }
                Content::Mixed { path, types } => {
                    let file = builder.now().file(path).cloned().ok_or("a file vanished")?;
                    let text = file.text().ok_or_else(|| format!("{path} is not UTF-8"))?.to_owned();
                    builder.remove(path);
                    let order: Vec<usize> = types.iter().map(|(_, change_type)| *change_type).collect();
                    notes.push(documents::note(path.name().unwrap_or_default(), &order, |position| {
                        &self.spec.types[position].name.value
                    }));
                    let mut pieces = Vec::new();
                    for (change_type, part) in parts {
                        let keep: Vec<usize> = types
                            .iter()
                            .filter(|(_, other)| other == change_type)
                            .map(|(index, _)| *index)
                            .collect();
                        if keep.is_empty() {
                            continue;
                        }
                        let piece = cut_documents(&text, &keep).map_err(|error| error.to_string())?;
                        builder.create(&inside(part, path)?, &piece).map_err(failed)?;
                        pieces.push((*change_type, piece));
                    }
                    if documents::rejoin(&pieces, &order).as_deref() != Some(text.as_str()) {
                        return Err(format!("{path} could not be put together again once it is cut"));
                    }
                }
                _ => {}
            }
        }
        let order = parts.values().map(|part| part.relative_to(&kustomization.folder)).collect::<Vec<_>>();
        builder.put(&kustomization.file, &umbrella::write(&kustomization.text, &order, &notes));
        Ok(())
    }
}

/// Returns whether a field brings objects of its own, beside those of `resources`.
fn makes_objects(key: &str) -> bool {
    ["configmapgenerator", "secretgenerator", "generators", "components", "helmcharts", "transformers"]
        .iter()
        .any(|field| field.eq_ignore_ascii_case(key))
}

/// Returns the place of a moved file in its part.
fn inside(part: &RepoPath, file: &RepoPath) -> Result<RepoPath, String> {
    part.join(file.name().unwrap_or_default()).map_err(|error| error.to_string())
}

/// One resource of a folder and what it holds.
#[derive(Clone, Debug)]
struct Source {
    reference: Reference,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    File { path: RepoPath, change_type: usize, moves: bool },
    Mixed { path: RepoPath, types: Vec<(usize, usize)> },
    Folder(Parts),
}

impl Source {
    fn types(&self) -> Vec<usize> {
        match &self.content {
            Content::File { change_type, .. } => vec![*change_type],
            Content::Mixed { types, .. } => types.iter().map(|(_, change_type)| *change_type).collect(),
            Content::Folder(parts) => parts.keys().copied().collect(),
        }
    }

    /// Says what becomes of this resource's line in the part of one type.
    fn item(&self, change_type: usize, folder: &RepoPath, part: &RepoPath) -> Result<Item, String> {
        if !self.types().contains(&change_type) {
            return Ok(Item::Remove);
        }
        let (path, stays) = match &self.content {
            Content::File { path, moves: false, .. } => (path.clone(), false),
            Content::File { path, .. } | Content::Mixed { path, .. } => (inside(part, path)?, true),
            Content::Folder(parts) => (parts.get(&change_type).cloned().unwrap_or_default(), false),
        };
        // A file that lies directly in the folder keeps its text, `./` and all.
        if stays
            && self.reference.target
                == Target::Path(folder.join(path.name().unwrap_or_default()).unwrap_or_default())
        {
            return Ok(Item::Keep);
        }
        Ok(Item::Replace(respell(&self.reference.text, &path.relative_to(part))))
    }
}
