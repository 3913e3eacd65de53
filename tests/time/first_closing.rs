//! What `when` says before a gate has closed for the first time.

use super::{Repository, flux, job};

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
    // Whatever git is told to write its log in.
    let told = gated(&repository);
    let config = repository.path().join(".git/config");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, text + "[i18n]\n\tlogOutputEncoding = UTF-16\n").unwrap();
    assert_eq!(gated(&repository), told);
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

/// The pair that stands counts, and not a table that `sync` has not written yet.
#[test]
fn a_mechanism_that_git_does_not_have_yet_closes_nothing() {
    let repository = Repository::uncommitted_fleet();
    repository.commit("2026-11-19T16:00:01Z");
    let before = gated(&repository);
    let gate = "gate: { mechanism: follow, every: 5m, from: 2026-11-01, through: 2027-01-31 }\n";
    repository.write("windows.yaml", &format!("{}{gate}", super::SPEC));
    repository.commit("2026-11-19T18:00:00Z");
    // That the two differ is told beside it.
    let told = gated(&repository);
    assert!(told.contains("other times than windows.yaml says"), "{told}");
    assert!(told.starts_with(before.lines().next().unwrap()), "{told}");
}

/// Nothing opened what nothing has closed: its own first instant is no opening, and no other event on another day.
#[test]
fn a_calendar_gives_no_opening_to_what_has_never_been_closed() {
    let repository = Repository::uncommitted_fleet();
    repository.commit("2026-11-19T16:00:01Z");
    let text = repository.stdout(&["calendar", "--cluster", "edge-01"]);
    assert!(text.contains("\n  until "), "{text}");
    let answer = repository.json(&["calendar", "--cluster", "edge-01", "--format", "json"]);
    assert!(answer["rows"][0]["open"][0]["from"].is_null(), "{answer:#}");
}
