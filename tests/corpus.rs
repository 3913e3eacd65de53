//! `split --all` on real repositories, judged by renders that `kustomize` makes outside of the tool.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test may fail and speak"
)]

mod common;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::Copy;
use gitops_windows::render::{Object, Renderer, Request};
use gitops_windows::repo::manifest::ObjectId;
use serde_json::Value;
use support::{corpus, kustomize, read, side_by_side};

/// A repository, the folder of its spec, its clusters, and the entry points that must come out.
struct Case {
    repository: &'static str,
    root: &'static str,
    clusters: &'static [&'static str],
    /// Entry points with what must become of each.
    entries: &'static [(&'static str, End)],
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// Divided as the list of expected objects says.
    Divided,
    /// All of one type, or nothing but Flux Kustomizations.
    Untouched,
    /// Refused, for a reason with these words.
    Refused(&'static str),
}
use End::{Divided, Refused, Untouched};

const MAHRRAH: &str = "MahrRah+flux-reconciliation-windows-sample";
const CASES: [Case; 12] = [
    Case {
        repository: MAHRRAH,
        root: "Sample1",
        clusters: &["cluster-1"],
        entries: &[("Sample1/clusters/cluster-1/apps", Divided)],
    },
    Case {
        repository: MAHRRAH,
        root: "Sample3",
        clusters: &["cluster-1"],
        entries: &[("Sample3/clusters/cluster-1/apps", Divided)],
    },
    Case {
        repository: MAHRRAH,
        root: "Sample4",
        clusters: &["cluster-1"],
        entries: &[("Sample4/clusters/cluster-1/apps", Divided)],
    },
    Case {
        repository: "fluxcd+flux2-kustomize-helm-example",
        root: ".",
        clusters: &["production", "staging"],
        entries: &[("apps/production", Untouched), ("apps/staging", Untouched)],
    },
    Case {
        repository: "mischavandenburg+homelab",
        root: ".",
        clusters: &["jotunheim", "data"],
        entries: &[("apps/jotunheim", Divided)],
    },
    Case {
        repository: "makkes+wego-base",
        root: ".",
        clusters: &["prod", "dev", "eks"],
        entries: &[
            ("clusters/prod/apps", Divided),
            ("clusters/dev/apps", Divided),
            // Its list is empty: kustomize refuses that, kustomize-controller applies nothing.
            ("clusters/eks/apps", Untouched),
        ],
    },
    Case {
        repository: "stackgarage+flux-system",
        root: ".",
        clusters: &["prod", "dev"],
        // Only the bootstrap's build applies them, so no migration could hand them over.
        entries: &[
            ("clusters/prod/apps", Refused("has no Flux Kustomization of its own")),
            ("clusters/dev/apps", Refused("has no Flux Kustomization of its own")),
        ],
    },
    Case {
        repository: "JournalDuHacker+fluxcd",
        root: ".",
        clusters: &["production", "staging"],
        entries: &[("clusters/apps-production", Divided), ("clusters/apps-staging", Divided)],
    },
    Case {
        repository: "stefanprodan+podinfo",
        root: ".",
        clusters: &["production", "staging", "dev"],
        entries: &[
            ("deploy/overlays/production", Divided),
            ("deploy/overlays/staging", Divided),
            ("deploy/overlays/dev", Divided),
        ],
    },
    Case {
        repository: "Informasjonsforvaltning+fdk-infra",
        root: ".",
        clusters: &["prod", "dev"],
        entries: &[
            ("apps/prod/nginx-catalog", Divided),
            ("apps/dev/nginx-catalog-staging", Divided),
            ("apps/prod", Untouched),
        ],
    },
    Case {
        repository: "kubernetes-sigs+kustomize",
        root: ".",
        clusters: &["production", "staging"],
        entries: &[
            ("examples/ldap/overlays/production", Untouched),
            ("examples/ldap/overlays/staging", Divided),
            ("examples/springboot/overlays/staging", Untouched),
        ],
    },
    Case {
        repository: "GoogleCloudPlatform+microservices-demo",
        root: ".",
        clusters: &["kustomize", "spanner-with-all-components", "service-mesh-istio-with-all-components"],
        entries: &[
            ("kustomize", Untouched),
            ("kustomize/tests/spanner-with-all-components", Divided),
            ("kustomize/tests/service-mesh-istio-with-all-components", Divided),
        ],
    },
];

