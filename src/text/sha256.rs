//! Checksums.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of some bytes in lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
