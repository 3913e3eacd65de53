//! A build that is stopped says nothing about its folder.

use super::repository::{Files, edited, together, told};
use crate::check::{Subject, audit};
use crate::delivery::Known;
use crate::delivery::Model;
use crate::path::RepoPath;
use crate::render::{Lent, Object, RenderError, Renderer, Request};
use crate::repo::Snapshot;

/// A renderer that gives an error for one folder.
struct Failing<'a> {
    inner: Lent,
    folder: &'a str,
    message: &'a str,
}

impl Renderer for Failing<'_> {
    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn render(&self, snapshot: &Snapshot, requests: &[Request]) -> Vec<Result<Vec<Object>, RenderError>> {
        let results = self.inner.render(snapshot, requests);
        let fail = |(request, result): (&Request, _)| match request.path.as_str().ends_with(self.folder) {
            true => Err(RenderError { message: self.message.to_owned() }),
            false => result,
        };
        requests.iter().zip(results).map(fail).collect()
    }
}

fn found(message: &str) -> Vec<String> {
    let files: [Files; 1] = [edited(&[])];
    let snapshot = together(&files);
    let renderer = Failing { inner: Lent::default(), folder: "apps/rt", message };
    let model = Model::read(&snapshot, &RepoPath::top(), &Known::default(), &renderer);
    let subject = Subject::new(&snapshot, &model, None, &renderer);
    told(audit(&subject, "2026-01-05T12:00:00Z".parse().unwrap()), 1).remove(0).0
}

#[test]
fn what_took_too_long_is_not_called_broken() {
    let place = "clusters/edge/apps.yaml:15";
    assert_eq!(found("takes longer than the 120 s that it may"), [format!("GW043 {place}")]);
    assert_eq!(found("needs more than the 1024 MiB of memory that it may have"), [format!("GW043 {place}")]);
    assert_eq!(found("no matches for Id Deployment"), [format!("GW032 {place}")]);
}
