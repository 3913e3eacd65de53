//! Nearest names, for "did you mean".

/// The most names that are suggested at once.
const MOST: usize = 3;

/// Returns the candidates that `word` may have been meant to be, nearest first, at most three.
///
/// A candidate is near when at most a third of the word's characters, and at least one, must be
/// inserted, removed, replaced or swapped with their neighbour, where only separators and leading zeros of numbers
/// differ, or where the word is the beginning of one at most twice as long; letter case does not count. Among equally near
/// ones the order of `candidates` stays.
///
/// ```
/// use gitops_windows::text::nearest;
/// assert_eq!(nearest("wrok-week", ["saturday", "work-week"]), ["work-week"]);
/// assert!(nearest("nginx", ["saturday", "work-week"]).is_empty());
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // A name of that length is no typing error, and the distance costs its square.
    const LONGEST: usize = 128;
    // What is shorter begins too many names.
    const SHORTEST: usize = 4;
    let word: Vec<char> = word.to_lowercase().chars().take(LONGEST + 1).collect();
    if word.len() > LONGEST {
        return Vec::new();
    }
    let limit = (word.len() / 3).max(1);
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let other: Vec<char> = candidate.to_lowercase().chars().take(LONGEST + 1).collect();
            if bare(&word) == bare(&other) && !bare(&word).is_empty() {
                return Some((usize::from(word != other), candidate));
            }
            let missing = other.len().saturating_sub(word.len());
            if word.len() >= SHORTEST && missing <= word.len() && other.starts_with(&word) {
                return Some((missing, candidate));
            }
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

/// Returns whether two words differ in nothing but letter case, separators and leading zeros of numbers.
pub fn is_alike(word: &str, other: &str) -> bool {
    let bare = |word: &str| bare(&word.to_lowercase().chars().collect::<Vec<_>>());
    bare(word) == bare(other) && !bare(word).is_empty()
}

/// Writes the names that there are, as a help; not all of many.
pub fn one_of<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 8;
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => "there are none".to_owned(),
        count if count <= MOST => format!("use {}", names.join(", ")),
        count => format!("use {} or one of {} more", names[..MOST].join(", "), count - MOST),
    }
}

/// Leaves out what people forget of a name: `edge1` is meant for `edge-01`.
fn bare(word: &[char]) -> String {
    let mut bare = String::new();
    for c in word.iter().filter(|c| c.is_alphanumeric()) {
        let follows_number = bare.ends_with(|last: char| last.is_ascii_digit());
        if *c != '0' || follows_number {
            bare.push(*c);
        }
    }
    bare
}

/// Writes the nearest candidates as a question, for example ``did you mean `work-week`?``.
///
/// `None` where nothing is near.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    question(&nearest(word, candidates))
}

/// Writes the next shorter and longer of some lengths in minutes, such as `5m`, as such a question; `None` where `word` is no
/// length.
pub fn did_you_mean_length<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let minutes = |text: &str| -> Option<u64> {
        let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let factor = match unit {
            "m" => 1,
            "h" => 60,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(factor)
    };
    let own = minutes(word)?;
    let known: Vec<(u64, &str)> =
        candidates.into_iter().filter_map(|one| Some((minutes(one)?, one))).collect();
    let shorter = known.iter().filter(|(length, _)| *length <= own).max();
    let longer = known.iter().filter(|(length, _)| *length > own).min();
    question(&shorter.into_iter().chain(longer).map(|(_, one)| *one).collect::<Vec<_>>())
}

/// Writes the nearest of some paths as such a question.
///
/// A path is near where it has as many folders, each of them near, or where one of the two ends with the other: a third
/// of all its characters would be a name of its own.
pub fn did_you_mean_path<'a>(path: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let own: Vec<&str> = path.split('/').collect();
    let (mut near, mut longer) = (Vec::new(), Vec::new());
    for candidate in candidates {
        let other: Vec<&str> = candidate.split('/').collect();
        let is_near = |(a, b): (&&str, &&str)| a == b || !nearest(a, [*b]).is_empty();
        if own.len() == other.len() && own.iter().zip(&other).all(is_near) {
            near.push(candidate);
        } else if !candidate.is_empty() && (own.ends_with(&other) || other.ends_with(&own)) {
            longer.push(candidate);
        }
    }
    let mut near = nearest(path, near);
    near.extend(longer);
    near.truncate(MOST);
    question(&near)
}

fn question(near: &[&str]) -> Option<String> {
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
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
    fn a_beginning_is_near() {
        assert_eq!(nearest("flux-sys", ["apps", "flux-system"]), ["flux-system"]);
        assert!(is_alike("edge-2", "Edge-02") && !is_alike("edge-3", "edge-02") && !is_alike("-", ""));
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
        assert!(nearest("web", ["website"]).is_empty());
        assert!(nearest("main", ["maintenance"]).is_empty());
    }

    #[test]
    fn a_path_is_near_by_each_of_its_folders() {
        let folders = ["apps/web", "apps/webs", "infrastructure/web", "clusters/edge/apps", "apps"];
        let asked = |path: &str| did_you_mean_path(path, folders);
        assert_eq!(asked("apps/wbe").as_deref(), Some("did you mean `apps/web`?"));
        assert_eq!(asked("web").as_deref(), Some("did you mean `apps/web` or `infrastructure/web`?"));
        assert_eq!(asked("clusters/fleet/apps").as_deref(), Some("did you mean `apps`?"));
        assert_eq!(asked("infrastructure/database"), None);
    }

    #[test]
    fn the_question_names_all_that_are_near() {
        assert_eq!(did_you_mean("rx", ["rt", "rw"]).as_deref(), Some("did you mean `rt` or `rw`?"));
        assert_eq!(did_you_mean("zzz", ["rt"]), None);
    }
}
