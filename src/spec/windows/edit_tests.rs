use proptest::prelude::*;

use super::*;
use crate::path::RepoPath;
use crate::spec::parse;

const SPEC: &str = "\
apiVersion: gitops-windows/v1 # the only one
types:
  rt: {}
  rw: { window: work-week } # gated
windows:
  # Monday to Thursday
  work-week: { timeZone: Europe/Berlin, open: 0 8 * * MON, close: 0 17 * * THU }
  saturday:
    timeZone: \"Europe/Berlin\" # all are in Europe
    open: '0 22 * * SAT'
    for: 4h
clusters:
  edge-01: {}
  edge-02: { windows: { rw: saturday } }
  edge-03:
    path: clusters/three
    windows:
      rw: [work-week, saturday] # both
";

fn spec(text: &str) -> Spec {
    parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes()).unwrap().spec
}

fn edited(text: &str, wish: &Edit) -> String {
    edit(&spec(text), text, wish).unwrap().0
}

fn define(name: &str, parts: &[(WindowKey, &str)]) -> Edit {
    Edit::Define { name: name.into(), parts: owned(parts) }
}

fn inline(cluster: &str, parts: &[(WindowKey, &str)]) -> Edit {
    Edit::Inline { cluster: cluster.into(), change_type: None, parts: owned(parts) }
}

fn owned(parts: &[(WindowKey, &str)]) -> Vec<(WindowKey, String)> {
    parts.iter().map(|(key, text)| (*key, (*text).to_owned())).collect()
}

fn uses(cluster: &str, names: &[&str]) -> Edit {
    let owner = Owner::Cluster { cluster: cluster.into(), change_type: None };
    Edit::Use { owner, names: names.iter().map(|name| (*name).to_owned()).collect() }
}

/// The lines that an edit took away and brought.
fn lines(before: &str, after: &str) -> (Vec<String>, Vec<String>) {
    let diff = similar::TextDiff::from_lines(before, after);
    let of = |tag| {
        diff.iter_all_changes()
            .filter(|change| change.tag() == tag)
            .map(|change| change.value().trim_end().to_owned())
            .collect()
    };
    (of(similar::ChangeTag::Delete), of(similar::ChangeTag::Insert))
}

#[test]
fn a_value_changes_and_nothing_else() {
    let after = edited(SPEC, &define("saturday", &[(WindowKey::Open, "0 20 * * SAT")]));
    assert_eq!(after, SPEC.replace("'0 22 * * SAT'", "'0 20 * * SAT'"));
    let after = edited(SPEC, &define("work-week", &[(WindowKey::TimeZone, "UTC")]));
    assert_eq!(after, SPEC.replace("timeZone: Europe/Berlin, open", "timeZone: UTC, open"));
    assert_eq!(edited(SPEC, &define("saturday", &[(WindowKey::For, "4h")])), SPEC);
}

#[test]
fn one_way_to_write_a_window_replaces_another() {
    let after = edited(SPEC, &define("saturday", &[(WindowKey::Close, "0 4 * * SUN")]));
    assert_eq!(lines(SPEC, &after), (vec!["    for: 4h".into()], vec!["    close: \"0 4 * * SUN\"".into()]));
    let after =
        edited(SPEC, &define("work-week", &[(WindowKey::From, "Mon 08:00"), (WindowKey::To, "Thu 17:00")]));
    assert_eq!(
        lines(SPEC, &after).1,
        ["  work-week: { timeZone: Europe/Berlin, from: Mon 08:00, to: Thu 17:00 }"]
    );
    let back = edited(&after, &define("work-week", &[(WindowKey::Open, "@weekly"), (WindowKey::For, "1h")]));
    assert_eq!(
        lines(&after, &back).1,
        ["  work-week: { timeZone: Europe/Berlin, open: \"@weekly\", for: 1h }"]
    );
}

