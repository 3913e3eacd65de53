//! `when`.

use serde_json::{Value, json};

use super::{NOW, Repository, SPEC, flux, job_at};

pub fn lines(answer: &Value) -> Vec<(String, String, String, bool, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let line = |line: &Value| {
        (
            text(&line["cluster"]),
            text(&line["type"]),
            text(&line["kustomization"]["name"]),
            line["open"].as_bool().unwrap(),
            text(&line["gate"]),
        )
    };
    answer["lines"].as_array().unwrap().iter().map(line).collect()
}

pub fn line(
    cluster: &str,
    kind: &str,
    name: &str,
    open: bool,
    gate: &str,
) -> (String, String, String, bool, String) {
    (cluster.into(), kind.into(), name.into(), open, gate.into())
}

#[test]
fn everything_is_said_of_every_cluster() {
    let answer = Repository::fleet().json(&["when", "--format", "json"]);
    assert_eq!(answer["version"], 1);
    assert_eq!(answer["at"]["utc"], NOW);
    assert_eq!(answer["localTimeZone"], "Asia/Tokyo");
    assert_eq!(
        lines(&answer),
        [
            line("edge-01", "rt", "apps-rt", true, "none"),
            line("edge-01", "rw", "apps-rw", false, "closes"),
            line("edge-02", "-", "apps", true, "none"),
            line("edge-03", "rt", "-", true, "none"),
            line("edge-03", "rw", "-", true, "off"),
        ]
    );
    let kinds: Vec<&str> =
        answer["notes"].as_array().unwrap().iter().map(|note| note["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["gate-off", "no-entry-point", "not-split"]);
}

#[test]
fn times_are_told_in_three_zones() {
    let answer = Repository::fleet().json(&["when", "--cluster", "edge-01", "--format", "json"]);
    let gated = &answer["lines"][1];
    assert_eq!(
        gated["nextOpen"],
        json!({
            "utc": "2026-11-23T07:00:00Z",
            "cluster": "2026-11-23T08:00:00+01:00",
            "local": "2026-11-23T16:00:00+09:00",
        })
    );
    assert_eq!(gated["nextClose"]["cluster"], "2026-11-26T17:00:00+01:00");
    assert_eq!(gated["reaches"], gated["nextOpen"]);
    assert_eq!(gated["kustomization"]["inGit"], true);
    let real_time = &answer["lines"][0];
    assert_eq!((&real_time["realTime"], &real_time["nextOpen"]), (&Value::Bool(true), &Value::Null));
    assert_eq!(real_time["reaches"]["utc"], NOW);
}

#[test]
fn people_read_it_without_colour() {
    let text = Repository::fleet().stdout(&["when", "--cluster", "edge-01", "--color", "never"]);
    insta::assert_snapshot!(text, @r"
    edge-01
      rt  apps-rt: at once (within 3 minutes)
      rw  apps-rw: closed
          opens   Mon 2026-11-23 08:00 Europe/Berlin = 07:00 UTC = 16:00 Asia/Tokyo (local)
          closes  Thu 2026-11-26 17:00 Europe/Berlin = 16:00 UTC = Fri 2026-11-27 01:00 Asia/Tokyo (local)
    ");
}

#[test]
fn clusters_with_one_answer_share_a_heading() {
    let repository = Repository::fleet();
    let told = |arguments: &[&str]| repository.stdout(&[&["when", "--color", "never"], arguments].concat());
    insta::assert_snapshot!(told(&[]));
}

#[test]
fn another_time_can_be_asked_for() {
    let repository = Repository::fleet();
    let at = |at: &str| {
        let answer = repository.json(&["when", "--cluster", "edge-01", "--at", at, "--format", "json"]);
        let line = &answer["lines"][1];
        (line["open"].as_bool().unwrap(), line["nextClose"]["utc"].as_str().unwrap().to_owned())
    };
    assert_eq!(at("2026-11-23T07:00:00Z"), (true, "2026-11-26T16:00:00Z".into()));
    assert_eq!(at("2026-11-23T07:59:59+01:00"), (false, "2026-11-26T16:00:00Z".into()));
    assert_eq!(at("2026-11-26T16:00:00Z"), (false, "2026-12-03T16:00:00Z".into()));
    // In summer the same local times are an hour earlier in UTC.
    assert_eq!(at("2027-07-05T06:00:00Z"), (true, "2027-07-08T15:00:00Z".into()));
}

#[test]
fn an_app_is_found_by_its_name_and_those_of_its_parts() {
    let repository = Repository::fleet();
    let found =
        |word: &str| lines(&repository.json(&["when", word, "--cluster", "edge-01", "--format", "json"]));
    let types = |word: &str| found(word).into_iter().map(|line| line.1).collect::<Vec<_>>();
    assert_eq!(types("nginx"), ["rt", "rw"]);
    assert_eq!(types("nginx-rw"), ["rw"]);
    assert_eq!(types("apps"), ["rt", "rw"]);
    assert_eq!(types("apps-rt"), ["rt"]);
}

#[test]
fn a_path_leads_to_the_sides_that_read_it() {
    let repository = Repository::fleet();
    let found = |word: &str| {
        let answer = repository.json(&["when", word, "--format", "json"]);
        let found = lines(&answer).into_iter().map(|line| format!("{} {}", line.0, line.1));
        found.collect::<Vec<_>>()
    };
    assert_eq!(found("apps/nginx/nginx-rw/deployment.yaml"), ["edge-01 rw", "edge-02 -"]);
    assert_eq!(found("apps/nginx/nginx-rt/"), ["edge-01 rt", "edge-02 -"]);
    assert_eq!(found("clusters/edge-01/apps/apps-rw/kustomization.yaml"), ["edge-01 rw"]);
    assert_eq!(found("apps/nginx/kustomization.yaml"), ["edge-02 -"]);
}

#[test]
fn each_flux_kustomization_of_a_folder_is_told() {
    let repository = Repository::fleet();
    repository.write("clusters/edge-02/twin.yaml", &flux("twin", "clusters/edge-02/apps"));
    let answer = repository.json(&["when", "--cluster", "edge-02", "--format", "json"]);
    let names: Vec<String> = lines(&answer).into_iter().map(|line| line.2).collect();
    assert_eq!(names, ["apps", "twin"]);
}

#[test]
fn an_empty_entry_point_is_no_parent() {
    let repository = Repository::fleet();
    repository.write("clusters/edge-02/none.yaml", &flux("none", "none"));
    repository.write("none/kustomization.yaml", "resources: []\n");
    let answer = repository.json(&["when", "none", "--format", "json"]);
    let kinds: Vec<&str> =
        answer["notes"].as_array().unwrap().iter().map(|note| note["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["empty"]);
}

#[test]
fn a_component_leads_to_the_flux_kustomizations_that_name_it() {
    let repository = Repository::fleet();
    let rw = flux("apps-rw", "clusters/edge-01/apps/apps-rw") + "  components: [../../../../parts/labels]\n";
    repository.write("clusters/edge-01/apps-rw.yaml", &rw);
    repository.write(
        "parts/labels/kustomization.yaml",
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: { a: b }\n",
    );
    for path in ["parts/labels", "parts/labels/kustomization.yaml"] {
        let answer = repository.json(&["when", path, "--format", "json"]);
        let found: Vec<_> = lines(&answer).into_iter().map(|line| (line.0, line.1)).collect();
        assert_eq!(found, [("edge-01".to_owned(), "rw".to_owned())], "{path}");
    }
}

#[test]
fn a_path_that_nothing_reads_is_said() {
    let repository = Repository::fleet();
    let answer = repository.json(&["when", "docs/note.md", "--format", "json"]);
    assert_eq!((&answer["lines"], &answer["unreached"]), (&json!([]), &json!(["docs/note.md"])));
    assert!(
        repository
            .stdout(&["when", "docs/note.md"])
            .contains("No entry point of these clusters reads docs/note.md")
    );
}

#[test]
fn unknown_names_are_answered_with_near_ones() {
    let repository = Repository::fleet();
    for (arguments, said) in [
        (["when", "--cluster", "edge-1"], "did you mean `edge-01`"),
        (["when", "--cluster", "production"], "use `edge-01`, `edge-02`, `edge-03`"),
        (["when", "ngnix", "-v"], "did you mean `nginx`?"),
        (["when", "apps/nginx/nginx-rw/deploymnt.yaml", "-v"], "deployment.yaml`"),
        (["when", "../outside", "-v"], "is no app and no path"),
        (["when", "--at", "soon"], "`soon` is no day and no time"),
        (["when", "--at", "2026-11-23 08:00"], "has no time zone, and the windows have several"),
    ] {
        let (code, stderr) = repository.failure(&arguments);
        assert_eq!(code, 2, "{arguments:?}");
        assert!(stderr.contains(said), "{arguments:?}: {stderr}");
    }
    let output =
        super::program().args(["when", "--now", "soon"]).current_dir(repository.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn all_unknown_names_are_told_at_once() {
    let (_, stderr) = Repository::fleet().failure(&["when", "nginy", "redis", "--cluster", "edge-09"]);
    assert_eq!(stderr.matches("error: ").count(), 3, "{stderr}");
}

#[test]
fn the_same_question_has_the_same_answer() {
    let repository = Repository::fleet();
    assert_eq!(repository.stdout(&["when"]), repository.stdout(&["when"]));
    assert!(!repository.stdout(&["when"]).contains('\u{1b}'));
}

#[test]
fn without_a_spec_there_is_no_answer() {
    let (code, stderr) = Repository::new(&[("a.txt", "")]).failure(&["when"]);
    assert_eq!(code, 3);
    assert!(stderr.contains("there is no spec"), "{stderr}");
}

fn with_second_window(window: &str) -> Repository {
    let repository = Repository::fleet();
    let spec = SPEC
        .replace("window: work-week", "window: [work-week, second]")
        .replace("windows:\n  work", &format!("windows:\n  second: {window}\n  work"));
    repository.write("windows.yaml", &spec);
    repository
}

#[test]
fn windows_in_several_zones_are_told_each_in_its_own() {
    let repository =
        with_second_window("{ timeZone: America/New_York, open: 0 20 * * SAT, close: 0 22 * * SAT }");
    let zone = "America/New_York";
    let second = [("second-close", true, "0 22 * * SAT"), ("second-open", false, "0 20 * * SAT")]
        .map(|(name, suspend, at)| job_at(name, suspend, "apps-rw", (at, zone)));
    repository.write("infra/reconciliation-windows/second.yaml", &second.join("---\n"));
    repository.write(
        "infra/reconciliation-windows/kustomization.yaml",
        "resources: [open.yaml, close.yaml, second.yaml]\n",
    );
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    let line = &answer["lines"][1];
    assert_eq!(line["timeZone"], Value::Null);
    assert_eq!(line["timeZones"], json!(["Europe/Berlin", "America/New_York"]));
    assert_eq!(line["nextOpen"]["cluster"], "2026-11-21T20:00:00-05:00");
    let text = repository.stdout(&["when", "--cluster", "edge-01"]);
    let opens = "Sun 2026-11-22 02:00 Europe/Berlin = Sat 2026-11-21 20:00 America/New_York = Sun 2026-11-22 01:00 UTC";
    assert!(text.contains(opens), "{text}");
}

#[test]
fn windows_that_touch_are_said_to_be_a_race() {
    let repository =
        with_second_window("{ timeZone: Europe/Berlin, open: 0 17 * * THU, close: 0 20 * * THU }");
    let asked = ["when", "--cluster", "edge-01", "--format", "json"];
    let answer = repository.json(&asked);
    assert_eq!(answer["lines"][1]["race"]["utc"], "2026-11-26T16:00:00Z");
    assert_eq!(answer["lines"][1]["nextClose"]["utc"], "2026-11-26T16:00:00Z");
    assert!(repository.stdout(&asked[..3]).contains("The slower Job decides"));
    // After it the gate is taken for closed until the next week.
    let later = repository.json(&[&asked[..], &["--at", "2026-11-26T17:00:00Z"]].concat());
    assert_eq!(later["lines"][1]["open"], false);
    assert_eq!(later["lines"][1]["nextOpen"]["utc"], "2026-11-30T07:00:00Z");
    assert_eq!(later["lines"][1]["race"]["utc"], "2026-11-26T16:00:00Z");
    // Without one there is nothing to say.
    let answer = Repository::fleet().json(&asked);
    assert_eq!(answer["lines"][1]["race"], Value::Null);
    assert!(answer["timeZoneDatabase"].as_str().unwrap().starts_with("20"), "{answer}");
}

#[test]
fn a_narrow_terminal_gets_a_list() {
    let output = super::program()
        .args(["when", "--cluster", "edge-01", "--now", NOW])
        .env("COLUMNS", "40")
        .env("TZ", "Asia/Tokyo")
        .current_dir(Repository::fleet().path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    insta::assert_snapshot!(text, @r"
    edge-01
      rt  apps-rt: at once (within 3
          minutes)
      rw  apps-rw: closed
          opens   Mon 2026-11-23 08:00
                  Europe/Berlin = 07:00 UTC
                  = 16:00 Asia/Tokyo (local)
          closes  Thu 2026-11-26 17:00
                  Europe/Berlin = 16:00 UTC
                  = Fri 2026-11-27 01:00
                  Asia/Tokyo (local)
    ");
}

/// A table says when it is open, with a freeze, an override and an end.
#[test]
fn each_opening_and_closing_has_its_reason() {
    let repository = Repository::fleet();
    let table = "timeZone: Europe/Berlin\ngate: { every: 5m, from: 2026-11-01, through: 2026-12-31 }\n\
        freezes: { peak: { from: 2026-12-09, to: 2026-12-15, reason: trading peak } }\n\
        overrides: [{ cluster: edge-01, type: rw, from: 2026-11-27T20:00, until: 2026-11-27T22:00, reason: INC-1 }]\n";
    repository.write("windows.yaml", &format!("{SPEC}{table}"));
    repository.write_tables();
    let told = [
        "2026-10-31",
        "2026-11-25 12:00",
        "2026-11-27 20:00",
        "2026-11-28",
        "2026-12-08 12:00",
        "2026-12-09 12:00",
        "2026-12-31 08:00",
        "2027-01-01",
    ]
    .map(|at| {
        let asked = ["when", "--cluster", "edge-01", "--at", at, "--format", "json"];
        let line = repository.json(&asked)["lines"][1].take();
        let utc = |value: &Value| value["utc"].as_str().unwrap_or("-").to_owned();
        let reason = |key: &str| line[key]["reason"].as_str().unwrap_or("-").to_owned();
        format!(
            "{at}: open {}, {}; opens {}; closes {}, {} {}; freeze {}, override {}",
            line["open"],
            line["reason"],
            utc(&line["nextOpen"]),
            utc(&line["nextClose"]),
            line["nextCloseReason"],
            reason("nextFreeze"),
            reason("freeze"),
            reason("override"),
        )
    });
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_time_is_said_in_many_ways() {
    let repository = Repository::fleet();
    repository.write("windows.yaml", &SPEC.replace("America/New_York", "Europe/Berlin"));
    let of = |at: &str| repository.json(&["when", "--at", at, "--format", "json"])["at"]["utc"].take();
    let told = ["2026-11-28", "2026-11-28 23:00", "tonight", "tomorrow", "tomorrow 08:00", "now+2h"]
        .map(|at| format!("{at}: {}", of(at)));
    insta::assert_snapshot!(told.join("\n"));
    // One cluster has windows in one zone, whatever the others have.
    repository.write("windows.yaml", SPEC);
    let at = "2026-11-28 23:00";
    repository.json(&["when", "--at", at, "--cluster", "edge-01", "--format", "json"]);
    let (_, told) = repository.failure(&["when", "--at", at]);
    assert!(told.contains("the windows have several"), "{told}");
    repository.write("windows.yaml", &SPEC.replace("America/New_York", "Europe/Berlin"));
    let (_, told) = repository.failure(&["when", "--at", "2027-03-28 02:30"]);
    assert!(told.contains("2027-03-28 02:30 does not come\n"), "{told}");
}

/// What is said of an entry point is said of the clusters that have it, and no others.
#[test]
fn each_cluster_is_told_of_its_own_entry_points() {
    let repository = Repository::uncommitted_fleet();
    repository.write("clusters/edge-01/extra.yaml", &flux("extra", "clusters/edge-01/extra"));
    repository.write("clusters/edge-01/extra/kustomization.yaml", "resources: [../../../apps/nginx]\n");
    repository.commit("2026-01-05T12:00:00Z");
    let answer = repository.json(&["when", "--format", "json"]);
    let notes = answer["notes"].as_array().unwrap().iter().filter(|note| note["kind"] == "not-split");
    let told: Vec<String> = notes.map(|note| format!("{} {}", note["clusters"], note["message"])).collect();
    insta::assert_snapshot!(told.join("\n"));
}

/// What it depends on has to apply a commit first, and may look at its objects for as long as its timeout.
#[test]
fn what_it_depends_on_takes_its_time_too() {
    let repository = Repository::fleet();
    let first = flux("first", "apps/nginx/nginx-rt");
    let says = |first: &str, depends: &str| {
        repository.write("clusters/edge-01/first.yaml", first);
        let own = flux("apps-rt", "clusters/edge-01/apps/apps-rt");
        repository.write("clusters/edge-01/apps-rt.yaml", &format!("{own}{depends}"));
        let told = repository.stdout(&["when", "--cluster", "edge-01"]);
        let line = told.lines().find(|line| line.contains(" apps-rt: ")).unwrap();
        line.split_once(" apps-rt: ").unwrap().1.trim().trim_start_matches("at once ").to_owned()
    };
    let depends = "  dependsOn: [{ name: first }]\n";
    let waiting = format!("{first}  wait: true\n  timeout: 20m\n");
    let other = first.replace("name: flux-system }", "name: other }");
    assert_eq!(
        [says(&first, ""), says(&first, depends), says(&waiting, depends), says(&other, depends)],
        ["(within 3 minutes)", "(within 4 minutes)", "(within 44 minutes)", "(within 3 minutes)"]
    );
    // What is not there, and what waits for its window, keeps it waiting for no one knows how long.
    let told =
        ["nowhere", "apps-rw"].map(|name| says(&first, &format!("  dependsOn: [{{ name: {name} }}]\n")));
    assert_eq!(told, ["unknown: it depends on nowhere, which is not in Git", "after apps-rw"]);
    // Also through others, and where Git suspends it.
    let behind = format!("{first}  dependsOn: [{{ name: apps-rw }}]\n");
    assert_eq!(says(&behind, depends), "after apps-rw");
    assert_eq!(
        says(&format!("{first}  suspend: true\n"), depends),
        "never: it depends on first, which never lands"
    );
    says(&behind, depends);
    let answer =
        repository.json(&["when", "--cluster", "edge-01", "--at", "2026-11-27T12:00Z", "--format", "json"]);
    let lines = answer["lines"].as_array().unwrap();
    let of = |name: &str| lines.iter().find(|line| line["kustomization"]["name"] == name).unwrap();
    let (own, other) = (of("apps-rt"), of("apps-rw"));
    assert_eq!((&own["open"], &own["reason"]), (&false.into(), &"dependency".into()));
    assert_eq!(own["reaches"]["utc"], other["nextOpen"]["utc"]);
}

/// Its window is only the earliest time.
#[test]
fn when_what_depends_on_what_is_not_in_git_lands_nobody_knows() {
    let repository = Repository::fleet();
    let own = flux("apps-rw", "clusters/edge-01/apps/apps-rw");
    repository
        .write("clusters/edge-01/apps-rw.yaml", &format!("{own}  dependsOn: [{{ name: elsewhere }}]\n"));
    repository.commit("2026-11-20T12:00:00Z");
    let asked = ["when", "--cluster", "edge-01", "--at", "2026-11-27T12:00Z"];
    insta::assert_snapshot!(repository.stdout(&asked));
    let answer = repository.json(&[&asked[..], &["--format", "json"]].concat());
    let lines = answer["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["kustomization"]["name"] == "apps-rw").unwrap();
    assert!(line["reaches"].is_null() && line["nextOpen"].is_object(), "{line:#}");
    assert_eq!((&line["open"], &line["reason"]), (&false.into(), &"dependency".into()));
}

/// Its window is only the latest time where the gate may never have come; where it is open, it lands all the same.
#[test]
fn what_a_gate_holds_that_depends_on_what_is_not_in_git_lands_nobody_knows_when() {
    let repository = Repository::fleet();
    let own = flux("infra", "infra/reconciliation-windows");
    repository.write("clusters/edge-01/infra.yaml", &format!("{own}  dependsOn: [{{ name: elsewhere }}]\n"));
    repository.commit("2026-11-01T12:00:00Z");
    let asked = |at: &str| repository.stdout(&["when", "--cluster", "edge-01", "--at", at]);
    let (closed, open) = (asked("2026-11-27T12:00Z"), asked("2026-12-01T12:00Z"));
    insta::assert_snapshot!(format!("{closed}---\n{open}"));
    let at = ["when", "--cluster", "edge-01", "--format", "json", "--at"];
    let line = |at_time: &str| {
        let answer = repository.json(&[&at[..], &[at_time]].concat());
        let lines = answer["lines"].as_array().unwrap();
        lines.iter().find(|line| line["kustomization"]["name"] == "apps-rw").unwrap().clone()
    };
    let closed = line("2026-11-27T12:00Z");
    assert!(closed["reaches"].is_null() && closed["nextOpen"].is_object(), "{closed:#}");
    assert_eq!((&closed["open"], &closed["reason"]), (&false.into(), &"dependency".into()));
    let open = line("2026-12-01T12:00Z");
    assert_eq!((&open["open"], &open["reason"]), (&true.into(), &"window".into()));
    assert!(repository.stdout(&["clusters"]).contains("its gate perhaps never arrives"));
    let told = repository.stdout(&["explain", "clusters/edge-01/apps/apps-rw"]);
    assert!(told.contains("infra depends on elsewhere, which is not in Git"), "{told}");
}

/// Nobody knows whether their sources are this repository, until `init` is told.
#[test]
fn what_may_read_this_repository_is_told() {
    let one = |name: &str, source: &str| {
        let url = format!("https://example.org/{source}");
        let written = flux(name, name).replace("name: flux-system }", &format!("name: {source} }}"));
        format!(
            "{written}---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{ name: {source}, namespace: flux-system }}\nspec: {{ interval: 1m, url: '{url}' }}\n"
        )
    };
    let repository = Repository::new(&[]);
    repository.write("clusters/edge-01/apps.yaml", &one("apps", "fleet"));
    repository.write("clusters/edge-01/infra.yaml", &one("infra", "mirror"));
    for name in ["apps", "infra"] {
        repository.write(
            &format!("{name}/s.yaml"),
            "apiVersion: v1\nkind: Service\nmetadata: { name: s, namespace: default }\n",
        );
    }
    repository.commit("2026-01-05T12:00:00Z");
    let (_, refused) = repository.failure(&["init", "--yes"]);
    let remedy = refused.lines().find_map(|line| line.split_once("`gitops-windows "));
    let command: Vec<&str> = remedy.unwrap().1.trim_end_matches('`').split(' ').collect();
    assert_eq!(command, ["init", "--source", "fleet"], "{refused}");
    repository.write("windows.yaml", SPEC);
    insta::assert_snapshot!(repository.stdout(&["when", "infra", "--cluster", "edge-01"]));
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    let notes = answer["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note["kind"] == "unclear-source" && note["clusters"][0] == "edge-01"));
    std::fs::remove_file(repository.path().join("windows.yaml")).unwrap();
    let times = ["--open", "0 22 * * SAT", "--close", "0 2 * * SUN", "--time-zone", "UTC", "--yes"];
    repository.stdout(&[&command[..], &times].concat());
    let spec = std::fs::read_to_string(repository.path().join("windows.yaml")).unwrap();
    assert!(spec.contains("name: fleet"), "{spec}");
    let told = repository.stdout(&["when"]);
    assert!(told.contains("apps") && !told.contains("does not tell whether"), "{told}");
}

/// `pr` says of these that they never land.
#[test]
fn what_git_keeps_from_ever_landing_gets_no_times() {
    let asked = ["when", "--cluster", "edge-01"];
    let depending = |of: &[(&str, &str)]| {
        let repository = Repository::fleet();
        for (name, other) in of {
            let text = flux(name, &format!("clusters/edge-01/apps/{name}"));
            let text = format!("{text}  dependsOn: [{{ name: {other} }}]\n");
            repository.write(&format!("clusters/edge-01/{name}.yaml"), &text);
        }
        repository.commit("2026-11-20T12:00:00Z");
        repository
    };
    let circle = depending(&[("apps-rt", "apps-rw"), ("apps-rw", "apps-rt")]);
    let itself = depending(&[("apps-rt", "apps-rt"), ("apps-rw", "apps-rt")]);
    let paused = Repository::fleet();
    paused.write(
        "clusters/edge-01/source.yaml",
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: flux-system, namespace: flux-system }\n\
         spec: { interval: 1m, url: 'https://example.org/fleet', suspend: true }\n",
    );
    insta::assert_snapshot!([&circle, &itself, &paused].map(|one| one.stdout(&asked)).join("\n---\n"));
    for repository in [&circle, &itself, &paused] {
        let answer = repository.json(&[&asked[..], &["--format", "json"]].concat());
        for line in answer["lines"].as_array().unwrap() {
            assert!(line["reaches"].is_null() && line["open"] == false, "{line:#}");
        }
    }
}

/// A spec with these clusters, by which every Deployment waits.
fn waiting(clusters: &str) -> String {
    let head = &SPEC[..SPEC.find("clusters:").unwrap()];
    let rules = "rules: [{ kind: ConfigMap, type: rt }, { type: rw }]\n";
    format!("{head}clusters: {clusters}\n{rules}gate: {{ enabled: true, namespace: flux-system }}\n")
}

/// A cluster of which a root applies one entry point, and a Flux Kustomization of its own another one.
fn rooted(spec: &str) -> Repository {
    let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: { name: flux-system, namespace: flux-system }\n\
                  spec: { interval: 1m, url: 'https://example.org/fleet', ref: { branch: main } }\n---\n";
    let repository = Repository::new(&[("windows.yaml", spec)]);
    let sync = format!("{source}{}", flux("flux-system", "clusters/edge-01"));
    repository.write("clusters/edge-01/flux-system/gotk-sync.yaml", &sync);
    repository.write("clusters/edge-01/shop.yaml", &flux("shop", "apps/shop"));
    for folder in ["clusters/edge-01/web", "apps/shop"] {
        let name = folder.rsplit('/').next().unwrap();
        repository.write(&format!("{folder}/kustomization.yaml"), "resources: [deployment.yaml]\n");
        let text =
            format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: {name}, namespace: a }}\n");
        repository.write(&format!("{folder}/deployment.yaml"), &text);
    }
    repository.commit("2026-11-20T12:00:00Z");
    repository
}

/// Nobody is sent to a command that has nothing to say.
#[test]
fn what_no_gate_of_the_spec_holds_is_told_with_a_way_on_that_works() {
    let said = |repository: &Repository| repository.stdout(&["when"]);
    let root = rooted(&waiting("{ edge-01: {} }"));
    root.run(&["sync", "--yes", "--allow-dirty"]);
    root.commit("2026-11-20T13:00:00Z");
    let told = said(&root);
    // The steps that it names.
    std::fs::rename(root.path().join("clusters/edge-01/web"), root.path().join("apps/web")).unwrap();
    root.write("clusters/edge-01/web.yaml", &flux("web", "apps/web"));
    root.run(&["sync", "--yes", "--allow-dirty"]);
    root.commit("2026-11-20T14:00:00Z");
    let moved = said(&root);
    let unnamed = said(&rooted(&waiting("{}")));
    let off = rooted(&waiting("{ edge-01: { hasGate: false } }"));
    root.write("windows.yaml", &waiting("{ edge-01: { hasGate: false } }"));
    let left = said(&root);
    insta::assert_snapshot!([told, moved, unnamed, said(&off), left].join("\n---\n"));
    let answer = off.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    assert_eq!(answer["lines"].as_array().unwrap().len(), 2);
    // A gate that is left closes, as its CronJobs say.
    let answer = root.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    let lines = answer["lines"].as_array().unwrap();
    let left: Vec<_> = lines.iter().filter(|line| line["gate"] == "foreign").collect();
    assert!(!left.is_empty(), "{answer}");
    assert!(left.iter().all(|line| line["open"] == true && line["realTime"] == false), "{answer}");
    assert!(left.iter().all(|line| line["reason"] == "foreign-gate"), "{answer}");
    let calendar = root.stdout(&["calendar", "--cluster", "edge-01"]);
    assert!(!calendar.contains("rw"), "{calendar}");
}

/// What depends on an entry point keeps every gate from it, and no split helps.
#[test]
fn what_something_real_time_depends_on_is_told_at_once() {
    let rooted = |has_namespace: bool| {
        let spec = waiting("{ edge-01: {} }").replace("rules: [", "rules: [{ kind: Namespace, type: rt }, ");
        let root = rooted(&spec);
        if has_namespace {
            root.write("apps/shop/kustomization.yaml", "resources: [namespace.yaml, deployment.yaml]\n");
            root.write(
                "apps/shop/namespace.yaml",
                "apiVersion: v1\nkind: Namespace\nmetadata: { name: b }\n",
            );
        } else {
            root.write("apps/late/kustomization.yaml", "resources: [map.yaml]\n");
            let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: late, namespace: c }\n";
            root.write("apps/late/map.yaml", map);
        }
        let late = flux("late", "apps/late") + "  dependsOn: [{ name: shop }]\n";
        root.write("clusters/edge-01/late.yaml", &late);
        root.run(&["sync", "--yes", "--allow-dirty"]);
        root.commit("2026-11-20T13:00:00Z");
        root.stdout(&["when", "apps/shop"])
    };
    insta::assert_snapshot!([rooted(false), rooted(true)].join("\n---\n"));
}

/// Whoever is near is told what to write.
#[test]
fn words_that_come_near_are_told() {
    let fleet = Repository::fleet();
    for (arguments, said) in [
        (&["when", "edge-01"][..], "did you mean `--cluster edge-01`?"),
        (&["when", "egde-02"], "did you mean `--cluster edge-02`?"),
        (&["when", "--cluster", "edge1"], "did you mean `edge-01`?"),
        (&["when", "apps/ngnix"], "did you mean `apps/nginx`?"),
        (&["when", "clusters/edge-02/app/"], "did you mean `clusters/edge-02/apps`"),
        (&["when", "--at", "tonigt"], "did you mean `tonight`?"),
        (&["explain", "ngix"], "did you mean `nginx`?"),
        (&["explain", "nonsuch"], "`nonsuch` is no app, no Flux Kustomization and no path"),
        (&["explain", "nonsuch"], "`nginx`"),
        (&["explain", "Deployment/nginx"], "name the file or folder of the object, or its app"),
        (&["split", "apps/ngnix"], "did you mean `nginx`?"),
        (&["freeze", "add", "x", "--for", "2h"], "did you mean `--to now+2h`?"),
        (&["cron", "0 22 * * FRIL"], "unknown weekday `FRIL`"),
        (&["cron", "0 22 * * FRIL"], "`on: last Fri of month`"),
    ] {
        let (code, told) = fleet.failure(arguments);
        assert!(code > 1 && told.contains(said), "{arguments:?}: {told}");
    }
    let (_, told) = fleet.failure(&["split", "wbe"]);
    assert!(!told.contains("reconciliation-windows"), "{told}");
}

/// As `clusters` prints it.
#[test]
fn a_kustomization_is_meant_by_its_namespace_and_name_too() {
    let fleet = Repository::fleet();
    let by_name = fleet.stdout(&["when", "apps-rw"]);
    assert!(by_name.contains("apps-rw"), "{by_name}");
    assert_eq!(fleet.stdout(&["when", "flux-system/apps-rw"]), by_name);
}

/// The paths of a spec in another git repository mean that one.
#[test]
fn a_spec_of_another_git_repository_is_refused() {
    let around = Repository::new(&[("readme.md", "\n")]);
    std::fs::rename(Repository::fleet().path(), around.path().join("fleet")).unwrap();
    let (code, told) = around.failure(&["when", "--spec", "fleet/windows.yaml"]);
    assert_eq!(code, 2);
    assert!(told.contains("is in another git repository") && told.contains("-C"), "{told}");
}
