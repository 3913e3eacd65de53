//! What the tests of the renderers share.
#![allow(dead_code, reason = "each test program uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may fail and speak"
)]

pub mod golden;
pub mod scratch;
pub mod thorough;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use gitops_windows::path::RepoPath;
use gitops_windows::render::{Embedded, External, Object, RenderError, Renderer, Request, Tool};
use gitops_windows::repo::{Entry, File, Snapshot};

/// The kustomize whose library `renderer/go.mod` names.
const KUSTOMIZE: &str = "v5.8.1";

/// Parses a path that is known to be good.
pub fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

/// Asks for a folder.
pub fn folder(text: &str) -> Request {
    Request::base(path(text))
}

/// Builds with the kustomize inside, which remembers nothing of other builds. Its instance may have made some: to
/// start one takes longer than most builds.
pub fn built(snapshot: &Snapshot, requests: &[Request]) -> Vec<Result<Vec<Object>, RenderError>> {
    static FREE: Mutex<Vec<Embedded>> = Mutex::new(Vec::new());
    let free = || FREE.lock().unwrap_or_else(PoisonError::into_inner);
    let waiting = free().pop();
    let renderer = waiting.unwrap_or_default();
    let built = renderer.forgetful().render(snapshot, requests);
    free().push(renderer);
    built
}

/// Writes a Flux Kustomization of `flux-system` over a folder; `more` are further lines of its `spec`.
pub fn flux_kustomization(name: &str, path: &str, more: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec:\n  interval: 10m\n  path: ./{path}\n  prune: true\n  sourceRef: {{ kind: GitRepository, name: flux-system }}\n{more}"
    )
}

/// Makes a snapshot of files and, where the text begins with `->`, links.
pub fn snapshot(files: &[(&str, &str)]) -> Snapshot {
    let entry = |text: &str| match text.strip_prefix("->") {
        Some(target) => Entry::Symlink { target: target.to_owned() },
        None => Entry::File(File::new(text.as_bytes())),
    };
    Snapshot::new(files.iter().map(|(name, text)| (path(name), entry(text))).collect())
}

/// Reads a folder of the disk.
pub fn read(top: &Path) -> Snapshot {
    let mut entries = BTreeMap::new();
    for item in walkdir::WalkDir::new(top) {
        let item = item.unwrap();
        let kind = item.file_type();
        if kind.is_dir() {
            continue;
        }
        let Some(name) = item.path().strip_prefix(top).unwrap().to_str() else { continue };
        let Ok(name) = RepoPath::parse(name) else { continue };
        let entry = if kind.is_symlink() {
            Entry::Symlink { target: std::fs::read_link(item.path()).unwrap().to_str().unwrap().to_owned() }
        } else {
            Entry::File(File::new(std::fs::read(item.path()).unwrap()))
        };
        entries.insert(name, entry);
    }
    Snapshot::new(entries)
}

/// Lists the folders that hold a kustomization.
pub fn kustomizations(snapshot: &Snapshot) -> Vec<RepoPath> {
    let names = ["kustomization.yaml", "kustomization.yml", "Kustomization"];
    let folders: BTreeSet<RepoPath> = snapshot
        .entries()
        .filter(|(path, _)| path.name().is_some_and(|name| names.contains(&name)))
        .filter_map(|(path, _)| path.parent())
        .collect();
    folders.into_iter().collect()
}

/// Returns the repositories of the corpus, or none where it is not at hand.
pub fn corpus() -> Vec<PathBuf> {
    let Some(place) = std::env::var_os("GITOPS_WINDOWS_CORPUS") else {
        eprintln!("skipped: GITOPS_WINDOWS_CORPUS names no corpus");
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = std::fs::read_dir(Path::new(&place).join("repos"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    found.sort();
    found
}

/// Does the same with each of some things, several at a time, and gives what came of them in their order.
pub fn side_by_side<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let waiting = Mutex::new(all.iter().enumerate());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, NonZeroUsize::get) {
            scope.spawn(|| {
                while let Some((position, one)) = next() {
                    let result = work(one);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((position, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(position, _)| *position);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Returns the kustomize command of the embedded version, built with Go if need be.
pub fn kustomize() -> External {
    static FOUND: OnceLock<External> = OnceLock::new();
    FOUND.get_or_init(find_kustomize).clone()
}

fn find_kustomize() -> External {
    let fits = |external: &External| external.describe() == format!("kustomize {KUSTOMIZE}");
    if let Ok(external) = External::find(Tool::Kustomize)
        && fits(&external)
    {
        return external;
    }
    let tools = Path::new(option_env!("CARGO_TARGET_TMPDIR").unwrap_or("target/tmp")).join("tools");
    let program = tools.join("kustomize");
    if !program.is_file() {
        let module = format!("sigs.k8s.io/kustomize/kustomize/v5@{KUSTOMIZE}");
        let status = Command::new("go").args(["install", &module]).env("GOBIN", &tools).status();
        assert!(status.expect("go is needed to build kustomize").success());
    }
    let external = External::at(Tool::Kustomize, program).unwrap();
    assert!(fits(&external), "not kustomize {KUSTOMIZE}");
    external
}
