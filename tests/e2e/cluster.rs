//! A Kubernetes cluster with Flux, as processes on the loopback.

use std::collections::HashSet;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, PoisonError};

use crate::api::Api;
use crate::binaries::Binaries;
use crate::node::Node;
use crate::operator::Operator;
use crate::processes::Processes;
use crate::wait::{WORK, until};

/// The controllers that Jobs, Deployments and Namespaces need.
const CONTROLLERS: &str = "cronjob-controller,job-controller,namespace-controller,serviceaccount-controller,\
    garbage-collector-controller,deployment-controller,replicaset-controller,ttl-after-finished-controller";

/// What all controllers of Flux are told.
const FLUX: [&str; 4] =
    ["--events-addr=", "--enable-leader-election=false", "--metrics-addr=0", "--health-addr=0"];

/// A running cluster; it ends, and leaves nothing, when the value is dropped.
pub struct Cluster {
    /// Its name in the fleet.
    pub name: String,
    /// Its API server.
    pub api: Api,
    folder: PathBuf,
    binaries: Arc<Binaries>,
    /// The address of its API server.
    pub server: String,
    /// The port at which source-controller serves what it has fetched, as a Service gives it.
    storage: u16,
    // The node stops before the API server does.
    _node: Node,
    processes: Mutex<Processes>,
}

/// Returns a port of the loopback that was given to nobody else.
pub fn free_port() -> u16 {
    static GIVEN: Mutex<Option<HashSet<u16>>> = Mutex::new(None);
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        if given.get_or_insert_default().insert(port) {
            return port;
        }
    }
}

impl Cluster {
    /// Starts one and waits until Flux's kinds are served.
    pub fn start(name: &str, binaries: &Arc<Binaries>) -> Cluster {
        let folder = tempfile::tempdir().unwrap().keep();
        let mut processes = Processes::new(&folder);
        for below in ["logs", "etcd", "certificates", "sources", "tmp"] {
            std::fs::create_dir(folder.join(below)).unwrap();
        }
        let port = free_port();
        let server = format!("https://127.0.0.1:{port}");
        let token = secret();
        std::fs::write(folder.join("tokens"), format!("{token},admin,admin,system:masters\n")).unwrap();
        write_kubeconfig(&folder.join("admin"), &server, &token);
        let mut starting = Starting { binaries, folder: &folder, processes: &mut processes };
        starting.control_plane(port);
        let proxy = free_port();
        starting.start("kubectl", &["proxy".to_owned(), format!("--port={proxy}")]);
        let api = Api::new(format!("http://127.0.0.1:{proxy}"));
        until("the API server is ready", WORK, || {
            if let Some(ended) = starting.processes.ended() {
                panic!("{ended}\n{}", last_lines(&folder, "kube-apiserver", 30));
            }
            api.answers("/readyz").then_some(())
        });
        starting.controllers();
        let node = Node::start(api.clone(), &server, binaries, &folder);
        let cluster = Cluster {
            name: name.to_owned(),
            api,
            folder,
            binaries: Arc::clone(binaries),
            server,
            storage: free_port(),
            _node: node,
            processes: Mutex::new(processes),
        };
        cluster.flux();
        cluster
    }

    /// Serves Flux's kinds and starts its controllers.
    fn flux(&self) {
        self.kubectl(&["create", "namespace", "flux-system"]);
        self.kubectl(&["create", "--filename", self.binaries.crds.to_str().unwrap()]);
        for kind in [
            "source.toolkit.fluxcd.io/v1/gitrepositories",
            "source.toolkit.fluxcd.io/v1/ocirepositories",
            "kustomize.toolkit.fluxcd.io/v1/kustomizations",
            "notification.toolkit.fluxcd.io/v1beta3/alerts",
        ] {
            until(kind, WORK, || self.api.get(&format!("/apis/{kind}")));
        }
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        Starting { binaries: &self.binaries, folder: &self.folder, processes: &mut processes }
            .flux(self.storage);
    }

