//! A version of a graph, for reading: lists and properties of single vertices, and whole graphs to compute on.

mod weight;
mod edges;
mod layered;
mod graph;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod forged;
#[cfg(test)]
pub(crate) mod layered_tests;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_graph::{Direction, Run, VertexId};

use crate::error::{Error, Result};
use crate::format::{ElementType, LayerRecord, Owner, PropertyRecord, VersionRecord};
use crate::ids::{IdFiles, IdMap};
use crate::io::Disk;
use crate::layer::{DictionaryFiles, PlainLayer};
use crate::property::Dictionary;
use crate::stack::Stack;
use crate::version::{MANIFEST_NAME, Manifest, ids_directory, layer_directory};

pub use edges::Edges;
pub use graph::StoredGraph;
pub use weight::StoredWeight;

/// A version of the graph in a database. Cheap to clone; clones, and all graphs made from them, share maps and
/// what has been verified.
///
/// Methods that take a vertex are point reads: they verify the checksums of the blocks that they touch, each once.
#[derive(Debug, Clone)]
pub struct Snapshot(Arc<Contents>);

#[derive(Debug)]
struct Contents {
    path: PathBuf,
    manifest: Manifest,
    version: VersionRecord,
    stack: Stack,
    /// For each edge property, its dictionary if it is text.
    dictionaries: Vec<Option<Dictionary>>,
    ids: IdMap,
}

impl Snapshot {
    /// Maps the newest version of the database at `path`. Reads the manifest and the headers of all files, nothing else.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Corrupt`]; [`Error::Invalid`] if a newer Esker, or one with another width of vertex
    /// ids, wrote it.
    pub fn open(disk: &dyn Disk, path: &Path) -> Result<Self> {
        let manifest = Manifest::read(disk, &path.join(MANIFEST_NAME))?;
        let layers = manifest.layers.iter().map(|record| {
            let directory = layer_directory(path, record.number);
            PlainLayer::open(disk, &directory, manifest.database, record, &manifest.properties).map(Arc::new)
        });
        let layers = layers.collect::<Result<Vec<_>>>()?;
        let newest = manifest.versions.last().map_or(0, |version| version.number);
        Self::at(disk, path, manifest, &layers, newest)
    }

    /// The version of a number in a database whose manifest and layers are given.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such version; as [`Snapshot::open`].
    pub fn at(
        disk: &dyn Disk,
        path: &Path,
        manifest: Manifest,
        layers: &[Arc<PlainLayer>],
        number: u64,
    ) -> Result<Self> {
        let version = manifest.versions.iter().find(|version| version.number == number).cloned();
        let version = version.ok_or_else(|| {
            Error::Invalid(format!("{} has no version {number}: see `esker log`", path.display()))
        })?;
        let stack = Stack::new(layers, number, version.num_vertices)?;
        let dictionary = |property: &PropertyRecord| {
            let parts = stack.layers().iter().filter(|layer| {
                let added = &layer.record().dictionaries;
                layer.record().number == 1 || added.iter().any(|added| added.property == property.number)
            });
            let parts: Vec<_> =
                parts.map(|layer| DictionaryFiles::of(layer.directory(), property.number)).collect();
            property.texts.then(|| Dictionary::open(disk, &parts, manifest.database)).transpose()
        };
        let edges = manifest.properties.iter().filter(|property| property.owner == Owner::Edges);
        let dictionaries = edges.map(dictionary).collect::<Result<_>>()?;
        let directory = ids_directory(path);
        let files = IdFiles { disk, directory: &directory, database: manifest.database };
        let num_ids = stack.layers()[0].record().num_vertices as usize;
        let ids = IdMap::open(&files, manifest.ids.kind, manifest.ids.base, num_ids)?;
        Ok(Self(Arc::new(Contents { path: path.to_owned(), manifest, version, stack, dictionaries, ids })))
    }

    /// The directory of the database.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// What the manifest says.
    pub fn manifest(&self) -> &Manifest {
        &self.0.manifest
    }

    /// Its newest layer.
    pub fn layer(&self) -> &LayerRecord {
        self.0.stack.layers().last().unwrap_or_else(|| unreachable!("a stack has a layer")).record()
    }

    /// The layers that it reads.
    pub fn stack(&self) -> &Stack {
        &self.0.stack
    }

    /// The version that it shows.
    pub fn version(&self) -> &VersionRecord {
        &self.0.version
    }

