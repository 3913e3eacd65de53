//! A file that a `kustomization.yaml` names by its address.

use std::time::Duration;

use ureq::Agent;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use crate::diagnostic::{Diagnostic, clean};
use crate::error::Error;

/// How long one download may take: as long as kustomize waits for a clone (`git.defaultTimeout`).
const TIME: Duration = Duration::from_secs(27);

/// The most that is read: manifests of the largest operators have some megabytes.
const MOST: u64 = 32 << 20;

/// Downloads a text; redirects are followed, as kustomize does. `roots` are certificates in PEM that are trusted instead of
/// Mozilla's.
///
/// # Errors
///
/// When no answer comes, or none with a text, or `roots` holds no certificate.
pub fn download(url: &str, roots: Option<&[u8]>) -> Result<String, Error> {
    let roots = roots.map_or_else(|| Ok(RootCerts::WebPki), trusted)?;
    let agent = Agent::config_builder()
        .timeout_global(Some(TIME))
        .user_agent(concat!("gitops-windows/", env!("CARGO_PKG_VERSION")))
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .build()
        .new_agent();
    let mut response = agent.get(url).call().map_err(|error| failed(url, &error))?;
    response.body_mut().with_config().limit(MOST).read_to_string().map_err(|error| failed(url, &error))
}

/// Reads certificates in PEM.
///
/// # Errors
///
/// When there is none.
pub fn trusted(pem: &[u8]) -> Result<RootCerts, Error> {
    let found = parse_pem(pem).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        let problem = Diagnostic::error("the file of trusted certificates holds none");
        return Err(Error::invalid(problem.help("let SSL_CERT_FILE name a file in PEM, or unset it")));
    }
    Ok(RootCerts::from(found))
}

fn failed(url: &str, error: &ureq::Error) -> Error {
    let problem = Diagnostic::error(format!("{url} can't be downloaded: {}", clean(&error.to_string())));
    Error::invalid(
        problem.help("check the address\nor the proxy (HTTPS_PROXY) and SSL_CERT_FILE of your network"),
    )
}
