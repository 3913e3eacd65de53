//! The lints of the schedules of a spec, with their places in its file.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::check::code::{IMPOSSIBLE_TIME, code_of_lint};
use crate::check::needed::Needed;
use crate::check::{availability, table};
use crate::delivery::Model;
use crate::delivery::fleet::{Fleet, GateSchedule, Part, Schedules};
use crate::diagnostic::{Diagnostic, Place};
use crate::schedule::lint::{Lint, LintCode, LintOptions, lints};
use crate::schedule::{Length, Window, WindowKey};
use crate::spec::{Placed, Spec, WindowDef, WindowUse};

/// The most dates that a finding names.
const MOST_DATES: usize = 5;

/// What the schedules are measured by.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpecLintOptions {
    /// The most days that a type may stay closed; where `None`, only what freezes do is looked at.
    pub most_days_closed: Option<u32>,
    /// The least time that a type is to be open in any 32 days; not looked at where `None`.
    pub least_open: Option<Length>,
    /// The most days that a freeze may last; 90 where `None`.
    pub most_days_frozen: Option<u32>,
}

/// Finds what is surprising about the schedules of a spec, looking five years ahead from `now`.
///
/// Each finding has a code, points at the key of the window that is to be changed, says what the schedule
/// causes and what to do. Windows are looked at as each type and cluster uses them; a finding that several of
/// them share is made once. What a window gates is known from the Flux Kustomizations of `model`.
pub fn spec_lints(spec: &Spec, model: &Model, now: Timestamp) -> Vec<Diagnostic> {
    spec_lints_with(spec, model, now, SpecLintOptions::default())
}

/// As [`spec_lints`], with options.
pub fn spec_lints_with(
    spec: &Spec,
    model: &Model,
    now: Timestamp,
    options: SpecLintOptions,
) -> Vec<Diagnostic> {
    let Ok(schedules) = Schedules::new(spec) else { return Vec::new() };
    let needed = needed(spec, model, &schedules);
    let mut findings = Findings::default();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for usage in usages(spec) {
        used.extend(usage.windows.iter().filter_map(|def| def.name.as_ref()).map(|name| name.value.clone()));
        let Ok(schedule) = GateSchedule::new(&usage.windows, 0) else { continue };
        let needed = usage
            .clusters
            .iter()
            .filter_map(|cluster| needed.get(&(*cluster, usage.type_name)).copied())
            .reduce(Needed::and);
        let windows: Vec<&Window> = schedule.windows.iter().collect();
        let options = LintOptions {
            from: now,
            needed: needed.map(|needed| needed.whole),
            interval: needed.map(|needed| needed.interval),
            most_days_closed: options.most_days_closed,
        };
        let found: Vec<Lint> = match spec.gate.is_exact() {
            // There each window is for itself.
            true => (0..windows.len())
                .flat_map(|index| {
                    let own = lints(&windows[index..=index], &options).into_iter().filter(counts_in_table);
                    own.map(move |lint| Lint { window: lint.window.map(|_| index), ..lint })
                })
                .collect(),
            false => lints(&windows, &options),
        };
        for lint in found.iter().filter(|lint| is_news(lint)) {
            findings.add(to_diagnostic(lint, &usage));
        }
    }
    for (name, def) in &spec.windows {
        if used.contains(name) {
            continue;
        }
        let Ok(schedule) = GateSchedule::new(&[def], 0) else { continue };
        let usage = Usage { type_name: "", type_place: &def.place, clusters: Vec::new(), windows: vec![def] };
        let windows: Vec<&Window> = schedule.windows.iter().collect();
        let options = LintOptions { from: now, needed: None, interval: None, most_days_closed: None };
        for lint in lints(&windows, &options).iter().filter(|lint| is_news(lint)) {
            findings.add(to_diagnostic(lint, &usage));
        }
    }
    let impossible = impossible(spec, now);
    // The refusal of a window says more than the lint of the expression that it would become.
    let refused = |found: &Diagnostic| {
        let of_clocks = [LintCode::ClockGap, LintCode::ClockFold].map(|lint| Some(code_of_lint(lint).code));
        of_clocks.contains(&found.code) && impossible.iter().any(|other| start(other) == start(found))
    };
    findings.found.retain(|found| !refused(found));
    let measured = availability::findings(spec, &schedules, now, options);
    let more = impossible.into_iter().chain(table::findings(spec, now)).chain(measured);
    more.for_each(|finding| findings.add(finding));
    findings.sorted()
}

/// Returns whether a finding is about windows, not about CronJobs that run at openings and closings alone. A table ends what
/// `for` says in true time where the clocks skip its end.
fn counts_in_table(lint: &Lint) -> bool {
    match lint.code {
        LintCode::LostClosing | LintCode::UnevenTimes => false,
        LintCode::ClockGap => lint.key != Some(WindowKey::For),
        _ => true,
    }
}

/// A missing time zone is told by whoever reads the spec ([`crate::spec::parse()`]).
fn is_news(lint: &Lint) -> bool {
    lint.code != LintCode::MissingZone
}

