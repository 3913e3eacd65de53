//! Who waits for which window: clusters, types and Flux Kustomizations brought together with schedules.
//!
//! Nothing here reads a clock. Equal windows share one [`GateSchedule`], so that a thousand clusters with the
//! same window cost one search.
mod gate_state;
mod name;
mod reach;
mod schedule;
mod sides;

pub use gate_state::GateState;
pub use name::KustomizationName;
pub use reach::reached_by;
pub use schedule::{GateSchedule, GateTimes, Schedules};
pub use sides::{Awaited, Fleet, Part, Side, Undivided};