    /// The map between external ids and vertices.
    pub fn ids(&self) -> &IdMap {
        &self.0.ids
    }

    /// Number of vertices.
    pub fn num_vertices(&self) -> usize {
        self.0.stack.num_vertices()
    }

    /// Number of edges; an undirected one counts once.
    pub fn num_edges(&self) -> u64 {
        self.0.version.num_edges
    }

    /// Entries of all out-lists; an undirected edge counts twice, a self-loop once.
    pub fn num_arcs(&self) -> u64 {
        self.0.version.num_arcs
    }

    /// Whether out-lists and in-lists differ.
    pub fn is_directed(&self) -> bool {
        self.layer().directed
    }

    /// Whether lists of this direction are kept.
    pub fn has(&self, direction: Direction) -> bool {
        self.0.stack.has(direction)
    }

    /// The edge properties, by number.
    pub fn edge_properties(&self) -> impl Iterator<Item = &PropertyRecord> {
        self.0.manifest.properties.iter().filter(|property| property.owner == Owner::Edges)
    }

    /// The edge property of a name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none; the message lists those that there are.
    pub fn edge_property(&self, name: &str) -> Result<&PropertyRecord> {
        self.edge_properties().find(|property| property.name == name).ok_or_else(|| {
            let names: Vec<_> = self.edge_properties().map(|property| property.name.as_str()).collect();
            let known = if names.is_empty() {
                "they have none".to_owned()
            } else {
                format!("they have {}", names.join(", "))
            };
            Error::Invalid(format!(
                "the edges of {} have no property {name:?}: {known}",
                self.path().display()
            ))
        })
    }

    /// The edge property that is the weight. A column of texts is none, whatever its name.
    pub fn weight_property(&self) -> Option<&PropertyRecord> {
        self.edge_properties().find(|property| property.weight && !property.texts)
    }

    /// The type of the weights: one of i32, i64, f32, f64; `None` if edges have none.
    pub fn weight_type(&self) -> Option<ElementType> {
        self.weight_property().map(|property| property.element)
    }

    /// The dictionary of an edge property, if its values are texts.
    pub fn dictionary(&self, property: u32) -> Option<&Dictionary> {
        self.0.dictionaries.get(property as usize)?.as_ref()
    }

    /// Length of the list of `v`.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if there is no such vertex or the direction is not kept.
    pub fn degree(&self, direction: Direction, v: VertexId) -> Result<usize> {
        self.0.stack.degree(direction, v)
    }

    /// The edges of `v`, ascending by neighbour, with their properties.
    ///
    /// # Errors
    /// As [`Snapshot::degree`].
    pub fn edges(&self, direction: Direction, v: VertexId) -> Result<Edges<'_>> {
        Edges::read(&self.0.stack, direction, v)
    }

    /// The list of `v`, ascending.
    ///
    /// # Errors
    /// As [`Snapshot::degree`].
    pub fn neighbors(&self, direction: Direction, v: VertexId) -> Result<Cow<'_, [VertexId]>> {
        self.edges(direction, v).map(Edges::into_targets)
    }

    /// The graph to compute on, with the weights that it was imported with, or without weights (`W = ()`).
    ///
    /// The offsets of all lists are verified now, on the threads of `run`, so that degrees are at hand; the rest of
    /// a direction when an analysis first uses it. What was verified once stays so for all clones.
    ///
    /// # Errors
    /// [`Error::Corrupt`]; [`Error::Invalid`] if there are no weights, or of another type (see
    /// [`Snapshot::weight_type`]); cancellation.
    pub fn graph<W: StoredWeight>(&self, run: &Run) -> Result<StoredGraph<'_, W>> {
        let property = if W::ELEMENT.is_none() {
            None
        } else {
            Some(self.weight_property().ok_or_else(|| {
                Error::Invalid(format!(
                    "the edges of {} have no weights: name a numeric property, or import it with --weight",
                    self.path().display()
                ))
            })?)
        };
        StoredGraph::new(&self.0.stack, self.num_arcs(), property, run)
    }

    /// As [`Snapshot::graph`], with any numeric edge property as the weight.
    ///
    /// # Errors
    /// As [`Snapshot::graph`]; [`Error::Invalid`] if there is no such property.
    pub fn graph_by<W: StoredWeight>(&self, property: &str, run: &Run) -> Result<StoredGraph<'_, W>> {
        StoredGraph::new(&self.0.stack, self.num_arcs(), Some(self.edge_property(property)?), run)
    }
}
