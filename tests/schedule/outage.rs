//! Outages of the CronJob controller.

use gitops_windows::schedule::lint::{LintOptions, lints};
use gitops_windows::schedule::outage::missed_run;
use gitops_windows::schedule::{CronExpr, Deadline, Deadlines, Timeline, Window, deadlines};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{at, cron, from_to, open_close, open_for};

/// By how much equal times differ as the clocks change, and how long before its end a late Job no longer starts.
const REST: i64 = 2 * 3600 + 300;

/// What was found over outages.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    right: usize,
    /// The gate should be closed, is open, and would be opened within [`REST`].
    early: usize,
    /// The gate should be open, is closed, and would be closed within [`REST`].
    late: usize,
    /// The gate should be open, and both Jobs start.
    races: usize,
    /// The gate should be open and is closed.
    closed: usize,
    /// The gate should be closed and is open or may be.
    open: usize,
}

/// The state of a gate after an outage.
enum AfterOutage {
    Open,
    Closed,
    /// A missed opening and a missed closing are started at the same moment, and the one whose pod is slower
    /// decides.
    Race,
}

/// One CronJob with its firings over the years that are looked at, and two more on each side.
struct Job {
    expr: CronExpr,
    zone: TimeZone,
    deadline: Option<u32>,
    opens: bool,
    firings: Vec<i64>,
}

impl Job {
    fn last_before(&self, second: i64) -> i64 {
        self.firings[self.firings.partition_point(|firing| *firing < second) - 1]
    }
}

/// Every outage between some years' boundaries, in classes of which one outage stands for all.
///
/// What a Job does after an outage depends on its begin only through the later of its last run and the deadline
/// counted back from the end (`mostRecentScheduleTime`). So of all outages that began before the deadlines, one
/// decides; where it starts no Job, the state from before it stays.
struct Outages {
    jobs: Vec<Job>,
    intervals: Vec<(i64, i64)>,
    /// When outages begin, in order: at each boundary and a second later.
    starts: Vec<i64>,
    /// How many of the starts up to each find the gate open.
    open_before: Vec<usize>,
}

fn second(text: &str) -> i64 {
    at(text).as_second()
}

impl Outages {
    fn new(windows: &[Window], deadlines: &[Deadlines]) -> Outages {
        let timeline = Timeline::new(windows).unwrap();
        let (from, to) = (second("2024-01-01T00:00:00Z"), second("2038-01-01T00:00:00Z"));
        let starting = |deadline: Option<Deadline>| deadline.map(|deadline| deadline.starting);
        let job = |window: &Window, expr: &CronExpr, deadline, opens| {
            let zone = window.zone_or_utc();
            let first = Timestamp::from_second(from).unwrap();
            let firings = expr.firings(first, &zone).map(|firing| firing.as_second());
            let firings = firings.take_while(|firing| *firing < to).collect();
            Job { expr: expr.clone(), zone, deadline: starting(deadline), opens, firings }
        };
        let pairs = windows.iter().zip(deadlines);
        let jobs: Vec<Job> = pairs
            .flat_map(|(window, deadlines)| {
                let pair = window.pair().unwrap();
                [
                    job(window, &pair.open, deadlines.open, true),
                    job(window, &pair.close, deadlines.close, false),
                ]
            })
            .collect();
        let intervals: Vec<(i64, i64)> = timeline
            .intervals(Timestamp::from_second(from).unwrap(), Timestamp::from_second(to).unwrap())
            .map(|interval| (interval.open.as_second(), interval.close.as_second()))
            .collect();
        let mut outages = Outages { jobs, intervals, starts: Vec::new(), open_before: Vec::new() };
        outages.starts = outages.boundaries().flat_map(|boundary| [boundary, boundary + 1]).collect();
        let mut open = 0;
        for start in outages.starts.clone() {
            open += usize::from(outages.is_open(start - 1));
            outages.open_before.push(open);
        }
        outages
    }

    fn boundaries(&self) -> impl Iterator<Item = i64> {
        let years = second("2026-01-01T00:00:00Z")..second("2036-01-01T00:00:00Z");
        let boundaries = self.intervals.iter().flat_map(|(open, close)| [*open, *close]);
        boundaries.filter(move |boundary| years.contains(boundary))
    }

    /// The instants around which what happens can change: boundaries, and runs as they pass their deadline.
    fn ends(&self) -> Vec<i64> {
        let years = second("2026-01-01T00:00:00Z")..second("2036-01-01T00:00:00Z");
        let passed = self.jobs.iter().flat_map(|job| {
            let deadline = i64::from(job.deadline.unwrap_or_default());
            job.firings.iter().map(move |firing| firing + deadline)
        });
        let passed = passed.filter(|at| years.contains(at)).chain(self.boundaries());
        let mut ends: Vec<i64> = passed.flat_map(|at| [at - 1, at, at + 1]).collect();
        ends.sort_unstable();
        ends.dedup();
        ends
    }

