//! The one error type and the exit codes that it stands for.

use crate::diagnostic::Diagnostic;

/// Why a command stopped; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line asks for something that does not exist: exit code 2.
    Usage,
    /// The spec or the repository is invalid, or reading or writing failed: exit code 3.
    Invalid,
    /// A generated file was edited by hand, the plan is stale, or the tree is dirty: exit code 4.
    Conflict,
    /// The result could not be proven right: exit code 5, and nothing was written.
    Unsafe,
    /// A bug of this program: exit code 70.
    Bug,
}

/// A failure with everything that is to be said about it.
///
/// All problems of one stage are reported at once, so an error holds a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Decides the exit code.
    pub kind: ErrorKind,
    /// At least one; the first is the headline.
    pub diagnostics: Vec<Diagnostic>,
}

impl Error {
    /// Makes an error of one diagnostic.
    pub fn new(kind: ErrorKind, diagnostic: Diagnostic) -> Error {
        Error { kind, diagnostics: vec![diagnostic] }
    }

    /// Makes an [`ErrorKind::Invalid`] of one diagnostic.
    pub fn invalid(diagnostic: Diagnostic) -> Error {
        Error::new(ErrorKind::Invalid, diagnostic)
    }

    /// Returns the process exit code.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            ErrorKind::Usage => 2,
            ErrorKind::Invalid => 3,
            ErrorKind::Conflict => 4,
            ErrorKind::Unsafe => 5,
            ErrorKind::Bug => 70,
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.diagnostics.first() {
            Some(first) => f.write_str(&first.message),
            None => f.write_str("unknown error"),
        }
    }
}

impl std::error::Error for Error {}
