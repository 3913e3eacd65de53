//! What a source fetches: the files that no ignore pattern leaves out, and of these what a generator copies.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::delivery::copied::{Copied, Ready};
use crate::delivery::glob::glob;
use crate::path::RepoPath;
use crate::repo::{Entry, Snapshot};

/// The file in which a folder names what is left out (fluxcd/pkg/sourceignore, `IgnoreFile`).
const IGNORE: &str = ".sourceignore";

/// Tells whether a file names what a source leaves out.
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
    copied: Option<Ready>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    /// The folder whose file names it.
    domain: RepoPath,
    parts: Vec<String>,
    includes: bool,
    only_folders: bool,
    /// Whether it holds a `/`, so that it counts from its folder on.
    is_path: bool,
}

/// What a source makes of this repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Artifact {
    /// Where it begins.
    pub top: RepoPath,
    /// The `spec.ignore` of the source.
    pub ignore: Option<String>,
    /// What an ArtifactGenerator copies of the source; `None` where it is all of that.
    pub copied: Option<Copied>,
}

impl Artifact {
    /// Returns the artifact of the source, all of which is fetched.
    pub(super) fn source(&self) -> Artifact {
        let top = self.copied.as_ref().map_or(&self.top, |copied| &copied.source);
        Artifact { top: top.clone(), ignore: self.ignore.clone(), copied: None }
    }
}

impl Ignore {
    /// Reads the `.sourceignore` files below the top of a source, then its `spec.ignore` (source-controller,
    /// `GitRepositoryReconciler.reconcileArtifact`).
    pub fn read(snapshot: &Snapshot, source: &Artifact) -> Ignore {
        let mut patterns = Vec::new();
        let files = snapshot.below(&source.top).filter(|(path, _)| is_ignore_file(path));
        let mut files: Vec<(&RepoPath, &Entry)> = files.collect();
        // A folder's own file comes before those of folders in it (`LoadIgnorePatterns`).
        files.sort_by_key(|(path, _)| path.segments().count());
        for (path, entry) in files {
            if let Entry::File(file) = entry {
                let text = file.text().unwrap_or_default();
                patterns.extend(Pattern::all(&path.parent().unwrap_or_default(), text));
            }
        }
        patterns.extend(Pattern::all(&source.top, source.ignore.as_deref().unwrap_or_default()));
        Ignore { patterns: Arc::new(patterns), copied: None }
    }

    /// Returns it for what a generator copies of the source.
    pub(super) fn of_copied(&self, copied: &Copied) -> Ignore {
        Ignore { patterns: self.patterns.clone(), copied: Some(copied.ready()) }
    }

    /// Tells whether it leaves nothing out.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.copied.is_none()
    }

    /// Tells whether the source, or what is copied of it, leaves a file out.
    pub fn leaves_out(&self, file: &RepoPath) -> bool {
        let decides = self.patterns.iter().rev().find(|pattern| pattern.matches(file));
        decides.is_some_and(|pattern| !pattern.includes)
            || self.copied.as_ref().is_some_and(|copied| !copied.takes(file))
    }

    /// Returns the snapshot without the files that the source leaves out.
    ///
    /// Of what is copied only that is looked at: with an artifact for each of many apps, all of them together take as long
    /// as the source.
    pub fn applied(&self, snapshot: &Snapshot) -> Snapshot {
        let kept = |(path, _): &(&RepoPath, &Entry)| !self.leaves_out(path);
        let own = |(path, entry): (&RepoPath, &Entry)| (path.clone(), entry.clone());
        let Some(copied) = &self.copied else {
            return Snapshot::new(snapshot.entries().filter(kept).map(own).collect());
        };
        let mut found = BTreeMap::new();
        for stem in copied.stems() {
            let one = snapshot.entry(&stem).map(|entry| (&stem, entry));
            found.extend(one.into_iter().chain(snapshot.below(&stem)).filter(kept).map(own));
        }
        Snapshot::new(found)
    }
}

impl Pattern {
    /// Reads the lines of a file in a folder.
    fn all<'t>(domain: &'t RepoPath, text: &'t str) -> impl Iterator<Item = Pattern> + 't {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        lines.map(|line| Pattern::parse(domain, line))
    }

    /// Reads one line (go-git, `gitignore.ParsePattern`).
    fn parse(domain: &RepoPath, line: &str) -> Pattern {
        let (includes, rest) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let rest = if rest.ends_with("\\ ") { rest } else { rest.trim_end_matches(' ') };
        let (only_folders, rest) = rest.strip_suffix('/').map_or((false, rest), |rest| (true, rest));
        let parts = rest.split('/').map(str::to_owned).collect();
        Pattern { domain: domain.clone(), includes, only_folders, is_path: rest.contains('/'), parts }
    }

    /// Tells whether the file, or a folder above it, matches.
    fn matches(&self, file: &RepoPath) -> bool {
        if !file.is_within(&self.domain) {
            return false;
        }
        let names: Vec<&str> = file.segments().skip(self.domain.segments().count()).collect();
        if self.is_path {
            return self.matches_path(&names);
        }
        let last = names.len().saturating_sub(1);
        let mut named = names.iter().enumerate();
        named.any(|(at, name)| (!self.only_folders || at < last) && glob(&self.parts[0], name))
    }

    /// Matches from the pattern's folder on; what lies below a match matches too (go-git, `globMatch`).
    ///
    /// As there, `**` stands for the fewest folders, and alone or last for what a part before it matches.
    fn matches_path(&self, names: &[&str]) -> bool {
        let (mut left, mut is_match, mut skips) = (names, false, false);
        for (at, part) in self.parts.iter().enumerate() {
            if part.is_empty() {
                skips = false;
            } else if part == "**" {
                skips = at + 1 < self.parts.len();
            } else if part.contains("**") || left.is_empty() {
                return false;
            } else {
                let found = left.iter().position(|name| glob(part, name)).filter(|at| skips || *at == 0);
                if found.is_none() && !skips {
                    return false;
                }
                is_match = found.is_some();
                left = found.map_or(&[], |at| &left[at + 1..]);
                skips = false;
            }
        }
        is_match && !(self.only_folders && left.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
