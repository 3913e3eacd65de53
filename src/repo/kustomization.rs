//! The view of one kustomization file: what it lists, and where.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Place};
use crate::path::RepoPath;
use crate::repo::field::{is_constant, is_known};
use crate::repo::outline::outline;
use crate::repo::{File, umbrella};
use crate::yaml::Node;

/// The names under which kustomize looks for its file, in its own order
/// (`konfig.RecognizedKustomizationFileNames`).
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The file in which `flux bootstrap` writes the controllers (flux2, `pkg/manifestgen/install`).
pub const COMPONENTS: &str = "gotk-components.yaml";

/// A kustomization file, parsed.
#[derive(Clone, Debug)]
pub struct Kustomization {
    /// The file.
    pub file: RepoPath,
    /// The folder that holds it, which is what others refer to.
    pub folder: RepoPath,
    /// The file's text.
    pub text: Arc<str>,
    /// The document's root mapping; a null node where the file is empty.
    pub root: Arc<Node>,
    /// Every text that names a file or a folder, those of [`resources`](Kustomization::resources) first.
    references: Vec<Reference>,
    /// How many of these are resources.
    resources: usize,
}

/// A text in a kustomization file that names a file or a folder.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The top-level field that holds it, in kustomize's own spelling.
    pub field: &'static str,
    /// The text as written.
    pub text: String,
    /// Its bytes in the file.
    pub span: Range<usize>,
    /// What it names.
    pub target: Target,
}

impl Reference {
    /// Returns whether a generator reads what it names.
    pub fn is_generated(&self) -> bool {
        GENERATORS.contains(&self.field)
    }

    /// Returns whether it names the controllers that `flux bootstrap` writes.
    pub fn is_components(&self) -> bool {
        self.text.rsplit('/').next() == Some(COMPONENTS)
    }

    /// Returns the path in this repository that it names.
    pub fn path(&self) -> Option<&RepoPath> {
        match &self.target {
            Target::Path(path) => Some(path),
            Target::Remote | Target::Outside => None,
        }
    }
}

/// What a [`Reference`] names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A path in this repository, whether or not anything stands there.
    Path(RepoPath),
    /// Another repository or a URL.
    Remote,
    /// A path that leaves this repository.
    Outside,
}

/// Fields whose items are paths of resources or of folders.
const RESOURCE_FIELDS: [&str; 2] = ["resources", "bases"];

/// Fields whose items are paths, or inline YAML.
const PATH_LISTS: [&str; 7] = [
    "components",
    "crds",
    "configurations",
    "generators",
    "transformers",
    "validators",
    "patchesStrategicMerge",
];

/// Fields whose items are mappings with a `path`.
const PATH_KEYS: [&str; 4] = ["patches", "patchesJson6902", "replacements", "openapi"];

/// Fields whose items are generators with `files`, `env` and `envs`.
const GENERATORS: [&str; 2] = ["configMapGenerator", "secretGenerator"];

impl Kustomization {
    /// Parses a kustomization file.
    ///
    /// # Errors
    ///
    /// When the file is no UTF-8, no YAML, has several documents or a root that is no mapping, or
    /// names a key twice: kustomize takes the last silently, and a split would then move what
    /// nobody sees.
    pub fn parse(file: &RepoPath, content: &File) -> Result<Kustomization, Box<Diagnostic>> {
        let Some(text) = content.shared_text() else {
            return Err(Box::new(
                Diagnostic::error(format!("{file} is not UTF-8, so kustomize can't read it"))
                    .at(Place::file(file.clone()))
                    .help("save the file as UTF-8"),
            ));
        };
        let root = match content.outline_by(|| outline(&text)) {
            Ok(root) => Arc::clone(root),
            Err(flaw) => {
                let (message, span, help) = flaw.told(file);
                let place = Place::span(file.clone(), text.clone(), span);
                return Err(Box::new(Diagnostic::error(message).at(place).help(help)));
            }
        };
        let mut kustomization = Kustomization {
            file: file.clone(),
            folder: file.parent().unwrap_or_default(),
            text,
            root,
            references: Vec::new(),
            resources: 0,
        };
        let mut found: Vec<Reference> =
            RESOURCE_FIELDS.iter().flat_map(|field| kustomization.list(field)).collect();
        kustomization.resources = found.len();
        kustomization.add_others(&mut found);
        kustomization.references = found;
        Ok(kustomization)
    }

