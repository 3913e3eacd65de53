//! `split` and `join` of small repositories that hold one difficulty each.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod support;

use support::scratch::{Scratch, assert_same};

const SPEC: &str = "\
apiVersion: gitops-windows/v1
types:
  rt: {}
  rw: { window: nights }
windows:
  nights: { timeZone: Europe/Berlin, open: 0 22 * * *, close: 0 4 * * * }
clusters:
  c: {}
gate: { enabled: false }
";

const CONFIG_MAP: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: NAME\n  namespace: n\ndata:\n  k: v\n";
const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: NAME\n  namespace: n\n\
    spec:\n  template:\n    spec:\n      containers:\n        - name: main\n          image: main:1\n";

/// A repository with a spec and these files, committed.
fn repository(files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::empty();
    scratch.write("windows.yaml", SPEC);
    for (path, text) in files {
        scratch.write(path, text);
    }
    scratch.commit();
    scratch
}

/// A Flux Kustomization named after the last word of its path.
fn flux(scratch: &Scratch, path: &str) {
    let name = path.rsplit('/').next().unwrap();
    let text = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n  interval: 10m\n  path: ./{path}\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n"
    );
    scratch.write(&format!("clusters/c/{name}.yaml"), text).commit();
}

/// Writes an app of a ConfigMap and a Deployment.
fn app(scratch: &Scratch, folder: &str) {
    let name = folder.rsplit('/').next().unwrap();
    scratch
        .write(&format!("{folder}/kustomization.yaml"), "resources:\n  - config.yaml\n  - deployment.yaml\n")
        .write(&format!("{folder}/config.yaml"), CONFIG_MAP.replace("NAME", name))
        .write(&format!("{folder}/deployment.yaml"), DEPLOYMENT.replace("NAME", name))
        .commit();
}

#[test]
fn a_folder_that_flux_lists_by_itself_comes_back() {
    let scratch = repository(&[("apps/web/readme.md", "web\n")]);
    app(&scratch, "apps/web");
    scratch.write("apps/loose.yaml", CONFIG_MAP.replace("NAME", "loose"));
    flux(&scratch, "apps");
    let before = scratch.tree();
    scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(scratch.text("apps/apps-rt/kustomization.yaml").contains("../apps-all"));
    scratch.commit();
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "join did not give back what was there");
}

#[test]
fn an_entry_point_whose_division_changes_another_is_refused_by_itself() {
    // The generator's own file names what it reads, which nothing but a build finds out.
    let generator = "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata:\n  name: copy\n  namespace: n\n\
        files:\n  - ../first/web/config.yaml\n";
    let scratch = repository(&[
        ("apps/first/kustomization.yaml", "resources:\n  - web\n"),
        ("apps/second/kustomization.yaml", "generators:\n  - generator.yaml\n"),
        ("apps/second/generator.yaml", generator),
        ("apps/third/kustomization.yaml", "resources:\n  - mail\n"),
    ]);
    for (folder, entry) in [("apps/first/web", "apps/first"), ("apps/third/mail", "apps/third")] {
        app(&scratch, folder);
        flux(&scratch, entry);
    }
    flux(&scratch, "apps/second");
    let before = scratch.tree();
    let run = scratch.expect(0, &["split", "--all", "--yes", "--format", "json"]);
    let told =
        run.stderr.lines().find(|line| line.contains("apps/first in cluster c is left as it is")).unwrap();
    assert!(told.contains("dividing it would change something else: in apps/second"), "{told}");
    let ways: Vec<(String, String)> =
        serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap()["entryPoints"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| (entry["before"]["path"].to_string(), entry["way"].to_string()))
            .collect();
    let ways: Vec<(&str, &str)> =
        ways.iter().map(|(path, way)| (path.trim_matches('"'), way.trim_matches('"'))).collect();
    assert_eq!(ways, [("apps/first", "refused"), ("apps/second", "untouched"), ("apps/third", "plain")]);
    scratch.commit();
    // A second run ends as the first.
    let again = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(again.stderr.contains("apps/first in cluster c is left as it is"), "{}", again.stderr);
    assert_eq!(again.stdout, "");
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "join did not give back what was there");
}

