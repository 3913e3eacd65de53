//! The Flux Kustomization that applies a cluster's gate where no entry point does.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::delivery::{Cluster, EntryPoint, Input, Role, request};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{ClusterGate, GateTarget, Gates, join};
use crate::path::RepoPath;
use crate::plan::Command;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, ownership, ownership_for, with_header};
use crate::plan::gate::carrier::{OUTSIDE, add, taken_in};
use crate::plan::gate::files::{Leftover, conflict, unmerged};
use crate::plan::gate::own_source::{GateLists, live_source};
use crate::proof::Readers;
use crate::render::Request;
use crate::repo::manifest::ObjectId;
use crate::repo::{FluxApi, FluxKustomization, flux};
use crate::template::Templates;
use crate::yaml::read_documents;

/// Its name.
pub const NAME: &str = "reconciliation-windows";

/// What of it decides what the gate is and where; a list that sets another of its fields, such as how
/// secrets are decrypted, does no harm. What it would wait for comes last: that may do no harm either.
const DECIDING: [&str; 8] =
    ["path", "sourceRef", "targetNamespace", "namePrefix", "nameSuffix", "components", "suspend", WAITS];

/// The field of those it waits for.
const WAITS: &str = "dependsOn";

/// Writes it beside another Flux Kustomization of its cluster, or gives the command that makes it where
/// none is in Git.
///
/// Lists often give all Flux Kustomizations in them a namespace, or a `targetNamespace` in which the
/// gate's Role and CronJobs would land: it goes to the first place where it stays as it is written,
/// those in the namespace of the gated ones first. Where there is none, it may wait for what the gate never holds back.
///
/// # Errors
///
/// When it would stand in the way of a file, or comes out otherwise in every place.
pub fn ensure(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
    cluster: &ClusterGate,
    leftover: &mut Leftover,
) -> Result<(), Error> {
    let spots = spots(input, cluster);
    if spots.is_empty() {
        leftover.commands.push(Command::create_gate(NAME, input.spec, &cluster.cluster, &cluster.folder));
        return Ok(());
    }
    if let Some(above) = taken_in(input.model, &cluster.cluster, &cluster.folder) {
        leftover.remarks.push(
            Diagnostic::warning(format!(
                "the gate of {} lies below {above}, which nothing in Git applies. Two Flux Kustomizations may apply the gate",
                cluster.cluster
            ))
            .at(Place::file(cluster.folder.clone()))
            .help(format!("choose a folder outside of it for `clusterGate` under `layout`, for example `{OUTSIDE}`")),
        );
    }
    let (mut spoiled, mut waiting) = (None, None);
    for spot in spots {
        let mut trial = builder.clone();
        let written = write(input, templates, &mut trial, cluster, &spot)?;
        let Some(changed) = changed(input, &trial, &spot, &written) else {
            *builder = trial;
            return Ok(());
        };
        if changed.key == WAITS && !waits_for_itself(input, cluster, &changed.value) {
            waiting = waiting.or(Some(trial));
        }
        spoiled = spoiled.or(Some((spot.sibling, changed.reason)));
    }
    if let Some(waiting) = waiting {
        *builder = waiting;
        return Ok(());
    }
    let Some((sibling, reason)) = spoiled else { return Ok(()) };
    Err(Error::new(
        ErrorKind::Unsafe,
        Diagnostic::error(format!(
            "every list of cluster {} would change Flux Kustomization {NAME}: {reason}",
            cluster.cluster
        ))
        .at(Place::file(sibling.file.clone()))
        .help("choose a folder inside of an entry point of the cluster for `clusterGate` under `layout`"),
    ))
}

