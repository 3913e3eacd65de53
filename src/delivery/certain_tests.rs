//! Repositories in which more looks like a root than is one, or less.

use serde_json::json;

use crate::delivery::reading::tests::{LIST, SERVICE, believed, believed_with, flux, read, source};
use crate::delivery::{Known, SourceId};
use crate::path::RepoPath;

/// A FluxInstance with these fields of its `spec`.
fn instance(spec: &str) -> String {
    format!(
        "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {{ name: flux, namespace: flux-system }}\nspec: {{ {spec} }}\n"
    )
}

#[test]
fn what_another_one_brings_is_no_root_where_its_own_folder_leaves_it_out() {
    let (apps, top) = (flux("apps", "./k/apps", ""), flux("database", "./k", ""));
    let files = [
        ("k/start/apps.yaml", apps.as_str()),
        ("k/kustomization.yaml", "resources: []\n"),
        ("k/apps/kustomization.yaml", "resources: [database.yaml]\n"),
        ("k/apps/database.yaml", top.as_str()),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    not alive: k/apps/database.yaml database
    not alive: k/start/apps.yaml apps
    ");
}

#[test]
fn what_reads_the_source_of_another_root_comes_after_that_root() {
    let own = source("flux-system", "https://example.com/fleet.git", "");
    let (root, apps) = (flux("flux-system", "./clusters/prod", ""), flux("apps", "./apps", ""));
    let (off, beside) = (flux("charts", "./apps/off/charts", ""), flux("flux-system", "./clusters/dev", ""));
    let files = [
        ("clusters/prod/flux-system/source.yaml", own.as_str()),
        ("clusters/prod/flux-system/sync.yaml", root.as_str()),
        ("clusters/prod/apps.yaml", apps.as_str()),
        ("clusters/dev/sync.yaml", beside.as_str()),
        ("apps/kustomization.yaml", LIST),
        ("apps/s.yaml", SERVICE),
        ("apps/off/charts/ks.yaml", off.as_str()),
        ("apps/off/charts/s.yaml", SERVICE),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    dev: clusters/dev applies itself
      flux-system/flux-system clusters/dev by flux-system/flux-system
    prod: clusters/prod applies itself
      flux-system/flux-system clusters/prod by flux-system/flux-system
      flux-system/apps apps by flux-system/flux-system
    not alive: apps/off/charts/ks.yaml charts
    ");
}

#[test]
fn roots_of_one_name_are_several_clusters() {
    let root = |folder: &str| flux("flux-system", folder, "");
    let (one, two) = (root("./clusters/edge/one"), root("./clusters/edge/two"));
    let files =
        [("clusters/edge/one/sync.yaml", one.as_str()), ("clusters/edge/two/sync.yaml", two.as_str())];
    insta::assert_snapshot!(believed(&files), @r"
    edge-one: clusters/edge/one applies itself
      flux-system/flux-system clusters/edge/one by flux-system/flux-system
    edge-two: clusters/edge/two applies itself
      flux-system/flux-system clusters/edge/two by flux-system/flux-system
    ");
}

#[test]
fn what_is_applied_to_another_cluster_is_a_root_there() {
    let (hub, edge) = (flux("flux-system", "./clusters/hub", ""), flux("flux-system", "./clusters/edge", ""));
    let remote = flux("edge", "./clusters/edge/flux-system", "kubeConfig: { secretRef: { name: edge } }");
    let apps = flux("apps", "./apps", "");
    let files = [
        ("clusters/hub/sync.yaml", hub.as_str()),
        ("clusters/hub/edge.yaml", remote.as_str()),
        ("clusters/edge/flux-system/sync.yaml", edge.as_str()),
        ("clusters/edge/kustomization.yaml", "resources: [apps.yaml]\n"),
        ("clusters/edge/apps.yaml", apps.as_str()),
        ("apps/s.yaml", SERVICE),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    edge: clusters/edge applies itself
      flux-system/flux-system clusters/edge by nobody
      flux-system/apps apps by flux-system/flux-system
    hub: clusters/hub applies itself
      flux-system/flux-system clusters/hub by flux-system/flux-system
      flux-system/edge clusters/edge/flux-system by flux-system/flux-system
    ");
}

/// One cluster may take over what another one has.
#[test]
fn what_flux_bootstrap_has_written_in_a_folder_is_a_root_whoever_else_builds_that() {
    let sync = |name: &str| {
        let own = source("flux-system", "https://example.com/fleet.git", "");
        format!("{own}---\n{}", flux(&format!("{name}-config"), &format!("./clusters/{name}"), ""))
    };
    let (apps, dev, edge) = (sync("apps"), sync("dev"), sync("apps-edge"));
    let edge = edge.replace("./clusters/apps-edge", "./clusters/apps/edge");
    let settings = flux("settings", "./clusters/apps", "");
    let files = [
        ("clusters/apps/flux-system/gotk-sync.yaml", apps.as_str()),
        ("clusters/dev/flux-system/gotk-sync.yaml", &dev),
        ("clusters/dev/settings.yaml", &settings),
        // What lies in the folder of a root comes with that.
        ("clusters/apps/edge/flux-system/gotk-sync.yaml", &edge),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    apps: clusters/apps applies itself
      flux-system/apps-config clusters/apps by flux-system/apps-config
      flux-system/apps-edge-config clusters/apps/edge by flux-system/apps-config
    dev: clusters/dev applies itself
      flux-system/dev-config clusters/dev by flux-system/dev-config
      flux-system/settings clusters/apps by flux-system/dev-config
      flux-system/apps-edge-config clusters/apps/edge by flux-system/settings
      flux-system/apps-config clusters/apps by flux-system/settings
    ");
}

/// The base that clusters share holds the one that applies each of them.
#[test]
fn what_applies_itself_has_its_own_variables() {
    let values = "postBuild: { substitute: { ENV: test, CLUSTER: \"00\" } }";
    let itself = flux("flux-system", "\"./clusters/${ENV}/${CLUSTER}\"", values);
    let unknown = flux("flux-system", "\"./clusters/${ENV}/${OTHER}\"", values);
    let apps = flux("apps", "\"./apps/${ENV}\"", "");
    let base = |itself: &str| {
        let files = [
            ("clusters/test/base/sync.yaml", itself),
            ("clusters/test/base/kustomization.yaml", "resources: [sync.yaml]\n"),
            ("clusters/test/00/kustomization.yaml", "resources: [../base, apps.yaml]\n"),
            ("clusters/test/00/apps.yaml", apps.as_str()),
            ("apps/test/s.yaml", SERVICE),
        ];
        believed(&files)
    };
    insta::assert_snapshot!(base(&itself), @r"
    test-00: clusters/test/00 applies itself
      flux-system/flux-system clusters/test/00 by flux-system/flux-system
      flux-system/apps apps/test by flux-system/flux-system
    ");
    let told = base(&unknown);
    assert!(!told.contains("applies itself"), "{told}");
}

#[test]
fn a_flux_instance_has_the_variables_of_what_applies_it() {
    let of_cluster = instance("sync: { kind: GitRepository, url: u, path: \"./clusters/${CLUSTER}\" }");
    let operator = flux("operator", "./flux", "postBuild: { substitute: { CLUSTER: prod } }");
    let files = [
        ("flux/instance.yaml", of_cluster.as_str()),
        ("clusters/prod/operator.yaml", operator.as_str()),
        ("clusters/dev/s.yaml", SERVICE),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    prod: clusters/prod by a FluxInstance
      flux-system/flux-system clusters/prod by nobody
      flux-system/operator flux by flux-system/flux-system
    ");
}

#[test]
fn a_flux_instance_patches_what_it_makes() {
    let patch = "- {op: add, path: /spec/postBuild, value: {substitute: {CLUSTER: prod}}}";
    let patched = instance(&format!(
        "sync: {{ kind: GitRepository, url: u, path: clusters/prod }}, kustomize: {{ patches: [{{ target: {{ kind: Kustomization }}, patch: \"{patch}\" }}, {{ target: {{ kind: Deployment }}, patch: \"[]\" }}] }}"
    ));
    let apps = flux("apps", "\"./apps/${CLUSTER}\"", "");
    let files = [
        ("clusters/prod/instance.yaml", patched.as_str()),
        ("clusters/prod/apps.yaml", apps.as_str()),
        ("apps/prod/s.yaml", SERVICE),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    prod: clusters/prod by a FluxInstance
      flux-system/flux-system clusters/prod by nobody
      flux-system/apps apps/prod by flux-system/flux-system
    ");
}

#[test]
fn a_flux_instance_without_a_path_gets_it_elsewhere() {
    let values = "instance: { sync: { kind: GitRepository, pullSecret: flux-system } }\n";
    let apps = flux("apps", "./apps", "");
    let files = [
        ("terraform/values.yaml", values),
        ("clusters/prod/apps.yaml", apps.as_str()),
        ("apps/s.yaml", SERVICE),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    prod: clusters/prod proposed
      flux-system/apps apps by nobody
    ");
}

#[test]
fn what_applies_the_top_of_another_repository_is_no_root_of_this_one() {
    let releases = flux("releases", "./", "").replace("name: flux-system }", "name: releases }");
    let own = source("releases", "https://example.com/releases.git", "");
    let infra = flux("infra", "./infra", "").replace("kind: GitRepository", "kind: OCIRepository");
    let files = [
        ("bases/releases/releases.yaml", releases.as_str()),
        ("bases/releases/source.yaml", own.as_str()),
        ("bases/infra/ks.yaml", infra.as_str()),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    infra: bases/infra proposed
      flux-system/infra elsewhere by nobody
    releases: bases/releases proposed
      flux-system/releases elsewhere by nobody
    ");
}

#[test]
fn what_a_list_leaves_out_is_no_cluster_by_the_name_of_its_folder() {
    let own = source("flux-system", "https://example.com/fleet.git", "");
    let (root, apps) = (flux("flux-system", "./cluster/flux", ""), flux("apps", "./cluster/apps", ""));
    let (on, off) = ("resources: [on]\n", "resources: [../../s]\n");
    let files = [
        ("cluster/flux/source.yaml", own.as_str()),
        ("cluster/flux/sync.yaml", root.as_str()),
        ("cluster/flux/apps.yaml", apps.as_str()),
        ("cluster/apps/kustomization.yaml", on),
        ("cluster/apps/on/kustomization.yaml", LIST),
        ("cluster/apps/on/s.yaml", SERVICE),
        ("cluster/apps/off/kustomization.yaml", off),
        ("cluster/s/kustomization.yaml", LIST),
        ("cluster/s/s.yaml", SERVICE),
    ];
    assert_eq!(Vec::from_iter(read(&Known::default(), &files).clusters()), ["cluster"]);
}

/// One base serves several clusters, each of which patches in what its variables are.
#[test]
fn a_root_whose_variables_only_a_patch_fills_in_is_built() {
    let (root, apps) = (flux("flux-system", "\"./clusters/${cluster}\"", ""), flux("apps", "./apps", ""));
    let list = |cluster: &str| {
        format!(
            "resources: [../../base, apps.yaml]\npatches:\n- target: {{ kind: Kustomization, name: flux-system }}\n  patch: |\n    - {{ op: add, path: /spec/postBuild, value: {{ substitute: {{ cluster: {cluster} }} }} }}\n"
        )
    };
    let (one, two) = (list("one"), list("two"));
    let files = [
        ("base/kustomization.yaml", "resources: [sync.yaml]\n"),
        ("base/sync.yaml", root.as_str()),
        ("clusters/one/kustomization.yaml", one.as_str()),
        ("clusters/one/apps.yaml", apps.as_str()),
        ("clusters/two/kustomization.yaml", two.as_str()),
        ("clusters/two/apps.yaml", apps.as_str()),
        ("apps/kustomization.yaml", LIST),
        ("apps/s.yaml", SERVICE),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    one: clusters/one applies itself
      flux-system/flux-system clusters/one by flux-system/flux-system
      flux-system/apps apps by flux-system/flux-system
    two: clusters/two applies itself
      flux-system/flux-system clusters/two by flux-system/flux-system
      flux-system/apps apps by flux-system/flux-system
    ");
}

/// kustomize sorts what a build brings as its lists do, so another one of the same file may come first.
#[test]
fn a_root_is_found_beside_others_of_its_file() {
    let root = flux("flux-system", "\"./clusters/${cluster}\"", "");
    let both = format!("{}---\n{root}", flux("apps", "./apps", ""));
    let list = "resources: [../../base]\npatches:\n- target: { kind: Kustomization, name: flux-system }\n  patch: |\n    - { op: add, path: /spec/postBuild, value: { substitute: { cluster: one } } }\n";
    let files = [
        ("base/kustomization.yaml", "resources: [sync.yaml]\n"),
        ("base/sync.yaml", both.as_str()),
        ("clusters/one/kustomization.yaml", list),
        ("apps/kustomization.yaml", LIST),
        ("apps/s.yaml", SERVICE),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    one: clusters/one applies itself
      flux-system/flux-system clusters/one by flux-system/flux-system
      flux-system/apps apps by flux-system/flux-system
    ");
}

#[test]
fn a_path_of_another_repository_is_no_root() {
    let of = |name: &str, path: &str, url: &str| {
        let one = flux(name, path, "").replace("name: flux-system }", &format!("name: {name} }}"));
        format!("{}---\n{one}", source(name, url, ""))
    };
    let own = of("flux-system", "./clusters/prod/flux", "ssh://git@example.com/fleet");
    let secrets = of("secrets", "./clusters/prod", "ssh://git@example.com/secrets");
    insta::assert_snapshot!(believed(&[
        ("clusters/prod/flux/flux-system/gotk-sync.yaml", own.as_str()),
        ("clusters/prod/flux/secrets.yaml", &secrets),
        ("clusters/prod/apps/s.yaml", SERVICE),
    ]), @r"
    prod: clusters/prod/flux applies itself
      flux-system/flux-system clusters/prod/flux by flux-system/flux-system
      flux-system/secrets elsewhere by flux-system/flux-system
    ");
}

#[test]
fn of_two_files_that_apply_one_folder_the_one_that_is_only_kept_is_not_alive() {
    let root =
        source("flux-system", "https://example.com/fleet.git", "") + "---\n" + &flux("flux-system", "./", "");
    let files = [
        (".legacy/flux-system/gotk-sync.yaml", root.as_str()),
        ("flux-system/gotk-sync.yaml", root.as_str()),
        ("kustomization.yaml", "resources: [flux-system/gotk-sync.yaml]\n"),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    cluster: . applies itself
    cluster: . applies itself
      flux-system/flux-system . by flux-system/flux-system
    not alive: .legacy/flux-system/gotk-sync.yaml flux-system
    ");
}

#[test]
fn a_repository_that_has_the_folders_of_this_one_is_no_root_of_it() {
    let own = source("fleet", "https://example.com/fleet.git", "");
    let private = source("fleet-private", "ssh://git@example.com/fleet-private.git", "");
    let of = |name: &str, path: &str, source: &str| {
        flux(name, path, "").replace("name: flux-system }", &format!("name: {source} }}"))
    };
    let believed = |private_root: &str, named: Option<&str>| {
        let root = format!("{own}---\n{}", of("cluster", "./k/cluster", "fleet"));
        let apps = of("apps", "./k/apps", "fleet");
        let private = format!("{private}---\n{}", of("cluster-private", private_root, "fleet-private"));
        let other = of("nginx", "./k/apps/nginx", "fleet");
        let files = [
            ("k/cluster/private.yaml", private.as_str()),
            ("k/cluster/cluster.yaml", root.as_str()),
            ("k/cluster/apps.yaml", apps.as_str()),
            ("k/apps/kustomization.yaml", "resources: [nginx.yaml]\n"),
            ("k/apps/nginx.yaml", other.as_str()),
            ("k/apps/nginx/s.yaml", SERVICE),
        ];
        let named = named.map(|name| {
            SourceId::of(&json!({ "sourceRef": { "kind": "GitRepository", "name": name } }), "flux-system")
        });
        let model = read(&Known { named, ..Known::default() }, &files);
        let roots = model.delivered.all.iter().flat_map(|cluster| &cluster.roots);
        roots.filter_map(|root| root.identity()).map(|(_, _, name)| name.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(believed("./k/cluster", None), ["cluster"]);
    // The spec's word counts more than any number.
    assert_eq!(believed("./k/cluster", Some("fleet-private")), ["cluster-private"]);
}

/// One more that reads another repository takes no root away.
#[test]
fn of_two_repositories_that_are_read_about_alike_both_stay() {
    let own = source("fleet", "https://example.com/fleet.git", "");
    let other = source("platform", "https://example.com/platform.git", "");
    let of = |name: &str, path: &str, source: &str| {
        flux(name, path, "").replace("name: flux-system }", &format!("name: {source} }}"))
    };
    let all = [
        own,
        other,
        of("fleet", "./k/cluster", "fleet"),
        of("apps", "./k/apps", "fleet"),
        of("platform", "./k/cluster", "platform"),
        of("crds", "./k/apps", "platform"),
        of("monitoring", "./k/apps", "platform"),
    ];
    let files = [("k/cluster/all.yaml", all.join("---\n")), ("k/apps/s.yaml", SERVICE.to_owned())];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    let model = read(&Known::default(), &files);
    let alive = model.delivered.all.iter().flat_map(|cluster| &cluster.kustomizations);
    assert_eq!(alive.filter(|one| one.path.is_some()).count(), 5);
}

/// What the spec knows where it names these folders as roots.
fn rooted(roots: &[(&str, &str)]) -> Known {
    let folder = |text: &str| vec![RepoPath::parse(text).unwrap()];
    let roots = roots.iter().map(|(name, path)| ((*name).to_owned(), folder(path))).collect();
    Known { roots, ..Known::default() }
}

#[test]
fn a_root_below_one_of_the_spec_is_of_its_cluster() {
    let (root, apps) = (flux("flux-system", "./clusters/edge/flux", ""), flux("apps", "./apps", ""));
    let base = [
        ("clusters/edge/flux/sync.yaml", root.as_str()),
        ("clusters/edge/flux/apps.yaml", &apps),
        ("clusters/edge/s.yaml", SERVICE),
        ("apps/kustomization.yaml", LIST),
        ("apps/s.yaml", SERVICE),
    ];
    let known = rooted(&[("one", "clusters/edge")]);
    let alone = believed_with(&known, &base);
    insta::assert_snapshot!(alone, @r"
    one: clusters/edge/flux applies itself
      flux-system/flux-system clusters/edge/flux by flux-system/flux-system
      flux-system/apps apps by flux-system/flux-system
    ");
    // A list of its own, and what else it holds, say that the folder is applied too.
    let list = [&base[..], &[("clusters/edge/kustomization.yaml", "resources: [flux/apps.yaml]\n")]].concat();
    let more = flux("more", "./apps", "");
    let more = [&base[..], &[("clusters/edge/more.yaml", more.as_str())]].concat();
    insta::assert_snapshot!([list, more].map(|files| believed_with(&known, &files)).join("---\n"), @r"
    one: clusters/edge by the spec
    one: clusters/edge/flux applies itself
      flux-system/flux-system clusters/edge/flux by flux-system/flux-system
      flux-system/apps apps by nobody
    ---
    one: clusters/edge by the spec
    one: clusters/edge/flux applies itself
      flux-system/flux-system clusters/edge/flux by nobody
      flux-system/apps apps by nobody
      flux-system/more apps by nobody
    ");
    // Of another cluster it is none of this one, whose name it does not get.
    let hub = flux("flux-system", "./clusters/edge/clusters/one", "");
    let files = [&base[1..], &[("clusters/edge/clusters/one/sync.yaml", hub.as_str())]].concat();
    insta::assert_snapshot!(believed_with(&known, &files), @r"
    clusters-edge-clusters-one: clusters/edge/clusters/one applies itself
      flux-system/flux-system clusters/edge/clusters/one by flux-system/flux-system
    one: clusters/edge by the spec
      flux-system/flux-system clusters/edge/clusters/one by nobody
      flux-system/apps apps by nobody
    ");
}

#[test]
fn a_list_beside_the_clusters_by_which_people_apply_a_root_drops_none() {
    let (root, apps) = (flux("flux-system", "./clusters/a", ""), flux("apps", "./apps", ""));
    let files = [
        ("apps/s.yaml", SERVICE),
        ("bootstrap/a/kustomization.yaml", "resources: [../../clusters/a/flux-system]\n"),
        ("clusters/a/kustomization.yaml", "resources: [apps.yaml]\n"),
        ("clusters/a/apps.yaml", apps.as_str()),
        ("clusters/a/flux-system/kustomization.yaml", "resources: [gotk-sync.yaml]\n"),
        ("clusters/a/flux-system/gotk-sync.yaml", root.as_str()),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    a: clusters/a applies itself
      flux-system/flux-system clusters/a by nobody
      flux-system/apps apps by flux-system/flux-system
    ");
}
