//! What a source fetches: the regular files that no ignore pattern leaves out, and of these what a generator copies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::delivery::copied::{Copied, Ready};
use crate::delivery::left_out::{LeftOut, is_by_default, is_never_pushed, is_of_git};
use crate::delivery::pattern::Pattern;
use crate::delivery::secure_join::secure_join;
use crate::path::RepoPath;
use crate::repo::flux::is_yaml;
use crate::repo::kustomization::FILE_NAMES;
use crate::repo::{Entry, Graph, Kustomization, Reference, Snapshot};

/// The file in which a folder names what is left out (fluxcd/pkg/sourceignore, `IgnoreFile`).
pub(super) const IGNORE: &str = ".sourceignore";

/// Returns whether a file names what a source leaves out.
pub fn is_ignore_file(file: &RepoPath) -> bool {
    file.name() == Some(IGNORE)
}

/// The patterns of a source, in the order in which it reads them; the last that matches decides.
///
/// They are those of gitignore as go-git reads them, which differ from git's own: the order alone decides, not the
/// depth, so a file below an excluded folder can be taken back in (go-git, `gitignore.Matcher`).
#[derive(Clone, Debug, Default)]
pub struct Ignore {
    /// Those of the source, which many artifacts may be made of.
    patterns: Arc<Vec<Pattern>>,
    /// What paths of a checkout begin with; all is checked out where there is none.
    sparse: Arc<[String]>,
    is_pushed: bool,
    has_submodules: bool,
    copied: Option<Ready>,
}

/// What a source makes of this repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Artifact {
    /// Where it begins.
    pub top: RepoPath,
    /// The `spec.ignore` of the source.
    pub ignore: Option<String>,
    /// The `spec.sparseCheckout` of the source.
    pub sparse: Vec<String>,
    /// Whether `flux push artifact` has packed it.
    pub is_pushed: bool,
    /// The `spec.recurseSubmodules` of the source: what lies in submodules is not here, and is there.
    pub has_submodules: bool,
    /// What an ArtifactGenerator copies of the source; `None` where it is all of that.
    pub copied: Option<Copied>,
}

impl Artifact {
    /// Returns the artifact of the source, all of which is fetched.
    pub(super) fn source(&self) -> Artifact {
        let top = self.copied.as_ref().map_or(&self.top, |copied| &copied.source);
        Artifact { top: top.clone(), copied: None, ..self.clone() }
    }

    /// Returns the first path of `spec.sparseCheckout` that a checkout of some files does not have: the source then fetches
    /// nothing (source-controller, `validateSparseCheckoutPaths`).
    ///
    /// What has a variable or leads over a link counts as there: nobody knows, or it may be.
    pub fn missing(&self, snapshot: &Snapshot) -> Option<&str> {
        let sparse: Vec<String> = self.sparse.iter().map(|path| checked_out(path).to_owned()).collect();
        let is_there = |path: &str| {
            let Some(path) = secure_join(&RepoPath::top(), path) else { return false };
            let at = |path: &RepoPath| snapshot.entry(path).filter(|_| is_checked_out(&sparse, path));
            path.is_top()
                || at(&path).is_some()
                || path.ancestors().any(|above| snapshot.entry(&above).is_some_and(is_link))
                || snapshot.below(&path).any(|(file, _)| is_checked_out(&sparse, file))
        };
        self.sparse.iter().map(String::as_str).find(|path| !path.contains("${") && !is_there(path))
    }
}

