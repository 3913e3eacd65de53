//! What a change deletes by what the cluster has, and where a part of it is not known.

use super::repository::{Files, edited, findings};

/// The codes about objects that go or stay.
const CODES: [&str; 7] = ["GW012", "GW013", "GW018", "GW035", "GW048", "GW054", "GW055"];

/// What the cluster's own Flux Kustomization makes of all others.
fn patched(field: &str, value: &str) -> String {
    format!(
        "  patches:\n  - target: {{ kind: Kustomization, name: \"a|b|c\" }}\n    patch: |\n      - op: add\n        path: /spec/{field}\n        value: {value}\n"
    )
}

pub(super) fn kustomization(name: &str, path: &str, spec: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec:\n  interval: 10m\n  path: ./{path}\n{spec}"
    )
}

pub(super) const FROM_HERE: &str = "  sourceRef: { kind: GitRepository, name: flux-system }\n";

/// Makes a cluster in which a Flux Kustomization builds `clusters/edge`, with more in its spec, and others
/// with their own specs and the names of their ConfigMaps.
pub(super) fn cluster(own: &str, others: &[(&str, &str, &[&str])]) -> Files {
    let own = kustomization("flux-system", "clusters/edge", &format!("  prune: true\n{FROM_HERE}{own}"));
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: flux-system, namespace: flux-system }\nspec: { interval: 1m, url: https://example.org/fleet }\n";
    let mut files = Files::from([
        ("clusters/edge/flux-system/gotk-sync.yaml".to_owned(), format!("{source}---\n{own}")),
        (
            "clusters/edge/flux-system/kustomization.yaml".to_owned(),
            "resources: [gotk-sync.yaml]\n".to_owned(),
        ),
    ]);
    for (name, spec, objects) in others {
        let spec = format!("  {spec}\n{FROM_HERE}");
        files.insert(
            format!("clusters/edge/{name}.yaml"),
            kustomization(name, &format!("apps/{name}"), &spec),
        );
        folder(&mut files, name, objects);
    }
    files
}

fn folder(files: &mut Files, name: &str, objects: &[&str]) {
    let list: Vec<String> = objects.iter().map(|object| format!("{object}.yaml")).collect();
    files.insert(format!("apps/{name}/kustomization.yaml"), format!("resources: [{}]\n", list.join(", ")));
    for object in objects {
        let text =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {object}, namespace: shop }}\n");
        files.insert(format!("apps/{name}/{object}.yaml"), text);
    }
}

/// The codes that a change shows, with their messages.
pub(super) fn told(before: &Files, after: &Files) -> Vec<String> {
    let (_, found) = findings(std::slice::from_ref(after), Some(std::slice::from_ref(before))).remove(0);
    let told = found.into_iter().filter_map(|finding| {
        let code = finding.code.filter(|code| CODES.contains(code))?;
        Some(format!("{code} {}", finding.message))
    });
    told.collect()
}

/// Makes sure that a change shows one finding, with these words.
#[track_caller]
pub(super) fn one(before: &Files, after: &Files, code: &str, words: &str) {
    let told = told(before, after);
    assert!(
        matches!(&told[..], [one] if one.starts_with(code) && one.contains(words)),
        "{code} {words:?} is not all of {told:?}"
    );
}

#[track_caller]
pub(super) fn none(before: &Files, after: &Files) {
    assert_eq!(told(before, after), Vec::<String>::new());
}

#[test]
fn what_a_parent_makes_of_prune_counts() {
    let (on, off) = (patched("prune", "true"), patched("prune", "false"));
    let two = |own: &str, prune: &str| cluster(own, &[("a", prune, &["x", "y"])]);
    let less = |own: &str, prune: &str| cluster(own, &[("a", prune, &["x"])]);
    one(
        &two(&on, "prune: false"),
        &less(&on, "prune: false"),
        "GW054",
        "takes 1 object from a, which deletes it",
    );
    one(&two(&off, "prune: true"), &less(&off, "prune: true"), "GW035", "a does not delete it");
    let given = |own: &str, prune: &str| cluster(own, &[("a", prune, &["x"]), ("c", prune, &["y"])]);
    one(
        &two(&on, "prune: false"),
        &given(&on, "prune: false"),
        "GW012",
        "a loses ConfigMap shop/y while c starts to apply it",
    );
    none(&two(&off, "prune: true"), &given(&off, "prune: true"));
    // One that goes is judged by its policy, also one that a parent gives it.
    let policy = patched("deletionPolicy", "Delete");
    let gone = |own: &str| cluster(own, &[]);
    one(&two(&policy, "prune: false"), &gone(&policy), "GW054", "a leaves Git, which deletes 2 objects");
    let policy = patched("deletionPolicy", "Orphan");
    one(&two(&policy, "prune: true"), &gone(&policy), "GW035", "ConfigMap shop/x, ConfigMap shop/y");
}

