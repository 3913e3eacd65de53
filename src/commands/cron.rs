//! `cron`.

use std::io::{BufRead, BufReader, Read};

use clap::Args;
use jiff::tz::TimeZone;
use serde_json::json;

use crate::cli::{Global, TextFormat};
use crate::commands::apply::Exit;
use crate::commands::clock;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::path::RepoPath;
use crate::schedule::{CronExpr, Moment, batch_line};

/// Arguments of `cron`.
#[derive(Args, Debug)]
pub struct Cron {
    /// The expression; `-` reads lines of EXPR TAB ZONE TAB FROM TAB COUNT. Each is answered with
    /// firings in UTC, `never` or `error`
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    pub expression: String,
    /// The IANA time zone
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    pub time_zone: String,
    /// The time after which to look, such as `2026-11-28 23:00`, or tomorrow [default: now]
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// How many times to print, at most a million
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub count: u64,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: TextFormat,
}

/// The longest line of a batch that is looked at.
const LONGEST_LINE: u64 = 1 << 20;

/// How much is collected before it is printed.
const CHUNK: usize = 1 << 16;

/// Runs the command.
pub fn run(global: &Global, arguments: &Cron, output: &Output) -> Result<Exit, Error> {
    if arguments.expression == "-" {
        batch(&mut BufReader::with_capacity(CHUNK, std::io::stdin().lock()), output);
        return Ok(Exit::Clean);
    }
    let usage = |diagnostic: Diagnostic| Error::new(ErrorKind::Usage, diagnostic);
    let expression = CronExpr::parse(&arguments.expression).map_err(|error| {
        let place = Place {
            path: RepoPath::parse("EXPR").unwrap_or_default(),
            text: Some(arguments.expression.as_str().into()),
            span: Some(error.span.clone()),
        };
        let mut diagnostic = Diagnostic::error(error.to_string()).at(place);
        diagnostic.help = error.help;
        usage(diagnostic)
    })?;
    let zone = clock::zone("--time-zone", &arguments.time_zone)?;
    let from = match &arguments.from {
        // The same years as in a batch; other forms of a time are read as everywhere else.
        Some(text) => {
            let said = || clock::said("--from", text, clock::now(global)?, Some(&zone), false);
            Moment::parse(text).map_or_else(|| said().map(Moment::from), Ok)?
        }
        None => clock::now(global)?.into(),
    };
    if arguments.format == TextFormat::Json {
        let most = usize::try_from(arguments.count).unwrap_or(usize::MAX);
        let times = expression.moments(from, &zone).take(most);
        let times = times.map(|at| json!({ "utc": at.to_string(), "local": at.local(&zone).to_string() }));
        let answer = json!({ "version": 1, "times": times.collect::<Vec<_>>() });
        output.json(&answer);
        return Ok(Exit::Clean);
    }
    let mut last = None;
    let mut lines = String::new();
    let mut left = arguments.count;
    for moment in expression.moments(from, &zone).take(usize::try_from(left).unwrap_or(usize::MAX)) {
        lines.push_str(&format!("{moment}  {}\n", moment.local(&zone)));
        last = Some(moment);
        left -= 1;
        if lines.len() > CHUNK {
            output.result(lines.as_bytes());
            lines.clear();
        }
    }
    output.result(lines.as_bytes());
    if left > 0 {
        output.say(&no_more(&expression, last.unwrap_or(from), &zone));
    }
    Ok(Exit::Clean)
}

/// Says that nothing comes after a moment, as far as Kubernetes looks.
fn no_more(expression: &CronExpr, after: Moment, zone: &TimeZone) -> String {
    let later = match expression.beyond_search(after, zone) {
        Some(later) => format!("The calendar has such a time again at {later}."),
        None => "No later year has such a time either.".to_owned(),
    };
    format!(
        "It does not fire within five years after {after}. Kubernetes looks no further, and the CronJob starts nothing. {later}"
    )
}

/// Answers lines until the input ends, whatever stands in them.
///
/// Answers are printed as soon as no further line has arrived, so that a program can ask one by one.
fn batch(input: &mut BufReader<impl Read>, output: &Output) {
    let mut answers = String::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        let whole = line.last() == Some(&b'\n') || (line.len() as u64) < LONGEST_LINE;
        if whole {
            // What is no UTF-8 is read as the API server reads it, with a mark in its place: robfig/cron does
            // not look at all of an expression.
            let text = String::from_utf8_lossy(&line);
            let text = text.strip_suffix('\n').unwrap_or(&text);
            answers.push_str(&batch_line(text.strip_suffix('\r').unwrap_or(text)));
        } else {
            answers.push_str("error");
            if input.skip_until(b'\n').is_err() {
                break;
            }
        }
        answers.push('\n');
        if answers.len() > CHUNK || !input.buffer().contains(&b'\n') {
            output.result(answers.as_bytes());
            answers.clear();
        }
    }
    output.result(answers.as_bytes());
}
