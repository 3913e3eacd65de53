//! The codes of findings, equal to docs/codes.md.

use crate::diagnostic::{Diagnostic, Severity};
use crate::schedule::lint::LintCode;

/// A kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// The stable code, for example `GW101`.
    pub code: &'static str,
    /// A stable name.
    pub name: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What it is about, in one sentence.
    pub summary: &'static str,
}

const fn code(code: &'static str, name: &'static str, severity: Severity, summary: &'static str) -> Code {
    Code { code, name, severity, summary }
}

impl Code {
    /// Begins a finding of this kind.
    pub fn finding(self, message: impl Into<String>) -> Diagnostic {
        let mut diagnostic = Diagnostic::warning(message).code(self.code);
        diagnostic.severity = self.severity;
        diagnostic
    }

    /// Returns the kind with this code, in any case, or with this name.
    pub fn find(text: &str) -> Option<Code> {
        CODES.into_iter().find(|code| code.code.eq_ignore_ascii_case(text) || code.name == text)
    }
}

macro_rules! codes {
    ($($constant:ident = $code:literal $name:literal $severity:ident $summary:literal;)*) => {
        $(pub(crate) const $constant: Code = code($code, $name, Severity::$severity, $summary);)*

        /// Every code, in order.
        pub const CODES: [Code; [$($code),*].len()] = [$($constant),*];
    };
}

