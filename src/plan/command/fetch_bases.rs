//! `fetch-bases`: what builds take from elsewhere becomes a part of the repository.

use std::collections::{BTreeMap, BTreeSet, btree_map};
use std::ops::Range;

use crate::delivery::World;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::{Plan, refuse_unfetched};
use crate::render::{Renderer, Request};
use crate::repo::{
    Entry, Fetched, Graph, Kustomization, Reference, RemoteBase, Snapshot, Target, built, segment,
};
use crate::text::sha256;
use crate::yaml::{line_break_near, line_end, line_start};

/// Who fetches.
pub trait Fetch {
    /// Fetches the repository of a base at its commit.
    ///
    /// # Errors
    ///
    /// When it can't.
    fn repository(&self, base: &RemoteBase) -> Result<Fetched, Error>;

    /// Fetches a file.
    ///
    /// # Errors
    ///
    /// When it can't.
    fn file(&self, url: &str) -> Result<String, Error>;
}

/// How often bases may name further ones.
const DEEPEST: usize = 16;

/// The characters of a hash that a folder's name has.
const SHORT: usize = 12;

/// Plans to copy what builds name by an address into a folder, and to name the copies instead.
///
/// What counts are the builds of Flux Kustomizations that some cluster gets, and in them `resources`, `bases` and
/// `components`. Of a base its folder comes, with all that its build takes in, in the repository's own layout below
/// `FOLDER/HOST/PATH@COMMIT`; of a file the file itself, below `FOLDER/HOST/…@HASH`. Bases of bases follow. Beside each
/// path stands the address that stood there.
///
/// There is nothing to compare the builds with, since they needed the network: so it is told from where each copy is,
/// and each build has to succeed.
///
/// # Errors
///
/// When an address can't be fetched or holds no base, when a build still fails, or when Flux would apply the copies by
/// themselves.
pub fn fetch_bases(
    world: World<'_>,
    renderer: &dyn Renderer,
    folder: &RepoPath,
    fetch: &dyn Fetch,
) -> Result<Plan, Error> {
    let tops = world.model.built_folders();
    let mut copies = Copies {
        folder,
        fetch,
        builder: Builder::new(world.snapshot),
        fetched: BTreeMap::new(),
        known: BTreeMap::new(),
    };
    let mut remarks = Vec::new();
    for _ in 0..DEEPEST {
        let graph = Graph::read(copies.builder.now());
        let folders: BTreeSet<RepoPath> = tops.iter().flat_map(|top| built(&graph, top)).collect();
        let lists = folders.iter().filter_map(|folder| graph.get(folder));
        let named: Vec<(&Kustomization, Vec<&Reference>)> =
            lists.map(|list| (list, remote(list))).filter(|(_, all)| !all.is_empty()).collect();
        if named.is_empty() {
            break;
        }
        for (list, references) in named {
            let text = copies.renamed(list, &references, &mut remarks)?;
            copies.builder.put(&list.file, &text);
        }
    }
    let mut plan = copies.builder.finish();
    applied_alone(world, &plan, folder)?;
    refuse_unfetched(world.model, &plan.changes, |_| false)?;
    let after = plan.changes.apply(world.snapshot);
    built_now(&after, renderer, &tops, &plan)?;
    plan.remarks = remarks;
    Ok(plan)
}

/// Returns what a list names by an address and builds on.
fn remote(list: &Kustomization) -> Vec<&Reference> {
    let is_built = |reference: &&Reference| {
        reference.target == Target::Remote && ["resources", "bases", "components"].contains(&reference.field)
    };
    list.references().iter().filter(is_built).collect()
}

/// What was copied so far.
struct Copies<'a> {
    folder: &'a RepoPath,
    fetch: &'a dyn Fetch,
    builder: Builder<'a>,
    /// What was fetched, by address and reference: several folders of a repository come from one commit of it.
    fetched: BTreeMap<(String, Option<String>), Fetched>,
    /// The copy of each address, and the hash that it is told by.
    known: BTreeMap<String, (RepoPath, String)>,
}

