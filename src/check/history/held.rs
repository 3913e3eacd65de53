//! What a change set does to what reads a held source: that goes on applying the commit that was let in.

use std::collections::{BTreeMap, BTreeSet};

use super::{Change, Told, key, named};
use crate::check::code::{HELD_WITHOUT_PATH, MOVED_OUT_OF_HELD, OLDER_COMMIT, RELEASED_AT_ONCE};
use crate::delivery::inventory::is_kept;
use crate::delivery::{Applied, Delivery, Hold, SourceId};
use crate::diagnostic::{Diagnostic, Place};

/// What to do about what must not come while the window is closed.
const WHEN_OPEN: &str = "merge it while the window is open";

impl<'s> Change<'s> {
    /// Finds what would go wrong while the window is closed; where it is open, all is at one commit within a tick.
    pub(super) fn at_source(&self) -> Vec<Told> {
        let mut found = Vec::new();
        for now in self.deliveries.iter().copied() {
            let was = self.own().find(|was| key(was) == key(now));
            let old = was.and_then(|was| self.step.before.held_source(was));
            let told = match (self.step.after.held_source(now), old, was) {
                (Some(source), old, was) => self
                    .older(now, &source, old.as_ref(), was)
                    .or_else(|| self.without_path(now, &source, was))
                    .map(|finding| (finding, now.held.clone())),
                (None, Some(source), Some(was)) => Some((self.released(now, &source), was.held.clone())),
                _ => None,
            };
            found.extend(told.map(|(finding, hold)| self.while_closed(finding, hold)));
        }
        found.extend(self.moved_out());
        found
    }

    fn while_closed(&self, finding: Diagnostic, until: Option<Hold>) -> Told {
        Told { until, ..Told::of(self.key_now, finding) }
    }

    fn place(&self, now: &Delivery, field: &str) -> Place {
        let flux = self.step.after.applying(now);
        flux.map_or_else(|| Place::file(now.path.clone()), |flux| flux.place(field))
    }

    /// One that stands begins to read a held source that stands, and that may be at an older commit.
    fn older(
        &self,
        now: &Delivery,
        source: &SourceId,
        old: Option<&SourceId>,
        was: Option<&Delivery>,
    ) -> Option<Diagnostic> {
        was.filter(|_| old != Some(source))?;
        let before = self.step.before.model.delivered.named(&self.key.name)?;
        before.is_held(source).then(|| {
            OLDER_COMMIT
                .finding(format!(
                    "{} begins to read held source {}. Until {}, newer changes go back to its commit",
                    now.name,
                    source.name,
                    opening(now)
                ))
                .at(self.place(now, "sourceRef"))
                .help(WHEN_OPEN)
        })
    }

    /// One builds a folder that the older revision does not have, and so the commit that was let in.
    fn without_path(&self, now: &Delivery, source: &SourceId, was: Option<&Delivery>) -> Option<Diagnostic> {
        let is_new = was.is_none_or(|was| was.path != now.path) && !self.step.had(&now.path);
        is_new.then(|| {
            HELD_WITHOUT_PATH
                .finding(format!(
                    "held source {} has no {} yet. {} is not Ready until {}",
                    source.name,
                    now.path,
                    now.name,
                    opening(now)
                ))
                .at(self.place(now, "path"))
                .help(format!("{WHEN_OPEN}: else nothing of it is applied, and its dependants wait"))
        })
    }

    /// One reads what lands at once in place of a held source.
    fn released(&self, now: &Delivery, source: &SourceId) -> Diagnostic {
        RELEASED_AT_ONCE
            .finding(format!(
                "{} no longer reads held source {}. Every commit that waits for its window lands at once",
                now.name, source.name
            ))
            .at(self.place(now, "sourceRef"))
            .help(format!("{WHEN_OPEN}\nor suspend {} first, where Git has no `suspend` of it, and resume it in the window", now.name))
    }

    /// Objects that go from what reads a held source to something else that lands earlier: that has the new commit, the
    /// other one still the old one, and prunes what it applied last.
    fn moved_out(&self) -> Vec<Told> {
        type Moved<'s> = (&'s Delivery, &'s Delivery, &'s Applied, BTreeSet<String>);
        let mut found: BTreeMap<(Option<usize>, Option<usize>), Moved<'s>> = BTreeMap::new();
        for (id, old) in &self.had {
            let Some(new) = self.has.get(*id) else { continue };
            let stays = |(from, _): &&(&Delivery, &Applied)| {
                let now = self.still(from);
                now.is_some_and(|now| self.step.after.held_source(now).is_some())
                    && self.step.before.held_source(from).is_some()
                    && new.iter().all(|(to, _)| key(to) != key(from))
            };
            let lands = |(to, _): &&(&Delivery, &Applied)| {
                to.applied_by.is_some() && self.step.after.held_source(to).is_none()
            };
            let (Some((from, was)), Some((to, now))) = (old.iter().find(stays), new.iter().find(lands))
            else {
                continue;
            };
            if is_kept(was.value()) && was.value() == now.value() {
                continue;
            }
            let moved =
                found.entry((from.applied_by, to.applied_by)).or_insert((*from, *to, *now, BTreeSet::new()));
            moved.3.insert(id.to_string());
        }
        let told = |(from, to, now, names): Moved<'s>| {
            let finding = MOVED_OUT_OF_HELD
                .finding(format!(
                    "{} and {} both apply {} until {}. Then {} may delete it",
                    from.name,
                    to.name,
                    named(&names),
                    opening(from),
                    from.name
                ))
                .at(self.step.after.sources.place(now, &["metadata", "name"]))
                .help(WHEN_OPEN);
            self.while_closed(finding, from.held.clone())
        };
        found.into_values().map(told).collect()
    }
}

/// Says when what holds a delivery back lets it go, as a clause.
fn opening(delivery: &Delivery) -> String {
    delivery.held.as_ref().map_or_else(|| "its window opens".to_owned(), Hold::opening)
}
