//! What does not fit together while some objects are those of the newer revision and others still of the older one.

use std::collections::BTreeSet;

use super::Change;
use super::step::Fate;
use crate::check::code::{LANDS_TOO_EARLY, REMOVED_TOO_EARLY};
use crate::check::history::Told;
use crate::check::need::{Need, State, needs};
use crate::check::reference::Part;
use crate::delivery::inventory::is_kept;
use crate::delivery::{Applied, Delivery, Hold};
use crate::diagnostic::Diagnostic;
use crate::repo::manifest::ObjectId;

/// One object on its way.
pub(super) struct Item<'s> {
    old: Option<&'s Applied>,
    new: Option<&'s Applied>,
    /// Whether it leaves Git and the cluster keeps it.
    stays: bool,
}

impl<'s> Item<'s> {
    /// What the cluster has of it once everything up to a rank has landed.
    fn at(&self, rank: usize) -> Option<&'s Applied> {
        match (self.old, self.new) {
            (_, Some(new)) if new.rank() <= rank => Some(new),
            (Some(old), None) if !self.stays && old.rank() <= rank => None,
            (old, _) => old,
        }
    }

    fn ranks(&self) -> impl Iterator<Item = usize> {
        [self.old, self.new].into_iter().flatten().map(Applied::rank)
    }

    fn is_changed(&self) -> bool {
        self.old.map(Applied::value) != self.new.map(Applied::value)
    }
}

/// Items with what they are at some moment.
pub(super) struct Moment<'i, 's> {
    present: Vec<(&'i Item<'s>, &'s Applied)>,
    state: State<'s>,
}

impl<'i, 's> Moment<'i, 's> {
    fn new(items: &'i [Item<'s>], of: impl Fn(&Item<'s>) -> Option<&'s Applied>) -> Moment<'i, 's> {
        let present: Vec<_> = items.iter().filter_map(|item| Some((item, of(item)?))).collect();
        let state = State::new(present.iter().map(|(_, applied)| (&applied.id, applied.value())));
        Moment { present, state }
    }

    pub(super) fn meeting(&self, user: &ObjectId, need: &Need) -> Option<(&'i Item<'s>, &'s Applied)> {
        self.state.meeting(&user.namespace, need).map(|position| self.present[position])
    }
}

impl<'s> Change<'s> {
    fn items(&self) -> Vec<Item<'s>> {
        let ids: BTreeSet<&ObjectId> = self.had.keys().chain(self.has.keys()).copied().collect();
        let item = |id: &ObjectId| {
            let first = |found: Option<&Vec<(&'s Delivery, &'s Applied)>>| found?.first().copied();
            let (old, new) = (first(self.had.get(id)), first(self.has.get(id)));
            let stays = old.is_some_and(|(from, was)| {
                is_kept(was.value()) || self.fate(from).is_some_and(|fate| fate != Fate::Deletes)
            });
            Item { old: old.map(|(_, was)| was), new: new.map(|(_, now)| now), stays }
        };
        ids.into_iter().map(item).collect()
    }

    /// Objects that lack what they need between two moments at which something lands, though the revision that they are
    /// of brings it.
    pub(super) fn mixed(&self) -> Vec<Told> {
        let items = self.items();
        if !items.iter().any(Item::is_changed) {
            return Vec::new();
        }
        let mut ranks: BTreeSet<usize> = items.iter().flat_map(Item::ranks).collect();
        ranks.remove(&usize::MAX);
        ranks.pop_last();
        let before = Moment::new(&items, |item| item.old);
        let after = Moment::new(&items, |item| item.new);
        let mut told = BTreeSet::new();
        let mut findings = Vec::new();
        for rank in ranks {
            let mixed = Moment::new(&items, |item| item.at(rank));
            for (item, user) in &mixed.present {
                // What goes itself needs nothing any more.
                let Some(now) = item.new else { continue };
                let is_new = now.rank() <= rank;
                if is_new && !item.is_changed() {
                    continue;
                }
                for need in needs(user.value()) {
                    if mixed.meeting(&user.id, &need).is_some() || told.contains(&(&user.live, need.clone()))
                    {
                        continue;
                    }
                    let found = match is_new {
                        true => after.meeting(&user.id, &need).and_then(|by| self.comes(now, &need, by)),
                        false => {
                            let asks_on = needs(now.value()).contains(&need)
                                && after.meeting(&user.id, &need).is_none();
                            before.meeting(&user.id, &need).and_then(|by| self.goes(now, &need, by, asks_on))
                        }
                    };
                    if let Some(found) = found {
                        told.insert((&user.live, need));
                        findings.push(found);
                    }
                }
            }
            let landed =
                self.deliveries.iter().filter(|one| one.objects.first().is_some_and(|of| of.rank() <= rank));
            findings.extend(landed.filter_map(|one| self.without_value(one, &mixed, &after)));
        }
        findings
    }

