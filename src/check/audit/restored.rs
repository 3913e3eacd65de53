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

/// Finds what would come to life again where a hand-over is taken back.
pub fn audit(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let Some(spec) = subject.spec else { return Vec::new() };
    let input = Input { spec, snapshot: subject.snapshot, model: subject.model, renderer: subject.renderer };
    let sides = input.sides();
    let told = left_lists(&input, &sides).into_iter().map(|left| {
        let text = format!(
            "{} builds {}, which no side has. A revert of the hand-over brings that back",
            left.whole,
            named(left.back.iter())
        );
        RESTORED_LIST.finding(text).at(Place::file(left.file.clone())).help(left.corrections())
    });
    told.collect()
}

fn named<'o>(ids: impl Iterator<Item = &'o ObjectId>) -> String {
    some(&ids.map(ToString::to_string).collect::<Vec<_>>(), NAMED)
}
