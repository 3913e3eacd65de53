//! Compiled tables against robfig/cron over ten years, with freezes, overrides and changes of the clocks.
//!
//! The program is asked for tables by a spec; robfig/cron for the firings of each expression, and Go for the offsets that
//! make days of freezes. A sweep over these counts what is open and what is frozen, and shares no code with the program.

use std::collections::{BTreeMap, BTreeSet};

use gitops_windows::mechanism;
use gitops_windows::path::RepoPath;
use gitops_windows::spec::{MechanismName, parse};
use jiff::Timestamp;
use jiff::civil::date;

use super::cases::{self, Random, Zone};
use super::{Database, EVERYDAY, Robfig, robfig, wanted_cases};

/// The years of the tables, in seconds.
const YEARS: (i64, i64) = (1_767_225_600, 2_082_758_400);

/// Since when firings are asked for: what is open as the table begins was opened before.
const BEFORE: &str = "2024-12-30T00:00:00Z";

/// The windows by type: in the nights in which clocks change, over many days, and several whose union counts.
const WINDOWS: [(&str, &[(&str, &str)]); 3] = [
    ("nights", &[("30 1 * * *", "30 3 * * *")]),
    ("midnights", &[("0 0 * * SUN", "0 3 * * SUN")]),
    (
        "several",
        &[("0 8 * * MON", "0 17 * * THU"), ("0 22 * * SAT", "0 2 * * SUN"), ("0 12 1 * *", "0 12 2 * *")],
    ),
];

/// A stretch of time in seconds.
type Stretch = (i64, i64);

fn utc(second: i64) -> String {
    Timestamp::from_second(second).unwrap().strftime("%Y-%m-%dT%H:%M+00:00").to_string()
}

/// Random stretches of some hours, in the grid of the gate's runs.
fn stretches(random: &mut Random, count: usize, hours: u64) -> Vec<Stretch> {
    let ticks = (YEARS.1 - YEARS.0) as u64 / 300 - hours * 12;
    (0..count)
        .map(|_| {
            let open = YEARS.0 + random.below(ticks) as i64 * 300;
            (open, open + (1 + random.below(hours * 12)) as i64 * 300)
        })
        .collect()
}

/// What a zone is asked about.
struct Question {
    zone: String,
    freezes: Vec<Stretch>,
    overrides: Vec<Stretch>,
    /// The first and the last day of a freeze.
    days: [jiff::civil::Date; 2],
}

impl Question {
    fn new(zone: &Zone, random: &mut Random) -> Question {
        // Often in the weeks in which clocks change.
        let (month, day) = [(3, 29), (10, 25), (4, 5), (9, 27), (12, 18)][random.below(5) as usize];
        let first = date(2027 + random.below(8) as i16, month, day);
        let last = first.checked_add(jiff::Span::new().days(random.below(20) as i64)).unwrap();
        Question {
            zone: zone.name.clone(),
            freezes: stretches(random, 12, 24 * 9),
            overrides: stretches(random, 12, 30),
            days: [first, last],
        }
    }

    fn spec(&self) -> String {
        let mut text =
            format!("apiVersion: gitops-windows/v1\ntimeZone: {:?}\ntypes:\n  rt: {{}}\n", self.zone);
        let names = |count: usize, name: &str| {
            (0..count).map(|at| format!("{name}-{at}")).collect::<Vec<_>>().join(", ")
        };
        for (name, pairs) in WINDOWS {
            text += &format!("  {name}: {{ window: [{}] }}\n", names(pairs.len(), name));
        }
        text += "windows:\n";
        for (name, pairs) in WINDOWS {
            for (at, (open, close)) in pairs.iter().enumerate() {
                text += &format!("  {name}-{at}: {{ open: {open:?}, close: {close:?} }}\n");
            }
        }
        text += "clusters: { a: {} }\ngate: { mechanism: follow, every: 5m, from: 2026-01-01, through: 2035-12-31 }\n";
        text +=
            &format!("freezes:\n  days: {{ from: {}, to: {}, reason: days }}\n", self.days[0], self.days[1]);
        for (at, (open, close)) in self.freezes.iter().enumerate() {
            text +=
                &format!("  f-{at}: {{ from: \"{}\", to: \"{}\", reason: x }}\n", utc(*open), utc(*close));
        }
        text += "overrides:\n";
        for (open, close) in &self.overrides {
            for (name, _) in WINDOWS {
                let times = format!("from: \"{}\", until: \"{}\"", utc(*open), utc(*close));
                text += &format!("- {{ cluster: a, type: {name}, {times}, reason: x }}\n");
            }
        }
        text
    }

