//! Lines of a text by byte offset, with every kind of line break.

use std::ops::Range;

/// Returns the range of the one character at `at`, for an error to point at.
pub(crate) fn char_at(text: &str, at: usize) -> Range<usize> {
    let mut start = at.min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let length = text[start..].chars().next().map_or(0, char::len_utf8);
    start..start + length
}

/// Returns the start of the line that holds `at`.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |index| index + 1)
}

/// Returns the end of the line that holds `at`, without its line break.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find(['\n', '\r']).map_or(text.len(), |index| at + index)
}

/// Returns the start of the line after the one that holds `at`.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    let end = line_end(text, at);
    end + line_break_at(text, end).len()
}

/// Returns the line break that stands at `at`; empty if none does.
pub(crate) fn line_break_at(text: &str, at: usize) -> &'static str {
    match text.as_bytes().get(at..).unwrap_or_default() {
        [b'\r', b'\n', ..] => "\r\n",
        [b'\r', ..] => "\r",
        [b'\n', ..] => "\n",
        _ => "",
    }
}

/// Returns the line break to write beside `at`: that of its line, else of the line before, else LF.
pub(crate) fn line_break_near(text: &str, at: usize) -> &'static str {
    let own = line_break_at(text, line_end(text, at));
    if !own.is_empty() {
        return own;
    }
    let before = line_start(text, at);
    match &text.as_bytes()[..before] {
        [.., b'\r', b'\n'] => "\r\n",
        [.., b'\r'] => "\r",
        _ => "\n",
    }
}

/// Steps over a byte order mark at `at`.
pub(crate) fn without_bom(text: &str, at: usize) -> usize {
    if text[at..].starts_with('\u{feff}') { at + '\u{feff}'.len_utf8() } else { at }
}

/// Steps over spaces and tabs.
pub(crate) fn skip_blanks(text: &str, at: usize) -> usize {
    at + text[at..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Returns whether the text from `at` to the end of its line is blank or a comment.
pub(crate) fn rest_is_comment(text: &str, at: usize) -> bool {
    let from = skip_blanks(text, at);
    from == line_end(text, at)
        || (text[from..].starts_with('#') && (from > at || from == line_start(text, at)))
}

/// Returns where a document's content begins after its `---`.
pub(crate) fn content_after_marker(text: &str, marker_end: usize) -> usize {
    if rest_is_comment(text, marker_end) { next_line(text, marker_end) } else { marker_end }
}

/// Returns the offset after the colon that follows a key on the key's line.
pub(crate) fn after_colon(text: &str, key_end: usize) -> Option<usize> {
    let at = skip_blanks(text, key_end);
    text[at..].starts_with(':').then_some(at + 1)
}

/// Finds the dash of a block entry: `mark` is behind it on its line, `previous` where the token before
/// it ends.
pub(crate) fn dash_before(text: &str, previous: usize, mark: usize) -> usize {
    let from = previous.max(without_bom(text, line_start(text, mark))).min(mark);
    from + text[from..mark].bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'?' | b':')).count()
}

/// Returns whether one of the blank lines right below `at` holds a tab.
pub(crate) fn tab_line_follows(text: &str, at: usize) -> bool {
    let mut line = if line_start(text, at) == at { at } else { next_line(text, at) };
    while line < text.len() {
        let end = line_end(text, line);
        if skip_blanks(text, line) != end {
            return false;
        }
        if text[line..end].contains('\t') {
            return true;
        }
        line = next_line(text, line);
    }
    false
}

/// Where a block scalar stands, header included.
pub(crate) struct BlockScalar {
    /// From `|` or `>` to the end of the last line of text; with `+` to the end of the blank lines.
    pub(crate) span: Range<usize>,
    /// Whether the text ends within the last line, so that the value has no line break there.
    pub(crate) unterminated: bool,
}

/// Finds a block scalar's bytes: `after` is where its header may begin at the earliest, `content`
/// what the parser says of its text, `indent` the width of its indentation.
pub(crate) fn block_scalar(
    text: &str,
    after: usize,
    content: &Range<usize>,
    indent: Option<usize>,
) -> BlockScalar {
    let mut header = after.min(content.start);
    while header < content.start {
        match text.as_bytes()[header] {
            b'#' => header = line_end(text, header),
            b'|' | b'>' => break,
            _ => header += 1,
        }
    }
    let header_end = line_end(text, header);
    let indicators: String = text[header..header_end].chars().take_while(|c| !c.is_whitespace()).collect();
    let keep = indicators.contains('+');
    // Without any text all of it is indentation.
    let no_text = indent.is_none();
    let indent = indent.unwrap_or(usize::MAX);
    let mut end = content.end.max(header_end);
    let mut unterminated = false;
    if end == text.len() && !text.ends_with(['\n', '\r']) && end > header_end {
        let last = line_start(text, end);
        let alone = no_text && line_start(text, last - 1) <= header;
        unterminated = alone || !is_blank_line(&text[last..end], indent);
    }
    if keep {
        end = strip_line_break(text, header_end, end);
    } else {
        while end > header_end && is_blank_line(&text[line_start(text, end).max(header_end)..end], indent) {
            let start = line_start(text, end);
            if start <= header_end {
                break;
            }
            end = strip_line_break(text, header_end, start);
        }
    }
    if end <= header_end {
        end = header + indicators.len();
    }
    BlockScalar { span: header..end, unterminated }
}

fn is_blank_line(line: &str, indent: usize) -> bool {
    line.len() <= indent.max(1) && line.bytes().all(|byte| byte == b' ') || line.is_empty()
}

fn strip_line_break(text: &str, least: usize, end: usize) -> usize {
    match &text.as_bytes()[least..end] {
        [.., b'\r', b'\n'] => end - 2,
        [.., b'\n' | b'\r'] => end - 1,
        _ => end,
    }
}
