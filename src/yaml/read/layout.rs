//! What the parser's events don't tell and its tokens do.

use std::collections::HashMap;

use granit_parser::TokenType;

use super::source::Source;
use crate::yaml::lines;

/// What the events don't tell: where dashes stand and where block scalars' headers may begin.
pub(super) struct Layout {
    pub(super) dashes: std::vec::IntoIter<usize>,
    pub(super) headers: HashMap<usize, usize>,
}

impl Layout {
    pub(super) fn scan(source: &Source<'_>) -> Layout {
        let mut dashes = Vec::new();
        let mut headers = HashMap::new();
        let mut previous = 0;
        for token in source.tokens() {
            let span = source.range(token.span());
            match token.token_type() {
                TokenType::BlockEntry => dashes.push(lines::dash_before(source.text, previous, span.start)),
                TokenType::Scalar(
                    granit_parser::ScalarStyle::Literal | granit_parser::ScalarStyle::Folded,
                    _,
                ) => {
                    headers.insert(span.start, previous);
                }
                _ => {}
            }
            previous = previous.max(span.end);
        }
        Layout { dashes: dashes.into_iter(), headers }
    }
}
