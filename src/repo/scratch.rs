//! A throw-away repository for tests.
#![expect(clippy::disallowed_methods, reason = "tests prepare trees of their own, in a temporary folder")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::repo::Repository;

/// A folder that vanishes with the value.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
    /// Asking git takes longer than most tests, and the answer stays.
    repository: std::cell::OnceCell<Repository>,
}

/// Everything in a folder but `.git`: files with mode and content, links with their text, empty folders.
pub(crate) type Tree = BTreeMap<String, (u32, Vec<u8>)>;

impl Scratch {
    /// A folder outside of git; in memory where that is possible, for the many trees of some tests.
    pub(crate) fn plain() -> Scratch {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Scratch { folder: folder.unwrap(), repository: std::cell::OnceCell::new() }
    }

    /// A folder outside of git, on the file system of temporary files.
    pub(crate) fn on_disk() -> Scratch {
        Scratch { folder: tempfile::tempdir().unwrap(), repository: std::cell::OnceCell::new() }
    }

    /// A git repository without a commit.
    pub(crate) fn git() -> Scratch {
        let scratch = Scratch::plain();
        scratch.run(&["init", "-q", "-b", "main"]);
        scratch
    }

    pub(crate) fn top(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.top().join(path)
    }

    /// Discovers the repository, once.
    pub(crate) fn repository(&self) -> Repository {
        self.repository.get_or_init(|| Repository::discover(self.top()).unwrap()).clone()
    }

    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Scratch {
        std::fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        std::fs::write(self.at(path), bytes).unwrap();
        self
    }

    pub(crate) fn mode(&self, path: &str, mode: u32) {
        std::fs::set_permissions(self.at(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) {
        std::fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, self.at(path)).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.at(path)).unwrap();
    }

    pub(crate) fn commit(&self) {
        self.run(&["add", "-A"]);
        self.run(&["commit", "-q", "--allow-empty", "-m", "state"]);
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.try_run(arguments);
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    pub(crate) fn try_run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "core.autocrlf=false"])
            // A commit asks another git whether there is something to clean up.
            .args(["-c", "maintenance.auto=false"])
            .args(arguments)
            .current_dir(self.top())
            .output()
            .unwrap()
    }

    /// Returns the whole tree but `.git` and the writer's folder.
    pub(crate) fn tree(&self) -> Tree {
        tree_of(self.top())
    }
}

/// Returns the whole tree of a folder but `.git` and the writer's folder.
pub(crate) fn tree_of(top: &Path) -> Tree {
    let mut tree = BTreeMap::new();
    let walk = walkdir::WalkDir::new(top).min_depth(1).sort_by_file_name();
    let kept =
        |entry: &walkdir::DirEntry| entry.file_name() != ".git" && entry.file_name() != ".gitops-windows";
    for entry in walk.into_iter().filter_entry(kept) {
        let entry = entry.unwrap();
        let name = entry.path().strip_prefix(top).unwrap().to_string_lossy().into_owned();
        let mode = entry.metadata().unwrap().permissions().mode() & 0o7777;
        if entry.file_type().is_dir() {
            tree.insert(format!("{name}/"), (mode, Vec::new()));
        } else if entry.file_type().is_symlink() {
            let target = std::fs::read_link(entry.path()).unwrap();
            tree.insert(name, (0, target.to_string_lossy().into_owned().into_bytes()));
        } else if entry.file_type().is_file() {
            tree.insert(name, (mode, std::fs::read(entry.path()).unwrap()));
        }
    }
    tree
}

/// Writes a shell script that can be run at once.
///
/// Another process writes it: what this one has open for writing a child that a further thread starts
/// meanwhile holds open too, and then the kernel refuses to run it (`ETXTBSY`).
pub(crate) fn program(file: &Path, script: &str) {
    let write = r#"printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod 755 "$1""#;
    let status = Command::new("/bin/sh").args(["-c", write, "sh"]).arg(file).arg(script).status();
    assert!(status.unwrap().success());
}
