//! Names as git and the disk give them: bytes that may or may not be paths of ours.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::path::RepoPath;

/// Splits what git prints with `-z`.
pub(super) fn records(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|record| !record.is_empty())
}

/// Takes a name in if it can be a [`RepoPath`], else notes why not.
pub(super) fn keep<T>(name: &[u8], value: T, names: &mut BTreeMap<RepoPath, T>, notes: &mut Vec<Diagnostic>) {
    match repo_path(name) {
        Ok(path) => {
            names.insert(path, value);
        }
        Err(why) => {
            let shown = String::from_utf8_lossy(name).escape_debug().to_string();
            notes.push(Diagnostic::note(format!("the file \"{shown}\" {why}, so it is left out")));
        }
    }
}

/// Makes a path of git's bytes, or says why it is not taken.
pub(super) fn repo_path(name: &[u8]) -> Result<RepoPath, &'static str> {
    let text = std::str::from_utf8(name).map_err(|_| "has a name that is not UTF-8")?;
    if text.contains(|c: char| c.is_control()) {
        return Err("has a control character in its name");
    }
    RepoPath::parse(text).map_err(|_| "has a backslash in its name")
}

/// Makes a path of the operating system's of what git printed.
pub(super) fn native_path(bytes: Vec<u8>) -> Result<PathBuf, Error> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        Ok(PathBuf::from(std::ffi::OsString::from_vec(bytes)))
    }
    #[cfg(not(unix))]
    {
        String::from_utf8(bytes)
            .map(PathBuf::from)
            .map_err(|_| Error::invalid(Diagnostic::error("the repository's path is not UTF-8")))
    }
}

/// Returns a relative path as git would print it.
pub(super) fn bytes_of(path: &Path) -> Vec<u8> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        path.as_os_str().as_bytes().to_vec()
    }
    #[cfg(not(unix))]
    {
        path.to_string_lossy().replace('\\', "/").into_bytes()
    }
}
