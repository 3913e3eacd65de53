//! What `windows.yaml` says, validated.

use indexmap::IndexMap;

use crate::repo::RepoPath;
use crate::spec::{Placed, expand};

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
    /// The named windows.
    pub windows: IndexMap<String, Placed<WindowDef>>,
    /// The clusters by name.
    pub clusters: IndexMap<String, Cluster>,
    /// The rules that give each object its type; the first that matches wins, the last matches all.
    pub rules: Vec<Placed<Rule>>,
    /// Where new Flux Kustomizations go and what they read.
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
    /// Tells whether changes of this type never wait for a window.
    pub fn is_real_time(&self) -> bool {
        self.windows.is_empty()
    }
}

/// Recurring intervals during which a gated type reconciles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowDef {
    /// The name under `windows`; `None` for one that is written inline under a cluster.
    pub name: Option<Placed<String>>,
    /// The IANA time zone; `None` leaves the choice to the zone of the cluster's controller.
    pub time_zone: Option<Placed<String>>,
    /// Whether a time zone is written that is no text, which was told; then `time_zone` is `None` as well.
    pub(crate) zone_refused: bool,
    /// When it opens and closes.
    pub form: WindowForm,
}

/// The three ways to write a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowForm {
    /// Two cron expressions.
    OpenClose {
        /// When it opens, for example `0 8 * * MON`.
        open: Placed<String>,
        /// When it closes, for example `0 17 * * THU`.
        close: Placed<String>,
    },
    /// A cron expression and a length.
    OpenFor {
        /// When it opens.
        open: Placed<String>,
        /// How long it stays open, for example `4h` or `90m`; written `for`.
        length: Placed<String>,
    },
    /// Two moments of the week.
    FromTo {
        /// When it opens, for example `Mon 08:00`.
        from: Placed<String>,
        /// When it closes, for example `Thu 17:00`.
        to: Placed<String>,
    },
}

impl WindowForm {
    /// Tells whether all of it was read; what was not is said elsewhere.
    pub(crate) fn is_whole(&self) -> bool {
        match self {
            WindowForm::FromTo { from, to } => !from.is_empty() && !to.is_empty(),
            _ => true,
        }
    }
}

/// One cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The name, which is also the name of its folder in most layouts.
    pub name: Placed<String>,
    /// The cluster's folders, relative to the spec's folder; empty where the layout says it.
    pub paths: Vec<Placed<String>>,
    /// By type, the windows that replace the type's own in this cluster; none of them is empty.
    pub windows: IndexMap<String, Placed<Vec<WindowUse>>>,
    /// Whether the cluster's CronJobs run; `None` where [`GateDef::enabled`] decides.
    pub enabled: Option<bool>,
}

/// A window as a cluster names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WindowUse {
    /// One of [`Spec::windows`], which exists.
    Named(Placed<String>),
    /// A window written in place.
    Inline(Box<Placed<WindowDef>>),
}

/// One line of `rules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Which objects it speaks of.
    pub matcher: Matcher,
    /// The type that they get, which exists.
    pub type_name: Placed<String>,
}

/// A condition on an object: everything that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matcher {
    /// The exact kind, for example `ConfigMap`.
    pub kind: Option<String>,
    /// The exact API group without version, for example `apps`; empty for the core group.
    pub api_group: Option<String>,
    /// The object's name; `*` stands for any characters, also none.
    pub name: Option<String>,
    /// The object's namespace; `*` as in `name`.
    pub namespace: Option<String>,
    /// The app, by the name of its folder; `*` as in `name`.
    pub app: Option<String>,
    /// A label that the object has, with the value where one is given.
    pub label: Option<(String, Option<String>)>,
    /// An annotation that the object has, with the value where one is given.
    pub annotation: Option<(String, Option<String>)>,
    /// A glob over the file's path, relative to the spec's folder: `*` within a segment, `**`
    /// over segments, `?` one character.
    pub path: Option<String>,
}

impl Matcher {
    /// Tells whether every object matches, because nothing is asked.
    pub fn matches_all(&self) -> bool {
        *self == Matcher::default()
    }
}

