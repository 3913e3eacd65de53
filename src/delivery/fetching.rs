//! Which artifact of this repository a source is, while a cluster is read.

use serde_json::Value;

use crate::delivery::fetched::Artifact;
use crate::delivery::secure_join::secure_join;
use crate::delivery::source::{EXTERNAL, SourceId, bare_url};
use crate::delivery::walk::{Step, Walk};
use crate::path::RepoPath;

/// The name that `flux bootstrap` gives to the source that it makes.
const BOOTSTRAP: &str = "flux-system";

impl Walk<'_, '_> {
    /// Returns the artifact of a source, its `ignore` not yet looked at; `None` where it is none of this repository.
    ///
    /// It is one for the source of the root, for that of the spec, for another one with the same URL, for a GitRepository
    /// that does not stand in Git, as `flux bootstrap` and Flux Operator made that, and for what a generator copies of one
    /// of these. `path` is what is read there.
    pub(super) fn artifact(&self, id: &SourceId, path: Option<&str>) -> Option<Artifact> {
        let is_pushed = id.kind == "OCIRepository";
        let whole = |top: &RepoPath| Artifact { top: top.clone(), is_pushed, ..Artifact::default() };
        let roots = || self.cluster.roots.iter();
        let own = roots().find(|root| root.source.as_ref().is_some_and(|(own, _)| own.is(id)));
        if let Some(root) = own {
            return Some(whole(&root.artifact));
        }
        if id.kind == EXTERNAL {
            return self.cluster.made(id)?.artifact.as_ref().ok().map(|(_, artifact)| artifact.clone());
        }
        let pushed = self.reader.pushed.as_ref();
        if let Some((_, top)) = pushed.filter(|(own, _)| own.is(id)) {
            return Some(whole(top));
        }
        let of_roots = roots().filter_map(|root| Some((&root.source.as_ref()?.0, &root.artifact)));
        let known = of_roots.chain(pushed.map(|(own, top)| (own, top)));
        let known: Vec<(String, &RepoPath)> =
            known.filter_map(|(own, top)| Some((self.url(own)?, top))).collect();
        if id.kind == "OCIRepository" {
            let url = self.url(id)?;
            return known.into_iter().find(|(own, _)| *own == url).map(|(_, top)| whole(top));
        }
        if id.kind != "GitRepository" {
            return None;
        }
        let is_here = |path: &str| {
            secure_join(&RepoPath::top(), path).is_none_or(|path| self.reader.snapshot.is_dir(&path))
        };
        let is_here = path.is_none_or(is_here);
        let Some(url) = self.url(id) else {
            // One from which nothing else is read that is here, as a tenant's, is another repository.
            return (is_here || id.name == BOOTSTRAP || self.reader.is_read_here(id)).then(Artifact::default);
        };
        if known.is_empty() {
            // Beside a source that Git does not say, one with a URL is another repository where it could be any.
            let path = path.and_then(|path| secure_join(&RepoPath::top(), path));
            let is_here = path.is_some_and(|path| !path.is_top() && self.reader.snapshot.is_dir(&path));
            let is_only = || !self.reader.flux.iter().any(|other| self.reader.is_of_unsaid_source(other));
            return (is_here || is_only()).then(Artifact::default);
        }
        // Another branch has folders of its own.
        if self.is_of_another_branch(id) && !is_here {
            return None;
        }
        known.into_iter().find(|(own, _)| *own == url).map(|(_, top)| whole(top))
    }

    /// Tells whether a source and all of the roots' name branches, and none the same.
    fn is_of_another_branch(&self, id: &SourceId) -> bool {
        let branch = |id: &SourceId| self.source(id)?["ref"]["branch"].as_str();
        let sources = || self.cluster.roots.iter().filter_map(|root| Some(&root.source.as_ref()?.0));
        branch(id).is_some_and(|own| sources().all(|source| branch(source).is_some_and(|other| other != own)))
    }

    /// Returns the URL of a source: as builds bring it, or else as it stands in a file.
    pub(super) fn url(&self, id: &SourceId) -> Option<String> {
        let url = self.source(id)?["url"].as_str()?;
        (!url.contains("${")).then(|| bare_url(url))
    }

    /// Returns the `spec` of a source: as builds bring it, or else as it stands in a file, first in one of the cluster.
    pub(super) fn source(&self, id: &SourceId) -> Option<&Value> {
        let written = || {
            let all = self.reader.sources.get(&(id.kind.clone(), id.name.clone()))?;
            let groups = || self.cluster.roots.iter().map(|root| &root.group).filter(|group| !group.is_top());
            let own = all.iter().find(|(file, _)| groups().any(|group| file.is_within(group)));
            own.or(all.last()).map(|(_, spec)| spec)
        };
        self.cluster.source(id).or_else(written)
    }

    /// Returns the artifact that a build sees.
    pub(super) fn read_by(&self, step: &Step) -> Artifact {
        let id = step.by.map(|by| self.cluster.kustomizations[by].source());
        let id = id.filter(|_| step.artifact.copied.is_none());
        let ignore = id.map_or_else(|| step.artifact.ignore.clone(), |id| self.ignore(&id));
        Artifact { ignore, ..step.artifact.clone() }
    }

    pub(super) fn ignore(&self, id: &SourceId) -> Option<String> {
        self.source(id)?["ignore"].as_str().map(str::to_owned)
    }
}
