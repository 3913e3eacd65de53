//! A renderer that tests lend each other.

use std::sync::{LazyLock, Mutex, PoisonError};

use crate::render::Embedded;
use crate::render::forward::forward;

/// The embedded kustomize for one test, given on when the value goes.
///
/// An instance takes longer to start than most tests have to build. It answers the same whatever it built
/// before, and what another test has built is not built again.
pub struct Lent(Embedded);

/// Those that no test has at the moment. All know the same builds; each has instances of its own.
static FREE: Mutex<Vec<Embedded>> = Mutex::new(Vec::new());

impl Lent {
    fn free() -> std::sync::MutexGuard<'static, Vec<Embedded>> {
        FREE.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Lent {
    fn default() -> Lent {
        static FIRST: LazyLock<Embedded> = LazyLock::new(Embedded::default);
        let free = Lent::free().pop();
        Lent(free.unwrap_or_else(|| FIRST.beside()))
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        Lent::free().push(self.0.clone());
    }
}

forward!(Lent);
