//! What is held at its source: another spec acts at once, other files wait.

use crate::mechanism;
use crate::path::RepoPath;
use crate::pr::Topic;
use crate::spec::parse;

use super::repository::{
    Files, NOW, OPEN, SPEC, SPEC_FILE, compared_at, files, flux, map, synced, with, without, words,
};

const APPS: &str = "clusters/one/apps.yaml";
const DEPLOYMENT: &str = "apps/apps-rw/deployment.yaml";
const LIST: &str = "apps/apps-rw/kustomization.yaml";

/// A source that a CronJob of the gate pins.
const HELD: &str = "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: { name: flux-system-rw, namespace: flux-system }
spec: { interval: 24h, url: 'https://example.org/fleet', ref: { branch: main, tag: held..until-the-first-tick } }
";

const FOLLOW: &str = "\
apiVersion: batch/v1
kind: CronJob
metadata: { name: follow, namespace: flux-system }
spec:
  schedule: '*/5 * * * *'
  jobTemplate:
    spec:
      template:
        spec:
          containers:
          - name: gate
            env:
            - { name: NAMESPACE, value: flux-system }
            - { name: LIVE, value: flux-system }
            - { name: HELD, value: flux-system-rw }
            - { name: GATED, value: flux-system apps-rw }
            args: [open-times, TABLE]
";

/// The repository with `mechanism: follow`, in which a ConfigMap and a Deployment wait; `more` stands in the spec of their
/// Flux Kustomization.
fn held(more: &str) -> Files {
    let apps = [flux("apps-rt", "apps/apps-rt", ""), flux("apps-rw", "apps/apps-rw", more)].concat();
    let apps = apps.replacen("name: flux-system }\n", "name: FIRST }\n", 1);
    let apps =
        apps.replacen("name: flux-system }\n", "name: flux-system-rw }\n", 1).replace("FIRST", "flux-system");
    let spec = SPEC.replace("gate: {", "gate: { mechanism: follow, every: 5m, through: 2027-12-31,");
    let base = with(
        &files(),
        &[
            (SPEC_FILE, "", &spec),
            (APPS, "", &apps),
            ("clusters/one/gate/held.yaml", "", HELD),
            ("clusters/one/gate/follow.yaml", "", FOLLOW),
            ("apps/apps-rw/site.yaml", "", &map("'site-${cluster}'", "a: '1'")),
            (LIST, "deployment.yaml", "deployment.yaml, site.yaml"),
        ],
    );
    without(&without(&base, "clusters/one/gate/open.yaml"), "clusters/one/gate/close.yaml")
}

const VALUES: &str = "  postBuild: { substitute: { cluster: leaf-01 } }\n";

/// Writes the table that the spec asks for.
fn filled(files: &Files) -> Files {
    let spec = parse(&RepoPath::parse(SPEC_FILE).unwrap(), files[SPEC_FILE].as_bytes()).unwrap().spec;
    let jobs = mechanism::of(spec.gate.mechanism).jobs(&spec).unwrap();
    let lines = jobs.tables["one"].values().next().unwrap();
    let words: Vec<String> = lines.iter().map(|line| serde_json::to_string(line).unwrap()).collect();
    with(files, &[("clusters/one/gate/follow.yaml", "TABLE", &words.join(", "))])
}

fn told(now: &str, base: &Files, edits: &[(&str, &str, &str)]) -> String {
    let base = &filled(base);
    words(&compared_at(now, base, &with(base, edits)))
}

#[test]
fn what_another_spec_renames_goes_and_comes_at_once() {
    let base = held(VALUES);
    let rename = (APPS, "leaf-01", "leaf-9");
    insta::assert_snapshot!(told(NOW, &base, &[rename]));
    let prefix = (APPS, "  postBuild:", "  namePrefix: a-\n  postBuild:");
    insta::assert_snapshot!("prefix", told(NOW, &base, &[prefix]));
}

