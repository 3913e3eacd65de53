//! Clusters of which only their folders tell.

use std::collections::BTreeSet;

use crate::delivery::Model;
use crate::diagnostic::Diagnostic;
use crate::spec::Spec;
use crate::text::ranges;

impl Model {
    /// Says which clusters the spec does not name and nothing in Git tells of but their folders; `None` where there are none.
    pub fn guess(&self, spec: Option<&Spec>) -> Option<Diagnostic> {
        let is_named =
            |name: &str| spec.is_some_and(|spec| spec.all_clusters().any(|own| own.name.value == name));
        self.guess_among(&|name| !is_named(name))
    }

    /// As [`guess`](Model::guess), of those that are meant.
    pub fn guess_among(&self, is_meant: &dyn Fn(&str) -> bool) -> Option<Diagnostic> {
        let proposed = self.delivered.all.iter().filter(|one| !one.is_said() && is_meant(&one.name));
        let proposed: BTreeSet<&str> = proposed.map(|one| one.name.as_str()).collect();
        let (count, names) = (proposed.len(), ranges(proposed.into_iter()).join(", "));
        let text = match count {
            0 => return None,
            1 => format!("the folder of {names} is a guess: nothing in Git names its root"),
            _ => format!("the folders of {names} are a guess: nothing in Git names their roots"),
        };
        Some(Diagnostic::note(text).help(CORRECT))
    }
}

/// What to do where a guess is wrong.
pub(crate) const CORRECT: &str = "where that is wrong, correct that cluster in windows.yaml\nor before that is written: `gitops-windows init --cluster-folder NAME=FOLDER`";

#[cfg(test)]
mod tests {
    use crate::delivery::Known;
    use crate::delivery::reading::tests::{SERVICE, flux, read};
    use crate::path::RepoPath;

    /// A folder beside the clusters for tests alone, on the base of a real one.
    #[test]
    fn what_the_spec_does_not_name_is_told_as_a_guess() {
        let (root, apps) = (flux("flux-system", "./clusters/prod", ""), flux("apps", "./apps", ""));
        let files = [
            ("clusters/base/kustomization.yaml", "resources: [apps.yaml]\n"),
            ("clusters/base/apps.yaml", apps.as_str()),
            ("clusters/prod/kustomization.yaml", "resources: [../base]\n"),
            ("clusters/prod/flux-system/gotk-sync.yaml", &root),
            ("clusters/ci-test/kustomization.yaml", "resources: [../base]\n"),
            ("apps/s.yaml", SERVICE),
        ];
        let told = |clusters: Option<&str>| {
            let text = |clusters: &str| {
                format!(
                    "apiVersion: gitops-windows/v1\ntypes: {{ rt: {{}}, rw: {{ window: w }} }}\nwindows: {{ w: {{ timeZone: UTC, open: 0 22 * * SAT, close: 0 2 * * SUN }} }}\nclusters: {clusters}\n"
                )
            };
            let path = RepoPath::parse("windows.yaml").unwrap();
            let spec =
                clusters.map(|clusters| crate::spec::parse(&path, text(clusters).as_bytes()).unwrap().spec);
            let known = spec.as_ref().map(Known::of).unwrap_or_default();
            read(&known, &files).guess(spec.as_ref()).map(|guess| guess.message)
        };
        let guess = Some("the folder of ci-test is a guess: nothing in Git names its root".to_owned());
        assert_eq!(told(None), guess);
        assert_eq!(told(Some("{ prod: {} }")), guess);
        assert_eq!(told(Some("{ prod: {}, ci-test: {} }")), None);
        // Whoever names roots names all.
        assert_eq!(told(Some("{ prod: { roots: [clusters/prod] } }")), None);
    }
}
