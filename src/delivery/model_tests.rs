//! Which folders are entry points, and what for.

use crate::delivery::reading::tests::{LIST, SERVICE, flux, read, source};
use crate::delivery::{Known, Model, Role};

/// Returns each entry point with its role, and what is said of the rest.
fn told(files: &[(&str, &str)]) -> Vec<String> {
    let model = read(&Known::default(), files);
    let role = |role: Role| match role {
        Role::Apps => "apps",
        Role::Gate => "gate",
        Role::Bootstrap => "bootstrap",
    };
    let entries = model.all_entries().iter();
    let entries = entries.map(|entry| format!("{}: {} {}", entry.cluster, entry.path, role(entry.role)));
    let remarks = model.remarks.iter().map(|remark| remark.message.clone());
    entries.chain(remarks).collect()
}

fn top(model: &Model) -> Option<String> {
    model.inner_top().map(|(one, top)| format!("{} {top}", one.name))
}

#[test]
fn a_file_beside_what_it_builds_does_not_make_that_a_bootstrap() {
    let (root, web) = (flux("flux-system", "./clusters/prod", ""), flux("web", "./apps/web", ""));
    let mut files = vec![
        ("clusters/prod/root.yaml", root.as_str()),
        ("clusters/prod/kustomization.yaml", "resources: [root.yaml, ../../apps/web/ks.yaml]\n"),
        ("apps/web/ks.yaml", web.as_str()),
        ("apps/web/kustomization.yaml", LIST),
        ("apps/web/s.yaml", SERVICE),
    ];
    assert_eq!(told(&files), ["prod: apps/web apps", "prod: clusters/prod bootstrap"]);
    files[3].1 = "resources: [s.yaml, ks.yaml]\n";
    assert_eq!(told(&files), ["prod: apps/web bootstrap", "prod: clusters/prod bootstrap"]);
}

#[test]
fn what_clusters_build_on_is_no_cluster_beside_them() {
    let root = flux("flux-system", "./clusters/prod", "");
    let mut files = vec![
        ("clusters/prod/flux-system/root.yaml", root.as_str()),
        ("clusters/prod/kustomization.yaml", "resources: [flux-system/root.yaml, apps]\n"),
        ("clusters/prod/apps/kustomization.yaml", "resources: [../../base/web]\n"),
        ("clusters/base/web/kustomization.yaml", LIST),
        ("clusters/base/web/s.yaml", SERVICE),
        ("clusters/base/more/kustomization.yaml", LIST),
        ("clusters/base/more/s.yaml", SERVICE),
    ];
    let is_told = "clusters/base is taken for a base, as other clusters build on it";
    assert_eq!(told(&files), ["prod: clusters/prod bootstrap", "prod: clusters/prod/apps apps", is_told]);
    // Of what none of them takes in nobody knows.
    files[2].1 = "resources: []\n";
    assert!(told(&files).contains(&"base: clusters/base/more apps".to_owned()));
}

#[test]
fn what_a_folder_brings_to_apply_it_may_stand_in_a_base() {
    let root = flux("flux-system", "./clusters/prod", "");
    let (first, again) = (flux("first", "./boot/prod", ""), flux("again", "'./boot/${CLUSTER}'", ""));
    let patch = "resources: [../base]\npatches: [{ target: { kind: Kustomization }, patch: '[{\"op\": \"replace\", \"path\": \"/spec/path\", \"value\": \"./boot/prod\"}]' }]\n";
    let files = [
        ("clusters/prod/flux-system/root.yaml", root.as_str()),
        ("clusters/prod/first.yaml", first.as_str()),
        ("boot/prod/kustomization.yaml", patch),
        ("boot/base/kustomization.yaml", "resources: [again.yaml, s.yaml]\n"),
        ("boot/base/again.yaml", again.as_str()),
        ("boot/base/s.yaml", SERVICE),
    ];
    assert_eq!(told(&files), ["prod: boot/prod bootstrap", "prod: clusters/prod bootstrap"]);
}

