//! Random repositories: split, render, compare; split, join, compare bytes.
//!
//! The everyday run takes a few; `GITOPS_WINDOWS_RANDOM=5000` takes as many, and
//! `GITOPS_WINDOWS_SEED=17` begins there. A repository that fails is named by its seed.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may fail and speak")]

#[path = "random/repository.rs"]
mod repository;
mod support;

use std::collections::BTreeMap;

use gitops_windows::plan::{Input, Plan, Selection, Way, join, split};
use gitops_windows::render::{Embedded, Renderer, Request};
use gitops_windows::repo::manifest::ObjectId;
use gitops_windows::repo::{ClusterFolders, Entry, File, Model, RepoPath, Snapshot};
use gitops_windows::spec::{self, Spec};
use gitops_windows::template::Templates;
use serde_json::Value;
use support::{kustomize, path};

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn random_repositories_come_out_right_and_back() {
    let first = number("GITOPS_WINDOWS_SEED", 1);
    let count = number("GITOPS_WINDOWS_RANDOM", 25);
    let mut ways: BTreeMap<String, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    for seed in first..first + count {
        let files = repository::make(seed);
        match std::panic::catch_unwind(|| one(seed, &files)) {
            Ok(Ok(found)) => found.into_iter().for_each(|way| *ways.entry(way).or_default() += 1),
            Ok(Err(failure)) => {
                eprintln!("seed {seed}: {failure}");
                failures.push(format!("seed {seed}: {failure}"));
            }
            Err(_) => failures.push(format!("seed {seed}: panicked")),
        }
    }
    eprintln!("{count} repositories: {ways:?}");
    assert!(failures.is_empty(), "{} of {count} failed\n{}", failures.len(), failures.join("\n"));
}

fn one(seed: u64, files: &BTreeMap<String, String>) -> Result<Vec<String>, String> {
    let entries = files.iter().map(|(name, text)| (path(name), Entry::File(File::new(text.as_bytes()))));
    let before = Snapshot::new(entries.collect());
    let spec = spec::read(&before, &path("windows.yaml")).map_err(|error| error.to_string())?.spec;
    let renderer = Embedded::default();
    let plan = planned(&spec, &before, &renderer, splitting)?;
    let after = plan.apply(&before);
    // Another kustomize judges every tenth.
    let outside = kustomize();
    let judge: &dyn Renderer = if seed.is_multiple_of(10) { &outside } else { &renderer };
    let mut ways = Vec::new();
    for entry in &plan.entries {
        let mut way = entry.way.as_str().to_owned();
        if entry.way == Way::Refused {
            way = format!("refused: {}", entry.reason.split(':').next().unwrap_or_default());
        }
        ways.push(way);
        let old = built(judge, &before, std::slice::from_ref(&entry.before));
        let Ok(old) = old else { continue };
        let now = built(judge, &after, std::slice::from_ref(&entry.before))?;
        same(&old, &now, &format!("{} itself", entry.before))?;
        if !entry.after.is_empty() {
            let sides: Vec<RepoPath> = entry.after.iter().map(|(_, side)| side.clone()).collect();
            let union = built(judge, &after, &sides)?;
            same(&old, &union, &format!("the sides of {}", entry.before))?;
        }
    }
    let again = planned(&spec, &after, &renderer, splitting)?;
    if let Some((path, _)) = again.changes.first_key_value() {
        return Err(format!("a second split changes {path}"));
    }
    let joined = planned(&spec, &after, &renderer, join)?.apply(&after);
    for (path, entry) in before.entries() {
        if joined.entry(path) != Some(entry) {
            return Err(format!("join does not give back {path}"));
        }
    }
    match joined.entries().find(|(path, _)| before.entry(path).is_none()) {
        Some((path, _)) => Err(format!("join leaves {path}")),
        None => Ok(ways),
    }
}

type Planner = fn(&Input<'_>, &Selection) -> Result<Plan, gitops_windows::error::Error>;

fn splitting(input: &Input<'_>, selection: &Selection) -> Result<Plan, gitops_windows::error::Error> {
    let templates = Templates::new(BTreeMap::new())?;
    split(input, &templates, selection)
}

fn planned(
    spec: &Spec,
    snapshot: &Snapshot,
    renderer: &dyn Renderer,
    planner: Planner,
) -> Result<Plan, String> {
    let model = Model::read(snapshot, &spec.folder(), &ClusterFolders::new());
    let input = Input { spec, snapshot, model: &model, renderer };
    planner(&input, &Selection::All).map_err(|error| error.to_string())
}

type Objects = BTreeMap<ObjectId, Value>;

/// Renders folders, each object once.
fn built(renderer: &dyn Renderer, snapshot: &Snapshot, folders: &[RepoPath]) -> Result<Objects, String> {
    let has = |folder: &RepoPath| {
        ["kustomization.yaml", "kustomization.yml", "Kustomization"]
            .iter()
            .any(|name| snapshot.entry(&folder.join(name).unwrap()).is_some())
    };
    let mut all = Objects::new();
    for folder in folders {
        // Only the embedded one knows what Flux makes of a folder without a kustomization.
        let embedded = Embedded::default();
        let (renderer, request): (&dyn Renderer, Request) = if has(folder) {
            (renderer, Request::folder(folder.clone()))
        } else {
            (&embedded, Request::flux(folder.clone(), serde_json::json!({})))
        };
        let objects =
            renderer.render(snapshot, &[request]).remove(0).map_err(|error| format!("{folder}: {error}"))?;
        for object in objects {
            let id = ObjectId::of(&object.value);
            if all.insert(id.clone(), object.value).is_some() {
                return Err(format!("{id} is built twice"));
            }
        }
    }
    Ok(all)
}

fn same(old: &Objects, new: &Objects, what: &str) -> Result<(), String> {
    let names = |objects: &Objects| objects.keys().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if old.keys().ne(new.keys()) {
        return Err(format!("{what}: {} instead of {}", names(new), names(old)));
    }
    match old.iter().find(|(id, value)| new.get(id) != Some(value)) {
        Some((id, value)) => Err(format!("{what}: {id} is {} instead of {value}", new[id])),
        None => Ok(()),
    }
}
