//! The only reader: disk in, [`Snapshot`] out.
//!
//! Names come from git (or from a walk where there is no git); contents are opened through a
//! handle of the top folder that refuses to leave it, and symbolic links are recorded, never
//! followed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsMaybeDirExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;
use crate::limit;
use crate::path::RepoPath;
use crate::repo::file::Contents;
use crate::repo::git::{Git, GitError, Unasked};
use crate::repo::name::{bytes_of, keep, native_path, records, repo_path};
use crate::repo::{Entry, Snapshot};

/// The folder that holds the writer's journal where there is no git folder to hold it.
pub(crate) const STATE: &str = ".gitops-windows";

/// Where git keeps what belongs to a working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitDirs {
    /// The absolute git folder of this working tree: `.git`, or a linked tree's own folder.
    pub git_dir: PathBuf,
    /// Whether git takes the executable bit from the disk (`core.fileMode`).
    pub file_mode: bool,
}

/// A repository on disk, or a plain folder that will become one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    top: PathBuf,
    spec_dir: RepoPath,
    git: Option<GitDirs>,
    unasked: Unasked,
}

/// What was read, and what had to be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The files.
    pub snapshot: Snapshot,
    /// A note or warning for each file that was left out and might be missed.
    pub notes: Vec<Diagnostic>,
}

impl Repository {
    /// Finds the repository that a folder belongs to.
    ///
    /// The top is what `git rev-parse --show-toplevel` says; a folder outside of git is its own
    /// top. `GIT_DIR` and its like are not obeyed: the folder alone decides.
    ///
    /// # Errors
    ///
    /// When the folder is missing or no folder, lies in a bare repository or inside a git folder,
    /// or when git is needed and missing or refuses (for example for "dubious ownership").
    pub fn discover(dir: &Path) -> Result<Repository, Error> {
        let dir = dir.canonicalize().map_err(|error| unreadable(dir, &error))?;
        if !dir.is_dir() {
            let message = format!("`{}` is not a folder", dir.display());
            return Err(Error::invalid(Diagnostic::error(message).help("name a folder with -C")));
        }
        let git = Git::in_folder(&dir);
        let doing = format!("finding the git repository of `{}`", dir.display());
        let Some([top, prefix, git_dir]) = places(&git, &dir, &doing)? else {
            return Ok(Repository::plain(dir));
        };
        let spec_dir = repo_path(&prefix).map_err(|why| {
            Error::invalid(Diagnostic::error(format!("the folder `{}` {why}", dir.display())))
        })?;
        let (top, git_dir) = (native_path(top)?, native_path(git_dir)?);
        // Its exit code is 1 where nothing says so (`git help config`).
        let file_mode =
            git.run_with(&["config", "--type=bool", "--get", "core.fileMode"], Vec::new(), &[0, 1]);
        let file_mode = file_mode.map_err(|error| error.into_error(&doing))? != b"false\n";
        let git = Some(GitDirs { git_dir, file_mode });
        Ok(Repository { top, spec_dir, git, unasked: Unasked::default() })
    }

    fn plain(top: PathBuf) -> Repository {
        Repository { top, spec_dir: RepoPath::top(), git: None, unasked: Unasked::default() }
    }

    /// Returns the absolute path of the top folder.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Returns the folder that discovery began at, relative to the top.
    pub fn spec_dir(&self) -> &RepoPath {
        &self.spec_dir
    }

    /// Returns git's folders; `None` outside of git.
    pub fn git(&self) -> Option<&GitDirs> {
        self.git.as_ref()
    }

    /// Returns whether the executable bit on disk means something here.
    pub(crate) fn file_mode(&self) -> bool {
        cfg!(unix) && self.git.as_ref().is_none_or(|git| git.file_mode)
    }

    pub(super) fn ask_git(&self) -> Git {
        Git::in_folder(&self.top).telling(&self.unasked)
    }

    /// Makes sure that git could be asked all that was asked of it: where it can't, it seems to know no such commit.
    ///
    /// # Errors
    ///
    /// When it could not be started or talked to.
    pub fn answered(&self) -> Result<(), Error> {
        let told = self.unasked.get().map(|why| {
            let problem = format!("git can't be run: {why}; what follows from its history is not known");
            Error::invalid(Diagnostic::error(problem).help("run this again"))
        });
        told.map_or(Ok(()), Err)
    }

