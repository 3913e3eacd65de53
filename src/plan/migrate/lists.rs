//! The lists of files that successors come into.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::Place;
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::resources::{Item, add_all, respell, rewrite};
use crate::plan::problem::Problem;
use crate::repo::Reference;

/// What the kustomizations of folders are to list, so that each is read and written once: a list of a thousand files
/// that is edited for each of them would be read a million times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    of_folder: BTreeMap<RepoPath, BTreeMap<RepoPath, Heirs>>,
}

/// The files that come for one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Heirs {
    files: Vec<RepoPath>,
    stays: bool,
}

impl Lists {
    /// Notes that the folder, which lists a file, is to list others in its place, or behind all where it stays.
    pub fn succeed(&mut self, folder: &RepoPath, old: &RepoPath, files: Vec<RepoPath>, stays: bool) {
        self.of_folder.entry(folder.clone()).or_default().insert(old.clone(), Heirs { files, stays });
    }

    /// Takes in what another notes.
    pub fn extend(&mut self, other: Lists) {
        for (folder, heirs) in other.of_folder {
            self.of_folder.entry(folder).or_default().extend(heirs);
        }
    }

    /// Writes the lists.
    ///
    /// # Errors
    ///
    /// When a file is named otherwise than as a resource, or a list can't be edited: the files that wait for that list,
    /// and the problem.
    pub fn write(&self, builder: &mut Builder<'_>) -> Result<(), (BTreeSet<&RepoPath>, Problem)> {
        self.of_folder.iter().try_for_each(|(folder, heirs)| {
            relist(builder, folder, heirs).map_err(|problem| (heirs.keys().collect(), problem))
        })
    }
}

fn relist(
    builder: &mut Builder<'_>,
    folder: &RepoPath,
    heirs: &BTreeMap<RepoPath, Heirs>,
) -> Result<(), Problem> {
    let read = |builder: &Builder<'_>| {
        builder
            .kustomization(folder)
            .map_err(|broken| Problem::file(broken.message, folder))?
            .ok_or_else(|| Problem::file(format!("{folder} lost its kustomization.yaml"), folder))
    };
    let kustomization = read(builder)?;
    let resources = kustomization.resources();
    let listed: BTreeSet<&RepoPath> = resources.iter().filter_map(Reference::path).collect();
    if let Some(old) = heirs.keys().find(|old| !listed.contains(old)) {
        return Err(Problem::lasting(
            format!("{} names {old} otherwise than as a resource", kustomization.file),
            "list it under `resources` and commit that; then give the same command again",
            Place::file(kustomization.file.clone()),
        ));
    }
    let mut left: BTreeMap<&RepoPath, std::slice::Iter<'_, RepoPath>> =
        heirs.iter().map(|(old, heirs)| (old, heirs.files.iter())).collect();
    let item = |one: &Reference| {
        let Some(old) = one.path().filter(|old| heirs.get(*old).is_some_and(|heirs| !heirs.stays)) else {
            return Item::Keep;
        };
        let next = left.get_mut(old).and_then(Iterator::next);
        next.map_or(Item::Remove, |path| Item::Replace(respell(&one.text, &path.relative_to(folder))))
    };
    let items: Vec<Item> = resources.iter().map(item).collect();
    let text = rewrite(&kustomization, &items)
        .map_err(|error| Problem::edit(&kustomization.file, &kustomization.text, &error))?;
    builder.put(&kustomization.file, &text);
    let now = read(builder)?;
    let text = add_all(&now, left.into_values().flatten())
        .map_err(|error| Problem::edit(&now.file, &now.text, &error))?;
    builder.put(&now.file, &text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::{File, Snapshot};

    /// What the list becomes where each file named as `FILE: HEIR HEIR`, with `+` where it stays, is succeeded.
    fn written(list: &str, heirs: &[&str]) -> Result<String, Problem> {
        let at = |text: &str| RepoPath::parse(text).unwrap();
        let mut snapshot = Snapshot::default();
        snapshot.insert(at("c/kustomization.yaml"), File::new(list.as_bytes()));
        let mut lists = Lists::default();
        for line in heirs {
            let (old, files) = line.split_once(':').unwrap();
            let files = files.split_whitespace().map(at).collect();
            lists.succeed(&at("c"), &at(old.trim_end_matches('+')), files, old.ends_with('+'));
        }
        let mut builder = Builder::new(&snapshot);
        lists.write(&mut builder).map_err(|(_, problem)| problem)?;
        Ok(builder.now().file(&at("c/kustomization.yaml")).unwrap().text().unwrap().to_owned())
    }

    #[test]
    fn each_list_takes_all_successors_at_once() {
        assert_eq!(
            written(
                "resources:\n- ./a.yaml # a\n- x.yaml\n- b.yaml\n- c.yaml\n- d.yaml\n",
                &[
                    "c/a.yaml: c/a-rt.yaml c/a-rw.yaml",
                    "c/b.yaml+: c/b-rw.yaml",
                    "c/c.yaml: c/c-rt.yaml",
                    "c/d.yaml:"
                ]
            )
            .unwrap(),
            "resources:\n- ./a-rt.yaml # a\n- x.yaml\n- b.yaml\n- c-rt.yaml\n- ./a-rw.yaml\n- ./b-rw.yaml\n"
        );
    }

    #[test]
    fn a_file_named_otherwise_is_refused() {
        let stop = written("resources:\n- x.yaml\ncomponents:\n- a.yaml\n", &["c/a.yaml: c/a-rt.yaml"]);
        assert_eq!(
            stop.unwrap_err().reason,
            "c/kustomization.yaml names c/a.yaml otherwise than as a resource"
        );
    }
}
