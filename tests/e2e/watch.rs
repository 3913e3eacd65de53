//! All objects of a change, each watched until it lands.

use jiff::Timestamp;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::fleet::Fleet;
use crate::landing::{Prediction, record};

/// Objects that change, with when `pr` said that they land.
pub struct Watch<'c> {
    cluster: &'c Cluster,
    scene: &'static str,
    all: Vec<Watched>,
}

struct Watched {
    name: String,
    path: String,
    /// Its state before the merge.
    state: Option<String>,
    said: Prediction,
    landed: Option<Timestamp>,
}

impl<'c> Watch<'c> {
    /// Begins with nothing.
    pub fn new(scene: &'static str, cluster: &'c Cluster) -> Watch<'c> {
        Watch { cluster, scene, all: Vec::new() }
    }

    /// Asks `pr` when all edits of the working tree land if they are merged now, and returns its answer.
    #[track_caller]
    pub fn predict(&mut self, fleet: &Fleet) -> Value {
        let answer = fleet.tool(&["pr", "--base", "HEAD", "--format", "json"]);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let all = ["changes", "substituted"].into_iter().filter_map(|key| answer[key].as_array());
        for change in all.flatten() {
            let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned();
            let instant = |key: &str| text(&change["lands"][key]).parse().unwrap();
            let object = &change["object"];
            let path = path_of(object);
            let said = Prediction { from: instant("earliest"), until: instant("latest") };
            let name = format!("{} {}", text(&object["kind"]), text(&object["name"]));
            println!("said: {name} {} {} to {}", text(&change["change"]), said.from, said.until);
            let state = state_of(self.cluster, &path);
            self.all.push(Watched { name, path, state, said, landed: None });
        }
        answer
    }

    /// Looks at all objects; `true` if all have landed.
    pub fn have_landed(&mut self) -> bool {
        for one in self.all.iter_mut().filter(|one| one.landed.is_none()) {
            if state_of(self.cluster, &one.path) != one.state {
                let at = Timestamp::now();
                println!("landed: {} {} to {}: {at}", one.name, one.said.from, one.said.until);
                one.landed = Some(at);
            }
        }
        self.all.iter().all(|one| one.landed.is_some())
    }

    /// Returns when an object has landed, by its kind and name.
    #[track_caller]
    pub fn landed(&self, name: &str) -> Option<Timestamp> {
        let found = self.all.iter().rev().find(|one| one.name == name);
        found.unwrap_or_else(|| panic!("{name} does not change")).landed
    }

    /// Compares what was said of all with what happened.
    #[track_caller]
    pub fn record(&self) {
        let landed = self.all.iter().filter_map(|one| Some((one, one.landed?)));
        for (one, landed) in landed {
            record(&format!("{}: {}", self.scene, one.name), &one.said, landed);
        }
        let missing: Vec<_> =
            self.all.iter().filter(|one| one.landed.is_none()).map(|one| &one.name).collect();
        assert!(missing.is_empty(), "{missing:?} did not land");
    }
}

/// Returns what only changes with what Git says of an object; `None` where it is not there.
fn state_of(cluster: &Cluster, path: &str) -> Option<String> {
    let found = cluster.api.get(path)?;
    let metadata = &found["metadata"];
    let said = if metadata["generation"].is_null() { &found["data"] } else { &metadata["generation"] };
    Some(format!("{} {said}", metadata["uid"]))
}

/// Returns the path of an object at the API server.
fn path_of(object: &Value) -> String {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    let version = text("apiVersion");
    let group = if version.contains('/') { "apis" } else { "api" };
    let (namespace, plural) = (text("namespace"), text("kind").to_lowercase());
    format!("/{group}/{version}/namespaces/{namespace}/{plural}s/{}", text("name"))
}
