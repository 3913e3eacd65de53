//! What is told of what stands beside the objects: immutable fields, the spec, files that move, clusters.

use super::repository::{
    Files, SPEC, SPEC_FILE, codes, compared, files, flux, lines, map, source, told, with, with_cluster,
    without,
};
use crate::pr::Topic;

const DEPLOYMENT: &str = "apps/apps-rw/deployment.yaml";

fn immutable(before: &Files, after: &Files) -> Vec<String> {
    told(&compared(before, after), &[Topic::Immutable])
}

#[test]
fn what_flux_makes_anew_is_not_refused() {
    let base = files();
    let selector = [(DEPLOYMENT, "app: web", "app: page")];
    assert_eq!(immutable(&base, &with(&base, &selector)).len(), 1);
    let noted = "name: web, namespace: shop, annotations: { kustomize.toolkit.fluxcd.io/force: Enabled } }";
    let noted = with(&with(&base, &selector), &[(DEPLOYMENT, "name: web, namespace: shop }", noted)]);
    assert_eq!(immutable(&base, &noted), Vec::<String>::new());
    let forced =
        [flux("apps-rt", "apps/apps-rt", ""), flux("apps-rw", "apps/apps-rw", "  force: true\n")].concat();
    let forced = with(&base, &[("clusters/one/apps.yaml", "", &forced)]);
    assert_eq!(immutable(&forced, &with(&forced, &selector)), Vec::<String>::new());
}

/// People see from when on a change fails that waits for its window, or data goes.
#[test]
fn what_is_refused_or_lost_has_its_date() {
    let base = files();
    let selector = with(&base, &[(DEPLOYMENT, "app: web", "app: page")]);
    insta::assert_snapshot!(immutable(&base, &selector).join("\n"));
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: data, namespace: shop }\nspec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }\n";
    let list = ("apps/apps-rw/kustomization.yaml", "deployment.yaml", "deployment.yaml, claim.yaml");
    let with_claim = with(&base, &[list, ("apps/apps-rw/claim.yaml", "", claim)]);
    insta::assert_snapshot!(told(&compared(&with_claim, &base), &[Topic::Deletion]).join("\n"));
}

#[test]
fn what_kubernetes_fills_in_may_be_spelled_out() {
    let service = |more: &str| {
        let text =
            "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: { name: fast }\nprovisioner: a\n";
        format!("{text}{more}")
    };
    let list = ("apps/apps-rw/kustomization.yaml", "deployment.yaml", "deployment.yaml, class.yaml");
    let base = with(&files(), &[list, ("apps/apps-rw/class.yaml", "", &service(""))]);
    let spelled = with(&base, &[("apps/apps-rw/class.yaml", "", &service("reclaimPolicy: Delete\n"))]);
    assert_eq!(immutable(&base, &spelled), Vec::<String>::new());
    let other = with(&base, &[("apps/apps-rw/class.yaml", "", &service("reclaimPolicy: Retain\n"))]);
    assert_eq!(immutable(&spelled, &other).len(), 1);
}

#[test]
fn a_pull_request_that_brings_the_spec_is_told_what_is_wrong_with_it() {
    let wrong = SPEC.replace("{ kind: ConfigMap, type: rt }", "{ kind: ConfigMop, type: rt }");
    let report = compared(&files(), &with(&files(), &[(SPEC_FILE, "", &wrong)]));
    assert!(codes(&report).contains(&"GW056"), "{:?}", codes(&report));
    // What was wrong with it before is no news.
    let base = with(&files(), &[(SPEC_FILE, "", &wrong)]);
    let report = compared(&base, &with(&base, &[(DEPLOYMENT, "1.29.0", "1.30.0")]));
    assert_eq!(codes(&report), Vec::<&str>::new());
}

#[test]
fn a_file_that_moves_is_no_news() {
    let (open, start) = ("clusters/one/gate/open.yaml", "clusters/one/gate/start.yaml");
    let base = with(&files(), &[(open, "apps-rw]", "apps-rw, apps-gone]")]);
    let moved = with(&without(&base, open), &[(start, "", &base[open])]);
    let news = compared(&files(), &base);
    assert!(!codes(&news).is_empty(), "{news:#?}");
    let report = compared(&base, &moved);
    assert_eq!((lines(&report), codes(&report)), (Vec::<String>::new(), Vec::<&str>::new()));
}

