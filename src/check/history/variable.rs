//! Variables that get their values later than they are used.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Change;
use super::mixture::Moment;
use crate::check::audit::variable::unset;
use crate::check::code::LANDS_TOO_EARLY;
use crate::check::history::Told;
use crate::check::need::Need;
use crate::check::reference::{NameReference, Part};
use crate::delivery::Delivery;
use crate::repo::manifest::ObjectId;
use crate::repo::post_build::is_kept_out;

impl<'s> Change<'s> {
    /// Says that a variable gets its value later than it is used.
    ///
    /// What waits itself is built with the values of that time (kustomize-controller, `substituteFrom`).
    pub(super) fn without_value(
        &self,
        user: &Delivery,
        mixed: &Moment<'_, 's>,
        after: &Moment<'_, 's>,
    ) -> Option<Told> {
        let flux = self.step.after.applying(user)?;
        let post_build = flux.spec("postBuild");
        let own = post_build["substitute"].as_object().into_iter().flatten();
        let own: BTreeSet<&str> = own.map(|(name, _)| name.as_str()).collect();
        let mut names = BTreeSet::new();
        for applied in user.objects.iter().filter(|applied| !is_kept_out(applied.value())) {
            unset(applied.value(), &own, &mut names);
        }
        let sources = post_build["substituteFrom"].as_array()?;
        let need = |source: &Value, part: Part| {
            Need::Named(NameReference {
                group: String::new(),
                kind: source["kind"].as_str().unwrap_or_default().to_owned(),
                namespace: user.namespace.clone(),
                name: source["name"].as_str().unwrap_or_default().to_owned(),
                optional: false,
                path: Vec::new(),
                part,
            })
        };
        let id = ObjectId::default();
        // What Git does not bring may have any key.
        if !sources.iter().all(|source| after.meeting(&id, &need(source, Part::Whole)).is_some()) {
            return None;
        }
        for name in names {
            let needs: Vec<Need> =
                sources.iter().map(|source| need(source, Part::Key(name.clone()))).collect();
            let Some((_, target)) = needs.iter().find_map(|need| after.meeting(&id, need)) else { continue };
            if needs.iter().any(|need| mixed.meeting(&id, need).is_some()) {
                continue;
            }
            let Some(held) = target.window() else { continue };
            let target = target.applied;
            let finding = LANDS_TOO_EARLY
                .finding(format!(
                    "{} uses `${{{name}}}` at once, but {} gets it {}. Until then it is empty, or nothing is applied",
                    user.name,
                    target.id,
                    held.end()
                ))
                .at(flux.place("postBuild"))
                .related("this lands later", self.step.after.sources.place(target, &["data"]))
                .help("merge the gated part\nmerge this after its window\nor give both one type");
            return Some(self.since(finding, None, Some(held)));
        }
        None
    }
}
