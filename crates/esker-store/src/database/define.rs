//! Adds edge properties after the import.

use esker_format::{Edit, ElementType, Error, Owner, PropertyRecord, Result};
use esker_graph::Run;

use super::handle::{Database, locked};
use super::merging::MergeRequest;
use super::write::Writer;

impl Database {
    /// Adds an edge property with values of a type, or texts (`None`). All existing edges get the value 0 or
    /// the empty text, in every version. With `weight`, analyses use the property as the weight by default;
    /// this requires a type of i32, i64, f32 or f64, and that no other property is the weight.
    ///
    /// The call rewrites all layers as one, as [`Database::compact`] does; commits wait meanwhile, readers do
    /// not. It creates no version: earlier snapshots do not have the property, later ones have it whatever
    /// their version. A commit refuses batches created before the call.
    ///
    /// # Errors
    /// [`Error::Invalid`] if edges already have a property of that name, or the name or type is not allowed;
    /// otherwise as [`Database::freeze`].
    pub fn add_edge_property(
        &self,
        name: &str,
        element: Option<ElementType>,
        weight: bool,
        run: &Run,
    ) -> Result<()> {
        let core = &self.core;
        let mut maintenance = locked(&core.maintenance);
        // Freezes most commits before other commits have to wait.
        core.freeze(&mut maintenance, run)?;
        let mut writer = locked(&core.writer);
        writer.expect_sound()?;
        core.make_visible(writer.next_version - 1).map_err(|error| writer.fail(error))?;
        let record = new_record(&core.state().manifest().properties, name, element, weight)?;
        // Every commit in the log must have the property, so none may remain there.
        core.freeze_holding(&mut maintenance, &mut writer, run)?;
        let state = core.state();
        let all = 0..state.layers().len();
        let request = MergeRequest { added: Some(&record), ..MergeRequest::default() };
        let mut written = core.write_merged(&maintenance, &state, all, request, run)?;
        written.edits.insert(0, Edit::AddProperty(record));
        let next = core.prepare(&maintenance, &state, written)?;
        let newest = next.state.snapshot(next.state.newest())?;
        let last_committed_ms = writer.last_committed_ms;
        let fresh = Writer { last_committed_ms, ..Writer::over(&newest, run)? };
        let end = fresh.next_version - 1;
        // If recording fails, it is unknown whether the manifest has the property, so nothing more may be
        // committed.
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
        return invalid(format!("edges already have a property {name:?}"));
    }
    if let Some(other) = of_edges().find(|property| weight && property.weight) {
        return invalid(format!("edges already have a weight: {:?}", other.name));
    }
    if weight && element.is_none_or(|element| !matches!(element, I32 | I64 | F32 | F64)) {
        return invalid("a weight must have type i32, i64, f32 or f64".to_owned());
    }
    Ok(PropertyRecord {
        number: of_edges().count() as u32,
        owner: Owner::Edges,
        name: name.to_owned(),
        // The codes of texts grow wider as their number grows.
        element: element.unwrap_or(ElementType::U8),
        texts: element.is_none(),
        weight,
    })
}
