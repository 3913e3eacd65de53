//! Asking by `kubectl`, which knows how to reach and to authenticate.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::live::{Cluster, LiveKustomization, Objects};
use crate::mechanism::{self, PROVIDERS, SourceKind};
use crate::repo::program;

/// The resource by its full name: another API group may have Kustomizations too.
const RESOURCE: &str = "kustomizations.kustomize.toolkit.fluxcd.io";

/// The resources of Flux and of gates that are read of all namespaces.
const OF_ALL: &str =
    "kustomizations.kustomize.toolkit.fluxcd.io,gitrepositories.source.toolkit.fluxcd.io,cronjobs.batch";

/// What the Events of the commits that a gate lets in are about.
const ADVANCED: &str = "--field-selector=reason=Advanced";

/// How often it is looked whether the command has ended.
const TICK: Duration = Duration::from_millis(20);

/// How many bytes are read at once.
const CHUNK: usize = 64 << 10;

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
    /// Finds the program, for no cluster yet.
    ///
    /// # Errors
    ///
    /// When it is not there; says so in one sentence.
    pub fn find(timeout: Duration) -> Result<Kubectl, String> {
        let program = program("kubectl").ok_or("`kubectl` is not installed or not on PATH")?;
        Ok(Kubectl { program, kubeconfig: None, context: None, timeout })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("get")
            .args(arguments)
            .arg("--output=json")
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

    /// Asks, and returns the list that it prints; where it fails, that with why.
    fn ask(&self, arguments: &[&str]) -> Result<Value, (Value, String)> {
        let none = |why: String| (Value::Null, why);
        let (is_done, out, err) = self.run(arguments).map_err(none)?;
        let list = serde_json::from_str(&out);
        if !is_done {
            // What some of several resources gave is printed all the same.
            return Err((list.unwrap_or_default(), explain(&err, &self.place(), arguments)));
        }
        let list: Value =
            list.map_err(|error| none(format!("what kubectl printed can't be read: {error}")))?;
        if list["items"].is_array() {
            Ok(list)
        } else {
            Err(none("what kubectl printed is no list".to_owned()))
        }
    }

    /// Runs it, and returns whether it succeeded, with what it printed and what it said.
    fn run(&self, arguments: &[&str]) -> Result<(bool, String, String), String> {
        // kubectl takes a file that is not there for an empty one, and then misses the context.
        if let Some(file) = self.kubeconfig.as_ref().filter(|file| !file.exists()) {
            return Err(format!("there is no file {}, which --kubeconfig names", file.display()));
        }
        let name = self.program.display();
        let mut child = self.command(arguments).spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => format!("`{name}` is not installed or not on PATH"),
            _ => format!("`{name}` can't be run: {error}"),
        })?;
        let (out, err) = (Reading::of(child.stdout.take()), Reading::of(child.stderr.take()));
        // kubectl's own limit holds for each request, of which it makes more than one; a plugin that logs in
        // may take for ever.
        let deadline = Instant::now() + self.timeout * 2;
        let status = loop {
            match child.try_wait().map_err(|error| error.to_string())? {
                Some(status) => break status,
                None if Instant::now() > deadline => {
                    stop(&mut child);
                    return Err(format!(
                        "{} did not answer within {} s, twice the {} s of --timeout",
                        self.place(),
                        (self.timeout * 2).as_secs(),
                        self.timeout.as_secs()
                    ));
                }
                None => std::thread::sleep(TICK),
            }
        };
        // A program that it has started, such as a plugin that logs in, may keep its pipes open for ever.
        Ok((status.success(), out.text(deadline), err.text(deadline)))
    }
}

fn stop(child: &mut Child) {
    // It may have ended meanwhile; then there is nothing to stop.
    let _ = child.kill();
    let _ = child.wait();
}

/// What is read of a pipe meanwhile, until nobody holds its other end any more.
struct Reading(Receiver<Vec<u8>>);

impl Reading {
    fn of(pipe: Option<impl Read + Send + 'static>) -> Reading {
        let (send, receive) = channel();
        std::thread::spawn(move || {
            let Some(mut pipe) = pipe else { return };
            let mut chunk = vec![0; CHUNK];
            loop {
                match pipe.read(&mut chunk) {
                    Ok(length @ 1..) if send.send(chunk[..length].to_vec()).is_ok() => {}
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    _ => return,
                }
            }
        });
        Reading(receive)
    }