#[cfg(unix)]
#[test]
fn an_app_behind_a_link_is_divided_where_it_is() {
    let scratch = repository(&[
        ("apps/one/kustomization.yaml", "resources:\n  - web\n"),
        ("apps/two/kustomization.yaml", "resources:\n  - ../../base/web\n"),
    ]);
    app(&scratch, "base/web");
    std::os::unix::fs::symlink("../../base/web", scratch.top().join("apps/one/web")).unwrap();
    flux(&scratch, "apps/one");
    flux(&scratch, "apps/two");
    let before = scratch.tree();
    let run = scratch.expect(0, &["split", "app", "web", "--yes"]);
    assert!(run.stderr.contains("apps/one (c): plain"), "{}", run.stderr);
    assert!(scratch.text("apps/one/one-rt/kustomization.yaml").contains("../../../base/web/web-rt"));
    scratch.commit();
    assert_eq!(scratch.expect(0, &["split", "app", "web", "--yes"]).stdout, "");
    scratch.expect(0, &["verify"]);
    scratch.expect(0, &["join", "app", "web", "--yes"]);
    assert_same(&before, &scratch.tree(), "join did not give back what was there");
}

#[test]
fn what_a_side_alone_lists_is_not_lost_by_join() {
    let scratch = repository(&[("apps/kustomization.yaml", "resources:\n  - web\n")]);
    app(&scratch, "apps/web");
    flux(&scratch, "apps");
    scratch.expect(0, &["split", "--all", "--yes"]);
    app(&scratch, "apps/mail");
    scratch.replace("apps/apps-rw/kustomization.yaml", "resources:\n", "resources:\n  - ../mail\n").commit();
    let before = scratch.tree();
    let run = scratch.expect(5, &["join", "--all", "--yes"]);
    let words = "apps/apps-rw/kustomization.yaml lists `../mail`, which apps/kustomization.yaml does not";
    assert!(run.stderr.contains(words), "{}", run.stderr);
    assert_same(&before, &scratch.tree(), "a refused join wrote");
}

/// Fields that speak of all apps stand on each side where that builds the same.
#[test]
fn one_app_is_divided_where_a_field_speaks_of_all_of_them() {
    let list = "resources:\n  - web\n  - mail\n";
    let label = "patches:\n  - target: { kind: Deployment }\n    patch: |-\n      - op: add\n        path: /metadata/labels\n        value: { team: a }\n";
    let made = "configMapGenerator:\n  - name: made\n    namespace: other\n    literals: [a=b]\n";
    for (field, works) in [(label, true), (made, false)] {
        let scratch = repository(&[("apps/kustomization.yaml", &format!("{list}{field}"))]);
        app(&scratch, "apps/web");
        app(&scratch, "apps/mail");
        flux(&scratch, "apps");
        let before = scratch.tree();
        if !works {
            let run = scratch.expect(5, &["split", "app", "web", "--yes"]);
            let words =
                "apps/kustomization.yaml has `configMapGenerator`, which speaks of all apps together: ";
            assert!(run.stderr.contains(words), "{}", run.stderr);
            assert_same(&before, &scratch.tree(), "a refused split wrote");
            continue;
        }
        scratch.expect(0, &["split", "app", "web", "--yes"]);
        assert!(scratch.text("apps/apps-rw/kustomization.yaml").contains("team: a"));
        scratch.commit();
        let with_web = scratch.tree();
        scratch.expect(0, &["verify"]);
        assert_eq!(scratch.expect(0, &["split", "app", "web", "--yes"]).stdout, "");
        scratch.expect(0, &["split", "--all", "--yes"]);
        scratch.commit();
        scratch.expect(0, &["verify"]);
        assert_eq!(scratch.expect(0, &["split", "--all", "--yes"]).stdout, "");
        scratch.expect(0, &["join", "app", "mail", "--yes"]);
        assert_same(&with_web, &scratch.tree(), "join of one app changed more");
        scratch.commit();
        scratch.expect(0, &["join", "--all", "--yes"]);
        assert_same(&before, &scratch.tree(), "join did not give back what was there");
    }
}

