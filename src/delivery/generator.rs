//! What ArtifactGenerators make of this repository (fluxcd/source-watcher, `internal/controller` and `internal/builder`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use regex::Regex;
use serde_json::Value;

use crate::delivery::copied::{Copied, Copy};
use crate::delivery::fetched::Artifact;
use crate::delivery::source::SourceId;
use crate::delivery::view::View;
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::repo::Snapshot;
use crate::repo::manifest::{Manifest, kept_manifests};
use crate::yaml::Node;

/// The annotation that switches a generator off (`ArtifactGenerator.IsDisabled`).
const SWITCH: &str = "source.extensions.fluxcd.io/reconcile";

/// An ExternalArtifact that a generator makes.
#[derive(Clone, Debug)]
pub(super) struct Made {
    /// The ExternalArtifact; its name holds captures where the generator does not get as far as to fill them in.
    pub id: SourceId,
    /// The source that it is made of, with what it has of this repository; or why that is not known.
    pub artifact: Result<(SourceId, Artifact), Fault>,
}

/// Why the paths of an artifact are none of this repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The end of a sentence about the artifact.
    pub reason: String,
    /// The field of the generator that says it.
    pub field: Vec<Step>,
    /// Whether source-watcher fails there, and makes nothing that comes after it.
    stops: bool,
}

/// A step towards a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Into a map.
    Key(&'static str),
    /// Into a list.
    Item(usize),
}

use Step::{Item, Key};

impl Fault {
    /// Something that only this repository can't say.
    fn new(reason: impl Into<String>, field: &[Step]) -> Fault {
        let field = [&[Key("spec")], field].concat();
        Fault { reason: reason.into(), field, stops: false }
    }

    /// Something at which source-watcher fails.
    fn failure(reason: impl Into<String>, field: &[Step]) -> Fault {
        Fault { stops: true, ..Fault::new(reason, field) }
    }
}

/// Returns where a generator of a file says what a fault is about.
pub(super) fn place(snapshot: &Snapshot, file: &RepoPath, generator: &Value, fault: &Fault) -> Option<Place> {
    let text = snapshot.file(file)?;
    let name = &generator["metadata"]["name"];
    let is_it =
        |one: &&Manifest| one.value["kind"] == generator["kind"] && one.value["metadata"]["name"] == *name;
    let manifest = kept_manifests(text)?.iter().find(is_it)?;
    let mut node: &Node = &manifest.root;
    for step in &fault.field {
        let next = match step {
            Key(key) => node.get(key),
            Item(position) => node.items().get(*position),
        };
        node = next.unwrap_or(node);
    }
    Some(Place::span(file.clone(), Arc::from(text.text()?), node.span.clone()))
}

/// What a source has of this repository; `None` for one that has nothing of it.
pub(super) type Read = Option<(Arc<View>, Artifact)>;

/// Returns the sources that a generator names, in their order.
pub(super) fn sources(generator: &Value) -> Vec<SourceId> {
    let said = |value: &Value| Some(text(value)).filter(|text| !text.is_empty()).map(str::to_owned);
    let home = said(&generator["metadata"]["namespace"]).unwrap_or_default();
    let id = |source: &Value| SourceId {
        kind: said(&source["kind"]).unwrap_or_default(),
        namespace: said(&source["namespace"]).unwrap_or_else(|| home.clone()),
        name: said(&source["name"]).unwrap_or_default(),
    };
    list(&generator["spec"]["sources"]).iter().map(id).collect()
}

/// Returns the folders, and files, that a generator copies of the source at a position, without patterns.
pub(super) fn copied_of(generator: &Value, position: usize) -> impl Iterator<Item = RepoPath> {
    let spec = &generator["spec"];
    let alias = text(&spec["sources"][position]["alias"]);
    let from = list(&spec["artifacts"]).iter().flat_map(|one| list(&one["copy"])).map(|copy| &copy["from"]);
    let own = from.filter_map(|from| aliased(text(from))).filter(move |(other, _)| *other == alias);
    own.filter_map(|(_, pattern)| Some(Copy::new(pattern, Vec::new())?.stem()))
}

