//! The next step of several entry points, as edits.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::Stage;
use crate::plan::edit::Builder;
use crate::plan::edit::prepare::prepare;
use crate::plan::migrate::depends::Succession;
use crate::plan::migrate::lists::Lists;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::note::Note;
use crate::plan::migrate::rewritten::Rewritten;
use crate::plan::migrate::waiters::rewrite_waiters;
use crate::plan::migrate::{finish, hand_over, place, watcher};
use crate::plan::problem::{OF_ITS_OWN, Problem};

/// A problem with what it speaks of: some entry points of a cluster, or where it names none all of the cluster's.
pub struct Halt {
    pub cluster: String,
    pub wholes: BTreeSet<RepoPath>,
    pub problem: Problem,
}

impl Halt {
    /// Returns whether it speaks of an entry point.
    pub fn stops(&self, one: &Move<'_>) -> bool {
        self.cluster == one.cluster && (self.wholes.is_empty() || self.wholes.contains(&one.whole))
    }
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
) -> Result<Vec<Note>, Halt> {
    let mut notes = Vec::new();
    let stop = |of: &Move<'_>, problem| Halt {
        cluster: of.cluster.clone(),
        wholes: BTreeSet::from([of.whole.clone()]),
        problem,
    };
    let mut lists = Lists::default();
    for (one, twins) in by_files(active) {
        let before = builder.clone();
        let mut take = |builder: &mut Builder<'_>, one: &Move<'_>| {
            let mut new = Lists::default();
            let told = documents(input, builder, &mut new, one, succession, rewritten);
            told.map(|told| (told, new)).map_err(|problem| stop(one, problem))
        };
        let (told, new) = take(builder, one)?;
        let mut wholes: Vec<&Move<'_>> = vec![one];
        for twin in twins {
            let mut own = before.clone();
            let (_, same) = take(&mut own, twin)?;
            if own.now() != builder.now() || same != new {
                return Err(stop(twin, differs(twin, one)));
            }
            if wholes.iter().all(|known| known.whole != twin.whole) {
                wholes.push(twin);
            }
        }
        notes.extend(told);
        lists.extend(new);
        wholes.into_iter().for_each(|one| folders(input, builder, one));
    }
    lists.write(builder).map_err(|(files, problem)| {
        let waits = |one: &&&Move<'_>| one.old.iter().any(|old| files.contains(&old.file));
        let cluster = active.iter().find(waits).map(|one| one.cluster.clone()).unwrap_or_default();
        let own = active.iter().filter(|one| one.cluster == cluster && waits(one));
        Halt { wholes: own.map(|one| one.whole.clone()).collect(), cluster, problem }
    })?;
    let halt = |(cluster, problem)| Halt { cluster, wholes: BTreeSet::new(), problem };
    if active.iter().any(|one| one.stage == Stage::HandedOver) {
        finish::clear_umbrellas(input, builder, &|_| true);
    }
    notes.extend(rewrite_waiters(input, builder, succession, rewritten).map_err(halt)?);
    notes.extend(watcher::rewrite(input, builder, succession).map_err(halt)?);
    Ok(notes)
}

/// Returns the first of those that are written in the same files, each with the others.
fn by_files<'m, 'a>(active: &[&'m Move<'a>]) -> Vec<(&'m Move<'a>, Vec<&'m Move<'a>>)> {
    let mut found: Vec<(&Move<'_>, Vec<&Move<'_>>)> = Vec::new();
    let mut of_file: BTreeMap<&RepoPath, Vec<usize>> = BTreeMap::new();
    for one in active.iter().copied() {
        let files = one.files();
        let mut known = files.iter().filter_map(|file| of_file.get(file)).flatten();
        match known.find(|position| found[**position].0.is_written_as(one)).copied() {
            Some(position) => found[position].1.push(one),
            None => {
                files.into_iter().for_each(|file| of_file.entry(file).or_default().push(found.len()));
                found.push((one, Vec::new()));
            }
        }
    }
    found
}

/// Takes the next step of one in the files of its Flux Kustomizations, and gives what people are told.
fn documents(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    lists: &mut Lists,
    one: &Move<'_>,
    succession: &Succession,
    rewritten: &mut Vec<Rewritten>,
) -> Result<Vec<Note>, Problem> {
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
        Stage::Restructured => {
            return hand_over::hand_over(input, builder, lists, one, succession, rewritten);
        }
        Stage::HandedOver => finish::finish(builder, one, rewritten)?,
        Stage::Finished | Stage::NotInGit | Stage::Stuck(_) => {}
    }
    Ok(Vec::new())
}

/// Takes the step in the folders that these build.
fn folders(input: &Input<'_>, builder: &mut Builder<'_>, one: &Move<'_>) {
    match one.stage {
        Stage::Restructured => hand_over::leave_rest(input, builder, one),
        Stage::HandedOver => finish::clear(input, builder, one),
        Stage::Unprepared | Stage::Finished | Stage::NotInGit | Stage::Stuck(_) => {}
    }
}

/// Two clusters that one file can't serve any more.
fn differs(twin: &Move<'_>, one: &Move<'_>) -> Problem {
    let reason = format!(
        "cluster {} needs other Flux Kustomizations than {}, which applies the same file",
        twin.cluster, one.cluster
    );
    match twin.all().next() {
        Some(flux) => Problem::lasting(reason, OF_ITS_OWN, flux.place("path")),
        None => Problem::new(reason, OF_ITS_OWN),
    }
}
