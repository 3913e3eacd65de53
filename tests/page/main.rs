//! `pr` and `calendar --format html` in a real browser: what is on the page, what it asks of the network, and how it is used.
//!
//! Runs where `GITOPS_WINDOWS_CHROMIUM` or the path names a Chromium, and says so where none is. `.ci/run page` installs
//! Debian's. Pictures of the pages are left in `target/page`, to be looked at.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may fail, in a folder of its own")]
#![allow(clippy::print_stderr, reason = "says that there is no Chromium")]

mod browser;
mod calendar;
#[path = "../support/divided.rs"]
#[allow(dead_code, reason = "each test program uses a part of it")]
mod divided;
#[path = "../support/mod.rs"]
mod support;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use browser::Browser;
use divided::finished;
use gitops_windows::delivery::Kind;
use gitops_windows::path::RepoPath;
use gitops_windows::pr::{Behind, By, Field, Landing, Line, Report, html};
use gitops_windows::repo::manifest::ObjectId;
use jiff::Timestamp;
use serde_json::{Value, json};

/// A Monday; the window of the sample opens on Saturday at 22:00 in Berlin.
const NOW: &str = "2026-11-23T12:00:00Z";

/// Writes a page to `target/page` and opens it in a window of its own; `None` where there is no Chromium.
fn open(name: &str, page: &str) -> Option<Browser> {
    let Some(program) = browser::program() else {
        eprintln!("skipped: there is no chromium on the path, and GITOPS_WINDOWS_CHROMIUM names none");
        return None;
    };
    let file = place(&format!("{name}.html"));
    std::fs::write(&file, page).unwrap();
    let mut browser = Browser::start(&program);
    browser.open(&file);
    Some(browser)
}

/// As [`open`], with the milliseconds until the page is loaded, and until its elements alone are, without style and script:
/// machines are shared, so only how one compares with the other says something.
fn measured(name: &str, page: &str) -> Option<(Browser, f64, f64)> {
    let cut = |page: &str, start: &str, end: &str| {
        let (before, rest) = page.split_once(start).unwrap();
        before.to_owned() + rest.split_once(end).unwrap().1
    };
    let bare = cut(&cut(page, "<style", "</style>"), "<script", "</script>");
    let load = |name: &str, page: &str| {
        let mut browser = open(name, page)?;
        let loaded =
            browser.value("performance.getEntriesByType('navigation')[0].loadEventEnd").as_f64().unwrap();
        Some((browser, loaded))
    };
    let (_, bare_first) = load(&format!("{name}-bare"), &bare)?;
    let (_, first) = load(name, page)?;
    let (_, bare_second) = load(&format!("{name}-bare"), &bare)?;
    let (browser, second) = load(name, page)?;
    Some((browser, first.min(second), bare_first.min(bare_second)))
}

fn place(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/page");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// The page of a change to the migrated sample: one object at once, two in the window, and one that goes; in one cluster
/// a folder does not build.
fn page() -> String {
    let scratch = finished("sample", &["edge-01", "edge-02"]);
    scratch.git(&["checkout", "--quiet", "-b", "change"]);
    scratch.replace("apps/web/web-rw/deployment.yaml", "nginx:1.29.3", "nginx:1.30.0");
    scratch.replace("apps/web/web-rt/configmap.yaml", "All trains on time", "Delays on <line 4>");
    scratch.replace("clusters/edge-02/apps/apps-rt/web/kustomization.yaml", "namespace.yaml", "gone.yaml");
    let list = "clusters/edge-02/apps/apps-rw/kustomization.yaml";
    let text = scratch.text(list);
    let without: String =
        text.lines().filter(|line| !line.contains("probe")).map(|line| format!("{line}\n")).collect();
    scratch.write(list, without);
    scratch.expect(0, &["pr", "--base", "main", "--now", NOW, "--format", "html"]).stdout
}

/// All that a page tells people, as a program sees it.
const TOLD: &str = "JSON.stringify({
  title: document.title,
  verdict: document.querySelector('h1').innerText,
  deadline: document.querySelector('.deadline')?.innerText,
  table: [...document.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText)),
  windows: [...document.querySelectorAll('svg text')].map((text) => text.textContent),
  open: [...document.querySelectorAll('svg .open title')].map((text) => text.textContent),
  findings: [...document.querySelectorAll('.findings li')].map((item) => item.innerText),
  sections: [...document.querySelectorAll('section')].map((part) => ({
    title: part.querySelector('h2').innerText,
    note: part.querySelector('section > p')?.innerText,
    objects: [...part.querySelectorAll('details')].map((object) => ({
      summary: object.querySelector('summary').innerText,
      by: object.querySelector('p').innerText,
      lines: [...object.querySelectorAll('pre span')].map((line) => line.innerText),
    })),
  })),
  shown: document.querySelector('output').value,
})";

