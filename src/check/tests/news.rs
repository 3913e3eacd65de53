//! What counts as new beside an older state.

use std::collections::BTreeMap;

use crate::check::{Former, Subject, audit};
use crate::delivery::{Known, Model};
use crate::diagnostic::Diagnostic;
use crate::path::RepoPath;
use crate::render::Lent;
use crate::repo::{Entry, File, Snapshot};

type Files = BTreeMap<String, String>;

/// Two clusters, each with an app at a path, and folders that build or do not.
fn files(test: &str, prod: &str) -> Files {
    let flux = |name: &str, path: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
             metadata: {{ name: {name}, namespace: flux-system }}\nspec:\n  interval: 10m\n  prune: true\n  \
             sourceRef: {{ kind: GitRepository, name: flux-system }}\n  path: ./{path}\n"
        )
    };
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
                  metadata: { name: flux-system, namespace: flux-system }\n\
                  spec: { interval: 1m, url: https://example.org/fleet }\n---\n";
    let map = |name: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: '{name}', namespace: default }}\n")
    };
    let mut files = Files::new();
    for (cluster, app) in [("test", test), ("prod", prod)] {
        let folder = format!("clusters/{cluster}");
        files.insert(format!("{folder}/sync.yaml"), format!("{source}{}", flux("flux-system", &folder)));
        files.insert(format!("{folder}/apps.yaml"), flux("apps", app));
    }
    let folders = [
        ("apps/ok", "resources: [a.yaml]\n", map("a")),
        ("apps/web", "resources: [a.yaml, missing.yaml]\n", map("a")),
        ("apps/alike", "resources: [a.yaml]\n", format!("{}---\n{}", map("a"), map("${APP}"))),
    ];
    for (folder, list, text) in folders {
        files.insert(format!("{folder}/kustomization.yaml"), list.to_owned());
        files.insert(format!("{folder}/a.yaml"), text);
    }
    files
}

fn with(mut files: Files, file: &str, from: &str, to: &str) -> Files {
    let text = files.get_mut(file).unwrap();
    assert!(text.contains(from), "{file}");
    *text = text.replace(from, to);
    files
}

/// Returns code and file of what is new.
fn news(before: &Files, after: &Files) -> Vec<String> {
    let renderer = Lent::default();
    let snapshot = |files: &Files| {
        let of = |(path, text): (&String, &String)| {
            (RepoPath::parse(path).unwrap(), Entry::File(File::new(text.clone().into_bytes())))
        };
        Snapshot::new(files.iter().map(of).collect())
    };
    let [old, new] = [before, after].map(snapshot);
    let [older, newer] =
        [&old, &new].map(|files| Model::read(files, &RepoPath::top(), &Known::default(), &renderer));
    let before = Subject::new(&old, &older, None, &renderer);
    let after = Subject::new(&new, &newer, None, &renderer);
    let found = |subject: &Subject<'_>| audit(subject, "2026-01-05T12:00:00Z".parse().unwrap());
    let told = |one: &Diagnostic| format!("{} {}", one.code.unwrap(), one.place.as_ref().unwrap().path);
    Former::new(&before, found(&before)).news(found(&after), &after).iter().map(told).collect()
}

#[test]
fn a_path_that_is_mended_in_one_cluster_and_broken_in_another_is_new() {
    let base = files("apps/gone", "apps/ok");
    let swapped = files("apps/ok", "apps/gone");
    assert_eq!(news(&base, &swapped), ["GW034 clusters/prod/apps.yaml"]);
    // Also where the file of the first has gone.
    let mut without = swapped;
    without.remove("clusters/test/apps.yaml");
    assert_eq!(news(&base, &without), ["GW034 clusters/prod/apps.yaml"]);
}

#[test]
fn a_broken_folder_that_one_more_cluster_builds_is_new() {
    let base = files("apps/web", "apps/ok");
    assert_eq!(news(&base, &files("apps/web", "apps/web")), ["GW032 apps/web/kustomization.yaml"]);
    assert_eq!(news(&base, &files("apps/ok", "apps/web")), ["GW032 apps/web/kustomization.yaml"]);
    // What fails for fewer is not.
    assert_eq!(news(&files("apps/web", "apps/web"), &base), Vec::<String>::new());
}

