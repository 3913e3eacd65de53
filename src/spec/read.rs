//! The spec of a repository.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::repo::{Entry, Snapshot};
use crate::spec::parse::parse_beside;
use crate::spec::{Parsed, Spec};
use crate::text::did_you_mean;

/// Reads the spec at a path of the repository.
///
/// # Errors
///
/// When there is no regular file at the path, naming one beside it that may be meant, when the root of a cluster is no
/// folder of the repository, and as [`parse`](crate::spec::parse()) does.
pub fn read(snapshot: &Snapshot, path: &RepoPath) -> Result<Parsed, Error> {
    let parsed = read_without_roots(snapshot, path)?;
    let missing = missing_roots(snapshot, &parsed.spec);
    if missing.is_empty() {
        Ok(parsed)
    } else {
        Err(Error { kind: ErrorKind::Invalid, diagnostics: missing })
    }
}

/// As [`read`], for what people do in an incident: a root that is no folder is a warning then, since a cluster that is gone
/// must not keep anybody from stopping the others.
///
/// # Errors
///
/// As [`read`], but for roots.
pub fn read_in_need(snapshot: &Snapshot, path: &RepoPath) -> Result<Parsed, Error> {
    let mut parsed = read_without_roots(snapshot, path)?;
    let missing = missing_roots(snapshot, &parsed.spec).into_iter();
    parsed.warnings.extend(missing.map(|one| Diagnostic { severity: Severity::Warning, ..one }));
    Ok(parsed)
}

fn read_without_roots(snapshot: &Snapshot, path: &RepoPath) -> Result<Parsed, Error> {
    let error = |message: String, help: String| {
        Err(Error::invalid(Diagnostic::error(message).at(Place::file(path.clone())).help(help)))
    };
    match snapshot.entry(path) {
        Some(Entry::File(file)) => {
            let text = |other: &RepoPath| snapshot.file(other).and_then(|file| file.text()).map(Arc::from);
            parse_beside(path, file.bytes(), &text)
        }
        Some(Entry::Symlink { .. }) => error(
            "the spec is a symbolic link, which an edit would replace by a file".to_owned(),
            "name the file itself with `--spec`".to_owned(),
        ),
        Some(Entry::Large { bytes }) => error(
            format!("the spec has {bytes} bytes, which is too large"),
            "check that this is the right file".to_owned(),
        ),
        Some(Entry::Lacking { .. }) => error(
            "git has no content for the spec".to_owned(),
            "the clone is partial: fetch the whole commit, then run this again".to_owned(),
        ),
        None => {
            let help = beside(snapshot, path)
                .map(|question| format!("{question} Name it with `--spec`, or run `gitops-windows init`"))
                .or_else(|| below(snapshot, path))
                .unwrap_or_else(|| "run `gitops-windows init`, or name the file with `--spec`".to_owned());
            error("there is no spec".to_owned(), help)
        }
    }
}

/// Says which roots are no folders: without an error every command would leave such a cluster out silently.
fn missing_roots(snapshot: &Snapshot, spec: &Spec) -> Vec<Diagnostic> {
    let folder = spec.folder();
    let is_missing = |path: &str| folder.join(path).is_ok_and(|root| !snapshot.is_dir(&root));
    let roots = spec.all_clusters().flat_map(|cluster| cluster.roots.iter().map(move |root| (cluster, root)));
    let missing = roots.filter(|(_, root)| is_missing(&root.value)).map(|(cluster, root)| {
        let help = near_folder(snapshot, &folder, &root.value).unwrap_or_else(|| {
            "name the folder that holds the Flux Kustomizations of the cluster\nor remove the cluster, once it is gone"
                .to_owned()
        });
        let text = format!("root `{}` of cluster `{}` does not exist. Nothing of it can be read", root.value, cluster.name.value);
        Diagnostic::error(text).at(root.place.clone()).help(help)
    });
    missing.collect()
}

/// Asks whether another folder is meant by a path below one.
pub fn near_folder(snapshot: &Snapshot, root: &RepoPath, path: &str) -> Option<String> {
    let folders: BTreeSet<RepoPath> = snapshot.below(root).flat_map(|(file, _)| file.parents()).collect();
    let folders: Vec<String> = folders
        .iter()
        .filter(|folder| folder.is_within(root))
        .map(|folder| folder.relative_to(root))
        .collect();
    did_you_mean(path, folders.iter().map(String::as_str))
}

/// Asks whether a file in the same folder with nearly the same name is meant.
fn beside(snapshot: &Snapshot, path: &RepoPath) -> Option<String> {
    let folder = path.parent();
    let files = snapshot.entries().map(|(path, _)| path).filter(|other| other.parent() == folder);
    did_you_mean(path.name()?, files.filter_map(RepoPath::name))
}

/// Says where files of its name stand in folders below.
fn below(snapshot: &Snapshot, path: &RepoPath) -> Option<String> {
    let folder = path.parent().unwrap_or_default();
    let files = snapshot.below(&folder).map(|(file, _)| file).filter(|file| file.name() == path.name());
    let steps: Vec<String> = files
        .filter_map(|file| Some((file, file.parent()?.relative_to(&folder))))
        .map(|(file, place)| format!("{file} is one: `gitops-windows -C {place} …`"))
        .collect();
    (!steps.is_empty()).then(|| steps.join("\nor "))
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
        let below = said(&[("a/b/c/windows.yaml", file.clone())]);
        assert_eq!(below.1, "a/b/c/windows.yaml is one: `gitops-windows -C b/c …`");
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

    #[test]
    fn a_root_that_does_not_exist_is_an_error_with_what_was_meant() {
        let spec = "apiVersion: gitops-windows/v1\ntypes: { rt: {} }\nclusters:\n  one: { roots: [clusters/oen, clusters/one] }\n  \
                    two: { roots: gone }\n";
        let mut snapshot = Snapshot::default();
        snapshot.insert(path("a/windows.yaml"), File::new(spec.as_bytes().to_vec()));
        snapshot.insert(path("a/clusters/one/apps.yaml"), File::new(*b"a: b\n"));
        snapshot.insert(path("clusters/oen/apps.yaml"), File::new(*b"a: b\n"));
        let error = read(&snapshot, &path("a/windows.yaml")).unwrap_err();
        assert_eq!(error.exit_code(), 3);
        insta::assert_snapshot!(crate::diagnostic::render(&error.diagnostics, false, 100));
    }
}
