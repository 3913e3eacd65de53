//! What copies take, case by case, as source-watcher takes it.

use super::*;

/// Returns which of some files a copy takes.
fn taken<'f>(from: &str, exclude: &[&str], files: &[&'f str]) -> Vec<&'f str> {
    let exclude = exclude.iter().map(|pattern| (*pattern).to_owned()).collect();
    let copy = Copy::new(from, exclude).unwrap().ready().unwrap();
    let path = |file: &str| RepoPath::parse(file).unwrap();
    files.iter().copied().filter(|file| copy.takes(&RepoPath::top(), &path(file))).collect()
}

const FILES: [&str; 6] = [
    "README.md",
    "a.yaml",
    "apps/base/web/d.yaml",
    "apps/prod/k.yaml",
    "apps/prod/docs/README.md",
    "x/a.yaml",
];

#[test]
fn a_pattern_takes_what_a_shell_would() {
    assert_eq!(taken("apps/**", &[], &FILES), FILES[2..5]);
    assert_eq!(taken("apps", &[], &FILES), FILES[2..5]);
    assert_eq!(taken("./apps/", &[], &FILES), FILES[2..5]);
    assert_eq!(taken("", &[], &FILES), FILES);
    assert_eq!(taken("**", &[], &FILES), FILES);
    assert_eq!(taken("*.yaml", &[], &FILES), FILES[1..2]);
    // Two stars are one but at the end, where folders go with all that is in them.
    assert_eq!(taken("**/a.yaml", &[], &FILES), FILES[5..]);
    assert_eq!(taken("apps/*/k.yaml", &[], &FILES), FILES[3..4]);
    assert_eq!(taken("apps/[a-b]*", &[], &FILES), FILES[2..3]);
    assert_eq!(taken("./apps/**", &[], &FILES), FILES[2..5]);
    assert_eq!(taken("a.yaml", &[], &FILES), FILES[1..2]);
}

#[test]
fn what_is_excluded_counts_from_the_source_or_from_the_pattern() {
    assert_eq!(taken("apps/**", &["*.md"], &FILES), FILES[2..4]);
    assert_eq!(taken("apps/**", &["prod/**"], &FILES), FILES[2..3]);
    assert_eq!(taken("apps/**", &["apps/prod"], &FILES), FILES[2..3]);
    assert_eq!(taken("apps/**", &["**/docs/**"], &FILES), FILES[2..4]);
    assert_eq!(taken("apps/**", &["{prod,x}/*.yaml"], &FILES), [FILES[2], FILES[4]]);
    assert_eq!(taken("**", &["base/**"], &FILES), FILES);
    assert_eq!(taken("apps/prod", &["k.yaml"], &FILES), FILES[4..5]);
    assert_eq!(taken("apps/prod", &["prod"], &FILES), FILES[3..5]);
    // A star that takes nothing does not end a folder.
    assert_eq!(taken("", &["?*/**"], &["a", "ab", "b/c"]), ["a"]);
}

#[test]
fn what_is_no_pattern_is_refused() {
    assert!(Copy::new("../apps", Vec::new()).is_none() && Copy::new("/apps", Vec::new()).is_none());
    for pattern in ["[", "[]", "{a", "a}", "a\\", "[^"] {
        let copy = Copy::new("apps/**", vec![pattern.to_owned()]).unwrap();
        assert!(copy.ready().is_none(), "{pattern}");
    }
}

#[test]
fn a_file_keeps_its_place_below_one_folder() {
    let moved = |from: &str, to: &str, is_file: bool| {
        let moved =
            Copy::new(from, Vec::new()).unwrap().moves(to, is_file, to.is_empty() || to.ends_with('/'));
        moved.map(|(folder, names)| format!("{folder} {names}"))
    };
    let all = [
        moved("apps/prod/**", "prod/", false),
        moved("apps/prod/**", "", false),
        moved("apps/*.yaml", "apps/", false),
        moved("apps/prod", "", false),
        moved("apps/k.yaml", "", true),
        moved("apps/k.yaml", "web/k.yaml", true),
        moved("apps/k.yaml", "web/l.yaml", true),
    ];
    let all: Vec<&str> = all.iter().map(|moved| moved.as_deref().unwrap_or("renamed")).collect();
    assert_eq!(all, ["apps/prod prod", "apps/prod .", ". apps", "apps .", "apps .", "apps web", "renamed"]);
}