codes! {
    SUSPEND_IN_GIT = "GW001" "suspend-in-git" Error
        "`spec.suspend` of a Flux Kustomization that a gate suspends is written in Git.";
    SUSPEND_FALSE = "GW002" "suspend-false" Note
        "`suspend: false` is written in Git, so suspending by hand does not last.";
    GATE_GATES_ITSELF = "GW003" "gate-gates-itself" Error
        "A gate suspends the Flux Kustomization that applies its CronJobs, or a dependency of it.";
    WAITS_FOR_GATED = "GW004" "waits-for-gated" Error
        "A Flux Kustomization that lands at once depends on a gated Flux Kustomization.";
    UNKNOWN_TARGET = "GW005" "unknown-target" Warning
        "A CronJob suspends or resumes a Flux Kustomization that is not in Git.";
    ONE_SIDED_GATE = "GW006" "one-sided-gate" Error
        "What one CronJob suspends no other resumes, or the reverse.";
    UNLISTED_PATCH = "GW007" "unlisted-patch" Warning
        "A cluster's patch of a CronJob stands beside a kustomization that does not list it.";
    BOTH_HALVES = "GW008" "both-halves" Error
        "A Flux Kustomization that lands at once applies objects that should wait for a window.";
    DOUBLE_OWNED = "GW009" "double-owned" Warning
        "Two Flux Kustomizations of a cluster apply the same object.";
    OVERWRITTEN = "GW010" "overwritten" Error
        "Two Flux Kustomizations that land at different times apply the same object with different content.";
    GATED_NAMESPACE = "GW011" "gated-namespace" Warning
        "A Namespace waits for a window, and objects that land at once need it.";
    SINGLE_COMMIT_MIGRATION = "GW012" "single-commit-migration" Error
        "Objects change to another Flux Kustomization while the old one still prunes.";
    MOVED_BEHIND_WINDOW = "GW013" "moved-behind-window" Warning
        "An object moves behind a window, and is deleted until the window opens.";
    PATCH_WITHOUT_MATCH = "GW014" "patch-without-match" Warning
        "A patch matches no object, and kustomize leaves it out silently.";
    REFERENCE_ACROSS_SPLIT = "GW015" "reference-across-split" Error
        "An object refers to a name that another build changes by prefix, suffix or hash.";
    NEEDS_GATED = "GW016" "needs-gated" Warning
        "An object that lands at once refers to a gated object.";
    LANDS_TOO_EARLY = "GW017" "lands-too-early" Warning
        "A change that lands at once needs an object or a label behind a window.";
    REMOVED_TOO_EARLY = "GW018" "removed-too-early" Warning
        "An object is deleted at once while a gated object still refers to it.";
    FLOATING_CHART = "GW019" "floating-chart" Warning
        "A HelmRelease behind a window takes the newest chart version.";
    REAL_TIME_VALUES = "GW020" "real-time-values" Warning
        "A HelmRelease behind a window takes values from an object that lands at once.";
    NESTED_KUSTOMIZATION = "GW021" "nested-kustomization" Warning
        "A Flux Kustomization lands at once although its own manifest waits for a window.";
    GATED_AUTOMATION = "GW022" "gated-automation" Note
        "Image automation writes into files that wait for a window.";
    REMOVED_API = "GW023" "removed-api" Warning
        "An object uses an API version that Flux or Kubernetes no longer serves.";
    OLD_FIELD = "GW024" "old-field" Note
        "A gate's kustomization uses a field that kustomize has replaced.";
    BROAD_PERMISSIONS = "GW025" "broad-permissions" Warning
        "The ServiceAccount of a gate may do more than suspend and resume its targets.";
    MISSING_PERMISSION = "GW026" "missing-permission" Error
        "The ServiceAccount of a gate may not suspend or resume one of its targets.";
    IMAGE_SKEW = "GW027" "image-skew" Warning
        "The flux command of a gate does not fit the Flux of the cluster.";
    TRUSTED_EXIT_CODE = "GW028" "trusted-exit-code" Warning
        "A gate trusts the exit code of `flux suspend`, which is 0 when nothing was suspended.";
    FIELD_MANAGER = "GW029" "field-manager" Warning
        "A gate patches `spec.suspend` under a field manager whose changes Flux takes back.";
    UNSET_VARIABLE = "GW030" "unset-variable" Warning
        "A variable stands in a manifest under `postBuild` and nothing sets it.";
    OUTAGE_RACE = "GW031" "outage-race" Warning
        "After an outage, a gate's CronJobs may open late, race, or not close.";
    DOES_NOT_BUILD = "GW032" "does-not-build" Error
        "A folder that a Flux Kustomization applies does not build.";
    UNREADABLE_FILE = "GW033" "unreadable-file" Error
        "A file that a build takes in is no YAML text, or too large.";
    MISSING_PATH = "GW034" "missing-path" Error
        "A Flux Kustomization names a path that is not in the repository.";
    ORPHANED_OBJECT = "GW035" "orphaned-object" Warning
        "An object is left in the cluster, since it left Git and nothing prunes it.";
    FOREIGN_SOURCE = "GW036" "foreign-source" Note
        "A Flux Kustomization builds from another source, so its objects are not looked at.";
    UNUSED_IGNORE = "GW037" "unused-ignore" Warning
        "An ignore matches no finding.";
    BAD_IGNORE = "GW038" "bad-ignore" Error
        "An ignore names no code or gives no reason, so it does not count.";
    UNAPPLIED_GATE = "GW039" "unapplied-gate" Error
        "A gate is switched on, and no Flux Kustomization of its cluster applies it.";
    REFUSED_JOB = "GW040" "refused-job" Error
        "The API server refuses the schedule, time zone or name of a gate's CronJob.";
    PATCH_TYPE = "GW041" "patch-type" Error
        "The `kubectl patch` of a gate fails, since the type of the patch does not fit.";
    UNCLEAR_COMMAND = "GW042" "unclear-command" Note
        "The command of a CronJob is not understood, and its targets are not checked.";
    NOT_JUDGED = "GW043" "not-judged" Note
        "The build of a folder takes too much time or memory to be checked.";
    APPLIES_NOTHING = "GW044" "applies-nothing" Warning
        "A Flux Kustomization builds no object, and Flux may delete its earlier objects.";
    WRONG_SIDE = "GW045" "wrong-side" Warning
        "An object waits for a window although by the rules it has an earlier type.";
    EDITED_FILE = "GW046" "edited-file" Error
        "A generated file was edited by hand.";
    STALE_FILES = "GW047" "stale-files" Warning
        "Generated files are behind the spec.";
    KUSTOMIZATION_REMOVED = "GW048" "kustomization-removed" Error
        "A Flux Kustomization leaves Git, and its objects are deleted with it.";
    MISSING_DEPENDENCY = "GW049" "missing-dependency" Warning
        "A Flux Kustomization depends on another that is not in Git.";
    DEFINED_TWICE = "GW050" "defined-twice" Warning
        "Two files define the same Flux Kustomization differently.";
    UNAPPLIED_SIDE = "GW052" "unapplied-side" Error
        "No Flux Kustomization in Git applies a divided entry point any more.";
    REFUSED_VALUE = "GW053" "refused-value" Error
        "A Flux Kustomization has a value that the API server refuses.";
    DELETED_OBJECTS = "GW054" "deleted-objects" Warning
        "A change makes Flux delete objects.";
    BOOTSTRAP_PATH = "GW055" "bootstrap-path" Error
        "The folder of a cluster's own Flux Kustomization goes or is replaced.";
    MATCHES_NOTHING = "GW056" "matches-nothing" Warning
        "A rule, a cluster, a window or another name of the spec matches nothing.";
    UNLISTED_FILE = "GW057" "unlisted-file" Warning
        "Nothing lists a new file, so it reaches no cluster.";
    REAL_TIME_VARIABLES = "GW058" "real-time-variables" Warning
        "A Flux Kustomization behind a window takes variables or keys that change at once.";
    HELD_DELETES = "GW059" "held-deletes" Warning
        "A Flux Kustomization with a held source deletes its objects when it leaves Git.";
    IMPATIENT_PARENT = "GW060" "impatient-parent" Warning
        "A parent stops waiting before the next run that moves a held source.";
    HELD_WITHOUT_PATH = "GW061" "held-without-path" Warning
        "A Flux Kustomization builds a folder that its held commit does not have.";
    OLDER_COMMIT = "GW062" "older-commit" Warning
        "A Flux Kustomization begins to read a held source, whose commit may be older.";
    RELEASED_AT_ONCE = "GW063" "released-at-once" Warning
        "A Flux Kustomization leaves its held source, and waiting commits land at once.";
    MOVED_OUT_OF_HELD = "GW064" "moved-out-of-held" Warning
        "An object leaves a held source, and two Flux Kustomizations apply it until the opening.";
    FORGOTTEN_GATE = "GW065" "forgotten-gate" Warning
        "A gate goes on in a cluster of which the spec wants none.";
    NOT_FETCHED = "GW066" "not-fetched" Error
        "A source does not fetch a file that a Flux Kustomization builds.";
    UNHELD = "GW067" "unheld" Warning
        "No gate suspends a Flux Kustomization that can't be built and may have a window.";
    DEPENDENCY_CIRCLE = "GW068" "dependency-circle" Error
        "Flux Kustomizations depend on one another in a circle, and Flux never applies them.";
    IGNORED_FIELD = "GW069" "ignored-field" Warning
        "Flux leaves a field of kustomization.yaml out.";
    MISSING_SOURCE = "GW070" "missing-source" Warning
        "A Flux Kustomization reads a source that is not in Git.";
    UNDECLARED_FIELD = "GW071" "undeclared-field" Error
        "A Flux Kustomization has a field that the Flux in Git does not declare.";
    RENAMED_SIDE = "GW072" "renamed-side" Warning
        "Folders are named as sides of another folder than the one around them.";
    UNPRIVILEGED_GATE = "GW073" "unprivileged-gate" Error
        "Flux applies a gate as a ServiceAccount without rights.";
    UNSERVED_VERSION = "GW074" "unserved-version" Error
        "An object has a version that the Flux in Git does not serve.";
    LATE_LANDING = "GW075" "late-landing" Note
        "What a window lets in last may land after it.";
    REFUSED_OBJECT = "GW076" "refused-object" Error
        "The API server refuses an object that Flux reads, and so its whole build.";
    RESTORED_LIST = "GW077" "restored-list" Warning
        "The list that a migration goes back to differs from its sides.";
    MISSING_ZONE = "GW101" "missing-zone" Warning
        "A window has no time zone and follows each cluster's controller.";
    NEVER_FIRES = "GW102" "never-fires" Error
        "An expression does not fire within five years.";
    EITHER_DAY = "GW103" "either-day" Warning
        "Day of month and day of week are both given, and either is enough.";
    CLOCK_GAP = "GW104" "clock-gap" Error
        "A change of the clocks skips or moves an opening or closing.";
    CLOCK_FOLD = "GW105" "clock-fold" Note
        "A change of the clocks makes an opening or closing come twice.";
    NOT_ALTERNATING = "GW106" "not-alternating" Warning
        "Two openings or two closings follow each other.";
    SAME_INSTANT = "GW107" "same-instant" Error
        "A window opens at the instant at which it or another of its type closes.";
    LONGER_THAN_PERIOD = "GW108" "longer-than-period" Error
        "A window opens again before it has closed.";
    ALWAYS_OPEN = "GW109" "always-open" Error
        "A window never closes once it has opened.";
    OVERLAP = "GW110" "overlap" Warning
        "The closing of one window of a type closes another one too.";
    TOO_SHORT = "GW111" "too-short" Warning
        "A window is shorter than its Flux Kustomizations need.";
    RARELY_OPENS = "GW112" "rarely-opens" Warning
        "A type opens less often than was asked for.";
    LOST_CLOSING = "GW113" "lost-closing" Warning
        "After a long outage Kubernetes may not make up for a missed closing.";
    IMPOSSIBLE_TIME = "GW114" "impossible-time" Error
        "A change of the clocks breaks a window of `for`, or of `from` and `to`.";
    UNEVEN_TIMES = "GW115" "uneven-times" Note
        "No deadline fits every missed opening or closing, and a window may stay closed.";
    HARDLY_CLOSES = "GW116" "hardly-closes" Note
        "A type is closed for less than Flux's interval, and hardly any change waits.";
    ZONES_DIFFER = "GW117" "zones-differ" Warning
        "The CronJobs that open and close a window have different time zones.";
    TABLE_ENDS = "GW118" "table-ends" Warning
        "The table of open times ends within 60 days, or has not begun.";
    ENDED_TIME = "GW119" "ended-time" Note
        "A freeze or an override is over.";
    LONG_FREEZE = "GW120" "long-freeze" Warning
        "A freeze lasts for more than 90 days, or has no end.";
    CLOSED_FOR_LONG = "GW121" "closed-for-long" Note
        "A freeze keeps a type closed for more than 32 days.";
    LITTLE_TIME = "GW122" "little-time" Warning
        "A type is open for less time than was asked for in some 32 days.";
    OLD_ZONES = "GW123" "old-zones" Warning
        "The time zone database inside the program is of the year before last, or older.";
}

