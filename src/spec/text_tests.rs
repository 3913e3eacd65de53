//! What is written is what is read, whatever the values are.

use proptest::prelude::*;

use super::*;
use crate::schedule::WindowKey;
use crate::spec::node::{self, Node, Value};
use crate::spec::tests::read;
use crate::spec::{AlertDef, ProviderDef, Runner, Spec, WindowDef, WindowUse};

#[test]
fn a_fresh_spec_reads_well() {
    let zone = Some("Europe/Berlin".to_owned());
    let window = |open: &str, close: &str| NewWindow {
        time_zone: zone.clone(),
        open: open.into(),
        close: close.into(),
    };
    let spec = NewSpec {
        windows: vec![("work-week".into(), window("0 8 * * MON", "0 17 * * MON-THU,SAT"))],
        clusters: vec![
            NewCluster { name: "edge-01".into(), ..NewCluster::default() },
            NewCluster {
                name: "edge-02".into(),
                paths: vec!["clusters/two".into()],
                roots: vec!["clusters/two/flux".into(), "sites/two".into()],
                windows: vec![(
                    "rw".into(),
                    vec![NewWindowUse::Inline(window("0 20 * * TUE", "0 2 * * WED"))],
                )],
                enabled: Some(false),
            },
        ],
        layout: LayoutTemplates { app: "{path}/sets-{type}".into(), ..LayoutTemplates::default() },
        ..NewSpec::default()
    };
    let text = write_new(&spec);
    insta::assert_snapshot!(text, @r#"
# yaml-language-server: $schema=./windows.schema.json
apiVersion: gitops-windows/v1

# How changes reach a cluster: an earlier type never waits for a later one.
types:
  rt: {} # real-time: no window
  rw:
    window: work-week

# When windows open and close: cron expressions in a time zone.
windows:
  work-week:
    timeZone: Europe/Berlin
    open: 0 8 * * MON
    close: "0 17 * * MON-THU,SAT"

# The clusters, and where one differs from the rest.
clusters:
  edge-01: {}
  edge-02:
    path: clusters/two
    roots: [clusters/two/flux, sites/two]
    windows:
      rw:
        timeZone: Europe/Berlin
        open: 0 20 * * TUE
        close: 0 2 * * WED
    gate:
      enabled: false

# Which object has which type: the first rule that matches wins.
rules:
  - { kind: Namespace, type: rt }
  - { kind: ConfigMap, type: rt }
  - { type: rw }

# Where new Flux Kustomizations go, and the source that they read.
flux:
  namespace: flux-system
  source:
    kind: GitRepository
    name: flux-system

# The CronJobs that open and close the windows; suspended while not enabled.
gate:
  enabled: true
  namespace: jobs
  image: ghcr.io/fluxcd/flux-cli:v2.9.4
  runner: kubectl

# How folders, files and objects are named.
layout:
  app: "{path}/sets-{type}"
"#);
    assert_eq!(read(&text).unwrap().warnings, []);
    same(&spec, &read(&text).unwrap().spec);
}

fn window_of(window: &WindowDef) -> NewWindow {
    let [(WindowKey::Open, open), (WindowKey::Close, close)] = &window.times[..] else {
        panic!("{window:?}")
    };
    NewWindow {
        time_zone: window.time_zone.as_ref().map(|zone| zone.value.clone()),
        open: open.value.clone(),
        close: close.value.clone(),
    }
}

/// Turns a spec that was read into what it was written from.
fn again(spec: &Spec) -> NewSpec {
    let uses = |uses: &Vec<WindowUse>| {
        uses.iter()
            .map(|window| match window {
                WindowUse::Named(name) => NewWindowUse::Named(name.value.clone()),
                WindowUse::Inline(window) => NewWindowUse::Inline(window_of(window)),
            })
            .collect()
    };
    let texts = |texts: &[crate::spec::Placed<String>]| texts.iter().map(|text| text.value.clone()).collect();
    NewSpec {
        time_zone: spec.time_zone.as_ref().map(|zone| zone.value.clone()),
        has_releases: spec.rules.iter().any(|rule| rule.matcher.is_values),
        types: spec.types.iter().map(|t| (t.name.value.clone(), texts(&t.windows))).collect(),
        windows: spec.windows.iter().map(|(name, window)| (name.clone(), window_of(window))).collect(),
        clusters: spec
            .clusters
            .values()
            .map(|cluster| NewCluster {
                name: cluster.name.value.clone(),
                paths: texts(&cluster.paths),
                roots: texts(&cluster.roots),
                windows: cluster
                    .windows
                    .iter()
                    .map(|(name, over)| (name.clone(), uses(&over.value)))
                    .collect(),
                enabled: cluster.enabled,
            })
            .collect(),
        flux: spec.flux.clone(),
        gate: spec.gate.clone(),
        alerts: spec.alerts.clone(),
        layout: spec.layout.clone(),
    }
}

fn same(new: &NewSpec, read: &Spec) {
    assert_eq!(&again(read), new);
    let by_kind = read.rules.iter().filter(|rule| !rule.matcher.is_values);
    let rules: Vec<_> = by_kind.map(|rule| (rule.matcher.kind.as_deref(), rule.type_name.as_str())).collect();
    let (first, last) = (new.types[0].0.as_str(), new.types[new.types.len() - 1].0.as_str());
    assert_eq!(rules, [(Some("Namespace"), first), (Some("ConfigMap"), first), (None, last)]);
}

fn find<'n>(node: &'n Node, path: &[&str]) -> &'n Node {
    path.iter().fold(node, |node, key| match &node.value {
        Value::Mapping(pairs) => {
            let found = pairs
                .iter()
                .find(|(name, _)| matches!(&name.value, Value::Scalar { text, .. } if text == key));
            &found.unwrap_or_else(|| panic!("no {key} in {node:?}")).1
        }
        _ => panic!("{node:?}"),
    })
}