/// Returns what a generator makes; `read` says of each of its sources what that has of this repository.
pub(super) fn generated(generator: &Value, read: Vec<Read>) -> Vec<Made> {
    let namespace = text(&generator["metadata"]["namespace"]);
    let made = |name: &str, artifact| Made {
        id: SourceId {
            kind: "ExternalArtifact".to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        },
        artifact,
    };
    let templates = list(&generator["spec"]["artifacts"]);
    let (aliases, wanted) = match Aliases::of(generator, read).and_then(|aliases| {
        let wanted = wanted(&generator["spec"], &aliases)?;
        Ok((aliases, wanted))
    }) {
        Ok(found) => found,
        Err(fault) => {
            return templates.iter().map(|one| made(text(&one["name"]), Err(fault.clone()))).collect();
        }
    };
    let mut stopped: Option<Fault> = None;
    let make = |one: &Wanted| {
        let artifact = match &stopped {
            Some(fault) => Err(fault.clone()),
            None => aliases.artifact(&templates[one.template], one),
        };
        stopped = stopped.take().or(artifact.as_ref().err().filter(|fault| fault.stops).cloned());
        made(&one.name, artifact)
    };
    wanted.iter().map(make).collect()
}

/// An artifact that a generator is to make.
struct Wanted {
    name: String,
    /// The position of its template.
    template: usize,
    /// What stands for the captures of `pathPattern`.
    captures: BTreeMap<String, String>,
}

/// Returns the artifacts that a generator is to make: one of each template for each folder that `pathPattern` matches
/// (`buildArtifactRequests`).
fn wanted(spec: &Value, aliases: &Aliases<'_>) -> Result<Vec<Wanted>, Fault> {
    let field = &[Key("pathPattern")];
    let failure = |reason: &str| Fault::failure(reason, field);
    let templates = list(&spec["artifacts"]);
    let Some(pattern) = Some(text(&spec["pathPattern"])).filter(|pattern| !pattern.is_empty()) else {
        let all = templates.iter().enumerate();
        let one = |(template, artifact): (usize, &Value)| Wanted {
            name: text(&artifact["name"]).to_owned(),
            template,
            captures: BTreeMap::new(),
        };
        return distinct(all.map(one).collect(), &[Key("artifacts")]);
    };
    let (alias, pattern) = aliased(pattern).ok_or_else(|| failure("its `pathPattern` names no source"))?;
    let (_, artifact, view) = aliases.read(alias, field)?;
    let matcher = matcher(pattern).ok_or_else(|| failure("its `pathPattern` is none"))?;
    let files = view.snapshot.below(&artifact.top).flat_map(|(file, _)| file.parents());
    let folders: BTreeSet<RepoPath> = files.filter(|folder| folder.is_within(&artifact.top)).collect();
    let mut found = Vec::new();
    for folder in folders {
        let path = folder.relative_to(&artifact.top);
        let Some(matched) = matcher.captures(&path) else { continue };
        let names = matcher.capture_names().flatten();
        let captures: BTreeMap<String, String> = names
            .filter_map(|name| Some((name.to_owned(), matched.name(name)?.as_str().to_owned())))
            .collect();
        let lower: BTreeMap<String, String> =
            captures.iter().map(|(name, value)| (name.clone(), value.to_lowercase())).collect();
        if !lower.values().all(|value| is_label(value)) {
            return Err(failure(&format!("its `pathPattern` matches {folder}, whose name is no label")));
        }
        for (template, one) in templates.iter().enumerate() {
            let field = &[Key("artifacts"), Item(template), Key("name")];
            let name = filled(text(&one["name"]), &lower);
            let name =
                name.ok_or_else(|| Fault::failure("it names a capture that `pathPattern` lacks", field))?;
            found.push(Wanted { name, template, captures: captures.clone() });
        }
    }
    distinct(found, field)
}

fn distinct(all: Vec<Wanted>, field: &[Step]) -> Result<Vec<Wanted>, Fault> {
    let mut names = BTreeSet::new();
    match all.iter().find(|one| !names.insert(&one.name)) {
        Some(one) => Err(Fault::failure(format!("its generator makes {} twice", one.name), field)),
        None => Ok(all),
    }
}

