//! What does not fit until a window opens.

use super::repository::{
    Files, OPEN, SPEC, SPEC_FILE, compared, compared_at, files, flux, map, told, with, without,
};
use crate::pr::Topic;

const DEPLOYMENT: &str = "apps/apps-rw/deployment.yaml";
const SETTINGS: &str = "apps/apps-rt/settings.yaml";

fn skew(before: &Files, after: &Files) -> Vec<String> {
    told(&compared(before, after), &[Topic::Skew])
}

/// A change of a ConfigMap's name and of who mounts it.
fn renamed(files: &Files) -> Files {
    with(
        files,
        &[(SETTINGS, "name: settings", "name: page"), (DEPLOYMENT, "{ name: settings }", "{ name: page }")],
    )
}

#[test]
fn what_gates_hold_counts_and_not_what_a_spec_wants() {
    let gated = files();
    assert_eq!(skew(&gated, &renamed(&gated)).len(), 1);
    // No gate stands, so both land together.
    let open = without(&without(&gated, "clusters/one/gate/open.yaml"), "clusters/one/gate/close.yaml");
    let wanted = with(&open, &[(SPEC_FILE, "", SPEC)]);
    assert_eq!(skew(&wanted, &renamed(&wanted)), Vec::<String>::new());
}

#[test]
fn what_is_open_at_the_merge_fits() {
    let gated = files();
    let report = compared_at(OPEN, &gated, &renamed(&gated));
    assert_eq!(told(&report, &[Topic::Skew]), Vec::<String>::new());
}

#[test]
fn a_new_service_may_wait_for_its_pods() {
    let gated = files();
    let service = |name: &str, app: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{ name: {name}, namespace: shop }}\nspec: {{ selector: {{ app: \
             {app} }}, ports: [{{ port: 80 }}] }}\n"
        )
    };
    let list = ("apps/apps-rt/kustomization.yaml", "settings.yaml", "settings.yaml, service.yaml");
    let labels = (DEPLOYMENT, "labels: { app: web }", "labels: { app: web, v: b }");
    let new = service("web", "web, v: b");
    let new = with(&gated, &[list, ("apps/apps-rt/service.yaml", "", &new), labels]);
    assert_eq!(skew(&gated, &new), Vec::<String>::new());
    // One that has pods loses them.
    let old = with(&gated, &[list, ("apps/apps-rt/service.yaml", "", &service("web", "web"))]);
    assert_eq!(skew(&old, &new).len(), 1);
}

#[test]
fn what_goes_at_its_opening_needs_until_then_what_goes_at_once() {
    let gated = files();
    let gone = [
        ("apps/apps-rt/kustomization.yaml", "settings.yaml", ""),
        ("apps/apps-rw/kustomization.yaml", "deployment.yaml", ""),
    ];
    insta::assert_snapshot!(skew(&gated, &with(&gated, &gone)).join("\n"), @"skew GW018 ConfigMap shop/settings is deleted at once, and Deployment shop/web refers to it until the window of CronJob `close` opens, so its pods can't be started anew until then (from 2026-11-23T12:00:00Z until 2026-11-28T21:00:00Z)");
    // What the cluster keeps does not go at an opening, and what lands with it fits.
    let kept = (
        DEPLOYMENT,
        "metadata: {",
        "metadata: { annotations: { kustomize.toolkit.fluxcd.io/prune: disabled },",
    );
    let kept = with(&gated, &[kept]);
    assert_eq!(skew(&kept, &with(&kept, &gone)), Vec::<String>::new());
    let report = compared_at(OPEN, &gated, &with(&gated, &gone));
    assert_eq!(told(&report, &[Topic::Skew]), Vec::<String>::new());
}