#[test]
fn of_a_cluster_that_comes_or_goes_nothing_was_held_back() {
    let one = files();
    let two = with_cluster(&one, "two");
    for (before, after) in [(&one, &two), (&two, &one)] {
        let report = compared(before, after);
        assert!(report.changes.iter().all(|line| line.cluster == "two"));
        assert_eq!(told(&report, &[Topic::OutsideWindow]), Vec::<String>::new());
    }
}

#[test]
fn each_cluster_is_fetched_as_its_own_source_says() {
    let one = files();
    let mut base = one.clone();
    for (path, text) in one.iter().filter(|(path, _)| path.starts_with("clusters/one")) {
        let text = text.replace("clusters/one", "clusters/two").replace("apps/apps-rt", "two/apps-rt");
        base.insert(path.replace("clusters/one", "clusters/two"), text);
    }
    let sync = source("1h") + &flux("flux-system", "clusters/two", "");
    let base = with(
        &base,
        &[
            ("clusters/two/flux-system/gotk-sync.yaml", "", &sync),
            ("two/apps-rt/kustomization.yaml", "", "resources: [settings.yaml]\n"),
            ("two/apps-rt/settings.yaml", "", &map("settings", "a: '1'")),
        ],
    );
    let after = with(
        &base,
        &[("apps/apps-rt/settings.yaml", "'1'", "'2'"), ("two/apps-rt/settings.yaml", "'1'", "'2'")],
    );
    let report = compared(&base, &after);
    let latest: Vec<String> = report
        .changes
        .iter()
        .map(|line| format!("{} {}", line.cluster, line.lands.latest.unwrap()))
        .collect();
    assert_eq!(latest, ["one 2026-11-23T12:02:03Z", "two 2026-11-23T13:04:00Z"]);
    // Another cluster's source is not that of a cluster whose own one is not in Git.
    let own = flux("flux-system", "clusters/one", "");
    let alone = with(&base, &[("clusters/one/flux-system/gotk-sync.yaml", "", &own)]);
    let report = compared(&alone, &with(&alone, &[("apps/apps-rt/settings.yaml", "'1'", "'2'")]));
    let lands = &report.changes[0].lands;
    assert_eq!(lands.latest.unwrap().to_string(), "2026-11-23T12:02:03Z");
    assert!(lands.reason.as_ref().is_some_and(|reason| reason.contains("not in Git")), "{lands:?}");
}

#[test]
fn a_source_of_a_name_is_that_of_its_own_cluster() {
    let one = files();
    let team = |url: &str| {
        source("1m").replace("name: flux-system,", "name: team,").replace("example.org/fleet", url)
    };
    let mut base = one.clone();
    for (cluster, url) in [("one", "example.org/fleet"), ("two", "example.org/other")] {
        for (path, text) in one.iter().filter(|(path, _)| path.starts_with("clusters/one")) {
            let of = |text: &str| text.replace("clusters/one", &format!("clusters/{cluster}"));
            base.insert(of(path), of(text));
        }
        let apps =
            flux("team", "team", "").replace("GitRepository, name: flux-system", "GitRepository, name: team");
        let sources = flux("sources", &format!("clusters/{cluster}/sources"), "");
        base.insert(format!("clusters/{cluster}/team.yaml"), apps + &sources);
        base.insert(
            format!("clusters/{cluster}/sources/kustomization.yaml"),
            "resources: [team.yaml]\n".to_owned(),
        );
        base.insert(format!("clusters/{cluster}/sources/team.yaml"), team(url));
        let list = "resources: [flux-system/gotk-sync.yaml, apps.yaml, team.yaml, gate/open.yaml, gate/close.yaml]\n";
        base.insert(format!("clusters/{cluster}/kustomization.yaml"), list.to_owned());
    }
    base.insert("team/kustomization.yaml".to_owned(), "resources: [team.yaml]\n".to_owned());
    base.insert("team/team.yaml".to_owned(), map("team", "a: '1'"));
    let report = compared(&base, &with(&base, &[("team/team.yaml", "'1'", "'2'")]));
    let clusters: Vec<&str> = report.changes.iter().map(|line| line.cluster.as_str()).collect();
    assert_eq!(clusters, ["one"]);
}

