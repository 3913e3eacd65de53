//! The renderer's machine code: compressed in this program, unpacked once into the user's cache, run from there.
//!
//! The kernel reads the unpacked file from the disk as it is run, and shares it between processes. Where nothing can
//! be kept, or nothing of it may be run, each run unpacks the code into its memory.
#![allow(clippy::disallowed_methods, reason = "the cache is not the user's repository")]

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::time::Duration;

use wasmtime::{Engine, Module, Result};

use crate::render::cache::{age, folder_of_user, note_use, open, write_by};

/// The renderer as `build.rs` compiled and compressed it; empty where it was built without.
static PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/renderer.zst"));

/// How long the code is, in bytes.
const LENGTH: &str = env!("RENDERER_LENGTH");

/// The BLAKE3 digest of the code, which is its name in the cache too.
///
/// It is of a kind that nobody can forge, since caches travel, between the jobs of a CI for example; and fast
/// enough for every run.
const DIGEST: &str = env!("RENDERER_DIGEST");

/// For how long the code of another version is kept that nobody uses.
const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How much is read at once, which the processor's cache holds.
const CHUNK: usize = 128 << 10;

/// Returns whether this program was built with the renderer.
pub(super) fn is_there() -> bool {
    !PACKED.is_empty()
}

/// Makes the code ready to run.
///
/// # Errors
///
/// When the machine lacks what the code was compiled for, or there is no memory for it.
pub(super) fn load(engine: &Engine) -> Result<Module> {
    let kept = Kept::of_user().and_then(|kept| kept.open(unpacked));
    // A file system may forbid to run what is on it.
    if let Some(module) = kept.and_then(|file| ready(engine, Code::File(file)).ok()) {
        return Ok(module);
    }
    let mut code = Vec::with_capacity(LENGTH.parse().unwrap_or_default());
    unpacked()?.read_to_end(&mut code)?;
    ready(engine, Code::Bytes(code))
}

/// Machine code that is what `build.rs` compiled.
enum Code {
    File(File),
    Bytes(Vec<u8>),
}

fn ready(engine: &Engine, code: Code) -> Result<Module> {
    #[allow(unsafe_code, reason = "the bytes are what build.rs compiled")]
    // SAFETY: nobody but build.rs made these bytes, with the same version and settings: they were part of this
    // program, or have the digest that it names. Of a file, nobody but its owner, who runs this, and root may
    // change it meanwhile, and this program changes none: it puts new ones in their place.
    unsafe {
        match code {
            Code::File(file) => Module::deserialize_open_file(engine, file),
            Code::Bytes(bytes) => Module::deserialize(engine, bytes),
        }
    }
}

/// Unpacks the code that this program carries, piece by piece.
fn unpacked() -> io::Result<impl Read> {
    ruzstd::decoding::StreamingDecoder::new(PACKED).map_err(io::Error::other)
}

/// The place of unpacked code.
struct Kept {
    place: PathBuf,
    digest: &'static str,
}

impl Kept {
    /// Returns the place in the user's cache; `None` where the environment names none.
    fn of_user() -> Option<Kept> {
        Some(Kept { place: folder_of_user()?.join("code").join(DIGEST), digest: DIGEST })
    }

    /// Opens the code, put there first where it is not; `None` where that can't be done.
    fn open<R: Read>(&self, unpack: impl FnOnce() -> io::Result<R>) -> Option<File> {
        self.checked().or_else(|| {
            let file = self.put(unpack().ok()?).ok()?;
            self.forget_others();
            Some(file)
        })
    }

