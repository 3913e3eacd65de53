//! What reaches a cluster only as a release: its source names a tag, a commit or versions, and no branch.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{Input, SourceId};
use crate::diagnostic::Diagnostic;
use crate::repo::Followed;
use crate::text::some;

/// The most clusters that are named.
const MOST: usize = 5;

/// What has to reach clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// A step of the way from one Flux Kustomization to several: each has to come before the next.
    Step,
    /// What may only come while windows are open.
    WhileOpen,
}

/// Warns of sources of clusters that fetch no commit by itself. Of two steps that come together the cluster sees only what
/// both make of it: the old Flux Kustomization goes before it has been kept from deleting.
pub(crate) fn unreleased(
    input: &Input<'_>,
    clusters: &BTreeSet<String>,
    written: Written,
) -> Vec<Diagnostic> {
    let mut found: BTreeMap<(SourceId, Followed), Vec<&str>> = BTreeMap::new();
    for cluster in clusters.iter().filter_map(|name| input.model.delivered.named(name)) {
        let own = cluster.kustomizations.iter().filter(|one| one.path.is_some());
        let sources: BTreeSet<SourceId> = own.map(|one| cluster.followed(&one.source())).collect();
        for id in sources.into_iter().filter(|id| !cluster.is_held(id)) {
            let follows = cluster.source(&id).map(|spec| Followed::of(&id.kind, spec));
            if let Some(follows) = follows.filter(|follows| follows.is_fixed(&id.kind)) {
                found.entry((id, follows)).or_default().push(&cluster.name);
            }
        }
    }
    found.into_iter().map(|((id, follows), names)| told(&id, &follows, &names, written)).collect()
}

fn told(id: &SourceId, follows: &Followed, clusters: &[&str], written: Written) -> Diagnostic {
    let (field, value) = (follows.field, &follows.value);
    let lands = match field {
        "semver" => "A commit lands with the next release".to_owned(),
        _ => format!("A commit lands once that names another {field}"),
    };
    let of = if clusters.len() == 1 { "cluster" } else { "clusters" };
    let (kind, name, clusters) = (&id.kind, &id.name, some(clusters, MOST));
    let text = format!("{kind} {name} of {of} {clusters} follows {field} {value}. {lands}");
    let help = match (written, field) {
        (Written::Step, "semver") => {
            "release this step alone: two steps in one release may delete objects\nrun `gitops-windows migrate --base TAG` with the tag of that release".to_owned()
        }
        (Written::Step, _) => format!(
            "let it name a {field} of this step alone: two steps together may delete objects\nrun `gitops-windows migrate --base REVISION` with that {field}"
        ),
        (Written::WhileOpen, _) => "let it land so while the window is open".to_owned(),
    };
    Diagnostic::warning(text).help(help)
}
