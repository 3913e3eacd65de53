//! Small repositories in two states, each with what a cluster has in the later one.

use super::*;
use crate::delivery::reading::tests::{SERVICE, believed_with, flux, read, source};
use crate::delivery::{Known, World};
use crate::repo::{File, Snapshot};

const ROOT: &str = "clusters/prod/sync.yaml";

/// Files of a repository.
type Files<'f> = &'f [(&'f str, &'f str)];

/// What a later state is read by.
fn known(before: Files<'_>) -> Known {
    let model = read(&Known::default(), before);
    let mut snapshot = Snapshot::default();
    for (path, text) in before {
        snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.as_bytes()));
    }
    Known::default().after(World { snapshot: &snapshot, model: &model })
}

/// A root with its source, and more of its `spec`.
fn root(more: &str) -> String {
    source("flux-system", "https://example.org/fleet", "")
        + "---\n"
        + &flux("flux-system", "./clusters/prod", more)
}

#[test]
fn what_a_failing_root_has_brought_is_there() {
    let (root, apps) = (root(""), flux("apps", "./apps", ""));
    let other = flux("more", "./more", "").replace("name: flux-system }", "name: other }");
    let other = source("other", "https://example.org/fleet", "") + "---\n" + &other;
    let base = [
        ("apps/s.yaml", SERVICE),
        ("more/s.yaml", SERVICE),
        ("clusters/prod/kustomization.yaml", "resources: [flux, apps.yaml, more.yaml]\n"),
        ("clusters/prod/apps.yaml", apps.as_str()),
        ("clusters/prod/flux/kustomization.yaml", "resources: [sync.yaml]\n"),
        ("clusters/prod/more.yaml", other.as_str()),
        ("clusters/prod/flux/sync.yaml", root.as_str()),
    ];
    let id = SourceId { kind: "GitRepository".into(), namespace: "flux-system".into(), name: "other".into() };
    // Its own list names what is gone, or a list below.
    for gone in [5, 6] {
        let after: Vec<_> = (0..base.len()).filter(|at| *at != gone).map(|at| base[at]).collect();
        assert_eq!(
            believed_with(&known(&base), &after).lines().collect::<Vec<_>>(),
            [
                "prod: clusters/prod applies itself",
                "  flux-system/flux-system clusters/prod by flux-system/flux-system",
                "  flux-system/apps apps by flux-system/flux-system",
                "  flux-system/more more by flux-system/flux-system",
            ],
            "{gone}"
        );
        let model = read(&known(&base), &after);
        assert!(model.delivered.all[0].source(&id).is_some(), "{gone}");
    }
}

#[test]
fn a_root_deletes_itself_with_what_it_applied_or_without() {
    let apps = flux("apps", "./apps", "");
    let told = |more: &str| {
        let root = root(more);
        let after = [("apps/s.yaml", SERVICE), ("clusters/prod/apps.yaml", apps.as_str())];
        let base = [&after[..], &[(ROOT, root.as_str())]].concat();
        let model = read(&known(&base), &after);
        let folder = RepoPath::parse("clusters/prod").unwrap();
        let lost = model.delivered.all.iter().flat_map(|own| {
            let all = own.kustomizations.iter();
            all.filter(|one| own.lost_source(one).is_some()).map(|one| one.name().to_owned())
        });
        let lost: Vec<String> = lost.collect();
        (model.delivered.deletes_itself(&folder), model.delivered.all.len(), lost)
    };
    assert_eq!(told(""), (true, 0, Vec::new()));
    assert_eq!(told("deletionPolicy: Orphan"), (true, 1, vec!["apps".to_owned()]));
    // What does not prune, and what is suspended, stays.
    for more in ["prune: false", "suspend: true", "prune: false, deletionPolicy: Delete"] {
        let root = root(more).replace("prune: true, sourceRef", "sourceRef");
        let after = [("apps/s.yaml", SERVICE), ("clusters/prod/apps.yaml", apps.as_str())];
        let base = [&after[..], &[(ROOT, root.as_str())]].concat();
        let model = read(&known(&base), &after);
        assert!(!model.delivered.deletes_itself(&RepoPath::parse("clusters/prod").unwrap()), "{more}");
    }
}

#[test]
fn what_its_own_settings_keep_from_being_applied_stays_as_it_was() {
    let root = root("");
    for (setting, path) in
        [("ssa: IfNotPresent", "apps"), ("reconcile: disabled", "apps"), ("ssa: Merge", "other")]
    {
        let annotations = format!("annotations: {{ kustomize.toolkit.fluxcd.io/{setting} }}, namespace");
        let apps = flux("apps", "./apps", "").replacen("namespace", &annotations, 1);
        let other = apps.replace("./apps", "./other");
        let files = |apps| {
            [
                ("apps/s.yaml", SERVICE),
                ("other/s.yaml", SERVICE),
                (ROOT, root.as_str()),
                ("clusters/prod/apps.yaml", apps),
            ]
        };
        let told = believed_with(&known(&files(&apps)), &files(&other));
        assert!(told.contains(&format!("flux-system/apps {path} by")), "{setting}: {told}");
    }
}
