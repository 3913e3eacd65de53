//! What `windows.yaml` says, validated.

mod flux;
mod gate;
mod layout;
mod rule;
mod time;
mod window;

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use jiff::tz::TimeZone;

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::path::{RepoPath, RepoPathError};
use crate::schedule::{Length, zone};
use crate::spec::{Placed, expand};

pub use flux::{FluxDefaults, FluxSource};
pub use gate::{
    ALERT_TYPES, AlertDef, GateDef, MechanismName, PROVIDER_EVERY, PROVIDER_TIMEOUT, PROVIDER_TYPES,
    ProviderDef, Runner,
};
pub use layout::LayoutTemplates;
pub use rule::{Matcher, Rule};
pub use time::{CalendarFile, Clusters, Freeze, Override, TableDef, Waves};
pub use window::{WindowDef, WindowUse};

/// The whole of a valid `windows.yaml`.
///
/// Every list and map keeps the order of the file, which is the order of everything written from
/// it. Types refer only to windows that exist, clusters and rules only to types that exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The file that was read, from the top of the repository.
    pub path: RepoPath,
    /// The change types in dependency order, at least one: an earlier never waits for a later.
    pub types: Vec<ChangeType>,
    /// The time zone of every window that names none; it stands in those as well.
    pub time_zone: Option<Placed<String>>,
    /// The named windows.
    pub windows: IndexMap<String, Placed<WindowDef>>,
    /// The times in which nothing reconciles; windows and overrides give way to them.
    pub freezes: Vec<Freeze>,
    /// The texts of the calendar files that freezes name, by their paths from the top of the repository.
    pub calendars: BTreeMap<RepoPath, Arc<str>>,
    /// The times that are given beside the windows.
    pub overrides: Vec<Placed<Override>>,
    /// The groups of clusters whose windows open one after another.
    pub waves: Option<Waves>,
    /// The time over which clusters are spread by their names.
    pub stagger: Option<Placed<Length>>,
    /// The clusters by name.
    pub clusters: IndexMap<String, Cluster>,
    /// Those of which it wants no gate, by name: only their folders are known.
    pub ungated: IndexMap<String, Cluster>,
    /// The rules that give each object its type; the first that matches wins, the last matches all.
    pub rules: Vec<Placed<Rule>>,
    /// Where new Flux Kustomizations go, and their source.
    pub flux: FluxDefaults,
    /// What opens and closes.
    pub gate: GateDef,
    /// Who hears of openings that fail to apply; `None` for nobody.
    pub alerts: Option<AlertDef>,
    /// How folders, files and objects are named.
    pub layout: LayoutTemplates,
    /// The findings that are known and wanted.
    pub ignores: Vec<Placed<Ignore>>,
}

impl Spec {
    /// Returns the folder that holds the spec, to which its paths are relative.
    pub fn folder(&self) -> RepoPath {
        self.path.parent().unwrap_or_else(RepoPath::top)
    }

    /// Returns where the source of the spec begins in the repository: at the top, but for an artifact that is made of a
    /// folder.
    pub fn top_of_source(&self) -> RepoPath {
        let path = self.flux.source.path.as_ref();
        path.and_then(|path| self.folder().join(path).ok()).unwrap_or_else(RepoPath::top)
    }

    /// Returns the zone of days and times that name none; `None` where the spec has none.
    pub fn zone(&self) -> Option<TimeZone> {
        zone_of(self.time_zone.as_ref())
    }

    /// Returns the zone that every window names itself; `None` where they name several, or one none.
    pub fn zone_of_windows(&self) -> Option<TimeZone> {
        zone_of_all(&self.windows, &self.clusters)
    }

    /// Returns the zone in which instants are told that are no window's: that of the spec, or else of its windows, or UTC.
    pub fn told_zone(&self) -> TimeZone {
        self.zone().or_else(|| self.zone_of_windows()).unwrap_or(TimeZone::UTC)
    }

    /// Returns the type of this name.
    pub fn change_type(&self, name: &str) -> Option<&ChangeType> {
        self.types.iter().find(|change_type| change_type.name.value == name)
    }

