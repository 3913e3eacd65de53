//! Splits one entry point.

use std::collections::BTreeMap;

use crate::diagnostic::Place;
use crate::plan::app::{Child, children};
use crate::plan::classify::Classified;
use crate::plan::folder::{FolderSplit, Parts, is_constant, respell};
use crate::plan::generated;
use crate::plan::input::{Input, Typed, TypedError};
use crate::plan::outcome::{AppOutcome, EntryOutcome, Way};
use crate::plan::projection::{self, Manner, Member};
use crate::plan::resources::{self, Item, rewrite};
use crate::plan::{Builder, Selection};
use crate::proof::{Mismatch, compare};
use crate::render::{RenderError, Request};
use crate::repo::manifest::ObjectId;
use crate::repo::{EntryPoint, Kustomization, RepoPath, flux};

/// One entry point that is being split.
pub struct EntrySplit<'a, 'i> {
    input: &'a Input<'i>,
    entry: &'a EntryPoint,
    kustomization: &'a Kustomization,
}

/// A child's place in the new entry points: the folder to list, by type.
struct Placed {
    parts: Parts,
    way: Way,
    reason: String,
}

impl<'a, 'i> EntrySplit<'a, 'i> {
    /// Prepares to split an entry point that has a usable kustomization.
    pub fn new(
        input: &'a Input<'i>,
        entry: &'a EntryPoint,
        kustomization: &'a Kustomization,
    ) -> EntrySplit<'a, 'i> {
        EntrySplit { input, entry, kustomization }
    }

    /// Splits the selected apps of the entry point into the builder; nothing stays in it after a refusal.
    pub fn split(&self, builder: &mut Builder<'_>, selection: &Selection) -> EntryOutcome {
        let outcome = EntryOutcome::new(&self.entry.cluster, &self.entry.path);
        let (all, loose) = children(self.input.model, self.entry, self.kustomization);
        let whole = selection.names_entry(self.input.model.name_of(self.entry), &self.entry.path);
        let (selected, rest): (Vec<Child>, Vec<Child>) =
            all.into_iter().partition(|child| whole || selection.names(child));
        if selected.is_empty() && !(whole && !loose.is_empty()) {
            return outcome.untouched("it uses none of the named apps");
        }
        let typed = match self.input.typed(builder.before(), &self.entry.path, "") {
            Ok(typed) => typed,
            Err(error) => return refuse(outcome, &self.entry.path, &error),
        };
        if typed.objects.is_empty() {
            return outcome.untouched("it renders no objects");
        }
        if typed.objects.iter().all(|object| ObjectId::of(&object.value).group == flux::GROUP) {
            return outcome
                .untouched("it holds only Flux Kustomizations, which gate what they apply themselves");
        }
        let foreign = self.kustomization.keys().find(|key| !is_constant(key)).map(str::to_owned);
        let entry_level = foreign.is_some() || (whole && !loose.is_empty());
        let mut refusal = None;
        if !entry_level {
            let mut trial = builder.clone();
            match self.split_children(&mut trial, &selected, &rest, &loose, &typed) {
                Ok(mut done) => {
                    *builder = trial;
                    done.remaining = rest.iter().map(|child| child.app.clone()).collect();
                    return done;
                }
                Err(Refusal { reason, remedy }) => refusal = Some((reason, remedy)),
            }
        }
        if rest.is_empty() && (whole || loose.is_empty()) {
            let mut trial = builder.clone();
            return match self.project_entry(
                &mut trial,
                &typed,
                foreign.as_deref(),
                refusal.as_ref().map(|r| r.0.as_str()),
            ) {
                Ok(done) => {
                    *builder = trial;
                    done
                }
                Err(Refusal { reason, remedy }) => outcome.refused(reason, remedy),
            };
        }
        let (reason, remedy) = refusal.unwrap_or_else(|| {
            let field = foreign.unwrap_or_default();
            (
                format!("{} has `{field}`, which speaks of all apps together", self.kustomization.file),
                "split all of its apps at once with `split --all`".to_owned(),
            )
        });
        outcome.refused(reason, remedy)
    }

