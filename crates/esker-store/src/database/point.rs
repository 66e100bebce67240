//! Point reads of the newest version, commits included that are in no layer.

use esker_graph::{Direction, VertexId};

use super::handle::Database;
use super::view::list;
use crate::commit::value_of;
use crate::error::{Error, Result};
use crate::format::{Owner, PropertyRecord};
use crate::ids::ExternalId;
use crate::property::PropertyValue;

/// A value of a vertex property, owned.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnedValue {
    /// A number.
    Number(PropertyValue<'static>),
    /// A text.
    Text(Vec<u8>),
}

impl Database {
    /// The vertex of an external id in the newest version.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn vertex_of(&self, id: ExternalId<'_>) -> Result<Option<VertexId>> {
        let view = self.core.read();
        let below = view.state.snapshot(view.state.newest())?;
        if let Some(v) = below.ids().vertex_of(id)? {
            return Ok(Some(v));
        }
        let mut first = below.num_vertices();
        for commit in &view.live.commits {
            if let Some(at) = commit.new_ids.iter().position(|other| other == id) {
                return Ok(Some((first + at) as VertexId));
            }
            first += commit.new_ids.len();
        }
        Ok(None)
    }

    /// The neighbours of a vertex in the newest version, ascending.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if the direction is not kept.
    pub fn neighbors(&self, direction: Direction, v: VertexId) -> Result<Vec<VertexId>> {
        Ok(list(&self.core.read(), direction, v)?.into_iter().map(|(target, _)| target).collect())
    }

    /// The number of neighbours of a vertex in the newest version.
    ///
    /// # Errors
    /// As [`Database::neighbors`].
    pub fn degree(&self, direction: Direction, v: VertexId) -> Result<usize> {
        Ok(list(&self.core.read(), direction, v)?.len())
    }

    /// Whether there is an edge in the newest version.
    ///
    /// # Errors
    /// As [`Database::neighbors`].
    pub fn has_edge(&self, source: VertexId, target: VertexId) -> Result<bool> {
        let list = list(&self.core.read(), Direction::Out, source)?;
        Ok(list.binary_search_by_key(&target, |entry| entry.0).is_ok())
    }

    /// The bits of the properties of all edges between two vertices in the newest version, by number: see
    /// [`crate::snapshot::Edges::bits`].
    ///
    /// # Errors
    /// As [`Database::neighbors`].
    pub fn edge_bits(&self, source: VertexId, target: VertexId) -> Result<Vec<Vec<u64>>> {
        let view = self.core.read();
        let below = view.state.snapshot(view.state.newest())?;
        let count = below.edge_properties().count() as u32;
        let mut found = Vec::new();
        let mut from_layers = false;
        for (_, op) in list(&view, Direction::Out, source)?.iter().filter(|entry| entry.0 == target) {
            match op {
                Some(op) => found.push(view.live.bits(*op)),
                None => from_layers = true,
            }
        }
        if from_layers {
            let edges = below.edges(Direction::Out, source)?;
            let places = edges.targets().iter().enumerate().filter(|(_, other)| **other == target);
            for (index, _) in places {
                found.push((0..count).map(|number| edges.bits(number, index)).collect::<Result<_>>()?);
            }
        }
        Ok(found)
    }

    /// The value of a property of a vertex in the newest version.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such property; [`Error::Corrupt`].
    pub fn vertex_value(&self, v: VertexId, property: &str) -> Result<Option<OwnedValue>> {
        let view = self.core.read();
        let known = view.state.manifest().properties.iter();
        let new = view.live.commits.iter().flat_map(|commit| &commit.new_properties);
        let mut all = known.chain(new).filter(|record| record.owner == Owner::Vertices);
        let record: PropertyRecord = all
            .find(|record| record.name == property)
            .cloned()
            .ok_or_else(|| Error::Invalid(format!("vertices have no property {property:?}")))?;
        let owned = |value: PropertyValue<'_>| match value {
            PropertyValue::Text(text) => OwnedValue::Text(text.to_vec()),
            number => {
                let bits = number.bits().unwrap_or(0);
                OwnedValue::Number(PropertyValue::from_bits(record.element, bits))
            }
        };
        if let Some((commit, at)) = view.live.vertex_change(record.number, v) {
            return Ok(value_of(&commit.vertices[at], &record)?.map(owned));
        }
        let below = view.state.snapshot(view.state.newest())?;
        if v as usize >= below.num_vertices()
            || !below.vertex_properties().any(|known| known.name == property)
        {
            return Ok(None);
        }
        Ok(below.vertex_property(property)?.get(v)?.map(owned))
    }
}
