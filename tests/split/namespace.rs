//! Flux Kustomizations in several namespaces, and names that Flux fills in.

use crate::repository::{DEPLOYMENT, INIT, app, from_source, source};
use crate::support::scratch::Scratch;

/// A gate acts in the namespaces in which its Flux Kustomizations are.
#[test]
fn an_entry_point_in_another_namespace_is_divided_and_held_there() {
    let scratch = Scratch::empty();
    let elsewhere = |name: &str| {
        from_source(name, &format!("./apps/{name}"), "home")
            .replace("namespace: flux-system", "namespace: team")
    };
    scratch
        .write("clusters/c/cluster.yaml", from_source("cluster", "./clusters/c", "home") + &source("home"))
        .write("clusters/c/own.yaml", from_source("own", "./apps/own", "home"))
        .write("clusters/c/team.yaml", elsewhere("team"))
        .write("clusters/c/held.yaml", elsewhere("held"))
        .write("apps/held/kustomization.yaml", "resources:\n  - deployment.yaml\n")
        .write("apps/held/deployment.yaml", DEPLOYMENT.replace("NAME", "only"));
    for name in ["own", "team"] {
        scratch.write(&format!("apps/{name}/kustomization.yaml"), "resources:\n  - web\n");
        app(&scratch, &format!("apps/{name}/web"));
    }
    scratch.expect(0, &INIT);
    scratch.commit();
    let run = scratch.expect(0, &["split", "--all", "--yes", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    for (path, way) in [("apps/own", "plain"), ("apps/team", "plain"), ("apps/held", "untouched")] {
        let entries = found["entryPoints"].as_array().unwrap();
        let entry = entries.iter().find(|entry| entry["before"]["path"] == path).unwrap();
        assert_eq!(entry["way"], way, "{path}");
    }
    let job = scratch.text("infra/reconciliation-windows/close-reconciliation-window-job.yaml");
    // The sides of the others take their place there when they are handed over.
    assert!(job.contains("\"held\", \"--namespace=team\""), "{job}");
}

/// A Flux Kustomization of the same name and path in another cluster has a namespace of its own.
#[test]
fn a_namespace_that_differs_in_another_cluster_is_that_of_its_cluster() {
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
    scratch.expect(0, &INIT);
    for (cluster, namespace) in [("c", "flux-system"), ("d", "team"), ("e", "flux-system")] {
        let folder = format!("clusters/{cluster}/infra/reconciliation-windows");
        let patch = scratch.text(&format!("{folder}/close-reconciliation-window-patch.yaml"));
        assert!(patch.contains(&format!("\"--namespace={namespace}\"")), "{cluster}: {patch}");
        let own = scratch.top().join(&folder).join("cluster-role.yaml").exists();
        assert_eq!(own, namespace == "team", "{cluster}");
    }
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
    let run = scratch.expect(0, &INIT);
    let told = "no gate suspends Flux Kustomization ${APP}-held of cluster c";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    scratch.commit();
    let run = scratch.expect(0, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("  apps/one  split\n"), "{}", run.stderr);
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
    scratch.expect(0, &INIT);
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("namespace: flux-system") && spec.contains("name: home"), "{spec}");
    scratch.commit();
    let run = scratch.expect(5, &["split", "--all", "--yes"]);
    assert!(run.stderr.contains("is in namespace ${workspace}, which is no valid name"), "{}", run.stderr);
}
