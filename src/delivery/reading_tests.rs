//! Small repositories, each with what every cluster gets from them.

use std::fmt::Write;

use crate::delivery::source::SourceId;
use crate::delivery::{ClusterFolders, Model};
use crate::delivery::{Known, Reason};
use crate::path::RepoPath;
use crate::render::Lent;
use crate::repo::{File, Snapshot};

/// A Flux Kustomization of the namespace `flux-system` that reads the source of that name, with more of its `spec`.
pub(in crate::delivery) fn flux(name: &str, path: &str, more: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec: {{ interval: 5m, path: {path}, prune: true, sourceRef: {{ kind: GitRepository, name: flux-system }}, {more} }}\n"
    )
}

/// A GitRepository of that namespace.
pub(in crate::delivery) fn source(name: &str, url: &str, more: &str) -> String {
    format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec: {{ interval: 1m, url: \"{url}\", {more} }}\n"
    )
}

pub(in crate::delivery) const SERVICE: &str =
    "apiVersion: v1\nkind: Service\nmetadata: { name: s, namespace: default }\n";
pub(in crate::delivery) const LIST: &str = "resources: [s.yaml]\n";

/// Reads a repository.
pub(in crate::delivery) fn read(known: &Known, files: &[(&str, &str)]) -> Model {
    let mut snapshot = Snapshot::default();
    for (path, text) in files {
        snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
    }
    Model::read(&snapshot, &RepoPath::top(), known, &Lent::default())
}

/// Returns the belief: a line for each cluster, Flux Kustomization and one that is not alive.
pub(in crate::delivery) fn believed_with(known: &Known, files: &[(&str, &str)]) -> String {
    let model = read(known, files);
    let mut told = String::new();
    for cluster in &model.delivered.all {
        for root in &cluster.roots {
            let reason = match root.reason {
                Reason::Spec => "by the spec",
                Reason::AppliesItself => "applies itself",
                Reason::FluxInstance => "by a FluxInstance",
                Reason::Proposed => "proposed",
            };
            writeln!(told, "{}: {} {reason}", cluster.name, root.folder).unwrap();
        }
        for one in &cluster.kustomizations {
            let by = one.applied_by.as_ref().map(|(namespace, name)| format!("{namespace}/{name}"));
            let path = one.path.as_ref().map_or("elsewhere".to_owned(), |path| path.to_string());
            let by = by.unwrap_or("nobody".to_owned());
            writeln!(told, "  {}/{} {path} by {by}", one.namespace(), one.name()).unwrap();
        }
    }
    for one in &model.unlisted {
        writeln!(told, "not alive: {} {}", one.file, one.name).unwrap();
    }
    told
}

pub(in crate::delivery) fn believed(files: &[(&str, &str)]) -> String {
    believed_with(&Known::default(), files)
}

#[test]
fn a_cluster_is_read_from_what_applies_itself() {
    let (root, apps) = (flux("flux-system", "./clusters/prod", ""), flux("apps", "./apps", ""));
    let files = [
        ("clusters/prod/flux-system/gotk-sync.yaml", root.as_str()),
        ("clusters/prod/apps.yaml", apps.as_str()),
        ("apps/kustomization.yaml", LIST),
        ("apps/s.yaml", SERVICE),
        (".archive/old/ks.yaml", apps.as_str()),
        ("apps/off/ks.yaml", apps.as_str()),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    prod: clusters/prod applies itself
      flux-system/flux-system clusters/prod by flux-system/flux-system
      flux-system/apps apps by flux-system/flux-system
    not alive: .archive/old/ks.yaml apps
    not alive: apps/off/ks.yaml apps
    ");
}

#[test]
fn a_source_that_git_does_not_hold_is_this_repository_by_what_it_reads_here() {
    let of = |name: &str, path: &str, source: &str| {
        flux(name, path, "").replace("name: flux-system },  }", &format!("name: {source} }} }}"))
    };
    let root = flux("flux-system", "./clusters/edge", "");
    let (top, same) = (of("top", "./", "top"), of("same", "./apps", "same"));
    let (gate, other) = (of("gate", "./infra", "gate"), of("other", "./deploy", "other"));
    let ours = format!("{}0\n{SERVICE}", crate::repo::made::HEAD);
    let files = [
        ("clusters/edge/flux-system.yaml", root.as_str()),
        ("clusters/edge/top.yaml", &top),
        ("clusters/edge/same.yaml", &same),
        ("clusters/edge/gate.yaml", &gate),
        ("clusters/edge/other.yaml", &other),
        ("apps/s.yaml", SERVICE),
        ("infra/reconciliation-windows/role.yaml", &ours),
    ];
    let told = "edge: clusters/edge applies itself
  flux-system/flux-system clusters/edge by flux-system/flux-system
  flux-system/gate elsewhere by flux-system/flux-system
  flux-system/other elsewhere by flux-system/flux-system
  flux-system/same apps by flux-system/flux-system
  flux-system/top elsewhere by flux-system/flux-system
";
    assert_eq!(believed(&files), told);
    // What the tool writes changes no belief.
    assert_eq!(believed(&files[..6]), told);
    let model = read(&Known::default(), &files);
    let unknown: Vec<&str> = model.delivered.all[0].unknown.iter().map(|id| id.name.as_str()).collect();
    assert_eq!(unknown, ["gate", "other", "top"]);
    // The spec may say more.
    let named =
        SourceId { kind: "GitRepository".into(), namespace: "flux-system".into(), name: "top".into() };
    let told = believed_with(&Known { named: Some(named), ..Known::default() }, &files);
    assert!(told.contains("flux-system/top . by"), "{told}");
}

#[test]
fn a_side_of_generated_files_is_of_the_repository_whose_files_it_takes_in() {
    let of = |name: &str, path: &str| {
        flux(name, path, "").replace("name: flux-system },  }", &format!("name: {name}-src }} }}"))
    };
    let made = |text: &str| format!("{}0\n{text}", crate::repo::made::HEAD);
    let root = flux("flux-system", "./clusters/edge", "");
    let (apps, gate) = (of("apps-rw", "./apps/apps-rw"), of("gate", "./infra/gate"));
    let (side, list, role) =
        (made("resources: [../apps-all]\n"), made("resources: [role.yaml]\n"), made(SERVICE));
    let told = "edge: clusters/edge applies itself
  flux-system/flux-system clusters/edge by flux-system/flux-system
  flux-system/apps-rw apps/apps-rw by flux-system/flux-system
  flux-system/gate elsewhere by flux-system/flux-system
";
    // What Flux listed by itself before stands in a list that the tool wrote.
    let listing = "# Written by gitops-windows: until then Flux listed by itself what lies below this folder.\nresources: [../s.yaml]\n";
    for all in ["resources: [../s.yaml]\n", listing] {
        let files = [
            ("clusters/edge/flux-system.yaml", root.as_str()),
            ("clusters/edge/apps.yaml", &apps),
            ("clusters/edge/gate.yaml", &gate),
            ("apps/s.yaml", SERVICE),
            ("apps/apps-rw/kustomization.yaml", &side),
            ("apps/apps-all/kustomization.yaml", all),
            ("infra/gate/kustomization.yaml", &list),
            ("infra/gate/role.yaml", &role),
        ];
        assert_eq!(believed(&files), told, "{all}");
    }
}

#[test]
fn a_path_left_out_says_no_more_of_a_source_than_the_top() {
    let of =
        |name: &str| flux(name, "./", "").replace("name: flux-system },  }", &format!("name: {name} }} }}"));
    let root = flux("flux-system", "./clusters/edge", "");
    let (said, left_out) = (of("said"), of("none").replace("path: ./, ", ""));
    let empty = of("empty").replace("path: ./, ", "path: \"\", ");
    let files = [
        ("clusters/edge/flux-system.yaml", root.as_str()),
        ("clusters/edge/said.yaml", &said),
        ("clusters/edge/none.yaml", &left_out),
        ("clusters/edge/empty.yaml", &empty),
        ("apps/s.yaml", SERVICE),
    ];
    assert_eq!(
        believed(&files),
        "edge: clusters/edge applies itself
  flux-system/flux-system clusters/edge by flux-system/flux-system
  flux-system/empty elsewhere by flux-system/flux-system
  flux-system/none elsewhere by flux-system/flux-system
  flux-system/said elsewhere by flux-system/flux-system
"
    );
}

#[test]
fn what_reads_a_folder_here_tells_of_the_source_of_its_namespace_or_of_any() {
    let of = |name: &str, path: &str, source: &str| {
        flux(name, path, "").replace("name: flux-system },  }", &format!("{source} }} }}"))
    };
    let root = flux("flux-system", "./clusters/edge", "");
    let top = of("top", "./", "name: tenant, namespace: team");
    let told = |apps: &str| {
        let files = [
            ("clusters/edge/flux-system.yaml", root.as_str()),
            ("clusters/edge/top.yaml", &top),
            ("clusters/edge/apps.yaml", apps),
            ("apps/s.yaml", SERVICE),
        ];
        believed(&files).contains("flux-system/top . by")
    };
    assert!(told(&of("apps", "./apps", "name: tenant, namespace: team")));
    assert!(told(&of("apps", "./apps", "name: tenant").replace(", namespace: flux-system", "")));
    assert!(!told(&of("apps", "./apps", "name: tenant")));
    assert!(!told(&of("apps", "./apps", "name: other, namespace: team")));
}

#[test]
fn a_source_with_a_variable_in_its_name_is_found_by_what_fills_it() {
    let tenant =
        flux("tenant", "./tenant", "postBuild: { substitute: { team: a, url: 'https://example.com/a' } }");
    let own = flux("'${team}'", "./apps", "").replace("name: flux-system },  }", "name: '${team}' } }");
    let repository = source("'${team}'", "${url}", "");
    let model = read(
        &Known::default(),
        &[
            ("clusters/edge/root.yaml", flux("flux-system", "./clusters/edge", "").as_str()),
            ("clusters/edge/tenant.yaml", &tenant),
            ("tenant/own.yaml", &own),
            ("tenant/source.yaml", &repository),
            ("apps/s.yaml", SERVICE),
        ],
    );
    let edge = &model.delivered.all[0];
    let (_, found) = edge.sources.iter().find(|(id, _)| id.name == "a").unwrap();
    assert_eq!(found["spec"]["url"], "https://example.com/a");
    assert!(edge.unknown.is_empty(), "{:?}", edge.unknown);
}

#[test]
fn a_flux_instance_names_a_root_also_by_its_chart() {
    let (apps, sync) =
        (flux("apps", "./apps", ""), "sync: { kind: GitRepository, url: u, path: kubernetes/flux }");
    let instance = format!(
        "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {{ name: flux, namespace: flux-system }}\nspec: {{ {sync} }}\n"
    );
    let release = format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{ name: flux-instance }}\nspec: {{ values: {{ instance: {{ {sync} }} }} }}\n"
    );
    let values = format!("instance: {{ {sync} }}\n");
    let told = "cluster: kubernetes/flux by a FluxInstance\n  flux-system/flux-system kubernetes/flux by nobody\n  flux-system/apps apps by flux-system/flux-system\n";
    for of_instance in [&instance, &release, &values] {
        let files = [
            ("bootstrap/instance.yaml", of_instance.as_str()),
            ("kubernetes/flux/apps.yaml", apps.as_str()),
            ("apps/s.yaml", SERVICE),
        ];
        assert_eq!(believed(&files), told);
    }
}

