//! Splits one app of an entry point.

use crate::delivery::{Child, Typed};
use crate::path::RepoPath;
use crate::plan::edit::Builder;
use crate::plan::edit::parts::{self, Parts};
use crate::plan::outcome::Way;
use crate::plan::problem::Problem;
use crate::plan::split::EntrySplit;
use crate::plan::split::folder::FolderSplit;

/// A child's place in the new entry points: the folder to list, by type.
pub(super) struct Placed {
    pub(super) parts: Parts,
    pub(super) way: Way,
    pub(super) reason: String,
}

impl EntrySplit<'_, '_> {
    pub(super) fn split_child(&self, builder: &mut Builder<'_>, child: &Child) -> Result<Placed, Problem> {
        let typed = self
            .input
            .typed(self.input.snapshot, &child.folder, &child.app)
            .map_err(|error| Problem::unbuilt(&child.folder, &error))?;
        let present = typed.present();
        if let [only] = present[..] {
            let name = &self.input.spec.types[only].name.value;
            let parts = Parts::from([(only, child.folder.clone())]);
            return Ok(Placed {
                parts,
                way: Way::Untouched,
                reason: format!("all of its objects are of type {name}"),
            });
        }
        if present.is_empty() {
            return Ok(Placed {
                parts: Parts::new(),
                way: Way::Untouched,
                reason: "it renders no objects".into(),
            });
        }
        let values = typed.values();
        let split = FolderSplit::new(self.input.spec, &self.input.model.graph, &child.app, &values);
        let mut trial = builder.clone();
        let plain = if self.is_own(&child.folder) {
            let sides = self.input.sides_in(&self.entry.path, &self.entry.cluster);
            let part = |position| sides.get(&position)?.join(&child.name).ok();
            split.split(&mut trial, &child.folder, &part)
        } else {
            split.split_base(&mut trial, &child.folder)
        };
        let why = match plain {
            Ok(parts) => match self.differs(&trial, &typed, &parts) {
                None => {
                    *builder = trial;
                    let reason = "moved apart, every object stays the same".to_owned();
                    return Ok(Placed { parts, way: Way::Plain, reason });
                }
                Some(mismatch) => format!("moved apart, {mismatch}"),
            },
            Err(reason) => reason,
        };
        self.move_bases(builder, child, &split);
        let parts = self.project_child(builder, child, &typed)?;
        Ok(Placed { parts, way: Way::Projection, reason: why })
    }

    /// A folder that only this entry point uses and that lies within it.
    fn is_own(&self, folder: &RepoPath) -> bool {
        let mut referrers = self.input.model.graph.referrers(folder);
        folder.is_within(&self.entry.path) && referrers.all(|referrer| *referrer == self.entry.path)
    }

    /// Divides the files of a child's bases where that changes no build; a base that can't stays.
    fn move_bases(&self, builder: &mut Builder<'_>, child: &Child, split: &FolderSplit<'_>) {
        // No side may list a base's parts, so nobody would prove them later.
        let careful = EntrySplit { trusts: false, ..*self };
        for base in self.input.model.graph.children(&child.folder) {
            if base.is_within(&self.entry.path) {
                continue;
            }
            let Ok(typed) = self.input.typed(self.input.snapshot, &base, &child.app) else { continue };
            let mut trial = builder.clone();
            if let Ok(parts) = split.split_base(&mut trial, &base)
                && parts.len() > 1
                && careful.differs(&trial, &typed, &parts).is_none()
            {
                *builder = trial;
            }
        }
    }

    fn project_child(
        &self,
        builder: &mut Builder<'_>,
        child: &Child,
        typed: &Typed,
    ) -> Result<Parts, Problem> {
        let name = &child.name;
        let mut folders = Parts::new();
        for position in typed.present() {
            let folder = parts::side(self.input, self.entry, position)?.join(name).map_err(Problem::bug)?;
            folders.insert(position, folder);
        }
        self.project(builder, &child.app, &child.folder, typed, &folders)?;
        Ok(folders)
    }
}
