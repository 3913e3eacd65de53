//! What begins to wait once the gates of a spec have reached the clusters.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::delivery::fleet::Schedules;
use crate::delivery::{Cause, Held, Hold, Holds, Model, Reached, foreign};
use crate::diagnostic::{Diagnostic, clean};
use crate::plan::gate::Needed;
use crate::schedule::moment;
use crate::spec::Spec;

/// What a split of everything would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ahead {
    /// How many entry points it divides.
    pub divided: usize,
    /// How many it can't divide.
    pub refused: usize,
    /// What no gate suspends as something real-time depends on it.
    pub needed: Needed,
    /// The clusters of the Flux Kustomizations that wait after the hand-over, one for each.
    pub waiting: Vec<String>,
    /// The Flux Kustomizations that these replace, by cluster, namespace and name.
    pub replaced: BTreeSet<(String, String, String)>,
}

/// Says in sentences from when on what waits for what, beside what waited before, and what will after a split.
///
/// # Errors
///
/// When the spec has a window without openings and closings; one that was read has none.
pub fn begins(
    spec: &Spec,
    model: &Model,
    before: &Held,
    ahead: &Ahead,
    now: Timestamp,
) -> Result<String, Vec<Diagnostic>> {
    let after = Holds::new(model, Some(spec)).all();
    let others = of_other_repositories(spec, model, &after);
    let mut told: Vec<String> = of_unclear(spec, model).into_iter().chain(others).collect();
    told.push(today(spec, model, &after, before, ahead, now)?);
    told.extend(without_split(spec).filter(|_| after.is_empty() && ahead.divided > 0));
    let is_off = spec.clusters.keys().all(|cluster| !spec.gate_enabled(cluster));
    if !ahead.waiting.is_empty() {
        let held: Vec<&String> =
            after.keys().filter(|id| !ahead.replaced.contains(id)).map(|(cluster, ..)| cluster).collect();
        let count = held.len() + ahead.waiting.len();
        let clusters: BTreeSet<&String> = held.iter().copied().chain(&ahead.waiting).collect();
        let waiting = counted(count, clusters.len());
        let its = if count == 1 { "its window" } else { "their windows" };
        let first = if is_off { "`enabled: true` in windows.yaml, " } else { "" };
        told.push(format!(
            "After {first}`gitops-windows split --all` and `gitops-windows migrate`, {waiting} for {its}."
        ));
    }
    let is_said = after.is_empty() && ahead.divided == 0 && !is_off;
    if ahead.refused > 0 && !is_said {
        let them = match ahead.refused {
            1 => "1 entry point as it is".to_owned(),
            several => format!("{several} entry points as they are"),
        };
        told.push(format!("`split --all` leaves {them}: `gitops-windows split --all --dry-run` says why."));
    }
    Ok(told.join("\n"))
}

/// Says how whole Flux Kustomizations wait, where that takes one edit.
fn without_split(spec: &Spec) -> Option<String> {
    let [free, gated] = &spec.types[..] else { return None };
    (free.is_real_time() && !gated.is_real_time()).then(|| {
        format!(
            "Without a split: remove type `{}` and its rules, and `gitops-windows sync` gates whole Flux Kustomizations.",
            free.name.value
        )
    })
}

/// Says how many Flux Kustomizations may read this repository, which only people know.
fn of_unclear(spec: &Spec, model: &Model) -> Option<String> {
    let own = spec.clusters.keys().filter_map(|name| model.delivered.named(name));
    let count = own.map(|own| own.kustomizations.iter().filter(|one| own.may_build_here(one)).count());
    let which = "`gitops-windows clusters` says which, `gitops-windows check` what to do.";
    match count.sum::<usize>() {
        0 => None,
        1 => Some(format!("No gate suspends 1 Flux Kustomization that may read this repository. {which}")),
        count => Some(format!(
            "No gate suspends {count} Flux Kustomizations that may read this repository. {which}"
        )),
    }
}

