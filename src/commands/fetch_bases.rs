//! `fetch-bases`: the one command that fetches.

use clap::Args;

use crate::cli::{Format, Global, Writing};
use crate::commands::apply::{Exit, apply};
use crate::commands::post::certificates;
use crate::commands::renderer::on_demand;
use crate::commands::workspace::Workspace;
use crate::delivery::World;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::live::download;
use crate::output::Output;
use crate::plan::command::{Fetch, fetch_bases};
use crate::repo::{Fetched, RemoteBase};

/// Arguments of `fetch-bases`.
#[derive(Args, Debug)]
pub struct FetchBases {
    /// The folder that gets the copies
    #[arg(value_name = "DIR", default_value = "vendor")]
    pub folder: String,
    /// Whether to write
    #[command(flatten)]
    pub writing: Writing,
    /// How to show the difference
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Fetches over the network.
struct Network {
    roots: Option<Vec<u8>>,
}

impl Fetch for Network {
    fn repository(&self, base: &RemoteBase) -> Result<Fetched, Error> {
        base.fetch()
    }

    fn file(&self, url: &str) -> Result<String, Error> {
        download(url, self.roots.as_deref())
    }
}

/// Runs the command.
pub fn run(global: &Global, arguments: &FetchBases, output: &Output) -> Result<Exit, Error> {
    let workspace = Workspace::open(global, output)?;
    let renderer = on_demand(global, output);
    let spec = workspace.spec_if_any(global)?.map(|parsed| workspace.shown(parsed, output));
    let model = workspace.model(spec.as_ref(), renderer.as_ref());
    let folder = workspace.path(&arguments.folder).map_err(|error| {
        let problem = Diagnostic::error(error.to_string()).help("name a folder of this repository");
        Error::new(ErrorKind::Usage, problem)
    })?;
    let world = World { snapshot: &workspace.snapshot, model: &model };
    let network = Network { roots: certificates(&["SSL_CERT_FILE"])? };
    let plan = fetch_bases(world, renderer.as_ref(), &folder, &network)?;
    apply(&arguments.writing, output, &workspace, &plan, renderer.as_ref(), arguments.format)
}
