//! Whole specs, good and bad.

use crate::diagnostic::{Diagnostic, Severity, line_column};
use crate::error::Error;
use crate::path::RepoPath;
use crate::schedule::WindowKey;
use crate::spec::{
    FluxDefaults, GateDef, LayoutTemplates, Matcher, Parsed, Placed, Runner, Spec, WindowUse, parse,
};

pub(super) const HEAD: &str = "apiVersion: gitops-windows/v1\n";

pub(super) const WHOLE: &str = "\
# yaml-language-server: $schema=./windows.schema.json
apiVersion: gitops-windows/v1
timeZone: Europe/Berlin
types:
  rt: {}
  rw: { window: work-week }
windows:
  work-week: { timeZone: Europe/Berlin, open: 0 8 * * MON, close: 0 17 * * THU }
  saturday: { timeZone: Europe/Berlin, open: 0 22 * * SAT, for: 4h }
  weekly: { timeZone: Europe/Berlin, from: Mon 08:00, to: Thu 17:00 }
clusters:
  edge-01: {}
  edge-02: { windows: { rw: { timeZone: America/New_York, open: 0 20 * * TUE, close: 0 2 * * WED } } }
  edge-03: { path: ./clusters/three/, gate: { enabled: false }, windows: { rw: [saturday, weekly] } }
  edge-04: { windows: { rw: saturday } }
