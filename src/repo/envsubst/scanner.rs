//! The tokens of a text with variables (fluxcd/pkg/envsubst, `parse/scan.go`).

use std::borrow::Cow;

/// What may be read next, as bits.
pub(super) const IDENT: u8 = 1;
/// `${`.
pub(super) const LEFT: u8 = 2;
/// `}`.
pub(super) const RIGHT: u8 = 4;
/// What takes the meaning of the next character away.
pub(super) const ESCAPE: u8 = 8;

/// What is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Illegal,
    End,
    Ident,
    Left,
    Right,
}

/// Returns whether a character belongs to a token of which it ends the byte with this number, counted from 1.
pub(super) type Accept = fn(char, usize) -> bool;

/// A text and how far it is read.
pub(super) struct Scanner<'t> {
    text: &'t str,
    pos: usize,
    start: usize,
    /// The bytes of what was read last, by which [`Scanner::unread`] goes back: peeking sets it too.
    width: usize,
    /// The bytes of the token that are left out.
    skipped: Vec<usize>,
    /// Whether `\` takes a meaning away, as `$` does.
    pub(super) escapes_all: bool,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Scanner<'t> {
        Scanner { text, pos: 0, start: 0, width: 0, skipped: Vec::new(), escapes_all: false }
    }

    /// Returns how far it is read.
    pub(super) fn position(&self) -> usize {
        self.pos
    }

    /// Returns a part of the text that has been read.
    pub(super) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.pos).unwrap_or_default()
    }

    /// Reads a character; `'\0'` at the end.
    pub(super) fn read(&mut self) -> char {
        let next = self.text.get(self.pos..).and_then(|rest| rest.chars().next());
        self.width = next.map_or(0, char::len_utf8);
        self.pos += self.width;
        next.unwrap_or('\0')
    }

    /// Goes back by the width of what was read or peeked last.
    pub(super) fn unread(&mut self) {
        self.pos -= self.width;
    }

    pub(super) fn peek(&mut self) -> char {
        let next = self.read();
        self.unread();
        next
    }

    /// Returns the text of the token.
    pub(super) fn token(&self) -> Cow<'t, str> {
        let mut from = self.start;
        let Some((last, first)) = self.skipped.split_last() else {
            return Cow::Borrowed(self.since(self.start));
        };
        let mut token = String::new();
        for skipped in first.iter().chain([last]) {
            token += self.text.get(from..*skipped).unwrap_or_default();
            from = skipped + 1;
        }
        Cow::Owned(token + self.since(from))
    }

    /// Reads a token of one of the kinds in `mode`.
    pub(super) fn scan(&mut self, mode: u8, accept: Accept) -> Token {
        self.start = self.pos;
        self.skipped.clear();
        let next = self.read();
        if next == '\0' {
            Token::End
        } else if self.is_left(next, mode) {
            Token::Left
        } else if mode & RIGHT != 0 && next == '}' {
            Token::Right
        } else if mode & IDENT != 0 && self.ident(next, mode, accept) {
            Token::Ident
        } else {
            Token::Illegal
        }
    }

    /// Returns how many bytes the token has so far.
    fn length(&self) -> usize {
        self.pos - self.start - self.skipped.len()
    }

    fn ident(&mut self, first: char, mode: u8, accept: Accept) -> bool {
        if self.is_escape(first, mode) {
            self.skip();
        } else if !accept(first, self.length()) {
            return false;
        }
        loop {
            let next = self.read();
            if next == '\0' {
                self.unread();
                return true;
            }
            if self.is_left(next, mode) {
                self.unread();
                self.unread();
                return true;
            }
            if self.is_escape(next, mode) {
                self.skip();
                continue;
            }
            if !accept(next, self.length()) {
                self.unread();
                return true;
            }
        }
    }

    /// Leaves what was read out of the token; what follows is taken as it is.
    fn skip(&mut self) {
        self.skipped.push(self.pos - 1);
        self.pos += 1;
    }

    fn is_left(&mut self, next: char, mode: u8) -> bool {
        if mode & LEFT == 0 || next != '$' {
            return false;
        }
        if self.read() == '{' {
            return true;
        }
        self.unread();
        false
    }

    fn is_escape(&mut self, next: char, mode: u8) -> bool {
        if mode & ESCAPE == 0 {
            return false;
        }
        match next {
            '$' => self.peek() == '$',
            '\\' if self.escapes_all => matches!(self.peek(), '/' | '\\'),
            _ => false,
        }
    }
}
