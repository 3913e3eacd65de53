//! `demo`.

mod player;
mod sample;
mod story;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::cli::{DEFAULT_DIRECTORY, Global};
use crate::commands::apply::Exit;
use crate::commands::clock;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::output::Output;
use crate::render::{Embedded, Shared};
use crate::repo::Repository;

use player::Player;
use story::{NEXT, STEPS};

/// The name of the program where it is installed.
const PROGRAM: &str = "gitops-windows";

/// Arguments of `demo`.
#[derive(Args, Debug)]
pub struct Demo {
    /// Where to play: a folder that is new or empty [default: a new temporary folder]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// When the folder is not empty, or a command does not end as it should.
pub fn run(global: &Global, arguments: &Demo, output: &Output) -> Result<Exit, Error> {
    let now = clock::now(global)?;
    let (folder, repository) = place(global, arguments)?;
    sample::lay(&folder).map_err(|error| unusable(&folder, &error))?;
    let is_inside = Embedded::missing().is_none() && global.renderer.is_none();
    let builder = is_inside.then(|| Shared(Arc::new(Embedded::default())));
    let player = Player { global, output, folder, repository, builder, now };
    let folder = player.folder.display();
    player.tell(&format!("A fleet of two clusters, in {folder}. No cluster is asked."));
    let (played, left_out): (Vec<_>, Vec<_>) =
        STEPS.iter().partition(|step| player.has_git() || !step.needs_git);
    for (index, step) in played.into_iter().enumerate() {
        if index > 0 && !player.goes_on() {
            break;
        }
        player.begin(index + 1, step.title, step.told);
        (step.play)(&player)?;
    }
    player.tell("");
    if !left_out.is_empty() {
        let titles: Vec<String> = left_out.iter().map(|step| format!("`{}`", step.title)).collect();
        player.tell(&format!("git is not on PATH, so two steps were left out: {}.", titles.join(" and ")));
    }
    player.tell(&format!("The folder is yours to play with: cd {folder}"));
    let next = NEXT.iter().filter(|(command, _)| player.has_git() || !command.contains(" pr "));
    next.for_each(|(command, told)| player.tell(&format!("  {command:<54} {told}")));
    // Only people type these commands, and the place of the program is another one on each machine.
    if let Some(folder) = off_path().filter(|_| output.can_ask()) {
        player.tell("");
        player.tell("gitops-windows is not on PATH yet. For this terminal:");
        player.tell(&format!("  export PATH=\"{}:$PATH\"", folder.display()));
    }
    Ok(Exit::Clean)
}

/// Returns the folder of this program; `None` where PATH finds a program of its name, or it is not known.
fn off_path() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_found = std::env::split_paths(&path).any(|folder| folder.join(PROGRAM).is_file());
    program.parent().map(Path::to_path_buf).filter(|_| !is_found)
}

/// Makes the folder to play in, with its repository.
fn place(global: &Global, arguments: &Demo) -> Result<(PathBuf, Repository), Error> {
    let Some(named) = &arguments.folder else {
        let made = tempfile::Builder::new().prefix("gitops-windows-demo-").tempdir();
        let made = made.map_err(|error| unusable(&std::env::temp_dir(), &error))?;
        let repository = Repository::create(made.path())?;
        return Ok((made.keep(), repository));
    };
    let folder = match global.directory == Path::new(DEFAULT_DIRECTORY) {
        true => named.clone(),
        false => global.directory.join(named),
    };
    let made = std::fs::create_dir(&folder);
    let is_made = made.is_ok();
    if let Err(error) = made.or_else(|error| if folder.is_dir() { Ok(()) } else { Err(error) }) {
        return Err(unusable(&folder, &error));
    }
    let mut entries = folder.read_dir().map_err(|error| unusable(&folder, &error))?;
    if entries.next().is_some() {
        let problem = Diagnostic::error(format!("{} is not empty", folder.display()));
        return Err(Error::new(ErrorKind::Usage, problem.help("name a folder that is new or empty")));
    }
    let repository = Repository::create(&folder).inspect_err(|_| {
        if is_made {
            // It is left where something stands in it already.
            let _ = std::fs::remove_dir(&folder);
        }
    })?;
    Ok((folder, repository))
}

fn unusable(folder: &Path, error: &std::io::Error) -> Error {
    let problem = Diagnostic::error(format!("{} can't be used: {error}", folder.display()));
    Error::new(ErrorKind::Usage, problem.help("name a folder to play in: `gitops-windows demo DIR`"))
}