    fn next_boundary(&self, at: i64) -> i64 {
        let (open, close) = self.intervals[self.intervals.partition_point(|(_, close)| *close <= at)];
        if open <= at { close } else { open }
    }

    fn is_open(&self, at: i64) -> bool {
        let later = self.intervals.partition_point(|(_, close)| *close <= at);
        self.intervals.get(later).is_some_and(|(open, _)| *open <= at)
    }

    /// Says how the gate stands at the end of one outage: the runs before its start were made, those up to its end
    /// were not, and each CronJob then starts what [`missed_run`] gives.
    fn after(&self, start: i64, end: i64) -> AfterOutage {
        let (mut opens, mut closes) = (false, false);
        let time = |second| Timestamp::from_second(second).unwrap();
        for job in &self.jobs {
            let last = time(job.last_before(start));
            let starts = missed_run(&job.expr, &job.zone, last, time(end), job.deadline).is_some();
            if job.opens { opens |= starts } else { closes |= starts }
        }
        match (opens, closes) {
            (true, true) => AfterOutage::Race,
            (true, false) => AfterOutage::Open,
            (false, true) => AfterOutage::Closed,
            (false, false) if self.is_open(start - 1) => AfterOutage::Open,
            (false, false) => AfterOutage::Closed,
        }
    }

    fn tally(&self, ends: &[i64]) -> Tally {
        let mut tally = Tally::default();
        for &end in ends {
            let mut note = |after: AfterOutage, count: usize| {
                let rest = self.next_boundary(end) - end <= REST;
                let kind = match (self.is_open(end), after) {
                    (true, AfterOutage::Open) | (false, AfterOutage::Closed) => &mut tally.right,
                    (true, AfterOutage::Race) => &mut tally.races,
                    (true, AfterOutage::Closed) if rest => &mut tally.late,
                    (true, AfterOutage::Closed) => &mut tally.closed,
                    (false, AfterOutage::Open) if rest => &mut tally.early,
                    (false, _) => &mut tally.open,
                };
                *kind += count;
            };
            let mut known: Vec<Option<(i64, bool)>> = vec![None; self.jobs.len()];
            let begun = self.starts.partition_point(|start| *start <= end);
            for index in (0..begun).rev() {
                let start = self.starts[index];
                let (mut opens, mut closes, mut all_passed) = (false, false, true);
                for (job, known) in self.jobs.iter().zip(&mut known) {
                    let last = job.last_before(start);
                    let passed = job.deadline.map(|deadline| end - i64::from(deadline));
                    let earliest = passed.map_or(last, |passed| passed.max(last));
                    all_passed &= Some(earliest) == passed;
                    let starts = match *known {
                        Some((same, starts)) if same == earliest => starts,
                        _ => {
                            let time = |second| Timestamp::from_second(second).unwrap();
                            missed_run(&job.expr, &job.zone, time(last), time(end), job.deadline).is_some()
                        }
                    };
                    *known = Some((earliest, starts));
                    if job.opens { opens |= starts } else { closes |= starts }
                }
                // This outage, or all that began no later.
                let (count, open) = match all_passed {
                    true => (index + 1, self.open_before[index]),
                    false => (1, usize::from(self.is_open(start - 1))),
                };
                match (opens, closes) {
                    (true, true) => note(AfterOutage::Race, count),
                    (true, false) => note(AfterOutage::Open, count),
                    (false, true) => note(AfterOutage::Closed, count),
                    (false, false) => {
                        note(AfterOutage::Open, open);
                        note(AfterOutage::Closed, count - open);
                    }
                }
                if all_passed {
                    break;
                }
            }
        }
        tally
    }
}

fn generated(windows: &[Window]) -> Vec<Deadlines> {
    deadlines(&Timeline::new(windows).unwrap())
}

fn even_windows() -> Vec<Vec<Window>> {
    vec![
        vec![open_for("Europe/Berlin", "0 22 * * SAT", "5h")],
        vec![open_close("America/New_York", "0 8 * * MON", "0 17 * * THU")],
        vec![open_close("America/New_York", "0 20 * * *", "0 4 * * *")],
        vec![open_for("Asia/Tokyo", "30 23 * * *", "1h")],
        vec![from_to("Europe/Berlin", "Sat 22:00", "Mon 06:00")],
        vec![from_to("Australia/Lord_Howe", "Thu 23:30", "Fri 05:00")],
        vec![from_to("Africa/Casablanca", "Sun 22:00", "Sun 05:00")],
        vec![from_to("America/Santiago", "Fri 20:00", "Sun 12:00")],
        vec![from_to("UTC", "Mon 08:00", "Mon 17:00"), from_to("UTC", "Wed 08:00", "Wed 17:00")],
        vec![
            from_to("Europe/London", "Tue 01:00", "Tue 05:00"),
            from_to("Pacific/Auckland", "Fri 20:00", "Sat 04:00"),
        ],
        vec![
            open_close("Europe/Berlin", "0 8 * * MON-THU", "0 17 * * MON-THU"),
            open_close("Europe/Berlin", "0 8 * * FRI", "0 17 * * FRI"),
        ],
    ]
}

