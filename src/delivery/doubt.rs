//! What keeps it open whether a cluster has a Flux Kustomization that Git would bring to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::delivery::about::Id;
use crate::delivery::clusters::Bringer;
use crate::delivery::stuck::Stuck;
use crate::delivery::withheld::DEEPEST;
use crate::delivery::{Cluster, Model, Reached, Root};
use crate::render::is_of_here;
use crate::repo::FluxKustomization;

/// Why Git does not tell whether a cluster has a Flux Kustomization: nothing brings it now, and something may have before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// Git suspends this one, which brings it.
    Suspended(String),
    /// This Flux Kustomization or root, which brings it, does not build.
    Unbuilt(String),
    /// This one, which brings it, depends on another one that is not in Git, the second name: nobody knows whether it ever
    /// applies anything.
    Unsaid(String, String),
    /// Flux applies what this one builds as a ServiceAccount, the second name, to which no role is bound.
    Unprivileged(String, String),
}

impl Doubt {
    /// Says what keeps it from the cluster.
    pub fn why(&self) -> String {
        match self {
            Doubt::Suspended(above) => format!("Git suspends {above}, which brings it"),
            Doubt::Unbuilt(above) => format!("{above}, which brings it, does not build"),
            Doubt::Unsaid(above, other) => {
                format!("{above}, which brings it, depends on {other}, which is not in Git")
            }
            Doubt::Unprivileged(above, account) => {
                format!(
                    "{above}, which brings it, is applied as ServiceAccount {account}, which no role is bound to"
                )
            }
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "perhaps not in the cluster: {}", self.why())
    }
}

impl Reached {
    /// Returns whether its build fails, also for Flux, as far as that was made to read the cluster.
    pub fn fails(&self) -> bool {
        self.error.as_ref().is_some_and(|message| !is_of_here(message))
    }
}

impl Cluster {
    /// Returns whether Git keeps from the cluster what a Flux Kustomization that is new would apply: by `suspend: true` of
    /// that, or of one on the way to it.
    pub fn is_kept_out(&self, one: &Reached) -> bool {
        let mut next = one;
        for _ in 0..DEEPEST {
            if next.is_suspended() {
                return true;
            }
            let Some(above) = self.parent(next) else { break };
            next = above;
        }
        false
    }

    /// Returns whether the build of some Flux Kustomization or of a root fails, so that it may bring what Git does not show.
    pub fn has_failing(&self) -> bool {
        !self.failing_roots.is_empty() || self.kustomizations.iter().any(Reached::fails)
    }

    /// Returns why it is open whether the cluster has a Flux Kustomization; `None` where something brings it.
    pub fn doubt(&self, one: &Reached) -> Option<&Doubt> {
        let position = self.position(one)?;
        self.doubts.get_or_init(|| self.find_doubts()).get(&position)
    }

    /// Returns the doubt about what a Flux Kustomization brings that depends on another one which is not in Git.
    fn unsaid_by(&self, one: &Reached) -> Option<Doubt> {
        self.unsaid(one).map(|other| Doubt::Unsaid(one.name().to_owned(), other.to_owned()))
    }

    /// Returns the doubt about what a Flux Kustomization brings, where that itself, or one on the way to it, depends on
    /// another one which is not in Git.
    pub(super) fn unsaid_on_way(&self, one: &Reached) -> Option<Doubt> {
        let above = || self.doubt(one).filter(|doubt| matches!(doubt, Doubt::Unsaid(..))).cloned();
        self.unsaid_by(one).or_else(above)
    }

    /// Returns why no commit reaches a Flux Kustomization: nothing of what brings it applies one. `None` where something does.
    ///
    /// What waits then comes all at once, when that is mended.
    pub fn barred(&self, one: &Reached) -> Option<&str> {
        let position = self.position(one)?;
        let find = || {
            let why = |above: &Reached| {
                let broken =
                    || above.fails().then(|| format!("Flux Kustomization {} does not build", above.name()));
                let stuck = || self.stuck(above).map(|stuck| self.stuck_above(above, &stuck));
                broken().or_else(stuck)
            };
            self.find_kept(&why, &|root| format!("root {} does not build", root.folder))
        };
        self.barred.get_or_init(find).get(&position).map(String::as_str)
    }

