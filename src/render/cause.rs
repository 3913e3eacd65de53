//! The part of kustomize's reports that matters.
//!
//! kustomize wraps an error once for each folder on the way to it
//! (`kustomize/api/internal/target/kusttarget.go`, `accumulateResources`); only the innermost says
//! what is wrong.

use std::borrow::Cow;

use crate::render::NEEDS;

/// How much of a report is kept.
const LIMIT: usize = 400;

/// Begins what was wrong in a folder further down.
const FOLDER: &str = "recursed accumulation of path '";

/// Begins what was wrong with a resource as a file.
const FILE: &str = "accumulation err='";

/// Begin what was wrong with the keys and values of a generator; what follows repeats the values
/// (`kustomize/api/kv/kv.go`, `loader.Load`). With each goes what is said in place of them.
const VALUES: [(&str, &str); 2] = [
    ("loading KV pairs: literal sources [", "one of `literals` is no `key=value`"),
    ("loading KV pairs: env source files: [", "an `envs` file is missing, or a line is no `key=value`"),
];

/// Begins what kustomize repeats of the fields of a plugin, over many lines, before it says what is wrong
/// (`kustomize/api/internal/plugins/loader`, `loadAndConfigurePlugin`), and ends it.
const CONFIG: [&str; 2] = [" with config: `", "`: "];

/// Returns the innermost error of a report, with the folder where it arose, and without the values of a generator.
pub(super) fn cause(report: &str) -> String {
    // What the renderer itself found out (`renderer/remote.go`) stands before kustomize's words.
    if report.starts_with(NEEDS) {
        return report.split(": accumulating ").next().unwrap_or(report).to_owned();
    }
    if let Some((at, words)) = VALUES.iter().find_map(|(begin, words)| Some((report.find(begin)?, words))) {
        return cause(&format!("{}{words}", &report[..at]));
    }
    let (folder, rest) = match report.rsplit_once(FOLDER).and_then(|(_, inner)| inner.split_once("': ")) {
        Some((folder, rest)) => (Some(folder), rest),
        None => (None, report),
    };
    let reason = as_file(rest).unwrap_or(rest).trim();
    // What kustomize quotes as a whole ends with the mark of which the first is cut off.
    let is_open = reason.matches('"').count() % 2 == 1;
    let reason = reason.strip_suffix('"').filter(|_| is_open).unwrap_or(reason);
    // Of a file, Go says first what was asked for (`net/url`, `Error.Error`).
    let asked = reason.strip_prefix("Get \"").and_then(|rest| rest.split_once("\": "));
    if let Some((_, found)) = asked.filter(|(_, found)| found.starts_with(NEEDS)) {
        return found.to_owned();
    }
    let [begin, end] = CONFIG;
    let of_plugin =
        reason.split_once(begin).and_then(|(plugin, rest)| Some((plugin, rest.split_once(end)?.1)));
    let reason =
        of_plugin.map_or(Cow::Borrowed(reason), |(plugin, why)| Cow::Owned(format!("{plugin}: {why}")));
    let text = match folder {
        Some(folder) if !reason.contains(folder) => format!("in {folder}: {reason}"),
        _ => reason.into_owned(),
    };
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text,
    }
}

/// Takes why a resource is no file out of a report that goes on with why it is no folder either;
/// of a folder the other way round.
fn as_file(report: &str) -> Option<&str> {
    let (_, inner) = report.rsplit_once(FILE)?;
    // After `accumulating resources from 'x': ` comes the reason, and the closing quotation mark.
    let (_, rest) = inner.split_once("': ")?;
    let end = rest.find("': ").or_else(|| rest.rfind('\''))?;
    match rest[end..].strip_prefix("': ") {
        Some(folder) if rest[..end].ends_with("is a directory") => Some(folder),
        _ => Some(&rest[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_named_by_itself() {
        let report = "accumulating resources: accumulation err='accumulating resources from '../../apps/web': \
            read ../../apps/web: is a directory': recursed accumulation of path 'apps/web': accumulating \
            resources: accumulation err='accumulating resources from 'servise.yaml': open \
            apps/web/servise.yaml: no such file or directory': must build at directory: not a valid \
            directory: evalsymlink failure on 'apps/web/servise.yaml' : lstat apps/web/servise.yaml: no such \
            file or directory";
        assert_eq!(cause(report), "open apps/web/servise.yaml: no such file or directory");
    }

    #[test]
    fn the_folder_is_named_where_the_reason_does_not() {
        let report = "accumulating resources: accumulation err='accumulating resources from 'a': read a: is a \
            directory': recursed accumulation of path 'x/a': no matches for Id Deployment.v1.apps/w.[noNs]; \
            failed to find unique target for patch";
        assert_eq!(
            cause(report),
            "in x/a: no matches for Id Deployment.v1.apps/w.[noNs]; failed to find unique target for patch"
        );
    }

    #[test]
    fn a_quoted_word_at_the_end_keeps_both_its_marks() {
        let report = |mark: &str| {
            format!(
                "accumulating resources: accumulation err='accumulating resources from 'a': read a: is a \
                directory': recursed accumulation of path 'x/a': json: unknown field \"namespac\"{mark}"
            )
        };
        assert_eq!(cause(&report("")), "in x/a: json: unknown field \"namespac\"");
        assert_eq!(cause(&report("\"")), "in x/a: json: unknown field \"namespac\"");
    }

    #[test]
    fn the_fields_of_a_plugin_are_left_out() {
        let report = "trouble configuring builtin HelmChartInflationGenerator with config: `\nname: redis\nversion: \
            1.0.0\n`: must specify --enable-helm";
        let told = "trouble configuring builtin HelmChartInflationGenerator: must specify --enable-helm";
        assert_eq!(cause(report), told);
    }

    #[test]
    fn no_value_of_a_generator_is_told() {
        let report = |text: &str| {
            format!(
                "accumulating resources: accumulation err='accumulating resources from 'a': read a: is a \
                directory': recursed accumulation of path 'x/a': loading KV pairs: {text}"
            )
        };
        assert_eq!(
            cause(&report(
                "literal sources [PW=hunter2 it's': oops]: invalid literal source oops, expected key=value"
            )),
            "in x/a: one of `literals` is no `key=value`"
        );
        assert_eq!(
            cause(&report("env source files: [a.env]: \"hunter2 \" is not a valid key name: no")),
            "in x/a: an `envs` file is missing, or a line is no `key=value`"
        );
    }

    #[test]
    fn a_folder_is_not_blamed_for_being_one() {
        let report = "accumulating resources: accumulation err='accumulating resources from '../x': read ../x: \
            is a directory': candidate root '../x' contains visited root '../x/y'";
        assert_eq!(cause(report), "candidate root '../x' contains visited root '../x/y'");
    }

    #[test]
    fn other_reports_stay_and_no_report_is_endless() {
        assert_eq!(cause("needs the remote base `x`"), "needs the remote base `x`");
        assert_eq!(cause("Get \"x\": needs the remote base `x`"), "needs the remote base `x`");
        assert_eq!(cause(&"é".repeat(1000)).chars().count(), LIMIT + 2);
    }
}
