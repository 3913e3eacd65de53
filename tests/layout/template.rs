//! Templates of `layout` that lead away, or put two things into one place.

use std::collections::BTreeSet;

use crate::repository::{BOTH, TYPES, repository, spec};
use crate::support::scratch::{Scratch, assert_same};

/// Every command that writes must end with a code, say these words, and write nothing anywhere.
#[track_caller]
fn refused(scratch: &Scratch, code: i32, words: &[&str]) {
    scratch.commit();
    let before = scratch.tree();
    let outside = |scratch: &Scratch| {
        let names = std::fs::read_dir(scratch.outside()).unwrap();
        names.map(|entry| entry.unwrap().path()).collect::<BTreeSet<_>>()
    };
    let around = outside(scratch);
    for command in [&["split", "--all"][..], &["sync"]] {
        let run = scratch.expect(code, &[command, &["--yes"]].concat());
        for word in words {
            assert!(run.stderr.contains(word), "{word:?} is not in:\n{}", run.stderr);
        }
    }
    assert_same(&before, &scratch.tree(), "something was written");
    assert_eq!(outside(scratch), around, "something was written outside");
}

#[test]
fn templates_that_leave_the_repository() {
    let scratch = repository(&[("apps", BOTH)]);
    for (key, template) in [
        ("gate", "../gate"),
        ("gate", "/etc/gate"),
        ("gate", "infra/../../gate"),
        ("clusterGate", "../{cluster}"),
        ("entryPoint", "{path}/../../../../{type}"),
        ("entryPoint", "/{path}/{type}"),
        ("app", "../{path}-{type}"),
        ("openJobFile", "../open.yaml"),
    ] {
        scratch.write("windows.yaml", spec(TYPES, &format!("{{ {key}: '{template}' }}")));
        refused(&scratch, 3, &[&format!("{key} `{template}`"), "windows.yaml:5:", "^"]);
    }
}

#[cfg(unix)]
#[test]
fn a_link_on_the_way_is_not_written_through() {
    let scratch = repository(&[("apps", BOTH)]);
    let target = scratch.outside().join("target");
    std::fs::create_dir(&target).unwrap();
    std::os::unix::fs::symlink(&target, scratch.top().join("link")).unwrap();
    scratch.write("windows.yaml", spec(TYPES, "{ gate: link/gate }")).commit();
    let before = scratch.tree();
    let run = scratch.expect(5, &["sync", "--yes"]);
    assert!(run.stderr.contains("link/gate: leads out of the repository"), "{}", run.stderr);
    assert_same(&before, &scratch.tree(), "something was written");
    assert!(std::fs::read_dir(target).unwrap().next().is_none());
}

#[test]
fn templates_that_make_two_types_one() {
    let scratch = repository(&[("apps", BOTH)]);
    for (key, template) in [
        ("entryPoint", "{path}/x"),
        ("entryPoint", "sides/{type}"),
        ("app", "{path}"),
        ("app", "parts/{type}"),
        ("kustomization", "{name}"),
        ("kustomization", "{type}"),
    ] {
        scratch.write("windows.yaml", spec(TYPES, &format!("{{ {key}: '{template}' }}")));
        refused(&scratch, 3, &[&format!("{key} `{template}`"), "the same name"]);
    }
    scratch.write("windows.yaml", spec(TYPES, "{ openJob: gate, closeJob: gate }"));
    refused(&scratch, 3, &["`openJob` and `closeJob`"]);
    scratch.write("windows.yaml", spec(TYPES, "{ openJobFile: job.yaml, closeJobFile: job.yaml }"));
    refused(&scratch, 3, &["`openJobFile` and `closeJobFile`"]);
}

/// `b-c` of `apps` and `c` of `apps-b`: each template tells types apart, and still two meet.
#[test]
fn names_that_meet() {
    let scratch = repository(&[("apps", BOTH), ("apps-b", BOTH)]);
    let types = "{ c: {}, b-c: { window: night } }";
    scratch.write("windows.yaml", spec(types, "{ entryPoint: 'clusters/{cluster}/{name}-{type}' }"));
    refused(
        &scratch,
        3,
        &["gives clusters/edge/apps-b-c twice", "type b-c of clusters/edge/apps", "type c of"],
    );
    scratch.write("windows.yaml", spec(types, "{}"));
    refused(&scratch, 3, &["apps-b-c twice in cluster edge", "windows.yaml"]);
    // Segments that leave the last one out put two entry points into one folder.
    scratch.write("windows.yaml", spec(TYPES, "{ entryPoint: '{1}/{2}/sides-{type}' }"));
    refused(&scratch, 3, &["gives clusters/edge/sides-rt twice", "clusters/edge/apps-b"]);
}

#[test]
fn a_name_that_another_kustomization_has() {
    let scratch = repository(&[("apps", BOTH), ("apps-rw", BOTH)]);
    refused(&scratch, 3, &["apps-rw. In cluster edge", "applies clusters/edge/apps-rw"]);
}

#[test]
fn a_folder_with_too_few_segments_is_left_as_it_is() {
    let scratch = repository(&[("apps", BOTH)]);
    scratch.write("windows.yaml", spec(TYPES, "{ entryPoint: '{1}/{2}/{3}/{4}-{type}' }")).commit();
    let before = scratch.tree();
    let run = scratch.expect(5, &["split", "--all", "--yes"]);
    assert!(
        run.stderr.contains("`entryPoint`") && run.stderr.contains("clusters/edge/apps"),
        "{}",
        run.stderr
    );
    assert_same(&before, &scratch.tree(), "something was written");
}
