//! Lets what a gate holds back read its held source, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::json;

use crate::delivery::inventory::stays_without;
use crate::delivery::{Cluster, Input, SourceId};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{Action, ClusterGate, GateTarget, Gates, HeldSource};
use crate::plan::edit::Builder;
use crate::plan::edit::prepare::{newer_version, refused, without_policy};
use crate::plan::gate::Late;
use crate::plan::gate::first_run::first_run;
use crate::plan::gate::held::{of_file, unsafe_at};
use crate::plan::problem::OF_ITS_OWN;
use crate::plan::problem::Problem;
use crate::proof::Readers;
use crate::repo::{File, FluxKustomization};
use crate::spec::MechanismName;
use crate::yaml::{EditError, Editor, Key, ScalarText};

/// Lets what the gates hold back read the held sources, and keep its objects whatever becomes of it.
///
/// Closed or not, a Flux Kustomization that leaves Git deletes its objects at once, since nothing suspends it.
///
/// # Errors
///
/// When a Flux Kustomization can't be edited so, or a cluster without such a gate would get the same file; and when
/// something reads a held source that the gate does not hold back, unless it may leave that.
pub fn point(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    gates: &Gates,
    when: Late,
) -> Result<Pointed, Error> {
    let mut pointed = Pointed::default();
    let mut refused: Vec<Diagnostic> = Vec::new();
    for gate in &gates.clusters {
        let astray = astray(input, &gate.cluster, &gate.sources);
        if let Some((target, held)) = astray.first().filter(|_| when != Late::Written) {
            return Err(waits(input, &gate.cluster, target, held));
        }
        pointed.release(input, builder, &gate.cluster, astray)?;
        for source in &gate.sources {
            let begins = begin(input, builder, (gates, gate, source), when, &mut refused)?;
            pointed.tell(input, gate, source, begins, when);
        }
        pointed.turned.extend(impatient(input, gate, input.spec.gate.tick()));
    }
    if !refused.is_empty() {
        return Err(Error { kind: ErrorKind::Unsafe, diagnostics: refused });
    }
    if when == Late::Written {
        forgotten(input, builder, &mut pointed)?;
    }
    Ok(pointed)
}

/// Lets what reads held sources leave them in clusters of which the spec wants no gate any more: it can't go before.
///
/// # Errors
///
/// When a Flux Kustomization can't be edited so.
pub fn forgotten(input: &Input<'_>, builder: &mut Builder<'_>, pointed: &mut Pointed) -> Result<(), Error> {
    for cluster in input.model.delivered.all.iter().filter(|cluster| !input.spec.gates(&cluster.name)) {
        pointed.release(input, builder, &cluster.name, astray(input, &cluster.name, &[]))?;
    }
    Ok(())
}

/// Returns what goes on reading a held source in a cluster of which the spec wants no gate, and is not on its way `back`.
pub fn left_behind(input: &Input<'_>, cluster: &str, back: &BTreeMap<String, Readers>) -> Vec<GateTarget> {
    let is_back = |target: &GateTarget| {
        let own = back.get(cluster);
        own.is_some_and(|own| own.contains_key(&(target.namespace.clone(), target.name.clone())))
    };
    let all = astray(input, cluster, &[]).into_iter().filter(|_| !input.spec.gates(cluster));
    all.map(|(target, _)| target).filter(|target| !is_back(target)).collect()
}

/// What became of what reads held sources.
#[derive(Debug, Default)]
pub struct Pointed {
    /// What must not reach a cluster while its window is closed, with that.
    pub late: Vec<(String, Diagnostic)>,
    /// What else is to be said of what begins to read one.
    pub turned: Vec<Diagnostic>,
    /// By cluster, what leaves one, with the name of the source that it reads again.
    pub back: BTreeMap<String, Readers>,
}

/// Returns what is to read a held source in each cluster.
pub fn readers(gates: &Gates) -> BTreeMap<String, Readers> {
    let of_cluster = |gate: &ClusterGate| {
        let own = gate.sources.iter().flat_map(|source| {
            let targets = source.targets.iter();
            targets.map(|target| ((target.namespace.clone(), target.name.clone()), source.name.clone()))
        });
        (gate.cluster.clone(), own.collect())
    };
    gates.clusters.iter().map(of_cluster).collect()
}

/// What begins to read a held source.
#[derive(Default)]
struct Begins<'a> {
    /// With the edit.
    at_once: BTreeSet<&'a str>,
    /// What may only begin while the window is open.
    late: BTreeSet<&'a str>,
    /// What begins at the opening, by the gated one that brings it.
    nested: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

