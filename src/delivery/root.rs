//! Where Flux begins to read a cluster.

use std::sync::Arc;

use serde_json::Value;

use crate::delivery::naming::prefix;
use crate::delivery::secure_join::secure_join;
use crate::delivery::source::SourceId;
use crate::path::RepoPath;
use crate::repo::flux::holds_variable;
use crate::repo::{FluxKustomization, Snapshot};

/// A folder that is applied to a cluster before anything else.
#[derive(Clone, Debug, PartialEq)]
pub struct Root {
    /// The folder.
    pub folder: RepoPath,
    /// Roots of one such folder are roots of one cluster, unless the spec says otherwise.
    pub(super) group: RepoPath,
    /// The top of the artifact that it is a part of: the top of the repository, but for artifacts that are made of one
    /// of its folders.
    pub artifact: RepoPath,
    /// The Flux Kustomization that applies it, as it is written or as FluxInstance makes it; `None` where Git does not
    /// say it.
    pub kustomization: Option<Arc<Value>>,
    /// The position of that one among those that stand in files.
    pub written: Option<usize>,
    /// The file in which the Flux Kustomization, or the FluxInstance that makes it, stands.
    pub file: Option<RepoPath>,
    /// The source, where Git says it, with what it is known to be.
    pub source: Option<(SourceId, Value)>,
    /// Why it is one.
    pub reason: Reason,
}

impl Root {
    /// Makes a root of the folder of a Flux Kustomization, at this position among those that stand in files.
    pub(super) fn of(written: usize, one: &FluxKustomization, folder: RepoPath, reason: Reason) -> Root {
        let namespace = one.value["metadata"]["namespace"].as_str().unwrap_or_default();
        Root {
            kustomization: Some(one.value.clone()),
            written: Some(written),
            file: Some(one.file.clone()),
            source: Some((SourceId::of(&one.value["spec"], namespace), Value::Null)),
            ..Root::folder(&folder, reason)
        }
    }

    /// Makes a root of a folder of which Git does not say what applies it.
    pub(super) fn folder(folder: &RepoPath, reason: Reason) -> Root {
        Root {
            folder: folder.clone(),
            group: prefix(folder),
            artifact: RepoPath::top(),
            kustomization: None,
            written: None,
            file: None,
            source: None,
            reason,
        }
    }
}

impl Root {
    /// Returns what stays the same where another folder is applied: the file, the namespace and the name; `None` where Git
    /// does not say what applies it.
    pub(super) fn identity(&self) -> Option<(&RepoPath, &str, &str)> {
        let metadata = &self.kustomization.as_ref()?["metadata"];
        let text = |field: &str| metadata[field].as_str().unwrap_or_default();
        Some((self.file.as_ref()?, text("namespace"), text("name")))
    }
}

/// Why a folder is the root of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The spec says so.
    Spec,
    /// A Flux Kustomization in it applies it, as `flux bootstrap` makes it.
    AppliesItself,
    /// The `sync` of a FluxInstance names it.
    FluxInstance,
    /// Nothing says so: Flux Kustomizations stand in it that no other build brings.
    Proposed,
}

/// Finds the Flux Kustomizations that apply the folder in which they stand.
///
/// What a cluster's root brings may apply its own folder too: whoever knows more roots drops it then.
pub(super) fn applying_themselves(snapshot: &Snapshot, flux: &[FluxKustomization]) -> Vec<(usize, Root)> {
    let top = RepoPath::top();
    let root = |(position, one): (usize, &FluxKustomization)| {
        let spec = &one.value["spec"];
        if one.source_kind() != "GitRepository"
            || holds_variable(&spec["path"])
            || !spec["kubeConfig"].is_null()
        {
            return None;
        }
        let folder = secure_join(snapshot, &top, spec["path"].as_str().unwrap_or_default())?;
        let root = Root::of(position, one, folder, Reason::AppliesItself);
        one.file.is_within(&root.folder).then_some((position, root))
    };
    flux.iter().enumerate().filter(|(_, one)| one.has_source()).filter_map(root).collect()
}
