//! Patches that a Flux Kustomization meets on its way into the cluster: those of the kustomizations that
//! list it, and of the Flux Kustomizations that apply these.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::delivery::Input;
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::plan::problem::Problem;
use crate::repo::flux::GROUP;
use crate::repo::selector::fits;
use crate::repo::{File, FluxKustomization, Kustomization, built};
use crate::yaml::{Node, read_documents};

/// The fields of a kustomization whose patches may have a target.
const TARGETED: [&str; 2] = ["patches", "patchesJson6902"];

/// The field whose patches name what they are for themselves.
const MERGES: &str = "patchesStrategicMerge";

/// The fields of a Flux Kustomization that mean something else in a deeper folder: components are found from the folder of
/// `path`.
const OF_FOLDER: [&str; 2] = ["path", "components"];

/// The fields of successors that differ from the old one's and are judged by themselves.
const LEFT_ALONE: [&str; 4] = ["path", "components", "prune", "deletionPolicy"];

/// The field with what one waits for.
const DEPENDS_ON: &str = "dependsOn";

/// The fields that change names.
const RENAMING: [&str; 2] = ["namePrefix", "nameSuffix"];

/// A patch, where it is listed.
struct Patch {
    file: RepoPath,
    text: Arc<str>,
    field: &'static str,
    item: Node,
    /// The documents of what it says.
    says: Vec<Value>,
}

impl Patch {
    fn target(&self) -> Option<&Node> {
        self.item.get("target").filter(|target| !target.entries().is_empty())
    }

    /// Points at the item, or at the name of its target.
    fn place(&self, at_name: bool) -> Place {
        let name = self.target().and_then(|target| target.get("name")).filter(|_| at_name);
        let span = name.unwrap_or(&self.item).span.clone();
        Place::span(self.file.clone(), self.text.clone(), span)
    }

    /// Returns whether it is for a Flux Kustomization, or one like it of another name. What labels and
    /// annotations select is not asked (kustomize `types.SelectorRegex`: each field is a regular expression
    /// over the whole text).
    fn may_be_for(&self, one: &FluxKustomization, name: &str) -> bool {
        let Some(target) = self.target() else {
            return self.says.iter().any(|said| {
                let group = said["apiVersion"].as_str().and_then(|version| version.split_once('/'));
                group.is_some_and(|(group, _)| group == GROUP)
                    && said["kind"] == "Kustomization"
                    && said["metadata"]["name"] == *name
            });
        };
        let version = one.value["apiVersion"].as_str().and_then(|version| version.split_once('/'));
        let version = version.map_or("", |(_, version)| version);
        let fields = [
            ("group", GROUP),
            ("version", version),
            ("kind", "Kustomization"),
            ("namespace", one.namespace.as_str()),
            ("name", name),
        ];
        fields.iter().filter(|(_, text)| !text.is_empty()).all(|(key, text)| {
            let pattern = target.get_ignore_case(key).and_then(Node::scalar_text).unwrap_or_default();
            fits(pattern, text)
        })
    }

