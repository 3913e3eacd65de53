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

#[cfg(unix)]
#[test]
fn what_a_linked_folder_builds_on_is_known_to_come_from_there() {
    let scratch = repository(&[
        ("apps/one/kustomization.yaml", "resources:\n  - web\n"),
        ("overlays/far/away/web/kustomization.yaml", "resources:\n  - ../../../../base/web\n"),
    ]);
    app(&scratch, "base/web");
    std::os::unix::fs::symlink("../../overlays/far/away/web", scratch.top().join("apps/one/web")).unwrap();
    flux(&scratch, "apps/one");
    let told = scratch.expect(0, &["explain", "base/web/config.yaml"]).stdout;
    assert!(told.contains("apps/one"), "{told}");
    assert!(told.contains("app web"), "{told}");
}

#[cfg(unix)]
#[test]
fn a_generator_behind_a_linked_kustomization_stays_with_its_consumer() {
    let generator = "configMapGenerator:\n  - { name: conf, namespace: 'n', literals: [a=b] }\nresources:\n  - deployment.yaml\n";
    let reading = format!("{DEPLOYMENT}          envFrom: [{{ configMapRef: {{ name: conf }} }}]\n");
    let scratch = repository(&[
        ("apps/one/kustomization.yaml", "resources:\n  - web\n  - mail\n"),
        ("shared/kustomization.yaml", generator),
        ("apps/one/web/deployment.yaml", &reading.replace("NAME", "web")),
    ]);
    app(&scratch, "apps/one/mail");
    let link = scratch.top().join("apps/one/web/kustomization.yaml");
    std::os::unix::fs::symlink("../../../shared/kustomization.yaml", link).unwrap();
    flux(&scratch, "apps/one");
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    scratch.expect(0, &["verify"]);
    assert!(!scratch.text("apps/one/one-rt/kustomization.yaml").contains("web"));
}

#[test]
fn an_object_whose_type_changed_does_not_keep_another_app_from_being_divided() {
    let scratch = repository(&[("apps/first/kustomization.yaml", "resources:\n  - web\n  - mail\n")]);
    app(&scratch, "apps/first/web");
    app(&scratch, "apps/first/mail");
    flux(&scratch, "apps/first");
    scratch.expect(0, &["split", "app", "web", "--yes"]);
    let rules = "rules:\n  - { name: web, type: rw }\n  - { kind: ConfigMap, type: rt }\n  - { type: rw }\n";
    scratch.write("windows.yaml", format!("{SPEC}{rules}")).commit();
    scratch.expect(0, &["split", "app", "mail", "--yes"]);
    assert!(scratch.text("apps/first/first-rt/kustomization.yaml").contains("mail"));
}

/// Writes an entry point of two apps and its Flux Kustomization with a field of its own; the first app's
/// Deployment reads its ConfigMap.
fn two_apps(field: &str) -> Scratch {
    let scratch = repository(&[("apps/first/kustomization.yaml", "resources:\n  - web\n  - mail\n")]);
    app(&scratch, "apps/first/web");
    app(&scratch, "apps/first/mail");
    let reading = DEPLOYMENT
        .replace("image: main:1\n", "image: main:1\n          envFrom: [{ configMapRef: { name: NAME } }]\n");
    scratch.write("apps/first/web/deployment.yaml", reading.replace("NAME", "web"));
    flux(&scratch, "apps/first");
    let file = "clusters/c/first.yaml";
    scratch.write(file, format!("{}{field}", scratch.text(file))).commit();
    scratch
}

