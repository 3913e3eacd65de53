//! Words inside of a comment: nothing foreign in them mentions, links or formats.

use crate::diff::clean;
use crate::schedule::zone;

/// Writes text as code, where nothing of it means anything: no mention, link, HTML, emphasis or end of a table's cell.
///
/// Backticks and bars become look-alikes, since not every forge knows how to escape them there.
pub fn code(text: &str) -> String {
    let text: String = clean(text.as_bytes()).chars().map(harmless).collect();
    if text.trim().is_empty() { "(empty)".to_owned() } else { format!("`{}`", text.trim()) }
}

fn harmless(character: char) -> char {
    match character {
        '`' => 'ˋ',
        '|' => '¦',
        '\t' => ' ',
        other => other,
    }
}

/// Writes the tool's own words, and names among them, outside of code.
pub fn plain(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || " ,:;-+—…()".contains(c);
    let told = |word: &str| -> String {
        match is_zone(word.trim_end_matches([' ', ',', ';', ')'])) {
            true => word.to_owned(),
            false => word.chars().map(|c| if is_plain(c) { c } else { '·' }).collect(),
        }
    };
    clean(text.as_bytes()).split_inclusive(' ').map(told).collect()
}

/// Returns whether a word is the name of a time zone such as `Europe/Berlin`, in which nothing means anything else.
fn is_zone(word: &str) -> bool {
    word.contains('/') && zone::exact(word).is_some()
}

/// Writes a sentence in which names may stand: what is between backticks, and each word that is not plain, as code.
///
/// A plain word is one of ASCII letters, with single `-` or `'` inside, or a number, a date or a time. Without code
/// at all, a forge could take `@name`, `#1` or `GH-1` for its own.
pub fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut push = |text: &str| {
        // Two pieces of code side by side would be none.
        let is_between = text.starts_with('`') && out.ends_with('`');
        if is_between || (text == " " && !out.is_empty() && !out.ends_with(' ')) {
            out.push(' ');
        }
        out.push_str(text.trim());
    };
    for (piece, is_quoted) in quoted(text) {
        if is_quoted {
            push(&code(piece));
            continue;
        }
        for part in piece.split_inclusive(char::is_whitespace) {
            push(&word(&clean(part.trim().as_bytes())));
            if part.ends_with(char::is_whitespace) {
                push(" ");
            }
        }
    }
    out.trim().to_owned()
}

/// Divides a text at its backticks: what stands between two of them is quoted; behind a last one without a partner
/// nothing is.
pub fn quoted(text: &str) -> Vec<(&str, bool)> {
    let pieces: Vec<&str> = text.split('`').collect();
    let last = pieces.len() - 1;
    let pieces = pieces.into_iter().enumerate().map(|(at, piece)| (piece, at % 2 == 1 && at < last));
    pieces.filter(|(piece, _)| !piece.is_empty()).collect()
}

/// Writes one word, with the punctuation around it outside of code.
fn word(text: &str) -> String {
    let inner = text.trim_end_matches(|c: char| ",;:.!?)".contains(c));
    let (inner, end) = text.split_at(inner.len());
    let end = if end.len() > 2 { &end[..2] } else { end };
    let (begin, word) = inner.strip_prefix('(').map_or(("", inner), |word| ("(", word));
    if word.is_empty() || is_plain(word) || is_zone(word) {
        format!("{begin}{word}{end}")
    } else {
        format!("{begin}{}{end}", code(word))
    }
}

fn is_plain(word: &str) -> bool {
    let is_word = |part: &str| !part.is_empty() && part.bytes().all(|letter| letter.is_ascii_alphabetic());
    let is_number =
        |part: &str| (1..=4).contains(&part.len()) && part.bytes().all(|digit| digit.is_ascii_digit());
    word.split(['-', '\'']).all(is_word) || word.split(['-', ':']).all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_sentences_are_code_and_words_are_not() {
        let told = |text: &str| prose(text);
        assert_eq!(
            told("it waits until Sat 2026-11-28 22:00 Europe/Berlin; then it's late"),
            "it waits until Sat 2026-11-28 22:00 Europe/Berlin; then it's late"
        );
        assert_eq!(plain("22:00 America/New_York, a/b (`c`)"), "22:00 America/New_York, a·b (·c·)");
        assert_eq!(
            told("annotate it `x.io/prune: disabled`, and merge."),
            "annotate it `x.io/prune: disabled`, and merge."
        );
        assert_eq!(
            told("a/b goes: see @all, #1 and GH-1 www.x.example"),
            "`a/b` goes: see `@all`, `#1` and `GH-1` `www.x.example`"
        );
        assert_eq!(told("one ` alone *and* <b> :smile: 1) --"), "one alone `*and*` `<b>` `:smile`: 1) `--`");
        assert_eq!(
            told("(from `a` until 2026-11-28, Sat 22:00)."),
            "(from `a` until 2026-11-28, Sat 22:00)."
        );
        assert_eq!(told("apps-rw  in\n# edge_01"), "apps-rw in `#` `edge_01`");
    }
}
