use serde_json::{Value, json};

use jiff::Timestamp;

use super::*;
use crate::mechanism::Schedule;
use crate::mechanism::suspend::read::read;
use crate::mechanism::table::{NAME, Table, Tabled, schedule, tables, times};
use crate::path::RepoPath;
use crate::schedule::{Deadline, Interval, OpenTimes, Settle};
use crate::spec::{MechanismName, Spec, TableDef, parse};

fn spec(rest: &str) -> Spec {
    let text = format!(
        "apiVersion: gitops-windows/v1\ntimeZone: Europe/Berlin\n\
         types: {{ rt: {{}}, rw: {{ window: [night, noon] }} }}\n\
         windows: {{ night: {{ open: 0 22 * * SAT, close: 0 4 * * SUN }}, noon: {{ open: 0 12 * * SUN, for: 1h }} }}\n\
         clusters: {{ a: {{ labels: {{ region: eu }} }}, b: {{}} }}\n{rest}"
    );
    parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes())
        .unwrap_or_else(|error| panic!("{error:#?}"))
        .spec
}

fn lines(spec: &Spec, cluster: &str) -> Vec<String> {
    tables(spec, cluster, spec.gate.table.as_ref().unwrap()).unwrap().remove(&1).unwrap()
}

const SETTLE: &str = "# settle 300 seconds before an end, at most a quarter: nothing new is let in";

const GATE: &str = "gate: { every: 5m, from: 2026-03-21, through: 2026-03-29 }\n";

#[test]
fn a_table_says_each_interval_in_seconds_and_in_words() {
    assert_eq!(
        lines(&spec(GATE), "a"),
        [
            SETTLE,
            "1774126800 1774148400 # Sat 2026-03-21 22:00:00 +01:00 to Sun 2026-03-22 04:00:00 +01:00 (night)",
            "1774177200 1774180800 # Sun 2026-03-22 12:00:00 +01:00 to Sun 2026-03-22 13:00:00 +01:00 (noon)",
            // An hour less, as the clocks go forward.
            "1774731600 1774749600 # Sat 2026-03-28 22:00:00 +01:00 to Sun 2026-03-29 04:00:00 +02:00 (night)",
            "1774778400 1774782000 # Sun 2026-03-29 12:00:00 +02:00 to Sun 2026-03-29 13:00:00 +02:00 (noon)",
            "1774821600 1774821600 # end of the table, Mon 2026-03-30 00:00:00 +02:00",
        ]
    );
}

#[test]
fn freezes_and_overrides_change_it_in_the_clusters_that_they_are_about() {
    let stretches = "freezes: { peak: { from: 2026-03-28, to: 2026-03-29T12:30, reason: it's $(A) peak, labels: { region: eu } } }\n\
         overrides: [{ cluster: a, type: rw, from: 2026-03-24T10:00, until: 2026-03-24T11:00, reason: INC-1 }]\n";
    let spec = spec(&format!("{GATE}{stretches}"));
    assert_eq!(
        lines(&spec, "a")[3..7],
        [
            "1774342800 1774346400 # Tue 2026-03-24 10:00:00 +01:00 to Tue 2026-03-24 11:00:00 +01:00 (override)",
            "1774780200 1774782000 # Sun 2026-03-29 12:30:00 +02:00 to Sun 2026-03-29 13:00:00 +02:00 (noon)",
            "# frozen Sat 2026-03-28 00:00:00 +01:00 to Sun 2026-03-29 12:30:00 +02:00: peak: it's  (A) peak",
            "# override Tue 2026-03-24 10:00:00 +01:00 to Tue 2026-03-24 11:00:00 +01:00: INC-1",
        ]
    );
    assert_eq!(lines(&spec, "b").len(), 6);
    let nested = stretches.replace("labels: { region: eu } }", "clusters: { labels: { region: eu } } }");
    let nested = self::spec(&format!("{GATE}{nested}"));
    assert_eq!(
        ["a", "b"].map(|cluster| lines(&nested, cluster)),
        ["a", "b"].map(|cluster| lines(&spec, cluster))
    );
}

/// The table was written before the freeze became longer, as a calendar file may, and the freeze is removed then.
#[test]
fn nothing_is_called_frozen_that_is_open_again() {
    let freeze = |to: &str| {
        spec(&format!("{GATE}freezes: {{ peak: {{ from: 2026-03-28, to: {to}, reason: peak }} }}\n"))
    };
    let table = Table::of_lines(lines(&freeze("2026-03-28"), "a")).unwrap();
    let is_frozen = |line: &String| line.starts_with("# frozen");
    assert_eq!(table.lines().iter().filter(|line| is_frozen(line)).count(), 1);
    let what = Tabled { mechanism: MechanismName::Suspend, cluster: "a", change_type: "rw" };
    let edited = |after: &Spec| table.edited(&freeze("2026-03-29"), after, &what).unwrap();
    assert_eq!(edited(&spec(GATE)), lines(&spec(GATE), "a"));
    // That of an older release says nothing of the end, and an edit of it neither.
    let older = Table::of_lines(table.lines()[1..].to_vec()).unwrap();
    assert_eq!((older.times().settle(), table.times().settle()), (Settle::NONE, Settle::of_minutes(5)));
    let older = older.edited(&freeze("2026-03-29"), &spec(GATE), &what).unwrap();
    assert_eq!(older, lines(&spec(GATE), "a")[1..]);
    // Where nothing of it opens, it stays as it is.
    assert_eq!(edited(&freeze("2026-03-29")), table.lines());
}

