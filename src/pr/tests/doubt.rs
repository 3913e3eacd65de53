//! Changes of what is perhaps not in the cluster.

use super::repository::{Files, NOW, compared_at, files, flux, map, with};

const ABOVE: &str = "clusters/one/above.yaml";
const LIST: &str = "below/kustomization.yaml";

/// Returns when a changed ConfigMap lands that `above` brings by `more`, and why that is not plain.
fn landing(before: &[(&str, &str, &str)], after: &[(&str, &str, &str)]) -> (String, String) {
    let (above, more) = (flux("above", "below", ""), flux("more", "more", ""));
    let base = with(
        &files(),
        &[
            (ABOVE, "", &above),
            (LIST, "", "resources: [more.yaml]\n"),
            ("below/more.yaml", "", &more),
            ("more/a.yaml", "", &map("a", "")),
        ],
    );
    let edit = |files: &Files, edits: &[(&str, &str, &str)]| with(files, edits);
    let head = edit(&base, &[("more/a.yaml", "", &map("a", "b: '1'"))]);
    let report = compared_at(NOW, &edit(&base, before), &edit(&head, after));
    let line = report.changes.iter().find(|one| one.id.name == "a").unwrap();
    (line.lands.state.as_str().to_owned(), line.lands.reason.clone().unwrap_or_default())
}

#[test]
fn what_only_a_suspended_or_failing_one_brings_lands_if_it_is_there() {
    let off = [(ABOVE, "  prune: true\n", "  prune: true\n  suspend: true\n")];
    let torn =
        [(LIST, "resources: [more.yaml]\n", "resources:\n<<<<<<< a\n- more.yaml\n=======\n>>>>>>> b\n")];
    let told = |why: &str| ("at-once".to_owned(), why.to_owned());
    assert_eq!(landing(&[], &[]), told(""));
    let suspended = "perhaps not in the cluster: Git suspends above, which brings it";
    assert_eq!(landing(&off, &off), told(suspended));
    let failing = "perhaps not in the cluster: above, which brings it, does not build";
    assert_eq!(landing(&torn, &torn), told(failing));
    // What the base brings is there.
    assert_eq!(landing(&[], &off), told(""));
    assert_eq!(landing(&[], &torn), told(""));
}