#[test]
fn one_of_several_divided_apps_is_joined() {
    let scratch = repository(&[("apps/kustomization.yaml", "resources:\n  - web\n  - mail # by hand\n")]);
    app(&scratch, "apps/web");
    app(&scratch, "apps/mail");
    flux(&scratch, "apps");
    let before = scratch.tree();
    scratch.expect(0, &["split", "app", "web", "--yes"]);
    scratch.commit();
    let with_web = scratch.tree();
    scratch.expect(0, &["split", "app", "mail", "--yes"]);
    scratch.commit();
    scratch.expect(0, &["join", "app", "mail", "--yes"]);
    assert_same(&with_web, &scratch.tree(), "join of one app changed more");
    scratch.commit();
    scratch.expect(0, &["join", "app", "web", "--yes"]);
    assert_same(&before, &scratch.tree(), "join of the last app left something");
}

/// A Flux Kustomization in a file, from a source of this name.
fn from_source(name: &str, path: &str, source: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n  interval: 10m\n  path: {path}\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: {source}\n"
    )
}

fn source(name: &str) -> String {
    format!(
        "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec:\n  interval: 10m\n  url: https://example.com/{name}\n"
    )
}

#[test]
fn the_top_of_another_repository_is_not_the_top_of_this_one() {
    let team = from_source("team", "./", "team") + &source("team");
    let own = from_source("cluster", "./clusters/c", "this") + &source("this");
    for bootstrap in [None, Some(own)] {
        let scratch = repository(&[
            ("tenants/kustomization.yaml", "resources:\n  - team.yaml\n  - namespace.yaml\n"),
            ("tenants/team.yaml", &team),
            ("tenants/namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: team\n"),
        ]);
        let name = if bootstrap.is_some() { "this" } else { "flux-system" };
        scratch.write("clusters/c/apps.yaml", from_source("apps", "./apps", name));
        scratch.write("apps/kustomization.yaml", "resources:\n  - web\n");
        if let Some(own) = bootstrap {
            scratch.write("clusters/c/cluster.yaml", own);
        }
        app(&scratch, "apps/web");
        let run = scratch.expect(1, &["split", "--all", "--dry-run", "--format", "json"]);
        let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let paths: Vec<&str> = found["entryPoints"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["before"]["path"].as_str().unwrap())
            .collect();
        assert!(paths.contains(&"apps"), "{paths:?}");
        assert!(!paths.contains(&"."), "{paths:?}");
    }
}

#[test]
fn bootstrap_folders_that_end_alike_are_clusters_of_their_own() {
    let scratch = Scratch::empty();
    for cluster in ["main", "edge"] {
        let top = format!("kubernetes/{cluster}");
        let bootstrap = from_source("cluster", &format!("./{top}/flux"), "home") + &source("home");
        scratch
            .write(&format!("{top}/flux/cluster.yaml"), bootstrap)
            .write(&format!("{top}/flux/apps.yaml"), from_source("apps", &format!("./{top}/apps"), "home"))
            .write(&format!("{top}/apps/kustomization.yaml"), "resources:\n  - web\n");
        app(&scratch, &format!("{top}/apps/web"));
    }
    let arguments =
        ["init", "--yes", "--open", "0 22 * * *", "--close", "0 4 * * *", "--time-zone", "Europe/Berlin"];
    scratch.expect(0, &arguments);
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("\n  edge: {}\n") && spec.contains("\n  main: {}\n"), "{spec}");
    scratch.commit();
    scratch.expect(0, &["split", "--all", "--yes"]);
}

