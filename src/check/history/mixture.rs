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

/// An object with what holds it back in its cluster, whatever a spec wants.
#[derive(Clone, Copy)]
pub(super) struct Held<'s> {
    pub(super) applied: &'s Applied,
    hold: Option<&'s Hold>,
    rank: usize,
}

impl<'s> Held<'s> {
    fn lands(&self) -> String {
        self.hold.map_or_else(|| "at once".to_owned(), Hold::end)
    }

    pub(super) fn window(&self) -> Option<&'s Hold> {
        self.hold.filter(|hold| hold.opens())
    }
}

/// One object on its way.
pub(super) struct Item<'s> {
    old: Option<Held<'s>>,
    new: Option<Held<'s>>,
    /// Whether it leaves Git and the cluster keeps it.
    stays: bool,
    /// Whether it leaves Git and goes when what applied it lands, which goes on.
    goes: bool,
}

impl<'s> Item<'s> {
    /// What the cluster has of it once everything up to a rank has landed.
    fn at(&self, rank: usize) -> Option<Held<'s>> {
        match (self.old, self.new) {
            (_, Some(new)) if new.rank <= rank => Some(new),
            (Some(old), None) if !self.stays && old.rank <= rank => None,
            (old, _) => old,
        }
    }

    /// What there is of it until it lands or goes; `None` where that needs nothing any more.
    fn last(&self) -> Option<Held<'s>> {
        self.new.or(self.old.filter(|_| self.goes))
    }

    fn ranks(&self) -> impl Iterator<Item = usize> {
        [self.old, self.new].into_iter().flatten().map(|held| held.rank)
    }

    fn is_changed(&self) -> bool {
        let value = |held: Held<'s>| held.applied.value();
        self.old.map(value) != self.new.map(value)
    }
}

/// Items with what they are at some moment.
pub(super) struct Moment<'i, 's> {
    present: Vec<(&'i Item<'s>, Held<'s>)>,
    state: State<'s>,
}

impl<'i, 's> Moment<'i, 's> {
    fn new(items: &'i [Item<'s>], of: impl Fn(&Item<'s>) -> Option<Held<'s>>) -> Moment<'i, 's> {
        let present: Vec<_> = items.iter().filter_map(|item| Some((item, of(item)?))).collect();
        let state = State::new(present.iter().map(|(_, held)| (&*held.applied.id, held.applied.value())));
        Moment { present, state }
    }

    pub(super) fn meeting(&self, user: &ObjectId, need: &Need) -> Option<(&'i Item<'s>, Held<'s>)> {
        self.state.meeting(&user.namespace, need).map(|position| self.present[position])
    }
}

impl<'s> Change<'s> {
    /// Returns what holds a delivery back, and its place in the order of openings.
    ///
    /// Of CronJobs whose type no spec says, the order is that of `jobs`.
    fn held(&self, jobs: &[&Hold], delivery: &'s Delivery, applied: &'s Applied) -> Held<'s> {
        let suspended = delivery.held.as_ref().filter(|hold| **hold == Hold::Suspended);
        let hold = suspended.or(delivery.gated.as_ref());
        let position = |name: &str| {
            let spec = self.step.after.spec.or(self.step.before.spec)?;
            spec.types.iter().position(|one| one.name.value == name)
        };
        let rank = match hold {
            None => 0,
            Some(Hold::Suspended | Hold::Source(_)) => usize::MAX,
            Some(Hold::Window(name)) => position(name).unwrap_or(1).max(1),
            Some(job) => 1 + jobs.iter().position(|own| *own == job).unwrap_or_default(),
        };
        Held { applied, hold, rank }
    }

