//! The bounds of what is read and built; `docs/limits.md` says what happens beyond each, and a test compares the two.

use std::time::Duration;

/// The largest file of a repository that is read, in bytes; kustomize files are a thousandth of it.
pub const FILE: u64 = 4 << 20;

/// The largest windows.yaml, in bytes.
pub const SPEC: usize = 4 << 20;

/// The depth of nesting beyond which a text is no spec.
pub const SPEC_DEPTH: usize = 24;

/// The most nodes of a spec, aliases counted as often as they are used.
pub const SPEC_NODES: usize = 200_000;

/// The most nodes that the aliases of one YAML document may stand for, all expanded.
pub const ALIASED_NODES: usize = 1_000_000;

/// How deep a YAML value may be nested, aliases followed.
pub const YAML_DEPTH: usize = 512;

/// The most events of a calendar file.
pub const CALENDAR_EVENTS: usize = 10_000;

/// The most open times in a table.
pub const TABLE_LINES: usize = 4_000;

/// The most bytes of a table of open times, as much as a ConfigMap may hold: each line is an argument of a container, of
/// which Linux takes two megabytes, and etcd takes an object of one and a half.
pub const TABLE_BYTES: usize = 1 << 20;

/// The most characters of a reason in a table: Linux takes no argument of more than 128 KiB.
pub const TABLE_REASON: usize = 200;

/// How many Flux Kustomizations may bring each other, one after the other.
pub const KUSTOMIZATIONS_DEPTH: usize = 64;

/// The most Flux Kustomizations of a cluster.
pub const KUSTOMIZATIONS: usize = 50_000;

/// The most memory of one build, in bytes.
pub const BUILD_MEMORY: usize = 1 << 30;

/// The most memory of all builds together, in bytes: one that outgrows [`SMALL_BUILD`] waits until it may.
pub const BUILDS_MEMORY: usize = 2 << 30;

/// The memory that each build gets at once, in bytes. Nearly all need less.
pub const SMALL_BUILD: usize = 256 << 20;

/// The most time of one build, of the processor: what else the machine does is not held against it.
pub const BUILD_TIME: Duration = Duration::from_secs(60);

/// The most that one build may give, in bytes of JSON.
pub const BUILD_ANSWER: usize = 64 << 20;

/// The most builds side by side; no more than there are cores.
pub const BUILDS_AT_ONCE: usize = 4;

/// How deep the variables of one text may stand within each other.
pub const SUBSTITUTED_DEPTH: usize = 64;

/// The most bytes of one object with the values of its variables.
pub const SUBSTITUTED: usize = 16 << 20;

/// The most steps that patterns of the variables of one object may take.
pub const SUBSTITUTED_STEPS: usize = 10_000_000;

/// How much of builds is kept for other runs, in bytes.
pub const CACHE: u64 = 256 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_tells_every_bound() {
        let guide = include_str!("../docs/limits.md");
        let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
        let number = |number: usize| {
            let text = number.to_string();
            match text.len() {
                ..=3 => text,
                length => format!("{},{}", &text[..length - 3], &text[length - 3..]),
            }
        };
        for (what, bound) in [
            ("a file of the repository", mib(FILE)),
            ("windows.yaml", mib(SPEC as u64)),
            ("depth of windows.yaml", number(SPEC_DEPTH)),
            ("values in windows.yaml, aliases expanded", number(SPEC_NODES)),
            ("nodes for which the aliases of a YAML document stand", "1,000,000".to_owned()),
            ("depth of YAML", number(YAML_DEPTH)),
            ("events of a calendar file", number(CALENDAR_EVENTS)),
            ("open times in a table", number(TABLE_LINES)),
            ("a table of open times, with the remarks in it", mib(TABLE_BYTES as u64)),
            ("characters of a reason in a table", number(TABLE_REASON)),
            ("Flux Kustomizations that bring each other", number(KUSTOMIZATIONS_DEPTH)),
            ("Flux Kustomizations of a cluster", number(KUSTOMIZATIONS)),
            ("memory of a build", mib(BUILD_MEMORY as u64)),
            ("memory of all builds together", mib(BUILDS_MEMORY as u64)),
            ("processor time of a build", format!("{} s", BUILD_TIME.as_secs())),
            ("objects that a build gives, as JSON", mib(BUILD_ANSWER as u64)),
            ("variables of a text within each other", number(SUBSTITUTED_DEPTH)),
            ("an object with the values of its variables", mib(SUBSTITUTED as u64)),
            ("steps of the patterns in the variables of an object", "10,000,000".to_owned()),
            ("builds side by side", number(BUILDS_AT_ONCE)),
            ("builds kept for the next run", mib(CACHE)),
        ] {
            assert!(guide.contains(&format!("| {what} | {bound} |")), "{what}: {bound}");
        }
        assert_eq!((ALIASED_NODES, SUBSTITUTED_STEPS), (1_000_000, 10_000_000));
    }
}