    fn split_children(
        &self,
        builder: &mut Builder<'_>,
        selected: &[Child],
        rest: &[Child],
        loose: &[usize],
        typed: &Typed,
    ) -> Result<EntryOutcome, Refusal> {
        let mut outcome = EntryOutcome::new(&self.entry.cluster, &self.entry.path);
        let mut placed: Vec<(&Child, Placed)> = Vec::new();
        for child in selected {
            if let Some(parts) = self.already(builder, child)? {
                let reason = "it was split before".to_owned();
                placed.push((child, Placed { parts, way: Way::Untouched, reason }));
                continue;
            }
            placed.push((child, self.split_child(builder, child)?));
        }
        outcome.apps = placed
            .iter()
            .map(|(child, placed)| AppOutcome {
                app: child.app.clone(),
                way: placed.way,
                reason: placed.reason.clone(),
            })
            .collect();
        let present: Vec<usize> = (0..self.input.spec.types.len())
            .filter(|position| placed.iter().any(|(_, placed)| placed.parts.contains_key(position)))
            .collect();
        if let [only] = present[..]
            && rest.is_empty()
            && loose.is_empty()
        {
            let name = &self.input.spec.types[only].name.value;
            return Ok(outcome.untouched(format!("all of its objects are of type {name}")));
        }
        for position in &present {
            self.write_side(builder, *position, &placed, rest, loose)?;
            let name = self.input.spec.types[*position].name.value.clone();
            outcome.after.push((name, self.side(*position)?));
        }
        let way = placed.iter().map(|(_, placed)| placed.way).max().unwrap_or(Way::Untouched);
        outcome.way = way;
        outcome.reason = match placed.iter().find(|(_, placed)| placed.way == way) {
            Some((child, placed)) => format!("{}: {}", child.app, placed.reason),
            None => String::new(),
        };
        if way != Way::Untouched || builder_has_changes(builder) {
            self.check(builder, typed, &outcome, rest, loose)?;
        }
        Ok(outcome)
    }

    /// Recognises a child that the sides list already.
    fn already(&self, builder: &Builder<'_>, child: &Child) -> Result<Option<Parts>, Refusal> {
        let mut parts = Parts::new();
        for position in 0..self.input.spec.types.len() {
            let side = self.side(position)?;
            let Ok(Some(kustomization)) = builder.kustomization(&side) else { continue };
            let name = child.folder.name().unwrap_or_default();
            for reference in kustomization.resources() {
                let crate::repo::Target::Path(path) = reference.target else { continue };
                let own = side.join(name).is_ok_and(|folder| folder == path);
                let split = FolderSplit::new(self.input.spec, &self.input.model.graph, &child.app);
                let type_name = &self.input.spec.types[position].name.value;
                let base = split.base_part(&child.folder, type_name).is_some_and(|folder| folder == path);
                if own || base || path == child.folder {
                    parts.insert(position, path);
                }
            }
        }
        Ok((!parts.is_empty()).then_some(parts))
    }

    fn split_child(&self, builder: &mut Builder<'_>, child: &Child) -> Result<Placed, Refusal> {
        let typed = self
            .input
            .typed(builder.before(), &child.folder, &child.app)
            .map_err(|error| Refusal::of(&child.folder, &error))?;
        let present = typed.present();
        if let [only] = present[..] {
            let name = &self.input.spec.types[only].name.value;
            let parts = Parts::from([(only, child.folder.clone())]);
            return Ok(Placed {
                parts,
                way: Way::Untouched,
                reason: format!("all of its objects are of type {name}"),
            });
        }
        if present.is_empty() {
            return Ok(Placed {
                parts: Parts::new(),
                way: Way::Untouched,
                reason: "it renders no objects".into(),
            });
        }
        let split = FolderSplit::new(self.input.spec, &self.input.model.graph, &child.app);
        let mut trial = builder.clone();
        let plain = if self.is_own(&child.folder) {
            let name = child.folder.name().unwrap_or_default().to_owned();
            split.split(&mut trial, &child.folder, &|change_type| {
                let side = self.input.side(&self.entry.path, &self.entry.cluster, change_type)?;
                side.join(&name).ok()
            })
        } else {
            split.split_base(&mut trial, &child.folder)
        };
        let why = match plain {
            Ok(parts) => match self.differs(&trial, &typed, &parts) {
                None => {
                    *builder = trial;
                    let reason = "no reference between its objects is rewritten".to_owned();
                    return Ok(Placed { parts, way: Way::Plain, reason });
                }
                Some(mismatch) => format!("divided plainly, {mismatch}"),
            },
            Err(reason) => reason,
        };
        self.move_bases(builder, child, &split);
        let parts = self.project_child(builder, child, &typed)?;
        Ok(Placed { parts, way: Way::Projection, reason: why })
    }

