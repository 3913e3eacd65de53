//! Everything that `check` says of one state of a repository.

use jiff::Timestamp;

use crate::check::generated::generated;
use crate::check::ignore::ignore;
use crate::check::schedules::{SpecLintOptions, spec_lints_with};
use crate::check::subject::Subject;
use crate::check::{audit, sort};
use crate::delivery::Input;
use crate::diagnostic::Diagnostic;
use crate::template::Templates;

/// What findings are made from, beside the repository.
#[derive(Clone)]
pub struct Standard<'a> {
    /// What the reader of the spec says.
    pub warnings: Vec<Diagnostic>,
    /// What generated files are made from; `None` does not look at them, which builds every entry point.
    pub templates: Option<&'a Templates>,
    /// From when on schedules are looked at.
    pub now: Timestamp,
    /// What schedules are measured by.
    pub options: SpecLintOptions,
}

impl Standard<'_> {
    /// Returns the findings about a repository, and `more` of them, without those that it ignores, in their order.
    pub fn findings(&self, subject: &Subject<'_>, more: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let mut found = self.warnings.clone();
        if let Some(spec) = subject.spec {
            found.extend(spec_lints_with(spec, subject.model, self.now, self.options));
        }
        found.extend(audit(subject, self.now));
        found.extend(more);
        if let (Some(spec), Some(templates)) = (subject.spec, self.templates) {
            let (snapshot, model, renderer) = (subject.snapshot, subject.model, subject.renderer);
            let generated = generated(&Input { spec, snapshot, model, renderer }, templates);
            found = generated.without_mended(found);
            found.extend(generated.findings);
        }
        let mut found = ignore(found, subject.spec, subject.snapshot, &subject.model.root);
        sort(&mut found);
        found
    }
}