impl Ignore {
    /// Reads the `.sourceignore` files below the top of a source, then its `spec.ignore` (source-controller,
    /// `GitRepositoryReconciler.reconcileArtifact`).
    pub fn read(snapshot: &Snapshot, source: &Artifact) -> Ignore {
        let mut patterns = Vec::new();
        let sparse: Arc<[String]> = source.sparse.iter().map(|path| checked_out(path).to_owned()).collect();
        let is_there = |path: &RepoPath| is_ignore_file(path) && is_checked_out(&sparse, path);
        let files = snapshot.below(&source.top).filter(|(path, _)| is_there(path));
        let mut files: Vec<(&RepoPath, &Entry)> = files.collect();
        // A folder's own file comes before those of folders in it (`LoadIgnorePatterns`).
        files.sort_by_key(|(path, _)| path.segments().count());
        for (path, entry) in files {
            // It is opened in the checkout, and that follows a link (`ReadIgnoreFile`). What is pushed has no links.
            let linked = || snapshot.resolve(path).ok().and_then(|path| snapshot.file(&path));
            let file = match entry {
                Entry::File(file) => Some(file),
                Entry::Symlink { .. } if !source.is_pushed => linked(),
                _ => None,
            };
            let text = file.and_then(|file| file.text()).unwrap_or_default();
            patterns.extend(Pattern::of_file(&path.parent().unwrap_or_default(), text));
        }
        patterns.extend(Pattern::of_source(&source.top, source.ignore.as_deref().unwrap_or_default()));
        let Artifact { is_pushed, has_submodules, .. } = *source;
        Ignore { patterns: Arc::new(patterns), sparse, is_pushed, has_submodules, copied: None }
    }

    /// Returns it for what a generator copies of the source.
    pub(super) fn of_copied(&self, copied: &Copied) -> Ignore {
        Ignore { copied: Some(copied.ready()), ..self.clone() }
    }

    /// Returns why the source, or what is copied of it, leaves a file out.
    pub fn reason(&self, file: &RepoPath) -> Option<LeftOut> {
        // No line brings back what is not in the artifact.
        if self.is_pushed && (is_of_git(file) || is_never_pushed(file)) {
            return Some(LeftOut::Pushed);
        }
        if !is_checked_out(&self.sparse, file) {
            return Some(LeftOut::Sparse(file.parent().unwrap_or_default()));
        }
        let own = match self.patterns.iter().rev().find(|pattern| pattern.matches(file)) {
            Some(pattern) => (!pattern.includes).then(|| pattern.left_out(file)),
            // Any line replaces the defaults, but for what is of git (fluxcd/pkg, `SourceIgnoreFilter`).
            None => {
                let is_default = is_of_git(file) || self.patterns.is_empty() && is_by_default(file);
                is_default.then_some(LeftOut::Default)
            }
        };
        let is_copied = || self.copied.as_ref().is_none_or(|copied| copied.takes(file));
        own.or_else(|| (!is_copied()).then_some(LeftOut::NotCopied))
    }

    /// Returns whether the source, or what is copied of it, leaves a file out.
    pub fn leaves_out(&self, file: &RepoPath) -> bool {
        self.reason(file).is_some()
    }

