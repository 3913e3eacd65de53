//! The audits of the repository: each looks for some kinds of findings.

mod account;
mod api;
mod automation;
mod build;
mod circle;
mod command;
mod dependency;
mod forgotten;
mod held;
mod helm;
mod ignored;
mod image;
mod invalid;
mod namespace;
mod nested;
mod outage;
mod owner;
mod patch;
mod permission;
mod place;
mod reference;
mod refused;
mod removed;
mod renamed;
mod restored;
mod rule;
mod served;
mod side;
mod source;
mod suspend;
mod target;
mod unapplied;
mod unfetched;
mod unlisted;
mod unmatched;
mod unreadable;
mod value;
pub(in crate::check) mod variable;

use std::collections::BTreeSet;

pub use build::{lost_values, once_more};
pub(in crate::check) use source::lacks;
pub(in crate::check) use unfetched::nothing_fetched;

use crate::check::subject::Subject;
use crate::diagnostic::Diagnostic;
use crate::text::some;

/// How many clusters are named.
const NAMED: usize = 3;

/// Looks for findings of some kinds. An audit is a function of what it looks at, and may give a finding
/// once for each cluster that shares it; [`audit`](crate::check::audit()) tells it once.
pub type Audit = fn(&Subject<'_>) -> Vec<Diagnostic>;

/// Every audit.
pub const AUDITS: [Audit; 35] = [
    suspend::audit,
    value::audit,
    dependency::audit,
    source::audit,
    target::audit,
    unapplied::audit,
    forgotten::audit,
    removed::audit,
    unlisted::audit,
    owner::audit,
    side::audit,
    restored::audit,
    renamed::audit,
    namespace::audit,
    reference::audit,
    held::audit,
    helm::audit,
    nested::audit,
    automation::audit,
    api::audit,
    served::audit,
    invalid::audit,
    permission::audit,
    account::audit,
    image::audit,
    command::audit,
    variable::audit,
    outage::audit,
    refused::audit,
    patch::audit,
    unfetched::audit,
    build::audit,
    ignored::audit,
    unmatched::audit,
    rule::audit,
];

/// Names clusters, the first of many.
fn named(clusters: &BTreeSet<&str>) -> String {
    let names: Vec<&str> = clusters.iter().copied().collect();
    format!("{} {}", if names.len() == 1 { "cluster" } else { "clusters" }, some(&names, NAMED))
}
