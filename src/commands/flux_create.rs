//! `flux-create`.

use clap::Args;
use serde_json::{Value, json};

use crate::cli::{Answer, Global};
use crate::commands::apply::Exit;
use crate::commands::workspace::Loaded;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;
use crate::output::Output;
use crate::plan::Command;
use crate::plan::command::{SourceUrl, flux_create};

/// Arguments of `flux-create`.
#[derive(Args, Debug)]
pub struct FluxCreate {
    /// Only this cluster (repeatable)
    #[arg(long = "cluster", value_name = "NAME")]
    pub clusters: Vec<String>,
    /// The address of this repository, to create the source too
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The branch that the source follows
    #[arg(long, value_name = "NAME", default_value = "main", requires = "url")]
    pub branch: String,
    /// How to answer
    #[arg(long, value_enum, default_value_t)]
    pub format: Answer,
}

/// Runs the command.
pub fn run(global: &Global, arguments: &FluxCreate, output: &Output) -> Result<Exit, Error> {
    let loaded = Loaded::open(global, output)?;
    let source = arguments.url.clone().map(|url| SourceUrl { url, branch: arguments.branch.clone() });
    let commands = flux_create(&loaded.input(), &arguments.clusters, source.as_ref())?;
    let kind = &loaded.spec.flux.source.kind;
    if kind != "GitRepository" && loaded.spec.flux.source.path.is_none() && !commands.is_empty() {
        output.diagnostics(&[Diagnostic::warning(format!(
            "the paths are folders of this repository; an artifact of {kind} may have others"
        ))
        .at(Place::file(loaded.spec.path.clone()))
        .help("write the folder that it is made of as `path` under `flux.source`")]);
    }
    match arguments.format {
        Answer::Text => output.result(text(&commands).as_bytes()),
        Answer::Json => {
            let commands: Vec<Value> = commands.iter().map(Command::to_json).collect();
            output.json(&json!({ "version": 1, "commands": commands }));
        }
    }
    if commands.is_empty() {
        output.say("Nothing to create: the Flux Kustomizations stand in Git.");
    }
    Ok(Exit::Clean)
}

/// Writes a script for a POSIX shell, a part for each cluster.
fn text(commands: &[Command]) -> String {
    let mut text = String::new();
    let mut cluster = "";
    for command in commands {
        if command.cluster != cluster {
            cluster = &command.cluster;
            text.push_str(&format!("# against cluster {cluster}\n"));
        }
        text.push_str(&format!("{}\n", command.shell()));
    }
    text
}
