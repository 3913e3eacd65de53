//! What the tool has to say about a file: a severity, a place, a message, and what to do.

mod alike;
mod fold;
mod position;
mod render;
mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::sync::Arc;

use crate::path::RepoPath;

pub use fold::folded;
pub use position::line_column;
pub use render::{clean, render, render_all};
pub(crate) use render::{is_command, is_hidden};
pub use steps::{numbered, one_line, steps};

/// How much a [`Diagnostic`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something worth knowing.
    Note,
    /// Something that works today and will surprise somebody.
    Warning,
    /// Something that stops the command.
    Error,
}

/// A stretch of a file that a [`Diagnostic`] speaks of.
///
/// It carries the text it points into, so that a diagnostic can be shown without reading again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, relative to the top of the repository.
    pub path: RepoPath,
    /// The file's text, where it is known and is UTF-8.
    pub text: Option<Arc<str>>,
    /// Byte range in `text`; `None` speaks of the file as a whole.
    pub span: Option<Range<usize>>,
}

impl Place {
    /// Points at a file as a whole.
    pub fn file(path: RepoPath) -> Place {
        Place { path, text: None, span: None }
    }

    /// Points at a byte range of a file's text.
    pub fn span(path: RepoPath, text: Arc<str>, span: Range<usize>) -> Place {
        Place { path, text: Some(text), span: Some(span) }
    }

    /// Returns its line, from 1; `None` where it is a file as a whole.
    pub fn line(&self) -> Option<usize> {
        Some(line_column(self.text.as_ref()?, self.span.as_ref()?.start).0)
    }
}

/// One finding, error or remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// A stable code such as `GW001`, where the finding has one.
    pub code: Option<&'static str>,
    /// What is wrong, and in a sentence of its own what that causes, without a final full stop.
    pub message: String,
    /// The message in the words that a finding has at any time, where it has others as something comes true.
    pub lasting: Option<String>,
    /// Where, if it is in a file.
    pub place: Option<Place>,
    /// Further places that belong to it, each with what is to be seen there.
    pub related: Vec<(String, Place)>,
    /// What to do about it, as an imperative; several steps are numbered, one a line.
    pub help: Option<String>,
    /// What it is about, by keys that are not shown: the Flux Kustomizations of clusters for which something fails, as one
    /// place may fail for several.
    pub about: BTreeSet<String>,
}

impl Diagnostic {
    /// Makes an error.
    pub fn error(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, message)
    }

    /// Makes a warning.
    pub fn warning(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, message)
    }

    /// Makes a note.
    pub fn note(message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Note, message)
    }

    fn new(severity: Severity, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
            code: None,
            message: message.into(),
            lasting: None,
            place: None,
            related: Vec::new(),
            help: None,
            about: BTreeSet::new(),
        }
    }

    /// Returns the diagnostic a stable code.
    #[must_use]
    pub fn code(mut self, code: &'static str) -> Diagnostic {
        self.code = Some(code);
        self
    }

    /// Says where.
    #[must_use]
    pub fn at(mut self, place: Place) -> Diagnostic {
        self.place = Some(place);
        self
    }

    /// Points at a further place and says what is to be seen there.
    #[must_use]
    pub fn related(mut self, message: impl Into<String>, place: Place) -> Diagnostic {
        self.related.push((message.into(), place));
        self
    }

    /// Says what to do; several steps stand one a line.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(numbered(&help.into()));
        self
    }

    /// Says the message in words that stay the same as something comes true.
    #[must_use]
    pub fn lasting(mut self, message: impl Into<String>) -> Diagnostic {
        self.lasting = Some(message.into());
        self
    }

    /// Returns the words by which it is told from others in another state of the repository.
    pub fn words(&self) -> &str {
        self.lasting.as_deref().unwrap_or(&self.message)
    }

    /// Adds a key of what it is about.
    #[must_use]
    pub fn about(mut self, key: String) -> Diagnostic {
        self.about.insert(key);
        self
    }

    /// Returns whether two of them are shown alike, but for their further places.
    fn is_alike(&self, other: &Diagnostic) -> bool {
        (self.severity, self.code) == (other.severity, other.code)
            && (self.words(), &self.help) == (other.words(), &other.help)
            && self.place == other.place
    }
}

/// Leaves out what is shown like an earlier one, as what several clusters share is found in each of them: that is about all
/// of it. What has come true in one of them is told as that.
pub fn distinct(all: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
    merged(all, |one, other| one.is_alike(other) && one.related == other.related)
}

/// As [`distinct`], of what differs in nothing but its further places: it gets those of all.
pub fn distinct_but_related(all: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
    merged(all, Diagnostic::is_alike)
}

fn merged(
    all: impl IntoIterator<Item = Diagnostic>,
    is_it: fn(&Diagnostic, &Diagnostic) -> bool,
) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut known: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for one in all {
        let alike = known.entry(sum(&one)).or_default();
        match alike.iter().copied().find(|position| is_it(&found[*position], &one)) {
            Some(position) => {
                let is_true = one.words() == one.message;
                let first = &mut found[position];
                first.about.extend(one.about);
                let new =
                    one.related.into_iter().filter(|one| !first.related.contains(one)).collect::<Vec<_>>();
                first.related.extend(new);
                if is_true {
                    first.message = one.message;
                }
            }
            None => {
                alike.push(found.len());
                found.push(one);
            }
        }
    }
    found
}

/// Returns a number that differs, mostly, where the diagnostics do: comparing each with each would take as many comparisons
/// as their square.
fn sum(one: &Diagnostic) -> u64 {
    let mut hasher = DefaultHasher::new();
    (one.code, one.words()).hash(&mut hasher);
    one.place.as_ref().map(|place| (&place.path, &place.span)).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_come_true_somewhere_is_told_as_that() {
        let waits = || Diagnostic::warning("a waits").lasting("a waits");
        let planned = || Diagnostic::warning("a is to wait").lasting("a waits").about("one".to_owned());
        for all in [[waits(), planned()], [planned(), waits()]] {
            let found = distinct(all);
            let [one] = &found[..] else { panic!("{found:?}") };
            assert_eq!((one.message.as_str(), one.about.len()), ("a waits", 1));
        }
        let elsewhere = planned().at(Place::file(RepoPath::default()));
        assert_eq!(distinct([waits(), elsewhere]).len(), 2);
    }
}
