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
    /// It is one for the source of the root, for that of the spec, for another one with the same URL, for what a generator
    /// copies of one of these, and for some that do not stand in Git ([`is_unsaid_here`](Walk::is_unsaid_here)). `path` is
    /// what is read there, `None` where that is not known.
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
        let folder = path.and_then(|path| secure_join(&RepoPath::top(), path));
        let is_here = folder.as_ref().is_some_and(|folder| self.reader.is_here(folder));
        let Some(url) = self.url(id) else {
            return (is_here || self.is_unsaid_here(id)).then(Artifact::default);
        };
        if known.is_empty() {
            // Beside a source that Git does not say, one with a URL is another repository where it could be any.
            let is_only = || !self.reader.flux.iter().any(|other| self.reader.is_of_unsaid_source(other));
            // What comes with Flux Kustomizations of another source does not build their root: that folder is one of a
            // repository that is laid out alike.
            let is_above =
                |folder: &RepoPath| !folder.is_top() && roots().any(|root| root.folder.is_within(folder));
            let mut around = self.cluster.kustomizations.iter().filter(|one| one.path.is_some());
            let is_alike = folder.as_ref().is_some_and(is_above) && around.any(|one| !one.source().is(id));
            return (!is_alike && (is_here || is_only())).then(Artifact::default);
        }
        // Another branch has folders of its own.
        if self.is_of_another_branch(id) && folder.is_some_and(|folder| !folder.is_top() && !is_here) {
            return None;
        }
        known.into_iter().find(|(own, _)| *own == url).map(|(_, top)| whole(top))
    }

    /// Tells whether a GitRepository that does not stand in Git is this repository: as `flux bootstrap` and Flux Operator name
    /// it, as the spec does, or one of which a Flux Kustomization reads a folder that stands here. Any other one, as a
    /// tenant's, may be any repository.
    fn is_unsaid_here(&self, id: &SourceId) -> bool {
        let is_named = self.reader.named.as_ref().is_some_and(|named| named.is(id));
        is_named || id.name == BOOTSTRAP || self.reader.is_read_here(id)
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
