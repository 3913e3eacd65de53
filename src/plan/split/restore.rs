//! Gives a folder under an umbrella its content back.

use std::collections::BTreeSet;

use crate::delivery::Input;
use crate::path::RepoPath;
use crate::plan::edit::generated::{based, rebase};
use crate::plan::edit::parts::Parts;
use crate::plan::edit::{Builder, documents, resources};
use crate::repo::listing::is_listing;
use crate::repo::{File, Kustomization, Reference, umbrella};
use crate::yaml::Node;

/// Restores one folder in the builder.
///
/// Files come back from the parts with whatever was edited in them; the kustomization is what the
/// umbrella remembers.
///
/// # Errors
///
/// When somebody changed the parts' own kustomizations in a way that the remembered text does not
/// say, with the reason; the builder may then hold half of it and must be thrown away.
pub fn restore(input: &Input<'_>, builder: &mut Builder<'_>, found: &Kustomization) -> Result<(), String> {
    let file = &found.file;
    let text = umbrella::original(&found.text).ok_or_else(|| format!("{file} is no umbrella"))?;
    let notes = umbrella::notes(&found.text);
    let original =
        Kustomization::parse(file, &File::new(text.as_bytes())).map_err(|diagnostic| diagnostic.message)?;
    let parts: Vec<RepoPath> = found.resources().iter().filter_map(Reference::path).cloned().collect();
    // A folder that was divided has at least two parts; with one it moved as a whole.
    if let [whole] = &parts[..]
        && let Some(moved) = builder.kustomization(whole).map_err(|diagnostic| diagnostic.message)?
    {
        let expected = based(&original, whole)?;
        let text = if *expected == *moved.text { text } else { rebase(&moved, &found.folder)? };
        builder.remove(&moved.file);
        return put(builder, file, &text);
    }
    for path in original.resources().iter().filter_map(Reference::path) {
        if path.parent().as_ref() != Some(&found.folder) || builder.now().entry(path).is_some() {
            continue;
        }
        let name = path.name().unwrap_or_default().to_owned();
        let places: Vec<(RepoPath, RepoPath)> = parts
            .iter()
            .filter_map(|part| Some((part.clone(), part.join(&name).ok()?)))
            .filter(|(_, place)| builder.now().file(place).is_some())
            .collect();
        match (&places[..], documents::order(&notes, &name)) {
            ([], _) if input.model.graph.has(path) => {}
            ([], _) => return Err(format!("{path} was in one of the parts and is gone")),
            ([(_, place)], None) => builder.move_file(place, path).map_err(|error| error.to_string())?,
            (places, Some(order)) => rejoin(input, builder, path, places, &order)?,
            _ => return Err(format!("{path} stands in several parts")),
        }
    }
    let mut text = text;
    for part in &parts {
        let Some(kustomization) = builder.kustomization(part).map_err(|diagnostic| diagnostic.message)?
        else {
            return Err(format!("{part} has no kustomization.yaml any more"));
        };
        text = take_along(input, builder, found, &kustomization, text)?;
        unchanged(&kustomization, &original)?;
        builder.remove(&kustomization.file);
    }
    put(builder, file, &text)
}

/// Moves the files that a part got since the split, and lists them behind the others.
///
/// What stood there before is back in its place, so a listed file that still lies in the part is new.
fn take_along(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    found: &Kustomization,
    part: &Kustomization,
    mut text: String,
) -> Result<String, String> {
    for path in part.resources().iter().filter_map(Reference::path) {
        if path.parent().as_ref() != Some(&part.folder) || builder.now().file(path).is_none() {
            continue;
        }
        let place = found.folder.join(path.name().unwrap_or_default()).map_err(|error| error.to_string())?;
        if builder.now().entry(&place).is_some() {
            return Err(format!("{} lists {path}, and {place} is something else", part.file));
        }
        if let Some(other) = input.model.graph.referrers(path).find(|other| **other != part.folder) {
            return Err(format!("{path} came since the split, and {other} uses it too"));
        }
        builder.move_file(path, &place).map_err(|error| error.to_string())?;
        if !is_listing(&text) {
            let list = Kustomization::parse(&found.file, &File::new(text.as_bytes()))
                .map_err(|diagnostic| diagnostic.message)?;
            text = resources::add(&list, &place).map_err(|error| error.to_string())?;
        }
    }
    Ok(text)
}

/// Writes the remembered text; a list that Flux made by itself before goes.
fn put(builder: &mut Builder<'_>, file: &RepoPath, text: &str) -> Result<(), String> {
    if is_listing(text) {
        builder.remove(file);
    } else {
        builder.put(file, text);
    }
    Ok(())
}

fn rejoin(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    path: &RepoPath,
    places: &[(RepoPath, RepoPath)],
    order: &[String],
) -> Result<(), String> {
    let mut pieces = Vec::new();
    let mut by_type = Parts::new();
    for (part, place) in places {
        let text =
            builder.now().file(place).and_then(File::text).ok_or_else(|| format!("{place} is not UTF-8"))?;
        // A part is known by the type that ends its folder's name or the side that it lies in.
        let position = input
            .spec
            .types
            .iter()
            .position(|change_type| is_of(part, &change_type.name.value))
            .ok_or_else(|| format!("{part} is of no type"))?;
        by_type.insert(position, place.clone());
        pieces.push((input.spec.types[position].name.value.clone(), text.to_owned()));
    }
    let text = documents::rejoin(&pieces, order)
        .ok_or_else(|| format!("the documents of {path} can't be put together again"))?;
    for place in by_type.values() {
        builder.remove(place);
    }
    builder.create(path, &text).map_err(|error| error.to_string())
}

fn is_of(part: &RepoPath, change_type: &str) -> bool {
    let says = |segment: &str| segment == change_type || segment.ends_with(&format!("-{change_type}"));
    part.segments().rev().any(says)
}

/// Makes sure that a copy of a kustomization holds no line of its own but resources: nothing that
/// somebody wrote there may get lost.
///
/// # Errors
///
/// When it does, with the line.
pub fn unchanged(copy: &Kustomization, original: &Kustomization) -> Result<(), String> {
    let list = |kustomization: &Kustomization| {
        kustomization.field("resources").and_then(Node::as_sequence).map(<[Node]>::to_vec).unwrap_or_default()
    };
    let spans: Vec<_> = list(copy).into_iter().map(|node| node.span).collect();
    let known: BTreeSet<&str> = original.text.lines().map(str::trim).collect();
    let mut offset = 0;
    for line in copy.text.split_inclusive('\n') {
        let range = offset..offset + line.len();
        offset = range.end;
        let is_item = spans.iter().any(|span| span.start < range.end && span.end > range.start);
        if !is_item && !known.contains(line.trim()) && !line.trim().is_empty() {
            let line = line.trim();
            return Err(format!(
                "{} was edited since the split: `{line}` stands in no other place",
                copy.file
            ));
        }
        if is_item {
            // A comment behind an item is somebody's work too.
            let comment = line.split_once(" #").map(|(_, comment)| comment.trim());
            if comment.is_some_and(|comment| !original.text.contains(comment)) {
                return Err(format!("{} was edited since the split: `{}`", copy.file, line.trim()));
            }
        }
    }
    Ok(())
}
