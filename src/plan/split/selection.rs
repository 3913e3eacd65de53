//! Which apps a split or a join is about.

use crate::delivery::{Child, Input, Role, app_names, children};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::text::nearest;

/// Which apps a command means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// These, by name.
    Named(Vec<String>),
}

impl Selection {
    /// Tells whether a child of an entry point is meant.
    pub fn names(&self, child: &Child) -> bool {
        match self {
            Selection::All => true,
            Selection::Named(names) => names.iter().any(|name| child.is_named(name)),
        }
    }

    /// Tells whether an entry point is meant as a whole: it is the app itself, as where each app
    /// has a Flux Kustomization of its own.
    pub fn names_entry(&self, flux_name: &str, path: &RepoPath) -> bool {
        match self {
            Selection::All => true,
            Selection::Named(names) => {
                names.iter().any(|name| name == flux_name || Some(name.as_str()) == path.name())
            }
        }
    }

    /// Makes sure that each name means an app.
    ///
    /// # Errors
    ///
    /// All names that mean none, each with the names that come near.
    pub(super) fn known(&self, input: &Input<'_>) -> Result<(), Error> {
        let Selection::Named(names) = self else { return Ok(()) };
        let all = app_names(input.model);
        let mut unknown = Vec::new();
        for name in names {
            let is_app = input.model.all_entries().iter().any(|entry| {
                let kustomization = input.model.graph.get(&entry.path);
                let apps = kustomization.map(|found| children(input.model, entry, found).0);
                apps.unwrap_or_default().iter().any(|child| child.is_named(name))
                    || (entry.role == Role::Apps
                        && (entry.path.name() == Some(name) || input.model.name_of(entry) == name))
            });
            if is_app {
                continue;
            }
            let near = nearest(name, all.iter().map(String::as_str));
            let help = match near.as_slice() {
                [] if all.is_empty() => {
                    "no app was found: run `gitops-windows init --dry-run` to see what was".to_owned()
                }
                [] => format!("the apps are: {}", all.join(", ")),
                near => format!("did you mean {}? The apps are: {}", near.join(" or "), all.join(", ")),
            };
            unknown.push(
                Diagnostic::error(format!("there is no app `{name}` in any entry point"))
                    .at(Place::file(input.spec.path.clone()))
                    .help(help),
            );
        }
        if unknown.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Usage, diagnostics: unknown }) }
    }
}
