//! Findings: what works today and will surprise somebody, or can't work at all.
//!
//! A finding is a [`Diagnostic`] with a code of [`CODES`]: a value with places, a message and a remedy. Each
//! audit is a function from a [`Subject`] to findings, in a file of its own, and all of them stand in one
//! list. A subject is the repository as the clusters get it: every entry point is built, and each object has
//! its origin and what holds it back, by a spec's types or by the CronJobs that stand there.
mod all;
mod audit;
mod availability;
mod code;
mod explain;
mod generated;
mod github;
mod hand_made;
mod history;
mod ignore;
mod json;
mod need;
mod needed;
mod news;
mod reference;
mod sarif;
mod schedules;
mod setting;
mod subject;
mod table;
#[cfg(test)]
mod tests;

use jiff::Timestamp;

pub use all::Standard;
pub use audit::{AUDITS, Audit, lost_values, once_more};
pub use code::{CODES, Code, code_of_lint};
pub(crate) use code::{MISSING_PATH, REFUSED_OBJECT};
pub use explain::explain;
pub use generated::{Generated, generated};
pub use github::github;
pub use history::{Told, history};
pub use ignore::{ignore, unwanted};
pub use json::{json, schema};
pub(crate) use need::DEFINITIONS;
pub use need::{Need, serves};
pub use news::{Former, is_same};
pub use reference::{NameReference, Part, references};
pub use sarif::sarif;
pub use schedules::{SpecLintOptions, spec_lints, spec_lints_with};
pub use subject::Subject;

use crate::check::code::MATCHES_NOTHING;
use crate::diagnostic::{Diagnostic, distinct};

/// Runs every audit, and the lints of the schedules of gates that no spec implies.
///
/// What several clusters share is told once.
pub fn audit(subject: &Subject<'_>, now: Timestamp) -> Vec<Diagnostic> {
    let mut findings = distinct(AUDITS.iter().flat_map(|audit| audit(subject)));
    if subject.spec.is_none() {
        findings.extend(hand_made::hand_made(subject, now));
    }
    findings
}

/// Puts findings in the order of files, places and codes.
pub fn sort(findings: &mut [Diagnostic]) {
    let key = |finding: &Diagnostic| {
        let place = finding.place.as_ref();
        let start = place.and_then(|place| place.span.as_ref()).map_or(0, |span| span.start);
        // A name that is spelled wrong explains what follows from it.
        let is_typo = finding.code == Some(MATCHES_NOTHING.code);
        (!is_typo, place.map(|place| place.path.clone()), start, finding.code, finding.message.clone())
    };
    findings.sort_by_key(key);
}
