//! Splits one entry point.

use crate::delivery::EntryPoint;
use crate::delivery::{Child, Input, OneType, Typed, children, parent};
use crate::diagnostic::{Place, steps};
use crate::plan::BACK;
use crate::plan::edit::{Builder, parts};
use crate::plan::gate::Lone;
use crate::plan::outcome::{AppOutcome, BESIDE, EntryOutcome, Way};
use crate::plan::problem::{ADDED_TYPES, Nature, Problem, REMEDY_FOR_ADDED, REMEDY_FOR_TYPES};
use crate::plan::split::child::Placed;
use crate::plan::split::{Selection, later};
use crate::repo::Kustomization;

/// One entry point that is being split.
pub struct EntrySplit<'a, 'i> {
    pub(super) input: &'a Input<'i>,
    pub(super) entry: &'a EntryPoint,
    pub(super) kustomization: &'a Kustomization,
    /// Whether what it writes is taken to build the same until all of it is proven together.
    pub(super) trusts: bool,
    /// What a Namespace alone does not divide.
    pub(super) lone: Option<&'a Lone>,
}

impl<'a, 'i> EntrySplit<'a, 'i> {
    /// Prepares to split an entry point that has a usable kustomization.
    pub fn new(
        input: &'a Input<'i>,
        entry: &'a EntryPoint,
        kustomization: &'a Kustomization,
    ) -> EntrySplit<'a, 'i> {
        EntrySplit { input, entry, kustomization, trusts: false, lone: None }
    }

    /// Leaves it to the caller to compare each side with the objects of its type.
    #[must_use]
    pub fn trusting(self, trusts: bool) -> EntrySplit<'a, 'i> {
        EntrySplit { trusts, ..self }
    }

    /// Leaves it whole where a Namespace alone would be divided from the rest.
    #[must_use]
    pub fn leaving(self, lone: &'a Lone) -> EntrySplit<'a, 'i> {
        EntrySplit { lone: Some(lone), ..self }
    }

    /// Splits the selected apps of the entry point into the builder; nothing stays in it after a refusal.
    ///
    /// Where nothing was compared on the way, the objects that its sides must build are given too.
    ///
    /// # Errors
    ///
    /// When it can't be divided.
    pub fn split(
        &self,
        builder: &mut Builder<'_>,
        selection: &Selection,
    ) -> Result<(EntryOutcome, Option<Typed>), Problem> {
        let outcome = EntryOutcome::of(self.entry);
        let (all, loose) = children(self.input.model, self.entry, self.kustomization);
        let whole = selection.names_entry(self.input.model.name_of(self.entry), &self.entry.path);
        let (selected, rest): (Vec<Child>, Vec<Child>) =
            all.into_iter().partition(|child| whole || selection.names(child));
        let nothing = selected.is_empty() && (!whole || loose.is_empty());
        if nothing && *selection != Selection::All {
            return Ok((outcome.untouched(BESIDE), None));
        }
        let typed = self.typed()?;
        if self.adds_types(&typed) {
            return Err(Problem::new(ADDED_TYPES, REMEDY_FOR_TYPES));
        }
        if typed.objects.is_empty() {
            return Ok((outcome.untouched("it renders no objects"), None));
        }
        if let Some(reason) = parent::reason(self.input.model, &typed.objects) {
            return Ok((outcome.untouched(reason), None));
        }
        if let Some(rest) = self.lone.and_then(|lone| lone.rest(&self.entry.path)) {
            let one = OneType { position: rest, but_namespaces: true };
            return Ok((outcome.undivided(self.input, self.entry, one), None));
        }
        let foreign = self.kustomization.uniting_key().map(str::to_owned);
        let entry_level = foreign.is_some() || (whole && !loose.is_empty());
        let mut refusal = None;
        // What speaks of all apps may stand on each side: the proof decides. Without need it stays in
        // one place.
        let is_begun = || {
            rest.iter()
                .chain(&selected)
                .any(|child| matches!(parts::listed(self.input, self.entry, builder, child), Ok(Some(_))))
        };
        let is_live = !later::applied_sides(self.input, &self.entry.path, &self.entry.cluster).is_empty();
        if !entry_level || is_live || (foreign.is_some() && (!rest.is_empty() || is_begun())) {
            let mut trial = builder.clone();
            // What an earlier split divided is no longer the old entry point's alone.
            let is_done =
                |child: &Child| matches!(parts::listed(self.input, self.entry, builder, child), Ok(Some(_)));
            let (done, rest): (Vec<Child>, Vec<Child>) = rest.iter().cloned().partition(is_done);
            let is_all = rest.is_empty() && done.is_empty() && loose.is_empty() && !is_live;
            let split = EntrySplit { trusts: self.trusts && is_all, ..*self };
            match split.split_children(&mut trial, &selected, &rest, &done, &loose, &typed) {
                Ok(mut outcome) => {
                    *builder = trial;
                    outcome.remaining = rest.iter().map(|child| child.app.clone()).collect();
                    return Ok((outcome, Some(typed).filter(|_| split.trusts)));
                }
                Err(problem) => refusal = Some(problem),
            }
        }
        if rest.is_empty() && (whole || loose.is_empty()) && !is_live {
            let mut trial = builder.clone();
            let earlier = refusal.as_ref().map(|problem| problem.reason.as_str());
            let done = self.project_entry(&mut trial, &typed, foreign.as_deref(), earlier)?;
            *builder = trial;
            return Ok((done, Some(typed).filter(|_| self.trusts)));
        }
        let mut problem = refusal.unwrap_or_default();
        // A broken file, and one that can't be edited, is in the way of the whole too.
        if problem.nature != Nature::Passing {
            return Err(problem);
        }
        if let Some(field) = foreign {
            let Kustomization { file, text, .. } = self.kustomization;
            let place = self.kustomization.key(&field).map_or_else(
                || Place::file(file.clone()),
                |key| Place::span(file.clone(), text.clone(), key.span.clone()),
            );
            let reason = format!("{file} has `{field}`, which concerns all apps together");
            problem = Problem::new(reason, self.all_at_once()).at(place);
        }
        if is_live {
            problem.steps = steps(&format!(
                "{BACK}\nrun `gitops-windows split` for all apps to be divided\nrun `gitops-windows migrate` for all of it together"
            ));
        }
        Err(problem)
    }

