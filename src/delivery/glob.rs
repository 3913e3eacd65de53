//! Patterns of one segment of a path (Go, `path/filepath`, `Match`).

/// Returns whether a pattern matches a segment as Go's `filepath.Match` does; a pattern that is none matches nothing.
///
/// Files of whole repositories are held against it, so it keeps nothing.
pub(super) fn glob(pattern: &str, name: &str) -> bool {
    if !pattern.contains(['*', '?', '[', '\\']) {
        return pattern == name;
    }
    is_valid(pattern) && matches(pattern, name)
}

fn is_valid(pattern: &str) -> bool {
    let mut left = pattern;
    while !left.is_empty() {
        let rest = left.strip_prefix('*').or_else(|| one(left, 'x').map(|(_, rest)| rest));
        let Some(rest) = rest else { return false };
        left = rest;
    }
    true
}

fn matches(pattern: &str, name: &str) -> bool {
    let (mut left, mut ahead) = (pattern, name);
    // What stands behind the last star, and the part of the name of which the star has not taken more yet.
    let mut star: Option<(&str, &str)> = None;
    loop {
        if let Some(rest) = left.strip_prefix('*') {
            (left, star) = (rest, Some((rest, ahead)));
            continue;
        }
        if left.is_empty() && ahead.is_empty() {
            return true;
        }
        let next = split(ahead);
        if let Some((found, behind)) = next
            && let Some((true, rest)) = one(left, found)
        {
            (left, ahead) = (rest, behind);
            continue;
        }
        let Some((rest, from)) = star else { return false };
        let Some((_, behind)) = split(from) else { return false };
        (left, ahead, star) = (rest, behind, Some((rest, behind)));
    }
}

/// Holds the first part of a pattern, which is no star, against a character, and returns what stands behind the part;
/// `None` where there is no part.
fn one(pattern: &str, found: char) -> Option<(bool, &str)> {
    let (first, rest) = split(pattern)?;
    match first {
        '?' => Some((true, rest)),
        '\\' => split(rest).map(|(escaped, rest)| (escaped == found, rest)),
        '[' => class(rest, found),
        plain => Some((plain == found, rest)),
    }
}

/// As [`one`], of a class of characters behind its `[`.
fn class(text: &str, found: char) -> Option<(bool, &str)> {
    let negates = text.starts_with('^');
    let (mut left, mut is_in, mut is_first) = (&text[usize::from(negates)..], false, true);
    loop {
        if let Some(rest) = left.strip_prefix(']').filter(|_| !is_first) {
            return Some((is_in != negates, rest));
        }
        let (low, rest) = member(left)?;
        let (high, rest) = rest.strip_prefix('-').map_or(Some((low, rest)), member)?;
        is_in |= (low..=high).contains(&found);
        (left, is_first) = (rest, false);
    }
}

/// Takes one character of a class.
fn member(text: &str) -> Option<(char, &str)> {
    if text.starts_with(['-', ']']) {
        return None;
    }
    split(text.strip_prefix('\\').unwrap_or(text))
}

fn split(text: &str) -> Option<(char, &str)> {
    let mut left = text.chars();
    Some((left.next()?, left.as_str()))
}

#[cfg(test)]
mod tests {
    use super::glob;

    /// The cases of Go's own test (`path/filepath/match_test.go`) that hold no `/`.
    #[test]
    fn what_go_matches_is_matched() {
        for (pattern, name, expected) in [
            ("abc", "abc", true),
            ("*", "abc", true),
            ("*c", "abc", true),
            ("a*", "a", true),
            ("a*", "abc", true),
            ("a*b*c*d*e*", "axbxcxdxe", true),
            ("a*b*c*d*e*", "axbxcxdxexxx", true),
            ("a*b?c*x", "abxbbxdbxebxczzx", true),
            ("a*b?c*x", "abxbbxdbxebxczzy", false),
            ("ab[c]", "abc", true),
            ("ab[b-d]", "abc", true),
            ("ab[e-g]", "abc", false),
            ("ab[^c]", "abc", false),
            ("ab[^b-d]", "abc", false),
            ("ab[^e-g]", "abc", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "ab", false),
            ("a?b", "a☺b", true),
            ("a[^a]b", "a☺b", true),
            ("a???b", "a☺b", false),
            ("[a-ζ]*", "α", true),
            ("*[a-ζ]", "A", false),
            ("[\\]a]", "]", true),
            ("[\\-]", "-", true),
            ("[x\\-]", "x", true),
            ("[x\\-]", "z", false),
            ("[\\-x]", "-", true),
            ("[]a]", "]", false),
            ("[-]", "-", false),
            ("[x-]", "x", false),
            ("[-x]", "x", false),
            ("\\", "a", false),
            ("[a-b-c]", "a", false),
            ("[", "a", false),
            ("[^", "a", false),
            ("[^bc", "a", false),
            ("a[", "ab", false),
            ("*x", "xxx", true),
        ] {
            assert_eq!(glob(pattern, name), expected, "{pattern} {name}");
        }
    }
}