    /// Returns whether no build of the files in which these folders are built can see what it leaves out. Where a line of
    /// its own counts, that is not looked into.
    pub(super) fn is_unseen<'f>(
        &self,
        snapshot: &Snapshot,
        graph: &Graph,
        built: impl Iterator<Item = &'f RepoPath>,
    ) -> bool {
        if !self.patterns.is_empty() || !self.sparse.is_empty() || self.copied.is_some() {
            return false;
        }
        let built: BTreeSet<&RepoPath> = built.collect();
        if snapshot.hollow().any(|submodule| built.iter().any(|folder| folder.is_within(submodule))) {
            return false;
        }
        let is_list = |path: &RepoPath| path.name().is_some_and(|name| FILE_NAMES.contains(&name));
        // Flux lists by itself what lies in a folder without a list.
        let may_be_listed = |path: &RepoPath| {
            let mut above = path.parents().take_while(|folder| !graph.has(folder));
            is_yaml(path) && above.any(|folder| built.contains(&folder))
        };
        let is_seen =
            |path: &RepoPath| is_list(path) || graph.referrers(path).next().is_some() || may_be_listed(path);
        if snapshot.entries().any(|(path, _)| self.leaves_out(path) && is_seen(path)) {
            return false;
        }
        let mut links =
            snapshot.entries().filter(|(_, entry)| is_link(entry)).map(|(path, _)| path).peekable();
        if links.peek().is_none() {
            return true;
        }
        let named = graph.iter().flat_map(Kustomization::references).filter_map(Reference::path);
        let named: BTreeSet<RepoPath> =
            named.chain(built.iter().copied()).flat_map(RepoPath::ancestors).collect();
        links.all(|link| {
            !is_list(link) && !is_yaml(link) && !named.contains(link) && !snapshot.is_dir(&graph.real(link))
        })
    }

    /// Returns the snapshot without the files that the source leaves out, and without links.
    ///
    /// Of what is copied only that is looked at: with an artifact for each of many apps, all of them together take as long
    /// as the source.
    pub fn applied(&self, snapshot: &Snapshot) -> Snapshot {
        let mut around = BTreeSet::new();
        let mut kept = |(path, entry): (&RepoPath, &Entry)| {
            if !is_link(entry) && !self.leaves_out(path) {
                return Some((path.clone(), entry.clone()));
            }
            if is_checked_out(&self.sparse, path) {
                around.extend(path.parents());
            }
            None
        };
        let found: BTreeMap<RepoPath, Entry> = match &self.copied {
            None => snapshot.entries().filter_map(kept).collect(),
            Some(copied) => {
                let mut found = BTreeMap::new();
                for stem in copied.stems() {
                    let one = snapshot.entry(&stem).map(|entry| (&stem, entry));
                    found.extend(one.into_iter().chain(snapshot.below(&stem)).filter_map(&mut kept));
                }
                found
            }
        };
        let applied = Snapshot::new(found);
        let hollow = self.hollow(around, snapshot, &applied);
        applied.with_hollow(hollow)
    }

    /// Returns the folders of an artifact in which nothing lies that it has, of those `around` what it leaves out: a folder is
    /// taken in by itself, if no pattern matches it (fluxcd/pkg, `Storage.Archive`). That of a submodule is made without its
    /// content (go-git, `checkoutChangeSubmodule`).
    fn hollow(
        &self,
        around: BTreeSet<RepoPath>,
        snapshot: &Snapshot,
        applied: &Snapshot,
    ) -> BTreeSet<RepoPath> {
        let submodules = snapshot.hollow().filter(|_| !self.has_submodules);
        let all: BTreeSet<RepoPath> = around.into_iter().chain(submodules.cloned()).collect();
        let is_empty = |folder: &RepoPath| !folder.is_top() && applied.below(folder).next().is_none();
        all.into_iter().filter(|folder| is_empty(folder) && self.keeps_folder(folder)).collect()
    }

    /// Returns whether a folder is taken in, be something in it or not.
    fn keeps_folder(&self, folder: &RepoPath) -> bool {
        // A default that matches a folder matches what is in it; this name is none of them.
        let Ok(inside) = folder.join("inside") else { return false };
        if self.is_pushed && (is_of_git(&inside) || is_never_pushed(&inside)) {
            return false;
        }
        let is_kept = match self.patterns.iter().rev().find(|pattern| pattern.matches_folder(folder)) {
            Some(pattern) => pattern.includes,
            None => !(is_of_git(&inside) || self.patterns.is_empty() && is_by_default(&inside)),
        };
        is_kept && self.copied.as_ref().is_none_or(|copied| copied.takes(&inside))
    }
}

