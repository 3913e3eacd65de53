//! What a gate that stands goes on holding.

use super::doubt::{below, found, job, of, suspended, synced, synced_as, with_jobs};
use super::repository::{Files, together};
use super::spec::{SPEC, files, spec, with};
use crate::delivery::fleet::{Fleet, GateState, Part, Schedules, Undivided};

#[test]
fn what_is_perhaps_not_there_keeps_its_gate_under_another_type() {
    let typed = |rule: &str| {
        let types = SPEC.replace("rw: { window: week }", "rw: { window: week }, slow: { window: week }");
        types.replace("{ type: rw }", &format!("{rule}{{ type: rw }}"))
    };
    let (gated, _) = synced_as(&typed(""), &together(&[below()]));
    let mut off = gated.clone();
    for (path, entry) in together(&[suspended(below())]).entries() {
        if path.as_str().ends_with("above.yaml") {
            off.put(path.clone(), entry.clone());
        }
    }
    let rule = "{ kind: Service, name: other, type: slow }, ";
    let (after, remarks) = synced_as(&typed(rule), &off);
    assert!(job(&gated).contains("\"web\"") && job(&after).contains("\"web\""), "{remarks:?}");
}

/// A cluster of which the root says its revision; `of_apps` is the source that the sides read.
fn pinned(of_apps: &str) -> Files {
    let mut files = files();
    let source = |name: &str, revision: &str| {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{ name: {name}, namespace: flux-system }}\n\
             spec: {{ interval: 1m, url: 'https://example.org/fleet', ref: {{ {revision} }} }}\n---\n"
        )
    };
    let all = files.remove("clusters/edge/flux.yaml").unwrap();
    let [infra, rt, rw] = &all.split_inclusive("---\n").collect::<Vec<_>>()[..] else { panic!("{all}") };
    let db = infra.replace("name: infra", "name: db").replace("edge/infra", "edge/db");
    let root = infra.replace("name: infra", "name: flux-system").replace("edge/infra", "edge");
    let sides = [*rt, *rw].concat().replace("name: flux-system }", &format!("name: {of_apps} }}"));
    let flux = [*infra, &db, &sides, &source("stable", "tag: v1")].concat();
    let more = [
        ("clusters/edge/kustomization.yaml", "resources: [sync.yaml, flux.yaml]\n".to_owned()),
        ("clusters/edge/sync.yaml", source("flux-system", "branch: main") + &root),
        ("clusters/edge/flux.yaml", flux),
        (
            "clusters/edge/db/service.yaml",
            "apiVersion: v1\nkind: Service\nmetadata: { name: db, namespace: shop }\n".to_owned(),
        ),
    ];
    files.extend(more.map(|(path, text)| (path.to_owned(), text)));
    files
}

/// Suspending works whatever revision is read.
#[test]
fn what_begins_to_read_another_revision_keeps_its_gate() {
    let (gated, _) = synced(&together(&[pinned("flux-system")]));
    assert!(job(&gated).contains("\"apps-rw\""));
    let mut moved = gated.clone();
    for (path, entry) in together(&[pinned("stable")]).entries() {
        if path.as_str().ends_with("edge/flux.yaml") {
            moved.put(path.clone(), entry.clone());
        }
    }
    let (after, remarks) = synced(&moved);
    assert_eq!(job(&after), job(&moved));
    let told = |remarks: &[crate::diagnostic::Diagnostic]| {
        let messages = remarks.iter().map(|one| one.message.as_str());
        messages.filter(|one| one.contains("goes on holding")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        told(&remarks),
        "the gate of cluster edge goes on holding apps-rw: GitRepository stable follows tag `v1`, and flux-system, which \
         brings it, branch `main`"
    );
    assert_eq!(of("GW047", &found(&moved)), "");
    let side = with(&moved, &spec(SPEC), |input| {
        let at = "2026-01-05T12:00:00Z".parse().unwrap();
        let schedules = Schedules::in_git(input.spec, input.model, at).unwrap();
        let fleet = Fleet::new(input.spec, input.model, &schedules);
        let is_it = |name: &str| name == "apps-rw";
        let mut own = fleet
            .sides
            .into_iter()
            .filter(|side| side.kustomization.as_ref().is_some_and(|one| is_it(&one.name)));
        own.next().map(|side| (side.part, side.gate, side.undivided, side.schedule.is_some()))
    });
    assert_eq!(side, Some((Part::Type(1), GateState::Closes, Some(Undivided::Elsewhere), true)));
    // It is let go as the note says.
    let (after, remarks) = synced(&with_jobs(&moved, "\"apps-rw\", ", ""));
    assert!(!job(&after).contains("apps-rw") && job(&after).contains("\"db\""));
    assert_eq!(told(&remarks), "");
}
