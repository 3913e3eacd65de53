//! What is found in a repository that was not made for windows: its jobs, clusters and ways of building.

use std::collections::BTreeSet;

use crate::support::flux_kustomization;
use crate::support::scratch::Scratch;
use crate::{WINDOW, allowed, rendered};

#[test]
fn jobs_that_are_not_taken_over_are_named() {
    const LIST: &str = "infra/priority-classes/kustomization.yaml";
    let job = |command: &str| {
        format!(
            "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{ name: stop, namespace: night }}\nspec:\n  schedule: 0 6 * * *\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          restartPolicy: Never\n          containers:\n          - name: flux\n            image: flux-cli\n            command: [sh, -c, '{command}']\n"
        )
    };
    for (command, said) in [
        (
            "for k in $(cat /etc/list); do flux suspend ks $k; done",
            "which Flux Kustomizations CronJob `stop` suspends is not understood",
        ),
        ("flux suspend ks apps", "CronJob `stop` suspends apps, and no job beside it resumes that"),
        (
            "flux suspend ks apps; sleep 60; flux resume ks apps",
            "CronJob `stop` both suspends and resumes Flux Kustomizations",
        ),
    ] {
        let scratch = Scratch::fixture("sample");
        scratch.write("infra/priority-classes/stop.yaml", job(command));
        scratch.write(LIST, scratch.text(LIST) + "  - stop.yaml\n").commit();
        let run = scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
        assert!(run.stderr.contains(said), "{}", run.stderr);
        let place = "goes on beside the gate\n --> infra/priority-classes/stop.yaml:1:1";
        assert!(run.stderr.contains(place), "{}", run.stderr);
    }

    // What is beside it does the other half.
    let scratch = Scratch::fixture("sample");
    for (name, command) in
        [("both", "suspend ks apps infra"), ("one", "resume ks apps"), ("two", "resume ks infra")]
    {
        let text = job(&format!("flux {command}")).replace("name: stop", &format!("name: {name}"));
        scratch.write(&format!("infra/priority-classes/{name}.yaml"), text);
    }
    scratch.write(LIST, scratch.text(LIST) + "  - both.yaml\n  - one.yaml\n  - two.yaml\n").commit();
    let run = scratch.run(&[&["init"][..], &WINDOW].concat());
    assert!(!run.stderr.contains("no job beside it"), "{}", run.stderr);
}

#[test]
fn a_folder_called_cluster_may_be_a_database() {
    let scratch = Scratch::empty();
    for (name, path) in [("flux-system", "k/north"), ("db", "apps/db/cluster")] {
        scratch.write(&format!("k/north/{name}.yaml"), flux_kustomization(name, path, ""));
    }
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: key, namespace: default }\n";
    scratch.write("apps/db/cluster/key.yaml", secret);
    // Nor is a folder beside it that is kept for later.
    scratch
        .write("k/cluster/settings/kustomization.yaml", "namespace: flux-system\nresources: []\n")
        .commit();
    scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("clusters:\n  north: {}\n\n"), "{spec}");
    let run = scratch.run(&["check"]);
    assert!(!run.stdout.contains("GW005"), "{}", run.stdout);
}

