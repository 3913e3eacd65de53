//! Sides whose folder was renamed: by the layout they are no sides any more.

use std::collections::BTreeMap;

use crate::check::code::RENAMED_SIDE;
use crate::check::subject::Subject;
use crate::delivery::{Delivery, Input, side};
use crate::diagnostic::Diagnostic;
use crate::path::RepoPath;
use crate::spec::{Spec, expand};
use crate::text::some;

/// Stands for any name where a template is filled in.
const ANY: &str = "\0";

/// The sides that Flux Kustomizations are named after: their cluster, namespace and common name, the folder around, and the
/// name that their folders have in common.
type Key<'s> = (&'s str, &'s str, &'s str, RepoPath, &'s str);

/// Finds Flux Kustomizations that are named as the sides of one, with folders that are named as sides of another folder
/// than the one around them, as in a copied cluster. The rules of the spec divide nothing there any more.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let Some(spec) = subject.spec else { return Vec::new() };
    let input = Input { spec, snapshot: subject.snapshot, model: subject.model, renderer: subject.renderer };
    let sides = input.sides();
    let mut found: BTreeMap<Key<'_>, BTreeMap<usize, &Delivery>> = BTreeMap::new();
    for one in subject.deliveries.iter().filter(|one| one.flux.is_some() && !sides.contains_key(&one.path)) {
        for (position, change_type) in spec.types.iter().enumerate() {
            let change_type = change_type.name.as_str();
            let name = spec.layout.name_of(&one.name, change_type);
            let of = named_after(spec, &one.path, change_type);
            if let (Some(name), Some(of), Some(around)) = (name, of, one.path.parent()) {
                let key = (one.cluster.name.as_str(), one.namespace.as_str(), name, around, of);
                found.entry(key).or_default().insert(position, one);
            }
        }
    }
    let several = found.into_iter().filter(|(_, own)| own.len() > 1);
    several.filter_map(|(key, own)| told(subject, spec, &key, &own)).collect()
}

/// Returns the name of the folder of which one is the side of a type, by its own name.
fn named_after<'p>(spec: &Spec, folder: &'p RepoPath, change_type: &str) -> Option<&'p str> {
    let template = spec.layout.entry_point.rsplit('/').next()?;
    let parts = expand(template, &[("name", ANY), ("type", change_type)]);
    let (before, after) = parts.split_once(ANY)?;
    folder.name()?.strip_prefix(before)?.strip_suffix(after).filter(|name| !name.is_empty())
}

fn told(
    subject: &Subject<'_>,
    spec: &Spec,
    (cluster, _, name, around, of): &Key<'_>,
    own: &BTreeMap<usize, &Delivery>,
) -> Option<Diagnostic> {
    let paths: Vec<&str> = own.values().filter_map(|one| one.path.name()).collect();
    let right = |(position, one): (&usize, &&Delivery)| {
        let wanted = side(spec, around, cluster, spec.types.get(*position)?.name.as_str())?;
        Some(format!("`git mv {} {wanted}`", one.path))
    };
    let moves: Vec<String> = own.iter().filter_map(right).collect();
    let flux = subject.flux(own.values().next()?)?;
    Some(
        RENAMED_SIDE
            .finding(format!(
                "{} in {around} have names of sides of `{of}`. So {name} has no sides here: each is an entry point of its own",
                some(&paths, paths.len())
            ))
            .at(flux.place("path"))
            .help(format!(
                "run {}\nwrite these folders into `spec.path` of the Flux Kustomizations\nrun `gitops-windows sync`",
                moves.join(" and ")
            )),
    )
}
