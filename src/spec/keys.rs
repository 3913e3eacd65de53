//! Every key of `windows.yaml`: what the parser knows and what the schema says, in one table.

use crate::spec::model::{ALERT_TYPES, MechanismName, PROVIDER_TYPES};
use crate::spec::names::TextRule;
use crate::spec::template::{TemplateKind, TemplateRule};

/// The only version there is.
pub(crate) const API_VERSION: &str = "gitops-windows/v1";

/// A mapping with known keys.
#[derive(Debug)]
pub(crate) struct Table {
    /// What it is, with its article, for example `a window`.
    pub(crate) about: &'static str,
    /// Its keys.
    pub(crate) keys: &'static [Key],
    /// Sets of keys of which exactly one must be given, whole; none where keys are independent.
    pub(crate) forms: &'static [&'static [&'static str]],
    /// What follows where none of them is given, and what a set that is none does not say.
    pub(crate) unsaid: [&'static str; 2],
    /// Two keys that say the same, of which at most one may be given.
    pub(crate) exclusive: Option<[&'static str; 2]>,
    /// Whether an absent value stands for a mapping without keys.
    pub(crate) may_be_null: bool,
}

/// A key of a [`Table`].
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// One sentence for people, shown by editors.
    pub(crate) about: &'static str,
    pub(crate) shape: Shape,
    pub(crate) required: bool,
}

/// What stands under a key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Text(TextRule),
    Flag,
    Table(&'static Table),
    /// A mapping with keys of the user's.
    Map(&'static Map),
    /// A list.
    List(&'static Shape),
    /// One, or a list of at least one.
    OneOrMore(&'static Shape),
    /// That, or a table which says it otherwise.
    Chosen(&'static Shape, &'static Table),
    /// The name of a window, or a window.
    Window,
}

/// A mapping whose keys are names that the user gives.
#[derive(Debug)]
pub(crate) struct Map {
    /// What a key is, for example `type name`.
    pub(crate) key: &'static str,
    pub(crate) rule: TextRule,
    pub(crate) values: Shape,
    /// Whether there must be at least one; else an absent value stands for none.
    pub(crate) required: bool,
}

const fn key(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { name, about, shape, required: false }
}

const fn required(name: &'static str, shape: Shape, about: &'static str) -> Key {
    Key { name, about, shape, required: true }
}

const fn table(about: &'static str, keys: &'static [Key]) -> Table {
    Table { about, keys, forms: &[], unsaid: [""; 2], exclusive: None, may_be_null: true }
}

pub(crate) const LABEL: Shape = Shape::Text(TextRule::Label);
const OBJECT: Shape = Shape::Text(TextRule::Object);
const TIME: Shape = Shape::Text(TextRule::Time);
const MOMENT: Shape = Shape::Text(TextRule::Moment);
const REASON: Shape = Shape::Text(TextRule::Sentence);

/// The file.
pub(crate) const SPEC: Table = Table {
    may_be_null: false,
    ..table(
        "the spec",
        &[
            required(
                "apiVersion",
                Shape::Text(TextRule::OneOf(&[API_VERSION])),
                "The version of this format.",
            ),
            required(
                "types",
                Shape::Map(&TYPES),
                "The change types in dependency order: an earlier type never waits for a later one.",
            ),
            key("timeZone", TIME, "The IANA time zone of all windows, days and times that name none."),
            key("windows", Shape::Map(&WINDOWS), "The windows that types and clusters refer to by name."),
            key(
                "freezes",
                Shape::Map(&FREEZES),
                "The times in which nothing reconciles, whatever windows and overrides say.",
            ),
            key(
                "overrides",
                Shape::List(&Shape::Table(&OVERRIDE)),
                "The times in which a type reconciles beside its windows; they end by themselves.",
            ),
            key("waves", Shape::Table(&WAVES), "Groups of clusters whose windows open one after another."),
            key(
                "stagger",
                TIME,
                "The time over which clusters are spread by their names, for example 10m. Each opens and closes that much later.",
            ),
            key("clusters", Shape::Map(&CLUSTERS), "The clusters, with what differs from the rest."),
            key(
                "rules",
                Shape::List(&Shape::Table(&RULE)),
                "Which object has which type: the first rule that matches wins. Default: \
                 Namespaces and ConfigMaps have the first type, everything else the last.",
            ),
            key("flux", Shape::Table(&FLUX), "Where new Flux Kustomizations go, and their source."),
            key("gate", Shape::Table(&GATE), "The CronJobs that open and close windows."),
            key("alerts", Shape::Table(&ALERTS), "Who hears of openings that fail to apply."),
            key("layout", Shape::Table(&LAYOUT), "How folders, files and objects are named."),
            key("check", Shape::Table(&CHECK), "What `check` leaves out."),
        ],
    )
};

pub(crate) const CHECK: Table = table(
    "the check",
    &[key(
        "ignore",
        Shape::List(&Shape::Table(&IGNORE)),
        "Findings that are known and wanted, each with its reason.",
    )],
);

pub(crate) const IGNORE: Table = Table {
    may_be_null: false,
    ..table(
        "an ignore",
        &[
            required("code", Shape::Text(TextRule::Code), "The code of the finding, for example GW014."),
            key(
                "path",
                Shape::Text(TextRule::Glob),
                "A glob over the finding's file, with * and **. Default: every file.",
            ),
            required(
                "reason",
                Shape::Text(TextRule::Sentence),
                "Why it is wanted, for whoever reads this next.",
            ),
        ],
    )
};

const TYPES: Map =
    Map { key: "type name", rule: TextRule::Label, values: Shape::Table(&CHANGE_TYPE), required: true };

pub(crate) const CHANGE_TYPE: Table = table(
    "a change type",
    &[key(
        "window",
        Shape::OneOrMore(&LABEL),
        "The window, or a list of windows, in which the type reconciles; none for real-time.",
    )],
);

const WINDOWS: Map =
    Map { key: "window name", rule: TextRule::Label, values: Shape::Table(&WINDOW), required: false };

pub(crate) const WINDOW: Table = Table {
    about: "a window",
    keys: &[
        key("timeZone", TIME, "The IANA time zone, for example Europe/Berlin."),
        key(
            "on",
            TIME,
            "The day on which it opens, for example second Tue of month. Needs a gate with `every`.",
        ),
        key("open", TIME, "When it opens, as a cron expression of five fields."),
        key("close", TIME, "When it closes, as a cron expression of five fields."),
        key("for", TIME, "How long it stays open, for example 4h or 90m."),
        key(
            "from",
            Shape::Text(TextRule::Clock),
            "When it opens, as a moment of the week, for example Mon 08:00. With `on` it is a time of day, for example 20:00.",
        ),
        key("to", TIME, "When it closes, as a moment of the week, for example Thu 17:00."),
    ],
    forms: &[&["open", "close"], &["open", "for"], &["from", "to"], &["on", "from", "for"]],
    unsaid: ["it would never open", "when it opens and closes"],
    exclusive: None,
    may_be_null: false,
};

const FREEZES: Map =
    Map { key: "freeze name", rule: TextRule::Label, values: Shape::Table(&FREEZE), required: false };

pub(crate) const FREEZE: Table = Table {
    forms: &[&["from", "to", "reason"], &["calendar"]],
    unsaid: ["it would freeze nothing", "when it begins and ends, and why"],
    exclusive: Some(["clusters", "labels"]),
    may_be_null: false,
    ..table(
        "a freeze",
        &[
            key("from", MOMENT, "The first day, for example 2026-12-18, or time, such as 2026-12-18T17:00."),
            key("to", MOMENT, "The last day, or the time at which it ends."),
            key(
                "calendar",
                FOLDER,
                "An iCalendar file (.ics), relative to this one: each event is a freeze.",
            ),
            key("timeZone", TIME, "The IANA time zone. Default: the spec's, or else the windows'."),
            key("reason", REASON, "Why, for whoever waits."),
            key("types", Shape::OneOrMore(&LABEL), "The types. Default: every type with a window."),
            key(
                "clusters",
                Shape::Chosen(&Shape::OneOrMore(&CLUSTER_NAME), &SELECTED),
                "The clusters, by name or by `labels`. Default: every cluster.",
            ),
            key("labels", Shape::Map(&LABELS), "The labels of the clusters, all of which they have."),
        ],
    )
};

pub(crate) const SELECTED: Table = Table {
    may_be_null: false,
    ..table(
        "the choice of clusters",
        &[required("labels", Shape::Map(&LABELS), "The labels of the clusters, all of which they have.")],
    )
};

pub(crate) const OVERRIDE: Table = Table {
    exclusive: Some(["cluster", "labels"]),
    may_be_null: false,
    ..table(
        "an override",
        &[
            key("cluster", CLUSTER_NAME, "The cluster."),
            key("labels", Shape::Map(&LABELS), "The labels of the clusters, all of which they have."),
            required("type", LABEL, "The type that reconciles."),
            required("from", MOMENT, "When it begins, for example 2026-11-21T20:00."),
            required("until", MOMENT, "When it ends."),
            key("timeZone", TIME, "The IANA time zone. Default: the spec's, or else the windows'."),
            required("reason", REASON, "Why, for whoever asks."),
        ],
    )
};

pub(crate) const WAVES: Table = Table {
    may_be_null: false,
    ..table(
        "the waves",
        &[
            required(
                "order",
                Shape::OneOrMore(&LABEL),
                "The waves, the first one at the times of its windows.",
            ),
            required("by", LABEL, "The label of clusters that names their wave."),
            required("offset", TIME, "How much later each wave is than the one before, for example 30m."),
        ],
    )
};

const CLUSTER_NAME: Shape = Shape::Text(TextRule::Cluster);

const LABELS: Map = Map { key: "label", rule: TextRule::Label, values: LABEL, required: true };

const OWN_LABELS: Map = Map { required: false, ..LABELS };

const CLUSTERS: Map =
    Map { key: "cluster name", rule: TextRule::Cluster, values: Shape::Table(&CLUSTER), required: false };

pub(crate) const CLUSTER: Table = Table {
    exclusive: Some(["path", "paths"]),
    ..table(
        "a cluster",
        &[
            key("path", FOLDER, "The cluster's folder, relative to this file's folder."),
            key("paths", Shape::OneOrMore(&FOLDER), "The cluster's folders, where there are several."),
            key(
                "roots",
                Shape::OneOrMore(&FOLDER),
                "The folders from which Flux reads the cluster, where Git does not say it.",
            ),
            key("labels", Shape::Map(&OWN_LABELS), "What freezes, overrides and waves know the cluster by."),
            key("windows", Shape::Map(&OVERRIDES), "By type, the windows that replace the type's own here."),
            key("gate", Shape::Table(&CLUSTER_GATE), "What differs for this cluster's CronJobs."),
            key(
                "hasGate",
                Shape::Flag,
                "Whether it has windows and a gate; else only its folders are known.",
            ),
        ],
    )
};

const FOLDER: Shape = Shape::Text(TextRule::Folder);

const OVERRIDES: Map = Map {
    key: "type name",
    rule: TextRule::Label,
    values: Shape::OneOrMore(&Shape::Window),
    required: false,
};

pub(crate) const CLUSTER_GATE: Table =
    table("a cluster's gate", &[key("enabled", Shape::Flag, "Whether this cluster's CronJobs run.")]);

const WILDCARD: Shape = Shape::Text(TextRule::Wildcard);
const KEY_VALUE: Shape = Shape::Text(TextRule::KeyValue);

pub(crate) const RULE: Table = Table {
    may_be_null: false,
    ..table(
        "a rule",
        &[
            key("kind", Shape::Text(TextRule::Kind), "The exact kind, for example ConfigMap."),
            key("apiGroup", Shape::Text(TextRule::Group), "The exact API group, empty for the core group."),
            key("name", WILDCARD, "The object's name; * stands for any characters."),
            key("namespace", WILDCARD, "The object's namespace; * stands for any characters."),
            key("app", WILDCARD, "The app's folder name; * stands for any characters."),
            key("label", KEY_VALUE, "A label that the object has, as key or key=value."),
            key("annotation", KEY_VALUE, "An annotation that the object has, as key or key=value."),
            key("path", Shape::Text(TextRule::Glob), "A glob over the file's path, with * and **."),
            key(
                "valuesOf",
                Shape::Text(TextRule::OneOf(&["HelmRelease"])),
                "What a HelmRelease of this type reads by spec.valuesFrom.",
            ),
            required("type", LABEL, "The type of the objects that match."),
        ],
    )
};

pub(crate) const FLUX: Table = table(
    "the Flux defaults",
    &[
        key("namespace", LABEL, "The namespace of Flux Kustomizations. Default: flux-system."),
        key("source", Shape::Table(&SOURCE), "The source that Flux Kustomizations read."),
    ],
);

pub(crate) const SOURCE: Table = table(
    "a source",
    &[
        key(
            "kind",
            Shape::Text(TextRule::OneOf(&["GitRepository", "OCIRepository", "Bucket", "ExternalArtifact"])),
            "The source's kind. Default: GitRepository.",
        ),
        key("name", OBJECT, "The source's name. Default: flux-system."),
        key("namespace", LABEL, "The source's namespace, where it differs from the Flux Kustomization's."),
        key("path", FOLDER, "The folder that the artifact is made of. Default: the whole repository."),
    ],
);

/// How often CronJobs can look: as an hour is divided evenly.
pub(crate) const EVERY: &[&str] = &["1m", "2m", "3m", "4m", "5m", "6m", "10m", "12m", "15m", "20m", "30m"];

pub(crate) const GATE: Table = table(
    "the gate",
    &[
        key(
            "mechanism",
            Shape::Text(TextRule::OneOf(&MechanismName::WORDS)),
            "How windows open and close. `suspend`: CronJobs suspend and resume. `follow`: a held source gets commits \
             while a window is open; nothing has to close. `flux-operator`: the same by Flux Operator. Default: suspend.",
        ),
        key(
            "every",
            Shape::Text(TextRule::OneOf(EVERY)),
            "How often the CronJobs look at a table of open times and mend the state. Default: they run at \
             openings and closings alone.",
        ),
        key("from", MOMENT, "The first day of that table. Default: two years before its last."),
        key("through", MOMENT, "The last day of that table, for example 2027-12-31."),
        key(
            "settle",
            TIME,
            "How long before each end nothing new is let in. A short time keeps its last quarter for that. Default: 5m.",
        ),
        key(
            "admission",
            Shape::Flag,
            "Whether the API server itself refuses to resume what is closed. Default: false.",
        ),
        key(
            "kubernetes",
            Shape::Text(TextRule::Minor),
            "The oldest Kubernetes of all clusters, for example \"1.36\"; for `admission`.",
        ),
        key("provider", Shape::Table(&PROVIDER), "Whom Flux Operator asks for the newest commit."),
        key("namespace", LABEL, "The namespace of the CronJobs. Default: jobs."),
        key("image", Shape::Text(TextRule::Image), "The image that holds kubectl and flux."),
        key("runner", Shape::Text(TextRule::OneOf(&["kubectl", "flux"])), "The command. Default: kubectl."),
        key("enabled", Shape::Flag, "Whether the CronJobs run. Default: true."),
        key("serviceAccount", OBJECT, "The ServiceAccount's name. Default: reconciliation-window."),
    ],
);

pub(crate) const PROVIDER: Table = table(
    "the provider",
    &[
        key(
            "type",
            Shape::Text(TextRule::OneOf(PROVIDER_TYPES)),
            "The type of the ResourceSetInputProvider. Default: by the host of the source's URL.",
        ),
        key("secret", OBJECT, "The Secret with a token for its API. Default: the Secret of the source."),
    ],
);

pub(crate) const ALERTS: Table = Table {
    may_be_null: false,
    ..table(
        "the alerts",
        &[
            required(
                "type",
                Shape::Text(TextRule::OneOf(ALERT_TYPES)),
                "The type of the Flux notification Provider, for example slack.",
            ),
            key("channel", Shape::Text(TextRule::Sentence), "The channel, where the address names none."),
            key(
                "secret",
                OBJECT,
                "The Secret with the address and the token. Default: reconciliation-window-alerts.",
            ),
        ],
    )
};

macro_rules! template {
    ($kind:ident, $placeholders:expr, $needs:expr) => {
        template!($kind, $placeholders, $needs, false)
    };
    ($kind:ident, $placeholders:expr, $needs:expr, $segments:expr) => {
        Shape::Text(TextRule::Template(
            const {
                &TemplateRule {
                    placeholders: $placeholders,
                    segments: $segments,
                    needs: $needs,
                    kind: TemplateKind::$kind,
                }
            },
        ))
    };
}

pub(crate) const LAYOUT: Table = table(
    "the layout",
    &[
        key("gate", template!(Folder, &[], &[]), "The folder of the CronJobs' base."),
        key(
            "clusterGate",
            template!(Folder, &["cluster", "path"], &[]),
            "The folder of a cluster's patches of the CronJobs. With several clusters it has `{cluster}` or `{path}`.",
        ),
        key(
            "entryPoint",
            template!(
                Folder,
                &["path", "name", "type", "cluster"],
                &[&["path", "type"], &["cluster", "name", "type"], &["1", "type"]],
                true
            ),
            "The folder of a type's entry point.",
        ),
        key(
            "app",
            template!(
                Folder,
                &["path", "name", "type"],
                &[&["path", "type"], &["name", "type"], &["1", "type"]],
                true
            ),
            "The folder of an app's part of one type.",
        ),
        key(
            "kustomization",
            template!(Object, &["name", "type"], &[&["name", "type"]]),
            "The name of a type's Flux Kustomization.",
        ),
        key("openJob", template!(Object, &[], &[]), "The name of the CronJob that opens."),
        key("closeJob", template!(Object, &[], &[]), "The name of the CronJob that closes."),
        key("openJobFile", template!(File, &["job"], &[]), "The file of the CronJob that opens."),
        key("openPatchFile", template!(File, &["job"], &[]), "The file of a cluster's patch of it."),
        key("closeJobFile", template!(File, &["job"], &[]), "The file of the CronJob that closes."),
        key("closePatchFile", template!(File, &["job"], &[]), "The file of a cluster's patch of it."),
    ],
);
