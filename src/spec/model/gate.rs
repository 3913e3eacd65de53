//! What opens and closes, and who hears of it.

use crate::spec::TableDef;
use crate::text::words;

/// What opens and closes: the CronJobs' common part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateDef {
    /// How a gate is held closed.
    pub mechanism: MechanismName,
    /// The table that the CronJobs look at again and again; `None` where they run at openings and closings alone.
    pub table: Option<TableDef>,
    /// Whether the API server itself refuses to resume what is closed.
    pub admission: bool,
    /// Whom Flux Operator asks for the newest commit, where the source of the spec does not say it.
    pub provider: ProviderDef,
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
            mechanism: MechanismName::Suspend,
            table: None,
            admission: false,
            provider: ProviderDef::default(),
            namespace: "jobs".into(),
            image: "ghcr.io/fluxcd/flux-cli:v2.9.4".into(),
            runner: Runner::Kubectl,
            enabled: true,
            service_account: "reconciliation-window".into(),
        }
    }
}

impl GateDef {
    /// Returns how many minutes lie at most between two looks at whether something is open; 0 for a pair of CronJobs, which
    /// run as it opens and closes.
    pub fn tick(&self) -> u32 {
        match (&self.table, self.mechanism) {
            (Some(table), _) => table.every,
            (None, MechanismName::FluxOperator) => PROVIDER_EVERY + PROVIDER_TIMEOUT,
            (None, _) => 0,
        }
    }

    /// Returns whether it opens at exact times and closes at exact times, whichever window it is: a pair of CronJobs turns one
    /// switch for all.
    pub fn is_exact(&self) -> bool {
        self.table.is_some() || self.mechanism == MechanismName::FluxOperator
    }

    /// Says what can keep neither freeze nor override; `None` where something can.
    pub(crate) fn inflexible(&self) -> Option<&'static str> {
        match (&self.table, self.mechanism) {
            (Some(_), _) => None,
            (None, MechanismName::FluxOperator) => Some("a schedule of Flux Operator"),
            (None, _) => Some("a gate that acts only at openings and closings"),
        }
    }

    /// Says what to do about that.
    pub(crate) fn needs_table(&self) -> &'static str {
        match self.mechanism {
            MechanismName::FluxOperator => {
                "choose `mechanism: follow` under `gate`, with `every: 5m` and `through: 2027-12-31`"
            }
            _ => "give the gate a table: `every: 5m` and `through: 2027-12-31` under `gate`",
        }
    }
}

/// How often a ResourceSetInputProvider asks for the newest commit while a window is open, in minutes.
pub const PROVIDER_EVERY: u32 = 2;

/// How long it may ask, in minutes. It begins no later than that before the end of a window (flux-operator,
/// `internal/schedule`, `ShouldReconcile`).
pub const PROVIDER_TIMEOUT: u32 = 1;

/// Whom Flux Operator asks for the newest commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderDef {
    /// The type of the ResourceSetInputProvider, one of [`PROVIDER_TYPES`]; `None` where the URL says it.
    pub kind: Option<String>,
    /// The Secret with a token for its API; `None` for that of the source.
    pub secret: Option<String>,
}

/// The types of a ResourceSetInputProvider that tell the commit of a branch (flux-operator,
/// `api/v1/resourcesetinputprovider_types.go`).
pub const PROVIDER_TYPES: &[&str] =
    &["GitHubBranch", "GitLabBranch", "GiteaBranch", "AzureDevOpsBranch", "AWSCodeCommitBranch"];

words! {
    /// How a gate is held closed, by name; what it does stands in [`mechanism`](crate::mechanism).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum MechanismName {
        /// CronJobs suspend and resume.
        #[default]
        Suspend = "suspend",
        /// A source of its own follows the one that lands at once, while a window is open.
        Follow = "follow",
        /// Flux Operator moves a source of its own, as the schedule of a ResourceSetInputProvider says.
        FluxOperator = "flux-operator",
    }
}

impl MechanismName {
    /// Returns whether what is real-time stops at the next commit where it depends on what a closed gate holds.
    ///
    /// kustomize-controller asks a dependency for the same revision only where both read one source
    /// (`checkDependencies`), and what a gate holds as `follow` does reads a source of its own.
    pub const fn stops_dependants(self) -> bool {
        matches!(self, MechanismName::Suspend)
    }

    /// Returns whether what is gated reads a source of its own, which something moves while a window is open.
    pub const fn holds_sources(self) -> bool {
        matches!(self, MechanismName::Follow | MechanismName::FluxOperator)
    }
}

words! {
    /// The command with which a gate suspends and resumes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Runner {
        /// `kubectl patch`, which fails loudly.
        Kubectl = "kubectl",
        /// `flux suspend` and `flux resume`.
        Flux = "flux",
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
