//! How far an entry point of a cluster has come, and how people are told.

use serde_json::{Value, json};

use crate::path::RepoPath;
use crate::plan::problem::Problem;

/// How far one entry point of one cluster has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The sides are there, and the old Flux Kustomization would delete what it loses.
    Unprepared,
    /// Step 1 is done: the old one goes on applying all of it, and would delete nothing.
    Restructured,
    /// Step 2 is done: each type has its Flux Kustomization, and none deletes anything yet.
    HandedOver,
    /// Step 3 is done.
    Finished,
    /// No Flux Kustomization in Git applies it, so only people can move it.
    NotInGit,
    /// Something is in the way.
    Stuck(Problem),
}

impl Stage {
    /// Gives the word used in output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Stage::Unprepared => "unprepared",
            Stage::Restructured => "restructured",
            Stage::HandedOver => "handed over",
            Stage::Finished => "finished",
            Stage::NotInGit => "not in Git",
            Stage::Stuck(_) => "stuck",
        }
    }
}

/// Where one entry point of one cluster stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The cluster.
    pub cluster: String,
    /// The entry point that was divided.
    pub entry: RepoPath,
    /// How far it has come.
    pub stage: Stage,
    /// The Flux Kustomizations that apply the entry point itself.
    pub old: Vec<String>,
    /// The Flux Kustomizations that apply its sides, by type.
    pub new: Vec<(String, String)>,
}

impl Standing {
    /// Gives the standing as JSON.
    pub fn to_json(&self) -> Value {
        let new: Vec<Value> =
            self.new.iter().map(|(of, name)| json!({ "type": of, "kustomization": name })).collect();
        let mut value = json!({
            "cluster": self.cluster,
            "path": self.entry.to_string(),
            "stage": self.stage.as_str(),
            "old": self.old,
            "new": new,
        });
        if let Stage::Stuck(stop) = &self.stage {
            value["reason"] = json!(stop.reason);
            value["remedy"] = json!(stop.remedy());
        }
        value
    }

    /// Returns the lines that tell people of it, below its cluster.
    pub fn told(&self) -> Vec<String> {
        let old = self.old.join(", ");
        let new: Vec<&str> = self.new.iter().map(|(_, name)| name.as_str()).collect();
        let new = new.join(", ");
        let applied = if old.is_empty() {
            format!("{new} apply it")
        } else {
            format!("{new} apply the divided apps, {old} the others")
        };
        let (step, facts) = match &self.stage {
            Stage::Unprepared => (
                "",
                vec![
                    format!("{old} still deletes objects that leave it"),
                    "this step: prepare, so that it deletes nothing".to_owned(),
                ],
            ),
            Stage::Restructured => (
                " (step 1 of 3)",
                vec![
                    format!("{old} still applies all of it and deletes nothing"),
                    "this step: hand over to a Flux Kustomization for each change type".to_owned(),
                ],
            ),
            Stage::HandedOver => (
                " (step 2 of 3)",
                vec![
                    format!("{applied}; they delete nothing yet"),
                    "this step: finish, so that they delete objects that leave Git".to_owned(),
                ],
            ),
            Stage::Finished => (" (step 3 of 3)", vec![applied]),
            Stage::NotInGit => ("", vec!["no Flux Kustomization in Git applies it".to_owned()]),
            Stage::Stuck(stop) => ("", vec![stop.reason.clone()]),
        };
        let first = format!("  {}  {}{step}", self.entry, self.stage.as_str());
        std::iter::once(first).chain(facts.into_iter().map(|fact| format!("    {fact}"))).collect()
    }
}
