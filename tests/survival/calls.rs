//! Every system call that a writing command makes fails once, and the command is killed at it once: the next command
//! always finds the old tree or the new one. Every call of a reading command fails once: it says the same, or that it failed.
//!
//! `strace` injects the faults. Each call is struck in the thread that reads and writes; what git does for it is left
//! alone. By default 12 cases of each command are tried; `GITOPS_WINDOWS_STRIKES` says another number, and
//! `GITOPS_WINDOWS_TEST_THOROUGH` takes every one. How many there were stands in `target/tmp/strikes.txt`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::ground::{PROGRAM, Trial, said, with_windows};
use crate::support::scratch::{Scratch, Tree, WINDOW};
use crate::support::thorough::is_thorough;

/// The calls that touch files, as far as they are made.
const CALLS: &str = "trace=openat,openat2,read,pread64,write,pwrite64,writev,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync,syncfs,ftruncate,fchmod,fchmodat,chmod,flock,fcntl,statx,newfstatat,fstat,getdents64,readlink,readlinkat,lseek,fallocate,copy_file_range,utimensat,close";

/// Those that change something: only these are worth a kill.
const CHANGES: [&str; 21] = [
    "write",
    "pwrite64",
    "writev",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fchmod",
    "openat",
    "flock",
];

/// Commands that find what a struck one left: each reads the tree.
const NEXT: [&[&str]; 6] = [
    &["clusters"],
    &["check"],
    &["when"],
    &["explain", "clusters/edge-01/apps"],
    &["split", "--all", "--dry-run"],
    &["diff"],
];

const ERRORS: [&str; 4] = ["ENOSPC", "EIO", "EACCES", "EINTR"];
const KILLS: [&str; 2] = ["SIGKILL", "SIGTERM"];

/// How many cases of a command are tried.
fn most() -> usize {
    let said = std::env::var("GITOPS_WINDOWS_STRIKES").ok().map(|number| number.parse().unwrap());
    said.unwrap_or(if is_thorough() { usize::MAX } else { 12 })
}

/// Runs a command with a fault, for a minute at most.
fn struck(trial: &Trial, fault: &str, arguments: &[&str]) -> std::process::Output {
    let log = trial.top().with_file_name("calls");
    let mut strace = trial.command("timeout");
    strace.args(["--signal=KILL", "60", "strace", "-qq", "-o", log.to_str().unwrap(), "-e", CALLS]);
    if !fault.is_empty() {
        strace.args(["-e", fault]);
    }
    strace.arg(PROGRAM).args(arguments).output().unwrap()
}

/// Counts the calls of a run, by name.
fn calls(trial: &Trial) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for line in std::fs::read_to_string(trial.top().with_file_name("calls")).unwrap().lines() {
        if let Some((name, _)) = line.split_once('(') {
            *found.entry(name.to_owned()).or_default() += 1;
        }
    }
    found
}

/// Lists the errors that calls may meet, each at each time.
fn errors(calls: &BTreeMap<String, usize>) -> Vec<String> {
    let mut found = Vec::new();
    // What is not closed by an injector is open for ever: a pipe to git, for which the program then waits.
    for (name, times) in calls.iter().filter(|(name, _)| *name != "close") {
        for time in 1..=*times {
            found.extend(ERRORS.map(|error| format!("inject={name}:error={error}:when={time}")));
        }
    }
    found
}

/// Lists the ends that come at calls which change something, each at each time.
fn kills(calls: &BTreeMap<String, usize>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, times) in calls.iter().filter(|(name, _)| CHANGES.contains(&name.as_str())) {
        for time in 1..=*times {
            found.extend(KILLS.map(|signal| format!("inject={name}:signal={signal}:when={time}")));
        }
    }
    found
}

/// Takes as many of the cases as are to be tried, from all over.
fn some(cases: &[String], offset: usize) -> impl Iterator<Item = &String> {
    let stride = cases.len().div_ceil(most().min(cases.len()));
    cases.iter().skip(offset % stride).step_by(stride)
}

