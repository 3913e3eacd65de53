//! The spec, `windows.yaml`: which change types there are, when each may reach which cluster, and
//! how things are named.
//!
//! Bytes become a tree that knows its places, the tree becomes a [`Spec`], and what can be said
//! only of the whole is checked last; every stage reports all that it finds. One table of keys is
//! read by the parser and by the schema.

mod check_time;
mod edited;
pub mod exceptions;
mod instant;
mod invert;
mod keys;
mod later;
mod model;
mod names;
mod node;
mod parse;
mod placed;
mod read;
mod reader;
mod schema;
mod template;
#[cfg(test)]
mod tests;
mod text;
mod trap;
mod validate;
pub mod windows;

pub use instant::{skipped, unskipped};
pub use invert::folder_of;
pub(crate) use keys::EVERY;
pub(crate) use later::later_words;
pub use model::{
    ALERT_TYPES, AlertDef, CalendarFile, ChangeType, Cluster, Clusters, FluxDefaults, FluxSource, Freeze,
    GateDef, Ignore, LayoutTemplates, Matcher, MechanismName, Override, PROVIDER_EVERY, PROVIDER_TIMEOUT,
    PROVIDER_TYPES, ProviderDef, Rule, Runner, Spec, TableDef, Waves, WindowDef, WindowUse,
};
pub(crate) use names::cluster_name;
pub use parse::{Parsed, parse};
pub use placed::Placed;
pub use read::{near_folder, read, read_in_need};
pub use schema::{SCHEMA_FILE, schema};
pub use template::{expand, expand_folder};
pub use text::{NewCluster, NewSpec, NewWindow, NewWindowUse, write_new};
