//! Taking back the last write.

use std::collections::BTreeMap;

use crate::change::{Change, Changes};
use crate::error::Error;
use crate::path::RepoPath;
use crate::repo::{File, Repository};
use crate::write::disk::{Disk, Real, Seen, Watch, refusal};
use crate::write::preflight::{self, Wish};
use crate::write::swap::{Stand, intact, stand};
use crate::write::{Written, carry_out, conflict};

/// Returns the plan that takes back the last write, for showing it; `None` when there is none.
///
/// # Errors
///
/// As [`undo`]; nothing is changed in any case.
pub fn undo_plan(repository: &Repository) -> Result<Option<Changes>, Error> {
    let mut watch = Real;
    let Some(mut disk) = Disk::open_holding(repository, &["last", "next"], &mut watch)? else {
        return Ok(None);
    };
    disk.settle()?;
    Ok(reversed(&disk)?.map(|(plan, _)| plan))
}

/// Takes back the last write: files, permission bits and folders are as they were before it.
///
/// A write can be taken back once, and only as long as none of its files was changed since, by hand
/// or by git. `None` when there is nothing to take back. Itself written like a plan: as a whole, or
/// not at all.
///
/// # Errors
///
/// * [`ErrorKind::Conflict`](crate::error::ErrorKind::Conflict) when files were edited since: all are
///   named; or when another process is writing.
/// * [`ErrorKind::Invalid`](crate::error::ErrorKind::Invalid) when a kept file is damaged or the disk
///   refuses.
pub fn undo(repository: &Repository) -> Result<Option<Written>, Error> {
    undo_watched(repository, &mut Real)
}

pub(super) fn undo_watched(repository: &Repository, watch: &mut dyn Watch) -> Result<Option<Written>, Error> {
    let Some(mut disk) = Disk::open_holding(repository, &["last", "next"], watch)? else { return Ok(None) };
    disk.settle()?;
    let Some((plan, wish)) = reversed(&disk)? else { return Ok(None) };
    let journal = preflight::check(&disk, &plan, &wish)?;
    carry_out(&mut disk, &journal, &plan).map(Some)
}

/// Turns the last write around.
fn reversed(disk: &Disk<'_>) -> Result<Option<(Changes, Wish)>, Error> {
    let Some(journal) = disk.journal("last")? else { return Ok(None) };
    let mut changes = Changes::default();
    let mut modes = BTreeMap::new();
    let mut edited = BTreeMap::new();
    let unread = |path: &RepoPath, error| refusal(&format!("can't read `{path}`"), &error);
    for (number, step) in journal.steps.iter().enumerate() {
        let path = &step.path;
        if stand(disk, &journal, step).map_err(|error| unread(path, error))? != Stand::After {
            edited.insert(path.clone(), "was changed since".to_owned());
            continue;
        }
        let before = match disk.see(path).map_err(|error| unread(path, error))? {
            Seen::File { bytes, executable, .. } => Some(File::new(bytes).with_mode(executable)),
            _ => None,
        };
        let after = match &step.before {
            Some(stat) => {
                modes.extend(stat.mode.map(|mode| (path.clone(), mode)));
                let bytes = intact(disk, &format!("last/old/{number}"), stat)?;
                Some(File::new(bytes).with_mode(stat.executable))
            }
            None => None,
        };
        changes.insert(path.clone(), Change { before, after, moved_from: None });
    }
    if !edited.is_empty() {
        let help = "restore these files as the last write left them, or use git";
        return Err(conflict("the last write can't be taken back", help, edited));
    }
    for step in &journal.steps {
        let from = step.moved_from.as_deref().and_then(|from| RepoPath::parse(from).ok());
        if let Some(source) = from.and_then(|from| changes.get_mut(&from)) {
            source.moved_from = Some(step.path.clone());
        }
    }
    modes.extend(journal.removed.iter().filter_map(|folder| Some((folder.path.clone(), folder.mode?))));
    Ok(Some((changes, Wish { undo: true, modes })))
}
