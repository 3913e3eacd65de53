//! What git leaves where two sides of a merge differ.

use std::ops::Range;

/// How long a mark is.
const LENGTH: usize = 7;

/// Returns the first mark of a merge conflict in a text; a parser stumbles over what follows it. One that was resolved by halves
/// has a single mark left.
pub fn conflict(text: &str) -> Option<Range<usize>> {
    let mut lines = text.split_inclusive('\n').scan(0, |at, line| {
        *at += line.len();
        Some((*at - line.len(), line))
    });
    let is_mark = |line: &str| {
        let line = line.trim_start_matches('\u{feff}');
        let rest = ["<<<<<<<", ">>>>>>>", "|||||||"].iter().find_map(|mark| line.strip_prefix(mark));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\r', '\n']))
            || line.trim_end() == "======="
    };
    let (start, _) = lines.find(|(_, line)| is_mark(line))?;
    Some(start..(start + LENGTH).min(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_wherever_it_stands() {
        let found = |text: &str| conflict(text).map(|mark| mark.start);
        for text in ["<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", "a: 1\n<<<<<<<\r\n", "a: 1\n=======\nb: 2\n"]
        {
            assert_eq!(found(text), text.find(['<', '=']), "{text}");
        }
        assert_eq!(found("a: 1\n>>>>>>> x\n"), Some(5));
        for text in ["a: |\n  <<<<<<< x\n", "<<<<<<<< x\n", "a: =======\n", "# =======\n", "========\n"] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