/// Lets what a gate holds back read one held source; what can't be edited so is noted in `refused`.
fn begin<'a>(
    input: &Input<'a>,
    builder: &mut Builder<'_>,
    (gates, gate, source): (&Gates, &ClusterGate, &HeldSource),
    when: Late,
    refused: &mut Vec<Diagnostic>,
) -> Result<Begins<'a>, Error> {
    let mut begins = Begins::default();
    for target in &source.targets {
        let Some(flux) = of_file(input, &gate.cluster, target) else { continue };
        let reads = |twin: &&FluxKustomization| {
            let mut others = gates.clusters.iter().filter(|other| other.cluster == twin.cluster);
            others.any(|other| {
                let mut own = other.sources.iter().filter(|own| own.name == source.name);
                own.any(|own| own.targets.contains(target))
            })
        };
        if let Some(other) = input.model.twins(flux).find(|twin| !reads(twin)) {
            let text = format!(
                "Flux Kustomization {} stands in {} for cluster {} too, which has no {}",
                flux.name, flux.file, other.cluster, source.name
            );
            return Err(unsafe_at(text, flux.place("sourceRef"), OF_ITS_OWN));
        }
        let mut edited = builder.clone();
        let moves = match edit(input, &mut edited, gate, flux, source) {
            Ok(moves) => moves,
            // All is told at once; one file may be that of several clusters.
            Err(error) if error.kind == ErrorKind::Unsafe => {
                let new = error.diagnostics.into_iter().filter(|one| !refused.contains(one));
                refused.extend(new.collect::<Vec<_>>());
                continue;
            }
            Err(error) => return Err(error),
        };
        let is_late = moves && (stands(input, gate, source) || waits_for_opening(input));
        if is_late {
            begins.late.insert(&flux.name);
        } else if moves && let Some(parent) = held_parent(input, gate, flux) {
            begins.nested.entry(&parent.name).or_default().insert(&flux.name);
        } else if moves {
            begins.at_once.insert(&flux.name);
        }
        if !is_late || when != Late::Left {
            *builder = edited;
        }
    }
    Ok(begins)
}

impl Pointed {
    /// Says what follows from what begins to read a held source.
    fn tell(
        &mut self,
        input: &Input<'_>,
        gate: &ClusterGate,
        source: &HeldSource,
        Begins { at_once, late, nested }: Begins<'_>,
        when: Late,
    ) {
        self.turned.extend(first_run(input, gate, source, &at_once));
        for (parent, names) in nested {
            let names: Vec<&str> = names.into_iter().collect();
            let told = unheld(input, gate, parent, &names.join(", "), source);
            self.late.push((gate.cluster.clone(), told));
        }
        let late: Vec<&str> = late.into_iter().collect();
        if !late.is_empty() && when == Late::Left {
            let text = format!(
                "{} of cluster {} does not wait yet: it reads another source than {}",
                late.join(", "),
                gate.cluster,
                source.name
            );
            let help = "let `gitops-windows sync --while-open` write that, while the window is open";
            let place = Place::file(input.spec.path.clone());
            self.turned.push(Diagnostic::warning(text).at(place).help(help));
        } else if !late.is_empty() {
            let begins = format!(
                "{} of cluster {} will read {} {}",
                late.join(", "),
                gate.cluster,
                source.kind.as_str(),
                source.name
            );
            let text = if stands(input, gate, source) {
                format!(
                    "{begins}, which may hold an older commit. Until the opening, newer changes go back and new objects are deleted"
                )
            } else {
                format!(
                    "{begins}. That is only there once the window has opened. Until then nothing is applied or mended"
                )
            };
            let help = "let this reach the cluster while the window is open";
            let place = Place::file(input.spec.path.clone());
            self.late.push((gate.cluster.clone(), Diagnostic::warning(text).at(place).help(help)));
        }
    }

    /// Lets some of a cluster read the source again that their held one follows.
    fn release(
        &mut self,
        input: &Input<'_>,
        builder: &mut Builder<'_>,
        cluster: &str,
        astray: Vec<(GateTarget, SourceId)>,
    ) -> Result<(), Error> {
        for (target, held) in astray {
            let (live, remark) = leave(input, builder, cluster, &target, &held)?;
            self.late.push((cluster.to_owned(), remark));
            let back = self.back.entry(cluster.to_owned()).or_default();
            back.insert((target.namespace, target.name), live);
        }
        Ok(())
    }
}

/// Returns whether a held source is only there once its window has opened: no job makes it as it begins.
fn waits_for_opening(input: &Input<'_>) -> bool {
    input.spec.gate.mechanism == MechanismName::FluxOperator
}

