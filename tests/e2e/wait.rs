//! Waiting for a state, with a deadline.

use std::thread;
use std::time::{Duration, Instant};

/// How long something that needs nothing but work may take on a machine with much else to do.
pub const WORK: Duration = Duration::from_secs(300);

/// Asks again and again until there is an answer, and gives up after `limit`.
#[track_caller]
pub fn until<T>(what: &str, limit: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < limit, "waited {} s in vain: {what}", limit.as_secs());
        thread::sleep(Duration::from_millis(100));
    }
}

/// Makes sure that something stays true as long as `ended` does not say that it is over.
#[track_caller]
pub fn holds(what: &str, limit: Duration, mut ended: impl FnMut() -> bool, mut holds: impl FnMut() -> bool) {
    until(what, limit, || {
        assert!(holds(), "did not hold: {what}");
        ended().then_some(())
    });
}