    /// Serves the kinds of Flux Operator and starts it.
    pub fn operator(&self) {
        let operator = Operator::ready(&self.binaries);
        self.kubectl(&["create", "--filename", operator.crds.to_str().unwrap()]);
        let kind = "fluxcd.controlplane.io/v1/resourcesetinputproviders";
        until(kind, WORK, || self.api.get(&format!("/apis/{kind}")));
        let mut command = Command::new(operator.program);
        command
            .args([
                "--metrics-addr=0",
                "--health-addr=0",
                "--web-server-port=0",
                "--enable-leader-election=false",
            ])
            .arg(format!("--storage-path={}", self.folder.join("tmp").display()))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("KUBECONFIG", self.kubeconfig())
            .env("HOME", self.folder.join("tmp"))
            .env("TMPDIR", self.folder.join("tmp"))
            .env("RUNTIME_NAMESPACE", "flux-system")
            // It refuses to run otherwise.
            .env("GODEBUG", "fips140=on")
            .current_dir(&self.folder)
            .stdout(log(&self.folder, "flux-operator"))
            .stderr(log(&self.folder, "flux-operator"));
        self.processes.lock().unwrap_or_else(PoisonError::into_inner).start("flux-operator", &mut command);
    }

    /// Runs kubectl with all rights; it must succeed.
    #[track_caller]
    pub fn kubectl(&self, arguments: &[&str]) -> String {
        expect("kubectl", &self.command("kubectl").args(arguments).output().unwrap())
    }

    /// Runs flux with all rights; it must succeed.
    #[track_caller]
    pub fn flux_cli(&self, arguments: &[&str]) -> String {
        expect("flux", &self.command("flux").args(arguments).output().unwrap())
    }

    /// Returns a command that finds the cluster as a user with all rights does.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.program(program));
        command.env("KUBECONFIG", self.kubeconfig()).env("HOME", self.folder.join("tmp"));
        command
    }

    /// The kubeconfig with all rights.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.join("admin")
    }

    /// Returns the API server as a token's owner sees it.
    pub fn api_of(&self, token: &str) -> Api {
        let name = format!("other-{}", secret());
        let kubeconfig = self.folder.join(&name);
        write_kubeconfig(&kubeconfig, &self.server, token);
        let port = free_port();
        let mut command = self.command("kubectl");
        command.args(["proxy", &format!("--port={port}")]).env("KUBECONFIG", kubeconfig);
        self.processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .start(&name, command.stdout(log(&self.folder, &name)).stderr(log(&self.folder, &name)));
        let api = Api::new(format!("http://127.0.0.1:{port}"));
        until("the proxy answers", WORK, || api.get("/version"));
        api
    }

    /// Stops kube-controller-manager: nothing fires, as in an outage.
    pub fn stop_controllers(&self) {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner).stop("kube-controller-manager");
    }

    /// Starts kube-controller-manager again.
    pub fn start_controllers(&self) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        Starting { binaries: &self.binaries, folder: &self.folder, processes: &mut processes }.controllers();
    }

    /// Takes away what source-controller has fetched, as the loss of its volume does.
    pub fn lose_sources(&self) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        processes.stop("source-controller");
        let store = self.folder.join("sources");
        std::fs::remove_dir_all(&store).unwrap();
        std::fs::create_dir(&store).unwrap();
        Starting { binaries: &self.binaries, folder: &self.folder, processes: &mut processes }
            .sources(self.storage);
    }

    /// Runs a line of a shell as a user with all rights does; it must succeed.
    #[track_caller]
    pub fn shell(&self, line: &str) -> String {
        expect(line, &self.in_shell(line))
    }

    /// As [`shell`](Cluster::shell), of what may fail for a while.
    pub fn tries(&self, line: &str) -> Option<()> {
        self.in_shell(line).status.success().then_some(())
    }

    fn in_shell(&self, line: &str) -> Output {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]).env("PATH", format!("{}:/usr/bin:/bin", self.binaries.bin.display()));
        command.env("KUBECONFIG", self.kubeconfig()).env("HOME", self.folder.join("tmp"));
        command.output().unwrap()
    }

    /// Names a program that ended although nobody stopped it.
    pub fn ended(&self) -> Option<String> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner).ended()
    }

    /// Returns the end of a program's log.
    pub fn log(&self, program: &str, lines: usize) -> String {
        last_lines(&self.folder, program, lines)
    }
}

/// The parts of a cluster, started one by one.
struct Starting<'a> {
    binaries: &'a Binaries,
    folder: &'a Path,
    processes: &'a mut Processes,
}