/// Gates act in one namespace: what stands in another is left alone, and the rest goes on.
#[test]
fn an_entry_point_in_another_namespace_is_refused_alone() {
    let scratch = Scratch::empty();
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: only\n";
    let elsewhere = |name: &str| {
        from_source(name, &format!("./apps/{name}"), "home")
            .replace("namespace: flux-system", "namespace: team")
    };
    scratch
        .write("clusters/c/cluster.yaml", from_source("cluster", "./clusters/c", "home") + &source("home"))
        .write("clusters/c/own.yaml", from_source("own", "./apps/own", "home"))
        .write("clusters/c/more.yaml", from_source("more", "./apps/more", "home"))
        .write("clusters/c/team.yaml", elsewhere("team"))
        .write("clusters/c/held.yaml", elsewhere("held"))
        .write("apps/held/kustomization.yaml", "resources:\n  - deployment.yaml\n")
        .write("apps/held/deployment.yaml", deployment);
    for name in ["own", "more", "team"] {
        scratch.write(&format!("apps/{name}/kustomization.yaml"), "resources:\n  - web\n");
        app(&scratch, &format!("apps/{name}/web"));
    }
    let arguments =
        ["init", "--yes", "--open", "0 22 * * *", "--close", "0 4 * * *", "--time-zone", "Europe/Berlin"];
    let run = scratch.expect(0, &arguments);
    let told = "no gate holds back Flux Kustomization held of cluster c, although all of its objects have a window: it is in namespace team, and gates act in flux-system";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    scratch.commit();
    let run = scratch.expect(0, &["split", "--all", "--yes", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let way = |path: &str| {
        let entries = found["entryPoints"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["before"]["path"] == path).unwrap();
        (entry["way"].as_str().unwrap().to_owned(), entry["reason"].as_str().unwrap().to_owned())
    };
    assert_eq!(way("apps/own").0, "plain");
    assert_eq!(way("apps/more").0, "plain");
    assert_eq!(way("apps/held").0, "untouched");
    let (way, reason) = way("apps/team");
    assert_eq!(way, "refused");
    assert!(reason.contains("is in namespace team, and gates act in flux-system"), "{reason}");
    let job = scratch.text("infra/reconciliation-windows/close-reconciliation-window-job.yaml");
    assert!(job.contains("more-rw") && job.contains("own-rw") && !job.contains("held"), "{job}");
}

#[test]
fn a_parent_of_flux_kustomizations_is_left_and_its_children_are_divided() {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: media\n";
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: token\n  namespace: media\n";
    let list = "resources:\n  - namespace.yaml\n  - secret.yaml\n  - web/ks.yaml\n";
    for runs in [false, true] {
        let scratch = repository(&[
            ("apps/media/kustomization.yaml", list),
            ("apps/media/namespace.yaml", namespace),
            ("apps/media/secret.yaml", secret),
            ("apps/media/web/ks.yaml", &from_source("web", "./apps/media/web/app", "flux-system")),
        ]);
        app(&scratch, "apps/media/web/app");
        if runs {
            scratch
                .write("apps/media/kustomization.yaml", format!("{list}  - own.yaml\n"))
                .write("apps/media/own.yaml", DEPLOYMENT.replace("NAME", "own"));
        }
        scratch.write("clusters/c/cluster.yaml", from_source("cluster", "./clusters/c", "flux-system"));
        flux(&scratch, "apps/media");
        let run = scratch.expect(0, &["split", "--all", "--yes", "--format", "json"]);
        let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let entry = |path: &str| {
            let entries = found["entryPoints"].as_array().unwrap();
            entries.iter().find(|entry| entry["before"]["path"] == path).unwrap().clone()
        };
        let parent = entry("apps/media");
        if runs {
            assert_eq!(parent["way"], "refused", "{parent}");
            assert!(
                parent["reason"].as_str().unwrap().contains("as apps/media/web/app, and runs"),
                "{parent}"
            );
        } else {
            assert_eq!(parent["way"], "untouched", "{parent}");
            assert!(parent["reason"].as_str().unwrap().contains("runs nothing itself"), "{parent}");
        }
        let child = entry("apps/media/web/app");
        assert_eq!(child["after"].as_array().unwrap().len(), 2, "{child}");
        scratch.commit();
        assert_eq!(scratch.expect(0, &["split", "--all", "--yes"]).stdout, "");
        scratch.expect(0, &["migrate", "--yes"]);
    }
}

#[test]
fn sync_keeps_the_manner_in_which_the_sides_were_written() {
    let scratch = Scratch::fixture("sample");
    scratch.write(
        "windows.yaml",
        "apiVersion: gitops-windows/v1\ntypes:\n  rt: {}\n  later: { window: nights }\n  rw: { window: nights }\nwindows:\n  nights: { timeZone: UTC, open: 0 22 * * *, for: 4h }\nclusters: { edge-01: {}, edge-02: {} }\nrules:\n  - { kind: Namespace, type: rt }\n  - { kind: ConfigMap, name: 'web*', type: later }\n  - { kind: Service, type: rt }\n  - { type: rw }\n",
    );
    for arguments in [["sync", "--yes"].as_slice(), &["split", "--all", "--yes"]] {
        scratch.commit();
        scratch.expect(0, arguments);
    }
    scratch.commit();
    assert_eq!(scratch.expect(0, &["diff"]).stdout, "");
}