/// The old owner applies the commit first, and prunes.
#[test]
fn what_goes_to_one_that_depends_on_its_owner_is_deleted_for_certain() {
    let after = |name: &str| format!("prune: true\n  dependsOn: [{{ name: {name} }}]");
    let two = cluster("", &[("a", "prune: true", &["x", "y"])]);
    let told = "c depends on a, so a deletes it first. It comes back once c applies it, up to 4 minutes after the merge";
    one(&two, &cluster("", &[("a", "prune: true", &["x"]), ("c", &after("a"), &["y"])]), "GW012", told);
    // So by a chain.
    let far = [("a", "prune: true", &["x"][..]), ("b", &after("a"), &["z"]), ("c", &after("b"), &["y"])];
    one(&two, &cluster("", &far), "GW012", "c depends on a, so a deletes it first");
    // It may reconcile once before it depends on the other one.
    let both = cluster("", &[("a", "prune: true", &["x", "y"]), ("c", "prune: true", &["z"])]);
    let begun = cluster("", &[("a", "prune: true", &["x"]), ("c", &after("a"), &["y", "z"])]);
    one(&both, &begun, "GW012", "If a reconciles first, it deletes it");
}

#[test]
fn one_that_goes_deletes_by_its_policy_also_where_it_does_not_prune() {
    for policy in ["Delete", "WaitForTermination"] {
        let spec = format!("prune: false\n  deletionPolicy: {policy}");
        let before = cluster("", &[("a", &spec, &["x"])]);
        one(&before, &cluster("", &[]), "GW054", "a leaves Git, which deletes 1 object");
        one(&before, &cluster("", &[("b", &spec, &["x"])]), "GW012", "a goes while b starts to apply");
        let mut rest = before.clone();
        rest.remove("clusters/edge/a.yaml");
        one(&before, &rest, "GW048", "a leaves Git");
        // It stays, and loses what it does not prune.
        one(&before, &cluster("", &[("a", &spec, &[])]), "GW035", "a does not delete it");
    }
    // One that its parent may not delete stays, and has its folder.
    let before = cluster("", &[("a", "prune: true", &["x"])]);
    let mut kept = before.clone();
    let own = kept["clusters/edge/a.yaml"].replace(
        "namespace: flux-system }",
        "namespace: flux-system, annotations: { kustomize.toolkit.fluxcd.io/prune: disabled } }",
    );
    kept.insert("clusters/edge/a.yaml".to_owned(), own);
    let without = |files: &Files| {
        let mut files = files.clone();
        files.remove("clusters/edge/a.yaml");
        files
    };
    one(&before, &without(&before), "GW048", "a leaves Git");
    one(&kept, &without(&kept), "GW035", "Kustomization flux-system/a left Git");
    for spec in [
        "prune: true\n  deletionPolicy: Orphan",
        "prune: false",
        "prune: false\n  deletionPolicy: MirrorPrune",
    ] {
        let before = cluster("", &[("a", spec, &["x"])]);
        none(&before, &cluster("", &[("b", spec, &["x"])]));
    }
}

#[test]
fn what_one_of_two_deletes_is_not_said_to_stay() {
    let state =
        |objects: &[&str]| cluster("", &[("a", "prune: false", objects), ("b", "prune: true", objects)]);
    one(&state(&["x", "y"]), &state(&["x"]), "GW054", "takes 1 object from b, which deletes it");
}

#[test]
fn one_of_two_owners_that_lets_go_deletes_where_it_came_last() {
    let state = |of: &[(&str, &str, &[&str])]| cluster("", of);
    let both = state(&[("a", "prune: true", &["x", "y"]), ("b", "prune: true", &["x"])]);
    let alone = state(&[("a", "prune: true", &["x", "y"])]);
    one(&both, &alone, "GW012", "b goes with ConfigMap shop/x, which a applies too");
    let lost = state(&[("a", "prune: true", &["y"]), ("b", "prune: true", &["x"])]);
    one(&both, &lost, "GW012", "a loses ConfigMap shop/x, which b applies too");
    let kept = state(&[("a", "prune: true", &["x", "y"]), ("b", "prune: false", &["x"])]);
    none(&kept, &alone);
}

