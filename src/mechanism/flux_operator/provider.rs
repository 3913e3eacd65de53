//! The ResourceSetInputProvider of a held source.

use serde_json::{Value, json};

use super::entries;
use crate::mechanism::{ClusterGate, HeldSource};
use crate::spec::Spec;

/// Hosts by which the type is known, each with what its name is or ends with.
const HOSTS: [(&str, &str); 7] = [
    ("github.com", "GitHubBranch"),
    ("gitlab.com", "GitLabBranch"),
    ("codeberg.org", "GiteaBranch"),
    ("gitea.com", "GiteaBranch"),
    ("dev.azure.com", "AzureDevOpsBranch"),
    (".visualstudio.com", "AzureDevOpsBranch"),
    (".amazonaws.com", "AWSCodeCommitBranch"),
];

/// Why there is no provider, as the end of a sentence, and what to do.
type Refusal = (String, &'static str);

/// Returns the `spec` of the provider that moves a held source.
///
/// # Errors
///
/// When its API is not known, or can't be asked.
pub(super) fn spec(spec: &Spec, cluster: &ClusterGate, source: &HeldSource) -> Result<Value, Refusal> {
    let mut copied = source.spec.clone();
    let branch = copied["ref"]["branch"].as_str().unwrap_or_default().to_owned();
    if let Some(fields) = copied.as_object_mut() {
        fields.remove("ref");
    }
    let url = copied["url"].as_str().unwrap_or_default();
    let Some(Address { scheme, host, path }) = Address::of(url) else {
        return Err((
            format!("has the URL {url}, which is no address of a Git host"),
            "write it as https://HOST/PATH",
        ));
    };
    let host = &host.to_ascii_lowercase();
    // The hosts that some have for SSH alone answer no request of an API.
    let by_host = || {
        let is_it = |(name, _): &&(&str, &str)| host == name || name.starts_with('.') && host.ends_with(name);
        let is_known = !host.starts_with("vs-ssh.") && !host.starts_with("ssh.");
        HOSTS.iter().find(is_it).filter(|_| is_known).map(|(_, kind)| *kind)
    };
    let Some(kind) = spec.gate.provider.kind.as_deref().or_else(by_host) else {
        return Err((
            format!("is at {host}, and nothing says which API that has"),
            "add `provider: { type: GitLabBranch }`, or another type, under `gate`",
        ));
    };
    let of_source = copied["secretRef"]["name"].as_str();
    let is_ssh = scheme == "ssh";
    let secret = match (&spec.gate.provider.secret, of_source) {
        (Some(own), _) => Some(own.as_str()),
        // A deploy key opens no API.
        (None, Some(_)) if is_ssh => {
            return Err((
                "is fetched by SSH, whose Secret opens no API".to_owned(),
                "add `provider: { secret: NAME }` under `gate`: a Secret with `username` and a token as `password`",
            ));
        }
        (None, own) => own,
    };
    let scheme = if is_ssh { "https" } else { scheme };
    let windows = cluster.windows.get(&source.change_type).map(Vec::as_slice).unwrap_or_default();
    if windows.is_empty() {
        return Err((
            "would have no schedule, and so be open at all times".to_owned(),
            "give the type a window",
        ));
    }
    let mut wanted = json!({
        "type": kind,
        "url": format!("{scheme}://{host}/{path}"),
        "filter": { "includeBranch": format!("^{}$", quoted(&branch)), "limit": 1 },
        "defaultValues": { "held": source.name, "live": source.live, "branch": branch, "spec": copied },
        "schedule": entries(windows),
    });
    if let Some(secret) = secret {
        wanted["secretRef"] = json!({ "name": secret });
    }
    Ok(wanted)
}

/// Quotes what means something in a regular expression of Go.
fn quoted(text: &str) -> String {
    let mut found = String::new();
    for one in text.chars() {
        if r"\.+*?()|[]{}^$".contains(one) {
            found.push('\\');
        }
        found.push(one);
    }
    found
}

/// What an URL of a repository says.
struct Address<'u> {
    scheme: &'u str,
    /// The host, with the port where that is of HTTP.
    host: &'u str,
    path: &'u str,
}

impl<'u> Address<'u> {
    fn of(url: &'u str) -> Option<Address<'u>> {
        let (scheme, rest) = url.split_once("://")?;
        let (host, path) = rest.split_once('/')?;
        let host = host.rsplit('@').next()?;
        let host = if scheme == "ssh" { host.split(':').next()? } else { host };
        let path = path.trim_end_matches('/').trim_end_matches(".git");
        let is_known = matches!(scheme, "https" | "http" | "ssh") && !host.is_empty() && !path.is_empty();
        is_known.then_some(Address { scheme, host, path })
    }
}
