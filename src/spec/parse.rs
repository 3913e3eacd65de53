//! From the bytes of `windows.yaml` to a [`Spec`].

mod time;

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use jiff::tz::TimeZone;

use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::error::{Error, ErrorKind};
use crate::limit;
use crate::path::RepoPath;
use crate::repo::conflict;
use crate::schedule::WindowKey;
use crate::spec::keys::{self, Shape};
use crate::spec::model::{
    AlertDef, ChangeType, Cluster, FluxDefaults, FluxSource, GateDef, Ignore, LayoutTemplates, Matcher,
    MechanismName, Rule, Runner, Spec, WindowDef, WindowUse, zone_of, zone_of_all,
};
use crate::spec::names::TextRule;
use crate::spec::node::{self, Node, Value};
use crate::spec::reader::{Field, Fields, Reader};
use crate::spec::{Placed, check_time, validate};

/// A spec that was read, and what is doubtful about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The valid spec.
    pub spec: Spec,
    /// Warnings, in the order of the file.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a spec and tells everything that is wrong with it.
///
/// `path` is the file from the top of the repository, for messages and as [`Spec::path`].
///
/// # Errors
///
/// When the file is no valid spec: all errors at once, each with its place, warnings among them.
/// Only what is no YAML at all ends the reading early.
///
/// ```
/// use gitops_windows::path::RepoPath;
/// let text = "apiVersion: gitops-windows/v1\ntypes: { rt: {}, rw: { windw: work-week } }\n";
/// let error = gitops_windows::spec::parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes());
/// let diagnostic = &error.unwrap_err().diagnostics[0];
/// assert_eq!(diagnostic.message, "unknown key `windw` in a change type");
/// assert_eq!(diagnostic.help.as_deref(), Some("did you mean `window`?"));
/// ```
pub fn parse(path: &RepoPath, bytes: &[u8]) -> Result<Parsed, Error> {
    parse_beside(path, bytes, &|_| None)
}

/// As [`parse`], with the texts of other files of the repository that the spec may name.
///
/// # Errors
///
/// As [`parse`], and where such a file is missing or can't be used, at its line.
pub(crate) fn parse_beside(
    path: &RepoPath,
    bytes: &[u8],
    files: &dyn Fn(&RepoPath) -> Option<Arc<str>>,
) -> Result<Parsed, Error> {
    let (reader, root) = tree(path, bytes)?;
    let calendars = BTreeMap::new();
    let mut parser =
        Parser { reader, files, calendars, time_zone: None, day_zone: None, zone_refused: false };
    let spec = parser.spec(&root);
    let mut diagnostics = parser.reader.diagnostics;
    validate::validate(&spec, &mut diagnostics);
    diagnostics.sort_by_key(|diagnostic| {
        diagnostic.place.as_ref().and_then(|place| place.span.as_ref()).map_or(0, |span| span.start)
    });
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(Error { kind: ErrorKind::Invalid, diagnostics });
    }
    Ok(Parsed { spec, warnings: diagnostics })
}

fn tree(path: &RepoPath, bytes: &[u8]) -> Result<(Reader, Node), Error> {
    let whole = |message: &str, help: &str| {
        Error::invalid(Diagnostic::error(message).at(Place::file(path.clone())).help(help))
    };
    if bytes.len() > limit::SPEC {
        return Err(whole("the spec is larger than 4 MiB", "check that this is the right file"));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(whole("the spec is written in UTF-16", "save it as UTF-8"));
    }
    let text: Arc<str> = match std::str::from_utf8(bytes) {
        Ok(text) => Arc::from(text),
        Err(error) => return Err(Error::invalid(not_text(path, bytes, error.valid_up_to()))),
    };
    if let Some(mark) = conflict(&text) {
        let told = Diagnostic::error("the spec holds a merge conflict").at(Place::span(
            path.clone(),
            text.clone(),
            mark,
        ));
        return Err(Error::invalid(told.help("decide between the two sides, and commit the file")));
    }
    let problem = |problem: node::Problem| {
        let mut help = problem.help;
        // `entryPoint: {path}/x` is the likeliest way to get a syntax error into this file.
        if line(&text, problem.span.start).contains("{") && problem.message.contains("valid YAML") {
            help = "correct the YAML here; a template with braces must stand in quotes";
        }
        let place = Place::span(path.clone(), text.clone(), problem.span);
        Error::invalid(Diagnostic::error(problem.message).at(place).help(help))
    };
    match node::read(&text).map_err(problem)? {
        Some(root) if !root.is_null() => Ok((Reader::new(path.clone(), text), root)),
        _ => Err(whole("the spec is empty", "run `gitops-windows init`, or remove the file")),
    }
}

