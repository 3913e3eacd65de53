//! The pictures in `README.md`: a comment that `pr` writes of the sample, drawn as a forge shows it, and a timeline that
//! `calendar` draws.
//!
//! `GITOPS_WINDOWS_BLESS=1 cargo test --test picture` draws `docs/comment.svg` and `docs/calendar.svg` anew.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, and writes when asked")]

#[path = "support/divided.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod divided;
mod support;

use std::path::Path;

use divided::finished;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use support::scratch::Scratch;

const WIDTH: f64 = 880.0;
const MARGIN: f64 = 20.0;
const SIZE: f64 = 14.0;

/// How wide letters of Helvetica are, in thousandths of their size, from the space to `~` (Adobe's font metrics).
const LETTERS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
    500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
    556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
    278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];

/// Colours for both schemes; the picture brings its own background, so that it is readable on any page.
const STYLE: &str = "\
.back{fill:#ffffff;stroke:#d1d9e0}.text{fill:#1f2328}.faint{fill:#59636e}.line{stroke:#d1d9e0}.chip{fill:#eff1f3}\
.box{fill:#f6f8fa}.add{fill:#dafbe1}.del{fill:#ffebe9}\
text{font-family:-apple-system,BlinkMacSystemFont,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif;white-space:pre}\
.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}.bold{font-weight:600}\
@media (prefers-color-scheme:dark){\
.back{fill:#0d1117;stroke:#3d444d}.text{fill:#f0f6fc}.faint{fill:#9198a1}.line{stroke:#3d444d}.chip{fill:#2a313c}\
.box{fill:#151b23}.add{fill:#12351d}.del{fill:#3c1618}}";

/// A word with how it looks.
#[derive(Clone, Copy, Default)]
struct Look {
    is_bold: bool,
    is_code: bool,
    is_faint: bool,
}

impl Look {
    fn width(self, text: &str, size: f64) -> f64 {
        if self.is_code {
            return text.chars().count() as f64 * size * 0.85 * 0.602 + 8.0;
        }
        let letter =
            |c: char| LETTERS.get((c as usize).wrapping_sub(32)).map_or(600.0, |width| f64::from(*width));
        text.chars().map(letter).sum::<f64>() * size / 1000.0 * if self.is_bold { 1.07 } else { 1.0 }
    }
}

#[derive(Default)]
struct Picture {
    shapes: String,
    y: f64,
}

impl Picture {
    fn shape(&mut self, shape: String) {
        self.shapes += &shape;
        self.shapes.push('\n');
    }

    /// Writes words in lines from `x` on, in at most `width`.
    fn words(&mut self, words: &[(String, Look)], x: f64, width: f64, size: f64) {
        let (mut at, space) = (x, size * 0.278);
        let hanging = if words.first().is_some_and(|(text, _)| text == "•") { SIZE * 0.63 } else { 0.0 };
        self.y += size * 1.15;
        for (index, (text, look)) in words.iter().enumerate() {
            let wide = look.width(text, size);
            let is_joined = index > 0 && text.starts_with([',', ';', ':', '.']);
            if is_joined {
                at -= space;
            } else if at > x && at + wide > x + width {
                at = x + hanging;
                self.y += size * 1.5;
            }
            self.word(text, *look, at, wide, size);
            at += wide + space;
        }
        self.y += size * 0.35;
    }

    fn word(&mut self, text: &str, look: Look, x: f64, wide: f64, size: f64) {
        let mut class = if look.is_faint { "faint" } else { "text" }.to_owned();
        let (mut left, mut length, mut size) = (x, wide, size);
        if look.is_code {
            let top = self.y - size * 0.95;
            let high = size * 1.3;
            self.shape(format!(
                "<rect class=\"chip\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\" rx=\"4\"/>"
            ));
            (left, length, size) = (x + 4.0, wide - 8.0, size * 0.85);
            class += " code";
        }
        class += if look.is_bold { " bold" } else { "" };
        self.shape(format!(
            "<text class=\"{class}\" x=\"{left:.1}\" y=\"{:.1}\" font-size=\"{size}\" textLength=\"{length:.1}\" \
             lengthAdjust=\"spacingAndGlyphs\">{}</text>",
            self.y,
            escape(text)
        ));
    }