    /// Says that what an object needs lands later than the object.
    fn comes(&self, now: &'s Applied, need: &Need, (by, target): (&Item<'s>, &'s Applied)) -> Option<Told> {
        let held = target.window()?;
        let (id, lands, end) = (&now.live, now.lands(), held.end());
        let message = match need {
            Need::Pods { port: None, .. } => format!(
                "{id} {lands} and selects the labels that {} gets {end}, so it has no endpoints until then",
                target.id
            ),
            Need::Version { .. } => format!(
                "{id} {lands} and needs {need}, which {} serves {end}, so its Flux Kustomization applies nothing \
                 until then",
                target.id
            ),
            _ => {
                let is_whole = matches!(need, Need::Named(reference) if reference.part == Part::Whole);
                let what = if is_whole { target.id.to_string() } else { need.to_string() };
                let is_new = if by.old.is_none() && is_whole { "is new and " } else { "" };
                format!(
                    "{id} {lands} and needs {what}, which {is_new}waits for {held}, so it is broken until that opens"
                )
            }
        };
        let field: &[&str] =
            if matches!(need, Need::Pods { .. }) { &["spec", "template"] } else { &["metadata", "name"] };
        let label = match need {
            Need::Pods { .. } => "these labels land later",
            _ => "this lands later",
        };
        let help = match need {
            Need::Pods { .. } => {
                "add the new label to the pods first, and change the selector after their window"
            }
            _ => "merge what waits first and this after its window, or give both one type",
        };
        let finding = LANDS_TOO_EARLY
            .finding(message)
            .at(self.step.after.sources.place(now, need.path()))
            .related(label, self.step.after.sources.place(target, field))
            .help(help);
        Some(self.until(finding, held))
    }

    /// Says that what an object needs goes before the object changes.
    fn goes(
        &self,
        now: &'s Applied,
        need: &Need,
        (by, was): (&Item<'s>, &'s Applied),
        asks_on: bool,
    ) -> Option<Told> {
        let held = now.window()?;
        let id = &now.live;
        let lacks = lacks(id, need);
        let consequence = match asks_on {
            true => format!("{id} goes on referring to it, so {lacks} from then on"),
            false => format!("{id} refers to it until {held} opens, so {lacks} until then"),
        };
        let goes = match by.new {
            None => format!("{} is deleted {}", was.id, was.goes()),
            Some(new) => format!("{} takes away {need} {}", was.id, new.goes()),
        };
        let finding: Diagnostic = REMOVED_TOO_EARLY
            .finding(format!("{goes}, and {consequence}"))
            .at(self.step.after.sources.place(now, need.path()))
            .related("it was here before", self.old_place(was))
            .help(match asks_on {
                true => "keep it, or take the reference to it out too, one window earlier",
                false => "remove it one commit later, after the window in which its user changed",
            });
        Some(self.until(finding, held))
    }

    pub(super) fn until(&self, finding: Diagnostic, until: &Hold) -> Told {
        Told { cluster: self.key.clone(), finding, until: Some(until.clone()) }
    }
}

/// Says what an object can't do without what it needs.
fn lacks(user: &ObjectId, need: &Need) -> &'static str {
    match (need, user.kind.as_str()) {
        (Need::Pods { .. }, _) => "it has no endpoints",
        (Need::Version { .. }, _) => "it can't be applied",
        (_, "Ingress" | "HTTPRoute" | "Gateway" | "HelmRelease" | "HorizontalPodAutoscaler") => {
            "it does not work"
        }
        (_, "RoleBinding" | "ClusterRoleBinding") => "it grants nothing",
        _ => "its pods can't be started anew",
    }
}
