//! Adds edge properties after the import, and gives them wider types.

use std::sync::Arc;

use esker_format::{
    Edit, ElementType, Error, LogicalType, Owner, PropertyRecord, PropertyType, Result, Widening,
};
use esker_graph::Run;

use crate::database::batch::resolve::Writer;
use crate::database::handle::Database;
use crate::database::layers::Maintenance;
use crate::database::upkeep::maintain::NextState;
use crate::database::upkeep::merging::MergeRequest;
use crate::merge::GivenIds;
use crate::version::State;

impl Database {
    /// Adds an edge property with values of a type. All existing edges get the value 0 (false, 1970-01-01) or
    /// the empty text, in every version. With `weight`, analyses use the property as the weight by default;
    /// this requires a type of i32, i64, f32 or f64, and that no other property is the weight.
    ///
    /// The call rewrites all layers as one, as [`Database::compact`] does; commits wait meanwhile, readers do
    /// not. With the type [`LogicalType::EdgeId`], the database gives all edges ids: those of the import if
    /// it has made no other version, else ids with the version 0, which tell that the edges are older. It
    /// creates no version: a [`Version`](crate::Version) that was opened before lacks the property, and one
    /// that is opened later has it, whatever its number. A commit refuses batches created before the call.
    ///
    /// # Errors
    /// [`Error::Invalid`] if edges already have a property of that name, or the name or type is not allowed;
    /// otherwise as [`Database::freeze`].
    pub fn add_edge_property(
        &self,
        name: &str,
        property_type: impl Into<PropertyType>,
        weight: bool,
        run: &Run,
    ) -> Result<()> {
        let property_type = property_type.into();
        let gives_ids = property_type.logical == LogicalType::EdgeId;
        if gives_ids && !self.schema().multigraph {
            return Err(Error::invalid(
                "this database holds one edge between two vertices, so its edges need no ids: import the edges to a new database that keeps \
                 parallel edges"
                    .to_owned(),
            ));
        }
        self.rewrite(run, |known| {
            let record = new_record(known, name, property_type, weight)?;
            let edit = Edit::AddProperty(record.clone());
            Ok(Some(Rewriting { edit, added: Some(record), widened: None, gives_ids }))
        })
    }

    /// Gives an edge property a wider type, which holds all of its values exactly, in every version. Does
    /// nothing if it has the type or a wider one. A commit does this by itself for values that the type does
    /// not hold.
    ///
    /// The call rewrites all layers, as [`Database::add_edge_property`] does.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such property, the type does not hold its values, or it has the
    /// times of the stream that the database was declared, which are integers; otherwise as
    /// [`Database::freeze`].
    pub fn widen_edge_property(&self, name: &str, element: ElementType, run: &Run) -> Result<()> {
        let state = self.core.state();
        let is_time = state.manifest().stream.as_ref().is_some_and(|stream| stream.time == name);
        if is_time && matches!(element, ElementType::F32 | ElementType::F64) {
            return Err(Error::invalid(format!(
                "a value of {name} has a fraction, and the property has the times of a stream, which are integers in one unit: convert the times, \
                 as to milliseconds"
            )));
        }
        self.rewrite(run, |known| {
            let mut of_edges = known.iter().filter(|property| property.owner == Owner::Edges);
            let known = of_edges.find(|property| property.name == name && property.is_number());
            let known =
                known.ok_or_else(|| Error::invalid(format!("edges have no property {name:?} of numbers")))?;
            let Some(widening) = widening_of(known, element)? else { return Ok(None) };
            let edit = Edit::SetProperty(PropertyRecord { element, ..known.clone() });
            Ok(Some(Rewriting { edit, added: None, widened: Some(widening), gives_ids: false }))
        })
    }

    /// Gives a vertex property a wider type, which holds all of its values exactly, in every version. Does
    /// nothing if it has the type or a wider one. A commit does this by itself for values that the type does
    /// not hold.
    ///
    /// The call writes the commits so far as a layer; other layers stay, and their values are converted as
    /// they are read.
    ///
    /// # Errors
    /// As [`Database::widen_edge_property`].
    pub fn widen_vertex_property(&self, name: &str, element: ElementType, run: &Run) -> Result<()> {
        self.redefine(run, |maintenance, writer| self.with_wider(name, element, maintenance, writer, run))
    }

    /// The next state, where a vertex property has a wider type; `None` if it has the type or a wider one
    /// already.
    fn with_wider(
        &self,
        name: &str,
        element: ElementType,
        maintenance: &mut Maintenance,
        writer: &mut Writer,
        run: &Run,
    ) -> Result<Option<NextState>> {
        // The bits of commits in the log are of the old type.
        self.core.freeze_holding(maintenance, writer, run)?;
        let state = self.core.state();
        let newest = state.version(state.newest())?;
        let known = newest.vertex_property(name)?;
        let Some(widening) = widening_of(known.record(), element)? else { return Ok(None) };
        for layer in known.layers() {
            for change in layer.column.changes() {
                let bits = change?.value.and_then(|value| Some((value.element()?, value.bits()?)));
                let Some((from, bits)) = bits.filter(|(from, _)| *from != element) else { continue };
                let widening = Widening { from, ..widening };
                widening.bits(bits).ok_or_else(|| widening.too_wide(bits))?;
            }
            run.check()?;
        }
        let edits = vec![Edit::SetProperty(PropertyRecord { element, ..known.record().clone() })];
        let manifest = maintenance.manifest.manifest().with(&edits).map_err(Error::invalid)?;
        let state = Arc::new(state.with(manifest, state.layers().to_vec()));
        Ok(Some(NextState::with_same_layers(state, edits)))
    }