    fn difference(&mut self, text: &str, x: f64) {
        let (size, high, wide) = (SIZE * 0.85, SIZE * 1.4, WIDTH - MARGIN - x);
        self.y += 6.0;
        for line in text.lines() {
            let class = match line.as_bytes().first() {
                Some(b'+') => "add",
                Some(b'-') => "del",
                _ => "box",
            };
            self.shape(format!(
                "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\"/>",
                self.y
            ));
            self.shape(format!(
                "<text class=\"text code\" x=\"{:.1}\" y=\"{:.1}\" font-size=\"{size}\" xml:space=\"preserve\">{}</text>",
                x + 8.0,
                self.y + high * 0.7,
                escape(line)
            ));
            self.y += high;
        }
        self.y += 10.0;
    }

    fn table(&mut self, rows: &[Vec<Vec<(String, Look)>>]) {
        let columns = [MARGIN, MARGIN + 190.0, MARGIN + 330.0];
        for row in rows {
            let top = self.y;
            for (cell, x) in row.iter().zip(columns) {
                self.y = top + 2.0;
                self.words(cell, x, WIDTH, SIZE);
            }
            self.y += 4.0;
            let (y, right) = (self.y, WIDTH - MARGIN);
            self.shape(format!(
                "<line class=\"line\" x1=\"{MARGIN}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>"
            ));
        }
        self.y += 10.0;
    }

    /// Draws what a forge makes of a comment; folded parts are open.
    fn of(comment: &str) -> String {
        let mut picture = Picture { y: MARGIN - 6.0, ..Picture::default() };
        let (mut words, mut look) = (Vec::<(String, Look)>::new(), Look::default());
        let (mut row, mut rows) = (Vec::new(), Vec::new());
        let mut is_item = false;
        for event in Parser::new_ext(comment, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Strong) => look.is_bold = true,
                Event::End(TagEnd::Strong) => look.is_bold = false,
                Event::Start(Tag::TableHead) => look.is_bold = true,
                Event::Start(Tag::Item) => is_item = true,
                Event::Code(code) => words.push((code.to_string(), Look { is_code: true, ..look })),
                Event::Text(text) if text.ends_with('\n') => {
                    words.push((text.to_string(), Look::default()));
                }
                Event::Text(text) => {
                    words.extend(text.split_whitespace().map(|word| (word.to_owned(), look)))
                }
                Event::SoftBreak => {}
                Event::Html(html) | Event::InlineHtml(html) => match html.trim() {
                    "<sub>" => look.is_faint = true,
                    html => {
                        let title = html.strip_prefix("<details><summary>");
                        if let Some(title) = title.and_then(|rest| rest.strip_suffix("</summary>")) {
                            let words = [format!("▾ {title}")];
                            let words = words.iter().flat_map(|title| title.split(' '));
                            let words: Vec<(String, Look)> =
                                words.map(|word| (word.to_owned(), Look { is_bold: true, ..look })).collect();
                            picture.words(&words, MARGIN, WIDTH - 2.0 * MARGIN, SIZE);
                            picture.y += 6.0;
                        }
                    }
                },
                Event::End(TagEnd::TableCell) => row.push(std::mem::take(&mut words)),
                Event::End(TagEnd::TableHead | TagEnd::TableRow) => {
                    look.is_bold = false;
                    rows.push(std::mem::take(&mut row));
                }
                Event::End(TagEnd::Table) => picture.table(&std::mem::take(&mut rows)),
                Event::End(TagEnd::CodeBlock) => {
                    let text: String = words.drain(..).map(|(text, _)| text).collect();
                    picture.difference(&text, MARGIN + 18.0);
                }
                Event::End(TagEnd::Paragraph | TagEnd::Item) if !words.is_empty() => {
                    let (x, size) = match (is_item, look.is_faint) {
                        (true, _) => (MARGIN + 18.0, SIZE),
                        (_, true) => (MARGIN, SIZE * 0.85),
                        _ => (MARGIN, SIZE),
                    };
                    if is_item {
                        words.insert(0, ("•".to_owned(), look));
                    }
                    let bullet = if is_item { SIZE } else { 0.0 };
                    picture.words(&words, x - bullet, WIDTH - MARGIN - x + bullet, size);
                    picture.y += 6.0;
                    words.clear();
                    is_item = false;
                }
                _ => {}
            }
        }
        assert!(words.is_empty(), "not drawn: {:?}", words[0].0);
        let height = picture.y + MARGIN - 6.0;
        let (inner, high) = (WIDTH - 1.0, height - 1.0);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
             height=\"{height:.0}\" role=\"img\" aria-label=\"A comment on a pull request\">\n<style>{STYLE}</style>\n\
             <rect class=\"back\" x=\"0.5\" y=\"0.5\" width=\"{inner}\" height=\"{high:.0}\" rx=\"6\"/>\n{}</svg>\n",
            picture.shapes
        )
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[test]
fn the_readme_shows_a_comment_of_the_sample() {
    let scratch = finished("sample", &["edge-01", "edge-02"]);
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0");
    scratch.replace("apps/web/web-rt/configmap.yaml", "All trains on time", "Delays on line 4");
    scratch.commit();
    let ask = ["pr", "--base", "main", "--head", "change", "--format", "markdown"];
    let comment = scratch.expect(0, &[&ask[..], &["--now", "2026-11-23T12:00:00Z"]].concat()).stdout;
    // Of the commits, which are others on each machine, and of the release of the time zones the picture says nothing.
    let shown = comment.split("\n<sub>").next().unwrap();
    let picture = Picture::of(shown);
    keep("docs/comment.svg", &picture);
}