    fn stuck_above(&self, above: &Reached, stuck: &Stuck) -> String {
        match stuck {
            Stuck::Dependency(other) => {
                format!("Flux Kustomization {} depends on {other}, which never lands", above.name())
            }
            _ => stuck.of(above.name()),
        }
    }

    fn find_doubts(&self) -> BTreeMap<usize, Doubt> {
        let why = |above: &Reached| match (above.is_suspended(), above.fails()) {
            (true, _) => Some(Doubt::Suspended(above.name().to_owned())),
            (false, true) => Some(Doubt::Unbuilt(above.name().to_owned())),
            (false, false) => self.unsaid_by(above),
        };
        self.find_kept(&why, &|root| Doubt::Unbuilt(format!("root {}", root.folder)))
    }

    /// Goes down from the roots as far as something brings what is next. `why` says what keeps one from bringing anything, and
    /// `of_root` says it of a root that does not build.
    fn find_kept<T: Clone>(
        &self,
        why: &dyn Fn(&Reached) -> Option<T>,
        of_root: &dyn Fn(&Root) -> T,
    ) -> BTreeMap<usize, T> {
        let all = &self.kustomizations;
        let own: Vec<Option<T>> = all.iter().map(why).collect();
        let mut brought: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
        for (position, one) in all.iter().enumerate() {
            for above in one.bringers.iter().filter_map(|by| by.kustomization()) {
                brought[above].push(position);
            }
        }
        let is_begun = |by: &Bringer| match by {
            Bringer::People => true,
            Bringer::Root(root) => !self.failing_roots.contains_key(root),
            Bringer::Kustomization(_) => false,
        };
        let is_root = |one: &Reached| one.bringers.iter().any(is_begun);
        let mut is_sure: Vec<bool> = all.iter().map(is_root).collect();
        let mut queue: Vec<usize> = (0..all.len()).filter(|position| is_sure[*position]).collect();
        while let Some(next) = queue.pop() {
            for below in brought[next].iter().filter(|_| own[next].is_none()) {
                if !std::mem::replace(&mut is_sure[*below], true) {
                    queue.push(*below);
                }
            }
        }
        let by_first = |position: usize| match all[position].bringers.first()? {
            Bringer::People => None,
            Bringer::Root(root) => self.failing_roots.get(root).map(|_| of_root(&self.roots[*root])),
            Bringer::Kustomization(above) => own[*above].clone(),
        };
        let doubt = |position: usize| {
            let above = |position: &usize| all[*position].bringers.first()?.kustomization();
            let mut way = std::iter::successors(Some(position), above).take(DEEPEST);
            way.find_map(&by_first)
        };
        // Two files may fight over one name: the cluster has what either brings.
        let sure: BTreeSet<Id<'_>> = (0..all.len())
            .filter(|position| is_sure[*position])
            .map(|position| all[position].key())
            .collect();
        let open = (0..all.len()).filter(|position| !sure.contains(&all[*position].key()));
        open.filter_map(|position| Some((position, doubt(position)?))).collect()
    }
}

impl Model {
    /// As [`Cluster::barred`], of one in a file.
    pub fn barred(&self, one: &FluxKustomization) -> Option<&str> {
        self.delivered.named(&one.read_in)?.barred(self.reached(one)?)
    }

    /// As [`Cluster::doubt`], of one in a file.
    pub fn doubt(&self, one: &FluxKustomization) -> Option<&Doubt> {
        self.delivered.named(&one.read_in)?.doubt(self.reached(one)?)
    }