/// Every outage whatsoever: what changes with its begin or end changes at the instants that are tried.
#[test]
fn even_windows_survive_every_outage() {
    for windows in even_windows() {
        let outages = Outages::new(&windows, &generated(&windows));
        let at_boundaries = outages.tally(&outages.boundaries().collect::<Vec<_>>());
        let anywhere = outages.tally(&outages.ends());
        eprintln!("{}: {at_boundaries:?}, ending anywhere {anywhere:?}", windows[0].pair().unwrap().open);
        assert!(at_boundaries.right > 100_000);
        assert_eq!(at_boundaries, Tally { right: at_boundaries.right, ..Tally::default() });
        assert_eq!((anywhere.races, anywhere.open, anywhere.closed), (0, 0, 0));
    }
}

/// The deadlines are there for a reason: neither none, nor one for opening alone is enough.
#[test]
fn fewer_deadlines_leave_gates_open_or_race() {
    let windows = [open_for("Europe/Berlin", "0 22 * * SAT", "5h")];
    let ends = |outages: &Outages| outages.boundaries().take(200).collect::<Vec<_>>();
    let outages = Outages::new(&windows, &[Deadlines::default()]);
    assert!(outages.tally(&ends(&outages)).open > 0);
    let outages = Outages::new(&windows, &[Deadlines { close: None, ..generated(&windows)[0] }]);
    assert!(outages.tally(&ends(&outages)).races > 0);
}

/// The classes stand for what the model says of single outages.
#[test]
fn classes_stand_for_single_outages() {
    let windows = [
        open_close("Europe/Berlin", "0 8 * * MON-THU", "0 17 * * MON-THU"),
        open_close("Europe/Berlin", "0 8 * * FRI", "0 17 * * FRI"),
    ];
    let deadlines = generated(&windows);
    let mut outages = Outages::new(&windows, &deadlines);
    outages.starts.truncate(60);
    for end in outages.ends().into_iter().take(400) {
        let mut single = Tally::default();
        for &start in outages.starts.iter().filter(|start| **start <= end) {
            match (outages.is_open(end), outages.after(start, end)) {
                (true, AfterOutage::Open) | (false, AfterOutage::Closed) => single.right += 1,
                (true, AfterOutage::Race) => single.races += 1,
                (true, AfterOutage::Closed) => single.late += 1,
                (false, _) => single.early += 1,
            }
        }
        assert_eq!(outages.tally(&[end]), single, "{end}");
    }
}

/// What remains is told: windows of which nothing is told survive every outage.
#[test]
fn windows_without_findings_survive_every_outage() {
    let mut seed = 1_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    const DAYS: [&str; 7] = ["MON-FRI", "*", "TUE,THU", "MON", "WED", "FRI", "SUN"];
    const ZONES: [&str; 4] = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Sydney"];
    let (mut silent, mut told) = (0, 0);
    for _ in 0..60 {
        let zone = ZONES[random(4) as usize];
        let count = 1 + random(3);
        let windows: Vec<Window> = (0..count)
            .map(|number| {
                let days = DAYS[if count == 1 { random(7) } else { 3 + (number + random(2)) % 4 } as usize];
                let hour = 4 + random(14);
                let close = format!("{} {} * * {days}", random(2) * 30, hour + 1 + random(6));
                open_close(zone, &format!("{} {hour} * * {days}", random(2) * 30), &close)
            })
            .collect();
        let options = LintOptions {
            from: at("2026-11-21T00:00:00Z"),
            needed: None,
            interval: None,
            most_days_closed: None,
        };
        if !lints(&windows.iter().collect::<Vec<_>>(), &options).is_empty() {
            told += 1;
            continue;
        }
        silent += 1;
        let outages = Outages::new(&windows, &generated(&windows));
        let found = outages.tally(&outages.boundaries().take(400).collect::<Vec<_>>());
        assert_eq!(found, Tally { right: found.right, ..Tally::default() }, "{windows:?}");
    }
    eprintln!("{silent} windows without findings, {told} with");
    assert!(silent > 15 && told > 15, "{silent} {told}");
}