/// Of one object the spec changes one field at once, and its file another one later.
#[test]
fn what_its_files_change_waits_all_the_same() {
    let base = held(VALUES);
    let both = [
        (APPS, "  postBuild:", "  images: [{ name: nginx, newTag: 1.30.0 }]\n  postBuild:"),
        (DEPLOYMENT, "spec:\n  selector", "spec:\n  replicas: 2\n  selector"),
        ("apps/apps-rw/site.yaml", "a: '1'", "a: '2'"),
        (APPS, "leaf-01", "leaf-9"),
    ];
    insta::assert_snapshot!(told(NOW, &base, &both));
    insta::assert_snapshot!("both_open", told(OPEN, &base, &both));
}

/// It fails until its files are there.
#[test]
fn a_folder_that_its_source_does_not_have_yet_waits_for_it() {
    let base = held(VALUES);
    let moved = [
        (APPS, "path: ./apps/apps-rw", "path: ./apps/new"),
        ("apps/new/kustomization.yaml", "", "resources: [../apps-rw]\nnamePrefix: a-\n"),
    ];
    insta::assert_snapshot!(told(NOW, &base, &moved));
}

/// What it depends on is held with it, so its own spec does not wait for that.
#[test]
fn another_spec_does_not_wait_for_what_it_depends_on() {
    let base = held("  dependsOn: [{ name: apps-rt }]\n  postBuild: { substitute: { cluster: leaf-01 } }\n");
    let base = with(&base, &[(APPS, "name: flux-system }\n", "name: flux-system-rw }\n")]);
    let rename = told(NOW, &base, &[(APPS, "leaf-01", "leaf-9")]);
    assert!(rename.starts_with("3 objects change in 1 cluster: all land at once.\n"), "{rename}");
    assert!(rename.contains("\nAt once, within 4 minutes: 2 objects\n"), "{rename}");
}

/// Where a table has several windows, that counts which is open.
#[test]
fn a_window_of_a_table_is_named_in_its_zone() {
    let month = "month: { timeZone: America/New_York, on: second Tue of month, from: '20:00', for: 4h }";
    let windows = format!("windows: {{ {month},");
    let base = held(VALUES);
    let base = with(
        &base,
        &[(SPEC_FILE, "windows: {", &windows), (SPEC_FILE, "window: saturday", "window: [saturday, month]")],
    );
    let image = [(DEPLOYMENT, "1.29.0", "1.30.0")];
    let all = ["2026-12-05T22:00:00Z", "2026-12-07T12:00:00Z", "2026-12-09T02:00:00Z"];
    insta::assert_snapshot!(all.map(|now| told(now, &base, &image)).join("\n"));
}

/// The way back to CronJobs that suspend: nothing has suspended what only waited at its source.
#[test]
fn what_leaves_its_held_source_while_closed_lands_at_once() {
    let base = filled(&held(""));
    let spec = base[SPEC_FILE].replace("mechanism: follow, ", "");
    let back = with(
        &without(&base, "clusters/one/gate/follow.yaml"),
        &[(SPEC_FILE, "", &spec), (APPS, "flux-system-rw", "flux-system"), (DEPLOYMENT, "1.29.0", "1.30.0")],
    );
    let back = synced(&back);
    insta::assert_snapshot!(words(&compared_at(NOW, &base, &back)));
    // While it is open the window lets it in.
    let open = words(&compared_at(OPEN, &base, &back));
    assert!(!open.contains("leaves its held source"), "{open}");
}

/// The values are not of its own spec.
#[test]
fn what_a_config_map_changes_at_once_is_told_as_values_of_it() {
    let vars = "clusters/one/vars.yaml";
    let values = map("vars", "cluster: leaf-01").replace("shop", "flux-system");
    let base = held("  postBuild: { substituteFrom: [{ kind: ConfigMap, name: vars }] }\n");
    let told = told(NOW, &with(&base, &[(vars, "", &values)]), &[(vars, "leaf-01", "leaf-9")]);
    let why = "values of apps-rw from ConfigMap vars act at once, changes of its files wait";
    assert!(told.contains(why) && !told.contains("changes of the spec"), "{told}");
}

