//! How many builds there were.

use std::fmt;

/// What a renderer was asked for, and what it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Builds that were asked for.
    pub asked: usize,
    /// Distinct builds among them and those that were made ahead: other files, or other fields.
    pub distinct: usize,
    /// Builds that were made; one that is wanted without origins first and with origins later is made twice.
    pub made: usize,
    /// Builds asked for that were made before in this run.
    pub remembered: usize,
    /// Builds that other runs have kept.
    pub kept: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { asked, distinct, made, remembered, kept } = self;
        write!(
            formatter,
            "{asked} asked for, {distinct} distinct, {made} made, {remembered} from memory, {kept} from the cache"
        )
    }
}