fn scalar(node: &Node) -> (&str, bool) {
    match &node.value {
        Value::Scalar { text, plain } => (text, *plain && trap::meaning(text).is_some()),
        _ => panic!("{node:?}"),
    }
}

/// Texts that look like YAML, and any others.
fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        "(?s).{0,20}",
        r##"([a-c0-9]|: |:|- | #|#|\n|\r|\t|"|'|\\|\{|\}|\[|\]|,|&|\*|!|%|@|`|\||>|\?|~| |<<|---|\.\.\.|=|on|no|null|0x1|1e3|\u{85}|\u{2028}|\u{feff}|\u{1F600}){0,10}"##,
    ]
}

/// Names that are valid, and hostile in that they look like something else.
fn label() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?",
        prop::sample::select(vec![
            "on",
            "off",
            "y",
            "null",
            "0777",
            "1e3",
            "0x1",
            "true",
            "2026-11-21",
            "1-1"
        ])
        .prop_map(str::to_owned),
    ]
}

prop_compose! {
    fn new_spec()(
        labels in prop::collection::hash_set(label(), 8..12),
        zone in prop::option::of(prop::sample::select(vec!["UTC", "Europe/Berlin", "Etc/GMT+5"])),
        folders in prop::collection::vec(r"[a-z0-9 #:,'\[\]{}&*!%@`|>~=ä+-]{1,8}(/[a-z0-9]{1,3})?", 0..3),
        image in "[a-z0-9][a-z0-9.:/@-]{0,10}",
        source_namespace in prop::option::of(label()),
        enabled in prop::option::of(any::<bool>()),
        gate_enabled in any::<bool>(),
        flux_runner in any::<bool>(),
        alert_channel in prop::option::of(prop::option::of("[#:'\"a-z {}0-9]{0,8}[a-z#]")),
        template in r"(sets-\{type\}|\{type\}|0\{type\})/\{path\}",
        days in prop::sample::select(vec!["1,2", "MON-THU", "*/3", "?", "MON"]),
    ) -> NewSpec {
        let labels: Vec<String> = labels.into_iter().collect();
        let window = NewWindow {
            time_zone: zone.map(str::to_owned),
            open: format!("0 8 * * {days}"),
            close: format!("0 17 * * {days}"),
        };
        let named = |index: usize| NewWindowUse::Named(labels[index].clone());
        NewSpec {
            time_zone: zone.filter(|_| gate_enabled).map(str::to_owned),
            has_releases: gate_enabled,
            types: vec![
                (labels[0].clone(), vec![]),
                (labels[1].clone(), vec![labels[2].clone()]),
                (labels[3].clone(), vec![labels[2].clone(), labels[4].clone()]),
            ],
            windows: vec![(labels[2].clone(), window.clone()), (labels[4].clone(), window.clone())],
            clusters: vec![
                NewCluster { name: labels[5].clone(), paths: folders, roots: Vec::new(), windows: vec![
                    (labels[1].clone(), vec![NewWindowUse::Inline(window.clone()), named(4)]),
                    (labels[3].clone(), vec![named(2)]),
                ], enabled },
                NewCluster { name: labels[6].clone(), ..NewCluster::default() },
            ],
            flux: FluxDefaults { namespace: labels[7].clone(), source: crate::spec::FluxSource {
                name: labels[0].clone(), namespace: source_namespace, ..Default::default()
            } },
            gate: GateDef {
                table: None,
                admission: false,
                provider: ProviderDef::default(),
                mechanism: MechanismName::default(),
                image,
                namespace: labels[3].clone(),
                enabled: gate_enabled,
                runner: if flux_runner { Runner::Flux } else { Runner::Kubectl },
                service_account: labels[2].clone(),
            },
            alerts: alert_channel.map(|channel| AlertDef {
                channel,
                secret: labels[5].clone(),
                ..AlertDef::new("slack")
            }),
            layout: LayoutTemplates { app: template, ..Default::default() },
        }
    }
}

