//! Gates that hold a source: what is written, what is said of it, and what the job does.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{permissions, rendered, scaffold};
use crate::support::scratch::{Scratch, program};

const INFRA: &str = "clusters/edge-01/infra";
const FLUX: &str = "clusters/edge-01/flux";

/// Adds what `flux bootstrap` writes.
pub fn bootstrapped() -> Scratch {
    let scratch = scaffold();
    for cluster in ["edge-01", "edge-02"] {
        let text = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
            metadata: { name: flux-system, namespace: flux-system }\n\
            spec:\n  interval: 1m0s\n  ref: { branch: main }\n  secretRef: { name: flux-system }\n  \
            url: ssh://git@github.com/acme/fleet\n---\n\
            apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
            metadata: { name: flux-system, namespace: flux-system }\n\
            spec:\n  interval: 10m0s\n  path: ./clusters/CLUSTER/flux\n  prune: true\n  \
            sourceRef: { kind: GitRepository, name: flux-system }\n";
        scratch.write(&format!("clusters/{cluster}/flux/gotk-sync.yaml"), text.replace("CLUSTER", cluster));
    }
    scratch.commit();
    scratch
}

/// Asks for a gate that follows.
pub fn asked(scratch: &Scratch) {
    let gate = "gate:\n  mechanism: follow\n  every: 5m\n  from: 2026-11-01\n  through: 2027-01-31\n";
    scratch.replace("windows.yaml", "gate:\n", gate);
    scratch.commit();
}

pub fn following() -> Scratch {
    let scratch = bootstrapped();
    asked(&scratch);
    scratch.expect(0, &["sync", "--yes"]);
    scratch.commit();
    scratch
}

fn object(objects: &[Value], kind: &str, name: &str) -> Value {
    let is_it = |one: &&Value| one["kind"] == kind && one["metadata"]["name"] == name;
    objects.iter().find(is_it).unwrap().clone()
}

fn container(objects: &[Value]) -> Value {
    let job = object(objects, "CronJob", "follow-reconciliation-window");
    job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0].clone()
}

#[test]
fn what_is_gated_reads_a_source_of_its_own() {
    let scratch = following();
    assert!(scratch.expect(0, &["sync"]).stdout.is_empty(), "a second sync changes something");
    let objects = rendered(&scratch, INFRA);
    let source = object(&objects, "GitRepository", "flux-system-rw");
    assert_eq!(
        source["spec"],
        json!({
            "interval": "24h",
            "ref": { "branch": "main", "tag": "held..until-the-first-tick" },
            "secretRef": { "name": "flux-system" },
            "url": "ssh://git@github.com/acme/fleet",
        })
    );
    assert_eq!(
        permissions(&objects),
        [
            "source.toolkit.fluxcd.io gitrepositories [flux-system,flux-system-rw] get",
            "source.toolkit.fluxcd.io gitrepositories [flux-system-rw] patch",
            "kustomize.toolkit.fluxcd.io kustomizations [apps-rw] get",
            " events [] create",
        ]
        .map(|rule| format!("ServiceAccount jobs/reconciliation-window in flux-system: {rule}"))
        .into_iter()
        .chain(["ServiceAccount jobs/reconciliation-window in jobs:  configmaps [flux-system-rw] get,patch"
            .to_owned()])
        .collect::<Vec<_>>()
    );
    let gated = scratch.text(&format!("{FLUX}/apps-rw.yaml"));
    for line in ["    name: flux-system-rw", "  deletionPolicy: Orphan", "  suspend: false"] {
        assert!(gated.lines().any(|own| own == line), "{line}: {gated}");
    }
    assert!(!scratch.text(&format!("{FLUX}/apps-rt.yaml")).contains("flux-system-rw"));
    let jobs = objects.iter().filter(|one| one["kind"] == "CronJob").count();
    assert_eq!(jobs, 1, "the jobs that suspend are gone with the same commit");
    assert_eq!(scratch.run(&["verify"]).code, 0);
}

