//! The texts of manifests.

use crate::dice::Dice;

/// An app: what its objects are called and what they refer to.
#[derive(Clone, Debug, Default)]
pub struct App {
    /// The name of its objects.
    pub name: String,
    /// Its folder's name.
    pub folder: String,
    /// Whether a HelmRelease stands in the place of the Deployment.
    pub helm: bool,
    /// Whether its Deployment mounts the Secret `NAME-secret`.
    pub secret: bool,
    /// Whether its Deployment uses the variable `NAME_HOST` of kustomize's `vars`.
    pub variable: bool,
    /// The base's generators, by kind, of ConfigMaps and Secrets that overlays may merge into.
    pub generated: Vec<(&'static str, String)>,
    /// Whether it is built twice at one entry point, under two prefixes.
    pub twice: bool,
}

impl App {
    /// The kind of the object that runs it.
    pub fn main(&self) -> &'static str {
        if self.helm { "HelmRelease" } else { "Deployment" }
    }

    /// The API version of that object.
    pub fn version(&self) -> &'static str {
        if self.helm { "helm.toolkit.fluxcd.io/v2" } else { "apps/v1" }
    }

    /// A field that a patch sets in it.
    pub fn field(&self) -> &'static str {
        if self.helm { "interval: 7m" } else { "minReadySeconds: 7" }
    }

    /// The name of its ConfigMap.
    pub fn config(&self) -> String {
        format!("{}-conf", self.name)
    }
}

pub fn head(version: &str, kind: &str, name: &str) -> String {
    format!("apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n")
}

pub fn config_map(dice: &mut Dice, name: &str, annotation: Option<&str>) -> String {
    let data = dice.of(&[
        "  k: v\n",
        "  nginx.conf: |\n    a;\n    b;\n",
        "  folded: >-\n    one\n    two\n\n    three\n",
        "  kept: |+\n    a\n\n  e: 'x'\n",
        "  e: \"${ENV}\" # text\n  f: ${ENV:=x}\n",
        "  odd: \"tab\\there, \\u00e9, 'quoted'\"\n  yes: \"on\"\n",
    ]);
    let note = annotation
        .map(|kind| format!("  annotations: {{gitops-windows/type: {kind}}}\n"))
        .unwrap_or_default();
    format!("{}{note}data:\n{data}", head("v1", "ConfigMap", name))
}

/// The object that runs an app.
pub fn main(app: &App, anchors: bool) -> String {
    let (name, config) = (&app.name, app.config());
    if app.helm {
        return format!(
            "{}spec:\n  interval: 10m\n  chart: {{spec: {{chart: {name}, version: 1.2.3, sourceRef: {{kind: HelmRepository, name: charts}}}}}}\n  valuesFrom:\n    - kind: ConfigMap\n      name: {config}\n",
            head(app.version(), app.main(), name)
        );
    }
    let labels = if anchors {
        format!(
            "  selector:\n    matchLabels: &labels\n      app: {name}\n  template:\n    metadata:\n      labels: *labels\n"
        )
    } else {
        format!(
            "  selector: {{matchLabels: {{app: {name}}}}}\n  template:\n    metadata: {{labels: {{app: {name}}}}}\n"
        )
    };
    let variable = if app.variable {
        format!("          args: [\"--host=$({}_HOST)\"]\n", name.to_uppercase())
    } else {
        String::new()
    };
    let secret = if app.secret {
        format!("      volumes:\n        - name: secret\n          secret: {{secretName: {name}-secret}}\n")
    } else {
        String::new()
    };
    format!(
        "{}spec:\n{labels}    spec:\n      containers:\n        - name: main\n          image: registry.example/{name}:1.0 # keep\n          envFrom: [{{configMapRef: {{name: {config}}}}}]\n{variable}{secret}",
        head(app.version(), app.main(), name)
    )
}

pub fn service(name: &str) -> String {
    format!("{}spec:\n  selector: {{app: {name}}}\n  ports: [{{port: 80}}]\n", head("v1", "Service", name))
}

/// A Secret as SOPS leaves it.
pub fn sops(name: &str) -> String {
    format!(
        "{}type: Opaque\ndata:\n    password: ENC[AES256_GCM,data:Zm9v,iv:YmFy,tag:YmF6,type:str]\nsops:\n    kms: []\n    age:\n        - recipient: age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq\n          enc: |\n            -----BEGIN AGE ENCRYPTED FILE-----\n            YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+\n            -----END AGE ENCRYPTED FILE-----\n    lastmodified: \"2025-01-01T00:00:00Z\"\n    encrypted_regex: ^(data|stringData)$\n    version: 3.9.0\n",
        head("v1", "Secret", name)
    )
}

/// An object of a kind that kustomize knows nothing of, which names the app's ConfigMap.
pub fn widget(app: &App) -> String {
    format!("{}spec:\n  config: {}\n", head("example.com/v1", "Widget", &app.name), app.config())
}

/// A text as an item of a list: its lines behind a dash.
pub fn item(text: &str) -> String {
    let mut item = String::new();
    for (index, line) in text.trim_end().lines().enumerate() {
        let lead = if index == 0 { "- " } else { "  " };
        item.push_str(format!("{lead}{line}").trim_end());
        item.push('\n');
    }
    item
}