    /// Reads every file that git tracks or would track, as it stands on disk.
    ///
    /// Outside of git every file is read but those in `.git` folders. Files above 4 MiB are recorded
    /// without content, what lies in submodules and nested repositories is left out. Names that are not UTF-8
    /// or hold a backslash or control character can't be written in a kustomization safely; they
    /// are left out with a note, as are pipes, sockets and devices.
    ///
    /// # Errors
    ///
    /// When git fails or a file can't be read.
    pub fn read(&self) -> Result<Reading, Error> {
        let mut notes = Vec::new();
        let mut submodules = BTreeMap::new();
        let names = match &self.git {
            Some(git) => self.names_in_git(git, &mut submodules, &mut notes)?,
            None => self.names_on_disk(&mut notes)?,
        };
        let dir = self.open_top()?;
        let mut folders = Folders { dir: &dir, known: BTreeMap::new() };
        let mut contents = Contents::default();
        let mut entries = BTreeMap::new();
        let mut sparse = Vec::new();
        for (path, listed) in names {
            let read = match path.parent().map_or(Ok(true), |parent| folders.is_real(&parent)) {
                Ok(true) => read_entry(&dir, &path, &mut contents),
                Ok(false) => Err(ErrorKind::NotFound.into()),
                Err(error) => Err(error),
            };
            match read {
                Ok(Some(mut entry)) => {
                    if let (Entry::File(file), Some(executable)) = (&mut entry, listed.executable) {
                        file.executable = executable;
                    }
                    entries.insert(path, entry);
                }
                Ok(None) => notes.push(
                    Diagnostic::note(format!("`{path}` is neither a file nor a link and is left out"))
                        .at(Place::file(path)),
                ),
                Err(error) if absent(&error) => {
                    if listed.skipped {
                        sparse.push(path);
                    }
                }
                Err(error) => return Err(unreadable_file(path, &error)),
            }
        }
        notes.extend(left_out(&sparse));
        Ok(Reading { snapshot: Snapshot::new(entries).with_hollow(submodules.into_keys().collect()), notes })
    }

    /// Names what `git status` calls changed: tracked changes and untracked files not ignored.
    ///
    /// A rename counts as both of its names. Names that [`Repository::read`] leaves out are left
    /// out here too. Outside of git nothing is dirty.
    ///
    /// # Errors
    ///
    /// When git fails.
    pub fn dirty(&self) -> Result<Vec<RepoPath>, Error> {
        if self.git.is_none() {
            return Ok(Vec::new());
        }
        let arguments = [
            "status",
            "--porcelain=v1",
            "-z",
            "--no-renames",
            "--untracked-files=all",
            "--no-ahead-behind",
            // Whether a submodule is clean is asked by a git of its own, which its own configuration steers.
            "--ignore-submodules=dirty",
        ];
        let output = self
            .ask_git()
            .without_own_filters()
            .and_then(|git| git.run(&arguments))
            .map_err(|error| error.into_error("looking for changed files"))?;
        let paths = output.split(|byte| *byte == 0).filter_map(|record| repo_path(record.get(3..)?).ok());
        Ok(paths.collect::<BTreeSet<_>>().into_iter().collect())
    }

