//! What of a pull request deserves a look, and what it may fail on.

mod at_once;
mod destructive;
mod immutable;
mod skew;

use jiff::Timestamp;

use crate::delivery::Comparison;
use crate::diagnostic::Diagnostic;
use crate::pr::clock::Clock;
use crate::pr::landing::Landing;
use crate::pr::report::{Line, Withheld};
use crate::repo::manifest::ObjectId;

/// What a finding is about, which `--fail-on` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Topic {
    /// Until the window opens, objects of the head and of the base do not fit together
    Skew,
    /// An object goes of which the data goes with it
    Deletion,
    /// A field changes that Kubernetes does not let change
    Immutable,
    /// Something lands outside of the window that seems to hold it back
    OutsideWindow,
    /// Something does not build
    Error,
}

impl Topic {
    /// Returns its name, as `--fail-on` takes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Topic::Skew => "skew",
            Topic::Deletion => "deletion",
            Topic::Immutable => "immutable",
            Topic::OutsideWindow => "outside-window",
            Topic::Error => "error",
        }
    }
}

/// One thing that deserves a look.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// What it is about.
    pub topic: Topic,
    /// The cluster.
    pub cluster: String,
    /// The object, where it is about one.
    pub object: Option<ObjectId>,
    /// What happens.
    pub message: String,
    /// From when on; `None` where nobody knows.
    pub from: Option<Timestamp>,
    /// What to do.
    pub help: String,
}

impl Finding {
    /// Says that the head's spec can't be read.
    pub fn of_spec(problem: &Diagnostic) -> Finding {
        Finding {
            topic: Topic::Error,
            cluster: String::new(),
            object: None,
            message: format!("the spec can't be read: {}", problem.message),
            from: None,
            help: "run `gitops-windows check`; windows are those of the base until then".to_owned(),
        }
    }
}

/// Finds all of them.
pub fn findings(
    clock: &Clock<'_>,
    comparison: &Comparison<'_>,
    landings: &[Landing],
    changes: &[Line],
    withheld: &[Withheld],
) -> Vec<Finding> {
    let broken = withheld.iter().filter(|one| one.is_head && one.is_new).map(|one| Finding {
        topic: Topic::Error,
        cluster: one.cluster.clone(),
        object: None,
        message: format!(
            "{} does not build, so nothing of it lands: {}",
            one.by.path,
            first_line(&one.reason)
        ),
        from: Some(clock.now),
        help: format!("run `kubectl kustomize {}` and mend what it says", one.by.path),
    });
    let mut found: Vec<Finding> = broken.collect();
    found.extend(changes.iter().filter_map(destructive::destructive));
    found.extend(changes.iter().filter_map(immutable::immutable));
    found.extend(changes.iter().filter_map(|line| at_once::at_once(clock, line)));
    found.extend(skew::skew(clock, comparison, landings));
    found.sort();
    found.dedup();
    found
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
