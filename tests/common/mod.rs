//! A copy of a repository in a temporary folder, under git, with a spec.
#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may fail, and prepares trees of its own in a temporary folder"
)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Every file and link but git's own: mode and content.
pub type Tree = BTreeMap<String, (u32, Vec<u8>)>;

/// Returns the command that is tested.
pub fn gitops_windows() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gitops-windows"));
    clean(&mut command);
    command
}

fn clean(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("NO_COLOR", "1")
        .env("XDG_CACHE_HOME", crate::support::scratch::cache());
}

/// A repository that vanishes with the value.
pub struct Copy {
    folder: tempfile::TempDir,
    root: String,
}

impl Copy {
    /// Copies a repository, writes a spec for these clusters into `root`, and commits.
    pub fn new(origin: &Path, root: &str, clusters: &[&str]) -> Copy {
        let copy = Copy::filled(origin, root);
        copy.put(&format!("{root}/windows.yaml"), &spec(clusters));
        copy.start();
        copy
    }

    /// Copies a repository and commits it as it is.
    pub fn bare(origin: &Path) -> Copy {
        let copy = Copy::filled(origin, ".");
        copy.start();
        copy
    }

    fn filled(origin: &Path, root: &str) -> Copy {
        let copy = Copy { folder: tempfile::tempdir().unwrap(), root: root.to_owned() };
        for entry in walkdir::WalkDir::new(origin).min_depth(1).sort_by_file_name() {
            let entry = entry.unwrap();
            let to = copy.at(entry.path().strip_prefix(origin).unwrap().to_str().unwrap());
            if entry.file_type().is_dir() {
                std::fs::create_dir_all(to).unwrap();
            } else if entry.file_type().is_symlink() {
                std::os::unix::fs::symlink(std::fs::read_link(entry.path()).unwrap(), to).unwrap();
            } else {
                std::fs::copy(entry.path(), &to).unwrap();
                let mode = entry.metadata().unwrap().permissions().mode();
                std::fs::set_permissions(to, std::fs::Permissions::from_mode(mode | 0o200)).unwrap();
            }
        }
        copy
    }

    /// Makes a repository of these files and a spec for these clusters.
    pub fn of(files: &BTreeMap<String, String>, clusters: &[&str]) -> Copy {
        let copy = Copy { folder: tempfile::tempdir().unwrap(), root: ".".to_owned() };
        for (name, text) in files {
            copy.put(name, text);
        }
        copy.put("windows.yaml", &spec(clusters));
        copy.start();
        copy
    }

    fn start(&self) {
        self.git(&["init", "-q", "--template=", "-b", "main"]);
        self.commit();
    }

    /// Returns the top folder.
    pub fn top(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the place of a path.
    pub fn at(&self, path: &str) -> PathBuf {
        self.top().join(path)
    }

    /// Writes a file.
    pub fn put(&self, path: &str, text: &str) {
        let place = self.at(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, text).unwrap();
    }

    /// Commits all that is there.
    pub fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "state"]);
    }

    /// Runs the tool in the folder of the spec.
    pub fn run(&self, arguments: &[&str]) -> Output {
        gitops_windows().arg("-C").arg(self.at(&self.root)).args(arguments).output().unwrap()
    }

    /// Returns a patch to `git apply`.
    pub fn apply(&self, patch: &[u8]) {
        if patch.is_empty() {
            return;
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), patch).unwrap();
        self.git(&["apply", "--whitespace=nowarn", file.path().to_str().unwrap()]);
    }

    /// Runs git.
    pub fn git(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        clean(&mut command);
        let output = command
            .args(["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "core.autocrlf=false"])
            .args(["-c", "maintenance.auto=false"])
            .args(arguments)
            .current_dir(self.top())
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Returns all files and links but git's and the writer's own.
    pub fn tree(&self) -> Tree {
        let own =
            |entry: &walkdir::DirEntry| entry.file_name() == ".git" || entry.file_name() == ".gitops-windows";
        walkdir::WalkDir::new(self.top())
            .min_depth(1)
            .into_iter()
            .filter_entry(|entry| !own(entry))
            .map(Result::unwrap)
            .filter(|entry| !entry.file_type().is_dir())
            .map(|entry| {
                let name = entry.path().strip_prefix(self.top()).unwrap().to_str().unwrap().to_owned();
                if entry.file_type().is_symlink() {
                    let target = std::fs::read_link(entry.path()).unwrap();
                    return (name, (0, target.to_str().unwrap().as_bytes().to_vec()));
                }
                let mode = entry.metadata().unwrap().permissions().mode() & 0o111;
                (name, (mode, std::fs::read(entry.path()).unwrap()))
            })
            .collect()
    }
}

fn spec(clusters: &[&str]) -> String {
    let clusters: String = clusters.iter().map(|name| format!("  {name}: {{}}\n")).collect();
    format!(
        "apiVersion: gitops-windows/v1\ntypes:\n  rt: {{}}\n  rw: {{ window: work }}\nwindows:\n  work: {{ timeZone: Europe/Berlin, open: 0 8 * * MON, close: 0 17 * * THU }}\nclusters:\n{clusters}"
    )
}

/// Compares two trees and names the first files that differ.
pub fn assert_same(left: &Tree, right: &Tree, what: &str) {
    let paths: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let different: Vec<String> = paths
        .into_iter()
        .filter(|path| left.get(*path) != right.get(*path))
        .map(|path| {
            let text = |tree: &Tree| {
                tree.get(path).map(|(mode, bytes)| format!("{mode:o} {}", String::from_utf8_lossy(bytes)))
            };
            format!("{path}: {:?}\n  instead of {:?}", text(left), text(right))
        })
        .collect();
    assert!(different.is_empty(), "{what}: {} files differ\n{}", different.len(), different.join("\n"));
}
