use super::*;
use crate::change::Change;
use crate::diff;
use crate::path::RepoPath;
use crate::repo::File;

/// Path, bytes before and after.
type Row<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

fn shown(rows: &[Row<'_>]) -> String {
    let file = |text: &Option<&str>| text.map(|text| File::new(text.as_bytes()));
    let change = |(name, before, after): &Row<'_>| {
        let change = Change { before: file(before), after: file(after), moved_from: None };
        (RepoPath::parse(name).unwrap(), change)
    };
    let plan: Changes = rows.iter().map(change).collect();
    let (text, is_cut) = diff::brief(&plan, false);
    assert_eq!(is_cut, text != diff::unified(&plan, false), "{text}");
    text
}

#[test]
fn files_that_change_alike_are_shown_once() {
    let job = Some("kind: CronJob\nspec:\n  schedule: 0 22 * * SAT\n");
    let many: Vec<String> = (0..8).map(|n| format!("clusters/{n}/gate/open.yaml")).collect();
    let mut rows: Vec<Row<'_>> = many.iter().map(|name| (name.as_str(), None, job)).collect();
    rows.push(("clusters/0/gate/close.yaml", None, Some("kind: CronJob\n")));
    // The same lines at another place of the file.
    rows.push((
        "a/kustomization.yaml",
        Some("a: 1\nresources:\n  - x\n"),
        Some("a: 1\nresources:\n  - x\n  - y\n"),
    ));
    rows.push((
        "b/kustomization.yaml",
        Some("b\n\n\n\na: 1\nresources:\n  - x\n"),
        Some("b\n\n\n\na: 1\nresources:\n  - x\n  - y\n"),
    ));
    // And what is no file of text.
    rows.push(("y", None, Some("\x01\0")));
    rows.push(("z", None, Some("\x02\0")));
    insta::assert_snapshot!(shown(&rows));
}

#[test]
fn what_stays_in_comments_and_what_is_rewritten_alike_is_counted() {
    let list: String = (0..12).map(|n| format!("  - ../../base/app{n}\n")).collect();
    let list = format!("kind: Kustomization\nresources:\n{list}  # - ../../base/off\n");
    let umbrella = umbrella::write(&list, &["all".to_owned()], &[]);
    let moved = list.replace("- ../../base/a", "- ../../../base/a");
    insta::assert_snapshot!(
        [
            shown(&[
                ("o/all/kustomization.yaml", None, Some(&moved)),
                ("o/kustomization.yaml", Some(&list), Some(&umbrella))
            ]),
            // And back, or away.
            shown(&[("o/kustomization.yaml", Some(&umbrella), Some(&list))]),
            shown(&[("o/kustomization.yaml", Some(&umbrella), None)]),
            // The same text is a copy.
            shown(&[
                ("o/all/kustomization.yaml", None, Some(&list)),
                ("o/kustomization.yaml", Some(&list), Some(&umbrella))
            ]),
        ]
        .join("\n")
    );
}
