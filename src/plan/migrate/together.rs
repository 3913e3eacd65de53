//! Entry points that several clusters apply and that keep a rest: what moves leaves all of them at once.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::Input;
use crate::plan::Stage;
use crate::plan::migrate::moving::{Key, Move};
use crate::plan::migrate::standing::moves;
use crate::plan::problem::Problem;

/// Gives the moves that can't be handed over by themselves: another cluster would lose what moves, since
/// it applies the same folder and does not take this step.
///
/// `found` are the moves that were asked for, of which those go that are not `stopped`.
pub fn apart(
    input: &Input<'_>,
    found: &[Move<'_>],
    stopped: &BTreeMap<Key, Problem>,
) -> BTreeMap<Key, Problem> {
    let goes = |one: &&Move<'_>| one.stage == Stage::Restructured && !stopped.contains_key(&one.key());
    let going: Vec<&Move<'_>> = found.iter().filter(goes).collect();
    let mut stops = BTreeMap::new();
    for one in going.iter().filter(|one| one.leaves_rest()) {
        let appliers = input.model.flux_at(&one.whole).map(|flux| flux.cluster.clone());
        let others: BTreeSet<String> = appliers.filter(|cluster| *cluster != one.cluster).collect();
        let alone = others
            .iter()
            .find(|cluster| !going.iter().any(|go| go.whole == one.whole && go.cluster == **cluster));
        if let Some(other) = alone {
            stops.insert(one.key(), stop(input, one, other, found, stopped));
        }
    }
    stops
}

/// Says what keeps the other cluster from taking the step too.
fn stop(
    input: &Input<'_>,
    one: &Move<'_>,
    other: &str,
    found: &[Move<'_>],
    stopped: &BTreeMap<Key, Problem>,
) -> Problem {
    let key = (other.to_owned(), one.whole.clone());
    let remedy = match (stopped.get(&key), found.iter().any(|found| found.key() == key)) {
        (Some(stop), _) => {
            format!("{other} can't go on: {}\n{}\nlet both go on together", stop.reason, stop.remedy())
        }
        (None, true) => format!("bring {other} to the same step first\nlet both go on together"),
        (None, false) if !input.spec.clusters.contains_key(other) => format!(
            "name {other} under `clusters` in {}\nrun `gitops-windows sync`\nrun `gitops-windows migrate` for both\nor give it a folder of its own",
            input.spec.path
        ),
        (None, false) => {
            let stage = moves(input).into_iter().find(|found| found.key() == key).map(|found| found.stage);
            match stage {
                Some(Stage::Stuck(stop)) => {
                    format!("{other} is stuck: {}\n{}\nlet both go on together", stop.reason, stop.remedy())
                }
                _ => format!("add `--cluster {other}`, so that both take the step in one commit"),
            }
        }
    };
    Problem::new(
        format!(
            "cluster {other} applies {} too and does not take this step. It would lose objects",
            one.whole
        ),
        remedy,
    )
}
