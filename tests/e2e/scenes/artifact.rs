//! A gate that holds what is pushed to a registry.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::follow::{applied, follow, open, uids};
use super::walk_through::{change_both, conf, image};
use crate::api::Change;
use crate::cluster::Cluster;
use crate::fleet::{Fleet, KUSTOMIZATIONS};
use crate::registry::Registry;
use crate::wait::{WORK, holds, until};
use crate::window::Window;

const ARTIFACTS: &str = "/apis/source.toolkit.fluxcd.io/v1/namespaces/flux-system/ocirepositories";

/// A fleet that is pushed to a registry, and its cluster.
struct Pushed<'f> {
    fleet: &'f mut Fleet,
    registry: Registry,
}

impl Pushed<'_> {
    /// Makes the repository of the guide, whose cluster reads what is pushed.
    fn scaffold(fleet: &mut Fleet) -> Pushed<'_> {
        let registry = fleet.registry();
        let options = Window::far().options();
        let mut arguments = vec!["init", "--cluster", "edge-01", "--app", "nginx", "--yes"];
        arguments.extend(options.iter().map(String::as_str));
        fleet.tool(&arguments);
        fleet.tree.git(&["add", "--all"]);
        for file in fleet.tree.git(&["ls-files"]).lines() {
            let text = fleet.tree.text(file);
            fleet.tree.write(file, text.replace("kind: GitRepository", "kind: OCIRepository"));
        }
        let root = format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\n\
             metadata: {{ name: flux-system, namespace: flux-system }}\n\
             spec: {{ interval: 1m, insecure: true, url: \"{}\", ref: {{ tag: latest }} }}\n---\n\
             apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
             metadata: {{ name: flux-system, namespace: flux-system }}\n\
             spec:\n  interval: 10m\n  path: ./clusters/edge-01/flux\n  prune: true\n  \
             sourceRef: {{ kind: OCIRepository, name: flux-system }}\n",
            registry.url()
        );
        let place = "clusters/edge-01/flux/flux-system/gotk-sync.yaml";
        fleet.tree.write(place, root);
        follow(fleet, None);
        fleet.tree.git(&["add", "--all"]);
        fleet.tool(&["sync", "--yes", "--allow-dirty"]);
        let pushed = Pushed { fleet, registry };
        pushed.merge("Begin with nginx on edge-01");
        pushed.fleet.start("edge-01");
        let place = pushed.fleet.tree.top().join(place);
        pushed.fleet.clusters[0].kubectl(&["apply", "--filename", place.to_str().unwrap()]);
        pushed
    }

    fn cluster(&self) -> &Cluster {
        &self.fleet.clusters[0]
    }

    /// Commits everything and pushes it, which moves the tag; gives the digest.
    fn merge(&self, message: &str) -> String {
        self.fleet.merge(message);
        let digest = self.registry.push(&self.fleet.tree, self.fleet.tree.top());
        for cluster in &self.fleet.clusters {
            cluster.reconcile(&format!("{ARTIFACTS}/flux-system"));
        }
        digest
    }

    /// Waits until something has applied a digest.
    #[track_caller]
    fn is_at(&self, name: &str, digest: &str) {
        until(&format!("{name} applies {digest}"), WORK, || {
            applied(self.cluster(), name).filter(|own| own.ends_with(digest))
        });
    }

    fn held(&self) -> Option<Value> {
        self.cluster().api.get(&format!("{ARTIFACTS}/flux-system-rw"))
    }

    /// Returns the digest at which the held source is.
    fn pin(&self) -> Option<String> {
        self.held()?["spec"]["ref"]["digest"].as_str().map(str::to_owned)
    }

    /// Deletes something, and lets what applies it make it again.
    #[track_caller]
    fn made_again(&self, paths: &[String], by: &[&str]) {
        for path in paths {
            self.cluster().api.change(path, Change::Delete).unwrap();
            until("it is gone", WORK, || self.cluster().api.get(path).is_none().then_some(()));
        }
        by.iter().for_each(|name| self.cluster().reconcile(&format!("{KUSTOMIZATIONS}/{name}")));
    }
}

