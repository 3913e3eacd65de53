//! The clusters that a freeze or an override is about.

use crate::error::Error;
use crate::spec::exceptions::usage;
use crate::spec::windows::{set_names, unknown_cluster};
use crate::spec::{Clusters, Spec};
use crate::text::did_you_mean;
use crate::yaml::{EditError, Editor, Key};

/// Clusters as a command line names them: by name, or by the labels that all of them have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// The names.
    pub clusters: Vec<String>,
    /// The labels.
    pub labels: Vec<(String, String)>,
}

impl About {
    /// Returns whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.clusters.is_empty() && self.labels.is_empty()
    }

    /// Returns the clusters of a spec that are meant; all where nothing is named.
    ///
    /// # Errors
    ///
    /// When the spec has no such cluster.
    pub fn among(&self, spec: &Spec) -> Result<Vec<String>, Error> {
        self.known(spec)?;
        let is_named = |cluster: &String| self.clusters.is_empty() || self.clusters.contains(cluster);
        let is_labelled = |cluster: &str| {
            let own = spec.clusters.get(cluster).map(|cluster| &cluster.labels);
            let has = |(key, value): &(String, String)| own?.get(key).filter(|label| label.value == *value);
            self.labels.iter().all(|label| has(label).is_some())
        };
        let all = spec.clusters.keys().filter(|cluster| is_named(cluster) && is_labelled(cluster));
        Ok(all.cloned().collect())
    }

    /// Returns whether a freeze or an override of the spec names just these.
    pub(super) fn is(&self, clusters: &Clusters) -> bool {
        match clusters {
            Clusters::All => self.is_empty(),
            Clusters::Named(names) => {
                names.iter().map(|name| &name.value).eq(&self.clusters) && self.labels.is_empty()
            }
            Clusters::Labelled(labels) => {
                let has = |(key, value): &(String, String)| {
                    labels.get(key).is_some_and(|label| label.value == *value)
                };
                labels.len() == self.labels.len() && self.labels.iter().all(has) && self.clusters.is_empty()
            }
        }
    }

    /// Makes sure that the spec has such clusters.
    ///
    /// # Errors
    ///
    /// What was probably meant, where it has not.
    pub(crate) fn known(&self, spec: &Spec) -> Result<(), Error> {
        if let Some(name) = self.clusters.iter().find(|name| !spec.clusters.contains_key(*name)) {
            return Err(unknown_cluster(spec, name));
        }
        let mut known: Vec<String> = spec
            .clusters
            .values()
            .flat_map(|cluster| cluster.labels.iter().map(|(key, value)| format!("{key}={}", value.value)))
            .collect();
        known.sort_unstable();
        known.dedup();
        for (position, (key, value)) in self.labels.iter().enumerate() {
            let label = format!("{key}={value}");
            if self.labels[..position].iter().any(|(other, _)| other == key) {
                return Err(usage(format!("label `{key}` is given twice"), "give each label once"));
            }
            if !known.contains(&label) {
                let help = did_you_mean(&label, known.iter().map(String::as_str));
                let help = help.unwrap_or_else(|| match &known[..] {
                    [] => format!("give clusters `labels` under `clusters` in {}", spec.path),
                    known => format!("clusters have {}", known.join(", ")),
                });
                return Err(usage(format!("no cluster has the label `{label}`"), help));
            }
        }
        Ok(())
    }

    /// Writes them into a freeze.
    pub(super) fn write(&self, editor: &mut Editor, path: &[Key]) -> Result<(), EditError> {
        let below = |name: &str| -> Vec<Key> { path.iter().cloned().chain([Key::from(name)]).collect() };
        if !self.clusters.is_empty() {
            set_names(editor, &below("clusters"), &self.clusters)?;
        }
        self.labels.iter().try_for_each(|(key, value)| {
            let mut path = below("labels");
            path.push(Key::from(key.as_str()));
            editor.set_scalar(&path, value.as_str())
        })
    }
}

/// Says in words which clusters a freeze or an override is about.
pub(super) fn words(clusters: &Clusters) -> String {
    match clusters {
        Clusters::All => "all".to_owned(),
        Clusters::Named(names) => names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>().join(", "),
        Clusters::Labelled(labels) => {
            let labels = labels.iter().map(|(key, value)| format!("{key}={}", value.value));
            labels.collect::<Vec<_>>().join(", ")
        }
    }
}
