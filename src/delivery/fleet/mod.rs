//! Who waits for which window: clusters, types and Flux Kustomizations brought together with schedules.
//!
//! Nothing here reads a clock. Equal windows share one [`GateSchedule`], so that a thousand clusters with the
//! same window cost one search.
mod arriving;
mod elsewhere;
mod gate_state;
mod idle;
mod in_git;
mod name;
mod reach;
mod schedule;
mod schedules;
mod sides;
mod wait;

pub use arriving::gates_within;
pub use gate_state::GateState;
pub use in_git::window_of;
pub use name::KustomizationName;
pub use reach::{others_reading, reached_by};
pub use schedule::{GateSchedule, GateTimes};
pub use schedules::Schedules;
pub use sides::{Awaited, Fleet, Part, Side, Undivided};
