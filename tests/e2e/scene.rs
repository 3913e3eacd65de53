//! A scene: one fact, shown on a real Flux.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::binaries::Binaries;
use crate::fleet::Fleet;
use crate::report;

/// What is shown, and how.
pub struct Scene {
    /// The name, by which `docs/facts.md` speaks of it.
    pub name: &'static str,
    /// Plays it.
    pub play: fn(&mut Fleet),
}

static TIMES: Mutex<Vec<(&str, f64)>> = Mutex::new(Vec::new());

impl Scene {
    /// Plays the scene on a fleet of its own, which vanishes whatever happens.
    ///
    /// # Panics
    ///
    /// When the scene does, after all was printed that tells why.
    pub fn run(&self) {
        static BINARIES: OnceLock<Arc<Binaries>> = OnceLock::new();
        let binaries = BINARIES.get_or_init(|| Arc::new(Binaries::ready()));
        let start = Instant::now();
        let mut fleet = Fleet::new(binaries);
        let played = catch_unwind(AssertUnwindSafe(|| (self.play)(&mut fleet)));
        let times = TIMES.lock();
        times.unwrap_or_else(PoisonError::into_inner).push((self.name, start.elapsed().as_secs_f64()));
        if let Err(panic) = played {
            // Scenes run side by side: one report at a time.
            static TURN: Mutex<()> = Mutex::new(());
            let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
            eprintln!("=== {} failed", self.name);
            report::print(&fleet);
            resume_unwind(panic);
        }
    }
}

/// Prints how long each scene took.
pub fn print_times() {
    for (name, seconds) in TIMES.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        println!("scene: {name}: {seconds:.0} s");
    }
}
