//! Values and fields of Flux Kustomizations that the API server refuses.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::audit::named;
use crate::check::code::{REFUSED_VALUE, UNDECLARED_FIELD};
use crate::check::subject::Subject;
use crate::diagnostic::Diagnostic;
use crate::repo::flux::{GROUP, refused_value};
use crate::repo::{FluxApi, FluxKustomization};

/// Finds flags that are no booleans, deletion policies that there are not, and fields that the cluster's own
/// CustomResourceDefinition lacks.
///
/// What a build makes of a Flux Kustomization counts, where one takes it in.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let all = || subject.deliveries.iter().flat_map(|delivery| &delivery.objects);
    let built = |file: &str, name: &str| {
        let mut own = all().filter(|applied| applied.is(GROUP, "Kustomization") && applied.id.name == name);
        own.find(|applied| applied.object.origin.as_ref().is_some_and(|origin| origin.path.as_str() == file))
    };
    let all_flux = subject.model.all_flux();
    let found = all_flux.iter().filter_map(|flux| {
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
    found.chain(undeclared(all_flux)).collect()
}

/// Says which fields the Flux that Git holds for a cluster does not have, once for each file, name and field.
fn undeclared(all: &[FluxKustomization]) -> impl Iterator<Item = Diagnostic> {
    let mut found: BTreeMap<_, (&FluxKustomization, &FluxApi, BTreeSet<&str>)> = BTreeMap::new();
    for flux in all {
        let Some(api) = flux.api() else { continue };
        let Some(keys) = api.undeclared(&flux.effective) else { continue };
        let key = (&flux.file, &flux.name, keys);
        let (.., clusters) = found.entry(key).or_insert_with(|| (flux, api, BTreeSet::new()));
        clusters.insert(&flux.cluster);
    }
    found.into_iter().map(|((_, name, keys), (flux, api, clusters))| {
        let (of, field, since) = (named(&clusters), keys.join("."), FluxApi::version_with(&keys[0]));
        UNDECLARED_FIELD
            .finding(format!("{api} does not declare `spec.{field}` of {name}. Its parent in {of} fails, and applies nothing new"))
            .at(flux.place(&keys[0]))
            .help(format!("upgrade Flux of {of} to {since}\nor take the field out"))
            .related("the fields that there are".to_owned(), api.place.clone())
            .about(flux.key())
    })
}
