//! What stands behind the name of a variable (fluxcd/pkg/envsubst, `funcs.go` and `template.go`).

use super::glob::{Unmatched, character, matches};
use super::{Budget, Failure};

/// A function of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// The value itself. What has no meaning of its own is this too: `^,` and `,^`.
    Plain,
    /// `=` `:=` `:-` `:?` `:+`: each gives what follows where the value is empty.
    Default,
    LowerFirst,
    Lower,
    UpperFirst,
    Upper,
    /// `#`: the length before the name, the shortest beginning behind it.
    Hash,
    LongestPrefix,
    ShortestSuffix,
    LongestSuffix,
    Part,
    ReplaceFirst,
    ReplaceAll,
    ReplacePrefix,
    ReplaceSuffix,
}

impl Operator {
    pub(super) fn of(text: &str) -> Option<Operator> {
        Some(match text {
            "," => Operator::LowerFirst,
            ",," => Operator::Lower,
            "^" => Operator::UpperFirst,
            "^^" => Operator::Upper,
            "^," | ",^" => Operator::Plain,
            "#" => Operator::Hash,
            "##" => Operator::LongestPrefix,
            "%" => Operator::ShortestSuffix,
            "%%" => Operator::LongestSuffix,
            ":" => Operator::Part,
            "/" => Operator::ReplaceFirst,
            "//" => Operator::ReplaceAll,
            "/#" => Operator::ReplacePrefix,
            "/%" => Operator::ReplaceSuffix,
            "=" | ":=" | ":-" | ":?" | ":+" => Operator::Default,
            _ => return None,
        })
    }

    /// Returns whether it is about a name without a value.
    pub(super) fn is_default(self) -> bool {
        self == Operator::Default
    }

    /// Returns what it makes of a value; `None` where that takes too long.
    ///
    /// # Errors
    ///
    /// When it would be longer than the tool takes.
    pub(super) fn apply(
        self,
        value: &[u8],
        arguments: &[Vec<u8>],
        budget: &Budget,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let first = arguments.first().map(Vec::as_slice).unwrap_or_default();
        let second = arguments.get(1).map(Vec::as_slice);
        let replace = |second: &[u8], most: usize| replaced(value, first, second, most, budget);
        let flipped = |trim: Trim| {
            let (value, pattern) = (reversed(value), reversed(first));
            trim(&value, &pattern, budget).map(reversed)
        };
        Ok(Some(match self {
            Operator::Plain => value.to_vec(),
            Operator::Default if value.is_empty() => {
                budget.has(arguments.iter().map(Vec::len).sum())?;
                arguments.concat()
            }
            Operator::Default => value.to_vec(),
            Operator::Lower => cased(value, usize::MAX, lower),
            Operator::LowerFirst => cased(value, 1, lower),
            Operator::Upper => cased(value, usize::MAX, upper),
            Operator::UpperFirst => cased(value, 1, upper),
            Operator::Hash if arguments.is_empty() => value.len().to_string().into_bytes(),
            Operator::Hash => return Ok(shortest(value, first, budget).map(<[u8]>::to_vec)),
            Operator::LongestPrefix => return Ok(longest(value, first, budget).map(<[u8]>::to_vec)),
            Operator::ShortestSuffix => return Ok(flipped(shortest)),
            Operator::LongestSuffix => return Ok(flipped(longest)),
            Operator::Part => part(value, first, second).to_vec(),
            Operator::ReplaceFirst => return replace(second.unwrap_or_default(), 1),
            Operator::ReplaceAll => return replace(second.unwrap_or_default(), usize::MAX),
            Operator::ReplacePrefix => match second {
                Some(second) if value.starts_with(first) => return replace(second, 1),
                _ => value.to_vec(),
            },
            Operator::ReplaceSuffix => match (second, value.strip_suffix(first)) {
                (Some(second), Some(rest)) => {
                    budget.has(rest.len() + second.len())?;
                    [rest, second].concat()
                }
                _ => value.to_vec(),
            },
        }))
    }
}

