//! Freezes and overrides in the tables of gates as they stand.
//!
//! What people stop or open must wait for nothing: neither for what else `sync` would bring along, nor for a cluster of
//! which something does not build. So an edit of freezes and overrides changes lines of tables in the files that stand,
//! and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{BuiltJob, Doubt, Input, Model};
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::error::{Error, ErrorKind};
use crate::mechanism::{self, ClusterGate, GateTarget, Table, Tabled, pod_of};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::generated::{Ownership, ownership, with_header};
use crate::plan::gate::files::{conflict, unmerged};
use crate::plan::gate::gates_apart;
use crate::plan::gate::held::of_file;
use crate::plan::gate::unheld;
use crate::plan::problem::Problem;
use crate::repo::File;
use crate::repo::flux::is_yaml;
use crate::repo::manifest::{Manifest, manifests};
use crate::schedule::{OpenTimes, Stretch};
use crate::spec::Spec;
use crate::yaml::{Editor, Key};

/// The way to the containers of a CronJob.
const CONTAINERS: [&str; 6] = ["spec", "jobTemplate", "spec", "template", "spec", "containers"];

/// What an edit of freezes and overrides makes of the gates that stand.
#[derive(Debug)]
pub struct Retimed<'a> {
    /// The tables, with the edit in them.
    pub builder: Builder<'a>,
    /// The clusters of which tables were written.
    pub written: BTreeSet<String>,
    /// Of what kind the first reason is why the edit does not reach a gate that stands; `None` where it reaches all.
    pub missed: Option<ErrorKind>,
    /// The clusters that it does not reach, or not in all of what it is about.
    pub unreached: BTreeSet<String>,
    /// Which clusters the edit does not reach, and why.
    pub remarks: Vec<Diagnostic>,
}

impl Retimed<'_> {
    /// Says that the edit does not reach a cluster, why, and what works.
    pub fn miss(&mut self, input: &Input<'_>, before: &Spec, cluster: &str, why: Error) {
        let text = format!("this edit does not reach cluster {cluster}");
        let place = Place::file(input.spec.path.clone());
        self.remarks.push(Diagnostic::warning(text).at(place).help(way(input, before, cluster)));
        self.remarks.extend(why.diagnostics.into_iter().map(as_warning));
        self.missed.get_or_insert(why.kind);
        self.unreached.insert(cluster.to_owned());
    }
}

