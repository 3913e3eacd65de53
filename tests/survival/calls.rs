//! Every system call that a writing command makes fails once, and the command is killed at it once: the next command
//! always finds the old tree or the new one. So it does where the fault stays, where a kill follows it, and where the way
//! back is struck too. Every call of a reading command fails once: it says the same, or that it failed.
//!
//! Writing commands are struck only where they change something on a disk. By default 12 cases of each command are tried;
//! `GITOPS_WINDOWS_STRIKES` says another number, and `GITOPS_WINDOWS_TEST_THOROUGH` takes every one. How many there were
//! stands in `target/tmp/strikes.txt`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Output;
use std::sync::{Mutex, PoisonError};

use crate::ground::{Trial, said, with_windows};
use crate::strace::{Case, calls, cases, errors, is_missing, struck, was_struck};
use crate::support::scratch::{Scratch, Tree, WINDOW};
use crate::support::thorough::is_thorough;

/// Commands that find what a struck one left: each reads the tree.
const NEXT: [&[&str]; 6] = [
    &["clusters"],
    &["check"],
    &["when"],
    &["explain", "clusters/edge-01/apps"],
    &["split", "--all", "--dry-run"],
    &["diff"],
];

/// How many trials go on side by side.
const AT_ONCE: usize = 2;

/// How many cases of a command are tried.
fn most() -> usize {
    let said = std::env::var("GITOPS_WINDOWS_STRIKES").ok().map(|number| number.parse().unwrap());
    said.unwrap_or(if is_thorough() { usize::MAX } else { 12 })
}

/// Takes as many of the cases as are to be tried, from all over.
fn some(cases: &[String], offset: usize) -> impl Iterator<Item = &String> {
    let stride = cases.len().div_ceil(most().min(cases.len()));
    cases.iter().skip(offset % stride).step_by(stride)
}

/// Says where a struck run has no end of its own.
fn ends(run: &Output, faults: &[String], context: &dyn Fn() -> String) -> Result<(), String> {
    // The standard library panics where it can't read from the pipe by which a child says that it began.
    let is_of_std = said(run).contains("/library/std/src/")
        && faults.iter().any(|fault| fault.starts_with("inject=read:"));
    // rustix asks whether `/proc` is a mount by a rename that can't succeed, and panics where a lasting fault answers that
    // with a full disk, as no kernel does.
    let is_of_probe = said(run).contains("rustix-linux-procfs")
        && faults.iter().any(|fault| fault.starts_with("inject=renameat:") && fault.ends_with('+'));
    let is_of_library = is_of_std || is_of_probe;
    // It ends by SIGKILL itself where that is the fault, and so does the injector.
    let is_killed = faults.iter().any(|fault| fault.contains("SIGKILL"));
    match run.status.code() {
        Some(124 | 137) if !is_killed => Err(format!("no end: {}", context())),
        Some(70 | 101) if !is_of_library => Err(format!("a bug: {}", context())),
        _ if said(run).contains("panicked") && !is_of_library => Err(format!("a panic: {}", context())),
        _ => Ok(()),
    }
}

/// What the trials of a command came to.
#[derive(Default)]
struct Count {
    cases: usize,
    /// How many cases there are, at how many calls.
    all: usize,
    calls: usize,
    /// In how many of them the fault came about.
    struck: usize,
    /// How often the old tree stood there in the end.
    old: usize,
    torn: usize,
    violations: Vec<String>,
}

/// A command, the repository that it is tried in, and the trees before and after it.
struct Command<'a> {
    scratch: &'a Scratch,
    arguments: &'a [&'a str],
    old: Tree,
    new: Tree,
}

