//! The windows of the spec as a service reads and edits them.
//!
//! [`list`], [`get`] and [`of_cluster`] answer in JSON, [`edit()`] changes single values of
//! `windows.yaml` in place. Every answer names the revision of the spec that it speaks of; whoever
//! gives it back with an edit ([`check_revision`]) never overwrites what somebody else wrote since.

mod complete;
mod edit;
mod json;
mod parts;
mod schema;

pub(super) use edit::set_names;
pub use edit::{Edit, Owner, edit, gated};
pub use json::{changed, get, list, of_cluster};
pub(super) use parts::at;
pub use schema::schema;

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::spec::Spec;
use crate::text::{did_you_mean, sha256, some};

/// The version of the answers' form; it grows when something is taken away or means something else.
pub(super) const VERSION: u32 = 1;

/// Returns the revision of a spec: the SHA-256 of its bytes in lower-case hexadecimal.
pub fn revision(bytes: &[u8]) -> String {
    sha256(bytes)
}

/// Makes sure that the spec is the one that somebody read before.
///
/// # Errors
///
/// A conflict when it is another.
pub fn check_revision(path: &RepoPath, bytes: &[u8], expected: &str) -> Result<(), Error> {
    let is_digest = expected.len() == 64 && expected.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_digest {
        return Err(Error::new(
            ErrorKind::Usage,
            Diagnostic::error(format!("--if-revision: `{expected}` is no revision"))
                .help("give the 64 digits of `revision` that `gitops-windows windows list` answers with"),
        ));
    }
    if revision(bytes).eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Conflict,
        Diagnostic::error(format!(
            "{path} changed since revision {expected}: this edit would undo that change"
        ))
        .at(Place::file(path.clone()))
        .help("read it again with `gitops-windows windows list`, and decide anew"),
    ))
}

pub(super) fn unknown<'a>(
    what: &str,
    name: &str,
    path: &RepoPath,
    known: impl Iterator<Item = &'a str>,
) -> Error {
    const MOST: usize = 8;
    let known: Vec<&str> = known.collect();
    let help = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| match known.as_slice() {
        [] => format!("{path} has none"),
        known => format!("{path} has {}", some(known, MOST)),
    });
    Error::new(ErrorKind::Usage, none(what, name).at(Place::file(path.clone())).help(help))
}

/// Says that there is nothing of a name: the same words wherever a cluster, a type or a window is named.
pub(crate) fn none(what: &str, name: &str) -> Diagnostic {
    Diagnostic::error(format!("there is no {what} `{name}`"))
}

fn unknown_window(spec: &Spec, name: &str) -> Error {
    unknown("window", name, &spec.path, spec.windows.keys().map(String::as_str))
}

/// Says that a spec has no such cluster, and which was probably meant.
pub(crate) fn unknown_cluster(spec: &Spec, name: &str) -> Error {
    if spec.ungated.contains_key(name) {
        let text = format!("{} wants no gate for cluster {name} (`hasGate: false`)", spec.path);
        let help = "take `hasGate: false` out where changes should wait\nrun `gitops-windows sync`";
        return Error::new(
            ErrorKind::Usage,
            Diagnostic::error(text).at(Place::file(spec.path.clone())).help(help),
        );
    }
    unknown("cluster", name, &spec.path, spec.clusters.keys().map(String::as_str))
}

pub(super) fn unknown_type(spec: &Spec, name: &str) -> Error {
    unknown("type", name, &spec.path, spec.types.iter().map(|known| known.name.as_str()))
}
