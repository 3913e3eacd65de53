use serde_json::json;

use super::*;
use crate::delivery::Model;
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::plan::migrate::standing::moves;
use crate::render::{Nothing, Object};
use crate::repo::{File, Snapshot};
use crate::spec;

const SPEC: &str = "apiVersion: gitops-windows/v1\ntypes:\n  rt: {}\n  rw: { window: nights }\nwindows:\n  nights: { timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 4 * * SUN }\nclusters:\n  edge: {}\n";
const HERE: &str = "0123456789012345678901234567890123456789";
const OLDER: &str = "1123456789012345678901234567890123456789";

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

fn object(name: &str) -> Object {
    Object {
        value: json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "namespace": "web" } })
            .into(),
        origin: None,
    }
}

/// Two Flux Kustomizations that were handed over, each with one object.
fn snapshot() -> Snapshot {
    let mut snapshot = Snapshot::default();
    for of in ["rt", "rw"] {
        let flux = format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: apps-{of}, namespace: flux-system }}\nspec:\n  path: ./clusters/edge/apps/apps-{of}\n  prune: false # gitops-windows: was true\n  sourceRef: {{ kind: GitRepository, name: flux-system }}\n  postBuild: {{ substitute: {{ site: north }} }}\n"
        );
        snapshot.insert(path(&format!("clusters/edge/flux/apps-{of}.yaml")), File::new(flux.as_bytes()));
        let listed = format!("resources: [{of}.yaml]\n");
        let folder = format!("clusters/edge/apps/apps-{of}");
        snapshot.insert(path(&format!("{folder}/kustomization.yaml")), File::new(listed.as_bytes()));
        snapshot.insert(path(&format!("{folder}/{of}.yaml")), File::new("kind: ConfigMap\n".as_bytes()));
    }
    snapshot
}

/// The cluster as it is to be.
fn cluster() -> Vec<LiveKustomization> {
    let one = |of: &str, object: &str| LiveKustomization {
        namespace: "flux-system".to_owned(),
        name: format!("apps-{of}"),
        path: format!("./clusters/edge/apps/apps-{of}"),
        source_kind: "GitRepository".to_owned(),
        source_name: "flux-system".to_owned(),
        prune: false,
        deletion_policy: String::new(),
        suspended: false,
        observed: true,
        ready: true,
        message: String::new(),
        revision: format!("main@sha1:{HERE}"),
        commit: Some(HERE.to_owned()),
        inventory: vec![ObjectId::of(&self::object(object).value)],
    };
    vec![one("rt", "content-north"), one("rw", "settings")]
}

/// Returns what is missing in a cluster that was changed from how it is to be.
fn told(change: impl Fn(&mut Vec<LiveKustomization>)) -> Vec<String> {
    told_of("content-${site}", change)
}

/// As [`told`], where the first of the objects has this name in Git.
fn told_of(name: &str, change: impl Fn(&mut Vec<LiveKustomization>)) -> Vec<String> {
    let parsed = spec::parse(&path("windows.yaml"), SPEC.as_bytes()).unwrap();
    let snapshot = snapshot();
    let model = Model::read(&snapshot, &RepoPath::top(), &crate::delivery::Known::default(), &Nothing);
    let input = Input { spec: &parsed.spec, snapshot: &snapshot, model: &model, renderer: &Nothing };
    let moves = moves(&input);
    let [one] = &moves[..] else { panic!("{} moves", moves.len()) };
    assert_eq!(one.stage, Stage::HandedOver);
    let inventories: Vec<Inventory> = [("rt", name), ("rw", "settings")]
        .map(|(of, name)| Inventory {
            cluster: "edge".to_owned(),
            namespace: "flux-system".to_owned(),
            name: format!("apps-{of}"),
            path: Some(path(&format!("clusters/edge/apps/apps-{of}"))),
            prune: false,
            deletion_policy: String::new(),
            is_kept: false,
            place: Place::file(path("flux.yaml")),
            brings_itself: false,
            beyond: [json!({ "substitute": { "site": "north" } }), json!(null)],
            objects: Ok(vec![object(name)]),
        })
        .into();
    let options = MigrateOptions {
        base: "HEAD".to_owned(),
        applied: [(HERE.to_owned(), Relation::Contains), (OLDER.to_owned(), Relation::Lacks)].into(),
        ..MigrateOptions::default()
    };
    let mut live = cluster();
    change(&mut live);
    missing(&input, one, &inventories, &live, &options)
}

#[test]
fn a_cluster_that_has_what_git_has_lacks_nothing() {
    assert_eq!(told(|_| {}), <[String; 0]>::default());
}

#[test]
fn each_way_of_lagging_behind_is_said() {
    type Edit = fn(&mut LiveKustomization);
    let ways: [(Edit, &str); 12] = [
        (|one| one.prune = true, "apps-rw has `prune: true` there, not false"),
        (|one| one.suspended = true, "apps-rw is suspended there"),
        (|one| one.observed = false, "apps-rw: the controller has not seen the last change"),
        (|one| one.ready = false, "apps-rw is not ready: nothing said"),
        (
            |one| one.path = "./apps".to_owned(),
            "apps-rw builds ./apps there and ./clusters/edge/apps/apps-rw in Git",
        ),
        (|one| one.name = "other".to_owned(), "the cluster has no Flux Kustomization flux-system/apps-rw"),
        (
            |one| one.commit = Some(OLDER.to_owned()),
            "apps-rw has applied commit 112345678901 there, which lacks HEAD",
        ),
        (
            |one| one.commit = Some("a".repeat(40)),
            "apps-rw has applied commit aaaaaaaaaaaa there, which is not in this repository",
        ),
        (
            |one| (one.revision, one.commit) = (String::new(), None),
            "apps-rw has applied nothing there, which is no commit",
        ),
        (
            |one| one.source_kind = "OCIRepository".to_owned(),
            "apps-rw builds from OCIRepository flux-system there and from GitRepository flux-system in Git",
        ),
        (|one| one.inventory.clear(), "ConfigMap web/settings is not held by apps-rw yet"),
        (
            |one| one.inventory.push(ObjectId::of(&object("old").value)),
            "ConfigMap web/old is held by apps-rw, and Git has it no more",
        ),
    ];
    for (change, said) in ways {
        let told = told(|live| change(&mut live[1]));
        assert!(told.len() == 1 && told[0].contains(said), "{said}: {told:?}");
    }
}

#[test]
fn an_object_in_two_inventories_and_an_old_owner_are_said() {
    let twice = told(|live| {
        let own = live[1].inventory.clone();
        live[0].inventory.extend(own);
    });
    assert!(twice[0].contains("ConfigMap web/settings is held by apps-rt and by apps-rw"), "{twice:?}");
    let old = told(|live| {
        let old = LiveKustomization {
            name: "apps".to_owned(),
            path: "./clusters/edge/apps".to_owned(),
            ..live[0].clone()
        };
        live.push(old);
    });
    assert_eq!(old, ["flux-system/apps still applies clusters/edge/apps, and Git has it no more"]);
}

#[test]
fn a_name_that_only_the_cluster_knows_is_not_compared() {
    // `${site}` is known from Git; `${region}` would come from a ConfigMap in the cluster.
    let other = |live: &mut Vec<LiveKustomization>| live[0].inventory[0].name = "content-south".to_owned();
    let told = told_of("content-${site}", other);
    assert!(told[0].contains("ConfigMap web/content-north is not held by apps-rt yet"), "{told:?}");
    assert_eq!(told_of("content-${region}", other), <[String; 0]>::default());
}