rules:
  - { kind: Namespace, type: rt }
  - { label: app.kubernetes.io/part-of=web, annotation: live, type: rt }
  - { apiGroup: '', name: 'a*', namespace: x, app: nginx, path: apps/**/live/*.yaml, type: rt }
  - { type: rw }
flux: { namespace: flux, source: { kind: GitRepository, name: fleet, namespace: sources } }
gate: { namespace: gates, image: 'registry:5000/flux-cli:v2.9.4', runner: flux, serviceAccount: gate }
layout:
  entryPoint: '{path}/sets-{type}'
check:
  ignore:
    - { code: GW009, path: 'clusters/**', reason: two owners until May }
    - { code: GW101, reason: all sites are in one zone }
";

pub(super) fn read(text: &str) -> Result<Parsed, Error> {
    parse(&RepoPath::parse("sub/windows.yaml").unwrap(), text.as_bytes())
}

fn spec(text: &str) -> Spec {
    read(text).unwrap_or_else(|error| panic!("{text}\n{error:#?}")).spec
}

/// Returns `line:column what-is-pointed-at | message | help` of every diagnostic.
fn said(text: &str) -> Vec<String> {
    let error = read(text).expect_err(text);
    let errors = error.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    errors.map(line).collect()
}

fn line(diagnostic: &Diagnostic) -> String {
    let place = diagnostic.place.as_ref().unwrap();
    let at = match (&place.text, &place.span) {
        (Some(text), Some(span)) => {
            let (line, column) = line_column(text, span.start);
            format!("{line}:{column} {}", &text[span.clone()])
        }
        _ => "file".to_owned(),
    };
    format!("{at} | {} | {}", diagnostic.message, diagnostic.help.as_deref().unwrap_or_default())
}

fn names(windows: &[&Placed<crate::spec::WindowDef>]) -> Vec<String> {
    windows
        .iter()
        .map(|window| window.name.as_ref().map_or("inline", |name| name.as_str()).to_owned())
        .collect()
}

#[test]
fn everything_is_read() {
    let parsed = read(WHOLE).unwrap();
    assert_eq!(parsed.warnings, []);
    let spec = parsed.spec;
    assert_eq!(spec.folder().as_str(), "sub");
    assert!(spec.types[0].is_real_time() && !spec.types[1].is_real_time());
    assert_eq!(names(&spec.windows_of("edge-01", "rw")), ["work-week"]);
    assert_eq!(names(&spec.windows_of("edge-02", "rw")), ["inline"]);
    assert_eq!(names(&spec.windows_of("edge-03", "rw")), ["saturday", "weekly"]);
    assert_eq!(names(&spec.windows_of("edge-04", "rw")), ["saturday"]);
    assert_eq!(names(&spec.windows_of("elsewhere", "rw")), ["work-week"]);
    assert!(spec.windows_of("edge-01", "rt").is_empty() && spec.windows_of("edge-01", "no").is_empty());
    assert!(spec.gate_enabled("edge-01") && !spec.gate_enabled("edge-03"));
    assert_eq!(spec.clusters["edge-03"].paths[0].value, "clusters/three");
    let ignored: Vec<_> =
        spec.ignores.iter().map(|ignore| (ignore.code.as_str(), ignore.path.as_deref())).collect();
    assert_eq!(ignored, [("GW009", Some("clusters/**")), ("GW101", None)]);
    assert_eq!(spec.windows["saturday"].text(WindowKey::For).unwrap().value, "4h");
    assert_eq!(spec.windows["weekly"].text(WindowKey::To).unwrap().value, "Thu 17:00");
    assert_eq!(spec.rules[1].matcher.label, Some(("app.kubernetes.io/part-of".into(), Some("web".into()))));
    assert_eq!(spec.rules[1].matcher.annotation, Some(("live".into(), None)));
    assert_eq!(spec.rules[2].matcher.api_group.as_deref(), Some(""));
    assert_eq!(spec.flux.source.namespace.as_deref(), Some("sources"));
    assert_eq!((spec.gate.runner, spec.gate.image.as_str()), (Runner::Flux, "registry:5000/flux-cli:v2.9.4"));
    assert_eq!(spec.layout.entry_point, "{path}/sets-{type}");
    assert_eq!(spec.layout.app, LayoutTemplates::default().app);
}

#[test]
fn what_is_not_said_has_defaults() {
    let spec = spec(&format!(
        "{HEAD}types: {{ live: , window: {{ window: w }} }}\nwindows: {{ w: {{ timeZone: UTC, open: 0 8 * * MON, for: 4h }} }}\nclusters:\nflux:\n"
    ));
    let kinds: Vec<_> =
        spec.rules.iter().map(|rule| (rule.matcher.kind.as_deref(), rule.type_name.as_str())).collect();
    assert_eq!(kinds, [(Some("Namespace"), "live"), (Some("ConfigMap"), "live"), (None, "window")]);
    assert_eq!(spec.flux, FluxDefaults::default());
    assert_eq!(spec.gate, GateDef::default());
    assert_eq!(spec.layout, LayoutTemplates::default());
    assert!(spec.clusters.is_empty());
}

#[test]
fn mark_and_crlf_change_nothing() {
    let text = format!("\u{feff}{}", WHOLE.replace('\n', "\r\n"));
    let other = spec(&text);
    assert_eq!(other, spec(WHOLE));
    let zone = &other.windows["work-week"].time_zone.as_ref().unwrap();
    assert_eq!(&text[zone.place.span.clone().unwrap()], "Europe/Berlin");
    let WindowUse::Inline(inline) = &other.clusters["edge-02"].windows["rw"][0] else { panic!() };
    assert_eq!(&text[inline.place.span.clone().unwrap()], "rw");
    assert!(Matcher::default().matches_all());
}

#[test]
fn all_errors_come_at_once_in_the_order_of_the_file() {
    let text = "\
apiVersion: gitops-windows/v2
types:
  rt: {}
  rw: { windw: work-week }
  Rx: {}
windows:
  work-week: { open: 0 8 * * MON }
  work-week: { from: Mon 08:00, to: Thu 17:00, timeZone: UTC }
  on: { from: Mon 08:00, to: Thu 17:00, timeZone: UTC }
  odd: { open: a, from: Mon 08:00, timeZone: 12:30 }
clusters:
  edge-01: { windows: { rx: wrok-week, rt: work-week, rw: [] } }
  ../up: {}
  0777: {}
  both: { path: a, paths: [b, ../c] }
rules:
  - { kind: Config*, type: rw }
  - { kind: A }
  - 7
flux: []
gate: { enabled: yes, runner: kubctl, image: a b, serviceAccount: , mechanism: suspnd }
layout: { app: '{path}/x', kustomization: {name}, openJob: '{type}' }
extra: 1
";
    let expected = [
        "1:13 gitops-windows/v2 | apiVersion `gitops-windows/v2` is not `gitops-windows/v1` | did you mean `gitops-windows/v1`?",
        "4:9 windw | unknown key `windw` in a change type | did you mean `window`?",
        "5:3 Rx | type name `Rx` may hold only lowercase letters, digits and, between them, hyphens | choose a type name like `rx`",
        "7:3 work-week | a window has only `open`, which does not say when it opens and closes | give exactly `open` and `close`, or `open` and `for`, or `from` and `to`, or `on`, `from` and `for`",
        "8:3 work-week | the key `work-week` is given twice, so one of its values would be lost | remove one of them; the first is in line 7",
        "9:3 on | `on` without quotes is a boolean to YAML parsers, and window name must be text | put it in quotes: \"on\"",
        "10:3 odd | a window has `open` and `from`, which is not one way to say when it opens and closes | give exactly `open` and `close`, or `open` and `for`, or `from` and `to`, or `on`, `from` and `for`",
        "10:46 12:30 | `12:30` without quotes is a number in base 60 to YAML parsers, and timeZone must be text | give an IANA time zone such as `Europe/Berlin`",
        "12:25 rx | there is no type `rx` | did you mean `rt` or `rw`?",
        "12:29 wrok-week | there is no window `wrok-week` | did you mean `work-week`?",
        "12:40 rt | cluster `edge-01` gives a window to type `rt`, which is real-time without a gate | give the type a window under `types`, or remove `rt` here",
        "12:55 rw | cluster `edge-01` gives a window to type `rw`, which is real-time without a gate | give the type a window under `types`, or remove `rw` here",
        "12:59 [] | `rw` is an empty list | name at least one, or remove the key",
        "13:3 ../up | cluster name `../up` names a folder: letters, digits and, between them, `.`, `_` and `-` | choose a cluster name like `up`",
        "14:3 0777 | `0777` without quotes is a number to YAML parsers, and cluster name must be text | put it in quotes: \"0777\"",
        "15:20 paths | a cluster has both `path` and `paths` | move everything to `paths`",
        "15:31 ../c | paths `../c` leaves its folder with `..` | give a path relative to the folder of this file",
        "17:13 Config* | kind `Config*` is no kind: a kind holds letters and digits only, without wildcards | ",
        "18:5 { kind: A } | a rule lacks the key `type` | add `type`: The type of the objects that match.",
        "19:5 7 | a rule must be a mapping, not a number | write `key: value` pairs",
        "20:7 [] | the Flux defaults must be a mapping, not a list | write `key: value` pairs",
        "21:18 yes | enabled must be `true` or `false` | write `true` or `false`, without quotes",
        "21:31 kubctl | runner `kubctl` is not `kubectl` or `flux` | did you mean `kubectl`?",
        "21:46 a b | image `a b` is no image reference such as `ghcr.io/fluxcd/flux-cli:v2.9.4` | ",
        "21:51 serviceAccount | serviceAccount has no value | give a value, or remove the key",
        "21:80 suspnd | mechanism `suspnd` is not `suspend` or `follow` or `flux-operator` | did you mean `suspend`?",
        "22:16 '{path}/x' | app `{path}/x` lacks `{path}` and `{type}`, or `{name}` and `{type}`, or `{1}` and `{type}`, so two things would get the same name | ",
        "22:43 {name} | kustomization must be text, not a mapping | put the template in quotes, since `{` begins a mapping",
        "22:60 '{type}' | openJob `{type}` holds the unknown placeholder `{type}`; this one takes none | ",
        "23:1 extra | unknown key `extra` in the spec | the keys of the spec are `apiVersion`, `types`, `timeZone`, `windows`, `freezes`, `overrides`, `waves`, `stagger`, `clusters`, `rules`, `flux`, `gate`, `alerts`, `layout` and `check`",
    ];
    let said = said(text);
    for (said, expected) in said.iter().zip(expected) {
        assert_eq!(said, expected);
    }
    assert_eq!(said.len(), expected.len(), "{:#?}", said);
}

#[test]
fn what_is_no_spec_at_all_is_said_once() {
    for (bytes, message) in [
        (&b""[..], "the spec is empty"),
        (b"# nothing\n", "the spec is empty"),
        (b"\xef\xbb\xbf", "the spec is empty"),
        (b"\xff\xfea\0", "the spec is written in UTF-16"),
        (b"apiVersion: \xe9\n", "the spec is not UTF-8 from byte 13 on"),
        (b"apiVersion: a\n---\nb: 1\n", "a second YAML document begins here, and only one is read"),
        (b"[]\n", "the spec must be a mapping, not a list"),
        (b"text\n", "the spec must be a mapping, not text"),
        (b"{}\n", "the spec lacks the key `apiVersion`"),
    ] {
        let error = parse(&RepoPath::parse("windows.yaml").unwrap(), bytes).unwrap_err();
        assert_eq!(error.diagnostics[0].message, message);
        assert!(error.diagnostics.iter().all(|diagnostic| diagnostic.help.is_some()));
        assert_eq!(error.exit_code(), 3);
    }
}

#[test]
fn unquoted_templates_are_explained() {
    let error = read(&format!("{HEAD}types: {{ rt: {{}} }}\nlayout:\n  app: {{path}}/{{name}}-{{type}}\n"))
        .unwrap_err();
    assert!(error.diagnostics[0].help.as_deref().unwrap().contains("quotes"), "{error:?}");
}

#[test]
fn order_and_rules_are_judged_as_a_whole() {
    let window = "windows: { w: { timeZone: UTC, open: 0 8 * * MON, for: 4h } }\n";
    let types = |types: &str, rest: &str| format!("{HEAD}types: {types}\n{window}{rest}");
    assert!(said(&types("{ rw: { window: w }, rt: {} }", ""))[0].contains("after the gated type `rw`"));
    assert!(read(&types("{ rw: { window: w } }", "")).unwrap().warnings.is_empty());
    let parsed = read(&types("{ rw: { window: w }, rx: { window: w } }", "")).unwrap();
    assert!(parsed.warnings[0].message.contains("first type"));
    assert_eq!(parsed.warnings[0].severity, Severity::Warning);
    assert!(said(&types("{ rt: {}, rw: { window: [w, w] } }", ""))[0].contains("twice"));
    assert!(said(&types("{ rt: {} }", "rules: [{ kind: A, type: rt }]\n"))[0].contains("no type"));
    assert!(said(&types("{ rt: {} }", "rules: []\n"))[0].contains("no type"));
    let parsed = read(&types("{ rt: {} }", "rules: [{ type: rt }, { apiGroup: core, type: rt }]\n")).unwrap();
    assert_eq!(parsed.warnings.len(), 2);
    assert!(said(&types("{ rt: {} }", "layout: { openJob: a, closeJob: a }\n"))[0].contains("both `a`"));
    let two = "{ rt: {}, rw: { window: w }, rx: { window: w } }";
    assert!(said(&types(two, "layout: { openJobFile: a.yaml }\n"))[0].contains("several CronJobs"));
}

#[test]
fn a_rule_that_an_earlier_one_covers_is_a_warning() {
    let warned = |rules: &str| {
        let text = format!("{HEAD}types: {{ rt: {{}} }}\nrules: [{rules}]\n");
        read(&text).unwrap().warnings.iter().map(|warning| warning.message.clone()).collect::<Vec<_>>()
    };
    let never = |taken: &str| [format!("this rule never decides: rule 1 takes {taken}")];
    assert_eq!(warned("{ type: rt }, { kind: A, type: rt }"), never("everything"));
    let narrow = "{ kind: A, name: a*, type: rt }";
    assert_eq!(
        warned(&format!("{{ kind: A, type: rt }}, {narrow}, {{ type: rt }}")),
        never("all that it matches")
    );
    assert!(warned(&format!("{narrow}, {{ kind: A, type: rt }}, {{ type: rt }}")).is_empty());
}

/// What it matches is not known, so that nothing is said of the order either.
#[test]
fn marks_of_a_merge_are_told_as_such() {
    let text = "apiVersion: gitops-windows/v1\n<<<<<<< HEAD\ntypes: { rt: {} }\n=======\ntypes: { rw: {} }\n>>>>>>> other\n";
    let error = parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes()).unwrap_err();
    let [one] = &error.diagnostics[..] else { panic!("{error:?}") };
    assert_eq!(one.message, "the spec holds a merge conflict");
}

#[test]
fn a_broken_rule_is_said_once() {
    let said_of = |rules: &str| said(&format!("{HEAD}types: {{ rt: {{}} }}\nrules: [{rules}]\n"));
    let of_list = said_of("{ kind: A, type: rt }, { kind: [A, B], type: rt }, { type: rt }");
    assert_eq!(
        of_list,
        ["3:40 [A, B] | kind must be text, not a list | write one rule for each kind"],
        "{of_list:#?}"
    );
    let of_key = said_of("{ knd: A, type: rt }, { kind: B, type: rt }, { type: rt }");
    assert_eq!(of_key, ["3:11 knd | unknown key `knd` in a rule | did you mean `kind`?"], "{of_key:#?}");
}

#[test]
fn a_window_without_zone_is_a_warning() {
    let parsed =
        read(&format!("{HEAD}types: {{ rt: {{}} }}\nwindows: {{ w: {{ open: 0 8 * * MON, for: 4h }} }}\n"))
            .unwrap();
    assert!(parsed.warnings[0].message.contains("time zone"));
}

#[test]
fn the_zone_of_the_spec_is_that_of_every_window_that_names_none() {
    let with = |zone: &str| {
        format!(
            "{HEAD}timeZone: {zone}\ntypes: {{ rt: {{}}, rw: {{ window: w }} }}\n\
             windows: {{ w: {{ open: 0 8 * * MON, for: 4h }}, u: {{ timeZone: UTC, open: 0 8 * * MON, for: 4h }} }}\n\
             clusters: {{ a: {{ windows: {{ rw: {{ from: Mon 08:00, to: Thu 17:00 }} }} }} }}\n"
        )
    };
    let parsed = read(&with("Europe/Berlin")).unwrap();
    assert_eq!(parsed.warnings, []);
    let zone = |window: &crate::spec::WindowDef| window.time_zone.as_ref().unwrap().value.clone();
    assert_eq!(zone(&parsed.spec.windows["w"]), "Europe/Berlin");
    assert_eq!(zone(&parsed.spec.windows["u"]), "UTC");
    assert_eq!(zone(parsed.spec.windows_of("a", "rw")[0]), "Europe/Berlin");
    // A zone that is none is told once, and no window lacks one because of that.
    for zone in ["Mars", "''", "12:30", "[UTC]"] {
        let told = read(&with(zone)).expect_err(zone).diagnostics;
        assert_eq!(told.len(), 1, "{zone}: {told:#?}");
    }
}

#[test]
fn a_zone_or_a_moment_that_is_none_is_said_once_with_what_to_write() {
    let of = |window: &str| -> Vec<String> {
        let text = format!("{HEAD}types: {{ rt: {{}} }}\nwindows: {{ w: {{ {window} }} }}\n");
        // Warnings too: a zone that is empty is not missing as well.
        read(&text).expect_err(&text).diagnostics.iter().map(line).collect()
    };
    assert_eq!(
        of("timeZone: '', open: 0 8 * * MON, for: 4h"),
        ["3:27 '' | timeZone `` is empty | give a value, or remove the key"]
    );
    for (moment, help) in [
        ("Sun 24:00", "write `Mon 00:00`"),
        ("Sat 24:00", "write `Sun 00:00`"),
        ("Sun 25:00", "write a weekday and a time from 00:00 to 23:59, such as `Mon 08:00`"),
        ("24:00", "write a weekday and a time from 00:00 to 23:59, such as `Mon 08:00`"),
    ] {
        let found = of(&format!("timeZone: UTC, from: Mon 08:00, to: '{moment}'"));
        assert!(found.len() == 1 && found[0].ends_with(help), "{found:?}");
    }
}

#[test]
fn truncated_and_damaged_files_never_panic() {
    for (index, end) in (0..WHOLE.len()).step_by(3).enumerate() {
        // Every third offset, cut or damaged in one of these ways.
        let damage = [b'{', b'\'', b'\t', b'\n', b'&', b'*', b'-', 0, 0xff];
        let mut bytes = WHOLE.as_bytes().to_vec();
        match damage.get(index % 10) {
            Some(byte) => bytes[end] = *byte,
            None => bytes.truncate(end),
        }
        let _ = parse(&RepoPath::top(), &bytes);
    }
}

/// Returns what is said of a spec with these windows.
fn said_of_window(window: &str) -> Vec<String> {
    said(&format!("{HEAD}types: {{ rt: {{}} }}\nwindows:\n  w: {window}\n"))
}

#[test]
fn bad_times_are_pointed_at_inside_the_expression() {
    let both = said_of_window("{ timeZone: europe/berlin, open: 0 8 * * MUN, close: \"0 25 * * THU\" }");
    assert_eq!(both.len(), 3, "{both:#?}");
    assert!(
        both[0].starts_with("4:18 europe/berlin | ") && both[0].ends_with("did you mean `Europe/Berlin`?"),
        "{both:#?}"
    );
    assert!(both[1].starts_with("4:47 MUN | Kubernetes would refuse `open` as a schedule: "), "{both:#?}");
    assert!(both[2].starts_with("4:62 25 | Kubernetes would refuse `close` as a schedule: "), "{both:#?}");
}

#[test]
fn an_error_as_people_see_it() {
    let text = format!(
        "{HEAD}types: {{ rt: {{}}, rw: {{ window: wekly }} }}\n\
         windows:\n  weekly:\n    timeZone: Europe/Berlin\n    open: \"0 8 * * MON\"\n    close: 0 17 * * 7\n"
    );
    let error = read(&text).unwrap_err();
    insta::assert_snapshot!(crate::diagnostic::render(&error.diagnostics, false, 100), @r#"
error: there is no window `wekly`
 --> sub/windows.yaml:2:32
  |
2 | types: { rt: {}, rw: { window: wekly } }
  |                                ^^^^^
  |
  = help: did you mean `weekly`?

error: Kubernetes would refuse `close` as a schedule: end of range (7) above maximum (6): 7
 --> sub/windows.yaml:7:21
  |
7 |     close: 0 17 * * 7
  |                     ^
  |
  = help: write `SUN`
"#);
}

#[test]
fn lengths_and_moments_are_checked() {
    for (window, at) in [
        ("{ timeZone: UTC, open: 0 8 * * MON, for: 4 hours }", "4 hours"),
        ("{ timeZone: UTC, from: Mon 08:00, to: Thu 25:00 }", "Thu 25:00"),
        ("{ timeZone: UTC, on: second Tue of month, from: 25:00, for: 4h }", "25:00"),
        ("{ timeZone: UTC, on: second Tue of month, from: Tue 20:00, for: 4h }", "Tue 20:00"),
        ("{ timeZone: UTC, on: fifth Tue of month, from: 20:00, for: 4h }", "fifth Tue of month"),
        ("{ timeZone: UTC, on: last Tue of month, from: 20:00, for: 28d }", "28d"),
        ("{ timeZone: UTC, on: last Tue of month, from: 20:00, for: 4h }", "last Tue of month"),
        ("{ timeZone: UTC, on: last Tue of month, from: 2000, for: 4h }", "2000"),
        ("{ timeZone: UTC, on: no, from: 20:00, for: 4h }", "no"),
        ("{ timeZone: UTC, from: Mon 08:00, to: Mon 08:00 }", "Mon 08:00"),
        ("{ timeZone: UTC, open: 0 8 * * *, for: 25h }", "25h"),
        ("{ timeZone: UTC, open: '@every 1h', close: 0 8 * * * }", "'@every 1h'"),
        ("{ timeZone: Local, open: 0 8 * * MON, for: 4h }", "Local"),
    ] {
        let said = said_of_window(window);
        assert_eq!(said.len(), 1, "{said:#?}");
        assert!(said[0].contains(&format!(" {at} | ")), "{said:#?}");
    }
}

#[test]
fn a_day_of_the_month_is_for_a_gate_with_a_table() {
    let text = format!(
        "{HEAD}types: {{ rt: {{}}, rw: {{ window: w }} }}\n\
         windows: {{ w: {{ timeZone: UTC, on: second tuesday of month, from: 20:00, for: 4h }} }}\n"
    );
    assert_eq!(
        said(&text),
        [
            "3:36 second tuesday of month | a gate that acts only at openings and closings can't say `second tuesday of \
             month` | give the gate a table: `every: 5m` and `through: 2027-12-31` under `gate`"
        ]
    );
    for mechanism in ["suspend", "follow"] {
        let gate = format!("gate: {{ mechanism: {mechanism}, every: 5m, through: 2027-12-31 }}\n");
        let spec = spec(&format!("{text}{gate}"));
        let window = spec.windows_of("a", "rw")[0].schedule().unwrap();
        assert_eq!(window.to_string(), "second Tue of month 20:00 for 4h UTC");
    }
}

#[test]
fn clusters_open_later_by_their_wave_and_their_name() {
    let of = |rest: &str| {
        format!(
            "{HEAD}types: {{ rt: {{}}, rw: {{ window: w }} }}\n\
             windows: {{ w: {{ timeZone: UTC, open: 0 8 * * MON, for: 4h }} }}\n\
             clusters: {{ a: {{ labels: {{ wave: canary }} }}, b: {{ labels: {{ wave: eu }} }}, c: {{ labels: {{ wave: us }} }} }}\n{rest}\n"
        )
    };
    let later = |rest: &str| {
        let spec = spec(&of(rest));
        ["a", "b", "c", "elsewhere"].map(|cluster| spec.later(cluster))
    };
    let waves = "waves: { order: [canary, eu, us], by: wave, offset: 45m }";
    assert_eq!(later(""), [0, 0, 0, 0]);
    assert_eq!(later(waves), [0, 45, 90, 0]);
    // Fixed by the names for ever: what is written follows from it.
    assert_eq!(later("stagger: 10m"), [0, 6, 0, 0]);
    assert_eq!(
        later(&format!("{waves}\nstagger: 1h\ngate: {{ every: 5m, through: 2027-12-31 }}")),
        [50, 95, 100, 0]
    );
    for (rest, told) in [
        ("stagger: 1m", "5:10 1m | `stagger: 1m` leaves one time for all clusters | make it at least 2m"),
        (
            "stagger: 5m\ngate: { every: 5m, through: 2027-12-31 }",
            "5:10 5m | `stagger: 5m` leaves one time for all clusters | make it longer than `every`",
        ),
        ("stagger: soon", "5:10 soon | `soon` "),
        (
            "waves: { order: [canary, eu], by: wave, offset: 45m }",
            "`order` does not name the wave `us` of cluster `c`",
        ),
        ("waves: { order: [canary, eu, uss], by: wave, offset: 45m }", "did you mean `uss`?"),
        (
            "waves: { order: [canary, eu, us], by: ring, offset: 45m }",
            "4:13 a | cluster `a` is in no wave: it has no label `ring` | give it one, such as `labels: { ring: us }`",
        ),
        (
            "waves: { order: [canary, eu, us, eu], by: wave, offset: 45m }",
            "eu | `order` names the wave `eu` twice",
        ),
        (
            "waves: { order: [canary, eu, us], by: wave, offset: 3w }",
            "3w | the last wave would open more than four weeks",
        ),
        ("waves: { order: [canary, eu, us], by: wave, offset: 0m }", "0m | `0m` "),
        ("waves: { order: [canary, eu, us], by: wave }", "the waves lacks the key `offset`"),
    ] {
        let found = said(&of(rest));
        assert!(found.iter().any(|line| line.contains(told)), "{rest}: {found:#?}");
    }
}

#[test]
fn inline_windows_are_checked_too() {
    let text = format!(
        "{HEAD}types: {{ rt: {{}}, rw: {{ window: w }} }}\n\
         windows: {{ w: {{ timeZone: UTC, open: 0 8 * * MON, for: 4h }} }}\n\
         clusters: {{ a: {{ windows: {{ rw: {{ timeZone: Mars, open: 0 8 * * MON, for: 4h }} }} }} }}\n"
    );
    assert!(said(&text)[0].contains(" Mars | "));
    let spec = spec(&text.replace("Mars", "UTC"));
    let window = spec.windows_of("a", "rw")[0].schedule().unwrap();
    assert_eq!(window.pair().unwrap().close.as_str(), "0 12 * * MON");
}

/// Days and times that name no zone are those of the spec, else of all windows; only a table may have none of both.
#[test]
fn days_without_a_zone_are_those_of_the_windows() {
    let of = |top: &str, windows: &str| {
        let rest = "clusters: { a: {} }\ngate: { every: 5m, through: 2027-12-25 }\n";
        format!("{HEAD}{top}types: {{ rt: {{}}, rw: {{ window: w }} }}\nwindows: {{ {windows} }}\n{rest}")
    };
    let chicago = "w: { timeZone: America/Chicago, open: 0 22 * * SAT, for: 4h }";
    let tokyo = ", v: { timeZone: Asia/Tokyo, open: 0 22 * * SAT, for: 4h }";
    let ends = |text: String| spec(&text).gate.table.unwrap().bounds.close.to_string();
    assert_eq!(ends(of("", chicago)), "2027-12-26T06:00:00Z");
    assert_eq!(ends(of("timeZone: Asia/Tokyo\n", chicago)), "2027-12-25T15:00:00Z");
    let two = format!("{chicago}{tokyo}");
    assert_eq!(ends(of("", &two)), "2027-12-26T00:00:00Z");
    let freeze = "freezes: { f: { from: 2026-12-18, to: 2026-12-20, reason: x } }\n";
    let frozen = spec(&(of("", chicago) + freeze)).freezes[0].interval;
    assert_eq!(frozen.open.to_string(), "2026-12-18T06:00:00Z");
    let found = said(&(of("", &two) + freeze));
    assert!(found.len() == 1 && found[0].contains("have no time zone"), "{found:#?}");
}

#[test]
fn what_is_wrong_about_freezes_overrides_and_tables_is_said_with_its_place() {
    let of = |rest: &str| {
        let types = "timeZone: Europe/Berlin\ntypes: { rt: {}, rw: { window: w } }\n";
        let windows =
            "windows: { w: { open: 0 8 * * MON, for: 4h } }\nclusters: { a: { labels: { region: eu } } }\n";
        said(&format!("{HEAD}{types}{windows}{rest}"))
    };
    let with_gate = |rest: &str| of(&format!("gate: {{ every: 5m, through: 2027-12-31 }}\n{rest}"));
    let days = "from: 2026-12-18, to: 2026-12-20, reason: x";
    for (rest, told) in [
        (format!("freezes: {{ f: {{ {days}, clusters: b }} }}"), "7:72 b | there is no cluster `b`"),
        (format!("freezes: {{ f: {{ {days}, types: rt }} }}"), " rt | type `rt` is real-time"),
        (format!("freezes: {{ f: {{ {days}, types: rv }} }}"), " rv | there is no type `rv`"),
        (
            format!("freezes: {{ f: {{ {days}, labels: {{ region: us }} }} }}"),
            " f | no cluster has all of these labels",
        ),
        (format!("freezes: {{ f: {{ {days}, timeZone: Mars }} }}"), "Mars | unknown time zone"),
        (
            "freezes: { f: { from: 2026-12-20, to: 2026-12-18, reason: x } }".into(),
            "2026-12-18 | this ends at 2026-12-18, before it begins",
        ),
        (
            "freezes: { f: { from: 2026-02-30, to: 2026-12-18, reason: x } }".into(),
            "2026-02-30 | `2026-02-30` is not in the calendar",
        ),
        (
            "freezes: { f: { from: 2026-10-25T02:30, to: 2026-12-18, reason: x } }".into(),
            "2026-10-25T02:30 | as the clocks in Europe/Berlin change, 2026-10-25T02:30 comes twice | \
             write 2026-10-25T02:30+02:00 or 2026-10-25T02:30+01:00",
        ),
        (
            "freezes: { f: { from: 2027-03-14T02:30, to: 2027-03-20, timeZone: America/Chicago, reason: x } }".into(),
            "2027-03-14T02:30 does not come | write 2027-03-14T03:30",
        ),
        (
            "freezes: { f: { from: 2026-10-25, reason: x } }".into(),
            " f | a freeze lacks the key `to` | add `to`: The last day, or the time at which it ends.",
        ),
        (
            "overrides: [{ type: rw, from: 2026-12-18T10:00, until: 2026-12-18T12:00, reason: x }]".into(),
            "says no cluster",
        ),
        (
            "overrides: [{ cluster: a, type: rw, from: 2026-12-18, until: 2026-12-18T12:00, reason: x }]"
                .into(),
            "2026-12-18 | `from` of an override is a day and no time",
        ),
    ] {
        let found = with_gate(&rest);
        assert!(found.len() == 1 && found[0].contains(told), "{rest}: {found:#?}");
    }
    for (rest, told) in [
        ("gate: { every: 5m }", "5m | a gate with `every` needs the last day of its table"),
        ("gate: { through: 2027-12-31 }", "2027-12-31 | `through` is of a table"),
        ("gate: { every: 5m, through: 2027-12-31T10:00 }", "is a time, and a table has whole days"),
        ("gate: { every: 5m, from: 2010-01-01, through: 2027-12-31 }", "longer than ten years"),
        ("gate: { every: 5m, through: 2027-12-31, runner: flux }", "the flux command can't tell"),
        ("freezes: { f: { from: 2026-12-18, to: 2026-12-20, reason: x } }", "can't keep freeze `f`"),
        (
            "overrides: [{ cluster: a, type: rw, from: 2026-12-18T10:00, until: 2026-12-18T12:00, reason: x }]",
            "can't keep an override",
        ),
    ] {
        let found = of(rest);
        assert!(found.len() == 1 && found[0].contains(told), "{rest}: {found:#?}");
    }
    // Each with the days that it is meant for, the last one whole.
    let spec = spec(&format!(
        "{HEAD}timeZone: Europe/Berlin\ntypes: {{ rt: {{}}, rw: {{ window: w }} }}\nwindows: {{ w: {{ open: 0 8 * * MON, for: 4h }} }}\n\
         clusters: {{ a: {{ labels: {{ region: eu }} }}, b: {{}} }}\ngate: {{ every: 5m, through: 2027-12-31 }}\n\
         freezes: {{ f: {{ {days}, labels: {{ region: eu }} }}, g: {{ {days}, timeZone: UTC, clusters: [a, b] }} }}\n"
    ));
    let instants =
        |freeze: &crate::spec::Freeze| [freeze.interval.open, freeze.interval.close].map(|at| at.to_string());
    assert_eq!(instants(&spec.freezes[0]), ["2026-12-17T23:00:00Z", "2026-12-20T23:00:00Z"]);
    assert_eq!(instants(&spec.freezes[1]), ["2026-12-18T00:00:00Z", "2026-12-21T00:00:00Z"]);
    assert_eq!((spec.freezes_of("a", "rw").len(), spec.freezes_of("b", "rw").len()), (2, 1));
}