    /// A folder that only this entry point uses and that lies within it.
    fn is_own(&self, folder: &RepoPath) -> bool {
        let mut referrers = self.input.model.graph.referrers(folder);
        folder.is_within(&self.entry.path) && referrers.all(|referrer| *referrer == self.entry.path)
    }

    /// Divides the files of a child's bases where that changes no build; a base that can't stays.
    fn move_bases(&self, builder: &mut Builder<'_>, child: &Child, split: &FolderSplit<'_>) {
        for base in self.input.model.graph.children(&child.folder) {
            if base.is_within(&self.entry.path) {
                continue;
            }
            let Ok(typed) = self.input.typed(builder.before(), &base, &child.app) else { continue };
            let mut trial = builder.clone();
            if let Ok(parts) = split.split_base(&mut trial, &base)
                && parts.len() > 1
                && self.differs(&trial, &typed, &parts).is_none()
            {
                *builder = trial;
            }
        }
    }

    fn project_child(
        &self,
        builder: &mut Builder<'_>,
        child: &Child,
        typed: &Typed,
    ) -> Result<Parts, Refusal> {
        let name = child.folder.name().unwrap_or_default();
        let mut folders = Parts::new();
        for position in typed.present() {
            let folder = self.side(position)?.join(name).map_err(|error| Refusal::bug(&error.to_string()))?;
            folders.insert(position, folder);
        }
        self.project(builder, &child.app, &child.folder, typed, &folders)?;
        Ok(folders)
    }

    /// Writes a projection of `whole` into each folder, by rules if those come out right, else by a list.
    fn project(
        &self,
        builder: &mut Builder<'_>,
        app: &str,
        whole: &RepoPath,
        typed: &Typed,
        folders: &Parts,
    ) -> Result<(), Refusal> {
        let mut last = String::new();
        for manner in [Manner::Rules, Manner::List] {
            let mut trial = builder.clone();
            for (position, folder) in folders {
                let text = projection_text(self.input, app, whole, folder, *position, typed, manner);
                let file =
                    folder.join("kustomization.yaml").map_err(|error| Refusal::bug(&error.to_string()))?;
                trial.create(&file, &text).map_err(|error| Refusal::of_error(&error))?;
            }
            match self.differs(&trial, typed, folders) {
                None => {
                    *builder = trial;
                    return Ok(());
                }
                Some(mismatch) => last = mismatch.to_string(),
            }
        }
        Err(Refusal {
            reason: format!("neither a plain split nor a projection of {whole} renders the same: {last}"),
            remedy: "report this with the folder's kustomization.yaml; nothing was changed".into(),
        })
    }

    /// Compares each part's build with the objects of its type; gives the first difference.
    fn differs(&self, trial: &Builder<'_>, typed: &Typed, parts: &Parts) -> Option<Mismatch> {
        let requests: Vec<Request> = parts.values().map(|folder| Request::folder(folder.clone())).collect();
        let results = self.input.renderer.render(trial.now(), &requests);
        let by_type: BTreeMap<usize, (&RepoPath, Result<_, RenderError>)> = parts
            .iter()
            .zip(results)
            .map(|((position, folder), result)| (*position, (folder, result)))
            .collect();
        let empty = Ok(Vec::new());
        let nowhere = RepoPath::top();
        (0..self.input.spec.types.len()).find_map(|position| {
            let (folder, result) =
                by_type.get(&position).map_or((&nowhere, &empty), |(folder, result)| (*folder, result));
            compare(&typed.of(position), &[(folder, result)]).into_iter().next()
        })
    }

