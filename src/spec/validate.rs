//! What can be said of a spec only once all of it is read.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::schedule::WindowKey;
use crate::spec::model::{Clusters, GateDef, Rule, Runner, Spec, WindowDef, WindowUse};
use crate::spec::reader::list;
use crate::spec::windows::none;
use crate::spec::{MechanismName, Placed, expand, later};
use crate::text::did_you_mean;

/// Checks references, order and times.
pub(crate) fn validate(spec: &Spec, diagnostics: &mut Vec<Diagnostic>) {
    types(spec, diagnostics);
    clusters(spec, diagnostics);
    rules(spec, diagnostics);
    layout(spec, diagnostics);
    stretches(spec, diagnostics);
    later::check(spec, diagnostics);
    table(spec, diagnostics);
    for window in all_windows(spec) {
        times(window, &spec.gate, diagnostics);
    }
}

fn all_windows(spec: &Spec) -> impl Iterator<Item = &Placed<WindowDef>> {
    let inline =
        spec.all_clusters().flat_map(|cluster| cluster.windows.values().flat_map(|over| &over.value));
    spec.windows.values().chain(inline.filter_map(|window| match window {
        WindowUse::Inline(window) => Some(window.as_ref()),
        WindowUse::Named(_) => None,
    }))
}

fn known_window(spec: &Spec, name: &Placed<String>, diagnostics: &mut Vec<Diagnostic>) {
    if !spec.windows.contains_key(&name.value) {
        let names = spec.windows.keys().map(String::as_str);
        let help = did_you_mean(name, names.clone()).unwrap_or_else(|| match spec.windows.len() {
            0 => "define it under `windows`".to_owned(),
            _ => format!("define it under `windows`, or use {}", list(names.take(8), "or")),
        });
        let message = format!("there is no window `{}`", name.value);
        diagnostics.push(Diagnostic::error(message).at(name.place.clone()).help(help));
    }
}

fn known_type(spec: &Spec, name: &str, place: &Place, diagnostics: &mut Vec<Diagnostic>) -> bool {
    // Without types there is one error to make good, not one for each reference.
    if spec.types.is_empty() || spec.change_type(name).is_some() {
        return true;
    }
    let names = spec.types.iter().map(|change_type| change_type.name.as_str());
    let help = did_you_mean(name, names.clone()).unwrap_or_else(|| match spec.types.len() {
        0 => "define it under `types`".to_owned(),
        _ => format!("use {}, or define it under `types`", list(names.take(8), "or")),
    });
    diagnostics.push(Diagnostic::error(format!("there is no type `{name}`")).at(place.clone()).help(help));
    false
}

fn types(spec: &Spec, diagnostics: &mut Vec<Diagnostic>) {
    let mut gated: Option<&str> = None;
    for (index, change_type) in spec.types.iter().enumerate() {
        let name = &change_type.name;
        if name.value == "all" {
            diagnostics.push(
                Diagnostic::error("type can't be called `all`: a projection has a folder of that name")
                    .at(name.place.clone())
                    .help("choose another name"),
            );
        }
        for (position, window) in change_type.windows.iter().enumerate() {
            known_window(spec, window, diagnostics);
            if change_type.windows[..position].contains(window) {
                let message = format!("type `{}` names the window `{}` twice", name.value, window.value);
                diagnostics
                    .push(Diagnostic::error(message).at(window.place.clone()).help("remove one of them"));
            }
        }
        match (change_type.is_real_time(), gated) {
            (true, Some(earlier)) => diagnostics.push(
                Diagnostic::error(format!(
                    "type `{}` is real-time but comes after the gated type `{earlier}`. It would wait for \
                     that window at every commit",
                    name.value
                ))
                .at(name.place.clone())
                .help(format!("move `{}` before `{earlier}`, or give it a window", name.value)),
            ),
            (false, _) => {
                // With one type alone, everything is meant to wait.
                if index == 0 && spec.types.len() > 1 {
                    diagnostics.push(
                        Diagnostic::warning(format!(
                            "the first type, `{}`, has a window: Namespaces wait, \
                             also on a new cluster",
                            name.value
                        ))
                        .at(name.place.clone())
                        .help("put a type without window first"),
                    );
                }
                gated = gated.or(Some(name.value.as_str()));
            }
            (true, None) => {}
        }
    }
}

