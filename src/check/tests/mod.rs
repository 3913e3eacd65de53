//! Each code in a small repository: an edit that shows it and one that comes near.

mod cases;
mod changes;
mod gate_cases;
mod repository;
mod spec;
mod unjudged;

use std::collections::BTreeSet;

use cases::{CASES, Case};
use changes::CHANGES;
use gate_cases::GATE_CASES;
use repository::{Files, edited, findings};

use crate::check::CODES;
use crate::diagnostic::render;

/// The codes of which no edit of the repository without a spec is an example; `spec` and `unjudged` have
/// one each.
const APART: [&str; 5] = ["GW043", "GW045", "GW046", "GW047", "GW052"];

fn cases() -> impl Iterator<Item = &'static Case> {
    CASES.iter().chain(&GATE_CASES)
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    let files = [edited(&[])];
    assert_eq!(findings(&files, Some(&files))[0].0, Vec::<String>::new());
}

#[test]
fn each_finding_is_told_at_its_place_and_what_comes_near_is_not() {
    let near = || cases().filter(|case| !case.near.is_empty());
    let mut files: Vec<Files> = cases().map(|case| edited(&[case.shows])).collect();
    files.extend(near().map(|case| edited(&[case.near])));
    let found = findings(&files, None);
    let mut wrong = Vec::new();
    for (case, (told, findings)) in cases().zip(&found) {
        if !told.iter().any(|told| told == case.told) {
            wrong.push(format!("{} is not among {told:?}", case.told));
        }
        for finding in findings {
            assert!(finding.help.is_some() && !finding.message.ends_with('.'), "{finding:?}");
        }
    }
    for (case, (told, _)) in near().zip(&found[cases().count()..]) {
        if told.iter().any(|told| told.starts_with(&case.told[..5])) {
            wrong.push(format!("{} beside {:?}: {told:?}", case.told, case.near));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn changes_are_told_and_what_comes_near_is_not() {
    let each = || CHANGES.iter().flat_map(|change| [(change, change.before), (change, change.safe)]);
    let before: Vec<Files> = each().map(|(_, before)| edited(&[before])).collect();
    let after: Vec<Files> = each().map(|(change, before)| edited(&[before, change.shows])).collect();
    let found = findings(&after, Some(&before));
    let mut wrong = Vec::new();
    for (change, pair) in CHANGES.iter().zip(found.chunks(2)) {
        if !pair[0].0.iter().any(|told| told == change.told) {
            wrong.push(format!("{} is not among {:?}", change.told, pair[0].0));
        }
        if pair[1].0.iter().any(|told| told.starts_with(&change.told[..5])) {
            wrong.push(format!("{} although {:?}: {:?}", change.told, change.safe, pair[1].0));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_code_of_the_repository_has_a_case() {
    let shown: BTreeSet<&str> = cases()
        .map(|case| &case.told[..5])
        .chain(CHANGES.iter().map(|change| &change.told[..5]))
        .chain(APART)
        .collect();
    let codes: BTreeSet<&str> = CODES.iter().map(|code| code.code).filter(|code| *code < "GW100").collect();
    assert_eq!(shown, codes);
}

#[test]
fn schedules_of_hand_made_gates_are_looked_at() {
    let patch = "clusters/edge/infra/close-patch.yaml";
    let cases = [
        ("  timeZone: Europe/Berlin\n", "", Some("GW117 clusters/edge/infra/open-patch.yaml:6")),
        ("0 17 * * MON", "0 18 * * MON", None),
        ("0 17 * * MON", "0 8 * * MON", Some("GW107 clusters/edge/infra/close-patch.yaml:5")),
        ("0 17 * * MON", "5 8 * * MON", Some("GW111 clusters/edge/infra/close-patch.yaml:5")),
        ("0 17 * * MON", "0 17 31 2 *", Some("GW102 clusters/edge/infra/close-patch.yaml:5")),
        ("Europe/Berlin", "Europe/Paris", Some("GW117 clusters/edge/infra/open-patch.yaml:6")),
    ];
    let files: Vec<Files> = cases.iter().map(|(from, to, _)| edited(&[&[(patch, from, to)]])).collect();
    for ((_, to, told), (found, _)) in cases.into_iter().zip(findings(&files, None)) {
        match told {
            Some(told) => assert!(found.iter().any(|found| found == told), "{to}: {found:?}"),
            None => assert!(!found.iter().any(|found| found.starts_with("GW1")), "{to}: {found:?}"),
        }
    }
}

#[test]
fn a_broken_file_does_not_stop_the_rest() {
    let edits = [
        ("apps/rt/service.yaml", "", "<binary>"),
        ("apps/rw/release.yaml", "20.1.3", "20.x"),
        ("apps/rw/extra.yaml", "", "a: [\u{1b}[2J\n"),
    ];
    let (told, found) = findings(&[edited(&[&edits])], None).remove(0);
    assert!(told.contains(&"GW033 apps/rt/service.yaml:0".to_owned()), "{told:?}");
    assert!(told.contains(&"GW019 apps/rw/release.yaml:6".to_owned()), "{told:?}");
    assert!(!render(&found, false, 100).contains('\u{1b}'));
}

#[test]
fn what_goes_for_good_is_not_said_to_come_back() {
    let kustomization = "apps/rt/kustomization.yaml";
    let (before, after) = ([edited(&[])], [edited(&[&[(kustomization, "settings.yaml, ", "")]])]);
    let (_, found) = findings(&after, Some(&before)).remove(0);
    let said = |found: &[crate::diagnostic::Diagnostic]| {
        let told =
            found.iter().find(|finding| finding.code == Some("GW018")).map(|finding| finding.message.clone());
        told.unwrap_or_default()
    };
    assert!(said(&found).ends_with("so its pods can't be started anew from then on"), "{found:?}");
    let without = (
        "apps/rw/deployment.yaml",
        "      volumes:\n      - name: settings\n        configMap: { name: settings }\n",
        "",
    );
    let mended = edited(&[&[(kustomization, "settings.yaml, ", ""), without]]);
    let (_, found) = findings(&[mended], Some(&before)).remove(0);
    assert!(said(&found).ends_with("can't be started anew until then"), "{found:?}");
}