/// Windows whose times a change of the clocks makes impossible, wherever they are written.
fn impossible(spec: &Spec, now: Timestamp) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut known: BTreeMap<String, Option<crate::schedule::WindowError>> = BTreeMap::new();
    let inline =
        spec.clusters.values().flat_map(|cluster| cluster.windows.values().flat_map(|over| &over.value));
    let inline = inline.filter_map(|window| match window {
        WindowUse::Inline(def) => Some(&**def),
        WindowUse::Named(_) => None,
    });
    for def in spec.windows.values().chain(inline) {
        let Ok(window) = def.schedule() else { continue };
        let resolve = || match spec.gate.table {
            Some(_) => window.resolve_in_table(now),
            None => window.resolve(now),
        };
        let error = known.entry(format!("{window:?}")).or_insert_with(|| resolve().err());
        if let Some(error) = error {
            let place = def.text(error.key).map_or(&def.place, |text| &text.place);
            let finding = IMPOSSIBLE_TIME.finding(error.message.clone());
            findings.push(finding.at(place.clone()).help(error.help.clone()));
        }
    }
    findings
}

/// The windows of a type as some clusters use them.
struct Usage<'s> {
    type_name: &'s str,
    type_place: &'s Place,
    clusters: Vec<&'s str>,
    windows: Vec<&'s Placed<WindowDef>>,
}

/// Returns the uses of windows: for each type its own, with the clusters that take them, and those of each
/// cluster that has others.
fn usages(spec: &Spec) -> Vec<Usage<'_>> {
    let mut usages = Vec::new();
    for change_type in spec.gated_types() {
        let name = &change_type.name.value;
        let own = |cluster: &&crate::spec::Cluster| cluster.windows.contains_key(name);
        usages.push(Usage {
            type_name: name,
            type_place: &change_type.name.place,
            clusters: spec.clusters.values().filter(|c| !own(c)).map(|c| c.name.value.as_str()).collect(),
            windows: change_type
                .windows
                .iter()
                .filter_map(|window| spec.windows.get(&window.value))
                .collect(),
        });
        for cluster in spec.clusters.values().filter(own) {
            usages.push(Usage {
                type_name: name,
                type_place: cluster.windows.get(name).map_or(&change_type.name.place, |over| &over.place),
                clusters: vec![cluster.name.value.as_str()],
                windows: spec.windows_of(&cluster.name.value, name),
            });
        }
    }
    usages
}

/// Gives, by cluster and type, what the Flux Kustomizations that are gated need.
fn needed<'s>(spec: &'s Spec, model: &Model, schedules: &Schedules) -> BTreeMap<(&'s str, &'s str), Needed> {
    let fleet = Fleet::new(spec, model, schedules);
    let mut durations: BTreeMap<(&str, &str), Needed> = BTreeMap::new();
    for flux in model.all_flux() {
        let Some(needed) = Needed::of(model, flux) else { continue };
        let known = durations.entry((flux.namespace.as_str(), flux.name.as_str())).or_insert(needed);
        *known = known.and(needed);
    }
    let mut longest = BTreeMap::new();
    for side in fleet.sides.iter().filter(|side| side.schedule.is_some()) {
        let (Part::Type(position), Some(kustomization)) = (side.part, &side.kustomization) else { continue };
        let Some((cluster, _)) = spec.clusters.get_key_value(&side.cluster) else { continue };
        let names = [
            (kustomization.namespace.as_str(), kustomization.name.as_str()),
            ("", kustomization.name.as_str()),
        ];
        let Some(needed) = names.iter().find_map(|name| durations.get(name)).filter(|_| kustomization.in_git)
        else {
            continue;
        };
        let known = longest.entry((cluster.as_str(), spec.types[position].name.as_str())).or_insert(*needed);
        *known = known.and(*needed);
    }
    longest
}

fn to_diagnostic(lint: &Lint, usage: &Usage<'_>) -> Diagnostic {
    let def = lint.window.and_then(|index| usage.windows.get(index));
    let place = match def {
        Some(def) => lint.key.and_then(|key| def.text(key)).map_or(&def.place, |text| &text.place),
        None => usage.type_place,
    };
    let dates: Vec<String> = lint.dates.iter().take(MOST_DATES).map(ToString::to_string).collect();
    let message = match (dates.len(), lint.dates.len()) {
        (0, _) => lint.message.clone(),
        (shown, all) if shown < all => format!("{} (on {} and more)", lint.message, dates.join(", ")),
        _ => format!("{} (on {})", lint.message, dates.join(", ")),
    };
    let message = match lint.window {
        None if !usage.type_name.is_empty() => format!("type `{}`: {message}", usage.type_name),
        _ => message,
    };
    code_of_lint(lint.code).finding(message).at(place.clone()).help(lint.remedy.clone())
}

/// Findings, each once.
#[derive(Default)]
struct Findings {
    seen: BTreeSet<(Option<usize>, Option<&'static str>, String)>,
    found: Vec<Diagnostic>,
}

impl Findings {
    fn add(&mut self, diagnostic: Diagnostic) {
        let key = (start(&diagnostic), diagnostic.code, diagnostic.message.clone());
        if self.seen.insert(key) {
            self.found.push(diagnostic);
        }
    }

    /// Returns them in the order of the file.
    fn sorted(mut self) -> Vec<Diagnostic> {
        self.found.sort_by_key(|diagnostic| (start(diagnostic), diagnostic.code));
        self.found
    }
}

fn start(diagnostic: &Diagnostic) -> Option<usize> {
    diagnostic.place.as_ref().and_then(|place| place.span.as_ref()).map(|span| span.start)
}
