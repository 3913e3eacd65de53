//! What `check` finds, and did not find before.

use jiff::Timestamp;

use crate::check::{Former, Standard, Subject, Told, history, is_same};
use crate::delivery::{Change, Comparison, EntryPoint, Hold};
use crate::diagnostic::{Diagnostic, Place, Severity, one_line};
use crate::path::RepoPath;
use crate::plan::edit::generated::{Ownership, ownership};
use crate::pr::clock::Clock;
use crate::pr::finding::keys::keys;
use crate::pr::finding::near::near;
use crate::pr::finding::values::values;
use crate::pr::finding::{Finding, Topic};
use crate::pr::landing::{Landing, State};
use crate::pr::report::Line;
use crate::pr::tree::Tree;
use crate::render::Renderer;
use crate::repo::flux::{GROUP, SOURCES};

/// Codes that tell what is told anyway: what does not build, and objects that are deleted.
const TOLD: [&str; 2] = ["GW032", "GW054"];

/// Codes about what does not fit together until a window opens.
const SKEWED: [&str; 3] = ["GW013", "GW017", "GW018"];

/// Codes about objects that go.
const DELETING: [&str; 3] = ["GW012", "GW048", "GW055"];

/// By what each of the two trees is judged.
#[derive(Clone)]
pub struct Standards<'a> {
    /// The older one.
    pub before: Standard<'a>,
    /// The newer one.
    pub after: Standard<'a>,
    /// Whether the older one has a spec of its own.
    pub has_spec: bool,
}

/// Finds what goes wrong on the way, and what `check` says of the newer tree and not of the older one.
///
/// Built is what differs, and what names an object that differs. Where that shows something new, both trees are looked
/// at whole, so that nothing is said for want of what was not built.
pub(super) fn check(
    clock: &Clock<'_>,
    comparison: &Comparison<'_>,
    landings: &[Landing],
    changes: &[Line],
    standards: &Standards<'_>,
    renderer: &dyn Renderer,
) -> Vec<Finding> {
    let mut standards = standards.clone();
    if !may_be_stale(clock, comparison) {
        (standards.before.templates, standards.after.templates) = (None, None);
    }
    let near = near(clock, comparison);
    let is_near = |entry: &EntryPoint| near.contains(&(entry.cluster.clone(), entry.path.clone()));
    let before = Subject::of(clock.before.world, clock.before.spec, renderer, is_near);
    let after = Subject::of(clock.after.world, clock.after.spec, renderer, is_near);
    let early = [values(clock, changes, &after), keys(clock, changes, &after)].concat();
    let mut on_the_way = history(&before, &after);
    on_the_way.retain(|told| !has_code(&told.finding, &TOLD));
    let mut new = news(&standards, before, &after);
    if !new.is_empty() || !on_the_way.is_empty() {
        let before = Subject::of(clock.before.world, clock.before.spec, renderer, |_| true);
        let after = Subject::of(clock.after.world, clock.after.spec, renderer, |_| true);
        let all = history(&before, &after);
        on_the_way.retain(|one| all.iter().any(|other| is_same(&one.finding, &other.finding)));
        let all = news(&standards, before, &after);
        // With all clusters built, one may be said to be of some of them.
        let is_it = |one: &Diagnostic, other: &Diagnostic| one.code == other.code && one.place == other.place;
        let told = |one: Diagnostic| match all.iter().any(|other| is_same(&one, other)) {
            true => Some(one),
            false => all.iter().find(|other| is_it(&one, other)).cloned(),
        };
        new = new.into_iter().filter_map(told).collect();
    }
    let of_history = |told: &Told| of_history(clock, comparison, landings, told);
    let mut found: Vec<Finding> = on_the_way.iter().filter_map(of_history).collect();
    found.extend(new.iter().map(|finding| of_check(finding, "", None, None)));
    found.extend(early);
    found
}

