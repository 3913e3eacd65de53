//! A step that clusters don't have yet.

use crate::plan::Stage;
use crate::plan::migrate::moving::Move;
use crate::plan::migrate::precondition::subject::Subject;
use crate::plan::problem::Problem;

/// Stops where the step before does not stand in the revision that clusters are taken to have.
pub fn check(subject: &Subject<'_>, one: &Move<'_>) -> Option<Problem> {
    let step = match one.stage {
        Stage::Restructured => "restructured",
        Stage::HandedOver => "handed over",
        _ => return None,
    };
    let stood = subject.bases.get(&one.key()).map(|stood| &stood.stage);
    (stood != Some(&one.stage)).then(|| {
        Problem::new(
            format!("it is {step} here and not yet in {}", subject.options.base),
            "commit this step by itself\nwait until the cluster has applied it\nrun `gitops-windows migrate` again",
        )
    })
}
