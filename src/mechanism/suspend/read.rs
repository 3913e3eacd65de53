//! Recognises commands that suspend or resume Flux Kustomizations.
//!
//! Gates that teams wrote by hand are CronJobs whose containers run `flux suspend kustomization
//! apps`, or a `kubectl patch` of `spec.suspend`, mostly in a shell. They are known by what they
//! do, so this reads the command line the way a shell would cut it, without running anything.

use serde_json::Value;

use super::admission::Parameter;
use super::line::Line;
use super::patch::{SuspendPatch, parsed, suspend_of};
use super::shell::{is_shell, is_shell_flag, shell_commands};
use crate::mechanism::{Action, Reading, Turn, Unclear, pod_of, table};

/// What is read of the containers of a pod, with what counts in the one at hand.
#[derive(Default)]
struct Reader {
    found: Reading,
    /// The namespace that kubectl takes in the container at hand.
    kubectl_namespace: Option<String>,
    /// The namespace that flux takes there.
    flux_namespace: Option<String>,
}

/// The namespace that the flux CLI takes.
const FLUX: &str = "flux-system";

/// Reads what the containers of a CronJob do to Flux Kustomizations; a list may have `given` it a namespace.
pub(super) fn read(job: &Value, given: Option<&str>) -> Reading {
    let namespace = given.or_else(|| job["metadata"]["namespace"].as_str()).map(str::to_owned);
    let mut reader = Reader::default();
    for (position, container) in pod_of(job)["containers"].as_array().into_iter().flatten().enumerate() {
        let words = |key: &str| {
            let list = container[key].as_array().into_iter().flatten();
            list.filter_map(|word| word.as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        // The last of several counts, and an empty one is none; what comes from another object stands open.
        let set = |name: &str| {
            let variables = container["env"].as_array().into_iter().flatten();
            let variable = variables.rev().find(|variable| variable["name"] == name)?;
            let from = &variable["valueFrom"];
            if from["fieldRef"]["fieldPath"] == "metadata.namespace" {
                return namespace.clone();
            }
            let value = if from.is_null() { variable["value"].as_str()? } else { "$" };
            (!value.is_empty()).then(|| value.to_owned())
        };
        reader.kubectl_namespace = set("POD_NAMESPACE").or_else(|| namespace.clone());
        reader.flux_namespace = set("FLUX_SYSTEM_NAMESPACE");
        let command = words("command");
        let is_flux_image = container["image"].as_str().is_some_and(|image| image.contains("flux-cli"));
        let mut line = command.clone();
        if command.is_empty() && is_flux_image {
            line.push("flux".to_owned());
        }
        line.extend(words("args"));
        let before = reader.found.turns.len() + reader.found.unclear.len();
        reader.line(&line);
        let found = &mut reader.found;
        found.table = found.table.take().or_else(|| table::times(container));
        if found.container.is_none() && found.turns.len() + found.unclear.len() > before {
            found.container = Some(position);
        }
    }
    let mut reading = reader.found;
    reading.turns.sort();
    reading.turns.dedup();
    reading
}

/// Programs that run what their further words say.
const RUNNERS: [&str; 9] =
    ["xargs", "timeout", "env", "sudo", "nohup", "nice", "command", "eval", "parallel"];

impl Reader {
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
                    let mut inner = Reader::default();
                    inner.line(&[&rest[position..], &["$input".to_owned()]].concat());
                    self.found.unclear.extend(
                        inner
                            .found
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
        self.found.unclear.push(Unclear { action, command: words.join(" ") });
    }

    /// Takes the names that a command turns, if all of them stand there.
    fn turn(&mut self, action: Action, namespace: String, names: Vec<String>, words: &[String]) {
        if names.is_empty() || is_open(&namespace) || names.iter().any(|name| is_open(name)) {
            return self.unclear(Some(action), words);
        }
        self.found.turns.extend(names.into_iter().map(|name| Turn {
            action,
            namespace: namespace.clone(),
            name,
        }));
    }

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
        let namespace = line.namespace().or(self.flux_namespace.as_deref()).unwrap_or(FLUX).to_owned();
        self.turn(action, namespace, names, words);
    }

    fn kubectl(&mut self, rest: &[String], words: &[String]) {
        let line = Line::parse(rest);
        if line.positional.first().map(String::as_str) != Some("patch") {
            return;
        }
        if line.flag(["-f", "--filename"]).is_some() && words.iter().any(|word| word.contains("suspend")) {
            // What it patches stands in a file.
            return self.unclear(None, words);
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
            let namespace = line.namespace().or(self.kubectl_namespace.as_deref()).unwrap_or(FLUX);
            let patch = parsed(line.flag(["-p", "--patch"]).unwrap_or_default());
            if let (["configmaps", name], Some(patch)) = (&positional(&line)[..], patch) {
                let parameter = Parameter::set_by(namespace, name, &patch);
                self.found.parameter = self.found.parameter.take().or(parameter);
            }
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
        self.found.patches.push(SuspendPatch { kind, patch });
        let action = if suspend { Action::Close } else { Action::Open };
        let namespace = line.namespace().or(self.kubectl_namespace.as_deref()).unwrap_or(FLUX).to_owned();
        self.turn(action, namespace, names, words);
    }
}

/// Returns the words behind `patch`.
fn positional(line: &Line) -> Vec<&str> {
    line.positional[1..].iter().map(String::as_str).collect()
}

/// Returns whether a shell, or Kubernetes, puts something else in place of a part of the word.
fn is_open(word: &str) -> bool {
    word.contains(['$', '`'])
}

fn is_kustomization(kind: &str) -> bool {
    let short = kind.split('.').next().unwrap_or(kind).to_ascii_lowercase();
    matches!(short.as_str(), "kustomization" | "kustomizations" | "ks")
}
