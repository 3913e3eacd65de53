//! The jobs that look at a table.
//!
//! Both jobs of a type run at every tick. The one suspends what is not suspended while the table says closed; the other
//! resumes, while it says open, what the first one suspended and nothing else. So whatever fails, or is done by hand, is
//! mended at the next tick, and what people suspend stays so.

use std::collections::BTreeSet;

use crate::mechanism::cron_job::{in_shell, shell_line};
use crate::mechanism::{Action, GateTarget};

/// The annotation by which a job knows what a job has suspended.
const HELD: &str = "gitops-windows/held";

/// The resource, as kubectl asks for it.
const RESOURCE: &str = "kustomizations.kustomize.toolkit.fluxcd.io";

/// Finds out whether the table says open, and whether it has ended. No `${…}`, since Flux would fill it in.
const LOOK: &str = "\
set -f
now=$(date +%s) state=closed ended=1 failed=0
look() {
  case \"$1$2\" in '' | *[!0-9]*) return ;; esac
  [ \"$now\" -ge \"$2\" ] || ended=
  [ \"$now\" -lt \"$1\" ] || [ \"$now\" -ge \"$2\" ] || state=open
}
for line in \"$@\"; do look $line; done
";

/// Returns the command of a job.
pub fn command(action: Action, targets: &BTreeSet<GateTarget>) -> Vec<String> {
    let (state, field, is_it, patch) = match action {
        Action::Open => (
            "open",
            "{.metadata.annotations.gitops-windows/held}",
            "!= ''",
            format!(r#"{{"metadata":{{"annotations":{{"{HELD}":null}}}},"spec":{{"suspend":false}}}}"#),
        ),
        _ => (
            "closed",
            "{.spec.suspend}",
            "!= true",
            format!(
                r#"{{"metadata":{{"annotations":{{"{HELD}":"until the window opens"}}}},"spec":{{"suspend":true}}}}"#
            ),
        ),
    };
    let mut script = LOOK.to_owned();
    script += &format!("[ \"$state\" = {state} ] || exit 0\n");
    for GateTarget { namespace, name } in targets {
        let words = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            shell_line(&words)
        };
        let of = format!("--namespace={namespace}");
        let get = words(&["kubectl", "get", RESOURCE, name, &of, &format!("--output=jsonpath={field}")]);
        let patch = format!("--patch={patch}");
        let set = ["kubectl", "patch", RESOURCE, name, &of, "--type=merge", "--field-manager=flux", &patch];
        let set = words(&set);
        script +=
            &format!("found=$({get}) || failed=1\n[ \"$found\" {is_it} ] && {{ {set} || failed=1; }}\n");
    }
    if action == Action::Close {
        script += "[ -z \"$ended\" ] || { echo 'the table of open times has ended' >&2; failed=1; }\n";
    }
    script += "exit \"$failed\"";
    in_shell(script)
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