/// Writes what freezes and overrides take and give otherwise than `before` into the tables of the gates that stand.
///
/// # Errors
///
/// When jobs would see a time late or not at all, and when the layout gives no folder.
pub fn retime<'a>(input: &Input<'a>, before: &Spec) -> Result<Retimed<'a>, Error> {
    let builder = Builder::new(input.snapshot);
    let (written, unreached) = (BTreeSet::new(), BTreeSet::new());
    let mut found = Retimed { builder, written, missed: None, unreached, remarks: Vec::new() };
    // Windows that can't be kept are told of by `sync`, and hold up no stop.
    let gates = gates_apart(input).ok().flatten();
    let mut wanted: BTreeMap<&str, Vec<NewTable>> = BTreeMap::new();
    for cluster in input.spec.clusters.keys() {
        let types = concerned(input.spec, before, cluster);
        if types.is_empty() {
            continue;
        }
        match tables(input, before, cluster, &types) {
            Ok(tables) if tables.is_empty() => {
                let text = format!("no gate of cluster {cluster} stands in Git, so nothing changes there");
                let told = Diagnostic::warning(text).at(Place::file(input.spec.path.clone()));
                let own = gates.as_ref().and_then(|(gates, _)| gates.of(cluster));
                let is_wanted = own.is_none_or(|own| !wanted_of(own, &types).is_empty());
                if is_wanted && is_closing(input, before, cluster) {
                    found.unreached.insert(cluster.clone());
                }
                let help = "run `gitops-windows sync`, which writes it";
                found.remarks.push(if is_wanted { told.help(help) } else { told });
            }
            Ok(tables) => {
                for NewTable { path, text, .. } in &tables {
                    if let Some(text) = text {
                        found.builder.put(path, text);
                        found.written.insert(cluster.clone());
                    }
                }
                wanted.insert(cluster, tables);
            }
            Err(error) if error.kind == ErrorKind::Invalid => return Err(error),
            Err(error) => found.miss(input, before, cluster, error),
        }
    }
    let after = found.builder.now().clone();
    let model = input.again(&after);
    let own_gate = |cluster: &str| gates.as_ref().and_then(|(gates, _)| gates.of(cluster));
    for cluster in input.spec.clusters.keys().filter(|cluster| is_closing(input, before, cluster)) {
        let Some(own) = own_gate(cluster) else { continue };
        let remarks = unheld::remarks(input, &model, own, &concerned(input.spec, before, cluster));
        if !remarks.is_empty() {
            found.unreached.insert(cluster.clone());
        }
        found.remarks.extend(remarks);
    }
    for (cluster, tables) in wanted {
        let jobs = model.closings.of(cluster);
        let why = tables.iter().find_map(|table| unheard(jobs, table));
        if let Some(why) = why {
            let why = Diagnostic::error(why).at(Place::file(input.spec.gate_folder(cluster)?));
            found.miss(input, before, cluster, Error::new(ErrorKind::Unsafe, why));
            continue;
        }
        if let Some(own) = own_gate(cluster).filter(|_| is_closing(input, before, cluster)) {
            let types = concerned(input.spec, before, cluster);
            let is_off = !own.enabled
                && types.iter().any(|one| own.targets.get(one).is_some_and(|own| !own.is_empty()));
            if is_off {
                found.unreached.insert(cluster.to_owned());
                let text = format!("the gate of cluster {cluster} is off, so nothing closes there");
                let help = "remove `enabled: false` of its `gate`\nrun `gitops-windows sync`";
                let place = Place::file(input.spec.path.clone());
                found.remarks.push(Diagnostic::warning(text).at(place).help(help));
            }
            let loose = wanted_of(own, &types).into_iter();
            let loose = loose.filter(|target| model.closings.running(cluster, target).is_none());
            for target in loose {
                found.unreached.insert(cluster.to_owned());
                found.remarks.push(not_held(input, &model, own, target));
            }
        }
    }
    Ok(found)
}

/// Returns what a gate should hold back of some types.
fn wanted_of<'g>(gate: &'g ClusterGate, types: &BTreeSet<usize>) -> BTreeSet<&'g GateTarget> {
    let switched_on = types.iter().filter(|position| gate.switched_on.contains(position));
    switched_on.filter_map(|position| gate.targets.get(position)).flatten().collect()
}

/// Says that no gate holds back something that the spec gates, so that no table stops it, and what does.
fn not_held(input: &Input<'_>, model: &Model, gate: &ClusterGate, target: &GateTarget) -> Diagnostic {
    let (cluster, GateTarget { namespace, name }) = (&gate.cluster, target);
    if model.closings.is_resumed(cluster, target) {
        let shown = target.shown(input.spec);
        let text = format!(
            "Flux Kustomization {shown} of cluster {cluster} stays open: `suspend: false` in Git resumes it"
        );
        let at = of_file(input, cluster, target).map(|flux| flux.place("suspend"));
        let at = at.unwrap_or_else(|| Place::file(input.spec.path.clone()));
        return Diagnostic::warning(text)
            .at(at)
            .help("remove `spec.suspend` from its manifest; the gate then owns the field");
    }
    let held = gate.sources.iter().find(|source| source.targets.contains(target));
    let why = match held {
        Some(held) => format!("it reads another source than {}", held.name),
        None => "no gate in Git suspends it".to_owned(),
    };
    let shown = target.shown(input.spec);
    let text = format!("Flux Kustomization {shown} of cluster {cluster} stays open: {why}");
    let at = of_file(input, cluster, target).map(|flux| flux.place("sourceRef"));
    let at = at.unwrap_or_else(|| Place::file(input.spec.path.clone()));
    let command = unheld::suspending(std::iter::once(name.as_str()), namespace);
    let once = format!("`{command}` closes it at once");
    let lasting = "`gitops-windows sync` brings it under its gate";
    Diagnostic::warning(text).at(at).help(format!("{once}\n{lasting}"))
}

