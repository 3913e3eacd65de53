//! What most commands begin with: the repository read once, the spec, the model, a renderer.

use std::collections::BTreeMap;
use std::path::Path;

use crate::check::unwanted;
use crate::cli::{DEFAULT_DIRECTORY, DEFAULT_SPEC, Global};
use crate::commands::renderer::renderer;
use crate::commands::schedules::sound;
use crate::delivery::Model;
use crate::delivery::{Input, Known, World};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::path::{RepoPath, RepoPathError};
use crate::plan::{Plan, is_remote};
use crate::render::Renderer;
use crate::repo::flux::is_yaml;
use crate::repo::{Entry, Repository, Snapshot};
use crate::spec::{self, Parsed, Spec};
use crate::write;

/// The repository as it was read.
pub struct Workspace {
    /// Where it is.
    pub repository: Repository,
    /// Its files.
    pub snapshot: Snapshot,
    /// The spec's file.
    pub spec_path: RepoPath,
    /// Files and folders whose uncommitted edits the command is there for: they hinder no write.
    pub edited: Vec<RepoPath>,
}

impl Workspace {
    /// Finds and reads the repository, after finishing or taking back a write that was cut short.
    pub fn open(global: &Global, output: &Output) -> Result<Workspace, Error> {
        let repository = Repository::discover(&global.directory)?;
        refuse_inner(global, &repository)?;
        if let Some(recovered) = write::recover(&repository)? {
            output.say(&recovered.to_string());
        }
        let reading = repository.read()?;
        output.diagnostics(&reading.notes);
        // The process ends with its command: until then a fleet's files need not be taken apart.
        std::mem::forget(reading.snapshot.clone());
        let spec_path = spec_path(global, repository.spec_dir(), &reading.snapshot)?;
        Ok(Workspace { repository, snapshot: reading.snapshot, spec_path, edited: Vec::new() })
    }

    /// Returns the templates that the user placed in `templates/` beside the spec, by name.
    pub fn overrides(&self) -> BTreeMap<String, String> {
        self.overrides_of(&self.snapshot)
    }

    /// As [`overrides`](Workspace::overrides), in another state of the repository.
    pub fn overrides_of(&self, snapshot: &Snapshot) -> BTreeMap<String, String> {
        let Some(folder) = self.templates() else { return BTreeMap::new() };
        let files = snapshot.below(&folder).filter(|(path, _)| path.parent().as_ref() == Some(&folder));
        files
            .filter_map(|(path, entry)| match entry {
                Entry::File(file) => {
                    Some((path.name()?.strip_suffix(".j2")?.to_owned(), file.text()?.to_owned()))
                }
                _ => None,
            })
            .collect()
    }

    /// Lets the spec and the templates beside it be uncommitted: who edits them wants just what
    /// follows from that, and commits both together.
    pub fn allow_edited_spec(&mut self) {
        self.edited = self.templates().into_iter().chain([self.spec_path.clone()]).collect();
    }

    fn templates(&self) -> Option<RepoPath> {
        self.spec_path.parent().unwrap_or_default().join("templates").ok()
    }

    /// Reads the spec and shows what is doubtful about it and not wanted.
    pub fn spec(&self, output: &Output) -> Result<Spec, Error> {
        Ok(self.shown(spec::read(&self.snapshot, &self.spec_path)?, output))
    }

    /// Reads the spec for a question that can be asked without; `None` where nobody named one and there is none.
    pub fn spec_if_any(&self, global: &Global) -> Result<Option<Parsed>, Error> {
        if global.spec == DEFAULT_SPEC && self.snapshot.entry(&self.spec_path).is_none() {
            let folder = self.spec_path.parent().unwrap_or_default();
            if self.snapshot.below(&folder).any(|(path, _)| is_yaml(path)) {
                return Ok(None);
            }
            return Err(Error::invalid(
                Diagnostic::error("this folder has no windows.yaml and no YAML file. Flux reads nothing here")
                    .at(Place::file(folder))
                    .help("run it in the git repository that Flux reads\nor name that folder: `gitops-windows -C FOLDER …`"),
            ));
        }
        spec::read(&self.snapshot, &self.spec_path).map(Some)
    }

    /// Finds what a path means: from the folder of the command where something stands there, else from that of the spec.
    ///
    /// # Errors
    ///
    /// When it leads out of the repository.
    pub fn path(&self, text: &str) -> Result<RepoPath, RepoPathError> {
        let own = self.repository.spec_dir().join(text);
        let stands = |path: &RepoPath| self.snapshot.entry(path).is_some() || self.snapshot.is_dir(path);
        match own {
            Ok(own) if stands(&own) => Ok(own),
            _ => self.spec_path.parent().unwrap_or_default().join(text),
        }
    }