#[test]
fn what_builds_with_components_of_its_flux_kustomization_is_held_back() {
    let scratch = Scratch::empty();
    for (name, path, more) in
        [("flux-system", "clusters/north", ""), ("apps", "apps", "  components: [../database]\n")]
    {
        scratch.write(&format!("clusters/north/{name}.yaml"), flux_kustomization(name, path, more));
    }
    let secret =
        |name: &str| format!("apiVersion: v1\nkind: Secret\nmetadata: {{ name: {name}, namespace: n }}\n");
    let component =
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [database.yaml]\n";
    scratch
        .write("apps/kustomization.yaml", "resources: [key.yaml]\npatches:\n- path: label.yaml\n")
        .write("apps/key.yaml", secret("key"))
        .write("apps/label.yaml", secret("database") + "stringData: { a: b }\n")
        .write("database/kustomization.yaml", component)
        .write("database/database.yaml", secret("database"))
        .commit();
    let run = scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
    assert!(!run.stderr.contains("does not build"), "{}", run.stderr);
    let objects = rendered(&scratch, "clusters/north/infra/reconciliation-windows");
    assert_eq!(allowed(&objects), BTreeSet::from(["apps".to_owned()]));
    scratch.commit();
    let run = scratch.run(&["split", "--all"]);
    assert!(
        run.stderr.contains("without the additions of its Flux Kustomization apps does not build"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_a_flux_kustomization_adds_counts_as_what_its_folder_has() {
    // What the folder has, what is added, and whether that is held back as a whole, is all real-time, or is neither.
    for (own, added, held) in [
        ("Secret", "Secret", Some(true)),
        ("ConfigMap", "ConfigMap", Some(false)),
        ("ConfigMap", "Secret", None),
        ("Secret", "ConfigMap", None),
    ] {
        let scratch = Scratch::empty();
        let object = |kind: &str, name: &str| {
            format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: {name}, namespace: n }}\n")
        };
        let component =
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [database.yaml]\n";
        let more = "  components: [../database]\n";
        scratch
            .write("clusters/north/flux-system.yaml", flux_kustomization("flux-system", "clusters/north", ""))
            .write("clusters/north/apps.yaml", flux_kustomization("apps", "apps", more))
            .write("clusters/north/tools.yaml", flux_kustomization("tools", "tools", ""))
            .write("tools/key.yaml", object("Secret", "tool"))
            .write("apps/kustomization.yaml", "resources: [key.yaml]\n")
            .write("apps/key.yaml", object(own, "key"))
            .write("database/kustomization.yaml", component)
            .write("database/database.yaml", object(added, "database"))
            .commit();
        scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
        let objects = rendered(&scratch, "clusters/north/infra/reconciliation-windows");
        assert!(allowed(&objects).contains("tools"), "{own} {added}");
        assert_eq!(allowed(&objects).contains("apps"), held == Some(true), "{own} {added}");
        scratch.commit();
        let run = scratch.run(&["split", "--all"]);
        let said = "apps in cluster north is left as it is:\n       the `components` of its Flux Kustomization add objects";
        assert_eq!(run.stderr.contains(said), held.is_none(), "{own} {added}: {}", run.stderr);
    }
}

#[test]
fn what_flux_lists_by_itself_is_held_back_too() {
    let scratch = Scratch::empty();
    for (name, path) in [("flux-system", "clusters/north"), ("apps", "apps")] {
        scratch.write(&format!("clusters/north/{name}.yaml"), flux_kustomization(name, path, ""));
    }
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: key, namespace: default }\n";
    scratch.write("apps/key.yaml", secret).commit();
    let run = scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
    assert!(!run.stderr.contains("does not build"), "{}", run.stderr);
    let objects = rendered(&scratch, "clusters/north/infra/reconciliation-windows");
    assert_eq!(allowed(&objects), BTreeSet::from(["apps".to_owned()]));
    let explained = scratch.expect(0, &["explain", "apps"]).stdout;
    assert!(explained.contains("Secret default/key: rw"), "{explained}");
}

#[test]
fn a_gate_that_flux_lists_by_itself_is_adopted() {
    let scratch = Scratch::fixture("adopted");
    scratch.git(&["rm", "-r", "--quiet", "clusters/plant-south", "clusters/plant-north/infra/maintenance"]);
    for (file, schedule) in [("begin.yaml", "0 18 * * FRI"), ("end.yaml", "0 6 * * MON"), ("rbac.yaml", "")] {
        let text = scratch.text(&format!("infra/maintenance/{file}"));
        let text = text.replace("0 0 1 1 *", schedule).replace("  suspend: true", "  timeZone: Europe/Oslo");
        scratch.write(&format!("clusters/plant-north/infra/gate/{file}"), text);
    }
    scratch.git(&["rm", "-r", "--quiet", "infra", "clusters/plant-north/infra/kustomization.yaml"]);
    scratch.commit();
    let run = scratch.expect(0, &["init", "--yes"]);
    insta::assert_snapshot!(scratch.text("clusters/plant-north/infra/gate/kustomization.yaml"));
    insta::assert_snapshot!(scratch.text("windows.yaml").split_once("flux:").unwrap().1);
    insta::assert_snapshot!(run.stderr);
    scratch.commit();
    let window = [
        "windows",
        "set",
        "reconciliation-window",
        "--open",
        "0 9 * * MON",
        "--close",
        "0 18 * * THU",
        "--yes",
    ];
    scratch.expect(0, &window);
    assert!(scratch.text("clusters/plant-north/infra/gate/begin.yaml").contains("0 9 * * MON"));
}

