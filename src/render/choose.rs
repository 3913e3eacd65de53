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

/// Gives the renderer that is wanted; where nobody says which, the first one there is of
/// embedded, kustomize and kubectl.
///
/// There is no way to go on without one: what an object is, and so which type it has, only a
/// render tells.
///
/// # Errors
///
/// When it is not there: the program was built without Go, or the tool is not on `PATH`.
pub fn detect(choice: Option<RendererChoice>) -> Result<Box<dyn Renderer>, Error> {
    if let Some(choice) = choice {
        return one(choice);
    }
    one(RendererChoice::Embedded).or_else(|error| {
        one(RendererChoice::Kustomize).or_else(|_| one(RendererChoice::Kubectl)).map_err(|_| error)
    })
}

fn one(choice: RendererChoice) -> Result<Box<dyn Renderer>, Error> {
    let tool = match choice {
        RendererChoice::Embedded => return embedded(),
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

fn embedded() -> Result<Box<dyn Renderer>, Error> {
    match Embedded::missing() {
        None => Ok(Box::new(Embedded::default())),
        Some(reason) => Err(Error::invalid(
            Diagnostic::error(format!("no proof is possible: {reason}"))
                .help("use --renderer kustomize or --renderer kubectl, or install Go and build again"),
        )),
    }
}
