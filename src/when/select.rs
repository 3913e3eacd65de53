//! Which sides a question means.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery;
use crate::delivery::fleet::{Fleet, Part, Side, Undivided, others_reading, reached_by};
use crate::delivery::{Cluster, EntryPoint, Input, Model, Role, Sides};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::plan::split::Kept;
use crate::repo::{OtherRevision, Snapshot};
use crate::spec::Spec;
use crate::spec::windows::none;
use crate::text::{did_you_mean, did_you_mean_path, nearest, one_of};

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Clusters by name; all where there is none.
    pub clusters: &'a [String],
    /// Apps by name and paths of the repository; everything where there is none.
    pub what: &'a [String],
    /// The folder to which paths are relative.
    pub folder: &'a RepoPath,
}

/// The sides that are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selected {
    /// Their positions in [`Fleet::sides`], in order.
    pub sides: Vec<usize>,
    /// Paths that no entry point of these clusters reads, as they were asked for.
    pub unreached: Vec<String>,
    /// How sources follow another revision of this repository of which Flux Kustomizations read such a path, by that path.
    pub elsewhere: BTreeMap<String, BTreeSet<OtherRevision>>,
    /// By cluster, the names of the Flux Kustomizations of which nobody knows whether they read such a path, or without one
    /// anything of this repository.
    pub unclear: BTreeMap<String, BTreeSet<String>>,
}

/// Finds the sides that a question means.
///
/// A word without a slash is an app where there is one of that name, and a path otherwise; a path where nothing stands may
/// be the `NAMESPACE/NAME` of a Flux Kustomization. Apps are the folders
/// that entry points list and the entry points themselves; `nginx` also means its parts, such as `nginx-rt`.
///
/// # Errors
///
/// When a cluster, or a word that is neither app nor path, is unknown; all of them are named, with what was
/// probably meant.
pub fn select(input: &Input<'_>, fleet: &Fleet, question: &Question<'_>) -> Result<Selected, Error> {
    let Input { spec, model, snapshot, .. } = *input;
    let mut errors = unknown_clusters(&fleet.known(), question.clusters);
    let wanted = |side: &Side| question.clusters.is_empty() || question.clusters.contains(&side.cluster);
    let mut selected = Selected::default();
    let mut perhaps: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut unclear = |takes: &dyn Fn(&RepoPath) -> bool| {
        let is_meant = |own: &&Cluster| question.clusters.is_empty() || question.clusters.contains(&own.name);
        let all = model.delivered.all.iter().filter(is_meant);
        let all = all.flat_map(|own| own.perhaps_here().map(move |(one, at)| (&own.name, one.name(), at)));
        let all: Vec<_> = all.filter(|(.., folder)| takes(folder)).collect();
        for (cluster, name, _) in &all {
            perhaps.entry((*cluster).clone()).or_default().insert((*name).to_owned());
        }
        !all.is_empty()
    };
    let mut positions: BTreeSet<usize> = BTreeSet::new();
    let all = || fleet.sides.iter().enumerate().filter(|(_, side)| wanted(side));
    if question.what.is_empty() {
        // What applies all of a cluster is its answer.
        let is_told = |side: &Side| side.part != Part::Support || side.undivided == Some(Undivided::Root);
        positions.extend(all().filter(|(_, side)| is_told(side)).map(|(position, _)| position));
        unclear(&|_| true);
    }
    let sides = if question.what.is_empty() { Sides::default() } else { input.sides() };
    let names = if question.what.is_empty() { Names::default() } else { Names::new(spec, model, fleet) };
    for word in question.what {
        if !word.contains('/')
            && let Some(sides) = names.sides.get(word.as_str())
        {
            positions.extend(sides.iter().filter(|position| wanted(&fleet.sides[**position])));
            continue;
        }
        let Some(path) = existing(snapshot, word, question.folder) else {
            let own: Vec<usize> =
                all().filter(|(_, side)| is_applied_by(side, word)).map(|one| one.0).collect();
            if !own.is_empty() {
                positions.extend(own);
                continue;
            }
            errors.push(unknown(&names, &fleet.known(), snapshot, word));
            continue;
        };
        let reached = reached_by(model, snapshot, &path);
        let before = positions.len();
        let kept = Kept::of(input, &sides, &path);
        let found = all().filter(|(_, side)| {
            side.folder.as_ref().is_some_and(|folder| reached.contains(folder) && kept.by(folder))
        });
        let planned = all().filter(|(_, side)| is_planned(model, side, &reached));
        let found: Vec<usize> = found.chain(planned).map(|(position, _)| position).collect();
        positions.extend(&found);
        let others = others_reading(model, &reached, &path, question.clusters);
        if !others.is_empty() {
            selected.elsewhere.insert(word.clone(), others);
        }
        let takes = |own: &RepoPath| reached.contains(own) || !model.graph.has(own) && path.is_within(own);
        if !unclear(&takes) && positions.len() == before && found.is_empty() {
            selected.unreached.push(word.clone());
        }
    }
    if !errors.is_empty() {
        return Err(Error { kind: ErrorKind::Usage, diagnostics: errors });
    }
    (selected.sides, selected.unclear) = (positions.into_iter().collect(), perhaps);
    Ok(selected)
}

