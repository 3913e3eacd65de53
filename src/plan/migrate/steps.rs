//! The next step of several entry points, as edits.

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::Stage;
use crate::plan::edit::Builder;
use crate::plan::edit::prepare::prepare;
use crate::plan::migrate::depends::Succession;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::rewritten::Rewritten;
use crate::plan::migrate::waiters::rewrite_waiters;
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
/// Those of several clusters that are written in the same files are one step.
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
    for (position, one) in active.iter().enumerate() {
        let is_twin = |other: &&&Move<'_>| other.is_written_as(one);
        if active[..position].iter().any(|other| is_twin(&other)) {
            continue;
        }
        let before = builder.clone();
        let stop = |of: &Move<'_>, problem| Halt {
            cluster: of.cluster.clone(),
            whole: Some(of.whole.clone()),
            problem,
        };
        notes.extend(step(input, builder, one, succession, rewritten).map_err(|problem| stop(one, problem))?);
        for twin in active[position + 1..].iter().filter(is_twin) {
            let mut own = before.clone();
            step(input, &mut own, twin, succession, rewritten).map_err(|problem| stop(twin, problem))?;
            if own.now() != builder.now() {
                return Err(stop(twin, differs(twin, one)));
            }
        }
    }
    let halt = |(cluster, problem)| Halt { cluster, whole: None, problem };
    notes.extend(rewrite_waiters(input, builder, succession, rewritten).map_err(halt)?);
    notes.extend(watcher::rewrite(input, builder, succession).map_err(halt)?);
    Ok(notes)
}

/// Takes the next step of one, and gives what people are told.
fn step(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    one: &Move<'_>,
    succession: &Succession,
    rewritten: &mut Vec<Rewritten>,
) -> Result<Vec<String>, Problem> {
    match one.stage {
        Stage::Unprepared => {
            for old in &one.old {
                prepare(builder, old)?;
                let (text, index) = place::find(builder, old)?;
                let documents = crate::yaml::read_documents(&text).unwrap_or_default();
                let after = documents.get(index).map(|document| document.root.to_json());
                rewritten.push(Rewritten::of(&one.cluster, old, after.into_iter().collect()));
            }
        }
        Stage::Restructured => return hand_over::hand_over(input, builder, one, succession, rewritten),
        Stage::HandedOver => {
            finish::finish(builder, one, rewritten)?;
            finish::clear(input, builder, one);
        }
        Stage::Finished | Stage::NotInGit | Stage::Stuck(_) => {}
    }
    Ok(Vec::new())
}

/// Two clusters that one file can't serve any more.
fn differs(twin: &Move<'_>, one: &Move<'_>) -> Problem {
    let reason = format!(
        "cluster {} needs other Flux Kustomizations than {}, which applies the same file",
        twin.cluster, one.cluster
    );
    let remedy = "give each cluster a Flux Kustomization in a file of its own";
    match twin.all().next() {
        Some(flux) => Problem::lasting(reason, remedy, flux.place("path")),
        None => Problem::new(reason, remedy),
    }
}
