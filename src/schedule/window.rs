//! A window as the spec writes it, and when it opens and closes.

use std::fmt;

use jiff::tz::TimeZone;

use super::cron::{CronExpr, Fields};
use super::length::Length;
use super::month_day::{MonthDay, TimeOfDay};
use super::pair::{CronPair, NotOne, shifted, shortest_distance};
use super::recurrence::{Monthly, Recurrence, WindowEdges};
use super::week_time::WeekTime;

/// The minutes of four weeks, the shortest time between two days of two months.
const FOUR_WEEKS: i64 = 28 * 24 * 60;

/// Recurring intervals during which a gated type reconciles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The zone of all its times; `None` leaves it to the zone of each cluster's controller, which is
    /// nearly always UTC and is read as UTC here.
    pub zone: Option<TimeZone>,
    /// What the spec says about it.
    pub form: WindowForm,
}

/// The ways to say when a window is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowForm {
    /// `open` and `close`: two cron expressions.
    OpenClose {
        /// Fires when it opens.
        open: CronExpr,
        /// Fires when it closes.
        close: CronExpr,
    },
    /// `open` and `for`: a cron expression and a length of local time.
    OpenFor {
        /// Fires when it opens.
        open: CronExpr,
        /// How long it is open.
        length: Length,
    },
    /// `from` and `to`: two local times of the week. The window may span midnight and the end of the week.
    FromTo {
        /// When it opens.
        from: WeekTime,
        /// When it closes.
        to: WeekTime,
    },
    /// `on`, `from` and `for`: a day of each month, a time of day and a length of local time.
    Monthly {
        /// The day on which it opens.
        on: MonthDay,
        /// When it opens.
        from: TimeOfDay,
        /// How long it is open.
        length: Length,
    },
}

/// The key of a window that a [`WindowError`] or a lint speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WindowKey {
    /// `timeZone`
    TimeZone,
    /// `on`
    On,
    /// `open`
    Open,
    /// `close`
    Close,
    /// `for`
    For,
    /// `from`
    From,
    /// `to`
    To,
}

impl WindowKey {
    /// The keys that say when a window opens and closes, in the order in which they are told.
    pub const TIMES: [WindowKey; 6] =
        [WindowKey::On, WindowKey::Open, WindowKey::Close, WindowKey::From, WindowKey::To, WindowKey::For];

    /// Returns all keys.
    pub fn all() -> impl Iterator<Item = WindowKey> {
        [WindowKey::TimeZone].into_iter().chain(WindowKey::TIMES)
    }

    /// Returns the key as the spec writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            WindowKey::TimeZone => "timeZone",
            WindowKey::On => "on",
            WindowKey::Open => "open",
            WindowKey::Close => "close",
            WindowKey::For => "for",
            WindowKey::From => "from",
            WindowKey::To => "to",
        }
    }
}

/// Why a [`Window`] has no pair of cron expressions that does what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowError {
    /// What is wrong and what it would have caused.
    pub message: String,
    /// Where in the window.
    pub key: WindowKey,
    /// What to write instead.
    pub help: String,
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for WindowError {}

impl fmt::Display for Window {
    /// Writes it for people, for example `Sat 22:00–Sun 02:00 Europe/Berlin`. An expression that fires not just once a week
    /// stands as it is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.form {
            WindowForm::OpenClose { open, close } => write!(f, "{}–{}", spoken(open), spoken(close))?,
            WindowForm::OpenFor { open, length } => write!(f, "{} for {length}", spoken(open))?,
            WindowForm::FromTo { from, to } => write!(f, "{from}–{to}")?,
            WindowForm::Monthly { on, from, length } => write!(f, "{on} {from} for {length}")?,
        }
        match self.zone.as_ref().and_then(TimeZone::iana_name) {
            Some(zone) => write!(f, " {zone}"),
            None => f.write_str(" UTC"),
        }
    }
}

/// Says when an expression fires: as a time of the week where it is one.
fn spoken(expression: &CronExpr) -> String {
    let words: Vec<&str> = expression.as_str().split_whitespace().collect();
    let time = match words[..] {
        [minute, hour, "*", "*", day] => format!("{day} {hour:0>2}:{minute:0>2}").parse::<WeekTime>().ok(),
        _ => None,
    };
    time.map_or_else(|| format!("`{expression}`"), |time| time.to_string())
}

impl Window {
    /// Returns the zone, UTC where none is set.
    pub fn zone_or_utc(&self) -> TimeZone {
        self.zone.clone().unwrap_or(TimeZone::UTC)
    }

