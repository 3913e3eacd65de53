//! What is found about Flux Kustomizations of which it is open whether the cluster has them.

use std::collections::BTreeMap;

use super::repository::{Files, together};
use super::spec::{SPEC, files, spec, with};
use crate::check::{Subject, audit, generated};
use crate::diagnostic::{Diagnostic, render};
use crate::plan::edit::Builder;
use crate::plan::gate;
use crate::repo::Snapshot;
use crate::template::Templates;

const ABOVE: &str = "clusters/edge/above.yaml";

/// A cluster that gets both sides by `above`, and beside these what waits as a whole.
pub fn below() -> Files {
    let mut files = files();
    let all = files.remove("clusters/edge/flux.yaml").unwrap();
    let own = |name: &str| all.split_inclusive("---\n").find(|one| one.contains(name)).unwrap().to_owned();
    let like = |name: &str, path: &str| {
        own("name: infra").replace("name: infra", &format!("name: {name}")).replace("edge/infra", path)
    };
    let db = like("db", "edge/db");
    // What is perhaps not there needs it.
    let web = like("web", "edge/web").replace("spec:\n", "spec:\n  dependsOn: [{ name: db }]\n");
    let service = |name: &str| {
        format!("apiVersion: v1\nkind: Service\nmetadata: {{ name: {name}, namespace: shop }}\n")
    };
    let more = [
        ("clusters/edge/flux.yaml", own("name: infra") + &db),
        (ABOVE, like("above", "edge-above")),
        ("clusters/edge-above/apps.yaml", own("apps-rt") + &own("apps-rw") + &web),
        ("clusters/edge/db/service.yaml", service("db")),
        ("clusters/edge/web/service.yaml", service("other")),
    ];
    files.extend(more.map(|(path, text)| (path.to_owned(), text)));
    files
}

pub fn suspended(mut files: Files) -> Files {
    let above = files.get_mut(ABOVE).unwrap();
    *above = above.replace("  prune: true\n", "  prune: true\n  suspend: true\n");
    files
}

/// Brings the gates up to date, and returns the tree with what is said of it.
pub fn synced(snapshot: &Snapshot) -> (Snapshot, Vec<Diagnostic>) {
    synced_as(SPEC, snapshot)
}

/// As [`synced`], by this spec.
pub fn synced_as(text: &str, snapshot: &Snapshot) -> (Snapshot, Vec<Diagnostic>) {
    let (plan, remarks) = with(snapshot, &spec(text), |input| {
        let mut builder = Builder::new(input.snapshot);
        let templates = Templates::new(BTreeMap::new()).unwrap();
        let left = gate::sync_built(input, &templates, &mut builder, gate::Late::Refused).unwrap();
        (builder.finish(), left.remarks)
    });
    (plan.changes.apply(snapshot), remarks)
}

pub fn found(snapshot: &Snapshot) -> Vec<Diagnostic> {
    let templates = Templates::new(BTreeMap::new()).unwrap();
    with(snapshot, &spec(SPEC), |input| {
        let subject = Subject::new(input.snapshot, input.model, Some(input.spec), input.renderer);
        let mut all = audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap());
        all.extend(generated(input, &templates).findings);
        all
    })
}

pub fn of(code: &str, all: &[Diagnostic]) -> String {
    let own: Vec<Diagnostic> = all.iter().filter(|one| one.code == Some(code)).cloned().collect();
    render(&own, false, 200)
}

/// The CronJobs of the gates.
pub fn job(snapshot: &Snapshot) -> String {
    let files = snapshot.entries().filter(|(path, _)| path.as_str().ends_with("-job.yaml"));
    files.filter_map(|(path, _)| snapshot.file(path)?.text()).collect()
}

/// The repository with another text in place of each in the files of CronJobs.
pub fn with_jobs(snapshot: &Snapshot, from: &str, to: &str) -> Snapshot {
    let mut edited = snapshot.clone();
    for (path, _) in snapshot.entries().filter(|(path, _)| path.as_str().ends_with("-job.yaml")) {
        let text = snapshot.file(path).unwrap().text().unwrap();
        assert!(text.contains(from), "{text}");
        edited.insert(path.clone(), crate::repo::File::new(text.replace(from, to).into_bytes()));
    }
    edited
}

#[test]
fn a_new_gate_leaves_out_what_only_a_suspended_one_brings() {
    let (gated, remarks) = synced(&together(&[suspended(below())]));
    insta::assert_snapshot!(render(
        &remarks.into_iter().filter(|one| one.message.contains("leaves out")).collect::<Vec<_>>(),
        false,
        200
    ));
    let job_of = job(&gated);
    assert!(job_of.contains("\"db\"") && !job_of.contains("apps-rw"), "{job_of}");
    let all = found(&gated);
    assert_eq!((of("GW005", &all), of("GW047", &all)), (String::new(), String::new()));
    // Once Git resumes it, the gate is behind.
    let mut resumed = gated.clone();
    let path = crate::path::RepoPath::parse(&format!("p000/{ABOVE}")).unwrap();
    let text = resumed.file(&path).unwrap().text().unwrap().replace("  suspend: true\n", "");
    resumed.insert(path, crate::repo::File::new(text.into_bytes()));
    assert!(of("GW047", &found(&resumed)).contains("close-reconciliation-window"));
    let job_of = job(&synced(&resumed).0);
    assert!(["apps-rw", "db", "web"].iter().all(|name| job_of.contains(name)), "{job_of}");
}

#[test]
fn a_gate_that_stands_keeps_what_it_names_and_is_told_to_fail() {
    let (gated, _) = synced(&together(&[below()]));
    assert!(job(&gated).contains("apps-rw"));
    let mut off = gated.clone();
    let path = crate::path::RepoPath::parse(&format!("p000/{ABOVE}")).unwrap();
    let text = off.file(&path).unwrap().text().unwrap();
    let text = text.replace("  prune: true\n", "  prune: true\n  suspend: true\n");
    off.insert(path, crate::repo::File::new(text.into_bytes()));
    let (after, remarks) = synced(&off);
    assert_eq!(job(&after), job(&off));
    assert!(!remarks.iter().any(|one| one.message.contains("leaves out")), "{remarks:?}");
    let all = found(&off);
    assert_eq!(of("GW047", &all), "");
    insta::assert_snapshot!(of("GW005", &all));
    // As that says, the gate lets go of what the commands name no more, and of nothing else.
    let without = with_jobs(&with_jobs(&off, "\"apps-rw\", ", ""), ", \"web\"", "");
    let job_of = job(&synced(&without).0);
    assert!(
        job_of.contains("\"db\"") && !job_of.contains("apps-rw") && !job_of.contains("web\""),
        "{job_of}"
    );
}

#[test]
fn what_does_not_build_may_bring_what_a_job_names() {
    let (gated, _) = synced(&together(&[below()]));
    let codes = |text: &str| {
        let mut torn = gated.clone();
        let path = crate::path::RepoPath::parse("p000/clusters/edge-above/apps.yaml").unwrap();
        torn.insert(path, crate::repo::File::new(text.as_bytes()));
        of("GW005", &found(&torn))
    };
    assert!(codes("# nothing\n").contains("which is not in Git"));
    let torn = format!("<<<<<<< HEAD\n{}=======\n>>>>>>> other\n", below()["clusters/edge-above/apps.yaml"]);
    assert_eq!(codes(&torn), "");
}
