//! The commands about time, run as people run them.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may fail and speak"
)]

mod arriving;
mod calendar;
mod check;
mod cron;
mod first_closing;
mod fleet;
mod gate_state;
#[path = "../support/mod.rs"]
#[allow(unused_imports, reason = "each test program uses a part of it")]
mod support;
mod when;

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

/// A Saturday, with the window of the working week closed in Europe/Berlin.
const NOW: &str = "2026-11-21T12:00:00Z";

const SPEC: &str = "\
apiVersion: gitops-windows/v1
types:
  rt: {}
  rw: { window: work-week }
windows:
  work-week: { timeZone: Europe/Berlin, open: 0 8 * * MON, close: 0 17 * * THU }
clusters:
  edge-01: {}
  edge-02: { windows: { rw: { timeZone: America/New_York, open: 0 20 * * TUE, close: 0 2 * * WED } } }
  edge-03: { gate: { enabled: false } }
";

/// A repository on the disk.
struct Repository {
    folder: TempDir,
    /// The folder in it that is meant, where that is not all of it.
    below: Option<&'static str>,
}

impl Repository {
    fn new(files: &[(&str, &str)]) -> Repository {
        let repository = Repository { folder: TempDir::new().unwrap(), below: None };
        let git = std::process::Command::new("git")
            .args(["init", "-q", "--template=", "-b", "main"])
            .current_dir(repository.path())
            .status();
        assert!(git.unwrap().success());
        for (name, text) in files {
            repository.write(name, text);
        }
        repository
    }

    /// One cluster that was split and handed over, with its gate, and one that was not split; all committed long ago.
    fn fleet() -> Repository {
        let repository = Repository::uncommitted_fleet();
        repository.commit("2026-01-05T12:00:00Z");
        repository
    }

    fn uncommitted_fleet() -> Repository {
        let repository = Repository::new(&[
            ("windows.yaml", SPEC),
            ("apps/nginx/kustomization.yaml", "resources: [nginx-rt, nginx-rw]\n"),
            ("apps/nginx/nginx-rt/kustomization.yaml", "resources: [configmap.yaml]\n"),
            (
                "apps/nginx/nginx-rt/configmap.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: nginx }\n",
            ),
            ("apps/nginx/nginx-rw/kustomization.yaml", "resources: [deployment.yaml]\n"),
            (
                "apps/nginx/nginx-rw/deployment.yaml",
                "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: nginx }\n",
            ),
            (
                "clusters/edge-01/apps/apps-rt/kustomization.yaml",
                "resources: [../../../../apps/nginx/nginx-rt]\n",
            ),
            (
                "clusters/edge-01/apps/apps-rw/kustomization.yaml",
                "resources: [../../../../apps/nginx/nginx-rw]\n",
            ),
            ("clusters/edge-02/apps/kustomization.yaml", "resources: [../../../apps/nginx]\n"),
            ("docs/note.md", "nothing\n"),
        ]);
        repository.write("clusters/edge-01/apps-rt.yaml", &flux("apps-rt", "clusters/edge-01/apps/apps-rt"));
        repository.write("clusters/edge-01/apps-rw.yaml", &flux("apps-rw", "clusters/edge-01/apps/apps-rw"));
        repository.write("clusters/edge-02/apps.yaml", &flux("apps", "clusters/edge-02/apps"));
        repository
            .write("infra/reconciliation-windows/kustomization.yaml", "resources: [open.yaml, close.yaml]\n");
        repository.write("clusters/edge-01/infra.yaml", &flux("infra", "infra/reconciliation-windows"));
        repository.write("infra/reconciliation-windows/open.yaml", &job("open", false, "apps-rw"));
        repository.write("infra/reconciliation-windows/close.yaml", &job("close", true, "apps-rw"));
        repository
    }

