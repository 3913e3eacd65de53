//! How what the tool writes is named.

use crate::spec::expand;

/// How folders, files and objects are named: texts with placeholders in braces.
///
/// [`expand`](crate::spec::expand) fills them in. Folders are relative to the spec's folder and
/// never leave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutTemplates {
    /// The folder of the gates' base.
    pub gate: String,
    /// The folder of a cluster's patches: `{cluster}`, `{path}` (the cluster's folder).
    pub cluster_gate: String,
    /// The folder of a type's entry point: `{path}` (the folder that is split), `{name}` (its
    /// last segment), `{1}` to `{9}` (its segments), `{2..}` (all from the second on), `{type}`,
    /// `{cluster}`.
    pub entry_point: String,
    /// The folder of an app's part: `{path}` (the app's folder), `{name}` (its last segment),
    /// `{1}` to `{9}` and `{2..}` as above, `{type}`.
    pub app: String,
    /// The name of a type's Flux Kustomization: `{name}` (of the one that is split), `{type}`.
    pub kustomization: String,
    /// The name of the CronJob that opens.
    pub open_job: String,
    /// The name of the CronJob that closes.
    pub close_job: String,
    /// The file of the CronJob that opens, in `gate`: `{job}` (the CronJob's name).
    pub open_job_file: String,
    /// The file of a cluster's patch of it, in `clusterGate`: `{job}`.
    pub open_patch_file: String,
    /// The file of the CronJob that closes: `{job}`.
    pub close_job_file: String,
    /// The file of a cluster's patch of it: `{job}`.
    pub close_patch_file: String,
}

impl Default for LayoutTemplates {
    fn default() -> LayoutTemplates {
        LayoutTemplates {
            gate: "infra/reconciliation-windows".into(),
            cluster_gate: "clusters/{cluster}/infra/reconciliation-windows".into(),
            entry_point: "{path}/{name}-{type}".into(),
            app: "{path}/{name}-{type}".into(),
            kustomization: "{name}-{type}".into(),
            open_job: "open-reconciliation-window".into(),
            close_job: "close-reconciliation-window".into(),
            open_job_file: "{job}-job.yaml".into(),
            open_patch_file: "{job}-patch.yaml".into(),
            close_job_file: "{job}-job.yaml".into(),
            close_patch_file: "{job}-patch.yaml".into(),
        }
    }
}

impl LayoutTemplates {
    /// Returns what the Flux Kustomization of a type is called that comes of one of this name.
    pub fn kustomization_of(&self, name: &str, change_type: &str) -> String {
        expand(&self.kustomization, &[("name", name), ("type", change_type)])
    }

    /// Returns the name of which [`kustomization_of`](LayoutTemplates::kustomization_of) makes another one for a type.
    pub fn name_of<'n>(&self, made: &'n str, change_type: &str) -> Option<&'n str> {
        let parts = self.kustomization_of("\0", change_type);
        let (before, after) = parts.split_once('\0')?;
        made.strip_prefix(before)?.strip_suffix(after).filter(|name| !name.is_empty())
    }

    /// Returns whether all clusters would have one folder for their gates, so that there may be one cluster only.
    pub fn has_one_gate_folder(&self) -> bool {
        !["{cluster}", "{path}"].iter().any(|part| self.cluster_gate.contains(part))
    }

    /// Returns each template with its key, in the order in which they are written.
    pub fn entries(&self) -> [(&'static str, &str); 11] {
        [
            ("gate", &self.gate),
            ("clusterGate", &self.cluster_gate),
            ("entryPoint", &self.entry_point),
            ("app", &self.app),
            ("kustomization", &self.kustomization),
            ("openJob", &self.open_job),
            ("closeJob", &self.close_job),
            ("openJobFile", &self.open_job_file),
            ("openPatchFile", &self.open_patch_file),
            ("closeJobFile", &self.close_job_file),
            ("closePatchFile", &self.close_patch_file),
        ]
    }

    pub(crate) fn entries_mut(&mut self) -> [(&'static str, &mut String); 11] {
        [
            ("gate", &mut self.gate),
            ("clusterGate", &mut self.cluster_gate),
            ("entryPoint", &mut self.entry_point),
            ("app", &mut self.app),
            ("kustomization", &mut self.kustomization),
            ("openJob", &mut self.open_job),
            ("closeJob", &mut self.close_job),
            ("openJobFile", &mut self.open_job_file),
            ("openPatchFile", &mut self.open_patch_file),
            ("closeJobFile", &mut self.close_job_file),
            ("closePatchFile", &mut self.close_patch_file),
        ]
    }
}
