//! Names with numbers at their ends, as ranges.

/// How many numbered names stand one by one.
const MOST_NAMED: usize = 3;

/// Returns names in order, with ranges such as `edge-01 … edge-40`, which hold each number between the first and the last.
pub(crate) fn ranges<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut names: Vec<(&str, &str)> = names.map(numbered).collect();
    // A number with more digits is a larger one.
    names.sort_by_key(|(name, number)| {
        let digits = number.trim_start_matches('0');
        (*name, digits.len(), digits, *number)
    });
    let mut runs: Vec<Vec<(&str, &str)>> = Vec::new();
    for (name, number) in names {
        let is_next = |(last, before): &(&str, &str)| *last == name && successor(before) == number;
        match runs.last_mut().filter(|run| run.last().is_some_and(is_next)) {
            Some(run) => run.push((name, number)),
            None => runs.push(vec![(name, number)]),
        }
    }
    let whole = |(name, number): &(&str, &str)| format!("{name}{number}");
    let told = |run: Vec<(&str, &str)>| match &run[..] {
        [first, .., last] if run.len() > MOST_NAMED => vec![format!("{} … {}", whole(first), whole(last))],
        all => all.iter().map(whole).collect(),
    };
    runs.into_iter().flat_map(told).collect()
}

/// Divides a name before the number at its end, which may be missing.
fn numbered(name: &str) -> (&str, &str) {
    name.split_at(name.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

/// Returns the number after another one, in as many digits; nothing comes after no number.
fn successor(number: &str) -> String {
    let mut digits: Vec<u8> = number.bytes().collect();
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return String::from_utf8(digits).unwrap_or_default();
        }
        *digit = b'0';
    }
    if number.is_empty() { " ".to_owned() } else { format!("1{}", "0".repeat(number.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_every_number() {
        let told = |names: &[&str]| ranges(names.iter().copied()).join(", ");
        assert_eq!(told(&["a1", "a2", "a3", "a4"]), "a1 … a4");
        assert_eq!(told(&["a1", "a2", "a3"]), "a1, a2, a3");
        assert_eq!(told(&["a1", "a2", "a4", "a5", "b"]), "a1, a2, a4, a5, b");
        assert_eq!(told(&["a1", "a3", "a4", "a5", "a6"]), "a1, a3 … a6");
        assert_eq!(told(&["e-10", "e-11", "e-7", "e-8", "e-9"]), "e-7 … e-11");
        assert_eq!(told(&["e-08", "e-09", "e-10", "e-11", "e-7"]), "e-7, e-08 … e-11");
        assert_eq!(told(&["asia", "emea", "oslo", "rome"]), "asia, emea, oslo, rome");
        assert_eq!(told(&[]), "");
    }
}