/// Returns the regular expression of a `pathPattern`; `None` for a capture without a name, or two of one name.
fn matcher(pattern: &str) -> Option<Regex> {
    let (mut expression, mut rest) = ("^".to_owned(), pattern);
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        expression.push_str(&regex::escape(before));
        expression.push_str(&format!("(?P<{name}>[^/]+)"));
        rest = after;
    }
    expression.push_str(&regex::escape(rest));
    Regex::new(&(expression + "$")).ok().filter(|_| !rest.contains('}'))
}

/// Fills captures in (`renderTemplateString`); `None` where one is not known.
fn filled(template: &str, captures: &BTreeMap<String, String>) -> Option<String> {
    let (mut filled, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        filled.push_str(before);
        filled.push_str(captures.get(name)?);
        rest = after;
    }
    (!rest.contains('}')).then(|| filled + rest)
}

/// Returns whether a text can be the value of a label (apimachinery, `content.IsLabelValue`).
fn is_label(value: &str) -> bool {
    let is_edge = |edge: Option<char>| edge.is_some_and(|edge| edge.is_ascii_alphanumeric());
    let is_inner = |one: char| one.is_ascii_alphanumeric() || matches!(one, '-' | '_' | '.');
    value.is_empty()
        || value.len() <= 63
            && is_edge(value.chars().next())
            && is_edge(value.chars().next_back())
            && value.chars().all(is_inner)
}

/// Parts `@alias/path`.
fn aliased(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('@')?.split_once('/')
}

/// The sources of a generator by their aliases.
struct Aliases<'g>(BTreeMap<&'g str, (SourceId, Read)>);