    fn side(&self, position: usize) -> Result<RepoPath, Refusal> {
        let name = &self.input.spec.types[position].name.value;
        self.input
            .side(&self.entry.path, &self.entry.cluster, name)
            .ok_or_else(|| Refusal::bug("the layout gives no folder for an entry point"))
    }

    /// Writes the kustomization of one side, or adds to the one that is there.
    fn write_side(
        &self,
        builder: &mut Builder<'_>,
        position: usize,
        placed: &[(&Child, Placed)],
        rest: &[Child],
        loose: &[usize],
    ) -> Result<(), Refusal> {
        let side = self.side(position)?;
        if let Some(mut existing) =
            builder.kustomization(&side).map_err(|diagnostic| Refusal::of_diagnostic(&diagnostic))?
        {
            for folder in placed.iter().filter_map(|(_, placed)| placed.parts.get(&position)) {
                let text = resources::add(&existing, folder)
                    .map_err(|error| Refusal::of_edit(&existing.file, &error.to_string()))?;
                builder.put(&existing.file, &text);
                existing.text = text.into();
                let reread =
                    builder.kustomization(&side).map_err(|diagnostic| Refusal::of_diagnostic(&diagnostic))?;
                existing = reread.ok_or_else(|| Refusal::bug("a kustomization vanished"))?;
            }
            return Ok(());
        }
        let mut items = vec![Item::Keep; self.kustomization.resources().len()];
        for index in rest.iter().map(|child| child.index).chain(loose.iter().copied()) {
            items[index] = Item::Remove;
        }
        for (child, placed) in placed {
            items[child.index] = match placed.parts.get(&position) {
                Some(folder) => Item::Replace(respell(&child.reference.text, &folder.relative_to(&side))),
                None => Item::Remove,
            };
        }
        let text = rewrite(self.kustomization, &items)
            .map_err(|error| Refusal::of_edit(&self.kustomization.file, &error.to_string()))?;
        let name = self.kustomization.file.name().unwrap_or("kustomization.yaml");
        let file = side.join(name).map_err(|error| Refusal::bug(&error.to_string()))?;
        builder.create(&file, &text).map_err(|error| Refusal::of_error(&error))
    }

    /// Proves the whole entry point: its sides and what stays behind are what it was.
    fn check(
        &self,
        builder: &Builder<'_>,
        typed: &Typed,
        outcome: &EntryOutcome,
        rest: &[Child],
        loose: &[usize],
    ) -> Result<(), Refusal> {
        let mut trial = builder.clone();
        let mut folders: Vec<RepoPath> = outcome.after.iter().map(|(_, folder)| folder.clone()).collect();
        if !rest.is_empty() || !loose.is_empty() {
            let count = self.kustomization.resources().len();
            let stays =
                |index: &usize| loose.contains(index) || rest.iter().any(|child| child.index == *index);
            let items: Vec<Item> =
                (0..count).map(|index| if stays(&index) { Item::Keep } else { Item::Remove }).collect();
            let text = rewrite(self.kustomization, &items)
                .map_err(|error| Refusal::of_edit(&self.kustomization.file, &error.to_string()))?;
            trial.put(&self.kustomization.file, &text);
            folders.push(self.entry.path.clone());
        }
        let requests: Vec<Request> = folders.iter().map(|folder| Request::folder(folder.clone())).collect();
        let results = self.input.renderer.render(trial.now(), &requests);
        let parts: Vec<_> = folders.iter().zip(results.iter()).collect();
        match compare(&typed.objects, &parts).into_iter().next() {
            None => Ok(()),
            Some(mismatch) => Err(Refusal {
                reason: format!("the parts of {} would not render the same: {mismatch}", self.entry.path),
                remedy: "split all of its apps at once with `split --all`".into(),
            }),
        }
    }

