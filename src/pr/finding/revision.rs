//! Flux Kustomizations that follow another revision, or another repository.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::delivery::{Applier, STEP, bare_url};
use crate::mechanism::shell_line;
use crate::pr::arrival::Way;
use crate::pr::clock::Clock;
use crate::pr::course::{Before, Course};
use crate::pr::finding::{Finding, Topic};
use crate::pr::landing::{Landing, State};
use crate::pr::reschedule::reads_same;
use crate::pr::tree::{Tree, applier_of};
use crate::pr::words::heading;
use crate::repo::Followed;

/// What a source fetches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fetched {
    /// The kind of the source.
    kind: String,
    /// The URL without what does not tell repositories apart: a password may stand in it.
    repository: String,
    /// What it follows there.
    revision: Followed,
}

impl Fetched {
    fn by(tree: &Tree<'_>, applier: &Applier<'_>) -> Option<Fetched> {
        let (one, cluster) = (applier.kustomization?, tree.cluster(applier.cluster)?);
        let source = cluster.followed(&one.source());
        let spec = cluster.source(&source)?;
        let url = spec["url"].as_str()?;
        let revision = Followed::of(&source.kind, spec);
        Some(Fetched { kind: source.kind, repository: bare_url(url), revision })
    }
}

/// Finds the Flux Kustomizations that follow another revision or another repository than before: the cluster gets all in
/// which these differ, and here only the files of two commits are compared.
pub(super) fn revisions(clock: &Clock<'_>) -> Vec<Finding> {
    let mut found: BTreeMap<(&str, Fetched, Fetched, Landing), Vec<&str>> = BTreeMap::new();
    for cluster in &clock.after.world.model.delivered.all {
        for one in cluster.kustomizations.iter().filter(|one| one.path.is_some() || one.other.is_some()) {
            let id = (one.namespace(), one.name());
            let [old, new] =
                [&clock.before, &clock.after].map(|tree| tree.find(&cluster.name, &one.remote, id));
            let Some((old, new)) = old.zip(new) else { continue };
            let followed = Fetched::by(&clock.before, &old).zip(Fetched::by(&clock.after, &new));
            let Some((was, is)) = followed.filter(|(was, is)| was != is) else { continue };
            let lands = lands(clock, &old, &new);
            found.entry((&cluster.name, was, is, lands)).or_default().push(one.name());
        }
    }
    found
        .into_iter()
        .map(|((cluster, old, new, lands), names)| finding(clock, (cluster, &lands), &old, &new, &names))
        .collect()
}

/// Returns when what another revision holds lands: once the Flux Kustomization names another source, or its source has
/// another spec, that is fetched.
fn lands(clock: &Clock<'_>, old: &Applier<'_>, new: &Applier<'_>) -> Landing {
    let source = new.kustomization.zip(clock.after.cluster(new.cluster));
    let source = source.map(|(one, cluster)| (cluster, cluster.followed(&one.source())));
    let bringer = || {
        let by = source.as_ref().and_then(|(cluster, source)| Some((cluster, cluster.bringer_of(source)?)));
        let bringer = by.and_then(|(cluster, by)| applier_of(cluster, by));
        bringer.or_else(|| clock.after.above(new))
    };
    let before = |merged: Timestamp| {
        let of_source = || match bringer() {
            Some(bringer) => clock.after.course(&bringer, merged),
            None => Course::stuck(Landing::unknown("nothing in Git applies its source")),
        };
        match reads_same(old, new) {
            true => vec![Before { course: of_source(), lag: Some(STEP), why: None, done: None }],
            false => vec![Before::parent(clock.spec_course(old, new, merged))],
        }
    };
    let way = Way { before: &before, is_gated: true, look: Some(Duration::ZERO) };
    let landing = clock.after.applied_by(new, clock.now, &way);
    Landing { deadline: None, otherwise: None, since: None, ..landing }
}

fn finding(
    clock: &Clock<'_>,
    (cluster, lands): (&str, &Landing),
    old: &Fetched,
    new: &Fetched,
    names: &[&str],
) -> Finding {
    let subject = match names {
        [one] => format!("Flux Kustomization {one} follows"),
        all => format!("Flux Kustomizations {} follow", all.join(", ")),
    };
    let is_moved = old.repository != new.repository;
    let told = |one: &Fetched| {
        let Followed { field, value } = &one.revision;
        match is_moved {
            true => format!("{field} {value} of {}", one.repository),
            false => format!("{field} {value}"),
        }
    };
    let is_git = |one: &Fetched| {
        matches!(one.revision.field, "commit" | "tag" | "branch") && one.kind == "GitRepository"
    };
    let help = match !is_moved && is_git(old) && is_git(new) {
        true => {
            let range = shell_line(&[old.revision.value.clone(), new.revision.value.clone()]);
            format!("look at every difference before the merge: `git diff {range}`")
        }
        false => "compare both by hand before the merge: every difference lands".to_owned(),
    };
    let differences = match lands.state {
        State::Never => "No difference between the two lands".to_owned(),
        _ => format!("Every difference between the two lands {}", heading(lands, clock.now)),
    };
    Finding {
        topic: Topic::Check,
        cluster: cluster.to_owned(),
        message: format!(
            "{subject} {} instead of {}. {differences}, and is not shown here",
            told(new),
            told(old)
        ),
        from: Some(lands.earliest.unwrap_or(clock.now)),
        help,
        ..Finding::default()
    }
}
