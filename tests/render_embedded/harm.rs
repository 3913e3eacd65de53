//! What means harm ends in an error.

use std::time::{Duration, Instant};

use gitops_windows::render::{Embedded, Limits, Renderer};

use crate::support::{folder, snapshot};
use crate::{CONFIG, build, names, refusal};

#[test]
fn remote_things_are_named() {
    for place in [
        "https://github.com/example/repository//deploy?ref=v1",
        "git@github.com:example/repository.git",
        "https://example.com/deploy.yaml",
        "http://127.0.0.1:1/x.yaml",
        "ssh://git@example.com/x.git",
    ] {
        let message = refusal(&[("a/kustomization.yaml", &format!("resources: [\"{place}\"]\n"))], "a");
        let expected = format!("needs the remote base `{place}`, which is not in the repository");
        assert!(message.contains(&expected), "{message}");
    }
    let component = "components: [\"https://github.com/example/repository//component\"]\n";
    let message = refusal(&[("a/kustomization.yaml", component)], "a");
    assert!(message.contains("remote") && message.contains("github.com/example/repository"), "{message}");
}

#[test]
fn plugins_and_charts_are_refused() {
    let message = refusal(
        &[(
            "a/kustomization.yaml",
            "helmCharts: [{name: minecraft, repo: https://example.com, version: 1.0.0}]\n",
        )],
        "a",
    );
    assert!(message.contains("--enable-helm"), "{message}");

    let plugin = "apiVersion: someteam.example.com/v1\nkind: Exec\nmetadata: {name: x}\n";
    let files = [("a/kustomization.yaml", "generators: [plugin.yaml]\n"), ("a/plugin.yaml", plugin)];
    let message = refusal(&files, "a");
    assert!(message.contains("external plugins disabled"), "{message}");

    for function in ["exec: {path: ./run.sh}", "container: {image: example.com/x}"] {
        let plugin = format!(
            "apiVersion: example.com/v1\nkind: X\nmetadata:\n  name: x\n  annotations:\n    config.kubernetes.io/function: |\n      {function}\n"
        );
        let files = [
            ("a/kustomization.yaml", "transformers: [plugin.yaml]\nresources: [c.yaml]\n"),
            ("a/plugin.yaml", plugin.as_str()),
            ("a/c.yaml", CONFIG),
            ("a/run.sh", "#!/bin/sh\ntouch /tmp/reached\n"),
        ];
        let message = refusal(&files, "a");
        assert!(message.contains("external plugins disabled"), "{message}");
    }
}

#[test]
fn an_alias_bomb_ends_in_an_error() {
    let mut bomb =
        String::from("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..10 {
        let list = vec![format!("*a{}", level - 1); 10].join(",");
        bomb.push_str(&format!("a{level}: &a{level} [{list}]\n"));
    }
    let limits = Limits { time: Duration::from_secs(5), ..Limits::default() };
    for files in [
        [("a/kustomization.yaml", "resources: [x.yaml]\n"), ("a/x.yaml", bomb.as_str())],
        [("a/kustomization.yaml", bomb.as_str()), ("a/x.yaml", CONFIG)],
    ] {
        let start = Instant::now();
        let outcome = Embedded::new(limits).render(&snapshot(&files), &[folder("a")]).remove(0);
        let message = outcome.unwrap_err().message;
        // kustomize does not even see it.
        let place = files[usize::from(!files[0].1.contains("&a0"))].0;
        assert_eq!(message, format!("needs {place}, whose aliases stand for too much"));
        assert!(start.elapsed() < Duration::from_secs(60));
    }
}

#[test]
fn deep_nesting_ends_in_an_error_and_the_others_go_on() {
    let deep = format!("{CONFIG}x: {}{}\n", "[".repeat(9_000), "]".repeat(9_000));
    let deeper = format!("{CONFIG}x: {}{}\n", "[".repeat(2_000_000), "]".repeat(2_000_000));
    let tree = snapshot(&[
        ("deep/kustomization.yaml", "resources: [x.yaml]\n"),
        ("deep/x.yaml", &deep),
        ("deeper/kustomization.yaml", "resources: [x.yaml]\n"),
        ("deeper/x.yaml", &deeper),
        ("good/kustomization.yaml", "resources: [x.yaml]\n"),
        ("good/x.yaml", CONFIG),
    ]);
    let wanted = ["good", "deep", "good", "deeper", "good"].map(folder);
    let built = Embedded::default().render(&tree, &wanted);
    for index in [0, 2, 4] {
        assert_eq!(names(built[index].as_ref().unwrap()), ["settings"]);
    }
    assert!(built[3].is_err());
}

#[test]
fn memory_and_time_are_bounded() {
    let many: String =
        (0..100).map(|n| format!("---\n{}", CONFIG.replace("settings", &format!("c{n}")))).collect();
    let big = format!("{CONFIG}  big: {}\n", "x".repeat(40 << 20)).replace("data: {key: value}", "data:");
    let tree = snapshot(&[
        ("a/kustomization.yaml", "resources: [x.yaml]\nnamePrefix: x-\n"),
        ("a/x.yaml", &many),
        ("b/kustomization.yaml", "resources: [x.yaml]\n"),
        ("b/x.yaml", CONFIG),
        ("big/kustomization.yaml", "resources: [x.yaml]\n"),
        ("big/x.yaml", &big),
    ]);
    let limits = Limits { time: Duration::from_millis(1), ..Limits::default() };
    let built = Embedded::new(limits).render(&tree, &[folder("a")]);
    let message = &built[0].as_ref().unwrap_err().message;
    assert!(message.contains("takes longer than"), "{message}");

    let limits = Limits { memory: 64 << 20, ..Limits::default() };
    let built = Embedded::new(limits).render(&tree, &[folder("b"), folder("big"), folder("b")]);
    let message = &built[1].as_ref().unwrap_err().message;
    assert!(message.contains("MiB of memory"), "{message}");
    assert!(built[0].is_ok() && built[2].is_ok());

    let limits = Limits { answer: 1 << 12, ..Limits::default() };
    let built = Embedded::new(limits).render(&tree, &[folder("b"), folder("a"), folder("b")]);
    let message = &built[1].as_ref().unwrap_err().message;
    assert!(message.contains("of objects"), "{message}");
    assert!(built[0].is_ok() && built[2].is_ok());

    // Too little to start with.
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let built = Embedded::new(limits).render(&tree, &[folder("b"), folder("b")]);
    assert!(built.iter().all(|outcome| outcome.as_ref().unwrap_err().message.contains("can't be started")));
}

/// A sealed memfd is refused by a busy kernel, so that nothing could be built.
#[cfg(target_os = "linux")]
#[test]
fn an_instance_needs_no_file_of_the_kernel() {
    let tree = snapshot(&[("a/kustomization.yaml", "resources: [x.yaml]\n"), ("a/x.yaml", CONFIG)]);
    assert!(build(&tree, "a").is_ok());
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets = open.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    let kept: Vec<_> = targets.filter(|target| target.to_string_lossy().contains("memfd")).collect();
    assert!(kept.is_empty(), "{kept:?}");
}
