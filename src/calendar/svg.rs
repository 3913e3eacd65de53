//! A calendar as a picture.

use std::fmt::Write;

use crate::calendar::axis::{days, fraction};
use crate::calendar::{Calendar, OpenTime, Row, label};
use crate::diagnostic::clean;
use crate::schedule::minute;
use crate::text::escape;

/// Measures in pixels.
const WIDTH: f64 = 960.0;
const MARGIN: f64 = 20.0;
const HEAD: f64 = 88.0;
const ROW: f64 = 58.0;
const BAR: f64 = 22.0;
const FOOT: f64 = 20.0;
/// The room for the words below marks, and of one letter of them.
const MARK: f64 = 16.0;
const LETTER: f64 = 6.5;

/// The most days that get a line of their own.
const MOST_LINES: usize = 62;

/// The narrowest bar that can still be seen.
const NARROWEST: f64 = 1.5;

/// Colours for both schemes; the picture brings its own background, so that it is readable on any page.
const STYLE: &str = "\
.back{fill:#ffffff}.text{fill:#1f2328}.faint{fill:#59636e}.line{stroke:#d1d9e0}\
.mark{stroke:#cf222e;stroke-width:2}.closed{fill:#eff2f5}.open{fill:#1a7f37}.off{fill:#9a6700}\
text{font-family:-apple-system,BlinkMacSystemFont,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif;font-size:13px}\
.title{font-size:16px;font-weight:600}.small{font-size:11px}.name{font-weight:600}\
@media (prefers-color-scheme:dark){\
.back{fill:#0d1117}.text{fill:#f0f6fc}.faint{fill:#9198a1}.line{stroke:#3d444d}\
.mark{stroke:#f85149}.closed{fill:#212830}.open{fill:#3fb950}.off{fill:#d29922}}";

/// Writes a calendar as an SVG picture without scripts, for light and dark pages.
///
/// Hovering over a bar tells its times. Names from files are escaped and can't become markup.
pub fn svg(calendar: &Calendar) -> String {
    let real_time = calendar.real_time.len() as f64 * 20.0;
    let foot = if calendar.marks.is_empty() { FOOT } else { FOOT + MARK };
    let height = HEAD + real_time + calendar.rows.len() as f64 * ROW + foot;
    let range = format!(
        "{} – {}, {}",
        minute(calendar.from, &calendar.zone),
        minute(calendar.to, &calendar.zone),
        label::zone(&calendar.zone)
    );
    let mut out = String::new();
    line(
        &mut out,
        &format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" role=\"img\" aria-label=\"{}\">",
            escape(&format!("Reconciliation windows, {range}"))
        ),
    );
    line(&mut out, &format!("<style>{STYLE}</style>"));
    line(&mut out, &format!("<rect class=\"back\" width=\"{WIDTH}\" height=\"{height}\"/>"));
    words(&mut out, MARGIN, 30.0, "text title", "Reconciliation windows");
    words(&mut out, MARGIN, 50.0, "faint", &range);
    let mut y = 72.0;
    for name in &calendar.real_time {
        words(&mut out, MARGIN, y, "text", &format!("{}: at once, in all clusters", clean(name)));
        y += 20.0;
    }
    let top = HEAD + real_time;
    grid(&mut out, calendar, top, height - foot);
    for (index, row) in calendar.rows.iter().enumerate() {
        bars(&mut out, calendar, row, top + index as f64 * ROW);
    }
    marks(&mut out, calendar, top);
    line(&mut out, "</svg>");
    out
}

/// Draws the begin of each day.
fn grid(out: &mut String, calendar: &Calendar, top: f64, bottom: f64) {
    if calendar.rows.is_empty() {
        return;
    }
    let days = days(calendar);
    let step = days.len().div_ceil(MOST_LINES);
    let names = if days.len() <= 14 { "%a %d" } else { "%m-%d" };
    let mut free = 0.0;
    for day in days.iter().step_by(step.max(1)) {
        let x = place(fraction(calendar, day.start));
        line(
            out,
            &format!(
                "<line class=\"line\" x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>",
                top - 14.0
            ),
        );
        if x >= free && x < WIDTH - MARGIN - 30.0 {
            words(out, x + 3.0, top - 4.0, "faint small", &day.date.strftime(names).to_string());
            free = x + 46.0;
        }
    }
}

