//! Where in the files an applied object is written.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::delivery::Applied;
use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::repo::Snapshot;
use crate::yaml::{Node, read_documents};

/// A file with the roots of its documents.
#[derive(Debug)]
pub struct Source {
    /// The text.
    pub text: Arc<str>,
    /// The objects; those of a list one by one.
    pub objects: Vec<Node>,
}

/// The files of a snapshot, each parsed at most once.
pub struct Sources<'a> {
    snapshot: &'a Snapshot,
    known: RefCell<BTreeMap<RepoPath, Option<Rc<Source>>>>,
}

impl<'a> Sources<'a> {
    /// Looks into a snapshot.
    pub fn new(snapshot: &'a Snapshot) -> Sources<'a> {
        Sources { snapshot, known: RefCell::default() }
    }

    /// Returns a file's objects; `None` where there is no YAML text at the path.
    pub fn get(&self, path: &RepoPath) -> Option<Rc<Source>> {
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        let source = self.read(path).map(Rc::new);
        self.known.borrow_mut().insert(path.clone(), source.clone());
        source
    }

    fn read(&self, path: &RepoPath) -> Option<Source> {
        let text = self.snapshot.file(path)?.shared_text()?;
        let documents = read_documents(&text).ok()?;
        let mut objects = Vec::new();
        for document in documents {
            open(document.root, &mut objects);
        }
        Some(Source { text, objects })
    }

    /// Points at a field of an object in the file that declares it; where the object has no such
    /// field, at its name, and where the file can't be looked into, at the file.
    ///
    /// The file declares the object under its first name, which prefixes and hashes may have changed.
    pub fn place(&self, applied: &Applied, field: &[&str]) -> Place {
        let Some(origin) = &applied.object.origin else { return Place::file(RepoPath::top()) };
        let whole = Place::file(origin.path.clone());
        let Some(source) = self.get(&origin.path) else { return whole };
        let at = |node: &Node| Place::span(origin.path.clone(), source.text.clone(), node.span.clone());
        if origin.generator.is_some() {
            return self.generator(applied, &source).map_or(whole, |node| at(&node));
        }
        match declared(&source.objects, applied) {
            Some(object) => at(object
                .get_path(field)
                .or_else(|| object.get_path(&["metadata", "name"]))
                .unwrap_or(object)),
            None => whole,
        }
    }

    /// Points at a part of an object in the file that declares it; `None` where that has no such part.
    pub fn place_of(&self, applied: &Applied, find: impl Fn(&Node) -> Option<Node>) -> Option<Place> {
        self.place_within(applied, |_, object| Some(find(object)?.span))
    }

    /// Points at a text within an object in the file that declares it; `None` where it is not there.
    pub fn place_of_text(&self, applied: &Applied, wanted: &str) -> Option<Place> {
        self.place_within(applied, |text, object| {
            let start = object.span.start + text.get(object.span.clone())?.find(wanted)?;
            Some(start..start + wanted.len())
        })
    }

    /// Points at the bytes that `find` gives of a file's text and the object in it; `None` where a
    /// generator makes the object.
    fn place_within(
        &self,
        applied: &Applied,
        find: impl FnOnce(&str, &Node) -> Option<Range<usize>>,
    ) -> Option<Place> {
        let origin = applied.object.origin.as_ref().filter(|origin| origin.generator.is_none())?;
        let source = self.get(&origin.path)?;
        let span = find(&source.text, declared(&source.objects, applied)?)?;
        Some(Place::span(origin.path.clone(), source.text.clone(), span))
    }

    /// Returns the name of the generator's entry that makes an object.
    fn generator(&self, applied: &Applied, source: &Source) -> Option<Node> {
        let root = source.objects.first()?;
        let fields = ["configMapGenerator", "secretGenerator"];
        let entries = fields.iter().filter_map(|field| root.get_ignore_case(field)).flat_map(Node::items);
        let names = entries.filter_map(|entry| entry.get("name"));
        let fits = |node: &&Node| node.as_str().is_some_and(|name| applied.id.name.contains(name));
        names.filter(fits).max_by_key(|node| node.as_str().map_or(0, str::len)).cloned()
    }

    /// Returns the name under which the file or the generator declares an object.
    pub fn first_name(&self, applied: &Applied) -> Option<String> {
        let origin = applied.object.origin.as_ref()?;
        let source = self.get(&origin.path)?;
        let name = if origin.generator.is_some() {
            self.generator(applied, &source)?.as_str()?.to_owned()
        } else {
            declared(&source.objects, applied)?.get_path(&["metadata", "name"])?.as_str()?.to_owned()
        };
        Some(name)
    }
}

fn open(node: Node, objects: &mut Vec<Node>) {
    let is_list = node.get("kind").and_then(Node::as_str).is_some_and(|kind| kind.ends_with("List"));
    match node.get("items") {
        Some(items) if is_list && items.as_sequence().is_some() => {
            for item in items.items() {
                open(item.clone(), objects);
            }
        }
        _ if node.is_null() => {}
        _ => objects.push(node),
    }
}

/// Finds the object that an applied one was declared as: by its name, else by the longest name that
/// its name holds.
fn declared<'n>(objects: &'n [Node], applied: &Applied) -> Option<&'n Node> {
    let text = |node: &'n Node, path: &[&str]| node.get_path(path).and_then(Node::scalar_text);
    let of_kind = || objects.iter().filter(|node| text(node, &["kind"]) == Some(applied.id.kind.as_str()));
    let name = |node: &&'n Node| text(node, &["metadata", "name"]).unwrap_or_default();
    of_kind()
        .find(|node| name(node) == applied.id.name)
        .or_else(|| {
            let held = of_kind().filter(|node| applied.id.name.contains(name(node)));
            held.max_by_key(|node| name(node).len())
        })
        .or_else(|| of_kind().next())
}
