//! `cron`.

use std::io::{BufRead, BufReader, Read};

use crate::cli::{Cron, Global};
use crate::commands::apply::Exit;
use crate::commands::clock;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::repo::RepoPath;
use crate::schedule::{CronExpr, batch_line};

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
        Some(text) => clock::instant("--from", text)?,
        None => clock::now(global)?,
    };
    let mut fired = false;
    let mut lines = String::new();
    let count = usize::try_from(arguments.count).unwrap_or(usize::MAX);
    for firing in expression.firings(from, &zone).take(count) {
        let local = firing.to_zoned(zone.clone());
        lines.push_str(&format!(
            "{}  {}\n",
            firing.strftime("%Y-%m-%dT%H:%M:%SZ"),
            local.strftime("%a %Y-%m-%d %H:%M:%S %:z")
        ));
        fired = true;
        if lines.len() > CHUNK {
            output.result(lines.as_bytes());
            lines.clear();
        }
    }
    if !fired {
        output.say("It never fires.");
    }
    output.result(lines.as_bytes());
    Ok(Exit::Clean)
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
            let text = std::str::from_utf8(&line).ok().map(|text| text.strip_suffix('\n').unwrap_or(text));
            let text = text.map(|text| text.strip_suffix('\r').unwrap_or(text));
            answers.push_str(&text.map_or_else(|| "error".to_owned(), batch_line));
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
