//! `calendar`.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use crate::calendar::{self, html, ics, json, svg, text};
use crate::cli::Global;
use crate::commands::apply::Exit;
use crate::commands::clock;
use crate::commands::renderer::on_demand;
use crate::commands::workspace::{Workspace, tell_guess};
use crate::delivery::Past;
use crate::delivery::fleet::{Fleet, Schedules};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::schedule::Interval;
use crate::spec::Spec;
use crate::text::ranges;
use crate::when::{Selected, answer, unknown_clusters};

/// Arguments of `calendar`.
#[derive(Args, Debug)]
pub struct Calendar {
    /// Only this cluster (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// The first day, such as 2026-03-23, or a time, such as `2026-03-23 08:00` in the zone of the windows [default: today]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// How many days
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=3660))]
    pub days: u16,
    /// The last day, or the time at which it ends, in place of --days
    #[arg(long, value_name = "TIME", conflicts_with = "days")]
    pub until: Option<String>,
    /// The time zone of the days, for example Europe/Berlin [default: this machine's]
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
    /// A page for a browser
    Html,
    /// An iCalendar file (RFC 5545), to be imported or subscribed to
    Ics,
    /// For programs
    Json,
}

/// The longest range, in days, and how many seconds one has.
const MOST_DAYS: i64 = 3_660;
const DAY: i64 = 86_400;

/// The most times of one row that a timeline is made of, and that are written to a file: a daily window over the
/// longest range is written whole, and no file is larger than calendar programs and browsers open.
const MOST_DRAWN: usize = 20_000;
const MOST_WRITTEN: usize = 4_000;

/// Runs the command.
pub fn run(global: &Global, arguments: &Calendar, output: &Output) -> Result<Exit, Error> {
    let now = clock::now(global)?;
    let given = arguments.time_zone.as_deref().map(|name| clock::zone("--time-zone", name)).transpose()?;
    let zone = given.clone().unwrap_or_else(clock::local);
    let workspace = Workspace::open(global, output)?;
    let spec = workspace.spec(output)?;
    let invalid = |diagnostics| Error { kind: ErrorKind::Invalid, diagnostics };
    let of_windows =
        Schedules::new(&spec).map_err(invalid)?.zone(&spec, &arguments.clusters).or_else(|| spec.zone());
    // A day that somebody names is one of the windows, as with `when`; the days that are shown are those of the machine.
    let zone_of_words = given.or(of_windows).unwrap_or_else(clock::local);
    let said =
        |option: &str, text: &str, is_end: bool| clock::said(option, text, now, Some(&zone_of_words), is_end);
    let (from, zone_of_from) = match &arguments.from {
        Some(text) => (said("--from", text, false)?, &zone_of_words),
        None => (clock::said("--from", "today", now, Some(&zone), false)?, &zone),
    };
    let to = match &arguments.until {
        Some(text) => said("--until", text, true)?,
        None => days_later(from, zone_of_from, arguments.days)?,
    };
    let days = to.as_second().saturating_sub(from.as_second()) / DAY;
    if from >= to || days > MOST_DAYS {
        let problem =
            Diagnostic::error("--until: the last day is not after the first one, or too far from it");
        return Err(Error::new(ErrorKind::Usage, problem.help(format!("show {MOST_DAYS} days at most"))));
    }
    let renderer = on_demand(global, output);
    let model = workspace.model(Some(&spec), renderer.as_ref());
    tell_guess(&model, Some(&spec), output);
    let files = (&workspace.snapshot, &model);
    let history = Past::new(&workspace.repository, "HEAD", files, renderer.as_ref());
    let schedules = Schedules::in_git(&spec, &model, from).map_err(invalid)?.until_applied(
        Some(&spec),
        &model,
        now,
        &history,
    );
    let fleet = Fleet::new(&spec, &model, &schedules);
    let unknown = unknown_clusters(&fleet.known(), &arguments.clusters);
    if !unknown.is_empty() {
        return Err(Error { kind: ErrorKind::Usage, diagnostics: unknown });
    }
    let asked = |cluster: &&String| arguments.clusters.is_empty() || arguments.clusters.contains(cluster);
    let clusters: Vec<String> = fleet.clusters.iter().filter(asked).cloned().collect();
    let most = if arguments.format == CalendarFormat::Text { MOST_DRAWN } else { MOST_WRITTEN };
    let all = Selected { sides: (0..fleet.sides.len()).collect(), ..Selected::default() };
    let answer = answer(&spec, &fleet, &schedules, &all, now, zone.clone());
    let answer = answer.with_history(&model, &schedules, &history);
    workspace.repository.answered()?;
    let unclosed = answer.unclosed();
    let range = Interval { open: from, close: to };
    let calendar = calendar::Calendar::new(&spec, &schedules, &clusters, &unclosed, range, zone, most)
        .without(&fleet.unmoved())
        .without(&fleet.idle(&spec))
        .with_free(&fleet.free(&spec))
        .with_free(&answer.uncome());
    for cluster in fleet.ungated.iter().filter(|cluster| arguments.clusters.contains(cluster)) {
        output.say(&format!("Cluster {cluster} has no window: `hasGate: false` stands in windows.yaml."));
    }
    for row in calendar.rows.iter().filter(|row| row.is_cut) {
        output.say(&format!(
            "Type {} opens so often that only the first {} times are shown.",
            row.change_type,
            row.times.len()
        ));
    }
    let differing: BTreeSet<&str> =
        answer.lines.iter().filter(|line| line.is_otherwise).map(|line| &*line.cluster).collect();
    let differing: Vec<&str> =
        differing.into_iter().filter(|name| clusters.iter().any(|own| own == name)).collect();
    if !differing.is_empty() {
        output.say(&format!(
            "The gates of {} go by other times than windows.yaml says: run `gitops-windows sync`.",
            ranges(differing.into_iter()).join(", ")
        ));
    }
    let answer = match arguments.format {
        CalendarFormat::Text => text(&calendar, output.width(), output.color()),
        CalendarFormat::Svg => svg(&calendar),
        CalendarFormat::Html => html(&calendar, &spec, now),
        CalendarFormat::Ics => ics(&calendar, revised(&workspace, &spec).unwrap_or(now)),
        CalendarFormat::Json => {
            output.json(&json(&calendar));
            return Ok(Exit::Clean);
        }
    };
    output.result(answer.as_bytes());
    Ok(Exit::Clean)
}

/// Days are those of the clock: one of them may have 23 or 25 hours.
fn days_later(from: Timestamp, zone: &TimeZone, days: u16) -> Result<Timestamp, Error> {
    let to = from.to_zoned(zone.clone()).checked_add(i64::from(days).days());
    to.map(|to| to.timestamp()).map_err(|_| {
        let problem = Diagnostic::error("--days: the last day is after the year 9999");
        Error::new(ErrorKind::Usage, problem.help("begin earlier, or show fewer days"))
    })
}

/// Returns when the spec, or a calendar that it names, was last changed, if all of it is as Git has it.
fn revised(workspace: &Workspace, spec: &Spec) -> Option<Timestamp> {
    let file = |path| Some((path, workspace.snapshot.file(path)?));
    let paths = std::iter::once(&workspace.spec_path).chain(spec.calendars.keys());
    workspace.repository.changed_at(&paths.map(file).collect::<Option<Vec<_>>>()?)
}
