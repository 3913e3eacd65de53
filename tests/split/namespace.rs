//! Namespaces that gates do not act in, and names that Flux fills in.

use crate::repository::{DEPLOYMENT, INIT, app, from_source, source};
use crate::support::scratch::Scratch;

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
    let run = scratch.expect(0, &INIT);
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
    let run = scratch.expect(0, &INIT);
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
    let run = scratch.expect(0, &INIT);
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
    scratch.expect(0, &INIT);
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