#[test]
fn a_window_is_added_and_taken_away() {
    let parts = [(WindowKey::TimeZone, "UTC"), (WindowKey::Open, "0 1 * * *"), (WindowKey::For, "1h")];
    let after = edited(SPEC, &define("night", &parts));
    assert_eq!(
        lines(SPEC, &after),
        (
            vec![],
            vec![
                "  night:".into(),
                "    timeZone: UTC".into(),
                "    open: \"0 1 * * *\"".into(),
                "    for: 1h".into()
            ]
        )
    );
    assert_eq!(edited(&after, &Edit::Remove { name: "night".into() }), SPEC);
}

#[test]
fn a_cluster_gets_windows_of_its_own_and_loses_them() {
    let parts = [(WindowKey::TimeZone, "UTC"), (WindowKey::Open, "0 1 * * *"), (WindowKey::For, "1h")];
    for cluster in ["edge-01", "edge-02", "edge-03"] {
        let after = edited(SPEC, &inline(cluster, &parts));
        let own = spec(&after);
        let own = own.windows_of(cluster, "rw");
        assert_eq!(own.len(), 1, "{after}");
        assert_eq!(own[0].text(WindowKey::For).unwrap().value, "1h");
        let changed = edited(&after, &inline(cluster, &[(WindowKey::For, "2h")]));
        assert_eq!(changed, after.replace("for: 1h", "for: 2h"));
        let reset = edited(&after, &Edit::Reset { cluster: cluster.into(), change_type: None });
        assert!(!spec(&reset).clusters[cluster].windows.contains_key("rw"), "{reset}");
        assert!(!reset.contains("windows: {}"), "{reset}");
    }
    let reset = edited(SPEC, &Edit::Reset { cluster: "edge-02".into(), change_type: Some("rw".into()) });
    assert_eq!(reset, SPEC.replace("{ windows: { rw: saturday } }", "{}"));
    assert_eq!(edited(SPEC, &Edit::Reset { cluster: "edge-01".into(), change_type: None }), SPEC);
}

#[test]
fn names_are_chosen_in_place() {
    for (cluster, names) in [
        ("edge-01", &["saturday"][..]),
        ("edge-01", &["saturday", "work-week"]),
        ("edge-02", &["work-week"]),
        ("edge-02", &["work-week", "saturday"]),
        ("edge-03", &["saturday"]),
        ("edge-03", &["saturday", "work-week"]),
        ("edge-03", &["work-week", "saturday"]),
    ] {
        let after = edited(SPEC, &uses(cluster, names));
        let spec = spec(&after);
        let found: Vec<&str> = spec
            .windows_of(cluster, "rw")
            .iter()
            .map(|window| window.name.as_ref().unwrap().as_str())
            .collect();
        assert_eq!(found, names, "{after}");
    }
    assert_eq!(edited(SPEC, &uses("edge-03", &["work-week", "saturday"])), SPEC);
    assert_eq!(edited(SPEC, &uses("edge-02", &["work-week"])), SPEC.replace("rw: saturday", "rw: work-week"));
    let owner = Owner::Type("rw".into());
    let after = edited(SPEC, &Edit::Use { owner, names: vec!["work-week".into(), "saturday".into()] });
    assert_eq!(spec(&after).change_type("rw").unwrap().windows.len(), 2, "{after}");
}

#[test]
fn carriage_returns_and_a_missing_last_line_break_stay() {
    let text = SPEC.replace('\n', "\r\n");
    let text = text.trim_end();
    let after = edited(text, &define("work-week", &[(WindowKey::TimeZone, "UTC")]));
    assert_eq!(after, text.replace("timeZone: Europe/Berlin, open", "timeZone: UTC, open"));
}

#[track_caller]
fn refused(text: &str, wish: &Edit, words: &[&str]) {
    let error = edit(&spec(text), text, wish).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Usage);
    let said = crate::diagnostic::render(&error.diagnostics, false, 100);
    for word in words {
        assert!(said.contains(word), "{word:?} is not in:\n{said}");
    }
}

