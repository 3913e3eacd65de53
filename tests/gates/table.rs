//! Gates that look at a table: what is written, what is said of it, and what the jobs do.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{WINDOW, rendered, scaffold};
use crate::support::scratch::{Scratch, assert_same};

const INFRA: &str = "clusters/edge-01/infra";

/// Returns the gate a table, with a freeze of one cluster and an override of the other.
fn with_table() -> Scratch {
    let scratch = scaffold();
    scratch.replace(
        "windows.yaml",
        "gate:\n",
        "gate:\n  every: 5m\n  through: 2027-01-31\n  from: 2026-11-01\n",
    );
    scratch.replace("windows.yaml", "  edge-01: {}\n", "  edge-01: { labels: { region: eu } }\n");
    let spec = std::fs::read_to_string(scratch.top().join("windows.yaml")).unwrap();
    let time = "\
        freezes:\n  year-end: { from: 2026-12-18, to: 2027-01-07, reason: trading peak, labels: { region: eu } }\n\
        overrides:\n  - { cluster: edge-02, type: rw, from: 2026-11-24T20:00, until: 2026-11-24T22:00, reason: INC-1 }\n";
    scratch.write("windows.yaml", format!("{spec}{time}"));
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.commit();
    scratch
}

fn job(objects: &[Value], name: &str) -> Value {
    objects
        .iter()
        .find(|object| object["kind"] == "CronJob" && object["metadata"]["name"] == name)
        .unwrap()
        .clone()
}

fn container(job: &Value) -> &Value {
    &job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
}

