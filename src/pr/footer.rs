//! What a report was made from, in words.

use crate::pr::report::Report;
use crate::schedule::zone::database_release;

/// Says what was compared, as of when, and with which time zones.
pub fn footer(report: &Report) -> String {
    let short = |hash: &str| hash.chars().take(10).collect::<String>();
    let head = report.head.as_deref().map_or_else(|| "the working tree".to_owned(), short);
    let same = match report.head.as_ref() == Some(&report.base) {
        true => " Both are the same commit. Name another commit with --base or --head.",
        false => "",
    };
    format!(
        "{head} against {}, as if merged at {}; time zones {}.{same}",
        short(&report.base),
        report.now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        database_release().unwrap_or("unknown"),
    )
}
