//! The answer as a page.

use std::collections::BTreeSet;

use crate::calendar::{Calendar, svg};
use crate::page::{element, end, form, runs, start, text};
use crate::path::RepoPath;
use crate::pr::body::body;
use crate::pr::deadline::{deadline, own_deadlines};
use crate::pr::footer::footer;
use crate::pr::inline::quoted;
use crate::pr::naming::Names;
use crate::pr::notice::{Notice, notices, parted};
use crate::pr::report::Report;
use crate::pr::summary::{Named, Row, Section, clusters_by_time, legend, sections};
use crate::pr::train::Train;
use crate::pr::waiting::{WAITING, Waits, waiting};
use crate::pr::withheld::Withheld;
use crate::pr::words::{CALENDAR, UNREACHED, WINDOWS, place, reason, title, verdict, waits, withheld};
use crate::text::{count, escape};

/// How many objects are shown open at first.
const MOST_OPEN: usize = 8;

/// How many of the objects are named that wait already.
const MOST_WAITING: usize = 500;

/// Writes a report as one page that needs nothing else: no network, light and dark, for keyboards and small screens.
///
/// `calendar` has the windows with the landings marked, where there is a spec. Names and values are text, never markup,
/// and a policy in the page forbids it to load anything.
pub fn html(report: &Report, calendar: Option<&Calendar>) -> String {
    let (sections, notices) = (sections(report), notices(report));
    let lines = report.changes.iter();
    let all: BTreeSet<&str> = lines.clone().map(|line| line.cluster.as_str()).collect();
    let types: BTreeSet<&str> = lines.filter_map(|line| line.change_type.as_deref()).collect();
    let page = Page {
        report,
        sections: &sections,
        names: Names::new(&sections, &notices, report.now),
        legend: legend(&sections, &notices),
        notices: parted(notices),
        clusters: all.into_iter().collect(),
    };
    let untils = own_deadlines(&sections, report);
    let calendar = calendar.filter(|calendar| !calendar.rows.is_empty());
    let parts = [
        page.head(),
        page.windows(),
        page.table(),
        page.groups(),
        calendar.map(windows).unwrap_or_default(),
        page.withheld(),
        page.findings(),
        page.form(&types),
        sections.iter().zip(untils).map(|(section, until)| page.section(section, until)).collect(),
        page.trains(),
        page.footer(),
    ];
    parts.concat()
}

struct Page<'r> {
    report: &'r Report,
    sections: &'r [Section],
    names: Names,
    legend: Option<String>,
    /// What changes windows, and all else that deserves a look.
    notices: [Vec<Notice>; 2],
    /// The clusters in order, since rows name them by their positions.
    clusters: Vec<&'r str>,
}