    /// Merges all layers into one and changes the properties of edges, as `change` says of the known
    /// properties; `None`: not at all.
    fn rewrite(
        &self,
        run: &Run,
        change: impl FnOnce(&[PropertyRecord]) -> Result<Option<Rewriting>>,
    ) -> Result<()> {
        let core = &self.core;
        self.redefine(run, |maintenance, writer| {
            let Some(rewriting) = change(&core.state().manifest().properties)? else { return Ok(None) };
            let Rewriting { edit, added, widened, gives_ids } = rewriting;
            // Every commit in the log must have the properties and their types, so none may remain there.
            core.freeze_holding(maintenance, writer, run)?;
            let state = core.state();
            let all = 0..state.layers().len();
            let given_ids = gives_ids.then(|| given_ids(&state));
            let request =
                MergeRequest { added: added.as_ref(), given_ids, widened, ..MergeRequest::default() };
            let mut written = core.write_merged(maintenance, &state, all, request, run)?;
            written.edits.insert(0, edit);
            core.prepare(maintenance, &state, written).map(Some)
        })
    }

    /// Records and shows the state that `change` makes, while no commit comes; does nothing if it makes none.
    pub(super) fn redefine(
        &self,
        run: &Run,
        change: impl FnOnce(&mut Maintenance, &mut Writer) -> Result<Option<NextState>>,
    ) -> Result<()> {
        self.redefine_holding(&mut self.core.maintenance.lock(), run, change)
    }

    /// As [`Database::redefine`], for a caller that holds `maintenance`.
    pub(crate) fn redefine_holding(
        &self,
        maintenance: &mut Maintenance,
        run: &Run,
        change: impl FnOnce(&mut Maintenance, &mut Writer) -> Result<Option<NextState>>,
    ) -> Result<()> {
        let core = &self.core;
        // Freezes most commits before other commits have to wait.
        core.freeze(maintenance, run)?;
        let mut writer = core.writer.lock();
        writer.expect_sound()?;
        core.make_visible(writer.next_version - 1).map_err(|error| writer.fail(error))?;
        let Some(next) = change(maintenance, &mut writer)? else { return Ok(()) };
        let newest = next.state.version(next.state.newest())?;
        let last_committed_ms = writer.last_committed_ms;
        let fresh = Writer { last_committed_ms, ..Writer::over(&newest, run)? };
        let end = fresh.next_version - 1;
        // If recording fails, it is unknown whether the manifest has the property, so nothing more may be
        // committed.
        core.record(maintenance, &next).map_err(|error| writer.fail(error))?;
        core.show(&next, &mut writer, Some(end))?;
        *writer = fresh;
        Ok(())
    }
}

/// A change of the properties of edges.
struct Rewriting {
    edit: Edit,
    added: Option<PropertyRecord>,
    widened: Option<Widening>,
    /// Whether the added property has the ids of edges.
    gives_ids: bool,
}

/// The ids that the edges of a state get, whose commits are all in layers.
fn given_ids(state: &State) -> GivenIds {
    let (layers, newest) = (state.layers(), state.newest());
    let is_import = layers.len() == 1 && newest == 1 && layers[0].record().last_version == 1;
    if is_import { GivenIds::Imported } else { GivenIds::Older }
}

/// The change of the type of a property to a wider one; `None` if it has the type or a wider one.
fn widening_of(known: &PropertyRecord, element: ElementType) -> Result<Option<Widening>> {
    let from = known.element;
    if known.is_number() && (from == element || Widening::is_possible(element, from)) {
        return Ok(None);
    }
    if known.is_number() && Widening::is_possible(from, element) {
        return Ok(Some(Widening { property: known.number, from, to: element, optional: known.optional }));
    }
    Err(Error::invalid(format!(
        "the property {:?} has type {}, which {} does not hold",
        known.name,
        known.type_name(),
        element.name()
    )))
}

fn new_record(
    known: &[PropertyRecord],
    name: &str,
    PropertyType { element, logical }: PropertyType,
    weight: bool,
) -> Result<PropertyRecord> {
    use ElementType::{F32, F64, I32, I64};
    let invalid = |reason: String| Err(Error::invalid(reason));
    let of_edges = || known.iter().filter(|property| property.owner == Owner::Edges);
    if name.is_empty() {
        return invalid("an edge property needs a name".to_owned());
    }
    if of_edges().any(|property| property.name == name) {
        return invalid(format!("edges already have a property {name:?}"));
    }
    if let Some(other) = of_edges().find(|one| logical == LogicalType::EdgeId && one.logical == logical) {
        return invalid(format!("edges already have ids: {:?}", other.name));
    }
    if logical.is_vector() {
        return invalid(format!("the edge property {name:?} cannot hold vectors, which vertices have"));
    }
    if let Some(other) = of_edges().find(|property| weight && property.weight) {
        return invalid(format!("edges already have a weight: {:?}", other.name));
    }
    if weight && !(logical.is_number() && matches!(element, I32 | I64 | F32 | F64)) {
        return invalid("a weight must have type i32, i64, f32 or f64".to_owned());
    }
    Ok(PropertyRecord {
        number: of_edges().count() as u32,
        owner: Owner::Edges,
        name: name.to_owned(),
        // The codes of texts grow wider as their number grows.
        element,
        logical,
        weight,
        kind: false,
        optional: false,
    })
}
