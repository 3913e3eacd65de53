use super::*;
use crate::delivery::Known;
use crate::delivery::reading::tests::{LIST, SERVICE, flux, read};

const FROM: &str = "postBuild: { substituteFrom: [{ kind: ConfigMap, name: vars }] }";

fn vars(kind: &str, data: &str) -> String {
    format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: vars, namespace: flux-system }}\n{data}\n")
}

/// Returns the folder of the Flux Kustomization `child`, whose path has `${site}` and that `apps` applies.
fn child(more: &str, files: &[(&str, &str)]) -> String {
    let (root, apps) = (flux("flux-system", "./clusters/prod", ""), flux("apps", "./apps", more));
    let child = flux("child", "'./sites/${site}'", "");
    let mut all = vec![
        ("clusters/prod/gotk-sync.yaml", root.as_str()),
        ("clusters/prod/apps.yaml", &apps),
        ("apps/child.yaml", &child),
        ("sites/north/kustomization.yaml", LIST),
        ("sites/north/s.yaml", SERVICE),
    ];
    all.extend(files);
    let model = read(&Known::default(), &all);
    let reached = model.delivered.all[0].kustomizations.iter().find(|one| one.name() == "child").unwrap();
    reached.path.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string)
}

#[test]
fn a_config_map_that_the_cluster_gets_from_git_tells_its_values() {
    let north = vars("ConfigMap", "data: { site: north }");
    assert_eq!(child(FROM, &[("clusters/prod/vars.yaml", &north)]), "sites/north");
    // It may come after what needs it, and by another Flux Kustomization.
    let config = flux("config", "./config", "");
    let late = [("clusters/prod/config.yaml", config.as_str()), ("config/vars.yaml", &north)];
    assert_eq!(child(FROM, &late), "sites/north");
    // Where it stands and nothing applies it, it tells nothing.
    assert_eq!(child(FROM, &[("config/vars.yaml", &north)]), "unknown");
    // kustomize may make it.
    let generator = "generatorOptions: { disableNameSuffixHash: true }\nnamespace: flux-system\nconfigMapGenerator: [{ name: vars, literals: [site=north] }]\n";
    let made = [("clusters/prod/config.yaml", config.as_str()), ("config/kustomization.yaml", generator)];
    assert_eq!(child(FROM, &made), "sites/north");
    // A patch may change it.
    let patched = "resources: [vars.yaml]\npatches: [{ patch: '- { op: replace, path: /data/site, value: south }', target: { kind: ConfigMap } }]\n";
    let patched = [
        ("clusters/prod/config.yaml", config.as_str()),
        ("config/kustomization.yaml", patched),
        ("config/vars.yaml", &north),
    ];
    assert_eq!(child(FROM, &patched), "sites/south");
}

#[test]
fn what_the_cluster_may_have_otherwise_is_not_known() {
    let north = vars("ConfigMap", "data: { site: north }");
    let beside = ("clusters/prod/vars.yaml", north.as_str());
    let config = flux("config", "./config", "");
    // Of two that bring it the cluster has what either applied last.
    let twice = |own: &str| {
        child(FROM, &[beside, ("clusters/prod/config.yaml", config.as_str()), ("config/vars.yaml", own)])
    };
    assert_eq!(twice(&north), "sites/north");
    assert_eq!(twice(&north.replace("site: north", "site: north, more: a")), "sites/north");
    assert_eq!(twice(&north.replace("site: north", "site: south")), "unknown");
    assert_eq!(twice(&north.replace("site: north", "more: a")), "unknown");
    let suspended = flux("config", "./config", "suspend: true");
    let late = [("clusters/prod/config.yaml", suspended.as_str()), ("config/vars.yaml", &north)];
    assert_eq!(child(FROM, &late), "unknown");
    for annotation in ["ssa: IfNotPresent", "reconcile: disabled"] {
        let kept = north.replace(
            "name: vars,",
            &format!("name: vars, annotations: {{ kustomize.toolkit.fluxcd.io/{annotation} }},"),
        );
        assert_eq!(child(FROM, &[("clusters/prod/vars.yaml", &kept)]), "unknown");
    }
    let elsewhere = north.replace("namespace: flux-system", "namespace: other");
    assert_eq!(child(FROM, &[("clusters/prod/vars.yaml", &elsewhere)]), "unknown");
    let unknown = vars("ConfigMap", "data: { site: '${OF_CLUSTER}' }");
    assert_eq!(child(FROM, &[("clusters/prod/vars.yaml", &unknown)]), "unknown");
}

