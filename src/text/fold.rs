//! Lines that fit the terminal.

/// Writes pieces, separated by spaces, in lines of at most `width` characters where the pieces allow that.
///
/// Lines after the first begin with `indent` spaces. A piece is never cut: one that is too wide gets a line of its
/// own. The last line has no line ending.
pub(crate) fn fold<'p>(pieces: impl IntoIterator<Item = &'p str>, width: usize, indent: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    for piece in pieces {
        let length = piece.chars().count();
        if used > indent && used + 1 + length > width {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent));
            used = indent;
        } else if used > 0 {
            text.push(' ');
            used += 1;
        }
        text.push_str(piece);
        used += length;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_pieces() {
        assert_eq!(fold(["a", "b", "c"], 3, 1), "a b\n c");
        assert_eq!(fold(["long piece", "b", "c"], 5, 2), "long piece\n  b c");
        assert_eq!(fold(["äöü", "ß"], 5, 2), "äöü ß");
        assert_eq!(fold([], 5, 2), "");
    }
}
