//! Pull requests that take out an app, move a cluster, or change a root, a source or a generator.

use super::repository::{
    Files, SPEC, SPEC_FILE, compared, files, flux, map, source, with, with_cluster, without, words,
};

#[test]
fn an_app_that_goes_is_told_with_what_is_deleted() {
    let base = with(
        &files(),
        &[
            ("clusters/one/more.yaml", "", &flux("more", "more", "")),
            ("more/kustomization.yaml", "", "resources: [a.yaml]\n"),
            ("more/a.yaml", "", &map("a", "")),
        ],
    );
    let gone = without(&base, "clusters/one/more.yaml");
    let all = without(&without(&gone, "more/kustomization.yaml"), "more/a.yaml");
    insta::assert_snapshot!([words(&compared(&base, &gone)), words(&compared(&base, &all))].join("\n---\n"));
}

/// Whether anything takes them out of the cluster is not in Git.
#[test]
fn what_leaves_a_root_that_nothing_in_git_applies() {
    let rooted = SPEC.replace("one: { paths", "one: { roots: [clusters/one], paths");
    let more = flux("more", "more", "");
    let below = flux("below", "below", "");
    let base = with(
        &files(),
        &[
            (SPEC_FILE, "", &rooted),
            ("clusters/one/flux-system/gotk-sync.yaml", &flux("flux-system", "clusters/one", ""), ""),
            ("clusters/one/more.yaml", "", &more),
            ("more/a.yaml", "", &map("a", "")),
            ("more/below.yaml", "", &below),
            ("below/b.yaml", "", &map("b", "")),
        ],
    );
    let gone = without(&base, "clusters/one/more.yaml");
    let all = without(&without(&without(&gone, "more/a.yaml"), "more/below.yaml"), "below/b.yaml");
    // What stays prunes it.
    let one = without(&without(&base, "more/below.yaml"), "below/b.yaml");
    // Its build fails.
    let mut root = base.clone();
    root.retain(|path, _| !path.starts_with("clusters/one/"));
    insta::assert_snapshot!(
        [&gone, &all, &one, &root].map(|after| words(&compared(&base, after))).join("\n---\n")
    );
}

/// Two folders below it bring one object, so Flux lists no such folder: somebody applies the Flux Kustomizations alone.
#[test]
fn what_changes_in_a_root_that_does_not_build_is_told_of_its_flux_kustomizations() {
    let rooted = SPEC.replace("one: { paths", "one: { roots: [clusters/one], paths");
    let base = with(
        &files(),
        &[
            (SPEC_FILE, "", &rooted),
            ("clusters/one/flux-system/gotk-sync.yaml", &flux("flux-system", "clusters/one", ""), ""),
            ("clusters/one/more.yaml", "", &flux("more", "more", "")),
            ("clusters/one/a/kustomization.yaml", "", "resources: [../../../more]\n"),
            ("clusters/one/b/kustomization.yaml", "", "resources: [../../../more]\n"),
            ("more/kustomization.yaml", "", "resources: [a.yaml]\n"),
            ("more/a.yaml", "", &map("a", "")),
        ],
    );
    let suspended =
        with(&base, &[("clusters/one/more.yaml", "", &flux("more", "more", "  suspend: true\n"))]);
    insta::assert_snapshot!(words(&compared(&base, &suspended)));
}

/// Flux lists the folder by itself, as it has no list.
#[test]
fn what_goes_from_a_root_of_the_spec_to_a_flux_kustomization_is_moved() {
    let rooted = SPEC.replace("one: { paths", "one: { roots: [clusters/one], paths");
    let base = with(
        &files(),
        &[
            (SPEC_FILE, "", &rooted),
            ("clusters/one/flux-system/gotk-sync.yaml", &flux("flux-system", "clusters/one", ""), ""),
            ("clusters/one/a.yaml", "", &map("a", "")),
        ],
    );
    let moved = with(
        &without(&base, "clusters/one/a.yaml"),
        &[("extra/a.yaml", "", &map("a", "")), ("clusters/one/extra.yaml", "", &flux("extra", "extra", ""))],
    );
    let gone = without(&base, "clusters/one/a.yaml");
    insta::assert_snapshot!([&moved, &gone].map(|after| words(&compared(&base, after))).join("\n---\n"));
}

