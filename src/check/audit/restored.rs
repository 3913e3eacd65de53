//! Lists that a migration goes back to and that differ from their sides.

use crate::check::code::RESTORED_LIST;
use crate::check::subject::Subject;
use crate::delivery::Input;
use crate::diagnostic::{Diagnostic, Place};
use crate::plan::split::left_list::left_lists;
use crate::repo::manifest::ObjectId;
use crate::text::some;

/// How many objects are named.
const NAMED: usize = 5;

/// Finds what would come to life again, or lose its owner, where a hand-over is taken back.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let Some(spec) = subject.spec else { return Vec::new() };
    let input = Input { spec, snapshot: subject.snapshot, model: subject.model, renderer: subject.renderer };
    let sides = input.sides();
    let mut findings = Vec::new();
    for left in left_lists(&input, &sides) {
        let mut tell = |message: String| {
            let finding = RESTORED_LIST.finding(message).at(Place::file(left.file.clone()));
            findings.push(finding.help(left.corrections()));
        };
        if !left.back.is_empty() {
            tell(format!(
                "{} builds {}, which no side has. A revert of the hand-over brings that back",
                left.whole,
                named(left.back.iter())
            ));
        }
        if !left.lost.is_empty() {
            tell(format!(
                "{} lacks {} of its sides. A revert of the hand-over leaves that without an owner",
                left.whole,
                named(left.lost.iter())
            ));
        }
    }
    findings
}

fn named<'o>(ids: impl Iterator<Item = &'o ObjectId>) -> String {
    some(&ids.map(ToString::to_string).collect::<Vec<_>>(), NAMED)
}
