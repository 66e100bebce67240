//! The schema of a database that changes must match.

use esker_graph::{Run, VertexId};
use esker_store::format::{EventTimes, LogicalType, PropertyRecord, ReadingRecord, value::decimal};
use esker_store::ids::ExternalId;
use esker_store::property::RemovedVertices;
use esker_store::{Error, Result, Version};

use super::destination::Destination;

/// The schema and the newest version of a database, as changes need them.
#[derive(Debug, Clone)]
pub struct Target {
    /// The path of the database, for messages.
    pub name: String,
    /// Whether ids are text; otherwise they are integers.
    pub text_ids: bool,
    /// Whether edges are directed.
    pub directed: bool,
    /// Whether parallel edges are kept.
    pub multigraph: bool,
    /// The edge properties, by number.
    pub edge_properties: Vec<PropertyRecord>,
    /// The vertex properties, by number.
    pub vertex_properties: Vec<PropertyRecord>,
    /// How an input was read, if the database remembers it.
    pub reading: Option<ReadingRecord>,
    /// What the event times of versions are.
    pub event_times: EventTimes,
    /// The newest version.
    pub newest: Version,
    /// The removed vertices of the newest version.
    removed: RemovedVertices,
}

impl Target {
    /// Reads the current schema of `database`.
    ///
    /// # Errors
    /// Those of [`esker_store::Database::latest`].
    pub fn of<'a>(database: impl Into<Destination<'a>>) -> Result<Self> {
        let database = database.into();
        let newest = database.latest()?;
        let manifest = database.manifest()?;
        let removed = newest.removed(&Run::with_threads(0)?)?.clone();
        Ok(Self {
            removed,
            name: database.path().display().to_string(),
            text_ids: newest.ids().is_text(),
            directed: newest.is_directed(),
            multigraph: newest.layer().multigraph,
            edge_properties: newest.edge_properties().cloned().collect(),
            vertex_properties: newest.vertex_properties().cloned().collect(),
            reading: manifest.reading.clone(),
            event_times: manifest.event_times(),
            newest,
        })
    }

    /// Checks that the newest version has a vertex with the id `text`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it does not; [`Error::Corrupt`].
    pub(super) fn expect_vertex(&self, text: &[u8]) -> Result<()> {
        let shown = String::from_utf8_lossy(text);
        let found = match self.newest.ids().vertex_of(self.id(text)?)? {
            Some(v) => v,
            // With a suggestion.
            None => self.newest.ids().find(&shown)?,
        };
        if self.removed.is_removed(found) {
            return Err(Error::invalid(format!("no vertex has the id {shown:?}: the vertex was removed")));
        }
        Ok(())
    }

    /// The vertex with an id; `None` if there is none, or it is removed.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(super) fn vertex_of(&self, id: ExternalId<'_>) -> Result<Option<VertexId>> {
        let found = self.newest.ids().vertex_of(id)?;
        Ok(found.filter(|&v| !self.removed.is_removed(v)))
    }

    /// Parses an id written by the user.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `text` is no id of the kind that the database has.
    pub fn id<'t>(&self, text: &'t [u8]) -> Result<ExternalId<'t>> {
        ExternalId::parse(text, self.text_ids).map_err(|why| {
            let kind = if self.text_ids { "texts" } else { "integers from 0 to 2^64 - 1" };
            Error::invalid(format!(
                "{:?} is not a vertex id, as it {}: the ids of {} are {kind}",
                decimal::shown(text),
                why.reason(),
                self.name
            ))
        })
    }

    /// The edge properties that an added edge has values of: see [`esker_store::Batch::given_properties`].
    pub fn given_properties(&self) -> impl Iterator<Item = &PropertyRecord> {
        self.edge_properties.iter().filter(|property| property.logical != LogicalType::EdgeId)
    }

    /// Whether a name is that of the ids that the database gives to edges.
    pub(super) fn gives_ids_as(&self, name: &str) -> bool {
        self.edge_properties.iter().any(|one| one.logical == LogicalType::EdgeId && one.name == name)
    }

    /// Describes the edge properties, for messages.
    pub(super) fn describe_edges(&self) -> String {
        let names: Vec<&str> = self.edge_properties.iter().map(|property| property.name.as_str()).collect();
        match names.len() {
            0 => format!("the edges of {} have no properties", self.name),
            1 => format!("the edges of {} have the property {}", self.name, names[0]),
            _ => format!("the edges of {} have the properties {}", self.name, names.join(", ")),
        }
    }

    /// The vertex property with the given name.
    pub(super) fn vertex_property(&self, name: &str) -> Option<&PropertyRecord> {
        self.vertex_properties.iter().find(|property| property.name == name)
    }
}
