use serde_json::{Value, json};

use super::read::read;
use crate::mechanism::{Action, Reading, Turn};

fn turns(job: &Value) -> Vec<Turn> {
    read(job, None).turns
}

fn close(name: &str) -> Turn {
    Turn { action: Action::Close, namespace: "flux-system".into(), name: name.into() }
}

fn job(containers: Value) -> Value {
    json!({ "spec": { "jobTemplate": { "spec": { "template": { "spec": { "containers": containers } } } } } })
}

fn of(container: Value) -> Vec<Turn> {
    turns(&job(json!([container])))
}

#[test]
fn a_shell_script_of_the_flux_cli() {
    let found = of(json!({ "command": ["/bin/sh", "-c"],
        "args": ["flux suspend kustomization infra -n flux-system && flux suspend kustomization 'apps'; "] }));
    assert_eq!(found, [close("apps"), close("infra")]);
}

#[test]
fn the_image_entry_point_counts_as_the_command() {
    let found =
        of(json!({ "image": "ghcr.io/fluxcd/flux-cli:v2.9.4", "args": ["suspend", "ks", "apps", "infra"] }));
    assert_eq!(found, [close("apps"), close("infra")]);
}

#[test]
fn kubectl_patches_in_each_form() {
    let merge = json!({ "command": ["kubectl", "patch", "kustomizations.kustomize.toolkit.fluxcd.io", "apps",
        "--namespace=flux-system", "--type=merge", "-p", "{\"spec\":{\"suspend\":true}}"] });
    assert_eq!(of(merge), [close("apps")]);
    let json_patch = json!({ "command": ["kubectl", "-n", "flux-system", "patch", "kustomization/apps", "--type", "json",
        "-p", "[{\"op\":\"add\",\"path\":\"/spec/suspend\",\"value\":true}]"] });
    assert_eq!(of(json_patch), [close("apps")]);
}

#[test]
fn without_a_namespace_kubectl_acts_in_its_pod_s_and_flux_in_its_own() {
    let text = "kubectl patch ks apps --type=merge -p '{\"spec\":{\"suspend\":true}}'; flux suspend ks infra";
    let mut gate = job(json!([{ "command": ["sh", "-c", text] }]));
    let told = |turns: Vec<Turn>| -> Vec<String> {
        turns.into_iter().map(|turn| format!("{}/{}", turn.namespace, turn.name)).collect()
    };
    assert_eq!(told(turns(&gate)), ["flux-system/apps", "flux-system/infra"]);
    gate["metadata"] = json!({ "name": "close", "namespace": "gitops" });
    assert_eq!(told(turns(&gate)), ["flux-system/infra", "gitops/apps"]);
    assert_eq!(told(read(&gate, Some("moved")).turns), ["flux-system/infra", "moved/apps"]);
    let container = &mut gate["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0];
    container["env"] = json!([
        { "name": "FLUX_SYSTEM_NAMESPACE", "valueFrom": { "fieldRef": { "fieldPath": "metadata.namespace" } } },
        { "name": "POD_NAMESPACE", "value": "pods" },
    ]);
    assert_eq!(told(turns(&gate)), ["gitops/infra", "pods/apps"]);

    let container = &mut gate["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0];
    container["env"] = json!([
        { "name": "POD_NAMESPACE", "value": "early" },
        { "name": "POD_NAMESPACE", "value": "" },
        { "name": "FLUX_SYSTEM_NAMESPACE", "valueFrom": { "configMapKeyRef": { "name": "a", "key": "b" } } },
    ]);
    let reading = read(&gate, None);
    assert_eq!((told(reading.turns), reading.unclear.len()), (vec!["gitops/apps".to_owned()], 1));

    let script = "kubectl -s https://api -v 6 --request-timeout 10s patch ks apps -n media -p '{\"spec\":{\"suspend\":true}}'";
    assert_eq!(told(turns(&job(json!([{ "command": ["sh", "-c", script] }])))), ["media/apps"]);

    let script = "kubectl patch -f ks.yaml -p '{\"spec\":{\"suspend\":true}}'";
    let reading = read(&job(json!([{ "command": ["sh", "-c", script] }])), None);
    assert_eq!((reading.turns.len(), reading.unclear.len()), (0, 1));

    let script = "kubectl -nmedia patch ks apps --type=merge -p'{\"spec\":{\"suspend\":true}}'; flux suspend ks infra -n=home";
    let gate = job(json!([{ "command": ["sh", "-c", script] }]));
    assert_eq!(told(turns(&gate)), ["home/infra", "media/apps"]);
}

#[test]
fn other_commands_are_no_gate() {
    for words in [
        json!(["flux", "get", "kustomizations"]),
        json!(["flux", "suspend", "helmrelease", "x"]),
        json!(["kubectl", "patch", "deployment", "x", "-p", "{\"spec\":{\"suspend\":true}}"]),
        json!(["echo", "flux suspend kustomization apps"]),
    ] {
        assert_eq!(of(json!({ "command": words })), []);
    }
}

#[test]
fn what_the_words_do_not_tell_is_not_guessed() {
    let script = |text: &str| read(&job(json!([{ "command": ["/bin/sh", "-ec", text] }])), None);
    let close = Some(Action::Close);
    for (text, action) in [
        ("for k in apps-rw; do flux suspend ks $k; done", close),
        ("K=apps-rw; flux -n flux-system suspend ks \"$K\" && echo ok", close),
        ("flux get ks --no-header | cut -f1 | xargs flux suspend ks", close),
        ("flux get ks | xargs -n1 flux resume ks apps", Some(Action::Open)),
        ("flux suspend ks apps -n ${SPACE}", close),
        ("flux suspend ks `cat names`", close),
        ("kubectl patch ks -l x=y --type=merge -p '{\"spec\":{\"suspend\":true}}'", close),
        ("kubectl patch ks apps --type merge -p \"$PATCH\"", None),
        ("kubectl patch ks apps --type merge --patch-file closed.yaml", None),
        ("kubectl patch ks apps -p \"{\\\"spec\\\":{\\\"suspend\\\":$S}}\"", None),
    ] {
        let reading = script(text);
        assert_eq!(reading.turns, [], "{text}");
        assert_eq!(
            reading.unclear.iter().map(|unclear| unclear.action).collect::<Vec<_>>(),
            [action],
            "{text}"
        );
    }
    let arguments = job(json!([{ "command": ["flux"], "args": ["suspend", "ks", "$(KS)"] }]));
    assert_eq!(read(&arguments, None).unclear[0].command, "flux suspend ks $(KS)");
    for text in [
        "kubectl patch deployment \"$D\" -p \"$P\"",
        "flux suspend helmrelease $x",
        "echo $x | xargs kubectl get",
    ] {
        assert_eq!(script(text), Reading::default(), "{text}");
    }
}

#[test]
fn what_runs_a_command_is_looked_through() {
    for text in [
        "timeout 60 flux suspend ks apps",
        "$FLUX suspend ks apps",
        "HOME=/tmp flux suspend ks apps",
        "sh -c 'flux suspend ks apps'",
        "env A=b kubectl patch ks/apps --type=merge -p 'spec: {suspend: true}'",
    ] {
        assert_eq!(of(json!({ "command": ["sh", "-c", text] })), [close("apps")], "{text}");
    }
}