#[test]
fn one_app_is_held_to_what_its_flux_kustomization_builds() {
    // With the ConfigMap on another side, nothing tells the suffix to the Deployment.
    let scratch = two_apps("  nameSuffix: -c\n");
    let run = scratch.expect(5, &["split", "app", "web", "--yes"]);
    assert!(run.stderr.contains("from \"web-c\" to \"web\""), "{}", run.stderr);
    assert!(run.stderr.contains("Flux Kustomization's own fields"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
    scratch.expect(0, &["split", "app", "mail", "--yes"]);
    assert!(scratch.text("apps/first/first-rw/kustomization.yaml").contains("mail"));
    scratch.expect(0, &["verify"]);
}

#[test]
fn a_label_of_the_entry_point_may_decide_about_a_type() {
    let labels = "resources:\n  - web\n  - mail\nlabels:\n  - pairs: { team: a }\n";
    let scratch = repository(&[("apps/first/kustomization.yaml", labels)]);
    app(&scratch, "apps/first/web");
    app(&scratch, "apps/first/mail");
    flux(&scratch, "apps/first");
    let rules = "rules:\n  - { label: team=a, kind: ConfigMap, type: rw }\n  - { kind: ConfigMap, type: rt }\n  - { kind: Deployment, name: mail, type: rt }\n  - { type: rw }\n";
    scratch.write("windows.yaml", format!("{SPEC}{rules}")).commit();
    let run = scratch.expect(5, &["split", "app", "web", "--yes"]);
    assert!(run.stderr.contains("is rw as apps/first builds it"), "{}", run.stderr);
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.expect(0, &["verify"]);
}

#[test]
fn an_app_keeps_its_name_where_its_entry_point_is_divided_as_a_whole() {
    let own = "resources:\n  - own.yaml\n  - web\n  - mail\n";
    let loose = CONFIG_MAP.replace("NAME", "own");
    let scratch = repository(&[("apps/first/kustomization.yaml", own), ("apps/first/own.yaml", &loose)]);
    app(&scratch, "apps/first/web");
    app(&scratch, "apps/first/mail");
    flux(&scratch, "apps/first");
    let rules = "rules:\n  - { app: web, kind: ConfigMap, type: rt }\n  - { type: rw }\n";
    scratch.write("windows.yaml", format!("{SPEC}{rules}")).commit();
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    assert!(scratch.text("apps/first/first-rt/kustomization.yaml").contains("first-all"));
    scratch.expect(0, &["verify"]);
    let told = scratch.expect(0, &["explain", "apps/first/web/config.yaml"]).stdout;
    assert!(told.contains("app web"), "{told}");
}

#[test]
fn an_entry_point_that_another_builds_on_is_joined() {
    let scratch = repository(&[
        ("apps/all/kustomization.yaml", "resources:\n  - group\n"),
        ("apps/all/group/kustomization.yaml", "resources:\n  - ../web\n"),
        ("apps/all/web/kustomization.yaml", "resources:\n  - ../../../base/web\n"),
    ]);
    app(&scratch, "base/web");
    flux(&scratch, "apps/all");
    flux(&scratch, "apps/all/web");
    let before = scratch.tree();
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "join did not give back what was there");
}

#[test]
fn an_annotation_that_the_controller_sets_for_bases_is_told_to_go() {
    let scratch = repository(&[("apps/first/kustomization.yaml", "bases:\n  - web\n")]);
    app(&scratch, "apps/first/web");
    flux(&scratch, "apps/first");
    let run = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("lose the annotation `config.kubernetes.io/origin`"), "{}", run.stderr);
}

