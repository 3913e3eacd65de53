//! What an artifact copies of a source (fluxcd/source-watcher, `internal/builder/builder.go`).

use regex::RegexSet;

use crate::delivery::glob::glob;
use crate::path::RepoPath;

/// How many patterns one with alternatives may stand for.
const MOST_ALTERNATIVES: usize = 256;

/// Files of a source that keep their places below one folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Copied {
    /// Where the artifact of the source begins.
    pub source: RepoPath,
    pub(super) copies: Vec<Copy>,
}

impl Copied {
    /// Compiles its patterns.
    pub(super) fn ready(&self) -> Ready {
        Ready { source: self.source.clone(), copies: self.copies.iter().filter_map(Copy::ready).collect() }
    }
}

/// One `copy` of an artifact: which files it takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Copy {
    /// The pattern; without one, the clean path of a file or a folder, empty for all.
    from: String,
    is_glob: bool,
    /// Whether the pattern begins with `./`, so that it is no beginning of what it matches.
    is_dotted: bool,
    exclude: Vec<String>,
}

impl Copy {
    /// Reads the pattern of `from`; `None` where the path leaves the source.
    pub(super) fn new(from: &str, exclude: Vec<String>) -> Option<Copy> {
        let is_glob = is_pattern(from);
        let (is_dotted, pattern) = from.strip_prefix("./").map_or((false, from), |rest| (true, rest));
        let from = if is_glob { pattern.to_owned() } else { RepoPath::parse(from).ok()?.as_str().to_owned() };
        Some(Copy { from, is_glob, is_dotted, exclude })
    }

    /// Compiles its patterns; `None` where one is none.
    pub(super) fn ready(&self) -> Option<ReadyCopy> {
        let excluded = |is_meant: fn(&str) -> bool| {
            let patterns = self.exclude.iter().filter(|pattern| is_meant(pattern));
            let expressions: Option<Vec<Vec<String>>> =
                patterns.map(|pattern| expressions(pattern)).collect();
            RegexSet::new(expressions?.into_iter().flatten()).ok()
        };
        let paths = excluded(|_| true)?;
        let names = excluded(|pattern| !pattern.contains('/'))?;
        Some(ReadyCopy { copy: self.clone(), paths, names })
    }

    /// Returns the folder from which on the places of files are kept, and the names that `to` puts before them
    /// (`calculateGlobDestination`, `applySingleDirectoryCopy`, `applySingleFileCopy`); `None` where the name of a file
    /// changes.
    ///
    /// `is_file` tells whether it names a file, and `into` whether `to` is a folder then.
    pub(super) fn moves(&self, to: &str, is_file: bool, into: bool) -> Option<(RepoPath, RepoPath)> {
        let to = RepoPath::parse(to).ok()?;
        if self.is_glob {
            let folder =
                self.from.strip_suffix("/**").filter(|folder| !is_pattern(folder) && !self.is_dotted);
            return Some((RepoPath::parse(folder.unwrap_or_default()).ok()?, to));
        }
        let from = RepoPath::parse(&self.from).ok()?;
        let above = from.parent().unwrap_or_default();
        if is_file && !into {
            return (from.name() == to.name()).then(|| (above, to.parent().unwrap_or_default()));
        }
        Some((above, to))
    }

    /// Returns the folder, or the file, below which all lies that it may take.
    pub(super) fn stem(&self) -> RepoPath {
        let plain = if self.is_glob { literal(&self.from) } else { self.from.clone() };
        RepoPath::parse(&plain).unwrap_or_default()
    }

    /// Returns whether it has a wildcard.
    pub(super) fn is_glob(&self) -> bool {
        self.is_glob
    }

    /// Returns how many segments of a path its pattern matches, if it does; all below a folder goes with it.
    fn matches(&self, names: &[&str]) -> Option<usize> {
        if self.from.is_empty() {
            return Some(0);
        }
        let parts: Vec<&str> = self.from.split('/').collect();
        // io/fs, `Glob`: two stars are one.
        let is_it = |(part, name): (&&str, &&str)| {
            part == name || self.is_glob && (matches!(*part, "*" | "**") || glob(part, name))
        };
        (parts.len() <= names.len() && parts.iter().zip(names).all(is_it)).then_some(parts.len())
    }
}

