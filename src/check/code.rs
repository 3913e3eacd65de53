//! The codes of findings, equal to docs/codes.md.

use crate::diagnostic::Severity;
use crate::schedule::lint::LintCode;

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The stable code, for example `GW101`.
    pub code: &'static str,
    /// A stable name.
    pub name: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What it is about, in one sentence.
    pub summary: &'static str,
}

const fn code(code: &'static str, name: &'static str, severity: Severity, summary: &'static str) -> Code {
    Code { code, name, severity, summary }
}

/// Every code, in order.
pub const CODES: [Code; 15] = [
    code(
        "GW101",
        "missing-zone",
        Severity::Warning,
        "A window has no time zone, so it opens in the zone of each cluster's controller.",
    ),
    code("GW102", "never-fires", Severity::Error, "An expression does not fire within five years."),
    code(
        "GW103",
        "either-day",
        Severity::Warning,
        "Day of month and day of week are both given, and a day that matches either is enough.",
    ),
    code(
        "GW104",
        "clock-gap",
        Severity::Warning,
        "A change of the clocks skips or moves an opening or closing.",
    ),
    code(
        "GW105",
        "clock-fold",
        Severity::Note,
        "A change of the clocks makes an opening or closing come twice.",
    ),
    code("GW106", "not-alternating", Severity::Warning, "Openings and closings do not take turns."),
    code("GW107", "zero-length", Severity::Error, "A window opens and closes at the same instant."),
    code("GW108", "longer-than-period", Severity::Error, "A window opens again before it has closed."),
    code("GW109", "always-open", Severity::Error, "A window never closes once it has opened."),
    code(
        "GW110",
        "overlap",
        Severity::Warning,
        "The closing of one window of a type closes another one too.",
    ),
    code("GW111", "too-short", Severity::Warning, "A window is shorter than what it gates needs."),
    code("GW112", "rarely-opens", Severity::Warning, "A type opens less often than was asked for."),
    code(
        "GW113",
        "lost-closing",
        Severity::Warning,
        "After a long outage Kubernetes may not make up for a missed closing.",
    ),
    code(
        "GW114",
        "impossible-time",
        Severity::Error,
        "A change of the clocks makes a window of `for`, or of `from` and `to`, do what it does not say.",
    ),
    code(
        "GW115",
        "uneven-times",
        Severity::Note,
        "No deadline is right for every missed opening or closing, so after a long outage a window may stay closed.",
    ),
];

/// Gives the code of a lint of a schedule.
pub fn code_of_lint(lint: LintCode) -> Code {
    let position = match lint {
        LintCode::MissingZone => 0,
        LintCode::NeverFires => 1,
        LintCode::EitherDay => 2,
        LintCode::ClockGap => 3,
        LintCode::ClockFold => 4,
        LintCode::NotAlternating => 5,
        LintCode::ZeroLength => 6,
        LintCode::LongerThanPeriod => 7,
        LintCode::AlwaysOpen => 8,
        LintCode::Overlap => 9,
        LintCode::TooShort => 10,
        LintCode::RarelyOpens => 11,
        LintCode::LostClosing => 12,
        LintCode::UnevenTimes => 14,
    };
    CODES[position]
}

/// The code of a window that a change of the clocks makes impossible.
pub(crate) const IMPOSSIBLE: Code = CODES[13];

#[cfg(test)]
mod tests {
    use super::*;

    const LINTS: [LintCode; 14] = [
        LintCode::MissingZone,
        LintCode::NeverFires,
        LintCode::EitherDay,
        LintCode::ClockGap,
        LintCode::ClockFold,
        LintCode::NotAlternating,
        LintCode::ZeroLength,
        LintCode::LongerThanPeriod,
        LintCode::AlwaysOpen,
        LintCode::Overlap,
        LintCode::TooShort,
        LintCode::RarelyOpens,
        LintCode::LostClosing,
        LintCode::UnevenTimes,
    ];

    #[test]
    fn every_lint_has_the_code_of_its_name() {
        for lint in LINTS {
            assert_eq!(code_of_lint(lint).name, lint.as_str());
        }
    }

    #[test]
    fn codes_are_in_order_and_used_once() {
        assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
    }

    #[test]
    fn the_document_lists_exactly_these_codes() {
        let document = include_str!("../../docs/codes.md");
        let severity = |severity| match severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let rows: Vec<String> = CODES
            .iter()
            .map(|code| {
                format!("| {} | {} | {} | {} |", code.code, code.name, severity(code.severity), code.summary)
            })
            .collect();
        let listed: Vec<&str> = document.lines().filter(|line| line.starts_with("| GW")).collect();
        assert_eq!(listed, rows);
    }
}
