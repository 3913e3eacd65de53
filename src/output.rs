//! The only place that prints: results to stdout, everything else to stderr.

use std::io::{IsTerminal, Write};

use crate::cli::{Color, Global};
use crate::diagnostic::{Diagnostic, Severity, clean, render};

/// The two streams and how to write to them.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    stdout_color: bool,
    stderr_color: bool,
    quiet: bool,
    width: usize,
}

impl Output {
    /// Decides colours and width from the options, the terminal and `NO_COLOR`.
    pub fn new(global: &Global) -> Output {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let wanted = |terminal: bool| match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && !no_color,
        };
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let columns = columns.filter(|columns| *columns > 0).or_else(|| {
            terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| usize::from(width))
        });
        Output {
            stdout_color: wanted(std::io::stdout().is_terminal()),
            stderr_color: wanted(std::io::stderr().is_terminal()),
            quiet: global.quiet,
            width: columns.unwrap_or(120),
        }
    }

    /// Tells whether results are coloured.
    pub fn color(&self) -> bool {
        self.stdout_color
    }

    /// Gives the width for results, in characters.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Prints a result. A closed pipe is no error: whoever reads had enough.
    pub fn result(&self, bytes: &[u8]) {
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
    }

    /// Prints a line for people, unless they asked for quiet.
    pub fn say(&self, line: &str) {
        if !self.quiet {
            self.line(line);
        }
    }

    fn line(&self, line: &str) {
        let mut stderr = std::io::stderr().lock();
        let _ = writeln!(stderr, "{}", clean(line));
    }

    /// Prints diagnostics; of a quiet run only errors.
    pub fn diagnostics(&self, diagnostics: &[Diagnostic]) {
        let shown: Vec<Diagnostic> = diagnostics
            .iter()
            .filter(|diagnostic| !self.quiet || diagnostic.severity == Severity::Error)
            .cloned()
            .collect();
        if shown.is_empty() {
            return;
        }
        let text = render(&shown, self.stderr_color, self.width);
        let mut stderr = std::io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes());
    }

    /// Tells whether somebody can be asked.
    pub fn can_ask(&self) -> bool {
        std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Asks for a line; `None` at the end of input.
    pub fn ask(&self, question: &str) -> Option<String> {
        let mut stderr = std::io::stderr().lock();
        let _ = write!(stderr, "{} ", clean(question)).and_then(|()| stderr.flush());
        let mut answer = String::new();
        match std::io::stdin().read_line(&mut answer) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(answer.trim().to_owned()),
        }
    }
}