/// [`Copied`], with its patterns compiled.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    source: RepoPath,
    copies: Vec<ReadyCopy>,
}

impl Ready {
    /// Returns the folders, and files, below which all lies that it takes.
    pub(super) fn stems(&self) -> impl Iterator<Item = RepoPath> {
        self.copies.iter().filter_map(|copy| self.source.join(copy.copy.stem().as_str()).ok())
    }

    /// Returns whether a copy takes a file.
    pub(super) fn takes(&self, file: &RepoPath) -> bool {
        file.is_within(&self.source) && self.copies.iter().any(|copy| copy.takes(&self.source, file))
    }
}

/// [`Copy`], with its patterns compiled.
#[derive(Clone, Debug)]
pub(super) struct ReadyCopy {
    copy: Copy,
    /// The patterns that leave paths out, and those that leave names out.
    paths: RegexSet,
    names: RegexSet,
}

impl ReadyCopy {
    /// Returns whether it takes a file of an artifact that begins at `source`.
    pub(super) fn takes(&self, source: &RepoPath, file: &RepoPath) -> bool {
        let names: Vec<&str> = file.segments().skip(source.segments().count()).collect();
        let Some(matched) = self.copy.matches(&names) else { return false };
        let (base, first) = match (self.copy.is_glob, matched == names.len()) {
            (true, _) => (literal(&self.copy.from), matched),
            (false, true) => (String::new(), matched),
            (false, false) => (self.copy.from.clone(), matched + 1),
        };
        !(first..=names.len()).any(|length| self.leaves_out(&names[..length], &base))
    }

    /// Returns whether its pattern matches a file or a folder above it that is not left out itself.
    pub(super) fn matches(&self, source: &RepoPath, file: &RepoPath) -> bool {
        let names: Vec<&str> = file.segments().skip(source.segments().count()).collect();
        let is_out = |matched: usize| {
            self.copy.is_glob && self.leaves_out(&names[..matched], &literal(&self.copy.from))
        };
        self.copy.matches(&names).is_some_and(|matched| !is_out(matched))
    }

    /// Returns whether `exclude` leaves a file or a folder out (`shouldExcludePath`).
    fn leaves_out(&self, names: &[&str], base: &str) -> bool {
        let path = names.join("/");
        let below = path.strip_prefix(base).and_then(|rest| rest.strip_prefix('/'));
        let name = names.last().copied().unwrap_or_default();
        self.paths.is_match(&path)
            || self.names.is_match(name)
            || below.is_some_and(|below| !base.is_empty() && self.paths.is_match(below))
    }
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', ']'])
}

/// Returns the part of a pattern before the first segment with a wildcard (`sourceSelectionRoot`).
fn literal(pattern: &str) -> String {
    pattern.split('/').take_while(|part| !is_pattern(part)).collect::<Vec<_>>().join("/")
}

/// Returns regular expressions of which one matches what a pattern does (bmatcuk/doublestar v4, `match.go`); `None`
/// where it is no pattern.
fn expressions(pattern: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    alternatives(&pattern.chars().collect::<Vec<_>>(), &mut found)?;
    found.iter().map(|one| expression(one)).collect()
}

/// Begins an alternative, in which `**` counts as at the start of a segment.
const START: char = '\0';

/// Writes each of a pattern's `{…}` out.
fn alternatives(pattern: &[char], found: &mut Vec<Vec<char>>) -> Option<()> {
    let Some(open) = unescaped(pattern, 0, &['{', '}']) else {
        found.push(pattern.to_vec());
        return (found.len() <= MOST_ALTERNATIVES).then_some(());
    };
    if pattern[open] == '}' {
        return None;
    }
    let (mut depth, mut at, mut begin, mut parts) = (0, open + 1, open + 1, Vec::new());
    let close = loop {
        let next = unescaped(pattern, at, &['{', '}', ','])?;
        match pattern[next] {
            '{' => depth += 1,
            '}' if depth == 0 => break next,
            '}' => depth -= 1,
            _ if depth == 0 => {
                parts.push(&pattern[begin..next]);
                begin = next + 1;
            }
            _ => {}
        }
        at = next + 1;
    };
    parts.push(&pattern[begin..close]);
    for part in parts {
        let whole = [&pattern[..open], &[START], part, &pattern[close + 1..]].concat();
        alternatives(&whole, found)?;
    }
    Some(())
}

