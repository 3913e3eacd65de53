//! Each code in a small repository: an edit that shows it and one that comes near.

mod cases;
mod changes;
mod deletions;
mod dependencies;
mod doubt;
mod fetched;
mod gate_cases;
mod gated;
mod instances;
mod kept;
mod news;
mod owners;
mod renamed;
mod repository;
mod roots;
mod spec;
mod unjudged;
mod unmatched;

use std::collections::BTreeSet;

use cases::{CASES, Case};
use changes::CHANGES;
use gate_cases::GATE_CASES;
use repository::{Edit, Files, edited, findings};

use crate::check::CODES;
use crate::diagnostic::{Diagnostic, render};

/// The codes of which no edit of the repository without a spec is an example; `spec`, `unjudged` and
/// `unmatched` have one each.
const APART: [&str; 11] =
    ["GW043", "GW045", "GW046", "GW047", "GW052", "GW056", "GW057", "GW065", "GW067", "GW072", "GW077"];

/// One more source.
const OTHER_SOURCE: &str = "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: other, namespace: flux-system }\nspec: { interval: 1m, url: https://example.org/other }\n---\n";

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
fn a_source_is_told_that_may_be_another_repository_as_the_url_of_this_one_is_nowhere() {
    let (sync, apps) = ("clusters/edge/flux-system/gotk-sync.yaml", "clusters/edge/apps.yaml");
    let rt = "./apps/rt\n  prune: true\n  sourceRef: { kind: GitRepository, name: ";
    let told = |source: Edit| {
        let mut files = edited(&[&[source]]);
        let text = files.get_mut(apps).unwrap();
        *text = text.replacen(&format!("{rt}flux-system }}"), &format!("{rt}other }}"), 1);
        findings(&[files], None)[0].0.clone()
    };
    let unsaid =
        (sync, "GitRepository\nmetadata: { name: flux-system,", "GitRepository\nmetadata: { name: other,");
    let beside = (sync, "---\n", OTHER_SOURCE);
    assert_eq!(told(unsaid), ["GW036 clusters/edge/apps.yaml:17"]);
    assert_eq!(told(beside), [""; 0]);
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
        ("0 17 * * MON", "3 8 * * MON", Some("GW111 clusters/edge/infra/close-patch.yaml:5")),
        // The source is looked at each minute; the interval of what it holds, five minutes, does not count.
        ("0 17 * * MON", "5 8 * * MON", None),
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

/// The value that a patch sets does not stand where the release is declared.
#[test]
fn a_version_that_a_patch_sets_is_told_there() {
    const CHART: &str = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: { name: cache, namespace: shop }\nspec: { chart: { spec: { version: 20.x } } }\n";
    let edits: [Edit; 2] = [
        ("apps/rw/chart.yaml", "", CHART),
        ("apps/rw/kustomization.yaml", "patches:\n", "patches:\n- path: chart.yaml\n"),
    ];
    let (told, found) = findings(&[edited(&[&edits])], None).remove(0);
    assert!(told.contains(&"GW019 apps/rw/chart.yaml:4".to_owned()), "{told:?}");
    assert!(found.iter().any(|one| one.message.contains("of cluster edge")), "{found:?}");
}

#[test]
fn a_variable_that_comes_with_a_patch_is_told_of_the_flux_kustomization_alone() {
    let sync = "clusters/edge/flux-system/gotk-sync.yaml";
    let of_parent =
        (sync, "./clusters/edge\n", "./clusters/edge\n  postBuild: { substitute: { ZONE: a } }\n");
    let patched = (
        "clusters/edge/apps.yaml",
        "5m # apps-rt",
        "5m\n  postBuild: { substitute: { ZONE: a } }\n  patches: [{ target: { kind: ConfigMap }, patch: '[{\"op\": \"add\", \"path\": \"/data/b\", \"value\": \"${REGION}\"}]' }]",
    );
    let told = |edits: &[Edit]| {
        let (told, _) = findings(&[edited(&[edits])], None).remove(0);
        told.into_iter().filter(|told| told.starts_with("GW030")).collect::<Vec<_>>()
    };
    let alone = told(&[patched]);
    assert!(matches!(&alone[..], [one] if one.starts_with("GW030 apps/rt/settings.yaml")), "{alone:?}");
    let both = told(&[of_parent, patched]);
    assert!(matches!(&both[..], [one] if one.starts_with("GW030 clusters/edge/apps.yaml")), "{both:?}");
    // What the file holds of the same name is told there too.
    let of_file = ("apps/rt/settings.yaml", "a: '1'", "a: '${REGION}'");
    let all = told(&[of_parent, patched, of_file]);
    assert!(matches!(&all[..], [_, _]) && all.iter().any(|one| one.starts_with("GW030 apps/rt")), "{all:?}");
}

#[test]
fn a_variable_that_some_clusters_set_is_told_of_the_others() {
    let sync = |cluster: &str, more: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: flux-system, namespace: flux-system }}\nspec: {{ interval: 5m, path: ./clusters/{cluster}, prune: true, sourceRef: {{ kind: GitRepository, name: flux-system }} }}\n---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: base, namespace: flux-system }}\nspec: {{ interval: 5m, path: ./base, prune: true, sourceRef: {{ kind: GitRepository, name: flux-system }}, postBuild: {{ substitute: {{ {more} }} }} }}\n"
        )
    };
    let files = |of: &[(&str, &str)]| {
        let file = |(cluster, more): &(&str, &str)| {
            (format!("clusters/{cluster}/flux-system/gotk-sync.yaml"), sync(cluster, more))
        };
        let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: zone, namespace: a }\ndata: { zone: '${zone}' }\n";
        let base = ("base/zone.yaml".to_owned(), object.to_owned());
        of.iter().map(file).chain([base]).collect::<Files>()
    };
    let told = |of: &[(&str, &str)]| {
        let found = findings(&[files(of)], None).remove(0).1;
        found.into_iter().map(|one| one.message).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(told(&[("a", "zone: x"), ("b", "other: x"), ("c", "other: x")]), @r"ConfigMap a/zone holds `${zone}`, which the `postBuild` of base in clusters b, c does not set. Flux fails, or before 2.9 leaves it empty");
    insta::assert_snapshot!(told(&[("b", "other: x"), ("c", "other: x")]), @r"ConfigMap a/zone holds `${zone}`, which the `postBuild` of base does not set. Flux fails, or before 2.9 leaves it empty");
}