fn clusters(spec: &Spec, diagnostics: &mut Vec<Diagnostic>) {
    for cluster in spec.all_clusters() {
        for (type_name, over) in &cluster.windows {
            let place = &over.place;
            if known_type(spec, type_name, place, diagnostics)
                && spec.change_type(type_name).is_some_and(|change_type| change_type.is_real_time())
            {
                let message = format!(
                    "cluster `{}` gives a window to type `{type_name}`, which is real-time without a gate",
                    cluster.name.value
                );
                let help = format!("give the type a window under `types`, or remove `{type_name}` here");
                diagnostics.push(Diagnostic::error(message).at(place.clone()).help(help));
            }
            for (position, window) in over.iter().enumerate() {
                let WindowUse::Named(name) = window else { continue };
                known_window(spec, name, diagnostics);
                if over[..position].contains(window) {
                    let message =
                        format!("cluster `{}` names the window `{}` twice", cluster.name.value, name.value);
                    diagnostics
                        .push(Diagnostic::error(message).at(name.place.clone()).help("remove one of them"));
                }
            }
        }
    }
}

/// Checks what freezes and overrides are about, and that the gate can keep them.
fn stretches(spec: &Spec, diagnostics: &mut Vec<Diagnostic>) {
    for (position, freeze) in spec.freezes.iter().enumerate() {
        let name = &freeze.name;
        // The events of a calendar are about the same.
        if position > 0 && spec.freezes[position - 1].name == *name {
            continue;
        }
        for change_type in &freeze.types {
            gated_type(spec, "freeze", change_type, diagnostics);
        }
        about(spec, &freeze.clusters, &name.place, diagnostics);
        if let Some(gate) = spec.gate.inflexible() {
            let message = format!("{gate} can't keep freeze `{}`", name.value);
            let now = "for now: `gitops-windows stop --without-git` prints a command that closes";
            let help = format!("{}\nor {now}", spec.gate.needs_table());
            diagnostics.push(Diagnostic::error(message).at(name.place.clone()).help(help));
        }
    }
    for given in &spec.overrides {
        gated_type(spec, "override", &given.type_name, diagnostics);
        about(spec, &given.clusters, &given.place, diagnostics);
        if let Some(gate) = spec.gate.inflexible() {
            let message = format!("{gate} can't keep an override");
            let now = "for now: `gitops-windows override open` prints a command that opens";
            let help = format!("{}\nor {now}", spec.gate.needs_table());
            diagnostics.push(Diagnostic::error(message).at(given.place.clone()).help(help));
        }
    }
}

fn gated_type(spec: &Spec, what: &str, name: &Placed<String>, diagnostics: &mut Vec<Diagnostic>) {
    if known_type(spec, name, &name.place, diagnostics)
        && spec.change_type(name).is_some_and(|change_type| change_type.is_real_time())
    {
        let message = format!("type `{}` is real-time, so no {what} changes when it lands", name.value);
        let help = "name a type that has a window";
        diagnostics.push(Diagnostic::error(message).at(name.place.clone()).help(help));
    }
}

/// Checks that there are clusters that a freeze or an override is about.
fn about(spec: &Spec, clusters: &Clusters, place: &Place, diagnostics: &mut Vec<Diagnostic>) {
    match clusters {
        Clusters::All => {}
        Clusters::Named(names) => {
            for name in names.iter().filter(|name| !spec.clusters.contains_key(&name.value)) {
                let known = spec.clusters.keys().map(String::as_str);
                let help = did_you_mean(name, known).unwrap_or_else(|| "name it under `clusters`".to_owned());
                diagnostics.push(none("cluster", name).at(name.place.clone()).help(help));
            }
        }
        Clusters::Labelled(_) if spec.clusters.keys().any(|cluster| spec.is_one_of(cluster, clusters)) => {}
        // An empty mapping was told.
        Clusters::Labelled(labels) if labels.is_empty() => {}
        Clusters::Labelled(_) => diagnostics.push(
            Diagnostic::error("no cluster has all of these labels")
                .at(place.clone())
                .help("give clusters these `labels` under `clusters`"),
        ),
    }
}

/// Checks what a table asks of the gate and of windows.
fn table(spec: &Spec, diagnostics: &mut Vec<Diagnostic>) {
    if let Some(table) = spec.gate.table.as_ref().filter(|_| spec.gate.runner == Runner::Flux) {
        let message = match spec.gate.mechanism {
            MechanismName::Suspend => {
                "the flux command can't tell what a gate suspended from what people suspended"
            }
            MechanismName::Follow | MechanismName::FluxOperator => {
                "the flux command can't set the commit of a source"
            }
        };
        diagnostics.push(
            Diagnostic::error(message).at(table.place.clone()).help("use `runner: kubectl` with `every`"),
        );
    }
    for window in all_windows(spec).filter(|window| spec.gate.is_exact() && !has_zone(window)) {
        let what = if spec.gate.table.is_some() { "a table" } else { "Flux Operator" };
        diagnostics.push(
            Diagnostic::error(format!("{what} has fixed times, and this window has no time zone"))
                .at(window.place.clone())
                .help("add `timeZone`, here or at the top, for example `Europe/Berlin`"),
        );
    }
}

fn has_zone(window: &Placed<WindowDef>) -> bool {
    window.time_zone.is_some() || window.zone_refused
}

