//! The apps of an entry point: the folders that its kustomization lists.

use std::collections::BTreeSet;

use crate::delivery::{EntryPoint, Model, Role};
use crate::path::RepoPath;
use crate::render::Object;
use crate::repo::{Kustomization, Reference, Target, umbrella};
use crate::spec::{ChangeType, Spec, expand_folder};

/// One folder that an entry point lists.
#[derive(Clone, Debug)]
pub struct Child {
    /// The name of the app.
    pub app: String,
    /// Other names that the app goes by: those of the folders it builds on.
    pub aliases: Vec<String>,
    /// The folder.
    pub folder: RepoPath,
    /// Its position among the entry point's resources.
    pub index: usize,
    /// The reference as written.
    pub reference: Reference,
    /// The name of its folder within a side, unlike that of every other child.
    pub name: String,
}

impl Child {
    /// Returns whether a name on the command line means this app.
    pub fn is_named(&self, name: &str) -> bool {
        self.app == name || self.aliases.iter().any(|alias| alias == name)
    }
}

/// Returns the folders that an entry point lists, and the positions of everything else in the list.
pub fn children(
    model: &Model,
    entry: &EntryPoint,
    kustomization: &Kustomization,
) -> (Vec<Child>, Vec<usize>) {
    let (mut children, mut loose) = (Vec::new(), Vec::new());
    for (index, reference) in kustomization.resources().iter().enumerate() {
        match &reference.target {
            Target::Path(folder) if model.graph.has(&model.graph.real(folder)) => {
                let folder = model.graph.real(folder);
                let bases = model.graph.children(&folder);
                let aliases = bases.iter().map(|base| app_name(base, &entry.cluster)).collect();
                let app = divided_app(model, &folder, &entry.cluster);
                children.push(Child {
                    app: app.unwrap_or_else(|| app_name(&folder, &entry.cluster)),
                    aliases,
                    folder,
                    index,
                    reference: reference.clone(),
                    name: String::new(),
                });
            }
            _ => loose.push(index),
        }
    }
    let names = distinct_names(&children);
    for (child, name) in children.iter_mut().zip(names) {
        child.name = name;
    }
    (children, loose)
}

/// Names the app of which a folder is a part: a side may list one, which stands below what is left of the app.
fn divided_app(model: &Model, part: &RepoPath, cluster: &str) -> Option<String> {
    let whole = model.graph.get(&part.parent()?)?;
    // An entry point that was divided as a whole may hold its apps, and lists none of them.
    let is_part = model.graph.children(&whole.folder).contains(part);
    let original = umbrella::original(&whole.text).filter(|_| is_part);
    original.map(|_| app_name(&whole.folder, cluster))
}

/// Names each child by its folder, by its app where folders share a name (`blog/production` beside
/// `shop/production`), and by its path where apps do too.
fn distinct_names(children: &[Child]) -> Vec<String> {
    let by_folder: Vec<String> =
        children.iter().map(|child| child.folder.name().unwrap_or("app").to_owned()).collect();
    let by_app: Vec<String> = children.iter().map(|child| child.app.clone()).collect();
    for names in [by_folder, by_app] {
        let distinct: BTreeSet<&String> = names.iter().collect();
        if distinct.len() == names.len() {
            return names;
        }
    }
    children.iter().map(|child| child.folder.segments().collect::<Vec<_>>().join("-")).collect()
}

/// The apps of one entry point with the folders that each builds.
pub struct Apps {
    apps: Vec<(String, BTreeSet<RepoPath>)>,
}

