//! The words of a command, as flags and what is none.

/// Flags of the two programs that take the next word as their value.
const VALUE_FLAGS: [&str; 26] = [
    "-n",
    "--namespace",
    "-p",
    "--patch",
    "--type",
    "--field-manager",
    "--context",
    "--kubeconfig",
    "--timeout",
    "--cluster",
    "--user",
    "--token",
    "--as",
    "-o",
    "--output",
    "--reason",
    "--patch-file",
    "-l",
    "--selector",
    "-s",
    "--server",
    "-v",
    "--v",
    "-f",
    "--filename",
    "--request-timeout",
];

/// Cuts a short flag from a value that follows in the same word, as in `-nflux-system`.
fn attached(word: &str) -> Option<(&str, &str)> {
    let is_short = VALUE_FLAGS.iter().any(|flag| flag.len() == 2 && word.starts_with(flag));
    let (flag, value) = word.split_at_checked(2).filter(|(_, value)| is_short && !value.is_empty())?;
    Some((flag, value.strip_prefix('=').unwrap_or(value)))
}

/// A command line after its program.
pub(super) struct Line {
    /// The words that are no flags, in order.
    pub(super) positional: Vec<String>,
    /// The flags with their values; a flag that takes none has an empty one.
    flags: Vec<(String, String)>,
}

impl Line {
    /// Cuts the words; what follows a flag without `=` is its value where the flag takes one.
    pub(super) fn parse(words: &[String]) -> Line {
        let mut line = Line { positional: Vec::new(), flags: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if let Some((flag, value)) = attached(word) {
                line.flags.push((flag.to_owned(), value.to_owned()));
            } else if let Some((flag, value)) = word.split_once('=').filter(|_| word.starts_with('-')) {
                line.flags.push((flag.to_owned(), value.to_owned()));
            } else if VALUE_FLAGS.contains(&word.as_str()) {
                line.flags.push((word.clone(), words.next().cloned().unwrap_or_default()));
            } else if word.starts_with('-') && word.len() > 1 {
                line.flags.push((word.clone(), String::new()));
            } else {
                line.positional.push(word.clone());
            }
        }
        line
    }

    /// Returns the value of the first flag that has one of these names.
    pub(super) fn flag(&self, names: [&str; 2]) -> Option<&str> {
        self.flags.iter().find(|(flag, _)| names.contains(&flag.as_str())).map(|(_, value)| value.as_str())
    }

    /// Returns the namespace that it names.
    pub(super) fn namespace(&self) -> Option<&str> {
        self.flag(["-n", "--namespace"])
    }
}