#[test]
fn every_entry_point_comes_out_right() {
    let repositories = corpus();
    let only = std::env::var("GITOPS_WINDOWS_CASE").unwrap_or_default();
    let table = side_by_side(&CASES, |case| {
        let origin = repositories.iter().find(|path| path.ends_with(case.repository));
        origin.filter(|_| case.repository.contains(&only)).map(|origin| judge(case, origin))
    });
    eprintln!("{}", table.into_iter().flatten().flatten().collect::<Vec<_>>().join("\n"));
}

/// Returns a line for each entry point.
fn judge(case: &Case, origin: &Path) -> Vec<String> {
    let mut table = Vec::new();
    let copy = Copy::new(origin, case.root, case.clusters);
    let original = copy.tree();
    let patch = copy.run(&["split", "--all", "--dry-run", "--format", "patch"]);
    assert_eq!(copy.tree(), original, "{}: a dry run wrote", case.repository);
    let before = read(copy.top());
    let first = copy.run(&["split", "--all", "--yes", "--format", "json"]);
    let report: Value = serde_json::from_slice(&first.stdout)
        .unwrap_or_else(|_| panic!("{}: {}", case.repository, String::from_utf8_lossy(&first.stderr)));
    let entries = report["entryPoints"].as_array().unwrap();
    let after = read(copy.top());
    for entry in entries {
        assert!(!entry["reason"].as_str().unwrap().is_empty(), "{entry}");
    }
    for (path, end) in case.entries {
        let entry = entries.iter().find(|entry| entry["before"]["path"] == *path);
        let entry = entry.unwrap_or_else(|| panic!("{} {path}: not in the report", case.repository));
        let way = entry["way"].as_str().unwrap();
        let sides: Vec<(String, String)> = entry["after"]
            .as_array()
            .unwrap()
            .iter()
            .map(|side| {
                let text = |key: &str| side[key].as_str().unwrap().to_owned();
                (text("type"), text("path"))
            })
            .collect();
        let counts = match end {
            Divided => {
                assert!(["plain", "projection"].contains(&way), "{path}: {way}, {}", entry["reason"]);
                divided(case, path, &sides, &before, &after)
            }
            Untouched => {
                assert_eq!((way, sides.len()), ("untouched", 0), "{path}: {}", entry["reason"]);
                "-".to_owned()
            }
            Refused(words) => {
                assert_eq!(way, "refused", "{path}");
                assert!(entry["reason"].as_str().unwrap().contains(words), "{path}: {}", entry["reason"]);
                assert!(!entry["remedy"].as_str().unwrap().is_empty());
                "-".to_owned()
            }
        };
        table.push(format!("{} | {path} | {way} | {counts} | {}", case.repository, entry["reason"]));
    }
    // Whatever else was divided must be right as well.
    for entry in entries {
        let sides: Vec<&str> =
            entry["after"].as_array().unwrap().iter().map(|side| side["path"].as_str().unwrap()).collect();
        if !sides.is_empty() {
            union(entry["before"]["path"].as_str().unwrap(), &sides, &before, &after);
        }
    }
    let written = copy.tree();
    copy.commit();
    let second = copy.run(&["split", "--all", "--yes", "--format", "json"]);
    assert_eq!(copy.tree(), written, "{}: a second split wrote", case.repository);
    let again: Value = serde_json::from_slice(&second.stdout).unwrap();
    assert_eq!(again["written"], false, "{}", case.repository);
    // The patch makes the same tree of the original.
    let other = Copy::new(origin, case.root, case.clusters);
    other.apply(&patch.stdout);
    assert_eq!(other.tree(), written, "{}: the patch makes another tree", case.repository);
    if written != original {
        let joined = copy.run(&["join", "--all", "--yes", "--format", "json"]);
        assert!(joined.status.success(), "{}: {}", case.repository, String::from_utf8_lossy(&joined.stderr));
        common::assert_same(&copy.tree(), &original, case.repository);
    }
    table
}