#[test]
fn a_proposed_root_without_its_folder_prunes_nothing() {
    let own = flux("flux-system", "clusters/one", "");
    let base = with(&files(), &[("clusters/one/flux-system/gotk-sync.yaml", &own, "")]);
    let mut gone = base.clone();
    gone.retain(|path, _| !path.starts_with("clusters/one/"));
    let told = words(&compared(&base, &gone));
    assert!(told.contains("nothing prunes it while the folder clusters/one is missing"), "{told}");
    assert!(!told.contains("outside of Git prunes"), "{told}");
}

#[test]
fn a_cluster_whose_folder_is_renamed() {
    let base = files();
    let mut moved = Files::new();
    for (path, text) in &base {
        moved.insert(
            path.replace("clusters/one", "clusters/uno"),
            text.replace("clusters/one", "clusters/uno"),
        );
    }
    insta::assert_snapshot!(words(&compared(&base, &moved)));
    // The file that bootstraps it still names the former folder.
    let sync = "clusters/uno/flux-system/gotk-sync.yaml";
    let half = with(&moved, &[(sync, "clusters/uno", "clusters/one")]);
    insta::assert_snapshot!(words(&compared(&base, &half)));
}

/// What applies it learns of its new path only from its old folder, which is gone.
#[test]
fn a_root_that_moves_up_lands_nothing() {
    let sync = |name: &str, path: &str| {
        (format!("clusters/{name}/config/sync.yaml"), source("1m") + &flux("flux-system", path, ""))
    };
    let of = |names: &[&str], folder: &str| {
        let mut found = Files::new();
        for name in names {
            let own = format!("clusters/{name}{folder}");
            let (_, text) = sync(name, &own);
            found.insert(format!("{own}/config/sync.yaml"), text);
            found.insert(format!("{own}/apps.yaml"), flux("apps", &format!("apps/{name}"), ""));
            found.insert(format!("{own}/more.yaml"), flux("more", &format!("more/{name}"), ""));
            found.insert(format!("apps/{name}/a.yaml"), map("a", ""));
            found.insert(format!("more/{name}/b.yaml"), map("b", ""));
        }
        found
    };
    let (one, two) = (&["test"][..], &["prod", "test"][..]);
    let all = [
        // One takes an app out as well, which stays, as nothing prunes it.
        (of(one, "/flux"), without(&of(one, ""), "clusters/test/apps.yaml")),
        (of(two, "/flux"), without(&of(two, ""), "clusters/test/apps.yaml")),
        // Only the other one moves.
        (of(two, "/flux"), of(&["prod"], "/flux").into_iter().chain(of(one, "")).collect()),
    ];
    insta::assert_snapshot!(all.map(|(base, head)| words(&compared(&base, &head))).join("\n---\n"));
}

/// Its list names a file that is gone, so its build fails, and prunes nothing.
#[test]
fn a_root_that_leaves_a_folder_which_does_not_build_deletes_nothing() {
    let sync = source("1m") + &flux("flux-system", "clusters/one", "");
    let list = "resources: [flux-system/gotk-sync.yaml, apps.yaml]\n";
    let base = with(
        &files(),
        &[
            ("clusters/one/flux-system/gotk-sync.yaml", "", &sync),
            ("clusters/one/kustomization.yaml", "", list),
        ],
    );
    let gone = without(&base, "clusters/one/flux-system/gotk-sync.yaml");
    insta::assert_snapshot!(words(&compared(&base, &gone)));
}

#[test]
fn a_root_that_applies_another_folder() {
    let base = files();
    let list = "resources: [../one/apps.yaml, ../one/flux-system/gotk-sync.yaml]\n";
    let sync = "clusters/one/flux-system/gotk-sync.yaml";
    let other = with(
        &base,
        &[(sync, "./clusters/one", "./clusters/other"), ("clusters/other/kustomization.yaml", "", list)],
    );
    insta::assert_snapshot!(words(&compared(&base, &other)));
}

/// The former folder brings the root with its new path once more; what it brings no more then is deleted in between.
#[test]
fn a_root_whose_file_is_copied_into_its_new_folder() {
    let base = files();
    let sync = "clusters/one/flux-system/gotk-sync.yaml";
    let copied = with(&with_cluster(&base, "two"), &[(sync, "./clusters/one", "./clusters/two")]);
    let emptied = without(&copied, "clusters/one/apps.yaml");
    insta::assert_snapshot!([&copied, &emptied].map(|after| words(&compared(&base, after))).join("\n---\n"));
}