    /// Returns the Flux Kustomization with `suspend: true` in Git that keeps out what another one applies: itself, or,
    /// where each one that applies it is kept out in turn, one of those.
    pub fn kept_out_by<'m>(&'m self, one: &'m FluxKustomization) -> Option<&'m FluxKustomization> {
        self.suspended_on_way(one, &mut Vec::new())
    }

    fn suspended_on_way<'m>(
        &'m self,
        one: &'m FluxKustomization,
        way: &mut Vec<&'m FluxKustomization>,
    ) -> Option<&'m FluxKustomization> {
        if one.is_suspended() || way.iter().any(|above| std::ptr::eq(*above, one)) {
            return Some(one).filter(|one| one.is_suspended());
        }
        way.push(one);
        let mut above = self.parents(one).into_iter().map(|parent| self.suspended_on_way(parent, way));
        let first = above.next().flatten();
        let found = first.filter(|_| above.all(|other| other.is_some()));
        way.pop();
        found
    }
}

#[cfg(test)]
mod tests {
    use crate::delivery::reading::tests::{SERVICE, believed, flux, read};
    use crate::delivery::{Known, Reached};
    use crate::path::RepoPath;

    const CONFLICT: &str = "\
resources:
- apps.yaml
<<<<<<< HEAD
- web.yaml
=======
- db.yaml
>>>>>>> other
";

    /// Returns of all that a cluster gets, but for its root, why that is open.
    fn told(files: &[(&str, &str)]) -> Vec<String> {
        let model = read(&Known::default(), files);
        let cluster = &model.delivered.all[0];
        let told = |one: &Reached| {
            let doubt = cluster.doubt(one).map_or("there".to_owned(), ToString::to_string);
            format!("{}: {doubt}", one.name())
        };
        cluster.kustomizations.iter().skip(1).map(told).collect()
    }

    #[test]
    fn what_a_suspended_one_brings_may_not_be_there() {
        let root = flux("flux-system", "./clusters/prod", "");
        let above = flux("above", "./above", "suspend: true");
        let below = flux("below", "./below", "");
        let (deep, beside) = (flux("deep", "./deep", ""), flux("beside", "./below", ""));
        let mut files = vec![
            ("clusters/prod/sync.yaml", root.as_str()),
            ("clusters/prod/above.yaml", above.as_str()),
            ("clusters/prod/beside.yaml", beside.as_str()),
            ("above/below.yaml", below.as_str()),
            ("below/deep.yaml", deep.as_str()),
            ("deep/s.yaml", SERVICE),
        ];
        assert_eq!(
            told(&files),
            [
                "above: there",
                "beside: there",
                "below: perhaps not in the cluster: Git suspends above, which brings it",
                // Another one brings it all the same.
                "deep: there",
            ]
        );
        files.remove(2);
        // Another file of the same name stands where something brings it.
        files.push(("clusters/prod/below.yaml", below.as_str()));
        assert!(told(&files).iter().all(|told| told.ends_with(": there")), "{:?}", told(&files));
        files.pop();
        let of_deep = "deep: perhaps not in the cluster: Git suspends above, which brings it";
        assert_eq!(told(&files).last().map(String::as_str), Some(of_deep));
    }

    #[test]
    fn what_depends_on_something_outside_of_git_may_bring_nothing() {
        let root = flux("flux-system", "./clusters/prod", "");
        let above = flux("above", "./above", "dependsOn: [{ name: outside }]");
        let beside = flux("beside", "./beside", "dependsOn: [{ name: above }]");
        let (below, deep) = (flux("below", "./below", ""), flux("deep", "./deep", ""));
        let files = [
            ("clusters/prod/sync.yaml", root.as_str()),
            ("clusters/prod/above.yaml", &above),
            ("clusters/prod/beside.yaml", &beside),
            ("above/below.yaml", &below),
            ("beside/deep.yaml", &deep),
            ("deep/s.yaml", SERVICE),
        ];
        let open = |name: &str, above: &str| {
            let why = format!("{above}, which brings it, depends on outside, which is not in Git");
            format!("{name}: perhaps not in the cluster: {why}")
        };
        assert_eq!(
            told(&files),
            [
                "above: there".to_owned(),
                "beside: there".to_owned(),
                open("below", "above"),
                open("deep", "beside")
            ]
        );
    }

