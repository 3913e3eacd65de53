//! The plans of single commands: `init`, `sync`, `flux-create`.

mod absence;
mod adopt;
mod fetch_bases;
mod flux_create;
mod free_namespace;
mod home;
mod init;
mod retime;
mod said_suspend;
mod scaffold;
mod sync;
mod window_name;

pub use fetch_bases::{Fetch, fetch_bases};
pub use flux_create::{SourceUrl, flux_create};
pub use init::{InitOptions, init};
pub use retime::retime;
pub use scaffold::scaffold;
pub use sync::{SyncOptions, schema_text, sync};