/// Returns whether the gate of a cluster holds back what its own Flux Kustomization would wait for, or what that waits for.
fn waits_for_itself(input: &Input<'_>, gate: &ClusterGate, list: &Value) -> bool {
    let held = gate.held();
    let text = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut next: Vec<(String, String)> =
        items.iter().map(|item| (text(item, "namespace"), text(item, "name"))).collect();
    let mut seen = BTreeSet::new();
    while let Some((namespace, name)) = next.pop() {
        let target = GateTarget::new(input, &namespace, &name);
        if held.contains(&target) {
            return true;
        }
        if seen.insert((target.namespace.clone(), name.clone()))
            && let Some(flux) = input.flux_called(&gate.cluster, &target.namespace, &name)
        {
            let further = flux.waits_for().into_iter();
            next.extend(further.map(|(namespace, name)| (namespace.to_owned(), name.to_owned())));
        }
    }
    false
}

/// What a list makes of it.
struct Changed {
    /// The first field that is another, by [`DECIDING`].
    key: &'static str,
    /// What that becomes.
    value: Value,
    reason: String,
}

/// Where it may stand.
struct Spot<'a> {
    folder: RepoPath,
    /// The Flux Kustomization whose namespace it gets, and whose source where that fetches the gate.
    sibling: &'a FluxKustomization,
}

impl Spot<'_> {
    fn is_beside(&self) -> bool {
        self.sibling.file.parent().unwrap_or_default() == self.folder
    }
}

/// Returns the folders of the cluster in which nothing reaches another cluster; those in the namespace of the spec come
/// first. Where a Flux Kustomization stands above what it applies, its folder is an app's: a root comes before that. So it
/// does where the file stands in no root; and where other clusters apply it too, so would they what is listed beside it.
fn spots<'a>(input: &Input<'a>, cluster: &ClusterGate) -> Vec<Spot<'a>> {
    let name = &cluster.cluster;
    let entries = input.model.entries_of(name);
    // Of an entry point that several clusters apply, only this cluster's Kustomizations are siblings.
    let mine = |one: &&FluxKustomization| one.cluster == *name;
    let roots = input.model.delivered.all.iter().filter(|one| one.name == *name);
    let bootstraps =
        |folder: &&RepoPath| input.model.entry(folder).is_none_or(|one| one.role == Role::Bootstrap);
    let roots: Vec<&RepoPath> =
        roots.flat_map(|one| &one.roots).map(|root| &root.folder).filter(bootstraps).collect();
    let mut found: Vec<(bool, usize, Spot<'a>)> = Vec::new();
    for sibling in entries.flat_map(|entry| input.model.flux_of(entry)).filter(mine) {
        let own = sibling.file.parent().unwrap_or_default();
        let is_elsewhere = input.namespace(sibling) != input.spec.flux.namespace;
        let of_app = sibling.path.as_ref().is_some_and(|path| path.is_within(&own)) && !roots.contains(&&own);
        let is_shared = input.model.twins(sibling).next().is_some();
        // The list of its own root may leave its file out, as that of what `flux bootstrap` wrote.
        let taken_in = input.model.graph.taken_in_by(&sibling.file);
        let is_in = |root: &&&RepoPath| own.is_within(root) && taken_in.contains(**root);
        let is_away = !roots.is_empty() && !roots.iter().any(|root| is_in(&root));
        let above = roots.iter().filter(|root| is_away || is_shared || (of_app && own.is_within(root)));
        let above = above.max_by_key(|root| (own.is_within(root), root.segments().count()));
        found.extend(above.map(|root| (is_elsewhere, 1, Spot { folder: (*root).clone(), sibling })));
        // `flux bootstrap` writes its folder anew.
        let rank = if of_app || is_away { 3 } else { 2 * usize::from(sibling.applies_itself()) };
        if !is_shared {
            found.push((is_elsewhere, rank, Spot { folder: own, sibling }));
        }
    }
    found.sort_by_key(|(is_elsewhere, rank, _)| (*is_elsewhere, *rank));
    let mut folders: BTreeSet<RepoPath> = BTreeSet::new();
    let found = found.into_iter().map(|(.., spot)| spot);
    found.filter(|spot| is_alone(input, name, &spot.folder) && folders.insert(spot.folder.clone())).collect()
}