#[test]
fn both_jobs_look_at_one_table_again_and_again() {
    let scratch = with_table();
    assert!(scratch.expect(0, &["sync"]).stdout.is_empty(), "a second sync changes something");
    let objects = rendered(&scratch, INFRA);
    let (open, close) =
        (job(&objects, "open-reconciliation-window"), job(&objects, "close-reconciliation-window"));
    assert_eq!(container(&open)["args"], container(&close)["args"]);
    for job in [&open, &close] {
        assert_eq!(
            (&job["spec"]["schedule"], &job["spec"]["suspend"]),
            (&json!("*/5 * * * *"), &json!(false))
        );
        assert_eq!(job["spec"]["startingDeadlineSeconds"], 300);
    }
    let lines: Vec<&str> =
        container(&open)["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(lines[0], "open-times");
    assert!(
        lines[3].ends_with("# Sat 2026-11-07 22:00:00 +01:00 to Sun 2026-11-08 04:00:00 +01:00 (saturday)"),
        "{}",
        lines[3]
    );
    assert!(!lines.iter().any(|line| line.contains("Sat 2026-12-19")), "the freeze is open");
    assert!(
        lines.iter().any(|line| line.starts_with("# frozen") && line.ends_with("year-end: trading peak"))
    );
    let other = rendered(&scratch, "clusters/edge-02/infra");
    let other = job(&other, "open-reconciliation-window");
    let other = container(&other)["args"].to_string();
    assert!(other.contains("Tue 2026-11-24 20:00:00") && other.contains("Sat 2026-12-19"));
    // What is built is read as it is meant.
    let found = scratch.run(&["check", "--now", "2026-11-20T00:00:00Z", "--format", "json"]);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(found["findings"], json!([]));
    let found = scratch.run(&["check", "--now", "2027-01-10T00:00:00Z", "--format", "json"]);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    let codes: Vec<&str> =
        found["findings"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect();
    assert_eq!(codes, ["GW118", "GW119", "GW119"]);
    assert_eq!(scratch.run(&["verify"]).code, 0);
}

fn rw(scratch: &Scratch, now: &str, cluster: &str) -> Value {
    let told = scratch.expect(0, &["when", "--now", now, "--cluster", cluster, "--format", "json"]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    told["lines"].as_array().unwrap().iter().find(|line| line["type"] == "rw").unwrap().clone()
}

#[test]
fn the_questions_know_freezes_and_overrides() {
    let scratch = with_table();
    let frozen = rw(&scratch, "2026-12-19T22:00:00Z", "edge-01");
    assert_eq!((&frozen["open"], &frozen["gate"]), (&json!(false), &json!("closes")));
    assert_eq!(frozen["freeze"]["reason"], "year-end: trading peak");
    assert_eq!(frozen["freeze"]["until"]["utc"], "2027-01-07T23:00:00Z");
    assert_eq!(frozen["nextOpen"]["utc"], "2027-01-09T21:00:00Z");
    let given = rw(&scratch, "2026-11-24T20:00:00Z", "edge-02");
    assert_eq!((&given["open"], &given["override"]["reason"]), (&json!(true), &json!("INC-1")));
    assert_eq!(given["nextClose"]["utc"], "2026-11-24T21:00:00Z");
    // Nothing opens behind the end of the table.
    assert_eq!(rw(&scratch, "2027-01-31T22:00:00Z", "edge-02")["nextOpen"], Value::Null);
    let text = scratch.expect(0, &["when", "--now", "2026-12-19T22:00:00Z", "--cluster", "edge-01"]).stdout;
    assert!(text.contains("frozen (year-end: trading peak)"), "{text}");
    for (format, words) in [
        ("text", "frozen Fri 2026-12-18 00:00 – Fri 2027-01-08 00:00"),
        ("svg", "<title>frozen Fri"),
        ("ics", "SUMMARY:rw frozen: edge-01"),
    ] {
        let range = ["--from", "2026-12-15T00:00:00Z", "--days", "30", "--format", format];
        let told =
            scratch.expect(0, &[&["calendar", "--time-zone", "Europe/Berlin"], &range[..]].concat()).stdout;
        assert!(told.contains(words) && told.contains("trading peak"), "{format}: {told}");
    }
    let range = ["--from", "2026-11-23T00:00:00Z", "--days", "3"];
    let told = scratch.expect(0, &[&["calendar", "--cluster", "edge-02"], &range[..]].concat()).stdout;
    assert!(told.contains("(INC-1)"), "{told}");
}

#[test]
fn a_pull_request_tells_what_a_freeze_holds_back() {
    let scratch = with_table();
    let base = scratch.git(&["rev-parse", "HEAD"]);
    let file = "apps/web/web-rw/deployment.yaml";
    let text = std::fs::read_to_string(scratch.top().join(file)).unwrap();
    scratch.write(file, text.replace("replicas: 1", "replicas: 3"));
    scratch.commit();
    let told = |now: &str| -> Vec<Value> {
        let told = scratch.run(&["pr", "--base", base.trim(), "--now", now, "--format", "json"]).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        told["changes"].as_array().unwrap().iter().map(|change| change["lands"].clone()).collect()
    };
    let frozen = told("2026-12-19T22:00:00Z");
    assert_eq!(frozen.len(), 2, "{frozen:#?}");
    assert_eq!(frozen[0]["state"], "frozen");
    assert!(
        frozen[0]["reason"].as_str().unwrap().starts_with("held by freeze until Fri 2027-01-08 00:00"),
        "{frozen:#?}"
    );
    assert_eq!(frozen[0]["earliest"], "2027-01-09T21:00:00Z");
    assert_eq!(frozen[1]["state"], "window");
}

#[test]
fn a_day_of_the_month_is_told_alike_by_everything() {
    let scratch = scaffold();
    let day = ["--on", "second tue of month", "--from", "20:00", "--for", "4h"];
    let set = [&["windows", "set", "saturday", "--yes", "--allow-dirty"], &day[..]].concat();
    let refused = scratch.expect(2, &set).stderr;
    assert!(
        refused.contains("can't say `second tue of month`") && refused.contains("`every: 5m`"),
        "{refused}"
    );
    scratch.replace(
        "windows.yaml",
        "gate:\n",
        "gate:\n  every: 5m\n  through: 2027-01-31\n  from: 2026-11-01\n",
    );
    scratch.expect(0, &set);
    scratch.commit();
    assert!(scratch.expect(0, &["sync"]).stdout.is_empty(), "a second sync changes something");
    let base = scratch.git(&["rev-parse", "HEAD"]);
    let file = "apps/web/web-rw/deployment.yaml";
    let text = std::fs::read_to_string(scratch.top().join(file)).unwrap();
    scratch.write(file, text.replace("replicas: 1", "replicas: 3"));
    scratch.commit();

    let now = ["--now", "2026-11-24T12:00:00Z"];
    let table = container(&job(&rendered(&scratch, INFRA), "open-reconciliation-window"))["args"].clone();
    let mut told = format!("{table:#}\n");
    let range =
        ["--from", "2026-12-01", "--days", "60", "--time-zone", "Europe/Berlin", "--cluster", "edge-01"];
    let pr = scratch.run(&[&["pr", "--base", base.trim(), "--format", "json"], &now[..]].concat()).stdout;
    let lands = serde_json::from_str::<Value>(&pr).unwrap()["changes"][0]["lands"].clone();
    told += &format!("{lands:#}\n");
    for arguments in [
        &["when", "--cluster", "edge-01"][..],
        &["windows", "get", "saturday"],
        &["check"],
        &[&["calendar"], &range[..]].concat(),
        &[&["calendar", "--format", "ics"], &range[..]].concat(),
    ] {
        let run = scratch.run(&[arguments, &now[..]].concat());
        told += &format!("$ {}\n{}{}", arguments.join(" "), run.stdout, run.stderr);
    }
    let revision =
        told.split("\"revision\": \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    insta::assert_snapshot!(undated(&told.replace(&revision, "[revision]")));
}

#[test]
fn waves_are_told_alike_by_everything() {
    let scratch = scaffold();
    for (cluster, wave) in [("edge-01", "canary"), ("edge-02", "eu")] {
        let labelled = format!("  {cluster}: {{ labels: {{ wave: {wave} }} }}\n");
        scratch.replace("windows.yaml", &format!("  {cluster}: {{}}\n"), &labelled);
    }
    let spec = std::fs::read_to_string(scratch.top().join("windows.yaml")).unwrap();
    scratch.write("windows.yaml", format!("{spec}waves: {{ order: [canary, eu], by: wave, offset: 90m }}\n"));
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.commit();
    assert!(scratch.expect(0, &["sync"]).stdout.is_empty(), "a second sync changes something");
    let of_job = |name: &str| {
        let job = job(&rendered(&scratch, "clusters/edge-02/infra"), name);
        job["spec"]["schedule"].as_str().unwrap().to_owned()
    };
    let pair = ["open", "close"].map(|verb| of_job(&format!("{verb}-reconciliation-window")));
    assert_eq!(pair, ["30 23 * * SAT", "30 5 * * SUN"]);
    let now = "2026-11-24T12:00:00Z";
    let times = |cluster: &str| {
        let line = rw(&scratch, now, cluster);
        [&line["nextOpen"]["utc"], &line["nextClose"]["utc"]].map(|at| at.as_str().unwrap().to_owned())
    };
    assert_eq!(times("edge-01"), ["2026-11-28T21:00:00Z", "2026-11-29T03:00:00Z"]);
    assert_eq!(times("edge-02"), ["2026-11-28T22:30:00Z", "2026-11-29T04:30:00Z"]);
    assert_eq!(scratch.expect(0, &["check", "--now", now]).stdout, "");

    // The same times of a table.
    scratch.replace(
        "windows.yaml",
        "gate:\n",
        "gate:\n  every: 5m\n  through: 2027-01-31\n  from: 2026-11-01\n",
    );
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.commit();
    let base = scratch.git(&["rev-parse", "HEAD"]);
    assert_eq!(times("edge-02"), ["2026-11-28T22:30:00Z", "2026-11-29T04:30:00Z"]);
    let table = container(&job(&rendered(&scratch, "clusters/edge-02/infra"), "open-reconciliation-window"))
        ["args"]
        .clone();
    assert_eq!(
        table[3],
        "1794090600 1794112200 # Sat 2026-11-07 23:30:00 +01:00 to Sun 2026-11-08 05:30:00 +01:00 (saturday)"
    );
    scratch.replace("windows.yaml", "offset: 90m", "offset: 2h");
    scratch.expect(0, &["sync", "--yes", "--allow-dirty"]);
    scratch.commit();
    let told = scratch.run(&["pr", "--base", base.trim(), "--now", now]).stdout;
    // Its last line names the commits.
    let mut told = format!("{}\n", told.rsplit_once("\n\n").unwrap().0);
    let range = ["--from", "2026-11-24", "--days", "7", "--time-zone", "Europe/Berlin"];
    for arguments in [&["calendar"][..], &["calendar", "--format", "ics"]] {
        told += &scratch.expect(0, &[arguments, &["--now", now], &range[..]].concat()).stdout;
    }
    told += &scratch.expect(0, &["windows", "get", "--cluster", "edge-02"]).stdout;
    let revision =
        told.split("\"revision\": \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    let told = told.replace(&revision, "[revision]");
    insta::assert_snapshot!(undated(&told));
}

/// Takes out when the commit was made of which a calendar file tells.
fn undated(told: &str) -> String {
    let line = |line: &str| {
        if line.starts_with("DTSTAMP:") { "DTSTAMP:[the commit]".to_owned() } else { line.to_owned() }
    };
    told.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_shift_that_no_pair_of_cron_jobs_can_say_is_refused() {
    let scratch = scaffold();
    scratch.replace("windows.yaml", "  edge-02: {}\n", "  edge-02: { labels: { wave: eu } }\n");
    scratch.replace("windows.yaml", "  edge-01: {}\n", "  edge-01: { labels: { wave: canary } }\n");
    scratch.replace("windows.yaml", "open: 0 22 * * SAT", "open: 30 1 * * SUN");
    let spec = std::fs::read_to_string(scratch.top().join("windows.yaml")).unwrap();
    scratch.write("windows.yaml", format!("{spec}waves: {{ order: [canary, eu], by: wave, offset: 1h }}\n"));
    let told = scratch.expect(3, &["sync"]).stderr;
    let reason = "around 2026-03-29 03:30 the clocks change, so `30 2 * * SUN` does not fire 1h after each `30 1 * * SUN`";
    assert!(told.contains(&format!("CronJobs of cluster edge-02 can't be 1h later: {reason}")), "{told}");
    assert!(told.contains("windows.yaml:13:3") && told.contains("`every` and `through`"), "{told}");
}

#[test]
fn what_pairs_of_cron_jobs_cannot_keep_is_refused() {
    let scratch = scaffold();
    let spec = std::fs::read_to_string(scratch.top().join("windows.yaml")).unwrap();
    let freeze = "freezes: { f: { from: 2026-12-18, to: 2026-12-20, timeZone: UTC, reason: x } }\n";
    scratch.write("windows.yaml", format!("{spec}{freeze}"));
    let told = scratch.expect(3, &["sync"]).stderr;
    assert!(told.contains("can't keep freeze `f`") && told.contains("`every: 5m`"), "{told}");
}

#[test]
fn a_window_that_is_none_is_refused() {
    let scratch = with_table();
    let text = scratch.text("windows.yaml");
    for (open, code) in [("0 22 31 2 *", "GW102"), ("0 4 * * SUN", "GW107")] {
        scratch.write("windows.yaml", text.replace("0 22 * * SAT", open));
        for command in [&["sync", "--allow-dirty", "--yes"][..], &["diff"]] {
            let told = scratch.expect(3, command).stderr;
            assert!(told.contains(&format!("error[{code}]")), "{command:?}: {told}");
        }
        // What stops has no time to wait for another window.
        scratch.expect(1, &["stop", "--reason", "INC-1", "--dry-run"]);
    }
    scratch.write("windows.yaml", text);
    let set = ["windows", "set", "saturday", "--open", "0 22 31 2 *", "--yes"];
    assert!(scratch.expect(3, &set).stderr.contains("GW102"));
}

#[test]
fn jobs_that_begin_to_look_at_a_table_say_what_may_stay_suspended() {
    let scratch = scaffold();
    scratch.replace("windows.yaml", "gate:\n", "gate:\n  every: 5m\n  through: 2027-12-31\n");
    let told = scratch.run(&["sync"]).stderr;
    assert!(told.contains("while the windows are open") && told.contains("apps-rw"), "{told}");
}

/// A cluster of one Flux Kustomization, in a file each.
struct Fake {
    scratch: Scratch,
    jobs: [Value; 2],
}

impl Fake {
    fn new() -> Fake {
        let scratch = with_table();
        let objects = rendered(&scratch, INFRA);
        let jobs =
            ["close-reconciliation-window", "open-reconciliation-window"].map(|name| job(&objects, name));
        let fake = Fake { scratch, jobs };
        fake.program("date", "cat \"$STATE/now\"");
        fake.program(
            "sleep",
            "echo \"sleep $1\" >> \"$STATE/calls\"\necho $(($(cat \"$STATE/now\") + $1)) > \"$STATE/now\"",
        );
        fake.program(
            "kubectl",
            "echo \"$*\" >> \"$STATE/calls\"\n[ -e \"$STATE/down\" ] && exit 1\ncase \"$*\" in\n\
             get*apps-rw*go-template*) word=; [ \"$(cat \"$STATE/suspend\")\" != true ] || word=suspended\n\
               if [ -s \"$STATE/stop\" ]; then word=\"$word stopped\"\n\
               elif [ -s \"$STATE/held\" ]; then word=\"$word held\"; else word=\"$word \"; fi\n\
               printf %s \"$word\" ;;\n\
             get*apps-rw*jsonpath*suspend*) cat \"$STATE/suspend\" ;;\n\
             annotate*apps-rw*gitops-windows/stop-) : > \"$STATE/stop\" ;;\n\
             annotate*apps-rw*gitops-windows/stop=*) printf why > \"$STATE/stop\" ;;\n\
             patch*apps-rw*:null*false*) printf false > \"$STATE/suspend\"; : > \"$STATE/held\" ;;\n\
             patch*apps-rw*true*) printf true > \"$STATE/suspend\"; printf until > \"$STATE/held\" ;;\n\
             *) exit 1 ;;\nesac",
        );
        for state in ["suspend", "held", "stop"] {
            fake.set(state, "");
        }
        fake
    }

    fn program(&self, name: &str, script: &str) {
        let file = self.folder().join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&file, mode).unwrap();
    }

    fn folder(&self) -> &Path {
        self.scratch.outside()
    }

    fn set(&self, state: &str, value: &str) {
        std::fs::write(self.folder().join(state), value).unwrap();
    }

    fn get(&self, state: &str) -> String {
        std::fs::read_to_string(self.folder().join(state)).unwrap()
    }

    fn suspend(&self) -> String {
        self.get("suspend")
    }

    /// The commands that `stop --without-git` prints: that stops, and that ends it.
    fn stop_now(&self) -> [String; 2] {
        let told = self
            .scratch
            .expect(0, &["stop", "--without-git", "--cluster", "edge-01", "--reason", "INC-1"])
            .stdout;
        let lines: Vec<&str> = told.lines().filter(|line| !line.starts_with('#')).collect();
        [lines[0].to_owned(), lines[1].to_owned()]
    }

    /// Runs a line; gives whether it succeeds.
    fn shell(&self, line: &str) -> bool {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).env("STATE", self.folder());
        command.env("PATH", format!("{}:/usr/bin:/bin", self.folder().display()));
        command.output().unwrap().status.success()
    }

    /// Runs both jobs at an instant; gives whether each succeeds, and how often they patched.
    fn tick(&self, now: &str) -> ([bool; 2], usize) {
        let now: jiff::Timestamp = now.parse().unwrap();
        self.set("now", &now.as_second().to_string());
        self.set("calls", "");
        let run = |job: &Value| {
            let container = container(job);
            let words = ["command", "args"].into_iter().flat_map(|key| container[key].as_array().unwrap());
            let words: Vec<&str> = words.filter_map(Value::as_str).collect();
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).env("STATE", self.folder());
            command.env("PATH", format!("{}:/usr/bin:/bin", self.folder().display()));
            command.output().unwrap().status.success()
        };
        let succeeded = [run(&self.jobs[0]), run(&self.jobs[1])];
        let calls = std::fs::read_to_string(self.folder().join("calls")).unwrap();
        (succeeded, calls.lines().filter(|line| line.starts_with("patch")).count())
    }
}

#[test]
fn the_jobs_do_what_the_table_says_and_mend_what_is_otherwise() {
    let fake = Fake::new();
    let both = [true, true];
    // Closed: suspended once, and left alone then.
    assert_eq!((fake.tick("2026-11-07T20:55:00Z"), fake.suspend().as_str()), ((both, 1), "true"));
    assert_eq!(fake.tick("2026-11-07T20:59:59Z"), (both, 0));
    // Somebody resumes it: mended at the next tick.
    fake.set("suspend", "false");
    assert_eq!((fake.tick("2026-11-07T20:59:59Z"), fake.suspend().as_str()), ((both, 1), "true"));
    // The first second of the window, and the last in which something may begin; then nothing more does until its end.
    assert_eq!((fake.tick("2026-11-07T21:00:00Z"), fake.suspend().as_str()), ((both, 1), "false"));
    assert_eq!(fake.tick("2026-11-08T02:50:00Z"), (both, 0));
    for now in ["2026-11-08T02:55:00Z", "2026-11-08T03:00:00Z"] {
        fake.set("suspend", "false");
        assert_eq!((fake.tick(now), fake.suspend().as_str()), ((both, 1), "true"), "{now}");
    }
    // A run that has no successor before that waits for it.
    fake.set("suspend", "false");
    assert_eq!((fake.tick("2026-11-08T02:53:20Z"), fake.suspend().as_str()), ((both, 1), "true"));
    assert!(fake.get("calls").lines().any(|line| line == "sleep 100"), "{}", fake.get("calls"));
    // What people suspend in a window stays so through the next ones.
    assert_eq!(fake.tick("2026-11-14T21:00:00Z"), (both, 1));
    fake.set("suspend", "true");
    for now in ["2026-11-14T21:05:00Z", "2026-11-15T03:00:00Z", "2026-11-21T21:00:00Z"] {
        assert_eq!((fake.tick(now), fake.suspend().as_str()), ((both, 0), "true"), "{now}");
    }
    fake.set("suspend", "false");
    // Frozen: the window of that night does not open.
    assert_eq!((fake.tick("2026-12-19T21:00:00Z"), fake.suspend().as_str()), ((both, 1), "true"));
    assert_eq!((fake.tick("2026-12-19T22:00:00Z"), fake.suspend().as_str()), ((both, 0), "true"));
    // Stopped by hand in a window: closed at the next tick, and no resuming helps. It opens again when that is over.
    assert_eq!((fake.tick("2026-11-28T21:00:00Z"), fake.suspend().as_str()), ((both, 1), "false"));
    fake.set("stop", "INC-1");
    assert_eq!((fake.tick("2026-11-28T21:05:00Z"), fake.suspend().as_str()), ((both, 1), "true"));
    assert_eq!(fake.tick("2026-11-28T21:10:00Z"), (both, 0));
    fake.set("suspend", "false");
    assert_eq!((fake.tick("2026-11-28T21:15:00Z"), fake.suspend().as_str()), ((both, 1), "true"));
    fake.set("stop", "");
    assert_eq!((fake.tick("2026-11-28T21:20:00Z"), fake.suspend().as_str()), ((both, 1), "false"));
    // By the command that `stop --without-git` prints, at once; what a person had suspended stays so.
    for (before, after) in [("false", "false"), ("true", "true")] {
        fake.set("suspend", before);
        let [stop, go_on] = fake.stop_now();
        assert!(fake.shell(&stop));
        assert_eq!((fake.suspend().as_str(), fake.tick("2026-11-28T21:25:00Z")), ("true", (both, 0)));
        assert!(fake.shell(&go_on));
        fake.tick("2026-11-28T21:30:00Z");
        assert_eq!(fake.suspend(), after);
    }
    fake.set("suspend", "true");
    fake.set("held", "until");
    // Before its first line and behind its last nothing opens; the end is seen.
    assert_eq!(fake.tick("2026-01-03T22:00:00Z"), (both, 0));
    assert_eq!((fake.tick("2027-02-06T22:00:00Z"), fake.suspend().as_str()), (([false, true], 0), "true"));
    // A failure is seen too.
    fake.set("down", "");
    assert_eq!(fake.tick("2026-11-10T00:00:00Z").0, [false, true]);
    assert_eq!(fake.tick("2026-11-07T22:00:00Z").0, [false, false]);
}

/// The gate acts, and not windows.yaml: a freeze that no gate knows of holds nothing back.
#[test]
fn an_exception_counts_once_the_gate_in_git_has_it() {
    const NOW: &str = "2026-11-23T00:00:00Z";
    let notes = |scratch: &Scratch| -> Vec<String> {
        let told = scratch.expect(0, &["when", "--now", NOW, "--format", "json"]).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        let notes = told["notes"].as_array().unwrap().iter();
        notes.map(|note| note["kind"].as_str().unwrap().to_owned()).collect()
    };
    let opens = |scratch: &Scratch, cluster: &str| {
        let line = rw(scratch, NOW, cluster);
        (line["nextOpen"]["utc"].as_str().unwrap().to_owned(), line["delay"]["reason"].clone())
    };
    let (first, second, third) = ("2026-11-28T21:00:00Z", "2026-12-05T21:00:00Z", "2026-12-12T21:00:00Z");
    let lands = |scratch: &Scratch| {
        let base = scratch.git(&["rev-parse", "HEAD"]);
        let file = "apps/web/web-rw/deployment.yaml";
        scratch.write(file, scratch.text(file) + "# more\n");
        scratch.replace(file, "replicas: 1", "replicas: 3");
        scratch.commit();
        let told = scratch.run(&["pr", "--base", base.trim(), "--now", NOW, "--format", "json"]).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        scratch.git(&["reset", "--quiet", "--hard", base.trim()]);
        told["changes"][0]["lands"]["earliest"].as_str().unwrap().to_owned()
    };
    let calendar = |scratch: &Scratch| {
        scratch.expect(0, &["calendar", "--now", NOW, "--days", "21", "--cluster", "edge-01"])
    };
    // A pair of CronJobs knows no freeze.
    let scratch = scaffold();
    let table = "gate:\n  every: 5m\n  through: 2027-01-31\n  from: 2026-11-01\n";
    scratch.replace("windows.yaml", "gate:\n", table);
    let freeze = |name: &str, day: &str| format!("  {name}: {{ from: {day}, to: {day}, reason: {name} }}\n");
    let time = format!("freezes:\n{}", freeze("one", "2026-11-28"));
    let time = time.replace("to: 2026-11-28", "to: 2026-11-29");
    scratch.write("windows.yaml", scratch.text("windows.yaml") + &time);
    scratch.commit();
    assert_eq!(opens(&scratch, "edge-01"), (first.to_owned(), Value::Null));
    assert_eq!(lands(&scratch), first);
    assert!(notes(&scratch).contains(&"not-synced".to_owned()));
    let told = calendar(&scratch);
    assert!(told.stdout.contains("Sat 2026-11-28 22:00"), "{}", told.stdout);
    assert!(told.stderr.contains("other times than windows.yaml says"), "{}", told.stderr);
    scratch.take(&["sync", "--yes"]);
    assert_eq!(opens(&scratch, "edge-01"), (second.to_owned(), json!("one: one")));
    assert_eq!(lands(&scratch), second);
    assert!(!notes(&scratch).contains(&"not-synced".to_owned()));
    // A table that is there goes on, with its own reasons.
    let more = freeze("two", "2026-12-05").replace("to: 2026-12-05", "to: 2026-12-06");
    scratch.write("windows.yaml", scratch.text("windows.yaml") + &more);
    scratch.commit();
    assert_eq!(opens(&scratch, "edge-01"), (second.to_owned(), json!("one: one")));
    assert!(notes(&scratch).contains(&"not-synced".to_owned()));
    scratch.take(&["sync", "--yes"]);
    assert_eq!(opens(&scratch, "edge-01"), (third.to_owned(), json!("two: two")));
    assert!(!calendar(&scratch).stderr.contains("other times"));
}

/// A table says when a window opens, and no schedule does.
#[test]
fn a_spec_that_was_lost_is_not_made_of_a_table() {
    let scratch = with_table();
    scratch.git(&["rm", "--quiet", "windows.yaml", "windows.schema.json"]);
    scratch.commit();
    let commit = scratch.git(&["rev-parse", "HEAD"]);
    let before = scratch.tree();
    for arguments in [vec!["init", "--yes"], [&["init", "--yes"][..], &WINDOW].concat()] {
        let told = scratch.expect(5, &arguments).stderr;
        assert!(told.contains("reads a table of open times, made from a windows.yaml"), "{told}");
        let restores = format!("run `git checkout {}^ -- windows.yaml`", &commit[..10]);
        assert!(told.contains(&restores) && !told.contains("GW107"), "{told}");
    }
    assert_same(&before, &scratch.tree(), "something was written");
    scratch.git(&["checkout", &format!("{}^", commit.trim()), "--", "windows.yaml"]);
    scratch.commit();
    let run = scratch.expect(0, &["sync", "--yes"]);
    assert!(run.stderr.contains("Nothing to change."), "{}", run.stderr);
}
