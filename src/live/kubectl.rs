//! Asking by `kubectl`, which knows how to reach and to authenticate.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::live::{Cluster, LiveKustomization};

/// The resource by its full name: another API group may have Kustomizations too.
const RESOURCE: &str = "kustomizations.kustomize.toolkit.fluxcd.io";

/// How often it is looked whether the command has ended.
const TICK: Duration = Duration::from_millis(20);

/// `kubectl` with the cluster that it is to ask.
#[derive(Clone, Debug)]
pub struct Kubectl {
    /// The program.
    pub program: PathBuf,
    /// The file with contexts; `None` for kubectl's own choice.
    pub kubeconfig: Option<PathBuf>,
    /// The context; `None` for the current one.
    pub context: Option<String>,
    /// How long the cluster may take.
    pub timeout: Duration,
}

impl Kubectl {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(["get", RESOURCE, "--all-namespaces", "--output=json"])
            .arg(format!("--request-timeout={}s", self.timeout.as_secs().max(1)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(kubeconfig) = &self.kubeconfig {
            command.arg("--kubeconfig").arg(kubeconfig);
        }
        if let Some(context) = &self.context {
            command.arg(format!("--context={context}"));
        }
        command
    }

    /// Names the cluster as kubectl was told it.
    fn place(&self) -> String {
        self.context
            .as_ref()
            .map_or_else(|| "the current context".to_owned(), |context| format!("context {context}"))
    }

    fn run(&self) -> Result<String, String> {
        // kubectl takes a file that is not there for an empty one, and then misses the context.
        if let Some(file) = self.kubeconfig.as_ref().filter(|file| !file.exists()) {
            return Err(format!("there is no file {}, which --kubeconfig names", file.display()));
        }
        let name = self.program.display();
        let mut child = self.command().spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("`{name}` is not installed or not on PATH"),
            _ => format!("`{name}` can't be run: {error}"),
        })?;
        let (out, err) = (reading(child.stdout.take()), reading(child.stderr.take()));
        // kubectl's own limit holds for each request, of which it makes more than one; a plugin that logs in
        // may take for ever.
        let deadline = Instant::now() + self.timeout * 2;
        let status = loop {
            match child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    stop(&mut child);
                    return Err(format!(
                        "{} gave no answer within {} s, twice the {} s that --timeout allows a request",
                        self.place(),
                        (self.timeout * 2).as_secs(),
                        self.timeout.as_secs()
                    ));
                }
                None => std::thread::sleep(TICK),
            }
        };
        if status.success() {
            return Ok(text(out));
        }
        Err(explain(&text(err), &self.place()))
    }
}

fn stop(child: &mut Child) {
    // It may have ended meanwhile; then there is nothing to stop.
    let _ = child.kill();
    let _ = child.wait();
}

fn reading(pipe: Option<impl Read + Send + 'static>) -> Option<JoinHandle<Vec<u8>>> {
    let mut pipe = pipe?;
    Some(std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    }))
}

fn text(reading: Option<JoinHandle<Vec<u8>>>) -> String {
    let bytes = reading.and_then(|thread| thread.join().ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Says in one sentence why there was no answer; kubectl repeats itself over many lines.
fn explain(said: &str, place: &str) -> String {
    if said.contains("the server doesn't have a resource type") {
        return format!("the cluster of {place} has no Flux: it does not know {RESOURCE}");
    }
    if said.contains("context") && said.contains("does not exist") {
        return format!("kubectl knows no {place}");
    }
    if said.contains("Forbidden") || said.contains("forbidden") {
        return format!("{place} does not allow to list {RESOURCE} of all namespaces: {}", last_line(said));
    }
    format!("the cluster of {place} can't be reached: {}", last_line(said))
}

fn last_line(said: &str) -> String {
    let line = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("kubectl said nothing");
    line.chars().filter(|c| !c.is_control()).take(300).collect()
}

impl Cluster for Kubectl {
    fn kustomizations(&self) -> Result<Vec<LiveKustomization>, String> {
        let text = self.run()?;
        let list: Value = serde_json::from_str(&text)
            .map_err(|error| format!("what kubectl printed can't be read: {error}"))?;
        let items = list["items"].as_array().ok_or("what kubectl printed is no list")?;
        Ok(items.iter().map(LiveKustomization::of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::program;

    fn asked(name: &str, script: &str) -> Result<Vec<LiveKustomization>, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        program(&file, script);
        let kubectl = Kubectl {
            program: file,
            kubeconfig: None,
            context: Some("edge".to_owned()),
            timeout: Duration::from_secs(1),
        };
        kubectl.kustomizations()
    }

    #[test]
    fn every_way_of_getting_no_answer_is_said() {
        for (script, said) in [
            ("echo 'error: context \"edge\" does not exist' >&2; exit 1", "knows no context edge"),
            (
                "echo 'error: the server doesn'\\''t have a resource type \"kustomizations\"' >&2; exit 1",
                "has no Flux",
            ),
            ("echo 'The connection to the server 127.0.0.1:1 was refused' >&2; exit 1", "can't be reached"),
            ("echo 'Error from server (Forbidden): no' >&2; exit 1", "does not allow"),
            ("exec sleep 60", "gave no answer within 2 s, twice the 1 s that --timeout allows a request"),
            ("echo '{'", "can't be read"),
        ] {
            let error = asked("kubectl", script).unwrap_err();
            assert!(error.contains(said), "{script}: {error}");
        }
        let missing = Kubectl {
            program: "/nowhere/kubectl".into(),
            kubeconfig: None,
            context: None,
            timeout: Duration::from_secs(1),
        };
        assert!(missing.kustomizations().unwrap_err().contains("not installed"));
        let without = Kubectl { kubeconfig: Some("/nowhere/config".into()), ..missing };
        assert!(without.kustomizations().unwrap_err().contains("no file /nowhere/config"));
    }

    #[test]
    fn only_reading_is_asked_for() {
        let script = r#"[ "$*" = "get kustomizations.kustomize.toolkit.fluxcd.io --all-namespaces --output=json --request-timeout=1s --context=edge" ] || { echo "$*" >&2; exit 1; }; echo '{"items":[{"metadata":{"name":"apps"}}]}'"#;
        assert_eq!(asked("kubectl", script).unwrap()[0].name, "apps");
    }
}
