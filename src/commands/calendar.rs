//! `calendar`.

use clap::{Args, ValueEnum};
use jiff::ToSpan;

use crate::calendar::{self, ics, svg, text};
use crate::cli::Global;
use crate::commands::apply::Exit;
use crate::commands::clock;
use crate::commands::renderer::on_demand;
use crate::commands::workspace::Workspace;
use crate::delivery::fleet::{Fleet, Schedules};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::when::unknown_clusters;

/// Arguments of `calendar`.
#[derive(Args, Debug)]
pub struct Calendar {
    /// Only this cluster (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// The first day, for example 2026-03-23, or a time in RFC 3339 [default: today]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// How many days
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=3660))]
    pub days: u16,
    /// The time zone of the days, for example Europe/Berlin [default: that of this machine]
    #[arg(long, value_name = "ZONE")]
    pub time_zone: Option<String>,
    /// The form
    #[arg(long, value_enum, default_value_t)]
    pub format: CalendarFormat,
}

/// The forms of a calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CalendarFormat {
    /// A timeline for the terminal
    #[default]
    Text,
    /// A picture
    Svg,
    /// An iCalendar file (RFC 5545)
    Ics,
}

/// The most times of one row that a timeline is made of, and that are written to a file: a daily window over the
/// longest range is written whole, and no file is larger than calendar programs and browsers open.
const MOST_DRAWN: usize = 20_000;
const MOST_WRITTEN: usize = 4_000;

/// Runs the command.
pub fn run(global: &Global, arguments: &Calendar, output: &Output) -> Result<Exit, Error> {
    let now = clock::now(global)?;
    let zone = match &arguments.time_zone {
        Some(name) => clock::zone("--time-zone", name)?,
        None => clock::local(),
    };
    let from = match &arguments.from {
        Some(text) => clock::instant_or_date("--from", text, &zone)?,
        None => now.to_zoned(zone.clone()).start_of_day().map(|day| day.timestamp()).unwrap_or(now),
    };
    // Days are those of the clock: one of them may have 23 or 25 hours.
    let to = from.to_zoned(zone.clone()).checked_add(i64::from(arguments.days).days());
    let to = to.map_err(|_| {
        let problem = Diagnostic::error("--days: the last day is after the year 9999");
        Error::new(ErrorKind::Usage, problem.help("begin earlier, or show fewer days"))
    })?;
    let to = to.timestamp();
    let workspace = Workspace::open(global, output)?;
    let spec = workspace.spec(output)?;
    let model = workspace.model(Some(&spec), on_demand(global, output).as_ref());
    let schedules =
        Schedules::new(&spec).map_err(|diagnostics| Error { kind: ErrorKind::Invalid, diagnostics })?;
    let fleet = Fleet::new(&spec, &model, &schedules);
    let unknown = unknown_clusters(&fleet, &arguments.clusters);
    if !unknown.is_empty() {
        return Err(Error { kind: ErrorKind::Usage, diagnostics: unknown });
    }
    let asked = |cluster: &&String| arguments.clusters.is_empty() || arguments.clusters.contains(cluster);
    let clusters: Vec<String> = fleet.clusters.iter().filter(asked).cloned().collect();
    let most = if arguments.format == CalendarFormat::Text { MOST_DRAWN } else { MOST_WRITTEN };
    let calendar = calendar::Calendar::new(&spec, &schedules, &clusters, from, to, zone, most);
    for row in calendar.rows.iter().filter(|row| row.is_cut) {
        output.say(&format!(
            "Type {} opens so often that only the first {} times are shown.",
            row.change_type,
            row.times.len()
        ));
    }
    let answer = match arguments.format {
        CalendarFormat::Text => text(&calendar, output.width(), output.color()),
        CalendarFormat::Svg => svg(&calendar),
        CalendarFormat::Ics => ics(&calendar, now),
    };
    output.result(answer.as_bytes());
    Ok(Exit::Clean)
}
