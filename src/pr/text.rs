//! The answer for people at a terminal.

use std::collections::BTreeSet;

use crate::diagnostic::clean;
use crate::pr::body::{body, safe};
use crate::pr::footer::footer;
use crate::pr::notice::notices;
use crate::pr::report::Report;
use crate::pr::summary::{legend, named_clusters, sections};
use crate::pr::words::{deadline, place, reason, title, verdict, waits, withheld};
use crate::text::count;

/// Writes a report as lines: the verdict, the deadline, then what lands when, then findings, then what was compared.
pub fn text(report: &Report) -> String {
    let mut lines = vec![verdict(report)];
    lines.extend(deadline(report));
    let all: BTreeSet<&str> = report.changes.iter().map(|line| line.cluster.as_str()).collect();
    let sections = sections(report);
    for section in &sections {
        lines.push(String::new());
        lines.push(title(section, report.now));
        lines.extend(reason(&section.lands).map(|reason| format!("  {reason}")));
        for row in &section.rows {
            let clusters: BTreeSet<&str> = row.clusters.iter().map(String::as_str).collect();
            let clusters = named_clusters(&clusters, &all).join(", ");
            let word = row.word();
            match &row.objects[..] {
                [one] => {
                    let (object, applier, by) = (&one.object, one.applier(), &one.by);
                    lines.push(format!("  {word:8} {object}  in {clusters} by {applier} {by}"));
                    lines.push(format!("           {}", one.files.join(", ")));
                }
                all => {
                    lines.push(format!("  {word:8} {} alike  in {clusters}", count(all.len(), "object")));
                    lines.extend(all.iter().map(|one| {
                        let (object, applier, by) = (&one.object, one.applier(), &one.by);
                        format!("           {object}  by {applier} {by}, {}", one.files.join(", "))
                    }));
                }
            }
            if row.whole.is_none() {
                lines.extend(body(row).into_iter().map(|line| format!("    {line}")));
            }
        }
    }
    for train in &report.trains {
        lines.push(String::new());
        lines.push(format!("Already waiting: {}", waits(train)));
        lines.extend(train.commits.iter().map(|one| format!("  {:.10} {}", one.hash, one.subject)));
    }
    for (title, all) in withheld(report) {
        lines.push(String::new());
        lines.push(format!("{title}, so nothing is said of their objects:"));
        for one in all {
            let (name, cluster, side) = place(one);
            let cluster = cluster.map(|cluster| format!(" in {cluster}"));
            let side = side.map(|side| format!(", {side}"));
            let parts = [name.map(str::to_owned), cluster, side].into_iter().flatten().collect::<String>();
            let place = if parts.is_empty() { parts } else { format!("{parts}: ") };
            let mut reason = one.reason.lines().take(3);
            lines.push(format!("  {place}{}", reason.next().unwrap_or_default()));
            lines.extend(reason.map(|line| format!("    {line}")));
        }
    }
    let notices = notices(report);
    let all: BTreeSet<&str> =
        notices.iter().flat_map(|notice| &notice.clusters).map(String::as_str).collect();
    for notice in &notices {
        lines.push(String::new());
        let clusters: BTreeSet<&str> = notice.clusters.iter().map(String::as_str).collect();
        let names = named_clusters(&clusters, &all).join(", ");
        let clusters = if names.is_empty() { String::new() } else { format!(" in {names}") };
        let place = notice.place.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
        lines.push(format!("{}{clusters}{place}: {}", notice.topic.as_str(), notice.message));
        lines.push(format!("  → {}", notice.help));
    }
    lines.extend(legend(&sections, &notices).into_iter().flat_map(|legend| [String::new(), legend]));
    lines.extend([String::new(), footer(report)]);
    lines.iter().map(|line| format!("{}\n", safe(&clean(line)).trim_end())).collect()
}
