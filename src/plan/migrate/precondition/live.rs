//! A live cluster that is not ready.

use crate::plan::migrate::moving::Move;
use crate::plan::migrate::precondition::confirm;
use crate::plan::migrate::precondition::subject::Subject;
use crate::plan::problem::Problem;

/// How much of what a live cluster lacks is told.
const MISSING: usize = 5;

/// What the live cluster lacks, where it was asked.
pub fn check(subject: &Subject<'_>, one: &Move<'_>) -> Option<Problem> {
    let Subject { input, before, options, .. } = subject;
    let live = options.live.get(&one.cluster).filter(|_| one.is_under_way())?;
    let missing = confirm::missing(input, one, before, live, options);
    if missing.is_empty() {
        return None;
    }
    let more = missing.len().saturating_sub(MISSING);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let some = missing.iter().take(MISSING).map(String::as_str).collect::<Vec<_>>().join("; ");
    Some(Problem::new(
        format!("the live cluster is not ready: {some}{more}"),
        "wait until it is, then run this again; `flux get kustomizations` shows how far it is",
    ))
}