    /// Names which of these paths git would ignore; outside of git none.
    ///
    /// # Errors
    ///
    /// When git fails.
    pub fn ignored<'a>(&self, paths: impl Iterator<Item = &'a RepoPath>) -> Result<Vec<RepoPath>, Error> {
        let mut asked = Vec::new();
        for path in paths {
            // A leading `:` would be taken for magic.
            asked.extend_from_slice(b"./");
            asked.extend_from_slice(path.as_str().as_bytes());
            asked.push(0);
        }
        if self.git.is_none() || asked.is_empty() {
            return Ok(Vec::new());
        }
        // Its exit code is 1 where it ignores none (`git help check-ignore`).
        let output = self
            .ask_git()
            .run_with(&["--no-literal-pathspecs", "check-ignore", "-z", "--stdin"], asked, &[0, 1])
            .map_err(|error| error.into_error("looking for ignored files"))?;
        let names = output.split(|byte| *byte == 0).filter_map(|name| name.strip_prefix(b"./"));
        Ok(names.filter_map(|name| repo_path(name).ok()).collect())
    }

    /// Opens the top folder; nothing opened through it lies outside.
    pub(crate) fn open_top(&self) -> Result<Dir, Error> {
        Dir::open_ambient_dir(&self.top, ambient_authority()).map_err(|error| unreadable(&self.top, &error))
    }

    fn names_in_git(
        &self,
        dirs: &GitDirs,
        submodules: &mut BTreeMap<RepoPath, ()>,
        notes: &mut Vec<Diagnostic>,
    ) -> Result<BTreeMap<RepoPath, Listed>, Error> {
        let git = self.ask_git();
        let listing = git
            .run(&["ls-files", "-z", "-t", "--stage", "--cached", "--others", "--exclude-standard"])
            .map_err(|error| error.into_error("listing the repository's files"))?;
        let mut names = BTreeMap::new();
        for record in records(&listing) {
            // "? <path>" for what is not tracked; a nested repository is listed as a folder.
            if let Some(name) = record.strip_prefix(b"? ") {
                if !name.ends_with(b"/") {
                    let executable = (!dirs.file_mode).then_some(false);
                    keep(name, Listed { executable, skipped: false }, &mut names, notes);
                }
                continue;
            }
            // "H 100644 <object> <stage>\t<path>"; `S` stands for a file left out by a sparse checkout.
            let Some(tab) = record.iter().position(|byte| *byte == b'\t') else { continue };
            let (head, name) = (&record[..tab], &record[tab + 1..]);
            if head.get(2..8) == Some(b"160000") {
                keep(name, (), submodules, notes);
                continue;
            }
            let executable = (!dirs.file_mode).then(|| head.get(2..8) == Some(b"100755"));
            let listed = Listed { executable, skipped: head.starts_with(b"S") };
            keep(name, listed, &mut names, notes);
        }
        Ok(names)
    }

    fn names_on_disk(&self, notes: &mut Vec<Diagnostic>) -> Result<BTreeMap<RepoPath, Listed>, Error> {
        let mut names = BTreeMap::new();
        let walk = walkdir::WalkDir::new(&self.top).min_depth(1).follow_links(false).sort_by_file_name();
        let ours = |entry: &walkdir::DirEntry| {
            entry.file_name() != ".git" && !(entry.depth() == 1 && entry.file_name() == STATE)
        };
        for entry in walk.into_iter().filter_entry(ours) {
            let entry = entry.map_err(|error| {
                let place = error.path().unwrap_or(&self.top).to_owned();
                let told = unreadable(&place, &error.into());
                match place == self.top {
                    true => told,
                    false => no_repository(told),
                }
            })?;
            if entry.file_type().is_dir() {
                continue;
            }
            let relative = entry.path().strip_prefix(&self.top).unwrap_or(entry.path());
            keep(&bytes_of(relative), Listed::default(), &mut names, notes);
        }
        Ok(names)
    }
}

/// What the listing already knows of a file.
#[derive(Clone, Copy, Default)]
struct Listed {
    /// The mode that git's index holds, where the disk's means nothing.
    executable: Option<bool>,
    /// Whether a sparse checkout leaves the file out on purpose.
    skipped: bool,
}

/// Remembers which folders are reached without a symbolic link.
struct Folders<'a> {
    dir: &'a Dir,
    known: BTreeMap<RepoPath, bool>,
}