/// Freezes of five minutes each, one after the other, with a reason.
fn frozen_often(count: i64, reason: &str) -> String {
    let told = |minutes: i64| {
        let at: Timestamp = "2026-03-21T00:00:00Z".parse().unwrap();
        (at + jiff::Span::new().minutes(minutes)).strftime("%Y-%m-%dT%H:%M+00:00").to_string()
    };
    let freeze = |at: i64| {
        let (from, to) = (told(at * 5), told(at * 5 + 5));
        format!("  f{at}: {{ from: \"{from}\", to: \"{to}\", reason: {reason} }}\n")
    };
    let gate = "gate: { every: 5m, from: 2026-03-21, through: 2026-04-30 }\n";
    format!("{gate}freezes:\n{}", (0..count).map(freeze).collect::<String>())
}

/// No argument of a program may have more than 128 KiB, and a calendar says whatever it wants.
#[test]
fn a_long_reason_is_cut() {
    let spec = spec(&frozen_often(1, &"ß".repeat(100_000)));
    let remark = lines(&spec, "a").into_iter().find(|line| line.starts_with("# frozen")).unwrap();
    assert!(remark.ends_with("ßß…") && remark.chars().count() < 300, "{} bytes", remark.len());
}

#[test]
fn a_table_that_neither_linux_nor_kubernetes_takes_is_refused() {
    let refused = |spec: &Spec| {
        let table = tables(spec, "a", spec.gate.table.as_ref().unwrap());
        table.map(|_| ()).unwrap_err().to_string()
    };
    // The remarks alone are too much.
    let large = spec(&frozen_often(4_500, &"x".repeat(250)));
    assert!(
        refused(&large).contains("table of type `rw` in cluster a has more than 1 MiB"),
        "{}",
        refused(&large)
    );
    let few = spec(&frozen_often(1, "x"));
    let what = Tabled { mechanism: MechanismName::Suspend, cluster: "a", change_type: "rw" };
    let edited = Table::of_lines(lines(&few, "a")).unwrap().edited(&few, &large, &what);
    assert!(edited.unwrap_err().to_string().contains("has more than 1 MiB"));
    let file = RepoPath::parse("windows.yaml").unwrap();
    let often = parse(
        &file,
        "apiVersion: gitops-windows/v1\ntypes: { rt: {}, rw: { window: w } }\n\
         windows: { w: { timeZone: UTC, open: 0 * * * *, close: 30 * * * * } }\nclusters: { a: {} }\n\
         gate: { every: 5m, from: 2026-01-01, through: 2026-12-31 }\n"
            .as_bytes(),
    );
    let told = refused(&often.unwrap().spec);
    assert!(told.contains("has more than 4000 intervals"), "{told}");
}

#[test]
fn an_end_between_two_runs_is_refused() {
    let freeze = "freezes: { peak: { from: 2026-03-28T23:07, to: 2026-03-29, reason: peak } }\n";
    let spec = spec(&format!("{GATE}{freeze}"));
    let error = tables(&spec, "a", spec.gate.table.as_ref().unwrap()).unwrap_err();
    let told = &error.diagnostics[0];
    assert!(
        told.message.contains("closes at Sat 2026-03-28 23:07:00 +01:00: no CronJob runs"),
        "{}",
        told.message
    );
    assert!(told.place.is_some());
}

/// Where it keeps a quarter, no run may be left that sees it; whoever freezes from now on is not refused for that.
#[test]
fn what_lets_nothing_in_before_its_end_is_refused() {
    let gate = GATE.replace("every", "mechanism: follow, every");
    let freeze = |to: &str| {
        let night = "overrides: [{ cluster: a, type: rw, from: 2026-03-24T10:02, until: 2026-03-24T10:06, reason: INC-1 }]\n";
        spec(&format!("{gate}{night}freezes: {{ peak: {{ from: {to}, to: 2026-03-25, reason: peak }} }}\n"))
    };
    let (before, after) = (freeze("2026-03-24T10:06"), freeze("2026-03-24T10:05"));
    let refused = |spec: &Spec| {
        let table = tables(spec, "a", spec.gate.table.as_ref().unwrap());
        table.map(|_| ()).map_err(|error| error.to_string())
    };
    let why =
        "opens and lets nothing more in before its end at Tue 2026-03-24 10:06:00 +01:00: no CronJob runs";
    assert!(refused(&before).unwrap_err().contains(why), "{:?}", refused(&before));
    let longer = spec(&gate);
    let what = Tabled { mechanism: MechanismName::Follow, cluster: "a", change_type: "rw" };
    let table = Table::of_lines(lines(&longer, "a")).unwrap();
    let edited = table.edited(&longer, &before, &what);
    assert!(edited.is_ok(), "{edited:?}");
    // Before its first run it would be open for nobody.
    assert!(refused(&after).unwrap_err().contains("opens and closes at"), "{:?}", refused(&after));
}

