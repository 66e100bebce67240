//! Point reads of the newest version, including commits that are in no layer.

use esker_format::{Error, Owner, PropertyRecord, Result};
use esker_graph::{Direction, VertexId};
use esker_layers::ids::ExternalId;
use esker_layers::property::{PropertyValue, VectorValue};

use super::handle::Database;
use crate::commit::value_of;

/// An owned value of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum OwnedValue {
    /// A number.
    Number(PropertyValue<'static>),
    /// A text.
    Text(Vec<u8>),
    /// The numbers of a vector, little-endian, of 64 bits (`is_wide`) or 32.
    Vector {
        /// The numbers.
        bytes: Vec<u8>,
        /// Whether they have 64 bits.
        is_wide: bool,
    },
}

impl OwnedValue {
    /// A copy.
    pub fn of(value: PropertyValue<'_>) -> Self {
        match value {
            PropertyValue::Text(text) => Self::Text(text.to_vec()),
            PropertyValue::Vector(vector) => {
                Self::Vector { bytes: vector.bytes().to_vec(), is_wide: vector.is_wide() }
            }
            number => Self::Number(number.to_owned_number()),
        }
    }

    /// The value.
    pub fn value(&self) -> PropertyValue<'_> {
        match self {
            Self::Number(number) => number.to_owned_number(),
            Self::Text(text) => PropertyValue::Text(text),
            Self::Vector { bytes, is_wide } => PropertyValue::Vector(VectorValue::new(bytes, *is_wide)),
        }
    }
}

/// What the newest version says of its graph and of its properties.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphSchema {
    /// Whether ids are texts; else they are integers.
    pub text_ids: bool,
    /// Whether edges are directed.
    pub directed: bool,
    /// Whether parallel edges are kept.
    pub multigraph: bool,
    /// The edge properties, by number.
    pub edge_properties: Vec<PropertyRecord>,
    /// The vertex properties, by number.
    pub vertex_properties: Vec<PropertyRecord>,
}

impl Database {
    /// The schema of the newest version. Unlike [`Database::latest`], takes the same time however many
    /// commits are in no layer.
    pub fn schema(&self) -> GraphSchema {
        let shown = self.core.shown();
        let of = |owner| {
            let known = shown.state.manifest().properties.iter().chain(&shown.unfrozen.new_properties);
            known.filter(|record| record.owner == owner).cloned().collect()
        };
        let layer = shown.below.layer();
        GraphSchema {
            text_ids: shown.state.has_text_ids(),
            directed: layer.directed,
            multigraph: layer.multigraph,
            edge_properties: of(Owner::Edges),
            vertex_properties: of(Owner::Vertices),
        }
    }

    /// The vertex of an external id in the newest version; `None` if it does not exist or was removed.
    /// Another thread that compacts may renumber vertices ([`super::Renumber`]): where that can be, ask a
    /// version for the vertex and for what is read of it.
    ///
    /// ```
    /// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
    /// # let path = directory.path().join("web.esker");
    /// # let edges = [esker_import::Input::memory("web.csv", csv)];
    /// # esker_import::import_inputs(&edges, &path, &Default::default(), &Default::default())?;
    /// # let db = esker_store::Database::open(&path, Default::default())?;
    /// let mut batch = db.batch();
    /// batch.add_edge("dan", "alice", &[])?;
    /// db.commit(batch, "dan joins")?;
    /// let (dan, alice) = (db.vertex_of("dan".into())?, db.vertex_of("alice".into())?);
    /// let (Some(dan), Some(alice)) = (dan, alice) else { panic!("both are there") };
    /// assert!(db.has_edge(dan, alice)?); // point reads see every commit at once
    /// assert_eq!(db.vertex_of("erin".into())?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn vertex_of(&self, id: ExternalId<'_>) -> Result<Option<VertexId>> {
        let shown = self.core.shown();
        Ok(match shown.vertex_of(id)? {
            Some(v) if shown.is_removed(v)? => None,
            found => found,
        })
    }

    /// The neighbours of a vertex in the newest version, ascending. A removed vertex has none.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if the direction is not stored.
    pub fn neighbors(&self, direction: Direction, v: VertexId) -> Result<Vec<VertexId>> {
        Ok(self.core.shown().list(direction, v)?.into_iter().map(|(target, _)| target).collect())
    }

    /// The degree of a vertex in the newest version. Takes a search for each unfrozen change of its list;
    /// does not read a long list.
    ///
    /// # Errors
    /// As [`Database::neighbors`].
    pub fn degree(&self, direction: Direction, v: VertexId) -> Result<usize> {
        self.core.shown().degree(direction, v)
    }

    /// Whether an edge exists in the newest version. Takes a binary search for each layer that changed the
    /// list of `source`.
    ///
    /// # Errors
    /// As [`Database::neighbors`].
    pub fn has_edge(&self, source: VertexId, target: VertexId) -> Result<bool> {
        self.core.shown().has_edge(source, target)
    }

    /// The property bits, by property number, of all edges between two vertices in the newest version: see
    /// [`crate::version::VertexEdges::bits`].
    ///
    /// # Errors
    /// As [`Database::neighbors`].
    pub fn edge_bits(&self, source: VertexId, target: VertexId) -> Result<Vec<Vec<u64>>> {
        self.core.shown().edge_bits(source, target)
    }

    /// The value of a vertex property in the newest version. A removed vertex has no values until it is added
    /// again.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the property does not exist; [`Error::Corrupt`].
    pub fn vertex_value(&self, v: VertexId, property: &str) -> Result<Option<OwnedValue>> {
        let shown = self.core.shown();
        let known = shown.state.manifest().properties.iter();
        let mut all =
            known.chain(&shown.unfrozen.new_properties).filter(|record| record.owner == Owner::Vertices);
        let record: PropertyRecord = all
            .find(|record| record.name == property)
            .cloned()
            .ok_or_else(|| Error::invalid(format!("vertices have no property {property:?}")))?;
        if shown.is_removed(v)? {
            return Ok(None);
        }
        if let Some((commit, at)) = shown.unfrozen.vertex_change(record.number, v) {
            return Ok(value_of(&commit.vertices[at], &record)?.map(OwnedValue::of));
        }
        let below = &shown.below;
        if v as usize >= below.num_vertices()
            || !below.vertex_properties().any(|known| known.name == property)
        {
            return Ok(None);
        }
        Ok(below.vertex_property(property)?.get(v)?.map(OwnedValue::of))
    }
}
