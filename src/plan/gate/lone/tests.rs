use super::*;
use crate::delivery::Known;
use crate::delivery::Model;
use crate::plan::split::{Selection, split};
use crate::render::Lent;
use crate::repo::{File, Snapshot};
use crate::template::Templates;

const SPEC: &str = "apiVersion: gitops-windows/v1
types: { rt: {}, rw: { window: week } }
windows: { week: { timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 4 * * SUN } }
clusters: { edge: {} }
";

const SOURCE: &str = "apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: { name: flux-system, namespace: flux-system }
spec: { interval: 1m, url: https://example.com/fleet, ref: { branch: main } }
";

fn flux(name: &str, more: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {{ name: {name}, namespace: flux-system }}
spec: {{ interval: 5m, prune: true, path: ./apps/{name}, sourceRef: {{ kind: GitRepository, name: flux-system }}{more} }}
---
"
    )
}

fn object(kind: &str, namespace: &str, name: &str) -> String {
    let group = if kind == "Deployment" { "apps/v1" } else { "v1" };
    let space = if namespace.is_empty() { String::new() } else { format!(", namespace: {namespace}") };
    format!(
        "apiVersion: {group}
kind: {kind}
metadata: {{ name: {name}{space} }}
---
"
    )
}

/// Tells of each entry point what a split makes of it, in a repository with the entry point `shop`, which
/// has a Namespace and a Deployment, and another one with what is given.
fn ways(rules: &str, depends: [&str; 2], other: &str) -> Vec<String> {
    ways_of(&format!("{SPEC}{rules}"), depends, other)
}

/// As [`ways`], of a whole spec.
fn ways_of(spec: &str, depends: [&str; 2], other: &str) -> Vec<String> {
    let shop = object("Namespace", "", "shop") + &object("Deployment", "shop", "web");
    let files = [
        ("clusters/edge/apps.yaml", flux("shop", depends[0]) + &flux("other", depends[1]) + SOURCE),
        ("apps/shop/kustomization.yaml", "resources: [all.yaml]\n".to_owned()),
        ("apps/shop/all.yaml", shop),
        ("apps/other/kustomization.yaml", "resources: [all.yaml, more.yaml]\n".to_owned()),
        ("apps/other/all.yaml", other.to_owned()),
        // With Flux Kustomizations in its only file it would be a bootstrap folder.
        ("apps/other/more.yaml", "# nothing\n".to_owned()),
    ];
    let mut snapshot = Snapshot::default();
    for (path, text) in files {
        snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.into_bytes()));
    }
    let path = RepoPath::parse("windows.yaml").unwrap();
    let spec = crate::spec::parse(&path, spec.as_bytes()).unwrap().spec;
    let renderer = Lent::default();
    let model = Model::read(&snapshot, &RepoPath::top(), &Known::default(), &renderer);
    let input = Input { spec: &spec, snapshot: &snapshot, model: &model, renderer: &renderer };
    let templates = Templates::new(BTreeMap::new()).unwrap();
    let plan = split(&input, None, &templates, &Selection::All).unwrap();
    let gates = gate::gates(&input).unwrap().unwrap();
    let held: Vec<String> = gates.clusters[0].whole.iter().map(|target| target.name.clone()).collect();
    let ways = plan
        .report
        .entries()
        .iter()
        .map(|one| format!("{}: {}", one.before.name().unwrap(), one.way.as_str()));
    ways.chain([format!("held whole: {}", held.join(", "))]).collect()
}

fn settings(namespace: &str) -> String {
    object("ConfigMap", namespace, "settings") + &object("Deployment", namespace, "api")
}

const WHOLE: [&str; 3] = ["other: projection", "shop: untouched", "held whole: shop"];
const DIVIDED: [&str; 3] = ["other: projection", "shop: projection", "held whole: "];

#[test]
fn a_namespace_alone_divides_nothing() {
    assert_eq!(ways("", ["", ""], &settings("elsewhere")), WHOLE);
}

#[test]
fn what_applies_flux_kustomizations_is_held_back_by_nothing() {
    let tenant =
        object("Namespace", "", "tenant") + &object("Deployment", "tenant", "api") + &flux("more", "");
    let ways = ways("", ["", ""], &tenant);
    assert_eq!(ways, ["other: projection", "shop: untouched", "held whole: shop"]);
}

#[test]
fn a_spec_may_ask_for_it() {
    let rules = |rule: &str| format!("rules: [{rule}, {{ kind: ConfigMap, type: rt }}, {{ type: rw }}]\n");
    assert_eq!(ways(&rules("{ kind: Namespace, type: rt }"), ["", ""], &settings("elsewhere")), WHOLE);
    let asks = rules("{ kind: Namespace, name: '*', type: rt }");
    assert_eq!(ways(&asks, ["", ""], &settings("elsewhere")), DIVIDED);
}

#[test]
fn what_lands_earlier_elsewhere_needs_its_namespace() {
    assert_eq!(ways("", ["", ""], &settings("shop")), DIVIDED);
    let late = object("Deployment", "shop", "api") + &object("ConfigMap", "elsewhere", "settings");
    assert_eq!(ways("", ["", ""], &late), WHOLE);
    let target = ", targetNamespace: shop";
    assert_eq!(ways("", ["", target], &settings("elsewhere")), DIVIDED);
}

#[test]
fn what_something_earlier_waits_for_is_divided() {
    let waits = ", dependsOn: [{ name: shop }]";
    assert_eq!(ways("", ["", waits], &settings("elsewhere")), DIVIDED);
    let all_late = object("Deployment", "elsewhere", "api");
    let held = ["other: untouched", "shop: untouched", "held whole: other, shop"];
    assert_eq!(ways("", ["", waits], &all_late), held);
}

/// What reads a held source stops nothing that depends on it, so that its Namespace may wait too.
#[test]
fn what_something_earlier_waits_for_stays_whole_at_a_held_source() {
    let follow =
        format!("{SPEC}gate: {{ mechanism: follow, every: 5m, from: 2026-11-01, through: 2027-12-31 }}\n");
    let waits = ", dependsOn: [{ name: shop }]";
    assert_eq!(ways_of(&follow, ["", waits], &settings("elsewhere")), WHOLE);
    assert_eq!(ways_of(&follow, ["", waits], &settings("shop")), DIVIDED);
}

#[test]
fn two_that_wait_for_each_others_namespace_stay_whole() {
    let other = object("Namespace", "", "elsewhere") + &object("Deployment", "shop", "api");
    let held = ["other: untouched", "shop: untouched", "held whole: other, shop"];
    assert_eq!(ways("", ["", ", dependsOn: [{ name: shop }]"], &other), held);
}
