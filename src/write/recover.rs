//! After a kill: the old tree comes back, or the new one is finished.

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::repo::Repository;
use crate::write::disk::{Disk, Real, Watch};
use crate::write::journal::MARKER;
use crate::write::swap::{Edited, back, withdraw};

/// What an interrupted write came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// The old tree was brought back; these paths had been part of the write.
    Restored(Vec<RepoPath>),
    /// The new tree stood already; only tidying was left.
    Finished(Vec<RepoPath>),
}

impl std::fmt::Display for Recovered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Recovered::Restored(paths) => {
                write!(
                    f,
                    "An earlier write was cut short; the tree before it was restored ({} files).",
                    paths.len()
                )
            }
            Recovered::Finished(paths) => {
                write!(
                    f,
                    "An earlier write was cut short after its last file; it stands ({} files).",
                    paths.len()
                )
            }
        }
    }
}

/// Brings an interrupted write to an end; every run begins with this, before it reads.
///
/// The old tree is restored from the journal, each file verified by its hash, unless the write had
/// been committed: then the new tree stays. Without a trace of a write nothing is touched, not even
/// made. Can itself be killed and repeated.
///
/// # Errors
///
/// * [`ErrorKind::Conflict`] when files of the write were edited since: all are named and nothing is
///   changed; or when the write is still going on in another process.
/// * [`ErrorKind::Invalid`] when the journal or a kept file is damaged, or the disk refuses.
pub fn recover(repository: &Repository) -> Result<Option<Recovered>, Error> {
    recover_watched(repository, &mut Real)
}

pub(super) fn recover_watched(
    repository: &Repository,
    watch: &mut dyn Watch,
) -> Result<Option<Recovered>, Error> {
    let Some(mut disk) = Disk::open_holding(repository, &["next"], watch)? else { return Ok(None) };
    let Some(journal) = disk.journal("next")? else {
        disk.discard("next").map_err(|error| disk.state_error("tidy up", &error))?;
        return Ok(None);
    };
    let paths = journal.steps.iter().map(|step| step.path.clone()).collect();
    if disk.holds(MARKER).map_err(|error| disk.state_error("look for the end of a write", &error))? {
        disk.finish(journal.undo).map_err(|error| disk.state_error("tidy up", &error))?;
        return Ok(Some(Recovered::Finished(paths)));
    }
    // The run that removed it may have ended before the disk knew.
    withdraw(&mut disk).map_err(|error| disk.state_error("bring the old files back", &error))?;
    back(&mut disk, &journal, Edited::Refused)?;
    Ok(Some(Recovered::Restored(paths)))
}

/// Says that a write can't begin before [`recover`] ran.
pub(super) fn unfinished(disk: &Disk<'_>) -> Error {
    let message = format!("an interrupted write waits in `{}/next`; nothing was written", disk.state_name());
    Error::new(
        ErrorKind::Conflict,
        Diagnostic::error(message).help("run again, so that it is taken back first"),
    )
}
