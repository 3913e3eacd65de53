//! The answer as a page.

use std::collections::BTreeSet;

use crate::calendar::{Calendar, svg};
use crate::diff::clean;
use crate::pr::body::body;
use crate::pr::report::Report;
use crate::pr::summary::{Row, count, deadline, heading, named_clusters, sections, verdict, waits};
use crate::text::escape;

/// What the page looks like, in light and dark, on any width.
const STYLE: &str = "\
:root{color-scheme:light dark;--back:#fff;--text:#1f2328;--faint:#59636e;--line:#d1d9e0;--box:#f6f8fa;--add:#dafbe1;--del:#ffebe9}\
@media (prefers-color-scheme:dark){:root{--back:#0d1117;--text:#f0f6fc;--faint:#9198a1;--line:#3d444d;--box:#151b23;--add:#12351d;--del:#3c1618}}\
*{box-sizing:border-box}body{margin:0 auto;max-width:64rem;padding:1.5rem 1rem;background:var(--back);color:var(--text);\
font:1rem/1.5 -apple-system,BlinkMacSystemFont,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif;overflow-wrap:anywhere}\
h1{font-size:1.4rem;margin:0 0 .5rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}.faint{color:var(--faint)}\
.deadline{font-weight:600}form{display:flex;flex-wrap:wrap;gap:1rem;margin:1rem 0}select{font:inherit;max-width:100%}\
svg{max-width:100%;height:auto;border:1px solid var(--line);border-radius:6px}\
details{border:1px solid var(--line);border-radius:6px;margin:.5rem 0;padding:.5rem .75rem;background:var(--box)}\
summary{cursor:pointer}summary:focus-visible{outline:2px solid #0969da}\
pre{overflow-x:auto;margin:.5rem 0;font:.85rem/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\
pre span{display:block;white-space:pre-wrap}.add{background:var(--add)}.del{background:var(--del)}\
[hidden]{display:none!important}";

/// Shows only what the two lists ask for. Everything is there without it.
const SCRIPT: &str = "\
const form=document.querySelector('form');form.hidden=false;form.addEventListener('input',()=>{\
const cluster=form.cluster.value,type=form.type.value;\
for(const row of document.querySelectorAll('[data-clusters]'))row.hidden=!(\
(!cluster||JSON.parse(row.dataset.clusters).includes(cluster))&&(!type||row.dataset.type===type));\
for(const part of document.querySelectorAll('section'))part.hidden=!part.querySelector('[data-clusters]:not([hidden])')});";

/// Writes a report as one page that needs nothing else: no network, light and dark, for keyboards and small screens.
///
/// `calendar` has the windows with the landings marked, where there is a spec. Names and values are text, never markup,
/// and a policy in the page forbids it to load anything.
pub fn html(report: &Report, calendar: Option<&Calendar>) -> String {
    let all: BTreeSet<&str> = report.changes.iter().map(|line| line.cluster.as_str()).collect();
    let types: BTreeSet<&str> =
        report.changes.iter().filter_map(|line| line.change_type.as_deref()).collect();
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\">\n<title>What this pull request changes</title>\n<style>{STYLE}</style>\n</head>\n\
         <body>\n<main>\n<h1>{}</h1>\n",
        text(&verdict(report))
    );
    if let Some(deadline) = deadline(report) {
        out += &format!("<p class=\"deadline\">{}</p>\n", text(&deadline));
    }
    if let Some(calendar) = calendar {
        out += &svg(calendar);
    }
    out += &findings(report);
    if !report.changes.is_empty() {
        out += "<form hidden>\n";
        out += &choice("cluster", "Cluster", &all);
        out += &choice("type", "Type", &types);
        out += "</form>\n";
    }
    for section in sections(report) {
        let title = format!("{}: {}", heading(&section.lands), count(section.objects(), "object"));
        out += &format!("<section>\n<h2>{}</h2>\n", text(&title));
        if let Some(reason) = &section.lands.reason {
            out += &format!("<p class=\"faint\">{}</p>\n", text(reason));
        }
        for row in &section.rows {
            out += &of_row(row, &all);
        }
        out += "</section>\n";
    }
    for train in &report.trains {
        out += &format!("<h2>{}</h2>\n<ul>\n", text(&waits(train)));
        for one in &train.commits {
            out += &format!(
                "<li><code>{}</code> {}</li>\n",
                text(&format!("{:.10}", one.hash)),
                text(&one.subject)
            );
        }
        out += "</ul>\n";
    }
    let head = report.head.as_deref().unwrap_or("the working tree");
    let merged = report.now.strftime("%Y-%m-%dT%H:%M:%SZ");
    out += &format!(
        "<p class=\"faint\">{} against {}, merged at {merged}.</p>\n</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        text(head),
        text(&report.base)
    );
    out
}

fn findings(report: &Report) -> String {
    let mut out = String::new();
    if !report.withheld.is_empty() {
        out += "<h2>Not built, so nothing is said of their objects</h2>\n<ul>\n";
        for one in &report.withheld {
            let side = if one.is_head { "now" } else { "before" };
            let place = format!("{} in {}, {side}: ", one.by.path, one.cluster);
            out += &format!("<li>{}<code>{}</code></li>\n", text(&place), text(&one.reason));
        }
        out += "</ul>\n";
    }
    if !report.findings.is_empty() {
        out += "<h2>Look at this</h2>\n<ul>\n";
        for one in &report.findings {
            let cluster = if one.cluster.is_empty() { String::new() } else { format!(" in {}", one.cluster) };
            out += &format!(
                "<li><strong>{}</strong>{}: {}<br><span class=\"faint\">{}</span></li>\n",
                one.topic.as_str(),
                text(&cluster),
                text(&one.message),
                text(&one.help)
            );
        }
        out += "</ul>\n";
    }
    out
}

fn choice(name: &str, label: &str, values: &BTreeSet<&str>) -> String {
    let option = |value: &&str| format!("<option value=\"{0}\">{0}</option>", text(value));
    let options: String = values.iter().map(option).collect();
    format!(
        "<label>{label} <select name=\"{name}\"><option value=\"\">all</option>{options}</select></label>\n"
    )
}

fn of_row(row: &Row, all: &BTreeSet<&str>) -> String {
    let clusters: BTreeSet<&str> = row.clusters.iter().map(String::as_str).collect();
    let names: Vec<String> = row.clusters.iter().map(|name| clean(name.as_bytes())).collect();
    let data = serde_json::Value::from(names).to_string();
    let mut out = format!(
        "<details data-clusters=\"{}\" data-type=\"{}\">\n<summary>{} <strong>{}</strong> by {} in {}</summary>\n",
        escape(&data),
        text(row.change_type.as_deref().unwrap_or_default()),
        row.kind.as_str(),
        text(&row.object),
        text(&row.by),
        text(&named_clusters(&clusters, all).join(", "))
    );
    out += &format!("<p class=\"faint\">{}</p>\n<pre>", text(&row.files.join(", ")));
    for line in body(row) {
        let class = match line.as_bytes().first() {
            Some(b'+') => " class=\"add\"",
            Some(b'-') => " class=\"del\"",
            _ => "",
        };
        out += &format!("<span{class}>{}</span>", escape(&line));
    }
    out + "</pre>\n</details>\n"
}

/// Writes text that is never markup, without characters that hide or turn others.
fn text(text: &str) -> String {
    escape(&clean(text.as_bytes()))
}
