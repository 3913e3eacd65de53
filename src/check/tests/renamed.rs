//! Clusters that get another name, in the spec or with their folder.

use std::collections::BTreeMap;

use super::repository::edited;
use super::spec::SPEC;
use crate::check::{Subject, audit, history};
use crate::delivery::{Known, Model, World};
use crate::diagnostic::{distinct, render};
use crate::path::RepoPath;
use crate::render::Lent;
use crate::repo::{File, Snapshot};
use crate::spec::parse;

type Files = BTreeMap<String, String>;

fn snapshot(files: &Files) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for (path, text) in files {
        snapshot.insert(RepoPath::parse(path).unwrap(), File::new(text.clone().into_bytes()));
    }
    snapshot
}

/// What is wrong on the way from one state to the other, and then with the other.
fn told(before: (&Files, &str), after: (&Files, &str)) -> String {
    let renderer = Lent::default();
    let spec = |text: &str| parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes()).unwrap().spec;
    let (old, new) = (spec(before.1), spec(after.1));
    let (before, after) = (snapshot(before.0), snapshot(after.0));
    let model = |snapshot, known: &Known| Model::read(snapshot, &RepoPath::top(), known, &renderer);
    let old_model = model(&before, &Known::of(&old).before(&after));
    let known = Known::of(&new).after(World { snapshot: &before, model: &old_model });
    let new_model = model(&after, &known);
    let subject = |snapshot, model, spec| Subject::new(snapshot, model, Some(spec), &renderer);
    let (old, new) = (subject(&before, &old_model, &old), subject(&after, &new_model, &new));
    let mut found = distinct(history(&old, &new).into_iter().map(|told| told.finding));
    found.extend(audit(&new, "2026-01-05T12:00:00Z".parse().unwrap()));
    render(&found, false, 100)
}

/// The spec with another name of the cluster.
fn named(name: &str, folder: &str) -> String {
    let cluster = format!("{{ {name}: {{ roots: [clusters/{folder}], paths: [clusters/{folder}] }} }}");
    let text = SPEC.replace("{ edge: {} }", &cluster);
    text.replace("namespace: jobs", "namespace: flux-system")
}

#[test]
fn another_name_in_the_spec_alone_changes_nothing_in_the_cluster() {
    let files = edited(&[]);
    let (old, new) = (named("edge", "edge"), named("rand", "edge"));
    let same = told((&files, &old), (&files, &old));
    assert_eq!(told((&files, &old), (&files, &new)), same);
    // What leaves Git with that is told all the same.
    let less = edited(&[&[("apps/rt/kustomization.yaml", "settings.yaml, ", "")]]);
    let renamed = told((&files, &old), (&less, &new));
    assert!(renamed.contains("GW054"), "{renamed}");
    assert_eq!(renamed, told((&files, &old), (&less, &old)));
}

#[test]
fn a_folder_that_moves_in_two_commits_is_one_cluster() {
    let first = edited(&[]);
    let moved = |text: &str| text.replace("clusters/edge", "clusters/rand");
    let mut both = first.clone();
    for (path, text) in first.iter().filter(|(path, _)| path.starts_with("clusters/edge/")) {
        both.insert(moved(path), moved(text));
    }
    let sync = "clusters/edge/flux-system/gotk-sync.yaml";
    both.insert(sync.to_owned(), moved(&first[sync]));
    let mut last = both.clone();
    last.retain(|path, _| !path.starts_with("clusters/edge/"));
    let spec = |name: &str| SPEC.replace("{ edge: {} }", &format!("{{ {name}: {{}} }}"));
    let (old, new) = (spec("edge"), spec("rand"));
    // Nothing of it is wrong but what was wrong before.
    let usual = told((&last, &new), (&last, &new));
    assert_eq!(told((&first, &old), (&both, &new)), usual);
    assert_eq!(told((&both, &new), (&last, &new)), usual);
    insta::assert_snapshot!(told((&first, &old), (&last, &new)));
}
