//! Cron expressions by the grammar that Kubernetes accepts.

use std::fmt;
use std::ops::Range;

use super::field::{self, DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, STAR};
use super::go_duration;

/// A valid `schedule` of a CronJob.
///
/// The grammar is that of robfig/cron v3.0.1 `ParseStandard` (`parser.go`), which Kubernetes calls to
/// validate and to run CronJobs: five fields, or one of `@yearly`, `@annually`, `@monthly`, `@weekly`,
/// `@daily`, `@midnight`, `@hourly`, or `@every` with a Go duration.
///
/// * Fields are minute (0–59), hour (0–23), day of month (1–31), month (1–12 or `JAN`–`DEC`) and day of
///   week (0–6 or `SUN`–`SAT`; 7 is not Sunday), with `*`, `?`, `,`, `-` and `/`. `5/15` is `5-59/15`.
/// * A list item may be empty, and so may a list: `,` matches nothing and never fires.
/// * Where day of month and day of week are both given without the star bit (`*` or `?` without a step
///   above 1), a day matches when **either** does; otherwise when both do.
///
/// # Example
///
/// ```
/// use gitops_windows::schedule::CronExpr;
///
/// assert!(CronExpr::parse("0 8 * * MON").is_ok());
/// assert!(CronExpr::parse("0 8 * * 7").is_err()); // Sunday is 0
/// assert!(CronExpr::parse("0 0 8 * * *").is_err()); // no seconds
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CronExpr {
    text: Box<str>,
    pub(super) rule: Rule,
}

/// When a [`CronExpr`] fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Rule {
    Fields(Fields),
    /// Every so many seconds after the time it is asked for.
    Every(i64),
}

/// The five fields as bit sets, bit `n` standing for the value `n`; robfig's `SpecSchedule`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fields {
    pub(super) minute: u64,
    pub(super) hour: u64,
    pub(super) day_of_month: u64,
    pub(super) month: u64,
    pub(super) day_of_week: u64,
}

impl Fields {
    /// Returns whether a day matches, months apart; robfig's `dayMatches`.
    pub(super) fn day_matches(&self, day: u32, weekday: u32) -> bool {
        let day_of_month = self.day_of_month & (1 << day) != 0;
        let day_of_week = self.day_of_week & (1 << weekday) != 0;
        if self.either_day() { day_of_month || day_of_week } else { day_of_month && day_of_week }
    }

    /// Returns whether it names the same days as another one, in the same way.
    pub(super) fn has_days_of(&self, other: &Fields) -> bool {
        let days = |fields: &Fields| (fields.day_of_month, fields.month | STAR, fields.day_of_week);
        days(self) == days(other)
    }

    /// Returns whether a day of month *or* a day of week is enough.
    pub(super) fn either_day(&self) -> bool {
        (self.day_of_month | self.day_of_week) & STAR == 0
    }
}

/// Why a text is not a [`CronExpr`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CronError {
    /// What is wrong, for people; mostly in the words of the Kubernetes API server.
    pub message: String,
    /// The words of the API server, where they are others.
    pub original: Option<String>,
    /// The bytes of the expression that are wrong.
    pub span: Range<usize>,
    /// What to write instead, where that is known.
    pub help: Option<String>,
}

impl CronError {
    /// Returns what the API server says of it.
    pub fn api_message(&self) -> &str {
        self.original.as_ref().unwrap_or(&self.message)
    }
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CronError {}

impl CronExpr {
    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// Whatever the API server refuses for a CronJob with a time zone: what robfig/cron's `ParseStandard`
    /// refuses, and any `TZ` in the schedule (Kubernetes `pkg/apis/batch/validation`,
    /// `validateScheduleFormat`).
    pub fn parse(text: &str) -> Result<CronExpr, CronError> {
        if text.is_empty() {
            return Err(CronError {
                message: "empty spec string".into(),
                original: None,
                span: 0..0,
                help: Some("write five fields, such as `0 8 * * MON`".into()),
            });
        }
        if let Some(start) = text.find("TZ") {
            return Err(CronError {
                message: "cannot use TZ or CRON_TZ in schedule, use timeZone field instead".into(),
                original: None,
                span: start..start + 2,
                help: Some("set `timeZone` and remove the prefix".into()),
            });
        }
        let rule = if text.starts_with('@') { parse_descriptor(text)? } else { parse_fields(text)? };
        Ok(CronExpr { text: text.into(), rule })
    }

    /// Returns the expression as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the days of the week on which it fires, Sunday as 0; `None` where the day of the month counts, or for
    /// `@every`.
    pub fn days_of_week(&self) -> Option<Vec<usize>> {
        let fields = self.fields().filter(|fields| fields.day_of_month & STAR != 0)?;
        Some((0..7).filter(|day| fields.day_of_week & (1 << day) != 0).collect())
    }

    /// Returns the fields; `None` for `@every`.
    pub(super) fn fields(&self) -> Option<&Fields> {
        match &self.rule {
            Rule::Fields(fields) => Some(fields),
            Rule::Every(_) => None,
        }
    }
}

impl fmt::Display for CronExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn parse_fields(text: &str) -> Result<Rule, CronError> {
    let mut fields = [(0, ""); 5];
    let mut count = 0;
    for word in text.split_whitespace() {
        if let Some(slot) = fields.get_mut(count) {
            // `word` is a slice of `text`, so the difference of their addresses is its offset.
            *slot = (word.as_ptr() as usize - text.as_ptr() as usize, word);
        }
        count += 1;
    }
    if count != 5 {
        let words: Vec<_> = text.split_whitespace().collect();
        let help = match count {
            6 => "a CronJob has no seconds and no years: leave five fields",
            _ => "write minute, hour, day of month, month and day of week, such as `0 8 * * MON`",
        };
        return Err(CronError {
            message: format!("expected exactly 5 fields, found {count}: [{}]", words.join(" ")),
            original: None,
            span: 0..text.len(),
            help: Some(help.into()),
        });
    }
    let [minute, hour, day_of_month, month, day_of_week] = fields;
    Ok(Rule::Fields(Fields {
        minute: field::parse(minute.1, minute.0, &MINUTE)?,
        hour: field::parse(hour.1, hour.0, &HOUR)?,
        day_of_month: field::parse(day_of_month.1, day_of_month.0, &DAY_OF_MONTH)?,
        month: field::parse(month.1, month.0, &MONTH)?,
        day_of_week: field::parse(day_of_week.1, day_of_week.0, &DAY_OF_WEEK)?,
    }))
}

/// robfig/cron v3.0.1 `parser.go`, `parseDescriptor`.
fn parse_descriptor(text: &str) -> Result<Rule, CronError> {
    let same = match text {
        "@yearly" | "@annually" => "0 0 1 1 *",
        "@monthly" => "0 0 1 * *",
        "@weekly" => "0 0 * * 0",
        "@daily" | "@midnight" => "0 0 * * *",
        "@hourly" => "0 * * * *",
        _ => {
            if let Some(duration) = text.strip_prefix("@every ") {
                return go_duration::every(text, duration, text.len() - duration.len()).map(Rule::Every);
            }
            return Err(CronError {
                message: format!("unrecognized descriptor: {text}"),
                original: None,
                span: 0..text.len(),
                help: Some(
                    "use @yearly, @monthly, @weekly, @daily, @hourly, `@every 1h30m`, or five fields".into(),
                ),
            });
        }
    };
    parse_fields(same)
}