/// Nothing applies its file, so the cluster goes on with what it has.
#[test]
fn a_root_that_its_own_list_leaves_out_stays_as_it_is() {
    let list =
        ("clusters/one/kustomization.yaml", "", "resources: [apps.yaml, gate/open.yaml, gate/close.yaml]\n");
    let base = with(&files(), &[list]);
    let sync = "clusters/one/flux-system/gotk-sync.yaml";
    let branch = with(&base, &[(sync, "url: ", "ref: { branch: next }, url: ")]);
    let folder = without(&with_cluster(&base, "two"), "clusters/two/flux-system/gotk-sync.yaml");
    let folder = with(&folder, &[(sync, "./clusters/one", "./clusters/two")]);
    let all = [branch, folder].map(|after| words(&compared(&base, &after)));
    insta::assert_snapshot!(all.join("\n---\n"));
}

/// One manifest bootstraps several clusters, and tells none of them from another.
#[test]
fn clusters_that_share_what_bootstraps_them_are_not_each_other() {
    let sync = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: flux-system, namespace: flux-system }\n";
    let of = |names: &[&str]| {
        let spec =
            "spec: { interval: 10m, prune: true, sourceRef: { kind: GitRepository, name: flux-system } }\n";
        let mut found = Files::from([
            ("base/kustomization.yaml".to_owned(), "resources: [source.yaml, sync.yaml]\n".to_owned()),
            ("base/source.yaml".to_owned(), source("1m")),
            ("base/sync.yaml".to_owned(), format!("{sync}{spec}")),
        ]);
        for name in names {
            let list = "resources: [../../base, app.yaml]\npatches: [{ path: path.yaml }]\n";
            found.insert(format!("clusters/{name}/kustomization.yaml"), list.to_owned());
            found.insert(
                format!("clusters/{name}/path.yaml"),
                format!("{sync}spec: {{ path: ./clusters/{name} }}\n"),
            );
            found.insert(format!("clusters/{name}/app.yaml"), map(&format!("app-{name}"), ""));
        }
        found
    };
    insta::assert_snapshot!(words(&compared(&of(&["one", "two", "three"]), &of(&["one", "four"]))));
}

#[test]
fn a_flux_instance_that_syncs_another_folder() {
    let instance = |path: &str| {
        format!(
            "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {{ name: flux, namespace: flux-system }}\nspec:\n  \
             distribution: {{ version: 2.x, registry: ghcr.io/fluxcd }}\n  sync: {{ kind: GitRepository, url: 'https://example.org/fleet', ref: \
             refs/heads/main, path: {path}, interval: 1m }}\n"
        )
    };
    let mut base =
        with(&files(), &[("clusters/one/flux-system/instance.yaml", "", &instance("clusters/one"))]);
    base.remove("clusters/one/flux-system/gotk-sync.yaml");
    let other = with(
        &base,
        &[
            ("clusters/one/flux-system/instance.yaml", "", &instance("clusters/other")),
            ("clusters/other/kustomization.yaml", "", "resources: [../one/apps.yaml]\n"),
        ],
    );
    insta::assert_snapshot!(words(&compared(&base, &other)));
    let copied = with_cluster(&base, "two");
    let copied = with(
        &copied,
        &[("clusters/one/flux-system/instance.yaml", "path: clusters/one", "path: clusters/two")],
    );
    insta::assert_snapshot!(words(&compared(&base, &copied)));
}

#[test]
fn what_a_source_ignores_is_deleted() {
    let mut base = files();
    base.remove("apps/apps-rt/kustomization.yaml");
    let base = with(&base, &[("apps/apps-rt/b.yaml", "", &map("b", ""))]);
    let field = source("1m").replace("spec: {", "spec: { ignore: \"apps/apps-rt/b.yaml\\n\",");
    let field = with(&base, &[("clusters/one/flux-system/gotk-sync.yaml", &source("1m"), &field)]);
    insta::assert_snapshot!(words(&compared(&base, &field)));
}

