//! Values that go.

use super::chain::{told, with_values};
use super::repository::{
    Files, NOW, compared, compared_at, files, flux, map, with, with_cluster, without, words,
};

const APPS: &str = "clusters/one/apps.yaml";
const VARS: &str = "vars/vars.yaml";
const OPTIONAL: &str = "  postBuild: { substituteFrom: [{ kind: ConfigMap, name: vars, optional: true }] }\n";

/// The repository, in which a default stands for a value that is not there.
fn with_default(targets: &str, more: &str) -> Files {
    let edits = [
        (APPS, "name: vars }]", "name: vars, optional: true }]"),
        ("apps/apps-rt/settings.yaml", "${color}", "${color:=green}"),
        ("vars/b.yaml", "", &map("b", "")),
    ];
    with(&with_values(targets, more, ""), &edits)
}

/// A value counts until the object that brings it is deleted.
#[test]
fn a_value_goes_with_the_config_map_that_brings_it() {
    let (held, at_once) = (with_default("vars", ""), with_default("apps-rw", ""));
    let unpruned = with(&held, &[(APPS, "./vars\n  prune: true", "./vars\n  prune: false")]);
    let kept = with_default("vars", ", annotations: { kustomize.toolkit.fluxcd.io/prune: disabled }");
    let gone = |base: &Files| without(base, VARS);
    let unread = with(&gone(&held), &[(APPS, OPTIONAL, "")]);
    let apps = flux("apps-rt", "apps/apps-rt", OPTIONAL) + &flux("apps-rw", "apps/apps-rw", OPTIONAL);
    let unbrought = with(&gone(&held), &[(APPS, "", &apps)]);
    let all = [
        ("waits", &held, gone(&held)),
        ("at once", &at_once, gone(&at_once)),
        ("is not pruned", &unpruned, gone(&unpruned)),
        ("is kept", &kept, gone(&kept)),
        ("is read no more", &held, unread),
        ("goes with what brings it, which is suspended", &held, unbrought),
    ];
    let all = all.map(|(what, before, after)| {
        let report = compared_at(NOW, before, &after);
        let line = report.changes.iter().find(|line| line.id.name == "settings").unwrap();
        format!("{what}: {}", told(&line.lands))
    });
    insta::assert_snapshot!(all.join("\n"));
}

/// Who needs a value may land before the object goes that brings it: with it until then, and not at all from then on.
#[test]
fn a_value_that_is_needed_is_there_until_its_config_map_is_deleted() {
    let edits = [
        ("apps/apps-rt/other.yaml", "", &*map("other", "")),
        ("apps/apps-rt/kustomization.yaml", "settings.yaml", "settings.yaml, other.yaml"),
        ("vars/b.yaml", "", &map("b", "")),
    ];
    let told = |targets: &str| {
        let base = with(&with_values(targets, "", ""), &edits);
        let after =
            with(&without(&base, VARS), &[("apps/apps-rt/settings.yaml", "a: '${color}'", "a: '${color}!'")]);
        let after = with(&after, &[("apps/apps-rt/kustomization.yaml", ", other.yaml", "")]);
        words(&compared_at(NOW, &base, &without(&after, "apps/apps-rt/other.yaml")))
    };
    insta::assert_snapshot!(["vars", "apps-rw"].map(told).join("\n\n"));
}

/// The cluster has what either applied last.
#[test]
fn a_value_that_two_bring_alike_is_known() {
    let base = with(
        &with_values("apps-rw", "", ""),
        &[
            ("clusters/one/again.yaml", "", &flux("again", "again", "")),
            ("again/kustomization.yaml", "", "resources: [../vars/vars.yaml]\n"),
        ],
    );
    let after = with(&base, &[(VARS, "red", "blue")]);
    let report = compared_at(NOW, &base, &after);
    let mut changed: Vec<&str> = report.changes.iter().map(|line| line.id.name.as_str()).collect();
    changed.sort_unstable();
    assert_eq!(changed, ["settings", "vars", "vars", "web"]);
    // What fails leaves what the other brings too.
    let broken = with(&base, &[("again/kustomization.yaml", "]", ", lacking.yaml]")]);
    let report = compared_at(NOW, &base, &broken);
    assert!(report.changes.is_empty(), "{:?}", report.changes);
    let suspended =
        with(&base, &[("clusters/one/again.yaml", "  prune: true\n", "  prune: true\n  suspend: true\n")]);
    let report = compared_at(NOW, &base, &suspended);
    let changed: Vec<&str> = report.changes.iter().map(|line| line.id.name.as_str()).collect();
    assert_eq!(changed, ["again"]);
    // What they say otherwise is known to the cluster alone.
    let own = base[VARS].clone();
    let other = with(&base, &[("again/kustomization.yaml", "../vars/", ""), ("again/vars.yaml", "", &own)]);
    let report = compared_at(NOW, &other, &with(&other, &[(VARS, "red", "blue")]));
    let line = report.changes.iter().find(|line| line.id.name == "settings").unwrap();
    assert_eq!(line.fields[0].after, Some("${color}".into()), "{:?}", line.fields);
}

/// What one of them applied before it fails, the other one applies over.
#[test]
fn a_value_of_one_that_fails_is_what_another_one_says() {
    let base = with(
        &with_values("apps-rw", "", ""),
        &[
            ("clusters/one/again.yaml", "", &flux("again", "again", "")),
            ("again/kustomization.yaml", "", "resources: [vars.yaml]\n"),
            ("again/vars.yaml", "", &with_values("apps-rw", "", "")[VARS]),
        ],
    );
    for broken in ["vars/kustomization.yaml", "again/kustomization.yaml"] {
        let other = if broken.starts_with("vars") { "again/vars.yaml" } else { VARS };
        let failing = "resources: [vars.yaml, none.yaml]\n";
        let after = with(&base, &[(broken, "", failing), (other, "red", "blue")]);
        let report = compared_at(NOW, &base, &after);
        let settings = report.changes.iter().find(|line| line.id.name == "settings");
        let told = settings.map(|line| format!("{:?}", line.fields)).unwrap_or_default();
        assert!(told.contains("blue") && !told.contains("${"), "{broken}: {told}");
    }
}

/// Both clusters get the object, so what is said names the one that misses the value.
#[test]
fn a_value_that_goes_in_one_of_two_clusters_is_missed_there() {
    let from = "  postBuild: { substituteFrom: [{ kind: ConfigMap, name: vars }] }\n";
    let vars = map("vars", "site: north, zone: a").replace("namespace: shop", "namespace: flux-system");
    let rt = |more: &str| flux("apps-rt", "apps/apps-rt", more);
    let one = with(
        &files(),
        &[
            (APPS, &rt(""), &rt(from)),
            ("clusters/one/vars.yaml", "", &vars),
            ("apps/apps-rt/settings.yaml", "a: '1'", "a: '${site}'"),
        ],
    );
    let base = with_cluster(&one, "two");
    let gone = with(&base, &[("clusters/one/vars.yaml", "site: north, ", "")]);
    let told = words(&compared(&base, &gone));
    let missed = "holds `${site}`, which the `postBuild` of apps-rt in cluster one does not set";
    assert!(told.contains(missed), "{told}");
}
