//! `init --cluster … --app …`: a whole working repository in an empty folder.

use serde_json::json;

use crate::delivery::Held;
use crate::delivery::Input;
use crate::delivery::Known;
use crate::delivery::Model;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::plan::command::init::beside;
use crate::plan::command::window_name::window_name;
use crate::plan::command::{InitOptions, schema_text};
use crate::plan::edit::Builder;
use crate::plan::{Found, Plan, Report, gate};
use crate::render::{Renderer, Request};
use crate::repo::flux::API_VERSION;
use crate::repo::{Graph, Snapshot};
use crate::spec::{self, AlertDef, NewCluster, NewSpec, SCHEMA_FILE, expand_folder, write_new};
use crate::template::Templates;

/// What to do where the schedule is only an example.
pub(super) const SWITCH_ON: &str = "edit `windows` in windows.yaml\nset `enabled: true` under `gate`\nrun `gitops-windows sync`\nor give --open, --close and --time-zone";

/// The name of the entry point and Flux Kustomization that the guide splits.
const APPS: &str = "apps";

/// Plans a new repository in the guides' layout, split from the start, Flux Kustomizations included.
///
/// Each cluster is bootstrapped with `--path=clusters/NAME/flux`. That folder gets no
/// kustomization.yaml: Flux generates one that takes in what bootstrap adds there.
///
/// # Errors
///
/// When the folder holds kustomizations already, or a name is none that Kubernetes takes.
pub fn scaffold(
    snapshot: &Snapshot,
    spec_path: &RepoPath,
    renderer: &dyn Renderer,
    templates: &Templates,
    options: &InitOptions,
    clusters: &[String],
    apps: &[String],
) -> Result<Plan, Error> {
    let root = spec_path.parent().unwrap_or_default();
    check(snapshot, &root, clusters, apps)?;
    let (window, said) = options.window();
    let mut new = NewSpec::default();
    new.set_window(window_name(&window.open, &window.close), window);
    new.time_zone = options.zone_of(&new);
    new.gate.enabled = said;
    new.alerts = options.alerts.as_deref().map(AlertDef::new);
    new.clusters =
        clusters.iter().map(|name| NewCluster { name: name.clone(), ..NewCluster::default() }).collect();
    let text = write_new(&new);
    let parsed = spec::parse(spec_path, text.as_bytes())?;
    let mut files = Files { root: root.clone(), files: Vec::new() };
    for app in apps {
        app_files(&mut files, templates, &parsed.spec, app)?;
    }
    for cluster in clusters {
        cluster_files(&mut files, templates, &parsed.spec, cluster, apps)?;
    }
    let mut builder = Builder::new(snapshot);
    builder.create(spec_path, &text)?;
    builder.create(&beside(&root, SCHEMA_FILE)?, &schema_text())?;
    for (path, text) in files.files {
        builder.create(&path, &text)?;
    }
    let with_files = builder.now().clone();
    let model = Model::read(&with_files, &root, &Known::default(), renderer);
    let input = Input { spec: &parsed.spec, snapshot: &with_files, model: &model, renderer };
    let leftover = gate::sync_verified(&input, templates, &mut builder)?;
    builds(&builder, &model, renderer)?;
    let mut plan = builder.finish();
    plan.commands = leftover.commands;
    plan.remarks = parsed.warnings;
    plan.remarks.extend(leftover.remarks);
    if !said {
        plan.remarks.push(
            Diagnostic::warning("the window is Monday 8:00 to Thursday 17:00 UTC, and switched off")
                .help(SWITCH_ON),
        );
    }
    let bootstrap = |cluster: &String| {
        let path = at(&root, &["clusters", cluster, "flux"]);
        format!("bootstrap {cluster} with: flux bootstrap git --path={path}")
    };
    let found = Found { others: clusters.iter().map(bootstrap).collect(), ..Found::default() };
    plan.report = Report::Init { found, held: Held::new(), default_window: !said };
    Ok(plan)
}

fn at(root: &RepoPath, segments: &[&str]) -> String {
    root.join(&segments.join("/")).unwrap_or_default().to_string()
}

struct Files {
    root: RepoPath,
    files: Vec<(RepoPath, String)>,
}

impl Files {
    fn add(&mut self, path: &str, text: String) -> Result<(), Error> {
        let path =
            self.root.join(path).map_err(|error| Error::invalid(Diagnostic::error(error.to_string())))?;
        self.files.push((path, text));
        Ok(())
    }
}

fn list(templates: &Templates, files: &[String]) -> Result<String, Error> {
    templates.render("gate-kustomization.yaml", json!({ "files": files }))
}

fn type_names(spec: &spec::Spec) -> (String, String) {
    let name =
        |position: usize| spec.types.get(position).map(|found| found.name.value.clone()).unwrap_or_default();
    (name(0), name(1))
}

fn app_files(files: &mut Files, templates: &Templates, spec: &spec::Spec, app: &str) -> Result<(), Error> {
    let context = json!({ "app": app, "conf": format!("{app}-conf") });
    let (rt, rw) = type_names(spec);
    let base = format!("apps/{app}");
    let part = |name: &str| expand_folder(&spec.layout.app, &base, &[("type", name)]).unwrap_or_default();
    let sides = [
        (part(&rt), vec![("configmap.yaml", "app-configmap.yaml")]),
        (part(&rw), vec![("deployment.yaml", "app-deployment.yaml"), ("service.yaml", "app-service.yaml")]),
    ];
    for (folder, manifests) in sides {
        let names: Vec<String> = manifests.iter().map(|(name, _)| (*name).to_owned()).collect();
        files.add(&format!("{folder}/kustomization.yaml"), list(templates, &names)?)?;
        for (name, template) in manifests {
            files.add(&format!("{folder}/{name}"), templates.render(template, &context)?)?;
        }
    }
    Ok(())
}