fn line(text: &str, offset: usize) -> &str {
    let offset = offset.min(text.len());
    let start = text.get(..offset).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default()
}

/// Points at the first byte that is no UTF-8, as far as the text before it can be shown.
fn not_text(path: &RepoPath, bytes: &[u8], valid: usize) -> Diagnostic {
    let before = String::from_utf8_lossy(bytes.get(..valid).unwrap_or_default()).into_owned();
    let text: Arc<str> = Arc::from(format!("{before}\u{fffd}"));
    let span = before.len()..text.len();
    Diagnostic::error(format!("the spec is not UTF-8 from byte {} on", valid + 1))
        .at(Place::span(path.clone(), text, span))
        .help("save it as UTF-8")
}

struct Parser<'f> {
    reader: Reader,
    /// The texts of other files.
    files: &'f dyn Fn(&RepoPath) -> Option<Arc<str>>,
    /// The calendars among them that the spec names.
    calendars: BTreeMap<RepoPath, Arc<str>>,
    /// The zone of windows that name none.
    time_zone: Option<Placed<String>>,
    /// The zone of days and times that name none.
    day_zone: Option<TimeZone>,
    /// Whether such a zone is written that is none, which was told.
    zone_refused: bool,
}

impl Parser<'_> {
    fn spec(&mut self, root: &Node) -> Spec {
        // What is missing at the top is missed where the file begins.
        let home = match &root.value {
            Value::Mapping(pairs) => pairs.first().map_or(root, |(key, _)| key),
            _ => root,
        };
        let fields = self.reader.table(root, home, &keys::SPEC);
        self.reader.field_text(fields.get("apiVersion"));
        let types = self.types(fields.get("types"));
        self.zone(fields.get("timeZone"));
        let rules = self.rules(&fields, &types);
        let [clusters, ungated] = self.clusters(fields.get("clusters"));
        let windows = self.windows(fields.get("windows"));
        self.day_zone = zone_of(self.time_zone.as_ref()).or_else(|| zone_of_all(&windows, &clusters));
        Spec {
            path: self.reader.file().path,
            time_zone: self.time_zone.clone(),
            windows,
            freezes: self.freezes(fields.get("freezes")),
            calendars: std::mem::take(&mut self.calendars),
            overrides: self.overrides(fields.get("overrides")),
            waves: self.waves(fields.get("waves")),
            stagger: self.length(fields.get("stagger")),
            clusters,
            ungated,
            flux: self.flux(fields.get("flux")),
            gate: self.gate(fields.get("gate")),
            alerts: self.alerts(fields.get("alerts")),
            layout: self.layout(fields.get("layout")),
            ignores: self.ignores(fields.get("check")),
            types,
            rules,
        }
    }

    /// Reads the zone of windows that name none. One that is no zone is told once, not of each window.
    fn zone(&mut self, field: Option<Field<'_>>) {
        let text = self.reader.field_text(field);
        self.zone_refused = text.is_none() && field.is_some();
        self.time_zone = text.filter(|text| match check_time::time_zone(text) {
            Ok(_) => true,
            Err(error) => {
                self.reader.diagnostics.push(*error);
                self.zone_refused = true;
                false
            }
        });
    }

    /// Reads a mapping with the user's keys under a field.
    fn map<'n>(&mut self, field: Option<Field<'n>>) -> Vec<(Placed<String>, &'n Node, &'n Node)> {
        match field {
            Some(Field { key, home, node }) => match key.shape {
                Shape::Map(map) => self.reader.map(node, home, map, key.name),
                _ => Vec::new(),
            },
            None => Vec::new(),
        }
    }

    /// Reads a mapping with known keys under a field; an absent one has none.
    fn table<'n>(&mut self, field: Option<Field<'n>>) -> Option<Fields<'n>> {
        let Field { key, home, node } = field?;
        match key.shape {
            Shape::Table(table) => Some(self.reader.table(node, home, table)),
            _ => None,
        }
    }

    fn types(&mut self, field: Option<Field<'_>>) -> Vec<ChangeType> {
        let mut types = Vec::new();
        for (name, key, node) in self.map(field) {
            let fields = self.reader.table(node, key, &keys::CHANGE_TYPE);
            let windows = match fields.get("window") {
                Some(window) => self.texts(window),
                None => Vec::new(),
            };
            types.push(ChangeType { name, windows });
        }
        types
    }

    fn texts(&mut self, field: Field<'_>) -> Vec<Placed<String>> {
        let (Shape::OneOrMore(Shape::Text(rule)) | Shape::Chosen(Shape::OneOrMore(Shape::Text(rule)), _)) =
            field.key.shape
        else {
            return Vec::new();
        };
        let what = field.key.name;
        let items = self.reader.one_or_more(field.node, what);
        items.iter().filter_map(|item| self.reader.text(item, *rule, what)).collect()
    }

    fn windows(&mut self, field: Option<Field<'_>>) -> IndexMap<String, Placed<WindowDef>> {
        let mut windows = IndexMap::new();
        for (name, key, node) in self.map(field) {
            if let Some(window) = self.window(node, key, Some(name.clone())) {
                windows.insert(name.value, window);
            }
        }
        windows
    }

    fn window(
        &mut self,
        node: &Node,
        home: &Node,
        name: Option<Placed<String>>,
    ) -> Option<Placed<WindowDef>> {
        let fields = self.reader.table(node, home, &keys::WINDOW);
        let mut text = |name: &str| self.reader.field_text(fields.get(name));
        let time_zone = text("timeZone");
        let times = WindowKey::TIMES.into_iter().filter_map(|key| Some((key, text(key.as_str())?))).collect();
        let place = self.reader.place(&home.span);
        let has_own = fields.get("timeZone").is_some();
        let zone_refused = if has_own { time_zone.is_none() } else { self.zone_refused };
        let time_zone = time_zone.or_else(|| self.time_zone.clone().filter(|_| !has_own));
        Some(Placed::new(WindowDef { name, time_zone, zone_refused, times }, place))
    }

    /// Reads the clusters, and apart from them those without windows.
    fn clusters(&mut self, field: Option<Field<'_>>) -> [IndexMap<String, Cluster>; 2] {
        let (mut clusters, mut ungated) = (IndexMap::new(), IndexMap::new());
        for (name, key, node) in self.map(field) {
            let fields = self.reader.table(node, key, &keys::CLUSTER);
            let mut paths: Vec<Placed<String>> =
                self.reader.field_text(fields.get("path")).into_iter().collect();
            if let Some(field) = fields.get("paths") {
                paths.extend(self.texts(field));
            }
            let mut roots = fields.get("roots").map(|field| self.texts(field)).unwrap_or_default();
            for path in paths.iter_mut().chain(&mut roots) {
                // The rule has said that it does not leave the folder.
                if let Ok(normal) = RepoPath::parse(&path.value) {
                    path.value = normal.to_string();
                }
            }
            let mut windows = IndexMap::new();
            for (type_name, key, node) in self.map(fields.get("windows")) {
                let uses = Placed::new(self.window_uses(node, key, &type_name.value), type_name.place);
                windows.insert(type_name.value, uses);
            }
            let labels = self.labels(fields.get("labels"));
            let enabled = match self.table(fields.get("gate")) {
                Some(gate) => self.reader.flag(gate.get("enabled")),
                None => None,
            };
            let has_gate = self.reader.flag(fields.get("hasGate")).unwrap_or(true);
            let found = if has_gate { &mut clusters } else { &mut ungated };
            found.insert(name.value.clone(), Cluster { name, paths, roots, labels, windows, enabled });
        }
        [clusters, ungated]
    }

    fn window_uses(&mut self, node: &Node, home: &Node, type_name: &str) -> Vec<WindowUse> {
        let mut uses = Vec::new();
        for item in self.reader.one_or_more(node, &format!("`{type_name}`")) {
            match &item.value {
                Value::Mapping(_) => {
                    uses.extend(
                        self.window(item, home, None).map(|window| WindowUse::Inline(Box::new(window))),
                    );
                }
                _ => uses.extend(self.reader.text(item, TextRule::Label, "window").map(WindowUse::Named)),
            }
        }
        uses
    }

    fn rules(&mut self, fields: &Fields<'_>, types: &[ChangeType]) -> Vec<Placed<Rule>> {
        let field = fields.get("rules");
        let Some(items) = self.reader.items(field) else { return self.default_rules(types) };
        let mut rules: Vec<Placed<Rule>> = Vec::new();
        for item in items {
            let fields = self.reader.table(item, item, &keys::RULE);
            let mut plain = |name: &str| self.reader.field_text(fields.get(name)).map(|text| text.value);
            let matcher = Matcher {
                kind: plain("kind"),
                api_group: plain("apiGroup"),
                name: plain("name"),
                namespace: plain("namespace"),
                app: plain("app"),
                label: plain("label").map(key_value),
                annotation: plain("annotation").map(key_value),
                path: plain("path"),
                is_values: plain("valuesOf").is_some(),
            };
            let place = self.reader.place(&item.span);
            if let Some(type_name) = self.reader.field_text(fields.get("type")) {
                rules.push(Placed::new(Rule { matcher, type_name }, place));
            }
        }
        if let (Some(field), true) = (field, rules.len() == items.len())
            && !rules.iter().any(|rule| rule.matcher.matches_all())
        {
            let last = types.last().map_or("rw", |change_type| change_type.name.as_str());
            self.reader.diagnostics.push(
                Diagnostic::error("an object that matches none of the rules would have no type")
                    .at(self.reader.place(&field.home.span))
                    .help(format!("add a last rule without condition: `- {{ type: {last} }}`")),
            );
        }
        rules
    }

    /// Namespaces and ConfigMaps have the first type and everything else the last.
    fn default_rules(&self, types: &[ChangeType]) -> Vec<Placed<Rule>> {
        let (Some(first), Some(last)) = (types.first(), types.last()) else { return Vec::new() };
        let of_kind = |kind: &str| Matcher { kind: Some(kind.to_owned()), ..Matcher::default() };
        [(of_kind("Namespace"), first), (of_kind("ConfigMap"), first), (Matcher::default(), last)]
            .into_iter()
            .map(|(matcher, change_type)| {
                let rule = Rule { matcher, type_name: change_type.name.clone() };
                Placed::new(rule, self.reader.file())
            })
            .collect()
    }

    fn flux(&mut self, field: Option<Field<'_>>) -> FluxDefaults {
        let mut flux = FluxDefaults::default();
        let Some(fields) = self.table(field) else { return flux };
        self.set(&mut flux.namespace, fields.get("namespace"));
        if let Some(source) = self.table(fields.get("source")) {
            let FluxSource { kind, name, namespace, path } = &mut flux.source;
            self.set(kind, source.get("kind"));
            self.set(name, source.get("name"));
            *namespace = self.reader.field_text(source.get("namespace")).map(|text| text.value);
            *path = self.reader.field_text(source.get("path")).map(|text| text.value);
            let is_made = matches!(kind.as_str(), "OCIRepository" | "Bucket");
            if let (Some(field), false) = (source.get("path"), is_made) {
                let text = "`path` says of which folder an artifact is made, and this source is none";
                let help = "remove it, or let `kind` be OCIRepository or Bucket";
                let place = self.reader.place(&field.node.span);
                self.reader.diagnostics.push(Diagnostic::error(text).at(place).help(help));
            }
        }
        flux
    }

    fn set(&mut self, target: &mut String, field: Option<Field<'_>>) {
        if let Some(text) = self.reader.field_text(field) {
            *target = text.value;
        }
    }

    fn gate(&mut self, field: Option<Field<'_>>) -> GateDef {
        let mut gate = GateDef::default();
        let Some(fields) = self.table(field) else { return gate };
        self.set(&mut gate.namespace, fields.get("namespace"));
        self.set(&mut gate.image, fields.get("image"));
        self.set(&mut gate.service_account, fields.get("serviceAccount"));
        if let Some(word) = self.reader.field_text(fields.get("mechanism")) {
            let named = MechanismName::ALL.into_iter().find(|name| name.as_str() == word.value);
            gate.mechanism = named.unwrap_or_default();
            if gate.mechanism == MechanismName::Follow && fields.get("every").is_none() {
                let error = Diagnostic::error("a gate that follows looks at a table, and this one has none");
                let help = "add `every: 5m` and `through: 2027-12-31` under `gate`";
                self.reader.diagnostics.push(error.at(word.place).help(help));
            }
        }
        self.provider(&mut gate, &fields);
        if let Some(runner) = self.reader.field_text(fields.get("runner")) {
            gate.runner = if runner.value == Runner::Flux.as_str() { Runner::Flux } else { Runner::Kubectl };
        }
        if let Some(enabled) = self.reader.flag(fields.get("enabled")) {
            gate.enabled = enabled;
        }
        gate.table = self.gate_table(&fields);
        if let Some(admission) = fields.get("admission") {
            gate.admission = self.reader.flag(Some(admission)).unwrap_or(false);
            let kubernetes = self.reader.field_text(fields.get("kubernetes")).map(|text| text.value);
            let refused = admission_refused(&gate, fields.get("every").is_some(), kubernetes.as_deref());
            if let Some((message, help)) = refused.filter(|_| gate.admission) {
                let place = self.reader.place(&admission.node.span);
                self.reader.diagnostics.push(Diagnostic::error(message).at(place).help(help));
            }
        }
        gate
    }

    /// Reads whom Flux Operator asks, and refuses what it has no use for.
    fn provider(&mut self, gate: &mut GateDef, fields: &Fields<'_>) {
        if let Some(own) = self.table(fields.get("provider")) {
            gate.provider.kind = self.reader.field_text(own.get("type")).map(|text| text.value);
            gate.provider.secret = self.reader.field_text(own.get("secret")).map(|text| text.value);
        }
        let is_operator = gate.mechanism == MechanismName::FluxOperator;
        let (vain, why, help) = match is_operator {
            true => (
                "every",
                "Flux Operator has schedules, and no table",
                "remove it, or choose `mechanism: follow`",
            ),
            false => (
                "provider",
                "only Flux Operator has a provider",
                "remove it, or choose `mechanism: flux-operator`",
            ),
        };
        if let Some(field) = fields.get(vain) {
            let place = self.reader.place(&field.node.span);
            self.reader.diagnostics.push(Diagnostic::error(why).at(place).help(help));
        }
    }

    fn alerts(&mut self, field: Option<Field<'_>>) -> Option<AlertDef> {
        let fields = self.table(field)?;
        let mut plain = |name: &str| self.reader.field_text(fields.get(name)).map(|text| text.value);
        let mut alerts = AlertDef::new(&plain("type")?);
        alerts.channel = plain("channel");
        if let Some(secret) = plain("secret") {
            alerts.secret = secret;
        }
        Some(alerts)
    }

    fn ignores(&mut self, field: Option<Field<'_>>) -> Vec<Placed<Ignore>> {
        let Some(fields) = self.table(field) else { return Vec::new() };
        let mut ignores = Vec::new();
        for item in self.reader.items(fields.get("ignore")).unwrap_or_default() {
            let fields = self.reader.table(item, item, &keys::IGNORE);
            let mut plain = |name: &str| self.reader.field_text(fields.get(name)).map(|text| text.value);
            let (code, path, reason) = (plain("code"), plain("path"), plain("reason"));
            if let (Some(code), Some(reason)) = (code, reason) {
                let place = self.reader.place(&item.span);
                ignores.push(Placed::new(Ignore { code, path, reason }, place));
            }
        }
        ignores
    }

    fn layout(&mut self, field: Option<Field<'_>>) -> LayoutTemplates {
        let mut layout = LayoutTemplates::default();
        let Some(fields) = self.table(field) else { return layout };
        for (name, template) in layout.entries_mut() {
            self.set(template, fields.get(name));
        }
        layout
    }
}