#[test]
fn one_that_is_told_to_keep_in_the_same_commit_may_delete_before_it_knows() {
    let before = cluster("", &[("a", "prune: true", &["x", "y"])]);
    one(
        &before,
        &cluster("", &[("a", "prune: false", &["x"])]),
        "GW054",
        "takes 1 object from a, which may delete it",
    );
    let given = cluster("", &[("a", "prune: false", &["x"]), ("c", "prune: false", &["y"])]);
    one(&before, &given, "GW012", "a loses ConfigMap shop/y while c starts to apply it");
    // Nothing leaves it, and one commit later it keeps what does.
    let kept = cluster("", &[("a", "prune: false", &["x", "y"])]);
    none(&before, &kept);
    none(&kept, &given);
}

/// `migrate` plans nothing for what one that stays loses to a new one.
#[test]
fn what_leaves_one_that_stays_for_a_new_one_is_told_with_steps_that_fit() {
    let before = cluster("", &[("a", "prune: true", &["x", "y"])]);
    let after = cluster("", &[("a", "prune: true", &["x"]), ("b", "prune: true", &["y"])]);
    let (_, found) = findings(std::slice::from_ref(&after), Some(std::slice::from_ref(&before))).remove(0);
    let one = found.iter().find(|finding| finding.code == Some("GW012")).unwrap();
    let help = one.help.as_deref().unwrap();
    assert!(help.starts_with("1. merge `prune: false`") && help.ends_with("\n3. merge this"), "{help}");
    assert!(!help.contains("migrate"), "{help}");
}

#[test]
fn an_object_that_changes_between_two_that_stay_may_be_deleted() {
    let spec = "prune: true";
    let state = |of_a: (&str, &[&str]), of_b: (&str, &[&str])| {
        cluster("", &[("a", of_a.0, of_a.1), ("b", of_b.0, of_b.1)])
    };
    let before = state((spec, &["x", "y"]), (spec, &["z"]));
    one(
        &before,
        &state((spec, &["x"]), (spec, &["y", "z"])),
        "GW012",
        "a loses ConfigMap shop/y while b starts to apply it",
    );
    let keeps = "prune: false";
    none(&state((keeps, &["x", "y"]), (spec, &["z"])), &state((keeps, &["x"]), (spec, &["y", "z"])));
    // One that waits for the other loses the object when that has applied it.
    let waits = "prune: true\n  dependsOn: [{ name: b }]";
    none(&state((waits, &["x", "y"]), (spec, &["z"])), &state((waits, &["x"]), (spec, &["y", "z"])));
    let waits = "prune: true\n  dependsOn: [{ name: a }]";
    let told =
        told(&state((spec, &["x", "y"]), (waits, &["z"])), &state((spec, &["x"]), (waits, &["y", "z"])));
    assert!(matches!(&told[..], [one] if one.starts_with("GW012")), "{told:?}");
}

#[test]
fn what_is_not_built_here_may_be_deleted_too() {
    let with = |spec: &str| {
        let mut files = cluster("", &[("a", "prune: true", &["x"])]);
        let spec = format!("  {spec}\n  sourceRef: {{ kind: OCIRepository, name: images }}\n");
        files.insert("clusters/edge/b.yaml".to_owned(), kustomization("b", "deploy", &spec));
        files
    };
    let after = cluster("", &[("a", "prune: true", &["x"])]);
    let words = "b leaves Git, which deletes all of its objects. Which these are is not known here";
    one(&with("prune: true"), &after, "GW054", words);
    one(&with("prune: false\n  deletionPolicy: Delete"), &after, "GW054", words);
    for quiet in ["prune: false", "prune: true\n  deletionPolicy: Orphan", "prune: true\n  suspend: true"] {
        none(&with(quiet), &after);
    }
    none(&with("prune: true"), &with("prune: false"));
    // As little is known of a folder that does not build.
    let mut broken = cluster("", &[("a", "prune: true", &["x"]), ("b", "prune: true", &["y"])]);
    broken.remove("apps/b/y.yaml");
    one(&broken, &after, "GW054", words);
}