/// Where new Flux Kustomizations go and what they read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FluxDefaults {
    /// The namespace of the Flux Kustomizations.
    pub namespace: String,
    /// The source that they read.
    pub source: FluxSource,
}

/// The source of a Flux Kustomization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FluxSource {
    /// `GitRepository`, `OCIRepository`, `Bucket` or `ExternalArtifact`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its namespace; `None` for that of the Flux Kustomization.
    pub namespace: Option<String>,
}

impl Default for FluxDefaults {
    fn default() -> FluxDefaults {
        FluxDefaults { namespace: "flux-system".into(), source: FluxSource::default() }
    }
}

impl Default for FluxSource {
    fn default() -> FluxSource {
        FluxSource { kind: "GitRepository".into(), name: "flux-system".into(), namespace: None }
    }
}

/// What opens and closes: the CronJobs' common part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateDef {
    /// The namespace of the CronJobs and their ServiceAccount.
    pub namespace: String,
    /// The image, which holds `kubectl` and `flux`.
    pub image: String,
    /// The command that suspends and resumes.
    pub runner: Runner,
    /// Whether the CronJobs run; `false` keeps them suspended. Clusters may differ.
    pub enabled: bool,
    /// The name of the ServiceAccount, Role and RoleBinding.
    pub service_account: String,
}

impl Default for GateDef {
    fn default() -> GateDef {
        GateDef {
            namespace: "jobs".into(),
            image: "ghcr.io/fluxcd/flux-cli:v2.9.4".into(),
            runner: Runner::Kubectl,
            enabled: true,
            service_account: "reconciliation-window".into(),
        }
    }
}

/// The command with which a gate suspends and resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Runner {
    /// `kubectl patch`, which fails loudly.
    Kubectl,
    /// `flux suspend` and `flux resume`.
    Flux,
}

impl Runner {
    /// Gives the name as the spec writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Runner::Kubectl => "kubectl",
            Runner::Flux => "flux",
        }
    }
}

/// Who hears when a gated Flux Kustomization fails to apply: a Flux notification Provider.
///
/// What is secret about it, the address of a webhook included, is in the Secret alone, which
/// notification-controller prefers to `spec.address`
/// (<https://fluxcd.io/flux/components/notification/providers/>).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertDef {
    /// The Provider's type, one of [`ALERT_TYPES`], for example `slack`.
    pub kind: String,
    /// The channel; `None` leaves it to the address.
    pub channel: Option<String>,
    /// The Secret's name, in the namespace of the Flux Kustomizations.
    pub secret: String,
}

impl AlertDef {
    /// Alerts of a type, with the Secret that has the usual name.
    pub fn new(kind: &str) -> AlertDef {
        AlertDef { kind: kind.to_owned(), channel: None, secret: "reconciliation-window-alerts".into() }
    }
}

/// The types that a Provider of `notification.toolkit.fluxcd.io/v1beta3` may have
/// (notification-controller, `api/v1beta3/provider_types.go`); any other fails to apply, and with it
/// the gate beside it.
pub const ALERT_TYPES: &[&str] = &[
    "slack",
    "discord",
    "msteams",
    "rocket",
    "generic",
    "generic-hmac",
    "github",
    "gitlab",
    "gitea",
    "bitbucketserver",
    "bitbucket",
    "azuredevops",
    "googlechat",
    "googlepubsub",
    "webex",
    "sentry",
    "azureeventhub",
    "telegram",
    "lark",
    "matrix",
    "opsgenie",
    "alertmanager",
    "grafana",
    "githubdispatch",
    "pagerduty",
    "datadog",
    "nats",
];

