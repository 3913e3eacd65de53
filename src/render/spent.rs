//! How much time a thread has worked: on a busy machine a build may take long and be small.

use std::time::Duration;

/// Returns the processor time of this thread.
#[cfg(unix)]
pub(super) fn spent() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(u64::try_from(time.tv_sec).unwrap_or_default(), nanoseconds)
}

/// Returns the time since this was first asked, where the system tells no processor time of threads.
#[cfg(not(unix))]
pub(super) fn spent() -> Duration {
    static BEGUN: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    BEGUN.elapsed()
}
