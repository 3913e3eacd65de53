//! The jobs that look at a table.
//!
//! Both jobs of a type run at every tick. The one suspends what is not suspended while the table says closed; the other
//! resumes, while it says open, what the first one suspended and nothing else. So whatever fails, or is done by hand, is
//! mended at the next tick, and what people suspend stays so. What people stop by an annotation is closed.
//!
//! Nothing new begins so long before an end that it may land after it ([`Settle`](crate::schedule::Settle)): the last run
//! before that instant waits for it and suspends then, in place of one that would come too late.

use std::collections::BTreeSet;

use crate::mechanism::cron_job::{in_shell, shell_line};
use crate::mechanism::suspend::admission::{CLOSED, OPEN, Parameter};
use crate::mechanism::{Action, GateTarget, STOP, annotate};

/// The annotation by which a job knows what a job has suspended.
pub(super) const HELD: &str = "gitops-windows/held";

/// The resource, as kubectl asks for it.
const RESOURCE: &str = "kustomizations.kustomize.toolkit.fluxcd.io";

/// Finds out whether the table says open, and whether it has ended. No `${…}`, since Flux would fill it in.
const LOOK: &str = "\
set -f
now=$(date +%s) state=closed ended=1 failed=0 settle=0
look() {
  [ \"$1 $2\" != '# settle' ] || settle=$3
  case \"$1$2\" in '' | *[!0-9]*) return ;; esac
  [ \"$now\" -ge \"$2\" ] || ended=
  [ \"$now\" -ge \"$1\" ] && [ \"$now\" -lt \"$2\" ] || return 0
  shut=$((($2 - $1) / 4))
  [ \"$shut\" -le \"$settle\" ] || shut=$settle
  shut=$(($2 - shut))
  [ \"$now\" -ge \"$shut\" ] || state=open
}
for line in \"$@\"; do look $line; done
";

/// How many seconds before its successor a run is over, which has to start in time.
const SPARE: u32 = 15;

/// What a job asks about each of its targets, in words: whether it is suspended, and whether a person stopped it or a job
/// has suspended it.
const ASK: &str = "{{if .spec.suspend}}suspended{{end}} {{with .metadata.annotations}}{{if index . \"gitops-windows/stop\"}}stopped\
                   {{else if index . \"gitops-windows/held\"}}held{{end}}{{end}}";

/// The patch that suspends until a job resumes.
fn held() -> String {
    format!(
        r#"{{"metadata":{{"annotations":{{"{HELD}":"until the window opens"}}}},"spec":{{"suspend":true}}}}"#
    )
}

/// Returns the command of a job.
///
/// It runs `every` so many minutes. A target that a person has stopped ([`STOP`]) is closed, whatever the table says. Where
/// policies keep what is closed, their `parameter` is set first; the API server may hear of that a moment later, so resuming
/// is tried twice.
pub fn command(
    action: Action,
    targets: &BTreeSet<GateTarget>,
    parameter: Option<&Parameter>,
    every: u32,
) -> Vec<String> {
    let (begin, cases, patch) = match action {
        Action::Open => (
            "[ \"$state\" = open ] || exit 0\n".to_owned(),
            "*' held')",
            format!(r#"{{"metadata":{{"annotations":{{"{HELD}":null}}}},"spec":{{"suspend":false}}}}"#),
        ),
        _ => (waiting(every), "*:suspended*) ;; closed:* | *' stopped')", held()),
    };
    let mut script = format!("{LOOK}{begin}");
    if let Some(parameter) = parameter {
        let (unless, value) = match action {
            Action::Open => ("", OPEN),
            _ => ("[ \"$state\" = open ] || ", CLOSED),
        };
        script += &format!("{unless}{} || failed=1\n", shell_line(&parameter.set(value)));
    }
    for GateTarget { namespace, name } in targets {
        let of = format!("--namespace={namespace}");
        let get = words(&["kubectl", "get", RESOURCE, name, &of, &format!("--output=go-template={ASK}")]);
        let patch = format!("--patch={patch}");
        let set = ["kubectl", "patch", RESOURCE, name, &of, "--type=merge", "--field-manager=flux", &patch];
        let mut set = words(&set);
        if parameter.is_some() && action == Action::Open {
            set = format!("{set} || {{ sleep 5; {set}; }}");
        }
        script += &format!(
            "found=$({get}) || failed=1\ncase \"$state:$found\" in {cases} {set} || failed=1 ;; esac\n"
        );
    }
    if action == Action::Close {
        script += "[ -z \"$ended\" ] || { echo 'the table of open times has ended' >&2; failed=1; }\n";
    }
    script += "exit \"$failed\"";
    in_shell(script)
}

/// Returns the lines of a script that wait, while open, for the instant from which on nothing new may begin, where that comes
/// before the next run. Runs of each minute are near enough.
fn waiting(every: u32) -> String {
    let most = (every * 60).saturating_sub(SPARE);
    format!(
        "if [ \"$state\" = open ] && [ \"$((shut - now))\" -lt {most} ]; then\n  sleep \"$((shut - now))\"\n  \
         state=closed\nfi\n"
    )
}

/// Returns the words of the command by which people stop targets of a namespace, which the jobs obey from then on, and
/// that suspends them as a job would: so what people had suspended before stays so when this ends.
pub fn stop(namespace: &str, names: &BTreeSet<&str>, reason: &str) -> Vec<String> {
    let of = format!("--namespace={namespace}");
    let patch = format!("--patch={}", held());
    let ask = words(&["--output=jsonpath={.spec.suspend}"]);
    let set = words(&["--type=merge", "--field-manager=flux", &patch]);
    let names: Vec<&str> = names.iter().copied().collect();
    let all = names.join(" ");
    let is_suspended = format!("[ \"$(kubectl get {RESOURCE} \"$name\" {of} {ask})\" = true ]");
    let suspend = format!("kubectl patch {RESOURCE} \"$name\" {of} {set}");
    let stop = shell_line(&annotate(RESOURCE, namespace, &names, &format!("{STOP}={reason}")));
    // One that is not there, or may not be patched, keeps no other one open.
    let each = format!("for name in {all}; do {is_suspended} || {suspend} || failed=1; done");
    in_shell(format!("failed=0; {stop} || failed=1; {each}; exit \"$failed\""))
}

/// Returns the words of the command by which people end a stop.
pub fn go_on(namespace: &str, names: &BTreeSet<&str>) -> Vec<String> {
    let names: Vec<&str> = names.iter().copied().collect();
    annotate(RESOURCE, namespace, &names, &format!("{STOP}-"))
}

/// Returns the words of the command by which people suspend targets for which jobs know no stop: what they have suspended
/// themselves must not look so, or the next opening would resume it.
pub fn suspend(namespace: &str, names: &BTreeSet<&str>) -> Vec<String> {
    let patch = format!(r#"{{"metadata":{{"annotations":{{"{HELD}":null}}}},"spec":{{"suspend":true}}}}"#);
    patched(namespace, names, &patch)
}

/// Returns the words of the command by which people give such targets back to the jobs, which resume them in a window.
pub fn hand_back(namespace: &str, names: &BTreeSet<&str>) -> Vec<String> {
    patched(namespace, names, &held())
}

fn patched(namespace: &str, names: &BTreeSet<&str>, patch: &str) -> Vec<String> {
    let (of, patch) = (format!("--namespace={namespace}"), format!("--patch={patch}"));
    let begin = ["kubectl", "patch", RESOURCE].into_iter().chain(names.iter().copied());
    begin.chain([&*of, "--type=merge", "--field-manager=flux", &patch]).map(str::to_owned).collect()
}

fn words(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    shell_line(&words)
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
