//! The spec of a repository.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;
use crate::path::RepoPath;
use crate::repo::{Entry, Snapshot};
use crate::spec::Parsed;
use crate::spec::parse::parse_beside;
use crate::text::did_you_mean;

/// Reads the spec at a path of the repository.
///
/// # Errors
///
/// When there is no regular file at the path, naming one beside it that may be meant, and as
/// [`parse`](crate::spec::parse()) does.
pub fn read(snapshot: &Snapshot, path: &RepoPath) -> Result<Parsed, Error> {
    let error = |message: String, help: String| {
        Err(Error::invalid(Diagnostic::error(message).at(Place::file(path.clone())).help(help)))
    };
    match snapshot.entry(path) {
        Some(Entry::File(file)) => parse_beside(path, file.bytes(), &|other| {
            snapshot.file(other).and_then(|file| file.text()).map(Arc::from)
        }),
        Some(Entry::Symlink { .. }) => error(
            "the spec is a symbolic link, which an edit would replace by a file".to_owned(),
            "name the file itself with `--spec`".to_owned(),
        ),
        Some(Entry::Large { bytes }) => error(
            format!("the spec has {bytes} bytes, which is too large"),
            "check that this is the right file".to_owned(),
        ),
        None => {
            let help = beside(snapshot, path)
                .map(|question| format!("{question} Name it with `--spec`, or run `gitops-windows init`"))
                .unwrap_or_else(|| "run `gitops-windows init`, or name the file with `--spec`".to_owned());
            error("there is no spec".to_owned(), help)
        }
    }
}

/// Asks whether a file in the same folder with nearly the same name is meant.
fn beside(snapshot: &Snapshot, path: &RepoPath) -> Option<String> {
    let folder = path.parent();
    let files = snapshot.entries().map(|(path, _)| path).filter(|other| other.parent() == folder);
    did_you_mean(path.name()?, files.filter_map(RepoPath::name))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::repo::File;

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text).unwrap()
    }

    fn said(entries: &[(&str, Entry)]) -> (String, String) {
        let entries: BTreeMap<_, _> =
            entries.iter().map(|(name, entry)| (path(name), entry.clone())).collect();
        let error = read(&Snapshot::new(entries), &path("a/windows.yaml")).unwrap_err();
        assert_eq!(error.exit_code(), 3);
        let diagnostic = error.diagnostics[0].clone();
        (diagnostic.message, diagnostic.help.unwrap())
    }

    #[test]
    fn a_missing_spec_is_no_riddle() {
        let file = Entry::File(File::new(*b"x"));
        assert_eq!(said(&[]).0, "there is no spec");
        assert!(said(&[("windows.yaml", file.clone())]).1.starts_with("run `gitops-windows init`"));
        assert!(said(&[("a/windows.yml", file)]).1.starts_with("did you mean `windows.yml`?"));
    }

    #[test]
    fn links_and_giants_are_refused() {
        assert!(said(&[("a/windows.yaml", Entry::Symlink { target: "b".into() })]).0.contains("link"));
        assert!(said(&[("a/windows.yaml", Entry::Large { bytes: 1 << 30 })]).0.contains("too large"));
    }

    #[test]
    fn a_good_one_is_read() {
        let file = File::new(*b"apiVersion: gitops-windows/v1\ntypes: { rt: {} }\n");
        let mut snapshot = Snapshot::default();
        snapshot.insert(path("a/windows.yaml"), file);
        assert_eq!(read(&snapshot, &path("a/windows.yaml")).unwrap().spec.types.len(), 1);
    }
}