    #[test]
    fn what_nothing_brings_a_commit_to_is_barred() {
        let root = flux("flux-system", "./clusters/prod", "");
        let apps = flux("apps", "./apps", "");
        let barred = |beside: (&str, &str), source: &str| {
            let files = [
                ("clusters/prod/sync.yaml", root.as_str()),
                ("clusters/prod/source.yaml", source),
                ("clusters/prod/apps.yaml", apps.as_str()),
                ("apps/s.yaml", SERVICE),
                beside,
            ];
            let model = read(&Known::default(), &files);
            let cluster = &model.delivered.all[0];
            let apps = cluster.kustomizations.iter().find(|one| one.name() == "apps");
            apps.and_then(|apps| cluster.barred(apps)).map(str::to_owned)
        };
        let source = |more: &str| {
            let meta = "metadata: { name: flux-system, namespace: flux-system }";
            format!(
                "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n{meta}\nspec: {{ interval: 1m, url: https://git.example.com/fleet{more} }}\n"
            )
        };
        let fine = ("clusters/prod/b.yaml", SERVICE);
        assert_eq!(barred(fine, &source("")), None);
        let suspended = barred(fine, &source(", suspend: true"));
        assert_eq!(suspended.as_deref(), Some("Git suspends GitRepository flux-system"));
        // YAML that is no manifest: Flux lists it, and the whole build fails.
        let broken = barred(("clusters/prod/node.yaml", "#cloud-config\nhostname: x\n"), &source(""));
        assert_eq!(broken.as_deref(), Some("Flux Kustomization flux-system does not build"));
    }

    #[test]
    fn what_a_failing_root_of_the_spec_brings_may_not_be_there() {
        let (apps, deep) = (flux("apps", "./apps", ""), flux("deep", "./deep", ""));
        let told = |list: &str| {
            let files = [
                ("clusters/prod/kustomization.yaml", list),
                ("clusters/prod/apps.yaml", apps.as_str()),
                ("apps/deep.yaml", &deep),
                ("deep/s.yaml", SERVICE),
                ("more/kustomization.yaml", "resources: [apps.yaml]\n"),
                ("more/apps.yaml", &apps),
            ];
            let folder = |text: &str| RepoPath::parse(text).unwrap();
            let roots = [folder("clusters/prod"), folder("more")];
            let roots = |count: usize| [("prod".to_owned(), roots[..count].to_vec())].into();
            [1, 2].map(|count| {
                let model = read(&Known { roots: roots(count), ..Known::default() }, &files);
                let cluster = &model.delivered.all[0];
                let doubt = |one: &Reached| {
                    let doubt = cluster.doubt(one).map_or("there".to_owned(), ToString::to_string);
                    format!("{}: {doubt}, {}", one.name(), cluster.barred(one).unwrap_or("reached"))
                };
                cluster.kustomizations.iter().map(doubt).collect::<Vec<_>>()
            })
        };
        let fine = vec!["apps: there, reached", "deep: there, reached"];
        assert_eq!(told("resources: [apps.yaml]\n")[0], fine);
        let why = "perhaps not in the cluster: root clusters/prod, which brings it, does not build";
        let barred = "root clusters/prod does not build";
        let [alone, beside] = told("resources: [apps.yaml, missing.yaml]\n");
        assert_eq!(alone, ["apps", "deep"].map(|name| format!("{name}: {why}, {barred}")));
        // Another root brings one of that name all the same.
        assert!(beside.contains(&"apps: there, reached".to_owned()), "{beside:?}");
    }

