//! Recognises commands that suspend or resume Flux Kustomizations.
//!
//! Gates that teams wrote by hand are CronJobs whose containers run `flux suspend kustomization
//! apps`, or a `kubectl patch` of `spec.suspend`, mostly in a shell. They are known by what they
//! do, so this reads the command line the way a shell would cut it, without running anything.

use serde_json::Value;

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

/// Reads what a pod's containers suspend and resume.
pub fn turns(pod_spec: &Value) -> Vec<Turn> {
    let mut found = Vec::new();
    for container in pod_spec["containers"].as_array().into_iter().flatten() {
        let words = |key: &str| {
            let list = container[key].as_array().cloned().unwrap_or_default();
            list.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let command = words("command");
        let arguments = words("args");
        let is_flux_image = container["image"].as_str().is_some_and(|image| image.contains("flux-cli"));
        let mut line = command.clone();
        if command.is_empty() && is_flux_image {
            line.push("flux".to_owned());
        }
        line.extend(arguments);
        if let Some(position) = line.iter().position(|word| is_shell_flag(word))
            && line.first().is_some_and(|word| is_shell(word))
        {
            for script in &line[position + 1..] {
                for words in shell_commands(script) {
                    found.extend(turns_of(&words));
                }
            }
        } else {
            found.extend(turns_of(&line));
        }
    }
    found.sort();
    found.dedup();
    found
}

fn is_shell(word: &str) -> bool {
    matches!(word.rsplit('/').next(), Some("sh" | "bash" | "ash" | "dash" | "busybox"))
}

fn is_shell_flag(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.contains('c')
}

/// Cuts a script into simple commands of words, at `;`, `&`, `|`, newlines and keywords.
fn shell_commands(script: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = script.chars().peekable();
    let end_word = |word: &mut Option<String>, commands: &mut Vec<Vec<String>>| {
        if let (Some(text), Some(last)) = (word.take(), commands.last_mut()) {
            last.push(text);
        }
    };
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some('\''), _) => word.get_or_insert_default().push(character),
            (_, '\\') => match characters.next() {
                Some('\n') | None => {}
                Some(next) => word.get_or_insert_default().push(next),
            },
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => while characters.next_if(|next| *next != '\n').is_some() {},
            (None, ';' | '&' | '|' | '\n' | '(' | ')') => {
                end_word(&mut word, &mut commands);
                commands.push(Vec::new());
            }
            (None, _) if character.is_whitespace() => end_word(&mut word, &mut commands),
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    end_word(&mut word, &mut commands);
    for command in &mut commands {
        let keywords = ["if", "then", "else", "do", "while", "!", "{", "exec", "time"];
        let skipped = command.iter().take_while(|word| keywords.contains(&word.as_str())).count();
        command.drain(..skipped);
    }
    commands
}

fn turns_of(words: &[String]) -> Vec<Turn> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    match program.rsplit('/').next() {
        Some("flux") => flux_turns(rest),
        Some("kubectl") => kubectl_turns(rest),
        _ => Vec::new(),
    }
}

/// Flags of the two programs that take the next word as their value.
const VALUE_FLAGS: [&str; 16] = [
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

fn flux_turns(words: &[String]) -> Vec<Turn> {
    let line = Line::parse(words);
    let action = match line.positional.first().map(String::as_str) {
        Some("suspend") => Action::Close,
        Some("resume") => Action::Open,
        _ => return Vec::new(),
    };
    if !line.positional.get(1).is_some_and(|kind| is_kustomization(kind)) {
        return Vec::new();
    }
    let mut names: Vec<String> = line.positional[2..].to_vec();
    if names.is_empty() && line.flag(["--all", "--all"]).is_some() {
        names.push("*".to_owned());
    }
    names.into_iter().map(|name| Turn { action, namespace: line.namespace(), name }).collect()
}

fn kubectl_turns(words: &[String]) -> Vec<Turn> {
    let line = Line::parse(words);
    if line.positional.first().map(String::as_str) != Some("patch") {
        return Vec::new();
    }
    let Some(patch) = line.flag(["-p", "--patch"]) else { return Vec::new() };
    let Ok(patch) = serde_json::from_str::<Value>(patch) else { return Vec::new() };
    let suspend = match &patch {
        Value::Array(operations) => operations
            .iter()
            .find(|operation| operation["path"] == "/spec/suspend")
            .map(|operation| operation["value"].as_bool().unwrap_or(false)),
        patch => match &patch["spec"]["suspend"] {
            Value::Bool(value) => Some(*value),
            Value::Null if patch["spec"].get("suspend").is_some() => Some(false),
            _ => None,
        },
    };
    let Some(suspend) = suspend else { return Vec::new() };
    let action = if suspend { Action::Close } else { Action::Open };
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
    names.into_iter().map(|name| Turn { action, namespace: line.namespace(), name }).collect()
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
}
