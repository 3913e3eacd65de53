//! The forms of an answer.

use clap::ValueEnum;

/// The forms in which a difference can be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people, coloured on a terminal
    #[default]
    Unified,
    /// For `git apply`
    Patch,
    /// For the comment on a pull request
    Markdown,
    /// For programs
    Json,
}

/// The forms in which a question is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Answer {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// The forms of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}