/// Writes it beside a sibling and lists it where that is listed.
fn write(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
    cluster: &ClusterGate,
    spot: &Spot<'_>,
) -> Result<String, Error> {
    let Spot { folder, sibling } = spot;
    let path = join(folder, &format!("{NAME}.yaml"))?;
    let reader = GateLists::of(input, builder, cluster)?.reader(input, sibling)?;
    let namespace = input.namespace(sibling);
    let gate = format!("./{}", spelt(input, cluster, reader)?);
    let applier = Applier { cluster: &cluster.cluster, sibling, namespace };
    let text = applier.text(input, templates, &gate, &live_source(input, reader, namespace))?;
    if input.snapshot.file(&path).is_none() && builder.now().file(&path).is_some() {
        return Err(Error::new(
            ErrorKind::Conflict,
            Diagnostic::error(format!(
                "two clusters keep their Flux Kustomizations in {folder}. Their gates can't both have {path}"
            ))
            .at(Place::file(folder.clone()))
            .help("give each cluster a folder of its own\nor choose a folder for its gate inside of an entry point of each\nor, for one cluster in several folders, write `clusters: { NAME: { paths: [FOLDER, FOLDER] } }` or use `--cluster-folder`"),
        ));
    }
    match builder.now().file(&path).map(|file| ownership_for(file, &text)) {
        None | Some(Ownership::Ours) => builder.put(&path, &with_header(&text)),
        Some(Ownership::Edited) => return Err(Error::new(ErrorKind::Conflict, conflict(&path))),
        Some(Ownership::Unmerged) => return Err(Error::new(ErrorKind::Conflict, unmerged(&path))),
        Some(Ownership::Theirs) => {
            return Err(Error::new(
                ErrorKind::Conflict,
                Diagnostic::error(format!("{path} is needed to apply a gate and holds something else"))
                    .at(Place::file(path.clone()))
                    .help(format!("let it apply {}, or rename it", cluster.folder)),
            ));
        }
    }
    let lists = if spot.is_beside() { input.model.graph.lists(&sibling.file) } else { Vec::new() };
    for list in if lists.is_empty() { vec![folder.clone()] } else { lists } {
        add(builder, &list, &path)?;
    }
    Ok(text)
}

/// What applies a gate, for a cluster in which another Flux Kustomization stands beside it.
struct Applier<'a> {
    cluster: &'a str,
    sibling: &'a FluxKustomization,
    namespace: &'a str,
}

impl Applier<'_> {
    /// Returns the ServiceAccount that it has to name, where its cluster is locked down.
    fn account<'i>(&'i self, input: &'i Input<'_>) -> Option<&'i str> {
        input.model.delivered.named(self.cluster)?.account_beside(self.sibling, self.namespace)
    }

    /// Returns the version in which its cluster takes it.
    fn version(&self, input: &Input<'_>) -> Result<&'static str, Error> {
        input.model.served_version(self.cluster).ok_or_else(|| {
            let api = input.model.delivered.named(self.cluster).and_then(Cluster::api);
            let of = api.map(ToString::to_string).unwrap_or_default();
            let text = format!(
                "{of} serves no version of Flux Kustomizations that is known. Nothing could apply a gate"
            );
            let place = api.map_or_else(|| self.sibling.place("path"), |api| api.place.clone());
            let help = format!("upgrade Flux of cluster {} to {}", self.cluster, FluxApi::WITH_V1);
            Error::new(ErrorKind::Unsafe, Diagnostic::error(text).at(place).help(help))
        })
    }

    /// Returns it as it is written, with the folder of the gate and its source.
    fn text(
        &self,
        input: &Input<'_>,
        templates: &Templates,
        gate: &str,
        source: &Value,
    ) -> Result<String, Error> {
        let fields = json!({
            "api_version": self.version(input)?,
            "name": NAME,
            "namespace": self.namespace,
            "path": gate,
            "source": {
                "kind": source["kind"].as_str().unwrap_or("GitRepository"),
                "name": source["name"].as_str().unwrap_or(&input.spec.flux.source.name),
                "namespace": source["namespace"],
            },
            "service_account": self.account(input),
            "depends_on": null,
        });
        templates.render("flux-kustomization.yaml", fields)
    }
}