impl Copies<'_> {
    /// Returns the text of a list that names copies.
    fn renamed(
        &mut self,
        list: &Kustomization,
        references: &[&Reference],
        remarks: &mut Vec<Diagnostic>,
    ) -> Result<String, Error> {
        let mut text = list.text.to_string();
        let mut all = references.to_vec();
        all.sort_by_key(|reference| std::cmp::Reverse(reference.span.start));
        for reference in all {
            let (copy, hash) = match self.known.get(&reference.text) {
                Some(known) => known.clone(),
                None => {
                    let place = Place::span(list.file.clone(), list.text.clone(), reference.span.clone());
                    let made = self.copy(&reference.text).map_err(|error| at(error, &place))?;
                    let from = format!("{} is copied from {}", made.0, made.1);
                    remarks.push(Diagnostic::note(from).at(place));
                    self.known.insert(reference.text.clone(), made.clone());
                    made
                }
            };
            let Range { start, end } = reference.span.clone();
            let told = format!("# {}, {hash}", reference.text);
            let rest = end..line_end(&text, end);
            let is_last = text[rest.clone()].trim().is_empty();
            if is_last {
                text.replace_range(rest, &format!(" {told}"));
            }
            text.replace_range(start..end, &copy.relative_to(&list.folder));
            if !is_last {
                // A comment or, in a list in brackets, another item follows.
                let line = line_start(&text, start);
                let indent: String = text[line..].chars().take_while(|one| *one == ' ').collect();
                text.insert_str(line, &format!("{indent}{told}{}", line_break_near(&text, line)));
            }
        }
        Ok(text)
    }

    /// Copies what an address names; returns where, and the commit or the hash.
    ///
    /// kustomize takes an address for a file first and for a repository then (`accumulateResources`).
    fn copy(&mut self, address: &str) -> Result<(RepoPath, String), Error> {
        let path = address.split(['?', '#']).next().unwrap_or_default();
        let is_http = ["https://", "http://"].iter().any(|scheme| path.starts_with(scheme));
        let is_file = is_http && [".yaml", ".yml", ".json"].iter().any(|end| path.ends_with(end));
        if is_file {
            return self.copy_file(address, path);
        }
        let base = RemoteBase::parse(address).ok_or_else(|| {
            let problem = format!("`{address}` is no address of a git repository or of a YAML file");
            Error::invalid(Diagnostic::error(problem).help("correct the address"))
        })?;
        let fetched = match self.fetched.entry((base.url.clone(), base.reference.clone())) {
            btree_map::Entry::Occupied(known) => known.into_mut(),
            btree_map::Entry::Vacant(new) => new.insert(self.fetch.repository(&base)?),
        };
        let top = joined(
            self.folder,
            &format!("{}@{}", base.name, &fetched.commit[..SHORT.min(fetched.commit.len())]),
        )?;
        for path in taken_in(&fetched.files, &base)? {
            let content = fetched.files.file(&path).and_then(|file| file.shared_text());
            let Some(content) = content else {
                let problem = format!("{path} of {} is no text file", base.url);
                return Err(Error::invalid(Diagnostic::error(problem).help("copy the base by hand")));
            };
            let copy = joined(&top, path.as_str())?;
            // What was copied of this commit before may name copies itself by now.
            if self.builder.now().file(&copy).is_none() {
                self.builder.create(&copy, &content)?;
            }
        }
        Ok((joined(&top, base.folder.as_str())?, format!("commit {}", fetched.commit)))
    }

    fn copy_file(&mut self, address: &str, path: &str) -> Result<(RepoPath, String), Error> {
        let content = self.fetch.file(address)?;
        let hash = sha256(content.as_bytes());
        let parts: Vec<String> = path.split("://").nth(1).unwrap_or(path).split('/').map(segment).collect();
        let (name, folders) =
            parts.split_last().map_or(("", &[][..]), |(name, folders)| (name.as_str(), folders));
        let file = joined(self.folder, &format!("{}@{}/{name}", folders.join("/"), &hash[..SHORT]))?;
        self.builder.create(&file, &content)?;
        Ok((file, format!("sha256:{hash}")))
    }
}

fn joined(folder: &RepoPath, path: &str) -> Result<RepoPath, Error> {
    folder.join(path).map_err(|error| {
        Error::invalid(Diagnostic::error(format!("`{path}` can't be a path below {folder}: {error}")))
    })
}

/// Returns the files of a fetched repository that the build of a base takes in.
fn taken_in(files: &Snapshot, base: &RemoteBase) -> Result<BTreeSet<RepoPath>, Error> {
    let graph = Graph::read(files);
    let wrong = |problem: String| {
        let problem = format!("{problem} in {}", base.url);
        Error::invalid(Diagnostic::error(problem).help("correct the address, or name another `ref`"))
    };
    if !graph.has(&base.folder) {
        return Err(wrong(format!("`{}` has no kustomization.yaml", base.folder)));
    }
    let mut found = BTreeSet::new();
    for folder in graph.reach(&base.folder) {
        let Some(list) = graph.get(&folder) else {
            return Err(wrong(format!("the kustomization.yaml of `{folder}` can't be read")));
        };
        found.insert(list.file.clone());
        for path in list.references().iter().filter_map(Reference::path) {
            match files.entry(path) {
                Some(Entry::File(_)) => _ = found.insert(path.clone()),
                Some(_) => return Err(wrong(format!("`{path}` is a link, which is not copied,"))),
                None => {}
            }
        }
    }
    Ok(found)
}

/// Refuses where Flux builds the copies without being told to.
fn applied_alone(world: World<'_>, plan: &Plan, folder: &RepoPath) -> Result<(), Error> {
    let new = plan.changes.iter().filter(|(_, change)| change.before.is_none());
    for (path, _) in new {
        if let Some(flux) = world.model.flux_taking_in(path).first() {
            let problem =
                format!("Flux Kustomization {} would apply what lies in {folder} as it is", flux.name);
            let problem = Diagnostic::error(problem).at(flux.place("path"));
            return Err(Error::invalid(problem.help("name a folder that no Flux Kustomization builds")));
        }
    }
    Ok(())
}

/// Makes sure that all builds that take in what was edited succeed.
fn built_now(
    after: &Snapshot,
    renderer: &dyn Renderer,
    tops: &BTreeSet<&RepoPath>,
    plan: &Plan,
) -> Result<(), Error> {
    let graph = Graph::read(after);
    let edited: BTreeSet<RepoPath> = plan.changes.keys().filter_map(RepoPath::parent).collect();
    let affected: Vec<&RepoPath> =
        tops.iter().copied().filter(|top| !built(&graph, top).is_disjoint(&edited)).collect();
    let requests: Vec<Request> = affected.iter().map(|top| Request::delivered((*top).clone())).collect();
    let results = renderer.render(after, &requests);
    let failed = affected.iter().zip(results).filter_map(|(top, result)| Some((top, result.err()?)));
    let said: Vec<Diagnostic> = failed
        .map(|(top, error)| {
            Diagnostic::error(format!("{top} would still not build: {}", error.message))
                .at(Place::file((*top).clone()))
                .help("mend this first")
        })
        .collect();
    if said.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Invalid, diagnostics: said }) }
}

/// Returns an error the place of the address.
fn at(mut error: Error, place: &Place) -> Error {
    for diagnostic in &mut error.diagnostics {
        diagnostic.place.get_or_insert_with(|| place.clone());
    }
    error
}
