//! What Git itself keeps from ever landing.

use super::repository::{
    Files, SPEC, SPEC_FILE, compared, files, flux, lines, map, source, told, with, with_cluster, without,
    words,
};
use crate::pr::Topic;

const SYNC: &str = "clusters/one/flux-system/gotk-sync.yaml";
const APPS: &str = "clusters/one/apps.yaml";
const SETTINGS: &str = "apps/apps-rt/settings.yaml";

/// The repository, of which the source checks out some folders.
fn sparse(paths: &str) -> Files {
    let url = "url: 'https://example.org/fleet'";
    let list = format!("{url}, sparseCheckout: [{paths}]");
    with(&files(), &[(SYNC, url, &list), ("docs/readme.md", "", "x\n")])
}

fn with_setting(files: &Files) -> Files {
    with(files, &[(SETTINGS, "'1'", "'2'")])
}

#[test]
fn a_source_that_can_not_check_a_path_out_fetches_nothing() {
    let base = sparse("clusters, apps, docs");
    let gone = with_setting(&without(&base, "docs/readme.md"));
    let report = compared(&base, &gone);
    assert_eq!(lines(&report), ["ConfigMap/settings changed never"]);
    let why =
        "GitRepository flux-system fetches nothing: its `sparseCheckout` names `docs`, which is missing";
    assert!(words(&report).contains(why), "{}", words(&report));
    // The shorter list comes with a commit that is never fetched.
    let both = with(&gone, &[(SYNC, ", docs]", "]")]);
    let told = lines(&compared(&base, &both));
    assert_eq!(told, ["GitRepository/flux-system changed never", "ConfigMap/settings changed never"]);
    // The longer one comes with a commit that has been fetched by the list before.
    let longer = with_setting(&with(&base, &[(SYNC, ", docs]", ", docs, none]")]));
    let told = lines(&compared(&base, &longer));
    assert_eq!(told, ["GitRepository/flux-system changed at-once", "ConfigMap/settings changed at-once"]);
    // It fetches nothing before, and after that is mended it does.
    let broken = without(&base, "docs/readme.md");
    assert_eq!(lines(&compared(&broken, &with_setting(&broken))), ["ConfigMap/settings changed never"]);
    assert_eq!(lines(&compared(&broken, &with_setting(&base))), ["ConfigMap/settings changed at-once"]);
    // What leaves Git stays.
    let none = with(&without(&base, "docs/readme.md"), &[(APPS, "", &flux("apps-rw", "apps/apps-rw", ""))]);
    let report = compared(&base, &none);
    assert!(lines(&report).iter().all(|line| line.ends_with(" never")), "{:?}", lines(&report));
}

/// The repository with a source of its own for an entry point.
fn with_source() -> Files {
    let own = source("1m").replace("name: flux-system,", "name: apps,");
    let apps = [
        flux("apps-rt", "apps/apps-rt", "").replace("name: flux-system }", "name: apps }"),
        flux("apps-rw", "apps/apps-rw", ""),
    ];
    with(&files(), &[(APPS, "", &apps.concat()), ("clusters/one/source.yaml", "", &own)])
}

#[test]
fn a_source_that_another_one_brings_may_have_either_list() {
    let file = "clusters/one/source.yaml";
    let own = |list: &str| {
        let own = source("1m").replace("name: flux-system,", "name: apps,");
        own.replace("/fleet'", &format!("/fleet', sparseCheckout: [{list}]"))
    };
    let base = with(&with_source(), &[(file, "", &own("apps, docs")), ("docs/readme.md", "", "x\n")]);
    let gone = with_setting(&without(&base, "docs/readme.md"));
    assert_eq!(lines(&compared(&base, &gone)), ["ConfigMap/settings changed never"]);
    let both = with(&gone, &[(file, "", &own("apps"))]);
    let told = lines(&compared(&base, &both));
    assert_eq!(told, ["GitRepository/apps changed at-once", "ConfigMap/settings changed at-once"]);
}

#[test]
fn what_reads_a_source_that_goes_may_not_land() {
    let base = with_source();
    let gone = with_setting(&without(&base, "clusters/one/source.yaml"));
    let report = compared(&base, &gone);
    let all = words(&report);
    assert!(all.contains("or not at all: its GitRepository apps is deleted in the same commit"), "{all}");
    let errors = told(&report, &[Topic::Error]);
    assert!(errors.iter().any(|one| one.contains("takes out of Git")), "{errors:?}");
    // What Flux keeps goes on, and what prunes nothing leaves it.
    let kept = with(
        &base,
        &[(
            "clusters/one/source.yaml",
            "namespace: flux-system",
            "namespace: flux-system, annotations: { kustomize.toolkit.fluxcd.io/prune: disabled }",
        )],
    );
    let unpruned = with(&base, &[(SYNC, "prune: true", "prune: false")]);
    for base in [kept, unpruned] {
        let told = words(&compared(&base, &with_setting(&without(&base, "clusters/one/source.yaml"))));
        assert!(!told.contains("or not at all"), "{told}");
    }
}

