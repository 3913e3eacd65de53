//! A hand-over in the commit of a later split: sides that are live take over what was divided just now.

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::Stage;
use crate::plan::edit::Builder;
use crate::plan::migrate::depends::Succession;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::note::Note;
use crate::plan::migrate::rewritten::Rewritten;
use crate::plan::migrate::standing::moves;
use crate::plan::migrate::steps::steps;
use crate::plan::problem::Problem;
use crate::proof::Renames;

/// What became of an entry point whose live sides took over.
pub struct TakenOver {
    /// The Flux Kustomizations that come or go.
    pub renamed: Renames,
    /// Those that were rewritten.
    pub rewritten: Vec<Rewritten>,
    /// What people are told: who waits for whom, and what only they can change.
    pub notes: Vec<String>,
}

/// Lets the live sides of an entry point take over what was divided just now.
///
/// # Errors
///
/// When something is in the way.
pub fn take_over(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    whole: &RepoPath,
) -> Result<TakenOver, Problem> {
    let found: Vec<Move<'_>> = moves(input).into_iter().filter(|one| one.whole == *whole).collect();
    for one in &found {
        if let Stage::Stuck(stop) = &one.stage {
            return Err(stop.clone());
        }
    }
    let active: Vec<&Move<'_>> = found.iter().filter(|one| one.stage == Stage::Restructured).collect();
    if active.is_empty() {
        return Err(Problem::new(
            format!(
                "nothing to hand over for {whole}: no prepared Flux Kustomization still applies its divided apps"
            ),
            "run `gitops-windows migrate` to see its state\nfinish that first",
        ));
    }
    let succession = Succession::of(input, &active);
    let mut rewritten = Vec::new();
    match steps(input, builder, &active, &succession, &mut rewritten) {
        Ok(notes) => {
            let notes = notes.into_iter().map(Note::told).collect();
            Ok(TakenOver { renamed: succession.names(input), rewritten, notes })
        }
        Err(halt) => Err(halt.problem),
    }
}
