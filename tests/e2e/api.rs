//! The API server, asked over HTTP.

use std::time::Duration;

use serde_json::{Value, json};

/// A way to one API server, with all rights.
#[derive(Clone)]
pub struct Api {
    base: String,
    agent: ureq::Agent,
}

/// What a request changes.
#[derive(Clone, Copy)]
pub enum Change<'a> {
    /// Reads only.
    Nothing,
    /// Creates an object in a collection.
    Create(&'a Value),
    /// Merges into an object, in the name of a field manager.
    Merge(&'a str, &'a Value),
    /// Replaces an object.
    Replace(&'a Value),
    /// Deletes an object, or a collection.
    Delete,
}

impl Api {
    /// Speaks to the address that a `kubectl proxy` serves.
    pub fn new(base: String) -> Api {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            .build()
            .new_agent();
        Api { base, agent }
    }

    /// Returns an object or a list; `None` where there is none, or no answer yet.
    pub fn get(&self, path: &str) -> Option<Value> {
        let mut answer = self.agent.get(format!("{}{path}", self.base)).call().ok()?;
        let text = answer.body_mut().with_config().limit(1 << 28).read_to_string().ok()?;
        if !answer.status().is_success() {
            return None;
        }
        serde_json::from_str(&text).ok()
    }

    /// Returns whether a path answers well.
    pub fn answers(&self, path: &str) -> bool {
        self.agent.get(format!("{}{path}", self.base)).call().is_ok_and(|answer| answer.status().is_success())
    }

    /// Returns the items of a list.
    pub fn list(&self, path: &str) -> Vec<Value> {
        let mut list = self.get(path).unwrap_or_default();
        let kind = list["kind"].as_str().unwrap_or_default().trim_end_matches("List").to_owned();
        let mut items = match list["items"].take() {
            Value::Array(items) => items,
            _ => Vec::new(),
        };
        for item in &mut items {
            item["kind"] = json!(kind);
        }
        items
    }

    /// Changes something; the error is what the API server says.
    pub fn change(&self, path: &str, change: Change<'_>) -> Result<Value, String> {
        let url = format!("{}{path}", self.base);
        let json = "application/json";
        let answer = match change {
            Change::Nothing => self.agent.get(url).call(),
            Change::Replace(object) => self.agent.put(url).content_type(json).send(object.to_string()),
            Change::Create(object) => self.agent.post(url).content_type(json).send(object.to_string()),
            Change::Merge(manager, patch) => self
                .agent
                .patch(format!("{url}?fieldManager={manager}"))
                .content_type("application/merge-patch+json")
                .send(patch.to_string()),
            Change::Delete => self.agent.delete(url).call(),
        };
        let mut answer = answer.map_err(|error| error.to_string())?;
        let text = answer.body_mut().read_to_string().map_err(|error| error.to_string())?;
        if answer.status().is_success() {
            serde_json::from_str(&text).map_err(|error| error.to_string())
        } else {
            Err(format!("{}: {text}", answer.status()))
        }
    }
}
