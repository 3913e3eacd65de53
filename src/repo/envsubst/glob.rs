//! Patterns of a shell, byte by byte (fluxcd/pkg/envsubst, `path/match.go`).

use super::Budget;

/// Why nothing is said of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unmatched {
    /// It is none.
    BadPattern,
    /// It takes too long.
    TooMuch,
}

/// Returns whether a pattern matches a whole text. `*` takes `/` in too.
pub(super) fn matches(mut pattern: &[u8], mut name: &[u8], budget: &Budget) -> Result<bool, Unmatched> {
    'pattern: while !pattern.is_empty() {
        let (is_star, chunk, rest) = chunk(pattern);
        budget.steps(pattern.len() - rest.len()).ok_or(Unmatched::TooMuch)?;
        pattern = rest;
        if is_star && chunk.is_empty() {
            return Ok(true);
        }
        let is_last = pattern.is_empty();
        match match_chunk(chunk, name, budget)? {
            Some(left) if left.is_empty() || !is_last => {
                name = left;
                continue;
            }
            _ => {}
        }
        if is_star {
            for from in 1..=name.len() {
                match match_chunk(chunk, &name[from..], budget)? {
                    Some(left) if is_last && !left.is_empty() => {}
                    Some(left) => {
                        name = left;
                        continue 'pattern;
                    }
                    None => {}
                }
            }
        }
        return Ok(false);
    }
    Ok(name.is_empty())
}

/// Returns whether a star begins a pattern, what stands up to the next one, and the rest.
fn chunk(pattern: &[u8]) -> (bool, &[u8], &[u8]) {
    let stars = pattern.iter().take_while(|byte| **byte == b'*').count();
    let pattern = &pattern[stars..];
    let (mut within, mut end) = (false, 0);
    while end < pattern.len() {
        match pattern[end] {
            b'\\' if end + 1 < pattern.len() => end += 1,
            b'[' => within = true,
            b']' => within = false,
            b'*' if !within => break,
            _ => {}
        }
        end += 1;
    }
    (stars > 0, &pattern[..end], &pattern[end..])
}

/// Returns what of a text is left behind a chunk; `None` where it does not begin so.
fn match_chunk<'n>(
    mut chunk: &[u8],
    mut name: &'n [u8],
    budget: &Budget,
) -> Result<Option<&'n [u8]>, Unmatched> {
    while let Some(first) = chunk.first() {
        budget.steps(1).ok_or(Unmatched::TooMuch)?;
        if name.is_empty() {
            return Ok(None);
        }
        match first {
            b'[' => {
                let (c, width) = character(name);
                name = &name[width..];
                chunk = &chunk[1..];
                let is_negated = chunk.first() == Some(&b'^');
                chunk = &chunk[usize::from(is_negated)..];
                let (mut is_in, mut ranges) = (false, 0);
                while !(chunk.first() == Some(&b']') && ranges > 0) {
                    budget.steps(1).ok_or(Unmatched::TooMuch)?;
                    let low;
                    (low, chunk) = bound(chunk)?;
                    let mut high = low;
                    if chunk.first() == Some(&b'-') {
                        (high, chunk) = bound(&chunk[1..])?;
                    }
                    is_in |= low <= c && c <= high;
                    ranges += 1;
                }
                chunk = &chunk[1..];
                if is_in == is_negated {
                    return Ok(None);
                }
                continue;
            }
            b'?' => {
                name = &name[character(name).1..];
                chunk = &chunk[1..];
                continue;
            }
            b'\\' => chunk = &chunk[1..],
            _ => {}
        }
        let first = chunk.first().ok_or(Unmatched::BadPattern)?;
        if *first != name[0] {
            return Ok(None);
        }
        name = &name[1..];
        chunk = &chunk[1..];
    }
    Ok(Some(name))
}

/// Reads one end of a range, behind which something must stand.
fn bound(chunk: &[u8]) -> Result<(char, &[u8]), Unmatched> {
    let chunk = match chunk {
        [] | [b'-' | b']', ..] => return Err(Unmatched::BadPattern),
        [b'\\', rest @ ..] => rest,
        _ => chunk,
    };
    let (c, width) = character(chunk);
    let is_invalid = c == char::REPLACEMENT_CHARACTER && width == 1;
    match chunk.get(width..) {
        Some(rest) if !rest.is_empty() && !is_invalid => Ok((c, rest)),
        _ => Err(Unmatched::BadPattern),
    }
}

/// Returns the first character and its bytes; of what is none, one byte.
pub(super) fn character(text: &[u8]) -> (char, usize) {
    let first = text[..text.len().min(char::MAX.len_utf8())]
        .utf8_chunks()
        .next()
        .and_then(|chunk| chunk.valid().chars().next());
    first.map_or((char::REPLACEMENT_CHARACTER, 1), |c| (c, c.len_utf8()))
}