#[test]
fn a_folder_that_would_bring_what_no_cluster_gets_is_no_entry_point() {
    let root = |name: &str| {
        source("flux-system", "https://example.org/fleet", "")
            + "---\n"
            + &flux("flux-system", &format!("./clusters/{name}"), "")
    };
    let (prod, template) = (root("prod"), root("cluster-name"));
    let apps = flux("apps", "./apps/cluster-name", "");
    let files = [
        ("clusters/prod/flux-system/gotk-sync.yaml", prod.as_str()),
        ("clusters/prod/flux-system/kustomization.yaml", "resources: [gotk-sync.yaml]\n"),
        ("clusters/prod/kustomization.yaml", "resources: [flux-system]\n"),
        ("clusters/template/flux-system/gotk-sync.yaml", template.as_str()),
        ("clusters/template/flux-system/kustomization.yaml", "resources: [gotk-sync.yaml, s.yaml]\n"),
        ("clusters/template/flux-system/s.yaml", SERVICE),
        ("clusters/template/apps.yaml", apps.as_str()),
        ("clusters/template/kustomization.yaml", "resources: [flux-system, apps.yaml]\n"),
    ];
    assert_eq!(told(&files), ["prod: clusters/prod bootstrap", "prod: clusters/prod/flux-system bootstrap"]);
}

#[test]
fn what_lies_beside_a_flux_instance_is_flux_s_own() {
    let instance = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: { name: flux, namespace: flux-system }\nspec: { sync: { kind: GitRepository, url: 'https://example.org/fleet', ref: refs/heads/main, path: clusters/prod } }\n";
    let files = [
        ("clusters/prod/flux-system/flux-instance.yaml", instance),
        ("clusters/prod/flux-system/kustomization.yaml", "resources: [flux-instance.yaml, s.yaml]\n"),
        ("clusters/prod/flux-system/s.yaml", SERVICE),
        ("clusters/prod/web/kustomization.yaml", LIST),
        ("clusters/prod/web/s.yaml", SERVICE),
    ];
    assert_eq!(
        told(&files),
        [
            "prod: clusters/prod bootstrap",
            "prod: clusters/prod/flux-system bootstrap",
            "prod: clusters/prod/web apps"
        ]
    );
}

#[test]
fn paths_that_begin_at_another_top_are_told() {
    let (root, apps) = (flux("flux-system", "./clusters/prod", ""), flux("apps", "./apps", ""));
    let files = [
        ("repos/fleet/clusters/prod/flux-system/gotk-sync.yaml", root.as_str()),
        ("repos/fleet/clusters/prod/apps.yaml", apps.as_str()),
        ("repos/fleet/apps/kustomization.yaml", LIST),
        ("repos/fleet/apps/s.yaml", SERVICE),
    ];
    assert_eq!(told(&files), Vec::<String>::new());
    assert_eq!(top(&read(&Known::default(), &files)).as_deref(), Some("flux-system repos/fleet"));
    let own = [("clusters/prod/flux-system/gotk-sync.yaml", root.as_str())];
    assert_eq!(top(&read(&Known::default(), &own)), None);
}

#[test]
fn what_one_generator_moves_is_told_once() {
    let artifact = |name: &str| {
        format!("{{ name: {name}, copy: [{{ from: '@repo/apps/{name}', to: '@artifact/apps/{name}' }}] }}")
    };
    let generator = format!(
        "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {{ name: all, namespace: flux-system }}\nspec:\n  sources: [{{ alias: repo, kind: GitRepository, name: flux-system }}]\n  artifacts: [{}, {}]\n",
        artifact("a"),
        artifact("b")
    );
    let reading = |name: &str| {
        flux(name, &format!("./apps/{name}"), "").replace(
            "kind: GitRepository, name: flux-system",
            &format!("kind: ExternalArtifact, name: {name}"),
        )
    };
    let (root, a, b) = (flux("flux-system", "./clusters/prod", ""), reading("a"), reading("b"));
    let files = [
        ("clusters/prod/root.yaml", root.as_str()),
        ("clusters/prod/a.yaml", a.as_str()),
        ("clusters/prod/b.yaml", b.as_str()),
        ("clusters/prod/generator.yaml", generator.as_str()),
        ("apps/a/kustomization.yaml", LIST),
        ("apps/a/s.yaml", SERVICE),
        ("apps/b/kustomization.yaml", LIST),
        ("apps/b/s.yaml", SERVICE),
    ];
    assert_eq!(
        told(&files),
        [
            "prod: clusters/prod bootstrap",
            "ExternalArtifacts of a, b map to no folder. Of a: without `/**` it copies apps/a to apps/a/a"
        ]
    );
}

