//! Names of anchors, which end where Go ends them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use granit_parser::{Scanner, Span, StrInput, Token, TokenType};

/// A text as the parser takes it, and where each of its bytes stands in the file.
///
/// The name of an anchor is of letters, digits, `_` and `-` for Go's readers, so the alias in `*app: x` is a key
/// (libyaml's and go-yaml's `yaml_parser_scan_anchor`). As YAML 1.2 has it, which the parser follows, the colon is part
/// of the name. A space in front of such a colon makes both read the same.
pub(super) struct Source<'a> {
    /// The text as it stands in the file.
    pub(super) text: &'a str,
    parsed: Cow<'a, str>,
    /// Where the added spaces stand in what is parsed.
    spaces: Vec<usize>,
}

impl<'a> Source<'a> {
    /// Makes of a text what the parser reads as Go does.
    pub(super) fn new(text: &'a str) -> Source<'a> {
        let colons = colons(text);
        if colons.is_empty() {
            return Source { text, parsed: Cow::Borrowed(text), spaces: Vec::new() };
        }
        // In a comment or scalar a space changes no structure, so one scan tells which of them are names.
        let all = Source::widened(text, &colons);
        let names = all.names();
        let mut spaces = all.spaces.iter();
        let found: Vec<usize> =
            colons.into_iter().filter(|_| spaces.next().is_some_and(|space| names.contains(space))).collect();
        if found.len() == all.spaces.len() { all } else { Source::widened(text, &found) }
    }

    fn widened(text: &'a str, colons: &[usize]) -> Source<'a> {
        let mut parsed = String::with_capacity(text.len() + colons.len());
        let mut from = 0;
        for colon in colons {
            parsed.push_str(&text[from..*colon]);
            parsed.push(' ');
            from = *colon;
        }
        parsed.push_str(&text[from..]);
        let spaces = colons.iter().enumerate().map(|(before, colon)| before + colon).collect();
        Source { text, parsed: Cow::Owned(parsed), spaces }
    }

    /// Returns what the parser is to read.
    pub(super) fn parsed(&self) -> &str {
        &self.parsed
    }

    /// Returns where something that the parser tells of stands in the file.
    pub(super) fn range(&self, span: Span) -> Range<usize> {
        // Markers of a text always have byte offsets; an empty range at 0 can't mislead an edit, which
        // is verified.
        let range = span.byte_range().unwrap_or(0..0);
        self.offset(range.start)..self.offset(range.end)
    }

    /// Returns where a byte of what is parsed stands in the file.
    pub(super) fn offset(&self, parsed: usize) -> usize {
        parsed - self.spaces.partition_point(|space| *space < parsed)
    }

    /// Returns the tokens of what is parsed, up to the first error: the parser reports the same with more context.
    pub(super) fn tokens(&self) -> impl Iterator<Item = Token<'_>> {
        let mut options = granit_parser::Options::default();
        options.set_emit_comments(false);
        Scanner::with_options(StrInput::new(&self.parsed), options).map_while(Result::ok)
    }

    /// Returns where the names of anchors and aliases end in what is parsed.
    fn names(&self) -> HashSet<usize> {
        self.tokens()
            .filter(|token| matches!(token.token_type(), TokenType::Alias(_) | TokenType::Anchor(_)))
            .filter_map(|token| token.span().byte_range().map(|range| range.end))
            .collect()
    }
}

/// Returns the colons that end what looks like the name of an anchor or alias.
fn colons(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let begins = |at: usize| {
        matches!(bytes[at], b'*' | b'&')
            && at.checked_sub(1).is_none_or(|before| {
                matches!(bytes[before], b' ' | b'\t' | b'\n' | b'\r' | b'[' | b'{' | b',')
                    || text[..at].ends_with('\u{feff}')
            })
    };
    (0..bytes.len())
        .filter(|at| begins(*at))
        .filter_map(|at| {
            let name = bytes[at + 1..]
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
                .count();
            let colon = at + 1 + name;
            let ends = bytes.get(colon) == Some(&b':')
                && bytes.get(colon + 1).is_none_or(|next| matches!(next, b' ' | b'\t' | b'\n' | b'\r'));
            (name > 0 && ends).then_some(colon)
        })
        .collect()
}
