//! `cron`.

use std::io::BufRead;

use jiff::Timestamp;

use crate::cli::Cron;
use crate::commands::apply::Exit;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::repo::RepoPath;
use crate::schedule::{CronExpr, batch_line, zone};

/// Runs the command.
pub fn run(arguments: &Cron, output: &Output) -> Result<Exit, Error> {
    if arguments.expression == "-" {
        for line in std::io::stdin().lock().split(b'\n') {
            let Ok(line) = line else { break };
            let text = String::from_utf8_lossy(&line);
            output.result(format!("{}\n", batch_line(text.trim_end_matches('\r'))).as_bytes());
        }
        return Ok(Exit::Clean);
    }
    let usage = |diagnostic: Diagnostic| Error::new(ErrorKind::Usage, diagnostic);
    let expression = CronExpr::parse(&arguments.expression).map_err(|error| {
        let place = Place {
            path: RepoPath::parse("EXPR").unwrap_or_default(),
            text: Some(arguments.expression.as_str().into()),
            span: Some(error.span.clone()),
        };
        usage(Diagnostic::error(error.to_string()).at(place))
    })?;
    let zone = zone::parse(&arguments.time_zone)
        .map_err(|error| usage(Diagnostic::error(format!("--time-zone: {error}"))))?;
    let from = match &arguments.from {
        Some(text) => text.parse::<Timestamp>().map_err(|error| {
            usage(
                Diagnostic::error(format!("--from: {error}"))
                    .help("write it as 2026-03-29T00:00:00Z or 2026-03-29T01:00:00+01:00"),
            )
        })?,
        None => Timestamp::now(),
    };
    let mut lines = String::new();
    for firing in expression.firings(from, &zone).take(arguments.count) {
        let local = firing.to_zoned(zone.clone());
        lines.push_str(&format!(
            "{}  {}\n",
            firing.strftime("%Y-%m-%dT%H:%M:%SZ"),
            local.strftime("%a %Y-%m-%d %H:%M:%S %:z")
        ));
    }
    if lines.is_empty() {
        output.say("It never fires.");
    }
    output.result(lines.as_bytes());
    Ok(Exit::Clean)
}