/// Returns the file of what applies a gate its own first line, where it says what would be written and the line is that of
/// another text: in a copy of a cluster.
///
/// # Errors
///
/// When the template does not render.
pub fn seal(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
    cluster: &str,
    entry: &EntryPoint,
) -> Result<(), Error> {
    for one in input.model.flux_in(entry, cluster).filter(|one| one.name == NAME) {
        let Some(file) = builder.now().file(&one.file).filter(|file| ownership(file) == Ownership::Edited)
        else {
            continue;
        };
        let gate = one.spec("path").as_str().unwrap_or_default();
        let applier = Applier { cluster, sibling: one, namespace: input.namespace(one) };
        let text = applier.text(input, templates, gate, one.spec("sourceRef"))?;
        if ownership_for(file, &text) == Ownership::Ours {
            builder.put(&one.file, &with_header(&text));
        }
    }
    Ok(())
}

/// Lets what applies a gate read a source that fetches it, in a file of ours whose own source does not: the gate has never
/// come. Returns by cluster what reads another source then.
///
/// # Errors
///
/// When the template does not render, or the layout gives no folder.
pub fn mend(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
    gates: &Gates,
) -> Result<BTreeMap<String, Readers>, Error> {
    let mut mended: BTreeMap<String, Readers> = BTreeMap::new();
    for cluster in gates.clusters.iter().filter(|cluster| !cluster.is_idle()) {
        let lists = GateLists::of(input, builder, cluster)?;
        let is_its =
            |one: &&FluxKustomization| one.name == NAME && one.path.as_ref() == Some(&cluster.folder);
        let own = || input.model.flux_of_cluster(&cluster.cluster).filter(is_its);
        for one in own() {
            take_in(input, templates, builder, &cluster.cluster, one)?;
        }
        for one in own().filter(|one| !lists.are_fetched(input, one)) {
            let file = builder.now().file(&one.file);
            let is_ours = file.is_some_and(|file| ownership(file) == Ownership::Ours);
            // Where no source fetches it, a check tells what to do.
            let Some(reader) = lists.reader(input, one).ok().filter(|_| is_ours) else { continue };
            let namespace = input.namespace(one);
            let (old, new) = (one.spec("sourceRef"), live_source(input, reader, namespace));
            let is_alike = ["kind", "namespace"].iter().all(|key| old[*key] == new[*key]);
            let Some(name) = new["name"].as_str().filter(|name| is_alike && old["name"] != **name) else {
                continue;
            };
            let path = one.spec("path").as_str().unwrap_or_default();
            let applier = Applier { cluster: &cluster.cluster, sibling: one, namespace };
            builder.put(&one.file, &with_header(&applier.text(input, templates, path, &new)?));
            let readers = mended.entry(cluster.cluster.clone()).or_default();
            readers.insert((namespace.to_owned(), NAME.to_owned()), name.to_owned());
        }
    }
    Ok(mended)
}

/// Writes what applies a gate anew, in a file of ours, where its cluster would not take it, or let it apply anything.
fn take_in(
    input: &Input<'_>,
    templates: &Templates,
    builder: &mut Builder<'_>,
    cluster: &str,
    one: &FluxKustomization,
) -> Result<(), Error> {
    let applier = Applier { cluster, sibling: one, namespace: input.namespace(one) };
    let is_served =
        one.api().is_none_or(|api| one.value["apiVersion"].as_str().is_some_and(|own| api.serves(own)));
    let is_allowed = !one.spec("serviceAccountName").is_null() || applier.account(input).is_none();
    let is_ours = builder.now().file(&one.file).is_some_and(|file| ownership(file) == Ownership::Ours);
    if is_ours && !(is_served && is_allowed) {
        let path = one.said("path").as_str().unwrap_or_default();
        let text = applier.text(input, templates, path, one.said("sourceRef"))?;
        builder.put(&one.file, &with_header(&text));
    }
    Ok(())
}

