//! Which repository a URL of a source is.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::delivery::reading::Reader;
use crate::delivery::root::Root;
use crate::delivery::source::{SourceId, bare_url};
use crate::path::RepoPath;
use crate::repo::FluxKustomization;
use crate::repo::flux::WrittenSource;

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
    /// The URLs of which some Flux Kustomization may read any.
    several: BTreeSet<String>,
}

impl Reader<'_> {
    /// Returns which repository the URL of a GitRepository is.
    ///
    /// The sources of roots tell the URL of this one, or else the source that the spec names or `flux bootstrap` makes. Where
    /// a cluster has none of these, as `is_told` tells, another URL that is read at folders that stand here too may be a
    /// mirror. Without these it is the one that at least twice as many Flux Kustomizations read here as all others, or the
    /// only one that any reads.
    pub(super) fn repository(&self, url: &str, is_told: impl Fn(&BTreeSet<String>) -> bool) -> Repository {
        let is_this = |is_this: bool| if is_this { Repository::This } else { Repository::Another };
        let Readers { counts, ours, several } = self.readers();
        let own = counts.get(&Some(url.to_owned())).copied().unwrap_or_default();
        if let Some(ours) = [&self.urls, ours].into_iter().find(|urls| !urls.is_empty()) {
            return match ours.contains(url) {
                false if (own > 0 || several.contains(url)) && !is_told(ours) => Repository::Unclear,
                is_ours => is_this(is_ours),
            };
        }
        let all: usize = counts.values().sum();
        match own {
            0 if several.contains(url) => Repository::Unclear,
            0 => is_this(all == 0 && self.is_only(url)),
            own if own >= 2 * (all - own) => Repository::This,
            _ => Repository::Unclear,
        }
    }

    /// Returns whether a source has the name of the one that fetches this repository: that of the spec, or the one that
    /// `flux bootstrap` and Flux Operator make.
    pub(super) fn is_named_ours(&self, id: &SourceId) -> bool {
        self.named.as_ref().is_some_and(|named| named.is(id)) || id.name == BOOTSTRAP
    }

    /// Returns whether every Flux Kustomization in a file reads this URL, of which no folder stands here.
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
                let urls = self.urls_near(one);
                let is_ours = self.is_named_ours(&SourceId::of(&one.value["spec"], &one.namespace));
                found.ours.extend(urls.iter().filter(|_| is_ours).cloned());
                let several = urls.iter().filter(|_| urls.len() > 1).cloned();
                found.several.extend(several);
                *found.counts.entry(only(urls)).or_default() += 1;
            }
            found
        })
    }

    /// Returns the URL of the source of a Flux Kustomization; `None` where several fit.
    pub(super) fn url_of(&self, one: &FluxKustomization) -> Option<String> {
        only(self.urls_near(one))
    }

    /// Returns the URLs that the source of a Flux Kustomization may have: of those that stand nearest to it, first in the
    /// same file.
    fn urls_near(&self, one: &FluxKustomization) -> BTreeSet<String> {
        let all = self.fitting(&SourceId::of(&one.value["spec"], &one.namespace));
        let shared = |own: &&WrittenSource| {
            let (own, file) = (own.file.segments(), one.file.segments());
            own.zip(file).take_while(|(own, file)| own == file).count()
        };
        let nearest = all.iter().map(shared).max();
        urls(all.iter().filter(|own| Some(shared(own)) == nearest).copied())
    }

    /// Returns the sources in files that may be this one: those of its namespace, or else, as a build may give them another
    /// one, all of its name.
    fn fitting(&self, id: &SourceId) -> Vec<&WrittenSource> {
        let all = self.sources.get(&(id.kind.clone(), id.name.clone())).into_iter().flatten();
        let is_it = |own: &&WrittenSource| {
            own.namespace == id.namespace || own.namespace.is_empty() || id.namespace.is_empty()
        };
        let own: Vec<&WrittenSource> = all.clone().filter(is_it).collect();
        if own.is_empty() { all.collect() } else { own }
    }

    /// Returns the URLs of the GitRepositories that roots read.
    pub(super) fn urls_of(&self, roots: &[Root]) -> BTreeSet<String> {
        let url = |root: &Root| {
            let (id, value) = root.source.as_ref().filter(|(id, _)| id.kind == "GitRepository")?;
            let spec = &value["spec"];
            let is_made = spec["url"].is_string();
            let written = || self.source_around(id, std::iter::once(&root.group));
            said(if is_made { spec } else { written()? })
        };
        roots.iter().filter_map(url).collect()
    }

    /// Returns the `spec` of a source that stands in a file, first in one below these folders.
    pub(super) fn source_around<'g>(
        &self,
        id: &SourceId,
        folders: impl Iterator<Item = &'g RepoPath> + Clone,
    ) -> Option<&Value> {
        let own = self.around(id, folders);
        own.or_else(|| self.fitting(id).pop()).map(|own| &own.spec)
    }

    /// As [`source_around`](Reader::source_around), the URLs of all that it may be.
    pub(super) fn urls_around<'g>(
        &self,
        id: &SourceId,
        folders: impl Iterator<Item = &'g RepoPath> + Clone,
    ) -> BTreeSet<String> {
        let own = self.around(id, folders);
        own.map_or_else(|| urls(self.fitting(id).into_iter()), |own| urls(std::iter::once(own)))
    }

    fn around<'g>(
        &self,
        id: &SourceId,
        folders: impl Iterator<Item = &'g RepoPath> + Clone,
    ) -> Option<&WrittenSource> {
        let is_around = |own: &&WrittenSource| {
            folders.clone().any(|folder| !folder.is_top() && own.file.is_within(folder))
        };
        self.fitting(id).into_iter().find(is_around)
    }
}

fn urls<'w>(sources: impl Iterator<Item = &'w WrittenSource>) -> BTreeSet<String> {
    sources.filter_map(|own| said(&own.spec)).collect()
}

/// Returns what is the only one.
fn only(urls: BTreeSet<String>) -> Option<String> {
    let mut urls = urls.into_iter();
    urls.next().filter(|_| urls.next().is_none())
}

/// Returns the URL of a source's `spec`, by which repositories are compared; `None` for one with variables.
pub(super) fn said(spec: &Value) -> Option<String> {
    spec["url"].as_str().filter(|url| !url.contains("${")).map(bare_url)
}
