//! When something lands of which the window changes in the same commit.

use jiff::Timestamp;

use crate::delivery::{Applier, Reached};
use crate::pr::clock::Clock;
use crate::pr::landing::{Landing, State};

/// Why another window than the new one may decide.
const BOTH: &str = "its window changes too, and until its CronJobs arrive the old one counts";

/// Why the new window does not decide.
const STALE: &str = "its window changes once its CronJobs say so: `gitops-windows sync`";

impl Clock<'_> {
    /// Widens a landing by the new window of what is held back before and after: what opens and closes is applied a while
    /// after the merge, and a run before that goes by the old window.
    pub(super) fn by_both(&self, old: &Applier<'_>, new: &Applier<'_>, landing: Landing) -> Landing {
        let Some((was, is)) = self.before.state_of(old, self.now).zip(self.after.state_of(new, self.now))
        else {
            return landing;
        };
        // The gate goes by what it has, whatever the spec says.
        if self.after.is_otherwise(new) && jobs_are_same(self, old, new) {
            return landing.because(STALE);
        }
        // What nothing has closed yet is told so already.
        if was.is_same(&is) || landing.first_closing.is_some() {
            return landing;
        }
        let former = self.before.applied(old, self.now);
        // What only the spec says, no CronJob knows.
        if self.after.spec.is_some() && jobs_are_same(self, old, new) {
            return former.because(STALE);
        }
        let arrives = self.after.jobs_arrive(new, self.now);
        if arrives.state == State::Never {
            return former.because(STALE);
        }
        let is_until =
            |at: Option<Timestamp>| at.is_some_and(|at| arrives.latest.is_none_or(|last| at <= last));
        let (is_by_old, is_early) = (is_until(former.earliest), is_until(landing.earliest));
        // A pair does nothing before its next run, whatever its window says of now.
        let waits = !was.is_open && is.is_open && !is.has_table;
        if !(is_by_old || is_early || waits) {
            return landing;
        }
        let lag = |at: Option<Timestamp>| Some(at? + landing.latest?.duration_since(landing.earliest?));
        let mut latest = vec![landing.latest];
        latest.extend(is_by_old.then_some(former.latest));
        latest.extend(is_early.then(|| lag(arrives.latest)));
        latest.extend(waits.then(|| lag(landing.otherwise)));
        let latest = latest.into_iter().collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max());
        let deadline = match (landing.deadline, former.deadline.filter(|_| is_by_old)) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, _) => own,
        };
        let is_former = is_by_old && landing.earliest.is_none_or(|own| former.earliest < Some(own));
        // The new windows have come until the opening after that.
        let is_apart = is_former && landing.earliest.zip(former.latest).is_some_and(|(own, last)| own > last);
        let (otherwise, other) = match is_apart {
            true => (landing.earliest, landing.beside(&former)),
            false => (landing.otherwise, landing.other.clone()),
        };
        let decides = if is_former { former } else { landing };
        Landing { latest, deadline, otherwise, other, reason: Some(BOTH.to_owned()), ..decides }
    }

    /// Widens a landing by the spec that a Flux Kustomization has until the new one of the same commit comes, where another
    /// one may let the commit in before.
    pub(super) fn by_both_specs(&self, old: &Applier<'_>, new: &Applier<'_>, landing: Landing) -> Landing {
        let is_suspended = new.spec()["suspend"] == true && old.spec()["suspend"] != true;
        let other = match reads_same(old, new) {
            true => Some("dependsOn").filter(|field| old.spec()[*field] != new.spec()[*field]),
            false => Some("sourceRef"),
        };
        let Some(what) = is_suspended.then_some("suspend").or(other) else { return landing };
        let former = self.before.applied(old, self.now);
        let Some(earliest) = former.earliest.filter(|at| landing.earliest.is_none_or(|own| *at < own)) else {
            return landing;
        };
        let arrives = self.spec_course(old, new, self.now).landing.latest;
        if is_suspended && earliest > self.now || arrives.is_some_and(|last| last < earliest) {
            return landing;
        }
        let name = new.kustomization.map(Reached::name).unwrap_or_default();
        let why = format!("spec.{what} of {name} changes too, and until then the old one counts");
        match landing.earliest {
            None => Landing::unknown(why),
            // The deadline stays that of the window which may have it first.
            Some(_) => Landing { latest: landing.latest, reason: Some(why), ..former },
        }
    }
}

/// Returns whether the CronJobs of a cluster are the same before and after.
fn jobs_are_same(clock: &Clock<'_>, old: &Applier<'_>, new: &Applier<'_>) -> bool {
    let [was, is] = [(&clock.before, old), (&clock.after, new)]
        .map(|(tree, applier)| tree.world.model.closings.of(applier.cluster));
    was == is
}

/// Returns whether a Flux Kustomization reads the same source before and after.
pub(super) fn reads_same(old: &Applier<'_>, new: &Applier<'_>) -> bool {
    old.kustomization.map(Reached::source) == new.kustomization.map(Reached::source)
}