    /// Returns whether it sets, or takes away, a field of `spec` or something in it.
    fn sets(&self, field: &str) -> bool {
        let path = format!("/spec/{field}");
        let is_in = |step: &Value| {
            let rest = step["path"].as_str().and_then(|own| own.strip_prefix(&path));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) && step["op"] != "test"
        };
        self.says.iter().any(|said| match said {
            Value::Array(steps) => steps.iter().any(is_in),
            _ => said["spec"].get(field).is_some(),
        })
    }

    /// Returns what it appends to a list of `spec`, where that is all that it does to it; `None` otherwise (RFC 6902, `add` at
    /// `-`, which fails without that list).
    fn appends(&self, field: &str) -> Option<Vec<&Value>> {
        let list = format!("/spec/{field}");
        let mut found = Vec::new();
        for step in self.says.iter().flat_map(|said| said.as_array().into_iter().flatten()) {
            match step["path"].as_str()?.strip_prefix(&list) {
                Some("/-") if step["op"] == "add" => found.push(&step["value"]),
                Some(rest) if rest.is_empty() || rest.starts_with('/') => return None,
                _ => {}
            }
        }
        self.says.iter().all(Value::is_array).then_some(found)
    }

    /// Returns whether labels or annotations select what it is for.
    fn is_selective(&self) -> bool {
        let says = |key: &str| self.target().is_some_and(|target| target.get_ignore_case(key).is_some());
        says("labelSelector") || says("annotationSelector")
    }

    /// Returns whether it names a successor and does nothing but keep it from deleting: such a patch is asked for before a split.
    fn keeps(&self, one: &FluxKustomization) -> bool {
        let name =
            self.target().and_then(|target| target.get_ignore_case("name")).and_then(Node::scalar_text);
        let is_kept = |field: &str, value: &Value| match field {
            "prune" => *value == Value::Bool(false),
            "deletionPolicy" => value == "Orphan",
            _ => false,
        };
        let only_keeps = |said: &Value| match said {
            Value::Array(steps) => steps.iter().all(|step| {
                let field = step["path"].as_str().and_then(|path| path.strip_prefix("/spec/"));
                step["op"] == "test" || is_kept(field.unwrap_or_default(), &step["value"])
            }),
            _ => said["spec"]
                .as_object()
                .is_some_and(|spec| spec.iter().all(|(key, value)| is_kept(key, value))),
        };
        name.is_some_and(|name| name.contains(&one.name))
            && self.may_be_for(one, &one.name)
            && !self.says.is_empty()
            && self.says.iter().all(only_keeps)
    }

    /// Returns what it says, whomever it is for.
    fn message(&self) -> Vec<Value> {
        let mut says = self.says.clone();
        for name in says.iter_mut().filter_map(|said| said.pointer_mut("/metadata/name")) {
            *name = Value::Null;
        }
        says
    }

    /// Returns what to write, so that it is for others too.
    fn extended(&self, old: &str, heirs: &[&str]) -> String {
        let own = self.target().and_then(|target| target.get("name")).and_then(Node::scalar_text);
        let own = own.unwrap_or(old);
        let tails: Option<Vec<&str>> = heirs.iter().map(|heir| heir.strip_prefix(old)).collect();
        let name = match tails {
            Some(tails) if own == old => format!("{own}({})?", tails.join("|")),
            _ => format!("{own}|{}", heirs.join("|")),
        };
        match (self.target(), self.field) {
            (Some(_), _) => format!("write `name: \"{name}\"` there, which is a regular expression"),
            (None, MERGES) => format!(
                "list that patch under `patches`, with `target: {{ kind: Kustomization, name: \"{name}\" }}`, in which the name is a regular expression"
            ),
            (None, _) => format!(
                "give that patch `target: {{ kind: Kustomization, name: \"{name}\" }}`, in which the name is a regular expression"
            ),
        }
    }
}

/// Stops a hand-over where something on the way of an old Flux Kustomization goes by its name and would
/// not go by that of a successor.
///
/// # Errors
///
/// When a patch is for the old one alone or sets what goes by its folder, or something puts a prefix or a suffix to its name: gates and
/// `dependsOn` name what stands in the files.
pub fn follow(input: &Input<'_>, old: &FluxKustomization, heirs: &[String]) -> Result<Met, Problem> {
    let above = input.parents(old);
    if let Some(stop) = renamed(input, old, &above) {
        return Err(stop);
    }
    let patches = patches(input, old, &above);
    for patch in patches.iter().filter(|one| one.may_be_for(old, &old.name)) {
        if let Some(field) = OF_FOLDER.iter().find(|field| patch.sets(field)) {
            // Extended to the successors, it would give both those of the old folder.
            let place = patch.place(false);
            let mut alike = input.model.flux_in_file(&old.file).iter().filter(|one| one.is_written_as(old));
            let remedy = match alike.any(|one| one.spec(field) != old.spec(field)) {
                true => format!(
                    "give each cluster a Flux Kustomization with its own `{field}` in its own file\ntake `{field}` out of the patches, and remove the shared one"
                ),
                false => format!("write the {field} into {} and take that out of the patch", old.file),
            };
            return Err(Problem::lasting(
                format!(
                    "the patch in {} sets the {field} of {}. Each successor needs its own",
                    spelt(&place),
                    old.name
                ),
                remedy,
                place,
            ));
        }
        let says = patch.message();
        let reaches =
            |heir: &str| patches.iter().any(|other| other.may_be_for(old, heir) && other.message() == says);
        let missed: Vec<&str> = heirs.iter().map(String::as_str).filter(|heir| !reaches(heir)).collect();
        if !missed.is_empty() {
            let place = patch.place(true);
            return Err(Problem::lasting(
                format!(
                    "the patch in {} names {}, and would miss its successors {}",
                    spelt(&place),
                    old.name,
                    missed.join(" and ")
                ),
                format!("{}\ncommit that\ngo on", patch.extended(&old.name, &missed)),
                place,
            ));
        }
    }
    Ok(Met(patches))
}

