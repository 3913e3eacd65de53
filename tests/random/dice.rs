//! Numbers from a seed, and the features that a repository may have.

/// What a repository may have beside the plainest of apps. A failure is shrunk by taking these away
/// one by one; the others then stay as they are.
pub const FEATURES: [&str; 59] = [
    "anchors",
    "annotation-type",
    "bases-field",
    "binary-file",
    "broken",
    "byte-order-mark",
    "comments",
    "common-annotations",
    "common-labels",
    "component",
    "component-with-objects",
    "configurations",
    "crlf",
    "delete-patch",
    "executable",
    "flow-lists",
    "flux-components",
    "flux-fields",
    "flux-file",
    "flux-generated",
    "folder-names",
    "generator",
    "generator-file",
    "generator-options",
    "group-folder",
    "helm-release",
    "images",
    "indented",
    "inline-patch",
    "json-patch",
    "kind-list",
    "labels",
    "large-rules",
    "link-to-file",
    "link-to-folder",
    "loose-file",
    "merge-generator",
    "mixed-line-ends",
    "multi-document",
    "name-prefix",
    "name-suffix",
    "namespace-field",
    "namespace-object",
    "nested-folder",
    "no-final-newline",
    "old-patches",
    "own-generator",
    "patch-file",
    "replacements",
    "replicas",
    "secret-generator",
    "shared-entry",
    "sops",
    "three-types",
    "transformer-file",
    "validator-file",
    "variants",
    "vars",
    "widget",
];

/// Which features a repository may have, in the order of [`FEATURES`].
pub type Switches = Vec<bool>;

/// A small generator of numbers (splitmix64): the same seed gives the same repository for ever.
#[derive(Clone)]
pub struct Dice(u64);

impl Dice {
    /// Begins anew for each place, so that what one place draws moves no other.
    pub fn at(seed: u64, place: &str) -> Dice {
        // FNV-1a.
        let hash = place.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Once in so many times.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Puts items in any order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}
