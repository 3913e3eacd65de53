//! Invariant 11: a room of `src` uses only rooms that stand before it in [`ROOMS`].
//!
//! `src/lib.rs` draws them. What is not as it should be yet is counted, and the counts only go down.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod source;

use std::collections::BTreeMap;

use source::{Source, declared, sources};

/// The rooms, from the bottom. Below `plan`, each folder is a room of its own.
const ROOMS: &[&str] = &[
    // No domain.
    "path",
    "limit",
    "diagnostic",
    "error",
    "yaml",
    "text",
    // Files, time, the spec.
    "repo",
    "schedule",
    "spec",
    "template",
    // How gates open and close.
    "mechanism",
    // Builds, clusters.
    "render",
    "live",
    // The model.
    "delivery",
    // What becomes of a plan.
    "change",
    "proof",
    "diff",
    "write",
    // What is shown in a browser.
    "page",
    // The plan.
    "plan",
    "plan/edit",
    "plan/gate",
    "plan/migrate",
    "plan/split",
    "plan/command",
    // Questions.
    "clusters",
    "check",
    "when",
    "calendar",
    "explain",
    "verify",
    "pr",
    "status",
    "post",
    // Wiring.
    "cli",
    "output",
    "commands",
];

/// Where the second column of the drawings begins.
const COLUMN: usize = 44;

/// Uses of a room that stands after: the user, the room, the number of files. To be none.
const EXCEPTIONS: &[(&str, &str, usize)] = &[];

/// Ways to work out again what `delivery` knows, with the number of places outside of it.
///
/// The lists of a model are its own: whoever is about all entry points or all Flux Kustomizations asks for
/// `all_entries()` and `all_flux()`, and everybody else for those of a cluster, a folder, a file or a name.
const SCANS: &[(&str, usize)] = &[
    (".all_entries()", 18),
    (".all_flux()", 20),
    (".all_kustomizations()", 3),
    (".again(", 14),
    (".side(", 0),
    ("cluster_of(", 0),
];

/// The files that may scan: `delivery`, and what it reads from.
const SCANNERS: &[&str] = &["src/delivery/"];

