//! Commands that people run by hand, for Flux Kustomizations that don't stand in Git.

use serde_json::{Value, json};

use crate::mechanism::{self, HeldId, shell_line};
use crate::path::RepoPath;
use crate::spec::{FluxSource, MechanismName, Spec};
use crate::text::some;

/// The resource by its full name: another API group may have Kustomizations too.
const RESOURCE: &str = "kustomizations.kustomize.toolkit.fluxcd.io";

/// A command line with what it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The cluster to run it against.
    pub cluster: String,
    /// What it does, in one sentence.
    pub purpose: String,
    /// Whether the cluster must have the commit first.
    pub is_late: bool,
    /// The words of the command; quote them with [`Command::shell`].
    pub words: Vec<String>,
}

impl Command {
    /// Prepares a live Flux Kustomization for the loss of its objects.
    ///
    /// The field manager is Flux's own, so that a later `flux create` finds no conflict.
    ///
    /// A cluster without `deletionPolicy` keeps them by `prune: false` alone.
    pub fn prepare(name: &str, namespace: &str, cluster: &str, has_policy: bool) -> Command {
        let patch = match has_policy {
            true => r#"{"spec":{"prune":false,"deletionPolicy":"Orphan"}}"#,
            false => r#"{"spec":{"prune":false}}"#,
        };
        let purpose = format!("this keeps the objects of Flux Kustomization {name} when they leave it");
        Command::patch(name, namespace, cluster, patch, purpose)
    }

    fn patch(name: &str, namespace: &str, cluster: &str, patch: &str, purpose: String) -> Command {
        let words = [
            "kubectl",
            "patch",
            RESOURCE,
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
            purpose,
            is_late: false,
            words: words.map(str::to_owned).into(),
        }
    }

    /// Creates the Flux Kustomization that takes over the objects of one type; it deletes nothing yet.
    pub fn take_over(
        name: &str,
        spec: &Spec,
        cluster: &str,
        folder: &RepoPath,
        depends_on: &[String],
    ) -> Command {
        let mut command = Command::create(name, spec, cluster, folder, false);
        command.words.extend(depends_on.iter().map(|other| format!("--depends-on={other}")));
        command.purpose =
            format!("this creates {name}, which applies {folder} (step 2, once the cluster has step 1)");
        command
    }

    /// Deletes a Flux Kustomization that is still prepared when it runs; its objects stay.
    ///
    /// Something that Git does not show may have given it its old values again, and then its finalizer
    /// deletes what it applied (kustomize-controller, `finalize`). So one command looks and deletes.
    pub fn let_go(name: &str, namespace: &str, cluster: &str, has_policy: bool) -> Command {
        let (fields, said, safe) = match has_policy {
            true => ("{.spec.prune} {.spec.deletionPolicy}", "prune and deletionPolicy are", "false Orphan"),
            false => ("{.spec.prune}", "prune is", "false"),
        };
        let script = format!(
            r#"live=$(kubectl get {RESOURCE} "$1" --namespace "$2" --output "jsonpath={fields}") || exit 1; if test "$live" = "{safe}"; then kubectl delete {RESOURCE} "$1" --namespace "$2"; else echo "not deleted, as it would delete its objects: {said} \"$live\" and not \"{safe}\"" >&2; exit 1; fi"#
        );
        let words = ["sh", "-c", script.as_str(), "sh", name, namespace];
        let purpose =
            format!("this deletes {name} and keeps its objects (step 2, once the new ones are Ready)");
        Command {
            cluster: cluster.to_owned(),
            purpose,
            is_late: false,
            words: words.map(str::to_owned).into(),
        }
    }

    /// Deletes what the gate of a held source leaves behind; that is named by its namespace and its name.
    pub fn forget(own: MechanismName, source: &HeldId, spec: &Spec, cluster: &str) -> Command {
        let purpose = format!("this forgets which commit {} had", source.name);
        let words = mechanism::of(own).forget(spec, source);
        Command { cluster: cluster.to_owned(), purpose, is_late: true, words }
    }

    /// Lets a live Flux Kustomization delete again what it loses.
    pub fn prune(name: &str, namespace: &str, cluster: &str) -> Command {
        let patch = r#"{"spec":{"prune":true}}"#;
        let purpose = format!("this lets {name} prune again (step 3, once the new ones have every object)");
        Command::patch(name, namespace, cluster, patch, purpose)
    }

