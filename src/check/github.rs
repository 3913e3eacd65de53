//! Findings as workflow commands, which GitHub Actions shows at their lines.

use std::fmt::Write;

use crate::check::Code;
use crate::diagnostic::{Diagnostic, Severity, clean, line_column};

/// Writes findings as workflow commands, one a line.
///
/// Values are escaped as the runner reads them (actions/toolkit, `core/src/command.ts`), so that no
/// finding can begin a command of its own.
pub fn github(findings: &[Diagnostic]) -> String {
    let mut text = String::new();
    for finding in findings {
        let command = match finding.severity {
            Severity::Note => "notice",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let mut properties = Vec::new();
        if let Some(place) = &finding.place {
            properties.push(format!("file={}", property(&place.path.to_string())));
            if let (Some(text), Some(span)) = (&place.text, &place.span) {
                let (line, column) = line_column(text, span.start);
                properties.push(format!("line={line},col={column}"));
            }
        }
        if let Some(code) = finding.code {
            let name = Code::find(code).map(|code| format!(" {}", code.name)).unwrap_or_default();
            properties.push(format!("title={}", property(&format!("{code}{name}"))));
        }
        let help = finding.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        let message = data(&format!("{}{help}", finding.message));
        // Writing to a string never fails.
        let _ = writeln!(text, "::{command} {}::{message}", properties.join(","));
    }
    text
}

fn data(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(clean).collect();
    lines.join("\n").replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Place;
    use crate::path::RepoPath;

    #[test]
    fn nothing_of_a_finding_ends_its_line_or_property() {
        let place = Place::span(RepoPath::parse("a,b:c%/x.yaml").unwrap(), "a: 1\nb: 2\n".into(), 5..6);
        let finding = crate::check::code::DOUBLE_OWNED.finding("100% sure\r\n::error::no\u{1b}[0m").at(place);
        assert_eq!(
            github(&[finding.help("a\nb")]),
            "::warning file=a%2Cb%3Ac%25/x.yaml,line=2,col=1,title=GW009 double-owned::100%25 sure%0A::error::no␛[0m%0Ahelp: 1. a%0A2. b\n"
        );
    }

    #[test]
    fn places_and_codes_may_be_missing() {
        assert_eq!(github(&[Diagnostic::note("x")]), "::notice ::x\n");
    }
}
