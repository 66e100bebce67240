//! Edge properties that come after the import.

use esker_graph::Run;

use super::handle::{Database, locked};
use super::merging::Aim;
use super::write::Writer;
use crate::error::{Error, Result};
use crate::format::{Edit, ElementType, Owner, PropertyRecord};

impl Database {
    /// Gives edges one more property: with values of a type, or texts (`None`). All edges that there are have the value 0, or the empty text,
    /// in every version. As `weight`, it is what analyses take for the weight if they are not told otherwise: only if there is
    /// none yet, and of type i32, i64, f32 or f64.
    ///
    /// The layers are written anew as one, as by [`Database::compact`]; commits wait meanwhile, readers do not. That makes no version: snapshots
    /// that were taken before do not have the property, those taken from now on have it, whichever their version. A batch that was
    /// made before is refused.
    ///
    /// # Errors
    /// [`Error::Invalid`] if edges have a property of that name, or there cannot be one of that kind; else as [`Database::freeze`].
    pub fn add_edge_property(
        &self,
        name: &str,
        element: Option<ElementType>,
        weight: bool,
        run: &Run,
    ) -> Result<()> {
        let core = &self.core;
        let mut maintenance = locked(&core.maintenance);
        // Most of the work of the commits is done before those who commit must wait.
        core.freeze(&mut maintenance, run)?;
        let mut writer = locked(&core.writer);
        writer.expect_sound()?;
        core.settle(writer.next_version - 1).map_err(|error| writer.fail(error))?;
        let record = new_record(&core.state().manifest().properties, name, element, weight)?;
        // No commit of the log lacks the property.
        core.freeze_holding(&mut maintenance, &mut writer, run)?;
        let state = core.state();
        let all = 0..state.layers().len();
        let aim = Aim { added: Some(&record), ..Aim::default() };
        let mut written = core.write_merged(&maintenance, &state, all, aim, run)?;
        written.edits.insert(0, Edit::AddProperty(record));
        let next = core.prepare(&maintenance, &state, written)?;
        let newest = next.state.snapshot(next.state.newest())?;
        let fresh = Writer { last_time_ms: writer.last_time_ms, ..Writer::over(&newest, run)? };
        let end = fresh.next_version - 1;
        // If it is not known what the manifest says, it is not known either what a commit must have.
        core.record(&mut maintenance, &next).map_err(|error| writer.fail(error))?;
        core.show(&next, &mut writer, Some(end))?;
        *writer = fresh;
        Ok(())
    }
}

fn new_record(
    known: &[PropertyRecord],
    name: &str,
    element: Option<ElementType>,
    weight: bool,
) -> Result<PropertyRecord> {
    use ElementType::{F32, F64, I32, I64};
    let invalid = |reason: String| Err(Error::Invalid(reason));
    let of_edges = || known.iter().filter(|property| property.owner == Owner::Edges);
    if name.is_empty() {
        return invalid("an edge property needs a name".to_owned());
    }
    if of_edges().any(|property| property.name == name) {
        return invalid(format!("edges have a property {name:?} already"));
    }
    if let Some(other) = of_edges().find(|property| weight && property.weight) {
        return invalid(format!("edges have a weight already: {:?}", other.name));
    }
    if weight && element.is_none_or(|element| !matches!(element, I32 | I64 | F32 | F64)) {
        return invalid("a weight is of type i32, i64, f32 or f64".to_owned());
    }
    Ok(PropertyRecord {
        number: of_edges().count() as u32,
        owner: Owner::Edges,
        name: name.to_owned(),
        // The codes of texts grow wider with their number.
        element: element.unwrap_or(ElementType::U8),
        texts: element.is_none(),
        weight,
    })
}
