//! What is wrong with the spec.

use crate::support::scratch::{SPEC, Scratch};
use crate::{SPLIT, refused, sample};

#[test]
fn a_missing_spec() {
    let scratch = Scratch::fixture("sample").with_binary();
    for command in [&SPLIT[..], &["sync"]] {
        refused(&scratch, 3, command, &["there is no spec", "--> windows.yaml", "gitops-windows init"]);
    }
}

#[test]
fn a_folder_below_the_spec_and_one_without_anything() {
    let scratch = sample();
    let below = scratch.top().join("apps/web");
    let run = scratch.run_in(&below, &["verify"]);
    assert_eq!((run.code, run.stdout), (0, scratch.run(&["verify"]).stdout), "{}", run.stderr);
    let run = scratch.run_in(&below, &["explain", "deployment.yaml"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout, scratch.run(&["explain", "apps/web/deployment.yaml"]).stdout);
    std::fs::remove_file(scratch.top().join("windows.yaml")).unwrap();
    let run = scratch.run_in(&below, &["clusters"]);
    assert!(run.stdout.contains("edge-01"), "{}", run.stdout);
    let empty = Scratch::empty().with_binary();
    for command in ["check", "clusters"] {
        let run = empty.expect(3, &[command]);
        assert!(run.stderr.contains("this folder has no windows.yaml and no YAML file"), "{}", run.stderr);
    }
}

#[test]
fn an_empty_spec() {
    let scratch = sample();
    for text in ["", "# nothing\n", "---\n", "[]\n", "text\n"] {
        scratch.write("windows.yaml", text);
        refused(&scratch, 3, &SPLIT, &["error: ", "windows.yaml", "help: "]);
    }
}

#[test]
fn errors_of_the_spec_are_told_at_once() {
    let scratch = sample();
    scratch
        .replace("windows.yaml", "Europe/Berlin", "Europe/berlin")
        .replace("windows.yaml", "0 22 * * *", "0 22 * * 7")
        .replace("windows.yaml", "gate:", "gates:")
        .replace("windows.yaml", "  edge-02: {}", "  edge-01: {}");
    refused(
        &scratch,
        3,
        &SPLIT,
        &["windows.yaml:6:", "Europe/Berlin", "windows.yaml:9:", "windows.yaml:10:", "`gate`", "^", "help: "],
    );
}

#[test]
fn an_unknown_key_names_the_nearest() {
    let scratch = sample();
    scratch.replace("windows.yaml", "timeZone:", "timezone:");
    refused(&scratch, 3, &SPLIT, &["windows.yaml:6:", "timezone", "timeZone", "^^^"]);
}

#[test]
fn a_duplicate_key() {
    let scratch = sample();
    scratch.replace("windows.yaml", "  rt: {}\n", "  rt: {}\n  rt: {}\n");
    refused(&scratch, 3, &SPLIT, &["windows.yaml:4:", "rt", "help: "]);
}

#[test]
fn a_wrong_cron_expression() {
    let scratch = sample();
    for wrong in ["0 22 * *", "0 25 * * *", "0 22 * * FRI-SUN", "@reboot", "TZ=UTC 0 22 * * *"] {
        scratch.write("windows.yaml", SPEC.replace("0 22 * * *", wrong));
        refused(&scratch, 3, &SPLIT, &["windows.yaml:6:", "^", "help: "]);
    }
}

#[test]
fn a_spec_that_is_no_utf_8() {
    let scratch = sample();
    scratch.write("windows.yaml", [SPEC.as_bytes(), b"# \xff\xfe\n"].concat());
    refused(&scratch, 3, &SPLIT, &["windows.yaml", "UTF-8", "help: "]);
}

#[test]
fn a_spec_outside_of_the_repository() {
    let scratch = sample();
    std::fs::write(scratch.outside().join("other.yaml"), SPEC).unwrap();
    refused(&scratch, 2, &["--spec", "../other.yaml", "split", "--all"], &["--spec", "help: "]);
    refused(&scratch, 2, &["--spec", "/etc/passwd", "split", "--all"], &["--spec", "help: "]);
}

#[test]
fn no_command_writes_what_follows_from_a_broken_window() {
    let scratch = sample();
    scratch.expect(0, &["split", "--all", "--yes"]);
    scratch.commit();
    scratch.replace("windows.yaml", "close: 0 4 * * *", "close: 0 22 * * *");
    scratch.commit();
    let before = scratch.tree();
    for command in [&["sync"][..], &["diff"], &["split", "--all"], &["migrate"]] {
        let asked = [command, if command == ["diff"] { &[] } else { &["--yes"] }].concat();
        let told = scratch.expect(3, &asked).stderr;
        assert!(told.contains("error[GW107]"), "{command:?}: {told}");
        assert_eq!(scratch.tree(), before, "{command:?}");
    }
}

#[test]
fn a_spec_below_the_top_is_named() {
    let scratch = Scratch::fixture("sample");
    scratch.write("deploy/README.md", "Moved.\n");
    scratch.git(&["mv", "apps", "clusters", "infra", "deploy/"]);
    scratch.write("deploy/windows.yaml", SPEC).commit();
    let told = scratch.expect(3, &["when"]).stderr;
    assert!(told.contains("deploy/windows.yaml is one: `gitops-windows -C deploy …`"), "{told}");
}