#[test]
fn gates_that_no_spec_describes_are_refused_with_the_way_on() {
    const INFRA: &str = "clusters/plant-north/flux/infra.yaml";
    let scratch = Scratch::fixture("adopted");
    for cluster in ["plant-north", "plant-south"] {
        scratch.git(&["rm", "-r", "--quiet", &format!("clusters/{cluster}/infra")]);
        let file = INFRA.replace("plant-north", cluster);
        scratch.replace(&file, &format!("./clusters/{cluster}/infra"), "./infra/maintenance");
    }
    scratch.commit();
    let run = scratch.expect(5, &["init", "--yes"]);
    assert!(run.stderr.contains("do not tell the folders of their gates apart"), "{}", run.stderr);
    assert!(run.stderr.contains("infra/maintenance of plant-north\n"), "{}", run.stderr);
    assert!(run.stderr.contains("list infra/maintenance or the present content there"), "{}", run.stderr);
    for cluster in ["plant-north", "plant-south"] {
        let list = format!("gates/{cluster}/kustomization.yaml");
        scratch.write(&list, "resources: [../../infra/maintenance]\n");
        let file = INFRA.replace("plant-north", cluster);
        scratch.replace(&file, "./infra/maintenance", &format!("./gates/{cluster}"));
    }
    scratch.commit();
    scratch.expect(0, &["init", "--yes"]);
    let spec = scratch.text("windows.yaml");
    assert!(spec.contains("gates/{cluster}"), "{spec}");

    let scratch = Scratch::fixture("adopted");
    for file in ["begin.yaml", "end.yaml", "kustomization.yaml", "namespace.yaml", "rbac.yaml"] {
        let text = scratch.text(&format!("infra/maintenance/{file}"));
        scratch.write(&format!("infra/south/{file}"), text.replace("end-maintenance", "end-south"));
    }
    let list = "clusters/plant-south/infra/maintenance/kustomization.yaml";
    scratch.replace(list, "infra/maintenance", "infra/south");
    scratch.replace("clusters/plant-south/infra/maintenance/end-patch.yaml", "end-maintenance", "end-south");
    scratch.commit();
    let run = scratch.expect(5, &["init", "--yes"]);
    let said = "`begin-maintenance` and `end-maintenance` in infra/maintenance, `begin-maintenance` and `end-south` in infra/south";
    assert!(run.stderr.contains(said) && run.stderr.contains("one name in every cluster"), "{}", run.stderr);
}

#[test]
fn a_command_of_a_gate_that_is_not_understood_is_told_with_the_gate() {
    let scratch = Scratch::fixture("adopted");
    let command = "[\"flux\", \"suspend\", \"kustomization\", \"apps\", \"--namespace\", \"flux-system\"]";
    let shell = "[sh, -c, 'flux suspend ks apps -n flux-system; flux suspend ks $EXTRA']";
    scratch.replace("infra/maintenance/end.yaml", command, shell).commit();
    let run = scratch.expect(0, &["init", "--yes"]);
    assert!(scratch.text("windows.yaml").contains("closeJob: end-maintenance"), "{run:?}");
    let said = "is not understood (`flux suspend ks $EXTRA`). windows.yaml says nothing of that part of it";
    assert!(run.stderr.contains(said) && !run.stderr.contains("not adopted"), "{}", run.stderr);
}

/// What renders no objects waits for nothing that people see; what waits for it may.
#[test]
fn what_renders_no_objects_keeps_nothing_from_its_gate() {
    let scratch = Scratch::empty();
    let after = |name: &str| format!("  dependsOn: [{{ name: {name} }}]\n");
    scratch.write("clusters/north/flux-system.yaml", flux_kustomization("flux-system", "clusters/north", ""));
    scratch.write("clusters/north/first.yaml", flux_kustomization("first", "first", ""));
    scratch.write("clusters/north/second.yaml", flux_kustomization("second", "second", &after("first")));
    scratch.write("clusters/north/none.yaml", flux_kustomization("none", "none", &after("second")));
    for name in ["first", "second"] {
        scratch.write(&format!("{name}/kustomization.yaml"), "resources: [x.yaml]\n");
        let object =
            format!("apiVersion: v1\nkind: Secret\nmetadata: {{ name: {name}, namespace: default }}\n");
        scratch.write(&format!("{name}/x.yaml"), object);
    }
    scratch.write("none/kustomization.yaml", "resources: []\n").commit();
    let run = scratch.expect(0, &[&["init", "--yes"][..], &WINDOW].concat());
    assert!(!run.stderr.contains("depends on it"), "{}", run.stderr);
    let objects = rendered(&scratch, "clusters/north/infra/reconciliation-windows");
    assert_eq!(allowed(&objects), BTreeSet::from(["first".to_owned(), "second".to_owned()]));
    scratch.commit();
    // Something real-time behind it counts.
    scratch.write("clusters/north/last.yaml", flux_kustomization("last", "last", &after("none")));
    scratch.write("last/kustomization.yaml", "resources: [x.yaml]\n");
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: last, namespace: default }\n";
    scratch.write("last/x.yaml", object).commit();
    let told = scratch.expect(0, &["sync", "--yes", "--allow-deletion"]).stderr;
    assert!(told.contains("no gate suspends Flux Kustomization second"), "{told}");
}