#[test]
fn folders_that_nothing_applies_own_nothing() {
    let state = |name: &str| {
        let mut files = cluster("", &[("apps", "prune: true", &["x"])]);
        let own = files
            .remove("clusters/edge/apps.yaml")
            .unwrap()
            .replace("name: apps,", &format!("name: {name},"));
        files.insert("clusters/edge/flux-system/apps.yaml".to_owned(), own);
        let list = "clusters/edge/flux-system/kustomization.yaml";
        files.insert(list.to_owned(), "resources: [gotk-sync.yaml, apps.yaml]\n".to_owned());
        for (path, text) in &mut files {
            if path.ends_with("gotk-sync.yaml") {
                *text = text.replace("path: ./clusters/edge\n", "path: ./clusters/edge/flux-system\n");
            }
        }
        files.insert(
            "clusters/edge/half/kustomization.yaml".to_owned(),
            "resources: [../../../apps/apps]\n".to_owned(),
        );
        files
    };
    one(&state("apps"), &state("shop"), "GW012", "apps goes while shop starts to apply ConfigMap shop/x");
}

#[test]
fn what_does_not_build_hides_nothing_else() {
    let broken = |others: &[(&str, &str, &[&str])]| {
        let mut files = cluster("", others);
        files.insert("apps/z/kustomization.yaml".to_owned(), "resources: [missing.yaml]\n".to_owned());
        files.insert(
            "clusters/edge/z.yaml".to_owned(),
            kustomization("z", "apps/z", &format!("  prune: true\n{FROM_HERE}")),
        );
        files
    };
    let before = broken(&[("a", "prune: true", &["x", "y"])]);
    one(&before, &broken(&[]), "GW054", "a leaves Git, which deletes 2 objects");
    one(
        &before,
        &broken(&[("a", "prune: true", &["x"])]),
        "GW054",
        "takes 1 object from a, which deletes it",
    );
    let given = [("a", "prune: true", &["x"][..]), ("c", "prune: true", &["y"][..])];
    one(&before, &broken(&given), "GW012", "while c starts to apply it");
    // What breaks deletes nothing, and neither does what is not built any more.
    let mut stopped = before.clone();
    stopped.remove("apps/a/x.yaml");
    none(&before, &stopped);
    let mut lost = before.clone();
    lost.retain(|path, _| !path.starts_with("apps/a/"));
    none(&before, &lost);
}

#[test]
fn a_cluster_that_loses_its_last_kustomization_is_looked_at() {
    let state = |clusters: &[&str]| {
        let mut files = Files::new();
        folder(&mut files, "a", &["x"]);
        for cluster in clusters {
            let spec = format!("  prune: true\n{FROM_HERE}");
            files.insert(format!("k/{cluster}/a.yaml"), kustomization("a", "apps/a", &spec));
        }
        files
    };
    one(&state(&["north", "south"]), &state(&["south"]), "GW048", "a leaves Git");
    none(&state(&["south"]), &state(&["north", "south"]));
    // The folder gets another name, of which the cluster knows nothing.
    none(&state(&["north", "south"]), &state(&["west", "south"]));
}

#[test]
fn names_that_post_build_completes_are_those_of_the_cluster() {
    let state = |apps: &[&str]| {
        let spec = |app: &str| format!("prune: true\n  postBuild: {{ substitute: {{ APP: {app} }} }}");
        let specs: Vec<String> = apps.iter().map(|app| spec(app)).collect();
        let all: Vec<(&str, &str, &[&str])> =
            apps.iter().zip(&specs).map(|(app, spec)| (&app[..1], spec.as_str(), &[][..])).collect();
        let mut files = cluster("", &all);
        for app in ["a", "b"] {
            let list = "resources: [backup.yaml]\n".to_owned();
            files.insert(format!("apps/{app}/kustomization.yaml"), list);
            files.insert(
                format!("apps/{app}/backup.yaml"),
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${APP:=x}-backup\n  namespace: shop\n"
                    .to_owned(),
            );
        }
        files
    };
    one(&state(&["a", "b"]), &state(&["b"]), "GW048", "ConfigMap shop/a-backup");
    // One that gets another name there is deleted.
    one(&state(&["a", "b"]), &state(&["a", "bold"]), "GW054", "ConfigMap shop/b-backup");
    // Two of one name are told apart by nothing.
    one(&state(&["a"]), &state(&["b"]), "GW048", "ConfigMap shop/a-backup");
    let before = state(&["a"]);
    let after: Files =
        state(&["b"]).into_iter().map(|(path, text)| (path, text.replace("APP: b", "APP: a"))).collect();
    one(&before, &after, "GW012", "b starts to apply ConfigMap shop/a-backup");
}

