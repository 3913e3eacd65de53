//! Writes projections anew when the rules changed.

use std::collections::BTreeSet;

use crate::delivery::EntryPoint;
use crate::delivery::{Input, TypedError};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, ownership};
use crate::plan::gate;
use crate::plan::migrate::misplaced;
use crate::plan::split::projection::Manner;
use crate::plan::split::whole::projection_text;
use crate::proof::compare;
use crate::render::Request;
use crate::repo::Target;

/// Brings every generated projection of the entry points that are meant up to date with the rules; gives
/// those, present or not, of which a side was written anew.
///
/// # Errors
///
/// When one was edited by hand, or its content does not build.
pub fn refresh(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    is_meant: &dyn Fn(&RepoPath) -> bool,
) -> Result<BTreeSet<RepoPath>, Error> {
    let mut moved = BTreeSet::new();
    // A side may carry a gate, which is generated too and no projection.
    let gates: BTreeSet<RepoPath> = gate::carriers(input)?.into_values().collect();
    for (side, (entry, position)) in input.sides().iter().filter(|(_, (entry, _))| is_meant(entry)) {
        let position = *position;
        let folders: Vec<RepoPath> = builder
            .now()
            .below(side)
            .filter_map(|(path, _)| path.parent())
            .filter(|folder| input.model.graph.has(folder) && !gates.contains(folder))
            .collect();
        for folder in folders {
            let Ok(Some(kustomization)) = builder.kustomization(&folder) else { continue };
            match builder.now().file(&kustomization.file).map(ownership) {
                Some(Ownership::Ours) => {}
                Some(Ownership::Edited) => {
                    return Err(Error::new(ErrorKind::Conflict, gate::conflict(&kustomization.file)));
                }
                _ => continue,
            }
            let [reference] = kustomization.resources() else { continue };
            let Target::Path(whole) = &reference.target else { continue };
            let cluster = input.model.entries_within(entry).next();
            let cluster = cluster.map(|found| found.cluster.as_str()).unwrap_or_default();
            let own = input.model.entry(entry).filter(|_| folder == *side);
            let app = own.map(|found| input.model.name_of(found).to_owned());
            let app = app.unwrap_or_else(|| crate::delivery::app_name(whole, cluster));
            let result = match misplaced::standing(input, side, entry).filter(|_| folder == *side) {
                Some(found) => {
                    input.typed_entry(builder.now(), &EntryPoint { path: whole.clone(), ..found.clone() })
                }
                None => input.typed(builder.now(), whole, &app),
            };
            let typed = match result {
                Ok(typed) => typed,
                Err(TypedError::Classify(error)) => {
                    return Err(Error::new(
                        ErrorKind::Unsafe,
                        crate::diagnostic::Diagnostic::error(error.message).help(error.help),
                    ));
                }
                Err(TypedError::Render(message) | TypedError::Unfetched { message, .. }) => {
                    return Err(Error::invalid(crate::diagnostic::Diagnostic::error(format!(
                        "{whole} does not build: {message}"
                    ))));
                }
            };
            let mut texts = Manner::ALL
                .map(|manner| projection_text(input, &app, whole, &folder, position, &typed, manner));
            // A split takes one manner for all sides, so the one that stands is asked first.
            if let Some(standing) = texts.iter().position(|text| *text == *kustomization.text) {
                texts[..=standing].rotate_right(1);
            }
            for text in texts {
                let mut trial = builder.clone();
                trial.put(&kustomization.file, &text);
                let results = input.renderer.render(trial.now(), &[Request::delivered(folder.clone())]);
                let parts: Vec<_> = std::iter::once(&folder).zip(results.iter()).collect();
                if compare(&typed.of(position), &parts).is_empty() {
                    if trial.now().file(&kustomization.file) != builder.now().file(&kustomization.file) {
                        moved.insert(entry.clone());
                    }
                    *builder = trial;
                    break;
                }
            }
        }
    }
    Ok(moved)
}