/// Says how many Flux Kustomizations read other repositories: of what these hold no type is known, so no gate suspends them.
fn of_other_repositories(spec: &Spec, model: &Model, held: &Held) -> Option<String> {
    let reads_another = |one: &&Reached| {
        let is_source = foreign(one).is_some_and(|(cause, _)| cause == Cause::Source);
        is_source && one.source().kind != "ExternalArtifact"
    };
    let of_cluster = |cluster: &String| {
        let all = model
            .delivered
            .named(cluster)
            .into_iter()
            .flat_map(|own| own.kustomizations.iter().filter(|one| !own.may_build_here(one)));
        let id = |one: &Reached| {
            let namespace = spec.flux.namespace_of(one.namespace()).to_owned();
            (cluster.clone(), namespace, one.name().to_owned())
        };
        all.filter(reads_another).filter(|one| !held.contains_key(&id(one))).count()
    };
    let counts: Vec<usize> = spec.clusters.keys().map(of_cluster).filter(|count| *count > 0).collect();
    match (counts.iter().sum::<usize>(), counts.len()) {
        (0, _) => None,
        (1, _) => Some("No gate suspends 1 Flux Kustomization: it reads another repository.".to_owned()),
        (count, 1) => Some(format!(
            "No gate suspends {count} Flux Kustomizations in 1 cluster: they read other repositories."
        )),
        (count, several) => Some(format!(
            "No gate suspends {count} Flux Kustomizations in {several} clusters: they read other repositories."
        )),
    }
}

/// Says what depends on the first of what no gate suspends for that.
fn first_needed(spec: &Spec, needed: &Needed) -> Option<String> {
    let (cluster, (target, by)) =
        needed.iter().find_map(|(cluster, of_cluster)| Some((cluster, of_cluster.first_key_value()?)))?;
    let count = needed.values().map(|of_cluster| of_cluster.len()).sum::<usize>();
    let more = if count == 1 { String::new() } else { format!(" (and {} more)", count - 1) };
    let words = format!(
        "no gate suspends {}{more}, as ungated {} of cluster {cluster} depends on it",
        target.shown(spec),
        by.shown(spec)
    );
    Some(clean(&words))
}

fn counted(waiting: usize, clusters: usize) -> String {
    match (waiting, clusters) {
        (1, _) => "1 Flux Kustomization waits".to_owned(),
        (count, 1) => format!("{count} Flux Kustomizations in 1 cluster wait"),
        (count, several) => format!("{count} Flux Kustomizations in {several} clusters wait"),
    }
}

fn today(
    spec: &Spec,
    model: &Model,
    after: &Held,
    before: &Held,
    ahead: &Ahead,
    now: Timestamp,
) -> Result<String, Vec<Diagnostic>> {
    let new: Held = after.iter().filter(|(id, _)| !before.contains_key(id)).map(cloned).collect();
    let is_off = spec.clusters.keys().all(|cluster| !spec.gate_enabled(cluster));
    if new.is_empty() {
        let has_flux = |cluster: &String| model.flux_of_cluster(cluster).next().is_some();
        return Ok(match after.len() {
            0 if is_off && !spec.clusters.keys().any(has_flux) => {
                "Nothing waits: without a Flux Kustomization in Git the gates are switched off.".to_owned()
            }
            0 if is_off => "Nothing waits: the gates are switched off.".to_owned(),
            0 if ahead.divided == 0 => match first_needed(spec, &ahead.needed) {
                Some(why) => format!("Nothing waits, and a split would divide nothing: {why}."),
                None => {
                    "Nothing waits, and a split would divide nothing: `gitops-windows split --all --dry-run` says why.".to_owned()
                }
            },
            0 => "Nothing waits yet.".to_owned(),
            1 => "Nothing changes: 1 Flux Kustomization waits for its window as before.".to_owned(),
            count => {
                format!("Nothing changes: {count} Flux Kustomizations wait for their windows as before.")
            }
        });
    }
    let schedules = Schedules::new(spec)?;
    let schedule = |((cluster, ..), hold): (&(String, String, String), &Hold)| match hold {
        Hold::Window(name) => schedules.of(cluster, name),
        _ => None,
    };
    let distinct: BTreeSet<Option<usize>> = new.iter().map(schedule).collect();
    let known = distinct.iter().flatten().map(|position| &schedules.distinct()[*position]);
    let closings = known.filter_map(|schedule| {
        let times = schedule.times(now);
        Some((times.next_close?, schedule.zone(times.closes), schedule))
    });
    let clusters: BTreeSet<&str> = new.keys().map(|(cluster, ..)| cluster.as_str()).collect();
    let waiting = counted(new.len(), clusters.len());
    let Some((close, zone, first)) = closings.min_by_key(|(close, ..)| *close) else {
        return Ok(format!("From the next closing, {waiting} for their windows. Nothing else changes."));
    };
    let times = first.times(close);
    let opens = match times.next_open {
        Some(open) if distinct.len() == 1 => told(open, &first.zone(times.opens)),
        _ => "their windows".to_owned(),
    };
    let from = told(close, &zone);
    Ok(format!("From {from}, {waiting} for {opens}. Nothing else changes."))
}