#[test]
fn a_generator_that_copies_something_else() {
    let generator = |from: &str| {
        format!(
            "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {{ name: g, namespace: flux-system }}\nspec:\n  \
             sources: [{{ alias: repo, kind: GitRepository, name: flux-system }}]\n  artifacts:\n  - name: web\n    copy:\n    - {{ from: \
             \"@repo/{from}/**\", to: \"@artifact/{from}/\" }}\n"
        )
    };
    let web =
        flux("web", "web", "").replace("GitRepository, name: flux-system", "ExternalArtifact, name: web");
    let base = with(
        &files(),
        &[
            ("clusters/one/generator.yaml", "", &generator("web")),
            ("clusters/one/web.yaml", "", &web),
            ("web/a.yaml", "", &map("a", "")),
            ("web/b.yaml", "", &map("b", "")),
            ("other/a.yaml", "", &map("a", "")),
        ],
    );
    let other = with(&base, &[("clusters/one/generator.yaml", "", &generator("other"))]);
    insta::assert_snapshot!(words(&compared(&base, &other)));
    let less = with(&base, &[("clusters/one/generator.yaml", "web/**", "web/a.yaml")]);
    insta::assert_snapshot!(words(&compared(&base, &less)));
}

/// What applies itself reconciles by the spec that it has; what another one applies may do so by either.
#[test]
fn prune_that_changes_with_the_removal() {
    let sync = "clusters/one/flux-system/gotk-sync.yaml";
    let root = flux("flux-system", "clusters/one", "");
    let kept = root.replace("prune: true", "prune: false");
    let more = flux("more", "more", "");
    let base = |root: &str, more: &str| {
        let list = "resources: [flux-system/gotk-sync.yaml, more.yaml, own.yaml]\n";
        let edits = [
            (sync, root),
            ("clusters/one/kustomization.yaml", list),
            ("clusters/one/more.yaml", more),
            ("clusters/one/own.yaml", &map("own", "")),
            ("more/kustomization.yaml", "resources: [a.yaml, b.yaml]\n"),
            ("more/a.yaml", &map("a", "")),
            ("more/b.yaml", &map("b", "")),
        ];
        let mut files = files();
        files.extend(edits.map(|(path, text)| (path.into(), text.into())));
        files
    };
    let gone = |root: &str, more: &str| {
        let files = without(&without(&base(root, more), "clusters/one/own.yaml"), "more/b.yaml");
        with(
            &with(&files, &[("clusters/one/kustomization.yaml", ", own.yaml", "")]),
            &[("more/kustomization.yaml", ", b.yaml", "")],
        )
    };
    let unpruned = more.replace("prune: true", "prune: false");
    let told = |before: [&str; 2], after: [&str; 2]| {
        words(&compared(&base(before[0], before[1]), &gone(after[0], after[1])))
    };
    let all = [told([&root, &more], [&kept, &unpruned]), told([&kept, &unpruned], [&root, &more])];
    insta::assert_snapshot!(all.join("\n---\n"));
}

/// Its build fails, and what it applied before goes on by the specs that it has.
#[test]
fn what_a_root_without_its_folder_applied_goes_on() {
    let base = with(
        &files(),
        &[
            (
                "clusters/one/more.yaml",
                "",
                &[flux("more", "more", ""), flux("lost", "clusters/one/lost", "")].concat(),
            ),
            ("clusters/one/lost/a.yaml", "", &map("lost", "")),
            ("more/a.yaml", "", &map("a", "")),
        ],
    );
    let mut gone = with(&base, &[("more/a.yaml", "", &map("a", "k: v"))]);
    gone.retain(|path, _| !path.starts_with("clusters/one/"));
    let sync = "clusters/one/flux-system/gotk-sync.yaml";
    let nowhere = with(
        &base,
        &[(sync, "./clusters/one", "./clusters/nowhere"), ("more/a.yaml", "", &map("a", "k: v"))],
    );
    insta::assert_snapshot!([&gone, &nowhere].map(|after| words(&compared(&base, after))).join("\n---\n"));
}

#[test]
fn a_flux_instance_that_syncs_a_folder_which_is_none() {
    let instance = |path: &str| {
        format!(
            "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {{ name: flux, namespace: flux-system }}\nspec:\n  \
             distribution: {{ version: 2.x, registry: ghcr.io/fluxcd }}\n  sync: {{ kind: GitRepository, url: 'https://example.org/fleet', ref: \
             refs/heads/main, path: {path}, interval: 1m }}\n"
        )
    };
    let file = "clusters/one/flux-system/instance.yaml";
    let mut base = with(&files(), &[(file, "", &instance("clusters/one"))]);
    base.remove("clusters/one/flux-system/gotk-sync.yaml");
    let other = with(
        &base,
        &[(file, "", &instance("clusters/nowhere")), ("apps/apps-rw/deployment.yaml", "1.29.0", "1.30.0")],
    );
    insta::assert_snapshot!(words(&compared(&base, &other)));
}

