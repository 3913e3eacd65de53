//! The text of a fresh `windows.yaml`.

use std::fmt::Write;

use crate::spec::model::{AlertDef, FluxDefaults, GateDef, LayoutTemplates, MechanismName, ProviderDef};
use crate::spec::{keys, trap};

/// What a fresh `windows.yaml` is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSpec {
    /// The change types in order, with the names of their windows; none for real-time.
    pub types: Vec<(String, Vec<String>)>,
    /// The zone of windows, days and times that name none.
    pub time_zone: Option<String>,
    /// The named windows.
    pub windows: Vec<(String, NewWindow)>,
    /// The clusters.
    pub clusters: Vec<NewCluster>,
    /// Where Flux Kustomizations go and what they read.
    pub flux: FluxDefaults,
    /// The CronJobs' common part.
    pub gate: GateDef,
    /// Who hears of openings that fail to apply.
    pub alerts: Option<AlertDef>,
    /// The templates; those that are the default's are left out.
    pub layout: LayoutTemplates,
    /// Whether there are HelmReleases, with which their values go.
    pub has_releases: bool,
}

/// A window of two cron expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWindow {
    /// The IANA time zone.
    pub time_zone: Option<String>,
    /// When it opens.
    pub open: String,
    /// When it closes.
    pub close: String,
}

/// A cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewCluster {
    /// The name.
    pub name: String,
    /// The folders, relative to the spec's.
    pub paths: Vec<String>,
    /// The folders from which Flux reads it, relative to the spec's; none where Git says it.
    pub roots: Vec<String>,
    /// By type, the windows that replace the type's own.
    pub windows: Vec<(String, Vec<NewWindowUse>)>,
    /// Whether the CronJobs run; `None` where the gate decides.
    pub enabled: Option<bool>,
}

/// A window as a cluster names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewWindowUse {
    /// A named window.
    Named(String),
    /// A window in place.
    Inline(NewWindow),
}

impl Default for NewSpec {
    /// Real-time and one reconciliation window, Monday 8:00 to Thursday 17:00, without clusters.
    fn default() -> NewSpec {
        let window = NewWindow { time_zone: None, open: "0 8 * * MON".into(), close: "0 17 * * THU".into() };
        NewSpec {
            types: vec![("rt".into(), Vec::new()), ("rw".into(), vec!["work-week".into()])],
            time_zone: None,
            windows: vec![("work-week".into(), window)],
            clusters: Vec::new(),
            flux: FluxDefaults::default(),
            gate: GateDef::default(),
            alerts: None,
            layout: LayoutTemplates::default(),
            has_releases: false,
        }
    }
}

impl NewSpec {
    /// Returns the type that waits this window alone.
    pub fn set_window(&mut self, name: String, window: NewWindow) {
        for (_, windows) in self.types.iter_mut().filter(|(_, windows)| !windows.is_empty()) {
            *windows = vec![name.clone()];
        }
        self.windows = vec![(name, window)];
    }
}

/// Writes a fresh `windows.yaml`, with a comment where a reader would ask.
///
/// Every value is quoted where YAML 1.1 or 1.2 would read it as anything but this text, so that no
/// value can become another value or a key. Whether the spec is valid is for
/// [`parse`](crate::spec::parse()) to say.
///
/// ```
/// use gitops_windows::{path::RepoPath, spec::{NewSpec, parse, write_new}};
/// let text = write_new(&NewSpec::default());
/// assert!(parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes()).is_ok());
/// ```
pub fn write_new(spec: &NewSpec) -> String {
    let mut out = Writer(String::new());
    out.line(0, "# yaml-language-server: $schema=./windows.schema.json");
    out.pair(0, "apiVersion", keys::API_VERSION);
    out.types(spec);
    out.windows(spec);
    out.clusters(spec);
    out.rules(spec);
    out.flux(&spec.flux);
    out.gate(&spec.gate);
    out.alerts(spec.alerts.as_ref());
    out.layout(&spec.layout);
    out.0
}

struct Writer(String);

impl Writer {
    fn line(&mut self, indent: usize, text: &str) {
        // Writing to a string never fails.
        let _ = writeln!(self.0, "{:indent$}{text}", "");
    }

