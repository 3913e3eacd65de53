//! What stands behind the name of a variable (fluxcd/pkg/envsubst, `funcs.go` and `template.go`).

use super::glob::matches;

/// How long a value may be of which a beginning or an end is looked for; a longer one counts as unknown.
const LONGEST: usize = 4096;

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

    /// Tells whether it is about a name without a value.
    pub(super) fn is_default(self) -> bool {
        self == Operator::Default
    }

    /// Returns what it makes of a value; `None` where that takes too long.
    pub(super) fn apply(self, value: &[u8], arguments: &[Vec<u8>]) -> Option<Vec<u8>> {
        let trims = matches!(
            self,
            Operator::Hash | Operator::LongestPrefix | Operator::ShortestSuffix | Operator::LongestSuffix
        );
        let first = arguments.first().map(Vec::as_slice).unwrap_or_default();
        let second = arguments.get(1).map(Vec::as_slice);
        if trims && !arguments.is_empty() && value.len().max(first.len()) > LONGEST {
            return None;
        }
        Some(match self {
            Operator::Plain => value.to_vec(),
            Operator::Default if value.is_empty() => arguments.concat(),
            Operator::Default => value.to_vec(),
            Operator::Lower => cased(value, usize::MAX, lower),
            Operator::LowerFirst => cased(value, 1, lower),
            Operator::Upper => cased(value, usize::MAX, upper),
            Operator::UpperFirst => cased(value, 1, upper),
            Operator::Hash if arguments.is_empty() => value.len().to_string().into_bytes(),
            Operator::Hash => shortest(value, first).to_vec(),
            Operator::LongestPrefix => longest(value, first).to_vec(),
            Operator::ShortestSuffix => reversed(shortest(&reversed(value), &reversed(first))),
            Operator::LongestSuffix => reversed(longest(&reversed(value), &reversed(first))),
            Operator::Part => part(value, first, second).to_vec(),
            Operator::ReplaceFirst => replaced(value, first, second.unwrap_or_default(), 1),
            Operator::ReplaceAll => replaced(value, first, second.unwrap_or_default(), usize::MAX),
            Operator::ReplacePrefix => match second {
                Some(second) if value.starts_with(first) => replaced(value, first, second, 1),
                _ => value.to_vec(),
            },
            Operator::ReplaceSuffix => match (second, value.strip_suffix(first)) {
                (Some(second), Some(rest)) => [rest, second].concat(),
                _ => value.to_vec(),
            },
        })
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
fn replaced(value: &[u8], old: &[u8], new: &[u8], most: usize) -> Vec<u8> {
    let mut done = Vec::with_capacity(value.len());
    let (mut rest, mut count) = (value, 0);
    while count < most {
        let at = match old {
            [] if count == 0 => Some(0),
            [] => (!rest.is_empty()).then(|| width(rest)),
            _ => rest.windows(old.len()).position(|window| window == old),
        };
        let Some(at) = at else { break };
        done.extend_from_slice(&rest[..at]);
        done.extend_from_slice(new);
        rest = &rest[at + old.len()..];
        count += 1;
    }
    done.extend_from_slice(rest);
    done
}

/// Returns the bytes of the first character.
fn width(text: &[u8]) -> usize {
    let first = text.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
    first.map_or(1, char::len_utf8)
}

/// Takes the shortest beginning away that a pattern matches.
fn shortest<'v>(value: &'v [u8], pattern: &[u8]) -> &'v [u8] {
    let mut found = None;
    for end in (1..=value.len()).rev() {
        match matches(pattern, &value[..end]) {
            Err(_) => return value,
            Ok(true) => found = Some(end),
            Ok(false) => {}
        }
    }
    found.map_or(value, |end| &value[end..])
}

/// Takes the longest one away.
fn longest<'v>(value: &'v [u8], pattern: &[u8]) -> &'v [u8] {
    for end in (1..=value.len()).rev() {
        match matches(pattern, &value[..end]) {
            Err(_) => return value,
            Ok(true) => return &value[end..],
            Ok(false) => {}
        }
    }
    value
}
