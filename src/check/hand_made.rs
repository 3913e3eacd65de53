//! The schedules of gates that stand in Git without a spec.

use jiff::Timestamp;

use crate::check::code::{ZONES_DIFFER, code_of_lint};
use crate::check::needed::Needed;
use crate::check::setting::setting;
use crate::check::subject::Subject;
use crate::delivery::GateJob;
use crate::diagnostic::{Diagnostic, distinct};
use crate::mechanism::Action;
use crate::schedule::lint::{Lint, LintOptions, lints};
use crate::schedule::{CronExpr, Window, WindowForm, WindowKey, zone};

/// Finds what is surprising about the schedules of hand-made gates, looking five years ahead from `now`.
///
/// A window is what a CronJob that resumes and one that suspends the same Flux Kustomizations make
/// together. Jobs that are suspended themselves are left out, as their schedules only hold the place.
pub fn hand_made(subject: &Subject<'_>, now: Timestamp) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let running =
        |action: Action| subject.jobs.iter().filter(move |job| job.action == action && !job.suspended);
    for open in running(Action::Open) {
        let pairs = running(Action::Close)
            .filter(|close| close.cluster == open.cluster && close.targets == open.targets);
        for close in pairs {
            findings.extend(pair(subject, open, close, now));
        }
    }
    distinct(findings)
}

/// Returns the window that two jobs make; `None` where their zones differ or an expression is none.
pub(super) fn window(open: &GateJob, close: &GateJob) -> Option<Window> {
    let expression = |job: &GateJob| CronExpr::parse(job.value["spec"]["schedule"].as_str()?).ok();
    let zone_of = |job: &GateJob| job.value["spec"]["timeZone"].as_str().map(str::to_owned);
    // How often they look at a table is no window.
    if open.reading.table.is_some() || close.reading.table.is_some() {
        return None;
    }
    if zone_of(open) != zone_of(close) {
        return None;
    }
    let zone = zone_of(open).and_then(|name| zone::parse(&name).ok());
    Some(Window { zone, form: WindowForm::OpenClose { open: expression(open)?, close: expression(close)? } })
}

/// Finds what is surprising about one window.
fn pair(subject: &Subject<'_>, open: &GateJob, close: &GateJob, now: Timestamp) -> Vec<Diagnostic> {
    if let Some(finding) = zones(subject, open, close) {
        return vec![finding];
    }
    let Some(window) = window(open, close) else { return Vec::new() };
    let (whole, interval) = needed(subject, open).map(|needed| (needed.whole, needed.interval)).unzip();
    let options = LintOptions { from: now, needed: whole, interval, most_days_closed: None };
    lints(&[&window], &options).iter().map(|lint| finding(subject, open, close, lint)).collect()
}

/// Two zones, of which each counts for one end of the window only.
fn zones(subject: &Subject<'_>, open: &GateJob, close: &GateJob) -> Option<Diagnostic> {
    let zone_of = |job: &GateJob| {
        let name = job.value["spec"]["timeZone"].as_str().map(str::to_owned);
        let known = name.as_ref().is_none_or(|name| zone::parse(name).is_ok());
        known.then_some(name)
    };
    let (opens, closes) = (zone_of(open)?, zone_of(close)?);
    if opens == closes {
        return None;
    }
    let said = |zone: Option<String>| zone.unwrap_or_else(|| "the zone of the controller".to_owned());
    Some(
        ZONES_DIFFER
            .finding(format!(
                "the window opens in {} and closes in {}. Its length may differ, and change with the clocks",
                said(opens),
                said(closes)
            ))
            .at(setting(subject, open, "timeZone"))
            .related("the CronJob that closes", setting(subject, close, "timeZone"))
            .help("give both CronJobs one `timeZone`"),
    )
}

/// Returns what those need that a job gates, as far as Git says it.
fn needed(subject: &Subject<'_>, open: &GateJob) -> Option<Needed> {
    let own = subject.reconciled_in(&open.cluster);
    let gated = own.filter(|delivery| open.turns(&delivery.namespace, &delivery.name));
    gated.filter_map(|delivery| Needed::of(subject.model, subject.flux(delivery)?)).reduce(Needed::and)
}

fn finding(subject: &Subject<'_>, open: &GateJob, close: &GateJob, lint: &Lint) -> Diagnostic {
    let job = if lint.key == Some(WindowKey::Close) { close } else { open };
    let field = match lint.key {
        Some(WindowKey::TimeZone) => "timeZone",
        _ => "schedule",
    };
    let dates: Vec<String> = lint.dates.iter().take(5).map(ToString::to_string).collect();
    let dates = if dates.is_empty() { String::new() } else { format!(" (on {})", dates.join(", ")) };
    code_of_lint(lint.code)
        .finding(format!("{}{dates}", lint.message))
        .at(setting(subject, job, field))
        .related(
            if std::ptr::eq(job, open) { "the CronJob that closes" } else { "the CronJob that opens" },
            setting(subject, if std::ptr::eq(job, open) { close } else { open }, "schedule"),
        )
        .help(lint.remedy.clone())
}