    /// Shows what is doubtful about a spec and not wanted.
    pub fn shown(&self, parsed: Parsed, output: &Output) -> Spec {
        let warnings = unwanted(parsed.warnings, Some(&parsed.spec), &self.snapshot, &parsed.spec.folder());
        output.diagnostics(&warnings);
        parsed.spec
    }

    /// Understands the repository, in the light of a spec where there is one.
    pub fn model(&self, spec: Option<&Spec>, renderer: &dyn Renderer) -> Model {
        self.model_of(&self.snapshot, spec, renderer)
    }

    /// Understands another state of the repository, as [`model`](Workspace::model) does its own.
    pub fn model_of(&self, snapshot: &Snapshot, spec: Option<&Spec>, renderer: &dyn Renderer) -> Model {
        self.model_by(snapshot, &spec.map(Known::of).unwrap_or_default(), renderer)
    }

    /// As [`model_of`](Workspace::model_of), of a state that is compared with a later one.
    pub fn model_before(
        &self,
        later: &Snapshot,
        snapshot: &Snapshot,
        spec: Option<&Spec>,
        renderer: &dyn Renderer,
    ) -> Model {
        self.model_by(snapshot, &spec.map(Known::of).unwrap_or_default().before(later), renderer)
    }

    /// As [`model_of`](Workspace::model_of), of a state that is compared with an older one.
    pub fn model_after(
        &self,
        older: World<'_>,
        snapshot: &Snapshot,
        spec: Option<&Spec>,
        renderer: &dyn Renderer,
    ) -> Model {
        let known = spec.map(Known::of).unwrap_or_default().after(older);
        let mut model = self.model_by(snapshot, &known, renderer);
        model.keep_unread(older.model);
        model
    }

    fn model_by(&self, snapshot: &Snapshot, known: &Known, renderer: &dyn Renderer) -> Model {
        let folder = self.spec_path.parent().unwrap_or_default();
        Model::read(snapshot, &folder, known, renderer)
    }
}

/// Says which clusters only their folders tell of.
pub fn tell_guess(model: &Model, spec: Option<&Spec>, output: &Output) {
    output.diagnostics(model.guess(spec).as_slice());
}

/// Refuses a spec of a git repository inside of the folder: its paths mean that one, and nothing here would fit.
fn refuse_inner(global: &Global, repository: &Repository) -> Result<(), Error> {
    let folder = Path::new(&global.spec).parent().filter(|folder| !folder.as_os_str().is_empty());
    let Some(folder) = folder.map(|folder| global.directory.join(folder)) else { return Ok(()) };
    let Ok(own) = Repository::discover(&folder) else { return Ok(()) };
    if own.git().is_none() || own.top() == repository.top() {
        return Ok(());
    }
    let message = format!("--spec: {} is in another git repository than the folder of -C", global.spec);
    let help = format!("run it there: `gitops-windows -C {}`", folder.display());
    Err(Error::new(ErrorKind::Usage, Diagnostic::error(message).help(help)))
}

/// Finds the spec as git finds its repository: in the folder, or else in the nearest one above. Where there is none, it
/// belongs into the folder that was named, or else at the top.
fn spec_path(global: &Global, folder: &RepoPath, snapshot: &Snapshot) -> Result<RepoPath, Error> {
    let refused = |error: RepoPathError| {
        Error::new(
            ErrorKind::Usage,
            Diagnostic::error(format!("--spec: {error}")).help("name a file below the folder of -C"),
        )
    };
    let own = folder.join(&global.spec).map_err(refused)?;
    let above = folder.ancestors().filter_map(|above| above.join(&global.spec).ok());
    let mut above = above.filter(|_| global.spec == DEFAULT_SPEC);
    if let Some(found) = above.find(|path| snapshot.entry(path).is_some()) {
        return Ok(found);
    }
    let is_named = global.directory != Path::new(DEFAULT_DIRECTORY) || global.spec != DEFAULT_SPEC;
    if is_named { Ok(own) } else { RepoPath::top().join(&global.spec).map_err(refused) }
}

/// Everything a plan is made from, owned.
pub struct Loaded {
    /// The repository.
    pub workspace: Workspace,
    /// The spec.
    pub spec: Spec,
    /// What the repository means.
    pub model: Model,
    /// What builds.
    pub renderer: Box<dyn Renderer>,
}