    /// Puts the code there, and looks at its digest on the way: it is neither held whole nor read again.
    fn put(&self, mut code: impl Read) -> io::Result<File> {
        let mut hasher = blake3::Hasher::new();
        let mut file = write_by(&self.place, |file| {
            let mut chunk = vec![0; CHUNK];
            loop {
                match code.read(&mut chunk)? {
                    0 => break,
                    length => {
                        hasher.update(&chunk[..length]);
                        file.write_all(&chunk[..length])?;
                    }
                }
            }
            let is_it = hasher.finalize().to_hex().as_str() == self.digest;
            if is_it { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
        })?;
        file.rewind()?;
        Ok(file)
    }

    /// Opens the code if it is there, whole, and nobody else may change it.
    fn checked(&self) -> Option<File> {
        let mut file = open(&self.place).ok()?;
        if !is_safe(&file.metadata().ok()?) {
            return None;
        }
        let mut hasher = blake3::Hasher::new();
        let mut chunk = vec![0; CHUNK];
        loop {
            match file.read(&mut chunk).ok()? {
                0 => break,
                length => hasher.update(&chunk[..length]),
            };
        }
        if hasher.finalize().to_hex().as_str() != self.digest {
            return None;
        }
        file.rewind().ok()?;
        note_use(&file);
        Some(file)
    }

    /// Takes away what other versions have left, and what a run that was killed has.
    fn forget_others(&self) {
        let entries = self.place.parent().and_then(|folder| fs::read_dir(folder).ok());
        for entry in entries.into_iter().flatten().flatten() {
            let path = entry.path();
            let is_old = open(&path).is_ok_and(|file| age(&file).is_some_and(|age| age > MONTH));
            if is_old && path != self.place {
                // Another process may have been faster.
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Returns whether only the user, or root, may change a file.
#[cfg(unix)]
fn is_safe(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owners = [rustix::process::geteuid().as_raw(), 0];
    found.is_file() && owners.contains(&found.uid()) && found.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_safe(found: &fs::Metadata) -> bool {
    found.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"machine code";

    /// The digest of [`TEXT`].
    const NAME: &str = "010f92a67236ae62947db8a90bf679cd0ad388f121da81d04e85efb2eb65bba4";

    fn unpack() -> io::Result<&'static [u8]> {
        Ok(TEXT)
    }

    fn content(file: Option<File>) -> Vec<u8> {
        let mut content = Vec::new();
        file.unwrap().read_to_end(&mut content).unwrap();
        content
    }

    #[test]
    fn code_is_unpacked_once_and_again_where_it_is_not_what_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept { place: folder.path().join("gitops-windows/code").join(NAME), digest: NAME };
        let never = || -> io::Result<&[u8]> { panic!("it is there") };
        assert_eq!(content(kept.open(unpack)), TEXT);
        assert_eq!(content(kept.open(never)), TEXT);
        for damage in [&b"machine codE"[..], b"machine", b"machine code\0", b""] {
            fs::write(&kept.place, damage).unwrap();
            assert_eq!(content(kept.open(unpack)), TEXT, "{damage:?}");
            assert_eq!(content(kept.open(never)), TEXT);
        }
        #[cfg(unix)]
        for mode in [0o620, 0o602] {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&kept.place, fs::Permissions::from_mode(mode)).unwrap();
            assert!(kept.checked().is_none(), "{mode:o}");
            assert_eq!(content(kept.open(unpack)), TEXT);
            assert_eq!(fs::metadata(&kept.place).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(kept.place.parent().unwrap()).unwrap().count(), 1, "nothing else is left");
        // Nobody ever writes into a pipe that stands there.
        #[cfg(unix)]
        {
            fs::remove_file(&kept.place).unwrap();
            let made = std::process::Command::new("mkfifo").arg(&kept.place).status().unwrap();
            assert!(made.success());
            assert_eq!(content(kept.open(unpack)), TEXT);
            assert_eq!(content(kept.open(never)), TEXT);
        }
    }

    #[test]
    fn code_of_other_versions_goes_after_a_month() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept { place: folder.path().join(NAME), digest: NAME };
        for (name, age) in [("new", MONTH / 2), ("old", MONTH * 2)] {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_modified(std::time::SystemTime::now() - age).unwrap();
        }
        assert!(kept.open(unpack).is_some());
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [NAME, "new"]);
    }

    #[test]
    fn where_no_code_can_be_kept_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let below = Kept { place: folder.path().join("file").join(NAME), digest: NAME };
        assert!(below.open(unpack).is_none());
        let other = Kept { place: folder.path().join("other"), digest: NAME };
        assert!(other.open(|| Err::<&[u8], _>(io::Error::other("no memory"))).is_none());
        assert!(other.open(|| Ok(&b"else"[..])).is_none(), "it is not what the program names");
    }

    #[test]
    fn what_this_program_carries_has_its_digest() {
        let mut code = Vec::new();
        unpacked().unwrap().read_to_end(&mut code).unwrap();
        assert_eq!(
            (code.len().to_string().as_str(), blake3::hash(&code).to_hex().as_str()),
            (LENGTH, DIGEST)
        );
    }
}