    /// Returns the windows in which a type reconciles in a cluster: the cluster's own where it has
    /// some, else the type's; none for a real-time or unknown type.
    pub fn windows_of(&self, cluster: &str, type_name: &str) -> Vec<&Placed<WindowDef>> {
        let Some(change_type) = self.change_type(type_name) else { return Vec::new() };
        match self.clusters.get(cluster).and_then(|cluster| cluster.windows.get(type_name)) {
            Some(uses) => uses
                .value
                .iter()
                .filter_map(|window| match window {
                    WindowUse::Named(name) => self.windows.get(&name.value),
                    WindowUse::Inline(window) => Some(window.as_ref()),
                })
                .collect(),
            None => change_type.windows.iter().filter_map(|name| self.windows.get(&name.value)).collect(),
        }
    }

    /// Returns the names of [`windows_of`](Spec::windows_of), in the same order; `None` for one that a cluster writes
    /// out itself.
    pub fn window_names(&self, cluster: &str, type_name: &str) -> Vec<Option<&str>> {
        let own = self.clusters.get(cluster).and_then(|cluster| cluster.windows.get(type_name));
        let used = own.into_iter().flat_map(|uses| &uses.value).map(|window| match window {
            WindowUse::Named(name) => Some(name.value.as_str()),
            WindowUse::Inline(_) => None,
        });
        let of_type = self.change_type(type_name).filter(|_| own.is_none());
        let named =
            of_type.into_iter().flat_map(|found| &found.windows).map(|name| Some(name.value.as_str()));
        used.chain(named).collect()
    }

    /// Returns the freezes of a type in a cluster, in the order of the spec.
    pub fn freezes_of(&self, cluster: &str, type_name: &str) -> Vec<&Freeze> {
        let is_of_type = |freeze: &&Freeze| {
            freeze.types.is_empty() || freeze.types.iter().any(|name| name.value == type_name)
        };
        self.freezes
            .iter()
            .filter(is_of_type)
            .filter(|freeze| self.is_one_of(cluster, &freeze.clusters))
            .collect()
    }

    /// Returns the overrides of a type in a cluster, in the order of the spec.
    pub fn overrides_of(&self, cluster: &str, type_name: &str) -> Vec<&Placed<Override>> {
        let own = self.overrides.iter().filter(|given| given.type_name.value == type_name);
        own.filter(|given| self.is_one_of(cluster, &given.clusters)).collect()
    }

    /// Returns whether a freeze or an override is about a cluster. One that the spec does not name has no labels.
    pub fn is_one_of(&self, cluster: &str, clusters: &Clusters) -> bool {
        match clusters {
            Clusters::All => true,
            Clusters::Named(names) => names.iter().any(|name| name.value == cluster),
            Clusters::Labelled(labels) => self
                .clusters
                .get(cluster)
                .is_some_and(|own| labels.iter().all(|(key, value)| own.labels.get(key) == Some(value))),
        }
    }

    /// Returns whether a rule is one of those that a spec without `rules` has, but for the last.
    pub fn is_default(&self, rule: &Rule) -> bool {
        let of_kind = |kind: &str| Matcher { kind: Some(kind.to_owned()), ..Matcher::default() };
        self.types.first().is_some_and(|first| first.name == rule.type_name)
            && ["Namespace", "ConfigMap"].into_iter().any(|kind| rule.matcher == of_kind(kind))
    }

    /// Returns the folder of what the gates of all clusters share.
    ///
    /// # Errors
    ///
    /// When the layout leads out of the repository.
    pub fn gate_base(&self) -> Result<RepoPath, Error> {
        self.folder().join(&self.layout.gate).map_err(layout_error)
    }

    /// Returns the folder of a cluster's gate.
    ///
    /// # Errors
    ///
    /// As [`gate_base`](Spec::gate_base); and for another cluster than the one of the spec, where the layout has one folder.
    pub fn gate_folder(&self, cluster: &str) -> Result<RepoPath, Error> {
        if self.layout.has_one_gate_folder() && self.all_clusters().all(|one| one.name.value != cluster) {
            let text =
                format!("`clusterGate` of the layout is a folder of one cluster, and {cluster} is another");
            return Err(Error::invalid(Diagnostic::error(text).help("use `{cluster}` or `{path}` in it")));
        }
        self.folder().join(&self.gate_folder_below(cluster)).map_err(layout_error)
    }

    /// Returns the folder of a cluster's gate, relative to the spec's.
    pub fn gate_folder_below(&self, cluster: &str) -> String {
        let own = self.clusters.get(cluster).or_else(|| self.ungated.get(cluster));
        let folders = own.map(|cluster| cluster.paths.as_slice()).unwrap_or_default();
        let path = folders.first().map_or(cluster, |path| path.value.as_str());
        expand(&self.layout.cluster_gate, &[("cluster", cluster), ("path", path)])
    }

