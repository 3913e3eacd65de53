//! The tree, from old to new and back. Each direction looks before each step and can be repeated.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind as Io};

use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::repo::absent;
use crate::text::sha256;
use crate::write::conflict;
use crate::write::disk::{Disk, Seen, Side, refusal};
use crate::write::journal::{Folder, Journal, MARKER, Stat, Step};

/// Where a file of a write stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// As before the write.
    Before,
    /// As the write leaves it.
    After,
    /// As somebody else made it.
    Edited,
}

/// Why the tree could not be made the new one.
pub(super) enum Failure {
    /// The disk refused.
    Io { path: Option<RepoPath>, error: io::Error },
    /// Somebody edited this file after the preflight.
    Edited(RepoPath),
}

impl Failure {
    /// Says what happened, and whether the old tree is back.
    pub(super) fn into_error(self, disk: &Disk<'_>, restored: bool) -> Error {
        let so = if restored { "; all files are as they were" } else { "" };
        match self {
            Failure::Io { path: Some(path), error } => {
                let mut error = refusal(&format!("can't write `{path}`{so}"), &error);
                if let Some(diagnostic) = error.diagnostics.first_mut() {
                    diagnostic.place = Some(Place::file(path));
                }
                error
            }
            Failure::Io { path: None, error } => {
                refusal(&format!("can't finish the write in `{}`{so}", disk.state_name()), &error)
            }
            Failure::Edited(path) => {
                let message = format!("`{path}` was edited while the plan was written{so}");
                let diagnostic = Diagnostic::error(message).at(Place::file(path));
                Error::new(ErrorKind::Conflict, diagnostic.help("run again, and look at the new diff"))
            }
        }
    }
}

/// Makes the old tree the new one.
pub(super) fn forward(disk: &mut Disk<'_>, journal: &Journal) -> Result<(), Failure> {
    let at = |path: &RepoPath| {
        let path = path.clone();
        move |error| Failure::Io { path: Some(path), error }
    };
    let untouched = |disk: &Disk<'_>, step: &Step| match stand(disk, journal, step).map_err(at(&step.path))? {
        Stand::Before => Ok(()),
        Stand::After | Stand::Edited => Err(Failure::Edited(step.path.clone())),
    };
    for step in journal.steps.iter().filter(|step| step.after.is_none()) {
        untouched(disk, step)?;
        disk.remove_file(&step.path).map_err(at(&step.path))?;
    }
    for folder in &journal.removed {
        match disk.remove_dir(&folder.path) {
            // Somebody put a file into it: it stays.
            Err(error) if error.kind() == Io::DirectoryNotEmpty => {}
            result => result.map_err(at(&folder.path))?,
        }
    }
    make_folders(disk, &journal.made).map_err(|(path, error)| Failure::Io { path: Some(path), error })?;
    for (number, step) in journal.steps.iter().enumerate() {
        if step.after.is_some() {
            untouched(disk, step)?;
            let beside = journal.beside(number);
            disk.install(&format!("next/new/{number}"), &step.path, beside.as_ref())
                .map_err(at(&step.path))?;
        }
    }
    sync(disk, journal).map_err(|error| Failure::Io { path: None, error })?;
    for step in &journal.steps {
        if stand(disk, journal, step).map_err(at(&step.path))? != Stand::After {
            return Err(Failure::Edited(step.path.clone()));
        }
    }
    Ok(())
}

/// What to do about files that are neither as before nor as after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edited {
    /// Leave them and restore the others.
    Kept,
    /// Change nothing at all and name them.
    Refused,
}

/// Makes sure that no marker stands, on disk neither. The tree is the new one, complete, and stays so where this fails.
///
/// Without it a half-restored tree beside a marker would pass for the new one, and its journal would go.
pub(super) fn withdraw(disk: &mut Disk<'_>) -> io::Result<()> {
    if disk.holds(MARKER)? {
        disk.remove_state(MARKER)?;
    }
    disk.sync(Side::State, "next")
}

/// Says that the new tree stands, and that nobody knows for how long.
pub(super) fn undecided(disk: &Disk<'_>, error: &io::Error) -> Error {
    let message = format!("all new files stand, but `{}/next` can't say so", disk.state_name());
    let mut error = refusal(&message, error);
    if let Some(diagnostic) = error.diagnostics.first_mut() {
        let help = "mend that; the next run keeps the new files or restores the old";
        diagnostic.help = Some(help.to_owned());
    }
    error
}

/// Brings the old tree back and discards the journal. Where a marker was ever made, [`withdraw`] goes before.
pub(super) fn back(disk: &mut Disk<'_>, journal: &Journal, edited: Edited) -> Result<(), Error> {
    let mut stands = Vec::new();
    let mut foreign = BTreeMap::new();
    for (number, step) in journal.steps.iter().enumerate() {
        let stand = stand(disk, journal, step).map_err(|error| unrestored(disk, Some(&step.path), &error))?;
        match (stand, &step.before) {
            (Stand::Edited, _) => {
                foreign.insert(step.path.clone(), "was edited since".to_owned());
            }
            (Stand::After, Some(before)) => drop(intact(disk, &format!("next/old/{number}"), before)?),
            _ => {}
        }
        stands.push(stand);
    }
    if edited == Edited::Refused && !foreign.is_empty() {
        let help = format!(
            "revert the edits and run again\nor, to keep the tree as it is, remove the folder `{}/next`",
            disk.state_name()
        );
        return Err(conflict("an interrupted write can't be taken back", &help, foreign));
    }
    restore(disk, journal, &stands).map_err(|(path, error)| unrestored(disk, path.as_ref(), &error))?;
    for step in &journal.steps {
        let stand = stand(disk, journal, step).map_err(|error| unrestored(disk, Some(&step.path), &error))?;
        if stand != Stand::Before && !foreign.contains_key(&step.path) {
            return Err(unrestored(disk, Some(&step.path), &io::Error::other("it changed meanwhile")));
        }
    }
    disk.discard("next").map_err(|error| disk.state_error("tidy up", &error))
}