/// How folders, files and objects are named: texts with placeholders in braces.
///
/// [`expand`](crate::spec::expand) fills them in. Folders are relative to the spec's folder and
/// never leave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutTemplates {
    /// The folder of the gates' base.
    pub gate: String,
    /// The folder of a cluster's patches: `{cluster}`, `{path}` (the cluster's folder).
    pub cluster_gate: String,
    /// The folder of a type's entry point: `{path}` (the folder that is split), `{name}` (its
    /// last segment), `{1}` to `{9}` (its segments), `{2..}` (all from the second on), `{type}`,
    /// `{cluster}`.
    pub entry_point: String,
    /// The folder of an app's part: `{path}` (the app's folder), `{name}` (its last segment),
    /// `{1}` to `{9}` and `{2..}` as above, `{type}`.
    pub app: String,
    /// The name of a type's Flux Kustomization: `{name}` (of the one that is split), `{type}`.
    pub kustomization: String,
    /// The name of the CronJob that opens.
    pub open_job: String,
    /// The name of the CronJob that closes.
    pub close_job: String,
    /// The file of the CronJob that opens, in `gate`: `{job}` (the CronJob's name).
    pub open_job_file: String,
    /// The file of a cluster's patch of it, in `clusterGate`: `{job}`.
    pub open_patch_file: String,
    /// The file of the CronJob that closes: `{job}`.
    pub close_job_file: String,
    /// The file of a cluster's patch of it: `{job}`.
    pub close_patch_file: String,
}

impl Default for LayoutTemplates {
    fn default() -> LayoutTemplates {
        LayoutTemplates {
            gate: "infra/reconciliation-windows".into(),
            cluster_gate: "clusters/{cluster}/infra/reconciliation-windows".into(),
            entry_point: "{path}/{name}-{type}".into(),
            app: "{path}/{name}-{type}".into(),
            kustomization: "{name}-{type}".into(),
            open_job: "open-reconciliation-window".into(),
            close_job: "close-reconciliation-window".into(),
            open_job_file: "{job}-job.yaml".into(),
            open_patch_file: "{job}-patch.yaml".into(),
            close_job_file: "{job}-job.yaml".into(),
            close_patch_file: "{job}-patch.yaml".into(),
        }
    }
}

impl LayoutTemplates {
    /// Gives each template with its key, in the order in which they are written.
    pub fn entries(&self) -> [(&'static str, &str); 11] {
        [
            ("gate", &self.gate),
            ("clusterGate", &self.cluster_gate),
            ("entryPoint", &self.entry_point),
            ("app", &self.app),
            ("kustomization", &self.kustomization),
            ("openJob", &self.open_job),
            ("closeJob", &self.close_job),
            ("openJobFile", &self.open_job_file),
            ("openPatchFile", &self.open_patch_file),
            ("closeJobFile", &self.close_job_file),
            ("closePatchFile", &self.close_patch_file),
        ]
    }

    pub(crate) fn entries_mut(&mut self) -> [(&'static str, &mut String); 11] {
        [
            ("gate", &mut self.gate),
            ("clusterGate", &mut self.cluster_gate),
            ("entryPoint", &mut self.entry_point),
            ("app", &mut self.app),
            ("kustomization", &mut self.kustomization),
            ("openJob", &mut self.open_job),
            ("closeJob", &mut self.close_job),
            ("openJobFile", &mut self.open_job_file),
            ("openPatchFile", &mut self.open_patch_file),
            ("closeJobFile", &mut self.close_job_file),
            ("closePatchFile", &mut self.close_patch_file),
        ]
    }
}

impl Spec {
    /// Gives the folder that holds the spec, to which its paths are relative.
    pub fn folder(&self) -> RepoPath {
        self.path.parent().unwrap_or_else(RepoPath::top)
    }

    /// Gives the type of this name.
    pub fn change_type(&self, name: &str) -> Option<&ChangeType> {
        self.types.iter().find(|change_type| change_type.name.value == name)
    }

    /// Gives the windows in which a type reconciles in a cluster: the cluster's own where it has
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

    /// Gives the folder of a cluster's gate, relative to the spec's.
    pub fn gate_folder(&self, cluster: &str) -> String {
        let folders = self.clusters.get(cluster).map(|cluster| cluster.paths.as_slice()).unwrap_or_default();
        let path = folders.first().map_or(cluster, |path| path.value.as_str());
        expand(&self.layout.cluster_gate, &[("cluster", cluster), ("path", path)])
    }

    /// Tells whether a cluster's CronJobs run, by its own word or else by [`GateDef::enabled`].
    pub fn gate_enabled(&self, cluster: &str) -> bool {
        self.clusters.get(cluster).and_then(|cluster| cluster.enabled).unwrap_or(self.gate.enabled)
    }
}