/// First install, what waits, all that may be lost meanwhile, a suspended parent, and the window.
pub fn play(fleet: &mut Fleet) {
    let pushed = Pushed::scaffold(fleet);
    // New: nothing can be fetched before the gate has spoken, and then everything is let in.
    let first = until("the first run lets in a digest", WORK, || pushed.pin());
    for name in ["flux-system", "infra", "apps-rt", "apps-rw"] {
        pushed.is_at(name, &first);
    }
    assert!(image(pushed.cluster()).ends_with("1.29-alpine"));
    let before = uids(pushed.cluster());

    // A commit waits, though the tag has moved.
    change_both(pushed.fleet, ("1.29-alpine", "1.30-alpine"), ("Changed at once", "First change"));
    let second = pushed.merge("A commit that waits");
    until("the configuration lands at once", WORK, || {
        conf(pushed.cluster()).contains("First change").then_some(())
    });
    pushed.cluster().reconcile(&format!("{ARTIFACTS}/flux-system-rw"));
    pushed.cluster().reconciled("apps-rw");
    assert_eq!(pushed.pin().as_deref(), Some(first.as_str()));
    assert!(image(pushed.cluster()).ends_with("1.29-alpine"), "the commit that waited has landed");

    // Without a digest nothing can be fetched: no registry has such a tag.
    let source = format!("{ARTIFACTS}/flux-system-rw");
    let nothing = json!({ "spec": { "ref": { "digest": null } } });
    pushed.cluster().api.change(&source, Change::Merge("kubectl-patch", &nothing)).unwrap();
    pushed.cluster().reconcile(&source);
    assert_eq!(until("the next run sets the digest again", WORK, || pushed.pin()), first);

    // Source, Flux Kustomization, both of them, and the store.
    let gated = format!("{KUSTOMIZATIONS}/apps-rw");
    for lost in [vec![source.clone()], vec![gated.clone()], vec![source.clone(), gated.clone()]] {
        pushed.made_again(&lost, &["infra", "flux-system"]);
        assert_eq!(until("the next run sets the digest again", WORK, || pushed.pin()), first);
        pushed.is_at("apps-rw", &first);
    }
    pushed.cluster().lose_sources();
    pushed.cluster().reconcile(&source);
    let deployment = "/apis/apps/v1/namespaces/nginx/deployments/nginx";
    let drift = json!({ "spec": { "template": { "spec": { "containers": [{ "name": "nginx", "image": "nginx:drift" }] } } } });
    pushed.cluster().api.change(deployment, Change::Merge("kubectl-edit", &drift)).unwrap();
    pushed.cluster().reconcile(&gated);
    until("the drift heals", WORK, || image(pushed.cluster()).ends_with("1.29-alpine").then_some(()));
    assert_eq!(uids(pushed.cluster()), before, "an object was made again");

    // Suspended, the parent applies no table that opens.
    let infra = format!("{KUSTOMIZATIONS}/infra");
    let suspend = |value: bool| {
        let patch = json!({ "spec": { "suspend": value } });
        pushed.cluster().api.change(&infra, Change::Merge("flux", &patch)).unwrap();
    };
    suspend(true);
    let given = Window::ahead(SignedDuration::from_secs(-60), 60);
    open(pushed.fleet, &given);
    pushed.fleet.tool(&["sync", "--yes", "--allow-dirty"]);
    let third = pushed.merge("Open for a while");
    pushed.is_at("apps-rt", &third);
    let looked = Timestamp::now() + SignedDuration::from_secs(75);
    holds(
        "what the suspended parent does not apply opens nothing",
        WORK,
        || Timestamp::now() >= looked,
        || pushed.pin().as_deref() == Some(first.as_str()),
    );
    assert_ne!(second, third);

    // Resumed, it opens: the newest digest is let in, with an Event, and people see the commit.
    suspend(false);
    pushed.cluster().reconcile(&infra);
    until("the digest is let in", WORK, || pushed.pin().filter(|pin| *pin == third));
    pushed.is_at("apps-rw", &third);
    until("the image lands", WORK, || image(pushed.cluster()).ends_with("1.30-alpine").then_some(()));
    let events = pushed.cluster().api.list("/api/v1/namespaces/flux-system/events");
    let is_it =
        |event: &&Value| event["reason"] == "Advanced" && event["involvedObject"]["kind"] == "OCIRepository";
    assert!(events.iter().any(|event| is_it(&event)), "{events:#?}");
    assert_eq!(uids(pushed.cluster()), before, "an object was made again");
    let told = pushed.fleet.tool_on_cluster(0, &["status", "--format", "json"]);
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    let commit = pushed.fleet.tree.git(&["rev-parse", "HEAD"]);
    let held = &told["clusters"][0]["gates"][0]["kustomizations"][0];
    assert_eq!((&held["state"], &held["applied"]), (&json!("open"), &json!(commit.trim())), "{told:#}");
}
