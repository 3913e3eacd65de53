//! All scenes.

mod admission;
mod adoption;
mod artifact;
mod follow;
mod follow_worse;
mod gates;
mod landings;
mod migrations;
mod moves;
mod namespaces;
mod operator;
mod outages;
mod real_time;
mod roots;
mod status;
mod suspend;
mod table;
mod walk_through;

use std::collections::BTreeSet;
use std::path::Path;

use crate::scene::Scene;

/// Every scene, the long ones first.
pub const ALL: &[Scene] = &[
    Scene { name: "outage_over_the_window", play: outages::over_the_window },
    Scene { name: "outage_over_the_closing", play: outages::over_the_closing },
    Scene { name: "outage_over_the_opening", play: outages::over_the_opening },
    Scene { name: "landings_lie_within_what_pr_says", play: landings::play },
    Scene { name: "status_of_a_held_source", play: status::held },
    Scene { name: "status_of_a_pair", play: status::pair },
    Scene { name: "flux_operator_through_its_window", play: operator::play },
    Scene { name: "a_held_source_through_its_window", play: follow::play },
    Scene { name: "a_held_source_through_losses", play: follow::losses },
    Scene { name: "a_held_source_in_its_last_minute", play: follow::ends },
    Scene { name: "what_a_held_source_makes_worse", play: follow_worse::play },
    Scene { name: "a_chain_that_a_closing_overtakes", play: follow_worse::chain },
    Scene { name: "a_held_source_at_an_older_commit", play: follow_worse::older },
    Scene { name: "a_parent_that_waits_for_a_held_source", play: follow_worse::impatient },
    Scene { name: "a_held_source_of_a_suspended_parent", play: follow_worse::orphaned },
    Scene { name: "a_held_source_that_comes_while_closed", play: adoption::play },
    Scene { name: "a_held_artifact_of_a_registry", play: artifact::play },
    Scene { name: "a_held_source_of_several_namespaces", play: namespaces::held },
    Scene { name: "a_held_source_in_new_clusters", play: follow::new_clusters },
    Scene { name: "the_api_server_keeps_a_window_closed", play: admission::play },
    Scene { name: "a_table_mends_what_others_do", play: table::play },
    Scene { name: "a_freeze_ends", play: table::frozen },
    Scene { name: "one_commit_deletes_everything", play: migrations::one_commit },
    Scene { name: "walk_through", play: walk_through::play },
    Scene { name: "types_change_and_change_back_while_closed", play: moves::types },
    Scene { name: "a_later_split_while_closed", play: moves::later },
    Scene { name: "a_cluster_leaves_the_windows", play: moves::leave },
    Scene { name: "the_way_back_while_closed", play: moves::back },
    Scene { name: "migration_of_a_prefixed_fleet", play: migrations::prefixed },
    Scene { name: "migration_with_substitutions_and_alerts", play: migrations::notified },
    Scene { name: "migration_of_bases_and_overlays", play: migrations::layered },
    Scene { name: "gates_in_the_namespaces_of_their_apps", play: namespaces::play },
    Scene { name: "a_root_of_flux_operator_and_a_suspended_app", play: roots::instance },
    Scene { name: "parents_that_patch_their_children", play: roots::patched },
    Scene { name: "confirm_waits_for_the_cluster", play: migrations::confirm },
    Scene { name: "join_before_the_hand_over", play: migrations::join },
    Scene { name: "failing_job_is_seen_as_failed", play: gates::failed_job },
    Scene { name: "failing_job_is_retried", play: gates::failing_job },
    Scene { name: "generated_alerts_are_accepted", play: gates::alerts },
    Scene { name: "flux_runner_switches_and_fails_loudly", play: gates::flux_runner },
    Scene { name: "role_allows_nothing_else", play: gates::role },
    Scene { name: "real_time_through_closed_windows", play: real_time::play },
    Scene { name: "gated_infra_blocks_real_time", play: real_time::gated_infra },
    Scene { name: "suspend_survives_the_parent", play: suspend::play },
];

/// Compares the scenes that `docs/facts.md` names with those that there are.
pub fn facts() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/facts.md");
    let page = std::fs::read_to_string(page).unwrap();
    let named: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.rsplit('|').nth(1))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    let there: BTreeSet<&str> = ALL.iter().map(|scene| scene.name).collect();
    assert_eq!(named, there, "docs/facts.md must name every scene, and no other, in its last column");
}
