//! Every cluster of a report is found by its name.

use super::repository::{compared, files, with, with_cluster};
use crate::pr::{Flavor, html, markdown, text};

const CITIES: [&str; 8] = ["bonn", "graz", "linz", "oslo", "paris", "rome", "turin", "vaduz"];

#[test]
fn many_clusters_are_all_named() {
    let mut base = CITIES.iter().fold(files(), |all, city| with_cluster(&all, city));
    base.retain(|path, _| !path.starts_with("clusters/one/"));
    let report = compared(&base, &with(&base, &[("apps/apps-rw/deployment.yaml", "1.29.0", "1.30.0")]));
    let forms = [
        text(&report),
        markdown(&report, Flavor::Github, usize::MAX),
        markdown(&report, Flavor::Bitbucket, usize::MAX),
        html(&report, None),
    ];
    for form in &forms {
        for city in CITIES {
            assert!(form.contains(city), "{city} is not in {form}");
        }
    }
    let [_, comment, ..] = forms;
    insta::assert_snapshot!(comment.split("<sub>").next().unwrap());
}
