//! What build scripts keep in the target directory, for all profiles.
#![allow(clippy::disallowed_methods, reason = "a build script writes into the target directory only")]

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns a file's content, made first if it is not there.
pub fn kept(
    path: &Path,
    make: impl FnOnce() -> Result<Vec<u8>, Box<dyn Error>>,
) -> Result<Vec<u8>, Box<dyn Error>> {
    if let Ok(content) = fs::read(path) {
        return Ok(content);
    }
    let content = make()?;
    // Another build may run beside this one: appear whole or not at all.
    let partial = path.with_extension(format!("{}.partial", std::process::id()));
    fs::write(&partial, &content)?;
    fs::rename(&partial, path)?;
    Ok(content)
}

/// Returns a folder of the target directory that all profiles share: `OUT_DIR` is `PROFILE/build/PACKAGE/out` in it,
/// or `TARGET/PROFILE/build/PACKAGE/out`.
pub fn cache(out: &Path) -> PathBuf {
    let target = std::env::var_os("TARGET");
    let above = out.ancestors().skip_while(|folder| folder.file_name() != Some(OsStr::new("build")));
    let mut above = above.skip(2).skip_while(|folder| folder.file_name() == target.as_deref());
    let folder = match above.next() {
        Some(top) => top.join("renderer"),
        None => out.with_extension("cache"),
    };
    if let Err(error) = fs::create_dir_all(&folder) {
        println!("cargo::warning={}: {error}", folder.display());
    }
    folder
}