fn news(standards: &Standards<'_>, mut before: Subject<'_>, after: &Subject<'_>) -> Vec<Diagnostic> {
    let mut new = standards.after.findings(after, Vec::new());
    new.retain(|finding| !has_code(finding, &TOLD));
    if !new.is_empty() {
        // A spec that it lent is part of the change.
        before.spec = before.spec.filter(|_| standards.has_spec);
        let found = standards.before.findings(&before, Vec::new());
        new = Former::new(&before, found).news(new, after);
    }
    new
}

fn has_code(finding: &Diagnostic, codes: &[&str]) -> bool {
    finding.code.is_some_and(|code| codes.contains(&code))
}

fn of_history(
    clock: &Clock<'_>,
    comparison: &Comparison<'_>,
    landings: &[Landing],
    told: &Told,
) -> Option<Finding> {
    let cluster = told.cluster.name.as_str();
    let own = comparison.pairs.iter().zip(landings).filter(|(pair, _)| pair.cluster == cluster);
    let at_once = own.filter(|(_, lands)| lands.state == State::AtOnce);
    let arrives = || at_once.filter_map(|(_, lands)| lands.earliest).min().unwrap_or(clock.now);
    let opens = |hold: &Hold| clock.opens(cluster, hold);
    let from = told.from.as_ref().and_then(opens).unwrap_or_else(arrives);
    let until = told.until.as_ref().and_then(opens);
    // What is open at the merge lands with it.
    if until.is_some_and(|until| until <= from) {
        return None;
    }
    Some(of_check(&told.finding, cluster, Some(from), until))
}

fn of_check(
    finding: &Diagnostic,
    cluster: &str,
    from: Option<Timestamp>,
    until: Option<Timestamp>,
) -> Finding {
    let topic = match finding.severity {
        _ if has_code(finding, &SKEWED) => Topic::Skew,
        _ if has_code(finding, &DELETING) => Topic::Deletion,
        Severity::Error => Topic::Error,
        _ => Topic::Check,
    };
    let place = finding.place.as_ref();
    let span = from.zip(until).map(|(from, until)| format!(" (from {from} until {until})"));
    Finding {
        topic,
        cluster: cluster.to_owned(),
        object: None,
        message: finding.message.clone() + &span.unwrap_or_default(),
        from,
        help: finding.help.as_deref().map(one_line).unwrap_or_default(),
        code: finding.code,
        file: place.map(|place| place.path.clone()),
        line: place.and_then(Place::line),
        zone: None,
        about: finding.about.clone(),
    }
}

/// Returns whether what `sync` would generate may be something else than before.
///
/// It follows from the spec, the templates, and which objects there are, not from what the objects say.
fn may_be_stale(clock: &Clock<'_>, comparison: &Comparison<'_>) -> bool {
    let trees = [&clock.before, &clock.after];
    let is_ours = |path: &RepoPath| {
        let file = |tree: &Tree<'_>| Some(ownership(tree.world.snapshot.file(path)?));
        trees.into_iter().filter_map(file).any(|own| own != Ownership::Theirs)
    };
    let is_spec = |path: &RepoPath| {
        let of = |tree: &Tree<'_>| tree.spec.is_some_and(|spec| spec.path == *path);
        trees.into_iter().any(of) || path.name().is_some_and(|name| name.ends_with(".j2"))
    };
    let is_content = |change: &Change| match (&change.before, &change.after) {
        (Some((old, before)), Some((new, after))) => {
            old == new
                && before.value["metadata"] == after.value["metadata"]
                && change.id.kind != "CronJob"
                && ![GROUP, SOURCES].contains(&change.id.group.as_str())
        }
        _ => false,
    };
    comparison.pairs.iter().any(|pair| pair.before.is_none() || pair.after.is_none() || !pair.is_known())
        || comparison.files.iter().any(|path| is_spec(path) || is_ours(path))
        || !comparison.changes.iter().all(is_content)
}
