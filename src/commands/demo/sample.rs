//! The sample repository, which the binary carries.

use std::path::Path;

/// Names files of `fixtures/sample` with their texts.
macro_rules! sample {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../fixtures/sample/", $path)))),*]
    };
}

/// Every file, with its path.
const FILES: &[(&str, &str)] = sample![
    "apps/probe/deployment.yaml",
    "apps/probe/kustomization.yaml",
    "apps/probe/targets.yaml",
    "apps/web/configmap.yaml",
    "apps/web/deployment.yaml",
    "apps/web/kustomization.yaml",
    "apps/web/service.yaml",
    "clusters/edge-01/apps/kustomization.yaml",
    "clusters/edge-01/apps/probe/kustomization.yaml",
    "clusters/edge-01/apps/web/kustomization.yaml",
    "clusters/edge-01/apps/web/namespace.yaml",
    "clusters/edge-01/flux/apps.yaml",
    "clusters/edge-01/flux/infra.yaml",
    "clusters/edge-01/infra/kustomization.yaml",
    "clusters/edge-02/apps/kustomization.yaml",
    "clusters/edge-02/apps/probe/kustomization.yaml",
    "clusters/edge-02/apps/web/kustomization.yaml",
    "clusters/edge-02/apps/web/namespace.yaml",
    "clusters/edge-02/flux/apps.yaml",
    "clusters/edge-02/flux/infra.yaml",
    "clusters/edge-02/infra/kustomization.yaml",
    "infra/priority-classes/customer-facing.yaml",
    "infra/priority-classes/kustomization.yaml",
];

/// Writes the sample into a folder that is empty.
///
/// # Errors
///
/// When the disk refuses.
pub fn lay(folder: &Path) -> std::io::Result<()> {
    FILES.iter().try_for_each(|(path, text)| put(&folder.join(path), text))
}

/// Replaces a text of a file.
///
/// # Errors
///
/// When the disk refuses.
pub fn replace(file: &Path, from: &str, to: &str) -> std::io::Result<()> {
    put(file, &std::fs::read_to_string(file)?.replace(from, to))
}

#[allow(clippy::disallowed_methods, reason = "the folder is the demo's own, and not the user's repository")]
fn put(file: &Path, text: &str) -> std::io::Result<()> {
    file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(file, text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_whole_sample_is_carried() {
        let top = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/sample");
        let walk = walkdir::WalkDir::new(&top).into_iter().map(Result::unwrap);
        let files = walk.filter(|item| item.file_type().is_file()).map(|item| item.into_path());
        let found: BTreeMap<String, String> = files
            .map(|file| {
                let path = file.strip_prefix(&top).unwrap().to_str().unwrap().to_owned();
                (path, std::fs::read_to_string(file).unwrap())
            })
            .collect();
        let carried = FILES.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        assert_eq!(found, carried);
    }
}
