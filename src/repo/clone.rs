//! Another repository, fetched into a folder that goes with it.

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::repo::git::Git;
use crate::repo::{RemoteBase, Repository, Snapshot};

/// What a base's repository holds at a commit.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The commit's hash.
    pub commit: String,
    /// Its files.
    pub files: Snapshot,
}

/// The protocols by which kustomize clones.
const PROTOCOLS: &str = "https:http:ssh:git:file";

impl RemoteBase {
    /// Fetches the commit that its reference names, without history and without submodules, and reads it.
    ///
    /// Unlike everything else here this uses the network, and with it whatever the person's own git configuration names to
    /// ask for a password. Nothing of what is fetched is run or checked out.
    ///
    /// # Errors
    ///
    /// When git is missing, or can't fetch or read it.
    pub fn fetch(&self) -> Result<Fetched, Error> {
        let doing = format!("fetching {}", self.url.escape_debug());
        let folder = tempfile::tempdir().map_err(|error| {
            Error::invalid(Diagnostic::error(format!("{doing} failed: no temporary folder: {error}")))
        })?;
        let git = Git::in_folder(folder.path()).with("GIT_ALLOW_PROTOCOL", PROTOCOLS);
        let failed = |error: crate::repo::git::GitError| error.into_error(&doing);
        git.run(&["init", "--quiet", "--template="]).map_err(failed)?;
        let reference = self.reference.as_deref().unwrap_or("HEAD");
        let fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--"];
        git.run(&[&fetch[..], &[&self.url, reference]].concat()).map_err(failed)?;
        let repository = Repository::discover(folder.path())?;
        let commit = repository.commit("FETCH_HEAD").ok_or_else(|| {
            Error::invalid(Diagnostic::error(format!("{doing} failed: git fetched no commit `{reference}`")))
        })?;
        let files = repository.snapshot_at(&commit)?.snapshot;
        Ok(Fetched { commit, files })
    }
}
