//! A registry of artifacts, in memory, with the repository of a fleet pushed to it.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;

use crate::binaries::Binaries;
use crate::cluster::free_port;
use crate::processes::Processes;
use crate::scratch::Scratch;
use crate::wait::{WORK, until};

/// A registry that ends with the value.
pub struct Registry {
    port: u16,
    binaries: Arc<Binaries>,
    home: tempfile::TempDir,
    _processes: Processes,
}

impl Registry {
    /// Starts one and waits until it answers.
    pub fn start(binaries: &Arc<Binaries>) -> Registry {
        let (port, home) = (free_port(), tempfile::tempdir().unwrap());
        let folder = home.path().join("registry");
        std::fs::create_dir(&folder).unwrap();
        let mut processes = Processes::new(&folder);
        let log = std::fs::File::create(folder.join("log")).unwrap();
        let mut command = Command::new(binaries.program("registry"));
        command.arg(format!("--port={port}")).stdout(log.try_clone().unwrap()).stderr(log);
        processes.start("registry", &mut command);
        until("the registry answers", WORK, || std::net::TcpStream::connect(("localhost", port)).ok());
        Registry { port, binaries: Arc::clone(binaries), home, _processes: processes }
    }

    /// Returns the address of the fleet's artifact, without a tag.
    pub fn url(&self) -> String {
        format!("oci://localhost:{}/fleet", self.port)
    }

    /// Pushes a folder as a pipeline does; gives the digest.
    pub fn push(&self, tree: &Scratch, folder: &Path) -> String {
        let head = tree.git(&["rev-parse", "HEAD"]);
        let mut command = Command::new(self.binaries.program("flux"));
        command
            .args(["push", "artifact", &format!("{}:latest", self.url()), "--source=fleet", "--output=json"])
            .arg(format!("--path={}", folder.display()))
            .arg(format!("--revision=main@sha1:{}", head.trim()))
            .arg("--insecure-registry")
            .env("HOME", self.home.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        told["digest"].as_str().unwrap().to_owned()
    }
}
