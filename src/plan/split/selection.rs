//! Which apps a split or a join is about.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Child, Input, Role, app_names, children, shared, whole_app};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::text::did_you_mean;

/// Which apps a command means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// These, by name.
    Named(Vec<String>),
}

impl Selection {
    /// Returns whether a child of an entry point is meant.
    pub fn names(&self, child: &Child) -> bool {
        match self {
            Selection::All => true,
            Selection::Named(names) => names.iter().any(|name| child.is_named(name)),
        }
    }

    /// Returns whether an entry point is meant as a whole: it is the app itself, as where each app
    /// has a Flux Kustomization of its own.
    pub fn names_entry(&self, flux_name: &str, path: &RepoPath) -> bool {
        match self {
            Selection::All => true,
            Selection::Named(names) => {
                names.iter().any(|name| name == flux_name || Some(name.as_str()) == path.name())
            }
        }
    }

    /// Makes sure that each name means an app, or what the caller knows besides.
    ///
    /// # Errors
    ///
    /// All names that mean none, each with the names that come near.
    pub(super) fn known(&self, input: &Input<'_>, is_known: &dyn Fn(&str) -> bool) -> Result<(), Error> {
        let Selection::Named(names) = self else { return Ok(()) };
        let all = app_names(input.model);
        let unknown =
            names.iter().filter(|name| !all.contains(name) && !is_app(input, name) && !is_known(name));
        let broken = input.model.broken_lists();
        let told = |name: &String| {
            if let Some(list) = near(&broken, name) {
                return Diagnostic {
                    message: format!("`{name}` may be an app of a list that is broken: {}", list.message),
                    ..list.clone()
                };
            }
            Diagnostic::error(format!("there is no app `{name}` in any entry point"))
                .at(Place::file(input.spec.path.clone()))
                .help(meant(input, name, &all))
        };
        let diagnostics: Vec<Diagnostic> = unknown.map(told).collect();
        let kind = if broken.is_empty() { ErrorKind::Usage } else { ErrorKind::Invalid };
        if diagnostics.is_empty() { Ok(()) } else { Err(Error { kind, diagnostics }) }
    }
}

/// Returns the broken list by which an app of a name may be missed: that of its own folder, else the first.
fn near<'d>(broken: &BTreeMap<RepoPath, &'d Diagnostic>, name: &str) -> Option<&'d Diagnostic> {
    let own = broken.iter().find(|(folder, _)| folder.name() == Some(name));
    own.or_else(|| broken.iter().next()).map(|(_, list)| *list)
}

/// Returns whether a name means an app of an entry point, or an entry point that is one app.
fn is_app(input: &Input<'_>, name: &str) -> bool {
    input.model.all_entries().iter().any(|entry| {
        let kustomization = input.model.graph.get(&entry.path);
        let apps = kustomization.map(|found| children(input.model, entry, found).0);
        let is_it = |child: &Child| {
            let whole = || whole_app(input.spec, &child.folder, &entry.cluster);
            child.is_named(name) || whole().is_some_and(|whole| whole == name)
        };
        apps.unwrap_or_default().iter().any(is_it)
            || (entry.role == Role::Apps
                && (entry.path.name() == Some(name) || input.model.name_of(entry) == name))
    })
}

/// Says which apps may be meant, and which there are.
fn meant(input: &Input<'_>, name: &str, all: &[String]) -> String {
    // Who gives a folder means what stands in it.
    let folder = name.trim_end_matches('/').rsplit_once('/').map(|(_, last)| last);
    let of_folder = folder.filter(|last| is_app(input, last)).map(|last| format!("did you mean `{last}`?"));
    let gates: BTreeSet<&str> = input.model.gates.iter().filter_map(|gate| gate.base.name()).collect();
    // What the sides of a projection share is no app either.
    let sides = input.sides();
    let shared: BTreeSet<RepoPath> = input
        .entries_of_sides(&sides)
        .filter_map(|(entry, (whole, _))| shared(input.spec, whole, &entry.cluster))
        .collect();
    let standing = sides.keys().filter(|side| input.model.graph.has(side));
    let shared: BTreeSet<&str> = shared.iter().chain(standing).filter_map(RepoPath::name).collect();
    let is_offered = |name: &&str| !gates.contains(name) && !shared.contains(name);
    // An entry point may be meant too.
    let undivided = input.wholes(&sides).filter(|entry| entry.role == Role::Apps);
    let entries =
        undivided.flat_map(|entry| entry.path.name().into_iter().chain([input.model.name_of(entry)]));
    let known: Vec<&str> = all.iter().map(String::as_str).filter(is_offered).collect();
    let named = entries.filter(|name| is_offered(name) && !known.contains(name)).collect::<BTreeSet<_>>();
    let all = known;
    let candidates = all.iter().copied().chain(named);
    let near = of_folder.or_else(|| did_you_mean(folder.unwrap_or(name), candidates));
    match near {
        Some(near) if all.is_empty() => near,
        None if all.is_empty() && sides.keys().any(|side| input.model.graph.has(side)) => {
            "all apps are divided: `gitops-windows verify --verbose` names the entry points".to_owned()
        }
        None if all.is_empty() => {
            "no app was found: run `gitops-windows init --dry-run` to see what was".to_owned()
        }
        Some(near) => format!("{near} The apps are: {}", all.join(", ")),
        None => format!("the apps are: {}", all.join(", ")),
    }
}