    /// Projects the entry point as a whole: its content moves to a folder beside the sides.
    fn project_entry(
        &self,
        builder: &mut Builder<'_>,
        typed: &Typed,
        field: Option<&str>,
        earlier: Option<&str>,
    ) -> Result<EntryOutcome, Refusal> {
        let mut outcome = EntryOutcome::new(&self.entry.cluster, &self.entry.path);
        let present = typed.present();
        if let [only] = present[..] {
            let name = &self.input.spec.types[only].name.value;
            return Ok(outcome.untouched(format!("all of its objects are of type {name}")));
        }
        let whole = self
            .input
            .side(&self.entry.path, &self.entry.cluster, "all")
            .ok_or_else(|| Refusal::bug("the layout gives no folder for an entry point"))?;
        generated::move_whole(builder, self.kustomization, &whole).map_err(|reason| Refusal {
            reason,
            remedy: "make the named field a list in block style, or split this entry point by hand".into(),
        })?;
        let mut folders = Parts::new();
        for position in present {
            folders.insert(position, self.side(position)?);
        }
        let app = self.input.model.name_of(self.entry).to_owned();
        self.project(builder, &app, &whole, typed, &folders)?;
        outcome.after = folders
            .iter()
            .map(|(position, folder)| (self.input.spec.types[*position].name.value.clone(), folder.clone()))
            .collect();
        outcome.way = Way::Projection;
        outcome.reason = match (field, earlier) {
            (Some(field), _) => {
                format!("{} has `{field}`, which must stay in one place", self.kustomization.file)
            }
            (None, Some(earlier)) => earlier.to_owned(),
            (None, None) => format!("{} lists files of its own", self.kustomization.file),
        };
        Ok(outcome)
    }
}

/// Writes the text of a projection, header included.
pub fn projection_text(
    input: &Input<'_>,
    app: &str,
    whole: &RepoPath,
    folder: &RepoPath,
    position: usize,
    typed: &Typed,
    manner: Manner,
) -> String {
    let member = |(object, classified): (&crate::render::Object, &Classified)| Member {
        id: ObjectId::of(&object.value),
        change_type: classified.change_type,
        exception: projection::is_exception(input.spec, app, &object.value, classified.change_type),
    };
    let members: Vec<Member> = typed.objects.iter().zip(&typed.types).map(member).collect();
    let body =
        projection::kustomization(input.spec, app, &whole.relative_to(folder), position, &members, manner);
    generated::with_header(&body)
}

fn builder_has_changes(builder: &Builder<'_>) -> bool {
    !builder.finish().changes.is_empty()
}

fn refuse(outcome: EntryOutcome, folder: &RepoPath, error: &TypedError) -> EntryOutcome {
    let refusal = Refusal::of(folder, error);
    let mut outcome = outcome.refused(refusal.reason, refusal.remedy);
    outcome.invalid = matches!(error, TypedError::Render(_));
    outcome.place = Some(Place::file(folder.clone()));
    outcome
}

/// Why an entry point can't be split, and what to do about it.
struct Refusal {
    reason: String,
    remedy: String,
}

impl Refusal {
    fn of(folder: &RepoPath, error: &TypedError) -> Refusal {
        match error {
            TypedError::Render(message) => Refusal {
                reason: format!("{folder} does not build: {message}"),
                remedy: format!("mend it until `kustomize build {folder}` works"),
            },
            TypedError::Classify(error) => {
                Refusal { reason: error.message.clone(), remedy: error.help.clone() }
            }
        }
    }

    fn of_error(error: &crate::error::Error) -> Refusal {
        let help = error.diagnostics.first().and_then(|diagnostic| diagnostic.help.clone());
        Refusal { reason: error.to_string(), remedy: help.unwrap_or_default() }
    }

    fn of_diagnostic(diagnostic: &crate::diagnostic::Diagnostic) -> Refusal {
        Refusal { reason: diagnostic.message.clone(), remedy: diagnostic.help.clone().unwrap_or_default() }
    }

    fn of_edit(file: &RepoPath, reason: &str) -> Refusal {
        Refusal {
            reason: format!("{file} can't be edited: {reason}"),
            remedy: "write its lists in block style".into(),
        }
    }

    fn bug(reason: &str) -> Refusal {
        Refusal { reason: reason.to_owned(), remedy: "report this".into() }
    }
}