/// It prunes itself, and its finalizer all that it applied.
#[test]
fn a_root_that_leaves_its_own_folder_goes_with_all_that_it_applied() {
    let base = files();
    let sync = "clusters/one/flux-system/gotk-sync.yaml";
    let gone = without(&base, sync);
    let kept = with(&base, &[(sync, "prune: true", "prune: false")]);
    let told = [words(&compared(&base, &gone)), words(&compared(&kept, &without(&kept, sync)))];
    // Beside another cluster, also where the list of its folder leaves it out.
    let two = with_cluster(&base, "two");
    let list = "resources: [apps.yaml]\n";
    for gone in [without(&two, sync), with(&two, &[("clusters/one/kustomization.yaml", "", list)])] {
        let told = words(&compared(&two, &gone));
        assert!(told.contains("deletion in one") && told.contains("It deletes itself with all"), "{told}");
        assert!(told.contains("deleted  ConfigMap shop/settings  in one"), "{told}");
    }
    insta::assert_snapshot!(told.join("\n---\n"));
}

/// Its last pass prunes it by `prune`; then its finalizer leaves all that it applied.
#[test]
fn a_root_that_leaves_its_own_folder_as_an_orphan_leaves_what_it_applied() {
    let sync = "clusters/one/flux-system/gotk-sync.yaml";
    let base = with(
        &files(),
        &[
            (sync, "prune: true", "prune: true\n  deletionPolicy: Orphan"),
            ("clusters/one/own.yaml", "", &map("own", "")),
            ("clusters/one/lost.yaml", "", &map("lost", "")),
            ("clusters/one/more.yaml", "", &flux("more", "more", "")),
            ("more/a.yaml", "", &map("a", "")),
        ],
    );
    let edits = [
        ("clusters/one/own.yaml", "", map("own", "k: v")),
        ("apps/apps-rt/settings.yaml", "", map("settings", "a: '2'")),
        ("apps/apps-rw/deployment.yaml", "1.29.0", "1.30.0".to_owned()),
        ("clusters/one/new.yaml", "", flux("new", "new", "")),
        ("new/a.yaml", "", map("new", "")),
    ];
    let edits = edits.each_ref().map(|(path, from, to)| (*path, *from, to.as_str()));
    let after = |base: &Files| {
        let base = with(&without(base, sync), &edits);
        without(&without(&base, "clusters/one/lost.yaml"), "clusters/one/more.yaml")
    };
    // What keeps its source lets its children go on.
    let kept = with(
        &base,
        &[(
            sync,
            "{ name: flux-system, namespace: flux-system }\nspec: { interval",
            "{ name: flux-system, namespace: flux-system, annotations: { kustomize.toolkit.fluxcd.io/prune: disabled } }\nspec: { interval",
        )],
    );
    let told = [&base, &kept].map(|base| words(&compared(base, &after(base))));
    insta::assert_snapshot!(told.join("\n---\n"));
}

/// Its build fails, so that nothing lands, and the cluster has all that it had.
#[test]
fn a_root_whose_file_moves_while_the_list_names_the_old_one_lands_nothing() {
    let sync = source("1m") + &flux("flux-system", "clusters/one", "");
    let list = "resources: [gotk-sync.yaml]\n";
    let of = |lists: &[(&str, &str)]| {
        let lists = lists.iter().map(|(path, text)| (*path, "", *text));
        with(&files(), &lists.collect::<Vec<_>>())
    };
    let nested = ("clusters/one/flux-system/kustomization.yaml", list);
    let all = [
        of(&[("clusters/one/kustomization.yaml", "resources: [flux-system/gotk-sync.yaml, apps.yaml]\n")]),
        of(&[("clusters/one/kustomization.yaml", "resources: [flux-system, apps.yaml]\n"), nested]),
        of(&[nested]),
    ];
    let told = all.map(|base| {
        let moved = with(
            &without(&base, "clusters/one/flux-system/gotk-sync.yaml"),
            &[
                ("clusters/one/flux-system/sync2.yaml", "", &sync),
                ("apps/apps-rt/settings.yaml", "", &map("settings", "a: '2'")),
            ],
        );
        words(&compared(&base, &moved))
    });
    insta::assert_snapshot!(told.join("\n---\n"));
}

