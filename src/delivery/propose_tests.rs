use crate::delivery::reading::tests::{LIST, SERVICE, believed, flux, read};
use crate::delivery::{ClusterFolders, Known};
use crate::path::RepoPath;

#[test]
fn a_list_that_builds_others_is_no_cluster() {
    let files = [
        ("config/default/kustomization.yaml", "resources: [../crd, ../manager]\n"),
        ("config/crd/kustomization.yaml", LIST),
        ("config/crd/s.yaml", SERVICE),
        ("config/manager/kustomization.yaml", "resources: [m.yaml]\n"),
        ("config/manager/m.yaml", SERVICE),
        ("config/kind/kustomization.yaml", "resources: [../default]\n"),
    ];
    let clusters = |known: &Known| {
        let model = read(known, &files);
        model.clusters().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(clusters(&Known::default()), [""; 0]);
    // Whoever names one means it.
    let path = RepoPath::parse("config/kind").unwrap();
    let paths = ClusterFolders::from([("dev".to_owned(), vec![path])]);
    assert_eq!(clusters(&Known { paths, ..Known::default() }), ["dev"]);
}

#[test]
fn what_others_fill_in_is_no_cluster() {
    let of = |namespace: &str| {
        flux("release", "./catalog/app/1.0/release", "").replace("namespace: flux-system", namespace)
    };
    let catalog = |one: &str| {
        believed(&[
            ("catalog/app/1.0/kustomization.yaml", "resources: [release.yaml]\n"),
            ("catalog/app/1.0/release.yaml", one),
            ("catalog/app/1.0/release/s.yaml", SERVICE),
        ])
    };
    assert!(catalog(&of("namespace: apps")).contains("1.0: catalog/app/1.0 proposed"));
    let told = catalog(&of("namespace: '${releaseNamespace}'"));
    assert_eq!(told, "not alive: catalog/app/1.0/release.yaml release\n");
}