fn stands(input: &Input<'_>, gate: &ClusterGate, source: &HeldSource) -> bool {
    input.model.delivered.named(&gate.cluster).is_some_and(|own| {
        let (namespace, name) = (source.namespace.clone(), source.name.clone());
        own.is_held(&SourceId { kind: source.kind.as_str().to_owned(), namespace, name })
    })
}

/// Returns a gated Flux Kustomization that applies another one, where nothing else applies that: what it brings lands at
/// its opening.
fn held_parent<'a>(
    input: &Input<'a>,
    gate: &ClusterGate,
    flux: &FluxKustomization,
) -> Option<&'a FluxKustomization> {
    let is_held = |parent: &&FluxKustomization| {
        let target = GateTarget::of(input, parent);
        gate.sources.iter().any(|source| source.targets.contains(&target))
    };
    let parents = input.parents(flux);
    parents.first().copied().filter(|_| parents.iter().all(is_held))
}

/// Says that something goes on reading what lands at once until what brings it has opened, while no job suspends it.
fn unheld(
    input: &Input<'_>,
    gate: &ClusterGate,
    parent: &str,
    names: &str,
    source: &HeldSource,
) -> Diagnostic {
    let text = format!(
        "{names} of cluster {} will read {} {} once gated {parent} has applied that. Until the opening nothing makes it wait",
        gate.cluster,
        source.kind.as_str(),
        source.name
    );
    Diagnostic::warning(text)
        .at(Place::file(input.spec.path.clone()))
        .help("let this reach the cluster while the window is open")
}

/// Returns why a gate can't hold all that it is to hold before its opening: something gated brings some of it.
pub fn opening_needed(input: &Input<'_>, gate: &ClusterGate) -> Option<Diagnostic> {
    let all = gate.sources.iter().filter(|source| !stands(input, gate, source));
    let mut all = all.flat_map(|source| source.targets.iter().map(move |target| (source, target)));
    all.find_map(|(source, target)| {
        let flux = of_file(input, &gate.cluster, target)?;
        let moves = flux.spec("sourceRef")["name"] != source.name.as_str();
        let parent = held_parent(input, gate, flux).filter(|_| moves)?;
        Some(unheld(input, gate, &parent.name, &flux.name, source))
    })
}

/// Edits one Flux Kustomization; tells whether it reads another source then.
fn edit(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    gate: &ClusterGate,
    flux: &FluxKustomization,
    source: &HeldSource,
) -> Result<bool, Error> {
    let mut values: Vec<(&[&str], ScalarText)> = Vec::new();
    let moves = flux.spec("sourceRef")["name"] != source.name.as_str();
    if moves {
        values.push((&["spec", "sourceRef", "name"], source.name.as_str().into()));
    }
    if !stays_without(&flux.effective["spec"]) {
        if let Some(stop) = without_policy(flux) {
            return Err(unsafe_at(stop.reason.clone(), flux.place("path"), &stop.remedy()));
        }
        values.push((&["spec", "deletionPolicy"], "Orphan".into()));
    }
    let target = GateTarget::of(input, flux);
    let mut jobs = input.model.closings.of(&gate.cluster).iter();
    if jobs.any(|job| job.action == Action::Close && job.turns(&target))
        && flux.said("suspend") != &json!(false)
    {
        // What the old jobs have suspended would stay so, and what reads a source without a commit applies nothing.
        values.push((&["spec", "suspend"], ScalarText::Bool(false)));
    }
    if values.is_empty() {
        return Ok(false);
    }
    write(builder, flux, values, &[])?;
    Ok(moves)
}

/// Sets fields of the `spec` of a Flux Kustomization in its file, and takes others out.
fn write(
    builder: &mut Builder<'_>,
    flux: &FluxKustomization,
    mut values: Vec<(&[&str], ScalarText)>,
    removed: &[&str],
) -> Result<(), Error> {
    let name = &flux.name;
    let refuse = |text: String, key: &str, help: &str| Err(unsafe_at(text, flux.place(key), help));
    for key in ["sourceRef", "deletionPolicy"] {
        if flux.said(key) != flux.spec(key) {
            let text = format!(
                "a parent's patch sets `spec.{key}` of {name}: its file can't say which source it reads"
            );
            return refuse(text, key, "take that field out of the patch, and write it in the file");
        }
    }
    let problem = |one: Problem| {
        let place = one.place.as_deref().cloned().unwrap_or_else(|| flux.place("path"));
        unsafe_at(one.reason.clone(), place, &one.remedy())
    };
    if let Some(stop) = refused(flux) {
        return Err(problem(stop));
    }
    values.extend(newer_version(flux).map_err(problem)?);
    if !flux.is_document {
        return Err(problem(Problem::listed(flux)));
    }
    let file = builder.now().file(&flux.file).cloned();
    let text = file.as_ref().and_then(File::text).unwrap_or_default().to_owned();
    let edited = || -> Result<String, EditError> {
        let mut editor = Editor::new(&text, flux.document)?.resolving();
        for (path, value) in values {
            let keys: Vec<Key> = path.iter().map(|name| Key::from(*name)).collect();
            editor.set_scalar(&keys, value)?;
        }
        for key in removed {
            editor.remove_key(&[Key::from("spec"), Key::from(*key)])?;
        }
        Ok(editor.into_text())
    };
    let edited = edited().map_err(|error| problem(Problem::edit(&flux.file, &text, &error)))?;
    builder.put(&flux.file, &edited);
    Ok(())
}