#[test]
fn the_last_value_counts() {
    let post_build = |from: &str, own: Value| {
        let from: Vec<Value> = from
            .split(' ')
            .filter(|from| !from.is_empty())
            .map(|from| {
                let (kind, name) = from.split_once('/').unwrap();
                json!({ "kind": kind, "name": name, "optional": true })
            })
            .collect();
        json!({ "substituteFrom": from, "substitute": own })
    };
    let object = |kind: &str, name: &str, data: Value| json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": name, "namespace": "n" }, "data": data });
    let take = |variables: &mut Variables, value: &Value| {
        variables.take((String::new(), ObjectId::of(value)), told(value));
    };
    let mut variables = Variables::default();
    take(&mut variables, &object("ConfigMap", "a", json!({ "x": "a", "y": "a" })));
    take(&mut variables, &object("ConfigMap", "b", json!({ "x": "b" })));
    take(&mut variables, &object("Secret", "s", json!({ "x": "c2VjcmV0" })));
    let known = |from: &str, own: Value| {
        let found = variables.known(&post_build(from, own), "", "n");
        let rest = found["substituteFrom"].as_array().unwrap().len();
        (found["substitute"].clone(), rest)
    };
    assert_eq!(known("ConfigMap/a ConfigMap/b", json!({})), (json!({ "x": "b", "y": "a" }), 0));
    assert_eq!(known("ConfigMap/b ConfigMap/a", json!({ "y": "own" })), (json!({ "x": "a", "y": "own" }), 0));
    // Git tells which names a Secret has, and not the values.
    assert_eq!(known("ConfigMap/a Secret/s", json!({})), (json!({ "y": "a" }), 1));
    assert_eq!(known("Secret/s ConfigMap/a", json!({})), (json!({ "x": "a", "y": "a" }), 1));
    // Where others may add names, those of Git count all the same.
    let mut merged = object("ConfigMap", "m", json!({ "x": "m" }));
    merged["metadata"]["annotations"] = json!({ "kustomize.toolkit.fluxcd.io/ssa": "Merge" });
    take(&mut variables, &merged);
    let known = |from: &str, own: Value| {
        let found = variables.known(&post_build(from, own), "", "n");
        let rest = found["substituteFrom"].as_array().unwrap().len();
        (found["substitute"].clone(), rest)
    };
    assert_eq!(known("ConfigMap/a ConfigMap/m", json!({})), (json!({ "x": "m" }), 1));
    // What Git does not have may bring any name.
    assert_eq!(known("ConfigMap/a Secret/other", json!({ "z": "own" })), (json!({ "z": "own" }), 1));
    assert_eq!(known("Secret/other ConfigMap/a", json!({})), (json!({ "x": "a", "y": "a" }), 1));
    assert_eq!(known("", json!({ "z": "own" })), (json!({ "z": "own" }), 0));
}

#[test]
fn the_names_are_found_in_patches_too() {
    let mut snapshot = Snapshot::default();
    let mut add = |path: &str, text: &str| {
        snapshot.insert(RepoPath::parse(path).unwrap(), crate::repo::File::new(text.as_bytes()));
    };
    add(
        "a.yaml",
        "metadata: { name: not-me }\nspec:\n  postBuild:\n    substituteFrom:\n      - kind: ConfigMap # name\n        name: one\n      - name: \"two\"\n        optional: true\n  targetNamespace: n\n  name: nor-me\n",
    );
    add(
        "b.yaml",
        "patches:\n- patch: |-\n    - op: add\n      path: /spec/postBuild/substituteFrom\n      value:\n        - kind: Secret\n          name: three\n  target: { name: nor-i }\n",
    );
    add(
        "c.yaml",
        "spec: { postBuild: { substituteFrom: [{ kind: ConfigMap, name: four }, { name: 'five', kind: Secret }] } }\n",
    );
    let found: Vec<String> = wanted(&snapshot).into_iter().collect();
    assert_eq!(found, ["five", "four", "one", "three", "two"]);
}