/// The list of its folder takes in another file that holds it.
#[test]
fn a_root_that_another_file_brings_too_stays() {
    let sync = source("1m") + &flux("flux-system", "clusters/one", "");
    let base = with(
        &files(),
        &[
            ("flux/sync.yaml", "", &sync),
            ("clusters/one/kustomization.yaml", "", "resources: [../../flux/sync.yaml, apps.yaml]\n"),
        ],
    );
    let gone = without(&base, "clusters/one/flux-system/gotk-sync.yaml");
    assert_eq!(words(&compared(&base, &gone)), "Nothing changes in any cluster.\n");
}

/// Which folder somebody applies is a guess, and another one where more stands in Git.
#[test]
fn what_only_a_guess_makes_another_cluster_is_not_told() {
    let home = |name: &str| flux(name, &format!("apps/{name}"), "");
    let mut base = Files::new();
    for name in ["a", "b"] {
        base.insert(format!("apps/{name}/ks.yaml"), home(name));
        base.insert(format!("apps/{name}/kustomization.yaml"), "resources: [map.yaml]\n".to_owned());
        base.insert(format!("apps/{name}/map.yaml"), map(name, ""));
    }
    base.insert("apps/kustomization.yaml".to_owned(), "resources: [a/ks.yaml, b/ks.yaml]\n".to_owned());
    let root = with(&base, &[("flux/cluster.yaml", "", &flux("apps", "apps", ""))]);
    let both = with(&root, &[("apps/a/map.yaml", "", &map("a", "k: v"))]);
    insta::assert_snapshot!([&root, &both].map(|after| words(&compared(&base, after))).join("\n---\n"));
}

/// Clusters that nothing in Git bootstraps, each with a path of its own for what a base brings.
fn shared(clusters: &[(&str, &str)]) -> Files {
    let mut found = Files::from([
        ("clusters/base/apps.yaml".to_owned(), flux("apps", "apps/a", "")),
        ("clusters/base/kustomization.yaml".to_owned(), "resources: [apps.yaml]\n".to_owned()),
    ]);
    for (name, path) in clusters {
        let patch = format!("- {{ op: replace, path: /spec/path, value: ./apps/{path} }}");
        let list = format!(
            "resources: [../base]\npatches:\n- target: {{ kind: Kustomization, name: apps }}\n  patch: |\n    {patch}\n"
        );
        found.insert(format!("clusters/{name}/kustomization.yaml"), list);
        found.insert(format!("apps/{path}/map.yaml"), map(path, ""));
    }
    found
}

#[test]
fn a_cluster_that_comes_or_goes_beside_those_of_the_same_base_is_told() {
    let two = shared(&[("one", "a"), ("two", "b")]);
    let three = shared(&[("one", "a"), ("two", "b"), ("three", "c")]);
    insta::assert_snapshot!([words(&compared(&two, &three)), words(&compared(&three, &two))].join("\n---\n"));
}

/// What they share tells none of them from another, but what each builds does where all of them get other names.
#[test]
fn clusters_of_one_base_with_other_names_are_each_other_where_all_have_them() {
    let (base, other) = (shared(&[("a", "a"), ("b", "b")]), shared(&[("x", "a"), ("y", "b")]));
    let one = shared(&[("c", "a")]);
    insta::assert_snapshot!([&other, &one].map(|after| words(&compared(&base, after))).join("\n---\n"));
}

/// It has applied nothing, so that nothing of it stays.
#[test]
fn a_new_flux_kustomization_with_a_wrong_path_is_told_once() {
    let base = files();
    let new = with(&base, &[("clusters/one/new.yaml", "", &flux("new", "nowhere", ""))]);
    let report = compared(&base, &new);
    let told: Vec<_> = report.findings.iter().map(|one| (one.code, one.message.as_str())).collect();
    assert_eq!(
        told,
        [(
            Some("GW034"),
            "new has the path nowhere, which is not in this repository. It fails and applies nothing"
        )]
    );
}

#[test]
fn a_cluster_that_is_removed_on_purpose_is_told_once() {
    let more = [flux("more", "more", ""), flux("most", "most", "")].concat();
    let base = with(
        &with_cluster(&files(), "two"),
        &[
            ("clusters/two/more.yaml", "", &more),
            ("more/a.yaml", "", &map("a", "")),
            ("most/a.yaml", "", &map("b", "")),
        ],
    );
    let mut gone = base.clone();
    gone.retain(|path, _| !["clusters/two/", "more/", "most/"].iter().any(|own| path.starts_with(own)));
    insta::assert_snapshot!(words(&compared(&base, &gone)));
}
