//! Where the programs stand that are started.

use std::env::consts::EXE_SUFFIX;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What a shell looks through where nothing says so.
const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

/// Returns the folders of `PATH` that are absolute.
///
/// An empty or relative one means the folder in which a program is started: that is the repository, and what it holds
/// is never run.
pub(crate) fn folders() -> OsString {
    absolute(&std::env::var_os("PATH").unwrap_or_else(|| USUAL.into()))
}

/// Finds a program in the [`folders`].
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    found(&folders(), name)
}

fn absolute(path: &OsStr) -> OsString {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    // What was one name between separators is so again.
    std::env::join_paths(folders).unwrap_or_default()
}

fn found(folders: &OsStr, name: &str) -> Option<PathBuf> {
    let file = format!("{name}{EXE_SUFFIX}");
    // Without folders there is still one, and it has no name.
    let folders = std::env::split_paths(folders).filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(&file)).find(|candidate| is_program(candidate))
}

/// Returns whether a file may be run by somebody; the system goes on to the next folder otherwise too.
fn is_program(file: &Path) -> bool {
    let Ok(metadata) = file.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    metadata.is_file() && may_run
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::{Scratch, program};

    #[test]
    fn only_absolute_folders_are_looked_through_and_what_can_t_be_run_is_passed_over() {
        let scratch = Scratch::plain();
        scratch.put("plain/git", "").put("own/other", "");
        program(&scratch.at("own/git"), "true");
        let (plain, own) = (scratch.at("plain"), scratch.at("own"));
        let path = std::env::join_paths([".".as_ref(), "".as_ref(), "own".as_ref(), &*plain, &*own]).unwrap();
        assert_eq!(absolute(&path), std::env::join_paths([&plain, &own]).unwrap());
        assert_eq!(found(&absolute(&path), "git"), Some(own.join("git")));
        assert_eq!(found(&absolute(&path), "other"), None);
        for nowhere in ["", ".", ":", "own"] {
            assert_eq!(found(&absolute(nowhere.as_ref()), "git"), None, "{nowhere}");
        }
    }
}
