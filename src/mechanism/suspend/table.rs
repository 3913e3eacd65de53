//! The table of open times at which the jobs of a gate look again and again.
//!
//! Both jobs of a type run at every tick. The one suspends what is not suspended while the table says closed; the other
//! resumes, while it says open, what the first one suspended and nothing else. So whatever fails, or is done by hand, is
//! mended at the next tick, and what people suspend stays so.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::mechanism::cron_job::{in_shell, shell_line};
use crate::mechanism::{Action, GateTarget};
use crate::schedule::{Deadline, Interval, Moment, OpenTimes, Stretch};
use crate::spec::{Spec, TableDef};

/// The first argument of a job that looks at a table; the lines of the table follow.
pub const NAME: &str = "open-times";

/// The annotation by which a job knows what a job has suspended.
const HELD: &str = "gitops-windows/held";

/// The resource, as kubectl asks for it.
const RESOURCE: &str = "kustomizations.kustomize.toolkit.fluxcd.io";

/// The most lines of a table, a few hundred kilobytes: Linux takes two megabytes of arguments, and etcd an object of one
/// and a half.
const MOST: usize = 4_000;

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

/// Returns when the jobs run: at each tick, and no later.
pub fn schedule(table: &TableDef) -> (String, Deadline) {
    let minutes = if table.every == 1 { "*".to_owned() } else { format!("*/{}", table.every) };
    let tick = table.every * 60;
    (format!("{minutes} * * * *"), Deadline { starting: tick, active: tick - 5 })
}

/// Returns the command of a job.
pub fn command(action: Action, targets: &BTreeSet<GateTarget>) -> Vec<String> {
    let (state, field, is_it, patch) = match action {
        Action::Close => (
            "closed",
            "{.spec.suspend}",
            "!= true",
            format!(
                r#"{{"metadata":{{"annotations":{{"{HELD}":"until the window opens"}}}},"spec":{{"suspend":true}}}}"#
            ),
        ),
        Action::Open => (
            "open",
            "{.metadata.annotations.gitops-windows/held}",
            "!= ''",
            format!(r#"{{"metadata":{{"annotations":{{"{HELD}":null}}}},"spec":{{"suspend":false}}}}"#),
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

/// Returns the table of each gated type in a cluster, by the position of the type: lines of the first second of an
/// interval, the first one after it, and a remark.
///
/// # Errors
///
/// When one is too long, or a job would see the end of an interval late.
pub fn tables(spec: &Spec, cluster: &str, table: &TableDef) -> Result<BTreeMap<usize, Vec<String>>, Error> {
    let mut found = BTreeMap::new();
    for (position, change_type) in spec.types.iter().enumerate().filter(|(_, one)| !one.is_real_time()) {
        let name = &change_type.name.value;
        let invalid = |diagnostics| Error { kind: ErrorKind::Invalid, diagnostics };
        let Some(times) = spec.open_times(cluster, name).map_err(invalid)? else { continue };
        let windows = spec.windows_of(cluster, name);
        let zone = windows.first().and_then(|def| def.schedule().ok()).map(|window| window.zone_or_utc());
        let zone = zone.unwrap_or(TimeZone::UTC);
        let refuse = |message: String, help: &str| {
            Error::invalid(Diagnostic::error(message).at(table.place.clone()).help(help))
        };
        let mut lines = Vec::new();
        for interval in times.cut(table.bounds.open, table.bounds.close) {
            let is_seen = interval.close.as_second() % i64::from(table.every * 60) == 0;
            if !is_seen && interval.close < table.bounds.close {
                let close = Moment::from(interval.close).local(&zone);
                return Err(refuse(
                    format!(
                        "type `{name}` of cluster {cluster} closes at {close}, between two runs of its CronJobs"
                    ),
                    "choose an `every` that meets that time, or let it close at another one",
                ));
            }
            lines.push(line(interval, &zone));
            if lines.len() > MOST {
                return Err(refuse(
                    format!("the table of type `{name}` in cluster {cluster} has more than {MOST} intervals"),
                    "let `from` and `through` lie nearer together",
                ));
            }
        }
        let bounds =
            |stretch: &&Stretch| stretch.interval.clip(table.bounds.open, table.bounds.close).is_some();
        for freeze in times.freezes().iter().filter(bounds) {
            lines.push(remark("frozen", freeze, &zone));
        }
        for given in times.overrides().iter().filter(bounds) {
            lines.push(remark("override", given, &zone));
        }
        let end = table.bounds.close;
        // The last line is no time at all: with its end, the table ends.
        let last = end.as_second();
        lines.push(format!("{last} {last} # end of the table, {}", Moment::from(end).local(&zone)));
        found.insert(position, lines);
    }
    Ok(found)
}

fn line(interval: Interval, zone: &TimeZone) -> String {
    let (open, close) = (interval.open.as_second(), interval.close.as_second());
    format!("{open} {close} # {}", words(interval, zone))
}

fn words(interval: Interval, zone: &TimeZone) -> String {
    let told = |at: Timestamp| Moment::from(at).local(zone);
    format!("{} to {}", told(interval.open), told(interval.close))
}

/// Says in a line that is no interval why the table is as it is. A `$` would mean something to Kubernetes.
fn remark(what: &str, stretch: &Stretch, zone: &TimeZone) -> String {
    format!("# {what} {}: {}", words(stretch.interval, zone), stretch.reason.replace('$', " "))
}

/// Reads the table of a container back; `None` where it has none.
pub fn times(container: &Value) -> Option<OpenTimes> {
    let mut lines = container["args"].as_array()?.iter().filter_map(Value::as_str);
    lines.next().filter(|name| *name == NAME)?;
    let mut intervals = Vec::new();
    for line in lines {
        let mut words = line.split_whitespace();
        let mut second = || words.next()?.parse::<i64>().ok();
        let (Some(open), Some(close)) = (second(), second()) else { continue };
        let at = |second: i64| Timestamp::from_second(second).ok();
        intervals.push(Interval { open: at(open)?, close: at(close)? });
    }
    let end = intervals.pop().filter(|end| end.open == end.close)?;
    let stretch = |interval: Interval| Stretch { interval, reason: String::new() };
    let bounds = Interval { open: Timestamp::MIN, close: end.close };
    Some(OpenTimes::new([], Vec::new(), intervals.into_iter().map(stretch).collect()).within(bounds))
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
