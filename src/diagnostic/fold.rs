//! The same said of several clusters, told once.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Severity, distinct};

/// The word before the name of a cluster.
const WORD: &str = " cluster ";

/// What is the same of clusters: severity, code, the words around the name, help.
type Key<'d> = (Severity, Option<&'static str>, &'d str, &'d str, Option<&'d str>);

/// Leaves out what is said twice, and tells once, of all of them, what is said of each cluster in the same words.
///
/// The place is that of the first.
pub fn folded(diagnostics: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut found: Vec<(Option<Key<'_>>, Vec<&str>, &Diagnostic)> = Vec::new();
    let mut first: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    let all = distinct(diagnostics.iter().cloned());
    for one in &all {
        let parted = parted(&one.message);
        let key =
            parted.map(|(before, _, after)| (one.severity, one.code, before, after, one.help.as_deref()));
        let position = key.map(|key| *first.entry(key).or_insert(found.len()));
        let same = position.and_then(|position| found.get_mut(position));
        match (same, parted) {
            (Some((_, names, _)), Some((_, name, _))) if !names.contains(&name) => names.push(name),
            (Some(_), Some(_)) => found.push((None, Vec::new(), one)),
            (_, parted) => found.push((key, parted.map(|(_, name, _)| name).into_iter().collect(), one)),
        }
    }
    let told = |(key, names, one): (Option<Key<'_>>, Vec<&str>, &Diagnostic)| match key {
        Some((_, _, before, after, _)) if names.len() > 1 => {
            let message = format!("{before} clusters {}{after}", names.join(", "));
            Diagnostic { message, ..one.clone() }
        }
        _ => one.clone(),
    };
    found.into_iter().map(told).collect()
}

/// Parts a message at the name of a cluster.
fn parted(message: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = message.split_once(WORD)?;
    let end = rest.find([' ', ',', ':', ';']).unwrap_or(rest.len());
    Some((before, &rest[..end], &rest[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_each_cluster_is_told_once() {
        let of = |message: &str| Diagnostic::warning(message).help("mend it");
        let told = folded(&[
            of("no gate in cluster a, since b"),
            of("twice"),
            of("no gate in cluster b, since b"),
            of("no gate in cluster c, since d"),
            of("twice"),
            of("no gate in cluster a, since b"),
            of("all of cluster a"),
        ]);
        let messages: Vec<&str> = told.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "no gate in clusters a, b, since b",
                "twice",
                "no gate in cluster c, since d",
                "all of cluster a"
            ]
        );
    }
}