impl Page<'_> {
    fn head(&self) -> String {
        let deadline = deadline(self.report, self.sections)
            .map(|deadline| element("p class=\"deadline\"", &text(&deadline)));
        let title = start("Changes of this pull request, by cluster and time");
        let verdict = element("h1", &text(&verdict(self.report)));
        format!("{title}{verdict}{}", deadline.unwrap_or_default())
    }

    /// The clusters by the time at which their changes land.
    fn table(&self) -> String {
        let mut rows = String::new();
        for (clusters, counts) in clusters_by_time(self.sections, self.report.now) {
            let names = self.named(clusters.iter().copied());
            for (when, number) in counts {
                rows += &format!(
                    "<tr data-clusters=\"{}\"><td>{names}</td><td>{number}</td><td>{}</td></tr>\n",
                    self.runs(&clusters),
                    text(&when)
                );
            }
        }
        if rows.is_empty() {
            return rows;
        }
        let head =
            ["Cluster", "Objects in each", "Lands"].map(|word| format!("<th scope=\"col\">{word}</th>"));
        format!("<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n", head.concat())
    }

    fn withheld(&self) -> String {
        let item = |one: &Withheld| {
            let (name, cluster, side) = place(one);
            let name = name.map(|name| format!("<code>{}</code>", text(name))).unwrap_or_default();
            let named = cluster.map(|cluster| format!(" in {}", text(cluster))).unwrap_or_default();
            let side = side.map(|side| format!(", {side}")).unwrap_or_default();
            let parts = name + &named + &side;
            let parts = if parts.is_empty() { parts } else { format!("{parts}:<br>") };
            let data = cluster.map(|cluster| format!(" data-clusters=\"{}\"", self.runs(&[cluster].into())));
            format!("<li{}>{parts}<code>{}</code></li>\n", data.unwrap_or_default(), text(&one.reason))
        };
        let part = |(title, all): (&str, Vec<&Withheld>)| {
            list(
                &format!("{title}, so nothing is said of their objects"),
                &all.into_iter().map(item).collect::<String>(),
            )
        };
        let file = |file: &RepoPath| format!("<li><code>{}</code></li>\n", text(file.as_str()));
        let files: String = self.report.unreached.iter().map(file).collect();
        withheld(self.report).into_iter().map(part).collect::<String>() + &list(UNREACHED, &files)
    }

    fn named<'n>(&self, clusters: impl IntoIterator<Item = &'n str>) -> String {
        self.names.of(clusters, text)
    }

    /// The clusters of each group.
    fn groups(&self) -> String {
        let group =
            |(title, clusters): &(String, String)| format!("<p class=\"faint\">{title}: {clusters}</p>\n");
        self.names.groups(text).iter().map(group).collect()
    }

    /// The windows that change.
    fn windows(&self) -> String {
        let item = |one: &Notice| {
            let clusters: BTreeSet<&str> = one.clusters.iter().map(String::as_str).collect();
            let place = one.placed(|place| format!("<code>{}</code>", text(place)));
            let (data, names) = (self.runs(&clusters), self.named(clusters.iter().copied()));
            format!("<li data-clusters=\"{data}\">in {names}{place}: {}</li>\n", prose(&one.message))
        };
        let [windows, _] = &self.notices;
        let all = list(WINDOWS, &windows.iter().map(item).collect::<String>());
        if all.is_empty() { all } else { all + &element("p class=\"faint\"", &prose(CALENDAR)) }
    }

    fn findings(&self) -> String {
        let item = |one: &Notice| {
            let clusters: BTreeSet<&str> = one.clusters.iter().map(String::as_str).collect();
            let names = self.named(clusters.iter().copied());
            let data = format!(" data-clusters=\"{}\"", self.runs(&clusters));
            let (data, names) = match clusters.is_empty() {
                true => (String::new(), String::new()),
                false => (data, format!(" in {names}")),
            };
            let place = one.placed(|place| format!("<code>{}</code>", text(place)));
            let (topic, message, help) = (one.topic.as_str(), prose(&one.message), prose(&one.help));
            format!("<li{data}><strong>{topic}</strong>{names}{place}: {message}<br>To do: {help}</li>\n")
        };
        let [_, notices] = &self.notices;
        list("Look at this", &notices.iter().map(item).collect::<String>())
    }

    /// The lists that filter, which only a script makes useful.
    fn form(&self, types: &BTreeSet<&str>) -> String {
        if self.clusters.is_empty() {
            return String::new();
        }
        let clusters = self.clusters.iter().enumerate().map(|(at, name)| (at.to_string(), *name)).collect();
        let types = types.iter().map(|name| ((*name).to_owned(), *name)).collect();
        form(&[("cluster", "Cluster", clusters), ("type", "Type of change", types)], "")
    }

    fn section(&self, section: &Section, until: Option<String>) -> String {
        let title = element("h2", &text(&title(section, self.report.now)));
        let until = until.map(|until| element("p class=\"deadline\"", &prose(&until))).unwrap_or_default();
        let reason = reason(&section.lands).map(|reason| element("p class=\"faint\"", &prose(&reason)));
        let rows: String = section.rows.iter().map(|row| self.row(row)).collect();
        format!("<section>\n{title}{until}{}{rows}</section>\n", reason.unwrap_or_default())
    }

    fn row(&self, row: &Row) -> String {
        let clusters: BTreeSet<&str> = row.clusters.iter().map(String::as_str).collect();
        let is_open = self.sections.iter().map(|section| section.rows.len()).sum::<usize>() <= MOST_OPEN;
        let lines: String = body(row).iter().map(|line| difference(line)).collect();
        let by = |one: &Named| {
            let files: Vec<String> =
                one.files.iter().map(|file| format!("<code>{}</code>", text(file))).collect();
            let files = if files.is_empty() { String::new() } else { format!("from {}", files.join(", ")) };
            format!("by {} <code>{}</code> {files}", one.applier(), text(&one.by))
        };
        let (title, about) = match &row.objects[..] {
            [one] => (text(&one.object), element("p class=\"faint\"", &by(one))),
            all => {
                let item = |one: &Named| format!("<li>{} {}</li>\n", text(&one.object), by(one));
                let items: String = all.iter().map(item).collect();
                let title = format!("{} alike", count(all.len(), "object"));
                (title, format!("<ul class=\"faint\">\n{items}</ul>\n"))
            }
        };
        format!(
            "<details data-clusters=\"{}\" data-type=\"{}\"{}>\n\
             <summary><span class=\"kind {kind}\">{kind}</span> <strong>{title}</strong> in {}</summary>\n\
             {about}<pre>{lines}</pre>\n</details>\n",
            self.runs(&clusters),
            text(row.change_type.as_deref().unwrap_or_default()),
            if is_open { " open" } else { "" },
            self.named(clusters.iter().copied()),
            kind = row.word(),
        )
    }

    fn trains(&self) -> String {
        let mut out = String::new();
        for train in &self.report.trains {
            let commit = |one: &crate::pr::Commit| {
                format!(
                    "<li><code>{}</code> {}</li>\n",
                    text(&format!("{:.10}", one.hash)),
                    text(&one.subject)
                )
            };
            let commits: String = train.commits.iter().map(commit).collect();
            out +=
                &format!("<h2>Already waiting</h2>\n<p>{}</p>\n<ul>\n{commits}</ul>\n", prose(&waits(train)));
            out += &self.waiting(train);
        }
        out
    }

    /// The objects that wait.
    fn waiting(&self, train: &Train) -> String {
        let (all, more) = waiting(train, MOST_WAITING);
        let item = |one: Waits<'_>| {
            let place = one.place(|clusters| self.named(clusters.iter().copied()));
            let (data, (applier, by)) = (self.runs(&one.clusters), one.by);
            format!(
                "<li data-clusters=\"{data}\">{} <strong>{}</strong> in {place} by {applier} <code>{}</code>{}</li>\n",
                one.word,
                text(&one.object),
                text(by),
                one.again
            )
        };
        let mut items: String = all.into_iter().map(item).collect();
        if more > 0 {
            items += &format!("<li>and {more} more</li>\n");
        }
        format!("<details>\n<summary>{WAITING}</summary>\n<ul>\n{items}</ul>\n</details>\n")
    }

    fn footer(&self) -> String {
        let legend = self.legend.as_ref().map(|legend| format!(" {}.", prose(legend))).unwrap_or_default();
        format!(
            "<p class=\"faint\">{}{legend} Nothing of the pull request was executed.</p>\n{}",
            text(&footer(self.report)),
            end(),
        )
    }

    /// Names clusters by runs of their positions.
    fn runs(&self, clusters: &BTreeSet<&str>) -> String {
        runs(self.clusters.len(), |at| clusters.contains(self.clusters[at]))
    }
}

/// The windows, which may be scrolled by themselves where the screen is small.
fn windows(calendar: &Calendar) -> String {
    format!(
        "<div class=\"windows\" tabindex=\"0\" role=\"region\" aria-label=\"Windows\">\n{}</div>\n\
         <p class=\"faint\">Green: the window is open, and Flux applies what waits for it.</p>\n",
        svg(calendar)
    )
}

fn list(title: &str, items: &str) -> String {
    if items.is_empty() {
        return String::new();
    }
    format!("<h2>{title}</h2>\n<ul class=\"findings\">\n{items}</ul>\n")
}

fn difference(line: &str) -> String {
    let class = match line.as_bytes().first() {
        Some(b'+') => " class=\"add\"",
        Some(b'-') => " class=\"del\"",
        _ => "",
    };
    format!("<span{class}>{}</span>", escape(line))
}

/// Writes a sentence in which what stands between backticks is code.
fn prose(sentence: &str) -> String {
    let piece = |(piece, is_quoted): &(&str, bool)| match is_quoted {
        true => format!("<code>{}</code>", text(piece)),
        false => text(piece),
    };
    quoted(sentence).iter().map(piece).collect()
}
