//! Trees that are compared with themselves.

use crate::delivery::reading::tests::{LIST, SERVICE, flux};
use crate::delivery::{Comparison, Known, Model, World};
use crate::path::RepoPath;
use crate::render::Lent;
use crate::repo::{File, Snapshot};

#[test]
fn in_equal_trees_nothing_changes_even_where_two_clusters_have_one_name() {
    let root = |name: &str| flux("flux-system", &format!("./clusters/{name}"), "");
    let (one, two, apps) = (root("one"), root("two"), flux("apps", "./apps", ""));
    let files = [
        ("clusters/one/sync.yaml", one.as_str()),
        ("clusters/two/sync.yaml", &two),
        ("clusters/two/apps.yaml", &apps),
        ("apps/kustomization.yaml", LIST),
        ("apps/s.yaml", SERVICE),
    ];
    let mut snapshot = Snapshot::default();
    for (path, text) in files {
        snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
    }
    let renderer = Lent::default();
    let mut model = Model::read(&snapshot, &RepoPath::top(), &Known::default(), &renderer);
    for cluster in &mut model.delivered.all {
        cluster.name = "one".to_owned();
    }
    let world = World { snapshot: &snapshot, model: &model };
    let comparison = Comparison::new(world, world, &renderer);
    assert_eq!((comparison.changes.len(), comparison.pairs.len()), (0, 0));
}
