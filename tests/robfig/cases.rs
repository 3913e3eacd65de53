//! Random lines for both evaluators, the same in every run.

use gitops_windows::schedule::zone;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Fields that people get wrong, edges of the grammar, and things that other crons understand.
const ODD_FIELDS: &[&str] = &[
    ",",
    ",,5",
    "5,",
    "*/0",
    "*/1",
    "?/1",
    "*/2",
    "*/70",
    "*/-5",
    "+5",
    "-5",
    "05",
    "0005",
    "5/15",
    "5-5",
    "9-5",
    "*-5",
    "*-foo",
    "?-7/2",
    "1-2-3",
    "1/2/3",
    "/",
    "-",
    "1-",
    "-1",
    "60",
    "24",
    "32",
    "0",
    "13",
    "7",
    "L",
    "W",
    "15W",
    "#",
    "MON#1",
    "5L",
    "monday",
    "Sun",
    "sUN",
    "FR\u{130}",
    "fr\u{131}",
    "MON-FRI",
    "FRI-SUN",
    "SUN-SAT",
    "JAN-DEC",
    "jAn",
    "JANUARY",
    "*,1",
    "1,*",
    "*/7,3",
    "99999999999999999999",
    "*/9223372036854775807",
    "1e1",
    "0x5",
    "1_0",
    "é",
    "1,\u{2003}2",
    "",
    "@daily",
    "\u{661}",
    "1.5",
    "%",
    "H",
    "~",
    "0-59",
    "0-23",
    "1-31",
    "1-12",
    "0-6",
    "1-7",
    "0-7",
    "59/1",
    "5-/2",
    "TZ",
    "**",
    "*5",
    "*/",
];

/// Whole expressions of the same kind.
const ODD_EXPRESSIONS: &[&str] = &[
    "",
    " ",
    "@yearly",
    "@annually",
    "@monthly",
    "@weekly",
    "@daily",
    "@midnight",
    "@hourly",
    "@Daily",
    "@reboot",
    "@",
    "@every",
    " @daily",
    "@daily ",
    "@every ",
    "@every 1h",
    "@every  1h",
    "@every 1h ",
    "@every 1h30m",
    "@every 0s",
    "@every -5m",
    "@every 1.5s",
    "@every 1.999999999s",
    "@every 500ms",
    "@every 59.9s",
    "@every 1d",
    "@every 1",
    "@every 0",
    "@every +1h",
    "@every .5h",
    "@every 1.h",
    "@every .h",
    "@every 1us",
    "@every 1µs",
    "@every 1μs",
    "@every 100000000ns",
    "@every 2562047h47m16.854775807s",
    "@every 2562047h47m16.854775808s",
    "@every 9223372036854775808ns",
    "@every -9223372036854775808ns",
    "@every 1h1h1h",
    "@every 0.000000001h",
    "@every 99999999999999999999h",
    "@every 0.99999999999999999999h",
    "@every 876000h",
    "* * * *",
    "* * * * * *",
    "0 0 8 * * MON",
    "* * * * *\n",
    "\u{a0}* * * * *",
    "*\u{85}*\u{3000}*\u{b}*\u{c}*",
    "*  *  *  *  *",
    "0 0 31 2 *",
    "0 0 30 2 *",
    "0 0 29 2 *",
    "0 0 29 2 1",
    "0 0 29 2 */2",
    "0 0 31 4,6,9,11 *",
    "59 23 31 12 *",
    "0 0 1 1 *",
    "30 2 * * *",
    "0 2 * * SUN",
    "30 2 * * SUN",
    "0 0 * * *",
    "0 0 * * FRI",
    "0 22 * * FRI",
    "0 8 * * SAT",
    "0 22 * * SAT",
    "30 0 * * SUN",
    "0 1 1 * *",
    "*/5 * * * *",
    "0 22 1-7 * MON",
    "0 22 */2 * MON",
    "0 0 13 * FRI",
    ", * * * *",
    "* , * * *",
    "* * , * *",
    "* * * , *",
    "* * * * ,",
    "* * , * ,",
    "* * , * 1",
    "* * 1 * ,",
    "TZ=UTC 0 8 * * *",
    "CRON_TZ=UTC 0 8 * * *",
    "TZ=UTC",
    "0 8 * * * TZ=UTC",
];

const ODD_ZONES: &[&str] = &[
    "",
    "Local",
    "local",
    "LOCAL",
    "europe/berlin",
    "EUROPE/BERLIN",
    "Europe/berlin",
    "Europe/Nowhere",
    "utc",
    "Utc",
    "UTC+1",
    "GMT+1",
    "Etc/GMT+1",
    "Etc/GMT-14",
    "Etc/Unknown",
    "+01:00",
    "../UTC",
    "/UTC",
    "Europe/../UTC",
    "Europe//Berlin",
    "Europe/",
    "Europe",
    ".",
    "-",
    "EST5EDT",
    "EST",
    "PST",
    "Berlin",
    " UTC",
    "UTC ",
    "Europe/Berlin\\",
    "Pacific/Apia\u{0}",
];

const ODD_STARTS: &[&str] = &[
    "",
    "2026-03-29",
    "2026-03-29T00:00:00",
    "2026-03-29 00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "2026-03-29T24:00:00Z",
    "2026-03-29T23:59:60Z",
    "2026-03-29T00:60:00Z",
    "2026-03-29T00:00:00.Z",
    "2026-03-29T00:00:00z",
    "20260329T000000Z",
    "2026-03-29T00:00:00+0100",
    "2026-03-29T00:00:00+01",
    "now",
    "2026-00-10T00:00:00Z",
    "2026-01-00T00:00:00Z",
];

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
    /// Says whether a search of five years may meet a day that the clocks skip.
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
            0 => name = random.pick(ODD_ZONES),
            1 => start = random.pick(ODD_STARTS),
            _ => count = random.pick(&["", "-1", "x", "1.5", "99999999999999999999", "5 "]),
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
        0..5 => random.pick(ODD_EXPRESSIONS).to_owned(),
        5..9 => {
            let mut fields: Vec<String> = (0..5).map(|field| self::field(random, field)).collect();
            let at = random.below(5) as usize;
            fields[at] = random.pick(ODD_FIELDS).to_owned();
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
