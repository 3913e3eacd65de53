//! Renders manifests from templates in which no value can become anything but the value.
//!
//! `{{ value }}` writes a whole YAML value: text quoted where that is needed, lists and mappings in
//! flow style. `{{ list | json }}` writes JSON. After rendering the result is read, and every value
//! that was written must stand there as one whole YAML value. Part of a longer text
//! (`open-{{ name }}`) may only be what consists of letters, digits and `. _ / @ + = -`.

mod check;
mod environment;
mod mark;
mod place;
#[cfg(test)]
mod tests;
mod value;

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::template::check::check;
use crate::template::environment::environment;
use crate::template::mark::{CLOSE, OPEN, unmark};
use crate::template::place::{place, template_diagnostic};

/// The templates of the program: name and text.
const EMBEDDED: &[(&str, &str)] = &[
    ("admission.yaml", include_str!("../../templates/admission.yaml.j2")),
    ("alert-provider.yaml", include_str!("../../templates/alert-provider.yaml.j2")),
    ("alert.yaml", include_str!("../../templates/alert.yaml.j2")),
    ("app-configmap.yaml", include_str!("../../templates/app-configmap.yaml.j2")),
    ("app-deployment.yaml", include_str!("../../templates/app-deployment.yaml.j2")),
    ("app-namespace.yaml", include_str!("../../templates/app-namespace.yaml.j2")),
    ("app-service.yaml", include_str!("../../templates/app-service.yaml.j2")),
    ("cluster-gate-kustomization.yaml", include_str!("../../templates/cluster-gate-kustomization.yaml.j2")),
    ("cluster-role-binding.yaml", include_str!("../../templates/cluster-role-binding.yaml.j2")),
    ("cluster-role.yaml", include_str!("../../templates/cluster-role.yaml.j2")),
    ("flux-kustomization.yaml", include_str!("../../templates/flux-kustomization.yaml.j2")),
    ("follow-cluster-role.yaml", include_str!("../../templates/follow-cluster-role.yaml.j2")),
    ("follow-job.yaml", include_str!("../../templates/follow-job.yaml.j2")),
    ("follow-kustomization.yaml", include_str!("../../templates/follow-kustomization.yaml.j2")),
    ("follow-role.yaml", include_str!("../../templates/follow-role.yaml.j2")),
    ("gate-kustomization.yaml", include_str!("../../templates/gate-kustomization.yaml.j2")),
    ("held-note.yaml", include_str!("../../templates/held-note.yaml.j2")),
    ("held-source.yaml", include_str!("../../templates/held-source.yaml.j2")),
    ("job.yaml", include_str!("../../templates/job.yaml.j2")),
    ("namespace.yaml", include_str!("../../templates/namespace.yaml.j2")),
    ("operator-provider.yaml", include_str!("../../templates/operator-provider.yaml.j2")),
    ("operator-set.yaml", include_str!("../../templates/operator-set.yaml.j2")),
    ("patch.yaml", include_str!("../../templates/patch.yaml.j2")),
    ("role-binding.yaml", include_str!("../../templates/role-binding.yaml.j2")),
    ("role-patch.yaml", include_str!("../../templates/role-patch.yaml.j2")),
    ("role.yaml", include_str!("../../templates/role.yaml.j2")),
    ("service-account.yaml", include_str!("../../templates/service-account.yaml.j2")),
];

/// The templates of the program with a user's overrides.
#[derive(Debug)]
pub struct Templates {
    environment: Environment<'static>,
    sources: BTreeMap<String, Arc<str>>,
}

impl Templates {
    /// Takes the program's templates, of which a user's `overrides` (name and text) replace some.
    ///
    /// # Errors
    ///
    /// When an override names no template of the program, and when a template has a syntax error.
    pub fn new(overrides: BTreeMap<String, String>) -> Result<Templates, Error> {
        Templates::with(EMBEDDED, overrides)
    }

    /// Takes the given templates instead of the program's.
    ///
    /// # Errors
    ///
    /// See [`Templates::new`].
    pub fn with(embedded: &[(&str, &str)], overrides: BTreeMap<String, String>) -> Result<Templates, Error> {
        let mut sources: BTreeMap<String, Arc<str>> =
            embedded.iter().map(|(name, text)| ((*name).to_owned(), Arc::from(*text))).collect();
        let mut diagnostics = Vec::new();
        for (name, text) in overrides {
            match sources.get_mut(&name) {
                Some(source) => *source = Arc::from(text),
                None => {
                    let known: Vec<&str> = embedded.iter().map(|(name, _)| *name).collect();
                    diagnostics.push(
                        Diagnostic::error(format!(
                            "there is no template `{name}` to override, so the file would have no effect"
                        ))
                        .help(format!("rename it to one of {}", known.join(", "))),
                    );
                }
            }
        }
        let mut environment = environment();
        for (name, source) in &sources {
            if source.contains([OPEN, CLOSE]) {
                let message = format!("template `{name}` holds a private character (U+E000 or U+E001)");
                diagnostics.push(Diagnostic::error(message).at(place(name, source, None)));
            }
            if let Err(error) = environment.add_template_owned(name.clone(), source.to_string()) {
                diagnostics.push(template_diagnostic(&sources, name, &error));
            }
        }
        match diagnostics.is_empty() {
            true => Ok(Templates { environment, sources }),
            false => Err(Error { kind: crate::error::ErrorKind::Invalid, diagnostics }),
        }
    }

    /// Renders a template and checks the result.
    ///
    /// # Errors
    ///
    /// When the template uses a value that `context` does not have; when the result is not YAML,
    /// has a key twice, or holds `${`, which Flux would try to substitute; when a written value is
    /// not one whole YAML value in the result. Each names the template and the line.
    pub fn render(&self, name: &str, context: impl Serialize) -> Result<String, Error> {
        let render = || self.environment.get_template(name)?.render(Serde(&context));
        let marked =
            render().map_err(|error| Error::invalid(template_diagnostic(&self.sources, name, &error)))?;
        let (text, written) = unmark(&marked);
        check(name, &text, &written)?;
        Ok(text)
    }
}
