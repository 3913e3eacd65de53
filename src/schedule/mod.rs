//! Schedules exactly as Kubernetes fires them, and the windows that pairs of them make.
//!
//! Nothing here reads a clock, a file or the machine's time zone: every question takes the instant it is
//! asked for. Zones come from the time zone database inside the program.
//!
//! * [`CronExpr`] is a CronJob's `schedule`, [`zone::parse`] its `timeZone`.
//! * [`Window`] is what the spec says: `open` and `close`, `open` and `for`, `from` and `to`, or `on`, `from` and `for`.
//!   Each has [`WindowEdges`], and all but the last a [`CronPair`], which is what CronJobs get.
//! * [`slots`] are the same as triggers with a length each, which is what Flux Operator gets.
//! * [`Timeline`] is what those CronJobs do: when the gate is open and when it changes.
//! * [`OpenTimes`] is when a gate is open that asks a table: windows, freezes and overrides.
mod batch;
mod cron;
mod deadline;
mod dst;
mod field;
mod firing;
mod go_duration;
mod ical;
mod interval;
mod later;
mod length;
pub mod lint;
mod local;
mod moment;
mod month_day;
mod open_times;
pub mod outage;
mod pair;
mod recurrence;
mod resolve;
mod said;
mod settle;
mod shown;
mod slots;
mod week_time;
mod window;
pub mod zone;

pub use batch::batch_line;
pub use cron::{CronError, CronExpr};
pub use deadline::{Deadline, Deadlines, deadlines, reference};
pub use dst::{ClockEffect, ClockHit, clock_hits};
pub use firing::Firings;
pub use ical::{CalendarError, Event, events, is_reckoned};
pub use interval::{Interval, Intervals, Timeline};
pub use length::{Length, LengthError};
pub use moment::Moment;
pub use month_day::{MonthDay, MonthDayError, TimeOfDay};
pub use open_times::{Changing, OpenTimes, Stretch};
pub use pair::CronPair;
pub use recurrence::{Monthly, Recurrence, WindowEdges};
pub use said::{SPOKEN, Said, Unreal};
pub use settle::Settle;
pub use shown::{minute, moment, utc, zone_name};
pub use slots::{Slot, slots};
pub use week_time::{WeekTime, WeekTimeError};
pub use window::{Window, WindowError, WindowForm, WindowKey};