#[test]
fn a_room_uses_only_rooms_before_it() {
    let place = |room: &str| ROOMS.iter().position(|known| *known == room);
    let mut found: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for source in sources().iter().filter(|source| !source.module.is_empty()) {
        let own = room(&source.module);
        let at = place(&own).unwrap_or_else(|| {
            panic!(
                "{} stands in no room: add `{own}` to ROOMS, and to the drawing in src/lib.rs",
                source.path
            )
        });
        let mut used: Vec<String> = uses(source).iter().map(|path| room(path)).collect();
        used.sort_unstable();
        used.dedup();
        for other in used.into_iter().filter(|other| place(other).is_some_and(|other| other > at)) {
            found.entry((own.clone(), other)).or_default().push(source.path.clone());
        }
    }
    let mut wrong = Vec::new();
    for ((own, other), files) in &found {
        let allowed = EXCEPTIONS.iter().find(|(from, to, _)| from == own && to == other);
        let allowed = allowed.map_or(0, |(_, _, count)| *count);
        if files.len() > allowed {
            wrong.push(format!(
                "`{own}` uses `{other}`, which stands after it, in {} files and not {allowed}: move what is used \
                 to a room before `{own}`, or what uses it to one after `{other}`:\n  {}",
                files.len(),
                files.join("\n  ")
            ));
        }
    }
    for (own, other, count) in EXCEPTIONS {
        let now = found.get(&((*own).to_owned(), (*other).to_owned())).map_or(0, Vec::len);
        if now < *count {
            wrong.push(format!("`{own}` uses `{other}` in {now} files: lower {count} to that in EXCEPTIONS"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_drawings_show_the_rooms() {
    let drawn = |text: &str| -> Vec<String> {
        let start = text.find("```text\npath ").unwrap() + "```text\n".len();
        let lines = text[start..].lines().take_while(|line| *line != "```");
        // What stands in them follows in a column of its own.
        lines.flat_map(|line| line[..COLUMN].split_whitespace().map(str::to_owned)).collect()
    };
    let read =
        |path: &str| std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert_eq!(drawn(&read("src/lib.rs").replace("//! ", "")), ROOMS, "src/lib.rs");
    assert_eq!(drawn(&read("CONTRIBUTING.md")), ROOMS, "CONTRIBUTING.md");
}

#[test]
fn only_delivery_works_out_who_applies_what() {
    let sources = sources();
    let others = sources.iter().filter(|source| !SCANNERS.iter().any(|may| source.path.starts_with(may)));
    // A chain of calls may be broken into lines anywhere.
    let texts: Vec<(&str, String)> =
        others.map(|source| (source.path.as_str(), source.code.split_whitespace().collect())).collect();
    let mut wrong = Vec::new();
    for (scan, allowed) in SCANS {
        let counts = texts.iter().map(|(path, text)| (text.matches(scan).count(), path));
        let places: Vec<String> = counts
            .clone()
            .filter(|(count, _)| *count > 0)
            .map(|(count, path)| format!("{count} {path}"))
            .collect();
        let now: usize = counts.map(|(count, _)| count).sum();
        if now > *allowed {
            wrong.push(format!(
                "`{scan}` stands in {now} places outside of `delivery`, and {allowed} were there: ask `delivery`, \
                 and teach it where it has no answer:\n  {}",
                places.join("\n  ")
            ));
        } else if now < *allowed {
            wrong.push(format!("`{scan}` stands in {now} places: lower {allowed} to that in SCANS"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the room of a module or of something in it.
fn room(path: &[String]) -> String {
    let sub = path.get(1).map(|sub| format!("{}/{sub}", path[0]));
    sub.filter(|sub| ROOMS.contains(&sub.as_str())).unwrap_or_else(|| path[0].clone())
}

/// Returns what a source uses of the crate, as paths from its top.
fn uses(source: &Source) -> Vec<Vec<String>> {
    let (imports, code) = imports(&source.code);
    let mut names: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for child in source.code.lines().filter_map(declared) {
        let path = source.module.iter().cloned().chain([child.to_owned()]);
        names.insert(child.to_owned(), path.collect());
    }
    let leaves = imports.iter().flat_map(|tree| leaves(tree));
    let imported: Vec<(String, Vec<String>)> =
        leaves.filter_map(|(path, name)| Some((name, absolute(&source.module, &path, &names)?))).collect();
    let mut found: Vec<Vec<String>> = imported.iter().map(|(_, path)| path.clone()).collect();
    names.extend(imported);
    // `pub(in crate::plan)` says who may use it.
    let code: Vec<&str> = code.split("(in ").map(|part| part.trim_start_matches("crate::plan)")).collect();
    let is_outside = |letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':');
    for path in code.iter().flat_map(|part| part.split(is_outside)).filter(|path| path.contains("::")) {
        let path: Vec<String> = path.trim_end_matches(':').split("::").map(str::to_owned).collect();
        found.extend(absolute(&source.module, &path, &names));
    }
    found.retain(|path| !path.is_empty());
    found
}

/// Takes the imports out of a text: returns their trees, and the rest.
fn imports(code: &str) -> (Vec<String>, String) {
    let (mut trees, mut rest): (Vec<String>, String) = (Vec::new(), String::new());
    let mut is_open = false;
    for line in code.lines() {
        let start = line.trim_start();
        let start = if start.starts_with("pub") {
            start.split_once(" use ").map(|(_, tree)| tree)
        } else {
            start.strip_prefix("use ")
        };
        match (start, trees.last_mut()) {
            (_, Some(tree)) if is_open => tree.push_str(line),
            (Some(tree), _) => trees.push(tree.to_owned()),
            (None, _) => {
                rest.push_str(line);
                rest.push('\n');
                continue;
            }
        }
        is_open = !line.ends_with(';');
    }
    (trees.iter().map(|tree| tree.trim_end_matches(';').to_owned()).collect(), rest)
}

/// Returns a path from the top of the crate; `None` where it leads out of it, or to a local name.
fn absolute(
    module: &[String],
    path: &[String],
    names: &BTreeMap<String, Vec<String>>,
) -> Option<Vec<String>> {
    let above = path.iter().take_while(|segment| *segment == "super").count();
    let start = match path.first()?.as_str() {
        "crate" => Vec::new(),
        "self" => module.to_vec(),
        "super" => module[..module.len().saturating_sub(above)].to_vec(),
        name => names.get(name)?.clone(),
    };
    Some(start.into_iter().chain(path[above.max(1)..].iter().cloned()).collect())
}

/// Returns the paths of a tree of imports, each with the name that it gets.
fn leaves(tree: &str) -> Vec<(Vec<String>, String)> {
    let Some((before, group)) = tree.split_once('{') else {
        let (path, name) = tree.split_once(" as ").map_or((tree, None), |(path, name)| (path, Some(name)));
        let mut path: Vec<String> = path.trim().split("::").map(str::to_owned).collect();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name =
            name.map_or_else(|| path.last().cloned().unwrap_or_default(), |name| name.trim().to_owned());
        return vec![(path, name)];
    };
    let group = group.rsplit_once('}').map_or(group, |(group, _)| group);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for letter in group.chars() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        match parts.last_mut() {
            Some(part) if depth > 0 || letter != ',' => part.push(letter),
            _ => parts.push(String::new()),
        }
    }
    let before = before.trim();
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| leaves(&format!("{before}{}", part.trim()))).collect()
}

#[test]
fn imports_are_read_as_rust_means_them() {
    let source = Source {
        path: "src/plan/edit/mod.rs".to_owned(),
        module: vec!["plan".to_owned(), "edit".to_owned()],
        code: "mod own;\nuse crate::{check::{self, Code}, plan};\npub(in crate::plan) use super::gate::Gate as Door;\n\
               use own::Thing;\nuse std::fmt;\n\
               fn f() { plan::split::split(); Door::new(); crate::when::answer(); fmt::x(); local::y(); }\n"
            .to_owned(),
    };
    let mut found: Vec<String> = uses(&source).iter().map(|path| path.join("::")).collect();
    found.sort();
    let expected = [
        "check",
        "check::Code",
        "plan",
        "plan::edit::own::Thing",
        "plan::gate::Gate",
        "plan::gate::Gate::new",
        "plan::split::split",
        "when::answer",
    ];
    assert_eq!(found, expected);
}
