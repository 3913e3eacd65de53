//! Which repository a URL of a source is.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::reading::Reader;
use crate::delivery::root::Root;
use crate::delivery::source::{SourceId, bare_url};
use crate::path::RepoPath;
use crate::repo::FluxKustomization;

/// The name that `flux bootstrap` gives to the source that it makes.
const BOOTSTRAP: &str = "flux-system";

/// Which repository a URL is, as far as Git tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repository {
    /// This one.
    This,
    /// Another one.
    Another,
    /// Nobody knows: folders of it are called as some that stand here.
    Unclear,
}

/// Who reads folders that stand here.
#[derive(Debug, Default)]
pub(super) struct Readers {
    /// How many Flux Kustomizations in files do, by the URL of their source; `None` for sources that are in no file.
    pub counts: BTreeMap<Option<String>, usize>,
    /// The URLs of the source that has the name of this repository.
    ours: BTreeSet<String>,
}

impl Reader<'_> {
    /// Returns which repository the URL of a GitRepository is.
    ///
    /// The sources of roots tell the URL of this one, or else the source that the spec names or `flux bootstrap` makes.
    /// Without these it is the one that at least twice as many Flux Kustomizations read here as all others, or the only one
    /// that any reads.
    pub(super) fn repository(&self, url: &str) -> Repository {
        let is_this = |is_this: bool| if is_this { Repository::This } else { Repository::Another };
        let Readers { counts, ours } = self.readers();
        if let Some(ours) = [&self.urls, ours].into_iter().find(|urls| !urls.is_empty()) {
            return is_this(ours.contains(url));
        }
        let all: usize = counts.values().sum();
        match counts.get(&Some(url.to_owned())).copied().unwrap_or_default() {
            0 => is_this(all == 0 && self.is_only(url)),
            own if own >= 2 * (all - own) => Repository::This,
            _ => Repository::Unclear,
        }
    }

    /// Tells whether a source has the name of the one that fetches this repository: that of the spec, or the one that
    /// `flux bootstrap` and Flux Operator make.
    pub(super) fn is_named_ours(&self, id: &SourceId) -> bool {
        self.named.as_ref().is_some_and(|named| named.is(id)) || id.name == BOOTSTRAP
    }

    /// Tells whether every Flux Kustomization in a file reads this URL, of which no folder stands here.
    fn is_only(&self, url: &str) -> bool {
        let mut all = self.flux.iter().filter(|one| one.has_source());
        all.all(|one| self.url_of(one).as_deref() == Some(url))
    }

    pub(super) fn readers(&self) -> &Readers {
        self.readers.get_or_init(|| {
            let is_read = |one: &&FluxKustomization| {
                let path = one.path.as_ref();
                one.has_source() && path.is_some_and(|path| self.is_here(path))
            };
            let mut found = Readers::default();
            for one in self.flux.iter().filter(is_read) {
                let url = self.url_of(one);
                let is_ours = self.is_named_ours(&SourceId::of(&one.value["spec"], &one.namespace));
                found.ours.extend(url.clone().filter(|_| is_ours));
                *found.counts.entry(url).or_default() += 1;
            }
            found
        })
    }

    /// Returns the URL of the source of a Flux Kustomization, first as it stands in the same file.
    pub(super) fn url_of(&self, one: &FluxKustomization) -> Option<String> {
        let beside = self.source_in(&one.file, one.source_kind(), one.source_name());
        let spec = beside.or_else(|| Some(&self.written_source(one)?.last()?.1))?;
        spec["url"].as_str().and_then(said)
    }

    /// Returns the URLs of the GitRepositories that roots read.
    pub(super) fn urls_of(&self, roots: &[Root]) -> BTreeSet<String> {
        let url = |root: &Root| {
            let (id, value) = root.source.as_ref().filter(|(id, _)| id.kind == "GitRepository")?;
            let made = value["spec"]["url"].as_str();
            let url =
                made.or_else(|| self.source_around(id, std::iter::once(&root.group))?["url"].as_str())?;
            said(url)
        };
        roots.iter().filter_map(url).collect()
    }

    /// Returns the `spec` of a source that stands in a file, first in one below these folders.
    pub(super) fn source_around<'g>(
        &self,
        id: &SourceId,
        folders: impl Iterator<Item = &'g RepoPath> + Clone,
    ) -> Option<&serde_json::Value> {
        let all = self.sources.get(&(id.kind.clone(), id.name.clone()))?;
        let is_around =
            |file: &RepoPath| folders.clone().any(|folder| !folder.is_top() && file.is_within(folder));
        let own = all.iter().find(|(file, _)| is_around(file));
        own.or(all.last()).map(|(_, spec)| spec)
    }
}

/// Returns a URL by which repositories are compared; `None` for one with variables.
pub(super) fn said(url: &str) -> Option<String> {
    (!url.contains("${")).then(|| bare_url(url))
}
