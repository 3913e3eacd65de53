//! The next step of several entry points, as edits.

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::Stage;
use crate::plan::edit::Builder;
use crate::plan::edit::prepare::prepare;
use crate::plan::migrate::depends::Succession;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::rewritten::Rewritten;
use crate::plan::migrate::{finish, hand_over, place, watcher};
use crate::plan::problem::Problem;

/// A problem with what it speaks of: one entry point of a cluster, or all of the cluster's.
pub struct Halt {
    pub cluster: String,
    pub whole: Option<RepoPath>,
    pub problem: Problem,
}

/// Takes the next step of each into the builder.
///
/// # Errors
///
/// The first that can't be taken.
pub fn steps(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    active: &[&Move<'_>],
    succession: &Succession,
    rewritten: &mut Vec<Rewritten>,
) -> Result<Vec<String>, Halt> {
    let mut notes = Vec::new();
    for one in active {
        let stop = |problem| Halt { cluster: one.cluster.clone(), whole: Some(one.whole.clone()), problem };
        match one.stage {
            Stage::Unprepared => {
                for old in &one.old {
                    prepare(builder, old).map_err(stop)?;
                    let (text, index) = place::find(builder, old).map_err(stop)?;
                    let documents = crate::yaml::read_documents(&text).unwrap_or_default();
                    let after = documents.get(index).map(|document| document.root.to_json());
                    rewritten.push(Rewritten::of(&one.cluster, old, after.into_iter().collect()));
                }
            }
            Stage::Restructured => {
                notes.extend(hand_over::hand_over(input, builder, one, succession, rewritten).map_err(stop)?);
            }
            Stage::HandedOver => {
                finish::finish(builder, one, rewritten).map_err(stop)?;
                finish::clear(input, builder, one);
            }
            Stage::Finished | Stage::NotInGit | Stage::Stuck(_) => {}
        }
    }
    let waiters = hand_over::rewrite_waiters(input, builder, succession, rewritten);
    let halt = |(cluster, problem)| Halt { cluster, whole: None, problem };
    notes.extend(waiters.map_err(halt)?);
    notes.extend(watcher::rewrite(input, builder, succession).map_err(halt)?);
    Ok(notes)
}
