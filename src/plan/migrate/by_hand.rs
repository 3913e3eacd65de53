//! The commands for Flux Kustomizations that are not in Git.

use crate::delivery::Input;
use crate::diagnostic::{Diagnostic, Place};
use crate::live::LiveKustomization;
use crate::path::RepoPath;
use crate::plan::Command;
use crate::plan::migrate::depends::may_wait;
use crate::plan::migrate::moving::{Move, heir_name};
use crate::repo::flux::artifact_path;

/// What people run to move one entry point of one cluster, in order.
///
/// Git alone does not say how far the cluster is, so without its own word all steps are given; with
/// it only what is left of the next one.
pub fn commands(input: &Input<'_>, one: &Move<'_>, live: Option<&[LiveKustomization]>) -> Vec<Command> {
    let namespace = input.spec.flux.namespace.as_str();
    let cluster = one.cluster.as_str();
    let applies = |path: &RepoPath| {
        let same = |live: &&LiveKustomization| artifact_path(&live.path).is_some_and(|own| own == *path);
        live.unwrap_or_default().iter().find(same)
    };
    let entry = input.model.entry(&one.whole);
    let planned =
        entry.map_or_else(|| input.model.name_of_folder(&one.whole), |entry| input.model.name_of(entry));
    let old_live = applies(&one.whole);
    let (home, old) =
        old_live.map_or((namespace, planned), |live| (live.namespace.as_str(), live.name.as_str()));
    let new = |position: usize, side: &RepoPath| {
        applies(side).map_or_else(|| heir_name(input, old, position), |live| live.name.clone())
    };
    let has_policy = input.model.takes_policies(cluster);
    let mut prepare = vec![Command::prepare(old, home, cluster, has_policy)];
    let mut hand_over = Vec::new();
    for (position, side) in one.sides.iter().filter(|(_, side)| applies(side).is_none()) {
        let earlier = one
            .sides
            .range(..position)
            .filter(|(earlier, _)| may_wait(input, cluster, Some(*position), **earlier));
        let named = |(earlier, side): (&usize, &RepoPath)| {
            let elsewhere = applies(side).filter(|live| live.namespace != namespace);
            elsewhere.map_or_else(|| new(*earlier, side), |live| format!("{}/{}", live.namespace, live.name))
        };
        let depends_on: Vec<String> = earlier.map(named).collect();
        hand_over.push(Command::take_over(&new(*position, side), input.spec, cluster, side, &depends_on));
    }
    hand_over.push(Command::let_go(old, home, cluster, has_policy));
    let finish = one
        .sides
        .iter()
        .filter(|(_, side)| !applies(side).is_some_and(|live| live.prune))
        .map(|(position, side)| {
            let namespace = applies(side).map_or(namespace, |live| live.namespace.as_str());
            Command::prune(&new(*position, side), namespace, cluster)
        })
        .collect::<Vec<_>>();
    match (live, old_live) {
        (None, _) => {
            prepare.extend(hand_over);
            prepare.extend(finish);
            prepare
        }
        (Some(_), Some(old)) if old.prune || has_policy && old.deletion_policy != "Orphan" => prepare,
        (Some(_), Some(_)) => hand_over,
        (Some(_), None) if one.sides.values().any(|side| applies(side).is_none()) => {
            hand_over.pop();
            hand_over
        }
        (Some(_), None) => finish,
    }
}

/// Says that there is a better way.
pub fn advice(input: &Input<'_>, one: &Move<'_>) -> Diagnostic {
    let entry = input.model.entry(&one.whole);
    let name =
        entry.map_or_else(|| input.model.name_of_folder(&one.whole), |entry| input.model.name_of(entry));
    Diagnostic::note(format!(
        "no Flux Kustomization in Git applies {} in cluster {}. Each step is a command for you, about `{name}`, as its folder suggests",
        one.whole, one.cluster
    ))
    .at(Place::file(one.whole.clone()))
    .help(format!(
        "give the commands its real name, which `flux get kustomizations --all-namespaces` lists\nwait after each command until the cluster is ready\nor commit the output of `flux export kustomization {name} --namespace {}`, with all of its fields, and migrate that",
        input.spec.flux.namespace
    ))
}

