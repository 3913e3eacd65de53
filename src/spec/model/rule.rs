//! Rules, which give each object its type.

use crate::spec::Placed;

/// One line of `rules`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Which objects it speaks of.
    pub matcher: Matcher,
    /// The type that they get, which exists.
    pub type_name: Placed<String>,
}

/// A condition on an object: everything that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matcher {
    /// The exact kind, for example `ConfigMap`.
    pub kind: Option<String>,
    /// The exact API group without version, for example `apps`; empty for the core group.
    pub api_group: Option<String>,
    /// The object's name; `*` stands for any characters, also none.
    pub name: Option<String>,
    /// The object's namespace; `*` as in `name`.
    pub namespace: Option<String>,
    /// The app, by the name of its folder; `*` as in `name`.
    pub app: Option<String>,
    /// A label that the object has, with the value where one is given.
    pub label: Option<(String, Option<String>)>,
    /// An annotation that the object has, with the value where one is given.
    pub annotation: Option<(String, Option<String>)>,
    /// A glob over the file's path, relative to the spec's folder: `*` within a segment, `**`
    /// over segments, `?` one character.
    pub path: Option<String>,
    /// Whether a HelmRelease of the rule's own type reads the object by `spec.valuesFrom`.
    pub is_values: bool,
}

impl Matcher {
    /// Returns whether every object matches, because nothing is asked.
    pub fn matches_all(&self) -> bool {
        *self == Matcher::default()
    }

    /// Returns whether it matches every object that the other matches, as far as equal conditions show it.
    pub fn covers(&self, other: &Matcher) -> bool {
        fn asks_no_more<T: PartialEq>(own: &Option<T>, other: &Option<T>) -> bool {
            own.is_none() || own == other
        }
        asks_no_more(&self.kind, &other.kind)
            && asks_no_more(&self.api_group, &other.api_group)
            && asks_no_more(&self.name, &other.name)
            && asks_no_more(&self.namespace, &other.namespace)
            && asks_no_more(&self.app, &other.app)
            && asks_no_more(&self.label, &other.label)
            && asks_no_more(&self.annotation, &other.annotation)
            && asks_no_more(&self.path, &other.path)
            && (!self.is_values || other.is_values)
    }
}