/// Finds one of some characters outside of classes.
fn unescaped(pattern: &[char], from: usize, wanted: &[char]) -> Option<usize> {
    let (mut at, mut in_class) = (from, false);
    while at < pattern.len() {
        match pattern[at] {
            '\\' => at += 1,
            ']' if in_class => in_class = false,
            '[' => in_class = true,
            other if !in_class && wanted.contains(&other) => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

fn expression(pattern: &[char]) -> Option<String> {
    let mut text = String::from("^");
    let (mut at, mut is_start) = (0, true);
    while let Some(next) = pattern.get(at) {
        let rest = &pattern[at..];
        at += 1;
        match next {
            &START => is_start = true,
            // What lies below a folder is the folder too.
            '/' if matches!(rest, ['/', '*', '*'] | ['/', '*', '*', '/']) => {
                text.push_str(if rest.len() == 3 { "(?:/.*)?" } else { "(?:/(?:.*/)?)?" });
                break;
            }
            '*' if is_start && matches!(rest, ['*', '*', '/', ..]) => {
                text.push_str("(?:[^/]*/)*");
                at += 2;
            }
            '*' if is_start && matches!(rest, ['*', '*']) => {
                text.push_str(".*");
                break;
            }
            '*' => {
                at += usize::from(pattern.get(at) == Some(&'*'));
                // Only a name of which the star takes something ends before the last slash.
                match &pattern[at..] {
                    ['/', '*', '*'] => text.push_str("(?:[^/]*/.*|[^/]+)"),
                    ['/', '*', '*', '/'] => text.push_str("(?:[^/]*/(?:.*/)?|[^/]+)"),
                    _ => {
                        text.push_str("[^/]*");
                        is_start = false;
                        continue;
                    }
                }
                break;
            }
            '?' => {
                text.push_str("[^/]");
                is_start = false;
            }
            '[' => {
                at += class(&pattern[at..], &mut text)?;
                is_start = false;
            }
            '\\' => {
                let escaped = pattern.get(at)?;
                at += 1;
                text.push_str(&regex::escape(&escaped.to_string()));
                is_start = *escaped == '/';
            }
            plain => {
                text.push_str(&regex::escape(&plain.to_string()));
                is_start = *plain == '/';
            }
        }
    }
    text.push('$');
    Some(format!("(?s:{text})"))
}

/// Writes the class of characters that begins behind its `[`, and returns its length with the `]`.
fn class(pattern: &[char], text: &mut String) -> Option<usize> {
    let negates = matches!(pattern.first(), Some('!' | '^'));
    let mut at = usize::from(negates);
    let mut items = String::new();
    let escape = |one: char| regex::escape(&one.to_string());
    let take = |at: &mut usize| {
        *at += usize::from(pattern.get(*at) == Some(&'\\'));
        let one = pattern.get(*at).copied();
        *at += 1;
        one
    };
    while *pattern.get(at)? != ']' {
        let first = take(&mut at)?;
        if pattern.get(at) == Some(&'-') && pattern.get(at + 1).is_some_and(|next| *next != ']') {
            at += 1;
            let last = take(&mut at)?;
            if first <= last {
                items.push_str(&format!("{}-{}", escape(first), escape(last)));
            }
        } else {
            items.push_str(&escape(first));
        }
    }
    if at == usize::from(negates) {
        return None;
    }
    match (items.is_empty(), negates) {
        (true, true) => text.push('.'),
        (true, false) => text.push_str("[^\\s\\S]"),
        (false, _) => text.push_str(&format!("[{}{items}]", if negates { "^" } else { "" })),
    }
    Some(at + 1)
}

#[cfg(test)]
#[path = "copied_tests.rs"]
mod tests;
