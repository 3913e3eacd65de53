//! What is said of steps that reach a cluster only as a release.

use super::refusal_tests::{APPS, files, of};
use crate::delivery::Input;
use crate::diagnostic;
use crate::plan::Plan;
use crate::plan::migrate::{MigrateOptions, migrate};
use crate::plan::split::{Selection, split};
use crate::template::Templates;

fn told(plan: &Plan) -> String {
    diagnostic::render(&plan.remarks, false, 200)
}

/// Returns what each step says of a source with these fields, to the last one.
fn steps(reference: &str) -> [String; 4] {
    let root = APPS.replace("name: apps", "name: flux-system").replace("apps/one", "clusters/one");
    let sync = format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{ name: flux-system, namespace: flux-system }}\nspec: {{ interval: 1m, url: 'https://example.org/fleet'{reference} }}\n---\n{root}"
    );
    let mut tree = files(&[("clusters/one/flux-system/gotk-sync.yaml", &sync)]);
    [0, 1, 2, 3].map(|step| {
        let plan = of(tree.clone(), |input: &Input<'_>, templates: &Templates| match step {
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
    let [split, hand_over, finish, done] = steps(", ref: { semver: '>=1.0.0' }");
    insta::assert_snapshot!(split, @r"
    warning: GitRepository flux-system of cluster one follows semver >=1.0.0. A commit lands with the next release
     = help: 1. release this step alone: two steps in one release may delete objects
             2. run `gitops-windows migrate --base TAG` with the tag of that release
    ");
    assert_eq!((&hand_over, &finish, done.as_str()), (&split, &split, ""));
    let [tagged, ..] = steps(", ref: { branch: main, tag: v1.2.0 }");
    insta::assert_snapshot!(tagged, @r"
    warning: GitRepository flux-system of cluster one follows tag v1.2.0. A commit lands once that names another tag
     = help: 1. let it name a tag of this step alone: two steps together may delete objects
             2. run `gitops-windows migrate --base REVISION` with that tag
    ");
}

#[test]
fn a_branch_needs_no_release() {
    assert_eq!(steps(", ref: { branch: main }"), [""; 4]);
}
