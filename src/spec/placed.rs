//! A value that remembers where in the file it was written.

use std::ops::{Deref, Range};

use crate::diagnostic::Place;

/// A value read from a file, with its place there.
///
/// Two of them are equal when their values are: where something is written is no part of what it
/// means. The value's own methods are reached directly, as through a reference.
#[derive(Clone, Debug)]
pub struct Placed<T> {
    /// What was read.
    pub value: T,
    /// Where it was read; the file as a whole for a default.
    pub place: Place,
}

impl<T> Placed<T> {
    /// Puts a value and its place together.
    pub fn new(value: T, place: Place) -> Placed<T> {
        Placed { value, place }
    }
}

impl Placed<String> {
    /// Points at a byte range of the value, for example at one field of a cron expression.
    ///
    /// Where the file writes the value with escapes or over several lines, a range of the value
    /// has no counterpart there, and the whole scalar is pointed at.
    pub fn within(&self, range: Range<usize>) -> Place {
        self.narrowed(range).unwrap_or_else(|| self.place.clone())
    }

    fn narrowed(&self, range: Range<usize>) -> Option<Place> {
        let (text, span) = (self.place.text.as_ref()?, self.place.span.clone()?);
        let written = text.get(span.clone())?;
        let lead = match written.as_bytes().first()? {
            b'"' | b'\'' if written.len() == self.value.len() + 2 => 1,
            _ => 0,
        };
        if written.get(lead..lead + self.value.len())? != self.value {
            return None;
        }
        self.value.get(range.clone())?;
        let start = span.start + lead;
        Some(Place::span(self.place.path.clone(), text.clone(), start + range.start..start + range.end))
    }
}

impl<T: PartialEq> PartialEq for Placed<T> {
    fn eq(&self, other: &Placed<T>) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Placed<T> {}

impl<T> Deref for Placed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::path::RepoPath;

    fn placed(text: &str, written: &str, value: &str) -> Placed<String> {
        let start = text.find(written).unwrap();
        let span = start..start + written.len();
        Placed::new(value.to_owned(), Place::span(RepoPath::top(), Arc::from(text), span))
    }

    #[test]
    fn a_range_of_the_value_is_found_in_the_file() {
        for written in ["0 8 * * MON", "\"0 8 * * MON\"", "'0 8 * * MON'"] {
            let text = format!("open: {written}\n");
            let place = placed(&text, written, "0 8 * * MON").within(8..11);
            assert_eq!(&text[place.span.unwrap()], "MON", "{written}");
        }
    }

    #[test]
    fn an_escaped_value_is_pointed_at_as_a_whole() {
        let written = r#""0 8 \x2a * MON""#;
        let text = format!("open: {written}\n");
        let place = placed(&text, written, "0 8 * * MON").within(8..11);
        assert_eq!(&text[place.span.unwrap()], written);
    }

    #[test]
    fn a_range_outside_the_value_is_no_panic() {
        let text = "open: ab\n";
        assert_eq!(placed(text, "ab", "ab").within(1..9).span, Some(6..8));
    }
}
