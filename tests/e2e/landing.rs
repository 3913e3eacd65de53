//! When something was said to land, and when it did.

use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::fleet::Fleet;

/// What `gitops-windows when` says before a change is merged.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Before this, nothing may land.
    pub from: Timestamp,
    /// At this, it must have landed: Flux's interval later.
    pub until: Timestamp,
}

/// A change of one type that has landed.
struct Landing {
    what: String,
    said: Prediction,
    happened: Timestamp,
}

static LANDINGS: Mutex<Vec<Landing>> = Mutex::new(Vec::new());

/// Asks the tool when a change of an app reaches a cluster if it is merged now.
#[track_caller]
pub fn predict(fleet: &Fleet, cluster: &str, app: &str, change_type: &str) -> Prediction {
    let answer = fleet.tool(&["when", app, "--cluster", cluster, "--format", "json"]);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let lines = answer["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["type"] == change_type).unwrap_or_else(|| panic!("{answer:#}"));
    let from = line["reaches"]["utc"].as_str().unwrap_or_else(|| panic!("{answer:#}"));
    let interval = line["kustomization"]["interval"].as_str().unwrap();
    let from: Timestamp = from.parse().unwrap();
    Prediction { from, until: from + interval.parse::<SignedDuration>().unwrap() }
}

/// Asks the tool when the edits of the working tree reach a cluster if they are merged now, by type.
#[track_caller]
pub fn told(fleet: &Fleet, cluster: &str, change_type: &str) -> Prediction {
    let answer = fleet.tool(&["pr", "--base", "HEAD", "--format", "json"]);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let mut changes = answer["changes"].as_array().unwrap().iter();
    let change = changes.find(|one| one["cluster"] == cluster && one["type"] == change_type);
    let lands = &change.unwrap_or_else(|| panic!("{answer:#}"))["lands"];
    let instant = |key: &str| lands[key].as_str().unwrap_or_else(|| panic!("{answer:#}")).parse().unwrap();
    Prediction { from: instant("earliest"), until: instant("latest") }
}

/// Compares what was said with what happened, and remembers both.
#[track_caller]
pub fn record(what: &str, said: &Prediction, happened: Timestamp) {
    let landing = Landing { what: what.to_owned(), said: said.clone(), happened };
    LANDINGS.lock().unwrap_or_else(PoisonError::into_inner).push(landing);
    assert!(
        said.from <= happened && happened <= said.until,
        "{what}: said to land from {} to {}, landed at {happened}",
        said.from,
        said.until
    );
}

/// Prints every landing.
pub fn print() {
    let landings = LANDINGS.lock().unwrap_or_else(PoisonError::into_inner);
    for Landing { what, said, happened } in landings.iter() {
        let late = happened.duration_since(said.from).as_secs_f64();
        println!("landing: {what}: said {} to {}, landed {late:.1} s after the first", said.from, said.until);
    }
}