#[test]
fn what_is_never_created_brings_nothing() {
    let base = files();
    let own = flux("more", "more", "").replace(
        "metadata: { name: more,",
        "metadata: { name: more, annotations: { kustomize.toolkit.fluxcd.io/reconcile: disabled },",
    );
    let more = with(
        &base,
        &[
            ("clusters/one/more.yaml", "", &own),
            ("more/a.yaml", "", &map("a", "")),
            ("more/below.yaml", "", &flux("below", "below", "")),
            ("below/b.yaml", "", &map("b", "")),
        ],
    );
    let report = compared(&base, &more);
    let told = lines(&report);
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told.iter().all(|line| line.ends_with(" created never")), "{told:?}");
    let why = "more is never created: its own settings keep Flux from applying it";
    assert!(words(&report).contains(why), "{}", words(&report));
    // One that is there goes on.
    let edited = with(&more, &[("more/a.yaml", "", &map("a", "k: v"))]);
    assert_eq!(lines(&compared(&more, &edited)), ["ConfigMap/a changed at-once"]);
}

#[test]
fn what_kubernetes_refuses_does_not_land() {
    let base = files();
    let number = with(&base, &[(SETTINGS, "'1'", "1")]);
    let report = compared(&base, &number);
    assert_eq!(lines(&report), [""; 0]);
    let told = told(&report, &[Topic::Error]);
    assert_eq!(
        told,
        [
            "error apps/apps-rt does not build, so nothing of it lands: Kubernetes refuses ConfigMap shop/settings: `data.a` is a number, not text"
        ]
    );
}

#[test]
fn a_newer_flux_fails_by_what_nothing_sets() {
    let controller = |version: &str| {
        format!(
            "# kustomize.toolkit.fluxcd.io\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: kustomize-controller, namespace: flux-system }}\nspec: {{ selector: {{}}, template: {{ spec: {{ containers: [{{ name: manager, image: 'ghcr.io/fluxcd/kustomize-controller:v{version}' }}] }} }} }}\n"
        )
    };
    let of = |version: &str, text: &str| {
        let apps = flux("apps-rt", "apps/apps-rt", "  postBuild: { substitute: { A: a } }\n");
        let settings = map("settings", &format!("a: '{text}'"));
        with(
            &files(),
            &[
                ("clusters/one/flux-system/gotk-components.yaml", "", &controller(version)),
                (APPS, "", &apps),
                (SETTINGS, "", &settings),
            ],
        )
    };
    let errors = |before: &Files, after: &Files| told(&compared(before, after), &[Topic::Error]);
    let error = "error apps/apps-rt does not build, so nothing of it lands: `postBuild` can't fill in ConfigMap shop/settings: variable not set (strict mode): \"Q\"";
    assert_eq!(errors(&of("1.8.0", "${A}"), &of("1.8.0", "${Q}")), [""; 0]);
    assert_eq!(errors(&of("1.9.0", "${A}"), &of("1.9.0", "${Q}")), [error]);
    assert_eq!(errors(&of("1.9.0", "${A}"), &of("1.9.0", "${Q:=x}")), [""; 0]);
    // The newer controller alone brings it.
    assert_eq!(errors(&of("1.8.0", "${Q}"), &of("1.9.0", "${Q}")), [error]);
}

#[test]
fn a_cluster_is_retired_where_its_line_goes_too() {
    let own = "two: { paths: [clusters/two], windows: { rw: [{ timeZone: America/New_York, open: 0 20 * * TUE, close: 0 2 * * WED }] } } }";
    let spec = SPEC.replace("{ paths: [clusters/one] } }", &format!("{{ paths: [clusters/one] }}, {own}"));
    let base = with(&with_cluster(&files(), "two"), &[(SPEC_FILE, "", &spec)]);
    let mut gone = base.clone();
    gone.retain(|path, _| !path.starts_with("clusters/two/"));
    let is_error = |after: &Files| {
        let errors = told(&compared(&base, after), &[Topic::Error]);
        errors.iter().any(|one| one.contains("there is no folder clusters/two"))
    };
    let is_note = |after: &Files| {
        let notes = told(&compared(&base, after), &[Topic::Check]);
        notes.iter().any(|one| one.contains("there is no folder clusters/two"))
    };
    let retired = with(&gone, &[(SPEC_FILE, "", SPEC)]);
    assert!(!is_error(&retired) && is_note(&retired));
    let left = with(&retired, &[("clusters/two/README.md", "", "x\n")]);
    assert!(is_error(&left) || !is_note(&left));
}

/// Its finalizer never runs.
#[test]
fn what_flux_never_deletes_keeps_what_it_applied() {
    let own = flux("more", "more", "").replace(
        "metadata: { name: more,",
        "metadata: { name: more, annotations: { kustomize.toolkit.fluxcd.io/prune: disabled },",
    );
    let base = with(&files(), &[("clusters/one/more.yaml", "", &own), ("more/a.yaml", "", &map("a", ""))]);
    let report = compared(&base, &without(&base, "clusters/one/more.yaml"));
    let told = lines(&report);
    assert!(told.len() == 2 && told.iter().all(|line| line.ends_with(" deleted never")), "{told:?}");
    let why = "more stays in the cluster: its own settings keep Flux from deleting it";
    assert!(words(&report).contains(why), "{}", words(&report));
    assert!(report.findings.iter().all(|one| one.topic != Topic::Deletion), "{:?}", report.findings);
}