/// Fails where a struck run has no end of its own.
fn assert_ends(run: &std::process::Output, fault: &str, context: &dyn Fn() -> String) {
    // The standard library panics where it can't read from the pipe by which a child says that it began.
    let is_of_library = said(run).contains("/library/std/src/") && fault.starts_with("inject=read:");
    assert!(run.status.code() != Some(124) && run.status.code() != Some(137), "no end: {}", context());
    assert!(is_of_library || !said(run).contains("panicked"), "{}", context());
    assert!(run.status.code() != Some(70), "{}", context());
}

/// What a command leaves, and what is counted.
#[derive(Default)]
struct Count {
    cases: usize,
    /// How many cases there are.
    all: usize,
    /// How often the old tree stood there in the end.
    old: usize,
    torn: usize,
}

/// Strikes a command at its calls.
fn strike(scratch: &Scratch, arguments: &[&str], offset: usize, count: &mut Count) {
    let usual = Trial::of(scratch);
    let old = usual.tree();
    let run = struck(&usual, "", arguments);
    assert!(run.status.success(), "{arguments:?}: {}", said(&run));
    let new = usual.tree();
    assert!(old != new, "{arguments:?} writes nothing");
    let calls = calls(&usual);
    let cases = [errors(&calls), kills(&calls)].concat();
    count.all = cases.len();
    for fault in some(&cases, offset) {
        let trial = Trial::of(scratch);
        let run = struck(&trial, fault, arguments);
        let context = || format!("{arguments:?} {fault}: {:?} {}", run.status.code(), said(&run));
        assert_ends(&run, fault, &context);
        let there = trial.tree();
        let is_whole = there == old || there == new;
        assert!(is_whole || !run.status.success(), "success, and a torn tree: {}", context());
        count.torn += usize::from(!is_whole);
        let reading = NEXT[count.cases % NEXT.len()];
        let next = trial.run(reading);
        // There may be no spec yet, and something to say of the tree.
        assert!(
            matches!(next.status.code(), Some(0..=3)),
            "{}, then {reading:?}: {}",
            context(),
            said(&next)
        );
        let after: Tree = trial.tree();
        assert!(after == old || after == new, "neither the old tree nor the new one: {}", context());
        assert!(!run.status.success() || after == new, "success, and the old tree: {}", context());
        count.cases += 1;
        count.old += usize::from(after == old);
        // What is left is no hindrance for the same command.
        if after == old && count.cases.is_multiple_of(5) {
            let again = trial.run(arguments);
            assert!(again.status.success() && trial.tree() == new, "{}, again {}", context(), said(&again));
        }
    }
}

/// Windows in a table, so that they take freezes and overrides, with all handed over.
fn with_table() -> Scratch {
    let scratch = with_windows();
    for step in [&["split", "--all", "--yes"][..], &["migrate", "--yes"], &["migrate", "--yes"]] {
        scratch.take(step);
    }
    let table = "  enabled: true\n  every: 5m\n  from: 2026-11-01\n  through: 2027-01-31\n";
    scratch.replace("windows.yaml", "  enabled: true\n", table);
    scratch.commit();
    scratch.take(&["sync", "--yes"]);
    scratch
}

/// Returns whether there is no strace, and says so.
fn lacks_strace() -> bool {
    let lacks = Command::new("strace").arg("-V").output().is_err();
    if lacks {
        eprintln!("skipped: there is no strace to inject faults with");
    }
    lacks
}

