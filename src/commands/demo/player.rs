//! Plays commands in a folder, and tells them as somebody would type them.

use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use clap::Parser;
use jiff::{SignedDuration, Timestamp};

use crate::cli::Global;
use crate::commands::demo::sample;
use crate::commands::{Cli, run_to};
use crate::diagnostic::{Diagnostic, clean};
use crate::error::{Error, ErrorKind};
use crate::output::{Output, Stream};
use crate::render::Shared;
use crate::repo::Repository;

/// How long ago the commits are made: before a gate has closed once, its windows stand open.
const AGE: SignedDuration = SignedDuration::from_hours(14 * 24);

const TITLE: Style = Style::new().bold();
const COMMAND: Style = AnsiColor::Cyan.on_default();
const REMARK: Style = Style::new().dimmed();

/// What plays.
pub struct Player<'a> {
    /// The options of the demo itself.
    pub global: &'a Global,
    /// Where it is told.
    pub output: &'a Output,
    /// The folder.
    pub folder: PathBuf,
    /// Its repository.
    pub repository: Repository,
    /// What builds; `None` where each command looks for it.
    pub builder: Option<Shared>,
    /// When it happens.
    pub now: Timestamp,
}

impl Player<'_> {
    /// Waits until whoever watches is ready for more; `false` where they have had enough.
    pub fn goes_on(&self) -> bool {
        let is_enough = |answer: String| answer.eq_ignore_ascii_case("q");
        !self.output.can_ask() || !self.output.ask("[Enter goes on, q ends]").is_some_and(is_enough)
    }

    /// Begins a step.
    pub fn begin(&self, number: usize, title: &str, told: &[&str]) {
        self.tell("");
        self.styled(TITLE, &format!("{number}. {title}"));
        told.iter().for_each(|line| self.tell(&format!("   {line}")));
        self.tell("");
    }

    /// Tells a line.
    pub fn tell(&self, line: &str) {
        self.output.result(format!("{}\n", clean(line)).as_bytes());
    }

    /// Tells a command of another program.
    pub fn shell(&self, command: &str) {
        self.styled(COMMAND, &format!("$ {command}"));
    }

    /// Runs a command, and tells it with its output; of its results so many lines.
    ///
    /// # Errors
    ///
    /// When it ends with another exit code than this.
    pub fn run(&self, arguments: &[&str], lines: usize, code: u8) -> Result<(), Error> {
        let given = self.global.now.as_deref().map(|now| ["--now", now]);
        let is_asked = matches!(arguments.first(), Some(&("when" | "pr")));
        let shown = arguments.iter().copied().chain(given.into_iter().flatten().filter(|_| is_asked));
        self.shell(&format!("gitops-windows {}", shown.map(quoted).collect::<Vec<_>>().join(" ")));
        let output = self.output.keeping();
        let ended = run_to(&self.parsed(arguments)?, &output);
        let mut left = lines;
        for (stream, bytes) in output.pieces() {
            match stream {
                Stream::People => self.output.result(&bytes),
                Stream::Results => left = self.some(&bytes, left),
            }
        }
        if ended == code {
            return Ok(());
        }
        let problem = format!("{} ended with exit code {ended}, not {code}", arguments.join(" "));
        Err(Error::new(ErrorKind::Bug, Diagnostic::error(problem).help("report this, with the output above")))
    }

    /// Returns whether the folder is a git repository.
    pub fn has_git(&self) -> bool {
        self.repository.git().is_some()
    }

    /// Makes a commit, and tells it; nothing without git.
    ///
    /// # Errors
    ///
    /// When git refuses.
    pub fn commit(&self, message: &str) -> Result<(), Error> {
        if !self.has_git() {
            return Ok(());
        }
        self.shell(&format!("git add . && git commit --quiet -m {}", quoted(message)));
        self.repository.commit_all(message, self.now - AGE)
    }

    /// Replaces a text of a file, and tells it.
    ///
    /// # Errors
    ///
    /// When the disk refuses.
    pub fn replace(&self, file: &str, from: &str, to: &str) -> Result<(), Error> {
        self.shell(&format!("sed -i {} {file}", quoted(&format!("s/{from}/{to}/"))));
        sample::replace(&self.folder.join(file), from, to)
            .map_err(|error| Error::invalid(Diagnostic::error(format!("{file} can't be edited: {error}"))))
    }

    /// Parses what is typed, for this folder.
    fn parsed(&self, arguments: &[&str]) -> Result<Cli, Error> {
        let mut command = vec!["gitops-windows"];
        command.extend(arguments);
        let mut cli = Cli::try_parse_from(command)
            .map_err(|error| Error::new(ErrorKind::Bug, Diagnostic::error(error.to_string())))?;
        cli.global.directory = self.folder.clone();
        cli.global.no_cache = true;
        cli.global.now = Some(self.now.to_string());
        cli.global.renderer = self.global.renderer;
        cli.global.builder = self.builder.clone();
        Ok(cli)
    }

    /// Shows the first lines of results, and how many follow; returns how many more may be shown.
    fn some(&self, bytes: &[u8], most: usize) -> usize {
        let text = String::from_utf8_lossy(bytes);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let shown = lines.len().min(most);
        self.output.result(lines[..shown].concat().as_bytes());
        match (lines.len() - shown, shown) {
            (0, _) => {}
            (more, 0) => self.styled(REMARK, &format!("[… {more} lines]")),
            (more, _) => self.styled(REMARK, &format!("[… {more} more lines]")),
        }
        most - shown
    }

    fn styled(&self, style: Style, line: &str) {
        let line = clean(line);
        match self.output.color() {
            true => self.output.result(format!("{style}{line}{style:#}\n").as_bytes()),
            false => self.output.result(format!("{line}\n").as_bytes()),
        }
    }
}

/// Quotes a word for a shell where it needs that.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
