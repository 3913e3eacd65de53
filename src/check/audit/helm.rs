//! HelmReleases behind a window: helm-controller goes on while the Kustomization is suspended.

use crate::check::code::{FLOATING_CHART, REAL_TIME_VALUES};
use crate::check::setting::field;
use crate::check::subject::Subject;
use crate::delivery::values::{HELM, read_by};
use crate::delivery::{Applied, Delivery};
use crate::diagnostic::Diagnostic;
use crate::repo::flux::SOURCES;
use crate::spec::Spec;

/// Finds HelmReleases that wait for a window and are upgraded outside of it.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for deliveries in subject.clusters().values() {
        let all = deliveries.iter().flat_map(|one| one.objects.iter().map(move |release| (one, release)));
        for (delivery, release) in all {
            if !release.is(HELM, "HelmRelease") || release.window().is_none() {
                continue;
            }
            findings.extend(floating(subject, deliveries, delivery, release));
            findings.extend(values(subject, deliveries, delivery, release));
        }
    }
    findings
}

/// What a release does that a gate holds back.
const WAITS: &str = "waits for";

/// Says what a release does: the rules say what waits, and only a gate makes it so.
fn waits(delivery: &Delivery) -> &'static str {
    if delivery.gated.is_some() { WAITS } else { "is to wait for" }
}

/// helm-controller, `HelmChart.spec.version`: a missing version is `*`, and any range is looked up anew at
/// each interval of the chart. Only a HelmRepository has versions; other sources ignore the field.
fn floating(
    subject: &Subject<'_>,
    deliveries: &[&Delivery],
    delivery: &Delivery,
    release: &Applied,
) -> Option<Diagnostic> {
    let held = release.window()?;
    let chart = &release.value()["spec"]["chart"]["spec"];
    let (what, (place, is_patched)) = if chart.is_object() {
        let kind = chart["sourceRef"]["kind"].as_str().unwrap_or("HelmRepository");
        let version = chart["version"].as_str().unwrap_or("*");
        if kind != "HelmRepository" || is_exact(version) || version.contains("${") {
            return None;
        }
        let written = if chart["version"].is_string() {
            format!("the chart version `{version}`")
        } else {
            "no chart version".to_owned()
        };
        (written, field(subject, delivery, release, &["spec", "chart", "spec", "version"]))
    } else {
        let wanted = &release.value()["spec"]["chartRef"];
        if wanted["kind"] != "OCIRepository" {
            return None;
        }
        let (name, namespace) = (wanted["name"].as_str()?, wanted["namespace"].as_str());
        let namespace = namespace.unwrap_or(&release.id.namespace);
        let all = deliveries.iter().flat_map(|delivery| &delivery.objects);
        let source = all
            .filter(|other| other.is(SOURCES, "OCIRepository"))
            .find(|other| other.id.name == name && other.id.namespace == namespace)?;
        let reference = &source.value()["spec"]["ref"];
        let word = if reference["digest"].is_string() {
            return None;
        } else if let Some(range) = reference["semver"].as_str() {
            if is_exact(range) || range.contains("${") {
                return None;
            }
            format!("the range `{range}`")
        } else if reference["tag"].as_str().is_none_or(|tag| tag == "latest") {
            "the tag `latest`".to_owned()
        } else {
            return None;
        };
        (format!("{word} of OCIRepository {name}"), (subject.sources.place(source, &["spec", "ref"]), false))
    };
    // Of a patch each cluster may have its own.
    let of = if is_patched { format!(" of cluster {}", delivery.cluster.name) } else { String::new() };
    let message = |waits: &str| {
        format!(
            "{}{of} {waits} {held} and takes {what}. A new chart is installed at once, even outside of the window",
            release.id
        )
    };
    Some(
        FLOATING_CHART
            .finding(message(waits(delivery)))
            .lasting(message(WAITS))
            .at(place)
            .help("write one exact version, and raise it by commits"),
    )
}

/// Returns whether a text is one version and no range (Masterminds/semver constraints).
fn is_exact(version: &str) -> bool {
    let version = version.trim().trim_start_matches('=').trim().trim_start_matches('v');
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = core.split('.').collect();
    parts.len() == 3
        && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
        && !version.contains([' ', ',', '|', '*'])
}

fn values(
    subject: &Subject<'_>,
    deliveries: &[&Delivery],
    delivery: &Delivery,
    release: &Applied,
) -> Vec<Diagnostic> {
    let Some(held) = release.window() else { return Vec::new() };
    let (place, is_patched) = field(subject, delivery, release, &["spec", "valuesFrom"]);
    let of = if is_patched { format!(" of cluster {}", delivery.cluster.name) } else { String::new() };
    let found = read_by(release.value()).filter_map(|named| {
        let mut sources =
            deliveries.iter().flat_map(|delivery| &delivery.objects).filter(|other| named.is(&other.id));
        let source = sources.find(|other| other.rank() < release.rank())?;
        let message = |waits: &str| {
            format!(
                "{}{of} {waits} {held}, but its values come from {}, which lands at once. helm-controller upgrades it outside of the window",
                release.id, source.id
            )
        };
        Some(
            REAL_TIME_VALUES
                .finding(message(waits(delivery)))
                .lasting(message(WAITS))
                .at(place.clone())
                .related("this lands at once", subject.sources.place(source, &["metadata", "name"]))
                .help(way_on(subject, release)),
        )
    });
    found.collect()
}

/// Says how values come to wait with the release that reads them.
fn way_on(subject: &Subject<'_>, release: &Applied) -> String {
    let type_of = |spec: &Spec| Some(spec.types.get(release.change_type?)?.name.value.clone());
    let lacks = |spec: &&Spec| !spec.rules.iter().any(|rule| rule.matcher.is_values);
    match subject.spec.filter(lacks).and_then(type_of) {
        Some(name) => format!(
            "1. put the rule `- {{ valuesOf: HelmRelease, type: {name} }}` before the rule of ConfigMaps\n2. run `gitops-windows sync`"
        ),
        None => "give the values the type of the release, by a rule or an annotation".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_no_versions() {
        for exact in ["1.2.3", "v1.2.3", "=1.2.3", "1.2.3-rc.1", "1.2.3+build", "10.0.26"] {
            assert!(is_exact(exact), "{exact}");
        }
        for range in [
            "*",
            "",
            "1.x",
            "1.2",
            "^1.2.3",
            "~1.2.3",
            ">=1.0.0",
            ">=1.0.0 <2.0.0",
            "1.2.3 - 2.0.0",
            "1.2.3 || 2.0.0",
        ] {
            assert!(!is_exact(range), "{range}");
        }
    }
}
