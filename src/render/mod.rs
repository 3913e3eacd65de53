//! Rendering: kustomize folders in, objects out.

mod anew;
mod answer;
mod cache;
mod cause;
mod choose;
mod embedded;
mod engine;
mod external;
mod forward;
mod host;
#[cfg(test)]
mod lent;
mod memo;
mod module;
#[cfg(test)]
mod nothing;
mod on_demand;
mod output;
mod pool;
mod progress;
mod request;
mod sandbox;
mod seen;
mod shared;
mod spent;
mod tally;
mod tree;
mod turn;
mod values;
mod wasi;

pub use anew::Anew;
pub use choose::{RendererChoice, detect};
pub use embedded::Embedded;
pub use external::{External, Tool};
#[cfg(test)]
pub use lent::Lent;
#[cfg(test)]
pub use nothing::Nothing;
pub use on_demand::OnDemand;
pub use output::{ORIGIN, without_origin};
pub use progress::Progress;
pub use request::{Request, build_fields};
pub use sandbox::Limits;
pub use shared::Shared;
pub use tally::Tally;

use std::sync::Arc;

use crate::path::RepoPath;
use crate::repo::Snapshot;

/// Where a rendered object came from, as kustomize's origin annotation tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file that held the object, or for a generated one the kustomization that generated it.
    pub path: RepoPath,
    /// The generator's kind, for example `ConfigMapGenerator`; `None` for an object read from a file.
    pub generator: Option<String>,
}

/// One object of a build's result.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// The whole object as JSON, without the origin annotation; the builds that are remembered share it.
    pub value: Arc<serde_json::Value>,
    /// Where it came from, when origins were asked for and kustomize knew.
    pub origin: Option<Origin>,
}

/// Why a build gave no objects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RenderError {
    /// What kustomize said, or what stopped it (memory, time, a remote base).
    pub message: String,
}

/// Begins the reason of a build that was stopped for its time.
const LATE: &str = "takes longer than the ";

/// Begins the reason of a build that was stopped for its memory.
const LARGE: &str = "needs more than the ";

/// Begins the reason of a build that needs what is not here, such as a remote base (`renderer/remote.go`).
const NEEDS: &str = "needs ";

/// Ends the reason of a build that needs a file which is not read.
const ALIASED: &str = ", whose aliases stand for too much";

impl RenderError {
    /// Returns whether a build failed for what is lacking here, so that Flux may well make it.
    pub fn is_of_here(&self) -> bool {
        is_of_here(&self.message)
    }

    /// Returns whether the build was stopped for its time or memory, so that it says nothing about the folder.
    pub fn is_unjudged(&self) -> bool {
        is_unjudged(&self.message)
    }

    /// Makes an error of a tool's report, of which only the part that matters is kept.
    fn reported(text: &str) -> RenderError {
        RenderError { message: cause::cause(text) }
    }
}

/// As [`RenderError::is_of_here`], by the message that somebody kept of it.
pub(crate) fn is_of_here(message: &str) -> bool {
    is_unjudged(message) || message.starts_with(NEEDS)
}

/// Returns what mends a build that stopped at the aliases of a file, by its message; `None` for any other. Nobody should make
/// that build to see why it fails.
pub(crate) fn without_aliases(message: &str) -> Option<&'static str> {
    message.ends_with(ALIASED).then_some("write the values out in place of the aliases")
}

/// Returns the message of a build that fails for what is lacking here.
pub(crate) fn of_here(lacking: &str) -> String {
    format!("{NEEDS}{lacking}")
}

fn is_unjudged(message: &str) -> bool {
    message.starts_with(LATE) || message.starts_with(LARGE)
}

/// Something that builds kustomize folders of a snapshot.
///
/// A renderer is a function of the snapshot: it sees no file that the snapshot lacks.
pub trait Renderer {
    /// Names the renderer and its version for people, for example `kustomize v5.8.1`.
    fn describe(&self) -> String;

    /// Builds each request, in the order given; one failure does not stop the others.
    fn render(&self, snapshot: &Snapshot, requests: &[Request]) -> Vec<Result<Vec<Object>, RenderError>>;

    /// As [`render`](Renderer::render), with nothing that another run has made.
    fn render_anew(
        &self,
        snapshot: &Snapshot,
        requests: &[Request],
    ) -> Vec<Result<Vec<Object>, RenderError>> {
        self.render(snapshot, requests)
    }

    /// Builds ahead, side by side, what will be asked for one by one; does nothing where builds are
    /// not remembered.
    fn prepare(&self, _snapshot: &Snapshot, _requests: &[Request]) {}

    /// Lets somebody hear how far builds have come, where that is known.
    fn report_to(&mut self, _progress: Progress) {}

    /// Returns back what many builds took, as few are to come.
    fn rest(&self) {}

    /// Returns how many builds there were so far; `None` where nobody counts.
    fn tally(&self) -> Option<Tally> {
        None
    }
}
