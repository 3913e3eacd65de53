//! What is said of entry points that can't be divided: the first reason is one that a mend takes away for good.

use std::collections::BTreeMap;

use crate::delivery::{Input, Known, Model};
use crate::path::RepoPath;
use crate::plan::command::{SyncOptions, sync};
use crate::plan::migrate::{MigrateOptions, migrate};
use crate::plan::split::{Selection, join, split};
use crate::render::Lent;
use crate::repo::{File, Snapshot};
use crate::spec;
use crate::template::Templates;

pub(super) const SPEC: &str = "\
apiVersion: gitops-windows/v1
types: { rt: {}, rw: { window: saturday } }
windows: { saturday: { timeZone: Etc/UTC, open: 0 22 * * SAT, close: 0 2 * * SUN } }
clusters: { one: {}, two: {} }
rules: [{ kind: ConfigMap, type: rt }, { type: rw }]
gate: { enabled: true, namespace: flux-system }
";
pub(super) const APPS: &str = "\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: apps
  namespace: flux-system
spec:
  interval: 5m
  path: ./apps/one
  prune: true
  sourceRef: { kind: GitRepository, name: flux-system }
";

/// A cluster with an app of two types, and files that differ.
pub(super) fn files(edits: &[(&str, &str)]) -> Snapshot {
    let root = APPS.replace("name: apps", "name: flux-system").replace("apps/one", "clusters/one");
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: flux-system, namespace: flux-system }\nspec: { interval: 1m, url: 'https://example.org/fleet' }\n---\n";
    let sync = format!("{source}{root}");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web, namespace: shop }\n";
    let service = "apiVersion: v1\nkind: Service\nmetadata: { name: web, namespace: shop }\n";
    let all = [
        ("clusters/one/flux-system/gotk-sync.yaml", sync.as_str()),
        ("clusters/one/kustomization.yaml", "resources: [flux-system/gotk-sync.yaml, apps.yaml]\n"),
        ("clusters/one/apps.yaml", APPS),
        ("apps/one/kustomization.yaml", "resources: [web]\n"),
        ("apps/one/web/kustomization.yaml", "resources: [map.yaml, service.yaml]\n"),
        ("apps/one/web/map.yaml", map),
        ("apps/one/web/service.yaml", service),
    ];
    let mut snapshot = Snapshot::default();
    for (path, text) in all.iter().chain(edits) {
        snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
    }
    snapshot
}