    /// Returns the value of a top-level field; kustomize ignores the case of keys.
    pub fn field(&self, name: &str) -> Option<&Node> {
        self.root
            .entries()
            .iter()
            .find(|(key, _)| key.as_str().is_some_and(|key| key.eq_ignore_ascii_case(name)))
            .map(|(_, value)| value)
    }

    /// Returns a top-level key as it stands in the file.
    pub fn key(&self, name: &str) -> Option<&Node> {
        self.root.entries().iter().map(|(key, _)| key).find(|key| key.as_str() == Some(name))
    }

    /// Returns the top-level keys as written.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.root.entries().iter().filter_map(|(key, _)| key.as_str())
    }

    /// Returns the top-level keys that kustomize does not know: it refuses the list as a base, and kustomize-controller
    /// leaves them out of the list of the folder that it builds (fluxcd/pkg/kustomize, `Generator.GenerateManifest`).
    pub fn unknown_keys(&self) -> impl Iterator<Item = &str> {
        self.keys().filter(|key| !is_known(key))
    }

    /// Returns the first key that concerns all that it lists together, so that copies of it may say something else.
    pub fn uniting_key(&self) -> Option<&str> {
        self.keys().find(|key| !is_constant(key) && is_known(key))
    }

    /// Returns whether kustomize fetches something for it, be it another repository, a URL or a chart.
    pub fn is_remote(&self) -> bool {
        let charts = ["helmCharts", "helmChartInflationGenerator"];
        charts.iter().any(|key| self.field(key).is_some())
            || self.references().iter().any(|reference| reference.target == Target::Remote)
    }

    /// Returns whether it names nothing of which objects could come.
    pub fn is_empty(&self) -> bool {
        let makes = |key: &str| key.ends_with("Generator") || key.starts_with("helm") || key == "generators";
        self.references().is_empty() && !self.keys().any(makes)
    }

    /// Returns whether a split moved the content of this folder into parts.
    pub fn is_umbrella(&self) -> bool {
        self.text.starts_with(umbrella::HEAD)
    }

    /// Returns whether this is a Component, which only other kustomizations can use.
    pub fn is_component(&self) -> bool {
        self.field("kind").and_then(Node::as_str) == Some("Component")
    }

    /// Returns the `resources` and, from older files, the `bases`, in order.
    pub fn resources(&self) -> &[Reference] {
        &self.references[..self.resources]
    }

    /// Returns every text that names a file or a folder, whatever the field.
    pub fn references(&self) -> &[Reference] {
        &self.references
    }

    /// Adds those that name no resources.
    fn add_others(&self, found: &mut Vec<Reference>) {
        for field in PATH_LISTS {
            found.extend(self.list(field));
        }
        for field in PATH_KEYS {
            for item in self.items(field) {
                found.extend(item.get("path").and_then(|path| self.reference(field, path)));
            }
        }
        for field in GENERATORS {
            for item in self.items(field) {
                found.extend(self.generator_sources(field, item));
            }
        }
    }

    /// Returns the files that one item of a generator field reads.
    fn generator_sources(&self, field: &'static str, item: &Node) -> Vec<Reference> {
        let lists = ["files", "envs"].into_iter().filter_map(|key| Some(item.get(key)?.items()));
        let single = item.get("env").into_iter();
        lists
            .flatten()
            .chain(single)
            .filter_map(|node| {
                let text = node.as_str()?;
                let path = text.split_once('=').map_or(text, |(_, path)| path);
                let target = target(&self.folder, path);
                Some(Reference { field, text: text.to_owned(), span: node.span.clone(), target })
            })
            .collect()
    }

    /// Returns what generators make of a file, by kind and name; `None` where one adds to what another list makes.
    pub fn made_of(&self, path: &RepoPath) -> Option<BTreeSet<(&'static str, &str)>> {
        let mut made = BTreeSet::new();
        for (field, kind) in GENERATORS.into_iter().zip(["ConfigMap", "Secret"]) {
            for item in self.items(field) {
                let target = Target::Path(path.clone());
                if !self.generator_sources(field, item).iter().any(|one| one.target == target) {
                    continue;
                }
                if item.get("behavior").is_some_and(|behavior| behavior.as_str() != Some("create")) {
                    return None;
                }
                made.insert((kind, item.get("name")?.as_str()?));
            }
        }
        Some(made)
    }

    /// Returns the items of a list field; a single mapping counts as a list of one.
    fn items(&self, field: &str) -> Vec<&Node> {
        match self.field(field) {
            Some(node) => node.as_sequence().map_or_else(|| vec![node], |items| items.iter().collect()),
            None => Vec::new(),
        }
    }

    fn list(&self, field: &'static str) -> Vec<Reference> {
        self.items(field).into_iter().filter_map(|node| self.reference(field, node)).collect()
    }

    fn reference(&self, field: &'static str, node: &Node) -> Option<Reference> {
        let text = node.as_str()?;
        if text.contains('\n') {
            return None;
        }
        let target = target(&self.folder, text);
        Some(Reference { field, text: text.to_owned(), span: node.span.clone(), target })
    }
}

