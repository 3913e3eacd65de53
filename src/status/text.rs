//! The answer for people.

use std::collections::BTreeSet;

use anstyle::{AnsiColor, Style};

use crate::diagnostic::{clean, is_command};
use crate::mechanism::{self, State};
use crate::schedule::minute;
use crate::status::judge::SHORT;
use crate::status::{Answer, Cluster, Gated, Held, Kind, LiveJob, Outcome, Problem, Waits, Window};
use crate::text::{count, fold, pointed, table};

/// How an answer is written.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The namespace of Flux Kustomizations that is not told.
    pub namespace: &'a str,
    /// Whether clusters are told that are as they should be.
    pub verbose: bool,
    /// Whether to colour.
    pub color: bool,
    /// The width in characters.
    pub width: usize,
}

/// How far facts are moved in, and what they say about themselves below.
const FACT: usize = 12;

/// What to do where the one cluster that is asked gives no answer, and where none of several does.
const UNREAD: [&str; 2] = [
    "name its context: `gitops-windows status --context NAME`; `kubectl config get-contexts` lists them",
    "name their contexts: `gitops-windows status --context CLUSTER=NAME`; `kubectl config get-contexts` lists them",
];

/// What answers without any cluster.
const BY_GIT: &str = "or go by Git: `gitops-windows when` asks no cluster";

/// A line, and whether it is about something that is not as it should be.
struct Line {
    text: String,
    indent: usize,
    is_wrong: bool,
    /// Whether it holds a command, which stays on one line.
    is_whole: bool,
}

/// Writes an answer: a sentence; where something is not as it should be, a row for each cluster and type, then for each
/// cluster what is wrong and all that is known.
pub fn text(answer: &Answer, look: Look<'_>) -> String {
    let mut found = say(&verdict(answer, look), &look);
    if answer.is_fine() && !look.verbose {
        return found;
    }
    let rows = rows(answer);
    if rows.len() > 2 {
        found += &format!("\n{}", safe(&table(&rows)));
    }
    for cluster in answer.clusters.iter().filter(|cluster| look.verbose || !cluster.is_fine()) {
        found.push('\n');
        found.extend(section(cluster, &look).iter().map(|line| say(line, &look)));
    }
    if answer.is_unread() && !answer.clusters.is_empty() {
        let name = UNREAD[usize::from(answer.clusters.len() > 1)];
        found.extend(remedy(&[name, BY_GIT]).iter().map(|line| say(line, &look)));
    }
    found
}

fn wrong(text: String, indent: usize) -> Line {
    Line { is_wrong: true, ..line(text, indent) }
}

fn line(text: impl Into<String>, indent: usize) -> Line {
    Line { text: text.into(), indent, is_wrong: false, is_whole: false }
}

/// Writes a line for the terminal, with nothing in it that would mean something else there.
fn say(line: &Line, look: &Look<'_>) -> String {
    let cleaned = clean(&line.text);
    let words = cleaned.trim_start_matches(' ');
    let first = words.split(' ').next().unwrap_or_default();
    // What stands before the first word is a part of it.
    let first = &cleaned[..cleaned.len() - words.len() + first.len()];
    let rest = words.split(' ').skip(1);
    let width = if line.is_whole { usize::MAX } else { look.width };
    let folded = fold([first].into_iter().chain(rest), width, line.indent + 2);
    let style = AnsiColor::Yellow.on_default().bold();
    let style = if line.is_wrong && look.color { style } else { Style::new() };
    safe(&folded).lines().map(|text| format!("{style}{text}{style:#}\n")).collect()
}

/// Cleans lines, and lets none begin as what a CI system takes for a command.
fn safe(text: &str) -> String {
    let line = |line: &str| format!("{}{}\n", if is_command(line) { "| " } else { "" }, clean(line));
    text.lines().map(line).collect()
}

/// Says in a sentence how the clusters are.
fn verdict(answer: &Answer, look: Look<'_>) -> Line {
    let all = &answer.clusters;
    let bad = all.iter().filter(|cluster| !cluster.is_fine()).count();
    let are = |number: usize| if number == 1 { "is" } else { "are" };
    let it = |number: usize| if number == 1 { "it" } else { "they" };
    if !all.is_empty() && all.iter().all(|cluster| cluster.unread.is_some()) {
        let who =
            if let [one] = &all[..] { one.name.clone() } else { format!("none of {} clusters", all.len()) };
        let verb = if all.len() == 1 { "gives no" } else { "gives an" };
        return wrong(format!("{who} {verb} answer, so nothing is known."), 0);
    }
    if bad > 0 {
        let who = match &all[..] {
            [one] => one.name.clone(),
            all => format!("{bad} of {} clusters", all.len()),
        };
        return wrong(format!("{who} {} not as {} should be.", are(bad), it(bad)), 0);
    }
    let who = match &all[..] {
        [] => return line("There is no cluster to ask.", 0),
        [one] => one.name.clone(),
        all => format!("{} clusters", all.len()),
    };
    let tails: BTreeSet<String> = all.iter().map(tail).collect();
    let same = tails.first().filter(|_| tails.len() == 1).cloned();
    let more = if look.verbose { "" } else { "; --verbose shows each" };
    let tail = same.map_or_else(|| more.to_owned(), |tail| format!(": {tail}"));
    line(format!("{who} {} as {} should be{tail}.", are(all.len()), it(all.len())), 0)
}

