//! `strace` as the injector of faults: which calls a run makes, and a run in which some of them fail or are the last.
//!
//! Each call is struck in the thread that reads and writes; what git does for it is left alone.

use std::collections::BTreeMap;
use std::process::{Command, Output};

use crate::ground::{PROGRAM, Trial};

/// The calls that touch files, as far as they are made.
const CALLS: &str = "trace=openat,openat2,read,pread64,write,pwrite64,writev,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync,syncfs,ftruncate,fchmod,fchmodat,chmod,flock,fcntl,statx,newfstatat,fstat,getdents64,readlink,readlinkat,lseek,fallocate,copy_file_range,utimensat,close";

/// Those that change a name.
const OF_NAMES: [&str; 14] = [
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
    "chmod",
    "fchmodat",
];

/// Those that change what is open.
const OF_FILES: [&str; 10] = [
    "write",
    "pwrite64",
    "writev",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fallocate",
    "copy_file_range",
    "fchmod",
    "flock",
];

/// Those that need space, and so fail on a full disk.
const OF_SPACE: [&str; 15] = [
    "write",
    "pwrite64",
    "writev",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fallocate",
    "mkdir",
    "mkdirat",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "renameat",
    "renameat2",
];

/// The errors that one call may meet.
pub const ERRORS: [&str; 4] = ["ENOSPC", "EIO", "EACCES", "EINTR"];

/// A call of a run: its name, and how often that was made before and with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub name: String,
    pub time: usize,
    /// Whether it changes something on a disk.
    pub changes: bool,
}

/// What goes wrong in a run, and in the one after it.
#[derive(Clone, Debug, Default)]
pub struct Case {
    pub first: Vec<String>,
    pub next: Vec<String>,
}

/// Runs a command with faults, for a minute at most.
pub fn struck(trial: &Trial, faults: &[String], arguments: &[&str]) -> Output {
    let log = trial.top().with_file_name("calls");
    let mut strace = trial.command("timeout");
    strace.args(["--signal=KILL", "60", "strace", "-qq", "-y", "-o", log.to_str().unwrap(), "-e", CALLS]);
    for fault in faults {
        strace.args(["-e", fault]);
    }
    strace.arg(PROGRAM).args(arguments).output().unwrap()
}

/// Returns whether a fault of the last run came about.
pub fn was_struck(trial: &Trial) -> bool {
    let log = std::fs::read(trial.top().with_file_name("calls")).unwrap();
    let log = String::from_utf8_lossy(&log);
    ["(INJECTED)", "+++ killed by ", "--- SIGTERM "].iter().any(|sign| log.contains(sign))
}

/// Lists the calls of the last run.
pub fn calls(trial: &Trial) -> Vec<Call> {
    let log = std::fs::read(trial.top().with_file_name("calls")).unwrap();
    let mut times = BTreeMap::<String, usize>::new();
    let mut found = Vec::new();
    for line in String::from_utf8_lossy(&log).lines() {
        let Some((name, rest)) = line.split_once('(') else { continue };
        let time = times.entry(name.to_owned()).or_default();
        *time += 1;
        found.push(Call { name: name.to_owned(), time: *time, changes: changes(name, rest) });
    }
    found
}

/// Returns whether a call changes something on a disk: a pipe to git, a terminal or a device does not count.
fn changes(name: &str, rest: &str) -> bool {
    let is_on_disk = |descriptor: &str| {
        let path = descriptor.split_once('<').map_or("", |(_, path)| path);
        path.starts_with('/') && !["/dev/", "/proc/"].iter().any(|folder| path.starts_with(folder))
    };
    match name {
        "openat" | "openat2" => {
            ["O_CREAT", "O_WRONLY", "O_RDWR", "O_TRUNC"].iter().any(|flag| rest.contains(flag))
                && !rest.contains("\"/dev/")
        }
        _ if OF_FILES.contains(&name) => is_on_disk(rest.split([',', ')']).next().unwrap_or_default()),
        _ => OF_NAMES.contains(&name),
    }
}

