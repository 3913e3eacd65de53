//! Freezes and overrides that a pull request adds, moves or takes out, and the end of the table of open times.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::diagnostic::Place;
use crate::pr::finding::window::{WindowChange, types_words};
use crate::schedule::Interval;
use crate::spec::Spec;
use crate::spec::exceptions::is_endless;

/// How many stretches of one calendar are told one by one.
const MOST: usize = 3;

/// A freeze or an override in a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Exception {
    /// Whether it takes time, or gives some.
    is_freeze: bool,
    /// What people call it.
    title: String,
    /// The type that it is about.
    change_type: String,
}

/// Where each holds and stands in the spec.
type Stretches = BTreeMap<Exception, BTreeMap<Interval, Place>>;

/// What becomes of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    New(Interval),
    Gone(Interval),
    /// From one stretch of time to another.
    Moved(Interval, Interval),
}

/// By whether it is a freeze, its title and what becomes of it: the types that it is about, and its place.
type Found = BTreeMap<(bool, String, What), (BTreeSet<String>, Option<Place>)>;

/// Says what becomes of the freezes and overrides of a cluster that are not over.
pub(super) fn exceptions(before: &Spec, after: &Spec, cluster: &str, now: Timestamp) -> Vec<WindowChange> {
    let (olds, news) = (of_spec(before, cluster, now), of_spec(after, cluster, now));
    let mut found = Found::new();
    for key in olds.keys().chain(news.keys()).collect::<BTreeSet<_>>() {
        let none = BTreeMap::new();
        let (old, new) = (olds.get(key).unwrap_or(&none), news.get(key).unwrap_or(&none));
        let gone: Vec<Interval> = old.keys().filter(|one| !new.contains_key(one)).copied().collect();
        let added: Vec<Interval> = new.keys().filter(|one| !old.contains_key(one)).copied().collect();
        let whats: Vec<What> = match (&gone[..], &added[..]) {
            ([from], [to]) => vec![What::Moved(*from, *to)],
            _ => gone.into_iter().map(What::Gone).chain(added.into_iter().map(What::New)).collect(),
        };
        for what in whats {
            let place = match what {
                What::New(at) | What::Moved(_, at) => new.get(&at).cloned(),
                What::Gone(_) => None,
            };
            let entry = found.entry((key.is_freeze, key.title.clone(), what)).or_default();
            entry.0.insert(key.change_type.clone());
            entry.1 = place;
        }
    }
    let mut numbers: BTreeMap<(bool, String, bool), usize> = BTreeMap::new();
    let mut told = Vec::new();
    for ((is_freeze, title, what), (types, place)) in &found {
        let number = numbers.entry((*is_freeze, title.clone(), matches!(what, What::Gone(_)))).or_default();
        *number += 1;
        if *number <= MOST {
            let closed = || is_kept_closed(after, cluster, types, *what);
            let message = message(*is_freeze, title, *what, &types_words(types), now, closed);
            told.push(WindowChange { message, place: place.clone() });
        }
    }
    let more = |((_, title, is_gone), number): ((bool, String, bool), usize)| {
        let more = number.checked_sub(MOST).filter(|more| *more > 0)?;
        let what = if is_gone { "goes from" } else { "takes" };
        Some(WindowChange { message: format!("{title} {what} {more} more stretches of time"), place: None })
    };
    told.extend(numbers.into_iter().filter_map(more));
    told.extend(table(before, after));
    told
}

fn of_spec(spec: &Spec, cluster: &str, now: Timestamp) -> Stretches {
    let mut found = Stretches::new();
    for change_type in spec.gated_types() {
        let name = &change_type.name.value;
        let mut add = |is_freeze, title: String, interval: Interval, place: &Place| {
            if interval.close > now {
                let key = Exception { is_freeze, title, change_type: name.clone() };
                found.entry(key).or_default().insert(interval, place.clone());
            }
        };
        for freeze in spec.freezes_of(cluster, name) {
            let title = format!("freeze `{}` ({})", freeze.name.value, freeze.reason);
            add(true, title, freeze.interval, &freeze.name.place);
        }
        for given in spec.overrides_of(cluster, name) {
            add(false, format!("override ({})", given.reason), given.interval, &given.place);
        }
    }
    found
}

/// Returns whether freezes take all of a new override.
fn is_kept_closed(spec: &Spec, cluster: &str, types: &BTreeSet<String>, what: What) -> bool {
    let (What::New(at) | What::Moved(_, at)) = what else { return false };
    types.iter().all(|name| {
        let times = spec.open_times(cluster, name).ok().flatten();
        times.is_some_and(|times| times.cut(at.open, at.close).next().is_none())
    })
}

fn message(
    is_freeze: bool,
    title: &str,
    what: What,
    types: &str,
    now: Timestamp,
    is_closed: impl Fn() -> bool,
) -> String {
    let from = |interval: Interval| interval.open.max(now);
    let end = |interval: Interval| match is_freeze && is_endless(interval) {
        true => "it is removed".to_owned(),
        false => interval.close.to_string(),
    };
    let kept = || if !is_freeze && is_closed() { ", but a freeze keeps it closed" } else { "" };
    let verb = if is_freeze { "closes" } else { "opens" };
    match what {
        What::New(at) => format!("{title} {verb} {types} from {} until {}{}", from(at), end(at), kept()),
        What::Moved(old, new) if from(old) == from(new) => {
            format!("{title} {verb} {types} until {} instead of {}{}", end(new), end(old), kept())
        }
        What::Moved(old, new) => format!(
            "{title} {verb} {types} from {} until {} instead of from {} until {}{}",
            from(new),
            end(new),
            from(old),
            end(old),
            kept()
        ),
        What::Gone(at) if is_freeze && is_endless(at) => {
            format!("{title} goes: it {verb} {types} no more from {} on", from(at))
        }
        What::Gone(at) => {
            format!("{title} goes: it {verb} {types} no more from {} until {}", from(at), end(at))
        }
    }
}

/// Says that the table of open times ends at another time.
fn table(before: &Spec, after: &Spec) -> Option<WindowChange> {
    let (old, new) = (before.gate.table.as_ref()?, after.gate.table.as_ref()?);
    let (was, is) = (old.bounds.close, new.bounds.close);
    let message = format!("the table of open times ends {is} instead of {was}; nothing opens after it");
    (was != is).then(|| WindowChange { message, place: Some(new.place.clone()) })
}