/// Says how a cluster is that is as it should be.
fn tail(cluster: &Cluster) -> String {
    let of_gate = |gated: &Gated| {
        let name = gated.change_type.as_deref().unwrap_or("its gate");
        let window = gated.window.as_ref().map(|window| format!("{name} is {}", until(window, true)));
        let waits = match (gated.waits.objects.len(), gated.waits.unknown.is_empty()) {
            (0, false) => "what waits is not known".to_owned(),
            (0 | 1, _) => format!("{} waits", amount(&gated.waits)),
            _ => format!("{} wait", amount(&gated.waits)),
        };
        format!("{}, {waits}", window.unwrap_or_else(|| format!("{name} has no window in the spec")))
    };
    match cluster.gates.is_empty() {
        true => "no gate of it runs".to_owned(),
        false => cluster.gates.iter().map(of_gate).collect::<Vec<_>>().join("; "),
    }
}

/// Says what a window does and until when.
fn until(window: &Window, with_zone: bool) -> String {
    let state = if window.is_open { "open" } else { "closed" };
    let zone = window.zone.iana_name().filter(|_| with_zone).map(|name| format!(" {name}"));
    let end = window.until.map_or_else(
        || " for good".to_owned(),
        |at| format!(" until {}{}", minute(at, &window.zone), zone.unwrap_or_default()),
    );
    let reason = window.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("{state}{end}{reason}")
}

/// Says how much waits.
fn amount(waits: &Waits) -> String {
    match (waits.objects.len(), waits.unknown.is_empty()) {
        (0, false) => "not known".to_owned(),
        (0, true) => "nothing".to_owned(),
        (number, is_all) => format!(
            "{}{} from {}",
            if is_all { "" } else { "at least " },
            count(number, "object"),
            count(waits.commits.len(), "commit")
        ),
    }
}

/// Returns the word for what a Flux Kustomization has; a gate that fails closed has no open state of its own.
fn state(held: &Held) -> &'static str {
    match (held.state, mechanism::of(held.mechanism).fails_closed()) {
        (None, _) => "not known",
        (Some(State::Open), true) => "at the newest",
        (Some(State::Closed), true) => "held",
        (Some(state), _) => state.as_str(),
    }
}

fn short(commit: &str) -> String {
    commit.chars().take(SHORT).collect()
}