/// The patches that an old Flux Kustomization meets, and so will its successors.
pub struct Met(Vec<Patch>);

impl Met {
    /// Stops where a patch sets a field that the successors get otherwise than the old one: all would have the old value.
    ///
    /// What a patch only appends to `dependsOn` fits all of them where each `may_wait` for it, by its position among them.
    ///
    /// # Errors
    ///
    /// When one does; those that one patch does it to have the same problem.
    pub fn leave(
        &self,
        old: &FluxKustomization,
        heirs: &[Value],
        may_wait: &dyn Fn(usize, &Value) -> bool,
    ) -> Result<(), Problem> {
        let names: Vec<&str> = heirs.iter().filter_map(|heir| heir["metadata"]["name"].as_str()).collect();
        let is_apart = |field: &&String| {
            heirs.iter().any(|heir| heir["spec"].get(field) != old.value["spec"].get(field))
        };
        let specs = heirs.iter().map(|heir| &heir["spec"]).chain([&old.value["spec"]]);
        let fields: BTreeSet<&String> =
            specs.filter_map(Value::as_object).flat_map(|spec| spec.keys()).filter(is_apart).collect();
        let own = |field: &&String| !LEFT_ALONE.contains(&field.as_str());
        for field in fields.into_iter().filter(own) {
            let all = || names.iter().copied().chain([old.name.as_str()]);
            let is_set = old.said(field) != old.spec(field);
            let sets = |patch: &&Patch| {
                (is_set || !patch.is_selective())
                    && patch.sets(field)
                    && all().any(|name| patch.may_be_for(old, name))
            };
            let fits = |patch: &&Patch| {
                let added = patch.appends(field).filter(|_| field == DEPENDS_ON);
                added.is_some_and(|added| {
                    heirs.iter().enumerate().all(|(position, heir)| {
                        let has_list = heir["spec"][field].as_array().is_some_and(|list| !list.is_empty());
                        has_list && added.iter().all(|one| may_wait(position, one))
                    })
                })
            };
            if let Some(patch) = self.0.iter().find(|patch| sets(patch) && !fits(patch)) {
                let place = patch.place(false);
                let reason = format!(
                    "the patch in {} sets `spec.{field}`. Each successor needs its own",
                    spelt(&place)
                );
                return Err(to_files(field, reason, place));
            }
        }
        Ok(())
    }
}

/// Stops where a patch, and no file, names what goes in the `dependsOn` of a Flux Kustomization.
pub fn names_gone(input: &Input<'_>, waiter: &FluxKustomization, gone: &str) -> Option<Problem> {
    let found = patches(input, waiter, &input.parents(waiter));
    let is_set = waiter.said("dependsOn") != waiter.spec("dependsOn");
    let mut found = found.iter().filter(|patch| {
        (is_set || !patch.is_selective()) && patch.sets("dependsOn") && patch.may_be_for(waiter, &waiter.name)
    });
    let place = match found.next() {
        Some(patch) => patch.place(false),
        None if is_set => waiter.place("dependsOn"),
        None => return None,
    };
    let reason = format!(
        "the patch in {} lets {} depend on {gone}, which its successors replace",
        spelt(&place),
        waiter.name
    );
    Some(to_files("dependsOn", reason, place))
}

/// A field that can stay no longer where a patch sets it for several at once.
fn to_files(field: &str, reason: String, place: Place) -> Problem {
    let remedy = format!(
        "write that `{field}` into the file of each Flux Kustomization that the patch is for\nremove it from the patch in the same commit: clusters get the same as before\nrun the same command again"
    );
    Problem::lasting(reason, remedy, place)
}

/// Points at the patch that keeps a successor from deleting while it is migrated, if there is one.
pub fn keeping(input: &Input<'_>, one: &FluxKustomization) -> Option<Place> {
    if *one.spec("prune") == Value::Bool(true) {
        return None;
    }
    let found = patches(input, one, &input.parents(one));
    found.iter().find(|patch| patch.keeps(one)).map(|patch| patch.place(false))
}

/// Points at the patch that sets a field of a Flux Kustomization, where only one does.
pub fn setting(input: &Input<'_>, one: &FluxKustomization, field: &str) -> Option<Place> {
    let found = patches(input, one, &input.parents(one));
    let mut found = found.iter().filter(|patch| patch.may_be_for(one, &one.name) && patch.sets(field));
    let first = found.next()?;
    found.next().is_none().then(|| first.place(false))
}