impl Starting<'_> {
    fn start(&mut self, program: &str, arguments: &[String]) {
        let mut command = Command::new(self.binaries.program(program));
        command
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("KUBECONFIG", self.folder.join("admin"))
            .env("HOME", self.folder.join("tmp"))
            .env("TMPDIR", self.folder.join("tmp"))
            .env("RUNTIME_NAMESPACE", "flux-system")
            .current_dir(self.folder)
            .stdout(log(self.folder, program))
            .stderr(log(self.folder, program));
        self.processes.start(program, &mut command);
    }

    fn control_plane(&mut self, port: u16) {
        let (client, peer) = (free_port(), free_port());
        let at = |name: &str| self.folder.join(name).display().to_string();
        let (data, certificates, tokens) = (at("etcd"), at("certificates"), at("tokens"));
        self.start(
            "etcd",
            &[
                format!("--data-dir={data}"),
                format!("--listen-client-urls=http://127.0.0.1:{client}"),
                format!("--advertise-client-urls=http://127.0.0.1:{client}"),
                format!("--listen-peer-urls=http://127.0.0.1:{peer}"),
                format!("--initial-advertise-peer-urls=http://127.0.0.1:{peer}"),
                format!("--initial-cluster=default=http://127.0.0.1:{peer}"),
                "--unsafe-no-fsync".to_owned(),
                "--log-level=warn".to_owned(),
            ],
        );
        self.start(
            "kube-apiserver",
            &[
                format!("--etcd-servers=http://127.0.0.1:{client}"),
                "--bind-address=127.0.0.1".to_owned(),
                "--advertise-address=127.0.0.1".to_owned(),
                format!("--secure-port={port}"),
                format!("--cert-dir={certificates}"),
                format!("--token-auth-file={tokens}"),
                // The API server makes this key for itself before it reads it.
                format!("--service-account-key-file={certificates}/apiserver.key"),
                format!("--service-account-signing-key-file={certificates}/apiserver.key"),
                "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
                "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
                "--authorization-mode=RBAC".to_owned(),
                "--endpoint-reconciler-type=none".to_owned(),
            ],
        );
    }

    fn controllers(&mut self) {
        let kubeconfig = self.folder.join("admin").display().to_string();
        self.start(
            "kube-controller-manager",
            &[
                format!("--kubeconfig={kubeconfig}"),
                format!("--controllers={CONTROLLERS}"),
                "--leader-elect=false".to_owned(),
                "--secure-port=0".to_owned(),
            ],
        );
    }

    fn flux(&mut self, storage: u16) {
        self.sources(storage);
        let own = ["--requeue-dependency=2s"];
        self.start(
            "kustomize-controller",
            &FLUX.into_iter().chain(own).map(str::to_owned).collect::<Vec<_>>(),
        );
    }

    fn sources(&mut self, storage: u16) {
        let sources = self.folder.join("sources").display().to_string();
        let own = [
            format!("--storage-path={sources}"),
            format!("--storage-addr=127.0.0.1:{storage}"),
            format!("--storage-adv-addr=127.0.0.1:{storage}"),
        ];
        let all = FLUX.map(str::to_owned).into_iter().chain(own);
        self.start("source-controller", &all.collect::<Vec<_>>());
    }
}

fn log(folder: &Path, program: &str) -> File {
    File::options().create(true).append(true).open(folder.join("logs").join(program)).unwrap()
}

fn last_lines(folder: &Path, program: &str, lines: usize) -> String {
    let text = std::fs::read_to_string(folder.join("logs").join(program)).unwrap_or_default();
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

/// Writes a kubeconfig that holds a token and nothing else.
pub fn write_kubeconfig(place: &Path, server: &str, token: &str) {
    let text = serde_json::json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "clusters": [{ "name": "it", "cluster": { "server": server, "insecure-skip-tls-verify": true } }],
        "users": [{ "name": "it", "user": { "token": token } }],
        "contexts": [{ "name": "it", "context": { "cluster": "it", "user": "it" } }],
    });
    std::fs::write(place, text.to_string()).unwrap();
}

fn secret() -> String {
    use std::hash::{BuildHasher as _, RandomState};
    format!("{:016x}", RandomState::new().hash_one(free_port()))
}

#[track_caller]
fn expect(program: &str, output: &Output) -> String {
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}
