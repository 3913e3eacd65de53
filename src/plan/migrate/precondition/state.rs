//! The preconditions of any step.

use crate::delivery::Input;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::precondition::{crowd, double, folder, identity, suspension, twin};
use crate::plan::problem::Problem;

/// A precondition of any step. It is a function of what Git says.
pub type Precondition = fn(&Input<'_>, &Move<'_>) -> Option<Problem>;

/// All of them, in the order in which people are told, one at a time.
pub const PRECONDITIONS: [Precondition; 6] =
    [folder::check, twin::check, identity::check, double::check, suspension::check, crowd::check];

/// Returns what is wrong with the Flux Kustomizations of an entry point, whatever its next step is.
pub fn problem(input: &Input<'_>, one: &Move<'_>) -> Option<Problem> {
    PRECONDITIONS.iter().find_map(|precondition| precondition(input, one))
}