/// Spells a place as its line and its file.
pub fn spelt(place: &Place) -> String {
    place.line().map_or_else(|| place.path.to_string(), |line| format!("line {line} of {}", place.path))
}

fn renamed(input: &Input<'_>, old: &FluxKustomization, above: &[&FluxKustomization]) -> Option<Problem> {
    let of_parents = above.iter().flat_map(|parent| {
        let set = RENAMING.iter().filter(|field| parent.spec(field).as_str().is_some_and(|s| !s.is_empty()));
        set.map(|field| (*field, parent.place(field)))
    });
    let lists = folders(input, old, above);
    let of_lists = lists.iter().filter_map(|folder| input.model.graph.get(folder)).flat_map(|list| {
        let node = |field| list.field(field).filter(|node| node.scalar_text().is_some_and(|s| !s.is_empty()));
        RENAMING.iter().filter_map(move |field| {
            let span = node(field)?.span.clone();
            Some((*field, Place::span(list.file.clone(), list.text.clone(), span)))
        })
    });
    let (field, place) = of_parents.chain(of_lists).next()?;
    Some(Problem::lasting(
        format!(
            "{} has another name in the cluster: `{field}` in {} changes it. No gate and no `dependsOn` follows that",
            old.name,
            spelt(&place)
        ),
        format!("write the names of the cluster into the files and remove `{field}`, in one commit\ngo on"),
        place,
    ))
}

/// Returns the folders whose kustomizations a Flux Kustomization passes.
fn folders(input: &Input<'_>, one: &FluxKustomization, above: &[&FluxKustomization]) -> BTreeSet<RepoPath> {
    let graph = &input.model.graph;
    let lists = graph.builders(&one.file);
    let is_component = |folder: &RepoPath| graph.get(folder).is_some_and(Kustomization::is_component);
    let passes = |folder: &RepoPath| {
        lists.contains(folder)
            || is_component(folder)
                && graph.referrers(folder).any(|other| lists.contains(other) || is_component(other))
    };
    let all: BTreeSet<RepoPath> = if above.is_empty() {
        lists.iter().flat_map(|folder| graph.reach(folder)).collect()
    } else {
        above.iter().filter_map(|parent| parent.path.as_ref()).flat_map(|path| built(graph, path)).collect()
    };
    all.into_iter().filter(passes).collect()
}

/// Returns the patches that a Flux Kustomization meets.
fn patches(input: &Input<'_>, one: &FluxKustomization, above: &[&FluxKustomization]) -> Vec<Patch> {
    let mut found = Vec::new();
    for list in folders(input, one, above).iter().filter_map(|folder| input.model.graph.get(folder)) {
        let file = |name: &str| {
            let path = list.folder.join(name).ok()?;
            input.snapshot.file(&path).and_then(File::text).map(str::to_owned)
        };
        let add = |field, item: &Node, text: Option<String>| {
            found.push(Patch {
                file: list.file.clone(),
                text: list.text.clone(),
                field,
                item: item.clone(),
                says: said(text.as_deref()),
            });
        };
        each(list, &file, add);
    }
    for parent in above {
        for item in parent.written("patches").map(Node::items).unwrap_or_default() {
            found.push(Patch {
                file: parent.file.clone(),
                text: parent.text.clone(),
                field: TARGETED[0],
                item: item.clone(),
                says: said(item.get("patch").and_then(Node::as_str)),
            });
        }
    }
    found
}

fn each(
    list: &Kustomization,
    file: &dyn Fn(&str) -> Option<String>,
    mut add: impl FnMut(&'static str, &Node, Option<String>),
) {
    let items = |field: &str| list.field(field).map(Node::items).unwrap_or_default();
    for field in TARGETED {
        for item in items(field) {
            let inline = item.get("patch").and_then(Node::as_str).map(str::to_owned);
            add(field, item, inline.or_else(|| file(item.get("path")?.as_str()?)));
        }
    }
    for item in items(MERGES) {
        let text = item.as_str().unwrap_or_default();
        add(MERGES, item, if text.contains('\n') { Some(text.to_owned()) } else { file(text) });
    }
}

fn said(text: Option<&str>) -> Vec<Value> {
    let documents = text.and_then(|text| read_documents(text).ok()).unwrap_or_default();
    documents.iter().map(|document| document.root.to_json()).collect()
}
