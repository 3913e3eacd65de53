//! Flux Kustomizations that a gate begins to hold back, or holds back no more.

use super::repository::{Files, NOW, OPEN, SPEC, SPEC_FILE, compared_at, files, flux, job, map, told, with};
use crate::pr::Topic;

fn gate(targets: &str) -> [(&'static str, &'static str, String); 2] {
    [
        ("clusters/one/gate/open.yaml", "", job("open", "resume", "0 22 * * SAT", targets)),
        ("clusters/one/gate/close.yaml", "", job("close", "suspend", "0 2 * * SUN", targets)),
    ]
}

fn with_gate(files: &Files, targets: &str) -> Files {
    let edits = gate(targets);
    let edits: Vec<(&str, &str, &str)> =
        edits.iter().map(|(path, from, to)| (*path, *from, to.as_str())).collect();
    with(files, &edits)
}

fn said(now: &str, before: &Files, after: &Files) -> Vec<String> {
    let report = compared_at(now, before, after);
    let mut all = told(&report, &[Topic::OutsideWindow, Topic::Check]);
    all.extend(
        report.findings.iter().filter(|one| one.message.contains("resumes")).map(|one| one.help.clone()),
    );
    all
}

#[test]
fn what_leaves_a_gate_or_comes_to_it_is_told() {
    let more = [
        ("clusters/one/more.yaml", "", flux("infra-configs", "more", "")),
        ("more/kustomization.yaml", "", "resources: [a.yaml]\n".to_owned()),
        ("more/a.yaml", "", map("a", "")),
    ];
    let more: Vec<(&str, &str, &str)> =
        more.iter().map(|(path, from, to)| (*path, *from, to.as_str())).collect();
    let base = with(&with(&files(), &[(SPEC_FILE, "", SPEC)]), &more);
    let both = with_gate(&base, "apps-rw, infra-configs");
    let all = [
        ("leaves, closed", said(NOW, &both, &base)),
        ("leaves, open", said(OPEN, &both, &base)),
        ("comes", said(NOW, &base, &both)),
    ];
    insta::assert_snapshot!(all.map(|(name, all)| format!("## {name}\n{}\n", all.join("\n"))).join("\n"));
    // What lands once nothing holds it.
    let edited = with(&base, &[("more/a.yaml", "", &map("a", "b: '1'"))]);
    let lands = |now: &str| {
        compared_at(now, &both, &edited).changes.iter().find(|one| one.id.name == "a").unwrap().lands.state
    };
    assert_eq!((lands(NOW).as_str(), lands(OPEN).as_str()), ("unknown", "at-once"));
}