#[test]
fn bad_values_are_told_with_their_place() {
    let zone = define("saturday", &[(WindowKey::TimeZone, "Europe/Berln")]);
    refused(SPEC, &zone, &["unknown time zone `Europe/Berln`", "windows.yaml:9:", "did you mean"]);
    let cron = define("saturday", &[(WindowKey::Open, "0 25 * * *")]);
    refused(SPEC, &cron, &["Kubernetes would refuse `open`", "windows.yaml:10:", "nothing was written"]);
    let half = define("night", &[(WindowKey::Open, "0 1 * * *")]);
    refused(SPEC, &half, &["close", "for"]);
    let both = define("saturday", &[(WindowKey::Close, "0 1 * * *"), (WindowKey::For, "1h")]);
    refused(SPEC, &both, &["for", "close"]);
    for name in ["", "Night", "a b", "a: b", "a\nb: {}", "on:", "{x}", "\u{202e}", "-"] {
        let parts = [(WindowKey::TimeZone, "UTC"), (WindowKey::Open, "0 1 * * *"), (WindowKey::For, "1h")];
        refused(SPEC, &define(name, &parts), &["window name"]);
    }
    for hostile in ["x\n    open: y", "UTC } }", "{{ x }}", "*a", "&a UTC", "!!null", "# c", "\u{7}"] {
        refused(SPEC, &define("saturday", &[(WindowKey::TimeZone, hostile)]), &["windows.yaml:"]);
    }
}

#[test]
fn unknown_names_suggest_what_is_there() {
    refused(SPEC, &Edit::Remove { name: "saturda".into() }, &["no window `saturda`", "`saturday`"]);
    refused(SPEC, &uses("edge-01", &["sunday"]), &["no window `sunday`"]);
    refused(SPEC, &uses("edge-1", &["saturday"]), &["no cluster `edge-1`", "`edge-01`"]);
    let owner = Owner::Type("rv".into());
    refused(SPEC, &Edit::Use { owner, names: vec!["saturday".into()] }, &["no type `rv`"]);
    let real_time = Edit::Reset { cluster: "edge-02".into(), change_type: Some("rx".into()) };
    refused(SPEC, &real_time, &["no type `rx`"]);
}

#[test]
fn a_window_in_use_is_not_taken_away() {
    refused(SPEC, &Edit::Remove { name: "saturday".into() }, &["window `saturday` is used by", "edge-02"]);
}

#[test]
fn a_type_is_named_where_several_have_windows() {
    let text = SPEC.replace("types:\n", "types:\n  a: { window: saturday }\n").replace("  rt: {}\n", "");
    refused(
        &text,
        &inline("edge-01", &[(WindowKey::For, "1h")]),
        &["2 types with a window", "--type: a, rw"],
    );
}

#[test]
fn an_edit_reaches_no_other_window_through_an_alias() {
    let text =
        SPEC.replace("work-week: {", "work-week: &w {").replace("  saturday:\n", "  twin: *w\n  saturday:\n");
    for name in ["work-week", "twin"] {
        let wish = define(name, &[(WindowKey::TimeZone, "UTC")]);
        let error = edit(&spec(&text), &text, &wish).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid, "{error}");
        assert!(error.diagnostics[0].message.contains("can't be edited"), "{error}");
    }
}

proptest! {
    /// Whatever a service passes on: the result holds exactly that text, or nothing changes.
    #[test]
    fn any_text_is_that_text_or_refused(text in "(?s).{0,20}", flow in any::<bool>()) {
        let name = if flow { "work-week" } else { "saturday" };
        let wish = define(name, &[(WindowKey::Open, &text)]);
        if let Ok((after, parsed)) = edit(&spec(SPEC), SPEC, &wish) {
            let window = &parsed.spec.windows[name];
            prop_assert_eq!(&window.text(WindowKey::Open).unwrap().value, &text);
            let (gone, come) = lines(SPEC, &after);
            prop_assert!(gone.len() <= 1 && come.len() <= 1, "{}", after);
        }
    }
}