/// The first minor version of Kubernetes in which MutatingAdmissionPolicy is v1
/// (Kubernetes, `staging/src/k8s.io/api/admissionregistration/v1/types.go`).
const ADMISSION: u32 = 36;

/// Says why a gate can have no admission policies, and what to do.
fn admission_refused(
    gate: &GateDef,
    has_table: bool,
    kubernetes: Option<&str>,
) -> Option<(&'static str, &'static str)> {
    const VERSION: &str =
        "add `kubernetes: \"1.36\"` under `gate`: the oldest of all clusters\nor remove `admission`";
    let minor = kubernetes.and_then(|text| text.strip_prefix("1.")?.parse::<u32>().ok());
    match minor {
        _ if gate.mechanism != MechanismName::Suspend => Some((
            "only CronJobs that suspend need admission policies: a held source is closed without them",
            "remove `admission`",
        )),
        _ if !has_table => Some((
            "admission policies ask CronJobs that look at a table, and this gate has none",
            "add `every: 5m` and `through: 2027-12-31` under `gate`\nor remove `admission`",
        )),
        None => Some(("nothing says whether all clusters have MutatingAdmissionPolicy", VERSION)),
        Some(minor) if minor < ADMISSION => Some((
            "MutatingAdmissionPolicy is there since Kubernetes 1.36",
            "remove `admission`, or update the clusters",
        )),
        Some(_) => None,
    }
}

fn key_value(text: String) -> (String, Option<String>) {
    match text.split_once('=') {
        Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
        None => (text, None),
    }
}
