//! What newer files bring first, and newer values later.

use crate::delivery::{Change, Kind};
use crate::pr::landing::Landing;
use crate::repo::manifest::ObjectId;

/// Returns a change with when it lands: twice where the files of an object come before the values that are put into it, each
/// time with what comes then.
///
/// `files` and `values` say when these land, `values` where they are others than before.
pub(super) fn stages(change: &Change, files: Landing, values: Option<Landing>) -> Vec<(Change, Landing)> {
    let Some(values) = values else { return vec![(change.clone(), files)] };
    let is_built_as_before = change.is_substituted && change.before.is_some();
    let Some((between, (pair, _))) = change.between.as_ref().zip(change.after.as_ref()) else {
        // The files go on building what has another name by other values.
        let is_renamed = is_built_as_before && change.kind() == Kind::Deleted;
        return vec![(change.clone(), if is_renamed { values } else { files })];
    };
    if is_built_as_before {
        return vec![(change.clone(), values)];
    }
    let is_later = files.earliest.is_some_and(|own| values.earliest.is_none_or(|other| other > own));
    let is_unseen = change.before.as_ref().is_some_and(|(_, old)| old.value == between.value);
    // By the older values it may have another name.
    if !is_later || is_unseen || ObjectId::of(&between.value) != change.live {
        return vec![(change.clone(), files.and(values))];
    }
    let first = Change { after: Some((*pair, between.clone())), between: None, ..change.clone() };
    let second = Change { before: Some((*pair, between.clone())), is_substituted: true, ..change.clone() };
    vec![(first, files), (second, values)]
}
