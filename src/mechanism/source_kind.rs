//! The kinds of sources that can be held, and what each calls what is let in.

use serde_json::Value;

/// A kind of source of which one field of `spec.ref` outranks the others and names what is fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceKind {
    /// A GitRepository, held at a commit (source-controller, `api/v1/gitrepository_types.go`, `GitRepositoryRef`).
    #[default]
    Git,
    /// An OCIRepository, held at a digest (source-controller, `api/v1/ocirepository_types.go`, `OCIRepositoryRef`).
    Oci,
}

impl SourceKind {
    /// Returns the one that Flux calls so; `None` for one that can't be held.
    pub fn of(kind: &str) -> Option<SourceKind> {
        [SourceKind::Git, SourceKind::Oci].into_iter().find(|own| own.as_str() == kind)
    }

    /// Returns `kind`.
    pub fn as_str(self) -> &'static str {
        match self {
            SourceKind::Git => "GitRepository",
            SourceKind::Oci => "OCIRepository",
        }
    }

    /// Returns the plural, as rules of roles name it.
    pub fn plural(self) -> &'static str {
        match self {
            SourceKind::Git => "gitrepositories",
            SourceKind::Oci => "ocirepositories",
        }
    }

    /// Returns the resource, as kubectl asks for it.
    pub fn resource(self) -> &'static str {
        match self {
            SourceKind::Git => "gitrepositories.source.toolkit.fluxcd.io",
            SourceKind::Oci => "ocirepositories.source.toolkit.fluxcd.io",
        }
    }

    /// Returns its word in commands of flux.
    pub fn word(self) -> &'static str {
        match self {
            SourceKind::Git => "git",
            SourceKind::Oci => "oci",
        }
    }

    /// Returns the tag of a held source in Git, from which nothing can be fetched.
    ///
    /// No tag of git can have two dots in a row (git, `check-ref-format`), and none of a registry a tilde (OCI distribution
    /// spec, "Pulling manifests": `[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}`).
    pub fn placeholder(self) -> &'static str {
        match self {
            SourceKind::Git => "held..until-the-first-tick",
            SourceKind::Oci => "held~until-the-first-tick",
        }
    }

    /// Returns the field of `spec.ref` that names what is let in: it outranks all others (source-controller,
    /// `GitRepositoryRef` and `getArtifactRef`).
    pub fn field(self) -> &'static str {
        self.path()[2]
    }

    /// Returns the names on the way to [`field`](SourceKind::field).
    pub fn path(self) -> &'static [&'static str] {
        match self {
            SourceKind::Git => &["spec", "ref", "commit"],
            SourceKind::Oci => &["spec", "ref", "digest"],
        }
    }

    /// Returns what stands before the hash in that field.
    pub fn prefix(self) -> &'static str {
        match self {
            SourceKind::Git => "",
            SourceKind::Oci => "sha256:",
        }
    }

    /// Returns the hash at which a source of this kind is held; `None` where it is at none.
    pub fn pin(self, source: &Value) -> Option<&str> {
        let pin = source["spec"]["ref"][self.field()].as_str()?;
        Some(pin.rsplit(':').next().unwrap_or(pin))
    }
}

/// What names a held source in its cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeldId {
    /// Its kind.
    pub kind: SourceKind,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Returns whether a source of a kind is held, by its `spec`: without a job that lets it follow another one it fetches nothing.
pub fn is_held(kind: &str, spec: &Value) -> bool {
    SourceKind::of(kind).is_some_and(|kind| spec["ref"]["tag"] == kind.placeholder())
}
