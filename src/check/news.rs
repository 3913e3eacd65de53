//! What is found in one state of a repository and was not in another one.

use std::collections::BTreeSet;

use crate::check::Subject;
use crate::check::code::{BOTH_HALVES, DOUBLE_OWNED, OVERWRITTEN};
use crate::delivery::Sides;
use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;

/// What was found in an older state of a repository.
pub struct Former {
    findings: Vec<Diagnostic>,
    /// The keys of its Flux Kustomizations.
    keys: BTreeSet<String>,
    /// Its files.
    files: BTreeSet<RepoPath>,
    /// The entry points of which it applied the sides alone.
    divided: BTreeSet<RepoPath>,
}

/// The codes of what two Flux Kustomizations apply.
const OWNED_TWICE: [&str; 3] = [BOTH_HALVES.code, DOUBLE_OWNED.code, OVERWRITTEN.code];

/// Tells whether an older finding stands for a newer one.
type Fits<'a> = &'a dyn Fn(&Diagnostic, &Diagnostic) -> bool;

impl Former {
    /// Notes what was found.
    pub fn new(before: &Subject<'_>, findings: Vec<Diagnostic>) -> Former {
        let files = before.snapshot.entries().map(|(path, _)| path.clone()).collect();
        Former { findings, keys: keys(before), files, divided: divided(before) }
    }

    /// Leaves out the findings of a newer state that were there, as [`marks`](Former::marks) tells them.
    pub fn news(self, new: Vec<Diagnostic>, after: &Subject<'_>) -> Vec<Diagnostic> {
        let marks = self.marks(&new, after);
        new.into_iter().zip(marks).filter_map(|(finding, is_new)| is_new.then_some(finding)).collect()
    }

    /// Tells of each finding of a newer state whether it is new: the others are each the newer one of one that was there.
    ///
    /// What stands where it stood is the newer one of several. A file may move, with what is said of its path, or a part of
    /// it into a new file, and then nothing is new; nor is what is said in another file of the same Flux Kustomizations. What
    /// fails for more of them than before is new.
    pub fn marks(self, all: &[Diagnostic], after: &Subject<'_>) -> Vec<bool> {
        let mut marks = vec![true; all.len()];
        let now = keys(after);
        let Former { mut findings, keys, files, divided } = self;
        // A hand-over that is taken back gives what the sides apply twice to the one that had it before.
        let goes_back =
            after.deliveries.iter().any(|one| one.applied_by.is_some() && divided.contains(&one.path));
        let is_taken_back = |one: &Diagnostic, other: &Diagnostic| {
            let is_owned = |one: &Diagnostic| one.code.is_some_and(|code| OWNED_TWICE.contains(&code));
            goes_back
                && is_owned(one)
                && is_owned(other)
                && (is_in_place(one, other) || nameless(one) == nameless(other))
        };
        let is_gone = |file: &RepoPath| after.snapshot.entry(file).is_none() && !after.snapshot.is_dir(file);
        let was_renamed = |other: &Diagnostic| file(other).is_none_or(is_gone);
        let has_moved = |one: &Diagnostic, other: &Diagnostic| {
            let is_new = |file: &RepoPath| !files.contains(file) && after.snapshot.entry(file).is_some();
            let is_known = !one.about.is_empty() && one.about.is_subset(&other.about);
            is_same(one, other) && (was_renamed(other) || is_known || file(one).is_some_and(is_new))
        };
        let fits: [Fits<'_>; 5] = [
            &|one, other| is_same(one, other) && is_in_place(one, other),
            &|one, other| is_same(one, other) && is_in_file(one, other),
            &has_moved,
            &|one, other| {
                let is_alike = one.code == other.code && unplaced(one) == unplaced(other);
                was_renamed(other) && is_alike && (line(one).is_none() || line(one) == line(other))
            },
            &is_taken_back,
        ];
        for fits in fits {
            for (finding, is_new) in all.iter().zip(&mut marks).filter(|(_, is_new)| **is_new) {
                let is_it =
                    |other: &Diagnostic| fits(finding, other) && !grows(finding, other, (&keys, &now));
                if let Some(known) = findings.iter().position(is_it) {
                    findings.swap_remove(known);
                    *is_new = false;
                }
            }
        }
        marks
    }
}