/// Returns the one character that Go's `unicode.ToUpper` gives: letters of which several would come stay.
fn upper(c: char) -> char {
    let mut all = c.to_uppercase();
    all.next().filter(|_| all.next().is_none()).unwrap_or(c)
}

/// As [`upper`].
fn lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

/// Changes the first so many characters.
fn cased(value: &[u8], count: usize, case: fn(char) -> char) -> Vec<u8> {
    let text = String::from_utf8_lossy(value);
    let cased = text.chars().enumerate().map(|(index, c)| if index < count { case(c) } else { c });
    cased.collect::<String>().into_bytes()
}

fn reversed(value: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(value).chars().rev().collect::<String>().into_bytes()
}

/// Reads a number as `strconv.Atoi` does.
fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Returns the part from a byte on, of so many bytes (`toSubstr`).
fn part<'v>(value: &'v [u8], from: &[u8], length: Option<&[u8]>) -> &'v [u8] {
    let all = i64::try_from(value.len()).unwrap_or(i64::MAX);
    let Some(from) = number(from) else { return value };
    let from = if from < 0 { all.wrapping_add(from).max(0) } else { from };
    let rest = usize::try_from(from).ok().and_then(|from| value.get(from..)).unwrap_or_default();
    let Some(length) = length else { return rest };
    let Some(length) = number(length) else { return value };
    if from.wrapping_add(length) >= all {
        return rest;
    }
    // What is negative counts from the end (v1.7.1).
    let end = if length < 0 { all.wrapping_add(length) } else { from.wrapping_add(length) };
    let length = usize::try_from(end.wrapping_sub(from)).unwrap_or_default();
    rest.get(..length).unwrap_or_default()
}

/// Replaces the first so many places; an empty text stands before each character and at the end (Go's `strings.Replace`).
/// Returns `None` where that takes too long.
fn replaced(
    value: &[u8],
    old: &[u8],
    new: &[u8],
    most: usize,
    budget: &Budget,
) -> Result<Option<Vec<u8>>, Failure> {
    if budget.steps(value.len().saturating_mul(old.len())).is_none() {
        return Ok(None);
    }
    let mut done = Vec::with_capacity(value.len());
    let (mut rest, mut count) = (value, 0);
    while count < most {
        let at = match old {
            [] if count == 0 => Some(0),
            [] => (!rest.is_empty()).then(|| character(rest).1),
            _ => rest.windows(old.len()).position(|window| window == old),
        };
        let Some(at) = at else { break };
        budget.has(done.len() + at + new.len())?;
        done.extend_from_slice(&rest[..at]);
        done.extend_from_slice(new);
        rest = &rest[at + old.len()..];
        count += 1;
    }
    budget.has(done.len() + rest.len())?;
    done.extend_from_slice(rest);
    Ok(Some(done))
}

/// Takes a beginning away that a pattern matches; `None` where that takes too long.
type Trim = for<'v> fn(&'v [u8], &[u8], &Budget) -> Option<&'v [u8]>;

/// Takes the shortest one away.
fn shortest<'v>(value: &'v [u8], pattern: &[u8], budget: &Budget) -> Option<&'v [u8]> {
    let mut found = 0;
    for end in (1..=value.len()).rev() {
        match matches(pattern, &value[..end], budget) {
            Err(Unmatched::BadPattern) => return Some(value),
            Err(Unmatched::TooMuch) => return None,
            Ok(true) => found = end,
            Ok(false) => {}
        }
    }
    Some(&value[found..])
}

/// Takes the longest one away.
fn longest<'v>(value: &'v [u8], pattern: &[u8], budget: &Budget) -> Option<&'v [u8]> {
    for end in (1..=value.len()).rev() {
        match matches(pattern, &value[..end], budget) {
            Err(Unmatched::BadPattern) => return Some(value),
            Err(Unmatched::TooMuch) => return None,
            Ok(true) => return Some(&value[end..]),
            Ok(false) => {}
        }
    }
    Some(value)
}
