//! Pull requests that change what a source leaves out.

use super::repository::{Files, compared, files, lines, map, with, without};

/// A repository of which a folder has no list of its own.
fn listed_by_flux() -> Files {
    let base = without(&files(), "apps/apps-rt/kustomization.yaml");
    with(
        &base,
        &[("apps/apps-rt/b.yaml", "", &map("b", "")), ("apps/apps-rt/deep/c.yaml", "", &map("c", ""))],
    )
}

/// Returns what becomes of objects where a file of patterns comes, and where it goes.
fn both_ways(base: &Files, file: &str, patterns: &str) -> [Vec<String>; 2] {
    let ignoring = with(base, &[(file, "", patterns)]);
    [lines(&compared(base, &ignoring)), lines(&compared(&ignoring, base))]
}

#[test]
fn a_file_of_patterns_at_the_top_takes_files_away() {
    let base = listed_by_flux();
    assert_eq!(
        both_ways(&base, ".sourceignore", "/apps/apps-rt/b.yaml\n"),
        [["ConfigMap/b deleted at-once"], ["ConfigMap/b created at-once"]]
    );
    assert_eq!(
        both_ways(&base, ".sourceignore", "deep/\n"),
        [["ConfigMap/c deleted at-once"], ["ConfigMap/c created at-once"]]
    );
    // What no build reads.
    assert_eq!(both_ways(&base, ".sourceignore", "*.md\n"), [[""; 0]; 2]);
}

#[test]
fn a_file_of_patterns_in_a_folder_speaks_of_that_folder() {
    let base = listed_by_flux();
    assert_eq!(
        both_ways(&base, "apps/.sourceignore", "c.yaml\n"),
        [["ConfigMap/c deleted at-once"], ["ConfigMap/c created at-once"]]
    );
    assert_eq!(both_ways(&base, "other/.sourceignore", "c.yaml\n"), [[""; 0]; 2]);
}

#[test]
fn a_new_line_takes_a_file_away_or_back_in() {
    let base = with(&listed_by_flux(), &[(".sourceignore", "", "/*\n!/clusters\n!/apps\n")]);
    let hidden = compared(&base, &with(&base, &[(".sourceignore", "", "/*\n!/clusters\n!/apps\nb.yaml\n")]));
    assert_eq!(hidden.changes[0].files[0].path.as_str(), ".sourceignore");
    let change = |to: &str| lines(&compared(&base, &with(&base, &[(".sourceignore", "", to)])));
    assert_eq!(change("/*\n!/clusters\n!/apps\n# no change\n"), [""; 0]);
    assert_eq!(change("/*\n!/clusters\n!/apps\nb.yaml\n"), ["ConfigMap/b deleted at-once"]);
    let less = with(&base, &[(".sourceignore", "", "/*\n!/clusters\n!/apps\ndeep/\nb.yaml\n")]);
    let more = with(&less, &[("apps/apps-rt/.sourceignore", "", "!deep/c.yaml\n")]);
    assert_eq!(lines(&compared(&less, &more)), ["ConfigMap/c created at-once"]);
}

#[test]
fn a_change_of_a_file_that_is_left_out_changes_nothing() {
    let base = with(&listed_by_flux(), &[(".sourceignore", "", "b.yaml\n")]);
    let change = |file: &str| lines(&compared(&base, &with(&base, &[(file, "", &map("b", "a: '1'"))])));
    assert_eq!(change("apps/apps-rt/b.yaml"), [""; 0]);
    let hidden = compared(&base, &with(&base, &[("apps/apps-rt/b.yaml", "", &map("b", "a: '1'"))]));
    let unreached: Vec<&str> = hidden.unreached.iter().map(|file| file.as_str()).collect();
    assert_eq!(unreached, ["apps/apps-rt/b.yaml"]);
    assert_eq!(change("apps/apps-rt/d.yaml"), ["ConfigMap/b created at-once"]);
}

#[test]
fn a_list_that_is_left_out_gives_way_to_what_flux_lists() {
    let base = with(&files(), &[("apps/apps-rt/b.yaml", "", &map("b", ""))]);
    assert_eq!(
        both_ways(&base, ".sourceignore", "/apps/apps-rt/kustomization.yaml\n"),
        [["ConfigMap/b created at-once"], ["ConfigMap/b deleted at-once"]]
    );
    let base = with(&base, &[(".sourceignore", "", "/apps/apps-rt/kustomization.yaml\n")]);
    let more = with(&base, &[("apps/apps-rt/d.yaml", "", &map("d", ""))]);
    assert_eq!(lines(&compared(&base, &more)), ["ConfigMap/d created at-once"]);
}

#[test]
fn a_flux_kustomization_that_is_left_out_goes_with_its_objects() {
    let base = listed_by_flux();
    let apps = base["clusters/one/apps.yaml"].clone();
    let (rt, rw) = apps.split_at(apps.rfind("---").unwrap());
    let base = with(&base, &[("clusters/one/apps.yaml", "", rt), ("clusters/one/rw.yaml", "", rw)]);
    assert_eq!(
        both_ways(&base, ".sourceignore", "/clusters/one/apps.yaml\n")[0],
        [
            "Kustomization/apps-rt deleted at-once",
            "ConfigMap/b deleted at-once",
            "ConfigMap/c deleted at-once",
            "ConfigMap/settings deleted at-once"
        ]
    );
}
