//! What Flux Kustomizations get that the tool writes.

/// Where new Flux Kustomizations go, and their source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FluxDefaults {
    /// The namespace of new Flux Kustomizations, of those of which Git says none, and of the gate's Role and Alert.
    pub namespace: String,
    /// The source that they read.
    pub source: FluxSource,
}

/// The source of a Flux Kustomization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FluxSource {
    /// `GitRepository`, `OCIRepository`, `Bucket` or `ExternalArtifact`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its namespace; `None` for that of the Flux Kustomization.
    pub namespace: Option<String>,
    /// The folder that an artifact is made of, from that of the spec on; `None` for the whole repository.
    pub path: Option<String>,
}

impl FluxDefaults {
    /// Returns a namespace as Git says it, and this one where Git says none.
    pub fn namespace_of<'a>(&'a self, said: &'a str) -> &'a str {
        if said.is_empty() { &self.namespace } else { said }
    }
}

impl Default for FluxDefaults {
    fn default() -> FluxDefaults {
        FluxDefaults { namespace: "flux-system".into(), source: FluxSource::default() }
    }
}

impl Default for FluxSource {
    fn default() -> FluxSource {
        FluxSource { kind: "GitRepository".into(), name: "flux-system".into(), namespace: None, path: None }
    }
}
