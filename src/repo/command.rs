//! Recognises commands that suspend or resume Flux Kustomizations.
//!
//! Gates that teams wrote by hand are CronJobs whose containers run `flux suspend kustomization
//! apps`, or a `kubectl patch` of `spec.suspend`, mostly in a shell. They are known by what they
//! do, so this reads the command line the way a shell would cut it, without running anything.

use serde_json::Value;

use crate::repo::shell::{is_shell, is_shell_flag, shell_commands};
use crate::yaml::read_documents;

/// Which way a command turns a Flux Kustomization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// It resumes: a window opens.
    Open,
    /// It suspends: a window closes.
    Close,
}

/// One Flux Kustomization that a command suspends or resumes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    /// Which way.
    pub action: Action,
    /// The Kustomization's namespace; `flux-system` where the command names none, as the flux CLI
    /// takes it.
    pub namespace: String,
    /// The Kustomization's name; `*` for `--all`.
    pub name: String,
}

/// A command that suspends or resumes Flux Kustomizations that its words do not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unclear {
    /// Which way, where the words tell that.
    pub action: Option<Action>,
    /// The words of the command.
    pub command: String,
}

/// A patch that `kubectl patch` makes of `spec.suspend`.
#[derive(Clone, Debug, PartialEq)]
pub struct SuspendPatch {
    /// What `--type` says; `None` where it is not given, which kubectl takes for `strategic`.
    pub kind: Option<String>,
    /// The patch as JSON.
    pub patch: Value,
}

/// What the containers of a pod do to Flux Kustomizations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// What they suspend and resume, in order and once.
    pub turns: Vec<Turn>,
    /// The commands of which it is not known what they turn: variables, input of `xargs`, files.
    pub unclear: Vec<Unclear>,
    /// The patches among the commands.
    pub patches: Vec<SuspendPatch>,
    /// The first container, by position, that has one of these commands.
    pub container: Option<usize>,
}

/// Reads what a pod's containers suspend and resume, as far as the words tell it.
pub fn turns(pod_spec: &Value) -> Vec<Turn> {
    read(pod_spec).turns
}

/// Reads what a pod's containers do to Flux Kustomizations.
pub fn read(pod_spec: &Value) -> Reading {
    let mut reading = Reading::default();
    for (position, container) in pod_spec["containers"].as_array().into_iter().flatten().enumerate() {
        let words = |key: &str| {
            let list = container[key].as_array().into_iter().flatten();
            list.filter_map(|word| word.as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let command = words("command");
        let is_flux_image = container["image"].as_str().is_some_and(|image| image.contains("flux-cli"));
        let mut line = command.clone();
        if command.is_empty() && is_flux_image {
            line.push("flux".to_owned());
        }
        line.extend(words("args"));
        let before = reading.turns.len() + reading.unclear.len();
        reading.line(&line);
        if reading.container.is_none() && reading.turns.len() + reading.unclear.len() > before {
            reading.container = Some(position);
        }
    }
    reading.turns.sort();
    reading.turns.dedup();
    reading
}

/// Programs that run what their further words say.
const RUNNERS: [&str; 9] =
    ["xargs", "timeout", "env", "sudo", "nohup", "nice", "command", "eval", "parallel"];

impl Reading {
    /// Reads one command with its arguments.
    fn line(&mut self, words: &[String]) {
        let assigns = |word: &&String| {
            word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            })
        };
        let words = &words[words.iter().take_while(assigns).count()..];
        let Some((program, rest)) = words.split_first() else { return };
        let name = program.rsplit('/').next().unwrap_or_default();
        if is_shell(program)
            && let Some(position) = rest.iter().position(|word| is_shell_flag(word))
        {
            for script in &rest[position + 1..] {
                for command in shell_commands(script) {
                    self.line(&command);
                }
            }
            return;
        }
        match name {
            "flux" => self.flux(rest, words),
            "kubectl" => self.kubectl(rest, words),
            _ if RUNNERS.contains(&name) => {
                let known = |word: &String| {
                    is_shell(word) || matches!(word.rsplit('/').next(), Some("flux" | "kubectl"))
                };
                let Some(position) = rest.iter().position(known) else { return };
                if matches!(name, "xargs" | "parallel") {
                    // Some of its names come from elsewhere, whatever it names itself.
                    let mut inner = Reading::default();
                    inner.line(&[&rest[position..], &["$input".to_owned()]].concat());
                    self.unclear.extend(
                        inner
                            .unclear
                            .into_iter()
                            .map(|unclear| Unclear { command: words.join(" "), ..unclear }),
                    );
                } else {
                    self.line(&rest[position..]);
                }
            }
            _ if is_open(name) && rest.get(1).is_some_and(|kind| is_kustomization(kind)) => {
                self.flux(rest, words);
            }
            _ => {}
        }
    }

    fn unclear(&mut self, action: Option<Action>, words: &[String]) {
        self.unclear.push(Unclear { action, command: words.join(" ") });
    }

    /// Takes the names that a command turns, if all of them stand there.
    fn turn(&mut self, action: Action, namespace: String, names: Vec<String>, words: &[String]) {
        if names.is_empty() || is_open(&namespace) || names.iter().any(|name| is_open(name)) {
            return self.unclear(Some(action), words);
        }
        self.turns.extend(names.into_iter().map(|name| Turn { action, namespace: namespace.clone(), name }));
    }
}

