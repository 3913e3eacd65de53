//! A renderer that is looked for when the first build is wanted.

use std::sync::OnceLock;

use crate::render::{Object, Progress, RenderError, Renderer, RendererChoice, Request, Tally, detect};
use crate::repo::Snapshot;

/// Builds with what [`detect`] finds, and asks for it only once something has to be built.
///
/// For commands that answer most questions without a build. Where there is no renderer, each build fails with the
/// reason.
pub struct OnDemand {
    choice: Option<RendererChoice>,
    keeps: bool,
    progress: Option<Progress>,
    found: OnceLock<Result<Box<dyn Renderer>, String>>,
}

impl OnDemand {
    /// Makes a renderer of what is wanted, or of the first that is there; `keeps` tells whether it keeps builds between
    /// runs.
    pub fn new(choice: Option<RendererChoice>, keeps: bool) -> OnDemand {
        OnDemand { choice, keeps, progress: None, found: OnceLock::new() }
    }

    fn found(&self) -> Result<&dyn Renderer, &str> {
        let reason = |error: crate::error::Error| {
            let first = error.diagnostics.into_iter().next();
            first.map(|diagnostic| diagnostic.message).unwrap_or_default()
        };
        let look = || {
            let mut renderer = detect(self.choice, self.keeps).map_err(reason)?;
            self.progress.iter().for_each(|progress| renderer.report_to(progress.clone()));
            Ok(renderer)
        };
        match self.found.get_or_init(look) {
            Ok(renderer) => Ok(renderer.as_ref()),
            Err(reason) => Err(reason),
        }
    }
}

impl Renderer for OnDemand {
    fn describe(&self) -> String {
        self.found().map_or_else(str::to_owned, |renderer| renderer.describe())
    }

    fn render(&self, snapshot: &Snapshot, requests: &[Request]) -> Vec<Result<Vec<Object>, RenderError>> {
        match self.found() {
            Ok(renderer) => renderer.render(snapshot, requests),
            Err(reason) => requests.iter().map(|_| Err(RenderError { message: reason.to_owned() })).collect(),
        }
    }

    fn report_to(&mut self, progress: Progress) {
        self.progress = Some(progress);
    }

    fn rest(&self) {
        if let Some(Ok(renderer)) = self.found.get() {
            renderer.rest();
        }
    }

    /// Nothing is looked for to count nothing.
    fn tally(&self) -> Option<Tally> {
        match self.found.get() {
            Some(Ok(renderer)) => renderer.tally(),
            _ => Some(Tally::default()),
        }
    }
}