#[cfg(test)]
mod tests {

    use serde_json::json;

    use super::*;
    use crate::delivery::Model;
    use crate::plan::migrate::standing::moves;
    use crate::render::Nothing;
    use crate::repo::{File, Snapshot};
    use crate::spec;

    const SPEC: &str = "apiVersion: gitops-windows/v1\ntypes:\n  rt: {}\n  rw: { window: nights }\nwindows:\n  nights: { timeZone: Europe/Berlin, open: 0 22 * * SAT, close: 0 4 * * SUN }\nclusters:\n  edge: {}\n";

    /// Returns the words of all commands for a divided folder that Flux Kustomizations of these namespaces
    /// and names apply; a folder is below `clusters/edge/apps`.
    fn told(live: &[(&str, &str, &str)]) -> Vec<String> {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let parsed = spec::parse(&path("windows.yaml"), SPEC.as_bytes()).unwrap();
        let mut snapshot = Snapshot::default();
        for (file, text) in [
            ("kustomization.yaml", "resources: [apps-rt, apps-rw]\n"),
            ("apps-rt/kustomization.yaml", "resources: [one.yaml]\n"),
            ("apps-rt/one.yaml", "kind: ConfigMap\n"),
            ("apps-rw/kustomization.yaml", "resources: [other.yaml]\n"),
            ("apps-rw/other.yaml", "kind: ConfigMap\n"),
        ] {
            snapshot.insert(path(&format!("clusters/edge/apps/{file}")), File::new(text.as_bytes()));
        }
        let model = Model::read(&snapshot, &RepoPath::top(), &crate::delivery::Known::default(), &Nothing);
        let input = Input { spec: &parsed.spec, snapshot: &snapshot, model: &model, renderer: &Nothing };
        let live = live.iter().map(|(namespace, name, folder)| {
            LiveKustomization::of(&json!({
                "metadata": { "namespace": namespace, "name": name },
                "spec": { "path": format!("./clusters/edge/apps{folder}"), "deletionPolicy": "Orphan" },
            }))
        });
        let live: Vec<LiveKustomization> = live.collect();
        let moves = moves(&input);
        let [one] = &moves[..] else { panic!("{} moves", moves.len()) };
        commands(&input, one, Some(&live)).iter().map(|command| command.words.join(" ")).collect()
    }

    #[test]
    fn live_ones_count_in_the_namespaces_that_they_have() {
        let old = ("flux-system", "apps", "");
        let waits = |live: &[_]| {
            let found = told(live).into_iter().find(|words| words.contains("create kustomization apps-rw"));
            found.unwrap().split_once("--depends-on=").unwrap().1.to_owned()
        };
        assert_eq!(waits(&[old]), "apps-rt");
        assert_eq!(waits(&[old, ("flux-system", "first", "/apps-rt")]), "first");
        assert_eq!(waits(&[old, ("web", "first", "/apps-rt")]), "web/first");

        let let_go = told(&[("web", "old", ""), ("web", "a", "/apps-rt"), ("web", "b", "/apps-rw")]);
        assert!(let_go.len() == 1 && let_go[0].ends_with(" sh old web"), "{let_go:?}");

        let prune = told(&[("web", "a", "/apps-rt"), ("home", "b", "/apps-rw")]);
        let whose: Vec<&str> = prune.iter().map(|words| words.split(' ').nth(3).unwrap()).collect();
        assert_eq!(whose, ["a", "b"]);
        assert!(
            prune[0].contains(" --namespace web ") && prune[1].contains(" --namespace home "),
            "{prune:?}"
        );
    }
}
