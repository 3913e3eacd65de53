//! `calendar --format html` in a real browser.

use gitops_windows::calendar::{Calendar, html};
use gitops_windows::delivery::fleet::Schedules;
use gitops_windows::path::RepoPath;
use gitops_windows::schedule::{Interval, zone};
use gitops_windows::spec::{Spec, parse};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::browser::Browser;
use super::{CONTRAST, TOO_WIDE, measured, open, place};

/// A Saturday at 23:00 in Berlin.
const NOW: &str = "2026-11-28T22:00:00Z";

const THREE: &str = "\
apiVersion: gitops-windows/v1
timeZone: Europe/Berlin
types: { rt: {}, rw: { window: saturday }, db: { window: nights } }
windows:
  saturday: { open: 0 22 * * SAT, for: 4h }
  nights: { open: 0 23 * * *, close: 0 4 * * * }
freezes:
  peak: { from: 2026-11-27T00:00, to: 2026-11-28T12:00, reason: <b>trading</b> peak, labels: { region: us } }
overrides:
  - { cluster: edge-03, type: rw, from: 2026-11-26T08:00, until: 2026-11-26T10:00, reason: INC-1 }
clusters:
  edge-01: { labels: { region: eu } }
  edge-02: { labels: { region: eu } }
  edge-03: { labels: { region: us }, windows: { rw: { timeZone: America/New_York, open: 0 20 * * TUE, for: 6h } } }
gate: { every: 15m, through: 2027-06-30 }
";

fn page(text: &str, days: i64) -> String {
    let spec: Spec = parse(&RepoPath::parse("windows.yaml").unwrap(), text.as_bytes()).unwrap().spec;
    let schedules = Schedules::new(&spec).unwrap();
    let clusters: Vec<String> = spec.clusters.keys().cloned().collect();
    let from: Timestamp = "2026-11-22T23:00:00Z".parse().unwrap();
    let to = from + jiff::SignedDuration::from_hours(24 * days);
    let zone = zone::parse("Europe/Berlin").unwrap();
    let calendar = Calendar::new(
        &spec,
        &schedules,
        &clusters,
        &Default::default(),
        Interval { open: from, close: to },
        zone,
        4_000,
    );
    html(&calendar, &spec, NOW.parse().unwrap())
}

/// All that a page tells people; the time is that of the page, and the reader's zone is Kathmandu's.
fn told(browser: &mut Browser) -> Value {
    let told = browser.value(
        "JSON.stringify({
          now: document.getElementById('now').innerText,
          sections: [...document.querySelectorAll('section:not([hidden])')].map((part) => ({
            type: part.querySelector('h2').textContent,
            days: [...part.querySelectorAll('.axis span')].map((day) => day.textContent),
            rows: [...part.querySelectorAll('article:not([hidden])')].map((row) => ({
              clusters: row.querySelector('h3').textContent,
              state: row.querySelector('.state').textContent,
              bars: [...row.querySelectorAll('.bar i')].map((bar) => `${bar.className}: ${bar.title}`),
              openings: [...row.querySelectorAll('tr')].map((line) => [...line.cells].map((cell) => cell.textContent)),
            })),
          })),
          shown: document.querySelector('output').value,
        })",
    );
    serde_json::from_str(told.as_str().unwrap()).unwrap()
}

fn opened(name: &str, page: &str) -> Option<Browser> {
    let mut browser = open(name, page)?;
    let second = NOW.parse::<Timestamp>().unwrap().as_second();
    browser.value(&format!("document.body.dataset.now = {second}; tick()"));
    Some(browser)
}

/// Opens what can be opened, and waits until the page has told the times in it.
const OPEN_ALL: &str = "new Promise((done) => {
  for (const one of document.querySelectorAll('details')) one.open = true;
  setTimeout(done, 500);
})";

#[test]
#[ignore = "needs a Chromium; .ci/run page"]
fn the_fleet_is_told_with_what_is_open_now() {
    let text = page(THREE, 7);
    let Some(mut browser) = opened("fleet", &text) else { return };
    browser.value(OPEN_ALL);
    insta::assert_snapshot!(format!("{:#}", told(&mut browser)));
    let asked = browser.asked();
    assert!(asked.len() == 1 && asked[0].starts_with("file:///"), "{asked:?}");
    // Without a script the same is told, in the zone of whoever made the page.
    let script = text.find("<script>").unwrap();
    let Some(mut plain) = open("fleet-plain", &format!("{}</body></html>", &text[..script])) else { return };
    let now = "document.getElementById('now').innerText";
    assert_eq!(plain.value(now), browser.value(now));
    assert_eq!(plain.value("document.querySelector('form').hidden"), true);
    // Four hours later one type is closed.
    browser.value("document.body.dataset.now = Number(document.body.dataset.now) + 4 * 3600; tick()");
    assert_eq!(browser.value(now), "Open now: rw in 0 of 3 clusters, db in 3 of 3 clusters");
    assert_eq!(browser.problems(), Vec::<String>::new());
}

