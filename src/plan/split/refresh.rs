//! Writes projections anew when the rules changed.

use std::collections::BTreeSet;

use crate::delivery::{EntryPoint, Input, TypedError, shared};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, ownership, says};
use crate::plan::gate;
use crate::plan::migrate::misplaced;
use crate::plan::split::projection::Manner;
use crate::plan::split::whole::projection_text;
use crate::proof::compare;
use crate::render::Request;
use crate::repo::{Kustomization, Target};

/// Brings every generated projection of the entry points that are meant up to date with the rules; gives
/// those, present or not, of which a side was written anew.
///
/// One of which the content does not build stays as it stands: what is said of these comes with them.
///
/// # Errors
///
/// When one was edited by hand.
pub fn refresh(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    is_meant: &dyn Fn(&RepoPath) -> bool,
) -> Result<(BTreeSet<RepoPath>, Vec<Diagnostic>), Error> {
    let (mut moved, mut broken) = (BTreeSet::new(), Vec::new());
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
            let own = builder.now().file(&kustomization.file).map(ownership);
            if !matches!(own, Some(Ownership::Ours | Ownership::Edited)) {
                continue;
            }
            let is_edited = own == Some(Ownership::Edited);
            let conflict = || Err(Error::new(ErrorKind::Conflict, edited(input, &kustomization)));
            let [reference] = kustomization.resources() else {
                if is_edited {
                    return conflict();
                }
                continue;
            };
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
                        Diagnostic::error(error.message).help(error.help),
                    ));
                }
                Err(TypedError::Render(message) | TypedError::Unfetched { message, .. }) => {
                    let text =
                        format!("{folder} stays as it stands, since {whole} does not build: {message}");
                    broken.push(Diagnostic::warning(text).at(Place::file(kustomization.file.clone())));
                    continue;
                }
            };
            let mut texts = Manner::ALL
                .map(|manner| projection_text(input, &app, whole, &folder, position, &typed, manner));
            if is_edited {
                let file = builder.now().file(&kustomization.file);
                let Some(text) = texts.iter().find(|text| file.is_some_and(|file| says(file, text))) else {
                    return conflict();
                };
                builder.put(&kustomization.file, text);
                continue;
            }
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
    Ok((moved, broken))
}

/// Says that a projection was edited by hand; new apps go to the list that its sides share.
fn edited(input: &Input<'_>, list: &Kustomization) -> Diagnostic {
    let conflict = gate::conflict(&list.file);
    match way_back(input, list) {
        Some(steps) => conflict.help(steps),
        None => conflict,
    }
}

/// Says where an app goes that was listed in a projection; `None` of another list.
pub fn way_back(input: &Input<'_>, list: &Kustomization) -> Option<String> {
    let shared = shared_list(input, list)?;
    Some(format!(
        "list new apps in {shared}, of which each side keeps its own\nrevert the edit of {}\nrun `gitops-windows sync`",
        list.file
    ))
}

/// Returns the list that the sides of a projection build together, if a list is one of theirs.
fn shared_list(input: &Input<'_>, list: &Kustomization) -> Option<RepoPath> {
    let sides = input.sides();
    let (whole, _) = sides.get(&list.folder)?;
    let cluster = input.model.entry(&list.folder).map_or("", |entry| entry.cluster.as_str());
    let shared = shared(input.spec, whole, cluster)?;
    input.model.graph.get(&shared).map(|shared| shared.file.clone())
}
