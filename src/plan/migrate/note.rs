//! What people are told of a step beside where its entry points stand.

use crate::plan::report::Beside;

/// What people are told of a step beside where its entry points stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// What the step changes elsewhere in some clusters.
    Change {
        /// The clusters.
        clusters: Vec<String>,
        /// The object that changes.
        subject: String,
        /// What becomes of it.
        fact: String,
        /// Why, where that is not plain.
        why: Option<String>,
        /// Whether such a step usually does that, so that it needs no words of its own.
        is_usual: bool,
    },
    /// What is left for people to do.
    Left(String),
}

impl Note {
    /// Says that a Flux Kustomization gets another `dependsOn`.
    pub fn depends(clusters: Vec<String>, name: &str, on: &[&str], why: Option<String>) -> Note {
        let fact =
            format!("new `dependsOn`: {}", if on.is_empty() { "none".to_owned() } else { on.join(", ") });
        let is_usual = why.is_none();
        Note::Change { clusters, subject: format!("Flux Kustomization {name}"), fact, why, is_usual }
    }

    /// Returns what people are told of a change, below the name of each of its clusters; what is to be said of it in one
    /// message, as an error.
    ///
    /// # Errors
    ///
    /// With the message, where it is no change.
    pub fn beside(self) -> Result<Vec<Beside>, String> {
        match self {
            Note::Change { clusters, subject, fact, why, is_usual } => {
                let why = why.map(|why| format!("    why: {why}"));
                let lines: Vec<String> = std::iter::once(format!("  {subject}  {fact}")).chain(why).collect();
                let of = |cluster| Beside { cluster, lines: lines.clone(), is_usual };
                Ok(clusters.into_iter().map(of).collect())
            }
            Note::Left(text) => Err(text),
        }
    }

    /// Returns it as one message.
    pub fn told(self) -> String {
        match self {
            Note::Change { clusters, subject, fact, why, .. } => {
                let why = why.map(|why| format!(". {why}")).unwrap_or_default();
                format!("{subject} ({}): {fact}{why}", clusters.join(", "))
            }
            Note::Left(text) => text,
        }
    }
}
