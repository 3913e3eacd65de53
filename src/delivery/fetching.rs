//! Which artifact of this repository a source is, while a cluster is read.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::delivery::fetched::Artifact;
use crate::delivery::repository::{Repository, said};
use crate::delivery::secure_join::secure_join;
use crate::delivery::source::{EXTERNAL, SourceId};
use crate::delivery::walk::{Step, Walk};
use crate::mechanism;
use crate::path::RepoPath;
use crate::repo::flux::WrittenSource;
use crate::repo::{Followed, OtherRevision};

impl Walk<'_, '_> {
    /// Returns the artifact of a source, its `ignore` not yet looked at; `None` where it is none of this repository.
    ///
    /// It is one for the source of the root, for that of the spec, for another one with the same URL, for what a generator
    /// copies of one of these, and for some that do not stand in Git ([`is_unsaid_here`](Walk::is_unsaid_here)). `path` is
    /// what is read there, `None` where that is not known; `is_other` tells whether it follows
    /// [another revision](Walk::other_revision).
    pub(super) fn artifact(&self, id: &SourceId, path: Option<&str>, is_other: bool) -> Option<Artifact> {
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
        let known = self.known();
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
            let is_ours = self.reader.is_named_ours(id) || self.repository(id) == Repository::This;
            return is_ours.then(Artifact::default);
        }
        if is_other {
            return None;
        }
        known.into_iter().find(|(own, _)| *own == url).map(|(_, top)| whole(top))
    }

    /// Returns the URLs that are this repository for certain, with what is their top.
    fn known(&self) -> Vec<(String, &RepoPath)> {
        let roots = self.cluster.roots.iter();
        let of_roots = roots.filter_map(|root| Some((&root.source.as_ref()?.0, &root.artifact)));
        let known = of_roots.chain(self.reader.pushed.as_ref().map(|(own, top)| (own, top)));
        known.filter_map(|(own, top)| Some((self.url(own)?, top))).collect()
    }

    /// Returns whether a GitRepository that does not stand in Git is this repository: as `flux bootstrap` and Flux Operator name
    /// it, as the spec does, or one of which a Flux Kustomization reads a folder that stands here. Any other one, as a
    /// tenant's, may be any repository.
    fn is_unsaid_here(&self, id: &SourceId) -> bool {
        self.reader.is_named_ours(id) || self.reader.is_read_here(id)
    }

    /// Returns the folder of this repository that a Flux Kustomization builds if its source, of which nobody knows that, is
    /// this repository.
    pub(super) fn unclear(&self, id: &SourceId, path: Option<&str>) -> Option<RepoPath> {
        let folder = secure_join(&RepoPath::top(), path?).filter(|folder| self.reader.is_here(folder))?;
        let is_git = id.kind == "GitRepository";
        (is_git && self.known().is_empty() && self.repository(id) == Repository::Unclear).then_some(folder)
    }

    /// Returns which repository a GitRepository is that stands in Git.
    fn repository(&self, id: &SourceId) -> Repository {
        let urls: BTreeSet<String> = match self.cluster.source(id) {
            Some(spec) => said(spec).into_iter().collect(),
            None => self.reader.urls_around(id, self.groups()),
        };
        let is_told = |ours: &BTreeSet<String>| {
            let is_own = |file: &RepoPath| self.groups().any(|group| file.is_within(group));
            let written = self.reader.sources.values().flatten().filter(|own| is_own(&own.file));
            let brought = self.cluster.sources.iter().map(|(_, value)| &value["spec"]);
            let mut all = brought.chain(written.map(|own| &own.spec)).filter_map(said);
            all.any(|url| ours.contains(&url))
        };
        let mut all = urls.iter().map(|url| self.reader.repository(url, is_told));
        let first = all.next().unwrap_or(Repository::Another);
        if all.all(|other| other == first) { first } else { Repository::Unclear }
    }

    /// Returns the folders of the cluster.
    fn groups(&self) -> impl Iterator<Item = &RepoPath> + Clone {
        self.cluster.roots.iter().map(|root| &root.group)
    }

    /// Returns how a source follows another revision of this repository than the root that brings what reads it; `None` for
    /// the same one, for another repository, and where Git does not say it.
    ///
    /// One that is held copies the one that it is named after. What is the source of a root, or that of the spec, is this tree.
    pub(super) fn other_revision(&self, id: &SourceId, position: usize) -> Option<OtherRevision> {
        let root = self.cluster.roots.get(position)?;
        let of_root = &root.source.as_ref()?.0;
        let mut known = self.cluster.roots.iter().filter_map(|root| Some(&root.source.as_ref()?.0));
        let is_known =
            known.any(|own| own.is(id)) || self.reader.named.as_ref().is_some_and(|own| own.is(id));
        let is_git = |id: &SourceId| id.kind == "GitRepository";
        if is_known || !is_git(id) || !is_git(of_root) || self.url(id)? != self.url(of_root)? {
            return None;
        }
        let (spec, spec_of_root) = (self.own_source(id)?, self.own_source(of_root)?);
        if mechanism::is_held(&id.kind, spec) {
            return self.other_revision(&self.copied_by(id)?, position);
        }
        let (follows, of_root) = (Followed::of(&id.kind, spec), Followed::of(&of_root.kind, spec_of_root));
        let is_said = |one: &Followed| !one.value.contains("${");
        let name = root.kustomization.as_ref()?["metadata"]["name"].as_str().unwrap_or_default();
        (follows != of_root && is_said(&follows) && is_said(&of_root)).then(|| OtherRevision {
            source: id.name.clone(),
            follows,
            root: name.to_owned(),
            of_root,
        })
    }

    /// Returns the source that a held one copies, by their names.
    fn copied_by(&self, held: &SourceId) -> Option<SourceId> {
        let id = |kind: &String, name: &String| SourceId {
            kind: kind.clone(),
            namespace: held.namespace.clone(),
            name: name.clone(),
        };
        let written = self.reader.sources.keys().map(|(kind, name)| id(kind, name));
        let own = self.cluster.sources.iter().map(|(own, _)| id(&own.kind, &own.name));
        let is_live = |own: &SourceId| {
            held.is_named_after(own)
                && self.own_source(own).is_some_and(|spec| !mechanism::is_held(&own.kind, spec))
        };
        written.chain(own).filter(is_live).max_by_key(|own| own.name.len())
    }

    /// As [`source`](Walk::source), but not one of which the file may be another cluster's.
    fn own_source(&self, id: &SourceId) -> Option<&Value> {
        let all = self.reader.sources.get(&(id.kind.clone(), id.name.clone()));
        let mut groups = self.groups().filter(|group| !group.is_top());
        let is_own = |own: &WrittenSource| groups.any(|group| own.file.is_within(group));
        let is_clear = all.is_none_or(|all| all.len() < 2 || all.iter().any(is_own));
        self.cluster.source(id).or_else(|| self.source(id).filter(|_| is_clear))
    }

    /// Returns the URL of a source: as builds bring it, or else as it stands in a file.
    pub(super) fn url(&self, id: &SourceId) -> Option<String> {
        said(self.source(id)?)
    }

    /// Returns the `spec` of a source: as builds bring it, or else as it stands in a file, first in one of the cluster.
    pub(super) fn source(&self, id: &SourceId) -> Option<&Value> {
        let written = || self.reader.source_around(id, self.groups());
        self.cluster.source(id).or_else(written)
    }

    /// Returns the artifact that a build sees.
    pub(super) fn read_by(&self, step: &Step) -> Artifact {
        let id = step.by.map(|by| self.cluster.kustomizations[by].source());
        let id = id.filter(|_| step.artifact.copied.is_none());
        id.map_or_else(|| step.artifact.clone(), |id| self.narrowed(step.artifact.clone(), &id))
    }

    /// Returns an artifact with what the `spec` of its source says of what is left out.
    pub(super) fn narrowed(&self, artifact: Artifact, id: &SourceId) -> Artifact {
        let spec = self.source(id).unwrap_or(&Value::Null);
        let paths = spec["sparseCheckout"].as_array().filter(|_| id.kind == "GitRepository");
        let sparse = paths.into_iter().flatten().filter_map(|path| Some(path.as_str()?.to_owned()));
        Artifact {
            ignore: spec["ignore"].as_str().map(str::to_owned),
            sparse: sparse.collect(),
            has_submodules: spec["recurseSubmodules"] == true,
            ..artifact
        }
    }
}
