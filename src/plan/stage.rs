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
}

impl std::fmt::Display for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let old = self.old.join(", ");
        let new: Vec<&str> = self.new.iter().map(|(_, name)| name.as_str()).collect();
        let new = new.join(", ");
        write!(f, "{} ({}): {}, ", self.entry, self.cluster, self.stage.as_str())?;
        match &self.stage {
            Stage::Unprepared => write!(f, "{old} would delete what it loses; next: keep it from that"),
            Stage::Restructured => write!(f, "{old} still applies all of it; next: hand over"),
            Stage::HandedOver if old.is_empty() => {
                write!(f, "{new} apply it and delete nothing yet; next: finish")
            }
            Stage::HandedOver => {
                write!(f, "{new} apply the divided apps, {old} the others; next: finish")
            }
            Stage::Finished if old.is_empty() => write!(f, "{new} apply it"),
            Stage::Finished => write!(f, "{new} apply the divided apps, {old} the others"),
            Stage::NotInGit => f.write_str("no Flux Kustomization in Git applies it"),
            Stage::Stuck(stop) => f.write_str(&stop.reason),
        }
    }
}