    /// Says how all of its apps are split.
    pub(super) fn all_at_once(&self) -> String {
        let name = self.input.model.name_of(self.entry);
        format!("split all of its apps at once: `gitops-windows split {name}`")
    }

    /// Builds the entry point's folder, and gives each object its type.
    fn typed(&self) -> Result<Typed, Problem> {
        self.input.typed_entry(self.input.snapshot, self.entry).map_err(|error| {
            let problem = Problem::unbuilt(&self.entry.path, &error);
            let builds = |cluster| matches!(self.input.typed_as_applied(self.entry, cluster), Ok(Some(_)));
            if !self.entry.clusters().all(builds) {
                return problem;
            }
            let reason = format!("without the additions of its Flux Kustomization {}", problem.reason);
            Problem { reason, steps: steps(REMEDY_FOR_ADDED), nature: Nature::Passing, ..problem }
        })
    }

    /// Returns whether objects come with a Flux Kustomization and are of a type that the folder alone has not.
    fn adds_types(&self, typed: &Typed) -> bool {
        let differs = |cluster: &str| match self.input.typed_as_applied(self.entry, cluster) {
            Ok(applied) => applied.is_none_or(|applied| applied.present() != typed.present()),
            // The proof speaks of what does not build.
            Err(_) => false,
        };
        self.entry.clusters().any(|cluster| self.input.adds_objects(self.entry, cluster) && differs(cluster))
    }

    fn split_children(
        &self,
        builder: &mut Builder<'_>,
        selected: &[Child],
        rest: &[Child],
        done: &[Child],
        loose: &[usize],
        typed: &Typed,
    ) -> Result<EntryOutcome, Problem> {
        let mut outcome = EntryOutcome::of(self.entry);
        let mut placed: Vec<(&Child, Placed)> = Vec::new();
        for child in selected {
            if let Some(parts) = parts::listed(self.input, self.entry, builder, child)? {
                let reason = "split already".to_owned();
                placed.push((child, Placed { parts, way: Way::Untouched, reason }));
                continue;
            }
            placed.push((child, self.split_child(builder, child)?));
        }
        outcome.apps = placed
            .iter()
            .map(|(child, placed)| AppOutcome {
                app: child.app.clone(),
                way: placed.way,
                reason: placed.reason.clone(),
            })
            .collect();
        let present: Vec<usize> = (0..self.input.spec.types.len())
            .filter(|position| placed.iter().any(|(_, placed)| placed.parts.contains_key(position)))
            .collect();
        if let [only] = present[..]
            && rest.is_empty()
            && done.is_empty()
            && loose.is_empty()
        {
            let one = OneType { position: only, but_namespaces: false };
            return Ok(outcome.undivided(self.input, self.entry, one));
        }
        let others: Vec<Child> = rest.iter().chain(done).cloned().collect();
        for position in &present {
            self.write_side(builder, *position, &placed, &others, loose)?;
        }
        for position in 0..self.input.spec.types.len() {
            let side = parts::side(self.input, self.entry, position)?;
            if matches!(builder.kustomization(&side), Ok(Some(_))) {
                outcome.after.push((self.input.spec.types[position].name.value.clone(), side));
            }
        }
        let way = placed.iter().map(|(_, placed)| placed.way).max().unwrap_or(Way::Untouched);
        outcome.way = way;
        outcome.reason = match placed.iter().find(|(_, placed)| placed.way == way) {
            Some((child, placed)) => format!("{}: {}", child.app, placed.reason),
            None => String::new(),
        };
        if !self.trusts && (way != Way::Untouched || !builder.is_unchanged()) {
            self.check(builder, typed, &outcome, rest, loose)?;
        }
        Ok(outcome)
    }
}