#[test]
fn what_is_written_is_read_back() {
    let spec = spec(GATE);
    let targets =
        ["apps-rw", "infra"].map(|name| GateTarget { namespace: "flux-system".into(), name: name.into() });
    let targets = BTreeSet::from(targets);
    let parameter =
        Parameter { namespace: "jobs".into(), name: "reconciliation-windows".into(), key: "rw".into() };
    for (action, parameter) in
        [Action::Open, Action::Close].iter().flat_map(|action| [(*action, None), (*action, Some(&parameter))])
    {
        let args: Vec<String> = [NAME.to_owned()].into_iter().chain(lines(&spec, "a")).collect();
        let container = json!({ "command": command(action, &targets, parameter, 5), "args": args });
        let job: Value = json!({ "spec": { "jobTemplate": { "spec": { "template": { "spec": { "containers": [container] } } } } } });
        let reading = read(&job, None);
        assert_eq!(reading.action(), Some(action));
        assert_eq!(reading.turns.into_iter().map(GateTarget::from).collect::<BTreeSet<_>>(), targets);
        let twice = if parameter.is_some() && action == Action::Open { 2 } else { 1 };
        assert_eq!((reading.unclear, reading.patches.len()), (Vec::new(), 2 * twice));
        assert_eq!(reading.parameter.as_ref(), parameter);
        let (table, wanted) = (reading.table.unwrap(), spec.open_times("a", "rw").unwrap().unwrap());
        let all = |times: &OpenTimes| -> Vec<Interval> {
            times.cut(Timestamp::UNIX_EPOCH, "2030-01-01T00:00:00Z".parse().unwrap()).collect()
        };
        assert_eq!((all(&table), table.settle()), (all(&wanted), wanted.settle()));
    }
    assert_eq!(times(&json!({ "args": ["suspend", "ks", "a"] })), None);
}

#[test]
fn jobs_run_at_every_tick() {
    let of = |every| schedule(&TableDef { every, ..spec(GATE).gate.table.unwrap() });
    let at = |cron: &str, starting, active| Schedule {
        cron: cron.to_owned(),
        time_zone: Some("Etc/UTC".to_owned()),
        deadline: Some(Deadline { starting, active }),
    };
    assert_eq!(of(1), at("* * * * *", 60, 55));
    assert_eq!(of(5), at("*/5 * * * *", 300, 295));
}

/// A table ends what `for` says in true time; what says the local time of its end has none, and a pair of CronJobs no other.
#[test]
fn a_time_that_a_change_of_the_clocks_skips_is_refused_in_each_window() {
    let spec = |window: &str, gate: &str| {
        let text = format!(
            "apiVersion: gitops-windows/v1\ntimeZone: Europe/Berlin\ntypes: {{ rt: {{}}, rw: {{ window: [noon, w] }} }}\n\
             windows: {{ noon: {{ open: 0 12 * * SUN, for: 1h }}, w: {window} }}\nclusters: {{ a: {{}} }}\n{gate}"
        );
        parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes()).unwrap().spec
    };
    let told = |window: &str, gate: &str| {
        crate::mechanism::suspend::jobs::jobs(&spec(window, gate))
            .map(|jobs| jobs.all.len())
            .map_err(|error| error.to_string())
    };
    let night = "{ open: 0 22 * * SAT, for: 4h }";
    assert_eq!((told("{ open: 0 22 * * SAT, for: 5h }", GATE), told(night, GATE)), (Ok(2), Ok(2)));
    for (window, gate) in [(night, ""), ("{ from: Sat 22:00, to: Sun 02:00 }", GATE)] {
        assert!(told(window, gate).unwrap_err().contains("2026-03-29"), "{window} {gate}");
    }
    assert!(told("{ open: 30 2 * * SUN, for: 4h }", GATE).unwrap_err().contains("2026-03-29"));
    let lines = lines(&spec(night, GATE), "a");
    let nights: Vec<&String> = lines.iter().filter(|line| line.contains("# Sat")).collect();
    assert_eq!(
        nights,
        [
            "1774126800 1774141200 # Sat 2026-03-21 22:00:00 +01:00 to Sun 2026-03-22 02:00:00 +01:00 (w)",
            "1774731600 1774746000 # Sat 2026-03-28 22:00:00 +01:00 to Sun 2026-03-29 03:00:00 +02:00 (w)",
        ]
    );
}