/// Returns whether a window has no time zone, which no table and no schedule of Flux Operator takes.
pub(crate) fn lacks_zone(spec: &Spec) -> bool {
    !all_windows(spec).all(has_zone)
}

fn rules(spec: &Spec, diagnostics: &mut Vec<Diagnostic>) {
    // What a broken rule matches is not known, and it lacks the condition that could not be read.
    let spans: Vec<Range<usize>> = diagnostics.iter().filter_map(span_of_error).collect();
    let is_whole = |rule: &Placed<Rule>| {
        let own = rule.place.span.as_ref();
        !own.is_some_and(|own| spans.iter().any(|span| own.start <= span.start && span.end <= own.end))
    };
    for (index, rule) in spec.rules.iter().enumerate() {
        known_type(spec, &rule.type_name, &rule.type_name.place, diagnostics);
        if rule.matcher.api_group.as_deref() == Some("core") {
            diagnostics.push(
                Diagnostic::warning("no object has the API group `core`, so this rule never matches")
                    .at(rule.place.clone())
                    .help("write the core group as \"\""),
            );
        }
        let mut earlier = spec.rules[..index].iter();
        let takes = |earlier: &Placed<Rule>| is_whole(earlier) && earlier.matcher.covers(&rule.matcher);
        if is_whole(rule)
            && let Some(position) = earlier.position(takes)
        {
            let everything = spec.rules[position].matcher.matches_all();
            let taken = if everything { "everything" } else { "all that it matches" };
            diagnostics.push(
                Diagnostic::warning(format!("this rule never decides: rule {} takes {taken}", position + 1))
                    .at(rule.place.clone())
                    .help("move it before that rule, or remove it"),
            );
        }
    }
}

fn span_of_error(diagnostic: &Diagnostic) -> Option<Range<usize>> {
    diagnostic.place.as_ref().filter(|_| diagnostic.severity == Severity::Error)?.span.clone()
}

/// Checks that no two CronJobs or files get one name.
fn layout(spec: &Spec, diagnostics: &mut Vec<Diagnostic>) {
    let layout = &spec.layout;
    let mut error = |message: String, help: &str| {
        diagnostics.push(Diagnostic::error(message).at(Place::file(spec.path.clone())).help(help));
    };
    if layout.has_one_gate_folder() && spec.all_clusters().nth(1).is_some() {
        error(
            "`clusterGate` of the layout is one folder, but there are several clusters".to_owned(),
            "use `{cluster}` or `{path}` in it",
        );
    }
    if layout.open_job == layout.close_job {
        error(
            format!("`openJob` and `closeJob` of the layout are both `{}`", layout.open_job),
            "give the CronJobs different names",
        );
        return;
    }
    let several = several_gates(spec);
    let pairs = [
        ("openJobFile", &layout.open_job_file, "closeJobFile", &layout.close_job_file),
        ("openPatchFile", &layout.open_patch_file, "closePatchFile", &layout.close_patch_file),
    ];
    for (open_key, open, close_key, close) in pairs {
        let name = |template: &str, job: &str| expand(template, &[("job", job)]);
        if name(open, &layout.open_job) == name(close, &layout.close_job) {
            error(
                format!("`{open_key}` and `{close_key}` of the layout name the same file"),
                "give the files different names, or use `{job}` in both",
            );
        }
        for (key, template) in [(open_key, open), (close_key, close)] {
            if several && !template.contains("{job}") {
                error(
                    format!("`{key}` of the layout names one file, but there are several CronJobs"),
                    "use `{job}`, the CronJob's name, in it",
                );
            }
        }
    }
}

/// Returns whether there is more than one pair of CronJobs in a cluster.
fn several_gates(spec: &Spec) -> bool {
    let gated = spec.gated_types().count();
    gated > 1
        || spec.types.iter().any(|change_type| change_type.windows.len() > 1)
        || spec.clusters.values().flat_map(|cluster| cluster.windows.values()).any(|over| over.len() > 1)
}

fn times(window: &Placed<WindowDef>, gate: &GateDef, diagnostics: &mut Vec<Diagnostic>) {
    if !window.is_whole() {
        return;
    }
    if !gate.is_exact() && window.time_zone.is_none() && !window.zone_refused {
        diagnostics.push(
            Diagnostic::warning(
                "this window has no time zone, so it follows the zone of the cluster's controller",
            )
            .code("GW101")
            .at(window.place.clone())
            .help("add `timeZone`, here or for all windows at the top, for example `Europe/Berlin`"),
        );
    }
    let found = window.check();
    if let Some(on) = window.text(WindowKey::On).filter(|_| found.is_empty())
        && let Some(inflexible) = gate.inflexible()
    {
        let message = format!("{inflexible} can't say `{}`", on.value);
        diagnostics.push(Diagnostic::error(message).at(on.place.clone()).help(gate.needs_table()));
    }
    diagnostics.extend(found);
}