fn bars(out: &mut String, calendar: &Calendar, row: &Row, top: f64) {
    let (text, bar) = (top + 22.0, top + 29.0);
    let state = label::state(row);
    let race = row.race.map_or("", |_| " (some open and close at the same instant)");
    let clusters = label::clusters(row, calendar.clusters, 100);
    line(
        out,
        &format!(
            "<text x=\"{MARGIN}\" y=\"{text:.1}\"><tspan class=\"text name\">{}{}{race}</tspan><tspan class=\"faint\" \
             dx=\"10\">{}</tspan></text>",
            escape(&clean(&row.change_type)),
            escape(&state),
            escape(&clusters)
        ),
    );
    let whole = WIDTH - 2.0 * MARGIN;
    line(
        out,
        &format!(
            "<rect class=\"closed\" x=\"{MARGIN}\" y=\"{bar:.1}\" width=\"{whole}\" height=\"{BAR}\" rx=\"3\"/>"
        ),
    );
    let class = if row.is_closing() { "open" } else { "off" };
    let freezes = row.freezes.iter().map(|freeze| ("frozen", "off", freeze));
    for (what, class, one) in freezes.chain(row.untold().map(|given| ("override", "open", given))) {
        let Some(shown) = one.interval.clip(calendar.from, calendar.to) else { continue };
        let (left, right) = (place(fraction(calendar, shown.open)), place(fraction(calendar, shown.close)));
        let width = (right - left).max(NARROWEST);
        line(
            out,
            &format!(
                "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"4\"><title>{}</title></rect>",
                bar + BAR,
                escape(&clean(&label::stretch(what, one, row.zone())))
            ),
        );
    }
    for OpenTime { interval, zone, reason, .. } in &row.times {
        let Some(shown) = interval.clip(calendar.from, calendar.to) else { continue };
        let (left, right) = (place(fraction(calendar, shown.open)), place(fraction(calendar, shown.close)));
        let width = (right - left).max(NARROWEST);
        line(
            out,
            &format!(
                "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{bar:.1}\" width=\"{width:.1}\" height=\"{BAR}\" \
                 rx=\"3\"><title>{} {}{}</title></rect>",
                escape(&label::interval(interval, zone)),
                escape(label::zone(zone)),
                escape(&label::reason(reason.as_deref()))
            ),
        );
    }
}

/// Draws the instants to be pointed at over the bars, with words below where there is room for them.
fn marks(out: &mut String, calendar: &Calendar, top: f64) {
    let bottom = top + calendar.rows.len() as f64 * ROW;
    let mut free = 0.0;
    for (at, what) in calendar.marks.iter().filter(|(at, _)| (calendar.from..calendar.to).contains(at)) {
        let what = clean(what);
        let x = place(fraction(calendar, *at));
        for index in 0..calendar.rows.len() {
            let (from, to) = (top + index as f64 * ROW + 25.0, top + index as f64 * ROW + 55.0);
            line(
                out,
                &format!(
                    "<line class=\"mark\" x1=\"{x:.1}\" y1=\"{from:.1}\" x2=\"{x:.1}\" y2=\"{to:.1}\">\
                     <title>{}</title></line>",
                    escape(&what)
                ),
            );
        }
        let width = what.chars().count() as f64 * LETTER;
        let left = (x - 2.0).min(WIDTH - MARGIN - width);
        if left >= free {
            words(out, left, bottom + 12.0, "text small", &what);
            free = left + width + 8.0;
        }
    }
}

fn place(fraction: f64) -> f64 {
    MARGIN + fraction * (WIDTH - 2.0 * MARGIN)
}

fn words(out: &mut String, x: f64, y: f64, class: &str, text: &str) {
    line(out, &format!("<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text)));
}

fn line(out: &mut String, text: &str) {
    // Writing to a text can't fail.
    let _ = writeln!(out, "{text}");
}