#[test]
fn of_a_cluster_whose_root_is_gone_nothing_is_said_to_be_deleted() {
    let spec = SPEC.replace("{ paths: [clusters/one] }", "{ roots: [sites/one] }");
    let apps = "sites/one/apps.yaml";
    let mut base = with(&files(), &[(SPEC_FILE, "", &spec), (apps, "", &files()["clusters/one/apps.yaml"])]);
    base.retain(|path, _| !path.starts_with("clusters/"));
    let said = |before: &Files, after: &Files| {
        let report = compared(before, after);
        let withheld = report.withheld.iter();
        let withheld =
            withheld.map(|one| format!("{} {}: {} ({})", one.cluster, one.by.name(), one.reason, one.cause));
        [lines(&report), withheld.collect()].concat()
    };
    let gone = without(&base, apps);
    let reason = "root sites/one of cluster one does not exist, and the spec names it (unreached)";
    let withheld = ["sites/one", "apps-rt", "apps-rw"].map(|name| format!("one {name}: {reason}"));
    assert_eq!(said(&base, &gone), withheld);
    // The same on the way back.
    assert_eq!(said(&gone, &base), withheld);
}

#[test]
fn a_cluster_that_leaves_the_spec_while_its_gate_stays_is_told() {
    let spec = SPEC.replace("{ paths: [clusters/one] } }", "{ paths: [clusters/one] }, two: {} }");
    let base = with(&with_cluster(&files(), "two"), &[(SPEC_FILE, "", &spec)]);
    let left = with(&base, &[(SPEC_FILE, "one: { paths: [clusters/one] }, ", "")]);
    assert_eq!(codes(&compared(&base, &left)), ["GW065"]);
    let real_time = with(
        &base,
        &[(SPEC_FILE, ", rw: { window: saturday }", ""), (SPEC_FILE, ", { type: rw }", ", { type: rt }")],
    );
    let real_time = compared(&base, &real_time);
    assert!(codes(&real_time).contains(&"GW065"), "{:?}", codes(&real_time));
}

#[test]
fn what_force_makes_anew_is_told() {
    let base = with(
        &files(),
        &[(
            DEPLOYMENT,
            "metadata: { name: web,",
            "metadata: { name: web, labels: { kustomize.toolkit.fluxcd.io/force: enabled },",
        )],
    );
    let selector = with(&base, &[(DEPLOYMENT, "app: web", "app: page")]);
    let said = told(&compared(&base, &selector), &[Topic::Check, Topic::Deletion, Topic::Immutable]);
    assert_eq!(
        said,
        [
            "check spec.selector.matchLabels.app of Deployment shop/web changes, which `force` allows: apps-rw deletes it and creates it anew (from 2026-11-28T21:00:00Z)"
        ]
    );
}

#[test]
fn of_two_findings_of_one_text_the_new_one_is_told() {
    let release = |name: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2beta2\nkind: HelmRelease\nmetadata: {{ name: {name}, namespace: shop }}\n"
        )
    };
    let list = "apps/apps-rt/kustomization.yaml";
    let base = with(
        &files(),
        &[(list, "[settings.yaml]", "[settings.yaml, b.yaml]"), ("apps/apps-rt/b.yaml", "", &release("b"))],
    );
    let after =
        with(&base, &[(list, "b.yaml", "b.yaml, a.yaml"), ("apps/apps-rt/a.yaml", "", &release("a"))]);
    let report = compared(&base, &after);
    let told: Vec<String> =
        report.findings.iter().filter_map(|one| Some(one.file.as_ref()?.to_string())).collect();
    assert_eq!(told, ["apps/apps-rt/a.yaml"]);
}
