//! `when`.

use serde_json::{Value, json};

use super::{NOW, Repository, SPEC, flux, job};

fn lines(answer: &Value) -> Vec<(String, String, String, bool, String)> {
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

fn line(
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
      rt  apps-rt: at once (within 11 minutes)
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
fn a_gate_without_jobs_closes_nothing() {
    let repository = Repository::fleet();
    repository.write("infra/reconciliation-windows/close.yaml", &job("close", true, "other"));
    repository.write("infra/reconciliation-windows/open.yaml", &job("open", false, "other"));
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    assert_eq!(lines(&answer)[1], line("edge-01", "rw", "apps-rw", true, "no-job"));
    assert_eq!(answer["lines"][1]["windowOpen"], false);
    let text = repository.stdout(&["when", "--cluster", "edge-01"]);
    assert!(
        text.contains("at once (not gated)") && text.contains("Nothing closes outside of the windows."),
        "{text}"
    );
}

/// The list of a gate whose jobs are suspended.
const OFF: &str = "resources: [open.yaml, close.yaml]\npatches:\n- target: { kind: CronJob }\n  patch: |\n    - { op: add, path: /spec/suspend, value: true }\n";

#[test]
fn a_gate_that_is_off_closes_nothing() {
    let repository = Repository::fleet();
    repository.write("infra/reconciliation-windows/kustomization.yaml", OFF);
    repository.write("windows.yaml", &SPEC.replace("edge-01: {}", "edge-01: { gate: { enabled: false } }"));
    let text = repository.stdout(&["when", "--cluster", "edge-01"]);
    assert!(text.contains("at once (gate off)\n      opens   Mon 2026-11-23 08:00"), "{text}");
}

/// The parts stand and the old Flux Kustomization goes on applying them all.
#[test]
fn what_is_split_and_not_handed_over_is_said() {
    let repository = Repository::fleet();
    for side in ["rt", "rw"] {
        let list = format!("resources: [../../../../apps/nginx/nginx-{side}]\n");
        repository.write(&format!("clusters/edge-02/apps/apps-{side}/kustomization.yaml"), &list);
    }
    let answer = repository.json(&["when", "--cluster", "edge-02", "--format", "json"]);
    assert_eq!(
        lines(&answer),
        [
            line("edge-02", "-", "apps", true, "none"),
            line("edge-02", "rt", "apps-rt", true, "not-handed-over"),
            line("edge-02", "rw", "apps-rw", true, "not-handed-over"),
        ]
    );
    let text = repository.stdout(&["when", "--cluster", "edge-02"]);
    assert_eq!(text.matches("split, not handed over").count(), 2, "{text}");
    assert!(text.contains("Its old Flux Kustomization still applies"), "{text}");
}

/// A root that a FluxInstance makes has the name that it gives, and one of which Git says nothing has none.
#[test]
fn what_applies_a_root_has_no_made_up_name() {
    let repository = Repository::fleet();
    let instance = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: { name: flux, namespace: flux-system }\nspec: { sync: { kind: GitRepository, url: 'https://example.org/fleet', path: clusters/edge-02 } }\n";
    let told = || repository.stdout(&["when", "--cluster", "edge-02"]);
    repository.write("clusters/edge-02/more/kustomization.yaml", "resources: [../../../apps/nginx]\n");
    let unsaid = told();
    assert!(unsaid.contains("the Flux Kustomization of clusters/edge-02/more (not in Git)"), "{unsaid}");
    assert!(!unsaid.contains("more-rw"), "{unsaid}");
    repository.write("bootstrap/instance.yaml", instance);
    let said = told();
    assert!(said.contains("apps, flux-system: ") || said.contains("flux-system: "), "{said}");
    assert!(!said.contains("not in Git"), "{said}");
}

/// Gates over Flux Kustomizations that were made in the cluster, and a list of parts that nobody applies.
#[test]
fn a_gate_over_what_is_not_in_git_closes() {
    let repository = Repository::fleet();
    for side in ["rt", "rw"] {
        std::fs::remove_file(repository.path().join(format!("clusters/edge-01/apps-{side}.yaml"))).unwrap();
    }
    repository.write("clusters/edge-01/apps/kustomization.yaml", "resources: [apps-rt, apps-rw]\n");
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    assert_eq!(
        lines(&answer),
        [line("edge-01", "rt", "apps-rt", true, "none"), line("edge-01", "rw", "apps-rw", false, "unseen"),]
    );
    let text = repository.stdout(&["when", "--cluster", "edge-01"]);
    assert!(text.contains("apps-rw (not in Git): closed"), "{text}");
}

#[test]
fn a_job_that_git_suspends_closes_nothing() {
    let repository = Repository::fleet();
    repository.write("infra/reconciliation-windows/kustomization.yaml", OFF);
    let gate = || {
        let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
        answer["lines"][1]["gate"].as_str().unwrap().to_owned()
    };
    assert_eq!(gate(), "no-job");
    // Whatever the spec wants, what stands in Git counts.
    let off = SPEC.replace("edge-01: {}", "edge-01: { gate: { enabled: false } }");
    repository.write("windows.yaml", &off);
    assert_eq!(gate(), "off");
    repository
        .write("infra/reconciliation-windows/kustomization.yaml", "resources: [open.yaml, close.yaml]\n");
    assert_eq!(gate(), "closes");
}

/// Flux then applies and deletes nothing, so what the cluster has runs on.
#[test]
fn a_gate_that_does_not_build_runs_on() {
    let repository = Repository::fleet();
    let list = "resources: [open.yaml, close.yaml, missing.yaml]\n";
    repository.write("infra/reconciliation-windows/kustomization.yaml", list);
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    assert_eq!(answer["lines"][1]["gate"], "closes");
    let kinds: Vec<&Value> = answer["notes"].as_array().unwrap().iter().map(|note| &note["kind"]).collect();
    assert!(kinds.contains(&&Value::from("gate-not-built")), "{kinds:?}");
    let text = repository.stdout(&["explain", "clusters/edge-01/apps/apps-rw"]);
    assert!(!text.contains("at once"), "{text}");
}

#[test]
fn what_git_resumes_no_window_closes() {
    let repository = Repository::fleet();
    let file = "clusters/edge-01/apps-rw.yaml";
    let apps = std::fs::read_to_string(repository.path().join(file)).unwrap();
    repository.write(file, &apps.replace("spec:\n", "spec:\n  suspend: false\n"));
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    assert_eq!(lines(&answer)[1], line("edge-01", "rw", "apps-rw", true, "resumed"));
    assert_eq!(answer["notes"][0]["kind"], "resumed", "{answer}");
    let clusters = repository.json(&["clusters", "--format", "json"]);
    let found = clusters["clusters"][0]["kustomizations"].as_array().unwrap().clone();
    let held: Vec<&Value> = found.iter().filter(|one| !one["gated"].is_null()).collect();
    assert!(held.is_empty(), "{held:?}");
    let explained = repository.stdout(&["explain", "apps/nginx/nginx-rw/deployment.yaml"]);
    assert!(explained.contains("apps-rw: no gate holds it"), "{explained}");
    // Nobody resumes it where what applies it is suspended too.
    let root = flux("flux-system", "clusters/edge-01").replace("spec:\n", "spec:\n  suspend: true\n");
    repository.write("clusters/edge-01/flux-system.yaml", &root);
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    let of_apps = lines(&answer).into_iter().find(|line| line.2 == "apps-rw").unwrap();
    assert_eq!(of_apps.4, "closes");
    let explained = repository.stdout(&["explain", "apps/nginx/nginx-rw/deployment.yaml"]);
    assert!(!explained.contains("apps-rw: no gate holds it"), "{explained}");
}

#[test]
fn an_entry_point_of_two_clusters_is_told_for_both() {
    let repository = Repository::fleet();
    repository.write("shared/kustomization.yaml", "resources: [../apps/nginx]\n");
    for cluster in ["edge-01", "edge-02"] {
        repository.write(&format!("clusters/{cluster}/shared.yaml"), &flux("shared", "shared"));
    }
    for cluster in ["edge-01", "edge-02"] {
        let answer = repository.json(&["when", "shared", "--cluster", cluster, "--format", "json"]);
        assert_eq!(lines(&answer), [line(cluster, "-", "shared", true, "none")]);
    }
}

#[test]
fn a_gate_on_what_was_not_split_closes_all_of_it() {
    let repository = Repository::fleet();
    repository.write("infra/reconciliation-windows/close.yaml", &job("close", true, "apps"));
    repository.write("infra/reconciliation-windows/open.yaml", &job("open", false, "apps"));
    repository.write("clusters/edge-02/infra.yaml", &flux("infra", "infra/reconciliation-windows"));
    // The job names it only now, so nothing has closed it yet, and the calendar says so too.
    let week = ["calendar", "--from", "2026-11-23", "--cluster", "edge-02"];
    let told = repository.stdout(&week);
    assert!(told.contains("rw (open until the first closing, "), "{told}");
    repository.commit("2026-01-05T13:00:00Z");
    assert!(!repository.stdout(&week).contains("until the first closing"));
    let asked = ["when", "--cluster", "edge-02", "--format", "json"];
    let answer = repository.json(&asked);
    assert_eq!(lines(&answer), [line("edge-02", "-", "apps", false, "closes")]);
    assert_eq!(answer["lines"][0]["nextOpen"]["cluster"], "2026-11-24T20:00:00-05:00");
    // By which of two types it waits is not guessed at.
    repository.write(
        "windows.yaml",
        &SPEC.replace("windows:\n  work", "  other: { window: work-week }\nwindows:\n  work"),
    );
    let answer = repository.json(&asked);
    assert_eq!(answer["lines"][0]["gate"], "foreign");
    assert_eq!(answer["lines"][0]["reaches"], Value::Null);
}

#[test]
fn a_suspension_in_git_is_said() {
    let repository = Repository::fleet();
    let suspended = format!("{}  suspend: true\n", flux("apps-rt", "clusters/edge-01/apps/apps-rt"));
    repository.write("clusters/edge-01/apps-rt.yaml", &suspended);
    let answer = repository.json(&["when", "--cluster", "edge-01", "--format", "json"]);
    assert_eq!(
        (&answer["lines"][0]["open"], &answer["lines"][0]["reaches"]),
        (&Value::Bool(false), &Value::Null)
    );
    assert!(repository.stdout(&["when", "--cluster", "edge-01"]).contains("suspended"));
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
      rt  apps-rt: at once (within 11
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

/// What is said of the gated side of the first cluster, in words and for programs.
fn gated(repository: &Repository) -> String {
    let asked = ["when", "--cluster", "edge-01"];
    let answer = repository.json(&[&asked[..], &["--format", "json"]].concat());
    let line = &answer["lines"][1];
    let kinds = answer["notes"].as_array().unwrap().iter().map(|note| note["kind"].as_str().unwrap());
    let utc = |key: &str| line[key]["utc"].as_str().unwrap_or("-").to_owned();
    format!(
        "open {}, {}, window open {}, opens {}, closes {} ({}), gate since {}, lands {}; {}\n{}",
        line["open"],
        line["reason"],
        line["windowOpen"],
        utc("nextOpen"),
        utc("nextClose"),
        line["nextCloseReason"],
        utc("gateSince"),
        utc("reaches"),
        kinds.collect::<Vec<_>>().join(", "),
        repository.stdout(&asked),
    )
}

/// A CronJob makes up for no time before it was made, so the first window after it is what closes first.
#[test]
fn before_anything_has_closed_it_is_open_until_the_first_closing() {
    let repository = Repository::uncommitted_fleet();
    // The last closing was on Thursday, 2026-11-19T16:00:00Z.
    repository.commit("2026-11-19T16:00:01Z");
    insta::assert_snapshot!(gated(&repository));
    let earlier = Repository::uncommitted_fleet();
    earlier.commit("2026-11-19T16:00:00Z");
    assert_eq!(gated(&earlier), gated(&Repository::fleet()));
}

/// A gate closes what is there at a closing, however old it is itself.
#[test]
fn what_came_after_the_last_closing_is_open_until_the_next_one() {
    let repository = Repository::uncommitted_fleet();
    let file = repository.path().join("clusters/edge-01/apps-rw.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    repository.commit("2026-01-05T12:00:00Z");
    std::fs::write(&file, text).unwrap();
    repository.commit("2026-11-20T12:00:00Z");
    let told = gated(&repository);
    assert!(told.contains("gate since 2026-11-20T12:00:00Z"), "{told}");
    assert!(told.contains("open until the first closing"), "{told}");
}

/// The same files in a folder without Git: nothing is to be fetched there.
#[test]
fn without_git_it_is_said_what_is_assumed() {
    let repository = Repository::uncommitted_fleet();
    std::fs::remove_dir_all(repository.path().join(".git")).unwrap();
    let told = gated(&repository);
    assert!(told.starts_with("open false") && told.contains("assumed-closed"), "{told}");
    assert!(told.contains("ask the cluster with `gitops-windows status`"), "{told}");
}

/// Flux Kustomizations that are divided have names of their own.
#[test]
fn what_was_divided_is_found_by_the_name_that_it_had() {
    let repository = Repository::uncommitted_fleet();
    for (name, part) in [("sonarr-rt", "nginx-rt"), ("sonarr-rw", "nginx-rw")] {
        repository.write(
            &format!("clusters/edge-01/{name}.yaml"),
            &flux(name, &format!("apps/media/app/app-{}", &name[7..])),
        );
        repository.write(
            &format!("apps/media/app/app-{}/kustomization.yaml", &name[7..]),
            &format!("resources: [../../../nginx/{part}]\n"),
        );
    }
    let answer = repository.json(&["when", "sonarr", "--format", "json"]);
    let found = answer["lines"].as_array().unwrap().iter();
    let found: Vec<&str> = found.map(|line| line["kustomization"]["name"].as_str().unwrap()).collect();
    assert_eq!(found, ["sonarr-rt", "sonarr-rw"]);
}

#[test]
fn what_is_in_no_commit_closes_nothing() {
    let of = |told: String| told.lines().next().unwrap().to_owned();
    insta::assert_snapshot!(of(gated(&Repository::uncommitted_fleet())));
    let repository = Repository::uncommitted_fleet();
    std::fs::rename(repository.path().join("infra"), repository.path().join("aside")).unwrap();
    repository.commit("2026-01-05T12:00:00Z");
    std::fs::rename(repository.path().join("aside"), repository.path().join("infra")).unwrap();
    assert_eq!(of(gated(&repository)), of(gated(&Repository::uncommitted_fleet())));
}

#[test]
fn a_gate_that_was_moved_has_closed_already() {
    let repository = Repository::fleet();
    let to = repository.path().join("infra/windows");
    std::fs::rename(repository.path().join("infra/reconciliation-windows"), to).unwrap();
    repository.write("clusters/edge-01/infra.yaml", &flux("infra", "infra/windows"));
    repository.commit("2026-11-20T12:00:00Z");
    assert_eq!(gated(&repository), gated(&Repository::fleet()));
}

/// A job knows at its last run only what it named then.
#[test]
fn a_job_that_newly_names_what_it_closes_has_not_closed_that() {
    let repository = Repository::uncommitted_fleet();
    for (name, suspend) in [("open", false), ("close", true)] {
        let file = format!("infra/reconciliation-windows/{name}.yaml");
        repository.write(&file, &job(name, suspend, "another"));
    }
    repository.commit("2026-01-05T12:00:00Z");
    for (name, suspend) in [("open", false), ("close", true)] {
        let file = format!("infra/reconciliation-windows/{name}.yaml");
        repository.write(&file, &job(name, suspend, "apps-rw"));
    }
    let of = |told: String| told.lines().next().unwrap().to_owned();
    let edited = of(gated(&repository));
    repository.commit("2026-11-20T12:00:00Z");
    repository.write("docs/note.md", "more\n");
    repository.commit("2026-11-20T13:00:00Z");
    insta::assert_snapshot!(format!("{edited}\n{}", gated(&repository)));
    // The closing of Thursday, 2026-11-26, is the first one.
    let later = ["when", "--cluster", "edge-01", "--at", "2026-11-27T12:00:00Z", "--format", "json"];
    assert_eq!(repository.json(&later)["lines"][1]["reason"], "outside-window");
}

/// What brings a job may change after a closing: the job has closed all the same.
#[test]
fn a_list_that_came_later_takes_no_closing_back() {
    let repository = Repository::fleet();
    repository.write("clusters/edge-01/infra.yaml", &flux("infra", "infra/edge-01"));
    repository.write(
        "infra/edge-01/kustomization.yaml",
        "resources: [../reconciliation-windows]\npatches: [{ path: names.yaml, target: { kind: CronJob } }]\n",
    );
    repository.write(
        "infra/edge-01/names.yaml",
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: { name: any, labels: { cluster: edge-01 } }\n",
    );
    repository.commit("2026-11-20T12:00:00Z");
    assert_eq!(gated(&repository), gated(&Repository::fleet()));
}

/// What counts is when a branch was merged, not when it was written.
#[test]
fn a_gate_is_there_since_its_merge() {
    let repository = Repository::uncommitted_fleet();
    std::fs::rename(repository.path().join("infra"), repository.path().join(".git/aside")).unwrap();
    repository.commit("2026-01-05T12:00:00Z");
    repository.git(&["checkout", "--quiet", "-b", "gate"], "");
    std::fs::rename(repository.path().join(".git/aside"), repository.path().join("infra")).unwrap();
    repository.commit("2026-11-02T12:00:00Z");
    repository.git(&["checkout", "--quiet", "main"], "");
    repository.git(&["merge", "--quiet", "--no-ff", "--no-edit", "gate"], "2026-11-20T12:00:00Z");
    let told = gated(&repository);
    assert!(told.contains("gate since 2026-11-20T12:00:00Z"), "{told}");
    assert!(told.contains("open until the first closing"), "{told}");
}

/// Where the history ends, all files seem new.
#[test]
fn a_shallow_clone_says_what_is_assumed() {
    let repository = Repository::fleet();
    repository.write("docs/note.md", "more\n");
    repository.commit("2026-11-20T12:00:00Z");
    let mut clone = Repository::new(&[]);
    let place = clone.path().join("clone");
    let from = format!("file://{}", repository.path().display());
    repository.git(&["clone", "--quiet", "--depth", "1", &from, place.to_str().unwrap()], "");
    clone.below = Some("clone");
    insta::assert_snapshot!(gated(&clone));
}

/// A table says when it is open, with a freeze, an override and an end.
#[test]
fn each_opening_and_closing_has_its_reason() {
    let repository = Repository::fleet();
    let table = "timeZone: Europe/Berlin\ngate: { every: 5m, from: 2026-11-01, through: 2026-12-31 }\n\
        freezes: { peak: { from: 2026-12-09, to: 2026-12-15, reason: trading peak } }\n\
        overrides: [{ cluster: edge-01, type: rw, from: 2026-11-27T20:00, until: 2026-11-27T22:00, reason: INC-1 }]\n";
    repository.write("windows.yaml", &format!("{SPEC}{table}"));
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
    let (_, told) = repository.failure(&["when", "--at", "2027-03-28 02:30"]);
    assert!(told.contains("does not come, or comes twice"), "{told}");
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
        ["(within 11 minutes)", "(within 12 minutes)", "(within 32 minutes)", "(within 11 minutes)"]
    );
    // What is not there, and what waits for its window, keeps it waiting for no one knows how long.
    for name in ["nowhere", "apps-rw"] {
        let told = says(&first, &format!("  dependsOn: [{{ name: {name} }}]\n"));
        assert_eq!(told, format!("after {name}"));
    }
    // Also through others, and where Git suspends it.
    let behind = format!("{first}  dependsOn: [{{ name: apps-rw }}]\n");
    assert_eq!(says(&behind, depends), "after apps-rw");
    assert_eq!(says(&format!("{first}  suspend: true\n"), depends), "after first");
    says(&behind, depends);
    let answer =
        repository.json(&["when", "--cluster", "edge-01", "--at", "2026-11-27T12:00Z", "--format", "json"]);
    let lines = answer["lines"].as_array().unwrap();
    let of = |name: &str| lines.iter().find(|line| line["kustomization"]["name"] == name).unwrap();
    let (own, other) = (of("apps-rt"), of("apps-rw"));
    assert_eq!((&own["open"], &own["reason"]), (&false.into(), &"dependency".into()));
    assert_eq!(own["reaches"]["utc"], other["nextOpen"]["utc"]);
}