    /// Returns the CronJobs that hold something back and whose type no spec says.
    fn jobs(&self) -> Vec<&'s Hold> {
        let found = self.had.values().chain(self.has.values()).flatten();
        let jobs = found.filter_map(|(delivery, _)| delivery.gated.as_ref());
        let jobs: BTreeSet<&Hold> =
            jobs.filter(|hold| matches!(hold, Hold::Job(_) | Hold::Provider(_))).collect();
        jobs.into_iter().collect()
    }

    fn items(&self, jobs: &[&Hold]) -> Vec<Item<'s>> {
        let ids: BTreeSet<&ObjectId> = self.had.keys().chain(self.has.keys()).copied().collect();
        let item = |id: &ObjectId| {
            let first = |found: Option<&Vec<(&'s Delivery, &'s Applied)>>| found?.first().copied();
            let (old, new) = (first(self.had.get(id)), first(self.has.get(id)));
            let stays = old.is_some_and(|(from, was)| {
                is_kept(was.value()) || self.fate(from).is_some_and(|fate| fate != Fate::Deletes)
            });
            // One that is itself deleted deletes its objects with it, or none.
            let goes = new.is_none() && !stays && old.is_some_and(|(from, _)| self.now(from).is_some());
            let held = |(delivery, applied)| self.held(jobs, delivery, applied);
            Item { old: old.map(held), new: new.map(held), stays, goes }
        };
        let mut found: Vec<Item<'s>> = ids.into_iter().map(item).collect();
        let namespace = |item: &Item<'s>| {
            let id = &item.old.filter(|_| item.new.is_none() && !item.stays)?.applied.live;
            id.is_namespace().then_some(id.name.as_str())
        };
        let namespaces: BTreeSet<&str> = found.iter().filter_map(namespace).collect();
        // What is in a Namespace that goes does not outlive that.
        for item in &mut found {
            item.goes &=
                !item.old.is_some_and(|old| namespaces.contains(old.applied.live.namespace.as_str()));
        }
        found
    }

    /// Objects that lack what they need between two moments at which something lands, though the revision that they are
    /// of brings it.
    pub(super) fn mixed(&self) -> Vec<Told> {
        let mut told = BTreeSet::new();
        let mut jobs = self.jobs();
        let mut findings = self.mixed_in_order(&jobs, &mut told);
        // Which of them opens first, only the clock knows.
        if jobs.len() > 1 {
            jobs.reverse();
            findings.extend(self.mixed_in_order(&jobs, &mut told));
        }
        findings
    }

    fn mixed_in_order(&self, jobs: &[&Hold], told: &mut BTreeSet<(&'s ObjectId, Need)>) -> Vec<Told> {
        let items = self.items(jobs);
        if !items.iter().any(Item::is_changed) {
            return Vec::new();
        }
        let mut ranks: BTreeSet<usize> = items.iter().flat_map(Item::ranks).collect();
        ranks.remove(&usize::MAX);
        ranks.pop_last();
        let before = Moment::new(&items, |item| item.old);
        let after = Moment::new(&items, |item| item.new);
        let mut findings = Vec::new();
        for rank in ranks {
            let mixed = Moment::new(&items, |item| item.at(rank));
            for (item, user) in &mixed.present {
                let Some(now) = item.last() else { continue };
                let is_new = now.rank <= rank;
                if is_new && !item.is_changed() {
                    continue;
                }
                let user = user.applied;
                for need in needs(user.value()) {
                    if mixed.meeting(&user.id, &need).is_some() || told.contains(&(&user.live, need.clone()))
                    {
                        continue;
                    }
                    // Nobody asks for what is new until its pods are there.
                    if item.old.is_none() && matches!(need, Need::Pods { .. }) {
                        continue;
                    }
                    let found = match is_new {
                        true => after.meeting(&user.id, &need).and_then(|by| self.comes(now, &need, by)),
                        false => {
                            let asks_on = item.new.is_some()
                                && needs(now.applied.value()).contains(&need)
                                && after.meeting(&user.id, &need).is_none();
                            before.meeting(&user.id, &need).and_then(|by| self.goes(item, &need, by, asks_on))
                        }
                    };
                    if let Some(found) = found {
                        told.insert((&user.live, need));
                        findings.push(found);
                    }
                }
            }
            let has_landed = |one: &&&'s Delivery| {
                one.objects.first().is_some_and(|of| self.held(jobs, one, of).rank <= rank)
            };
            let landed = self.deliveries.iter().filter(has_landed);
            findings.extend(landed.filter_map(|one| self.without_value(one, &mixed, &after)));
        }
        findings
    }

    /// Says that what an object needs lands later than the object.
    fn comes(&self, now: Held<'s>, need: &Need, (by, target): (&Item<'s>, Held<'s>)) -> Option<Told> {
        let held = target.window()?;
        let (from, lands) = (now.window(), format!("lands {}", now.lands()));
        let (now, target) = (now.applied, target.applied);
        let (id, end) = (&now.live, held.end());
        let message = match need {
            Need::Pods { port: None, .. } => format!(
                "{id} {lands} and selects labels that {} gets {end}. It has no endpoints until then",
                target.id
            ),
            Need::Version { .. } => format!(
                "{id} {lands} and needs {need}, which {} serves {end}. Its Flux Kustomization applies nothing until then",
                target.id
            ),
            _ => {
                let is_whole = matches!(need, Need::Named(reference) if reference.part == Part::Whole);
                let what = if is_whole { target.id.to_string() } else { need.to_string() };
                let is_new = if by.old.is_none() && is_whole { "is new and " } else { "" };
                format!(
                    "{id} {lands} and needs {what}, which {is_new}waits for {held}. Until that lands, {id} is broken"
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
            Need::Pods { .. } => "add the new label to the pods\nchange the selector after their window",
            _ => "merge the gated part\nmerge this after its window\nor give both one type",
        };
        let finding = LANDS_TOO_EARLY
            .finding(message)
            .at(self.step.after.sources.place(now, need.path()))
            .related(label, self.step.after.sources.place(target, field))
            .help(help);
        Some(self.since(finding, from, Some(held)))
    }

    /// Says that what an object needs goes before the object changes.
    fn goes(
        &self,
        user: &Item<'s>,
        need: &Need,
        (by, was): (&Item<'s>, Held<'s>),
        asks_on: bool,
    ) -> Option<Told> {
        let now = user.last()?;
        let held = now.window()?;
        let sources = if user.new.is_some() { &self.step.after.sources } else { &self.step.before.sources };
        let goes = by.new.unwrap_or(was);
        let (now, from) = (now.applied, goes.window());
        let id = &now.live;
        let lacks = lacks(id, need);
        let consequence = match asks_on {
            true => format!("{id} goes on referring to it, so {lacks} from then on"),
            false => format!("{id} refers to it until {}, so {lacks} until then", held.opening()),
        };
        let (was, lands) = (was.applied, goes.lands());
        let goes = match by.new {
            None => format!("{} is deleted {lands}", was.id),
            Some(_) => format!("{} takes away {need} {lands}", was.id),
        };
        let finding: Diagnostic = REMOVED_TOO_EARLY
            .finding(format!("{goes}, and {consequence}"))
            .at(sources.place(now, need.path()))
            .related("it was here before", self.old_place(was))
            .help(match asks_on {
                true => "keep it, or take the reference to it out too, one window earlier",
                false => "remove it one commit later, after the window in which its user changed",
            });
        Some(self.since(finding, from, Some(held).filter(|_| !asks_on)))
    }

    pub(super) fn since(&self, finding: Diagnostic, from: Option<&Hold>, until: Option<&Hold>) -> Told {
        Told { cluster: self.key_now.clone(), finding, from: from.cloned(), until: until.cloned() }
    }
}

/// Says what an object can't do without what it needs.
fn lacks(user: &ObjectId, need: &Need) -> &'static str {
    match (need, user.kind.as_str()) {
        (Need::Pods { .. }, _) => "it has no endpoints",
        (Need::Version { .. }, _) => "it can't be applied",
        (_, "HelmRelease") => "its next upgrade fails",
        (_, "Ingress" | "HorizontalPodAutoscaler") => "it does not work",
        (_, kind) if kind.ends_with("Route") => "it does not work",
        (_, "RoleBinding" | "ClusterRoleBinding") => "it grants nothing",
        _ => "its pods can't be started anew",
    }
}
