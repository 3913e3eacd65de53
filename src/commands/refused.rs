//! Refusals as people are told of them: one cause, one message.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::path::RepoPath;
use crate::plan::{EntryOutcome, MOST_ALIKE, Problem};

/// A file, and where something of it begins.
type Position<'p> = (&'p RepoPath, Option<usize>);

/// Says of each entry point why it is left as it is; of several with the same problem once, unless all are wanted.
pub fn told(
    entries: &[&EntryOutcome],
    wants_all: bool,
    make: impl Fn(String) -> Diagnostic,
) -> Vec<Diagnostic> {
    let mut groups: Vec<Vec<(&EntryOutcome, &Problem)>> = Vec::new();
    let mut known: BTreeMap<(&str, String, Option<Position<'_>>), usize> = BTreeMap::new();
    for entry in entries {
        let Some(problem) = &entry.problem else { continue };
        let place = problem.place.as_deref();
        let place = place.map(|place| (&place.path, place.span.as_ref().map(|span| span.start)));
        let position = match wants_all {
            true => groups.len(),
            false => *known.entry((&problem.reason, problem.remedy(), place)).or_insert(groups.len()),
        };
        if position == groups.len() {
            groups.push(Vec::new());
        }
        groups[position].push((entry, problem));
    }
    groups.iter().map(|group| message(group, &make)).collect()
}

fn message(some: &[(&EntryOutcome, &Problem)], make: impl Fn(String) -> Diagnostic) -> Diagnostic {
    let Some((_, problem)) = some.first() else { return make(String::new()) };
    let named = some.iter().take(MOST_ALIKE);
    let folder = |path: &RepoPath| if path.is_top() { "./".to_owned() } else { path.to_string() };
    let names: Vec<String> =
        named.map(|(entry, _)| format!("{} in cluster {}", folder(&entry.before), entry.cluster)).collect();
    let names = match (some.len() - names.len(), names.as_slice()) {
        (0, [all @ .., last]) if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        (0, names) => names.concat(),
        (more, names) => format!("{} and {more} more (--verbose names them)", names.join(", ")),
    };
    let are = if some.len() == 1 { "is left as it is" } else { "are left as they are" };
    let reason = match problem.reason.strip_prefix("it ") {
        Some(rest) if some.len() > 1 => format!("each {rest}"),
        _ => problem.reason.clone(),
    };
    let told = make(format!("{names} {are}:\n{reason}"));
    Diagnostic { place: problem.place.as_deref().cloned(), ..told.help(problem.remedy()) }
}
