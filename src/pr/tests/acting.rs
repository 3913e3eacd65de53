//! The jobs that act, where others stand beside them.

use super::repository::{Files, NOW, OPEN, SPEC, SPEC_FILE, compared_at, files, job, with, words};

/// What is told of a new image, with two jobs more.
fn image_with(now: &str, more: &[(&str, String)]) -> String {
    let more: Vec<(&str, &str, &str)> = more.iter().map(|(file, text)| (*file, "", text.as_str())).collect();
    let base: Files = with(&with(&files(), &[(SPEC_FILE, "", SPEC)]), &more);
    let edit = ("apps/apps-rw/deployment.yaml", "1.29.0", "1.30.0");
    words(&compared_at(now, &base, &with(&base, &[edit])))
}

/// Two jobs of another gate, which sort before.
fn pair(targets: &str) -> [(&'static str, String); 2] {
    [
        ("clusters/one/gate/aa-open.yaml", job("aa-open", "resume", "0 8 * * MON", targets)),
        ("clusters/one/gate/aa-close.yaml", job("aa-close", "suspend", "0 17 * * MON", targets)),
    ]
}

/// What the cluster does not get, and what has another job, tell nothing of what waits for the window.
#[test]
fn jobs_of_something_else_have_no_say() {
    let alone = image_with(NOW, &[]);
    assert!(alone.contains("Sat 2026-11-28 22:00 Europe/Berlin (saturday)"), "{alone}");
    assert_eq!(image_with(NOW, &pair("legacy")), alone);
    assert_eq!(image_with(NOW, &pair("apps-rt")), alone);
}

/// They turn one switch, however many close.
#[test]
fn a_second_closing_closes() {
    let open = image_with(OPEN, &[]);
    assert!(open.contains("\nAt once, while its window is open"), "{open}");
    for name in ["aa-close", "zz-close"] {
        let file = format!("clusters/one/gate/{name}.yaml");
        let told = image_with(OPEN, &[(&file, job(name, "suspend", "0 23 * * SAT", "apps-rw"))]);
        assert!(told.contains("\nSat 2026-12-05 22:00 Europe/Berlin"), "{told}");
    }
}