proptest! {
    #[test]
    fn valid_specs_come_back_equal(new in new_spec()) {
        let text = write_new(&new);
        let read = read(&text).unwrap_or_else(|error| panic!("{text}\n{error:#?}"));
        // Paths are normalised when they are read.
        let mut expected = new;
        for path in expected.clusters.iter_mut().flat_map(|cluster| &mut cluster.paths) {
            *path = crate::path::RepoPath::parse(path).unwrap().to_string();
        }
        same(&expected, &read.spec);
    }

    #[test]
    fn no_value_becomes_anything_else(values in prop::collection::vec(hostile(), 8)) {
        let [name, zone, open, path, other, image, job, key] = &values[..] else { unreachable!() };
        let new = NewSpec {
            types: vec![(format!("t{key}"), vec![name.clone(), other.clone()])],
            windows: vec![(name.clone(), NewWindow {
                time_zone: Some(zone.clone()), open: open.clone(), close: other.clone(),
            })],
            clusters: vec![NewCluster {
                name: key.clone(),
                paths: vec![path.clone()],
                roots: Vec::new(),
                windows: vec![(key.clone(), vec![NewWindowUse::Named(name.clone())])],
                enabled: Some(true),
            }],
            gate: GateDef { image: image.clone(), ..GateDef::default() },
            layout: LayoutTemplates { open_job: format!("x{job}"), ..LayoutTemplates::default() },
            ..NewSpec::default()
        };
        let text = write_new(&new);
        let root = node::read(&text).unwrap_or_else(|problem| panic!("{text}\n{problem:?}")).unwrap();
        for (path, expected) in [
            (&["windows", name, "timeZone"][..], zone),
            (&["windows", name, "open"], open),
            (&["windows", name, "close"], other),
            (&["clusters", key, "path"], path),
            (&["clusters", key, "windows", key], name),
            (&["gate", "image"], image),
            (&["layout", "openJob"], &format!("x{job}")),
        ] {
            assert_eq!(scalar(find(&root, path)), (expected.as_str(), false), "{text}");
        }
        // A second reader of YAML, with the rules of 1.2, sees the same.
        let json: serde_json::Value = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        assert_eq!(json["windows"][name.as_str()]["open"], open.as_str());
        assert_eq!(json["types"][format!("t{key}")]["window"][1], other.as_str());
    }
}
