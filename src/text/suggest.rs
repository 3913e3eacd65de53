//! Nearest names, for "did you mean".

/// The most names that are suggested at once.
const MOST: usize = 3;

/// Gives the candidates that `word` may have been meant to be, nearest first, at most three.
///
/// A candidate is near when at most a third of the word's characters, and at least one, must be
/// inserted, removed, replaced or swapped with their neighbour; letter case does not count. Among
/// equally near ones the order of `candidates` stays.
///
/// ```
/// use gitops_windows::text::nearest;
/// assert_eq!(nearest("wrok-week", ["saturday", "work-week"]), ["work-week"]);
/// assert!(nearest("nginx", ["saturday", "work-week"]).is_empty());
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // A name of that length is no typing error, and the distance costs its square.
    const LONGEST: usize = 128;
    let word: Vec<char> = word.to_lowercase().chars().take(LONGEST + 1).collect();
    if word.len() > LONGEST {
        return Vec::new();
    }
    let limit = (word.len() / 3).max(1);
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let other: Vec<char> = candidate.to_lowercase().chars().take(LONGEST + 1).collect();
            if other.len().abs_diff(word.len()) > limit {
                return None;
            }
            let distance = distance(&word, &other);
            (distance <= limit && distance < other.len().max(1)).then_some((distance, candidate))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.truncate(MOST);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Writes the nearest candidates as a question, for example ``did you mean `work-week`?``.
///
/// `None` where nothing is near.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let near: Vec<String> = nearest(word, candidates).iter().map(|name| format!("`{name}`")).collect();
    if near.is_empty() { None } else { Some(format!("did you mean {}?", near.join(" or "))) }
}

/// Counts edits (insert, remove, replace, swap neighbours) between two words.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut cost = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_comes_first_and_ties_keep_their_order() {
        assert_eq!(nearest("clustres", ["cluster", "clusters"]), ["clusters", "cluster"]);
        assert_eq!(nearest("rx", ["rt", "rw"]), ["rt", "rw"]);
        assert_eq!(nearest("ngnix", ["nginx", "redis"]), ["nginx"]);
    }

    #[test]
    fn letter_case_does_not_count() {
        assert_eq!(nearest("TimeZone", ["timeZone"]), ["timeZone"]);
    }

    #[test]
    fn nothing_is_near_to_what_is_far_empty_or_endless() {
        assert!(nearest("", ["rt"]).is_empty());
        assert!(nearest("rt", [""]).is_empty());
        assert!(nearest(&"a".repeat(1000), ["aaaa"]).is_empty());
        assert!(nearest("abc", ["xyz"]).is_empty());
    }

    #[test]
    fn the_question_names_all_that_are_near() {
        assert_eq!(did_you_mean("rx", ["rt", "rw"]).as_deref(), Some("did you mean `rt` or `rw`?"));
        assert_eq!(did_you_mean("zzz", ["rt"]), None);
    }
}
