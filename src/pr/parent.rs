//! How the other spec of a Flux Kustomization comes to its cluster.

use jiff::Timestamp;

use crate::delivery::Applier;
use crate::pr::arrival::DEEPEST;
use crate::pr::clock::Clock;
use crate::pr::course::Course;
use crate::pr::landing::{Landing, State};
use crate::pr::tree::Tree;

impl Clock<'_> {
    /// Returns how the other spec of a Flux Kustomization comes to its cluster.
    pub(super) fn spec_course(&self, old: &Applier<'_>, new: &Applier<'_>, merged: Timestamp) -> Course {
        self.spec_course_from(old, new, merged, DEEPEST)
    }

    /// As [`spec_course`](Clock::spec_course), where so many parents are followed.
    pub(super) fn spec_course_from(
        &self,
        old: &Applier<'_>,
        new: &Applier<'_>,
        merged: Timestamp,
        left: usize,
    ) -> Course {
        let course = self.after.parent_course(new, merged);
        // What applied it so far brings its other path.
        if course.landing.state == State::Unknown {
            return self.before.parent_course(old, merged);
        }
        match self.filled_in(old, new, merged, left) {
            None => course,
            Some(values) if written(&self.before, old) == written(&self.after, new) => values,
            // A part of it comes without the values.
            Some(values) => {
                let landing = Landing { latest: values.landing.latest, ..course.landing };
                Course { landing, ..values }
            }
        }
    }

    /// Returns how other values come into a spec that the parent of a Flux Kustomization fills in; `None` where it fills in
    /// none, or the same.
    fn filled_in(
        &self,
        old: &Applier<'_>,
        new: &Applier<'_>,
        merged: Timestamp,
        left: usize,
    ) -> Option<Course> {
        let is_filled = written(&self.after, new)?.contains("${");
        let left = left.checked_sub(1).filter(|_| is_filled)?;
        let parents = self.before.parent(old).zip(self.after.parent(new));
        parents.and_then(|(was, is)| self.course_by_values(&was, &is, merged, left))
    }
}

/// Returns the `spec` of a Flux Kustomization as its file has it.
fn written(tree: &Tree<'_>, applier: &Applier<'_>) -> Option<String> {
    let one = tree.world.model.standing(applier.kustomization?)?;
    Some(one.value["spec"].to_string())
}