fn restore(
    disk: &mut Disk<'_>,
    journal: &Journal,
    stands: &[Stand],
) -> Result<(), (Option<RepoPath>, io::Error)> {
    let steps = || journal.steps.iter().zip(stands).enumerate();
    let done = |(_, (_, stand)): &(usize, (&Step, &Stand))| **stand == Stand::After;
    for (number, _) in steps() {
        if let Some(beside) = journal.beside(number) {
            gone(disk.remove_file(&beside)).map_err(|error| (Some(beside), error))?;
        }
    }
    for (_, (step, _)) in steps().filter(done).filter(|(_, (step, _))| step.before.is_none()) {
        disk.remove_file(&step.path).map_err(|error| (Some(step.path.clone()), error))?;
    }
    for folder in journal.made.iter().rev() {
        match disk.remove_dir(&folder.path) {
            // Somebody put a file into it: it stays.
            Err(error) if error.kind() == Io::DirectoryNotEmpty => {}
            result => gone(result).map_err(|error| (Some(folder.path.clone()), error))?,
        }
    }
    let outermost_first: Vec<Folder> = journal.removed.iter().rev().cloned().collect();
    make_folders(disk, &outermost_first).map_err(|(path, error)| (Some(path), error))?;
    for (number, (step, _)) in steps().filter(done).filter(|(_, (step, _))| step.before.is_some()) {
        let beside = journal.beside(number);
        disk.install(&format!("next/old/{number}"), &step.path, beside.as_ref())
            .map_err(|error| (Some(step.path.clone()), error))?;
    }
    sync(disk, journal).map_err(|error| (None, error))
}

/// Tells where a file of a write stands.
pub(super) fn stand(disk: &Disk<'_>, journal: &Journal, step: &Step) -> io::Result<Stand> {
    let seen = disk.see(&step.path)?;
    let is = |wanted: &Option<Stat>, folders: &[Folder]| match (&seen, wanted) {
        (Seen::Nothing, None) => true,
        // Where a file and a folder change places.
        (Seen::Folder(_), None) => folders.iter().any(|folder| folder.path == step.path),
        (Seen::File { bytes, executable, .. }, Some(stat)) => {
            stat.sha256 == sha256(bytes) && (!disk.file_mode() || stat.executable == *executable)
        }
        _ => false,
    };
    Ok(if is(&step.before, &journal.removed) {
        Stand::Before
    } else if is(&step.after, &journal.made) {
        Stand::After
    } else {
        Stand::Edited
    })
}

/// Makes the folders that are not there, in order, with their permission bits.
fn make_folders(disk: &mut Disk<'_>, folders: &[Folder]) -> Result<(), (RepoPath, io::Error)> {
    for folder in folders {
        let made = match disk.make_dir(Side::Top, folder.path.as_str()) {
            Err(error) if error.kind() == Io::AlreadyExists => match disk.see(&folder.path) {
                Ok(Seen::Folder(_)) => Ok(()),
                _ => Err(error),
            },
            result => result,
        };
        let moded = made.and_then(|()| match folder.mode {
            Some(mode) => disk.set_dir_mode(&folder.path, mode),
            None => Ok(()),
        });
        moded.map_err(|error| (folder.path.clone(), error))?;
    }
    Ok(())
}

fn sync(disk: &mut Disk<'_>, journal: &Journal) -> io::Result<()> {
    let folders = journal.made.iter().chain(&journal.removed).map(|folder| &folder.path);
    let changed = journal.steps.iter().map(|step| &step.path).chain(folders);
    let parents: BTreeSet<RepoPath> = changed.filter_map(RepoPath::parent).collect();
    for folder in parents {
        let name = if folder.is_top() { "." } else { folder.as_str() };
        disk.sync(Side::Top, name)?;
    }
    Ok(())
}

/// Checks that a kept file still is what was kept.
pub(super) fn intact(disk: &Disk<'_>, kept: &str, stat: &Stat) -> Result<Vec<u8>, Error> {
    let bytes = disk.read_state(kept);
    match bytes {
        Ok(bytes) if sha256(&bytes) == stat.sha256 => Ok(bytes),
        _ => {
            let message = format!("the kept file `{}/{kept}` is missing or damaged", disk.state_name());
            let help = "restore the files with git; nothing was changed now";
            Err(Error::invalid(Diagnostic::error(message).help(help)))
        }
    }
}

fn gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if absent(&error) => Ok(()),
        result => result,
    }
}

fn unrestored(disk: &Disk<'_>, path: Option<&RepoPath>, error: &io::Error) -> Error {
    let what = path.map_or_else(|| "the old files".to_owned(), |path| format!("`{path}`"));
    let message = format!("can't bring back {what}; all old files are kept in `{}/next`", disk.state_name());
    let mut error = refusal(&message, error);
    if let (Some(diagnostic), Some(path)) = (error.diagnostics.first_mut(), path) {
        diagnostic.place = Some(Place::file(path.clone()));
        diagnostic.help = Some("mend what the message says; the next run brings the files back".to_owned());
    }
    error
}
