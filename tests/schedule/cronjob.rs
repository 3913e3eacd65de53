//! The validation rules of CronJobs, each with its source in Kubernetes 1.34.

use gitops_windows::schedule::{CronExpr, batch_line, zone};

/// `pkg/apis/batch/validation`, `validateScheduleFormat`, and robfig/cron v3.0.1 `parser.go`.
#[test]
fn schedules() {
    for good in [
        "* * * * *",
        "0 8 * * MON",
        "0 8 * * mon-FRI",
        "? ? ? ? ?",
        "5/15 * * * *",
        "*/70 * * * *",
        "08 007 * * *",
        "+5 * * * *",
        ", * * * *",
        "0 0 31 2 *",
        "@daily",
        "@every 1h30m",
        "  0 8 * *\t1 ",
        "*-9 * * * *",
        "0 0 * * FR\u{130}",
    ] {
        assert!(CronExpr::parse(good).is_ok(), "{good}");
    }
    for (bad, span, help) in [
        ("", 0..0, "five fields"),
        ("0 8 * * 7", 8..9, "write `SUN`"),
        ("0 8 * * FRI-SUN", 8..15, "write `FRI,SAT,SUN`"),
        ("0 8 * * MONDAY", 8..14, "write `MON`"),
        ("0 8 * JANUARY *", 6..13, "write `JAN`"),
        ("0 8 L * *", 4..5, "no `L`"),
        ("0 8 * * MON#1", 8..13, "no `#`"),
        ("0 8 * * 5L", 8..10, "the weekday alone: `FRI`"),
        ("0 8 * * FRIL", 8..12, "the weekday alone: `FRI`"),
        ("0 8 * * FRIL", 8..12, "or write the window with `on: last Fri of month`"),
        (
            "0 8 * * FRI#2",
            8..13,
            "the weekday alone: `FRI`\nor write the window with `on: second Fri of month`",
        ),
        // A fifth week does not come in every month.
        ("0 8 * * TUE#5", 8..13, "the weekday alone: `TUE`"),
        ("0 0 8 * * MON", 0..13, "five fields"),
        ("@reboot", 0..7, "@yearly"),
        ("@every 1d", 7..9, "`@every 1h30m`"),
        (" @daily", 0..7, "write minute"),
        ("TZ=UTC 0 8 * * *", 0..2, "timeZone"),
        ("CRON_TZ=UTC 0 8 * * *", 5..7, "timeZone"),
        ("TZ=UTC", 0..2, "timeZone"),
        ("0 8,24,9 * * *", 4..6, ""),
        ("0 8 1,0-5 * *", 6..9, ""),
    ] {
        let error = CronExpr::parse(bad).expect_err(bad);
        assert_eq!(error.span, span, "{bad}");
        assert!(error.help.unwrap_or_default().contains(help), "{bad}");
    }
}

/// `pkg/apis/batch/validation`, `validateTimeZone`.
#[test]
fn zones() {
    for good in [
        "UTC",
        "Etc/UTC",
        "Europe/Berlin",
        "America/Argentina/Buenos_Aires",
        "EST5EDT",
        "Etc/GMT+12",
        "GB-Eire",
    ] {
        assert!(zone::parse(good).is_ok(), "{good}");
    }
    for (bad, suggestion) in [
        ("", None),
        ("Local", None),
        ("local", None),
        ("europe/berlin", Some("Europe/Berlin")),
        ("utc", Some("UTC")),
        ("Europe/Berlni", Some("Europe/Berlin")),
        ("Berlin", Some("Europe/Berlin")),
        ("Asia/Berlin", Some("Europe/Berlin")),
        ("America/New York", Some("America/New_York")),
        ("Etc/Unknown", None),
        ("../etc/passwd", None),
        ("/UTC", Some("Etc/UTC")),
        ("Europe/Berlin ", Some("Europe/Berlin")),
        ("+02:00", None),
    ] {
        let error = zone::parse(bad).expect_err(bad);
        if bad == "Etc/Unknown" {
            continue;
        }
        assert_eq!(error.suggestion.as_deref(), suggestion, "{bad}");
    }
    assert!(zone::parse(&"x".repeat(100_000)).is_err());
}

/// What `cron -` answers.
#[test]
fn batch_lines() {
    for (line, answer) in [
        ("", "error"),
        ("\t\t\t", "error"),
        ("0 8 * * MON", "error"),
        ("0 8 * * MON\tUTC\t2026-11-21T00:00:00Z", "error"),
        ("0 8 * * MON\tUTC\t2026-11-21T00:00:00Z\t1\t", "error"),
        ("0 8 * * MON\tutc\t2026-11-21T00:00:00Z\t1", "error"),
        ("0 8 * * MON\tUTC\t2026-11-21T00:00:00\t1", "error"),
        ("0 8 * * MON\tUTC\t2026-11-21T00:00:00Z\t-1", "error"),
        ("0 8 * * MON\tUTC\t2026-11-21T00:00:00Z\t1000001", "error"),
        ("0 8 * * MON\tUTC\t2026-11-21T00:00:00Z\t0", "error"),
        ("0 8 * * MON\tUTC\t2026-11-21T00:00:00Z\t2", "2026-11-23T08:00:00Z 2026-11-30T08:00:00Z"),
        // Strictly after, and a fraction of a second counts for nothing.
        ("0 8 * * MON\tUTC\t2026-11-23T08:00:00Z\t1", "2026-11-30T08:00:00Z"),
        ("0 8 * * MON\tUTC\t2026-11-23T07:59:59.999999999Z\t1", "2026-11-23T08:00:00Z"),
        ("0 8 * * MON\tUTC\t2026-11-23T09:00:00+01:00\t1", "2026-11-30T08:00:00Z"),
        ("0 0 31 2 *\tUTC\t2026-11-21T00:00:00Z\t3", "never"),
        ("@every 1h30m\tUTC\t2026-11-21T00:00:00.9Z\t2", "2026-11-21T01:30:00Z 2026-11-21T03:00:00Z"),
        ("0 0 29 2 *\tUTC\t1896-03-01T00:00:00Z\t1", "never"),
        ("0 0 1 1 *\tUTC\t9999-06-01T00:00:00Z\t1", "10000-01-01T00:00:00Z"),
        ("0 0 1 1 *\tEurope/Berlin\t0000-06-01T00:00:00Z\t1", "0000-12-31T23:06:32Z"),
        // The night in which 02:30 comes twice, and the one in which it does not come.
        ("30 2 * * SUN\tEurope/Berlin\t2026-10-25T00:00:00Z\t2", "2026-10-25T00:30:00Z 2026-10-25T01:30:00Z"),
        ("30 2 * * SUN\tEurope/Berlin\t2027-03-21T12:00:00Z\t1", "2027-04-04T00:30:00Z"),
        // Egypt has no midnight on the last Friday of April: the whole day is passed over.
        ("0 22 * * FRI\tAfrica/Cairo\t2027-04-24T00:00:00Z\t1", "2027-05-07T19:00:00Z"),
    ] {
        assert_eq!(batch_line(line), answer, "{line:?}");
    }
}
