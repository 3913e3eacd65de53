//! The comment on a pull request.

use crate::diff::fence;
use crate::pr::body::body;
use crate::pr::deadline::{deadline, own_deadlines};
use crate::pr::footer::footer;
use crate::pr::inline::{code, plain, prose};
use crate::pr::naming::Names;
use crate::pr::notice::{Notice, notices, parted};
use crate::pr::report::Report;
use crate::pr::summary::{Named, Row, Section, clusters_by_time, legend, sections};
use crate::pr::train::Train;
use crate::pr::waiting::{WAITING, Waits, waiting};
use crate::pr::withheld::Withheld;
use crate::pr::words::{CALENDAR, UNREACHED, WINDOWS, place, reason, title, verdict, waits, withheld};
use crate::text::count;

/// The forge that shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Flavor {
    /// GitHub: 65,536 bytes
    #[default]
    Github,
    /// The summary of a GitHub job: 1 MiB
    GithubSummary,
    /// GitLab: 1,000,000 bytes
    Gitlab,
    /// Forgejo and Gitea: 65,536 bytes
    Forgejo,
    /// Bitbucket: 32,768 bytes, nothing that folds
    Bitbucket,
    /// Azure DevOps: 150,000 bytes
    Azure,
}

impl Flavor {
    /// Returns how many bytes a comment may have.
    pub fn limit(self) -> usize {
        match self {
            Flavor::Github | Flavor::Forgejo => 65_536,
            Flavor::GithubSummary => 1 << 20,
            Flavor::Gitlab => 1_000_000,
            Flavor::Bitbucket => 32_768,
            Flavor::Azure => 150_000,
        }
    }

    fn folds(self) -> bool {
        self != Flavor::Bitbucket
    }
}

/// The least room in which anything can be said.
pub const SMALLEST: usize = 2_000;

/// How many findings are told in full.
const MOST_FINDINGS: usize = 20;

/// How much is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// All, but for bodies.
    Whole,
    /// Some of the objects, and the numbers of the rest.
    Parts,
    Counts,
}

/// How much is told of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Body,
    Objects,
    /// The names of so many of its objects.
    Names(usize),
}

/// The details of the rows of each section.
type Details = Vec<Vec<Detail>>;

/// Writes a report as Markdown of at most `limit` bytes, held between [`SMALLEST`] and that of the flavor.
///
/// A verdict, clusters by the time at which their changes land, the deadline, a folded part for each such time, findings.
/// What does not fit goes in steps: the bodies of objects, from the last one on; then all but their names; then these. Each step
/// is cut between two objects, and what is left of it fills the room.
/// Names, values and messages stand in code, where they are no mention, no link and no HTML; a fence is longer than any
/// run of backticks inside.
pub fn markdown(report: &Report, flavor: Flavor, limit: usize) -> String {
    let limit = limit.clamp(SMALLEST, flavor.limit());
    let (sections, notices) = (sections(report), notices(report));
    let page = Page {
        report,
        flavor,
        deadlines: own_deadlines(&sections, report),
        names: Names::new(&sections, &notices, report.now),
        legend: legend(&sections, &notices),
        sections,
        notices: parted(notices),
    };
    let counts = || page.written(Level::Counts, &page.each(Detail::Names(0)));
    let found = page.with_bodies(limit).or_else(|| page.with_names(limit));
    let found = found.or_else(|| Some(counts()).filter(|text| text.len() <= limit));
    found.unwrap_or_else(|| {
        format!("**{}**\n\nMore than fits here: run `gitops-windows pr`.\n", verdict(report))
    })
}

struct Page<'r> {
    report: &'r Report,
    flavor: Flavor,
    sections: Vec<Section>,
    /// Of each section, until when to merge.
    deadlines: Vec<Option<String>>,
    names: Names,
    legend: Option<String>,
    /// What changes windows, and all else that deserves a look.
    notices: [Vec<Notice>; 2],
}

