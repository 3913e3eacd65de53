//! A text of which lines are rewritten alike, as paths are that begin one folder deeper.

/// How many ways to rewrite a line one text may have.
const MOST_WAYS: usize = 3;

/// How many lines are told as rewritten alike, at least.
const LEAST: usize = 8;

/// Lines that are rewritten in the same way.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Example<'t> {
    /// The first of them before.
    pub(super) old: &'t str,
    /// And after.
    pub(super) new: &'t str,
    /// How many there are beside it.
    pub(super) more: usize,
}

/// How each line of a text comes from the same line of another one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rewrite<'t> {
    ways: Vec<((&'t str, &'t str), Example<'t>)>,
}

impl<'t> Rewrite<'t> {
    /// Compares two texts line by line.
    ///
    /// `None` where they have different numbers of lines or fewer than eight, where some but fewer than eight are rewritten, or
    /// in more than three ways.
    pub(super) fn of(old: &'t str, new: &'t str) -> Option<Rewrite<'t>> {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        if old.len() != new.len() || old.len() < LEAST {
            return None;
        }
        let mut ways: Vec<((&str, &str), Example<'_>)> = Vec::new();
        for (old, new) in old.into_iter().zip(new).filter(|(old, new)| old != new) {
            let way = way(old, new);
            if let Some((_, example)) = ways.iter_mut().find(|(known, _)| *known == way) {
                example.more += 1;
                continue;
            }
            if ways.len() == MOST_WAYS {
                return None;
            }
            ways.push((way, Example { old, new, more: 0 }));
        }
        let lines: usize = ways.iter().map(|(_, example)| 1 + example.more).sum();
        (lines >= LEAST || lines == 0).then_some(Rewrite { ways })
    }

    /// Returns the first line of each way to rewrite one.
    pub(super) fn examples(&self) -> impl Iterator<Item = &Example<'t>> {
        self.ways.iter().map(|(_, example)| example)
    }
}

/// Returns what of a line is another text in the other one.
fn way<'t>(old: &'t str, new: &'t str) -> (&'t str, &'t str) {
    let same = |one: &mut dyn Iterator<Item = char>, other: &mut dyn Iterator<Item = char>| -> usize {
        one.zip(other).take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
    };
    let front = same(&mut old.chars(), &mut new.chars());
    let (old, new) = (&old[front..], &new[front..]);
    let back = same(&mut old.chars().rev(), &mut new.chars().rev());
    (&old[..old.len() - back], &new[..new.len() - back])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_one_folder_deeper_are_rewritten_alike() {
        let old: String = (0..9).map(|n| format!("  - ../../base/app{n}\n")).collect();
        let old = format!("# ours\n{old}  # - ../off\n");
        let new = old.replace("- ../../base", "- ../../../base");
        let rewrite = Rewrite::of(&old, &new).unwrap();
        let expected = Example { old: "  - ../../base/app0", new: "  - ../../../base/app0", more: 8 };
        assert_eq!(rewrite.examples().collect::<Vec<_>>(), [&expected]);
        // Another number of lines, too few, too many ways.
        assert_eq!(Rewrite::of(&old, &format!("{new}more\n")), None);
        assert_eq!(Rewrite::of("a\nb\n", "c\nb\n"), None);
        let numbers = |base: usize| (0..9).map(|n| format!("{}\n", n * n + base)).collect::<String>();
        assert_eq!(Rewrite::of(&numbers(0), &numbers(1)), None);
    }
}