/// Says why a cluster hears nothing of a table; `None` where it does.
fn unheard(jobs: &[BuiltJob], table: &NewTable) -> Option<String> {
    let name = &table.job;
    let own: Vec<&BuiltJob> = jobs.iter().filter(|job| job.name == *name).collect();
    if own.is_empty() {
        return Some(format!("no build brings CronJob {name} to it"));
    }
    if own.iter().all(|job| job.table.as_ref() != Some(&table.times)) {
        return Some(format!("the build that brings CronJob {name} gives it another table"));
    }
    let is_kept_out = !table.is_off && own.iter().all(|job| !job.is_running || job.is_kept_out());
    let has = |is_it: fn(&Doubt) -> bool| own.iter().any(|job| job.doubt.as_ref().is_some_and(is_it));
    let why = if has(|doubt| matches!(doubt, Doubt::Unbuilt(_))) {
        "the build that brings it fails: nothing new of CronJob"
    } else if has(|doubt| matches!(doubt, Doubt::Unprivileged(..))) {
        "no role is bound to the ServiceAccount that applies CronJob"
    } else {
        "Git suspends the Flux Kustomization that applies CronJob"
    };
    is_kept_out.then(|| format!("{why} {name}"))
}

/// Returns the positions of the gated types of which freezes or overrides differ in a cluster.
fn concerned(spec: &Spec, before: &Spec, cluster: &str) -> BTreeSet<usize> {
    let differs = |position: &usize| {
        let name = &spec.types[*position].name.value;
        let [is, was] = [spec, before].map(|spec| taken_and_given(spec, cluster, name));
        !spec.types[*position].is_real_time() && is != was
    };
    (0..spec.types.len()).filter(differs).collect()
}

/// Returns what freezes take and overrides give of a type in a cluster.
fn taken_and_given(spec: &Spec, cluster: &str, change_type: &str) -> [Vec<Stretch>; 2] {
    let taken = spec.freezes_of(cluster, change_type).into_iter().map(|freeze| freeze.stretch());
    let given = spec.overrides_of(cluster, change_type).into_iter().map(|given| given.stretch());
    [taken.collect(), given.collect()]
}

/// Returns a type of which an edit takes more open times in a cluster, or gives more, by the index of that in
/// [`taken_and_given`].
fn more<'s>(input: &Input<'s>, before: &Spec, cluster: &str, index: usize) -> Option<&'s String> {
    let mut gated = input.spec.gated_types().map(|one| &one.name.value);
    gated.find(|name| {
        let [is, was] = [input.spec, before].map(|spec| taken_and_given(spec, cluster, name));
        is[index].iter().any(|stretch| !was[index].contains(stretch))
    })
}

/// Returns whether an edit closes something of a cluster, which must not miss it silently.
fn is_closing(input: &Input<'_>, before: &Spec, cluster: &str) -> bool {
    more(input, before, cluster, 0).is_some()
}

/// Says what works where an edit does not reach a cluster.
fn way(input: &Input<'_>, before: &Spec, cluster: &str) -> String {
    if is_closing(input, before, cluster) {
        return format!("`gitops-windows stop --without-git --cluster {cluster}` prints what closes it");
    }
    match more(input, before, cluster, 1) {
        Some(name) => {
            format!("`gitops-windows override open --cluster {cluster} --type {name}` prints what opens it")
        }
        None => "`gitops-windows sync` brings it along, once that is corrected".to_owned(),
    }
}

/// A table of a CronJob in a file.
struct NewTable {
    path: RepoPath,
    /// The text of the file; `None` where it stays as it is.
    text: Option<String>,
    /// The name of the CronJob.
    job: String,
    /// What it says then.
    times: OpenTimes,
    /// Whether the file switches the CronJob off, as nothing is there to be held back.
    is_off: bool,
}

