//! Whether a plan must know where the objects of a build come from: that costs a second build.

use crate::delivery::classify::lies_in_gate;
use crate::path::RepoPath;
use crate::repo::{Graph, Kustomization, Reference, Snapshot, Target};
use crate::spec::Spec;

/// Returns whether the origins of a folder's objects may decide about their types.
///
/// They do for rules that ask for a path or an app, for generated objects, whose names may carry a hash,
/// and for what lies in the folder of a gate. What the graph does not know may hold any of these.
pub fn matter(spec: &Spec, snapshot: &Snapshot, graph: &Graph, folder: &RepoPath) -> bool {
    let is_asked = spec.rules.iter().any(|rule| rule.matcher.path.is_some() || rule.matcher.app.is_some());
    is_asked
        || graph.reach(folder).iter().any(|folder| {
            graph.get(folder).is_none_or(|kustomization| tells(spec, snapshot, graph, kustomization))
        })
}

fn tells(spec: &Spec, snapshot: &Snapshot, graph: &Graph, kustomization: &Kustomization) -> bool {
    let root = spec.folder();
    let in_gate = |path: &RepoPath| lies_in_gate(spec, &path.relative_to(&root));
    let is_unclear = |reference: &Reference| match &reference.target {
        Target::Path(path) => {
            let real = graph.real(path);
            // kustomize tells a link to a file as it is written, and a folder by where it is.
            in_gate(path) || in_gate(&real) || !(graph.has(&real) || snapshot.file(&real).is_some())
        }
        Target::Remote | Target::Outside => true,
    };
    kustomization.keys().any(generates)
        || in_gate(&kustomization.file)
        // What a merge key brings in is not looked at.
        || kustomization.text.contains("<<")
        || kustomization.references().iter().any(is_unclear)
}

/// Returns whether a field may bring objects that stand in no file.
fn generates(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["generator", "transformer", "validator", "helm"].iter().any(|part| key.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::{Entry, File};

    const PLAIN: &str = "resources: [../base, web.yaml]\n";
    const BASE: &str = "resources: [web.yaml]\nimages: [{ name: web, newTag: '2' }]\n";
    const KINDS: &str = "{ kind: ConfigMap, type: rt }";

    /// Returns whether origins matter in `apps/prod`, by the rules and by what it and its base say.
    fn matters(rules: &str, own: &str, base: &str) -> bool {
        let path = |text: &str| RepoPath::parse(text).unwrap();
        let text = format!(
            "apiVersion: gitops-windows/v1\ntypes: {{ rt: {{}}, rw: {{}} }}\nclusters: {{ prod: {{}} }}\nrules: [{rules}, {{ type: rw }}]\n"
        );
        let spec = crate::spec::parse(&path("windows.yaml"), text.as_bytes()).unwrap().spec;
        let link = |target: &str| Entry::Symlink { target: target.to_owned() };
        let links = [
            ("apps/linked/kustomization.yaml", "../base/kustomization.yaml"),
            ("infra/reconciliation-windows/link.yaml", "../../apps/base/web.yaml"),
        ];
        let mut snapshot = Snapshot::new(links.map(|(name, target)| (path(name), link(target))).into());
        for name in ["apps/prod/web.yaml", "apps/base/web.yaml"] {
            snapshot.insert(path(name), File::new(&b""[..]));
        }
        for (name, text) in [("apps/prod", own), ("apps/base", base), ("infra/reconciliation-windows", PLAIN)]
        {
            let file = path(name).join("kustomization.yaml").unwrap();
            snapshot.insert(file, File::new(text.as_bytes()));
        }
        matter(&spec, &snapshot, &Graph::read(&snapshot), &path("apps/prod"))
    }

    #[test]
    fn origins_matter_only_where_something_asks_for_them() {
        assert!(!matters(KINDS, PLAIN, BASE));
        assert!(matters("{ path: 'apps/**', type: rt }", PLAIN, BASE));
        assert!(matters("{ app: web, type: rt }", PLAIN, BASE));
        assert!(matters(KINDS, "configMapGenerator: [{ name: a, literals: [a=b] }]\n", BASE));
        assert!(matters(
            KINDS,
            PLAIN,
            "resources: [x.yaml]\nsecretGenerator: [{ name: a, literals: [a=b] }]\n"
        ));
        assert!(matters(KINDS, "resources: [../../infra/reconciliation-windows]\n", BASE));
        assert!(matters(KINDS, "resources: [../../infra/reconciliation-windows/job.yaml]\n", BASE));
        assert!(matters(KINDS, "resources: [../../infra/reconciliation-windows/link.yaml]\n", BASE));
    }

    #[test]
    fn what_the_graph_does_not_know_may_hold_anything() {
        assert!(matters(KINDS, "resources: [../linked]\n", BASE));
        assert!(matters(KINDS, "resources: ['https://example.com/web']\n", BASE));
        assert!(matters(KINDS, "resources: [missing.yaml]\n", BASE));
        assert!(matters(KINDS, "x: &x { configMapGenerator: [] }\n<<: *x\nresources: [web.yaml]\n", BASE));
    }
}