#[test]
#[ignore = "needs a Chromium; .ci/run page"]
fn the_fleet_is_filtered_with_the_keyboard() {
    let Some(mut browser) = opened("fleet-keyboard", &page(THREE, 7)) else { return };
    let focused = "document.activeElement.name ?? document.activeElement.tagName";
    let shown = "JSON.stringify([document.querySelector('output').value,
        [...document.querySelectorAll('article:not([hidden]) h3')].map((one) => one.textContent)])";
    let mut steps = vec![json!(["at first", browser.value(shown)])];
    for (name, key) in [("cluster", "ArrowDown"), ("label", "ArrowDown"), ("type", "ArrowDown")] {
        browser.press("Tab");
        assert_eq!(browser.value(focused), name);
        browser.press(key);
        steps.push(json!([name, browser.value(shown)]));
    }
    let choose = |browser: &mut Browser, script: &str| {
        let change = "f.dispatchEvent(new Event('input', { bubbles: true }))";
        browser
            .value(&format!("(() => {{ const f = document.forms[0]; f.reset(); {script}; {change}; }})()"));
        browser.value(shown)
    };
    steps.push(json!(["region=us", choose(&mut browser, "f.label.selectedIndex = 2")]));
    steps.push(json!([
        "edge-01 of us",
        choose(&mut browser, "f.label.selectedIndex = 2; f.cluster.value = '0'")
    ]));
    steps.push(json!(["only open", choose(&mut browser, "f.open.checked = true")]));
    insta::assert_snapshot!(format!("{:#}", json!(steps)));
}

#[test]
#[ignore = "needs a Chromium; .ci/run page"]
fn the_fleet_fits_small_screens_and_dark_ones() {
    let Some(mut browser) = opened("fleet-screens", &page(THREE, 7)) else { return };
    browser.value(OPEN_ALL);
    // What is far below is drawn only as it comes near, and a picture shows all of it.
    browser.value(
        "for (const one of document.querySelectorAll('article')) one.style.contentVisibility = 'visible'",
    );
    for scheme in ["light", "dark"] {
        for (name, width) in [("wide", 1100), ("phone", 360)] {
            browser.screen(width, scheme);
            assert_eq!(browser.value(TOO_WIDE), "[0,[]]", "{name}, {scheme}");
            browser.picture(&place(&format!("fleet-{scheme}-{name}.png")));
        }
        let contrast = browser.value(CONTRAST).as_f64().unwrap();
        assert!(contrast >= 4.5, "{scheme}: {contrast}");
    }
}

#[test]
#[ignore = "needs a Chromium; .ci/run page"]
fn a_fleet_of_a_thousand_clusters_is_shown_at_once() {
    let mut text = THREE[..THREE.find("freezes:").unwrap()].to_owned() + "clusters:\n";
    for number in 0..1_000 {
        let (minute, hour, wave) = (number % 60, number / 60, number % 7);
        text += &format!(
            "  edge-{number:04}: {{ labels: {{ wave: w{wave} }}, windows: {{ rw: {{ open: {minute} {hour} * * *, for: 2h }} }} }}\n"
        );
    }
    let page = page(&text, 7);
    let Some((mut browser, loaded, bare)) = measured("fleet-thousand", &page) else { return };
    eprintln!("fleet: {} bytes, {loaded:.0} ms to load, {bare:.0} ms without style and script", page.len());
    assert!(loaded < 8.0 * bare, "{loaded} ms to load, {bare} ms without style and script");
    assert_eq!(browser.value("document.querySelectorAll('article').length"), 1_001);
    let took = browser.value(
        "(() => { const start = performance.now(); const form = document.forms[0]; form.cluster.value = '500';
           form.cluster.dispatchEvent(new Event('input', { bubbles: true })); document.body.getBoundingClientRect();
           return performance.now() - start; })()",
    );
    assert!(took.as_f64().unwrap() < 4.0 * bare, "{took} ms to filter, {bare} ms to load");
    assert_eq!(browser.value("document.querySelector('output').value"), "2 of 1001 shown");
    browser.value("tick()");
}