/// A cluster with one object of a Flux Kustomization, whose name holds a variable.
fn with_variable(own: &str, spec: &str, name: &str) -> Files {
    let mut files = cluster(own, &[("a", &format!("prune: true\n  {spec}"), &[])]);
    files.insert("apps/a/kustomization.yaml".to_owned(), "resources: [backup.yaml]\n".to_owned());
    files.insert(
        "apps/a/backup.yaml".to_owned(),
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: \"{name}\", namespace: shop }}\n"),
    );
    files
}

#[test]
fn what_a_parent_makes_of_post_build_counts() {
    let parent = |app: &str| patched("postBuild", &format!("{{ substitute: {{ APP: {app} }} }}"));
    let state = |app: &str, written: &str, name: &str| {
        with_variable(&parent(app), &format!("postBuild: {{ substitute: {{ APP: {written} }} }}"), name)
    };
    let before = state("north", "web", "${APP}-backup");
    let gone = "this change takes 1 object from a, which deletes it: ConfigMap shop/north-backup";
    one(&before, &state("north", "web", "web-backup"), "GW054", gone);
    one(&before, &state("south", "web", "${APP}-backup"), "GW054", gone);
    none(&before, &state("north", "other", "${APP}-backup"));
    none(&before, &state("north", "web", "north-backup"));
}

#[test]
fn values_that_are_needed_and_go_are_found() {
    let state = |of: &[&str], more: &str| -> Files {
        let reads =
            format!("prune: true\n  postBuild: {{ substituteFrom: [{{ kind: ConfigMap, name: x{more} }}] }}");
        let files = cluster("", &[("a", "prune: true", of), ("b", &reads, &["z"])]);
        files
            .into_iter()
            .map(|(path, text)| (path, text.replace("namespace: shop", "namespace: flux-system")))
            .collect()
    };
    let of = |more: &str| -> Vec<String> {
        let [before, after] = [&["x", "y"][..], &["y"]].map(|of| state(of, more));
        let found = findings(&[after], Some(&[before])).remove(0).1;
        let own = found.into_iter().filter(|one| one.code == Some("GW032"));
        own.map(|one| one.message).collect()
    };
    assert_eq!(of(""), ["once ConfigMap flux-system/x is deleted, b fails: it needs its values"]);
    assert_eq!(of(", optional: true"), Vec::<String>::new());
}

#[test]
fn a_name_that_only_the_cluster_knows_is_not_said_to_go() {
    let state = |post_build: &str, name: &str| with_variable("", &format!("postBuild: {post_build}"), name);
    let from = "substituteFrom: [{ kind: ConfigMap, name: c }]";
    let known = state("{ substitute: { APP: web } }", "${APP}-backup");
    let unknown = state(&format!("{{ {from} }}"), "${APP}-backup");
    none(&known, &unknown);
    none(&unknown, &known);
    let kept = |files: &Files| -> Files {
        files.iter().map(|(path, text)| (path.clone(), text.replace("prune: true", "prune: false"))).collect()
    };
    none(&kept(&known), &kept(&unknown));
    let default = |post_build: &str| state(post_build, "${ENV:=prod}-backup");
    none(&default("{ substitute: { X: y } }"), &default(&format!("{{ substitute: {{ X: y }}, {from} }}")));
    none(&default("{}"), &default("{ substitute: { X: y } }"));
    // Whatever it is called, it is no longer built.
    one(&unknown, &state(&format!("{{ {from} }}"), "other"), "GW054", "ConfigMap shop/${APP}-backup");
}