    /// Lets the CronJobs of edge-01 look at the table that the spec says.
    fn write_tables(&self) {
        let text = std::fs::read_to_string(self.path().join("windows.yaml")).unwrap();
        let path = gitops_windows::path::RepoPath::parse("windows.yaml").unwrap();
        let spec = gitops_windows::spec::parse(&path, text.as_bytes()).unwrap().spec;
        let jobs = gitops_windows::mechanism::of(spec.gate.mechanism).jobs(&spec).unwrap();
        let lines = jobs.tables["edge-01"].values().next().unwrap();
        let words: Vec<&str> =
            std::iter::once("open-times").chain(lines.iter().map(String::as_str)).collect();
        let args = serde_json::to_string(&words).unwrap();
        for (name, verb) in [("open", "resume"), ("close", "suspend")] {
            let text = format!(
                "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{ name: {name}-reconciliation-window }}\nspec:\n  \
                 schedule: \"*/5 * * * *\"\n  timeZone: Etc/UTC\n  jobTemplate:\n    spec:\n      template:\n        \
                 spec:\n          containers:\n            - name: run\n              image: flux\n              \
                 command: [sh, -c, flux {verb} kustomization apps-rw --namespace=flux-system]\n              \
                 args: {args}\n"
            );
            self.write(&format!("infra/reconciliation-windows/{name}.yaml"), &text);
        }
    }

    /// Commits everything at a time.
    fn commit(&self, date: &str) {
        self.git(&["add", "--all"], date);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "A commit"], date);
    }

    fn git(&self, arguments: &[&str], date: &str) {
        let who =
            ["user.name=A", "user.email=a@example.com", "commit.gpgSign=false", "maintenance.auto=false"];
        let who = who.into_iter().flat_map(|setting| ["-c", setting]);
        let mut git = std::process::Command::new("git");
        git.args(who).args(arguments).current_dir(self.path());
        let output = git.envs([("GIT_AUTHOR_DATE", date), ("GIT_COMMITTER_DATE", date)]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    /// Runs the program here at [`NOW`], for somebody in Tokyo.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = program();
        let folder = self.path().join(self.below.unwrap_or_default());
        command.current_dir(folder).args(["--now", NOW]).args(arguments);
        if arguments.contains(&"when") {
            // Room for a table.
            command.env("COLUMNS", "140");
        }
        command.output().unwrap()
    }

    fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Asks for JSON, and holds the answer to its schema.
    fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let printed = self.stdout(arguments);
        let held = support::scratch::held_to_schema(arguments, &printed);
        held.unwrap_or_else(|| serde_json::from_str(&printed).unwrap())
    }

    /// Runs the program where it must fail; gives the exit code and what it said.
    fn failure(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.run(arguments);
        assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }
}

fn program() -> Command {
    let mut command = Command::cargo_bin("gitops-windows").unwrap();
    command
        .env("TZ", "Asia/Tokyo")
        .env("COLUMNS", "80")
        .env("LC_ALL", "C")
        .env("XDG_CACHE_HOME", support::scratch::cache())
        .env_remove("NO_COLOR");
    command
}

fn flux(name: &str, path: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{ name: {name}, namespace: \
         flux-system }}\nspec:\n  interval: 10m\n  prune: true\n  path: ./{path}\n  sourceRef: {{ kind: \
         GitRepository, name: flux-system }}\n"
    )
}

/// A CronJob by the windows that most clusters have.
fn job(name: &str, suspend: bool, target: &str) -> String {
    let schedule = if suspend { "0 17 * * THU" } else { "0 8 * * MON" };
    job_at(name, suspend, target, (schedule, "Europe/Berlin"))
}

fn job_at(name: &str, suspend: bool, target: &str, (schedule, zone): (&str, &str)) -> String {
    format!(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: {{ name: {name}-reconciliation-window }}\nspec:\n  schedule: \
         \"{schedule}\"\n  timeZone: {zone}\n  jobTemplate:\n    spec:\n      template:\n        spec:\n          \
         containers:\n            - name: run\n              image: flux\n              command: [kubectl, patch, \
         kustomizations.kustomize.toolkit.fluxcd.io, {target}, --namespace, flux-system, --type=merge, \
         --field-manager=flux, -p, '{{\"spec\":{{\"suspend\":{suspend}}}}}']\n"
    )
}