#[test]
fn a_fault_or_a_kill_at_any_system_call_leaves_the_old_tree_or_the_new() {
    if lacks_strace() {
        return;
    }
    let plain = Scratch::fixture("sample");
    let windows = with_windows();
    let (divided, handed_over) = (with_windows(), with_windows());
    divided.take(&["split", "--all", "--yes"]);
    handed_over.take(&["split", "--all", "--yes"]);
    handed_over.take(&["migrate", "--yes"]);
    let written = with_windows();
    written.expect(0, &["split", "--all", "--yes"]);
    let table = with_table();
    let edited = with_windows();
    edited.replace("windows.yaml", "0 22 * * SAT", "0 21 * * SAT").commit();
    let init = [&["init", "--yes"], &WINDOW[..]].concat();
    let at = ["--reason", "peak", "--now", "2026-11-24T10:00:00Z", "--yes"];
    let with = |arguments: &[&'static str]| [arguments, &at[..]].concat();
    let freeze = with(&["freeze", "add", "peak", "--to", "2026-11-30"]);
    let open = with(&["override", "add", "--cluster", "edge-01", "--for", "2h"]);
    let stop = with(&["stop", "--until", "2026-11-30"]);
    let commands: [(&Scratch, &[&str]); 10] = [
        (&plain, &init),
        (&windows, &["split", "--all", "--yes"]),
        (&divided, &["join", "--all", "--yes"]),
        (&divided, &["migrate", "--yes"]),
        (&handed_over, &["migrate", "--yes"]),
        (&edited, &["sync", "--yes"]),
        (&written, &["undo", "--yes"]),
        (&table, &freeze),
        (&table, &open),
        (&table, &stop),
    ];
    let mut told = String::new();
    for (position, (scratch, arguments)) in commands.into_iter().enumerate() {
        let mut count = Count::default();
        strike(scratch, arguments, position, &mut count);
        assert!(count.cases > 0, "{arguments:?}: strace can strike no call");
        writeln!(
            told,
            "{}: {} of {} cases, {} left the old tree, {} were torn until the next command, violations 0",
            arguments[..2].join(" "),
            count.cases,
            count.all,
            count.old,
            count.torn
        )
        .unwrap();
    }
    tell("strikes.txt", &told);
}

/// Returns how the answer of one run differs from that of another.
fn difference(one: &std::process::Output, other: &std::process::Output) -> String {
    let (one, other) = (String::from_utf8_lossy(&one.stdout), String::from_utf8_lossy(&other.stdout));
    similar::TextDiff::from_lines(&one, &other).unified_diff().to_string()
}

/// Keeps what was counted, and shows it.
fn tell(name: &str, told: &str) {
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), told).unwrap();
    eprint!("{told}");
}

#[test]
fn a_fault_at_any_system_call_of_what_reads_is_told_or_changes_no_answer() {
    if lacks_strace() {
        return;
    }
    let scratch = with_windows();
    scratch.take(&["split", "--all", "--yes"]);
    scratch.commit();
    scratch.replace("windows.yaml", "0 22 * * SAT", "0 21 * * SAT").commit();
    let at = ["--now", "2026-11-24T10:00:00Z"];
    let with = |arguments: &[&'static str]| [arguments, &at[..]].concat();
    let (when, pr) = (with(&["when"]), with(&["pr", "--base", "HEAD^", "--format", "json"]));
    let commands: [&[&str]; 7] = [
        &["clusters", "--format", "json"],
        &["check", "--format", "json"],
        &when,
        &["explain", "clusters/edge-01/apps"],
        &["verify"],
        &["diff"],
        &pr,
    ];
    let mut told = String::new();
    for (position, arguments) in commands.into_iter().enumerate() {
        // Once before, so that its builds are at hand.
        Trial::of(&scratch).run(arguments);
        let usual = Trial::of(&scratch);
        let right = struck(&usual, "", arguments);
        assert!(matches!(right.status.code(), Some(0 | 1)), "{arguments:?}: {}", said(&right));
        let cases = errors(&calls(&usual));
        let (mut tried, mut equal) = (0, 0);
        for fault in some(&cases, position) {
            let run = struck(&usual, fault, arguments);
            let context = || format!("{arguments:?} {fault}: {:?} {}", run.status.code(), said(&run));
            assert_ends(&run, fault, &context);
            let is_equal = (run.status.code(), &run.stdout) == (right.status.code(), &right.stdout);
            assert!(
                is_equal || !run.status.success() && !said(&run).is_empty(),
                "another answer, and no word of why: {}\n{}",
                context(),
                difference(&right, &run)
            );
            tried += 1;
            equal += usize::from(is_equal);
        }
        writeln!(
            told,
            "{}: {tried} of {} cases, {equal} with the usual answer, violations 0",
            arguments[0],
            cases.len()
        )
        .unwrap();
    }
    tell("faults.txt", &told);
}