fn cluster_files(
    files: &mut Files,
    templates: &Templates,
    spec: &spec::Spec,
    cluster: &str,
    apps: &[String],
) -> Result<(), Error> {
    let (rt, rw) = type_names(spec);
    let entry = format!("clusters/{cluster}/{APPS}");
    let side = |name: &str| -> String {
        let values = [("type", name), ("cluster", cluster)];
        expand_folder(&spec.layout.entry_point, &entry, &values).unwrap_or_default()
    };
    for name in [&rt, &rw] {
        let folder = side(name);
        files.add(&format!("{folder}/kustomization.yaml"), list(templates, apps)?)?;
        for app in apps {
            let part = expand_folder(&spec.layout.app, &format!("apps/{app}"), &[("type", name)])
                .unwrap_or_default();
            let up = "../".repeat(folder.split('/').count() + 1);
            let mut resources = vec![format!("{up}{part}")];
            if *name == rt {
                resources.push("namespace.yaml".to_owned());
                let text = templates.render("app-namespace.yaml", json!({ "namespace": app }))?;
                files.add(&format!("{folder}/{app}/namespace.yaml"), text)?;
            }
            files.add(&format!("{folder}/{app}/kustomization.yaml"), list(templates, &resources)?)?;
        }
    }
    files.add(
        &format!("clusters/{cluster}/infra/kustomization.yaml"),
        list(templates, &["reconciliation-windows".to_owned()])?,
    )?;
    let named = |name: &str| spec.layout.kustomization_of(APPS, name);
    for (name, path, depends_on) in [
        (named(&rt), side(&rt), Vec::new()),
        (named(&rw), side(&rw), vec![named(&rt)]),
        ("infra".to_owned(), format!("clusters/{cluster}/infra"), Vec::new()),
    ] {
        let path = at(&files.root, &[&path]);
        let text = templates.render(
            "flux-kustomization.yaml",
            json!({
                "api_version": API_VERSION,
                "name": name,
                "namespace": spec.flux.namespace,
                "path": format!("./{path}"),
                "source": {
                    "kind": spec.flux.source.kind,
                    "name": spec.flux.source.name,
                    "namespace": spec.flux.source.namespace,
                },
                "service_account": null,
                "depends_on": depends_on,
            }),
        )?;
        files.add(&format!("clusters/{cluster}/flux/{name}.yaml"), text)?;
    }
    Ok(())
}

fn check(snapshot: &Snapshot, root: &RepoPath, clusters: &[String], apps: &[String]) -> Result<(), Error> {
    let usage = |message: String, help: &str| {
        Err(Error::new(ErrorKind::Usage, Diagnostic::error(message).help(help)))
    };
    if clusters.is_empty() || apps.is_empty() {
        return usage(
            "a new repository needs at least one --cluster and one --app".to_owned(),
            "for example: gitops-windows init --cluster edge-01 --app nginx",
        );
    }
    for (what, name) in
        clusters.iter().map(|name| ("cluster", name)).chain(apps.iter().map(|name| ("app", name)))
    {
        let label = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let valid = !name.is_empty()
            && name.len() <= 53
            && name.bytes().all(label)
            && !name.starts_with('-')
            && !name.ends_with('-');
        if !valid {
            return usage(
                format!("`{name}` can't name a {what}: folders and Kubernetes objects get this name"),
                "use at most 53 lowercase letters, digits and hyphens, such as edge-01",
            );
        }
    }
    for (what, names) in [("cluster", clusters), ("app", apps)] {
        let mut sorted = names.to_vec();
        sorted.sort();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return usage(format!("the {what} {} is named twice", twice[0]), "name each once");
        }
    }
    if let Some(found) =
        Graph::read(snapshot).iter().find(|kustomization| kustomization.folder.is_within(root))
    {
        return Err(Error::new(
            ErrorKind::Usage,
            Diagnostic::error(format!(
                "{root} holds kustomizations already, so it is no place for a new repository"
            ))
            .at(Place::file(found.file.clone()))
            .help("run `gitops-windows init` without --cluster and --app: it finds what is there"),
        ));
    }
    Ok(())
}

/// Makes sure that every folder that was written builds.
fn builds(builder: &Builder<'_>, model: &Model, renderer: &dyn Renderer) -> Result<(), Error> {
    let paths: Vec<RepoPath> = model
        .all_entries()
        .iter()
        .map(|entry| entry.path.clone())
        .filter(|path| model.graph.has(path))
        .collect();
    let requests: Vec<Request> = paths.iter().map(|path| Request::delivered(path.clone())).collect();
    for (path, result) in paths.iter().zip(renderer.render(builder.now(), &requests)) {
        if let Err(error) = result {
            return Err(Error::new(
                ErrorKind::Unsafe,
                Diagnostic::error(format!("{path} would not build: {error}"))
                    .help("check the templates that you override"),
            ));
        }
    }
    Ok(())
}
