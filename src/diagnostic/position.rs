//! Lines and columns.

/// Returns the line and the column of a byte offset, both counted from 1, the column in characters.
///
/// A byte order mark takes no column, and CRLF ends a line as LF does. An offset inside of a
/// character stands for its beginning, and one behind the text for the text's end.
///
/// ```
/// use gitops_windows::diagnostic::line_column;
/// assert_eq!(line_column("\u{feff}a: ä€x\r\nb: 1\r\n", 11), (1, 6));
/// assert_eq!(line_column("a: 1\r\nb: 2\r\n", 9), (2, 4));
/// ```
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let offset = text.floor_char_boundary(offset);
    let before = &text[..offset];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let mut column = before[start..].chars().count();
    if start == 0 && before.starts_with('\u{feff}') {
        column -= 1;
    }
    if before[start..].ends_with('\r') && text[offset..].starts_with('\n') {
        column -= 1;
    }
    (line, column + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters_and_marks_are_none() {
        let text = "\u{feff}ä: 1\nb: 2";
        assert_eq!(line_column(text, 0), (1, 1));
        assert_eq!(line_column(text, 3), (1, 1));
        assert_eq!(line_column(text, 4), (1, 1));
        assert_eq!(line_column(text, 5), (1, 2));
        assert_eq!(line_column(text, text.find('b').unwrap()), (2, 1));
        assert_eq!(line_column(text, 9999), (2, 5));
    }

    #[test]
    fn the_end_of_a_crlf_line_is_one_place() {
        assert_eq!(line_column("a\r\nb", 1), (1, 2));
        assert_eq!(line_column("a\r\nb", 2), (1, 2));
        assert_eq!(line_column("a\r\nb", 3), (2, 1));
    }

    #[test]
    fn an_empty_text_has_a_first_place() {
        assert_eq!(line_column("", 0), (1, 1));
        assert_eq!(line_column("", 7), (1, 1));
    }
}