#[test]
fn a_bootstrap_path_that_changes_takes_names_along() {
    let state = |env: &str, path: &str| {
        let values = format!("  postBuild: {{ substitute: {{ ENV: {env} }} }}\n");
        let mut files = cluster(&values, &[]);
        for (file, text) in &mut files {
            if file.ends_with("gotk-sync.yaml") {
                *text = text.replace("path: ./clusters/edge\n", &format!("path: ./{path}\n"));
            }
        }
        files.insert(
            "clusters/edge/kustomization.yaml".to_owned(),
            "resources: [flux-system, db.yaml]\n".to_owned(),
        );
        files.insert("clusters/kustomization.yaml".to_owned(), "resources: [edge]\n".to_owned());
        files.insert(
            "clusters/edge/db.yaml".to_owned(),
            "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: \"${ENV}-db\", namespace: shop }\n".to_owned(),
        );
        files
    };
    let before = state("a", "clusters/edge");
    none(&before, &state("a", "clusters"));
    one(&before, &state("b", "clusters"), "GW055", "PersistentVolumeClaim shop/a-db");
}

#[test]
fn every_cluster_has_its_own_post_build() {
    // Of one name and one folder; nothing in Git applies the second, or a hub applies each to a cluster of its own.
    let state = |env: [&str; 2], more: &str, tops: &[&str]| {
        let mut files = Files::new();
        for (cluster, env) in ["prod", "staging"].into_iter().zip(env) {
            let top = format!("clusters/{cluster}");
            let spec = format!("  prune: true\n{FROM_HERE}");
            if tops.contains(&cluster) {
                files.insert(
                    format!("{top}/flux-system/gotk-sync.yaml"),
                    kustomization("flux-system", &top, &spec),
                );
            }
            let values = format!("{spec}  postBuild: {{ substitute: {{ ENV: {env} }} }}\n{more}");
            files.insert(format!("{top}/infra.yaml"), kustomization("infra", "infra", &values));
        }
        files.insert("infra/kustomization.yaml".to_owned(), "resources: [db.yaml]\n".to_owned());
        files.insert(
            "infra/db.yaml".to_owned(),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: \"${ENV}-db\", namespace: shop }\n"
                .to_owned(),
        );
        files
    };
    let remote = "  kubeConfig: { secretRef: { name: edge } }\n";
    for (more, tops) in [("", &["prod"][..]), ("", &["prod", "staging"]), (remote, &["prod", "staging"])] {
        let before = state(["a", "b"], more, tops);
        one(&before, &state(["a", "c"], more, tops), "GW054", "ConfigMap shop/b-db");
        one(&before, &state(["c", "b"], more, tops), "GW054", "ConfigMap shop/a-db");
    }
}

#[test]
fn what_a_cluster_has_elsewhere_is_its_own() {
    for folder_of_clusters in ["clusters", "cluster"] {
        let state = |of_base: &[&str], of_db: &[&str]| {
            let mut files = Files::new();
            let top = format!("k8s/{folder_of_clusters}/main");
            let spec = format!("  prune: true\n{FROM_HERE}");
            for (file, name, path) in [
                (format!("{top}/flux-system.yaml"), "flux-system", top.as_str()),
                (format!("{top}/base.yaml"), "base", "apps/base"),
                (format!("{top}/apps.yaml"), "apps", "k8s/apps"),
                ("k8s/apps/db/ks.yaml".to_owned(), "db", "apps/db"),
            ] {
                files.insert(file, kustomization(name, path, &spec));
            }
            files.insert("k8s/apps/kustomization.yaml".to_owned(), "resources: [db/ks.yaml]\n".to_owned());
            folder(&mut files, "base", of_base);
            folder(&mut files, "db", of_db);
            files
        };
        let before = state(&["x", "y"], &["z"]);
        one(
            &before,
            &state(&["x"], &["y", "z"]),
            "GW012",
            "base loses ConfigMap shop/y while db starts to apply it",
        );
    }
}

#[test]
fn two_fleets_have_clusters_of_one_name() {
    let state = |fleets: &[(&str, &[&str])], folder_of_clusters: &str| {
        let mut files = Files::new();
        for (fleet, objects) in fleets {
            let top = format!("{fleet}/{folder_of_clusters}/prod");
            let spec = format!("  prune: true\n{FROM_HERE}");
            files.insert(
                format!("{top}/flux-system/gotk-sync.yaml"),
                kustomization("flux-system", &top, &spec),
            );
            files.insert(format!("{top}/apps.yaml"), kustomization("apps", &format!("apps/{fleet}"), &spec));
            folder(&mut files, fleet, objects);
        }
        files
    };
    for folder_of_clusters in ["clusters", "cluster"] {
        let before = state(&[("one", &["x"]), ("two", &["x", "y"])], folder_of_clusters);
        let after = state(&[("one", &["x"]), ("two", &["x"])], folder_of_clusters);
        one(&before, &after, "GW054", "ConfigMap shop/y");
    }
}