/// Runs something with what is read of a repository.
fn with<T>(edits: &[(&str, &str)], run: impl FnOnce(&Input<'_>, &Templates) -> T) -> T {
    of(files(edits), run)
}

fn of<T>(snapshot: Snapshot, run: impl FnOnce(&Input<'_>, &Templates) -> T) -> T {
    of_spec(SPEC, snapshot, run)
}

pub(super) fn of_spec<T>(text: &str, snapshot: Snapshot, run: impl FnOnce(&Input<'_>, &Templates) -> T) -> T {
    let renderer = Lent::default();
    let spec = spec::parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes()).unwrap().spec;
    let model = Model::read(&snapshot, &RepoPath::top(), &Known::of(&spec), &renderer);
    let input = Input { spec: &spec, snapshot: &snapshot, model: &model, renderer: &renderer };
    run(&input, &Templates::new(BTreeMap::new()).unwrap())
}

/// Returns what becomes of each entry point: how it is divided, or why not and what to do.
fn told(edits: &[(&str, &str)]) -> String {
    with(edits, outcomes)
}

fn outcomes(input: &Input<'_>, templates: &Templates) -> String {
    let plan = split(input, None, templates, &Selection::All).unwrap();
    let one = |outcome: &crate::plan::EntryOutcome| {
        let problem = outcome.problem.as_ref();
        let steps = problem.map(|one| one.steps.iter().map(|step| format!("\n  {step}")).collect::<String>());
        let why = problem.map_or(outcome.way.as_str(), |one| one.reason.as_str());
        let why = format!(
            "{why}{}",
            if outcome.reason.is_empty() || problem.is_some() {
                String::new()
            } else {
                format!(", {}", outcome.reason)
            }
        );
        format!("{}: {why}{}\n", outcome.before, steps.unwrap_or_default())
    };
    plan.report.entries().iter().map(one).collect()
}

#[test]
fn a_reason_that_stays_comes_before_one_that_a_step_takes_away() {
    let old = APPS.replace("io/v1", "io/v1beta2").replace("prune", "validation: client\n  prune");
    insta::assert_snapshot!(told(&[("clusters/one/apps.yaml", &old)]), @r"
    apps/one: apps has `spec.validation`, which kustomize.toolkit.fluxcd.io/v1 does not know
      remove that field
      wait until the cluster has applied that
      run the same command again
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    ");
    let named = old.replace("name: apps", "name: ${NAME}-apps");
    let root = APPS.replace("name: apps", "name: flux-system").replace("apps/one", "clusters/one")
        + "  postBuild: { substitute: { NAME: shop } }\n";
    let files = [
        ("clusters/one/apps.yaml", named.as_str()),
        ("clusters/one/flux-system/gotk-sync.yaml", root.as_str()),
    ];
    insta::assert_snapshot!(told(&files), @r"
    apps/one: Flux Kustomization shop-apps in clusters/one/apps.yaml has a variable in `metadata.name`. Git does not show the cluster's value
      write the cluster's value, in a file for each cluster where several share this one
      wait until the cluster has applied that
      go on
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    ");
}

#[test]
fn a_patch_that_sets_the_path_is_for_no_successor() {
    let list = |target: &str, path: &str| {
        format!(
            "resources: [flux-system/gotk-sync.yaml, apps.yaml]\npatches:\n- target: {{ kind: Kustomization, name: {target} }}\n  patch: '[{{\"op\": \"add\", \"path\": \"{path}\", \"value\": \"./apps/one\"}}]'\n"
        )
    };
    let base = APPS.replace("./apps/one", "./apps/base");
    for target in ["apps", "apps.*"] {
        let files = [
            ("clusters/one/kustomization.yaml", &*list(target, "/spec/path")),
            ("clusters/one/apps.yaml", &*base),
        ];
        insta::allow_duplicates! { insta::assert_snapshot!(told(&files), @r"
    apps/one: the patch in line 3 of clusters/one/kustomization.yaml sets the path of apps. Each successor needs its own
      write the path into clusters/one/apps.yaml and take that out of the patch
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    "); }
    }
    let files = [("clusters/one/kustomization.yaml", &*list("apps.*", "/spec/serviceAccountName"))];
    assert!(told(&files).starts_with("apps/one: plain"), "{}", told(&files));
}

/// The folder of a successor lies deeper, so the same words mean another component there.
#[test]
fn a_patch_that_sets_components_is_for_no_successor() {
    let list = "resources: [flux-system/gotk-sync.yaml, apps.yaml]\n";
    let merge = |more: &str| {
        format!(
            "{list}patches:\n- patch: |-\n    apiVersion: kustomize.toolkit.fluxcd.io/v1\n    kind: Kustomization\n    metadata: {{ name: apps, namespace: flux-system }}\n    spec: {{ {more} }}\n"
        )
    };
    let component = (
        "common/kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nlabels: [{ pairs: { team: shop } }]\n",
    );
    let json = |path: &str, value: &str| {
        format!(
            "{list}patches:\n- target: {{ kind: Kustomization, name: apps.* }}\n  patch: '[{{\"op\": \"add\", \"path\": \"{path}\", \"value\": {value}}}]'\n"
        )
    };
    let with_list = APPS.to_owned() + "  components: []\n";
    for (patch, apps) in [
        (merge("components: [../../common]"), APPS),
        (json("/spec/components", "[\"../../common\"]"), APPS),
        (json("/spec/components/-", "\"../../common\""), with_list.as_str()),
    ] {
        let files =
            [("clusters/one/kustomization.yaml", &*patch), ("clusters/one/apps.yaml", apps), component];
        insta::allow_duplicates! { insta::assert_snapshot!(told(&files), @r"
    apps/one: the patch in line 3 of clusters/one/kustomization.yaml sets the components of apps. Each successor needs its own
      write the components into clusters/one/apps.yaml and take that out of the patch
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    "); }
    }
    // As that says.
    let apps = APPS.to_owned() + "  components: [../../common]\n";
    let files = [("clusters/one/kustomization.yaml", list), ("clusters/one/apps.yaml", &*apps), component];
    assert!(told(&files).starts_with("apps/one: plain"), "{}", told(&files));
}

#[test]
fn one_of_several_folders_of_a_file_that_cannot_be_divided_is_named_as_the_reason() {
    // One builds, the other lists what only the network has.
    let root = |cluster: &str| {
        let root = APPS
            .replace("name: apps", "name: flux-system")
            .replace("apps/one", &format!("clusters/{cluster}"));
        format!("{root}  postBuild: {{ substitute: {{ CLUSTER: {cluster} }} }}\n")
    };
    let (one, two) = (root("one"), root("two"));
    let apps = APPS.replace("./apps/one", "./apps/${CLUSTER}");
    let list = "resources: [flux-system/gotk-sync.yaml, ../../common]\n";
    let files = [
        ("clusters/one/flux-system/gotk-sync.yaml", one.as_str()),
        ("clusters/two/flux-system/gotk-sync.yaml", two.as_str()),
        ("clusters/one/kustomization.yaml", list),
        ("clusters/two/kustomization.yaml", list),
        ("common/kustomization.yaml", "resources: [apps.yaml]\n"),
        ("common/apps.yaml", apps.as_str()),
        ("apps/two/kustomization.yaml", "resources: [web, https://example.org/more.yaml]\n"),
        ("apps/two/web/kustomization.yaml", "resources: [map.yaml]\n"),
        (
            "apps/two/web/map.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: web, namespace: shop }\n",
        ),
    ];
    insta::assert_snapshot!(told(&files), @r"
    apps/one: apps/two can't be divided. Flux Kustomization apps in common/apps.yaml builds that too, and hands over all or none
      mend what keeps apps/two as it is
      or give each cluster its own file with a Flux Kustomization, and remove the shared one
    apps/two: apps/two needs the remote base `https://example.org/more.yaml`, which is not in the repository. The proof never asks the network
      copy it into the repository with `gitops-windows fetch-bases`
      or leave this entry point undivided
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    clusters/two: untouched, windows belong to the Flux Kustomizations that are applied there
    ");
}

#[test]
fn a_folder_that_waits_in_some_clusters_only_is_told_with_the_others() {
    let shared = APPS.replace("name: apps", "name: shared").replace("apps/one", "shared");
    let root = |cluster: &str| {
        APPS.replace("name: apps", "name: flux-system").replace("apps/one", &format!("clusters/{cluster}"))
    };
    let (one, two) = (root("one"), root("two"));
    // What is real-time there depends on it.
    let settings = APPS.replace("name: apps", "name: settings").replace("apps/one", "settings")
        + "  dependsOn: [{ name: shared }]\n";
    let (of_one, of_two) = (shared.clone(), format!("{shared}---\n{settings}"));
    let files = files(&[
        ("clusters/one/flux-system/gotk-sync.yaml", one.as_str()),
        ("clusters/one/kustomization.yaml", "resources: [flux-system/gotk-sync.yaml, apps.yaml]\n"),
        ("clusters/one/apps.yaml", of_one.as_str()),
        ("clusters/two/flux-system/gotk-sync.yaml", two.as_str()),
        ("clusters/two/kustomization.yaml", "resources: [flux-system/gotk-sync.yaml, apps.yaml]\n"),
        ("clusters/two/apps.yaml", of_two.as_str()),
        ("shared/kustomization.yaml", "resources: [service.yaml]\n"),
        (
            "shared/service.yaml",
            "apiVersion: v1\nkind: Service\nmetadata: { name: shared, namespace: shop }\n",
        ),
        ("settings/kustomization.yaml", "resources: [map.yaml]\n"),
        (
            "settings/map.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings, namespace: shop }\n",
        ),
    ]);
    let synced = of(files, |input, templates| {
        sync(input, templates, SyncOptions::default()).unwrap().changes.apply(input.snapshot)
    });
    insta::assert_snapshot!(of(synced, outcomes), @r"
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    clusters/two: untouched, windows belong to the Flux Kustomizations that are applied there
    settings: untouched, all of its objects have type rt
    shared: untouched, all of its objects have type rw. A gate suspends its whole Flux Kustomization, but not in two: `gitops-windows sync --dry-run` says why
    ");
}

/// What something real-time depends on has no gate: once a side is real-time, what that waits for loses its own.
#[test]
fn what_loses_its_gate_by_a_split_is_told_as_it_is_afterwards() {
    let shared = APPS.replace("name: apps", "name: shared").replace("apps/one", "shared");
    let apps = format!("{APPS}  dependsOn: [{{ name: shared }}]\n---\n{shared}");
    let files = files(&[
        ("clusters/one/apps.yaml", apps.as_str()),
        ("shared/kustomization.yaml", "resources: [service.yaml]\n"),
        (
            "shared/service.yaml",
            "apiVersion: v1\nkind: Service\nmetadata: { name: shared, namespace: shop }\n",
        ),
    ]);
    let gated = of_spec(&SPEC.replace("{ kind: ConfigMap, type: rt }, ", ""), files, |input, templates| {
        sync(input, templates, SyncOptions::default()).unwrap().changes.apply(input.snapshot)
    });
    let told = of(gated, |input, templates| {
        let plan = split(input, None, templates, &Selection::All).unwrap();
        let entries = plan.report.entries();
        let told = entries.iter().find(|one| one.before.as_str() == "shared").map(|one| one.reason.clone());
        let remarks = plan.remarks.iter().map(|one| one.message.clone());
        let commands = plan.commands.iter().map(|one| one.words.join(" "));
        told.into_iter().chain(remarks).chain(commands).collect::<Vec<_>>().join("\n")
    });
    insta::assert_snapshot!(told, @r"
    all of its objects have type rw. No gate suspends its Flux Kustomization: `gitops-windows sync --dry-run` says why
    Flux Kustomization shared of cluster one waits for no window any more. From now on its object lands at once
    flux resume kustomization shared --namespace flux-system
    ");
}

/// What `flux bootstrap` writes is no app, whatever lists it.
#[test]
fn a_folder_of_flux_is_no_app() {
    let list = ("clusters/one/kustomization.yaml", "resources: [flux-system, apps.yaml]\n");
    let own = ("clusters/one/flux-system/kustomization.yaml", "resources: [gotk-sync.yaml]\n");
    let told = with(&[list, own], |input, templates| {
        let selection = Selection::Named(vec!["other".to_owned()]);
        split(input, None, templates, &selection).unwrap_err().diagnostics.remove(0).help.unwrap_or_default()
    });
    assert_eq!(told, "the apps are: web");
}

#[test]
fn a_name_that_is_no_app_is_told_alike_by_split_and_join() {
    let named = |name: &str| {
        with(&[], |input, templates| {
            let selection = Selection::Named(vec!["web".to_owned(), name.to_owned()]);
            let errors = [
                split(input, None, templates, &selection),
                join(input, templates, &selection, &BTreeMap::new()),
            ];
            errors.map(|found| {
                let error = found.unwrap_err();
                let told = error
                    .diagnostics
                    .into_iter()
                    .map(|one| format!("{} ({})", one.message, one.help.unwrap_or_default()));
                format!("{:?}: {}", error.kind, told.collect::<String>())
            })
        })
    };
    for name in ["wbe", "other", "apps/one/web/", "apps/nowhere"] {
        let [split, join] = named(name);
        assert_eq!(split, join);
    }
    insta::assert_snapshot!(named("wbe")[0], @r"Usage: there is no app `wbe` in any entry point (did you mean `web`? The apps are: web)");
    insta::assert_snapshot!(named("apps/one/web/")[0], @r"Usage: there is no app `apps/one/web/` in any entry point (did you mean `web`? The apps are: web)");
    insta::assert_snapshot!(named("other")[0], @r"Usage: there is no app `other` in any entry point (the apps are: web)");
}

#[test]
fn two_objects_that_variables_give_one_name_are_no_build() {
    let apps = APPS.replace("  prune", "  postBuild: { substitute: { APP: web } }\n  prune");
    let service = |name: &str| {
        format!("apiVersion: v1\nkind: Service\nmetadata: {{ name: '{name}', namespace: shop }}\n")
    };
    let of = |name: &str| {
        let both = service("web") + "---\n" + &service(name);
        told(&[("clusters/one/apps.yaml", &apps), ("apps/one/web/service.yaml", &both)])
    };
    insta::assert_snapshot!(of("${APP}"), @"
    apps/one: Flux Kustomization apps can't build it: `postBuild` gives two of its objects one name, Service shop/web
      give one of the two another name, or another value to its variable
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    ");
    assert!(!of("${APP}-two").contains("one name"));
}

#[test]
fn a_name_behind_a_broken_list_is_told_with_that_list() {
    let told = |name: &str| {
        with(&[("apps/one/kustomization.yaml", "resources: [web\n")], |input, templates| {
            let selection = Selection::Named(vec![name.to_owned()]);
            let error = split(input, None, templates, &selection).unwrap_err();
            format!("{:?}\n{}", error.kind, crate::diagnostic::render(&error.diagnostics, false, 100))
        })
    };
    insta::assert_snapshot!(told("web"));
}

/// `migrate` would refuse the next step for good.
#[test]
fn what_a_real_time_one_depends_on_is_not_divided_into_gated_sides_alone() {
    let text = SPEC
        .replace("rw: { window: saturday }", "rw: { window: saturday }, night: { window: night }")
        .replace("windows: {", "windows: { night: { timeZone: Etc/UTC, open: 0 1 * * *, close: 0 3 * * * },")
        .replace("{ type: rw }]", "{ kind: Secret, type: night }, { type: rw }]");
    let first = APPS.replace("name: apps", "name: first").replace("apps/one", "apps/first")
        + "  dependsOn: [{ name: apps }]\n";
    let edits = [
        (
            "clusters/one/kustomization.yaml",
            "resources: [flux-system/gotk-sync.yaml, apps.yaml, first.yaml]\n",
        ),
        ("clusters/one/first.yaml", first.as_str()),
        ("apps/one/web/map.yaml", "apiVersion: v1\nkind: Secret\nmetadata: { name: web, namespace: shop }\n"),
        ("apps/first/kustomization.yaml", "resources: [map.yaml]\n"),
        (
            "apps/first/map.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: first, namespace: shop }\n",
        ),
    ];
    insta::assert_snapshot!(of_spec(&text, files(&edits), outcomes), @r"
    apps/first: untouched, all of its objects have type rt
    apps/one: Flux Kustomization first depends on apps, which will wait for a window. It would stop at the next commit
      remove apps from its `dependsOn` in clusters/one/first.yaml
      or give it a window too
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    ");
    // What only applies another one lands at once, whatever rules say.
    let child = APPS.replace("name: apps", "name: child").replace("apps/one", "apps/child");
    let account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: child, namespace: shop }\n";
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: child, namespace: shop }\n";
    let parent = [
        ("apps/first/kustomization.yaml", "resources: [child.yaml, account.yaml]\n"),
        ("apps/first/child.yaml", child.as_str()),
        ("apps/first/account.yaml", account),
        ("apps/child/map.yaml", map),
    ];
    let told = of_spec(&text, files(&[&edits[..3], &parent].concat()), outcomes);
    assert!(told.contains("apps/first: untouched, it applies a Flux Kustomization"), "{told}");
    assert!(told.contains("first.yaml\n") && !told.contains("window too"), "{told}");
}

#[test]
fn what_reads_a_source_that_may_be_another_repository_is_not_divided() {
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: podinfo, namespace: flux-system }\nspec: { interval: 1m, url: 'https://example.org/podinfo' }\n---\n";
    let podinfo = APPS.replace("name: apps", "name: podinfo").replace("./apps/one", "./kustomize");
    let podinfo = podinfo.replace("name: flux-system }", "name: podinfo }");
    let podinfo = format!("{source}{podinfo}");
    let (map, service) = ("resources: [../apps/one/web/map.yaml, s.yaml]\n", "kind: Service\n");
    let service = format!("apiVersion: v1\n{service}metadata: {{ name: p, namespace: p }}\n");
    let files = [
        // Nothing in Git says what applies the cluster's folder.
        ("clusters/one/flux-system/gotk-sync.yaml", "# by Terraform\n"),
        ("clusters/one/kustomization.yaml", "resources: [apps.yaml, podinfo.yaml]\n"),
        ("clusters/one/podinfo.yaml", podinfo.as_str()),
        ("kustomize/kustomization.yaml", map),
        ("kustomize/s.yaml", &service),
    ];
    insta::assert_snapshot!(told(&files), @r"
    apps/one: plain, web: moved apart, every object stays the same
    kustomize: GitRepository podinfo may be this repository or another one
      put the GitRepository of the root into Git, with its URL
      or name the source of this repository as `source` under `flux` in windows.yaml
    ");
}

#[test]
fn a_root_that_the_spec_names_is_not_divided() {
    let spec = SPEC.replace("one: {}", "one: { roots: [clusters/one] }");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: own, namespace: shop }\n";
    let service = map.replace("ConfigMap", "Service");
    let told = |list: &str| {
        let edits = [
            ("clusters/one/flux-system/gotk-sync.yaml", "# by Terraform\n"),
            ("clusters/one/kustomization.yaml", list),
            ("clusters/one/own/kustomization.yaml", "resources: [map.yaml, service.yaml]\n"),
            ("clusters/one/own/map.yaml", map),
            ("clusters/one/own/service.yaml", &service),
            // Nothing below is divided.
            ("apps/one/web/kustomization.yaml", "resources: [service.yaml]\n"),
        ];
        of_spec(&spec, files(&edits), outcomes)
    };
    insta::assert_snapshot!(told("resources: [own, apps.yaml]\n"), @r"
    apps/one: untouched, all of its objects have type rw. No gate suspends its Flux Kustomization: `gitops-windows sync --dry-run` says why
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    ");
    insta::assert_snapshot!(told("resources: [own/map.yaml, own/service.yaml, apps.yaml]\n"), @r"
    apps/one: untouched, all of its objects have type rw. No gate suspends its Flux Kustomization: `gitops-windows sync --dry-run` says why
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    ");
}

/// A patch for all of a list would give both successors what the old one waits for.
#[test]
fn a_patch_that_sets_what_is_waited_for_is_for_no_successor() {
    let list = |patch: &str| {
        format!("resources: [flux-system/gotk-sync.yaml, apps.yaml, db.yaml]\npatches:\n{patch}")
    };
    let db = APPS.replace("name: apps", "name: db").replace("apps/one", "apps/db");
    let told = |patch: &str| {
        told(&[
            ("clusters/one/kustomization.yaml", &list(patch)),
            ("clusters/one/db.yaml", &db),
            (
                "apps/db/kustomization.yaml",
                "namespace: shop\nconfigMapGenerator: [{ name: db, literals: [a=b] }]\n",
            ),
        ])
    };
    let json = "- target: { kind: Kustomization, name: apps.* }\n  patch: '[{\"op\": \"add\", \"path\": \"/spec/dependsOn\", \"value\": [{\"name\": \"db\"}]}]'\n";
    insta::assert_snapshot!(told(json), @r"
    apps/db: untouched, all of its objects have type rt
    apps/one: the patch in line 3 of clusters/one/kustomization.yaml sets `spec.dependsOn`. Each successor needs its own
      write that `dependsOn` into the file of each Flux Kustomization that the patch is for
      remove it from the patch in the same commit: clusters get the same as before
      run the same command again
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    ");
    let merge = "- target: { kind: Kustomization, name: apps.* }\n  patch: '{ apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: { name: all }, spec: { dependsOn: [{ name: db }] } }'\n";
    insta::assert_snapshot!(told(merge), @r"
    apps/db: untouched, all of its objects have type rt
    apps/one: the patch in line 3 of clusters/one/kustomization.yaml sets `spec.dependsOn`. Each successor needs its own
      write that `dependsOn` into the file of each Flux Kustomization that the patch is for
      remove it from the patch in the same commit: clusters get the same as before
      run the same command again
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    ");
    // What labels select is another one.
    let others = json.replace("name: apps.*", "labelSelector: app=other");
    assert!(told(&others).contains("apps/one: plain"), "{}", told(&others));
}

/// All successors get it beside what they wait for, as the old one did.
#[test]
fn a_patch_that_appends_to_what_is_waited_for_fits_all_successors() {
    let repository = |apps: &str, name: &str| {
        let patch = format!(
            "- target: {{ kind: Kustomization, name: apps.* }}\n  patch: '[{{\"op\": \"add\", \"path\": \"/spec/dependsOn/-\", \"value\": {{\"name\": \"{name}\"}}}}]'\n"
        );
        let list = format!(
            "resources: [flux-system/gotk-sync.yaml, apps.yaml, db.yaml, more.yaml]\npatches:\n{patch}"
        );
        let [db, more] = ["db", "more"].map(|name| {
            APPS.replace("name: apps", &format!("name: {name}")).replace("apps/one", &format!("apps/{name}"))
        });
        files(&[
            ("clusters/one/kustomization.yaml", &list),
            ("clusters/one/apps.yaml", apps),
            ("clusters/one/db.yaml", &db),
            ("clusters/one/more.yaml", &more),
            (
                "apps/db/kustomization.yaml",
                "namespace: shop\nconfigMapGenerator: [{ name: db, literals: [a=b] }]\n",
            ),
            (
                "apps/more/kustomization.yaml",
                "namespace: shop\nconfigMapGenerator: [{ name: more, literals: [a=b] }]\n",
            ),
        ])
    };
    let told = |apps: &str, name: &str| of(repository(apps, name), outcomes);
    let waiting = format!("{APPS}  dependsOn: [{{ name: db }}]\n");
    let fits = told(&waiting, "more");
    assert!(fits.contains("apps/one: plain"), "{fits}");
    let divided = of(repository(&waiting, "more"), |input, templates| {
        split(input, None, templates, &Selection::All).unwrap().changes.apply(input.snapshot)
    });
    let (stopped, after) = of(divided, |input, templates| {
        let plan = migrate(input, input, templates, &MigrateOptions::default()).unwrap();
        let problem = plan.report.entries().iter().find_map(|one| one.problem.as_ref());
        (problem.map(|problem| problem.reason.clone()), plan.changes.apply(input.snapshot))
    });
    assert_eq!(stopped, None);
    for side in ["rt", "rw"] {
        let file = RepoPath::parse(&format!("clusters/one/apps-{side}.yaml")).unwrap();
        let text = after.file(&file).and_then(File::text).unwrap_or_default();
        assert!(text.contains("dependsOn:") && text.contains("name: db"), "{text}");
    }
    let refused = "apps/one: the patch in line 3 of clusters/one/kustomization.yaml sets `spec.dependsOn`";
    // The one without a list of its own would not build.
    let bare = told(APPS, "more");
    assert!(!bare.contains("apps/one: plain"), "{bare}");
    // What goes itself is no one's to wait for.
    let own = told(&waiting, "apps");
    assert!(own.contains(refused), "{own}");
}

/// What a patch lets wait for an old one would wait for nothing.
#[test]
fn a_patch_that_names_what_goes_is_mended_before_a_split() {
    let db = APPS.replace("name: apps", "name: db").replace("apps/one", "apps/db");
    let list = "resources: [flux-system/gotk-sync.yaml, apps.yaml, db.yaml]\npatches:\n- target: { kind: Kustomization, name: db }\n  patch: '[{\"op\": \"add\", \"path\": \"/spec/dependsOn\", \"value\": [{\"name\": \"apps\"}]}]'\n";
    let files = [
        ("clusters/one/kustomization.yaml", list),
        ("clusters/one/db.yaml", &db),
        (
            "apps/db/kustomization.yaml",
            "namespace: shop\nconfigMapGenerator: [{ name: db, literals: [a=b] }]\n",
        ),
    ];
    insta::assert_snapshot!(told(&files), @r"
    apps/db: untouched, all of its objects have type rt
    apps/one: the patch in line 3 of clusters/one/kustomization.yaml lets db depend on apps, which its successors replace
      write that `dependsOn` into the file of each Flux Kustomization that the patch is for
      remove it from the patch in the same commit: clusters get the same as before
      run the same command again
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    ");
    let db = format!("{db}  dependsOn: [{{ name: apps }}]\n");
    let list = list.split("patches").next().unwrap_or_default();
    let files = [("clusters/one/kustomization.yaml", list), ("clusters/one/db.yaml", &db), files[2]];
    insta::assert_snapshot!(told(&files), @r"
    apps/db: untouched, all of its objects have type rt
    apps/one: plain, web: moved apart, every object stays the same
    clusters/one: untouched, windows belong to the Flux Kustomizations that are applied there
    ");
}

/// What something else applies at once has no window after the split either.
#[test]
fn objects_that_something_else_applies_at_once_are_told_before_the_split() {
    let other = APPS.replace("name: apps", "name: other").replace("apps/one", "other");
    let files = [
        (
            "clusters/one/kustomization.yaml",
            "resources: [flux-system/gotk-sync.yaml, apps.yaml, other.yaml]\n",
        ),
        ("clusters/one/other.yaml", other.as_str()),
        ("other/kustomization.yaml", "resources: [../apps/one/web, map.yaml]\n"),
        ("other/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: other, namespace: shop }\n"),
    ];
    let told = |files: &[(&str, &str)]| {
        with(files, |input, templates| {
            let plan = split(input, None, templates, &Selection::Named(vec!["apps".to_owned()])).unwrap();
            plan.remarks.iter().map(|one| format!("{}\n", one.message)).collect::<String>()
        })
    };
    assert_eq!(
        told(&files),
        "other of cluster one applies Service shop/web of apps/one too, and at once. No window will hold it\n"
    );
    assert_eq!(told(&files[3..]), "");
    let apart = |more: &str| {
        let other = format!("{}{more}", other.trim_end());
        told(&[files[0], ("clusters/one/other.yaml", &other), files[2], files[3]])
    };
    assert_eq!(apart("\n  suspend: true\n"), "");
    assert_eq!(apart("\n  kubeConfig: { secretRef: { name: far } }\n"), "");
}

#[test]
fn a_gate_that_cannot_follow_stops_no_other_cluster() {
    let two = |text: &str| text.replace("clusters/one", "clusters/two").replace("apps/one", "apps/two");
    let before = files(&[]);
    let mut both = before.clone();
    for (path, _) in before.entries() {
        let text = two(before.file(path).unwrap().text().unwrap());
        both.insert(RepoPath::parse(&two(path.as_str())).unwrap(), File::new(text.as_bytes()));
    }
    let gated = of(both.clone(), |input, templates| {
        sync(input, templates, SyncOptions::default()).unwrap().changes.apply(&both)
    });
    // Somebody edited what is generated.
    let edited = |cluster: &str| {
        let mut edited = gated.clone();
        let is_job = |path: &RepoPath| {
            path.as_str().starts_with(&format!("clusters/{cluster}/")) && path.as_str().contains("open-")
        };
        let path = gated.entries().map(|(path, _)| path).find(|path| is_job(path)).unwrap();
        let text = gated.file(path).unwrap().text().unwrap().replace("0 22 * * SAT", "0 20 * * SAT");
        edited.insert(path.clone(), File::new(text.as_bytes()));
        edited
    };
    insta::assert_snapshot!(of(edited("one"), outcomes));
    let plan = of(edited("one"), |input, templates| split(input, None, templates, &Selection::All).unwrap());
    assert!(plan.changes.keys().all(|path| !path.as_str().contains("one/")), "{:?}", plan.changes.keys());
    assert!(plan.remarks.iter().any(|one| one.message == "the gate of cluster one stays as it stands"));
    // Where nothing else is left, the error is as it was.
    let only = |snapshot: &Snapshot| {
        let mut only = snapshot.clone();
        let list = RepoPath::parse("apps/two/web/kustomization.yaml").unwrap();
        only.insert(list, File::new(*b"resources: [service.yaml]\n"));
        only
    };
    let error = of(only(&edited("one")), |input, templates| {
        split(input, None, templates, &Selection::All).unwrap_err()
    });
    assert_eq!(error.kind, crate::error::ErrorKind::Conflict);
}