/// With other keys than those that its files are encrypted with, it does not build.
#[test]
fn keys_that_change_before_the_files_are_told() {
    let keys = "clusters/one/keys.yaml";
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: sops, namespace: flux-system }\nstringData: { a.agekey: one }\n";
    let base = held("  decryption: { provider: sops, secretRef: { name: sops } }\n");
    let base = filled(&with(&base, &[(keys, "", secret)]));
    let found = |now: &str, after: &Files| {
        let report = compared_at(now, &base, after);
        super::repository::told(&report, &[Topic::OutsideWindow])
    };
    let changed = with(&base, &[(keys, "agekey: one", "agekey: two")]);
    let all = [found(NOW, &changed), found(NOW, &without(&base, keys))].concat();
    insta::assert_snapshot!(all.join("\n"));
    let further = with(&base, &[(keys, "agekey: one", "agekey: one, b.agekey: two")]);
    let none = [found(NOW, &further), found(OPEN, &changed)].concat();
    assert_eq!(none, Vec::<String>::new());
}

/// Another kubeconfig is another cluster, or none.
#[test]
fn a_kubeconfig_that_changes_before_the_files_is_told() {
    let keys = "clusters/one/keys.yaml";
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: leaf, namespace: flux-system }\nstringData: { value: one }\n";
    let base = held("  kubeConfig: { secretRef: { name: leaf } }\n");
    let base = filled(&with(&base, &[(keys, "", secret)]));
    let found = |now: &str, after: &Files| {
        let report = compared_at(now, &base, after);
        super::repository::told(&report, &[Topic::OutsideWindow])
    };
    let changed = with(&base, &[(keys, "value: one", "value: two")]);
    let further = with(&base, &[(keys, "value: one", "value: one, value.yaml: two")]);
    let all = [&changed, &without(&base, keys), &further].map(|after| found(NOW, after)).concat();
    insta::assert_snapshot!(all.join("\n"));
    assert_eq!(found(OPEN, &changed), Vec::<String>::new());
    // One that it names newly is of its spec.
    let named = held("  kubeConfig: { secretRef: { name: leaf } }\n");
    let told = super::repository::told(
        &compared_at(NOW, &filled(&held("")), &filled(&named)),
        &[Topic::OutsideWindow],
    );
    assert_eq!(
        told,
        [
            "outside-window apps-rw waits for type `rw`, but its kubeconfig in Kustomization flux-system/apps-rw changes at once. It may fail or reach another cluster until then"
        ]
    );
}

/// What waits is decrypted by them at once.
#[test]
fn other_keys_that_the_spec_names_are_told() {
    let named = |name: &str| {
        let more = format!("  decryption: {{ provider: sops, secretRef: {{ name: {name} }} }}\n");
        filled(&held(if name.is_empty() { "" } else { &more }))
    };
    let told = |now: &str, before: &str, after: &str| {
        super::repository::told(&compared_at(now, &named(before), &named(after)), &[Topic::OutsideWindow])
    };
    let expected = [
        "outside-window apps-rw waits for type `rw`, but its keys in Kustomization flux-system/apps-rw change at once. Its build may fail until then",
    ];
    assert_eq!(told(NOW, "old", "new"), expected);
    assert_eq!(told(NOW, "old", ""), expected);
    // Nothing that waits needs the first ones, and an open window lets all in.
    assert_eq!((told(NOW, "", "new"), told(OPEN, "old", "new")), (Vec::new(), Vec::new()));
}

/// What is let in late would land after the end, so nothing is; how long that takes is known of what succeeds.
#[test]
fn what_comes_at_the_end_of_a_window_waits_for_the_next_one() {
    let image = [(DEPLOYMENT, "1.29.0", "1.30.0")];
    let told = |at: &str, more: &str| told(&format!("2026-11-29T{at}Z"), &held(more), &image);
    let late = ["00:43:00", "00:50:00", "00:57:00"].map(|at| told(at, ""));
    insta::assert_snapshot!(late.join("\n"));
    // What takes longer than the time for it is told to land after the end.
    let slow = told("00:45:00", "  wait: true\n  timeout: 10m\n");
    assert!(slow.contains("once begun, it still lands within 7 minutes of the closing"), "{slow}");
}
