use icalendar::{Calendar, CalendarComponent, CalendarDateTime, Component, DatePerhapsTime};

use super::*;

const HEAD: &str = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\n";

fn file(events: &[&str]) -> String {
    let each =
        |event: &&str| format!("BEGIN:VEVENT\r\nUID:1\r\n{}\r\nEND:VEVENT\r\n", event.replace('\n', "\r\n"));
    format!("{HEAD}{}END:VCALENDAR\r\n", events.iter().map(each).collect::<String>())
}

/// Says what the events of a file are in Berlin, or what is wrong with which text.
fn told(text: &str) -> String {
    let berlin = zone::parse("Europe/Berlin").unwrap();
    match events(text, &berlin) {
        Ok(found) => {
            let show = |at: Timestamp| at.to_zoned(berlin.clone()).strftime("%F %H:%M").to_string();
            let line = |event: Event| {
                format!("{} to {}: {}", show(event.interval.open), show(event.interval.close), event.summary)
            };
            found.into_iter().map(line).collect::<Vec<_>>().join("\n")
        }
        Err(error) => format!("{} at {:?} ({})", error.message, &text[error.span.clone()], error.help),
    }
}

const DAYS: [&str; 3] = [
    "DTSTART;VALUE=DATE:20270101\nDTEND;VALUE=DATE:20270102\nSUMMARY:Neujahr",
    "DTSTART;VALUE=DATE:20270328\nDTEND;VALUE=DATE:20270330\nSUMMARY;LANGUAGE=de:Ostern\\, zwei Tage",
    "DTSTART:20270610T080000Z\nDTEND:20270610T120000Z\nSUMMARY:Release",
];

#[test]
fn days_and_times_are_read() {
    let all = [
        &DAYS[..],
        &[
            "DTSTART;VALUE=DATE:20270501\nSUMMARY:One day without an end",
            "DTSTART;VALUE=DATE:20270501\nDTEND;VALUE=DATE:20270501\nSUMMARY:One that ends as it begins",
            "DTSTART;TZID=America/New_York:20270610T080000\nDURATION:PT1H30M\nSUMMARY:Folded at a\n  place",
            "DTSTART;TZID=\"Europe/Berlin\":20270610T080000\nDTEND:20270611T080000\nBEGIN:VALARM\nDTSTART:1\nDURATION:x\nEND:VALARM",
            "DTSTART;VALUE=DATE:20270601\nSTATUS:CANCELLED\nRRULE:FREQ=YEARLY\nSUMMARY:Not any more",
        ],
    ]
    .concat();
    insta::assert_snapshot!(told(&file(&all)));
    // Other line ends, and a mark of the byte order.
    assert_eq!(told(&file(&DAYS)), told(&format!("\u{feff}{}", file(&DAYS).replace("\r\n", "\n"))));
}

#[test]
fn what_can_not_be_used_is_refused_at_its_line() {
    let bad = [
        "SUMMARY:Without a begin",
        "DTSTART:20270610T080000Z\nSUMMARY:Without an end",
        "DTSTART:20270610T080000Z\nDTEND:20270610T070000Z",
        "DTSTART;VALUE=DATE:20270101\nRRULE:FREQ=YEARLY\nSUMMARY:Neujahr",
        "DTSTART;VALUE=DATE:20270101\nRDATE;VALUE=DATE:20280101",
        "DTSTART;TZID=W. Europe Standard Time:20270610T080000\nDTEND:20270611T080000",
        "DTSTART;VALUE=DATE:20270230",
        "DTSTART:tomorrow\nDTEND:20270611T080000",
        "DTSTART:20270610T080000Z\nDURATION:long",
    ];
    let mut all: Vec<String> = bad.iter().map(|event| told(&file(&[DAYS[0], event]))).collect();
    all.extend(["", "a: b\n", HEAD, "BEGIN:VCALENDAR\nEND:VEVENT\n", &file(&[])].map(told));
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn another_program_reads_the_same() {
    let text = file(&DAYS);
    let ours = events(&text, &TimeZone::UTC).unwrap();
    let calendar: Calendar = text.parse().unwrap();
    let seconds = |time: Option<DatePerhapsTime>| match time.unwrap() {
        DatePerhapsTime::Date(day) => day.and_time(chrono::NaiveTime::MIN).and_utc().timestamp(),
        DatePerhapsTime::DateTime(CalendarDateTime::Utc(time)) => time.timestamp(),
        other => panic!("{other:?}"),
    };
    let theirs: Vec<_> = calendar
        .iter()
        .filter_map(|one| match one {
            CalendarComponent::Event(event) => Some(event),
            _ => None,
        })
        .map(|event| {
            (seconds(event.get_start()), seconds(event.get_end()), event.get_summary().unwrap().to_owned())
        })
        .collect();
    let ours: Vec<_> = ours
        .into_iter()
        .map(|event| (event.interval.open.as_second(), event.interval.close.as_second(), event.summary))
        .collect();
    assert_eq!(ours, theirs);
}