/// Tells whether a shell, or Kubernetes, puts something else in place of a part of the word.
fn is_open(word: &str) -> bool {
    word.contains(['$', '`'])
}

/// Flags of the two programs that take the next word as their value.
const VALUE_FLAGS: [&str; 19] = [
    "-n",
    "--namespace",
    "-p",
    "--patch",
    "--type",
    "--field-manager",
    "--context",
    "--kubeconfig",
    "--timeout",
    "--cluster",
    "--user",
    "--token",
    "--as",
    "-o",
    "--output",
    "--reason",
    "--patch-file",
    "-l",
    "--selector",
];

struct Line {
    positional: Vec<String>,
    flags: Vec<(String, String)>,
}

impl Line {
    fn parse(words: &[String]) -> Line {
        let mut line = Line { positional: Vec::new(), flags: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if let Some((flag, value)) = word.split_once('=').filter(|_| word.starts_with('-')) {
                line.flags.push((flag.to_owned(), value.to_owned()));
            } else if VALUE_FLAGS.contains(&word.as_str()) {
                line.flags.push((word.clone(), words.next().cloned().unwrap_or_default()));
            } else if word.starts_with('-') && word.len() > 1 {
                line.flags.push((word.clone(), String::new()));
            } else {
                line.positional.push(word.clone());
            }
        }
        line
    }

    fn flag(&self, names: [&str; 2]) -> Option<&str> {
        self.flags.iter().find(|(flag, _)| names.contains(&flag.as_str())).map(|(_, value)| value.as_str())
    }

    fn namespace(&self) -> String {
        self.flag(["-n", "--namespace"]).unwrap_or("flux-system").to_owned()
    }
}

impl Reading {
    fn flux(&mut self, rest: &[String], words: &[String]) {
        let line = Line::parse(rest);
        let action = match line.positional.first().map(String::as_str) {
            Some("suspend") => Action::Close,
            Some("resume") => Action::Open,
            _ => return,
        };
        if !line.positional.get(1).is_some_and(|kind| is_kustomization(kind) || is_open(kind)) {
            return;
        }
        let mut names: Vec<String> = line.positional[2..].to_vec();
        if names.is_empty() && line.flag(["--all", "--all"]).is_some() {
            names.push("*".to_owned());
        }
        if line.positional.get(1).is_some_and(|kind| is_open(kind)) {
            return self.unclear(Some(action), words);
        }
        self.turn(action, line.namespace(), names, words);
    }

