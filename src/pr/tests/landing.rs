//! Freezes, overrides and closings that are near, as they stand to the merge.

use super::repository::{
    Files, NOW, SPEC, SPEC_FILE, compared, compared_at, files, synced, with, with_cluster, words,
};

const DEPLOYMENT: &str = "apps/apps-rw/deployment.yaml";

/// The repository with a table, and more of a spec.
pub(super) fn with_table(more: &str) -> Files {
    let table =
        "gate: { enabled: true, namespace: flux-system, every: 1m, from: 2026-01-01, through: 2027-12-31 }";
    let spec = SPEC.replace("gate: { enabled: true, namespace: flux-system }", table);
    synced(&with(&files(), &[(SPEC_FILE, "", &format!("{spec}timeZone: Europe/Berlin\n{more}"))]))
}

/// What is told of a new image.
fn image_at(now: &str, base: &Files) -> String {
    words(&compared_at(now, base, &with(base, &[(DEPLOYMENT, "1.29.0", "1.30.0")])))
}

#[test]
fn what_a_freeze_holds_is_told_with_its_end() {
    let freeze =
        |to: &str| format!("freezes: {{ peak: {{ from: 2026-11-20, to: {to}, reason: trading peak }} }}\n");
    // An opening comes after it; none does, as the table ends; it has no end.
    let all = ["2026-12-01", "2028-03-01", "2199-12-31"].map(|to| image_at(NOW, &with_table(&freeze(to))));
    insta::assert_snapshot!(all.join("\n"));
    // Without a freeze it is the table that ends.
    insta::assert_snapshot!(image_at("2028-01-05T12:00:00Z", &with_table("")));
}

#[test]
fn an_override_is_not_told_as_the_window() {
    let given = "overrides: [{ cluster: one, type: rw, from: 2026-11-23T12:00, until: 2026-11-23T16:00, reason: INC-1 }]\n";
    let base = with_table(given);
    let all = [image_at(NOW, &base), image_at("2026-11-23T10:00:00Z", &base)];
    insta::assert_snapshot!(all.join("\n"));
    let report = compared(&base, &with(&base, &[(DEPLOYMENT, "1.29.0", "1.30.0")]));
    let told = crate::pr::json(&report);
    insta::assert_snapshot!(format!("{:#}", told["changes"][0]["lands"]));
}

#[test]
fn just_before_a_closing_it_is_too_late() {
    // The source is fetched every minute.
    let base = with_table("");
    let late = image_at("2026-11-29T00:54:30Z", &base);
    insta::assert_snapshot!(late);
    let report =
        compared_at("2026-11-29T00:54:30Z", &base, &with(&base, &[(DEPLOYMENT, "1.29.0", "1.30.0")]));
    assert_eq!(crate::pr::json(&report)["deadline"], serde_json::Value::Null);
}

#[test]
fn clusters_with_windows_of_their_own_have_deadlines_of_their_own() {
    let own = "two: { paths: [clusters/two], windows: { rw: [{ timeZone: America/New_York, open: 0 20 * * TUE, close: 0 2 * * WED }] } } }";
    let spec = SPEC.replace("{ paths: [clusters/one] } }", &format!("{{ paths: [clusters/one] }}, {own}"));
    let base = synced(&with(&with_cluster(&files(), "two"), &[(SPEC_FILE, "", &spec)]));
    let after = with(&base, &[(DEPLOYMENT, "1.29.0", "1.30.0")]);
    let report = compared(&base, &after);
    insta::assert_snapshot!(words(&report));
    assert_eq!(crate::pr::json(&report)["deadline"], "2026-11-25T06:57:57Z");
}

/// The repository, of which CI pushes an artifact that the cluster fetches every `interval`.
fn pushed(interval: &str) -> Files {
    let source = super::repository::source(interval).replace("GitRepository", "OCIRepository");
    let own = |name: &str| super::repository::flux(name, &format!("apps/{name}"), "");
    let oci = |text: String| text.replace("kind: GitRepository", "kind: OCIRepository");
    let sync = oci(source + &super::repository::flux("flux-system", "clusters/one", ""));
    let apps = oci(own("apps-rt") + &own("apps-rw"));
    let edits = [
        ("clusters/one/flux-system/gotk-sync.yaml", "", sync.as_str()),
        ("clusters/one/apps.yaml", "", apps.as_str()),
        (SPEC_FILE, "", SPEC),
    ];
    with(&files(), &edits)
}

/// A release moves its tag, or each merge: Git does not say when.
#[test]
fn what_ci_pushes_lands_from_then() {
    let base = pushed("1m");
    let edits = [(DEPLOYMENT, "1.29.0", "1.30.0"), ("apps/apps-rt/settings.yaml", "a: '1'", "a: '2'")];
    let report = compared(&base, &with(&base, &edits));
    let lands = &crate::pr::json(&report)["changes"][0]["lands"];
    assert_eq!((lands["latest"].as_str(), lands["after"].as_str()), (None, Some("push")));
    let tagged = with(
        &with(&files(), &[(SPEC_FILE, "", SPEC)]),
        &[("clusters/one/flux-system/gotk-sync.yaml", "url:", "ref: { semver: '*' }, url:")],
    );
    let tagged = compared(&tagged, &with(&tagged, &edits));
    insta::assert_snapshot!(format!("{}\n{}", words(&report), words(&tagged)));
}

/// The window is four hours long.
#[test]
fn what_may_be_fetched_after_the_closing_is_not_sure_in_this_window() {
    let slow = |interval: &str| {
        let base = with(&files(), &[(SPEC_FILE, "", SPEC)]);
        with(
            &base,
            &[("clusters/one/flux-system/gotk-sync.yaml", "interval: 1m", &format!("interval: {interval}"))],
        )
    };
    let all = [
        // Two hours before the opening; well before it; while it is open.
        image_at("2026-11-28T19:00:00Z", &slow("12h")),
        image_at("2026-11-28T06:00:00Z", &slow("12h")),
        image_at(super::repository::OPEN, &slow("12h")),
        // What is fetched in time lands in time, however seldom the Flux Kustomization looks.
        image_at(NOW, &with(&slow("1m"), &[("clusters/one/apps.yaml", "interval: 5m", "interval: 12h")])),
    ];
    insta::assert_snapshot!(all.join("\n"));
}
