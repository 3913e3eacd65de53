//! The writer's own folder: its lock, the journal in it, and what is tidied when.

use std::fs::TryLockError;
use std::io::{self, ErrorKind as Io};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::repo::{Repository, STATE, absent};
use crate::write::disk::{Disk, Side, Watch, refusal};
use crate::write::journal::{Journal, MARKER};
use crate::write::recover::unfinished;

/// The lock, given back when dropped.
pub(super) struct Lock(std::fs::File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing alone is not enough while a process that is just being started shares the handle.
        let _ = self.0.unlock();
    }
}

impl<'a> Disk<'a> {
    /// Opens the tree and the writer's folder, which is made if need be, and takes the lock.
    pub(super) fn open(repository: &Repository, watch: &'a mut dyn Watch) -> Result<Disk<'a>, Error> {
        let (home, name, shown) = home(repository)?;
        let failed = |doing: &str, error: &io::Error| refusal(&format!("can't {doing} `{shown}`"), error);
        let state = match open_dir(&home, name).map_err(|error| failed("open", &error))? {
            Some(state) => state,
            None => {
                home.create_dir(name).map_err(|error| failed("make", &error))?;
                home.open_dir(name).map_err(|error| failed("open", &error))?
            }
        };
        if repository.git().is_none() && !state.exists(".gitignore") {
            // The folder may become part of a git repository later.
            state.write(".gitignore", "*\n").map_err(|error| failed("write into", &error))?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).follow(FollowSymlinks::No);
        // A pipe would be waited for until somebody reads it.
        #[cfg(unix)]
        cap_fs_ext::OpenOptionsSyncExt::nonblock(&mut options, true);
        let lock = state.open_with("lock", &options).map_err(|error| failed("lock", &error))?.into_std();
        if !lock.metadata().map_err(|error| failed("lock", &error))?.is_file() {
            return Err(failed("lock", &io::Error::new(Io::InvalidInput, "`lock` in it is no file")));
        }
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = "another run is writing to this repository; nothing was written";
                let diagnostic = Diagnostic::error(message).help("wait until it ends, then run again");
                return Err(Error::new(ErrorKind::Conflict, diagnostic));
            }
            Err(TryLockError::Error(error)) => return Err(failed("lock", &error)),
        }
        let top = repository.open_top()?;
        Ok(Disk {
            top,
            state,
            state_name: shown,
            file_mode: repository.file_mode(),
            _lock: Lock(lock),
            watch,
        })
    }

    /// Opens the disk only if the writer's folder holds one of `entries`, so that looking leaves no trace.
    pub(super) fn open_holding(
        repository: &Repository,
        entries: &[&str],
        watch: &'a mut dyn Watch,
    ) -> Result<Option<Disk<'a>>, Error> {
        let (home, name, shown) = home(repository)?;
        let state =
            open_dir(&home, name).map_err(|error| refusal(&format!("can't open `{shown}`"), &error))?;
        match state {
            Some(state) => {
                // A disk that does not answer may hold it.
                let lacks =
                    |entry: &&str| state.symlink_metadata(entry).err().is_some_and(|error| absent(&error));
                if entries.iter().all(lacks) {
                    return Ok(None);
                }
                Disk::open(repository, watch).map(Some)
            }
            None => Ok(None),
        }
    }

    /// Takes away a folder of the writer's own, in one step as far as anybody can see.
    pub(super) fn discard(&mut self, name: &str) -> io::Result<()> {
        self.empty_trash()?;
        if self.holds(name)? {
            self.rename((Side::State, name), (Side::State, "trash"))?;
            // What loses its files must be trash on disk too, lest a power cut brings back half of it by its old name.
            self.sync(Side::State, ".")?;
            self.empty_trash()?;
        }
        Ok(())
    }

    fn empty_trash(&mut self) -> io::Result<()> {
        if self.holds("trash")? {
            self.ask("empty the trash")?;
            self.state.remove_dir_all("trash")?;
        }
        Ok(())
    }

    /// Tidies after a commit: the write under way becomes the last one.
    pub(super) fn finish(&mut self, undo: bool) -> io::Result<()> {
        self.discard("last")?;
        if undo {
            self.discard("next")?;
        } else {
            self.rename((Side::State, "next"), (Side::State, "last"))?;
        }
        self.sync(Side::State, ".")
    }

    /// Finishes a committed write and clears remainders, so that a new write can begin.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        let settled = match self.journal("next")? {
            Some(journal) => match self.holds(MARKER) {
                Ok(true) => self.finish(journal.undo),
                Ok(false) => return Err(unfinished(self)),
                Err(error) => Err(error),
            },
            None => self.discard("next"),
        };
        settled.map_err(|error| self.state_error("tidy up", &error))
    }

    /// Reads the journal in `next` or `last`; none where there is none.
    pub(super) fn journal(&self, folder: &str) -> Result<Option<Journal>, Error> {
        let path = format!("{folder}/journal.json");
        let bytes = match self.read_state(&path) {
            Ok(bytes) => bytes,
            Err(error) if absent(&error) => return Ok(None),
            Err(error) => return Err(self.state_error("read its journal", &error)),
        };
        Journal::parse(&bytes).map(Some).map_err(|why| {
            let message = format!("the journal `{}/{path}` can't be understood: {why}", self.state_name);
            let help = format!("look at the tree, then remove the folder `{}/{folder}`", self.state_name);
            Error::invalid(Diagnostic::error(message).help(help))
        })
    }

    /// Says what the writer's own folder refused.
    pub(super) fn state_error(&self, doing: &str, error: &io::Error) -> Error {
        refusal(&format!("can't {doing} in `{}`", self.state_name), error)
    }
}

/// Returns the folder that holds the writer's folder, its name in there, and its path for people.
fn home(repository: &Repository) -> Result<(Dir, &'static str, String), Error> {
    let (path, name) = match repository.git() {
        Some(git) => (git.git_dir.as_path(), "gitops-windows"),
        None => (repository.top(), STATE),
    };
    let shown = path.join(name).display().to_string();
    let home = Dir::open_ambient_dir(path, ambient_authority());
    home.map(|home| (home, name, shown))
        .map_err(|error| refusal(&format!("can't open `{}`", path.display()), &error))
}

/// Opens a folder that is no link; none where nothing stands.
fn open_dir(home: &Dir, name: &str) -> io::Result<Option<Dir>> {
    match home.symlink_metadata(name) {
        Ok(metadata) if metadata.is_dir() => home.open_dir(name).map(Some),
        Ok(_) => Err(Io::NotADirectory.into()),
        Err(error) if error.kind() == Io::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
