//! The disk under two handles: the tree, and the writer's own folder.
//!
//! Every change of the disk is one method here, asks the [`Watch`] first, and goes through a handle
//! that refuses to leave its folder.

use std::io::{self, ErrorKind as Io, Write};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsMaybeDirExt};
use cap_std::fs::{Dir, OpenOptions, Permissions};

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::path::RepoPath;
use crate::repo::{absent, is_executable, read_file};
use crate::write::state::Lock;

/// Sees every change of the disk before it happens.
pub(super) trait Watch {
    /// Decides about the next change; tests fail and kill here.
    fn before(&mut self, _action: &str) -> Verdict {
        Verdict::Go
    }

    /// Whether to wait until the disk has what was written.
    fn durable(&self) -> bool {
        true
    }
}

/// What a [`Watch`] says of a change.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Make it.
    Go,
    /// Don't, and give this error instead.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests make the disk fail"))]
    Fail(io::Error),
    /// Make half of it where that is possible, then give this error.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests make the disk fail"))]
    Tear(io::Error),
}

/// The watch of real runs: everything goes.
pub(super) struct Real;

impl Watch for Real {}

/// Which handle a path belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The tree.
    Top,
    /// The writer's folder.
    State,
}

/// What stands at a path of the tree.
#[derive(Debug)]
pub(super) enum Seen {
    /// Nothing, also where a folder on the way is a file.
    Nothing,
    /// A folder, with its permission bits.
    Folder(Option<u32>),
    /// A regular file.
    File { bytes: Vec<u8>, executable: bool, mode: Option<u32> },
    /// Anything else, in words that follow "is".
    Other(&'static str),
}

/// Both handles, with the lock held.
pub(super) struct Disk<'a> {
    pub(super) top: Dir,
    pub(super) state: Dir,
    pub(super) state_name: String,
    pub(super) file_mode: bool,
    pub(super) _lock: Lock,
    pub(super) watch: &'a mut dyn Watch,
}

impl<'a> Disk<'a> {
    /// Returns whether the executable bit on disk means something.
    pub(super) fn file_mode(&self) -> bool {
        self.file_mode
    }

    /// Returns the writer's folder, for people.
    pub(super) fn state_name(&self) -> &str {
        &self.state_name
    }

    /// Looks at a path of the tree. Links are not followed, in its folders neither.
    pub(super) fn see(&self, path: &RepoPath) -> io::Result<Seen> {
        let mut folder = RepoPath::top();
        let mut segments = path.segments().peekable();
        while let Some(segment) = segments.next() {
            folder = folder.join(segment).map_err(io::Error::other)?;
            let metadata = match self.top.symlink_metadata(folder.as_str()) {
                Ok(metadata) => metadata,
                Err(error) if absent(&error) => return Ok(Seen::Nothing),
                Err(error) => return Err(error),
            };
            let last = segments.peek().is_none();
            if metadata.is_symlink() {
                return Ok(Seen::Other(if last { "a symbolic link" } else { "below a symbolic link" }));
            }
            if metadata.is_dir() {
                if last {
                    return Ok(Seen::Folder(mode_of(&metadata)));
                }
            } else if !last {
                return Ok(Seen::Nothing);
            } else if !metadata.is_file() {
                return Ok(Seen::Other("a pipe, socket or device"));
            }
        }
        match read_file(&self.top, path.as_str(), u64::MAX)? {
            Some((bytes, metadata)) => {
                Ok(Seen::File { bytes, executable: is_executable(&metadata), mode: mode_of(&metadata) })
            }
            None => Ok(Seen::Other("a file without an end")),
        }
    }