impl<'g> Aliases<'g> {
    fn of(generator: &'g Value, read: Vec<Read>) -> Result<Aliases<'g>, Fault> {
        let switch = text(&generator["metadata"]["annotations"][SWITCH]);
        if switch.eq_ignore_ascii_case("disabled") {
            return Err(Fault {
                field: vec![Key("metadata")],
                ..Fault::failure("its generator is switched off", &[])
            });
        }
        let mut found = Aliases(BTreeMap::new());
        let names = list(&generator["spec"]["sources"]).iter().map(|source| text(&source["alias"]));
        for (position, (alias, source)) in names.zip(sources(generator).into_iter().zip(read)).enumerate() {
            if found.0.insert(alias, source).is_some() {
                let field = &[Key("sources"), Item(position), Key("alias")];
                return Err(Fault::failure(
                    format!("its generator has two sources with alias {alias}"),
                    field,
                ));
            }
        }
        Ok(found)
    }

    fn read(&self, alias: &str, field: &[Step]) -> Result<(&SourceId, &Artifact, &View), Fault> {
        let Some((id, read)) = self.0.get(alias) else {
            return Err(Fault::failure(format!("its generator has no source with alias {alias}"), field));
        };
        let other =
            || Fault::new(format!("it copies from {} {}, another repository", id.kind, id.name), field);
        let (view, artifact) = read.as_ref().ok_or_else(other)?;
        if artifact.copied.is_some() {
            return Err(Fault::new(format!("it copies from {}, which a generator makes", id.name), field));
        }
        Ok((id, artifact, view))
    }

    /// Returns what an artifact has of this repository (`applyCopyOperations`), where all of it keeps its place below one
    /// folder.
    fn artifact(&self, template: &Value, one: &Wanted) -> Result<(SourceId, Artifact), Fault> {
        let mut found: Option<(SourceId, Artifact)> = None;
        for (position, copy) in list(&template["copy"]).iter().enumerate() {
            let field = |name| [Key("artifacts"), Item(one.template), Key("copy"), Item(position), Key(name)];
            let failure = |reason: String, name| Fault::failure(reason, &field(name));
            let said = |name| {
                let filled = if one.captures.is_empty() {
                    Some(text(&copy[name]).to_owned())
                } else {
                    filled(text(&copy[name]), &one.captures)
                };
                filled.ok_or_else(|| failure("it names a capture that `pathPattern` lacks".to_owned(), name))
            };
            let (from, to) = (said("from")?, said("to")?);
            let no_from = || failure(format!("`{from}` is no `from` of a copy"), "from");
            let no_to = || failure(format!("`{to}` is no `to` of a copy"), "to");
            let (alias, pattern) = aliased(&from).ok_or_else(no_from)?;
            let target = to.strip_prefix("@artifact/").ok_or_else(no_to)?;
            let (id, source, view) = self.read(alias, &field("from"))?;
            let exclude = list(&copy["exclude"]).iter().map(|pattern| text(pattern).to_owned()).collect();
            let copy_of = Copy::new(pattern, exclude).ok_or_else(no_from)?;
            let no_pattern = || failure("a pattern of `exclude` is none".to_owned(), "exclude");
            let ready = copy_of.ready().ok_or_else(no_pattern)?;
            let stem = source.top.join(copy_of.stem().as_str()).map_err(|_| no_from())?;
            let is_file = view.snapshot.file(&stem).is_some();
            let files = || {
                let one = view.snapshot.entry(&stem).map(|_| &stem);
                one.into_iter().chain(view.snapshot.below(&stem).map(|(file, _)| file))
            };
            if !files().any(|file| ready.matches(&source.top, file)) {
                return Err(failure(format!("nothing matches `{from}`, so it is not made"), "from"));
            }
            let mut taken = files().filter(|file| ready.takes(&source.top, file)).peekable();
            if taken.peek().is_none() {
                continue;
            }
            let earlier =
                found.as_ref().and_then(|(_, artifact)| Some((artifact, artifact.copied.as_ref()?.ready())));
            let is_there = |file: &RepoPath| earlier.as_ref().is_some_and(|(_, earlier)| earlier.takes(file));
            match text(&copy["strategy"]) {
                "Extract" if !copy_of.is_glob() || taken.any(is_archive) => {
                    return Err(Fault::new("it has what an archive holds", &field("strategy")));
                }
                // Of everything else an `Extract` takes nothing.
                "Extract" => continue,
                "Merge" if taken.any(&is_there) => {
                    return Err(Fault::new("it merges files", &field("strategy")));
                }
                _ => {}
            }
            // A file goes into what is a folder already.
            let into = target.is_empty() || target.ends_with('/') || {
                let place = |(artifact, _): &(&Artifact, _)| artifact.top.join(target).ok();
                let place = earlier.as_ref().and_then(place);
                place.is_some_and(|place| view.snapshot.below(&place).any(|(file, _)| is_there(file)))
            };
            let (folder, names) = copy_of
                .moves(target, is_file, into)
                .ok_or_else(|| Fault::new(format!("it renames {stem}"), &field("to")))?;
            let top = without(&folder, &names).and_then(|above| source.top.join(above.as_str()).ok());
            let moved = || match copy_of.is_glob() || is_file || without(&stem, &names).is_none() {
                true => Fault::new(format!("it moves {stem} to another folder"), &field("to")),
                // `applySingleDirectoryCopy`, as `cp -r`.
                false => {
                    let name = stem.name().unwrap_or_default();
                    Fault::new(format!("without `/**` it copies {stem} to {names}/{name}"), &field("from"))
                }
            };
            let top = top.ok_or_else(moved)?;
            let (of, artifact) = found.get_or_insert_with(|| {
                let copied = Copied { source: source.top.clone(), copies: Vec::new() };
                (id.clone(), Artifact { top: top.clone(), copied: Some(copied), ..source.clone() })
            });
            if of != id {
                return Err(Fault::new("it copies from two sources", &field("from")));
            }
            if artifact.top != top {
                return Err(Fault::new(format!("it moves {stem} beside what else it has"), &field("to")));
            }
            artifact.copied.as_mut().into_iter().for_each(|copied| copied.copies.push(copy_of.clone()));
        }
        found.ok_or_else(|| {
            Fault::new("it has nothing of this repository", &[Key("artifacts"), Item(one.template)])
        })
    }
}

/// Returns a folder without the names that it ends in; `None` where it ends in others.
fn without(folder: &RepoPath, names: &RepoPath) -> Option<RepoPath> {
    let above = folder.ancestors().nth(names.segments().count())?;
    (above.join(names.as_str()).ok()? == *folder).then_some(above)
}

/// Returns whether `Extract` takes a file (`isTarball`).
fn is_archive(file: &RepoPath) -> bool {
    let name = file.name().unwrap_or_default().to_lowercase();
    name.ends_with(".tar.gz") || name.ends_with(".tgz")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
#[path = "generator_tests.rs"]
mod tests;