    /// The tables that the program compiles, by type.
    fn tables(&self) -> BTreeMap<String, Vec<Stretch>> {
        let spec = parse(&RepoPath::parse("windows.yaml").unwrap(), self.spec().as_bytes());
        let spec = spec.unwrap_or_else(|error| panic!("{}: {error:?}", self.zone)).spec;
        let jobs = mechanism::of(MechanismName::Follow).jobs(&spec);
        let tables =
            jobs.unwrap_or_else(|error| panic!("{}: {error:?}", self.zone)).tables.remove("a").unwrap();
        let line = |line: &String| {
            let mut words = line.split(' ').map(str::parse::<i64>);
            let stretch = (words.next()?.ok()?, words.next()?.ok()?);
            (stretch.0 < stretch.1).then_some(stretch)
        };
        tables
            .into_iter()
            .map(|(position, lines)| {
                (spec.types[position].name.value.clone(), lines.iter().filter_map(line).collect())
            })
            .collect()
    }
}

/// Returns the first second of each of some days in a zone, by the offsets that Go has.
fn days(robfig: &Robfig, zone: &str, days: &[jiff::civil::Date]) -> Vec<i64> {
    // A day begins at most 15 hours from where it does in UTC, at a quarter of an hour.
    let candidates: Vec<Vec<i64>> = days
        .iter()
        .map(|day| {
            let middle = day.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp().as_second();
            (-60..=60).map(|quarter| middle + quarter * 900).collect()
        })
        .collect();
    let lines: Vec<String> = candidates.iter().flatten().map(|second| format!("{zone}\t{second}")).collect();
    let (offsets, _) = robfig.ask(Database::Ours, &["-offsets"], &lines);
    let mut offsets = offsets.iter().map(|offset| offset.parse::<i64>().unwrap());
    candidates
        .iter()
        .zip(days)
        .map(|(candidates, day)| {
            let middle = day.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp().as_second();
            let begins = |second: &i64| offsets.next().unwrap() + second >= middle;
            let seen: Vec<bool> = candidates.iter().map(begins).collect();
            candidates[seen.iter().position(|begins| *begins).unwrap()]
        })
        .collect()
}

/// Says when something is open: while a window or an override is, and no freeze.
fn judge(
    windows: &[(Vec<i64>, Vec<i64>)],
    given: &[Stretch],
    frozen: &[Stretch],
    bounds: Stretch,
) -> Vec<Stretch> {
    let mut steps: Vec<(i64, i32, i32)> = Vec::new();
    for (opens, closes) in windows {
        let mut close = closes.iter().peekable();
        let mut open_until = i64::MIN;
        for open in opens {
            while close.next_if(|close| **close < *open).is_some() {}
            // What closes in the same moment wins.
            if *open < open_until || close.peek() == Some(&open) {
                continue;
            }
            let Some(end) = close.peek() else { continue };
            open_until = **end;
            steps.extend([(*open, 1, 0), (open_until, -1, 0)]);
        }
    }
    steps.extend(given.iter().flat_map(|(open, close)| [(*open, 1, 0), (*close, -1, 0)]));
    steps.extend(frozen.iter().flat_map(|(open, close)| [(*open, 0, 1), (*close, 0, -1)]));
    steps.sort_unstable_by_key(|step| step.0);
    let (mut open, mut freezes, mut since) = (0, 0, None);
    let mut found = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        (open, freezes) = (open + step.1, freezes + step.2);
        if steps.get(at + 1).is_some_and(|next| next.0 == step.0) {
            continue;
        }
        match (open > 0 && freezes == 0, since) {
            (true, None) => since = Some(step.0),
            (false, Some(begun)) => {
                found.push((begun, step.0));
                since = None;
            }
            _ => {}
        }
    }
    let cut = found.into_iter().map(|(open, close)| (open.max(bounds.0), close.min(bounds.1)));
    cut.filter(|(open, close)| open < close).collect()
}

