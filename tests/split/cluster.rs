//! Which cluster and which repository a Flux Kustomization belongs to.

use crate::repository::{INIT, app, from_source, repository, source};
use crate::support::scratch::Scratch;

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
    scratch.expect(0, &INIT);
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("\n  edge: {}\n") && spec.contains("\n  main: {}\n"), "{spec}");
    scratch.commit();
    scratch.expect(0, &["split", "--all", "--yes"]);
}

/// Returns the names of the clusters in a spec.
fn clusters(spec: &str) -> Vec<&str> {
    let section = spec.split("\nclusters:\n").nth(1).unwrap();
    let lines = section.lines().take_while(|line| line.starts_with("  "));
    let own = lines.filter_map(|line| line.strip_prefix("  ")?.split_once(':'));
    own.map(|(name, _)| name).filter(|name| !name.starts_with(' ')).collect()
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
        scratch.expect(0, &INIT);
        let spec = scratch.text("windows.yaml");
        let expected: &[&str] = if tops.len() == 1 { &["cluster"] } else { &["edge", "main"] };
        assert_eq!(clusters(&spec), expected, "{spec}");
    }
}

/// Folders beside each other that something outside of Git applies are one cluster where one waits for
/// another, and clusters of their own where names come twice or nothing tells.
#[test]
fn folders_that_wait_for_each_other_are_one_cluster() {
    for (waits, twice, expected) in [
        (true, false, &["k"][..]),
        (false, false, &["k-media", "k-tools"]),
        (true, true, &["k-media", "k-tools"]),
    ] {
        let scratch = Scratch::empty();
        for (home, name) in [("k-media", "player"), ("k-tools", "vault")] {
            let mut own = from_source(name, &format!("./k/{home}/{name}/app"), "flux-system");
            if waits && name == "player" {
                own = own.replace("  path:", "  dependsOn: [{ name: vault }]\n  path:");
            }
            if twice {
                own += "---\n";
                own += &from_source("both", &format!("./k/{home}/{name}/app"), "flux-system");
            }
            scratch
                .write(&format!("k/{home}/kustomization.yaml"), format!("resources: [{name}]\n"))
                .write(&format!("k/{home}/{name}/kustomization.yaml"), "resources: [app.ks.yaml]\n")
                .write(&format!("k/{home}/{name}/app.ks.yaml"), own);
            app(&scratch, &format!("k/{home}/{name}/app"));
        }
        scratch.expect(0, &INIT);
        let spec = scratch.text("windows.yaml");
        assert_eq!(clusters(&spec), expected, "{spec}");
    }
}

#[test]
fn what_two_clusters_apply_from_one_file_is_divided_once() {
    let divided = |shared: bool| {
        let scratch = Scratch::empty();
        for cluster in ["north", "south"] {
            let top = format!("clusters/{cluster}");
            let bootstrap = from_source("cluster", &format!("./{top}"), "home") + &source("home");
            let common = if shared { "  - ../../common\n" } else { "" };
            scratch
                .write(&format!("{top}/cluster.yaml"), bootstrap)
                .write(&format!("{top}/own.yaml"), from_source("own", &format!("./apps/{cluster}"), "home"))
                .write(
                    &format!("{top}/kustomization.yaml"),
                    format!("resources:\n  - cluster.yaml\n  - own.yaml\n{common}"),
                )
                .write(&format!("apps/{cluster}/kustomization.yaml"), "resources:\n  - web\n");
            app(&scratch, &format!("apps/{cluster}/web"));
        }
        scratch
            .write("common/kustomization.yaml", "resources:\n  - all.yaml\n")
            .write("common/all.yaml", from_source("all", "./apps/all", "home"))
            .write("apps/all/kustomization.yaml", "resources:\n  - web\n");
        app(&scratch, "apps/all/web");
        if !shared {
            let list = scratch.text("clusters/north/kustomization.yaml") + "  - ../../common\n";
            scratch.write("clusters/north/kustomization.yaml", list);
        }
        scratch.commit();
        scratch.expect(0, &INIT);
        scratch.commit();
        let run = scratch.run(&["split", "--all", "--dry-run", "--format", "json"]);
        let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let entries = found["entryPoints"].as_array().unwrap().clone();
        let way = |path: &str| {
            let entry = entries.iter().find(|entry| entry["before"]["path"] == path).unwrap();
            (entry["way"].as_str().unwrap().to_owned(), entry["reason"].as_str().unwrap().to_owned())
        };
        assert_eq!((way("apps/north").0, way("apps/south").0), ("plain".to_owned(), "plain".to_owned()));
        way("apps/all")
    };
    for shared in [false, true] {
        let (way, reason) = divided(shared);
        assert_eq!(way, "plain", "{shared} {reason}");
    }
}
