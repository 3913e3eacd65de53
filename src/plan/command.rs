//! Commands that people run by hand, for Flux Kustomizations that don't stand in Git.

use serde_json::{Value, json};

use crate::repo::RepoPath;
use crate::spec::{FluxSource, Spec};

/// A command line with what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The cluster to run it against.
    pub cluster: String,
    /// What it does, in one sentence.
    pub purpose: String,
    /// The words of the command; quote them with [`Command::shell`].
    pub words: Vec<String>,
}

impl Command {
    /// Prepares a live Flux Kustomization for the loss of its objects.
    ///
    /// The field manager is Flux's own, so that a later `flux create` finds no conflict.
    pub fn prepare(name: &str, namespace: &str, cluster: &str) -> Command {
        let patch = r#"{"spec":{"prune":false,"deletionPolicy":"Orphan"}}"#;
        let words = [
            "kubectl",
            "patch",
            "kustomizations.kustomize.toolkit.fluxcd.io",
            name,
            "--namespace",
            namespace,
            "--type=merge",
            "--field-manager=flux",
            "--patch",
            patch,
        ];
        Command {
            cluster: cluster.to_owned(),
            purpose: format!("keep the objects of Flux Kustomization {name} when it loses them"),
            words: words.iter().map(|word| (*word).to_owned()).collect(),
        }
    }

    /// Creates the Flux Kustomization that applies a gate.
    pub fn create_gate(name: &str, spec: &Spec, cluster: &str, folder: &RepoPath) -> Command {
        let purpose = "apply the gate, which no Flux Kustomization in Git does".to_owned();
        Command { purpose, ..Command::create_kustomization(spec, cluster, name, folder, None) }
    }

    /// Creates a Flux Kustomization for a folder, which waits for another where one is named.
    pub fn create_kustomization(
        spec: &Spec,
        cluster: &str,
        name: &str,
        folder: &RepoPath,
        depends_on: Option<&str>,
    ) -> Command {
        let mut words = vec![
            "flux".to_owned(),
            "create".to_owned(),
            "kustomization".to_owned(),
            name.to_owned(),
            format!("--namespace={}", spec.flux.namespace),
            format!("--source={}", source(spec)),
            format!("--path=./{folder}"),
            "--prune=true".to_owned(),
            "--interval=10m".to_owned(),
        ];
        words.extend(depends_on.map(|name| format!("--depends-on={name}")));
        Command { cluster: cluster.to_owned(), purpose: format!("apply {folder}"), words }
    }

    /// Gives the command as JSON, word by word.
    pub fn to_json(&self) -> Value {
        json!({ "cluster": self.cluster, "purpose": self.purpose, "command": self.words })
    }

    /// Gives the line for a POSIX shell, every word quoted where it must be.
    pub fn shell(&self) -> String {
        self.words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
    }
}

/// Writes a source as `--source` takes it. What follows the last dot is read as its namespace (flux2
/// `internal/utils`, `ParseObjectKindNameNamespace`), so a name with a dot needs one.
fn source(spec: &Spec) -> String {
    let FluxSource { kind, name, namespace } = &spec.flux.source;
    let own = name.contains('.').then_some(&spec.flux.namespace);
    let namespace = namespace.as_ref().or(own).map_or(String::new(), |namespace| format!(".{namespace}"));
    format!("{kind}/{name}{namespace}")
}

fn shell_word(word: &str) -> String {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte);
    if !word.is_empty() && word.bytes().all(safe) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let command = Command {
            cluster: "c".into(),
            purpose: String::new(),
            words: vec!["a b".into(), "it's".into(), "x=1".into()],
        };
        assert_eq!(command.shell(), r"'a b' 'it'\''s' x=1");
    }
}