    /// Lets live Flux Kustomizations of a namespace go on whose gate is gone.
    pub fn release(
        namespace: &str,
        names: &[String],
        mechanism: MechanismName,
        cluster: &str,
    ) -> Vec<Command> {
        let purpose = format!("this resumes {}, which may still be suspended", some(names, 3));
        let all = mechanism::of(mechanism).release(namespace, names).into_iter();
        all.map(|words| Command {
            cluster: cluster.to_owned(),
            purpose: purpose.clone(),
            is_late: true,
            words,
        })
        .collect()
    }

    /// Creates the Flux Kustomization that applies a gate.
    pub fn create_gate(name: &str, spec: &Spec, cluster: &str, folder: &RepoPath) -> Command {
        Command::create(name, spec, cluster, folder, true)
    }

    /// Creates a Flux Kustomization on a cluster that holds none of the folder's objects yet; it waits
    /// for another where one is named.
    pub fn create_new(
        name: &str,
        spec: &Spec,
        cluster: &str,
        folder: &RepoPath,
        depends_on: Option<&str>,
    ) -> Command {
        let mut command = Command::create(name, spec, cluster, folder, true);
        command.words.extend(depends_on.map(|other| format!("--depends-on={other}")));
        command.purpose = format!("this applies {folder}");
        command
    }

    fn create(name: &str, spec: &Spec, cluster: &str, folder: &RepoPath, prune: bool) -> Command {
        let words = [
            "flux".to_owned(),
            "create".to_owned(),
            "kustomization".to_owned(),
            name.to_owned(),
            format!("--namespace={}", spec.flux.namespace),
            format!("--source={}", source(spec)),
            format!("--path=./{}", folder.relative_to(&spec.top_of_source())),
            format!("--prune={prune}"),
            "--interval=10m".to_owned(),
        ];
        let purpose = "this applies the gate, as no Flux Kustomization in Git does".to_owned();
        Command { cluster: cluster.to_owned(), purpose, is_late: false, words: words.into() }
    }

    /// Returns the command as JSON, word by word.
    pub fn to_json(&self) -> Value {
        json!({ "cluster": self.cluster, "purpose": self.purpose, "command": self.words })
    }

    /// Returns the line for a POSIX shell, every word quoted where it must be.
    pub fn shell(&self) -> String {
        shell_line(&self.words)
    }
}

/// Writes a source as `--source` takes it. What follows the last dot is read as its namespace (flux2
/// `internal/utils`, `ParseObjectKindNameNamespace`), so a name with a dot needs one.
fn source(spec: &Spec) -> String {
    let FluxSource { kind, name, namespace, .. } = &spec.flux.source;
    let own = name.contains('.').then_some(&spec.flux.namespace);
    let namespace = namespace.as_ref().or(own).map_or(String::new(), |namespace| format!(".{namespace}"));
    format!("{kind}/{name}{namespace}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::program;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let command = Command {
            cluster: "c".into(),
            purpose: String::new(),
            is_late: false,
            words: vec!["a b".into(), "it's".into(), "x=1".into()],
        };
        assert_eq!(command.shell(), r"'a b' 'it'\''s' x=1");
    }

    #[cfg(unix)]
    #[test]
    #[allow(
        clippy::disallowed_methods,
        clippy::unwrap_used,
        reason = "a test writes into a temporary folder"
    )]
    fn one_that_would_delete_its_objects_is_not_let_go() {
        let folder = tempfile::tempdir().unwrap();
        let kubectl = folder.path().join("kubectl");
        let line = Command::let_go("apps", "flux-system", "north", true).shell();
        for (live, goes) in [
            ("echo false Orphan", true),
            ("echo true Orphan", false),
            ("echo false MirrorPrune", false),
            ("echo false ", false),
            ("exit 1", false),
        ] {
            program(&kubectl, &format!("if test $1 = get; then {live}; else echo \"$@\"; fi"));
            let output = std::process::Command::new("/bin/sh")
                .args(["-c", &line])
                .env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()))
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let expected = format!("delete {RESOURCE} apps --namespace flux-system\n");
            assert_eq!(said == expected, goes, "{live}: {output:?}");
            assert_eq!(said.is_empty(), !goes, "{live}: {output:?}");
            assert_eq!(output.status.success(), goes, "{live}: {output:?}");
        }
    }
}
