//! Projections of a whole: an app, or an entry point whose content moves to a folder beside its sides.

use crate::delivery::classify::{Classified, is_hashed};
use crate::delivery::{Input, OneType, Typed, shared};
use crate::path::RepoPath;
use crate::plan::edit::parts::{self, Parts};
use crate::plan::edit::{Builder, generated};
use crate::plan::outcome::{EntryOutcome, Way};
use crate::plan::problem::Problem;
use crate::plan::split::projection::{Manner, Member};
use crate::plan::split::{EntrySplit, projection};
use crate::render::Object;
use crate::repo::manifest::ObjectId;

impl EntrySplit<'_, '_> {
    /// Writes a projection of `whole` into each folder, by rules if those come out right, else
    /// by a list.
    pub(super) fn project(
        &self,
        builder: &mut Builder<'_>,
        app: &str,
        whole: &RepoPath,
        typed: &Typed,
        folders: &Parts,
    ) -> Result<(), Problem> {
        let mut last = String::new();
        for manner in Manner::ALL {
            let mut trial = builder.clone();
            for (position, folder) in folders {
                let text = projection_text(self.input, app, whole, folder, *position, typed, manner);
                let file = folder.join("kustomization.yaml").map_err(Problem::bug)?;
                trial.create(&file, &text).map_err(|error| Problem::from(&error))?;
            }
            match self.differs(&trial, typed, folders) {
                None => {
                    *builder = trial;
                    return Ok(());
                }
                Some(mismatch) => last = mismatch.to_string(),
            }
        }
        Err(Problem::new(
            format!("each way to split {whole} would change an object: {last}"),
            "report this with the folder's kustomization.yaml; nothing was changed",
        ))
    }

    /// Projects the entry point as a whole: its content moves to a folder beside the sides.
    pub(super) fn project_entry(
        &self,
        builder: &mut Builder<'_>,
        typed: &Typed,
        field: Option<&str>,
        earlier: Option<&str>,
    ) -> Result<EntryOutcome, Problem> {
        let mut outcome = EntryOutcome::of(self.entry);
        let present = typed.present();
        if let [only] = present[..] {
            let one = OneType { position: only, but_namespaces: false };
            return Ok(outcome.undivided(self.input, self.entry, one));
        }
        let whole = shared(self.input.spec, &self.entry.path, &self.entry.cluster)
            .ok_or_else(|| Problem::layout("entryPoint", &self.entry.path))?;
        generated::move_whole(builder, self.kustomization, &whole).map_err(|reason| {
            let remedy = "write the named field as a list in block style\nor split this entry point by hand";
            Problem::new(reason, remedy)
        })?;
        let mut folders = Parts::new();
        for position in present {
            folders.insert(position, parts::side(self.input, self.entry, position)?);
        }
        let app = self.input.model.name_of(self.entry).to_owned();
        self.project(builder, &app, &whole, typed, &folders)?;
        outcome.after = folders
            .iter()
            .map(|(position, folder)| (self.input.spec.types[*position].name.value.clone(), folder.clone()))
            .collect();
        for key in self.kustomization.unknown_keys() {
            let file = &self.kustomization.file;
            outcome
                .notes
                .push(format!("`{key}` of {file} is no field of kustomize. {whole} goes without it"));
        }
        outcome.way = Way::Projection;
        outcome.reason = match (field, earlier) {
            (Some(field), _) => {
                format!("{} has `{field}`, which can't be divided", self.kustomization.file)
            }
            (None, Some(earlier)) => format!("its apps can't be divided one by one: {earlier}"),
            (None, None) => {
                format!("{} lists files itself, which stay where they are", self.kustomization.file)
            }
        };
        Ok(outcome)
    }
}

/// Writes the text of a projection, header included.
pub fn projection_text(
    input: &Input<'_>,
    app: &str,
    whole: &RepoPath,
    folder: &RepoPath,
    position: usize,
    typed: &Typed,
    manner: Manner,
) -> String {
    let member = |(object, classified): (&Object, &Classified)| Member {
        id: id_before_hash(object),
        change_type: classified.change_type,
        exception: projection::is_exception(input.spec, app, &object.value, classified.change_type),
    };
    let members: Vec<Member> = typed.objects.iter().zip(&typed.types).map(member).collect();
    let body =
        projection::kustomization(input.spec, app, &whole.relative_to(folder), position, &members, manner);
    generated::with_header(&body)
}

/// Returns the id that an object has while patches are applied: hashes are appended to names last.
fn id_before_hash(object: &Object) -> ObjectId {
    let mut id = ObjectId::of(&object.value);
    if is_hashed(object)
        && let Some((name, _)) = id.name.rsplit_once('-')
    {
        id.name = name.to_owned();
    }
    id
}
