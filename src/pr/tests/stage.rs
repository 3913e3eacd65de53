//! Files that come before the values that are put into them.

use super::chain::{told, with_values};
use super::repository::{Files, NOW, compared_at, map, with};
use crate::pr::Report;

const LIST: &str = "apps/apps-rt/kustomization.yaml";
const SETTINGS: &str = "apps/apps-rt/settings.yaml";
const BLUE: (&str, &str, &str) = ("vars/vars.yaml", "red", "blue");

/// The objects that Flux Kustomization `apps-rt` builds, each with what becomes of it, how, from which files and when.
fn all(report: &Report) -> String {
    let own = report.changes.iter().filter(|line| line.by.name() == "apps-rt");
    let line = |line: &crate::pr::Line| {
        let fields: Vec<String> = line.fields.iter().map(|field| format!("{field:?}")).collect();
        let files: Vec<String> = line.files.iter().map(ToString::to_string).collect();
        format!(
            "{} {}: {}\n  {}{}\n  from {}",
            line.id.name,
            line.kind.as_str(),
            told(&line.lands),
            fields.join(", "),
            line.object.as_ref().map(|object| object["data"].to_string()).unwrap_or_default(),
            files.join(", ")
        )
    };
    own.map(line).collect::<Vec<_>>().join("\n")
}

fn changed(base: &Files, edits: &[(&str, &str, &str)]) -> Report {
    compared_at(NOW, base, &with(base, edits))
}

#[test]
fn files_land_before_values_that_wait() {
    let base = with_values("vars", "", "");
    let both = changed(&base, &[BLUE, (SETTINGS, "a: '${color}'", "a: '${color}', b: '1'")]);
    let told = crate::pr::json(&both);
    assert_eq!([&told["changes"], &told["substituted"]].map(|all| all.as_array().unwrap().len()), [2, 2]);
    // What is new begins with the older value.
    let new = map("b", "a: '${color}'");
    let list = (LIST, "settings.yaml", "settings.yaml, b.yaml");
    let new = changed(&base, &[BLUE, list, ("apps/apps-rt/b.yaml", "", &new)]);
    // Where all lands together, it is told together.
    let held = with_values("vars, apps-rt", "", "");
    let together = changed(&held, &[BLUE, (SETTINGS, "a: '${color}'", "a: '${color}', b: '1'")]);
    // The files alone make no difference yet.
    let plain = with(&base, &[(SETTINGS, "${color}", "red")]);
    let unseen = changed(&plain, &[BLUE, (SETTINGS, "a: 'red'", "a: '${color}'")]);
    let all = [("both", both), ("new", new), ("together", together), ("unseen", unseen)]
        .map(|(what, report)| format!("## {what}\n{}", all(&report)));
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn what_has_its_name_from_a_value_goes_with_that() {
    let base =
        with(&with_values("vars", "", ""), &[(SETTINGS, "name: settings", "name: 'settings-${color}'")]);
    insta::assert_snapshot!(all(&changed(&base, &[BLUE])));
}