    /// Returns the names in a folder of the tree; none where there is no folder.
    pub(super) fn names(&self, folder: &RepoPath) -> io::Result<Vec<String>> {
        let name = if folder.is_top() { "." } else { folder.as_str() };
        match self.top.read_dir(name) {
            Ok(entries) => {
                let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
                names.collect()
            }
            Err(error) if absent(&error) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Reads a file of the writer's folder.
    pub(super) fn read_state(&self, path: &str) -> io::Result<Vec<u8>> {
        let read = read_file(&self.state, path, u64::MAX)?;
        read.map(|(bytes, _)| bytes).ok_or_else(|| Io::FileTooLarge.into())
    }

    /// Returns whether something stands in the writer's folder; a disk that does not answer says neither.
    pub(super) fn holds(&self, path: &str) -> io::Result<bool> {
        match self.state.symlink_metadata(path) {
            Ok(_) => Ok(true),
            Err(error) if absent(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes a new file into the writer's folder, and waits until the disk has it.
    pub(super) fn put(
        &mut self,
        path: &str,
        bytes: &[u8],
        mode: Option<u32>,
        executable: bool,
    ) -> io::Result<()> {
        self.put_on(Side::State, path, bytes, mode, executable)
    }

    fn put_on(
        &mut self,
        side: Side,
        path: &str,
        bytes: &[u8],
        mode: Option<u32>,
        executable: bool,
    ) -> io::Result<()> {
        let verdict = self.watch.before(&format!("put {path}"));
        let (bytes, torn) = match verdict {
            Verdict::Go => (bytes, None),
            Verdict::Fail(error) => return Err(error),
            Verdict::Tear(error) => (&bytes[..bytes.len() / 2], Some(error)),
        };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, if executable { 0o777 } else { 0o666 });
        #[cfg(not(unix))]
        let _ = executable;
        let mut file = self.dir(side).open_with(path, &options)?;
        file.write_all(bytes)?;
        if let Some(mode) = mode {
            set_mode(&file, mode)?;
        }
        if self.watch.durable() {
            file.sync_all()?;
        }
        torn.map_or(Ok(()), Err)
    }

    /// Puts a file of the writer's folder in place of whatever file stands at `to`.
    pub(super) fn install(&mut self, from: &str, to: &RepoPath, beside: Option<&RepoPath>) -> io::Result<()> {
        match (self.rename((Side::State, from), (Side::Top, to.as_str())), beside) {
            (Err(error), Some(beside)) if error.kind() == Io::CrossesDevices => {
                let Some((bytes, metadata)) = read_file(&self.state, from, u64::MAX)? else {
                    return Err(Io::FileTooLarge.into());
                };
                let executable = is_executable(&metadata);
                self.put_on(Side::Top, beside.as_str(), &bytes, mode_of(&metadata), executable)?;
                self.rename((Side::Top, beside.as_str()), (Side::Top, to.as_str()))
            }
            (result, _) => result,
        }
    }

    /// Renames, also from one side to the other.
    pub(super) fn rename(&mut self, from: (Side, &str), to: (Side, &str)) -> io::Result<()> {
        self.ask(&format!("rename {} to {}", from.1, to.1))?;
        self.dir(from.0).rename(from.1, self.dir(to.0), to.1)
    }

    /// Makes a folder.
    pub(super) fn make_dir(&mut self, side: Side, path: &str) -> io::Result<()> {
        self.ask(&format!("make folder {path}"))?;
        self.dir(side).create_dir(path)
    }

    /// Returns a folder of the tree its permission bits.
    pub(super) fn set_dir_mode(&mut self, path: &RepoPath, mode: u32) -> io::Result<()> {
        self.ask(&format!("set mode of {path}"))?;
        #[cfg(unix)]
        {
            let permissions = cap_std::fs::PermissionsExt::from_mode(mode);
            self.top.set_permissions(path.as_str(), permissions)
        }
        #[cfg(not(unix))]
        {
            let _ = mode;
            Ok(())
        }
    }

    /// Removes an empty folder of the tree.
    pub(super) fn remove_dir(&mut self, path: &RepoPath) -> io::Result<()> {
        self.ask(&format!("remove folder {path}"))?;
        self.top.remove_dir(path.as_str())
    }

    /// Removes a file of the tree.
    pub(super) fn remove_file(&mut self, path: &RepoPath) -> io::Result<()> {
        self.ask(&format!("remove {path}"))?;
        self.top.remove_file(path.as_str())
    }

    /// Removes a file of the writer's folder.
    pub(super) fn remove_state(&mut self, path: &str) -> io::Result<()> {
        self.ask(&format!("remove {path}"))?;
        self.state.remove_file(path)
    }

    /// Waits until the disk has a folder's entries. A folder that is not there needs no waiting.
    pub(super) fn sync(&mut self, side: Side, path: &str) -> io::Result<()> {
        self.ask(&format!("sync {path}"))?;
        if !self.watch.durable() || cfg!(not(unix)) {
            return Ok(());
        }
        // A handle of cap-std's `Dir` is for looking up names only: a readable one can be waited for.
        let mut options = OpenOptions::new();
        options.read(true).maybe_dir(true).follow(FollowSymlinks::No);
        let synced = self.dir(side).open_with(path, &options).and_then(|dir| dir.sync_all());
        match synced {
            Err(error) if absent(&error) => Ok(()),
            // Some network file systems can't; they keep their own promises.
            Err(error) if matches!(error.kind(), Io::InvalidInput | Io::Unsupported) => Ok(()),
            synced => synced,
        }
    }

    pub(super) fn ask(&mut self, action: &str) -> io::Result<()> {
        match self.watch.before(action) {
            Verdict::Go => Ok(()),
            Verdict::Fail(error) | Verdict::Tear(error) => Err(error),
        }
    }

    fn dir(&self, side: Side) -> &Dir {
        match side {
            Side::Top => &self.top,
            Side::State => &self.state,
        }
    }
}

/// Makes an error of what the operating system refused.
pub(super) fn refusal(what: &str, error: &io::Error) -> Error {
    let help = match error.kind() {
        Io::StorageFull | Io::QuotaExceeded => "free some space, then run again",
        Io::PermissionDenied | Io::ReadOnlyFilesystem => "make it writable, then run again",
        _ => "mend what the message says, then run again",
    };
    Error::invalid(Diagnostic::error(format!("{what}: {error}")).help(help))
}

fn mode_of(metadata: &cap_std::fs::Metadata) -> Option<u32> {
    #[cfg(unix)]
    {
        Some(cap_std::fs::MetadataExt::mode(metadata) & 0o777)
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}

fn set_mode(file: &cap_std::fs::File, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    {
        let permissions: Permissions = cap_std::fs::PermissionsExt::from_mode(mode);
        file.set_permissions(permissions)
    }
    #[cfg(not(unix))]
    {
        let _ = (file, mode);
        Ok(())
    }
}
