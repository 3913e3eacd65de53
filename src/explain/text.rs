//! The answer for people.

use std::collections::BTreeMap;

use crate::diff::clean;
use crate::explain::{Consumer, Explained, Explanation};
use crate::text::table;

/// How many objects and files are told with lines of their own; more are told in tables.
const MOST: usize = 8;

/// What is said of what no entry point builds.
const UNBUILT: &str = "no entry point builds it";

/// Tells each object, with who applies it and what it waits for.
///
/// Many objects stand in tables, one for each Flux Kustomization and what it waits for, unless `is_verbose`.
pub fn text(explained: &Explanation, is_verbose: bool) -> String {
    let count = explained.objects.len() + explained.files.len();
    let text = match count {
        0 => "It declares no object.\n".to_owned(),
        _ if count > MOST && !is_verbose => tables(explained),
        _ => each(explained),
    };
    text.lines().map(|line| format!("{}\n", clean(line.as_bytes()))).collect()
}

fn each(explained: &Explanation) -> String {
    let mut text = String::new();
    for object in &explained.objects {
        text.push_str(&format!("{}: {} ({})\n", object.live, object.change_type, object.reason));
        text.push_str(&format!("  from {}\n", object.origin));
        push(&mut text, &object.consumers, Some(object.has_window), true);
        if object.consumers.is_empty() {
            text.push_str(&format!("  {UNBUILT}\n"));
        }
    }
    for read in &explained.files {
        text.push_str(&format!("{}: no object of its own; it shapes what is built\n", read.file));
        push(&mut text, &read.readers, None, true);
    }
    text
}

/// Tells what the same is said of in one table: an object a line, in the order of the first ones.
fn tables(explained: &Explanation) -> String {
    let mut all: Vec<(String, Vec<Vec<String>>)> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |heading: String, row: Vec<String>| {
        let position = *known.entry(heading.clone()).or_insert(all.len());
        match all.get_mut(position) {
            Some((_, rows)) => rows.push(row),
            None => all.push((heading, vec![row])),
        }
    };
    let row = |object: &Explained| {
        vec![
            object.change_type.clone(),
            object.live.to_string(),
            object.origin.to_string(),
            format!("({})", object.reason),
        ]
    };
    for object in &explained.objects {
        let mut heading = String::new();
        push(&mut heading, &object.consumers, Some(object.has_window), false);
        if object.consumers.is_empty() {
            heading = format!("  {UNBUILT}\n");
        }
        add(heading, row(object));
    }
    for read in &explained.files {
        let mut heading = String::new();
        push(&mut heading, &read.readers, None, false);
        heading.push_str("    no object of its own; it shapes what is built\n");
        add(heading, vec![read.file.to_string()]);
    }
    let told = all.iter().map(|(heading, rows)| {
        let heading: String =
            heading.lines().map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect();
        let rows: String = table(rows).lines().map(|line| format!("    {line}\n")).collect();
        heading + &rows
    });
    told.collect::<Vec<_>>().join("\n")
}

/// Adds the lines of each entry point, and where they are wanted of each app; `has_window` tells whether the type of an object
/// has windows.
fn push(text: &mut String, consumers: &[Consumer], has_window: Option<bool>, with_apps: bool) {
    let alike = |a: &Consumer, b: &Consumer| {
        (&a.path, &a.kustomization, &a.held_by, &a.doubt) == (&b.path, &b.kustomization, &b.held_by, &b.doubt)
            && (a.app == b.app || !with_apps)
    };
    for consumers in consumers.chunk_by(alike) {
        let clusters: Vec<&str> = consumers.iter().map(|one| one.cluster.as_str()).collect();
        let word = if clusters.len() == 1 { "cluster" } else { "clusters" };
        let Some(Consumer { path, app, kustomization, held_by, doubt, .. }) = consumers.first() else {
            continue;
        };
        let app = if app.is_empty() || !with_apps { String::new() } else { format!(", app {app}") };
        text.push_str(&format!("  in {word} {}, {path}{app}\n", clusters.join(", ")));
        let Some((_, name)) = kustomization else { continue };
        let lands = match (held_by, has_window) {
            (Some(by), _) => format!(", held by {by}"),
            (None, Some(true)) => ": no gate holds it, and it lands at once".to_owned(),
            (None, Some(false)) => ", at once".to_owned(),
            (None, None) => String::new(),
        };
        let doubt = doubt.as_ref().map(|doubt| format!("; {doubt}")).unwrap_or_default();
        text.push_str(&format!("    by Flux Kustomization {name}{lands}{doubt}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::Read;
    use crate::path::RepoPath;
    use crate::repo::manifest::ObjectId;

    fn consumer(app: &str, held_by: Option<&str>) -> Consumer {
        Consumer {
            cluster: "one".to_owned(),
            path: RepoPath::parse("apps/one").unwrap(),
            app: app.to_owned(),
            kustomization: Some(("flux-system".to_owned(), "apps".to_owned())),
            held_by: held_by.map(str::to_owned),
            doubt: None,
        }
    }

    fn explained(count: usize) -> Explanation {
        let object = |n: usize| {
            let (kind, change_type) =
                if n.is_multiple_of(2) { ("ConfigMap", "rt") } else { ("Deployment", "rw") };
            let id = ObjectId::of(
                &serde_json::json!({ "apiVersion": "v1", "kind": kind, "metadata": { "name": format!("web-{n}"), "namespace": "shop" } }),
            );
            let has_window = change_type == "rw";
            let held_by = has_window.then_some("CronJob close");
            let consumers = if n == 7 { Vec::new() } else { vec![consumer(&format!("app-{n}"), held_by)] };
            let origin = RepoPath::parse(&format!("apps/base/web-{n}/object.yaml")).unwrap();
            let reason = format!("rule {} of the spec", 1 + n % 2);
            Explained {
                live: id.clone(),
                id,
                change_type: change_type.to_owned(),
                has_window,
                reason,
                origin,
                consumers,
            }
        };
        let files = vec![Read {
            file: RepoPath::parse("apps/base/values.yaml").unwrap(),
            readers: vec![consumer("", None)],
        }];
        Explanation { objects: (0..count).map(object).collect(), files, failed: Vec::new() }
    }

    #[test]
    fn many_objects_stand_in_tables() {
        insta::assert_snapshot!(text(&explained(9), false));
    }

    #[test]
    fn few_objects_are_told_one_by_one() {
        assert_eq!(text(&explained(2), false), text(&explained(2), true));
        assert!(text(&explained(2), false).contains("ConfigMap shop/web-0: rt (rule 1 of the spec)\n  from apps/base/web-0/object.yaml\n  in cluster one, apps/one, app app-0\n"));
        assert_eq!(text(&Explanation::default(), false), "It declares no object.\n");
    }
}