    fn pair(&mut self, indent: usize, key: &str, value: &str) {
        self.line(indent, &format!("{}: {}", quote(key), quote(value)));
    }

    fn section(&mut self, comment: &str, key: &str) {
        self.0.push('\n');
        self.line(0, &format!("# {comment}"));
        self.line(0, &format!("{key}:"));
    }

    fn types(&mut self, spec: &NewSpec) {
        self.section("How changes reach a cluster: an earlier type never waits for a later one.", "types");
        for (name, windows) in &spec.types {
            match windows.as_slice() {
                [] => self.line(2, &format!("{}: {{}} # real-time: no window", quote(name))),
                windows => {
                    self.line(2, &format!("{}:", quote(name)));
                    self.line(4, &format!("window: {}", one_or_list(windows)));
                }
            }
        }
    }

    fn windows(&mut self, spec: &NewSpec) {
        if spec.windows.is_empty() {
            return;
        }
        self.0.push('\n');
        self.line(0, "# When windows open and close: cron expressions in a time zone.");
        if let Some(zone) = &spec.time_zone {
            self.pair(0, "timeZone", zone);
        }
        self.line(0, "windows:");
        for (name, window) in &spec.windows {
            self.line(2, &format!("{}:", quote(name)));
            self.window(4, spec, window);
        }
    }

    fn window(&mut self, indent: usize, spec: &NewSpec, window: &NewWindow) {
        if let Some(zone) = window.time_zone.as_ref().filter(|zone| spec.time_zone.as_ref() != Some(zone)) {
            self.pair(indent, "timeZone", zone);
        }
        self.pair(indent, "open", &window.open);
        self.pair(indent, "close", &window.close);
    }

    fn clusters(&mut self, spec: &NewSpec) {
        if spec.clusters.is_empty() {
            return;
        }
        self.section("The clusters, and where one differs from the rest.", "clusters");
        for cluster in &spec.clusters {
            let is_placed = !cluster.paths.is_empty() || !cluster.roots.is_empty();
            let plain = !is_placed && cluster.windows.is_empty() && cluster.enabled.is_none();
            if plain {
                self.line(2, &format!("{}: {{}}", quote(&cluster.name)));
                continue;
            }
            self.line(2, &format!("{}:", quote(&cluster.name)));
            match cluster.paths.as_slice() {
                [] => {}
                [path] => self.pair(4, "path", path),
                paths => self.line(4, &format!("paths: {}", one_or_list(paths))),
            }
            if !cluster.roots.is_empty() {
                self.line(4, &format!("roots: {}", one_or_list(&cluster.roots)));
            }
            if !cluster.windows.is_empty() {
                self.line(4, "windows:");
                for (name, uses) in &cluster.windows {
                    self.window_uses(spec, name, uses);
                }
            }
            if let Some(enabled) = cluster.enabled {
                self.line(4, "gate:");
                self.line(6, &format!("enabled: {enabled}"));
            }
        }
    }

    fn window_uses(&mut self, spec: &NewSpec, type_name: &str, uses: &[NewWindowUse]) {
        let key = quote(type_name);
        match uses {
            [NewWindowUse::Named(name)] => self.line(6, &format!("{key}: {}", quote(name))),
            [NewWindowUse::Inline(window)] => {
                self.line(6, &format!("{key}:"));
                self.window(8, spec, window);
            }
            [] => self.line(6, &format!("{key}: []")),
            uses => {
                self.line(6, &format!("{key}:"));
                for window in uses {
                    match window {
                        NewWindowUse::Named(name) => self.line(8, &format!("- {}", quote(name))),
                        NewWindowUse::Inline(window) => {
                            self.line(8, "-");
                            self.window(10, spec, window);
                        }
                    }
                }
            }
        }
    }

    fn rules(&mut self, spec: &NewSpec) {
        let (Some((first, _)), Some((last, _))) = (spec.types.first(), spec.types.last()) else { return };
        self.section("Which object has which type: the first rule that matches wins.", "rules");
        let of_kind = |kind: &str| format!("- {{ kind: {kind}, type: {} }}", quote(first));
        self.line(2, &of_kind("Namespace"));
        if spec.has_releases {
            self.line(2, &format!("- {{ valuesOf: HelmRelease, type: {} }}", quote(last)));
        }
        self.line(2, &of_kind("ConfigMap"));
        self.line(2, &format!("- {{ type: {} }}", quote(last)));
    }

