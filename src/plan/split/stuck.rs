//! Gates follow what is divided. Those that can't are left as they stand, and so are the entry points of their clusters.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;
use crate::plan::gate::{self, Leftover};
use crate::plan::problem::Problem;
use crate::plan::split::draft::{Draft, Known};
use crate::plan::split::run::Run;
use crate::plan::{EntryOutcome, Plan};

/// What gates came to.
pub enum Followed {
    /// They change as well.
    Changed,
    /// They stay as they stand.
    Unchanged,
    /// Some can't be brought up to date: the next draft is one without their clusters.
    Stuck,
}

impl<'a> Run<'a> {
    /// Brings the gates up to date with a draft that came out right.
    ///
    /// # Errors
    ///
    /// When a gate can't be brought up to date, and nothing is left to divide without its cluster.
    pub fn follow(&self, draft: &mut Draft<'a>, known: &mut Known) -> Result<Followed, Error> {
        if draft.builder.is_unchanged() {
            return Ok(Followed::Unchanged);
        }
        let mut builder = draft.builder.clone();
        let commands = match gate::follow(self.original, self.templates, &mut builder, &known.stuck) {
            Ok(leftover) => leftover.commands,
            Err(error) => return self.without_stuck(draft, known, error),
        };
        draft.builder = builder;
        draft.plan.commands.extend(commands);
        draft.plan.remarks.extend(known.stuck.iter().map(|cluster| self.stays(cluster)));
        let Plan { changes, obligations, .. } = self.plan(&draft.builder, &draft.outcomes, &draft.came);
        let is_new = draft.plan.changes != changes;
        (draft.plan.changes, draft.plan.obligations) = (changes, obligations);
        Ok(if is_new { Followed::Changed } else { Followed::Unchanged })
    }

    fn stays(&self, cluster: &str) -> Diagnostic {
        Diagnostic::warning(format!("the gate of cluster {cluster} stays as it stands"))
            .at(Place::file(self.original.spec.path.clone()))
            .help("`gitops-windows sync --dry-run` says why")
    }

    /// Refuses the entry points of clusters whose gates can't be brought up to date.
    ///
    /// # Errors
    ///
    /// With the error of all of them, where that leaves nothing to divide, or is no matter of single clusters.
    fn without_stuck(&self, draft: &Draft<'a>, known: &mut Known, error: Error) -> Result<Followed, Error> {
        let open = self.original.spec.clusters.keys().filter(|cluster| !known.stuck.contains(*cluster));
        let open: Vec<&String> = open.collect();
        let mut stuck = BTreeMap::new();
        self.find(draft, &open, error.clone(), &mut stuck);
        let problem = |outcome: &EntryOutcome| {
            let own = self
                .original
                .model
                .entry(&outcome.before)?
                .clusters()
                .find_map(|cluster| stuck.get(cluster))?;
            Some((outcome.before.clone(), why(own)))
        };
        let meant = || draft.outcomes.iter().filter(|outcome| draft.divided.contains(&outcome.before));
        let refused: BTreeMap<_, _> = meant().filter_map(problem).collect();
        let is_all = meant().all(|outcome| refused.contains_key(&outcome.before));
        if stuck.is_empty() || is_all || !self.keeps_base(draft, known, &stuck) {
            return Err(error);
        }
        known.stuck.extend(stuck.into_keys());
        known.refused.extend(refused);
        Ok(Followed::Stuck)
    }

    /// Finds the clusters whose gates alone can't follow, by halves; `error` is why all of these can't.
    fn find(&self, draft: &Draft<'a>, among: &[&String], error: Error, stuck: &mut BTreeMap<String, Error>) {
        if let [one] = among {
            stuck.insert((*one).clone(), error);
            return;
        }
        let (first, second) = among.split_at(among.len() / 2);
        for half in [first, second].into_iter().filter(|half| !half.is_empty()) {
            let all = self.original.spec.clusters.keys();
            let without = all.filter(|cluster| !half.contains(cluster)).cloned().collect();
            if let Err(error) = self.try_without(draft, &without) {
                self.find(draft, half, error, stuck);
            }
        }
    }

    fn try_without(&self, draft: &Draft<'a>, without: &BTreeSet<String>) -> Result<Leftover, Error> {
        gate::follow(self.original, self.templates, &mut draft.builder.clone(), without)
    }

    /// Returns whether the others can follow, and what all gates have in common stays as it stands: the gates that can't
    /// follow are made of it too.
    fn keeps_base(&self, draft: &Draft<'a>, known: &Known, stuck: &BTreeMap<String, Error>) -> bool {
        let without = stuck.keys().chain(&known.stuck).cloned().collect();
        let mut builder = draft.builder.clone();
        let Ok(base) = self.original.spec.gate_base() else { return false };
        gate::follow(self.original, self.templates, &mut builder, &without).is_ok()
            && !builder.finish().changes.keys().any(|path| path.is_within(&base))
    }
}

/// Says why nothing is divided in a cluster.
fn why(error: &Error) -> Problem {
    let place = error.diagnostics.first().and_then(|one| one.place.clone());
    let problem = match error.diagnostics.first() {
        Some(first) => Problem::from(first),
        None => Problem::from(error),
    };
    Problem {
        place: place.map(Box::new),
        reason: format!("its gate can't follow: {}", problem.reason),
        ..problem
    }
}
