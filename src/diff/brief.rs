//! The diff without what people need not read: what is said twice, what is kept and what is rewritten alike.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::change::Changes;
use crate::diff::clean::clean;
use crate::diff::file::{FileChange, Kind, file_changes};
use crate::diff::hunk::Sign;
use crate::diff::patch::header;
use crate::diff::rewrite::Rewrite;
use crate::diff::unified::{Part, shown};
use crate::path::RepoPath;
use crate::repo::{File, umbrella};
use crate::text::count;

/// How many files are named of which the same is shown.
const MOST_ALIKE: usize = 5;

/// How many lines that are kept in comments are left out at least.
const LEAST_KEPT: usize = 8;

/// The texts that stood before, with their paths, by how many lines they have.
type Olds<'c> = BTreeMap<usize, Vec<(&'c RepoPath, &'c str)>>;

/// Lines of a diff with their kinds.
type Lines = Vec<(Part, String)>;

/// The lines of a diff with their kinds, and whether some were left out.
pub(super) struct Brief {
    pub(super) lines: Lines,
    pub(super) is_cut: bool,
}

/// Shows each change once.
///
/// Files that change alike are shown once, with the names of the others. Text that an umbrella keeps in comments is counted.
/// A new file that is another one with lines rewritten alike, as with `../` before each path, is shown as that.
pub(super) fn brief(plan: &Changes) -> Brief {
    let changes = file_changes(plan);
    let mut olds = Olds::new();
    for (path, text) in changes.iter().filter_map(|other| Some((other.path, other.before?.text()?))) {
        olds.entry(text.lines().count()).or_default().push((path, text));
    }
    let mut is_cut = false;
    let mut blocks: Vec<(Lines, Vec<&FileChange<'_>>)> = Vec::new();
    let mut known = BTreeMap::new();
    for change in &changes {
        let (lines, is_shorter) = block(change, &olds);
        is_cut |= is_shorter;
        let body: Vec<String> =
            lines.iter().filter(|(part, _)| part.is_of_body()).map(|(_, line)| line.clone()).collect();
        let mode = |file: Option<&File>| file.map(|file| file.executable);
        let key = (change.kind(), mode(change.before), mode(change.after), body);
        // Of a binary file no more than its size is shown.
        if key.3.is_empty() || change.is_binary() {
            blocks.push((lines, Vec::new()));
            continue;
        }
        match known.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(blocks.len());
                blocks.push((lines, Vec::new()));
            }
            Entry::Occupied(entry) => blocks[*entry.get()].1.push(change),
        }
    }
    let mut lines = Vec::new();
    for (block, others) in blocks {
        is_cut |= !others.is_empty();
        lines.extend(block);
        lines.extend(alike(&others).into_iter().map(|line| (Part::Remark, line)));
    }
    Brief { lines, is_cut }
}

/// Names the files that change as one that was shown.
fn alike(others: &[&FileChange<'_>]) -> Vec<String> {
    if others.is_empty() {
        return Vec::new();
    }
    let told = if others.len() > MOST_ALIKE + 1 { &others[..MOST_ALIKE] } else { others };
    let mut lines = vec![format!("and the same in {}:", count(others.len(), "more file"))];
    lines.extend(told.iter().map(|other| format!("  {}", clean(other.path.as_str().as_bytes()))));
    if told.len() < others.len() {
        lines.push(format!("  and {} more", others.len() - told.len()));
    }
    lines
}

/// Returns one file's diff, and whether it leaves something out.
fn block(change: &FileChange<'_>, olds: &Olds<'_>) -> (Lines, bool) {
    if let Some(lines) = rewritten(change, olds).or_else(|| replaced(change)) {
        return (lines, true);
    }
    without_kept(shown(change))
}

/// Shows a new file as another one of the plan, of which lines are rewritten alike.
fn rewritten(change: &FileChange<'_>, olds: &Olds<'_>) -> Option<Lines> {
    let (Kind::Create, Some(after)) = (change.kind(), change.after) else { return None };
    let after = after.text()?;
    let mut alike = olds.get(&after.lines().count())?.iter();
    let (from, rewrite) = alike.find_map(|(path, old)| Some((*path, Rewrite::of(old, after)?)))?;
    let mut lines = header_lines(change);
    let named =
        |word: &str, path: &RepoPath| (Part::Header, format!("{word} {}", clean(path.as_str().as_bytes())));
    lines.truncate(1);
    lines.extend([named("copy from", from), named("copy to", change.path)]);
    for example in rewrite.examples() {
        lines.push((Part::Line(Sign::Removed), format!("-{}", clean(example.old.as_bytes()))));
        lines.push((Part::Line(Sign::Added), format!("+{}", clean(example.new.as_bytes()))));
        if example.more > 0 {
            lines.push((Part::Remark, format!("and {} alike", count(example.more, "line"))));
        }
    }
    Some(lines)
}

/// Shows an umbrella in the place of the text that it keeps: nothing of that goes.
fn replaced(change: &FileChange<'_>) -> Option<Lines> {
    let (before, after) = (change.before?.text()?, change.after?.text()?);
    let kept = before.lines().count();
    if change.kind() != Kind::Edit
        || kept < LEAST_KEPT
        || umbrella::original(after).as_deref() != Some(before)
    {
        return None;
    }
    let mut lines = header_lines(change);
    lines.push((Part::Remark, format!("{} become comments", count(kept, "line"))));
    let new = after.lines().map(|line| (Part::Line(Sign::Added), format!("+{}", clean(line.as_bytes()))));
    lines.extend(without_kept(new.collect()).0);
    Some(lines)
}

fn header_lines(change: &FileChange<'_>) -> Lines {
    let header = header(change);
    header.lines().map(|line| (Part::Header, clean(line.trim_end().as_bytes()))).collect()
}

/// Counts the lines that an umbrella keeps, in place of showing them.
fn without_kept(lines: Lines) -> (Lines, bool) {
    let kept = |(part, line): &(Part, String)| match part {
        Part::Line(sign) if *sign != Sign::Context && line.get(1..).is_some_and(umbrella::keeps) => {
            Some(*sign)
        }
        _ => None,
    };
    let (mut out, mut is_cut) = (Vec::new(), false);
    for run in lines.chunk_by(|one, other| kept(one).is_some() && kept(one) == kept(other)) {
        match run.first().and_then(kept) {
            Some(sign) if run.len() >= LEAST_KEPT => {
                is_cut = true;
                out.push((
                    Part::Line(sign),
                    format!("{}#| … {} as they were", sign.as_char(), count(run.len(), "line")),
                ));
            }
            _ => out.extend(run.iter().cloned()),
        }
    }
    (out, is_cut)
}

#[cfg(test)]
#[path = "brief_tests.rs"]
mod tests;