    fn flux(&mut self, flux: &FluxDefaults) {
        self.section("Where new Flux Kustomizations go, and the source that they read.", "flux");
        self.pair(2, "namespace", &flux.namespace);
        self.line(2, "source:");
        self.pair(4, "kind", &flux.source.kind);
        self.pair(4, "name", &flux.source.name);
        if let Some(namespace) = &flux.source.namespace {
            self.pair(4, "namespace", namespace);
        }
        if let Some(path) = &flux.source.path {
            self.pair(4, "path", path);
        }
    }

    fn gate(&mut self, gate: &GateDef) {
        self.section("The CronJobs that open and close the windows; suspended while not enabled.", "gate");
        if gate.mechanism != MechanismName::default() {
            self.pair(2, "mechanism", gate.mechanism.as_str());
        }
        let ProviderDef { kind, secret } = &gate.provider;
        if kind.is_some() || secret.is_some() {
            self.line(2, "provider:");
            kind.iter().for_each(|kind| self.pair(4, "type", kind));
            secret.iter().for_each(|secret| self.pair(4, "secret", secret));
        }
        self.line(2, &format!("enabled: {}", gate.enabled));
        self.pair(2, "namespace", &gate.namespace);
        self.pair(2, "image", &gate.image);
        self.pair(2, "runner", gate.runner.as_str());
        if gate.service_account != GateDef::default().service_account {
            self.pair(2, "serviceAccount", &gate.service_account);
        }
    }

    fn alerts(&mut self, alerts: Option<&AlertDef>) {
        let Some(alerts) = alerts else { return };
        self.section("Who hears of openings that fail to apply: a Flux notification Provider.", "alerts");
        self.pair(2, "type", &alerts.kind);
        if let Some(channel) = &alerts.channel {
            self.pair(2, "channel", channel);
        }
        self.pair(2, "secret", &alerts.secret);
    }

    fn layout(&mut self, layout: &LayoutTemplates) {
        let default = LayoutTemplates::default();
        let mut entries: Vec<(&str, &str)> = layout.entries().into();
        entries.retain(|entry| !default.entries().contains(entry));
        if entries.is_empty() {
            return;
        }
        self.section("How folders, files and objects are named.", "layout");
        for (key, template) in entries {
            self.pair(2, key, template);
        }
    }
}

fn one_or_list(texts: &[String]) -> String {
    match texts {
        [one] => quote(one),
        many => format!("[{}]", many.iter().map(|text| quote(text)).collect::<Vec<_>>().join(", ")),
    }
}

/// Writes a text as a YAML scalar on one line, plain where nothing can misread it.
///
/// What is written is the same text in block and in flow style, to YAML 1.1 and 1.2.
fn quote(text: &str) -> String {
    let mut characters = text.chars().peekable();
    let mut plain = text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !text.ends_with([' ', ':'])
        && trap::meaning(text).is_none();
    while let Some(character) = characters.next() {
        plain &= match character {
            ':' => characters.peek().is_some_and(char::is_ascii_alphanumeric),
            ' ' => characters.peek() != Some(&' '),
            '.' | '_' | '-' | '/' | '*' | '@' => true,
            other => other.is_ascii_alphanumeric(),
        };
    }
    if plain {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            // What is left as it is, every version of YAML prints and nobody breaks lines at.
            ' '..='~' | '\u{a0}'..='\u{1fff}' | '\u{3000}'..='\u{d7ff}' | '\u{f900}'..='\u{fdff}' => {
                quoted.push(character);
            }
            other if (other as u32) < 0x100 => {
                let _ = write!(quoted, "\\x{:02x}", other as u32);
            }
            other if (other as u32) < 0x1_0000 => {
                let _ = write!(quoted, "\\u{:04x}", other as u32);
            }
            other => {
                let _ = write!(quoted, "\\U{:08x}", other as u32);
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
