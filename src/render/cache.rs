//! Builds that are kept between runs.
//!
//! A build is a function of its request and of what it looked at, so each is kept with where it looked
//! and a digest of what it saw there. The folder may go at any time; what can't be read, written or
//! understood is built again. Nothing of it reaches the proof of what is about to be written.
#![allow(clippy::disallowed_methods, reason = "the cache is not the user's repository")]

use std::fs::{self, DirBuilder, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::limit;
use crate::render::Request;
use crate::render::seen::{Looked, Places, hex};
use crate::render::tree::Tree;

/// The code that makes builds: of another, nothing is taken.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("RENDERER_VERSION"));

/// How many builds of one request are kept.
const VARIANTS: usize = 8;

/// How exactly it is known when something was used last.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns the folder of what is kept for the user; `None` where the environment names no place for one.
pub(super) fn folder_of_user() -> Option<PathBuf> {
    let place = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = place("XDG_CACHE_HOME").or_else(|| Some(place("HOME")?.join(".cache")))?;
    Some(folder.join("gitops-windows"))
}

/// Writes a file of these parts, below folders that only the user may enter.
///
/// # Errors
///
/// When it can't be written; then the old file is there, if there was one.
pub(super) fn write(place: &Path, parts: &[&[u8]]) -> std::io::Result<()> {
    write_by(place, |file| parts.iter().try_for_each(|part| file.write_all(part)))?;
    Ok(())
}

/// As [`write`], with what `fill` writes; returns the file, to be read from wherever that ended.
///
/// # Errors
///
/// As [`write`], and when `fill` fails.
pub(super) fn write_by(
    place: &Path,
    fill: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> std::io::Result<File> {
    let folder = place.parent().unwrap_or(Path::new("/"));
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)?;
    // Another process sees the old file or the new one.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    fill(file.as_file_mut())?;
    Ok(file.persist(place)?)
}

/// Opens a file; of what somebody has put in its place that is none, such as a named pipe, it waits for nothing.
///
/// # Errors
///
/// When it can't be opened, or is no file.
pub(super) fn open(place: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    let file = options.open(place)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(std::io::ErrorKind::InvalidInput.into()) }
}

/// Notes that a file is used, by its time of modification.
pub(super) fn note_use(file: &File) {
    if age(file).is_some_and(|since| since > DAY) {
        // Where that fails it only goes earlier.
        let _ = file.set_modified(SystemTime::now());
    }
}

/// Returns how long ago a file was used last, to a day.
pub(super) fn age(file: &File) -> Option<Duration> {
    file.metadata().ok()?.modified().ok()?.elapsed().ok()
}

/// A folder of builds. Several processes may use it at once.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    limit: u64,
    has_grown: AtomicBool,
}

/// One build: a line of this, and a line of the renderer's answer.
#[derive(Deserialize, Serialize)]
struct Head<'t> {
    #[serde(borrow)]
    places: Places<'t>,
    seen: String,
    origins: bool,
}

impl Cache {
    /// Returns the user's cache; `None` where the environment names no place for one.
    pub(super) fn of_user() -> Option<Cache> {
        Some(Cache::at(&folder_of_user()?.join("builds")))
    }

    /// Returns the cache in a folder, which is made when there is something to keep.
    pub(super) fn at(folder: &Path) -> Cache {
        Cache { folder: folder.to_owned(), limit: limit::CACHE, has_grown: AtomicBool::new(false) }
    }

    /// Returns what a build of this tree would look at and the renderer's answer, if both are known.
    pub(super) fn recall(&self, tree: &Tree, request: &Request) -> Option<(Looked, Vec<u8>)> {
        let file = open(&self.place(request)).ok()?;
        let text = checked(&file)?;
        let (looked, answer) = builds(&text).find_map(|(head, answer)| {
            let head: Head<'_> = serde_json::from_slice(head).ok()?;
            if request.origins && !head.origins {
                return None;
            }
            let looked = Looked::again(tree, &head.places);
            (looked.fingerprint() == head.seen).then(|| (looked, answer.to_vec()))
        })?;
        note_use(&file);
        Some((looked, answer))
    }

