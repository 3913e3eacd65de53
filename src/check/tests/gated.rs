//! What goes while a gate suspends it.

use super::repository::{edited, findings};

/// A suspended Flux Kustomization that is deleted deletes nothing (kustomize-controller, `finalize`).
#[test]
fn what_a_gate_suspends_deletes_only_while_its_window_is_open() {
    let before = edited(&[]);
    let told = |name: &str, has_folder: bool| {
        let mut after = before.clone();
        let apps = after.get_mut("clusters/edge/apps.yaml").unwrap();
        let rest = apps.split("---\n").filter(|one| !one.contains(&format!("name: {name},")));
        *apps = rest.collect::<Vec<_>>().join("---\n");
        if !has_folder {
            after.retain(|path, _| !path.starts_with(&format!("{}/", name.replace('-', "/"))));
        }
        let (_, found) = findings(&[after], Some(std::slice::from_ref(&before))).remove(0);
        let own = found.iter().filter(|one| matches!(one.code, Some("GW048" | "GW054")));
        own.map(|one| format!("{name}: {}", one.message)).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(
        [told("apps-rw", true), told("apps-rw", false), told("apps-rt", true)].join("\n")
    );
}