    #[test]
    fn what_flux_bootstrap_is_yet_to_write_hides_no_other_failure() {
        let (root, apps) = (flux("flux-system", "./clusters/prod", ""), flux("apps", "./apps", ""));
        const PATCHES: &str = "\
resources: [gotk-components.yaml, gotk-sync.yaml]
patches:
- target: { kind: Deployment, name: (kustomize-controller|helm-controller) }
  patch: '- { op: add, path: /spec/template/spec/containers/0/args/-, value: --concurrent=20 }'
- target: { kind: Deployment, name: source-watcher }
  patch: '- { op: replace, path: /spec/template/spec/containers/0/args/6, value: --storage-adv-addr=here }'
- patch: '{ apiVersion: v1, kind: ServiceAccount, metadata: { name: kustomize-controller, namespace: flux-system, labels: { a: b } } }'
- patch: '{ apiVersion: v1, kind: Service, metadata: { name: webhook-receiver, namespace: flux-system }, spec: { type: LoadBalancer } }'
- patch: '{ apiVersion: v1, kind: ResourceQuota, metadata: { name: critical-pods-flux-system, namespace: flux-system }, $patch: delete }'
- patch: '{ apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: { name: cluster-reconciler-flux-system }, $patch: delete }'
- patch: '{ apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: { name: alerts.notification.toolkit.fluxcd.io, labels: { a: b } } }'
";
        let told = |own: &str, more: &str| {
            let list = format!("resources: [flux-system, apps.yaml{more}]\n");
            told(&[
                ("clusters/prod/flux-system/gotk-sync.yaml", root.as_str()),
                ("clusters/prod/flux-system/kustomization.yaml", own),
                ("clusters/prod/kustomization.yaml", &list),
                ("clusters/prod/apps.yaml", &apps),
                ("apps/s.yaml", SERVICE),
            ])
        };
        assert_eq!(told(PATCHES, ""), ["apps: there"]);
        let why = "perhaps not in the cluster: flux-system, which brings it, does not build";
        assert_eq!(told(PATCHES, ", missing.yaml"), [format!("apps: {why}")]);
        assert_eq!(told(PATCHES, ", sub/gotk-components.yaml"), ["apps: there"]);
        // The real ones may have what nothing stands for.
        let strange =
            |patch: &str| format!("resources: [gotk-components.yaml, gotk-sync.yaml]\npatches: [{patch}]\n");
        let object =
            "{ patch: '{ apiVersion: v1, kind: Secret, metadata: { name: own, namespace: flux-system } }' }";
        let field = "{ target: { kind: Deployment }, patch: '- { op: remove, path: /spec/own }' }";
        for patch in [object, field] {
            assert_eq!(told(&strange(patch), ""), ["apps: there"], "{patch}");
        }
    }

    #[test]
    fn a_list_that_cannot_be_read_lists_what_its_lines_show() {
        let root = flux("flux-system", "./clusters/prod", "");
        let all = flux("all", "./all", "");
        let [apps, web, off] = ["apps", "web", "off"].map(|name| flux(name, "./apps", ""));
        let mut files = [
            ("clusters/prod/sync.yaml", root.as_str()),
            ("clusters/prod/all.yaml", all.as_str()),
            ("all/kustomization.yaml", CONFLICT),
            ("all/apps.yaml", apps.as_str()),
            ("all/web.yaml", web.as_str()),
            ("all/off.yaml", off.as_str()),
            ("apps/s.yaml", SERVICE),
        ];
        let why = "perhaps not in the cluster: all, which brings it, does not build";
        let is_open = |name: &str| format!("{name}: {why}");
        assert_eq!(told(&files), ["all: there".to_owned(), is_open("apps"), is_open("web")]);
        assert!(believed(&files).contains("not alive: all/off.yaml off"));
        // Where no line shows anything, it may be all that stands there.
        files[2].1 = "resources: {\n";
        let all = ["apps", "off", "web"].map(is_open);
        assert_eq!(told(&files)[1..], all);
        assert!(!believed(&files).contains("not alive"));
    }
}
