//! Which renderer is used.

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::render::{Embedded, External, Renderer, Tool};

/// The renderers there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum RendererChoice {
    /// The kustomize inside this program.
    #[default]
    Embedded,
    /// `kustomize build`, found on PATH.
    Kustomize,
    /// `kubectl kustomize`, found on PATH.
    Kubectl,
}

/// Returns the renderer that is wanted; where nobody says which, the first one there is of
/// embedded, kustomize and kubectl. The first one keeps builds between runs if it may.
///
/// There is no way to go on without one: what an object is, and so which type it has, only a
/// render tells.
///
/// # Errors
///
/// When it is not there: the program was built without Go, or the tool is not on `PATH`.
pub fn detect(choice: Option<RendererChoice>, keeps: bool) -> Result<Box<dyn Renderer>, Error> {
    if let Some(choice) = choice {
        return one(choice, keeps);
    }
    one(RendererChoice::Embedded, keeps).or_else(|error| {
        let others = [RendererChoice::Kustomize, RendererChoice::Kubectl];
        others.into_iter().find_map(|choice| one(choice, keeps).ok()).ok_or(error)
    })
}

fn one(choice: RendererChoice, keeps: bool) -> Result<Box<dyn Renderer>, Error> {
    let tool = match choice {
        RendererChoice::Embedded => return embedded(keeps),
        RendererChoice::Kustomize => Tool::Kustomize,
        RendererChoice::Kubectl => Tool::Kubectl,
    };
    match External::find(tool) {
        Ok(external) => Ok(Box::new(external)),
        Err(reason) => Err(Error::invalid(
            Diagnostic::error(format!("no proof is possible with --renderer {}: {reason}", tool.program()))
                .help(format!("install {}, or leave --renderer out", tool.program())),
        )),
    }
}

fn embedded(keeps: bool) -> Result<Box<dyn Renderer>, Error> {
    match Embedded::missing() {
        None if keeps => Ok(Box::new(Embedded::default().with_cache_of_user())),
        None => Ok(Box::new(Embedded::default())),
        Some(reason) => Err(Error::invalid(
            Diagnostic::error(format!("no proof is possible: {reason}"))
                .help("use --renderer kustomize or --renderer kubectl, or install Go and build again"),
        )),
    }
}