impl Page<'_> {
    /// Writes as many bodies as fit, in order; `None` where not even one does.
    fn with_bodies(&self, limit: usize) -> Option<String> {
        let mut told = self.each(Detail::Objects);
        self.grow(Level::Whole, &mut told, limit, Detail::Body);
        Some(self.written(Level::Whole, &told)).filter(|text| text.len() <= limit)
    }

    /// Writes as many names of objects as fit, in order, and what builds those for which there is room left; `None` where
    /// not even the times fit.
    fn with_names(&self, limit: usize) -> Option<String> {
        let mut told = self.each(Detail::Names(0));
        let mut used = self.written(Level::Parts, &told).len();
        let rows = self.sections.iter().flat_map(|section| &section.rows);
        'all: for (row, detail) in rows.zip(told.iter_mut().flatten()) {
            for number in 1..=row.objects.len() {
                used += self.name(row, number - 1).len();
                if used > limit {
                    break 'all;
                }
                *detail = Detail::Names(number);
            }
        }
        if used <= limit {
            self.grow(Level::Parts, &mut told, limit, Detail::Objects);
        }
        Some(self.written(Level::Parts, &told)).filter(|text| text.len() <= limit)
    }

    fn each(&self, detail: Detail) -> Details {
        self.sections.iter().map(|section| vec![detail; section.rows.len()]).collect()
    }

    /// Tells more of each row for which there is room, in order.
    fn grow(&self, level: Level, told: &mut Details, limit: usize, most: Detail) {
        let mut used = self.written(level, told).len();
        let rows = self.sections.iter().flat_map(|section| &section.rows);
        for (row, detail) in rows.zip(told.iter_mut().flatten()) {
            let more = self.row(row, most).len().saturating_sub(self.row(row, *detail).len());
            if used + more <= limit {
                used += more;
                *detail = most;
            }
        }
    }

    fn written(&self, level: Level, told: &Details) -> String {
        let report = self.report;
        let mut text = format!("**{}**\n", verdict(report));
        text += &deadline(report, &self.sections)
            .map(|deadline| format!("\n**{}**\n", prose(&deadline)))
            .unwrap_or_default();
        text += &self.windows();
        text += &self.table();
        text += &self.groups(level);
        text += &self.findings();
        for (at, section) in self.sections.iter().enumerate().filter(|_| level != Level::Counts) {
            let rows = || section.rows.iter().zip(&told[at]);
            let title = title(section, report.now);
            text += &match self.flavor.folds() {
                true => format!("\n<details><summary>{}</summary>\n", plain(&title)),
                false => format!("\n### {}\n", plain(&title)),
            };
            let notes = [self.deadlines[at].clone(), reason(&section.lands)];
            text.extend(notes.iter().flatten().map(|note| format!("\n{}\n", prose(note))));
            text += "\n";
            text.extend(rows().map(|(row, detail)| self.row(row, *detail)));
            let unnamed = |(row, detail): (&Row, &Detail)| match detail {
                Detail::Names(number) => row.objects.len() - number,
                _ => 0,
            };
            let unnamed: usize = rows().map(unnamed).sum();
            if unnamed > 0 {
                text += &format!("- and {unnamed} more\n");
            }
            if self.flavor.folds() {
                text += "\n</details>\n";
            }
        }
        text += &self.trains(level);
        let is_cut = level != Level::Whole || told.iter().flatten().any(|detail| *detail != Detail::Body);
        if is_cut {
            text += "\nNot all fits here: `gitops-windows pr` shows the rest.\n";
        }
        text + &self.footer()
    }

    /// The clusters by the time at which their changes land; those that agree share a row.
    fn table(&self) -> String {
        let alike = clusters_by_time(&self.sections, self.report.now);
        if alike.is_empty() {
            return String::new();
        }
        let mut text = "\n| cluster | objects in each | lands |\n|---|---|---|\n".to_owned();
        for (clusters, counts) in alike {
            for (when, number) in counts {
                text +=
                    &format!("| {} | {number} | {} |\n", self.named(clusters.iter().copied()), plain(&when));
            }
        }
        text
    }

    fn named<'n>(&self, clusters: impl IntoIterator<Item = &'n str>) -> String {
        self.names.of(clusters, code)
    }

    /// The clusters of each group.
    fn groups(&self, level: Level) -> String {
        if level == Level::Counts {
            return String::new();
        }
        let group = |(title, clusters): &(String, String)| match self.flavor.folds() {
            true => format!("\n<details><summary>{title}</summary>\n\n{clusters}\n\n</details>\n"),
            false => format!("\n{title}: {clusters}\n"),
        };
        self.names.groups(code).iter().map(group).collect()
    }

    /// The windows that change.
    fn windows(&self) -> String {
        let [windows, _] = &self.notices;
        if windows.is_empty() {
            return String::new();
        }
        let one = |notice: &Notice| {
            let clusters = self.named(notice.clusters.iter().map(String::as_str));
            let place = notice.placed(code);
            format!("- in {clusters}{place}: {}.\n", prose(&notice.message))
        };
        let all: String = windows.iter().take(MOST_FINDINGS).map(one).collect();
        format!("\n**{WINDOWS}:**\n\n{all}{}\n{CALENDAR}\n", more(windows.len()))
    }

    /// The name of an object of a row.
    fn name(&self, row: &Row, position: usize) -> String {
        format!("- {} {}\n", row.word(), code(&row.objects[position].object))
    }

    fn row(&self, row: &Row, detail: Detail) -> String {
        match detail {
            Detail::Names(number) => (0..number).map(|position| self.name(row, position)).collect(),
            Detail::Objects => self.objects(row),
            Detail::Body => self.objects(row) + &self.body(row),
        }
    }

    fn objects(&self, row: &Row) -> String {
        let word = row.word();
        let clusters = self.named(row.clusters.iter().map(String::as_str));
        let by = |one: &Named| {
            let files: Vec<String> = one.files.iter().map(|file| code(file)).collect();
            let from = if files.is_empty() { String::new() } else { format!(", from {}", files.join(", ")) };
            format!("by {} {}{from}", one.applier(), code(&one.by))
        };
        match &row.objects[..] {
            [one] => format!("- {word} {} in {clusters} {}\n", code(&one.object), by(one)),
            all => {
                let items = all.iter().map(|one| format!("  - {} {}\n", code(&one.object), by(one)));
                let items: String = items.collect();
                format!("- {word} {} alike in {clusters}:\n{items}", count(all.len(), "object"))
            }
        }
    }

    fn body(&self, row: &Row) -> String {
        let lines = body(row);
        if lines.is_empty() {
            return String::new();
        }
        let fence = fence(&lines);
        let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
        format!("\n  {fence}diff\n{lines}  {fence}\n\n")
    }

    fn findings(&self) -> String {
        let report = self.report;
        let mut text = String::new();
        for (title, all) in withheld(report) {
            text += &format!("\n**{title}**, so nothing is said of their objects:\n\n");
            text.extend(all.iter().take(MOST_FINDINGS).map(|one| withheld_item(one)));
            text += &more(all.len());
        }
        if !report.unreached.is_empty() {
            text += &format!("\n**{UNREACHED}:**\n\n");
            let files = report.unreached.iter().take(MOST_FINDINGS);
            text.extend(files.map(|file| format!("- {}\n", code(file.as_str()))));
            text += &more(report.unreached.len());
        }
        let [_, notices] = &self.notices;
        if !notices.is_empty() {
            text += "\n**Look at this:**\n\n";
            text.extend(notices.iter().take(MOST_FINDINGS).map(|notice| self.notice(notice)));
            text += &more(notices.len());
        }
        text
    }

    fn notice(&self, notice: &Notice) -> String {
        let clusters = self.named(notice.clusters.iter().map(String::as_str));
        let clusters = if clusters.is_empty() { clusters } else { format!(" in {clusters}") };
        let place = notice.placed(code);
        let (topic, message, help) = (notice.topic.as_str(), prose(&notice.message), prose(&notice.help));
        format!("- **{topic}**{clusters}{place}: {message}.\n  To do: {help}.\n")
    }

    /// What waits for the same openings already.
    fn trains(&self, level: Level) -> String {
        let mut text = String::new();
        for train in &self.report.trains {
            text += &format!("\n**Already waiting:** {}\n\n", prose(&waits(train)));
            let most = if level == Level::Whole { MOST_FINDINGS } else { 0 };
            for one in train.commits.iter().take(most) {
                text += &format!("- {}\n", code(&format!("{:.10} {}", one.hash, one.subject)));
            }
            text += &self.waiting(train, most);
        }
        text
    }

    /// The objects that wait.
    fn waiting(&self, train: &Train, most: usize) -> String {
        let (all, more) = waiting(train, most);
        if all.is_empty() {
            return String::new();
        }
        let item = |one: Waits<'_>| {
            let place = one.place(|clusters| self.named(clusters.iter().copied()));
            let (applier, by) = one.by;
            format!(
                "- {} {} in {place} by {applier} {}{}\n",
                one.word,
                code(&one.object),
                code(by),
                one.again
            )
        };
        let mut items: String = all.into_iter().map(item).collect();
        if more > 0 {
            items += &format!("- and {more} more\n");
        }
        match self.flavor.folds() {
            true => format!("\n<details><summary>{WAITING}</summary>\n\n{items}\n</details>\n"),
            false => format!("\n{WAITING}:\n\n{items}"),
        }
    }

    fn footer(&self) -> String {
        let legend = self.legend.as_ref().map(|legend| format!(" {}.", prose(legend))).unwrap_or_default();
        let text = format!("{}{legend} Nothing of the pull request was executed.", footer(self.report));
        if self.flavor.folds() { format!("\n<sub>{text}</sub>\n") } else { format!("\n{text}\n") }
    }
}

fn withheld_item(one: &Withheld) -> String {
    let (name, cluster, side) = place(one);
    let name = name.map(code).unwrap_or_default();
    let cluster = cluster.map(|cluster| format!(" in {}", code(cluster))).unwrap_or_default();
    let side = side.map(|side| format!(", {side}")).unwrap_or_default();
    let parts = name + &cluster + &side;
    let colon = if parts.is_empty() { "" } else { ": " };
    format!("- {parts}{colon}{}\n", code(&one.reason.chars().take(300).collect::<String>()))
}

/// Says how many more there are than are told.
fn more(number: usize) -> String {
    match number.saturating_sub(MOST_FINDINGS) {
        0 => String::new(),
        more => format!("- and {more} more\n"),
    }
}