/// Returns the tables of some types in a cluster as they should be; none where no gate stands.
///
/// # Errors
///
/// [`ErrorKind::Invalid`] when jobs would see a time late or not at all; others when a table that stands can't be written,
/// or what stands has none.
fn tables(
    input: &Input<'_>,
    before: &Spec,
    cluster: &str,
    types: &BTreeSet<usize>,
) -> Result<Vec<NewTable>, Error> {
    let folder = input.spec.gate_folder(cluster)?;
    let below = input.snapshot.below(&folder).map(|(path, _)| path);
    let own = below.filter(|path| path.parent().as_ref() == Some(&folder) && is_yaml(path));
    let (mut found, mut known) = (Vec::new(), BTreeSet::new());
    for path in own {
        let Some(file) = input.snapshot.file(path) else { continue };
        for (job, container, table) in standing(file) {
            let mechanism = mechanism::read(&job.value, None).mechanism;
            let name = job.value["metadata"]["name"].as_str().unwrap_or_default();
            let position = mechanism::of(mechanism).type_of(input.spec, name);
            let Some(position) = position.filter(|position| types.contains(position)) else { continue };
            known.insert(position);
            let change_type = &input.spec.types[position].name.value;
            let lines = table.edited(before, input.spec, &Tabled { mechanism, cluster, change_type })?;
            let text = (lines != table.lines()).then(|| written(path, file, job.index, container, &lines));
            let times = Table::of_lines(lines).map_or_else(|| table.times(), |table| table.times());
            found.push(NewTable {
                path: path.clone(),
                text: text.transpose()?,
                job: name.to_owned(),
                times,
                is_off: mechanism::is_off(&job.value),
            });
        }
    }
    let is_bare = |job: &&BuiltJob| {
        let position = mechanism::of(job.mechanism).type_of(input.spec, &job.name);
        let is_meant = position.is_none_or(|own| types.contains(&own) && !known.contains(&own));
        job.action.holds() && job.table.is_none() && is_meant
    };
    match input.model.closings.of(cluster).iter().find(is_bare) {
        Some(job) => Err(no_table(&folder, &job.name)),
        None => Ok(found),
    }
}

/// Returns the tables of a file: each with its CronJob and the position of its container.
fn standing(file: &File) -> Vec<(Manifest, usize, Table)> {
    let jobs = manifests(file).into_iter().flatten().filter(|one| one.value["kind"] == "CronJob");
    let mut found = Vec::new();
    for job in jobs {
        let containers = pod_of(&job.value)["containers"].as_array().into_iter().flatten();
        let tables = containers.enumerate().filter_map(|(position, one)| Some((position, Table::of(one)?)));
        found.extend(tables.map(|(position, table)| (job.clone(), position, table)));
    }
    found
}

/// Returns the text of a generated file with other lines in a table.
///
/// # Errors
///
/// When somebody edited it, it is its authors', or it can't be edited in place.
fn written(
    path: &RepoPath,
    file: &File,
    document: usize,
    container: usize,
    lines: &[String],
) -> Result<String, Error> {
    let refuse = |diagnostic: Diagnostic| Error::new(ErrorKind::Conflict, diagnostic);
    match ownership(file) {
        Ownership::Ours => {}
        Ownership::Edited => return Err(refuse(conflict(path))),
        Ownership::Unmerged => return Err(refuse(unmerged(path))),
        Ownership::Theirs => {
            let text = format!("{path} has a table, and is no generated file");
            let help = "remove its table\nrun `gitops-windows sync`";
            return Err(refuse(Diagnostic::error(text).at(Place::file(path.clone())).help(help)));
        }
    }
    let text = file.text().unwrap_or_default().replace("\r\n", "\n");
    let mut keys: Vec<Key> = CONTAINERS.into_iter().map(Key::from).collect();
    keys.extend([Key::from(container), Key::from("args")]);
    let edited = Editor::new(&text, document).and_then(|mut editor| {
        editor.replace_rest(&keys, 1, lines)?;
        Ok(editor.into_text())
    });
    let edited = edited.map_err(|error| {
        let Problem { reason, .. } = Problem::edit(path, &text, &error);
        refuse(Diagnostic::error(reason).at(Place::file(path.clone())))
    })?;
    Ok(with_header(edited.split_once('\n').map_or("", |(_, body)| body)))
}

fn as_warning(diagnostic: Diagnostic) -> Diagnostic {
    Diagnostic { severity: Severity::Warning, ..diagnostic }
}

/// Says that what closes a cluster looks at no table.
fn no_table(folder: &RepoPath, job: &str) -> Error {
    let text = format!("CronJob {job} looks at no table, so no freeze and no override changes it");
    let why = Diagnostic::error(text).at(Place::file(folder.clone()));
    let why =
        why.help("give the gate a table: `every` and `through` under `gate`\nrun `gitops-windows sync`");
    Error::new(ErrorKind::Unsafe, why)
}
