//! The renderer of a command.

use std::sync::Arc;

use crate::cli::Global;
use crate::error::Error;
use crate::output::Output;
use crate::render::{Object, OnDemand, Progress, RenderError, Renderer, Request, Tally, detect};
use crate::repo::Snapshot;

/// Returns the renderer that the options ask for. With `--verbose` it tells at its end how many builds
/// there were.
///
/// # Errors
///
/// When it is not there.
pub fn renderer(global: &Global, output: &Output) -> Result<Box<dyn Renderer>, Error> {
    let inner = match &global.builder {
        Some(shared) if global.renderer.is_none() => Box::new(shared.clone()),
        _ => detect(global.renderer, !global.no_cache)?,
    };
    Ok(telling(inner, global, output))
}

/// As [`renderer`]; it is looked for when the first build is wanted.
pub fn on_demand(global: &Global, output: &Output) -> Box<dyn Renderer> {
    let inner: Box<dyn Renderer> = match &global.builder {
        Some(shared) if global.renderer.is_none() => Box::new(shared.clone()),
        _ => Box::new(OnDemand::new(global.renderer, !global.no_cache)),
    };
    telling(inner, global, output)
}

fn telling(mut inner: Box<dyn Renderer>, global: &Global, output: &Output) -> Box<dyn Renderer> {
    if let Some(progress) = output.progress() {
        inner.report_to(Progress(Arc::new(progress)));
    }
    if global.verbose { Box::new(Telling { inner, output: output.clone() }) } else { inner }
}

/// A renderer that tells of its builds when it is dropped.
struct Telling {
    inner: Box<dyn Renderer>,
    output: Output,
}

impl Drop for Telling {
    fn drop(&mut self) {
        if let Some(tally) = self.inner.tally() {
            self.output.say(&format!("Builds: {tally}."));
        }
    }
}

impl Renderer for Telling {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn render(&self, snapshot: &Snapshot, requests: &[Request]) -> Vec<Result<Vec<Object>, RenderError>> {
        self.inner.render(snapshot, requests)
    }

    fn render_anew(
        &self,
        snapshot: &Snapshot,
        requests: &[Request],
    ) -> Vec<Result<Vec<Object>, RenderError>> {
        self.inner.render_anew(snapshot, requests)
    }

    fn prepare(&self, snapshot: &Snapshot, requests: &[Request]) {
        self.inner.prepare(snapshot, requests);
    }

    fn rest(&self) {
        self.inner.rest();
    }

    fn tally(&self) -> Option<Tally> {
        self.inner.tally()
    }
}
