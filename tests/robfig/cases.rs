//! Random lines for both evaluators, the same in every run.

use gitops_windows::schedule::zone;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::odd::{EXPRESSIONS, FIELDS, STARTS, ZONES};

/// A small generator (SplitMix64), so that the cases are the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    /// True so many times in a hundred.
    fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// A zone with the instants at which its clocks change from 1970 to 2037.
pub struct Zone {
    pub name: String,
    pub zone: TimeZone,
    transitions: Vec<i64>,
    /// Instants at which the local clock jumps over a whole day.
    skipped_days: Vec<i64>,
}

pub fn zones() -> Vec<Zone> {
    let start: Timestamp = "1970-01-01T00:00:00Z".parse().unwrap();
    let end: Timestamp = "2038-01-01T00:00:00Z".parse().unwrap();
    let read = |name: String| {
        let zone = zone::parse(&name).unwrap();
        let (mut transitions, mut skipped_days) = (Vec::new(), Vec::new());
        let mut offset = zone.to_offset(start);
        for transition in zone.following(start).take_while(|transition| transition.timestamp() < end) {
            let second = transition.timestamp().as_second();
            transitions.push(second);
            if transition.offset().seconds() - offset.seconds() >= 23 * 3600 {
                skipped_days.push(second);
            }
            offset = transition.offset();
        }
        Zone { name, zone, transitions, skipped_days }
    };
    zone::names().into_iter().map(read).collect()
}

impl Zone {
    /// Returns whether a search of five years may meet a day that the clocks skip.
    pub fn skips_a_day_after(&self, from: i64) -> bool {
        self.skipped_days.iter().any(|&day| from < day + 2 * 86_400 && day < from + 6 * 366 * 86_400)
    }
}

/// One line and where it came from.
pub struct Case {
    pub line: String,
    pub expr: String,
    /// Index into the zones; `None` for a zone that is none.
    pub zone: Option<usize>,
    pub from: i64,
}

pub fn case(random: &mut Random, zones: &[Zone]) -> Case {
    let index = random.below(zones.len() as u64) as usize;
    let zone = &zones[index];
    let from = match zone.transitions.len() {
        0 => random.between(0, 2_145_916_800),
        // Two of three starts lie just before a change of the clocks, or in it.
        count if random.percent(66) => {
            let transition = zone.transitions[random.below(count as u64) as usize];
            match random.below(3) {
                0 => transition + random.between(-7200, 7200),
                1 => transition - random.between(0, 2 * 86_400),
                _ => transition - random.between(0, 40 * 86_400),
            }
        }
        _ => random.between(0, 2_145_916_800),
    };
    let expr = expression(random);
    if random.percent(2) {
        let (mut name, mut start) = (zone.name.as_str(), "2026-03-29T00:00:00Z");
        let mut count = "5";
        match random.below(3) {
            0 => name = random.pick(ZONES),
            1 => start = random.pick(STARTS),
            _ => count = random.pick(&["", "0", "-1", "x", "1.5", "99999999999999999999", "5 "]),
        }
        let known = zones.iter().position(|zone| zone.name == name);
        let line = format!("{expr}\t{name}\t{start}\t{count}");
        return Case { line, expr, zone: known, from: 1_774_742_400 };
    }
    let line = format!("{expr}\t{}\t{}\t5", zone.name, start(random, from));
    Case { line, expr, zone: Some(index), from }
}

/// Writes an instant with some offset and sometimes a fraction of a second.
fn start(random: &mut Random, second: i64) -> String {
    let offset = match random.below(4) {
        0 => random.between(-14 * 4, 14 * 4) * 900,
        _ => 0,
    };
    let local = Timestamp::from_second(second + offset).unwrap();
    let local = local.to_string();
    let fraction = random.pick(&["", "", "", ".000000001", ".5", ".999999999"]);
    let zone = match offset {
        0 => "Z".to_owned(),
        _ => {
            let sign = if offset < 0 { '-' } else { '+' };
            format!("{sign}{:02}:{:02}", offset.abs() / 3600, offset.abs() / 60 % 60)
        }
    };
    format!("{}{fraction}{zone}", local.trim_end_matches('Z'))
}

pub fn expression(random: &mut Random) -> String {
    match random.below(100) {
        0..5 => random.pick(EXPRESSIONS).to_owned(),
        5..9 => {
            let mut fields: Vec<String> = (0..5).map(|field| self::field(random, field)).collect();
            let at = random.below(5) as usize;
            fields[at] = random.pick(FIELDS).to_owned();
            fields.join(" ")
        }
        9..11 => {
            // A valid expression with one character changed.
            let mut text: Vec<char> = fields(random).chars().collect();
            let at = random.below(text.len() as u64) as usize;
            text[at] =
                *random.pick(&[&'*', &'/', &'-', &',', &' ', &'7', &'L', &'#', &'0', &'x', &'?', &'@']);
            text.into_iter().collect()
        }
        _ => fields(random),
    }
}

fn fields(random: &mut Random) -> String {
    let fields: Vec<String> = (0..5).map(|field| self::field(random, field)).collect();
    fields.join(" ")
}

const NAMES: [&[&str]; 2] = [
    &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"],
    &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"],
];

fn field(random: &mut Random, field: usize) -> String {
    let (low, high) = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)][field];
    if random.percent(if field >= 2 { 55 } else { 12 }) {
        return random.pick(&["*", "*", "*", "?"]).to_owned();
    }
    let value = |random: &mut Random| {
        // The hours in which clocks change, and the edges of the field.
        let value = match (field, random.below(4)) {
            (1, 0 | 1) => random.between(0, 4),
            (_, 0) => *random.pick(&[&low, &high]),
            _ => random.between(low, high),
        };
        let names = NAMES.get(field.wrapping_sub(3)).filter(|_| random.percent(40));
        match names.and_then(|names| names.get((value - low) as usize)) {
            Some(name) if random.percent(50) => (name.to_ascii_lowercase(), value),
            Some(name) => ((*name).to_owned(), value),
            None => (value.to_string(), value),
        }
    };
    let items = *random.pick(&[&1, &1, &1, &1, &2, &3]);
    let mut list = Vec::new();
    for _ in 0..items {
        let mut item = match random.below(10) {
            0..6 => value(random).0,
            6..8 => {
                let (mut first, mut last) = (value(random), value(random));
                if first.1 > last.1 {
                    (first, last) = (last, first);
                }
                format!("{}-{}", first.0, last.0)
            }
            8 => "*".to_owned(),
            _ => random.pick(&["*", "?"]).to_owned(),
        };
        if random.percent(25) {
            item.push('/');
            item.push_str(random.pick(&["1", "2", "3", "4", "5", "7", "10", "15", "29", "31", "70"]));
        }
        list.push(item);
    }
    list.join(",")
}