#[test]
fn an_entry_point_that_its_flux_kustomization_can_not_build_is_left() {
    let scratch = two_apps("  components:\n    - ../nowhere\n");
    let run = scratch.expect(3, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("Flux Kustomization first"), "{}", run.stderr);
    assert!(run.stderr.contains("nowhere"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
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

#[test]
fn a_file_that_a_part_got_since_comes_along() {
    let scratch = repository(&[("apps/kustomization.yaml", "resources:\n  - web\n")]);
    app(&scratch, "apps/web");
    flux(&scratch, "apps");
    let before = scratch.tree();
    scratch.expect(0, &["split", "--all", "--yes"]);
    let secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: later\n  namespace: n\n";
    scratch
        .replace("apps/apps-rw/web/kustomization.yaml", "resources:\n", "resources:\n  - later.yaml\n")
        .write("apps/apps-rw/web/later.yaml", secret)
        .commit();
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_eq!(scratch.text("apps/web/later.yaml"), secret);
    scratch.replace("apps/web/kustomization.yaml", "  - later.yaml\n", "");
    scratch.commit().git(&["rm", "--quiet", "apps/web/later.yaml"]);
    assert_same(&before, &scratch.tree(), "join did not give back what was there");
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

/// Where something else than a Flux Kustomization bootstraps, what it applies is one cluster, down to
/// what that applies in turn.
#[test]
fn a_cluster_that_flux_operator_bootstraps_is_one() {
    for tops in [&["k/flux/cluster"][..], &["k/main/cluster/config", "k/edge/cluster/config"]] {
        let scratch = Scratch::empty();
        for top in tops {
            let apps =
                if tops.len() == 1 { "k/apps".to_owned() } else { top.replace("cluster/config", "apps") };
            let own = |name: &str, path: &str| from_source(name, path, "flux-system");
            scratch
                .write(&format!("{top}/ks.yaml"), own("cluster-apps", &format!("./{apps}")))
                .write(&format!("{top}/repos.yaml"), own("repos", &format!("./{apps}-repos/all")))
                .write(&format!("{apps}-repos/all/kustomization.yaml"), "resources:\n  - web\n");
            app(&scratch, &format!("{apps}-repos/all/web"));
            for name in ["one", "cluster"] {
                scratch.write(
                    &format!("{apps}/media/{name}/ks.yaml"),
                    own(name, &format!("./{apps}/media/{name}/app")),
                );
                app(&scratch, &format!("{apps}/media/{name}/app"));
            }
        }
        let arguments =
            ["init", "--yes", "--open", "0 22 * * *", "--close", "0 4 * * *", "--time-zone", "Europe/Berlin"];
        scratch.expect(0, &arguments);
        let spec = scratch.text("windows.yaml");
        let expected: &[&str] = if tops.len() == 1 { &["cluster"] } else { &["edge", "main"] };
        let clusters = spec.split("\nclusters:\n").nth(1).unwrap();
        let names: Vec<&str> = clusters
            .lines()
            .take_while(|line| line.starts_with("  "))
            .filter_map(|line| line.strip_prefix("  ").unwrap().split_once(':').map(|(name, _)| name))
            .collect();
        assert_eq!(names, expected, "{spec}");
    }
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

/// A Flux Kustomization of the same name and path in another cluster has nothing to do with this one's.
#[test]
fn a_namespace_that_differs_in_another_cluster_stops_nothing() {
    let scratch = Scratch::empty();
    for (cluster, namespace) in [("c", "flux-system"), ("d", "team"), ("e", "flux-system")] {
        let held = from_source("held", "./apps/held", "home");
        scratch
            .write(
                &format!("clusters/{cluster}/cluster.yaml"),
                from_source("cluster", &format!("./clusters/{cluster}"), "home") + &source("home"),
            )
            .write(
                &format!("clusters/{cluster}/held.yaml"),
                held.replace("namespace: flux-system", &format!("namespace: {namespace}")),
            );
    }
    scratch
        .write("apps/held/kustomization.yaml", "resources:\n  - deployment.yaml\n")
        .write("apps/held/deployment.yaml", DEPLOYMENT.replace("NAME", "only"))
        .commit();
    let arguments =
        ["init", "--yes", "--open", "0 22 * * *", "--close", "0 4 * * *", "--time-zone", "Europe/Berlin"];
    let run = scratch.expect(0, &arguments);
    let told =
        "no gate holds back Flux Kustomization held of cluster d, although all of its objects have a window";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    let job = scratch.text("infra/reconciliation-windows/close-reconciliation-window-job.yaml");
    assert!(job.contains("held"), "{job}");
}

/// A component that several apps use can hold a Kustomization whose name Flux fills in.
#[test]
fn a_name_that_flux_fills_in_stops_nothing() {
    let scratch = Scratch::empty();
    scratch
        .write("clusters/c/cluster.yaml", from_source("cluster", "./clusters/c", "home") + &source("home"));
    for (name, called) in [("one", "one"), ("held", "${APP}-held"), ("both", "${APP}-both")] {
        scratch.write(
            &format!("clusters/c/{name}.yaml"),
            from_source(called, &format!("./apps/{name}"), "home"),
        );
        app(&scratch, &format!("apps/{name}/web"));
        scratch.write(&format!("apps/{name}/kustomization.yaml"), "resources:\n  - web\n");
    }
    scratch.write("apps/held/web/kustomization.yaml", "resources:\n  - deployment.yaml\n").commit();
    let arguments =
        ["init", "--yes", "--open", "0 22 * * *", "--close", "0 4 * * *", "--time-zone", "Europe/Berlin"];
    let run = scratch.expect(0, &arguments);
    let told = "no gate holds back Flux Kustomization ${APP}-held of cluster c";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    scratch.commit();
    let run = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("apps/one (c): plain"), "{}", run.stderr);
    let told = "its Flux Kustomization ${APP}-both has a name that no object can have";
    assert!(run.stderr.contains(told), "{}", run.stderr);
}

/// `init` names a namespace and a source that can exist, though most Kustomizations hold a variable.
#[test]
fn init_takes_no_variable_for_a_namespace() {
    let scratch = Scratch::empty();
    scratch
        .write("clusters/c/cluster.yaml", from_source("cluster", "./clusters/c", "home") + &source("home"));
    for name in ["one", "two", "three"] {
        let text = from_source(name, &format!("./apps/{name}"), "home");
        scratch.write(
            &format!("clusters/c/{name}.yaml"),
            text.replace("namespace: flux-system", "namespace: ${workspace}"),
        );
        app(&scratch, &format!("apps/{name}"));
    }
    let arguments =
        ["init", "--yes", "--open", "0 22 * * *", "--close", "0 4 * * *", "--time-zone", "Europe/Berlin"];
    scratch.expect(0, &arguments);
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("namespace: flux-system") && spec.contains("name: home"), "{spec}");
    scratch.commit();
    let run = scratch.expect(5, &["split", "--all", "--yes"]);
    assert!(
        run.stderr.contains("is in namespace ${workspace}, and gates act in flux-system"),
        "{}",
        run.stderr
    );
}

/// A merge takes fields with null from every object that it meets; what a side keeps must keep its own.
#[test]
fn a_null_survives_a_projection() {
    let scratch = repository(&[
        ("apps/all/kustomization.yaml", "resources:\n  - web\n"),
        ("apps/all/web/kustomization.yaml", "resources:\n  - all.yaml\npatchesStrategicMerge:\n"),
        (
            "apps/all/web/all.yaml",
            &format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: empty\n  namespace: n\ndata:\n---\n{}",
                DEPLOYMENT.replace("NAME", "web")
            ),
        ),
    ]);
    flux(&scratch, "apps/all");
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    let before = scratch.tree();
    let run = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("apps/all (c): projection"), "{}", run.stderr);
    scratch.commit();
    scratch.expect(0, &["verify"]);
    let run = scratch.expect(0, &["sync"]);
    assert!((run.stdout + &run.stderr).contains("Nothing to change."));
    let run = scratch.expect(0, &["split", "--all"]);
    assert!((run.stdout + &run.stderr).contains("Nothing to change."));
    scratch.expect(0, &["join", "--all", "--yes"]);
    assert_same(&before, &scratch.tree(), "join");
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

/// What stands in place of kustomizations is named, with what to do instead.
#[test]
fn init_says_what_there_is_instead_of_kustomizations() {
    let argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: web\n";
    let artifact =
        from_source("web", "./web", "web").replace("kind: GitRepository", "kind: ExternalArtifact");
    let list = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: []\n";
    let own = from_source("flux-system", "./clusters/c", "flux-system");
    let both = format!("{own}---\n{artifact}");
    let cases = [
        (
            "clusters/c/all.yaml",
            both,
            "no Flux Kustomization in ., but for those that bootstrap Flux itself, builds a folder",
        ),
        ("clusters/c/flux-system.yaml", own, "all that Flux applies from . bootstraps Flux itself"),
        (
            "t/web/kustomization.yaml.j2",
            list.to_owned(),
            "only templates of kustomizations: t/web/kustomization.yaml.j2",
        ),
        ("apps/web.yaml", argo.to_owned(), "apps/web.yaml is for Argo CD"),
        ("clusters/c/web.yaml", artifact, "no Flux Kustomization in . builds a folder of this repository"),
        ("readme.md", "web\n".to_owned(), "there is no kustomization in ., so there is nothing"),
    ];
    for (path, text, expected) in cases {
        let scratch = Scratch::empty();
        scratch.write(path, text).commit();
        let run = scratch.expect(3, &["init"]);
        assert!(run.stderr.contains(expected), "{}", run.stderr);
    }
}
