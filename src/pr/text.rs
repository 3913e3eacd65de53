//! The answer for people at a terminal.

use crate::diagnostic::clean;
use crate::pr::body::{body, safe};
use crate::pr::deadline::{deadline, own_deadlines};
use crate::pr::footer::footer;
use crate::pr::naming::Names;
use crate::pr::notice::{Notice, notices, parted};
use crate::pr::report::Report;
use crate::pr::summary::{legend, sections};
use crate::pr::waiting::waiting;
use crate::pr::words::{CALENDAR, UNREACHED, WINDOWS, place, reason, title, verdict, waits, withheld};
use crate::text::count;

/// How many of the objects are named that wait already.
const MOST_WAITING: usize = 20;

/// Writes a report as lines: the verdict, the deadline, then what lands when, then findings, then what was compared.
pub fn text(report: &Report) -> String {
    let mut lines = vec![verdict(report)];
    let (sections, notices) = (sections(report), notices(report));
    lines.extend(deadline(report, &sections));
    let names = Names::new(&sections, &notices, report.now);
    let legend = legend(&sections, &notices);
    let [windows, others] = parted(notices);
    if !windows.is_empty() {
        lines.extend([String::new(), format!("{WINDOWS}:")]);
        lines.extend(windows.iter().map(|notice| format!("  {}", told(notice, &names).trim_start())));
        lines.push(format!("  → {CALENDAR}"));
    }
    for (section, until) in sections.iter().zip(own_deadlines(&sections, report)) {
        lines.push(String::new());
        lines.push(title(section, report.now));
        lines.extend(until.map(|until| format!("  {until}")));
        lines.extend(reason(&section.lands).map(|reason| format!("  {reason}")));
        for row in &section.rows {
            let clusters = names.of(row.clusters.iter().map(String::as_str), str::to_owned);
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
        let (waiting, more) = waiting(train, MOST_WAITING);
        lines.extend(waiting.into_iter().map(|one| {
            let place = one.place(|clusters| names.of(clusters.iter().copied(), str::to_owned));
            let (applier, by) = one.by;
            format!("  {:8} {}  in {place} by {applier} {by}{}", one.word, one.object, one.again)
        }));
        lines.extend((more > 0).then(|| format!("  and {more} more")));
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
    if !report.unreached.is_empty() {
        lines.extend([String::new(), format!("{UNREACHED}:")]);
        lines.extend(report.unreached.iter().map(|file| format!("  {file}")));
    }
    for notice in &others {
        lines.push(String::new());
        lines.push(format!("{}{}", notice.topic.as_str(), told(notice, &names)));
        lines.push(format!("  → {}", notice.help));
    }
    let groups = names.groups(str::to_owned).into_iter();
    let groups: Vec<String> = groups.map(|(title, clusters)| format!("{title}: {clusters}")).collect();
    if !groups.is_empty() {
        lines.push(String::new());
        lines.extend(groups);
    }
    lines.extend(legend.into_iter().flat_map(|legend| [String::new(), legend]));
    lines.extend([String::new(), footer(report)]);
    lines.iter().map(|line| format!("{}\n", safe(&clean(line)).trim_end())).collect()
}

/// Says where something happens, and what.
fn told(notice: &Notice, names: &Names) -> String {
    let clusters = names.of(notice.clusters.iter().map(String::as_str), str::to_owned);
    let clusters = if clusters.is_empty() { clusters } else { format!(" in {clusters}") };
    let place = notice.placed(str::to_owned);
    format!("{clusters}{place}: {}", notice.message)
}
