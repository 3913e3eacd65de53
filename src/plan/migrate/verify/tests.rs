//! What a step may leave behind.

use super::*;
use crate::delivery::Known;
use crate::delivery::inventory::{deletions, inventories};
use crate::render::Lent;
use crate::repo::File;

/// Reads a cluster of Flux Kustomizations, each with the one that it depends on.
fn model(all: &[(&str, &str)]) -> Model {
    let mut snapshot = Snapshot::default();
    for (name, wanted) in all {
        let text = format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec:\n  path: ./{name}\n  prune: true\n  sourceRef: {{ kind: GitRepository, name: flux-system }}\n  dependsOn: [{{ name: {wanted} }}]\n"
        );
        let file = RepoPath::parse(&format!("clusters/edge/{name}.yaml")).unwrap();
        snapshot.insert(file, File::new(text.as_bytes()));
    }
    // What `flux bootstrap` writes: what no root brings is nowhere.
    let root = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: flux-system, namespace: flux-system }\nspec:\n  path: ./clusters/edge\n  prune: true\n  sourceRef: { kind: GitRepository, name: flux-system }\n";
    snapshot.insert(RepoPath::parse("clusters/edge/flux-system.yaml").unwrap(), File::new(root.as_bytes()));
    Model::read(&snapshot, &RepoPath::top(), &Known::default(), &Lent::default())
}

#[test]
fn whoever_depends_on_what_goes_is_told() {
    let before = model(&[("infra", "none"), ("apps", "infra"), ("late", "missing")]);
    let told = |after: &[(&str, &str)]| -> Vec<String> {
        left_waiting(&before, &model(after)).into_iter().map(|one| one.text).collect()
    };
    assert_eq!(
        told(&[("infra-rt", "none"), ("apps", "infra"), ("late", "missing")]),
        ["apps depends on infra, which goes"]
    );
    assert_eq!(told(&[("infra-rt", "none"), ("apps", "infra-rt"), ("late", "missing")]), [""; 0]);
}

/// Two files may fight over one name: each is held to itself.
#[test]
fn what_stands_twice_is_the_same_where_nothing_changes() {
    let root = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: flux-system, namespace: flux-system }\nspec: { path: ./clusters/edge, prune: true, sourceRef: { kind: GitRepository, name: flux-system } }\n";
    let of = |name: &str, path: &str| {
        root.replace("name: flux-system, n", &format!("name: {name}, n")).replace("clusters/edge", path)
    };
    let object = |name: &str| format!("apiVersion: v1\nkind: Service\nmetadata: {{ name: {name} }}\n");
    let files = [
        ("clusters/edge/sync.yaml", root.to_owned()),
        ("clusters/edge/apps.yaml", of("apps", "apps")),
        ("clusters/edge/one.yaml", of("twin", "one")),
        ("one/all.yaml", of("below", "below")),
        ("below/s.yaml", object("s")),
        ("apps/other.yaml", of("twin", "other")),
        ("other/all.yaml", format!("{}---\n{}", of("beside", "below"), object("more"))),
    ];
    let mut snapshot = Snapshot::default();
    for (path, text) in &files {
        snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
    }
    let renderer = Lent::default();
    let text = "apiVersion: gitops-windows/v1\ntypes: { rt: {}, rw: { window: nights } }\nwindows: { nights: { timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 4 * * SUN } }\nclusters: { edge: {} }\n";
    let spec = crate::spec::parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes()).unwrap().spec;
    let model = Model::read(&snapshot, &RepoPath::top(), &Known::default(), &renderer);
    let all = inventories(&model, &snapshot, &renderer);
    assert_eq!(all.iter().filter(|one| one.name == "twin").count(), 2);
    let input = Input { spec: &spec, snapshot: &snapshot, model: &model, renderer: &renderer };
    let found = wrong(&input, &snapshot, (&all, &all), &[], &Renames::default(), &BTreeMap::new());
    assert_eq!(found.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), [""; 0]);
    let deleted = deletions(&all, &all);
    assert_eq!(deleted.iter().map(ToString::to_string).collect::<Vec<_>>(), [""; 0]);
}