/// Returns whether a finding is about more than an older one, where renamed Flux Kustomizations and clusters count as what
/// they were; given the keys of all before and now.
fn grows(
    finding: &Diagnostic,
    old: &Diagnostic,
    (before, now): (&BTreeSet<String>, &BTreeSet<String>),
) -> bool {
    let mut added = finding.about.difference(&old.about).peekable();
    if added.peek().is_none() {
        return false;
    }
    let added: Vec<&String> = added.collect();
    let gone = old.about.difference(&finding.about).filter(|key| !now.contains(*key));
    added.iter().any(|key| before.contains(*key)) || added.len() > gone.count()
}

/// Returns the entry points of which sides are applied, and not they themselves.
fn divided(subject: &Subject<'_>) -> BTreeSet<RepoPath> {
    let Some(spec) = subject.spec else { return BTreeSet::new() };
    let sides = Sides::of(spec, subject.model);
    let governed = subject.deliveries.iter().filter(|one| one.applied_by.is_some());
    let applied: BTreeSet<&RepoPath> = governed.map(|one| &one.path).collect();
    let wholes = applied.iter().filter_map(|path| sides.get(*path)).map(|(whole, _)| whole);
    wholes.filter(|whole| !applied.contains(whole)).cloned().collect()
}

/// Returns what a finding says of the Flux Kustomization with which it begins.
fn nameless(finding: &Diagnostic) -> Option<String> {
    finding.words().split_once(' ').map(|(_, rest)| rest.to_owned())
}

/// Returns the keys of the Flux Kustomizations of all clusters.
fn keys(subject: &Subject<'_>) -> BTreeSet<String> {
    let clusters = subject.model.delivered.all.iter();
    let all = clusters.flat_map(|cluster| cluster.kustomizations.iter().map(|one| cluster.key(one)));
    all.chain(subject.deliveries.iter().map(|delivery| delivery.key())).collect()
}

/// Returns whether two findings are at the same line.
fn is_in_place(one: &Diagnostic, other: &Diagnostic) -> bool {
    let line = |finding: &Diagnostic| finding.place.as_ref().and_then(Place::line);
    is_in_file(one, other) && line(one) == line(other)
}

/// Returns whether two findings are in one file.
fn is_in_file(one: &Diagnostic, other: &Diagnostic) -> bool {
    file(one) == file(other)
}

/// Returns the line of a file that a finding points at.
fn line(finding: &Diagnostic) -> Option<&str> {
    let place = finding.place.as_ref()?;
    let (text, start) = (place.text.as_deref()?, place.span.as_ref()?.start);
    let (before, after) = text.split_at_checked(start)?;
    let begin = before.rfind('\n').map_or(0, |end| end + 1);
    let end = after.find('\n').map_or(text.len(), |end| start + end);
    text.get(begin..end).map(str::trim)
}

/// Returns what a finding says, without the path of its own file and of the folder of that.
fn unplaced(finding: &Diagnostic) -> String {
    let folder = file(finding).and_then(RepoPath::parent).filter(|folder| !folder.is_top());
    let own: Vec<&str> = file(finding).into_iter().chain(&folder).map(RepoPath::as_str).collect();
    let word = |word: &str| {
        let path = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
        let is_in = |own: &&&str| {
            path.strip_prefix(**own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        own.iter().find(is_in).map_or_else(|| word.to_owned(), |own| word.replacen(*own, "", 1))
    };
    finding.words().split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn file(finding: &Diagnostic) -> Option<&RepoPath> {
    finding.place.as_ref().map(|place| &place.path)
}

/// Returns whether two findings say the same, wherever it stands.
pub fn is_same(one: &Diagnostic, other: &Diagnostic) -> bool {
    (one.code, one.words()) == (other.code, other.words())
}
