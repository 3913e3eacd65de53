//! Figures: a thousand clusters.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use gitops_windows::delivery::Input;
use gitops_windows::delivery::Known;
use gitops_windows::delivery::Model;
use gitops_windows::delivery::fleet::{Fleet, Schedules};
use gitops_windows::path::RepoPath;
use gitops_windows::render::Embedded;
use gitops_windows::repo::{Entry, File, Snapshot};
use gitops_windows::spec::{Spec, parse};
use gitops_windows::when::{Question, answer, json, select};

use super::{NOW, SPEC, flux, job};

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).unwrap()
}

/// A thousand clusters with two types each; with windows of their own, or all with the same.
fn snapshot(own: bool) -> Snapshot {
    let mut spec = SPEC[..SPEC.find("  edge-01").unwrap()].to_owned();
    let mut snapshot = Snapshot::default();
    let mut put = |name: &str, text: &str| snapshot.insert(path(name), File::new(text.as_bytes()));
    for number in 0..1000 {
        let (hour, minute) = (number % 24, number / 24);
        let windows = format!(
            "windows: {{ rw: {{ timeZone: Europe/Berlin, open: {minute} {hour} * * MON, close: {minute} {hour} * * THU }} }}"
        );
        spec += &format!("  edge-{number:04}: {{ {} }}\n", if own { windows.as_str() } else { "" });
        let folder = format!("clusters/edge-{number:04}");
        for side in ["apps-rt", "apps-rw"] {
            put(&format!("{folder}/{side}.yaml"), &flux(side, &format!("{folder}/apps/{side}")));
            put(
                &format!("{folder}/apps/{side}/kustomization.yaml"),
                &format!("resources: [../../../../apps/nginx/nginx{}]\n", &side[4..]),
            );
        }
    }
    put("infra/kustomization.yaml", "resources: [open.yaml, close.yaml]\n");
    put("infra/open.yaml", &job("open", false, "apps-rw"));
    put("infra/close.yaml", &job("close", true, "apps-rw"));
    for side in ["rt", "rw"] {
        put(&format!("apps/nginx/nginx-{side}/kustomization.yaml"), "resources: [a.yaml]\n");
        put(
            &format!("apps/nginx/nginx-{side}/a.yaml"),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n",
        );
    }
    put("windows.yaml", &spec);
    snapshot
}

/// A thousand clusters that were understood.
struct Read {
    snapshot: Snapshot,
    spec: Spec,
    renderer: Embedded,
    model: Model,
    took: Duration,
}

impl Read {
    fn new(own: bool) -> Read {
        let snapshot = snapshot(own);
        let Some(Entry::File(file)) = snapshot.entry(&path("windows.yaml")) else { panic!() };
        let spec = parse(&path("windows.yaml"), file.bytes()).unwrap().spec;
        let started = Instant::now();
        let renderer = Embedded::default();
        let model = Model::read(&snapshot, &RepoPath::top(), &Known::default(), &renderer);
        Read { snapshot, spec, renderer, model, took: started.elapsed() }
    }
}

fn asked(own: bool, what: &[String]) -> (usize, usize) {
    static EQUAL: LazyLock<Read> = LazyLock::new(|| Read::new(false));
    static OWN: LazyLock<Read> = LazyLock::new(|| Read::new(true));
    let Read { snapshot, spec, renderer, model, took } = if own { &*OWN } else { &*EQUAL };
    let started = Instant::now();
    let schedules = Schedules::new(spec).unwrap();
    let fleet = Fleet::new(spec, model, &schedules);
    let question = Question { clusters: &[], what, folder: &RepoPath::top() };
    let input = Input { spec, snapshot, model, renderer };
    let selected = select(&input, &fleet, &question).unwrap();
    let at = NOW.parse().unwrap();
    let answer = answer(spec, &fleet, &schedules, &selected, at, jiff::tz::TimeZone::UTC);
    let text = json(&answer).to_string();
    eprintln!(
        "1,000 clusters, own windows: {own}, asked {what:?}: {} lines, {} schedules; model {took:?}, answer {:?}, {} bytes",
        answer.lines.len(),
        schedules.distinct().len(),
        started.elapsed(),
        text.len()
    );
    (answer.lines.len(), schedules.distinct().len())
}

#[test]
fn equal_windows_are_searched_once() {
    assert_eq!(asked(false, &[]), (2000, 1));
}

#[test]
fn a_thousand_windows_are_no_trouble() {
    assert_eq!(asked(true, &[]), (2000, 1001));
}

#[test]
fn a_path_is_traced_through_a_thousand_clusters() {
    assert_eq!(asked(false, &["apps/nginx/nginx-rw/a.yaml".into()]), (1000, 1));
    assert_eq!(asked(false, &["nginx".into()]), (2000, 1));
}
