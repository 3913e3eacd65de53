//! Shell commands in the jobs of CronJobs.

use gitops_windows::mechanism;
use serde_json::json;

use crate::{fuzz, samples};

const SHELL: [&str; 56] = [
    "flux ",
    "kubectl ",
    "suspend ",
    "resume ",
    "kustomization ",
    "ks ",
    "source ",
    "git ",
    "patch ",
    "annotate ",
    "apps ",
    "--all ",
    "-n flux-system ",
    "--namespace=x ",
    "-p '{\"spec\":{\"suspend\":true}}' ",
    "--type=merge ",
    "--type json ",
    "-p '[{\"op\":\"replace\",\"path\":\"/spec/suspend\",\"value\":true}]' ",
    "| ",
    "|| ",
    "&& ",
    "; ",
    "& ",
    "\n",
    "\\\n",
    "$(",
    ")",
    "`",
    "${x}",
    "$x",
    "\"$@\" ",
    "'",
    "\"",
    "<<EOF\n",
    "EOF\n",
    "for k in a b; do ",
    "done ",
    "if true; then ",
    "fi ",
    "else ",
    "case $x in a) ",
    ";; esac ",
    "while read k; do ",
    "{ ",
    "} ",
    "( ",
    "() { ",
    "set -eu\n",
    "# comment\n",
    "exit 0 ",
    "xargs -n1 ",
    "sh -c ",
    "-- ",
    "1>&2 ",
    "~",
    "function f ",
];

#[test]
fn commands_are_read_or_left() {
    let scripts: Vec<String> =
        samples(".yaml").into_iter().filter(|text| text.contains("kind: CronJob")).collect();
    assert!(!scripts.is_empty());
    let mut words = scripts;
    words.extend([
        "flux suspend kustomization apps infra -n flux-system && flux resume ks apps".to_owned(),
        "for k in apps infra; do kubectl -n flux-system patch kustomization \"$k\" --type=merge -p '{\"spec\":{\"suspend\":true}}'; done".to_owned(),
        "set -eu\nif [ \"$1\" = open ]; then\n  flux resume kustomization --all\nelse\n  flux suspend kustomization --all\nfi\n".to_owned(),
    ]);
    fuzz("jobs", 200, &words, &SHELL, &mut |text| {
        let words: Vec<&str> = text.split_whitespace().collect();
        for (command, args) in [
            (json!(["/bin/sh", "-c", text]), json!(null)),
            (json!(["sh", "-ec"]), json!([text, "sh", "apps", "infra"])),
            (json!(words), json!(null)),
            (json!(null), json!(words)),
            (json!(text), json!({ "a": text })),
        ] {
            let job = json!({
                "apiVersion": "batch/v1", "kind": "CronJob", "metadata": { "name": "close", "namespace": "jobs" },
                "spec": { "schedule": "0 0 * * *", "jobTemplate": { "spec": { "template": { "spec": { "containers": [
                    { "name": "main", "image": "x", "command": command, "args": args, "env": [{ "name": "x", "value": text }] },
                ] } } } } },
            });
            let reading = mechanism::read(&job, Some("flux-system"));
            assert_eq!(reading.turns, mechanism::read(&job, Some("flux-system")).turns);
            let _ = mechanism::turns(&job);
        }
        // And as a manifest, whatever it is then.
        if let Ok(documents) = gitops_windows::yaml::read_documents(text) {
            for document in documents {
                let _ = mechanism::turns(&document.root.to_json());
            }
        }
    });
}