#[test]
#[ignore = "needs a Chromium; .ci/run page"]
fn the_page_tells_each_object_with_its_landing() {
    let Some(mut browser) = open("sample", &page()) else { return };
    let told: Value = serde_json::from_str(browser.value(TOLD).as_str().unwrap()).unwrap();
    insta::assert_snapshot!(format!("{told:#}"));
    assert_eq!(browser.problems(), Vec::<String>::new());
}

#[test]
#[ignore = "needs a Chromium; .ci/run page"]
fn the_page_asks_nothing_of_the_network() {
    let page = page();
    let Some(browser) = open("quiet", &page) else { return };
    let asked = browser.asked();
    assert!(asked.len() == 1 && asked[0].starts_with("file:///"), "{asked:?}");
    // Its policy keeps back what might get in all the same; without it this would be asked for.
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let image = format!("<img src=\"http://{}/x.png\"></main>", server.local_addr().unwrap());
    let (told, calls) = mpsc::channel();
    std::thread::spawn(move || server.incoming().all(|call| call.is_ok() && told.send(()).is_ok()));
    let with_policy = page.replace("</main>", &image);
    let without = with_policy.replace("Content-Security-Policy", "x-nothing");
    for (page, is_asked) in [(with_policy, false), (without, true)] {
        let mut browser = open("asks", &page).unwrap();
        browser.value("new Promise((done) => setTimeout(done, 500))");
        assert_eq!(calls.try_iter().count() > 0, is_asked);
    }
}

/// The clusters and the numbers of what is shown.
const SHOWN: &str = "JSON.stringify([
  [...document.querySelectorAll('details:not([hidden]) summary')].map((summary) => summary.innerText),
  [...document.querySelectorAll('section:not([hidden]) h2')].map((title) => title.innerText.split(':')[0].slice(0, 7)),
  document.querySelector('output').value,
])";

#[test]
#[ignore = "needs a Chromium; .ci/run page"]
fn clusters_and_types_are_chosen_with_the_keyboard() {
    let Some(mut browser) = open("keyboard", &page()) else { return };
    let shown = |browser: &mut Browser| -> Value {
        serde_json::from_str(browser.value(SHOWN).as_str().unwrap()).unwrap()
    };
    let focused = "document.activeElement.name ?? document.activeElement.tagName";
    let mut steps = vec![json!(["at first", shown(&mut browser)])];
    // The timeline can be scrolled, so it is the first stop.
    browser.press("Tab");
    assert_eq!(browser.value(focused), "DIV");
    browser.press("Tab");
    assert_eq!(browser.value(focused), "cluster");
    browser.press("ArrowDown");
    steps.push(json!(["edge-01", shown(&mut browser)]));
    browser.press("Tab");
    assert_eq!(browser.value(focused), "type");
    browser.press("ArrowDown");
    steps.push(json!(["edge-01, rt", shown(&mut browser)]));
    browser.press("Tab");
    assert_eq!(browser.value("document.activeElement.innerText"), "Close all");
    browser.press("Enter");
    assert_eq!(browser.value("document.querySelectorAll('details:not([hidden])[open]').length"), 0);
    browser.press("Tab");
    assert_eq!(browser.value(focused), "SUMMARY");
    assert_eq!(browser.value("document.activeElement.matches(':focus-visible')"), true);
    browser.press("Enter");
    assert_eq!(browser.value("document.querySelectorAll('details:not([hidden])[open]').length"), 1);
    insta::assert_snapshot!(format!("{:#}", json!(steps)));
}

/// How much wider the page is than the screen, and all that sticks out of it but what scrolls by itself.
const TOO_WIDE: &str = "JSON.stringify([
  document.documentElement.scrollWidth - document.documentElement.clientWidth,
  [...document.querySelectorAll('body *')].filter((one) => !one.closest('svg')
    && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80)),
])";