/// Lists the errors that calls may meet, each at each time.
pub fn errors(calls: &[Call]) -> Vec<String> {
    // What is not closed by an injector is open for ever: a pipe to git, for which the program then waits.
    let calls = calls.iter().filter(|call| call.name != "close");
    calls.flat_map(|call| ERRORS.map(|error| fault(call, &format!("error={error}")))).collect()
}

/// Lists what may go wrong at each call that changes something: as many cases for each.
pub fn cases(calls: &[Call]) -> Vec<Vec<Case>> {
    let changing: Vec<&Call> = calls.iter().filter(|call| call.changes).collect();
    let of = |position: usize, call: &Call| {
        let alone = |how: &str| Case { first: vec![fault(call, how)], next: Vec::new() };
        let rest = &changing[position..];
        let mut cases: Vec<Case> = ERRORS.iter().map(|error| alone(&format!("error={error}"))).collect();
        cases.extend(["SIGKILL", "SIGTERM"].map(|signal| alone(&format!("signal={signal}"))));
        // A full disk lets names go, a broken one does nothing, and one that may only be read keeps all names.
        for (error, does) in [("ENOSPC", &OF_SPACE[..]), ("EIO", &OF_SPACE[..0]), ("EACCES", &OF_NAMES[..])] {
            let names =
                |name: &str| does.is_empty() && name != "openat" && name != "openat2" || does.contains(&name);
            cases.push(Case { first: lasting(rest, error, names), next: Vec::new() });
        }
        for error in ["EIO", "ENOSPC"] {
            cases.push(Case { first: then_killed(call, rest, error, position), next: Vec::new() });
        }
        cases
            .push(Case { first: vec![fault(call, "signal=SIGKILL")], next: vec![of_the_way_back(position)] });
        cases
    };
    changing.iter().enumerate().map(|(position, call)| of(position, call)).collect()
}

fn fault(call: &Call, how: &str) -> String {
    format!("inject={}:{how}:when={}", call.name, call.time)
}

/// An error from this call on, for ever, of all that change something and are named so.
fn lasting(rest: &[&Call], error: &str, names: impl Fn(&str) -> bool) -> Vec<String> {
    let mut first = BTreeMap::<&str, usize>::new();
    for call in rest {
        first.entry(&call.name).or_insert(call.time);
    }
    let names = first.into_iter().filter(|(name, _)| names(name));
    names.map(|(name, time)| format!("inject={name}:error={error}:when={time}+")).collect()
}

/// An error at this call, and a kill on the way back: at a call of another name, as strace knows one fault of each.
fn then_killed(call: &Call, rest: &[&Call], error: &str, position: usize) -> Vec<String> {
    let others = ["renameat", "unlinkat", "fsync", "mkdirat"].into_iter().filter(|name| *name != call.name);
    let others: Vec<&str> = others.collect();
    let name = others[position % others.len()];
    // What would have come here does not, so the next time is the first one on the way back.
    let next = rest.iter().find(|later| later.name == name).map_or(1, |later| later.time);
    let kill = format!("inject={name}:signal=SIGKILL:when={}", next + position / others.len() % 3);
    vec![fault(call, &format!("error={error}")), kill]
}

/// A fault of the run that brings the old tree back.
fn of_the_way_back(position: usize) -> String {
    let names = ["renameat", "unlinkat", "fsync", "mkdirat", "renameat"];
    let hows = ["signal=SIGKILL", "error=EIO", "error=ENOSPC"];
    let (name, rest) = (names[position % names.len()], position / names.len());
    let how = hows[rest % hows.len()];
    let from_here = if how == "error=ENOSPC" { "+" } else { "" };
    format!("inject={name}:{how}:when={}{from_here}", 1 + rest / hows.len() % 3)
}

/// Returns whether there is no strace, and says so.
pub fn is_missing() -> bool {
    let lacks = Command::new("strace").arg("-V").output().is_err();
    if lacks {
        eprintln!("skipped: there is no strace to inject faults with");
    }
    lacks
}
