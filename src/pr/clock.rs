//! Finds out when what differs between two trees reaches its cluster.

use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::Value;

use crate::calendar::Calendar;
use crate::delivery::inventory::{is_kept, prunes, stays_without};
use crate::delivery::{Applier, BuiltJob, Doubt, Hold, Pair, Part, Reached, Reason, outside};
use crate::mechanism::RESUME_OWN;
use crate::pr::arrival::Way;
use crate::pr::course::{Before, Course};
use crate::pr::landing::{Landing, State};
use crate::pr::report::Report;
use crate::pr::reschedule::reads_same;
use crate::pr::tree::Tree;
use crate::pr::wanted::Wanted;
use crate::pr::words::marks;
use crate::schedule::Interval;

/// How many days a picture of the windows shows.
const DRAWN: i64 = 14;

/// What lets something land whose window is closed, as it is said of a Flux Kustomization.
const FREED: &str = "leaves its held source";

/// How many openings of one row it shows.
const MOST_DRAWN: usize = 1_000;

/// Both trees.
pub struct Clock<'a> {
    /// What was.
    pub before: Tree<'a>,
    /// What is.
    pub after: Tree<'a>,
    /// When the commit is merged.
    pub now: Timestamp,
}

impl Clock<'_> {
    /// Returns the windows of some clusters in the days after the merge, as `zone` has them, with the instants of a report
    /// marked: those of types, and without a spec what the gates in Git say.
    pub fn calendar(&self, clusters: &[String], zone: TimeZone, report: &Report) -> Option<Calendar> {
        let from = self.now.to_zoned(zone.clone()).start_of_day().ok()?;
        let to = from.checked_add(DRAWN.days()).ok()?.timestamp();
        let range = Interval { open: from.timestamp(), close: to };
        let marks = marks(report);
        let Some(spec) = self.after.spec else {
            let gates = self.after.gates(clusters, self.now);
            let all = self.after.world.model.delivered.all.len();
            return Some(Calendar { marks, ..Calendar::of_gates(&gates, all, range, zone, MOST_DRAWN) });
        };
        let unclosed = self.after.unclosed(self.now);
        let calendar =
            Calendar::new(spec, self.after.schedules(), clusters, &unclosed, range, zone, MOST_DRAWN);
        // Not all clusters change with each pull request.
        let clusters = spec.clusters.len().max(clusters.len());
        Some(Calendar { marks, clusters, ..calendar })
    }

    /// Returns when what holds something back in a cluster lets it go: now where it is open, else at its next opening.
    pub fn opens(&self, cluster: &str, hold: &Hold) -> Option<Timestamp> {
        let of = |tree: &Tree<'_>| {
            let times = tree.gate(cluster, None, hold, self.now)?.times;
            if times.open { Some(self.now) } else { times.next_open }
        };
        of(&self.after).or_else(|| of(&self.before))
    }

    /// Returns whether a job that runs already begins to name a Flux Kustomization: its last run did not know of that.
    fn is_newly_named(&self, old: &Applier<'_>, new: &Applier<'_>) -> bool {
        let runs = |name: &str| {
            let mut jobs = self.before.world.model.closings.of(old.cluster).iter();
            jobs.any(|job| job.is_running && job.name == name)
        };
        self.before.job(old).is_none() && self.after.job(new).is_some_and(|job| runs(&job.name))
    }

    /// Says why a job never comes that closes what no job closed before, where Git keeps it from its cluster.
    fn never_comes(&self, old: &Applier<'_>, new: &Applier<'_>) -> Option<&'static str> {
        let doubt = self.after.job(new).filter(|_| self.before.job(old).is_none())?.doubt.as_ref()?;
        match doubt {
            Doubt::Unbuilt(_) => {
                Some("the Flux Kustomization of its gate does not build, so no new CronJobs come")
            }
            Doubt::Suspended(_) => {
                Some("Git suspends the Flux Kustomization of its gate, so the new CronJobs never come")
            }
            Doubt::Unprivileged(..) => {
                Some("Flux may apply nothing of its gate, so the new CronJobs never come")
            }
            Doubt::Unsaid(..) => None,
        }
    }

    /// Returns whether Flux Kustomizations with a table, or a held source, leave one suspended that a pair suspended.
    pub(super) fn stays_suspended(&self, old: &Applier<'_>, new: &Applier<'_>, hold: &Hold) -> bool {
        let is_pair = |job: &BuiltJob| job.table.is_none() && job.held.is_none();
        let jobs = self.before.job(old).zip(self.after.job(new));
        jobs.is_some_and(|(was, is)| is_pair(was) && !is_pair(is)) && self.is_closed(old, new, hold)
    }

    /// Returns whether one stays suspended that a gate before that of the base suspended.
    fn is_left_suspended(&self, old: &Applier<'_>, new: &Applier<'_>) -> bool {
        let suspends = self.after.job(new).is_some_and(|job| job.table.is_some() && job.held.is_none());
        suspends && new.spec()["suspend"] != false && self.before.is_left_suspended(old)
    }

    /// Returns whether one stays suspended that a gate held back and holds back no more: what `flux suspend` sets is not in
    /// Git, so Flux leaves it alone.
    pub(super) fn stays_without_gate(&self, old: &Applier<'_>, new: &Applier<'_>, hold: &Hold) -> bool {
        !self.before.is_held(old) && self.is_closed(old, new, hold)
    }

    /// Returns whether one may be suspended at the merge, and Git does not resume it.
    fn is_closed(&self, old: &Applier<'_>, new: &Applier<'_>, hold: &Hold) -> bool {
        let gate = self.before.gate(old.cluster, old.kustomization, hold, self.now);
        new.spec()["suspend"] != false && gate.is_none_or(|gate| !gate.times.open)
    }

    /// Returns when objects of a pair land that are there afterwards.
    pub fn lands(&self, pair: &Pair<'_>, wanted: &Wanted<'_>) -> Landing {
        let landing = self.landing(pair, wanted);
        // Where a gate that closes nothing takes the place of one that does, no closing comes.
        let closes = |tree: &Tree<'_>, one: &Applier<'_>| tree.job(one).is_some_and(|job| job.held.is_none());
        let sides = pair.before.as_ref().zip(pair.after.as_ref());
        let ends = sides.is_some_and(|(old, new)| closes(&self.before, old) && !closes(&self.after, new));
        let landing = Landing { first_closing: landing.first_closing.filter(|_| !ends), ..landing };
        let landing = self.before_source_goes(pair, landing);
        match self.doubt(pair).filter(|_| landing.state != State::Never) {
            Some(doubt) => landing.besides(&doubt.to_string()),
            None => landing,
        }
    }

    /// Returns when files of a pair land of which the commit deletes the source: both what deletes it and what reads that begin
    /// as the commit is fetched (kustomize-controller, `requestsForRevisionChangeOf`).
    fn before_source_goes(&self, pair: &Pair<'_>, landing: Landing) -> Landing {
        let lost = || {
            let new = pair.after.as_ref().filter(|_| pair.part != Part::Spec)?;
            let (now, one) = (self.after.cluster(new.cluster)?, new.kustomization?);
            let pruned = || self.after.former_cluster(new.cluster)?.pruned_source(now, one);
            now.lost_source(one).or_else(pruned)
        };
        let Some(source) = lost().filter(|_| landing.state != State::Never) else { return landing };
        let source = format!("{} {}", source.kind, source.name);
        match landing.state.is_windowed() {
            true => Landing::never(format!("its {source} is deleted before")),
            false => landing.besides(&format!("or not at all: its {source} is deleted in the same commit")),
        }
    }

    /// Returns why it is open whether the cluster has what applies the files of a pair: neither tree brings it.
    fn doubt(&self, pair: &Pair<'_>) -> Option<&Doubt> {
        let new = pair.after.as_ref().filter(|_| pair.part != Part::Spec)?;
        let is_open = pair.before.as_ref().is_none_or(|old| self.before.doubt(old).is_some());
        self.after.doubt(new).filter(|_| is_open)
    }

    fn landing(&self, pair: &Pair<'_>, wanted: &Wanted<'_>) -> Landing {
        let Some(new) = &pair.after else {
            let unbuilt = || Landing::unknown("nothing builds it");
            return pair.before.as_ref().map_or_else(unbuilt, |old| self.ends(old));
        };
        let Some(one) = new.kustomization else { return self.after.applied(new, self.now) };
        // What is held at its source waits there whether or not it is new, and what its own spec says does not.
        let is_held = self.after.is_held(new);
        let Some(old) = &pair.before else {
            // Nothing suspends a new one before the next closing.
            let hold = self.after.hold(new);
            let own = self.after.applied_by(
                new,
                self.now,
                &Way {
                    before: &|at| self.before_first(new, at),
                    is_gated: is_held,
                    look: Some(Duration::ZERO),
                },
            );
            if is_held {
                return own;
            }
            let name = one.name();
            let is_known = hold.is_some();
            let Some(hold) = hold.or_else(|| wanted.hold(&self.after, new)) else { return own };
            // What has not begun is told.
            if own.earliest.is_none() || self.opens(new.cluster, &hold) == Some(self.now) {
                return own;
            }
            let reason = match is_known {
                true => format!("{name} is new: {hold} suspends it only when it closes"),
                false => format!("{name} is new, and no gate suspends it for {hold} yet"),
            };
            return Landing { outruns: true, reason: Some(reason), ..own };
        };
        if pair.part == Part::Spec {
            return self.lands_by_spec(old, new);
        }
        let is_resumed = old.spec()["suspend"] == true && new.spec()["suspend"] != true;
        let is_of_same = reads_same(old, new);
        let is_same = pair.part.is_of_files()
            || !is_resumed && old.spec()["path"] == new.spec()["path"] && old.request() == new.request();
        let landing = match is_same && is_of_same {
            true => self.after.applied(new, self.now),
            false => self.after.applied_by(
                new,
                self.now,
                &Way {
                    before: &|at| vec![Before::parent(self.spec_course(old, new, at))],
                    is_gated: true,
                    look: Some(Duration::ZERO),
                },
            ),
        };
        let landing = self.by_both_specs(old, new, landing);
        let held_before = self.before.hold(old);
        let never_comes = self.never_comes(old, new);
        let landing = match (&held_before, self.after.hold(new)) {
            (Some(hold), None) if self.stays_without_gate(old, new, hold) => Landing::unknown(format!(
                "{hold} suspended it and is gone: it stays suspended until somebody resumes it"
            )),
            (Some(hold), Some(_))
                if self.stays_suspended(old, new, hold) || self.is_left_suspended(old, new) =>
            {
                Landing::unknown(format!("{RESUME_OWN}: resume {} by hand", one.name()))
            }
            (None, Some(_)) if never_comes.is_some() => Landing {
                outruns: true,
                reason: never_comes.map(str::to_owned),
                ..self.before.applied(old, self.now)
            },
            (None, Some(hold))
                if !is_held
                    && self.is_newly_named(old, new)
                    && self.opens(new.cluster, &hold) != Some(self.now) =>
            {
                let reason = format!("no CronJob has suspended {} for {hold} yet", one.name());
                Landing { outruns: true, reason: Some(reason), ..self.before.applied(old, self.now) }
            }
            (Some(_), Some(_)) if self.after.is_freed(new) => {
                landing.because(format!("{} {FREED}, and no CronJob has suspended it yet", one.name()))
            }
            // What is changed does not come either.
            (Some(_), Some(_)) => {
                match self.after.job(new).filter(|job| job.is_kept_out()).and_then(BuiltJob::assumption) {
                    Some(_) if self.before.is_uncome(old) => self.before.applied(old, self.now),
                    Some(why) => self.before.applied(old, self.now).because(why),
                    None => self.by_both(old, new, landing),
                }
            }
            _ => landing,
        };
        if pair.part == Part::All {
            let name = one.name();
            return landing
                .because(format!("until then, the new spec of {name} does not build the files that it has"));
        }
        if is_same && is_of_same {
            return landing;
        }
        let brought = self.spec_course(old, new, self.now).landing;
        if is_held && self.before.is_held(old) && brought.state == State::AtOnce {
            let latest = landing.latest.zip(brought.latest).map(|(files, spec)| files.max(spec));
            return self.outrun(new, Landing { latest, ..brought }, None);
        }
        if is_same {
            return landing;
        }
        landing.and(Landing { deadline: None, otherwise: None, ..brought })
    }

    /// Returns when an object of a pair is deleted, and whether it is (kustomize-controller, `finalize` and `prune`).
    ///
    /// `lands` is what [`lands`](Clock::lands) says of the pair.
    pub fn deletes(&self, pair: &Pair<'_>, object: &Value, lands: &Landing) -> Landing {
        if is_kept(object) {
            return Landing::never("it is kept: its own settings keep Flux from deleting it");
        }
        let Some((new, one)) = pair.after.as_ref().and_then(|new| Some((new, new.kustomization?))) else {
            return lands.clone();
        };
        let old = pair.first().as_ref().filter(|old| old.kustomization.is_some()).unwrap_or(new);
        let [had, has] = [old, new].map(|applier| prunes(&applier.spec()["prune"]));
        // A root reconciles by the spec that it has, and applies its new one in that pass; what waits for a window has its new
        // one before. Any other may reconcile before or after whoever applies it.
        let is_root = self.after.cluster(new.cluster).is_some_and(|own| own.brings_itself(one));
        let is_race = !is_root && had != has && !lands.state.is_windowed();
        let (deletes, name) = (if is_root { had } else { has || is_race }, one.name());
        match (deletes, had == has) {
            (false, true) => Landing::never(format!("it is kept: {name} prunes nothing")),
            (false, false) if is_root => {
                Landing::never(format!("it is kept: {name} prunes only from the next reconciliation on"))
            }
            (false, false) => Landing::never(format!("it is kept: {name} prunes nothing by then")),
            (true, false) if is_race => {
                lands.clone().besides(&format!("or not at all: `prune` of {name} changes in the same commit"))
            }
            (true, false) if is_root => {
                lands.clone().besides(&format!("`prune: false` reaches {name} only as it deletes this"))
            }
            (true, _) => lands.clone(),
        }
    }

    /// Says why what applies the root that brings a Flux Kustomization prunes nothing from now on.
    fn failing_root(&self, old: &Applier<'_>) -> Option<String> {
        let root = self.before.cluster(old.cluster)?.missing_root(old.kustomization?, self.after.world)?;
        let name = root.kustomization.as_ref().and_then(|own| own["metadata"]["name"].as_str());
        Some(match name {
            Some(name) => format!("{name} fails, as the folder that it builds is gone"),
            None if root.reason == Reason::Proposed => {
                format!("nothing prunes it while the folder {} is missing", root.folder)
            }
            None => format!("{} fails, as the folder that it builds is gone", outside(&root.folder)),
        })
    }

    /// Returns whether a Flux Kustomization leaves Git.
    fn is_gone(&self, old: &Applier<'_>) -> bool {
        let (remote, namespace, name) = old.key();
        let now = self.after.cluster_now(old.cluster);
        now.is_none_or(|now| now.reached(remote, (namespace, name)).is_none())
    }

    /// Names what is not in Git and alone decides whether a Flux Kustomization goes.
    fn removed_outside(&self, old: &Applier<'_>) -> Option<String> {
        let (was, now) = (self.before.cluster(old.cluster)?, self.after.cluster_now(old.cluster));
        Some(outside(was.removed_outside(now, old.kustomization?)?))
    }

    /// Returns when a Flux Kustomization that leaves Git deletes its objects, and whether it does.
    pub(super) fn ends(&self, old: &Applier<'_>) -> Landing {
        let Some(one) = old.kustomization else {
            return Course::unapplied().landing;
        };
        let spec = old.spec();
        if is_kept(&one.value) {
            return Landing::never(format!(
                "{} stays in the cluster: its own settings keep Flux from deleting it",
                one.name()
            ));
        }
        if stays_without(spec) {
            return Landing::never(format!("it is kept: {} leaves Git and deletes nothing", one.name()));
        }
        if let Some(root) = self.failing_root(old) {
            return Landing::never(format!("it is kept: {root}"));
        }
        if spec["suspend"] == true {
            return Landing::never(format!("it is kept: {} is suspended when it goes", one.name()));
        }
        if let Some(outside) = self.removed_outside(old) {
            let name = one.name();
            return Landing::unknown(format!("{name} goes with its objects if {outside} prunes"));
        }
        let Some(parent) = self.before.parent(old) else {
            return Landing::unknown(format!("nothing in Git deletes {}", one.name()));
        };
        if !prunes(&parent.spec()["prune"]) {
            return Landing::never(format!(
                "{} stays in the cluster: {} prunes nothing",
                one.name(),
                parent.kustomization.map(Reached::name).unwrap_or_default()
            ));
        }
        if parent.key() != old.key() && self.is_gone(&parent) {
            let above = self.ends(&parent);
            if above.state == State::Never {
                let (own, above) = (one.name(), parent.kustomization.map(Reached::name).unwrap_or_default());
                return Landing::never(format!(
                    "{own} stays in the cluster: {above} goes and does not delete it"
                ));
            }
        }
        let (remote, namespace, name) = parent.key();
        let now = self.after.cluster_now(old.cluster);
        let now = now.and_then(|now| self.after.find(&now.name, remote, (namespace, name)));
        if let Some(unfetched) = now.and_then(|now| self.after.unfetched(&now)) {
            return Landing::never(format!("it is kept: {}", unfetched.of(name)));
        }
        let landing = self.before.applied(&parent, self.now);
        if let Some(hold) = self.before.hold(old).filter(|_| !self.before.is_held(old)) {
            let at = landing.earliest.unwrap_or(self.now);
            if self.before.gate(old.cluster, Some(one), &hold, at).is_some_and(|gate| !gate.times.open) {
                return Landing::never(format!("it is kept: {hold} suspends {} when it goes", one.name()));
            }
        }
        landing
    }
}
