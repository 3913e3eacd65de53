//! Findings put together for people: what several clusters share stands once, with times as people read them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use regex::{Captures, Regex};

use crate::pr::finding::{Finding, Topic};
use crate::pr::report::Report;
use crate::pr::summary::{CLUSTER, replace};
use crate::pr::words::zone_of;
use crate::schedule::{moment, zone};
use crate::text::count;

/// By what findings have in common, the position of their notice.
type Known = BTreeMap<(Topic, [Option<String>; 2], String, String), usize>;

/// An instant as findings write it.
#[allow(clippy::unwrap_used, reason = "a test makes it")]
static INSTANT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ").unwrap());

/// One finding, in each cluster that has it alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notice {
    /// What it is about.
    pub topic: Topic,
    /// The clusters, in order; none where it is about no cluster.
    pub clusters: Vec<String>,
    /// The files and the lines; several where `check` says the same of each.
    pub places: Vec<String>,
    /// What happens.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// How many places are named.
const MOST_PLACES: usize = 5;

impl Notice {
    /// Returns the places behind a comma, each as `written` writes it; nothing where there is none.
    pub fn placed(&self, written: impl Fn(&str) -> String) -> String {
        let named = self.places.iter().take(MOST_PLACES).map(|place| format!(", {}", written(place)));
        let more = self.places.len().saturating_sub(MOST_PLACES);
        let more = (more > 0).then(|| format!(" and {}", count(more, "more place")));
        named.chain(more).collect()
    }
}

/// What changes windows, and then all else that deserves a look.
pub fn parted(all: Vec<Notice>) -> [Vec<Notice>; 2] {
    let (windows, others) = all.into_iter().partition(|notice| notice.topic == Topic::Windows);
    [windows, others]
}

/// Puts the findings of a report together, in the order of their first ones.
pub fn notices(report: &Report) -> Vec<Notice> {
    let mut found: Vec<(Notice, &Finding)> = Vec::new();
    let mut known = Known::new();
    for finding in &report.findings {
        let hide = |text: &str| replace(text, &finding.cluster, CLUSTER);
        let place = place(finding).map(|place| hide(&place));
        let (message, help) = (hide(&finding.message), hide(&finding.help));
        // What `check` says of several places alike is told once, with them.
        let own = place.clone().filter(|_| finding.code.is_none());
        let key = (finding.topic, [own, finding.zone.clone()], message.clone(), help.clone());
        let position = *known.entry(key).or_insert(found.len());
        match found.get_mut(position) {
            Some((notice, _)) => {
                let is_known = finding.cluster.is_empty() || notice.clusters.contains(&finding.cluster);
                notice.clusters.extend(Some(&finding.cluster).filter(|_| !is_known).cloned());
                let is_new = |place: &String| !notice.places.contains(place);
                let place = place.filter(is_new);
                notice.places.extend(place);
            }
            None => {
                let clusters: Vec<String> =
                    Some(&finding.cluster).filter(|name| !name.is_empty()).cloned().into_iter().collect();
                let places = place.into_iter().collect();
                found.push((Notice { topic: finding.topic, clusters, places, message, help }, finding));
            }
        }
    }
    let told = |(notice, finding): (Notice, &Finding)| {
        let show = |text: &str| replace(text, CLUSTER, &finding.cluster);
        let named = match &notice.clusters[..] {
            [_] | [] => Notice {
                places: notice.places.iter().map(|place| show(place)).collect(),
                message: finding.message.clone(),
                help: finding.help.clone(),
                ..notice
            },
            _ => notice,
        };
        let told = told_in(report, finding);
        Notice { message: told(&named.message), help: told(&named.help), ..named }
    };
    found.into_iter().map(told).collect()
}

/// Returns what writes the instants in a text of a finding as times for people.
pub(crate) fn told_in(report: &Report, finding: &Finding) -> impl Fn(&str) -> String {
    let zone = finding.zone.as_deref().and_then(|name| zone::parse(name).ok());
    let (merged, zone) = (report.now, zone.unwrap_or_else(|| zone_of(report)));
    move |text| with_times(merged, &zone, text)
}

fn place(finding: &Finding) -> Option<String> {
    let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
    finding.file.as_ref().map(|file| format!("{file}{line}"))
}

/// Writes the instants in a text as times of the windows' zone; that of the merge by its name, so that the words stay the
/// same from one run to the next.
fn with_times(merged: Timestamp, zone: &TimeZone, text: &str) -> String {
    let merged = merged.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let written = |found: &Captures<'_>| match found[0].parse::<Timestamp>() {
        _ if found[0] == merged => "the merge".to_owned(),
        Ok(at) => moment(at, zone),
        Err(_) => found[0].to_owned(),
    };
    INSTANT.replace_all(text, written).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_share_a_notice_and_times_are_those_of_people() {
        let finding = |cluster: &str, message: &str| Finding {
            topic: Topic::Skew,
            cluster: cluster.to_owned(),
            message: message.to_owned(),
            help: "wait".to_owned(),
            ..Finding::default()
        };
        let report = Report {
            base: String::new(),
            head: None,
            now: "2026-11-23T12:00:00Z".parse().unwrap(),
            changes: Vec::new(),
            built: Vec::new(),
            deadline: None,
            findings: vec![
                finding(
                    "edge-01",
                    "edge-01-web breaks (from 2026-11-23T12:00:00Z until 2026-11-28T21:00:00Z)",
                ),
                finding(
                    "edge-02",
                    "edge-02-web breaks (from 2026-11-23T12:00:00Z until 2026-11-28T21:00:00Z)",
                ),
                finding("edge-03", "edge-03 differs"),
                finding("", "the spec"),
            ],
            trains: Vec::new(),
            withheld: Vec::new(),
            unreached: Vec::new(),
        };
        let told = |notice: &Notice| format!("{}: {}", notice.clusters.join(", "), notice.message);
        let told: Vec<String> = notices(&report).iter().map(told).collect();
        assert_eq!(
            told,
            [
                "edge-01, edge-02: {cluster}-web breaks (from the merge until Sat 2026-11-28 21:00 UTC)",
                "edge-03: edge-03 differs",
                ": the spec",
            ]
        );
    }
}