/// Returns the code of a lint of a schedule.
pub fn code_of_lint(lint: LintCode) -> Code {
    match lint {
        LintCode::MissingZone => MISSING_ZONE,
        LintCode::NeverFires => NEVER_FIRES,
        LintCode::EitherDay => EITHER_DAY,
        LintCode::ClockGap => CLOCK_GAP,
        LintCode::ClockFold => CLOCK_FOLD,
        LintCode::NotAlternating => NOT_ALTERNATING,
        LintCode::SameInstant => SAME_INSTANT,
        LintCode::LongerThanPeriod => LONGER_THAN_PERIOD,
        LintCode::AlwaysOpen => ALWAYS_OPEN,
        LintCode::Overlap => OVERLAP,
        LintCode::TooShort => TOO_SHORT,
        LintCode::RarelyOpens => RARELY_OPENS,
        LintCode::LostClosing => LOST_CLOSING,
        LintCode::UnevenTimes => UNEVEN_TIMES,
        LintCode::HardlyCloses => HARDLY_CLOSES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_in_order_and_used_once() {
        assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
    }

    #[test]
    fn the_document_lists_exactly_these_codes() {
        let document = include_str!("../../docs/codes.md");
        let severity = |severity| match severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let rows: Vec<String> = CODES
            .iter()
            .map(|code| {
                format!("| {} | {} | {} | {} |", code.code, code.name, severity(code.severity), code.summary)
            })
            .collect();
        let listed: Vec<&str> = document.lines().filter(|line| line.starts_with("| GW")).collect();
        assert_eq!(listed, rows);
    }
}
