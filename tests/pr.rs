//! `pr`: what a pull request changes in which cluster, and when each change lands.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, in a folder of its own")]

#[path = "pr/begun.rs"]
mod begun;
#[path = "support/divided.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod divided;
#[path = "pr/folded.rs"]
mod folded;
#[path = "pr/substituted.rs"]
mod substituted;
mod support;
#[path = "pr/windows.rs"]
mod windows;
#[path = "pr/withheld.rs"]
mod withheld;

use divided::{divided, finished};
use serde_json::Value;
use support::scratch::{Run, Scratch};

/// A Monday; the window of the sample opens on Saturday at 22:00 in Berlin.
const NOW: &str = "2026-11-23T12:00:00Z";

const CLUSTERS: [&str; 2] = ["edge-01", "edge-02"];

/// The sample after its migration, on a branch of its own.
fn fleet() -> Scratch {
    let scratch = finished("sample", &CLUSTERS);
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch
}

#[track_caller]
fn pr(scratch: &Scratch, arguments: &[&str]) -> Run {
    scratch.expect(0, &[&["pr", "--base", "main", "--now", NOW], arguments].concat())
}

/// Runs it for people, without the last paragraph: what was compared, as of when.
#[track_caller]
fn text_of(scratch: &Scratch) -> String {
    let told = pr(scratch, &[]).stdout;
    let (told, footer) = told.rsplit_once("\n\n").unwrap();
    assert!(footer.contains(" against ") && footer.contains("; time zones "), "{footer}");
    format!("{told}\n")
}

/// Runs it for programs, and holds the answer to its schema.
#[track_caller]
fn answer(scratch: &Scratch, arguments: &[&str]) -> Value {
    let text = pr(scratch, &[&["--format", "json"], arguments].concat()).stdout;
    serde_json::from_str(&text).unwrap()
}

