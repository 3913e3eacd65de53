//! How much of many objects a comment has room for.

use std::fmt::Write;

use super::repository::{compared, files, map, with};
use crate::pr::{Flavor, markdown};

#[test]
fn a_comment_is_cut_between_two_objects() {
    let maps = |value: &str| {
        (0..200).fold(String::new(), |mut all, number| {
            write!(all, "---\n{}", map(&format!("m-{number}"), &format!("a: '{number} {value}'"))).unwrap();
            all
        })
    };
    let file = |value: &str| with(&files(), &[("apps/apps-rt/settings.yaml", "", &maps(value))]);
    let report = compared(&file("old"), &file("new"));
    for limit in [2_500, 4_000, 9_000, 20_000, 30_000] {
        let text = markdown(&report, Flavor::Bitbucket, limit);
        assert!(text.len() <= limit && text.len() + 400 > limit, "{limit}: {text}");
        assert!(text.contains("`ConfigMap shop/m-0`"), "{limit}: {text}");
        assert_eq!(text.contains("more\n"), limit < 9_000, "{limit}: {text}");
    }
}