type Values = BTreeMap<ObjectId, Value>;

fn build(snapshot: &gitops_windows::repo::Snapshot, folder: &str) -> Values {
    let result = kustomize().render(snapshot, &[Request::base(support::path(folder))]).remove(0);
    let objects = result.unwrap_or_else(|error| panic!("{folder}: {error}"));
    let count = objects.len();
    let values: Values = objects
        .into_iter()
        .map(|Object { value, .. }| (ObjectId::of(&value), std::sync::Arc::unwrap_or_clone(value)))
        .collect();
    assert_eq!(values.len(), count, "{folder}: two objects with one id");
    values
}

/// The old entry point is what it was, and the sides are that, each object once.
fn union(
    path: &str,
    sides: &[&str],
    before: &gitops_windows::repo::Snapshot,
    after: &gitops_windows::repo::Snapshot,
) -> Vec<Values> {
    let old = build(before, path);
    assert_eq!(build(after, path), old, "{path}: the old entry point changed");
    let parts: Vec<Values> = sides.iter().map(|side| build(after, side)).collect();
    let mut all = Values::new();
    for (id, value) in parts.iter().flatten() {
        assert!(all.insert(id.clone(), value.clone()).is_none(), "{path}: {id} is on two sides");
    }
    assert_eq!(all, old, "{path}: the sides are not what the entry point was");
    parts
}

fn divided(
    case: &Case,
    path: &str,
    sides: &[(String, String)],
    before: &gitops_windows::repo::Snapshot,
    after: &gitops_windows::repo::Snapshot,
) -> String {
    let folders: Vec<&str> = sides.iter().map(|(_, path)| path.as_str()).collect();
    let parts = union(path, &folders, before, after);
    let expected = expected(case.repository, path);
    for ((name, folder), values) in sides.iter().zip(&parts) {
        let names: BTreeSet<String> = values
            .keys()
            .map(|id| {
                let namespace = if id.namespace.is_empty() { "-" } else { &id.namespace };
                format!("{} {namespace}/{}", id.kind, id.name)
            })
            .collect();
        assert_eq!(Some(&names), expected.get(name.as_str()), "{folder}");
    }
    sides
        .iter()
        .zip(&parts)
        .map(|((name, _), values)| format!("{name} {}", values.len()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Reads the list of objects by side: Namespaces belong to rt, and what a workload names by its
/// hash stays with the workload.
fn expected(repository: &str, path: &str) -> BTreeMap<&'static str, BTreeSet<String>> {
    let place = std::env::var_os("GITOPS_WINDOWS_CORPUS").unwrap();
    let file = format!("{repository}__{}.txt", path.replace('/', "_"));
    let text = std::fs::read_to_string(Path::new(&place).join("expected").join(file)).unwrap();
    let mut sections: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut section = String::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(name) => section = name.to_owned(),
            None => sections.entry(section.clone()).or_default().push(line.to_owned()),
        }
    }
    let list = |name: &str| sections.get(name).cloned().unwrap_or_default();
    let hashed: Vec<String> = list("cross")
        .iter()
        .filter_map(|line| Some(line.split_once("-> ")?.1.to_owned()))
        .filter(|name| name.rsplit_once('-').is_some_and(|(_, hash)| hash.len() == 10))
        .collect();
    let is_rt = |line: &String, was: bool| {
        let name = line.rsplit_once('/').map_or("", |(_, name)| name);
        line.starts_with("Namespace ") || was && !hashed.iter().any(|hashed| hashed == name)
    };
    let all = list("rt")
        .into_iter()
        .map(|line| (line, true))
        .chain(list("rw").into_iter().map(|line| (line, false)));
    let mut sides: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
    for (line, was) in all {
        sides.entry(if is_rt(&line, was) { "rt" } else { "rw" }).or_default().insert(line);
    }
    sides
}