/// Says what the builds that take it in make of it, where they make something else: those of the Flux
/// Kustomizations that apply its sibling, or else of the lists that something outside of Git applies.
fn changed(input: &Input<'_>, builder: &Builder<'_>, spot: &Spot<'_>, written: &str) -> Option<Changed> {
    let Spot { folder, sibling } = spot;
    let own = Some(*sibling).filter(|sibling| sibling.applies_itself());
    let parents: Vec<&FluxKustomization> = match spot.is_beside() {
        true => input.parents(sibling).into_iter().chain(own).collect(),
        false => input.model.flux_at(folder).filter(|one| one.cluster == sibling.cluster).collect(),
    };
    let mut requests: Vec<Request> = parents.into_iter().filter_map(request).collect();
    if requests.is_empty() && spot.is_beside() {
        requests.extend(input.model.graph.tops(&sibling.file).into_iter().map(Request::delivered));
    } else if requests.is_empty() {
        requests.push(Request::delivered(folder.clone()));
    }
    let wanted = read_documents(written).ok()?.first()?.root.to_json();
    let results = input.renderer.render(builder.now(), &requests);
    requests.iter().zip(results).find_map(|(Request { path: top, .. }, result)| {
        // A list that did not build before is told elsewhere.
        let objects = result.ok()?;
        let is_it = |value: &Value| {
            ObjectId::of(value).group == flux::GROUP && value["spec"]["path"] == wanted["spec"]["path"]
        };
        let Some(found) = objects.iter().map(|object| &object.value).find(|value| is_it(value)) else {
            let reason = format!("the build of {top} leaves it out");
            return Some(Changed { key: "", value: Value::Null, reason });
        };
        let metadata = ["name", "namespace"].iter().map(|key| (*key, "metadata"));
        let spec = DECIDING.iter().map(|key| (*key, "spec"));
        metadata.chain(spec).find_map(|(key, part)| {
            let of = |one: &Value| match key {
                "sourceRef" => source(one),
                _ => one[part][key].clone(),
            };
            let (is, should) = (of(found), of(&wanted));
            (is != should).then(|| {
                let reason = format!("the build of {top} sets its `{part}.{key}` to {is}");
                Changed { key, value: is, reason }
            })
        })
    })
}

/// Returns the folder of a gate as the source of a Flux Kustomization has it, or that of which its generator copies.
fn spelt(input: &Input<'_>, cluster: &ClusterGate, flux: &FluxKustomization) -> Result<String, Error> {
    let top = input.model.top_of_source(flux);
    if cluster.folder.is_within(&top) {
        return Ok(cluster.folder.relative_to(&top));
    }
    let text =
        format!("{} of Flux Kustomization {} has only what is in {top}", flux.source_kind(), flux.name);
    Err(Error::new(
        ErrorKind::Unsafe,
        Diagnostic::error(text)
            .at(flux.place("sourceRef"))
            .help("choose a folder in it for `gate` and `clusterGate` under `layout`"),
    ))
}

/// Returns the source of a Flux Kustomization: without a namespace, it is that of its own.
fn source(flux: &Value) -> Value {
    let own = &flux["spec"]["sourceRef"];
    let namespace =
        [&own["namespace"], &flux["metadata"]["namespace"]].into_iter().find(|one| !one.is_null());
    json!({ "kind": own["kind"], "name": own["name"], "namespace": namespace })
}

/// Returns whether nothing but this cluster builds a folder, so that a Flux Kustomization put there
/// reaches no other.
fn is_alone(input: &Input<'_>, cluster: &str, folder: &RepoPath) -> bool {
    let graph = &input.model.graph;
    let around = folder.parents().filter(|above| !graph.has(above));
    let mut entries =
        graph.built_by(folder).into_iter().chain(around).filter_map(|above| input.model.entry(&above));
    entries.all(|entry| entry.clusters().all(|own| own == cluster))
}