/// The changes of an answer, a line each.
fn changes(answer: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let line = |change: &Value| {
        let object = &change["object"];
        format!(
            "{} {} {} {}/{} {} {}",
            text(&change["cluster"]),
            text(&change["path"]),
            text(&change["change"]),
            text(&object["kind"]),
            text(&object["name"]),
            text(&change["type"]),
            text(&change["lands"]["state"]),
        )
    };
    answer["changes"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn each_change_is_told_with_its_cluster_and_its_landing() {
    let scratch = fleet();
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0");
    scratch.replace("apps/web/web-rt/configmap.yaml", "All trains on time", "Delays on line 4");
    insta::assert_snapshot!(text_of(&scratch));
    let answer = answer(&scratch, &[]);
    let mut told = answer.clone();
    (told["base"], told["timeZoneDatabase"]) = ("…".into(), "…".into());
    insta::assert_snapshot!(format!("{told:#}"));
    scratch.commit();
    let head = scratch.git(&["rev-parse", "HEAD"]);
    assert_eq!(self::answer(&scratch, &[])["head"], head.trim());
    assert_eq!(self::answer(&scratch, &["--head", "change"])["changes"], answer["changes"]);
    assert_eq!(self::answer(&scratch, &["--head", "main"])["changes"], serde_json::json!([]));
}

#[test]
fn the_comment_and_the_page_tell_the_same() {
    let scratch = fleet();
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0");
    scratch.replace("apps/web/web-rt/configmap.yaml", "All trains on time", "Delays on line 4");
    scratch.commit();
    let hashes = |text: String| {
        let mut text = text;
        for revision in ["main", "change"] {
            let hash = scratch.git(&["rev-parse", revision]);
            text = text.replace(hash.trim(), revision).replace(&hash[..10], revision);
        }
        text
    };
    let comment = hashes(pr(&scratch, &["--format", "markdown"]).stdout);
    insta::assert_snapshot!("comment", comment);
    insta::assert_snapshot!("page", hashes(pr(&scratch, &["--format", "html"]).stdout));
    assert!(!pr(&scratch, &["--format", "markdown", "--flavor", "bitbucket"]).stdout.contains("<details>"));
}

#[test]
fn nothing_changes_where_no_build_differs() {
    let scratch = fleet();
    scratch.write("README.md", "words");
    assert_eq!(text_of(&scratch), "Nothing changes in any cluster.\n");
    let run = pr(&scratch, &["--head", "main"]);
    assert!(run.stdout.contains("Both are the same commit"), "{}", run.stdout);
}

#[test]
fn options_that_mean_nothing_are_told_or_refused() {
    let scratch = fleet();
    let run = pr(&scratch, &["--flavor", "gitlab", "--format", "json"]);
    insta::assert_snapshot!(run.stderr, @r"
    warning: --flavor changes nothing without `--format markdown`
     = help: add `--format markdown`, or leave --flavor out
    ");
    assert_eq!(pr(&scratch, &["--flavor", "gitlab", "--format", "markdown"]).stderr, "");
    let small = scratch.expect(2, &["pr", "--base", "main", "--format", "markdown", "--max-bytes", "2199"]);
    insta::assert_snapshot!(small.stderr, @r"
    error: invalid value '2199' for '--max-bytes <N>': a comment takes at least 2200 bytes

    For more information, try '--help'.
    ");
    let least = pr(&scratch, &["--format", "markdown", "--max-bytes", "2200"]).stdout;
    assert!(least.len() <= 2200);
    let help = scratch.expect(0, &["pr", "--help"]).stdout;
    assert!(!["--yes", "--dry-run", "--allow-dirty"].iter().any(|flag| help.contains(flag)), "{help}");
    scratch.expect(2, &["pr", "--base", "main", "--yes"]);
    let wrong = scratch.expect(3, &["pr", "--base", "mian"]);
    insta::assert_snapshot!(wrong.stderr, @r"
    error: git knows no commit `mian`
     = help: did you mean `main`?
    ");
}

#[test]
fn an_object_that_goes_is_told_with_who_deletes_it() {
    let scratch = fleet();
    let list = "clusters/edge-02/apps/apps-rw/kustomization.yaml";
    let text = scratch.text(list);
    let without: String =
        text.lines().filter(|line| !line.contains("probe")).map(|line| format!("{line}\n")).collect();
    scratch.write(list, without);
    let answer = answer(&scratch, &[]);
    insta::assert_debug_snapshot!(changes(&answer));
}

#[test]
fn what_does_not_build_is_withheld_and_never_deleted() {
    let scratch = fleet();
    scratch.replace("apps/web/web-rw/kustomization.yaml", "deployment.yaml", "gone.yaml");
    let answer = answer(&scratch, &[]);
    assert_eq!(changes(&answer), Vec::<String>::new());
    let withheld = answer["notRendered"].as_array().unwrap();
    let sides: Vec<(&str, &str)> = withheld
        .iter()
        .map(|one| (one["cluster"].as_str().unwrap(), one["side"].as_str().unwrap()))
        .collect();
    // In edge-01 both sides build all and keep their own.
    assert_eq!(sides, [("edge-01", "head"), ("edge-01", "head"), ("edge-02", "head")]);
    scratch.expect(1, &["pr", "--base", "main", "--now", NOW, "--fail-on", "skew,error"]);
    scratch.expect(0, &["pr", "--base", "main", "--now", NOW, "--fail-on", "skew,deletion"]);
}

/// A CronJob that suspends or resumes a Flux Kustomization, as people write it by hand.
fn job(verb: &str, schedule: &str) -> String {
    format!(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{ name: {verb}-apps, namespace: flux-system }}\nspec:\n  \
         schedule: \"{schedule}\"\n  timeZone: Europe/Berlin\n  jobTemplate:\n    spec:\n      template:\n        \
         spec:\n          restartPolicy: Never\n          containers:\n          - name: flux\n            image: \
         ghcr.io/fluxcd/flux-cli:v2.9.4\n            args: [{verb}, kustomization, apps]\n"
    )
}

#[test]
fn without_a_spec_the_cron_jobs_tell_what_waits() {
    let scratch = Scratch::empty();
    let flux = |name: &str, path: &str| support::flux_kustomization(name, path, "");
    scratch.write("clusters/one/flux-system/gotk-sync.yaml", flux("flux-system", "clusters/one"));
    scratch.write("clusters/one/apps.yaml", flux("apps", "apps"));
    scratch.write("clusters/one/gate/open.yaml", job("resume", "0 22 * * SAT"));
    scratch.write("clusters/one/gate/close.yaml", job("suspend", "0 4 * * SUN"));
    scratch.write("clusters/one/gate/kustomization.yaml", "resources: [open.yaml, close.yaml]\n");
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, namespace: n }\ndata: { k: v }\n";
    scratch.write("apps/kustomization.yaml", "resources: [a.yaml]\n").write("apps/a.yaml", map).commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.replace("apps/a.yaml", "k: v", "k: w");
    let answer = answer(&scratch, &[]);
    assert_eq!(changes(&answer), ["one apps changed ConfigMap/a - window"]);
    let lands = &answer["changes"][0]["lands"];
    assert_eq!(lands["earliest"], "2026-11-28T21:00:00Z", "{lands:#}");
    assert_eq!(answer["deadline"], "2026-11-29T02:57:57Z", "{answer:#}");
}

#[test]
fn what_waits_already_is_told_with_what_it_loses_to() {
    let scratch = fleet();
    scratch.git(&["checkout", "--quiet", "main"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.29.4");
    scratch.commit();
    // It changes nothing that waits.
    scratch.write("docs/note.md", "a note\n").commit();
    scratch.git(&["checkout", "--quiet", "-B", "change"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.4", "nginx:1.30.0");
    // All commits are made now: for a window that closed before, none is known to be the one that it closed behind.
    assert_eq!(answer(&scratch, &[])["train"], serde_json::json!([]));
    // Rewritten to the day before the window closed and the day after it.
    let dates = [
        ("HEAD~2", "2026-11-21T00:00:00Z"),
        ("HEAD~1", "2026-11-23T00:00:00Z"),
        ("HEAD", "2026-11-23T01:00:00Z"),
    ];
    let tree = |revision: &str| scratch.git(&["rev-parse", &format!("main{}^{{tree}}", &revision[4..])]);
    let mut parent: Option<String> = None;
    for (revision, date) in dates {
        let mut arguments =
            vec!["commit-tree".to_owned(), tree(revision).trim().to_owned(), "-m".into(), date.into()];
        arguments.extend(parent.iter().flat_map(|parent| ["-p".to_owned(), parent.clone()]));
        parent = Some(
            scratch.git_at(date, &arguments.iter().map(String::as_str).collect::<Vec<_>>()).trim().to_owned(),
        );
    }
    scratch.git(&["update-ref", "refs/heads/main", &parent.unwrap()]);
    scratch.git(&["stash", "--quiet"]);
    scratch.git(&["reset", "--quiet", "--hard", "main"]);
    scratch.git(&["stash", "pop", "--quiet"]);
    let answer = answer(&scratch, &[]);
    let train = &answer["train"][0];
    assert_eq!(
        (&train["closed"], &train["opens"]),
        (&"2026-11-22T03:00:00Z".into(), &"2026-11-28T21:00:00Z".into())
    );
    assert_eq!(train["commits"].as_array().unwrap().len(), 1, "{train:#}");
    assert_eq!(train["commits"][0]["subject"], "2026-11-23T00:00:00Z");
    let waiting = train["waiting"].as_array().unwrap();
    assert_eq!(waiting.len(), 2, "{train:#}");
    assert!(waiting.iter().all(|one| one["superseded"] == true), "{train:#}");
    let forms: [(&[&str], &str); 3] =
        [(&[], "\n\n"), (&["--format", "markdown"], "</details>"), (&["--format", "html"], "</details>")];
    let part = |(arguments, end): (&[&str], &str)| {
        let told = pr(&scratch, arguments).stdout;
        let part = &told[told.find("Already waiting").unwrap()..];
        // The hash of the commit.
        let lines = part[..part.find(end).unwrap()].lines().filter(|line| !line.contains("2026-11-23T00"));
        lines.collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!("what_waits_already", forms.map(part).join("\n---\n"));
}

#[test]
fn a_broken_spec_is_a_finding_and_the_base_still_tells_what_waits() {
    let scratch = fleet();
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0");
    scratch.replace("windows.yaml", "types:", "typos:");
    let answer = answer(&scratch, &[]);
    assert_eq!(answer["findings"][0]["topic"], "error");
    assert_eq!(answer["changes"][0]["lands"]["state"], "window");
}

#[test]
fn before_the_migration_nothing_waits() {
    let scratch = divided("sample", &CLUSTERS);
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0");
    let answer = answer(&scratch, &[]);
    let states: Vec<&Value> =
        answer["changes"].as_array().unwrap().iter().map(|one| &one["lands"]["state"]).collect();
    assert_eq!(states, ["at-once", "at-once"], "{answer:#}");
}

#[test]
fn what_git_does_not_have_is_told_with_the_command_that_fetches_it() {
    let scratch = fleet();
    let unknown = scratch.expect(3, &["pr", "--base", "origin/main"]);
    insta::assert_snapshot!(unknown.stderr);
    let shallow = Scratch::empty();
    let url = format!("file://{}", scratch.top().display());
    scratch.commit();
    scratch.commit();
    shallow.git(&[
        "fetch",
        "--quiet",
        "--depth",
        "1",
        &url,
        "change:refs/heads/change",
        "main:refs/heads/base",
    ]);
    shallow.git(&["checkout", "--quiet", "change"]);
    insta::assert_snapshot!(shallow.expect(3, &["pr", "--base", "base"]).stderr);
}

/// A CronJob runs no time before its creation, so a gate that has just been made stands open.
#[test]
fn what_nothing_has_closed_yet_lands_when_the_commit_arrives() {
    let scratch = fleet();
    let made = scratch.git(&["log", "-1", "--format=%ct", "main"]);
    let made = jiff::Timestamp::from_second(made.trim().parse().unwrap()).unwrap();
    let now = (made + jiff::SignedDuration::from_mins(1)).to_string();
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0").commit();
    let told = scratch.expect(0, &["pr", "--base", "main", "--now", &now, "--format", "json"]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    let landing = &told["changes"][0]["lands"];
    assert_eq!(landing["earliest"], now.as_str(), "{landing:#}");
    let when = scratch.expect(0, &["when", "--cluster", "edge-01", "--now", &now]).stdout;
    assert!(!when.contains("apps-rw: closed"), "{when}");
    // Closed from the first closing on.
    let later = (made + jiff::SignedDuration::from_hours(8 * 24)).to_string();
    let told = scratch.expect(0, &["pr", "--base", "main", "--now", &later, "--format", "json"]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    let when = scratch.expect(0, &["when", "--cluster", "edge-01", "--now", &later]).stdout;
    let is_closed = told["changes"][0]["lands"]["earliest"] != later.as_str();
    assert_eq!(is_closed, when.contains("closed"), "{when}\n{told:#}");
}

#[test]
fn nothing_of_a_pull_request_is_executed() {
    let scratch = fleet();
    let marker = scratch.make_hostile();
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0");
    scratch.commit_hostile();
    scratch.replace("apps/web/web-rt/configmap.yaml", "All trains on time", "Delays on line 4");
    assert_eq!(answer(&scratch, &[])["changes"].as_array().unwrap().len(), 4);
    // What a partial clone lacks would have to be fetched.
    let blob = scratch.git(&["rev-parse", "main:apps/web/web-rw/deployment.yaml"]);
    let (folder, name) = blob.trim().split_at(2);
    std::fs::remove_file(scratch.top().join(".git/objects").join(folder).join(name)).unwrap();
    let told = scratch.expect(3, &["pr", "--base", "main"]).stderr;
    assert!(told.contains("fetch the whole commit") || told.contains("git says"), "{told}");
    assert!(!marker.exists(), "something was executed");
}

#[test]
fn what_does_not_fit_until_the_opening_is_told() {
    let scratch = fleet();
    scratch.replace("apps/web/web-rt/configmap.yaml", "name: web-content", "name: web-page");
    scratch.replace("apps/web/web-rw/deployment.yaml", "name: web-content", "name: web-page");
    scratch.commit();
    let answer = answer(&scratch, &[]);
    let findings = answer["findings"].as_array().unwrap().iter();
    let told: Vec<String> = findings
        .map(|one| format!("{} {} {}", one["topic"], one["cluster"], one["message"]).replace('"', ""))
        .collect();
    insta::assert_debug_snapshot!(told);
    scratch.expect(1, &["pr", "--base", "main", "--now", NOW, "--fail-on", "skew"]);
}

#[test]
fn what_kubernetes_refuses_and_what_takes_data_along_is_told() {
    let scratch = Scratch::empty();
    let flux = |name: &str, path: &str| support::flux_kustomization(name, path, "");
    scratch.write("clusters/one/flux-system/gotk-sync.yaml", flux("flux-system", "clusters/one"));
    scratch.write("clusters/one/apps.yaml", flux("apps", "apps"));
    let claim = |name: &str, size: &str| {
        format!(
            "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{ name: {name}, namespace: n }}\nspec:\n  \
             resources: {{ requests: {{ storage: {size} }} }}\n"
        )
    };
    scratch.write("apps/a.yaml", claim("a", "2Gi")).write("apps/b.yaml", claim("b", "1Gi"));
    scratch.write(
        "apps/c.yaml",
        claim("c", "1Gi").replace(
            "metadata: {",
            "metadata: { annotations: { kustomize.toolkit.fluxcd.io/prune: disabled },",
        ),
    );
    scratch.write("apps/kustomization.yaml", "resources: [a.yaml, b.yaml, c.yaml]\n").commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.write("apps/a.yaml", claim("a", "1Gi"));
    scratch.write("apps/kustomization.yaml", "resources: [a.yaml]\n");
    let answer = answer(&scratch, &[]);
    assert_eq!(
        changes(&answer),
        [
            "one apps changed PersistentVolumeClaim/a - at-once",
            "one apps deleted PersistentVolumeClaim/b - at-once",
            "one apps deleted PersistentVolumeClaim/c - never",
        ]
    );
    let topics: Vec<&str> =
        answer["findings"].as_array().unwrap().iter().map(|one| one["topic"].as_str().unwrap()).collect();
    assert_eq!(topics, ["deletion", "immutable", "check"], "{answer:#}");
}

#[test]
fn a_flux_kustomization_that_comes_new_or_moves_is_told() {
    let scratch = Scratch::empty();
    let flux = |name: &str, path: &str| support::flux_kustomization(name, path, "");
    scratch.write("clusters/one/flux-system/gotk-sync.yaml", flux("flux-system", "clusters/one"));
    scratch.write("clusters/one/apps.yaml", flux("apps", "apps"));
    let map =
        |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name}, namespace: n }}\n");
    scratch.write("apps/a.yaml", map("a")).write("apps/b.yaml", map("b"));
    scratch.write("apps/kustomization.yaml", "resources: [a.yaml, b.yaml]\n").commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.write("clusters/one/more.yaml", flux("more", "more"));
    scratch.write("more/kustomization.yaml", "resources: [b.yaml]\n").write("more/b.yaml", map("b"));
    scratch.write("apps/kustomization.yaml", "resources: [a.yaml]\n");
    let answer = answer(&scratch, &[]);
    assert_eq!(
        changes(&answer),
        ["one clusters/one created Kustomization/more - at-once", "one more moved ConfigMap/b - at-once",]
    );
    let moved = &answer["changes"][1];
    assert_eq!(
        (&moved["from"]["path"], &moved["from"]["kustomization"]["name"]),
        (&"apps".into(), &"apps".into())
    );
}

#[test]
fn dependencies_in_circles_end() {
    let scratch = Scratch::empty();
    scratch.write(
        "clusters/one/flux-system/gotk-sync.yaml",
        support::flux_kustomization("flux-system", "clusters/one", ""),
    );
    let names: Vec<String> = (0..12).map(|number| format!("app-{number:02}")).collect();
    let all: String = names.iter().map(|name| format!("  - name: {name}\n")).collect();
    for name in &names {
        let flux = support::flux_kustomization(name, name, &format!("  dependsOn:\n{all}"));
        scratch.write(&format!("clusters/one/{name}.yaml"), flux);
        scratch.write(&format!("{name}/kustomization.yaml"), "resources: [a.yaml]\n");
        let map = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: {name}, namespace: n }}\ndata: {{ k: v }}\n"
        );
        scratch.write(&format!("{name}/a.yaml"), map);
    }
    scratch.commit();
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.replace("app-00/a.yaml", "k: v", "k: w");
    assert_eq!(changes(&answer(&scratch, &[])), ["one app-00 changed ConfigMap/app-00 - never"]);
}
