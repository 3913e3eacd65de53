//! What is said of steps that reach a cluster only as a release.

use super::refusal_tests::{APPS, SPEC, files, of_spec};
use crate::delivery::Input;
use crate::diagnostic;
use crate::path::RepoPath;
use crate::plan::migrate::{MigrateOptions, migrate};
use crate::plan::split::{Selection, split};
use crate::plan::{Plan, Standing, on_branches};
use crate::repo::{File, Snapshot};
use crate::template::Templates;

fn told(plan: &Plan) -> String {
    diagnostic::render(&plan.remarks, false, 200)
}

/// Returns what each step says of a source with these fields, to the last one. Another source follows the same, and no step
/// reaches the cluster by it.
fn steps(spec: &str, reference: &str) -> [String; 4] {
    let source = |name: &str| {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec: {{ interval: 1m, url: 'https://example.org/fleet'{reference} }}\n---\n"
        )
    };
    let flux = |name: &str, folder: &str| APPS.replace("name: apps", name).replace("apps/one", folder);
    let sync = source("flux-system") + &flux("name: flux-system", "clusters/one");
    let other =
        source("other") + &flux("name: other", "other").replace("name: flux-system }", "name: other }");
    let mut tree = files(&[
        ("clusters/one/flux-system/gotk-sync.yaml", &sync),
        (
            "clusters/one/kustomization.yaml",
            "resources: [flux-system/gotk-sync.yaml, apps.yaml, other.yaml]\n",
        ),
        ("clusters/one/other.yaml", &other),
        ("other/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: other, namespace: shop }\n"),
    ]);
    [0, 1, 2, 3].map(|step| {
        let plan = of_spec(spec, tree.clone(), |input: &Input<'_>, templates: &Templates| match step {
            0 => split(input, None, templates, &Selection::All).unwrap(),
            _ => migrate(input, input, templates, &MigrateOptions::default()).unwrap(),
        });
        assert_eq!(plan.changes.is_empty(), step == 3, "step {step}");
        tree = plan.changes.apply(&tree);
        told(&plan)
    })
}

#[test]
fn a_step_that_lands_with_a_release_is_told_to_be_released_alone() {
    let [split, hand_over, finish, done] = steps(SPEC, ", ref: { semver: '>=1.0.0' }");
    insta::assert_snapshot!(split, @r"
    warning: GitRepository flux-system of cluster one follows semver >=1.0.0. A commit lands with the next release
     --> clusters/one/flux-system/gotk-sync.yaml:4:62
      |
    4 | spec: { interval: 1m, url: 'https://example.org/fleet', ref: { semver: '>=1.0.0' } }
      |                                                              ^^^^^^^^^^^^^^^^^^^^^
      |
      = help: 1. release this step alone: two steps in one release may delete objects
              2. run `gitops-windows migrate --base TAG` with the tag of that release
    ");
    assert_eq!((&hand_over, done.as_str()), (&split, ""));
    insta::assert_snapshot!(finish, @r"
    warning: GitRepository flux-system of cluster one follows semver >=1.0.0. A commit lands with the next release
     --> clusters/one/flux-system/gotk-sync.yaml:4:62
      |
    4 | spec: { interval: 1m, url: 'https://example.org/fleet', ref: { semver: '>=1.0.0' } }
      |                                                              ^^^^^^^^^^^^^^^^^^^^^
      |
      = help: release this step alone: two steps in one release may delete objects
    ");
    let [tagged, ..] = steps(SPEC, ", ref: { branch: main, tag: v1.2.0 }");
    insta::assert_snapshot!(tagged, @r"
    warning: GitRepository flux-system of cluster one follows tag v1.2.0. No commit lands before GitRepository flux-system names another tag
     --> clusters/one/flux-system/gotk-sync.yaml:4:62
      |
    4 | spec: { interval: 1m, url: 'https://example.org/fleet', ref: { branch: main, tag: v1.2.0 } }
      |                                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: 1. let it name a tag of this step alone: two steps together may delete objects
              2. run `gitops-windows migrate --base REVISION` with that tag
    ");
}

/// The spec gives the folders that the cluster of a root applies to another one.
#[test]
fn a_cluster_that_another_one_reads_is_told_too() {
    let spec = SPEC.replace("one: {}, two: {}", "spoke: { paths: [apps/one] }");
    let [split, hand_over, finish, done] = steps(&spec, ", ref: { tag: v1.2.0 }");
    insta::assert_snapshot!(split, @r"
    warning: GitRepository flux-system of cluster spoke follows tag v1.2.0. No commit lands before GitRepository flux-system names another tag
     --> clusters/one/flux-system/gotk-sync.yaml:4:62
      |
    4 | spec: { interval: 1m, url: 'https://example.org/fleet', ref: { tag: v1.2.0 } }
      |                                                              ^^^^^^^^^^^^^^^
      |
      = help: 1. let it name a tag of this step alone: two steps together may delete objects
              2. run `gitops-windows migrate --base REVISION` with that tag
    ");
    assert_eq!((&hand_over, done.as_str()), (&split, ""));
    assert_eq!(finish.lines().next(), split.lines().next());
}

#[test]
fn a_branch_needs_no_release() {
    assert_eq!(steps(SPEC, ", ref: { branch: main }"), [""; 4]);
}

/// The last step of a cluster is told as that, whatever others are at.
#[test]
fn one_cluster_is_at_its_last_step_while_another_is_on_its_way() {
    let of = |name: &str| {
        let source = format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{ name: flux-system, namespace: flux-system }}\nspec: {{ interval: 1m, url: 'https://example.org/fleet', ref: {{ tag: {name} }} }}\n---\n"
        );
        let root =
            APPS.replace("name: apps", "name: flux-system").replace("apps/one", &format!("clusters/{name}"));
        let list = "resources: [flux-system/gotk-sync.yaml, apps.yaml]\n".to_owned();
        let object = |kind: &str| {
            format!("apiVersion: v1\nkind: {kind}\nmetadata: {{ name: web, namespace: shop }}\n")
        };
        [
            (format!("clusters/{name}/flux-system/gotk-sync.yaml"), source + &root),
            (format!("clusters/{name}/kustomization.yaml"), list),
            (format!("clusters/{name}/apps.yaml"), APPS.replace("apps/one", &format!("apps/{name}"))),
            (format!("apps/{name}/kustomization.yaml"), "resources: [web]\n".to_owned()),
            (
                format!("apps/{name}/web/kustomization.yaml"),
                "resources: [map.yaml, service.yaml]\n".to_owned(),
            ),
            (format!("apps/{name}/web/map.yaml"), object("ConfigMap")),
            (format!("apps/{name}/web/service.yaml"), object("Service")),
        ]
    };
    let all: Vec<(String, String)> = ["one", "two"].into_iter().flat_map(of).collect();
    let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let split = of_spec(SPEC, files(&all), |input: &Input<'_>, templates: &Templates| {
        split(input, None, templates, &Selection::All).unwrap()
    });
    let mut tree = split.changes.apply(&files(&all));
    let mut step = |clusters: &[&str]| {
        let clusters = clusters.iter().map(|name| (*name).to_owned()).collect();
        let options = MigrateOptions { clusters, ..MigrateOptions::default() };
        let plan = of_spec(SPEC, tree.clone(), |input: &Input<'_>, templates: &Templates| {
            migrate(input, input, templates, &options).unwrap()
        });
        tree = plan.changes.apply(&tree);
        let told = plan.remarks.iter().map(|one| (one.message.clone(), one.help.clone().unwrap_or_default()));
        told.collect::<Vec<_>>()
    };
    step(&["one"]);
    let told = step(&[]);
    let helps = |name: &str| -> Vec<usize> {
        let own =
            told.iter().filter(|(message, _)| message.contains(&format!("of cluster {name} follows tag")));
        own.map(|(_, help)| help.lines().count()).collect()
    };
    assert_eq!([helps("one"), helps("two")], [vec![1], vec![2]], "{told:?}");
}