impl Apps {
    /// Finds out which folders each app of an entry point reaches.
    pub fn of(model: &Model, entry: &EntryPoint) -> Apps {
        let mut apps = Vec::new();
        let mut folder = entry.path.clone();
        // An entry point that was divided as a whole lists the folder that its content moved to.
        while let Some(kustomization) = model.graph.get(&folder) {
            let found = children(model, entry, kustomization).0;
            match &found[..] {
                [only]
                    if umbrella::original(&kustomization.text).is_some()
                        && only.folder.is_within(&folder) =>
                {
                    folder = only.folder.clone();
                }
                _ => {
                    apps = found;
                    break;
                }
            }
        }
        let reach = |child: Child| {
            let mut reach = model.graph.reach(&child.folder);
            // A file that it lists may stand elsewhere; what stands above it is of what surrounds it.
            let lists = reach.iter().filter_map(|folder| model.graph.get(folder));
            let listed = lists.flat_map(Kustomization::resources).filter_map(|one| match &one.target {
                Target::Path(file) if !model.graph.has(file) => {
                    file.parent().is_some_and(|at| !child.folder.is_within(&at)).then(|| file.clone())
                }
                _ => None,
            });
            let files: Vec<RepoPath> = listed.collect();
            reach.extend(files);
            (child.app, reach)
        };
        Apps { apps: apps.into_iter().map(reach).collect() }
    }

    /// Names the app that brings an object, where its origin is known and is some app's.
    pub fn bringing(&self, object: &Object) -> Option<&str> {
        let file = &object.origin.as_ref()?.path;
        let holds = |reach: &BTreeSet<RepoPath>| file.ancestors().any(|above| reach.contains(&above));
        self.apps.iter().find(|(_, reach)| holds(reach)).map(|(app, _)| app.as_str())
    }
}

/// Returns the folder that holds a part of an app's base, by the spec's layout.
pub fn base_part(spec: &Spec, folder: &RepoPath, change_type: &str) -> Option<RepoPath> {
    let root = spec.folder();
    root.join(&expand_folder(&spec.layout.app, &folder.relative_to(&root), &[("type", change_type)])?).ok()
}

/// Returns the folder whose part of one type a folder is by the layout: `apps/nginx` for `apps/nginx/nginx-rt`.
fn unsplit(spec: &Spec, folder: &RepoPath) -> Option<RepoPath> {
    let root = spec.folder();
    let is_part = |app: &RepoPath| {
        let path = app.relative_to(&root);
        spec.types.iter().any(|change_type| {
            let values = [("type", change_type.name.as_str())];
            let part = expand_folder(&spec.layout.app, &path, &values);
            part.and_then(|part| root.join(&part).ok()).is_some_and(|part| part == *folder)
        })
    };
    let above = folder.parents().take_while(|path| !path.is_top());
    let beside = folder.name().into_iter().flat_map(|name| {
        let cut = |change_type: &ChangeType| {
            let name = name.strip_suffix(change_type.name.as_str())?.trim_end_matches(['-', '_', '.']);
            folder.parent()?.join(name).ok()
        };
        spec.types.iter().filter_map(cut).collect::<Vec<_>>()
    });
    above.chain(beside).find(is_part)
}

/// Names the app of which a folder is the part of one type by the layout.
pub fn whole_app(spec: &Spec, folder: &RepoPath, cluster: &str) -> Option<String> {
    unsplit(spec, folder).map(|app| app_name(&app, cluster))
}

/// Names the app that a folder holds: its last segment that says what and not where.
///
/// In `apps/nginx/overlays/prod` that is `nginx`.
pub fn app_name(folder: &RepoPath, cluster: &str) -> String {
    let says_where =
        |segment: &str| segment == cluster || matches!(segment, "base" | "bases" | "overlay" | "overlays");
    let name = folder.segments().rev().find(|segment| !says_where(segment));
    name.or_else(|| folder.name()).unwrap_or("apps").to_owned()
}

/// Returns every app name in the repository, in order: what a command line may name.
pub fn app_names(model: &Model) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    // What brings Flux Kustomizations lists no app.
    for entry in model.all_entries().iter().filter(|entry| entry.role != Role::Bootstrap) {
        let Some(kustomization) = model.graph.get(&entry.path) else { continue };
        names.extend(children(model, entry, kustomization).0.into_iter().map(|child| child.app));
    }
    names.sort();
    names.dedup();
    names
}