/// Returns whether a Flux Kustomization of this `NAMESPACE/NAME` applies a side.
fn is_applied_by(side: &Side, word: &str) -> bool {
    let own = side.kustomization.as_ref();
    own.is_some_and(|one| word.split_once('/') == Some((one.namespace.as_str(), one.name.as_str())))
}

/// Returns whether a side does not stand yet and the entry point that it will come from is reached.
fn is_planned(model: &Model, side: &Side, reached: &BTreeSet<RepoPath>) -> bool {
    let stands = side.folder.as_ref().is_some_and(|folder| model.graph.has(folder));
    !stands
        && matches!(side.part, Part::Type(_))
        && side.entry.as_ref().is_some_and(|entry| reached.contains(entry))
}

/// Says of each cluster that the spec does not have what was probably meant.
pub fn unknown_clusters(known: &[String], clusters: &[String]) -> Vec<Diagnostic> {
    let unknown = clusters.iter().filter(|cluster| !known.contains(cluster));
    let known = || known.iter().map(String::as_str);
    unknown
        .map(|cluster| {
            let help = did_you_mean(cluster, known()).unwrap_or_else(|| one_of(known()));
            none("cluster", cluster).help(help)
        })
        .collect()
}

fn unknown(names: &Names, clusters: &[String], snapshot: &Snapshot, word: &str) -> Diagnostic {
    if clusters.iter().any(|cluster| cluster == word) {
        return Diagnostic::error(format!("`{word}` is a cluster, and no app and no path of the repository"))
            .help(format!("did you mean `--cluster {word}`?"));
    }
    let diagnostic = Diagnostic::error(format!("`{word}` is no app and no path of the repository"));
    let files = || snapshot.entries().map(|(path, _)| path);
    let folders: BTreeSet<RepoPath> = files().flat_map(RepoPath::parents).collect();
    let near = if word.contains('/') {
        let word = word.trim_end_matches('/');
        did_you_mean_path(word, folders.iter().chain(files()).map(RepoPath::as_str))
    } else {
        did_you_mean(word, names.sides.keys().map(String::as_str)).or_else(|| {
            let near = nearest(word, clusters.iter().map(String::as_str));
            near.first().map(|cluster| format!("did you mean `--cluster {cluster}`?"))
        })
    };
    diagnostic.help(near.unwrap_or_else(|| match names.sides.is_empty() {
        true => "name a file or folder that entry points read".to_owned(),
        false => format!("{}; or name a file or folder", one_of(names.sides.keys().map(String::as_str))),
    }))
}

/// Finds a file or folder, relative to the spec's folder or else to the top.
fn existing(snapshot: &Snapshot, word: &str, folder: &RepoPath) -> Option<RepoPath> {
    [folder, &RepoPath::top()]
        .into_iter()
        .filter_map(|folder| folder.join(word).ok())
        .find(|path| snapshot.entry(path).is_some() || snapshot.is_dir(path))
}

/// The names by which sides can be meant.
#[derive(Default)]
struct Names {
    sides: BTreeMap<String, BTreeSet<usize>>,
    /// Folders of apps by those of their parts, so that every app is looked for only once.
    whole: BTreeMap<RepoPath, Option<String>>,
}

impl Names {
    fn new(spec: &Spec, model: &Model, fleet: &Fleet) -> Names {
        let mut names = Names::default();
        for (position, side) in fleet.sides.iter().enumerate().filter(|(_, side)| side.part != Part::Support)
        {
            let (Some(folder), Some(base)) = (&side.folder, &side.entry) else { continue };
            let mut own: BTreeSet<String> = base.name().map(str::to_owned).into_iter().collect();
            own.extend(model.entry(base).map(|entry| model.name_of(entry).to_owned()));
            let made = side.kustomization.as_ref().map(|kustomization| kustomization.name.as_str());
            if let (Some(made), Part::Type(position)) = (made, side.part) {
                let whole = spec.layout.name_of(made, &spec.types[position].name);
                own.extend(whole.map(str::to_owned));
            }
            own.extend(made.map(str::to_owned));
            if let (None, Part::Type(position), Some(entry)) = (made, side.part, model.entry(base)) {
                let change_type = &spec.types[position].name.value;
                own.insert(spec.layout.kustomization_of(model.name_of(entry), change_type));
            }
            // A side that does not stand yet will hold what its entry point holds.
            let source = [folder, base].into_iter().find_map(|folder| model.graph.get(folder));
            if let Some(kustomization) = source {
                let entry = EntryPoint {
                    path: kustomization.folder.clone(),
                    cluster: side.cluster.clone(),
                    flux: Vec::new(),
                    also: BTreeSet::new(),
                    through: None,
                    role: Role::Apps,
                };
                for child in delivery::children(model, &entry, kustomization).0 {
                    own.extend(names.whole_app(spec, &child.folder, &side.cluster));
                    own.insert(child.app);
                    own.extend(child.aliases);
                }
            }
            for name in own {
                names.sides.entry(name).or_default().insert(position);
            }
        }
        names
    }

    /// Names the app of which a folder is the part of one type.
    fn whole_app(&mut self, spec: &Spec, folder: &RepoPath, cluster: &str) -> Option<String> {
        if let Some(known) = self.whole.get(folder) {
            return known.clone();
        }
        let found = delivery::whole_app(spec, folder, cluster);
        self.whole.insert(folder.clone(), found.clone());
        found
    }
}