/// The contrast of each text with what is behind it, the smallest first (WCAG 2.2, 1.4.3).
const CONTRAST: &str = "(() => {
  const rgb = (color) => color.match(/[0-9.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if ((color[3] ?? 1) > 0) return color;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll('main *')].filter((one) => !one.closest('svg, select, button')
    && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  return Math.min(...texts.map((one) => {
    const [a, b] = [light(rgb(getComputedStyle(one).color)), light(behind(one))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  }));
})()";

#[test]
#[ignore = "needs a Chromium; .ci/run page"]
fn small_screens_and_dark_ones_show_all_of_it() {
    let Some(mut browser) = open("screens", &page()) else { return };
    let mut backs = Vec::new();
    for scheme in ["light", "dark"] {
        for (name, width) in [("wide", 1100), ("phone", 360)] {
            browser.screen(width, scheme);
            assert_eq!(browser.value("innerWidth"), width);
            assert_eq!(browser.value(TOO_WIDE), "[0,[]]", "{name}, {scheme}");
            browser.picture(&place(&format!("{scheme}-{name}.png")));
        }
        let contrast = browser.value(CONTRAST).as_f64().unwrap();
        assert!(contrast >= 4.5, "{scheme}: {contrast}");
        backs.push(browser.value("getComputedStyle(document.body).backgroundColor"));
    }
    assert_ne!(backs[0], backs[1]);
}

fn line(cluster: usize, object: usize, is_own: bool) -> Line {
    let now: Timestamp = NOW.parse().unwrap();
    let cluster = format!("edge-{cluster:04}");
    let own = if is_own { cluster.clone() } else { object.to_string() };
    let image = |tag: &str| Some(json!(format!("{tag}-{own}")));
    Line {
        by: By {
            path: RepoPath::parse(&format!("clusters/{cluster}/apps")).unwrap(),
            kustomization: Some(("flux-system".to_owned(), "apps".to_owned())),
        },
        from: None,
        built: ObjectId::default(),
        is_substituted: false,
        change_type: Some(if object.is_multiple_of(2) { "rt" } else { "rw" }.to_owned()),
        api_version: "apps/v1".to_owned(),
        id: ObjectId {
            group: "apps".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: "web".to_owned(),
            name: if is_own {
                format!("own-{object}-{}", cluster.len() + cluster.as_bytes()[8] as usize)
            } else {
                format!("app-{object}")
            },
        },
        kind: Kind::Changed,
        fields: vec![Field { path: "spec.image".to_owned(), before: image("a:1"), after: image("a:2") }],
        object: None,
        files: vec![Behind { path: RepoPath::parse("apps/web/deployment.yaml").unwrap(), line: Some(7) }],
        refused: None,
        is_forced: false,
        lands: Landing::at_once(now, Some(now)),
        cluster,
    }
}

#[test]
#[ignore = "needs a Chromium; .ci/run page"]
fn a_thousand_clusters_are_shown_at_once() {
    let shared = (0..1_000).flat_map(|cluster| (0..20).map(move |object| line(cluster, object, false)));
    let own = (0..1_000).map(|cluster| line(cluster, cluster, true));
    let report = Report {
        base: "0123456789abcdef".to_owned(),
        head: None,
        now: NOW.parse().unwrap(),
        changes: shared.chain(own).collect(),
        built: Vec::new(),
        deadline: None,
        findings: Vec::new(),
        trains: Vec::new(),
        withheld: Vec::new(),
        unreached: Vec::new(),
    };
    let page = html(&report, None);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    let Some((mut browser, loaded, bare)) = measured("thousand", &page) else { return };
    assert!(loaded < 8.0 * bare, "{loaded} ms to load, {bare} ms without style and script");
    assert_eq!(browser.value("document.querySelectorAll('details').length"), 1_020);
    let took = browser.value(
        "(() => { const start = performance.now(); const form = document.forms[0]; form.cluster.value = '500';
           form.cluster.dispatchEvent(new Event('input', { bubbles: true })); document.body.getBoundingClientRect();
           return performance.now() - start; })()",
    );
    assert!(took.as_f64().unwrap() < 4.0 * bare, "{took} ms to filter, {bare} ms to load");
    assert_eq!(browser.value("document.querySelector('output').value"), "21 of 1020 shown");
}