fn rows(answer: &Answer) -> Vec<Vec<String>> {
    let header = ["  CLUSTER", "TYPE", "BY THE SPEC", "IN TRUTH", "COMMIT", "WAITS"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for cluster in &answer.clusters {
        let mark = if cluster.is_fine() { " " } else { "!" };
        let name = format!("{mark} {}", cluster.name);
        let rest = |text: &str| vec![name.clone(), "-".to_owned(), text.to_owned()];
        if cluster.unread.is_some() {
            rows.push(rest("no answer"));
        } else if cluster.gates.is_empty() {
            rows.push(rest("no gate runs"));
        }
        for gated in &cluster.gates {
            let words: BTreeSet<&str> = gated.held.iter().map(state).collect();
            let commits: BTreeSet<String> =
                gated.held.iter().filter_map(|held| held.applied.as_deref()).map(short).collect();
            let list = |all: Vec<String>| if all.is_empty() { "-".to_owned() } else { all.join(", ") };
            rows.push(vec![
                name.clone(),
                gated.change_type.clone().unwrap_or_else(|| "-".to_owned()),
                gated.window.as_ref().map_or_else(|| "not known".to_owned(), |window| until(window, false)),
                list(words.into_iter().map(str::to_owned).collect()),
                list(commits.into_iter().collect()),
                match (gated.waits.objects.len(), gated.waits.unknown.is_empty()) {
                    (0, true) => "nothing".to_owned(),
                    (0, false) => "not known".to_owned(),
                    (number, _) => count(number, "object"),
                },
            ]);
        }
    }
    rows.iter().map(|row| row.iter().map(|cell| clean(cell)).collect()).collect()
}

fn section(cluster: &Cluster, look: &Look<'_>) -> Vec<Line> {
    let context = cluster.context.as_ref().map(|context| format!(" (context {context})"));
    let mut lines = vec![line(format!("{}{}", cluster.name, context.unwrap_or_default()), 0)];
    if let Some(why) = &cluster.unread {
        lines.push(wrong(format!("  ! no answer: {why}"), 4));
        return lines;
    }
    lines.extend(cluster.problems.iter().flat_map(problem));
    if cluster.problems.iter().any(|problem| problem.kind == Kind::OtherCluster) {
        return lines;
    }
    if cluster.gates.is_empty() {
        lines.push(line("  no gate of it runs", 4));
    }
    lines.extend(cluster.gates.iter().flat_map(|gated| facts(gated, look)));
    lines
}

fn problem(problem: &Problem) -> Vec<Line> {
    let mut lines = vec![wrong(format!("  ! {}", problem.message), 4)];
    lines.extend(problem.reasons.iter().map(|reason| line(format!("      {reason}"), 6)));
    lines.extend(remedy(&problem.steps));
    lines
}

/// Writes the steps of a remedy, each in a line: a terminal copies whole commands.
fn remedy(steps: &[impl AsRef<str>]) -> Vec<Line> {
    let steps: Vec<&str> = steps.iter().map(AsRef::as_ref).collect();
    let step = |told: String| Line { is_whole: true, ..line(format!("      {told}"), 6) };
    pointed(&steps.join("\n"), usize::MAX).into_iter().map(step).collect()
}

/// Tells what is known of a gate, one fact a line behind its label.
fn facts(gated: &Gated, look: &Look<'_>) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let zone = gated.window.as_ref().map_or(jiff::tz::TimeZone::UTC, |window| window.zone.clone());
    let mut last = "";
    let mut fact = |label: &'static str, text: String| {
        let shown = if label == last { "" } else { label };
        last = label;
        lines.push(line(format!("  {shown:10}{text}"), FACT));
    };
    let name = gated.change_type.as_deref().unwrap_or("not known");
    let window = gated.window.as_ref().map_or_else(
        || name.to_owned(),
        |window| {
            let since = window.since.map(|at| format!(", since {}", minute(at, &zone))).unwrap_or_default();
            format!("{name} is {}{since}", until(window, true))
        },
    );
    fact("window", window);
    for held in &gated.held {
        let by = held.setter.as_ref().map(|setter| format!(", {}", setter.told(held.verb, &zone)));
        let pin = held.pin.as_ref().filter(|_| held.state != Some(State::Open));
        let pin = pin.map(|pin| format!(" at {}", short(pin))).unwrap_or_default();
        fact(
            "in truth",
            format!("{} is {}{pin}{}", held.shown(look.namespace), state(held), by.unwrap_or_default()),
        );
        if let Some(note) = &held.note {
            fact("in truth", format!("  its gate says: {note}"));
        }
    }
    for job in &gated.jobs {
        fact("jobs", self::job(job, &zone));
    }
    for held in &gated.held {
        let name = held.shown(look.namespace);
        let text = match (&held.applied, &held.newest) {
            (Some(applied), Some(newest)) if applied == newest => {
                format!("{name} has {}, the newest", short(applied))
            }
            (Some(applied), Some(newest)) => {
                format!("{name} has {}, and {} is the newest", short(applied), short(newest))
            }
            (Some(applied), None) => format!("{name} has {}", short(applied)),
            (None, _) => format!("{name} has none"),
        };
        fact("commit", text);
    }
    fact("waits", amount(&gated.waits));
    for why in &gated.waits.unknown {
        fact("waits", format!("  {why}"));
    }
    for (hash, subject) in &gated.waits.commits {
        fact("waits", format!("  {} {subject}", short(hash)));
    }
    for one in &gated.waits.objects {
        fact("waits", format!("  {} {} by {}", one.kind.as_str(), one.id, one.by.name));
    }
    lines
}

fn job(job: &LiveJob, zone: &jiff::tz::TimeZone) -> String {
    let state = match job.last() {
        _ if !job.is_there => "is not there".to_owned(),
        None => match job.scheduled {
            Some(at) => format!("ran {}, and no run is remembered", minute(at, zone)),
            None => "has not run yet".to_owned(),
        },
        Some(run) => {
            let at = run.started.map(|at| format!(" {}", minute(at, zone))).unwrap_or_default();
            match run.outcome {
                Outcome::Running => format!("runs since{at}"),
                outcome => format!("{}{at}", outcome.as_str()),
            }
        }
    };
    let suspended = if job.is_suspended { ", suspended" } else { "" };
    format!("{} {state}{suspended}", job.name)
}
