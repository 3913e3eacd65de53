//! Refusals as people are told of them: one cause, one message.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::path::RepoPath;
use crate::plan::{EntryOutcome, MOST_ALIKE, Problem};

/// Says of each entry point why it is left as it is; of those that differ in nothing but the folder once, unless all are
/// wanted.
pub fn told(
    entries: &[&EntryOutcome],
    wants_all: bool,
    make: impl Fn(String) -> Diagnostic,
) -> Vec<Diagnostic> {
    let refused = entries.iter().filter_map(|entry| Some((*entry, entry.problem.as_ref()?)));
    let refused: Vec<(&EntryOutcome, &Problem)> = refused.collect();
    let mut shared: BTreeMap<Cause, usize> = BTreeMap::new();
    for (_, problem) in &refused {
        *shared.entry(cause(None, problem)).or_default() += 1;
    }
    let mut groups: Vec<Vec<(&EntryOutcome, &Problem)>> = Vec::new();
    let mut known: BTreeMap<Cause, usize> = BTreeMap::new();
    for (entry, problem) in refused {
        // What is the same word by word may name the folders of all.
        let own = cause(None, problem);
        let is_shared = shared.get(&own).is_some_and(|count| *count > 1);
        let key = if is_shared { own } else { cause(Some(&entry.before), problem) };
        let position = *known.entry(key).or_insert(groups.len());
        if position == groups.len() {
            groups.push(Vec::new());
        }
        groups[position].push((entry, problem));
    }
    let mut found = Vec::new();
    for group in groups {
        // A few that name their own folders say more by themselves.
        let is_same = group.iter().all(|(_, problem)| *problem == group[0].1);
        let is_one = !wants_all && (is_same || group.len() > MOST_ALIKE);
        let chunks = if is_one { group.len() } else { 1 };
        found.extend(group.chunks(chunks).map(|some| message(some, &make)));
    }
    found
}

/// What tells one cause from another.
type Cause = (String, String, Option<(String, Option<usize>)>);

/// Returns it, whatever folder of its own it speaks of.
fn cause(own: Option<&RepoPath>, problem: &Problem) -> Cause {
    let text = |text: &str| own.map_or_else(|| text.to_owned(), |own| text.replace(own.as_str(), "\0"));
    let place = problem.place.as_deref().filter(|place| Some(&place.path) != own);
    let place = place.map(|place| (place.path.to_string(), place.span.as_ref().map(|span| span.start)));
    (text(&problem.reason), text(&problem.remedy()), place)
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
    let told = make(format!("{names} {are}: {reason}"));
    Diagnostic { place: problem.place.as_deref().cloned(), ..told.help(problem.remedy()) }
}