fn cloned((id, hold): (&(String, String, String), &Hold)) -> ((String, String, String), Hold) {
    (id.clone(), hold.clone())
}

fn told(at: Timestamp, zone: &TimeZone) -> String {
    clean(&moment(at, zone))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::Known;
    use crate::mechanism::GateTarget;
    use crate::path::RepoPath;
    use crate::render::Lent;
    use crate::repo::{File, Snapshot};

    const SPEC: &str = "\
apiVersion: gitops-windows/v1
types: { rt: {}, rw: { window: saturday } }
windows: { saturday: { timeZone: Etc/UTC, open: 0 22 * * SAT, close: 0 2 * * SUN } }
clusters: { one: {} }
gate: { enabled: true, namespace: flux-system }
";

    fn said(ahead: &Ahead) -> String {
        said_of(ahead, Snapshot::default())
    }

    fn said_of(ahead: &Ahead, snapshot: Snapshot) -> String {
        let spec =
            crate::spec::parse(&RepoPath::parse("windows.yaml").unwrap(), SPEC.as_bytes()).unwrap().spec;
        let renderer = Lent::default();
        let model = Model::read(&snapshot, &RepoPath::top(), &Known::of(&spec), &renderer);
        let now = "2026-11-23T12:00:00Z".parse().unwrap();
        begins(&spec, &model, &Held::default(), ahead, now).unwrap()
    }

    #[test]
    fn what_may_read_this_repository_is_not_told_to_read_another_one() {
        let one = |name: &str, source: &str| {
            format!(
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: flux-system }}\nspec: {{ path: ./{name}, sourceRef: {{ kind: GitRepository, name: {source} }} }}\n---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{ name: {source}, namespace: flux-system }}\nspec: {{ url: 'https://example.com/{source}' }}\n"
            )
        };
        let service = "apiVersion: v1\nkind: Service\nmetadata: { name: s, namespace: default }\n";
        let mut snapshot = Snapshot::default();
        let files = [
            ("clusters/one/apps.yaml", one("apps", "fleet")),
            ("clusters/one/infra.yaml", one("infra", "mirror")),
            ("apps/s.yaml", service.to_owned()),
            ("infra/s.yaml", service.to_owned()),
        ];
        for (file, text) in files {
            snapshot.insert(RepoPath::parse(file).unwrap(), File::new(text.as_bytes()));
        }
        let told = said_of(&Ahead::default(), snapshot);
        let first = "No gate suspends 2 Flux Kustomizations that may read this repository. ";
        assert!(told.starts_with(first) && !told.contains("other repositories"), "{told}");
    }

    #[test]
    fn a_split_that_divides_nothing_is_told_as_that() {
        let nothing = "Nothing waits, and a split would divide nothing: ";
        let why = "`gitops-windows split --all --dry-run` says why.";
        assert_eq!(said(&Ahead::default()), format!("{nothing}{why}"));
        assert_eq!(said(&Ahead { refused: 6, ..Ahead::default() }), format!("{nothing}{why}"));
        let some = said(&Ahead { refused: 6, divided: 1, ..Ahead::default() });
        assert!(some.starts_with("Nothing waits yet.\n") && some.contains("leaves 6 entry points"), "{some}");
        assert!(some.contains("\nWithout a split: remove type `rt` and its rules, "), "{some}");
        let target = |name: &str| GateTarget { namespace: "flux-system".to_owned(), name: name.to_owned() };
        let needed = [(target("infra"), target("apps"))].into_iter().collect();
        let ahead = Ahead { needed: [("one".to_owned(), needed)].into_iter().collect(), ..Ahead::default() };
        let needed = "no gate suspends infra, as ungated apps of cluster one depends on it.";
        assert_eq!(said(&ahead), format!("{nothing}{needed}"));
    }
}
