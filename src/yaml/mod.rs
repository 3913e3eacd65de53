//! Placeholder replaced by the module's own change.