/// Weekdays, with the weekend in between: what is told is the case.
#[test]
fn uneven_windows_stay_closed_rather_than_open() {
    let windows = [open_close("UTC", "0 8 * * MON-FRI", "0 17 * * MON-FRI")];
    let outages = Outages::new(&windows, &generated(&windows));
    let found = outages.tally(&outages.boundaries().collect::<Vec<_>>());
    assert!(found.races > 0, "{found:?}");
    assert_eq!((found.open, found.closed, found.early, found.late), (0, 0, 0, 0));
    // Inside the weekend, a closing on Friday is made up for unless that on Thursday was missed too.
    let sunday = second("2026-11-29T07:00:00Z");
    let mut outages = Outages::new(&windows, &generated(&windows));
    outages.starts.retain(|start| *start > second("2026-11-26T17:00:00Z"));
    outages.open_before.truncate(outages.starts.len());
    assert_eq!(outages.tally(&[sunday]).open, 0);
}

#[test]
fn deadlines_are_the_shortest_times() {
    let of = |window: Window| generated(&[window])[0];
    // In the night in which the clocks go forward the window is an hour shorter.
    let saturday = of(open_for("Europe/Berlin", "0 22 * * SAT", "5h"));
    assert_eq!(saturday.open, Some(Deadline { starting: 4 * 3600 - 300, active: 300 }));
    assert_eq!(saturday.close, Some(Deadline { starting: 163 * 3600 - 300, active: 163 * 3600 }));
    let week = of(open_close("Europe/Berlin", "0 8 * * MON", "0 17 * * THU"));
    assert_eq!(week.open, Some(Deadline { starting: (3 * 24 + 9) * 3600 - 300, active: 300 }));
    // It counts from the last opening, as that is the one that is made up for.
    let thrice = of(open_close("UTC", "0 8-10 * * *", "0 17 * * *"));
    assert_eq!(thrice.open, Some(Deadline { starting: 7 * 3600 - 300, active: 300 }));
    // A short window leaves half of itself for trying.
    let short = of(open_close("UTC", "0 8 * * *", "2 8 * * *"));
    assert_eq!(short.open, Some(Deadline { starting: 60, active: 60 }));
    // Closed times that differ by more than the clocks: the longest, so that nothing stays open.
    let weekdays = of(open_close("UTC", "0 8 * * MON-FRI", "0 17 * * MON-FRI"));
    assert_eq!(weekdays.close, Some(Deadline { starting: 63 * 3600, active: 15 * 3600 }));
    assert_eq!(of(open_close("UTC", "0 8 * * *", "0 0 31 2 *")), Deadlines::default());
}

#[test]
fn deadlines_look_at_all_windows_of_the_type() {
    let early = open_close("UTC", "0 8 * * *", "0 12 * * *");
    let late = open_close("UTC", "0 10 * * *", "0 18 * * *");
    let found = generated(&[early, late]);
    // The closing at 12:00 closes both.
    let open: Vec<u32> = found.iter().map(|found| found.open.unwrap().starting).collect();
    assert_eq!(open, [4 * 3600 - 300, 2 * 3600 - 300]);
    let close: Vec<u32> = found.iter().map(|found| found.close.unwrap().active).collect();
    assert_eq!(close, [20 * 3600, 14 * 3600]);
}

#[test]
fn only_the_last_missed_run_starts_and_only_within_the_deadline() {
    let utc = TimeZone::UTC;
    let open = cron("0 22 * * SAT");
    let (last, now) = (at("2026-11-07T22:00:00Z"), at("2026-11-29T01:00:00Z"));
    assert_eq!(missed_run(&open, &utc, last, now, None), Some(at("2026-11-28T22:00:00Z")));
    for (deadline, starts) in [(3 * 3600 + 1, true), (3 * 3600, false), (300, false)] {
        assert_eq!(missed_run(&open, &utc, last, now, Some(deadline)).is_some(), starts, "{deadline}");
    }
    // Without anything missed nothing starts.
    assert_eq!(missed_run(&open, &utc, at("2026-11-28T22:00:00Z"), now, None), None);
}

#[test]
fn a_closing_on_weekdays_only_may_not_be_made_up_for() {
    let utc = TimeZone::UTC;
    let (tuesday, sunday) = (at("2026-11-24T17:00:00Z"), at("2026-11-29T07:00:00Z"));
    // Missed on Wednesday, Thursday and Friday: the controller looks for the last run only after Friday's.
    assert_eq!(missed_run(&cron("0 17 * * MON-FRI"), &utc, tuesday, sunday, None), None);
    let daily = missed_run(&cron("0 17 * * *"), &utc, tuesday, sunday, None);
    assert_eq!(daily, Some(at("2026-11-28T17:00:00Z")));
}