/// Returns the offset of a zone as the years begin for which firings are asked, and each that follows, with its second.
fn clocks(zone: &Zone) -> Vec<(i64, i32)> {
    let before: Timestamp = BEFORE.parse().unwrap();
    let first = (before.as_second(), zone.zone.to_offset(before).seconds());
    let changes =
        zone.zone.following(before).map(|change| (change.timestamp().as_second(), change.offset().seconds()));
    let last = YEARS.1 + 366 * 86_400;
    [first].into_iter().chain(changes.take_while(|(second, _)| *second < last)).collect()
}

#[test]
fn tables_of_ten_years_are_what_robfig_cron_fires_without_the_freezes() {
    let Some(robfig) = robfig() else { return };
    let zones = cases::zones();
    // Those of which the clocks agree in these years are one to both sides: the first stands for them.
    let mut seen = BTreeSet::new();
    let distinct: Vec<&Zone> = zones.iter().filter(|zone| seen.insert(clocks(zone))).collect();
    // All of them before a merge.
    let step = if wanted_cases() > EVERYDAY { 1 } else { distinct.len() / 16 };
    let mut random = Random::new(20);
    let questions: Vec<Question> =
        distinct.into_iter().step_by(step).map(|zone| Question::new(zone, &mut random)).collect();
    let expressions: Vec<(&str, usize)> = WINDOWS
        .iter()
        .flat_map(|(_, pairs)| pairs.iter().flat_map(|(open, close)| [*open, *close]))
        // Eleven years and a little: where clocks go back over midnight, some fire twice.
        .map(|expression| (expression, if expression.ends_with("* * *") { 4_200 } else { 640 }))
        .collect();
    let mut intervals = 0;
    let mut wrong = Vec::new();
    for question in &questions {
        let line = |(expression, count): &(&str, usize)| {
            format!("{expression}\t{}\t{BEFORE}\t{count}", question.zone)
        };
        let (answers, _) = robfig.ask(Database::Ours, &[], &expressions.iter().map(line).collect::<Vec<_>>());
        let second = |text: &str| text.parse::<Timestamp>().unwrap().as_second();
        let mut firings = answers.iter().map(|answer| answer.split(' ').map(second).collect::<Vec<i64>>());
        let [first, last] = question.days;
        let ends = [first, last.tomorrow().unwrap(), date(2026, 1, 1), date(2036, 1, 1)];
        let ends = days(robfig, &question.zone, &ends);
        let mut frozen = question.freezes.clone();
        frozen.push((ends[0], ends[1]));
        let mut tables = question.tables();
        for (name, pairs) in WINDOWS {
            let windows: Vec<_> =
                pairs.iter().map(|_| (firings.next().unwrap(), firings.next().unwrap())).collect();
            let theirs = judge(&windows, &question.overrides, &frozen, (ends[2], ends[3]));
            let ours = tables.remove(name).unwrap();
            intervals += ours.len();
            if ours != theirs {
                let differs = |at: &usize| ours.get(*at) != theirs.get(*at);
                let at = (0..ours.len().max(theirs.len())).find(differs).unwrap();
                let show = |all: &[Stretch]| all.get(at).map(|one| (utc(one.0), utc(one.1)));
                wrong.push(format!(
                    "{} {name}: ours {:?}, theirs {:?}",
                    question.zone,
                    show(&ours),
                    show(&theirs)
                ));
            }
        }
    }
    eprintln!(
        "{intervals} intervals of ten years in {} zones that stand for {}: {} tables differ",
        questions.len(),
        zones.len(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong[..wrong.len().min(20)].join("\n"));
    assert!(intervals > questions.len() * 4_000, "the tables hold something");
}
