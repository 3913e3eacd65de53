//! One line of what a source leaves out, as go-git reads it.

use std::ops::Range;

use crate::delivery::fetched::IGNORE;
use crate::delivery::glob::glob;
use crate::delivery::left_out::LeftOut;
use crate::path::RepoPath;

/// A pattern of gitignore as go-git reads it (go-git, `gitignore.Pattern`, which fluxcd/pkg copies).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The folder whose file names it.
    pub domain: RepoPath,
    /// The line as it is written.
    pub line: String,
    /// Its bytes in the `.sourceignore` file; `None` where the source itself has it.
    pub span: Option<Range<usize>>,
    /// Whether it begins with `!`, so that it brings back what another one leaves out.
    pub includes: bool,
    parts: Vec<String>,
    only_folders: bool,
    /// Whether it holds a `/`, so that it counts from its folder on.
    is_path: bool,
}

/// Writes a path as a pattern that means no other one: with a backslash before what Go's `path.Match` reads otherwise, and
/// before a space at the end (go-git, `gitignore.ParsePattern`).
pub(super) fn literal(path: &str) -> String {
    let mut text = String::new();
    for (at, c) in path.char_indices() {
        if matches!(c, '*' | '?' | '[' | '\\') || c == ' ' && at + 1 == path.len() {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

impl Pattern {
    /// Reads the lines of a source's own `ignore`.
    pub fn of_source<'t>(top: &'t RepoPath, text: &'t str) -> impl Iterator<Item = Pattern> + 't {
        Pattern::of_file(top, text).map(|pattern| Pattern { span: None, ..pattern })
    }

    /// Reads the lines of a file in a folder (fluxcd/pkg/sourceignore, `ReadPatterns`).
    pub fn of_file<'t>(domain: &'t RepoPath, text: &'t str) -> impl Iterator<Item = Pattern> + 't {
        let mut end = 0;
        let lines = text.split_inclusive('\n').map(move |line| {
            let start = end;
            end += line.len();
            let line = line.strip_suffix('\n').unwrap_or(line);
            (start, line.strip_suffix('\r').unwrap_or(line))
        });
        let lines = lines.filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty());
        lines.map(|(start, line)| {
            let span = Some(start..start + line.len());
            Pattern { span, ..Pattern::parse(domain, line) }
        })
    }

    /// Reads one line (go-git, `gitignore.ParsePattern`).
    fn parse(domain: &RepoPath, line: &str) -> Pattern {
        let (includes, rest) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let rest = if rest.ends_with("\\ ") { rest } else { rest.trim_end_matches(' ') };
        let (only_folders, rest) = rest.strip_suffix('/').map_or((false, rest), |rest| (true, rest));
        let parts = rest.split('/').map(str::to_owned).collect();
        let is_path = rest.contains('/');
        let (domain, line) = (domain.clone(), line.to_owned());
        Pattern { domain, line, span: None, includes, only_folders, is_path, parts }
    }

    /// Returns what it says of a file that it leaves out.
    pub fn left_out(&self, path: &RepoPath) -> LeftOut {
        let line = self.line.clone();
        let folder = path.parent().filter(|folder| self.matches_as(folder, true));
        let what = folder.unwrap_or_else(|| path.clone());
        let file = self.span.clone().zip(self.domain.join(IGNORE).ok());
        match file {
            Some((span, file)) => LeftOut::File { file, line, span, what },
            None => LeftOut::Source { line, top: self.domain.clone(), what },
        }
    }

    /// Returns whether the file, or a folder above it, matches.
    pub fn matches(&self, file: &RepoPath) -> bool {
        self.matches_as(file, false)
    }

    /// As [`matches`](Pattern::matches), of a folder.
    pub fn matches_folder(&self, folder: &RepoPath) -> bool {
        self.matches_as(folder, true)
    }

    fn matches_as(&self, file: &RepoPath, is_folder: bool) -> bool {
        if !file.is_within(&self.domain) {
            return false;
        }
        let names: Vec<&str> = file.segments().skip(self.domain.segments().count()).collect();
        if self.is_path {
            return self.matches_path(&names, is_folder);
        }
        let last = names.len().saturating_sub(1);
        let mut named = names.iter().enumerate();
        named.any(|(at, name)| (!self.only_folders || is_folder || at < last) && glob(&self.parts[0], name))
    }

    /// Matches from the pattern's folder on; what lies below a match matches too (go-git, `globMatch`).
    ///
    /// As there, `**` stands for the fewest folders, and alone or last for what a part before it matches.
    fn matches_path(&self, names: &[&str], is_folder: bool) -> bool {
        let (mut left, mut is_match, mut skips) = (names, false, false);
        for (at, part) in self.parts.iter().enumerate() {
            if part.is_empty() {
                skips = false;
            } else if part == "**" {
                skips = at + 1 < self.parts.len();
            } else if part.contains("**") || left.is_empty() {
                return false;
            } else {
                let found = left.iter().position(|name| glob(part, name)).filter(|at| skips || *at == 0);
                if found.is_none() && !skips {
                    return false;
                }
                is_match = found.is_some();
                left = found.map_or(&[], |at| &left[at + 1..]);
                skips = false;
            }
        }
        is_match && !(self.only_folders && left.is_empty() && !is_folder)
    }
}