#[test]
fn what_a_hand_makes_wrong_is_told_with_the_way_out() {
    let told = |edits: &[Edit]| {
        let found = findings(&[edited(&[edits])], None).remove(0).1;
        let one = |one: Diagnostic| format!("{}\n  {}", one.message, one.help.unwrap_or_default());
        found.into_iter().map(one).collect::<Vec<_>>().join("\n")
    };
    let list = "clusters/edge/kustomization.yaml";
    let typo = ("clusters/edge/apps.yaml", "./apps/rt", "./aps/rt");
    let again = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: { name: apps-rt, namespace: flux-system }\nspec: { interval: 5m, prune: true, path: ./apps/rt, sourceRef: { kind: GitRepository, name: flux-system } }\n";
    let twice =
        [("clusters/edge/more.yaml", "", again), (list, "- apps.yaml\n", "- apps.yaml\n- more.yaml\n")];
    insta::assert_snapshot!(told(&[typo]), @r"
    apps-rt has the path p000/aps/rt, which is not in this repository. It fails and applies nothing
      did you mean `p000/apps/rt` or `p000/apps/rw`? spec.path is relative to the top of the source, not to this file
    ");
    insta::assert_snapshot!(told(&twice), @r"
    apps-rt is defined here and in p000/clusters/edge/more.yaml, and p000/clusters/edge builds both. That fails, and flux-system applies nothing new
      rename or remove one of the two
    p000/clusters/edge does not build, and flux-system applies nothing new from it: may not add resource with an already registered id: Kustomization.v1.kustomize.toolkit.fluxcd.io/apps-rt.flux-system
      run `kustomize build --load-restrictor LoadRestrictionsNone p000/clusters/edge`
    ");
}

#[test]
fn what_goes_for_good_is_not_said_to_come_back() {
    let kustomization = "apps/rt/kustomization.yaml";
    let (before, after) = ([edited(&[])], [edited(&[&[(kustomization, "settings.yaml, ", "")]])]);
    let (_, found) = findings(&after, Some(&before)).remove(0);
    let said = |found: &[Diagnostic]| {
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

/// The codes about deletion that a change from one state to another shows, with their messages.
fn deleted(before: &Files, after: &Files) -> Vec<String> {
    let (told, found) = findings(std::slice::from_ref(after), Some(std::slice::from_ref(before))).remove(0);
    let both = told
        .into_iter()
        .zip(found)
        .filter(|(_, finding)| matches!(finding.code, Some("GW012" | "GW034" | "GW048" | "GW054" | "GW055")));
    both.map(|(told, finding)| format!("{told} {}", finding.message)).collect()
}

#[test]
fn what_a_change_deletes_is_told_with_who_deletes_it() {
    let before = edited(&[]);
    let line = "resources: [namespace.yaml, settings.yaml, service.yaml]";
    let fewer = edited(&[&[("apps/rt/kustomization.yaml", line, "resources: [service.yaml]")]]);
    assert_eq!(
        deleted(&before, &fewer),
        [
            "GW054 clusters/edge/apps.yaml:16 this change takes 2 objects from apps-rt, which deletes them: ConfigMap \
             shop/settings, Namespace shop. With a Namespace go all objects in it: shop"
        ]
    );
    assert_eq!(deleted(&fewer, &before), Vec::<String>::new());
    // The Flux Kustomization goes with its folder.
    let mut gone = before.clone();
    gone.retain(|path, _| !path.starts_with("apps/rw/"));
    let apps = &before["clusters/edge/apps.yaml"];
    let rest: Vec<&str> = apps.split("---\n").take(2).collect();
    gone.insert("clusters/edge/apps.yaml".to_owned(), rest.join("---\n"));
    let said = deleted(&before, &gone);
    assert!(
        matches!(&said[..], [one] if one.contains("apps-rw leaves Git. If the window of CronJob `close` is open then, that deletes 2 objects")),
        "{said:?}"
    );
    // Told to keep them one commit earlier, it keeps them.
    let kept = |files: &Files| {
        let mut files = files.clone();
        let text = files["clusters/edge/apps.yaml"].replace("prune: true", "prune: false");
        files.insert("clusters/edge/apps.yaml".to_owned(), text);
        files
    };
    assert_eq!(deleted(&kept(&before), &kept(&gone)), Vec::<String>::new());
}

#[test]
fn generated_names_that_change_are_no_deletion() {
    let list = "resources: [deployment.yaml, release.yaml]";
    let generates = |value: &str| {
        let text = format!("{list}\nconfigMapGenerator: [{{ name: made, literals: [a={value}] }}]");
        let mut files = edited(&[]);
        let own = files["apps/rw/kustomization.yaml"].replace(list, &text);
        files.insert("apps/rw/kustomization.yaml".to_owned(), own);
        files
    };
    assert_eq!(deleted(&generates("1"), &generates("2")), Vec::<String>::new());
    assert_eq!(deleted(&generates("1"), &edited(&[])).len(), 1);
}

#[test]
fn a_cluster_folder_that_gets_another_name_or_goes_is_told() {
    let before = edited(&[]);
    let moved = |from: &str, to: &str| {
        let files = edited(&[]).into_iter();
        files.map(|(path, text)| (path.replace(from, to), text.replace(from, to))).collect::<Files>()
    };
    let renamed = moved("clusters/edge", "clusters/west");
    let gone = "GW034 clusters/edge:0 flux-system has the path p000/clusters/edge, which is not in this repository. It fails and applies nothing";
    let said = deleted(&before, &renamed);
    assert!(
        matches!(&said[..], [own, one] if own == gone && one.starts_with("GW055 clusters/west/flux-system/gotk-sync.yaml:11 p000/clusters/west replaces p000/clusters/edge")),
        "{said:?}"
    );
    // A file that stays behind, or something that goes by the way, makes no other thing of it.
    let mut rest = renamed.clone();
    rest.insert("clusters/edge/notes.txt".to_owned(), "old".to_owned());
    assert_eq!(deleted(&before, &rest).last(), said.last());
    // Both for one commit, with the new path in the old folder, and the old one gone after that.
    let mut both = renamed.clone();
    for (path, text) in before.iter().filter(|(path, _)| path.starts_with("clusters/")) {
        both.insert(path.clone(), text.replace("./clusters/edge", "./clusters/west"));
    }
    assert_eq!(deleted(&before, &both), Vec::<String>::new());
    // One that is taken down leaves another, which has nothing to do with it.
    let mut two = before.clone();
    two.extend(renamed.clone().into_iter().filter(|(path, _)| path.starts_with("clusters/")));
    assert_eq!(deleted(&two, &renamed), [gone]);
}