impl Folders<'_> {
    /// Returns whether the folder and all above it are folders and not links to them.
    ///
    /// # Errors
    ///
    /// When that can't be read: whoever took its files for missing would write as if they were.
    fn is_real(&mut self, folder: &RepoPath) -> std::io::Result<bool> {
        let Some(parent) = folder.parent() else { return Ok(true) };
        if let Some(known) = self.known.get(folder) {
            return Ok(*known);
        }
        let real = self.is_real(&parent)?
            && match self.metadata(folder) {
                Ok(metadata) => metadata.is_dir(),
                Err(error) if absent(&error) => false,
                Err(error) => return Err(error),
            };
        self.known.insert(folder.clone(), real);
        Ok(real)
    }

    /// Looks at a folder, as often as a signal comes between.
    fn metadata(&self, folder: &RepoPath) -> std::io::Result<Metadata> {
        loop {
            match self.dir.symlink_metadata(folder.as_str()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

/// Reads one entry; `None` for what is neither file nor link.
fn read_entry(dir: &Dir, path: &RepoPath, contents: &mut Contents) -> std::io::Result<Option<Entry>> {
    // Nearly everything is a file, which can be opened without a look before.
    if let Ok(Some((bytes, metadata))) = read_file(dir, path.as_str(), limit::FILE) {
        return Ok(Some(Entry::File(contents.file(bytes).with_mode(is_executable(&metadata)))));
    }
    let metadata = dir.symlink_metadata(path.as_str())?;
    if metadata.is_symlink() {
        let target = dir.read_link_contents(path.as_str())?;
        return Ok(Some(Entry::Symlink { target: target.to_string_lossy().into_owned() }));
    }
    if metadata.is_dir() {
        return Err(ErrorKind::NotFound.into());
    }
    if !metadata.is_file() {
        return Ok(None);
    }
    let Some((bytes, metadata)) = read_file(dir, path.as_str(), limit::FILE)? else {
        return Ok(Some(Entry::Large { bytes: metadata.len() }));
    };
    Ok(Some(Entry::File(contents.file(bytes).with_mode(is_executable(&metadata)))))
}

/// Reads a regular file, never through a link and never waiting on a pipe; `None` above the limit.
pub(crate) fn read_file(dir: &Dir, path: &str, limit: u64) -> std::io::Result<Option<(Vec<u8>, Metadata)>> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).maybe_dir(true);
    #[cfg(unix)]
    cap_fs_ext::OpenOptionsSyncExt::nonblock(&mut options, true);
    let file = dir.open_with(path, &options)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    if metadata.len() > limit {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some((bytes, metadata)))
}

/// Tells what git would keep as mode 100755: the owner's bit alone decides.
pub(crate) fn is_executable(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt;
        metadata.mode() & 0o100 != 0
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

/// Returns whether an error means that nothing stands at the path.
pub(crate) fn absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Asks git where the working tree of a folder begins, the folder's way there, and the git folder; `None` where there is
/// no repository.
fn places(git: &Git, dir: &Path, doing: &str) -> Result<Option<[Vec<u8>; 3]>, Error> {
    let questions = ["--show-toplevel", "--show-prefix", "--absolute-git-dir"];
    let together = git.run(&["rev-parse", questions[0], questions[1], questions[2]]).unwrap_or_default();
    let lines: Vec<&[u8]> = together.split(|byte| *byte == b'\n').collect();
    if let [top, prefix, git_dir, []] = lines[..] {
        return Ok(Some([top.to_vec(), prefix.to_vec(), git_dir.to_vec()]));
    }
    // Outside of a working tree, or with a line break in a folder's name.
    let kind = match git.run(&["rev-parse", "--is-bare-repository", "--is-inside-work-tree"]) {
        Ok(kind) => kind,
        // Only where nothing looks like a repository is this a plain folder.
        Err(GitError::Missing) if !below_git(dir) => return Ok(None),
        Err(GitError::Failed(said)) if said.contains("not a git repository") && !below_git(dir) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into_error(doing)),
    };
    if !kind.ends_with(b"true\n") {
        let what = if kind.starts_with(b"true") { "a bare git repository" } else { "a git folder" };
        let message = format!("`{}` is inside {what}, which has no working tree", dir.display());
        return Err(Error::invalid(Diagnostic::error(message).help("name a working tree with -C")));
    }
    let ask = |question: &str| {
        let mut answer = git.run(&["rev-parse", question]).map_err(|error| error.into_error(doing))?;
        answer.pop_if(|last| *last == b'\n');
        Ok::<Vec<u8>, Error>(answer)
    };
    Ok(Some([ask(questions[0])?, ask(questions[1])?, ask(questions[2])?]))
}

fn below_git(dir: &Path) -> bool {
    dir.ancestors().any(|folder| folder.join(".git").symlink_metadata().is_ok())
}

/// One warning for all that a sparse checkout leaves out, if it leaves out anything.
fn left_out(sparse: &[RepoPath]) -> Option<Diagnostic> {
    let first = sparse.first()?;
    let message =
        format!("a sparse checkout leaves out {} files, first `{first}`. They are not checked", sparse.len());
    Some(Diagnostic::warning(message).help("run `git sparse-checkout disable`"))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    let help = match error.kind() {
        ErrorKind::NotFound => "name a folder that exists with -C",
        _ => "make it readable, then run again",
    };
    Error::invalid(Diagnostic::error(format!("can't read `{}`: {error}", path.display())).help(help))
}

/// Says of what can't be read below a folder outside of git that the folder is likely the wrong one.
fn no_repository(error: Error) -> Error {
    let help = "run it in the git repository that Flux reads, or name that with -C\nor make it readable";
    let told = error.diagnostics.into_iter().map(|one| {
        let message = format!("there is no git repository here, and {}", one.message);
        Diagnostic::error(message).help(help)
    });
    Error { kind: error.kind, diagnostics: told.collect() }
}

fn unreadable_file(path: RepoPath, error: &std::io::Error) -> Error {
    Error::invalid(
        Diagnostic::error(format!("can't read `{path}`: {error}"))
            .at(Place::file(path))
            .help("make the file readable or ignore it in git, then run again"),
    )
}

#[cfg(test)]
mod tests;