#[test]
fn everybody_knows_what_waits() {
    let scratch = following();
    let found = scratch.run(&["check", "--now", "2026-11-20T00:00:00Z", "--format", "json"]);
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    let codes: Vec<&str> =
        found["findings"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect();
    // `suspend: false` may go once the commit has landed.
    assert_eq!(codes, ["GW002", "GW002"], "{found:#}");
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert!(told.contains("apps-rw      clusters/edge-01/apps/apps-rw, gated by rw"), "{told}");
    let told = scratch.expect(0, &["when", "--now", "2026-11-23T00:00:00Z", "--format", "json"]).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    let line = told["lines"].as_array().unwrap().iter().find(|line| line["type"] == "rw").unwrap();
    assert_eq!((&line["open"], &line["gate"]), (&json!(false), &json!("closes")));
    assert_eq!(line["nextOpen"]["utc"], "2026-11-28T21:00:00Z");

    let base = scratch.git(&["rev-parse", "HEAD"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "replicas: 1", "replicas: 3");
    scratch.commit();
    let of = |now: &str| -> Value {
        let told = scratch.run(&["pr", "--base", base.trim(), "--now", now, "--format", "json"]).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        told["changes"][0]["lands"].clone()
    };
    let lands = of("2026-11-23T00:00:00Z");
    assert_eq!(lands["earliest"], "2026-11-28T21:00:00Z");
    // The tick and the interval of the Flux Kustomization; the source is moved and not polled.
    assert_eq!(lands["latest"], "2026-11-28T21:15:00Z");
    // The last run that can see it, less what comes before and a minute to apply it.
    assert_eq!(lands["deadline"], "2026-11-29T02:52:27Z");
}

#[test]
fn a_held_source_that_no_job_moves_holds_for_good() {
    let scratch = following();
    let list = "clusters/edge-01/infra/reconciliation-windows/kustomization.yaml";
    scratch.replace(list, "  - follow-reconciliation-window.yaml\n", "");
    scratch.commit();
    let told = scratch.expect(0, &["clusters"]).stdout;
    assert!(told.contains("apps/apps-rw, gated by flux-system-rw"), "{told}");
    let told = scratch.run(&["check"]).stdout;
    assert!(told.contains("which nothing moves"), "{told}");
}

#[test]
fn the_way_back_is_refused_with_the_safe_one() {
    let scratch = following();
    scratch.replace("windows.yaml", "mechanism: follow", "mechanism: suspend");
    scratch.commit();
    let told = scratch.expect(5, &["sync"]).stderr;
    assert!(told.contains("apps-rw reads held source flux-system-rw"), "{told}");
    // `suspend: false` stands in Git, so what people suspend does not last.
    assert!(told.contains("wait until the window is open") && !told.contains("flux suspend"), "{told}");
    // By hand, or by the tool, which says when it may be merged.
    let by_hand = Scratch::empty();
    for cluster in ["edge-01", "edge-02"] {
        let file = format!("clusters/{cluster}/flux/apps-rw.yaml");
        by_hand.write(&file, scratch.text(&file)).replace(&file, "name: flux-system-rw", "name: flux-system");
        by_hand.replace(&file, "  suspend: false\n", "");
    }
    let told = scratch.expect(0, &["sync", "--while-open", "--yes"]).stderr;
    assert!(
        told.contains(
            "apps-rw of clusters edge-01, edge-02 will read flux-system again: every commit that waits lands at once"
        ),
        "{told}"
    );
    assert!(!told.contains("flux suspend"), "{told}");
    for cluster in ["edge-01", "edge-02"] {
        let file = format!("clusters/{cluster}/flux/apps-rw.yaml");
        assert_eq!(scratch.text(&file), by_hand.text(&file));
    }
    scratch.commit();
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
    let found = scratch.run(&["check"]).stdout;
    assert!(!found.contains("GW001"), "nothing keeps it suspended: {found}");
    let objects = rendered(&scratch, INFRA);
    assert!(!objects.iter().any(|one| one["kind"] == "GitRepository"));
}

#[test]
fn what_would_go_back_to_an_older_commit_is_refused() {
    let scratch = following();
    let file = "clusters/edge-01/flux/apps-rw.yaml";
    let held = scratch.text(file);
    scratch.replace(file, "name: flux-system-rw", "name: flux-system");
    scratch.commit();
    let told = scratch.expect(5, &["sync", "--yes"]).stderr;
    assert!(told.contains("Until the opening, newer changes go back and new objects are deleted"), "{told}");
    assert!(told.contains("`gitops-windows sync --while-open` writes it"), "{told}");
    scratch.expect(0, &["sync", "--while-open", "--yes"]);
    assert_eq!(scratch.text(file), held);
}

/// What `pr` finds of a change in the first cluster, at an instant, by its code.
fn found(scratch: &Scratch, base: &str, now: &str) -> Vec<String> {
    let arguments = ["pr", "--base", base, "--now", now, "--format", "json"];
    let told: Value = serde_json::from_str(&scratch.run(&arguments).stdout).unwrap();
    let all = told["findings"].as_array().unwrap().iter().filter(|one| one["cluster"] == "edge-01");
    let mut codes: Vec<String> = all
        .filter_map(|one| one["code"].as_str())
        .filter(|code| *code > "GW058")
        .map(str::to_owned)
        .collect();
    codes.dedup();
    codes
}

#[test]
fn what_must_not_come_while_closed_is_told_until_the_window_opens() {
    let scratch = following();
    let base = scratch.git(&["rev-parse", "HEAD"]);
    let file = "clusters/edge-01/flux/apps-rw.yaml";
    let (closed, open) = ("2026-11-23T00:00:00Z", "2026-11-28T22:00:00Z");
    for (code, edit) in [
        (
            "GW061",
            &(|| {
                scratch.git(&["mv", "clusters/edge-01/apps/apps-rw", "clusters/edge-01/apps/apps-rx"]);
                scratch.replace(file, "apps/apps-rw", "apps/apps-rx");
            }) as &dyn Fn(),
        ),
        ("GW063", &|| {
            scratch.replace(file, "name: flux-system-rw", "name: flux-system");
        }),
    ] {
        edit();
        scratch.commit();
        assert_eq!(found(&scratch, base.trim(), closed), [code]);
        assert_eq!(found(&scratch, base.trim(), open), Vec::<String>::new(), "{code}");
        scratch.git(&["reset", "--quiet", "--hard", base.trim()]);
    }
}

/// What the base has may have been merged after the closing, and then it waits as well.
#[test]
fn a_folder_that_came_after_the_closing_is_none_of_the_held_commit() {
    let scratch = following();
    let folder = "clusters/edge-01/apps/apps-rw";
    for file in scratch.git(&["ls-files", folder]).lines() {
        scratch.write(&file.replace(folder, "clusters/edge-01/apps/apps-rx"), scratch.text(file));
    }
    let list = "clusters/edge-01/apps/apps-rx/web/kustomization.yaml";
    scratch.write(list, scratch.text(list) + "replicas:\n  - { name: web, count: 3 }\n");
    scratch.git(&["add", "--all"]);
    scratch.git_at("2026-11-22T12:00:00Z", &["commit", "--quiet", "--message", "a folder"]);
    let base = scratch.git(&["rev-parse", "HEAD"]);
    scratch.replace("clusters/edge-01/flux/apps-rw.yaml", "apps/apps-rw", "apps/apps-rx");
    scratch.git(&["add", "--all"]);
    scratch.git_at("2026-11-22T13:00:00Z", &["commit", "--quiet", "--message", "its reader"]);
    assert_eq!(found(&scratch, base.trim(), "2026-11-23T00:00:00Z"), ["GW061"]);
    // The window of Saturday has let it in.
    assert_eq!(found(&scratch, base.trim(), "2026-11-30T00:00:00Z"), [""; 0]);
}

#[test]
fn what_cannot_be_held_is_refused() {
    for (from, to, words) in [
        (
            "interval: 1m0s",
            "interval: 1m0s\n  verify: { mode: Tag, secretRef: { name: keys } }",
            "`verify.mode: Tag`",
        ),
        ("ref: { branch: main }", "ref: { semver: '>=1.0.0' }", "follows no branch"),
        ("interval: 1m0s", "interval: 1m0s\n  include: [{ repository: { name: other } }]", "has `include`"),
        ("acme/fleet", "acme/${FLEET}", "has a variable"),
    ] {
        let scratch = bootstrapped();
        asked(&scratch);
        for cluster in ["edge-01", "edge-02"] {
            scratch.replace(&format!("clusters/{cluster}/flux/gotk-sync.yaml"), from, to);
        }
        scratch.commit();
        let told = scratch.expect(5, &["sync"]).stderr;
        assert!(told.contains(words), "{words}: {told}");
    }
    let scratch = scaffold();
    asked(&scratch);
    let told = scratch.expect(5, &["sync"]).stderr;
    assert!(told.contains("does not stand in Git"), "{told}");
    let scratch = bootstrapped();
    asked(&scratch);
    scratch.replace("windows.yaml", "  enabled: true", "  enabled: false");
    scratch.commit();
    let told = scratch.expect(5, &["sync"]).stderr;
    assert!(told.contains("can't be off"), "{told}");
    let scratch = bootstrapped();
    scratch.replace("windows.yaml", "gate:\n", "gate:\n  mechanism: follow\n");
    scratch.commit();
    let told = scratch.expect(3, &["sync"]).stderr;
    assert!(told.contains("looks at a table"), "{told}");
}

/// A clock that stands still; as a function, since a busybox asks no program for what it has itself.
const DATE: &str =
    "date() { case \"$*\" in +%s) cat \"$STATE/now\" ;; *) echo 2026-11-07T00:00:00Z ;; esac; }\n";

/// A kind of source, as its API has it.
struct Kind {
    name: &'static str,
    plural: &'static str,
    field: &'static str,
    prefix: &'static str,
    /// What stands before the hash in a revision.
    revision: &'static str,
}

const KINDS: [Kind; 2] = [
    Kind {
        name: "GitRepository",
        plural: "gitrepositories",
        field: "commit",
        prefix: "",
        revision: "main@sha1",
    },
    Kind {
        name: "OCIRepository",
        plural: "ocirepositories",
        field: "digest",
        prefix: "sha256:",
        revision: "latest@sha256",
    },
];

impl Kind {
    fn script(&self, text: &str) -> String {
        text.replace("PLURAL", self.plural).replace("FIELD", self.field).replace("PREFIX", self.prefix)
    }
}

/// The API server of a cluster with one held source, in files.
struct Fake {
    scratch: Scratch,
    container: Value,
}

const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
/// As a template encodes it.
const URL: &str = "ssh%3A%2F%2Fgit%40github.com%2Facme%2Ffleet";
const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

impl Fake {
    fn of(kind: &Kind) -> Fake {
        let scratch = following();
        let mut container = container(&rendered(&scratch, INFRA));
        let variables = container["env"].as_array_mut().unwrap();
        variables.iter_mut().find(|one| one["name"] == "KIND").unwrap()["value"] = json!(kind.name);
        let fake = Fake { scratch, container };
        program(
            &fake.folder().join("kubectl"),
            &kind.script("echo \"$*\" >> \"$STATE/calls\"\n\
             [ ! -e \"$STATE/down\" ] || exit 1\n\
             case \"$1\" in --request-timeout=20s) shift ;; esac\n\
             case \"$*\" in\n\
             'get PLURAL.source.toolkit.fluxcd.io flux-system flux-system-rw --namespace=flux-system '*)\n\
               printf 'flux-system||%s|1||||\\n' \"$(cat \"$STATE/live\")\"\n\
               printf 'flux-system-rw|%s|main@sha1:x|2|%s|%s|%s|%s\\n' \"$(sed 's/^./PREFIX&/' \"$STATE/pin\")\" \"$(cat \"$STATE/suspended\")\" \"$(cat \"$STATE/stop\")\" \"$(cat \"$STATE/url\")\" \"$(cat \"$STATE/window\")\" ;;\n\
             'get kustomizations.kustomize.toolkit.fluxcd.io apps-rw --namespace=flux-system --ignore-not-found '*)\n\
               [ ! -e \"$STATE/forbidden\" ] || exit 1\n\
               cat \"$STATE/attempted\" ;;\n\
             'patch PLURAL.source.toolkit.fluxcd.io flux-system-rw --namespace=flux-system --type=merge --field-manager=flux '*)\n\
               printf '%s' \"$*\" | sed -n 's/.*\"ref\":{\"FIELD\":\"PREFIX\\([0-9a-f]*\\)\".*/\\1/p' | tr -d '\\n' > \"$STATE/new\"\n\
               [ ! -s \"$STATE/new\" ] || cp \"$STATE/new\" \"$STATE/pin\"\n\
               printf '%s' \"$*\" | sed 's/.*gitops-windows.window\":\\(\"[^\"]*\"\\).*/\\1/' | tr -d '\\n' > \"$STATE/window\" ;;\n\
             'get configmaps flux-system-rw --ignore-not-found '*' --namespace=jobs')\n\
               [ ! -e \"$STATE/unread\" ] || exit 1\n\
               cat \"$STATE/note\" ;;\n\
             'patch configmaps flux-system-rw --type=merge --field-manager=flux '*' --namespace=jobs')\n\
               [ ! -e \"$STATE/unnoted\" ] || exit 1\n\
               printf '%s' \"$*\" | sed -n 's/.*\"commit\":\"\\([0-9a-f]*\\)\",\"url\":\"\\([^\"]*\\)\".*/\\1 \\2/p' | tr -d '\\n' > \"$STATE/note\" ;;\n\
             'create --validate=false --filename=-') cat > \"$STATE/event\" ;;\n\
             *) exit 1 ;;\nesac"),
        );
        for state in ["pin", "window", "live", "attempted", "event", "suspended", "stop", "note"] {
            fake.set(state, "");
        }
        fake.set("url", URL);
        fake
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

    /// Runs the job at an instant by a shell; gives whether it succeeds, and how often it wrote.
    fn tick(&self, shell: &[&str], now: &str) -> (bool, usize) {
        let now: jiff::Timestamp = now.parse().unwrap();
        self.set("now", &now.as_second().to_string());
        self.set("calls", "");
        let words = ["command", "args"].into_iter().flat_map(|key| self.container[key].as_array().unwrap());
        let words: Vec<&str> = words.filter_map(Value::as_str).collect();
        assert_eq!(words[..2], ["/bin/sh", "-c"]);
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).arg("-c").arg(format!("{DATE}{}", words[2])).args(&words[3..]);
        command.env("STATE", self.folder());
        command.env("PATH", format!("{}:/usr/bin:/bin", self.folder().display()));
        for one in self.container["env"].as_array().unwrap() {
            command.env(one["name"].as_str().unwrap(), one["value"].as_str().unwrap());
        }
        let succeeds = command.output().unwrap().status.success();
        let calls = self.get("calls");
        (
            succeeds,
            calls
                .lines()
                .filter(|line| {
                    line.contains("repositories") && line.contains("patch ") || line.contains("create ")
                })
                .count(),
        )
    }
}

const CLOSED: &str = "2026-11-07T20:55:00Z";
const OPEN: &str = "2026-11-07T21:00:00Z";
const LAST: &str = "2026-11-08T02:59:59Z";
const AFTER: &str = "2026-11-08T03:00:00Z";

fn play(shell: &[&str], kind: &Kind) {
    let fake = Fake::of(kind);
    let revision = |commit: &str| format!("{}:{commit}", kind.revision);
    let tick = |now: &str| fake.tick(shell, now);

    // Nothing was ever fetched, then nothing was ever applied: the first commit is let in, closed or not.
    assert_eq!((tick(CLOSED), fake.get("pin").as_str()), ((true, 1), ""));
    fake.set("live", &revision(A));
    assert_eq!((tick(CLOSED), fake.get("pin").as_str()), ((true, 2), A));
    assert_eq!(fake.get("window"), "\"held until Sat 2026-11-07 22:00:00 +01:00\"");
    let event: Value = serde_json::from_str(&fake.get("event")).unwrap();
    assert_eq!(event["message"], format!("from nothing to {A}, held until Sat 2026-11-07 22:00:00 +01:00"));
    assert_eq!(
        (&event["involvedObject"]["uid"], &event["involvedObject"]["kind"]),
        (&json!("2"), &json!(kind.name))
    );
    // Closed, a newer one waits, and nothing is written.
    fake.set("live", &revision(B));
    assert_eq!((tick(CLOSED), fake.get("pin").as_str()), ((true, 0), A));
    // The first second, then nothing more to do until the last.
    assert_eq!((tick(OPEN), fake.get("pin").as_str()), ((true, 2), B));
    assert_eq!(fake.get("window"), "\"open until Sun 2026-11-08 04:00:00 +01:00\"");
    assert_eq!(tick(LAST), (true, 0));
    fake.set("live", &revision(A));
    assert_eq!((tick(AFTER), fake.get("pin").as_str()), ((true, 1), B));

    // Made again while closed: what was attempted comes back, and of several a person chooses one: that which is live may
    // be what waits.
    for (attempted, pin) in [
        (format!("{}\n", revision(B)), B),
        (format!("{}\n{}\n", revision(B), revision(B)), B),
        (format!("{}\n{}\n", revision(B), revision(A)), ""),
        (format!("sha256:{B}\n"), B),
    ] {
        fake.set("pin", "");
        fake.set("note", "");
        fake.set("attempted", &attempted);
        assert_eq!((tick(AFTER).0, fake.get("pin").as_str()), (!pin.is_empty(), pin), "{attempted}");
    }
    fake.set("note", "");
    fake.set("pin", "");
    fake.set("attempted", &format!("{}\n{}\n", revision(B), revision(&"c".repeat(40))));
    assert_eq!((tick(AFTER), fake.get("pin").as_str()), ((false, 0), ""));
    // What was applied can't be asked for: not the same as nothing.
    fake.set("attempted", "");
    fake.set("forbidden", "");
    assert_eq!((tick(AFTER), fake.get("pin").as_str()), ((false, 0), ""));
    std::fs::remove_file(fake.folder().join("forbidden")).unwrap();

    // All that reads it was made again too: what was let in last is noted, so it does not look like a new cluster.
    let noted = |commit: &str| if commit.is_empty() { String::new() } else { format!("{commit} {URL}") };
    let again = |note: &str, attempted: &str| {
        fake.set("pin", "");
        fake.set("note", &noted(note));
        fake.set("attempted", attempted);
        (tick(AFTER).0, fake.get("pin"))
    };
    assert_eq!(fake.get("live"), revision(A));
    assert_eq!(again(B, ""), (true, B.to_owned()));
    assert_eq!(again("", ""), (true, A.to_owned()));
    assert_eq!(fake.get("note"), noted(A), "what was let in is noted");
    // It decides between several, and says nothing against what is there.
    let several = format!("{}\n{}\n", revision(B), revision(&"c".repeat(40)));
    assert_eq!(again(B, &several), (true, B.to_owned()));
    assert_eq!(again(A, &several), (false, String::new()));
    assert_eq!(again(A, &format!("{}\n", revision(B))), (true, B.to_owned()));
    // What can't be noted is let in all the same, and is told.
    fake.set("unnoted", "");
    assert_eq!(again("", ""), (false, A.to_owned()));
    std::fs::remove_file(fake.folder().join("unnoted")).unwrap();
    // It is noted by the next run that can, though there is nothing else to write.
    assert_eq!((tick(AFTER), fake.get("note")), ((true, 0), noted(A)));
    assert_eq!(tick(AFTER), (true, 0));
    assert!(!fake.get("calls").contains("patch"), "{}", fake.get("calls"));
    // A note of another repository says nothing, and one that can't be read is not the same as none.
    fake.set("url", "https%3A%2F%2Fgithub.com%2Facme%2Fother");
    assert_eq!(again(B, ""), (true, A.to_owned()));
    assert_eq!(fake.get("note"), format!("{A} https%3A%2F%2Fgithub.com%2Facme%2Fother"));
    fake.set("url", URL);
    fake.set("unread", "");
    assert_eq!(again(B, ""), (false, String::new()));
    std::fs::remove_file(fake.folder().join("unread")).unwrap();
    // A stop by hand also stops the very first letting-in, and gives back what was let in before.
    fake.set("stop", "stop");
    for now in [AFTER, OPEN] {
        fake.set("pin", "");
        fake.set("note", "");
        fake.set("attempted", "");
        assert_eq!((tick(now).0, fake.get("pin").as_str()), (true, ""), "{now}");
    }
    assert_eq!(again(B, ""), (true, B.to_owned()));
    fake.set("stop", "");

    // What was let in at the end and nothing has begun to apply is taken back by the first closed run, and once only.
    let last = |shown: &str, attempted: &str| {
        fake.set("pin", A);
        fake.set("window", shown);
        fake.set("attempted", &format!("{}\n", revision(attempted)));
        (tick(AFTER).0, fake.get("pin"))
    };
    assert_eq!(last("\"open until Sun 2026-11-08 04:00:00 +01:00\"", B), (true, B.to_owned()));
    assert_eq!(last("\"open until Sun 2026-11-08 04:00:00 +01:00\"", A), (true, A.to_owned()));
    assert_eq!(last("\"held until Sat 2026-11-14 22:00:00 +01:00\"", B), (true, A.to_owned()));

    // Nothing is let in behind a source that a person has suspended: it would land when it is resumed, open or not.
    fake.set("pin", B);
    fake.set("suspended", "true");
    assert_eq!((tick(OPEN), fake.get("pin").as_str()), ((true, 1), B));
    assert_eq!(fake.get("window"), "\"suspended by hand\"");
    fake.set("suspended", "");
    assert_eq!((tick(AFTER).0, fake.get("pin").as_str()), (true, B));

    // Nor behind one that a person has stopped; it still gets back what was let in when it is made again.
    fake.set("stop", "stop");
    assert_eq!((tick(OPEN), fake.get("pin").as_str()), ((true, 1), B));
    assert_eq!((fake.get("window").as_str(), tick(OPEN)), ("\"stopped by hand\"", (true, 0)));
    fake.set("pin", "");
    fake.set("attempted", &format!("{}\n", revision(B)));
    assert_eq!((tick(OPEN).0, fake.get("pin").as_str()), (true, B));
    fake.set("stop", "");
    assert_eq!((tick(AFTER).0, fake.get("pin").as_str()), (true, B));

    // What is no commit, and foreign text in the annotation, change nothing.
    fake.set("pin", B);
    fake.set("live", "main@sha1:$(touch x)");
    assert_eq!((tick(OPEN), fake.get("pin").as_str()), ((false, 0), B));
    fake.set("live", &revision(A));
    fake.set("window", "\"x\\nflux-system|c|sha1:cc|3|\"");
    assert_eq!((tick(AFTER), fake.get("pin").as_str()), ((true, 1), B));

    // Before its first line and behind its last nothing opens; the end is seen, and so is a failure.
    assert_eq!((tick("2026-01-03T22:00:00Z").0, fake.get("pin").as_str()), (true, B));
    assert_eq!((tick("2027-02-06T22:00:00Z").0, fake.get("pin").as_str()), (false, B));
    assert_eq!(fake.get("window"), "\"held: the table of open times has ended\"");
    fake.set("down", "");
    assert_eq!((tick(OPEN), fake.get("pin").as_str()), ((false, 0), B));
}

#[test]
fn the_job_lets_commits_in_while_the_window_is_open_and_never_else() {
    KINDS.iter().for_each(|kind| play(&["/bin/sh"], kind));
    let programs = std::env::var_os("PATH").unwrap();
    for shell in [["busybox", "sh"], ["bash", "--posix"]] {
        let mut found = std::env::split_paths(&programs).map(|folder| folder.join(shell[0]));
        if let Some(program) = found.find(|program| program.is_file()) {
            KINDS.iter().for_each(|kind| play(&[program.to_str().unwrap(), shell[1]], kind));
        }
    }
}

/// Tells when what a pull request changes lands, by kind and name, in the first cluster.
fn lands(scratch: &Scratch, base: &str) -> Vec<(String, String, String)> {
    let arguments = ["pr", "--base", base, "--now", "2026-11-23T00:00:00Z", "--format", "json"];
    let told: Value = serde_json::from_str(&scratch.run(&arguments).stdout).unwrap();
    let changes = told["changes"].as_array().unwrap().iter().filter(|one| one["cluster"] == "edge-01");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |one: &Value| (text(&one["kind"]), text(&one["lands"]["state"]), text(&one["lands"]["reason"]));
    changes.map(of).collect()
}

#[test]
fn what_a_held_source_does_not_hold_back_is_told() {
    let scratch = following();
    let base = scratch.git(&["rev-parse", "HEAD"]);
    let file = format!("{FLUX}/apps-rw.yaml");
    // The spec of the gated Flux Kustomization acts on the old commit at once.
    let patch = "  deletionPolicy: Orphan\n  commonMetadata: { labels: { team: shop } }\n";
    scratch.replace(&file, "  deletionPolicy: Orphan\n", patch);
    scratch.commit();
    let told = lands(&scratch, base.trim());
    let by_spec =
        told.iter().filter(|(.., reason)| reason.starts_with("changes of the spec of apps-rw act at once"));
    assert_eq!(by_spec.count(), 2, "{told:#?}");
    assert!(told.iter().all(|(_, state, _)| state == "at-once"), "{told:#?}");
    scratch.git(&["reset", "--quiet", "--hard", base.trim()]);
    // One that leaves Git keeps its objects, closed or not.
    scratch.git(&["rm", "--quiet", &file]);
    scratch.commit();
    let told = lands(&scratch, base.trim());
    assert!(
        told.iter().any(|(_, state, reason)| state == "never" && reason.contains("deletes nothing")),
        "{told:#?}"
    );
}

#[test]
fn an_object_that_leaves_what_is_held_is_refused() {
    let scratch = following();
    // Until the opening both would apply it.
    scratch.replace(
        "windows.yaml",
        "  - { kind: ConfigMap, type: rt }\n",
        "  - { kind: ConfigMap, type: rt }\n  - { kind: Service, type: rt }\n",
    );
    scratch.commit();
    let told = scratch.run(&["sync"]);
    assert_eq!(told.code, 5, "{}", told.stderr);
    assert!(told.stderr.contains("a cluster may delete Service web/web"), "{}", told.stderr);
    assert!(told.stderr.contains("prune: disabled"), "{}", told.stderr);
}

#[test]
fn a_migration_ends_with_a_held_source() {
    let scratch = Scratch::fixture("overlays");
    scratch.expect(0, &[&["init", "--yes"], &super::WINDOW[..]].concat());
    asked(&scratch);
    scratch.take(&["sync", "--yes"]);
    scratch.commit();
    super::migrate_to_a_held_source(&scratch);
    for cluster in ["north", "south"] {
        let text = scratch.text(&format!("clusters/{cluster}/apps-rw.yaml"));
        assert!(text.contains("    name: flux-system-rw\n") && text.contains("  prune: true"), "{text}");
        assert!(text.ends_with("  deletionPolicy: Orphan\n"), "{text}");
        assert!(!scratch.text(&format!("clusters/{cluster}/apps-rt.yaml")).contains("flux-system-rw"));
    }
    assert_eq!(scratch.expect(0, &["sync"]).stdout, "");
}

/// A later split: what it gates would begin to read a source that is held at a commit which knows nothing of it.
#[test]
fn a_step_that_goes_back_to_an_older_commit_waits_for_the_window() {
    let scratch = following();
    scratch.write("more/kustomization.yaml", "resources: [deployment.yaml, settings.yaml]\n");
    scratch.write(
        "more/deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: more, namespace: web }\n\
         spec:\n  selector: { matchLabels: { app: more } }\n  template:\n    metadata: { labels: { app: more } }\n    \
         spec: { containers: [{ name: more, image: more }] }\n",
    );
    scratch.write(
        "more/settings.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: more, namespace: web }\ndata: { a: b }\n",
    );
    scratch.write(&format!("{FLUX}/more.yaml"), crate::support::flux_kustomization("more", "more", ""));
    scratch.commit();
    for command in [&["split", "more", "--yes"][..], &["migrate", "--yes"]] {
        scratch.take(command);
        scratch.commit();
    }
    let run = scratch.run(&["migrate", "--yes"]);
    insta::assert_snapshot!(format!("exit {}\n{}{}", run.code, run.stdout, run.stderr));
    assert!(!scratch.text(&format!("{FLUX}/more-rw.yaml")).contains("flux-system-rw"));
    scratch.take(&["migrate", "--while-open", "--yes"]);
    assert!(scratch.text(&format!("{FLUX}/more-rw.yaml")).contains("name: flux-system-rw"));
}
