//! The only writer: a plan goes to disk as a whole, or not at all.
//!
//! ```text
//! preflight ─► stage ─► journal ─► swap ─► commit ─► kept as the last write, for `undo`
//!   reads      old and   one file   the     one
//!   only       new bytes            tree    marker
//! ```
//!
//! Everything up to the journal happens in a folder of the writer's own (in the git folder, or in
//! `.gitops-windows/` outside of git), so the tree is untouched until all bytes, old and new, are
//! safely on disk. From the journal to the commit marker, a kill leaves a journal from which
//! [`recover`] brings the old tree back; after the marker the new tree stands. Before each step
//! and before each restoration the files on disk are compared by hash: what somebody edited
//! meanwhile is never overwritten.
//!
//! What holds at any moment, whatever failed before: **while the marker stands, or may still stand on
//! disk, the tree is the new one, complete.** So the marker is made after the last file and its
//! folder are on disk, and once it was made no step back is taken before its absence is on disk
//! (`swap::withdraw`). What is certain in between:
//!
//! | the marker | the tree | the next run |
//! |---|---|---|
//! | was not made | anything | takes it back |
//! | is made, its way to the disk failed | new, complete | lets it stand; takes it back where a power cut took the marker |
//! | is removed, its way to the disk failed | new, complete | takes it back; lets it stand where a power cut returns the marker |
//! | is gone, on disk too | anything | takes it back |
//!
//! | in the writer's folder | meaning |
//! |---|---|
//! | `lock` | held while writing; a second process ends in a conflict |
//! | `next/` with `journal.json` | a write under way; without it, a remainder of staging |
//! | `next/committed` | the tree is the new one, only tidying is left |
//! | `last/` | what `undo` needs |
//! | `trash/` | a remainder of tidying |

mod disk;
mod journal;
mod preflight;
mod recover;
mod state;
mod swap;
mod undo;

use std::collections::BTreeMap;

use crate::change::Changes;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::repo::Repository;
use crate::text::some;
use crate::write::disk::{Disk, Real, Side, Watch};
use crate::write::journal::{Journal, MARKER};

pub use recover::{Recovered, recover};
pub use undo::{undo, undo_plan};

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Every path that changed, in order; removed ones too.
    pub paths: Vec<RepoPath>,
}

/// Writes a plan: all of it, or nothing.
///
/// Files keep their permission bits; git's executable bit is set or cleared as the plan says, and
/// new files follow the umask. Folders that lose their last file go. An empty plan touches nothing.
///
/// # Errors
///
/// * [`ErrorKind::Conflict`]: a file is no longer what the plan found (all of them are named),
///   another process is writing, or an interrupted write waits for [`recover`].
/// * [`ErrorKind::Invalid`]: a path leads through a symbolic link, into `.git` or another
///   repository, through something that is no folder, or collides with another in all but case; or
///   the disk refuses.
///
/// In each case the tree is as it was before, but for two, which the message tells: old files that the disk
/// does not take back now stay in the journal for [`recover`]; and where the disk takes all new files,
/// but neither the marker after them nor its removal, the new tree stands complete.
pub fn write(repository: &Repository, plan: &Changes) -> Result<Written, Error> {
    write_watched(repository, plan, &mut Real)
}

fn write_watched(repository: &Repository, plan: &Changes, watch: &mut dyn Watch) -> Result<Written, Error> {
    if plan.values().all(|change| change.before == change.after) {
        return Ok(Written::default());
    }
    let mut disk = Disk::open(repository, watch)?;
    disk.settle()?;
    let journal = preflight::check(&disk, plan, &preflight::Wish::default())?;
    carry_out(&mut disk, &journal, plan)
}

/// Stages, swaps and commits. On a failure the old tree is back, as far as the disk allows it.
fn carry_out(disk: &mut Disk<'_>, journal: &Journal, plan: &Changes) -> Result<Written, Error> {
    if let Err(error) = stage(disk, journal, plan) {
        // What can't be tidied now is no journal, so the next write tidies it.
        let _ = disk.discard("next");
        return Err(disk.state_error("prepare the files", &error));
    }
    let (failure, can_go_back) = match swap::forward(disk, journal) {
        // No marker was made yet.
        Err(failure) => (failure, Ok(())),
        Ok(()) => match disk.put(MARKER, b"", None, false).and_then(|()| disk.sync(Side::State, "next")) {
            Ok(()) => {
                // The new tree stands; tidying that fails is done by the next run.
                let _ = disk.finish(journal.undo);
                let paths = journal.steps.iter().map(|step| step.path.clone()).collect();
                return Ok(Written { paths });
            }
            // It may stand all the same, in memory or on disk.
            Err(error) => (swap::Failure::Io { path: None, error }, swap::withdraw(disk)),
        },
    };
    let can_go_back = can_go_back.map_err(|error| swap::undecided(disk, &error));
    match can_go_back.and_then(|()| swap::back(disk, journal, swap::Edited::Kept)) {
        Ok(()) => Err(failure.into_error(disk, true)),
        Err(more) => {
            let mut error = failure.into_error(disk, false);
            error.diagnostics.extend(more.diagnostics);
            Err(error)
        }
    }
}

fn stage(disk: &mut Disk<'_>, journal: &Journal, plan: &Changes) -> std::io::Result<()> {
    for folder in ["next", "next/old", "next/new"] {
        disk.make_dir(Side::State, folder)?;
    }
    for (number, step) in journal.steps.iter().enumerate() {
        let Some(change) = plan.get(&step.path) else { continue };
        if let (Some(file), Some(stat)) = (&change.before, &step.before) {
            disk.put(&format!("next/old/{number}"), file.bytes(), stat.mode, stat.executable)?;
        }
        if let (Some(file), Some(stat)) = (&change.after, &step.after) {
            disk.put(&format!("next/new/{number}"), file.bytes(), stat.mode, stat.executable)?;
        }
    }
    for folder in ["next/old", "next/new"] {
        disk.sync(Side::State, folder)?;
    }
    disk.put("next/journal.new", &journal.to_bytes()?, None, false)?;
    disk.sync(Side::State, ".")?;
    disk.rename((Side::State, "next/journal.new"), (Side::State, "next/journal.json"))?;
    disk.sync(Side::State, "next")
}

/// The most files that an error names.
const MOST_NAMED: usize = 5;

/// Makes one conflict of all files that are not what they should be; those of which the same is true are told together.
fn conflict(headline: &str, help: &str, files: BTreeMap<RepoPath, String>) -> Error {
    let mut alike: BTreeMap<String, Vec<RepoPath>> = BTreeMap::new();
    files.into_iter().for_each(|(path, what)| alike.entry(what).or_default().push(path));
    let told = alike.into_iter().filter_map(|(what, paths)| {
        let names: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
        let message = format!("{headline}: {} {what}", some(&names, MOST_NAMED));
        Some(Diagnostic::error(message).at(Place::file(paths.into_iter().next()?)).help(help))
    });
    Error { kind: ErrorKind::Conflict, diagnostics: told.collect() }
}

#[cfg(test)]
mod tests;
