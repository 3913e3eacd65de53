//! Remedies behind an arrow.

use crate::diagnostic::numbered;
use crate::text::fold;

/// Writes the steps of a remedy in lines of at most `width` characters: the first stands behind an arrow, the others below its
/// text, and what is too long for a line below the text of its own step.
pub(crate) fn pointed(remedy: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for step in numbered(remedy).lines() {
        let number = step.split_once(". ").map(|(number, _)| number);
        let number = number.filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
        let hang = number.map_or(0, |number| number.len() + 2);
        for line in fold(step.split(' '), width.saturating_sub(2), hang).lines() {
            let lead = if lines.is_empty() { "→ " } else { "  " };
            lines.push(format!("{lead}{line}"));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_stand_below_each_other() {
        assert_eq!(pointed("commit it\nwait", 80), ["→ 1. commit it", "  2. wait"]);
        assert_eq!(pointed("commit it\nor take it back", 80), ["→ commit it", "  or take it back"]);
        let folded = ["→ 1. commit", "     it", "  2. wait"];
        assert_eq!(pointed("commit it\nwait", 12), folded);
    }
}
