//! What the job of a held source does, played in shells against files in place of an API server.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::follow::{INFRA, container, following};
use super::rendered;
use crate::support::scratch::{Scratch, program};

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
               [ ! -e \"$STATE/slow\" ] || cp \"$STATE/slow\" \"$STATE/now\"\n\
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
const LETTING_IN: &str = "2026-11-08T02:54:59Z";
const SHUT: &str = "2026-11-08T02:55:00Z";
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
    // The first second, then nothing more to do until the last in which something is let in.
    assert_eq!((tick(OPEN), fake.get("pin").as_str()), ((true, 2), B));
    assert_eq!(fake.get("window"), "\"open until Sun 2026-11-08 04:00:00 +01:00\"");
    assert_eq!(tick(LETTING_IN), (true, 0));
    // What would land after the end stays out, also where a job begins in time and gets no answer until then. What was let in
    // is not taken back before the end.
    fake.set("live", &revision(A));
    fake.set("attempted", &format!("{}\n", revision(A)));
    fake.set("slow", &SHUT.parse::<jiff::Timestamp>().unwrap().as_second().to_string());
    assert_eq!((tick(LETTING_IN), fake.get("pin").as_str()), ((true, 0), B));
    std::fs::remove_file(fake.folder().join("slow")).unwrap();
    assert_eq!((tick(SHUT), fake.get("pin").as_str()), ((true, 1), B));
    assert_eq!(fake.get("window"), "\"open until Sun 2026-11-08 04:00:00 +01:00, lets nothing more in\"");
    assert_eq!((tick(LAST), fake.get("pin").as_str()), ((true, 0), B));
    fake.set("attempted", "");
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
    // As a gate comes, some have applied that very commit and others not yet: the live one, where nothing was ever held.
    let comes = |note: &str, attempted: &str| {
        fake.set("window", "");
        again(note, attempted)
    };
    let apart = format!("{}\n{}\n", revision(B), revision(A));
    for (note, attempted) in [
        ("", format!("suspend\n{apart}")),
        ("", format!("{}\nsuspend\n{}\n", revision(A), revision(B))),
        (&"c".repeat(40), apart.clone()),
        ("", format!("{}\n{}\n", revision(B), revision(&"c".repeat(40)))),
    ] {
        assert_eq!(comes(note, &attempted), (false, String::new()), "{note} {attempted}");
    }
    fake.set("stop", "stop");
    assert_eq!(comes("", &apart), (false, String::new()));
    fake.set("stop", "");
    assert_eq!(comes("", &apart), (true, A.to_owned()));
    assert_eq!(again("", &apart), (false, String::new()), "it has run before");
    assert_eq!(comes("", &format!("suspend\n{}\n", revision(B))), (true, B.to_owned()));

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