/// Of a bootstrap, that is how one customises it: the file stays as `flux bootstrap` wrote it.
#[test]
fn values_that_a_patch_gives_a_root_reach_what_it_brings() {
    let (root, child) = (flux("flux-system", "./clusters/prod", ""), flux("child", "'./sites/${site}'", ""));
    let list = |patch: &str| {
        format!(
            "resources: [flux-system, child.yaml]\npatches: [{{ target: {{ name: flux-system }}, patch: '{patch}' }}]\n"
        )
    };
    let found = |patch: &str| {
        let list = list(patch);
        let files = [
            ("clusters/prod/kustomization.yaml", list.as_str()),
            ("clusters/prod/flux-system/kustomization.yaml", "resources: [gotk-sync.yaml]\n"),
            ("clusters/prod/flux-system/gotk-sync.yaml", &root),
            ("clusters/prod/child.yaml", &child),
            ("sites/north/kustomization.yaml", LIST),
            ("sites/north/s.yaml", SERVICE),
        ];
        let model = read(&Known::default(), &files);
        let all = &model.delivered.all[0].kustomizations;
        assert_eq!(all.len(), 2, "{all:?}");
        let reached = all.iter().find(|one| one.name() == "child").unwrap();
        reached.path.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string)
    };
    let values = r#"[{"op":"add","path":"/spec/postBuild","value":{"substitute":{"site":"north"},"substituteFrom":[{"kind":"ConfigMap","name":"other","optional":true}]}}]"#;
    assert_eq!(found(values), "sites/north");
    assert_eq!(found(r#"[{"op":"replace","path":"/spec/interval","value":"1h"}]"#), "unknown");
}

/// Returns what the `postBuild` of `apps` comes to after the ConfigMap has gone from the repository, and what that takes from it.
fn without_vars(more: &str, config: &str, former: &[(&str, &str)]) -> (Value, Vec<String>) {
    let (root, apps) = (flux("flux-system", "./clusters/prod", ""), flux("apps", "./apps", more));
    let config = flux("config", "./config", "").replace("prune: true", config);
    let all = [
        ("clusters/prod/gotk-sync.yaml", root.as_str()),
        ("clusters/prod/apps.yaml", &apps),
        ("clusters/prod/config.yaml", &config),
        ("apps/kustomization.yaml", LIST),
        ("apps/s.yaml", SERVICE),
        ("config/kustomization.yaml", LIST),
        ("config/s.yaml", SERVICE),
    ];
    let before: Vec<_> = all.iter().chain(former).copied().collect();
    let mut snapshot = Snapshot::default();
    for (path, text) in &before {
        snapshot.insert(RepoPath::parse(path).unwrap(), crate::repo::File::new(text.as_bytes()));
    }
    let older = read(&Known::default(), &before);
    let known = Known::default().after(crate::delivery::World { snapshot: &snapshot, model: &older });
    let model = read(&known, &all);
    let cluster = &model.delivered.all[0];
    let reached = cluster.kustomizations.iter().find(|one| one.name() == "apps").unwrap();
    assert_eq!(reached.error, None);
    let lost = cluster.losing_values().map(|(one, id)| format!("{} {id}", one.name())).collect();
    (reached.post_build.clone(), lost)
}

/// Whoever needs them may land before the ConfigMap is deleted, and fails from then on.
#[test]
fn values_that_a_commit_takes_away_count_until_then() {
    let north = vars("ConfigMap", "data: { site: north }");
    let list = "resources: [s.yaml, vars.yaml]\n";
    let in_git = [("config/kustomization.yaml", list), ("config/vars.yaml", north.as_str())];
    let (post_build, lost) = without_vars(FROM, "prune: true", &in_git);
    assert_eq!(lost, ["apps ConfigMap flux-system/vars"]);
    assert_eq!(post_build["substitute"]["site"], "north");
    assert_eq!(post_build["substituteFrom"], json!([]));
    let lost = |config: &str, former: &[(&str, &str)]| without_vars(FROM, config, former).1;
    let none: [String; 0] = [];
    // Nothing deletes it.
    assert_eq!(lost("prune: false", &in_git), none);
    assert_eq!(lost("prune: true, suspend: true", &in_git), none);
    // It never was in Git: somebody else brings it.
    assert_eq!(lost("prune: true", &[]), none);
    let kept = north
        .replace("name: vars,", "name: vars, annotations: { kustomize.toolkit.fluxcd.io/prune: disabled },");
    let kept = [("config/kustomization.yaml", list), ("config/vars.yaml", kept.as_str())];
    assert_eq!(lost("prune: true", &kept), none);
    // One that may be missing is known to have no values.
    let optional = "postBuild: { substitute: { a: b }, substituteFrom: [{ kind: ConfigMap, name: vars, optional: true }] }";
    let (post_build, lost) = without_vars(optional, "prune: true", &in_git);
    assert_eq!(lost, none);
    assert_eq!(
        (&post_build["substitute"], &post_build["substituteFrom"]),
        (&json!({ "a": "b" }), &json!([]))
    );
    let (post_build, _) = without_vars(optional, "prune: true", &[]);
    assert_eq!(post_build["substituteFrom"].as_array().map(Vec::len), Some(1));
}