    /// Returns when the window opens and closes. What the changes of the clocks do to it is not looked at here; see
    /// [`Window::resolve`].
    ///
    /// # Errors
    ///
    /// Those of [`Window::pair`]; of a monthly window, a length of four weeks, after which it may open again.
    pub fn edges(&self) -> Result<WindowEdges, WindowError> {
        let WindowForm::Monthly { on, from, length } = self.form else {
            return self.pair().map(WindowEdges::from);
        };
        let (from, length) = (from.minutes(), i64::from(length.minutes()));
        if length >= FOUR_WEEKS {
            return Err(WindowError {
                message: format!("the window is open for four weeks, after which the {on} may come again"),
                key: WindowKey::For,
                help: "make `for` shorter than 28d".into(),
            });
        }
        let at = |minutes: i64| Recurrence::Monthly(Monthly { day: on, minutes });
        Ok(WindowEdges { open: at(from), close: at(from + length) })
    }

    /// Returns the expressions of the window's two CronJobs.
    ///
    /// A pair made of `for` or of `from` and `to` opens and closes at exactly those times of the local
    /// clock. What the changes of the clocks do to them is not looked at here; see [`Window::resolve`].
    ///
    /// # Errors
    ///
    /// * `@every`, which counts from the last run and so has no times of its own.
    /// * `for` where no single cron expression fires that much after `open`, or where the window is as long
    ///   as the time between two openings or longer.
    /// * `from` equal to `to`.
    /// * A day of the month, which no cron expression says.
    pub fn pair(&self) -> Result<CronPair, WindowError> {
        match &self.form {
            WindowForm::OpenClose { open, close } => {
                fixed(open, WindowKey::Open)?;
                fixed(close, WindowKey::Close)?;
                Ok(CronPair { open: open.clone(), close: close.clone() })
            }
            WindowForm::OpenFor { open, length } => {
                let close = close_after(open, *length)?;
                Ok(CronPair { open: open.clone(), close })
            }
            WindowForm::FromTo { from, to } => {
                if from == to {
                    return Err(WindowError {
                        message: format!("the window opens and closes at the same time, {from}"),
                        key: WindowKey::To,
                        help: "give `to` another time than `from`; a type without a window is always open"
                            .into(),
                    });
                }
                let cron = |time: &WeekTime, key| {
                    CronExpr::parse(&time.to_cron()).map_err(|error| WindowError {
                        message: error.message,
                        key,
                        help: "write it like `Mon 08:00`".into(),
                    })
                };
                Ok(CronPair { open: cron(from, WindowKey::From)?, close: cron(to, WindowKey::To)? })
            }
            WindowForm::Monthly { on, .. } => Err(WindowError {
                message: format!("no cron expression fires on the {on} alone"),
                key: WindowKey::On,
                help: "use a gate that looks at a table, with `every` and `through`".into(),
            }),
        }
    }

    /// Says which key moves the opening, and which the closing.
    pub(super) fn keys(&self) -> (WindowKey, WindowKey) {
        match self.form {
            WindowForm::OpenClose { .. } => (WindowKey::Open, WindowKey::Close),
            WindowForm::OpenFor { .. } => (WindowKey::Open, WindowKey::For),
            WindowForm::FromTo { .. } => (WindowKey::From, WindowKey::To),
            WindowForm::Monthly { .. } => (WindowKey::From, WindowKey::For),
        }
    }
}

/// Refuses `@every`.
fn fixed(expr: &CronExpr, key: WindowKey) -> Result<&Fields, WindowError> {
    expr.fields().ok_or_else(|| WindowError {
        message: format!(
            "`{expr}` counts from the last run, so nobody can say when it {}s",
            match key {
                WindowKey::Close => "close",
                _ => "open",
            }
        ),
        key,
        help: "write the times in five fields, such as `0 8 * * MON`".into(),
    })
}

/// Makes the closing expression of `open` and `for`.
fn close_after(open: &CronExpr, length: Length) -> Result<CronExpr, WindowError> {
    let fields = fixed(open, WindowKey::Open)?;
    let minutes = i64::from(length.minutes());
    if let Some(distance) = shortest_distance(fields)
        && minutes >= distance
    {
        let distance = u32::try_from(distance).ok().and_then(Length::from_minutes);
        let distance = distance.map_or_else(|| "its period".to_owned(), |distance| distance.to_string());
        return Err(WindowError {
            message: format!("the window is open for {length}, but `{open}` opens it again after {distance}"),
            key: WindowKey::For,
            help: format!("make `for` shorter than {distance}"),
        });
    }
    shifted(open, fields, minutes).map_err(|why| {
        let (reason, help) = match why {
            NotOne::Times => (
                "the closing times are not one list of minutes in one list of hours",
                "use a window for each opening time, or a `for` of whole hours",
            ),
            NotOne::DaysApart => (
                "some closings fall on the day of the opening, others on a later day",
                "use a window for each opening time",
            ),
            NotOne::Days => (
                "the days on which it would close are not one list of days",
                "use weekdays, or days of the month that leave the closing in the same month",
            ),
        };
        WindowError {
            message: format!("no cron expression fires {length} after each `{open}`: {reason}"),
            key: WindowKey::For,
            help: format!("{help}; or write `close` yourself"),
        }
    })
}
