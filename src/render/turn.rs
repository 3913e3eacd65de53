//! Large builds take turns, so that all builds together stay within a bound.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::limit::{BUILD_MEMORY, BUILDS_MEMORY, SMALL_BUILD};

/// How many builds may be large at once.
#[derive(Debug)]
pub(super) struct Turns {
    free: Mutex<usize>,
    ended: Condvar,
}

/// A build's permission to be large, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn(Arc<Turns>);

impl Turns {
    /// Lets as many of so many builds side by side be large as there is memory for, and at least one.
    pub(super) fn of(builds: usize) -> Arc<Turns> {
        let free = Mutex::new(turns(builds));
        Arc::new(Turns { free, ended: Condvar::new() })
    }

    /// Waits until one more build may be large.
    pub(super) fn take(self: &Arc<Turns>) -> Turn {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let free = self.ended.wait_while(free, |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Turn(Arc::clone(self))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.ended.notify_one();
    }
}

const fn turns(builds: usize) -> usize {
    let left = BUILDS_MEMORY.saturating_sub(builds * SMALL_BUILD);
    match left / (BUILD_MEMORY - SMALL_BUILD) {
        0 => 1,
        turns if turns > builds => builds,
        turns => turns,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::limit::BUILDS_AT_ONCE;

    #[test]
    fn all_builds_together_stay_within_the_bound() {
        for builds in 1..=BUILDS_AT_ONCE {
            let large = turns(builds);
            let most = large * BUILD_MEMORY + (builds - large) * SMALL_BUILD;
            assert!(large > 0 && most <= BUILDS_MEMORY, "{builds} builds, {large} of them large: {most}");
        }
        assert_eq!(turns(2), 2, "two large builds fit side by side");
    }

    #[test]
    fn a_large_build_waits_until_another_one_has_ended() {
        let turns = Turns::of(BUILDS_AT_ONCE);
        let first = turns.take();
        let (told, heard) = mpsc::channel();
        let other = Arc::clone(&turns);
        let thread = std::thread::spawn(move || {
            let turn = other.take();
            told.send(()).unwrap();
            drop(turn);
        });
        assert!(heard.recv_timeout(Duration::from_millis(100)).is_err(), "it did not wait");
        drop(first);
        heard.recv_timeout(Duration::from_secs(60)).unwrap();
        thread.join().unwrap();
    }
}
