//! What stays with an old entry point once its divided apps have left it.

use crate::delivery::EntryPoint;
use crate::delivery::{Input, app};
use crate::plan::edit::resources::{Item, rewrite};
use crate::plan::edit::{Builder, parts};
use crate::render::Request;
use crate::repo::umbrella;

/// What stays with the old entry point once the divided apps have left it.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Whether it still lists something that its sides hold.
    pub overlaps: bool,
    /// The text of its kustomization without that; `None` where nothing would be left in it.
    pub text: Option<String>,
}

/// Works out what stays with the old entry point.
///
/// # Errors
///
/// When its kustomization can't be read, or would not build without them.
pub fn rest(input: &Input<'_>, entry: &EntryPoint) -> Result<Rest, String> {
    let Some(kustomization) = input.model.graph.get(&entry.path) else {
        let broken = input.model.graph.broken(&entry.path).map(|broken| broken.message.clone());
        return Err(broken.unwrap_or_else(|| format!("{} has no kustomization.yaml", entry.path)));
    };
    if umbrella::original(&kustomization.text).is_some() {
        return Ok(Rest { overlaps: true, text: None });
    }
    let builder = Builder::new(input.snapshot);
    let (children, _) = app::children(input.model, entry, kustomization);
    let mut items = vec![Item::Keep; kustomization.resources().len()];
    for child in &children {
        if parts::listed(input, entry, &builder, child).map_err(|refusal| refusal.reason)?.is_some() {
            items[child.index] = Item::Remove;
        }
    }
    if !items.contains(&Item::Remove) {
        return Ok(Rest { overlaps: false, text: Some(kustomization.text.to_string()) });
    }
    if !items.contains(&Item::Keep) {
        return Ok(Rest { overlaps: true, text: None });
    }
    let text = rewrite(kustomization, &items).map_err(|error| error.to_string())?;
    let mut trial = builder;
    trial.put(&kustomization.file, &text);
    // An app that builds to nothing needs nobody to apply it.
    let empty = match input.renderer.render(trial.now(), &[Request::delivered(entry.path.clone())]).pop() {
        Some(Ok(objects)) => objects.is_empty(),
        Some(Err(error)) => {
            return Err(format!("{} would not build without its divided apps: {error}", entry.path));
        }
        None => false,
    };
    Ok(Rest { overlaps: true, text: (!empty).then_some(text) })
}