/// Returns what a text in the kustomization file of a folder names.
pub(super) fn target(folder: &RepoPath, text: &str) -> Target {
    if is_remote(text) {
        return Target::Remote;
    }
    folder.join(text).map_or(Target::Outside, Target::Path)
}

/// Returns whether kustomize would fetch this over the network
/// (`kustomize/api/internal/git.NewRepoSpecFromURL` and `loader.IsRemoteFile`).
///
/// A relative path that merely begins like a host is told apart by the snapshot, not here.
fn is_remote(text: &str) -> bool {
    text.contains("://")
        || text.starts_with("git@")
        || text.starts_with("git::")
        || text.contains("?ref=")
        || ["github.com/", "gitlab.com/", "bitbucket.org/"].iter().any(|host| text.starts_with(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Kustomization {
        Kustomization::parse(&RepoPath::parse("a/b/kustomization.yaml").unwrap(), &File::new(text.as_bytes()))
            .unwrap()
    }

    #[test]
    fn resources_are_resolved_against_the_folder() {
        let view = parse(
            "resources:\n- ./x.yaml\n- ../../apps/nginx/\n- https://example.org/a.yaml\n- ../../../z\n",
        );
        let targets: Vec<Target> =
            view.resources().iter().map(|reference| reference.target.clone()).collect();
        assert_eq!(
            targets,
            [
                Target::Path(RepoPath::parse("a/b/x.yaml").unwrap()),
                Target::Path(RepoPath::parse("apps/nginx").unwrap()),
                Target::Remote,
                Target::Outside,
            ]
        );
    }

    #[test]
    fn references_include_patches_and_generator_files() {
        let view = parse(
            "patches:\n- path: p.yaml\n- patch: |\n    a: b\nconfigMapGenerator:\n- name: x\n  files: [k=f.txt, g.txt]\n  envs: [e.env]\n",
        );
        let texts: Vec<String> = view.references().iter().map(|reference| reference.text.clone()).collect();
        assert_eq!(texts, ["p.yaml", "k=f.txt", "g.txt", "e.env"]);
    }

    #[test]
    fn a_doubled_key_is_refused() {
        let file = RepoPath::parse("kustomization.yaml").unwrap();
        let error =
            Kustomization::parse(&file, &File::new(&b"resources: [a]\nResources: [b]\n"[..])).unwrap_err();
        assert!(error.message.contains("stands twice"), "{error:?}");
    }
}