#[test]
fn an_artifact_may_begin_below_the_top() {
    let sync = "sync: { kind: OCIRepository, url: \"oci://x\", path: ./clusters/one }";
    let instance = format!(
        "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {{ name: flux, namespace: flux-system }}\nspec: {{ {sync} }}\n"
    );
    let apps = flux("apps", "./apps", "").replace("kind: GitRepository", "kind: OCIRepository");
    let files = [
        ("k/clusters/one/instance.yaml", instance.as_str()),
        ("k/clusters/one/apps.yaml", apps.as_str()),
        ("k/apps/s.yaml", SERVICE),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    one: k/clusters/one by a FluxInstance
      flux-system/flux-system k/clusters/one by nobody
      flux-system/apps k/apps by flux-system/flux-system
    ");
}

#[test]
fn where_nothing_says_so_folders_are_proposed_but_none_that_a_build_left_out() {
    let (parent, on, off) = (flux("parent", "./apps", ""), flux("on", "./on", ""), flux("off", "./off", ""));
    let files = [
        ("clusters/dev/ks.yaml", parent.as_str()),
        ("clusters/prod/ks.yaml", parent.as_str()),
        ("apps/team/kustomization.yaml", "resources:\n- on.yaml\n# - off.yaml\n"),
        ("apps/team/on.yaml", on.as_str()),
        ("apps/team/off.yaml", off.as_str()),
        ("on/s.yaml", SERVICE),
        ("off/s.yaml", SERVICE),
        ("archive/ks.yaml", on.as_str()),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    dev: clusters/dev proposed
      flux-system/parent apps by nobody
      flux-system/on on by flux-system/parent
    prod: clusters/prod proposed
      flux-system/parent apps by nobody
      flux-system/on on by flux-system/parent
    not alive: apps/team/off.yaml off
    not alive: archive/ks.yaml on
    ");
    // The spec's word counts.
    let folders = |folder: &str| vec![RepoPath::parse(folder).unwrap()];
    let known = Known {
        roots: ClusterFolders::from([("eu".to_owned(), folders("clusters/prod"))]),
        ..Known::default()
    };
    insta::assert_snapshot!(believed_with(&known, &files), @r"
    eu: clusters/prod by the spec
      flux-system/parent apps by nobody
      flux-system/on on by flux-system/parent
    not alive: apps/team/off.yaml off
    not alive: archive/ks.yaml on
    not alive: clusters/dev/ks.yaml parent
    ");
}

#[test]
fn what_a_parent_patches_is_what_its_child_is() {
    let patch = |spec: &str| {
        format!(
            "patches: [{{ target: {{ kind: Kustomization }}, patch: \"{{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {{name: _}}, spec: {{{spec}}}}}\" }}]"
        )
    };
    let parent = flux(
        "parent",
        "./apps",
        &patch("path: ./other, sourceRef: {kind: GitRepository, name: flux-system}"),
    );
    // Without a source of its own.
    let child = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: child, namespace: flux-system }\nspec: { interval: 5m, path: ./mine }\n";
    let files = [
        ("clusters/prod/ks.yaml", parent.as_str()),
        ("apps/child.yaml", child),
        ("other/s.yaml", SERVICE),
        ("mine/s.yaml", SERVICE),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    prod: clusters/prod proposed
      flux-system/parent apps by nobody
      flux-system/child other by flux-system/parent
    ");
}

#[test]
fn a_parent_s_variables_are_filled_in() {
    let parent = flux("parent", "./all", "postBuild: { substitute: { CLUSTER: prod } }");
    let child = flux("child", "\"./apps/${CLUSTER}\"", "");
    let unknown = flux("unknown", "\"./apps/${REGION}\"", "");
    let files = [
        ("clusters/prod/ks.yaml", parent.as_str()),
        ("all/child.yaml", child.as_str()),
        ("all/unknown.yaml", unknown.as_str()),
        ("apps/prod/s.yaml", SERVICE),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    prod: clusters/prod proposed
      flux-system/parent all by nobody
      flux-system/child apps/prod by flux-system/parent
      flux-system/unknown elsewhere by flux-system/parent
    ");
}

#[test]
fn only_what_is_fetched_is_there() {
    let root = flux("flux-system", "./kube/clusters/prod", "");
    let (a, hidden) = (flux("a", "./kube/apps/a", ""), flux("hidden", "./kube/apps/a", ""));
    let own = source("flux-system", "https://example.com/mono.git", "ignore: \"/*\\n!/kube\\n\"");
    let other = source("other", "https://example.com/other.git", "");
    let alien = flux("alien", "./kube/apps/a", "").replace("name: flux-system }", "name: other }");
    let files = [
        ("kube/clusters/prod/sync.yaml", root.as_str()),
        ("kube/clusters/prod/source.yaml", own.as_str()),
        ("kube/clusters/prod/other.yaml", other.as_str()),
        ("kube/clusters/prod/alien.yaml", alien.as_str()),
        ("kube/clusters/prod/a.yaml", a.as_str()),
        (
            "kube/clusters/prod/kustomization.yaml",
            "resources: [sync.yaml, source.yaml, other.yaml, alien.yaml, a.yaml, ../../../outside]\n",
        ),
        ("outside/kustomization.yaml", "resources: [hidden.yaml]\n"),
        ("outside/hidden.yaml", hidden.as_str()),
        ("kube/apps/a/s.yaml", SERVICE),
    ];
    // The list names a folder that Flux does not fetch, so that its build fails: what it lists otherwise counts.
    insta::assert_snapshot!(believed(&files), @r"
    prod: kube/clusters/prod applies itself
      flux-system/flux-system kube/clusters/prod by flux-system/flux-system
      flux-system/alien elsewhere by flux-system/flux-system
      flux-system/a kube/apps/a by flux-system/flux-system
    not alive: outside/hidden.yaml hidden
    ");
}

#[test]
fn a_namespace_comes_from_the_outermost_that_says_it() {
    let of = |parent: &str, list: &str| {
        let root = flux("root", "./clusters/prod", "");
        let parent = flux("parent", "./apps", parent);
        let child = flux("child", "./a", "").replace(", namespace: flux-system }", " }");
        let files = [
            ("clusters/prod/root.yaml", root.as_str()),
            ("clusters/prod/parent.yaml", parent.as_str()),
            ("apps/kustomization.yaml", list),
            ("apps/child.yaml", child.as_str()),
            ("c/kustomization.yaml", "kind: Component\nnamespace: common\n"),
            ("a/s.yaml", SERVICE),
        ];
        let told = believed(&files);
        told.lines().find(|line| line.contains("/child")).unwrap().trim().to_owned()
    };
    let by = "a by flux-system/parent";
    assert_eq!(of("", "resources: [child.yaml]\n"), format!("/child {by}"));
    assert_eq!(of("", "namespace: media\nresources: [child.yaml]\n"), format!("media/child {by}"));
    let component = "resources: [child.yaml]\ncomponents: [../c]\n";
    assert_eq!(of("", component), format!("common/child {by}"));
    assert_eq!(of("targetNamespace: target", component), format!("target/child {by}"));
    let namespaced = "namespace: media\nresources: [child.yaml]\n";
    assert_eq!(of("targetNamespace: target", namespaced), format!("target/child {by}"));
}

#[test]
fn what_another_home_builds_is_not_proposed_with_it() {
    let models = flux("models", "./clusters/one-models", "dependsOn: [{ name: apps }]");
    let (apps, gpu) = (flux("apps", "./apps", ""), flux("gpu", "./gpu", "dependsOn: [{ name: apps }]"));
    let files = [
        ("clusters/one/models.yaml", models.as_str()),
        ("clusters/one/apps.yaml", apps.as_str()),
        ("clusters/one-models/gpu.yaml", gpu.as_str()),
        ("apps/s.yaml", SERVICE),
        ("gpu/s.yaml", SERVICE),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    one: clusters/one proposed
      flux-system/apps apps by nobody
      flux-system/models clusters/one-models by nobody
      flux-system/gpu gpu by flux-system/models
    ");
}

#[test]
fn a_folder_that_a_list_names_without_one_of_its_own_is_not_proposed() {
    let (parent, team) = (flux("tenants", "./tenants/prod", ""), flux("team", "./team", ""));
    let files = [
        ("clusters/prod/tenants.yaml", parent.as_str()),
        ("tenants/prod/kustomization.yaml", "resources: [../base/team]\n"),
        ("tenants/base/team/sync.yaml", team.as_str()),
        ("team/s.yaml", SERVICE),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    prod: clusters/prod proposed
      flux-system/tenants tenants/prod by nobody
    not alive: tenants/base/team/sync.yaml team
    ");
}

#[test]
fn a_base_that_patches_give_its_path_applies_itself_in_each_cluster() {
    let of_patch = |name: &str, spec: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec: {{ {spec} }}\n"
        )
    };
    let base = flux("flux-system", "\"./clusters/${ENV}\"", "");
    let own = |env: &str| {
        let values = format!("path: ./clusters/{env}, postBuild: {{ substitute: {{ ENV: {env} }} }}");
        of_patch("flux-system", &values)
    };
    let (prod, test) = (own("prod"), own("test"));
    // What all have in common is a patch with a source and without a path.
    let all = of_patch("sample", "prune: true, sourceRef: { kind: GitRepository, name: flux-system }");
    let app = of_patch("app", "path: \"./apps/${ENV}\"");
    let list =
        |env: &str| format!("resources: [../../base]\npatches: [{{ path: ../../patches/{env}.yaml }}]\n");
    let (prod_list, test_list) = (list("prod"), list("test"));
    let files = [
        ("clusters/prod/kustomization.yaml", prod_list.as_str()),
        ("clusters/test/kustomization.yaml", test_list.as_str()),
        ("patches/prod.yaml", prod.as_str()),
        ("patches/test.yaml", test.as_str()),
        ("patches/all.yaml", all.as_str()),
        (
            "base/kustomization.yaml",
            "resources: [flux.yaml, app.yaml]\npatches: [{ path: ../patches/all.yaml, target: { kind: Kustomization } }]\n",
        ),
        ("base/flux.yaml", base.as_str()),
        ("base/app.yaml", app.as_str()),
        ("apps/prod/s.yaml", SERVICE),
        ("apps/test/s.yaml", SERVICE),
    ];
    insta::assert_snapshot!(believed(&files), @r"
    prod: clusters/prod applies itself
      flux-system/flux-system clusters/prod by flux-system/flux-system
      flux-system/app apps/prod by flux-system/flux-system
    test: clusters/test applies itself
      flux-system/flux-system clusters/test by flux-system/flux-system
      flux-system/app apps/test by flux-system/flux-system
    ");
}

#[test]
fn a_bootstrap_of_the_top_brings_what_applies_its_own_folder() {
    let sync = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: flux-system, namespace: flux-system }\nspec: { interval: 1m, url: 'https://example.org/fleet' }\n---\n";
    let sync = format!("{sync}{}", flux("flux-system", "./", ""));
    let (volsync, app) = (flux("volsync", "./kube/volsync", ""), flux("app", "./app", ""));
    let told = believed(&[
        ("flux-system/gotk-sync.yaml", sync.as_str()),
        ("kube/volsync/ks.yaml", volsync.as_str()),
        ("kube/volsync/s.yaml", SERVICE),
        ("apps/kustomization.yaml", "resources: [ks.yaml]\n"),
        ("apps/ks.yaml", app.as_str()),
        ("app/kustomization.yaml", "resources: []\n"),
    ]);
    assert!(told.contains("  flux-system/app app by flux-system/flux-system\n"), "{told}");
    assert!(told.contains("  flux-system/volsync kube/volsync by flux-system/flux-system\n"), "{told}");
    assert!(!told.contains("not alive"), "{told}");
}

/// Two clusters list one file, and the spec says of a third that it owns the folder: each reads it by its own source.
#[test]
fn one_file_of_two_clusters_is_told_apart_whoever_owns_what_it_applies() {
    let root = |cluster: &str, ignore: &str| {
        flux("flux-system", &format!("./clusters/{cluster}"), "")
            + "---\n"
            + &source("flux-system", "https://example.com/fleet", ignore)
    };
    let (one, two) = (root("one", "ignore: \"/docs\""), root("two", "ignore: \"/apps/shop/t.yaml\""));
    let apps = flux("apps", "./apps/shop", "");
    let list = "resources: [flux.yaml, ../../shared/apps.yaml]\n";
    let files = [
        ("clusters/one/flux.yaml", one.as_str()),
        ("clusters/one/kustomization.yaml", list),
        ("clusters/two/flux.yaml", two.as_str()),
        ("clusters/two/kustomization.yaml", list),
        ("shared/apps.yaml", apps.as_str()),
        ("apps/shop/kustomization.yaml", LIST),
        ("apps/shop/s.yaml", SERVICE),
        ("apps/shop/t.yaml", SERVICE),
        ("docs/a.md", "text\n"),
    ];
    let owner = RepoPath::parse("apps/shop").unwrap();
    let known = Known { paths: [("owner".to_owned(), vec![owner])].into(), ..Known::default() };
    let model = read(&known, &files);
    let own = model.all_flux().iter().filter(|one| one.name == "apps");
    let seen: Vec<_> = own.map(|one| (&one.cluster, &model.reached(one).unwrap().artifact)).collect();
    assert_eq!(seen.len(), 2);
    assert!(seen.iter().all(|(cluster, _)| *cluster == "owner"), "{seen:?}");
    assert_ne!(seen[0].1, seen[1].1);
}

/// What a build brings that another one brings too may get its spec from either.
#[test]
fn only_a_root_brings_itself() {
    let (root, web) = (flux("flux-system", "./clusters/prod", ""), flux("web", "./apps/web", ""));
    let files = [
        ("clusters/prod/sync.yaml", root.as_str()),
        ("clusters/prod/kustomization.yaml", "resources: [sync.yaml, ../../apps/web/ks.yaml]\n"),
        ("apps/web/kustomization.yaml", "resources: [ks.yaml]\n"),
        ("apps/web/ks.yaml", &web),
    ];
    let model = read(&Known::default(), &files);
    let told = model.all_flux().iter().map(|one| (one.name.as_str(), model.brings_itself(one)));
    assert_eq!(told.collect::<Vec<_>>(), [("web", false), ("flux-system", true)]);
    // People apply what no root brings.
    let people = [
        ("clusters/prod/web.yaml", web.as_str()),
        ("apps/web/kustomization.yaml", LIST),
        ("apps/web/s.yaml", SERVICE),
    ];
    let people = read(&Known::default(), &people);
    let told = people.all_flux().iter().map(|one| (one.name.as_str(), people.brings_itself(one)));
    assert_eq!(told.collect::<Vec<_>>(), [("web", false)]);
}

#[test]
fn a_source_with_a_url_is_this_repository_where_most_read_it_here() {
    let of = |name: &str, path: &str, source: &str| {
        flux(name, path, "").replace("name: flux-system },  }", &format!("name: {source} }} }}"))
    };
    let told = |all: &[(&str, &str, &str)], sources: &[&str]| {
        let url = |name: &&str| source(name, &format!("https://example.com/{name}.git"), "");
        let text = all.iter().map(|(name, path, source)| of(name, path, source)).collect::<Vec<_>>();
        let text = [text, sources.iter().map(url).collect()].concat().join("---\n");
        let files = [
            ("clusters/edge/all.yaml", text.as_str()),
            ("clusters/edge/flux-system/gotk-components.yaml", SERVICE),
            ("apps/s.yaml", SERVICE),
            ("infra/s.yaml", SERVICE),
            ("kustomize/s.yaml", SERVICE),
        ];
        let model = read(&Known::default(), &files);
        let unknown = model.delivered.all.iter().flat_map(|cluster| &cluster.unknown);
        let unknown: Vec<&str> = unknown.map(|id| id.name.as_str()).collect();
        format!("{}unknown: {}\n", believed(&files), unknown.join(", "))
    };
    let (apps, infra) = (("apps", "./apps", "fleet"), ("infra", "./infra", "fleet"));
    let usual = ("apps", "./apps", "flux-system");
    // `podinfo` happens to have a folder of that name.
    let alien = ("podinfo", "./kustomize", "podinfo");
    let (lost, crds) = (("lost", "./lost", "fleet"), ("crds", "./config/crd", "crds"));
    let all = [
        told(&[usual, alien], &["podinfo"]),
        told(&[usual, alien], &["podinfo", "flux-system"]),
        told(&[apps, infra, alien], &["podinfo", "fleet"]),
        told(&[apps, alien], &["podinfo", "fleet"]),
        told(&[apps], &["fleet"]),
        // Where no folder stands here, only one that all read may be meant.
        told(&[lost], &["fleet"]),
        told(&[lost, crds], &["fleet", "crds"]),
        told(&[usual, crds], &["crds", "flux-system"]),
    ];
    insta::assert_snapshot!(all.join("---\n"), @r"
    edge: clusters/edge proposed
      flux-system/apps apps by nobody
      flux-system/podinfo elsewhere by nobody
    unknown: 
    ---
    edge: clusters/edge proposed
      flux-system/apps apps by nobody
      flux-system/podinfo elsewhere by nobody
    unknown: 
    ---
    edge: clusters/edge proposed
      flux-system/apps apps by nobody
      flux-system/infra infra by nobody
      flux-system/podinfo elsewhere by nobody
    unknown: 
    ---
    edge: clusters/edge proposed
      flux-system/apps elsewhere by nobody
      flux-system/podinfo elsewhere by nobody
    unknown: 
    ---
    edge: clusters/edge proposed
      flux-system/apps apps by nobody
    unknown: 
    ---
    edge: clusters/edge proposed
      flux-system/lost lost by nobody
    unknown: 
    ---
    edge: clusters/edge proposed
      flux-system/lost elsewhere by nobody
      flux-system/crds elsewhere by nobody
    unknown: 
    ---
    edge: clusters/edge proposed
      flux-system/apps apps by nobody
      flux-system/crds elsewhere by nobody
    unknown:
    ");
}

/// Returns the belief, and of each cluster the sources of which nobody knows whether they are this repository.
fn with_unclear(files: &[(&str, &str)]) -> String {
    let model = read(&Known::default(), files);
    let mut told = believed(files);
    for cluster in &model.delivered.all {
        for (id, folder) in &cluster.unclear {
            writeln!(told, "unclear in {}: {}/{} at {folder}", cluster.name, id.namespace, id.name).unwrap();
        }
    }
    told
}

#[test]
fn each_reads_the_source_around_it() {
    let apps = flux("apps", "./apps", "").replace("name: flux-system },  }", "name: main } }");
    let at = |url: &str| source("main", url, "");
    let (own, mirror) = (at("https://example.com/fleet"), at("https://mirror.example.com/fleet"));
    let folders = ["a", "b", "c", "d"]
        .map(|name| (format!("clusters/{name}/apps.yaml"), format!("clusters/{name}/source.yaml")));
    let told = |count: usize| {
        let mut files = vec![("apps/s.yaml", SERVICE)];
        for (position, (file, of_source)) in folders[..count].iter().enumerate() {
            files.push((file, &apps));
            files.push((of_source, if position + 1 < count { &own } else { &mirror }));
        }
        with_unclear(&files)
    };
    insta::assert_snapshot!([told(2), told(4)].join("---\n"), @r"
    a: clusters/a proposed
      flux-system/apps elsewhere by nobody
    b: clusters/b proposed
      flux-system/apps elsewhere by nobody
    unclear in a: flux-system/main at apps
    unclear in b: flux-system/main at apps
    ---
    a: clusters/a proposed
      flux-system/apps apps by nobody
    b: clusters/b proposed
      flux-system/apps apps by nobody
    c: clusters/c proposed
      flux-system/apps apps by nobody
    d: clusters/d proposed
      flux-system/apps elsewhere by nobody
    unclear in d: flux-system/main at apps
    ");
    // Another one's namespace, and no cluster of its own.
    let team = apps.replace("namespace: flux-system", "namespace: team").replace("./apps", "./deploy");
    let other = at("https://example.com/team").replace("namespace: flux-system", "namespace: team");
    insta::assert_snapshot!(with_unclear(&[
        ("apps/s.yaml", SERVICE),
        ("clusters/a/apps.yaml", &apps),
        ("clusters/a/source.yaml", &own),
        ("clusters/a/zz/team/source.yaml", &other),
        ("clusters/a/zz/team/team.yaml", &team),
    ]), @r"
    a: clusters/a proposed
      flux-system/apps apps by nobody
      team/apps elsewhere by nobody
    ");
    // What several clusters share reads in each what that has.
    insta::assert_snapshot!(with_unclear(&[
        ("apps/s.yaml", SERVICE),
        ("base/apps.yaml", &apps),
        ("base/kustomization.yaml", "resources: [apps.yaml]\n"),
        ("clusters/a/kustomization.yaml", "resources: [../../base, source.yaml]\n"),
        ("clusters/a/source.yaml", &own),
        ("clusters/b/kustomization.yaml", "resources: [../../base, source.yaml]\n"),
        ("clusters/b/source.yaml", &mirror),
    ]), @r"
    a: clusters/a proposed
      flux-system/apps elsewhere by nobody
    b: clusters/b proposed
      flux-system/apps elsewhere by nobody
    unclear in a: flux-system/main at apps
    unclear in b: flux-system/main at apps
    ");
}

#[test]
fn the_root_of_one_cluster_does_not_tell_that_another_one_reads_another_repository() {
    let (own, mirror) = ("https://example.com/fleet", "https://mirror.example.com/fleet");
    let root = format!("{}---\n{}", flux("flux-system", "./clusters/a", ""), source("flux-system", own, ""));
    let of = |name: &str, from: &str| {
        let usual = flux(name, &format!("./{name}"), "");
        usual.replace("name: flux-system },  }", &format!("name: {from} }} }}"))
    };
    let (usual, apps, infra) = (of("apps", "flux-system"), of("apps", "fleet"), of("infra", "fleet"));
    let fleet = source("fleet", mirror, "");
    let mut files = vec![
        ("apps/s.yaml", SERVICE),
        ("infra/s.yaml", SERVICE),
        ("clusters/a/flux-system/gotk-sync.yaml", root.as_str()),
        ("clusters/a/apps.yaml", &usual),
        ("clusters/b/apps.yaml", &apps),
        ("clusters/b/infra.yaml", &infra),
        ("clusters/b/source.yaml", &fleet),
    ];
    insta::assert_snapshot!(with_unclear(&files), @r"
    a: clusters/a applies itself
      flux-system/flux-system clusters/a by flux-system/flux-system
      flux-system/apps apps by flux-system/flux-system
    b: clusters/b proposed
      flux-system/apps elsewhere by nobody
      flux-system/infra elsewhere by nobody
    unclear in b: flux-system/fleet at apps
    unclear in b: flux-system/fleet at infra
    ");
    // What stands in the cluster tells it.
    let beside = source("flux-system", own, "");
    files.push(("clusters/b/beside.yaml", &beside));
    insta::assert_snapshot!(with_unclear(&files), @r"
    a: clusters/a applies itself
      flux-system/flux-system clusters/a by flux-system/flux-system
      flux-system/apps apps by flux-system/flux-system
    b: clusters/b proposed
      flux-system/apps elsewhere by nobody
      flux-system/infra elsewhere by nobody
    ");
}