impl Command<'_> {
    /// Tries one case, and says what is not as it should be.
    fn strike(&self, number: usize, case: &Case, count: &Mutex<Count>) -> Result<(), String> {
        let trial = Trial::of(self.scratch);
        let run = struck(&trial, &case.first, self.arguments);
        let context = || format!("{:?} {:?}: {:?} {}", self.arguments, case, run.status.code(), said(&run));
        ends(&run, &case.first, &context)?;
        let was_struck = was_struck(&trial);
        let is_whole = |tree: &Tree| *tree == self.old || *tree == self.new;
        let there = trial.tree();
        if run.status.success() && there != self.new {
            return Err(format!("success, and not the new tree: {}", context()));
        }
        if !case.next.is_empty() {
            ends(&struck(&trial, &case.next, NEXT[0]), &case.next, &context)?;
        }
        let reading = NEXT[number % NEXT.len()];
        let next = trial.run(reading);
        // There may be no spec yet, and something to say of the tree.
        if !matches!(next.status.code(), Some(0..=3)) {
            return Err(format!("{}, then {reading:?}: {}", context(), said(&next)));
        }
        let after = trial.tree();
        if !is_whole(&after) {
            return Err(format!("neither the old tree nor the new one: {}", context()));
        }
        if run.status.success() && after != self.new {
            return Err(format!("success, and the old tree: {}", context()));
        }
        // What is left is no hindrance for the same command.
        if after == self.old && number.is_multiple_of(5) {
            let again = trial.run(self.arguments);
            if !again.status.success() || trial.tree() != self.new {
                return Err(format!("{}, again {}", context(), said(&again)));
            }
        }
        let mut count = count.lock().unwrap_or_else(PoisonError::into_inner);
        count.struck += usize::from(was_struck);
        count.old += usize::from(after == self.old);
        count.torn += usize::from(!is_whole(&there));
        Ok(())
    }
}

/// Strikes a command at its calls that change something.
fn strike(scratch: &Scratch, arguments: &[&str], offset: usize) -> Count {
    let usual = Trial::of(scratch);
    let old = usual.tree();
    let run = struck(&usual, &[], arguments);
    assert!(run.status.success(), "{arguments:?}: {}", said(&run));
    let command = Command { scratch, arguments, old, new: usual.tree() };
    assert!(command.old != command.new, "{arguments:?} writes nothing");
    let cases = cases(&calls(&usual));
    let chosen = spread(&cases, offset);
    let all = cases.iter().map(Vec::len).sum();
    let count = Mutex::new(Count { all, calls: cases.len(), ..Count::default() });
    let waiting = Mutex::new(chosen.iter().enumerate());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((number, case)) = next else { break };
                    let done = command.strike(number, case, &count);
                    let mut count = count.lock().unwrap_or_else(PoisonError::into_inner);
                    count.cases += 1;
                    count.violations.extend(done.err());
                }
            });
        }
    });
    count.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Takes as many cases as are to be tried, from all calls and of all kinds.
fn spread(cases: &[Vec<Case>], offset: usize) -> Vec<&Case> {
    let all = cases.iter().map(Vec::len).sum::<usize>();
    let most = most().min(all);
    if most == all {
        return cases.iter().flatten().collect();
    }
    // Each call has as many cases, whose number shares no factor with the stride.
    let of = |number: usize| {
        let kinds = &cases[number * cases.len() / most];
        &kinds[(number * 5 + offset) % kinds.len()]
    };
    (0..most).map(of).collect()
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

#[test]
fn a_fault_or_a_kill_at_any_system_call_leaves_the_old_tree_or_the_new() {
    if is_missing() {
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
    let set = ["windows", "set", "saturday", "--open", "0 21 * * SAT", "--yes"];
    let commands: [(&Scratch, &[&str]); 11] = [
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
        (&windows, &set),
    ];
    let (mut told, mut violations) = (String::new(), Vec::new());
    for (position, (scratch, arguments)) in commands.into_iter().enumerate() {
        let count = strike(scratch, arguments, position);
        assert!(count.struck > 0, "{arguments:?}: strace can strike no call");
        writeln!(
            told,
            "{}: {} of {} cases at {} calls that change something, {} came about, {} left the old tree, {} were torn \
             until the next command, violations {}",
            arguments[..2].join(" "),
            count.cases,
            count.all,
            count.calls,
            count.struck,
            count.old,
            count.torn,
            count.violations.len()
        )
        .unwrap();
        violations.extend(count.violations);
    }
    tell("strikes.txt", &told);
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

/// Returns how the answer of one run differs from that of another.
fn difference(one: &Output, other: &Output) -> String {
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
    if is_missing() {
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
        let right = struck(&usual, &[], arguments);
        assert!(matches!(right.status.code(), Some(0 | 1)), "{arguments:?}: {}", said(&right));
        let cases = errors(&calls(&usual));
        let (mut tried, mut equal) = (0, 0);
        for fault in some(&cases, position) {
            let fault = std::slice::from_ref(fault);
            let run = struck(&usual, fault, arguments);
            let context = || format!("{arguments:?} {fault:?}: {:?} {}", run.status.code(), said(&run));
            ends(&run, fault, &context).unwrap();
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