impl Loaded {
    /// Loads it all; remarks about the repository are shown.
    pub fn open(global: &Global, output: &Output) -> Result<Loaded, Error> {
        let workspace = Workspace::open(global, output)?;
        let spec = workspace.spec(output)?;
        Loaded::with(global, output, workspace, spec)
    }

    /// As [`open`](Loaded::open), for what people do in an incident.
    pub fn open_in_need(global: &Global, output: &Output) -> Result<Loaded, Error> {
        let workspace = Workspace::open(global, output)?;
        let spec = workspace.shown(spec::read_in_need(&workspace.snapshot, &workspace.spec_path)?, output);
        Loaded::with(global, output, workspace, spec)
    }

    /// As [`open`](Loaded::open), for what writes files that follow from the spec.
    ///
    /// # Errors
    ///
    /// Those of [`sound`] too.
    pub fn open_to_write(global: &Global, output: &Output) -> Result<Loaded, Error> {
        let loaded = Loaded::open(global, output)?;
        loaded.mention(output);
        sound(global, output, &loaded.spec, &loaded.model, &loaded.workspace.snapshot)?;
        Ok(loaded)
    }

    fn with(global: &Global, output: &Output, workspace: Workspace, spec: Spec) -> Result<Loaded, Error> {
        let renderer = renderer(global, output)?;
        let model = workspace.model(Some(&spec), renderer.as_ref());
        tell_guess(&model, Some(&spec), output);
        Ok(Loaded { workspace, spec, model, renderer })
    }

    /// Says in one line that there are remarks on the repository, which `clusters` tells.
    pub fn mention(&self, output: &Output) {
        let (remarks, them) = match self.model.remarks.len() {
            0 => return,
            1 => ("1 remark".to_owned(), "it"),
            count => (format!("{count} remarks"), "them"),
        };
        output.say(&format!("{remarks} on the repository: `gitops-windows clusters` tells {them}."));
    }

    /// Adds to a plan that changes nothing what does not build in the clusters of the spec: the reason may be that.
    pub fn warn_of_broken(&self, plan: &mut Plan) {
        if !plan.changes.is_empty() {
            return;
        }
        let own = self.model.delivered.all.iter().filter(|one| self.spec.clusters.contains_key(&one.name));
        let broken = own.flat_map(|cluster| &cluster.kustomizations).filter_map(|one| {
            let error = one.error.as_deref().filter(|error| !is_remote(error))?;
            Some((one.path.clone()?, error.split_whitespace().collect::<Vec<_>>().join(" ")))
        });
        for (path, error) in broken.collect::<BTreeMap<_, _>>() {
            let is_told = |place: &Place| place.path.is_within(&path);
            let refused = plan.report.entries().iter().any(|entry| entry.before == path && entry.is_broken());
            if refused || plan.remarks.iter().filter_map(|one| one.place.as_ref()).any(is_told) {
                continue;
            }
            let told = Diagnostic::warning(format!("{path} does not build: {error}"));
            plan.remarks.push(told.at(Place::file(path)).help("`gitops-windows check` says what to correct"));
        }
    }

    /// Reads the repository as it is at a revision.
    ///
    /// # Errors
    ///
    /// When there is no such revision or it can't be read.
    pub fn base(&self, revision: &str) -> Result<Base, Error> {
        let snapshot =
            self.workspace.repository.snapshot_beside(revision, &self.workspace.snapshot)?.snapshot;
        // The revision may be older than the spec; then today's says what its folders mean.
        let old = spec::read(&snapshot, &self.workspace.spec_path).map(|parsed| parsed.spec);
        let spec = old.unwrap_or_else(|_| self.spec.clone());
        let model = Model::read(&snapshot, &spec.folder(), &Known::of(&spec), self.renderer.as_ref());
        Ok(Base { spec, snapshot, model })
    }

    /// Returns the parts as a plan takes them.
    pub fn input(&self) -> Input<'_> {
        Input {
            spec: &self.spec,
            snapshot: &self.workspace.snapshot,
            model: &self.model,
            renderer: self.renderer.as_ref(),
        }
    }
}

/// The repository at a revision, which the clusters are taken to have.
pub struct Base {
    spec: Spec,
    snapshot: Snapshot,
    model: Model,
}

impl Base {
    /// Returns the parts as a plan takes them.
    pub fn input<'a>(&'a self, renderer: &'a dyn Renderer) -> Input<'a> {
        Input { spec: &self.spec, snapshot: &self.snapshot, model: &self.model, renderer }
    }
}