    /// Returns what was written by a deadline.
    fn text(self, deadline: Instant) -> String {
        let mut bytes = Vec::new();
        while let Ok(chunk) = self.0.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            bytes.extend(chunk);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Says in one sentence why there was no answer; kubectl repeats itself over many lines.
fn explain(said: &str, place: &str, arguments: &[&str]) -> String {
    let resource = arguments.first().copied().unwrap_or(RESOURCE);
    if said.contains("the server doesn't have a resource type") {
        return format!("the cluster of {place} has no Flux: it does not know {RESOURCE}");
    }
    if said.contains("context") && said.contains("does not exist") {
        return format!("kubectl knows no {place}");
    }
    if said.contains("Forbidden") || said.contains("forbidden") {
        let of = arguments.iter().find_map(|word| word.strip_prefix("--namespace="));
        let of = of.map_or_else(|| "all namespaces".to_owned(), |namespace| format!("namespace {namespace}"));
        return format!("{place} does not allow to list {resource} of {of}: {}", last_line(said));
    }
    format!("the cluster of {place} can't be reached: {}", last_line(said))
}

fn last_line(said: &str) -> String {
    let line = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("kubectl said nothing");
    line.chars().filter(|c| !c.is_control()).take(300).collect()
}

impl Cluster for Kubectl {
    fn kustomizations(&self) -> Result<Vec<LiveKustomization>, String> {
        let list = self.ask(&[RESOURCE, "--all-namespaces"]).map_err(|(_, why)| why)?;
        Ok(list["items"].as_array().into_iter().flatten().map(LiveKustomization::of).collect())
    }

    fn objects(&self) -> Result<Objects, String> {
        let mut found = Objects::default();
        match self.ask(&[OF_ALL, "--all-namespaces", "--show-managed-fields"]) {
            Ok(mut list) => found.take(&mut list),
            Err((mut list, why)) => {
                found.take(&mut list);
                if found.kustomizations.is_empty() {
                    return Err(why);
                }
                found.unread.push(why);
            }
        }
        if found.reads_artifacts() {
            let arguments = [SourceKind::Oci.resource(), "--all-namespaces", "--show-managed-fields"];
            match self.ask(&arguments) {
                Ok(mut list) => found.take(&mut list),
                Err((mut list, why)) => {
                    found.take(&mut list);
                    found.unread.push(why);
                }
            }
        }
        if found.may_have_providers() {
            match self.ask(&[PROVIDERS, "--all-namespaces"]) {
                Ok(mut list) => found.take(&mut list),
                Err((mut list, why)) => {
                    found.take(&mut list);
                    // Without Flux Operator there are none.
                    found.unread.extend(Some(why).filter(|why| !why.contains("does not know")));
                }
            }
        }
        let (mut of_jobs, mut of_events) = (BTreeSet::new(), BTreeSet::new());
        for job in &found.cron_jobs {
            let reading = mechanism::read(job, None);
            if !reading.is_empty() {
                of_jobs.extend(job["metadata"]["namespace"].as_str().map(str::to_owned));
                of_events.extend(reading.held.map(|held| held.namespace));
            }
        }
        let asked = of_jobs.iter().map(|namespace| ("jobs.batch", namespace, None));
        let asked = asked.chain(of_events.iter().map(|namespace| ("events", namespace, Some(ADVANCED))));
        for (resource, namespace, selector) in asked {
            let namespace = format!("--namespace={namespace}");
            let arguments: Vec<&str> = [resource, &namespace].into_iter().chain(selector).collect();
            match self.ask(&arguments) {
                Ok(mut list) => found.take(&mut list),
                Err((_, why)) => found.unread.push(why),
            }
        }
        Ok(found)
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
            ("exec sleep 60", "did not answer within 2 s, twice the 1 s of --timeout"),
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

    /// A program that kubectl has started may outlive it, and holds its pipes.
    #[test]
    fn pipes_that_stay_open_hold_up_nothing_beyond_the_deadline() {
        let start = Instant::now();
        let answer = "echo '{\"items\":[{\"metadata\":{\"name\":\"apps\"}}]}'";
        assert_eq!(asked("kubectl", &format!("sleep 20 & {answer}")).unwrap()[0].name, "apps");
        let error = asked("kubectl", "sleep 20 & sleep 20").unwrap_err();
        assert!(error.contains("did not answer within 2 s"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    }

    #[test]
    fn only_reading_is_asked_for() {
        let script = r#"[ "$*" = "get kustomizations.kustomize.toolkit.fluxcd.io --all-namespaces --output=json --request-timeout=1s --context=edge" ] || { echo "$*" >&2; exit 1; }; echo '{"items":[{"metadata":{"name":"apps"}}]}'"#;
        assert_eq!(asked("kubectl", script).unwrap()[0].name, "apps");
    }

    #[test]
    fn what_the_cluster_does_not_let_be_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kubectl");
        let job = r#"{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"close","namespace":"jobs"},"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"command":["flux","suspend","kustomization","apps"]}]}}}}}}"#;
        let script = format!(
            "case \"$*\" in \"get jobs.batch --namespace=jobs --output=json --request-timeout=1s\") \
             echo 'Error from server (Forbidden): no' >&2; exit 1 ;; \
             *--all-namespaces*--show-managed-fields*) echo '{{\"items\":[{job}]}}' ;; *) exit 9 ;; esac"
        );
        program(&file, &script);
        let kubectl =
            Kubectl { program: file, kubeconfig: None, context: None, timeout: Duration::from_secs(1) };
        let found = kubectl.objects().unwrap();
        assert_eq!(found.cron_jobs.len(), 1);
        assert_eq!(
            found.unread,
            [
                "the current context does not allow to list jobs.batch of namespace jobs: Error from server (Forbidden): no"
            ]
        );
    }
}
