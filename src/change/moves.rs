//! Which removed file a new one was, as git finds it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::change::Changes;
use crate::path::RepoPath;
use crate::repo::File;

/// How much of the larger file both have at least, in percent (git, `diffcore.h`, `DEFAULT_RENAME_SCORE`).
const LEAST: usize = 50;

/// How many pairs of a removed and a new file are compared at most (git, `diff.renameLimit` in `diff.c`, squared).
const MOST_PAIRS: usize = 1_000_000;

impl Changes {
    /// Returns the path from where each moved file comes, by the path where it goes, whether or not it was edited on the way.
    ///
    /// A removed file and a new one of the same or similar bytes are one move, as git finds it: at least half of the larger
    /// one is in both, counted by lines. Where the plan says where a file comes from
    /// ([`moved_from`](crate::change::Change::moved_from)), that counts first; then the most alike, the same name and the
    /// order of paths. Each removed file is moved once.
    pub fn moves(&self) -> BTreeMap<&RepoPath, &RepoPath> {
        let gone = self.iter().filter_map(|(path, change)| match (&change.before, &change.after) {
            (Some(file), None) => Some((path, file)),
            _ => None,
        });
        let new = self.iter().filter_map(|(path, change)| match (&change.before, &change.after) {
            (None, Some(file)) => Some((path, file, change.moved_from.as_ref())),
            _ => None,
        });
        let gone: Vec<_> = gone.map(|(path, file)| (path, Lines::of(file))).collect();
        let new: Vec<_> = new.map(|(path, file, hint)| (path, Lines::of(file), hint)).collect();
        let is_cheap = gone.len().saturating_mul(new.len()) <= MOST_PAIRS;
        let wholes = |all: &mut dyn Iterator<Item = u64>| all.collect::<BTreeSet<u64>>();
        let (old_wholes, new_wholes) = (
            wholes(&mut gone.iter().map(|(_, one)| one.whole)),
            wholes(&mut new.iter().map(|(_, one, _)| one.whole)),
        );
        let mut found = Vec::new();
        for (to, lines, hint) in &new {
            for (from, old) in &gone {
                let is_said = *hint == Some(*from);
                // What has the same bytes elsewhere is compared with nothing else.
                let is_open =
                    || is_cheap && !old_wholes.contains(&lines.whole) && !new_wholes.contains(&old.whole);
                if old.whole == lines.whole || is_said || is_open() {
                    let score = old.shared_with(lines);
                    let is_renamed = from.name() != to.name();
                    found.push((Reverse(is_said), Reverse(score), is_renamed, *to, *from));
                }
            }
        }
        found.retain(|(_, Reverse(score), ..)| *score >= LEAST);
        found.sort();
        let (mut moves, mut taken) = (BTreeMap::new(), BTreeSet::new());
        for (.., to, from) in found {
            if !moves.contains_key(to) && taken.insert(from) {
                moves.insert(to, from);
            }
        }
        moves
    }
}

/// Returns how much of two files is the same, in percent of the larger one.
pub fn similarity(old: &File, new: &File) -> usize {
    Lines::of(old).shared_with(&Lines::of(new))
}

/// The lines of a file, in no order.
struct Lines {
    /// The bytes in lines of each hash.
    bytes: BTreeMap<u64, usize>,
    /// All bytes.
    length: usize,
    /// The hash of them.
    whole: u64,
}

impl Lines {
    fn of(file: &File) -> Lines {
        let mut bytes: BTreeMap<u64, usize> = BTreeMap::new();
        for line in file.bytes().split_inclusive(|byte| *byte == b'\n') {
            *bytes.entry(hash(line)).or_default() += line.len();
        }
        Lines { bytes, length: file.bytes().len(), whole: hash(file.bytes()) }
    }

    /// Returns how much of the larger one is in both, in percent; of an empty one nothing, as for git.
    fn shared_with(&self, other: &Lines) -> usize {
        let (small, large) = (self.length.min(other.length), self.length.max(other.length));
        if small * 100 < large * LEAST || large == 0 {
            return 0;
        }
        let in_both = |(hash, own): (&u64, &usize)| other.bytes.get(hash).map_or(0, |its| *own.min(its));
        let shared: usize = self.bytes.iter().map(in_both).sum();
        shared * 100 / large
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;

    /// Path, where it was moved from, bytes before and after.
    type Row<'a> = (&'a str, Option<&'a str>, Option<&'a str>, Option<&'a str>);

    fn moves(rows: &[Row<'_>]) -> Vec<String> {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let file = |text: &Option<&str>| text.map(|text| File::new(text.as_bytes()));
        let changes: Changes = rows
            .iter()
            .map(|(name, from, before, after)| {
                (path(name), Change { before: file(before), after: file(after), moved_from: from.map(path) })
            })
            .collect();
        changes.moves().into_iter().map(|(to, from)| format!("{from} -> {to}")).collect()
    }

    #[test]
    fn an_edited_file_that_moves_is_one_move() {
        let (old, new) = (Some("a\nb\nc\nd\n"), Some("a\nb\nc\nx\n"));
        assert_eq!(
            moves(&[("k/ks.yaml", None, old, None), ("k/ks-rt.yaml", None, None, new)]),
            ["k/ks.yaml -> k/ks-rt.yaml"]
        );
        // Less than half is the same, or all of nothing.
        assert!(
            moves(&[("a", None, Some("1\n2\n3\n"), None), ("b", None, None, Some("1\n5\n6\n"))]).is_empty()
        );
        assert!(moves(&[("a", None, Some(""), None), ("b", None, None, Some(""))]).is_empty());
        // The other one stays.
        assert!(moves(&[("a", None, old, new), ("b", None, None, new)]).is_empty());
    }

    #[test]
    fn each_removed_file_moves_once_to_the_most_alike() {
        let rows = [
            ("old", None, Some("a\nb\nc\nd\n"), None),
            ("one", None, None, Some("a\nb\nc\nx\n")),
            ("two", None, None, Some("a\nb\nc\nd\n")),
        ];
        assert_eq!(moves(&rows), ["old -> two"]);
        // What the plan says counts more, and then the name.
        let [old, (one, _, before, after), two] = rows;
        assert_eq!(moves(&[old, (one, Some("old"), before, after), two]), ["old -> one"]);
        let same = [
            ("a/x", None, Some("a\n"), None),
            ("b/w", None, None, Some("a\n")),
            ("b/x", None, None, Some("a\n")),
        ];
        assert_eq!(moves(&same), ["a/x -> b/x"]);
    }
}