/// Returns what a path of `spec.sparseCheckout` means (source-controller, `gitCheckout`).
fn checked_out(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

/// Returns whether a sparse checkout has a file: a path stands for all that begins with it, be it a folder or not (go-git,
/// `Index.SkipUnless`).
fn is_checked_out(sparse: &[String], file: &RepoPath) -> bool {
    sparse.is_empty() || sparse.iter().any(|path| file.as_str().starts_with(path.as_str()))
}

fn is_link(entry: &Entry) -> bool {
    matches!(entry, Entry::Symlink { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delivery::pattern::literal;
    use crate::repo::File;

    /// Returns which of some files a source leaves out.
    fn left_out<'f>(ignore: &str, files: &[&'f str]) -> Vec<&'f str> {
        let mut snapshot = Snapshot::default();
        for file in files {
            snapshot.insert(RepoPath::parse(file).unwrap(), File::new(&b""[..]));
        }
        let ignore =
            Ignore::read(&snapshot, &Artifact { ignore: Some(ignore.to_owned()), ..Artifact::default() });
        files.iter().copied().filter(|file| ignore.leaves_out(&RepoPath::parse(file).unwrap())).collect()
    }

    #[test]
    fn the_last_pattern_that_matches_decides() {
        let files = ["README.md", "clusters/prod/a.yaml", "kube/README.md", "kube/apps/a/s.yaml"];
        assert_eq!(left_out("/*\n!/kube\n", &files), files[..2]);
        assert_eq!(left_out("# all\n/*\n!/kube\n*.md\n", &files), files[..3]);
        // git would go by depth; go-git goes by order.
        assert_eq!(left_out("*.md\n/*\n!/kube\n", &files), files[..2]);
        assert_eq!(left_out("kube/**/s.yaml", &files), files[3..]);
        assert_eq!(left_out("apps/", &files), files[3..]);
        assert_eq!(left_out("s.yaml/\n", &files), [""; 0]);
        assert_eq!(left_out("?lusters/[a-p]rod", &files), files[1..2]);
    }

    #[test]
    fn paths_are_matched_as_go_git_matches_them() {
        let files = ["a.yaml", "kube/a/b/c.yaml", "kube/a/x/b/c.yaml", "kube/c.yaml"];
        // Two stars alone take nothing, after a folder all of it, and before one the fewest folders.
        assert_eq!(left_out("/**\n", &files), [""; 0]);
        assert_eq!(left_out("/kube/**\n", &files), files[1..]);
        assert_eq!(left_out("/kube/**/c.yaml\n", &files), files[1..]);
        assert_eq!(left_out("kube/**/b/c.yaml\n", &files), files[1..3]);
        assert_eq!(left_out("kube/**/a/b\n", &files), files[1..2]);
        assert_eq!(left_out("**/b/\n", &files), files[1..3]);
        assert_eq!(left_out("/ku**/c.yaml\n", &files), [""; 0]);
        assert_eq!(left_out("**\n!/kube/a/\n", &files), [files[0], files[3]]);
    }

    #[test]
    fn defaults_count_until_a_line_replaces_them() {
        let files =
            ["apps/logo.png", "apps/x.zip/a.yaml", ".github/ci.yaml", "a/.sops.yaml", ".gitignore", "a.yaml"];
        assert_eq!(left_out("", &files), files[..5]);
        assert_eq!(left_out("# nothing\n\n", &files), files[..5]);
        assert_eq!(left_out("other\n", &files), files[4..5]);
        assert_eq!(left_out("!.gitignore\n", &files), [""; 0]);
    }

    #[test]
    fn a_sparse_checkout_has_what_begins_with_its_paths() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let mut snapshot = Snapshot::default();
        snapshot.insert(path(".sourceignore"), File::new(&b"*.env\n"[..]));
        snapshot.insert(path("apps/.sourceignore"), File::new(&b"*.txt\n"[..]));
        let left_out = |sparse: &[&str]| {
            let sparse = sparse.iter().map(|&path| path.to_owned()).collect();
            let ignore = Ignore::read(&snapshot, &Artifact { sparse, ..Artifact::default() });
            let files = ["a.yaml", "apps/a.env", "apps/a.txt", "apps-old/a.yaml", "infra/a.yaml"];
            files.into_iter().filter(|file| ignore.leaves_out(&path(file))).collect::<Vec<_>>()
        };
        assert_eq!(left_out(&[]), ["apps/a.env", "apps/a.txt"]);
        // The file at the top is not checked out, so its lines do not count.
        assert_eq!(left_out(&["./apps"]), ["a.yaml", "apps/a.txt", "infra/a.yaml"]);
        assert_eq!(left_out(&["apps/", "infra"]), ["a.yaml", "apps/a.txt", "apps-old/a.yaml"]);
    }

    #[test]
    fn what_is_pushed_lacks_what_flux_does_not_pack() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let mut snapshot = Snapshot::default();
        snapshot.put(path(".sourceignore"), Entry::Symlink { target: "lines".to_owned() });
        snapshot.insert(path("lines"), File::new(&b"*.env\n!*.zip\n!.gitignore\n"[..]));
        let left_out = |is_pushed: bool| {
            let ignore = Ignore::read(&snapshot, &Artifact { is_pushed, ..Artifact::default() });
            let files = ["a.env", "x.zip/a.yaml", ".gitignore", ".github/a.yaml"];
            files.into_iter().filter(|file| ignore.leaves_out(&path(file))).collect::<Vec<_>>()
        };
        // A link is followed in a checkout, and is not in what is pushed.
        assert_eq!(left_out(false), ["a.env"]);
        assert_eq!(left_out(true), ["x.zip/a.yaml", ".gitignore", ".github/a.yaml"]);
    }

    #[test]
    fn a_reason_names_its_line() {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let mut snapshot = Snapshot::default();
        snapshot.insert(path("kube/.sourceignore"), File::new(&b"# no\r\n\r\n*.env\r\n"[..]));
        let ignore = Ignore::read(&snapshot, &Artifact::default());
        let file = path("kube/a/b.env");
        let line = "*.env".to_owned();
        let line = LeftOut::File { file: path("kube/.sourceignore"), line, span: 8..13, what: file.clone() };
        assert_eq!(ignore.reason(&file), Some(line));
        assert_eq!(ignore.reason(&path("b.env")), None);
    }

    #[test]
    fn a_remedy_names_the_nearest_folder_that_the_line_matches() {
        let remedy = |ignore: &str, file: &str| {
            let ignore = Some(ignore.to_owned());
            let top = RepoPath::parse("kube").unwrap();
            let source = Artifact { top, ignore, ..Artifact::default() };
            let reason = Ignore::read(&Snapshot::default(), &source).reason(&RepoPath::parse(file).unwrap());
            let text = reason.unwrap().remedy();
            text.split('`').nth(1).unwrap().to_owned()
        };
        assert_eq!(remedy("*.env", "kube/a/b.env"), "!/a/b.env");
        assert_eq!(remedy("/*", "kube/b.env"), "!/b.env");
        assert_eq!(remedy("/*", "kube/a/b/c.yaml"), "!/a/b");
        assert_eq!(remedy("a/", "kube/a/c.yaml"), "!/a");
        assert_eq!(remedy("/a/b/", "kube/a/b/c.yaml"), "!/a/b");
        assert_eq!(remedy("/a/b/c.yaml", "kube/a/b/c.yaml"), "!/a/b/c.yaml");
    }

    #[test]
    fn a_remedy_means_its_path_alone() {
        for file in ["a*[b]?.yaml", "#a.yaml", "!a.yaml", "a b ", "a**b.yaml", "a "] {
            let ignore = format!("/*\n!/{}\n", literal(file));
            let others = ["axb.yaml", "ab.yaml", "a b", "a"];
            assert_eq!(left_out(&ignore, &[&[file][..], &others].concat()), others, "{file}");
        }
    }

    #[test]
    fn a_file_of_a_folder_speaks_of_that_folder() {
        let mut snapshot = Snapshot::default();
        let path = |text: &str| RepoPath::parse(text).unwrap();
        snapshot.insert(path("kube/.sourceignore"), File::new(&b"/apps\n"[..]));
        let ignore = Ignore::read(&snapshot, &Artifact::default());
        assert!(ignore.leaves_out(&path("kube/apps/a.yaml")));
        assert!(!ignore.leaves_out(&path("apps/a.yaml")));
        // It counts after the files above it, whatever their names.
        snapshot.insert(path("kube/!first/.sourceignore"), File::new(&b"!*.yaml\n"[..]));
        snapshot.insert(path("kube/.sourceignore"), File::new(&b"*.yaml\n"[..]));
        let ignore = Ignore::read(&snapshot, &Artifact::default());
        assert!(!ignore.leaves_out(&path("kube/!first/a.yaml")));
        assert!(ignore.leaves_out(&path("kube/a.yaml")));
    }
}
