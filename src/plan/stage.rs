//! How far an entry point of a cluster has come, and how people are told.

use serde_json::{Value, json};

use crate::path::RepoPath;
use crate::plan::problem::Problem;
use crate::text::words_of;

words_of! {
    /// How far one entry point of one cluster has come. Programs read its word; people too, but for [`Standing::told`].
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Stage {
        /// The sides are there, and the old Flux Kustomization would delete what it loses.
        Unprepared = "unprepared",
        /// Step 1 is done: the old one goes on applying all of it, and would delete nothing.
        Restructured = "restructured",
        /// Step 2 is done: each type has its Flux Kustomization, and none deletes anything yet.
        HandedOver = "handed over",
        /// Step 3 is done.
        Finished = "finished",
        /// No Flux Kustomization in Git applies it, so only people can move it.
        NotInGit = "not in Git",
        /// Something is in the way.
        Stuck(Problem) = "stuck",
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
    /// Whether its next step is refused.
    pub is_refused: bool,
    /// Whether a patch for the time of the migration still keeps its new Flux Kustomizations from deleting.
    pub is_kept: bool,
    /// The Flux Kustomizations that apply the entry point itself.
    pub old: Vec<String>,
    /// The Flux Kustomizations that apply its sides, by type.
    pub new: Vec<(String, String)>,
}

impl Standing {
    /// Returns the standing as JSON.
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
        let applies = if new.len() == 1 { "applies" } else { "apply" };
        let new = new.join(", ");
        let applied = if old.is_empty() {
            format!("{new} {applies} it")
        } else {
            format!("{new} {applies} the divided apps, {old} the others")
        };
        let (apply, delete, they) = match self.old.len() {
            1 => ("applies", "deletes", "it deletes"),
            _ => ("apply", "delete", "they delete"),
        };
        let next = |step: String| match self.is_refused {
            true => format!("next step, refused for the reason below: {step}"),
            false => format!("this step: {step}"),
        };
        let (step, facts) = match &self.stage {
            Stage::Unprepared => (
                "",
                vec![
                    format!("{old} still {delete} objects that leave it"),
                    next(format!("prepare, so that {they} nothing")),
                ],
            ),
            Stage::Restructured => (
                " (step 1 of 3)",
                vec![
                    format!("{old} still {apply} all of it and {delete} nothing"),
                    next("hand over to a Flux Kustomization for each change type".to_owned()),
                ],
            ),
            Stage::HandedOver => (
                " (step 2 of 3)",
                vec![
                    format!("{applied}; they delete nothing yet"),
                    next("finish, so that they delete objects that leave Git".to_owned()),
                ],
            ),
            Stage::Finished if self.is_kept => {
                (" (step 3 of 3)", vec![format!("{applied}; a patch keeps them from deleting")])
            }
            Stage::Finished => (" (step 3 of 3)", vec![applied]),
            Stage::NotInGit => ("", vec!["no Flux Kustomization in Git applies it".to_owned()]),
            Stage::Stuck(stop) => ("", vec![stop.reason.clone()]),
        };
        let word = match self.stage {
            Stage::Restructured => "split, not handed over",
            _ => self.stage.as_str(),
        };
        let first = format!("  {}  {word}{step}", self.entry);
        std::iter::once(first).chain(facts.into_iter().map(|fact| format!("    {fact}"))).collect()
    }
}