/// A patch that keeps from deleting goes last: as long as it is there, nothing is finished.
#[test]
fn a_patch_for_the_time_of_a_migration_is_asked_back() {
    let list = "resources: [flux-system/gotk-sync.yaml, apps.yaml]\n";
    let patch = "patches:\n- target: { kind: Kustomization, name: \"apps|apps-rt|apps-rw\" }\n  patch: '[{\"op\": \"add\", \"path\": \"/spec/prune\", \"value\": false}]'\n";
    let file = RepoPath::parse("clusters/one/kustomization.yaml").unwrap();
    let mut tree = files(&[(file.as_str(), &format!("{list}{patch}"))]);
    let step = |tree: &mut Snapshot| {
        let plan = of_spec(SPEC, tree.clone(), |input: &Input<'_>, templates: &Templates| {
            migrate(input, input, templates, &MigrateOptions::default()).unwrap()
        });
        *tree = plan.changes.apply(tree);
        let standings: Vec<String> = plan.report.standings().iter().flat_map(Standing::told).collect();
        format!("{}{}\n", told(&plan), standings.join("\n"))
    };
    let split = of_spec(SPEC, tree.clone(), |input: &Input<'_>, templates: &Templates| {
        split(input, None, templates, &Selection::All).unwrap()
    });
    tree = split.changes.apply(&tree);
    let hand_over = step(&mut tree);
    assert!(!hand_over.contains("the patch"), "{hand_over}");
    insta::assert_snapshot!(step(&mut tree), @r#"
    warning: the patch in line 3 of clusters/one/kustomization.yaml keeps apps-rt, apps-rw from deleting objects that leave Git. It was for the migration
     --> clusters/one/kustomization.yaml:3:3
      |
    3 | - target: { kind: Kustomization, name: "apps|apps-rt|apps-rw" }
      |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: 1. remove that patch from clusters/one/kustomization.yaml, with the last step or after it
              2. run `gitops-windows migrate`, which says whether all is finished
      apps/one  handed over (step 2 of 3)
        apps-rt, apps-rw apply it; they delete nothing yet
        this step: finish, so that they delete objects that leave Git
    "#);
    let kept = step(&mut tree);
    assert!(kept.contains("the patch in line 3"), "{kept}");
    let text = tree.file(&file).and_then(File::text).unwrap().replace(patch, "");
    tree.insert(file, File::new(text.as_bytes()));
    insta::assert_snapshot!(step(&mut tree), @r"
      apps/one  finished (step 3 of 3)
        apps-rt, apps-rw apply it
    ");
}

/// Changes are merged into one branch, and a cluster that follows another gets them later.
#[test]
fn a_step_for_a_cluster_on_another_branch_is_told_to_be_merged_there() {
    let tree = files(&[]);
    let said = |branch: &str| {
        of_spec(SPEC, tree.clone(), |input: &Input<'_>, _: &Templates| {
            let all: Vec<_> = input.model.flux_of_cluster("one").collect();
            diagnostic::render(&on_branches(input, all, branch), false, 200)
        })
    };
    assert_eq!(said("master"), "");
    insta::assert_snapshot!(said("main"), @r"
    warning: GitRepository flux-system of cluster one follows branch master. A step lands once it is merged into that
     = help: 1. merge each step alone into master, and wait until the clusters have applied it
             2. run `gitops-windows migrate --base origin/master` for the next
    ");
}
