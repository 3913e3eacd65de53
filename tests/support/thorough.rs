//! How much of what is made by chance or by combination is tried.

/// Returns whether all of it is to be tried, as `.ci/run` does.
pub fn is_thorough() -> bool {
    std::env::var_os("GITOPS_WINDOWS_TEST_THOROUGH").is_some()
}

/// Takes one of so many, from all over; all of them where tests are to be thorough.
pub fn some<T>(all: impl IntoIterator<Item = T>, of: usize) -> impl Iterator<Item = T> {
    all.into_iter().step_by(if is_thorough() { 1 } else { of })
}