/// Returns what reads a held source of a cluster and is not, or no longer, held back by its gate.
pub(super) fn astray(
    input: &Input<'_>,
    cluster: &str,
    sources: &[HeldSource],
) -> Vec<(GateTarget, SourceId)> {
    let own = input.model.delivered.named(cluster).into_iter();
    let all = own.flat_map(Cluster::held);
    let all = all.map(|(one, id)| (GateTarget::new(input, one.namespace(), one.name()), id));
    let is_held = |(target, id): &(GateTarget, SourceId)| {
        sources.iter().any(|source| source.name == id.name && source.targets.contains(target))
    };
    all.filter(|one| !is_held(one)).collect()
}

/// Says that the commit that waits for it would land as something leaves its held source.
pub(super) fn waits(input: &Input<'_>, cluster: &str, target: &GateTarget, held: &SourceId) -> Error {
    let flux = of_file(input, cluster, target);
    let place = flux.map_or_else(|| Place::file(input.spec.path.clone()), |flux| flux.place("sourceRef"));
    let text = format!(
        "{} reads held source {}, which no gate of cluster {cluster} would move. Going back lets the waiting commit in",
        target.name, held.name
    );
    let open = if flux.is_some_and(|flux| flux.said("suspend") == &json!(false)) {
        // Its parent would take back what people suspend.
        "wait until the window is open".to_owned()
    } else {
        let name = &target.name;
        format!(
            "wait until the window is open, or run `flux suspend kustomization {name}` and resume it then"
        )
    };
    let help = format!(
        "{open}\nrun `gitops-windows sync --while-open`: it lets {} read what {} follows, in one commit",
        target.name, held.name
    );
    unsafe_at(text, place, &help)
}

/// Lets something read the source again that its held one follows; returns the name of that, and what is to be known.
fn leave(
    input: &Input<'_>,
    builder: &mut Builder<'_>,
    cluster: &str,
    target: &GateTarget,
    held: &SourceId,
) -> Result<(String, Diagnostic), Error> {
    let live = input.model.delivered.named(cluster).map(|own| own.live_of(held));
    let live = live.filter(|live| live != held);
    let (Some(live), Some(flux)) = (live, of_file(input, cluster, target)) else {
        return Err(waits(input, cluster, target, held));
    };
    let values: Vec<(&[&str], ScalarText)> =
        vec![(&["spec", "sourceRef", "name"], live.name.as_str().into())];
    // Jobs that suspend need that Git says nothing of it: its parent would take back what they set.
    let removed: &[&str] = if flux.said("suspend") == &json!(false) { &["suspend"] } else { &[] };
    write(builder, flux, values, removed)?;
    let text = format!(
        "{} of cluster {cluster} will read {} again: every commit that waits lands at once",
        target.name, live.name
    );
    let help = if removed.is_empty() {
        format!(
            "let this reach the cluster while the window is open\nor first give `flux suspend kustomization {}` and resume it in the window",
            target.name
        )
    } else {
        "let this reach the cluster while the window is open".to_owned()
    };
    Ok((live.name, Diagnostic::warning(text).at(flux.place("sourceRef")).help(help)))
}

/// Says which Flux Kustomizations above what is held back wait for it, and less long than until the next run.
fn impatient(input: &Input<'_>, gate: &ClusterGate, every: u32) -> Vec<Diagnostic> {
    let tick = Duration::from_secs(u64::from(every) * 60);
    let targets = gate.sources.iter().flat_map(|source| &source.targets);
    let mut found: BTreeMap<&str, Diagnostic> = BTreeMap::new();
    for flux in targets.filter_map(|target| of_file(input, &gate.cluster, target)) {
        for parent in input.model.impatient(flux, tick) {
            let text = format!(
                "{} waits for {}, and gives up before the gate's first run makes that Ready",
                parent.name, flux.name
            );
            let help = format!("give {} a `timeout` above {every}m", parent.name);
            found
                .entry(&parent.name)
                .or_insert_with(|| Diagnostic::warning(text).at(parent.place("wait")).help(help));
        }
    }
    found.into_values().collect()
}