/// Three clusters with windows in their own time zones, and a freeze in one.
const WINDOWS: &str = "\
apiVersion: gitops-windows/v1
timeZone: Europe/Berlin
types:
  rt: {}
  rw: { window: saturday }
windows:
  saturday: { open: 0 22 * * SAT, for: 6h }
clusters:
  edge-01: {}
  edge-02: { windows: { rw: { timeZone: America/New_York, from: Tue 20:00, to: Wed 02:00 } } }
  edge-03: { windows: { rw: { timeZone: Asia/Tokyo, open: 0 2 * * MON-FRI, for: 3h } } }
freezes:
  year-end: { from: 2026-12-04, to: 2027-01-07, reason: trading peak, clusters: edge-01 }
gate: { every: 5m, through: 2027-12-31 }
";

#[test]
fn the_readme_shows_a_timeline() {
    let scratch = Scratch::fixture("sample");
    let files = ["flux/apps.yaml", "flux/infra.yaml", "infra/kustomization.yaml", "apps/kustomization.yaml"];
    let apps = ["apps/probe/kustomization.yaml", "apps/web/kustomization.yaml", "apps/web/namespace.yaml"];
    for file in files.into_iter().chain(apps) {
        let text = scratch.text(&format!("clusters/edge-02/{file}")).replace("edge-02", "edge-03");
        scratch.write(&format!("clusters/edge-03/{file}"), text);
    }
    scratch.write("windows.yaml", WINDOWS).commit();
    for step in
        [&["sync", "--yes"][..], &["split", "--all", "--yes"], &["migrate", "--yes"], &["migrate", "--yes"]]
    {
        scratch.take(step);
    }
    let ask = ["calendar", "--format", "svg", "--from", "2026-11-23", "--days", "14"];
    let picture = scratch.expect(0, &[&ask[..], &["--time-zone", "Europe/Berlin"]].concat()).stdout;
    keep("docs/calendar.svg", &picture);
}

/// Holds a picture to what is drawn, and the page to the picture.
#[track_caller]
fn keep(path: &str, picture: &str) {
    assert!(picture.contains("prefers-color-scheme:dark"), "{path} is for light pages only");
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = top.join(path);
    if std::env::var_os("GITOPS_WINDOWS_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&file, picture).unwrap();
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == picture, "{path} is not what is drawn: run this with GITOPS_WINDOWS_BLESS=1");
    let readme = std::fs::read_to_string(top.join("README.md")).unwrap();
    assert!(readme.contains(&format!("]({path})")));
}
