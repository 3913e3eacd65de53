//! The only place that prints: results to stdout, everything else to stderr.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::{Color, Global};
use crate::diagnostic::{Diagnostic, Severity, clean, folded, render, render_all};

/// How long work may take before it is shown, and between two lines about it.
const PATIENCE: Duration = Duration::from_millis(400);

/// The width where nothing says how wide it is, in characters.
const WIDTH: usize = 120;

/// Where something was printed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The results.
    Results,
    /// All that is for people.
    People,
}

/// What was printed, in its order.
pub type Pieces = Vec<(Stream, Vec<u8>)>;

/// What a command printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The results.
    pub stdout: Vec<u8>,
    /// All that is for people.
    pub stderr: Vec<u8>,
}

/// The two streams and how to write to them.
#[derive(Clone, Debug)]
pub struct Output {
    /// Where both go instead of to those of the process, when nobody sits there.
    kept: Option<Arc<Mutex<Pieces>>>,
    /// Why a result could not be printed, as the system says it.
    lost: Arc<OnceLock<String>>,
    stdout_color: bool,
    stderr_color: bool,
    quiet: bool,
    verbose: bool,
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
            kept: None,
            lost: Arc::default(),
            stdout_color: wanted(std::io::stdout().is_terminal()),
            stderr_color: wanted(std::io::stderr().is_terminal()),
            quiet: global.quiet,
            verbose: global.verbose,
            width: columns.unwrap_or(WIDTH),
        }
    }

    /// Keeps what is printed, without colours and for a width in characters, and asks nobody.
    pub fn kept(global: &Global, width: usize) -> Output {
        let kept = Some(Arc::default());
        Output {
            kept,
            lost: Arc::default(),
            stdout_color: false,
            stderr_color: false,
            quiet: global.quiet,
            verbose: global.verbose,
            width,
        }
    }

    /// Returns an output that keeps what is printed, with the colours and the width of this one, and asks nobody.
    pub fn keeping(&self) -> Output {
        let (kept, lost) = (Some(Arc::default()), Arc::default());
        Output { kept, lost, stderr_color: self.stdout_color, ..self.clone() }
    }

    /// Returns what was kept so far, in the order in which it was printed.
    pub fn pieces(&self) -> Pieces {
        let kept = self.kept.as_ref();
        kept.map(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap_or_default()
    }

    /// Returns what was kept so far, by stream.
    pub fn printed(&self) -> Printed {
        let mut printed = Printed::default();
        for (stream, bytes) in self.pieces() {
            match stream {
                Stream::Results => printed.stdout.extend(bytes),
                Stream::People => printed.stderr.extend(bytes),
            }
        }
        printed
    }

    /// Keeps something, if that is wanted.
    fn keep(&self, stream: Stream, bytes: &[u8]) -> bool {
        let Some(kept) = &self.kept else { return false };
        kept.lock().unwrap_or_else(PoisonError::into_inner).push((stream, bytes.to_owned()));
        true
    }

    /// Returns whether results are coloured.
    pub fn color(&self) -> bool {
        self.stdout_color
    }

    /// Returns whether people asked for more than most need.
    pub fn verbose(&self) -> bool {
        self.verbose
    }

    /// Returns the width for results, in characters.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Prints a result. A closed pipe is no error: whoever reads had enough. What else goes wrong, [`lost`](Output::lost)
    /// tells.
    pub fn result(&self, bytes: &[u8]) {
        if self.keep(Stream::Results, bytes) {
            return;
        }
        let mut stdout = std::io::stdout().lock();
        if let Err(error) = stdout.write_all(bytes).and_then(|()| stdout.flush())
            && error.kind() != ErrorKind::BrokenPipe
        {
            let _ = self.lost.set(error.to_string());
        }
    }

    /// Prints JSON to stdout, with escapes in place of what would move the cursor, colour a terminal or turn the direction of
    /// writing there.
    pub fn json(&self, value: &Value) {
        self.result(safe_json(&format!("{value:#}")).as_bytes());
    }

    /// As [`json`](Output::json), on one line.
    pub fn json_line(&self, value: &Value) {
        self.result(safe_json(&value.to_string()).as_bytes());
    }

    /// Returns what is to be said where a part of the results could not be printed.
    pub fn lost(&self) -> Option<Diagnostic> {
        self.lost.get().map(|reason| lost(reason))
    }

    /// Prints what the parser of arguments has to say, be it help or a refusal, and returns the exit code.
    pub fn refusal(error: &clap::Error) -> u8 {
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        match printed {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                // Where this can't be printed either, the exit code says it.
                _ = std::io::stderr().write_all(render(&[lost(&error.to_string())], false, WIDTH).as_bytes());
                3
            }
            _ => u8::try_from(error.exit_code()).unwrap_or(2),
        }
    }

    /// Begins a new page of results: on a terminal the screen is emptied, elsewhere a blank line parts them.
    pub fn page(&self) {
        let is_terminal = self.kept.is_none() && std::io::stdout().is_terminal();
        self.result(if is_terminal { b"\x1b[H\x1b[2J\x1b[3J" } else { b"\n" });
    }

    fn for_people(&self, text: &str) {
        if self.keep(Stream::People, text.as_bytes()) {
            return;
        }
        let mut stderr = std::io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }

    /// Returns whether people asked for quiet.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints a line for people, unless they asked for quiet.
    pub fn say(&self, line: &str) {
        if !self.quiet {
            self.instruct(line);
        }
    }

    /// Prints a line on what people still have to do, asked for quiet or not.
    pub fn instruct(&self, line: &str) {
        self.for_people(&format!("{}\n", clean(line)));
    }

    /// Prints diagnostics; of a quiet run only errors.
    pub fn diagnostics(&self, diagnostics: &[Diagnostic]) {
        self.at_least(Severity::Error, diagnostics);
    }

    /// Prints why something was not done; of a quiet run errors and warnings.
    pub fn refusals(&self, diagnostics: &[Diagnostic]) {
        self.at_least(Severity::Warning, diagnostics);
    }

    /// Prints findings as results.
    pub fn findings(&self, findings: &[Diagnostic]) {
        self.result(self.rendered(findings, self.stdout_color).as_bytes());
    }

    /// Writes diagnostics; what is said of many things is told once, unless people asked for more.
    fn rendered(&self, diagnostics: &[Diagnostic], color: bool) -> String {
        let render = if self.verbose { render_all } else { render };
        render(diagnostics, color, self.width)
    }

    /// Prints diagnostics; of a quiet run those that are as severe.
    fn at_least(&self, least: Severity, diagnostics: &[Diagnostic]) {
        let is_shown = |diagnostic: &&Diagnostic| !self.quiet || diagnostic.severity >= least;
        let shown: Vec<Diagnostic> = diagnostics.iter().filter(is_shown).cloned().collect();
        if shown.is_empty() {
            return;
        }
        self.for_people(&self.rendered(&folded(&shown), self.stderr_color));
    }

    /// Returns what shows on a terminal how far work has come, in a line that goes again; `None` where nobody watches.
    pub fn progress(&self) -> Option<impl Fn(usize, usize) + Send + Sync + use<>> {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_watched = self.kept.is_none() && !self.quiet && !is_dumb && std::io::stderr().is_terminal();
        is_watched.then(|| {
            let shown: Mutex<(Instant, bool)> = Mutex::new((Instant::now(), false));
            move |done: usize, of: usize| {
                let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                let line = match (done == of, done == 1 && of > 1) {
                    (true, _) if !shown.1 => return,
                    (true, _) => String::new(),
                    (false, true) => {
                        *shown = (Instant::now(), false);
                        return;
                    }
                    (false, false) if shown.0.elapsed() < PATIENCE => return,
                    (false, false) => format!("Built {done} of {of} …"),
                };
                *shown = (Instant::now(), done != of);
                let mut stderr = std::io::stderr().lock();
                // Nobody misses a line that can't be shown.
                let _ = write!(stderr, "\r\u{1b}[K{line}").and_then(|()| stderr.flush());
            }
        })
    }

    /// Returns whether somebody can be asked.
    pub fn can_ask(&self) -> bool {
        self.kept.is_none() && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// Asks for a line; `None` at the end of input.
    pub fn ask(&self, question: &str) -> Option<String> {
        self.for_people(&format!("{} ", clean(question)));
        let mut answer = String::new();
        match std::io::stdin().read_line(&mut answer) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(answer.trim().to_owned()),
        }
    }
}

/// Returns JSON as a terminal can show it: what is escaped means the same to a program.
fn safe_json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 1);
    for character in text.chars() {
        // Nothing outside of a string is more than ASCII.
        if character.is_ascii() && character != '\u{7f}'
            || clean(&character.to_string()).starts_with(character)
        {
            safe.push(character);
        } else {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    safe.push('\n');
    safe
}

/// Returns what is to be said where a part of the results could not be printed.
fn lost(reason: &str) -> Diagnostic {
    Diagnostic::error(format!("can't print the whole result: {reason}"))
        .help("free some space or print elsewhere, then run again")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_keeps_a_terminal_safe_and_means_the_same() {
        let value = json!({ "name\u{202e}": "a\u{1b}[31m\u{7f}\u{9b}b\u{e0001} ü\n" });
        for text in [value.to_string(), format!("{value:#}")] {
            let text = safe_json(&text);
            assert!(text.contains(r"a\u001b[31m\u007f\u009bb\udb40\udc01 ü\n"), "{text}");
            assert!(text.contains(r"name\u202e"), "{text}");
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
    }
}