#[test]
fn two_objects_of_one_name_in_one_more_cluster_are_new() {
    let named = |cluster: &str, files: Files| {
        let file = format!("clusters/{cluster}/apps.yaml");
        with(files, &file, "  prune: true", "  postBuild: { substitute: { APP: a } }\n  prune: true")
    };
    let base = named("test", files("apps/alike", "apps/alike"));
    assert_eq!(news(&base, &named("prod", base.clone())), ["GW032 apps/alike/a.yaml"]);
    assert_eq!(news(&base, &base), Vec::<String>::new());
}

#[test]
fn a_file_or_a_cluster_that_is_renamed_is_no_news() {
    let base = files("apps/gone", "apps/web");
    let renamed = |from: &str, to: &str| -> Files {
        base.iter().map(|(path, text)| (path.replace(from, to), text.replace(from, to))).collect()
    };
    assert_eq!(news(&base, &renamed("prod/apps.yaml", "prod/all.yaml")), Vec::<String>::new());
    assert_eq!(news(&base, &renamed("test/apps.yaml", "test/all.yaml")), Vec::<String>::new());
    assert_eq!(news(&base, &renamed("clusters/prod", "clusters/live")), Vec::<String>::new());
    assert_eq!(news(&base, &renamed("clusters/test", "clusters/lab")), Vec::<String>::new());
}

#[test]
fn a_folder_that_is_renamed_is_no_news() {
    let base = files("apps/web", "apps/ok");
    let renamed: Files = base
        .iter()
        .map(|(path, text)| (path.replace("apps/web", "apps/site"), text.replace("apps/web", "apps/site")))
        .collect();
    assert_eq!(news(&base, &renamed), Vec::<String>::new());
}

/// An object of which something is found that says nothing of files.
const OLD: &str = "apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: { name: old, namespace: default }\n";

#[test]
fn an_object_that_moves_is_no_news() {
    let list = "resources: [a.yaml]\n";
    let mut base =
        with(files("apps/ok", "apps/ok"), "apps/ok/a.yaml", "apiVersion", &format!("{OLD}---\napiVersion"));
    assert_eq!(news(&files("apps/ok", "apps/ok"), &base), ["GW023 apps/ok/a.yaml"]);
    // Below in the same file.
    let below = with(
        files("apps/ok", "apps/ok"),
        "apps/ok/a.yaml",
        "default }\n",
        &format!("default }}\n---\n{OLD}"),
    );
    assert_eq!(news(&base, &below), Vec::<String>::new());
    // Into a new file, beside what stays.
    let mut parted = with(
        files("apps/ok", "apps/ok"),
        "apps/ok/kustomization.yaml",
        list,
        "resources: [a.yaml, old.yaml]\n",
    );
    parted.insert("apps/ok/old.yaml".to_owned(), OLD.to_owned());
    assert_eq!(news(&base, &parted), Vec::<String>::new());
    // The file under another name.
    let text = base.remove("apps/ok/a.yaml").unwrap();
    let named = |file: &str| {
        let mut files = with(base.clone(), "apps/ok/kustomization.yaml", "a.yaml", file);
        files.insert(format!("apps/ok/{file}"), text.clone());
        files
    };
    assert_eq!(news(&named("a.yaml"), &named("b.yaml")), Vec::<String>::new());
}

#[test]
fn another_broken_file_is_new_where_one_goes() {
    let broken = |file: &str, text: &str| {
        let list = format!("resources: [a.yaml, {file}]\n");
        let mut files =
            with(files("apps/ok", "apps/ok"), "apps/ok/kustomization.yaml", "resources: [a.yaml]\n", &list);
        files.insert(format!("apps/ok/{file}"), text.to_owned());
        files
    };
    let base = broken("bad.yaml", "x: [1\n");
    assert_eq!(news(&base, &broken("other.yaml", "x: [1\n")), Vec::<String>::new());
    assert_eq!(news(&base, &broken("other.yaml", "y: {2\n")), ["GW033 apps/ok/other.yaml"]);
}
