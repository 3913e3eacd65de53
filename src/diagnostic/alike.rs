//! What is said of several things in the same words, told once.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::diagnostic::{Diagnostic, Place};

/// Of how many things or places the same is said once, at least.
const LEAST: usize = 4;

/// What stands for a name that differs.
const NAME: &str = "\0";

/// A diagnostic, and of what else the same is said.
pub(super) struct Alike<'d> {
    /// The first one.
    pub(super) first: &'d Diagnostic,
    /// The others.
    pub(super) others: Vec<Other<'d>>,
}

/// Another thing of which the same is said.
#[derive(Clone, Copy)]
pub(super) struct Other<'d> {
    /// Its name; `None` where the message has no other one.
    pub(super) name: Option<&'d str>,
    /// Where, if it is in a file.
    pub(super) place: Option<&'d Place>,
}

/// Groups what differs in nothing but its place, and also, where `by_name`, what differs in paths and in one name.
///
/// The second takes at least four, or as many places of fewer. The groups stand in the order of their first ones.
pub(super) fn alike(diagnostics: &[Diagnostic], by_name: bool) -> Vec<Alike<'_>> {
    let same = same(diagnostics);
    if !by_name {
        return same;
    }
    let mut left: Vec<Option<Alike<'_>>> = same.into_iter().map(Some).collect();
    let firsts: Vec<(&Diagnostic, usize)> =
        left.iter().flatten().map(|group| (group.first, 1 + group.others.len())).collect();
    for members in said_alike(&firsts) {
        let taken: Vec<Alike<'_>> = members.iter().filter_map(|position| left[*position].take()).collect();
        let mut taken = taken.into_iter();
        let Some(mut all) = taken.next() else { continue };
        for one in taken {
            let name = differing(&all.first.message, &one.first.message);
            all.others.push(Other { name, place: one.first.place.as_ref() });
            all.others.extend(one.others.into_iter().map(|other| Other { name, ..other }));
        }
        left[members[0]] = Some(all);
    }
    left.into_iter().flatten().collect()
}

/// Groups what differs in nothing but its place.
fn same(diagnostics: &[Diagnostic]) -> Vec<Alike<'_>> {
    let mut groups: Vec<Alike<'_>> = Vec::new();
    let mut known = BTreeMap::new();
    for one in diagnostics {
        let new = Alike { first: one, others: Vec::new() };
        let Some(place) = &one.place else {
            groups.push(new);
            continue;
        };
        let span = |place: &Place| place.span.as_ref().map(|span| (span.start, span.end));
        let related = one.related.iter().map(|(message, place)| (message, &place.path, span(place)));
        let related: Vec<_> = related.collect();
        match known.entry((one.severity, one.code, &one.message, &one.help, related)) {
            Entry::Vacant(entry) => {
                entry.insert(groups.len());
                groups.push(new);
            }
            Entry::Occupied(entry) => {
                groups[*entry.get()].others.push(Other { name: None, place: Some(place) });
            }
        }
    }
    groups
}

/// Returns the positions of those that are said in the same words but for a name, the largest groups first. Each comes with the
/// number of its places.
fn said_alike(all: &[(&Diagnostic, usize)]) -> Vec<Vec<usize>> {
    let mut sizes: BTreeMap<(Option<&str>, usize), usize> = BTreeMap::new();
    let size = |one: &Diagnostic| (one.code, one.message.split_whitespace().count());
    for (one, places) in all {
        *sizes.entry(size(one)).or_default() += places;
    }
    let is_enough = |members: &[usize]| {
        members.len() > 1 && members.iter().map(|position| all[*position].1).sum::<usize>() >= LEAST
    };
    let mut shapes: BTreeMap<u64, (BTreeSet<&str>, Vec<usize>)> = BTreeMap::new();
    let often = all.iter().enumerate().filter(|(_, (one, _))| sizes[&size(one)] >= LEAST);
    for (position, (one, _)) in often {
        let names: BTreeSet<&str> = one.message.split_whitespace().filter_map(name).collect();
        let by_path = (one.message.as_str(), shape(one, None));
        let by_name = names.into_iter().map(|name| (name, shape(one, Some(name))));
        for (name, shape) in by_name.chain([by_path]) {
            let (known, members) = shapes.entry(shape).or_default();
            // What is said twice of one thing is not said of several.
            if known.insert(name) {
                members.push(position);
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = shapes.into_values().map(|(_, members)| members).collect();
    groups.retain(|members| is_enough(members));
    groups.sort_by_key(|members| (std::cmp::Reverse(members.len()), members.clone()));
    let mut taken = BTreeSet::new();
    let mut found = Vec::new();
    for mut members in groups {
        members.retain(|position| !taken.contains(position));
        if is_enough(&members) {
            taken.extend(members.iter().copied());
            found.push(members);
        }
    }
    found
}

/// Returns what a word may be as a name: itself without the marks around it, unless it is a path.
fn name(word: &str) -> Option<&str> {
    Some(core(word)).filter(|core| !core.is_empty() && !word.contains('/'))
}

/// Returns a word without the marks around it.
fn core(word: &str) -> &str {
    word.trim_matches(|mark: char| !mark.is_alphanumeric())
}

/// Returns a number for what a diagnostic says, whatever the paths and one name in its message are.
fn shape(one: &Diagnostic, name: Option<&str>) -> u64 {
    let paths: BTreeSet<&str> =
        one.message.split_whitespace().map(core).filter(|core| core.contains('/')).collect();
    let masked = |text: &str| {
        let words = text.split_whitespace().map(|word| masked(word, &paths, name));
        words.collect::<Vec<_>>().join(" ")
    };
    let mut hasher = DefaultHasher::new();
    (one.severity, one.code, name.is_some(), masked(&one.message)).hash(&mut hasher);
    one.help.as_deref().map(masked).hash(&mut hasher);
    one.related.iter().for_each(|(message, _)| masked(message).hash(&mut hasher));
    hasher.finish()
}

/// Returns a word with what stands for one of the paths, or for the name, in it.
fn masked(word: &str, paths: &BTreeSet<&str>, name: Option<&str>) -> String {
    let core = core(word);
    if paths.contains(core) {
        return word.replace(core, NAME);
    }
    let Some(name) = name.filter(|name| core.contains(name)) else { return word.to_owned() };
    let is_end = |part: &str| part.is_empty() || part.starts_with(['-', '/']) || part.ends_with(['-', '/']);
    match core.split_once(name) {
        Some((before, after)) if is_end(before) && is_end(after) => word.replacen(name, NAME, 1),
        _ => word.to_owned(),
    }
}

/// Returns the first word of the second message that the first one does not have in its place.
fn differing<'m>(one: &str, other: &'m str) -> Option<&'m str> {
    let mut words = one.split_whitespace().zip(other.split_whitespace());
    words.find(|(one, other)| one != other).map(|(_, other)| core(other))
}