#[test]
fn what_a_kustomization_outside_of_git_may_delete_is_said() {
    let state = |apps: &[&str], more: &[&str]| {
        let mut files = Files::new();
        folder(&mut files, "a", &["x", "y"]);
        for (name, objects) in [("apps", apps), ("more", more)] {
            let list: Vec<String> = objects.iter().map(|one| format!("../../../apps/a/{one}.yaml")).collect();
            let text = format!("resources: [{}]\n", list.join(", "));
            files.insert(format!("clusters/edge/{name}/kustomization.yaml"), text);
        }
        files
    };
    let both = state(&["x", "y"], &["y"]);
    let words =
        "clusters/edge/apps outside of Git deletes 1 object by this change, if it prunes: ConfigMap shop/x";
    one(&both, &state(&["y"], &["y"]), "GW054", words);
    one(&both, &state(&[], &["y"]), "GW054", words);
    // Something else had it too, and an object that says so stays.
    none(&both, &state(&["x"], &["y"]));
    // One that changes between two may be deleted by the first.
    let words = "clusters/edge/apps outside of Git deletes 1 object if it prunes before p000/clusters/edge/more is applied";
    one(&both, &state(&["y"], &["y", "x"]), "GW054", words);
    none(&both, &state(&["x", "y"], &["y", "x"]));
    let mut kept = both.clone();
    let text = kept["apps/a/x.yaml"].replace(
        "namespace: shop }",
        "namespace: shop, annotations: { kustomize.toolkit.fluxcd.io/prune: disabled } }",
    );
    kept.insert("apps/a/x.yaml".to_owned(), text);
    none(&kept, &state(&["y"], &["y"]));
    // A folder that goes builds no more, which deletes nothing.
    let mut gone = both.clone();
    gone.retain(|path, _| !path.starts_with("clusters/edge/apps/"));
    none(&both, &gone);
}

#[test]
fn what_leaves_a_root_outside_of_git_goes_if_that_prunes() {
    let both = cluster("", &[("a", "prune: true", &["x"]), ("b", "prune: true", &["y"])]);
    let outside = |mut files: Files| {
        let sync = "clusters/edge/flux-system/gotk-sync.yaml";
        let source = files[sync].split("---\n").next().unwrap().to_owned();
        files.insert(sync.to_owned(), source);
        files
    };
    let mut gone = both.clone();
    gone.retain(|path, _| !path.contains("clusters/edge/a.yaml") && !path.contains("apps/a/"));
    one(&both, &gone, "GW054", "a leaves Git, which deletes 1 object that it applied: ConfigMap shop/x");
    let words = "a leaves Git. If the Flux Kustomization of p000/clusters/edge outside of Git prunes, that deletes 1 object \
                 that it applied: ConfigMap shop/x";
    one(&outside(both), &outside(gone), "GW054", words);
}

#[test]
fn a_generated_object_goes_with_its_app_though_the_folder_stays() {
    let state = |list: &str| {
        let mut files = Files::new();
        let own = kustomization("a", "clusters/edge/apps", &format!("  prune: true\n{FROM_HERE}"));
        files.insert("clusters/edge/flux/a.yaml".to_owned(), own);
        files.insert("clusters/edge/apps/kustomization.yaml".to_owned(), format!("resources: [{list}]\n"));
        folder(&mut files, "web", &["x"]);
        let probe = "configMapGenerator: [{ name: probe, namespace: shop, literals: [a=b] }]\n";
        files.insert("clusters/edge/apps/probe/kustomization.yaml".to_owned(), probe.to_owned());
        files
    };
    let both = state("../../../apps/web, probe");
    one(
        &both,
        &state("../../../apps/web"),
        "GW054",
        "this change takes 1 object from a, which deletes it: ConfigMap shop/probe-",
    );
    // One with another hash takes its place.
    let mut other = both.clone();
    let file = "clusters/edge/apps/probe/kustomization.yaml";
    let text = other[file].replace("a=b", "a=c");
    other.insert(file.to_owned(), text);
    none(&both, &other);
}

