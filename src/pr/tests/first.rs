//! What a new Flux Kustomization waits for that other new ones bring.

use super::chain::{landing, told};
use super::repository::{Files, NOW, files, flux, job, map, source, with};

const APPS: &str = "clusters/one/apps.yaml";
const LIST: &str = "infra/kustomization.yaml";
const VALUES: &str = "  postBuild: { substituteFrom: [{ kind: ConfigMap, name: vars }] }\n";

/// The repository, in which `infra` waits for the window; `other` is a second source.
fn base() -> Files {
    let apps = [flux("apps-rt", "apps/apps-rt", ""), flux("infra", "infra", "")].concat();
    let (open, close) =
        (job("open", "resume", "0 22 * * SAT", "infra"), job("close", "suspend", "0 2 * * SUN", "infra"));
    with(
        &files(),
        &[
            (APPS, "", &apps),
            (LIST, "", "resources: [i.yaml]\n"),
            ("infra/i.yaml", "", &map("i", "")),
            ("clusters/one/other.yaml", "", &source("1m").replace("name: flux-system,", "name: other,")),
            ("clusters/one/gate/open.yaml", "", &open),
            ("clusters/one/gate/close.yaml", "", &close),
        ],
    )
}

fn vars() -> String {
    "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: vars, namespace: flux-system }\ndata: { a: b }\n"
        .to_owned()
}

/// Makes a Flux Kustomization that reads another source.
fn reading(source: &str, more: &str) -> String {
    let own = flux("apps-new", "apps/apps-new", more);
    own.replace("name: flux-system }\n", &format!("name: {source} }}\n"))
}

/// When the object of a new Flux Kustomization of the root lands, where `infra` brings the new `conf` and that an object.
fn told_of(new: &str, conf: &str, brought: &str) -> String {
    let edits = [
        (LIST, "i.yaml", "i.yaml, conf.yaml"),
        ("infra/conf.yaml", "", conf),
        ("conf/a.yaml", "", brought),
        ("clusters/one/new.yaml", "", new),
        ("apps/apps-new/a.yaml", "", &map("new", "a: '${a:=c}'")),
    ];
    told(&landing(NOW, &base(), &edits, "new"))
}

/// What brings something has to come itself, and that may wait for a window.
#[test]
fn what_a_new_one_brings_waits_for_who_brings_that() {
    let conf = flux("conf", "conf", "");
    let fleet = source("5m").replace("name: flux-system,", "name: fleet,");
    let own = |more: &str| flux("apps-new", "apps/apps-new", more);
    let depends = |more: &str| format!("  dependsOn: [{{ name: conf{more} }}]\n");
    let inner = flux("apps-new", "apps/apps-new", "");
    let all = [
        ("values", told_of(&own(VALUES), &conf, &vars())),
        ("source", told_of(&reading("fleet", ""), &conf, &fleet)),
        ("dependsOn", told_of(&own(&depends("")), &conf, &vars())),
        ("dependsOn from another source", told_of(&reading("other", &depends("")), &conf, &vars())),
        ("dependsOn with a readyExpr", told_of(&own(&depends(", readyExpr: 'true'")), &conf, &vars())),
        ("brought by it", told_of("", &conf, &inner)),
        ("nothing", told_of(&own(""), &conf, &vars())),
    ];
    insta::assert_snapshot!(all.map(|(what, told)| format!("{what}: {told}")).join("\n"));
}

/// What goes to another cluster is applied by what does not.
#[test]
fn what_a_hub_brings_comes_with_it() {
    let far = flux("far", "far", "  kubeConfig: { secretRef: { name: west } }\n");
    let base = with(&base(), &[("clusters/one/far.yaml", "", &far), ("far/i.yaml", "", &map("far", ""))]);
    let edits = [
        ("far/inner.yaml", "", &*flux("inner", "apps/apps-new", "")),
        ("apps/apps-new/a.yaml", "", &map("new", "")),
    ];
    insta::assert_snapshot!(told(&landing(NOW, &base, &edits, "new")));
}

/// Who brings one that it depends on itself does not go on for ever.
#[test]
fn new_ones_that_wait_for_one_another_end() {
    let conf = |name: &str| flux("conf", "conf", &format!("  dependsOn: [{{ name: {name} }}]\n"));
    let own = |more: &str| flux("apps-new", "apps/apps-new", more);
    let all = [
        ("its parent depends on it", told_of("", &conf("apps-new"), &own(""))),
        ("in a circle", told_of(&own("  dependsOn: [{ name: conf }]\n"), &conf("apps-new"), &vars())),
    ];
    insta::assert_snapshot!(all.map(|(what, told)| format!("{what}: {told}")).join("\n"));
}

/// A Flux Kustomization looks at what it depends on before it builds, so it does not fail for lack of values
/// (kustomize-controller, `reconcile`).
#[test]
fn what_depends_on_who_brings_its_values_does_not_fail_before() {
    let of = |more: &str| {
        let new = flux("apps-new", "apps/apps-new", more).replace("5m", "6h");
        let edits = [
            ("clusters/one/new.yaml", "", &*(new + VALUES + &flux("conf", "conf", ""))),
            ("conf/a.yaml", "", &vars()),
            ("apps/apps-new/a.yaml", "", &map("new", "a: '${a}'")),
        ];
        told(&landing(NOW, &base(), &edits, "new"))
    };
    let all = [("depends on it", of("  dependsOn: [{ name: conf }]\n")), ("fails before", of(""))];
    insta::assert_snapshot!(all.map(|(what, told)| format!("{what}: {told}")).join("\n"));
}

/// The first reader of a ConfigMap finds it in the cluster; another value of it comes later.
#[test]
fn what_begins_to_read_a_config_map_finds_what_the_cluster_has() {
    let list = "resources: [i.yaml, vars.yaml]\n";
    let of = |more: &str, base: &Files| {
        let new = flux("apps-new", "apps/apps-new", &VALUES.replace(" }] }", &format!("{more} }}] }}")));
        let edits = [
            (LIST, "", list),
            ("infra/vars.yaml", "", &*vars().replace("a: b", "a: c")),
            ("clusters/one/new.yaml", "", &new),
            ("apps/apps-new/a.yaml", "", &map("new", "a: '${a:=d}'")),
        ];
        told(&landing(NOW, base, &edits, "new"))
    };
    let there = with(&base(), &[(LIST, "", list), ("infra/vars.yaml", "", &vars())]);
    let all = [
        ("it is there", of("", &there)),
        ("it is not", of("", &base())),
        ("it need not be", of(", optional: true", &base())),
    ];
    insta::assert_snapshot!(all.map(|(what, told)| format!("{what}: {told}")).join("\n"));
}