#[test]
fn releases_need_their_values() {
    let release = |map: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{ name: cache, namespace: shop }}\nspec:\n  \
             interval: 1h\n  chart: {{ spec: {{ chart: redis, version: 1.0.0, sourceRef: {{ kind: HelmRepository, name: \
             charts }} }} }}\n  valuesFrom: [{{ kind: ConfigMap, name: {map} }}]\n"
        )
    };
    let base = with(
        &files(),
        &[
            ("apps/apps-rw/kustomization.yaml", "deployment.yaml", "deployment.yaml, release.yaml"),
            ("apps/apps-rw/release.yaml", "", &release("values")),
            ("apps/apps-rt/kustomization.yaml", "settings.yaml", "settings.yaml, values.yaml"),
            ("apps/apps-rt/values.yaml", "", &map("values", "values.yaml: 'a: 1'")),
        ],
    );
    let renamed = with(
        &base,
        &[
            ("apps/apps-rw/release.yaml", "", &release("others")),
            ("apps/apps-rt/values.yaml", "", &map("others", "values.yaml: 'a: 1'")),
        ],
    );
    let told = skew(&base, &renamed);
    assert!(told.len() == 1 && told[0].contains("its next upgrade fails"), "{told:?}");
    // Of a key that goes it is the same.
    let keyed = with(&base, &[("apps/apps-rt/values.yaml", "values.yaml:", "other.yaml:")]);
    let keyed = with(
        &keyed,
        &[("apps/apps-rw/release.yaml", "name: values }", "name: values, valuesKey: other.yaml }")],
    );
    assert_eq!(skew(&base, &keyed).len(), 1);
}

#[test]
fn a_release_that_waits_is_upgraded_at_once_by_values_that_do_not() {
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: { name: cache, namespace: shop }\nspec:\n  \
         interval: 1h\n  chart: { spec: { chart: redis, version: 1.0.0, sourceRef: { kind: HelmRepository, name: charts } } }\n  \
         valuesFrom: [{ kind: ConfigMap, name: values }]\n";
    let base = with(
        &files(),
        &[
            ("apps/apps-rw/kustomization.yaml", "deployment.yaml", "deployment.yaml, release.yaml"),
            ("apps/apps-rw/release.yaml", "", release),
            ("apps/apps-rt/kustomization.yaml", "settings.yaml", "settings.yaml, values.yaml"),
            ("apps/apps-rt/values.yaml", "", &map("values", "values.yaml: 'a: 1'")),
        ],
    );
    let changed = with(&base, &[("apps/apps-rt/values.yaml", "a: 1", "a: 2")]);
    let early = |report| told(&report, &[Topic::OutsideWindow]);
    let found = early(compared(&base, &changed));
    assert!(found.len() == 1 && found[0].contains("They upgrade it outside of the window"), "{found:?}");
    assert_eq!(early(compared_at(OPEN, &base, &changed)), Vec::<String>::new());
    let other = with(&base, &[(SETTINGS, "a: '1'", "a: '2'")]);
    assert_eq!(early(compared(&base, &other)), Vec::<String>::new());
}

#[test]
fn what_the_part_that_differs_suspects_is_asked_of_the_whole() {
    // Another Flux Kustomization brings the same object under a name that stands in no file.
    let lend = with(
        &files(),
        &[
            ("clusters/one/more.yaml", "", &flux("more", "more", "")),
            ("more/kustomization.yaml", "", "namePrefix: set\nresources: [tings.yaml]\n"),
            ("more/tings.yaml", "", &map("tings", "a: '1'")),
        ],
    );
    let gone = with(&lend, &[("apps/apps-rt/kustomization.yaml", "[settings.yaml]", "[]")]);
    assert_eq!(skew(&lend, &gone), Vec::<String>::new());
    let alone = files();
    let gone = with(&alone, &[("apps/apps-rt/kustomization.yaml", "[settings.yaml]", "[]")]);
    assert_eq!(skew(&alone, &gone).len(), 1);
}

#[test]
fn a_key_that_is_mounted_by_its_path_is_needed() {
    let mounted = "nginx:1.29.0', volumeMounts: [{ name: settings, mountPath: /etc/a, subPath: a }]";
    let base = with(&files(), &[(DEPLOYMENT, "nginx:1.29.0'", mounted)]);
    let renamed = with(&base, &[(SETTINGS, "a: '1'", "b: '1'"), (DEPLOYMENT, "subPath: a", "subPath: b")]);
    let told = skew(&base, &renamed);
    assert!(told.len() == 1 && told[0].contains("key `a` of ConfigMap settings"), "{told:?}");
    let other = with(&base, &[(SETTINGS, "a: '1'", "a: '2', b: '1'")]);
    assert_eq!(skew(&base, &other), Vec::<String>::new());
}