    /// Returns all clusters that it names: those with windows first.
    pub fn all_clusters(&self) -> impl Iterator<Item = &Cluster> {
        self.clusters.values().chain(self.ungated.values())
    }

    /// Returns whether it wants a gate in a cluster: it names the cluster, and a type has windows.
    pub fn gates(&self, cluster: &str) -> bool {
        self.has_gated_type() && self.clusters.contains_key(cluster)
    }

    /// Says why it wants no gate in a cluster, as a subordinate clause.
    pub fn why_ungated(&self, cluster: &str) -> &'static str {
        match self.clusters.contains_key(cluster) {
            true => "where no type has a window",
            false if self.ungated.contains_key(cluster) => "of which windows.yaml wants none",
            false => "which is not in windows.yaml",
        }
    }

    /// Returns the types that have windows, in the order of the spec.
    pub fn gated_types(&self) -> impl Iterator<Item = &ChangeType> {
        self.types.iter().filter(|change_type| !change_type.is_real_time())
    }

    /// Returns their positions.
    pub fn gated_positions(&self) -> impl Iterator<Item = usize> {
        (0..self.types.len()).filter(|position| !self.types[*position].is_real_time())
    }

    /// Returns whether a type has windows.
    pub fn has_gated_type(&self) -> bool {
        self.gated_types().next().is_some()
    }

    /// Returns whether a cluster's CronJobs run, by its own word or else by [`GateDef::enabled`].
    pub fn gate_enabled(&self, cluster: &str) -> bool {
        self.clusters.get(cluster).and_then(|cluster| cluster.enabled).unwrap_or(self.gate.enabled)
    }
}

fn layout_error(error: RepoPathError) -> Error {
    Error::invalid(
        Diagnostic::error(format!("`layout`: {error}")).help("name folders below the spec's folder"),
    )
}

/// Findings that `check` leaves out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignore {
    /// Their code, such as `GW014`, which may be none that exists.
    pub code: String,
    /// A glob over their files, relative to the spec's folder; `None` for every file.
    pub path: Option<String>,
    /// Why, never empty.
    pub reason: String,
}

/// A way in which a change may reach a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeType {
    /// The name: lowercase letters, digits and hyphens, as it becomes part of folder names.
    pub name: Placed<String>,
    /// The names of the windows in which it reconciles; none for real-time.
    pub windows: Vec<Placed<String>>,
}

impl ChangeType {
    /// Returns whether changes of this type never wait for a window.
    pub fn is_real_time(&self) -> bool {
        self.windows.is_empty()
    }
}

/// One cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The name, which is also the name of its folder in most layouts.
    pub name: Placed<String>,
    /// The cluster's folders, relative to the spec's folder; empty where the layout says it.
    pub paths: Vec<Placed<String>>,
    /// The folders that are applied to the cluster before anything else, relative to the spec's folder; empty where Git
    /// says it.
    pub roots: Vec<Placed<String>>,
    /// What freezes and overrides know it by.
    pub labels: IndexMap<String, Placed<String>>,
    /// By type, the windows that replace the type's own in this cluster; none of them is empty.
    pub windows: IndexMap<String, Placed<Vec<WindowUse>>>,
    /// Whether the cluster's CronJobs run; `None` where [`GateDef::enabled`] decides.
    pub enabled: Option<bool>,
}

/// Returns the zone of a name, if it has one.
pub(in crate::spec) fn zone_of(name: Option<&Placed<String>>) -> Option<TimeZone> {
    zone::parse(name?).ok()
}

/// Returns the zone that all windows name, also those that clusters have in place; `None` where they name several, or one none.
pub(in crate::spec) fn zone_of_all(
    windows: &IndexMap<String, Placed<WindowDef>>,
    clusters: &IndexMap<String, Cluster>,
) -> Option<TimeZone> {
    let uses = clusters.values().flat_map(|cluster| cluster.windows.values()).flat_map(|uses| &uses.value);
    let inline = uses.filter_map(|one| match one {
        WindowUse::Inline(window) => Some(window.as_ref()),
        WindowUse::Named(_) => None,
    });
    let all = windows.values().chain(inline);
    let mut names = all.map(|window| window.value.time_zone.as_ref().map(|name| &name.value));
    let first = names.next()??;
    if names.all(|name| name == Some(first)) { zone::parse(first).ok() } else { None }
}