    fn kubectl(&mut self, rest: &[String], words: &[String]) {
        let line = Line::parse(rest);
        if line.positional.first().map(String::as_str) != Some("patch") {
            return;
        }
        let kinds = line.positional[1..].iter().map(|word| word.split('/').next().unwrap_or(word));
        let mut names = Vec::new();
        let mut of_kind = false;
        for word in &line.positional[1..] {
            match word.split_once('/') {
                Some((kind, name)) if is_kustomization(kind) => names.push(name.to_owned()),
                Some(_) => {}
                None if is_kustomization(word) && !of_kind => of_kind = true,
                None if of_kind => names.push(word.clone()),
                None => {}
            }
        }
        if !kinds.clone().any(is_kustomization) {
            return;
        }
        let text = line.flag(["-p", "--patch"]).unwrap_or_default();
        let from_file = line.flag(["--patch-file", "--patch-file"]).is_some();
        let patch = parsed(text);
        let suspend = match &patch {
            Some(patch) => suspend_of(patch),
            None if from_file || is_open(text) => return self.unclear(None, words),
            None => None,
        };
        let (Some(patch), Some(suspend)) = (patch, suspend) else {
            if is_open(text) && text.contains("suspend") {
                self.unclear(None, words);
            }
            return;
        };
        let kind = line.flag(["--type", "--type"]).map(str::to_owned);
        self.patches.push(SuspendPatch { kind, patch });
        let action = if suspend { Action::Close } else { Action::Open };
        self.turn(action, line.namespace(), names, words);
    }
}

/// Reads a patch as kubectl does, which takes YAML as well as JSON.
fn parsed(text: &str) -> Option<Value> {
    let value = serde_json::from_str::<Value>(text).ok().or_else(|| {
        let documents = read_documents(text).ok()?;
        Some(documents.first()?.root.to_json())
    });
    value.filter(|value| value.is_object() || value.is_array())
}

/// Gives what a patch makes of `spec.suspend`; `None` where it leaves it alone, or sets what is no truth value.
fn suspend_of(patch: &Value) -> Option<bool> {
    match patch {
        Value::Array(operations) => operations
            .iter()
            .find(|operation| operation["path"] == "/spec/suspend" && operation["op"] != "test")
            .map(|operation| operation["value"].as_bool().unwrap_or(false)),
        patch => match &patch["spec"]["suspend"] {
            Value::Bool(value) => Some(*value),
            Value::Null if patch["spec"].get("suspend").is_some() => Some(false),
            _ => None,
        },
    }
}

fn is_kustomization(kind: &str) -> bool {
    let short = kind.split('.').next().unwrap_or(kind).to_ascii_lowercase();
    matches!(short.as_str(), "kustomization" | "kustomizations" | "ks")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn close(name: &str) -> Turn {
        Turn { action: Action::Close, namespace: "flux-system".into(), name: name.into() }
    }

    fn of(container: Value) -> Vec<Turn> {
        turns(&json!({ "containers": [container] }))
    }

    #[test]
    fn a_shell_script_of_the_flux_cli() {
        let found = of(json!({ "command": ["/bin/sh", "-c"],
            "args": ["flux suspend kustomization infra -n flux-system && flux suspend kustomization 'apps'; "] }));
        assert_eq!(found, [close("apps"), close("infra")]);
    }

    #[test]
    fn the_image_entry_point_counts_as_the_command() {
        let found = of(
            json!({ "image": "ghcr.io/fluxcd/flux-cli:v2.9.4", "args": ["suspend", "ks", "apps", "infra"] }),
        );
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
        let script = |text: &str| read(&json!({ "containers": [{ "command": ["/bin/sh", "-ec", text] }] }));
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
        let arguments =
            json!({ "containers": [{ "command": ["flux"], "args": ["suspend", "ks", "$(KS)"] }] });
        assert_eq!(read(&arguments).unclear[0].command, "flux suspend ks $(KS)");
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
}