/// What is held at its source acts on another spec at once.
#[test]
fn what_another_spec_renames_goes_before_the_files_that_wait() {
    let mut before = cluster("", &[("a", "prune: true", &["x"])]);
    let apps = before.get_mut("clusters/edge/a.yaml").unwrap();
    *apps = apps.replace("name: flux-system }", "name: held }");
    before.insert("clusters/edge/held.yaml".to_owned(), super::cases::HELD.to_owned());
    let mut after = before.clone();
    let apps = after.get_mut("clusters/edge/a.yaml").unwrap();
    *apps = apps.replace("  prune: true", "  prune: true\n  namePrefix: new-");
    let found = told(&before, &after).join("\n");
    assert!(found.contains("from a, which deletes it at once, by its new spec, or "), "{found}");
    // Files wait.
    folder(&mut before, "a", &["x", "y"]);
    let mut after = before.clone();
    folder(&mut after, "a", &["x"]);
    let found = told(&before, &after).join("\n");
    assert!(found.contains("from a, which deletes it ") && !found.contains("new spec"), "{found}");
}

#[test]
fn what_is_in_a_namespace_goes_with_it_and_not_at_an_opening() {
    let all = [
        ("apps/rt/kustomization.yaml", "namespace.yaml, ", ""),
        ("apps/rw/kustomization.yaml", ", release.yaml", ""),
    ];
    let (before, without) = (edited(&[]), edited(&[&all]));
    one(
        &before,
        &without,
        "GW054",
        "takes 1 object from apps-rt, which deletes it: Namespace shop. With a Namespace go",
    );
    // While the window is open, it goes at once.
    let release = "takes 1 object from apps-rw, which deletes it while the window of CronJob `close` is open: HelmRelease shop/cache";
    one(&before, &edited(&[&all[1..]]), "GW054", release);
    // What keeps the Namespace keeps nothing else.
    let kept = |edit: &[_]| {
        let annotated = (
            "apps/rt/namespace.yaml",
            "name: shop",
            "name: shop, annotations: { kustomize.toolkit.fluxcd.io/prune: disabled }",
        );
        edited(&[&[annotated], edit])
    };
    let found = told(&kept(&[]), &kept(&all));
    assert!(found.iter().any(|one| one.contains(release)), "{found:?}");
}

#[test]
fn what_keeps_an_object_is_said_where_it_is_left() {
    let keeps = "kustomize.toolkit.fluxcd.io/prune: disabled";
    let mut before = cluster("", &[("a", "prune: true", &["x", "y"])]);
    let object = before.get_mut("apps/a/y.yaml").unwrap();
    *object = object.replace("name: y,", &format!("name: y, annotations: {{ {keeps} }},"));
    let mut after = before.clone();
    after.insert("apps/a/kustomization.yaml".to_owned(), "resources: [x.yaml]\n".to_owned());
    one(&before, &after, "GW035", "a does not delete it");
    let (_, found) = findings(&[after], Some(&[before])).remove(0);
    let help = found.iter().find(|one| one.code == Some("GW035")).and_then(|one| one.help.as_deref());
    assert_eq!(help, Some("delete it by hand, if it should go: its own annotation or label keeps it"));
}

#[test]
fn a_namespace_that_stays_takes_nothing_along() {
    let base = kustomization("base", "apps/base", &format!("  prune: true\n  suspend: true\n{FROM_HERE}"));
    let mut before = edited(&[&[("apps/rt/kustomization.yaml", "namespace.yaml, ", "")]]);
    let space = before.remove("apps/rt/namespace.yaml").unwrap();
    before.insert("apps/base/namespace.yaml".to_owned(), space);
    before.insert("apps/base/kustomization.yaml".to_owned(), "resources: [namespace.yaml]\n".to_owned());
    before.insert("clusters/edge/base.yaml".to_owned(), base);
    let list = before.get_mut("clusters/edge/kustomization.yaml").unwrap();
    list.push_str("- base.yaml\n");
    let mut after = edited(&[&[
        ("apps/rt/kustomization.yaml", "namespace.yaml, ", ""),
        ("apps/rw/kustomization.yaml", ", release.yaml", ""),
    ]]);
    after.remove("apps/rt/namespace.yaml");
    // A finalizer of a suspended one deletes nothing.
    let found = told(&before, &after);
    let release = "takes 1 object from apps-rw, which deletes it while the window of CronJob `close` is open: HelmRelease shop/cache";
    assert!(found.iter().any(|one| one.contains(release)), "{found:?}");
}
