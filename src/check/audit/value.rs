//! Values of Flux Kustomizations that the API server refuses.

use crate::check::code::REFUSED_VALUE;
use crate::check::subject::Subject;
use crate::diagnostic::Diagnostic;
use crate::repo::flux::{GROUP, refused_value};

/// Finds flags that are no booleans, and deletion policies that there are not.
///
/// What a build makes of a Flux Kustomization counts, where one takes it in.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let all = || subject.deliveries.iter().flat_map(|delivery| &delivery.objects);
    let built = |file: &str, name: &str| {
        let mut own = all().filter(|applied| applied.is(GROUP, "Kustomization") && applied.id.name == name);
        own.find(|applied| applied.object.origin.as_ref().is_some_and(|origin| origin.path.as_str() == file))
    };
    let found = subject.model.all_flux().iter().filter_map(|flux| {
        refused_value(&flux.value["spec"])?;
        let spec = built(flux.file.as_str(), &flux.name)
            .map_or_else(|| &flux.value["spec"], |applied| &applied.value()["spec"]);
        let (field, wanted) = refused_value(spec)?;
        Some(
            REFUSED_VALUE
                .finding(format!(
                    "{} has {} as `spec.{field}`, which the API server refuses. The cluster keeps the old value",
                    flux.name, spec[field]
                ))
                .at(flux.place(field))
                .help(format!("write {wanted}, without quotes")),
        )
    });
    found.collect()
}