#[test]
fn a_folder_of_another_branch_is_none_of_this_one() {
    let url = "https://example.org/fleet";
    let on = |name: &str, branch: &str| source(name, url, &format!("ref: {{ branch: {branch} }}"));
    let root = on("flux-system", "main") + "---\n" + &flux("flux-system", "./clusters/prod", "");
    let of = |branch: &str, path: &str| {
        let team = flux("team", path, "").replace("name: flux-system }", "name: team }");
        on("team", branch) + "---\n" + &team
    };
    let paths = |branch: &str, path: &str| {
        let files = [
            ("clusters/prod/root.yaml", root.as_str()),
            ("clusters/prod/team.yaml", &of(branch, path)),
            ("apps/kustomization.yaml", LIST),
            ("apps/s.yaml", SERVICE),
        ];
        let model = read(&Known::default(), &files);
        let team = model.all_flux().iter().find(|one| one.name == "team");
        team.and_then(|one| Some(one.path.as_ref()?.to_string()))
    };
    assert_eq!(paths("team", "./staging"), None);
    assert_eq!(paths("main", "./staging").as_deref(), Some("staging"));
    // It may hold the same folder, and a commit here reaches it once it is there.
    assert_eq!(paths("release", "./apps"), None);
}

#[test]
fn a_source_of_another_revision_is_no_artifact_of_this_one() {
    let url = "https://example.org/fleet";
    let root =
        |more: &str| source("flux-system", url, more) + "---\n" + &flux("flux-system", "./clusters/prod", "");
    let team = flux("team", "./apps", "").replace("name: flux-system }", "name: team }");
    let others = |of_root: &str, url: &str, of_team: &str| {
        let (root, team) = (root(of_root), source("team", url, of_team) + "---\n" + &team);
        let inner = flux("inner", "./apps/inner", "");
        let files = [
            ("clusters/prod/root.yaml", root.as_str()),
            ("clusters/prod/team.yaml", &team),
            ("apps/kustomization.yaml", "resources: [s.yaml, inner.yaml]\n"),
            ("apps/s.yaml", SERVICE),
            ("apps/inner.yaml", &inner),
            ("apps/inner/kustomization.yaml", LIST),
            ("apps/inner/s.yaml", SERVICE),
        ];
        let model = read(&Known::default(), &files);
        // What it brings is alive as that revision says.
        assert!(model.unlisted.is_empty(), "{:?}", model.unlisted);
        let team = model.all_flux().iter().find(|one| one.name == "team").unwrap();
        assert_eq!(team.path.is_none(), team.other.is_some());
        assert_eq!(
            model.entry(&crate::path::RepoPath::parse("apps").unwrap()).is_none(),
            team.other.is_some()
        );
        assert_eq!(
            model.remarks.iter().filter(|one| one.message.contains("follows")).count() == 1,
            team.other.is_some()
        );
        team.other.as_ref().map(ToString::to_string)
    };
    let main = "ref: { branch: main }";
    assert_eq!(
        others(main, "ssh://git@example.org/fleet.git", "ref: { branch: staging }").as_deref(),
        Some("GitRepository team follows branch `staging`, and flux-system, which brings it, branch `main`")
    );
    for (of_root, of_team) in [
        ("", "ref: { branch: main }"),
        (main, ""),
        (main, "ref: { tag: v1 }"),
        (main, "ref: { semver: '>=1.0.0' }"),
        (main, "ref: { branch: main, commit: abc }"),
        ("ref: { tag: v1 }", "ref: { tag: v2 }"),
    ] {
        assert!(others(of_root, url, of_team).is_some(), "{of_root} and {of_team}");
    }
    for (of_root, of_team) in [
        (main, "ref: { name: refs/heads/main }"),
        ("", "ref: { branch: master }"),
        ("ref: { tag: v1 }", "ref: { tag: v1 }"),
        (main, "ref: { branch: other, tag: held..until-the-first-tick }"),
        (main, "ref: { branch: '${branch}' }"),
    ] {
        assert_eq!(others(of_root, url, of_team), None, "{of_root} and {of_team}");
    }
}

#[test]
fn beside_flux_kustomizations_a_folder_that_none_builds_is_no_entry_point() {
    let web = flux("web", "./clusters/prod/apps/web", "");
    let mut files = vec![
        ("clusters/prod/kustomization.yaml", "resources: [web.yaml]\n"),
        ("clusters/prod/web.yaml", web.as_str()),
        ("clusters/prod/apps/web/kustomization.yaml", LIST),
        ("clusters/prod/apps/web/s.yaml", SERVICE),
        ("clusters/prod/apps/old/kustomization.yaml", LIST),
        ("clusters/prod/apps/old/s.yaml", SERVICE),
    ];
    assert_eq!(told(&files), ["prod: clusters/prod bootstrap", "prod: clusters/prod/apps/web apps"]);
    // Where none is in Git, people may have made them in the cluster.
    files.drain(..2);
    let both = ["prod: clusters/prod/apps/old apps", "prod: clusters/prod/apps/web apps"];
    assert_eq!(told(&files)[..], both);
}