    /// Keeps the renderer's answer to a request; that nothing is kept is no error.
    pub(super) fn keep(&self, request: &Request, looked: &Looked, answer: &[u8]) {
        let head = Head { places: looked.places(), seen: looked.fingerprint(), origins: request.origins };
        let Ok(line) = serde_json::to_vec(&head) else { return };
        let place = self.place(request);
        let old = open(&place).ok().and_then(|file| checked(&file)).unwrap_or_default();
        let others = builds(&old).filter(|(other, _)| *other != line).take(VARIANTS - 1);
        let lines = std::iter::once((line.as_slice(), answer)).chain(others);
        let text = lines.flat_map(|(head, answer)| [head, answer]).collect::<Vec<_>>().join(&b'\n');
        if text.len() as u64 <= self.limit / 8 && self.write(&place, &text).is_ok() {
            self.has_grown.store(true, Ordering::Relaxed);
        }
    }

    fn write(&self, place: &Path, text: &[u8]) -> std::io::Result<()> {
        write(place, &[digest(text).as_bytes(), b"\n", text])
    }

    /// Returns the file of a request, whether with or without origins.
    fn place(&self, request: &Request) -> PathBuf {
        let fields = request.fields().map(ToString::to_string);
        let key = serde_json::json!([VERSION, request.path.as_str(), fields]);
        self.folder.join(digest(key.to_string().as_bytes()))
    }

    /// Takes away what was used least recently, down to three quarters of the limit, where there is more.
    fn shrink(&self) -> std::io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let found = entry.metadata()?;
            files.push((found.modified()?, entry.path(), found.len()));
        }
        let mut size: u64 = files.iter().map(|(_, _, length)| length).sum();
        if size <= self.limit {
            return Ok(());
        }
        files.sort();
        for (_, path, length) in files {
            if size <= self.limit / 4 * 3 {
                break;
            }
            // Another process may have been faster.
            let _ = fs::remove_file(path);
            size -= length;
        }
        Ok(())
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        if self.has_grown.load(Ordering::Relaxed) {
            // The next run tries again.
            let _ = self.shrink();
        }
    }
}

fn digest(bytes: &[u8]) -> String {
    hex(Sha256::new_with_prefix(bytes))
}

/// Reads a file whose first line is the digest of the others; `None` where it is not.
fn checked(mut file: &File) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    file.read_to_end(&mut text).ok()?;
    let end = text.iter().position(|byte| *byte == b'\n')?;
    let rest = text.split_off(end + 1);
    (text[..end] == *digest(&rest).as_bytes()).then_some(rest)
}

/// Splits a file into its builds, the newest first.
fn builds(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut lines = text.split(|byte| *byte == b'\n');
    std::iter::from_fn(move || Some((lines.next()?, lines.next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RepoPath;
    use crate::render::seen::Seen;
    use crate::repo::Snapshot;

    #[test]
    fn what_was_used_least_recently_goes() {
        let folder = tempfile::tempdir().unwrap();
        let request = |name: &str| Request::base(RepoPath::parse(name).unwrap());
        let answer = vec![b' '; 1000];
        for (age, name) in ["new", "old", "older"].into_iter().enumerate() {
            let cache = Cache::at(folder.path());
            cache.keep(&request(name), &Seen::default().looked(), &answer);
            let file = File::open(cache.place(&request(name))).unwrap();
            file.set_modified(SystemTime::now() - DAY * (2 * age as u32)).unwrap();
        }
        let has = |name: &str| {
            let tree = Tree::new(&Snapshot::default());
            Cache::at(folder.path()).recall(&tree, &request(name)).is_some()
        };
        assert!(has("older"), "it is used, which makes it new");
        let mut cache = Cache::at(folder.path());
        cache.limit = 3300;
        cache.has_grown.store(true, Ordering::Relaxed);
        drop(cache);
        assert_eq!(["new", "old", "older"].map(has), [true, false, true]);
    }

    #[test]
    fn only_so_many_builds_of_one_request_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let request = Request::base(RepoPath::top());
        let cache = Cache::at(folder.path());
        for number in 0..2 * VARIANTS {
            let mut snapshot = Snapshot::default();
            let text = number.to_string();
            snapshot.insert(RepoPath::parse("a").unwrap(), crate::repo::File::new(text.as_bytes()));
            let mut seen = Seen::default();
            seen.find(&Tree::new(&snapshot), "a");
            cache.keep(&request, &seen.looked(), b"{}");
        }
        let text = checked(&File::open(cache.place(&request)).unwrap()).unwrap();
        assert_eq!(builds(&text).count(), VARIANTS);
    }
}
