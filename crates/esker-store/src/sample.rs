//! Small databases for tests.

use std::path::Path;
use std::sync::Arc;

use esker_format::Result;
use esker_format::io::Disk;
use esker_format::{
    DatabaseId, DictionaryRecord, Edit, ElementType, Encoding, GraphShape, IdMapKind, IdMapRecord, IdSecret,
    LayerRecord, LogicalType, Owner, PropertyRecord, Stamp, VersionRecord, VertexOrder,
};
use esker_graph::random::Random;
use esker_graph::{Csr, Direction, Rows, VertexId, vertex};
use esker_layers::ids::{IndexWriter, IntegersWriter, PermutationWriter, TextsWriter};
use esker_layers::layer::{PlainWriter, SectionChunk, SectionShape, SectionWriter};

use crate::manifest::{Staging, StagingOptions};

/// The texts of the property `kind`.
pub(crate) const KINDS: [&[u8]; 3] = [b"", b"depends", b"suggests"];

/// A graph whose edges have a weight and a kind.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) num_vertices: usize,
    pub(crate) directed: bool,
    pub(crate) in_edges: bool,
    pub(crate) multigraph: bool,
    /// Source, target, weight. The kind depends on the weight.
    pub(crate) edges: Vec<(VertexId, VertexId, i32)>,
    /// The kind of external ids: see [`Sample::name`].
    pub(crate) ids: IdMapKind,
    pub(crate) encoding: Encoding,
}

/// The code of an edge's kind.
pub(crate) fn kind_of(weight: i32) -> u8 {
    (weight.unsigned_abs() % 3) as u8
}

impl Sample {
    /// A graph of `count` random edges, determined by `seed`; compressed if the seed is odd.
    pub(crate) fn random(num_vertices: usize, count: usize, directed: bool, seed: u32) -> Self {
        let mut random = Random::new(u64::from(seed));
        let mut next = |bound: usize| random.index(bound);
        let edges = (0..count)
            .map(|_| {
                (next(num_vertices) as VertexId, next(num_vertices) as VertexId, next(1000) as i32 - 500)
            })
            .collect();
        let encoding = if seed % 2 == 1 { Encoding::Compressed } else { Encoding::Plain };
        let (in_edges, multigraph, ids) = (directed, true, IdMapKind::Identity);
        Self { num_vertices, directed, in_edges, multigraph, edges, ids, encoding }
    }

    /// A plain graph of at most `count` random edges without parallel ones, determined by `seed`.
    pub(crate) fn simple(num_vertices: usize, count: usize, directed: bool, seed: u32) -> Self {
        let mut sample = Self::random(num_vertices, count, directed, seed);
        let mut seen = std::collections::BTreeSet::new();
        let ends = |u: VertexId, v: VertexId| if directed { (u, v) } else { (u.min(v), u.max(v)) };
        sample.edges.retain(|&(u, v, _)| seen.insert(ends(u, v)));
        Self { multigraph: false, encoding: Encoding::Plain, ..sample }
    }

    /// The same graph in memory.
    pub(crate) fn model(&self) -> Csr<i32> {
        if self.directed {
            Csr::directed(self.num_vertices, &self.edges).unwrap()
        } else {
            Csr::undirected(self.num_vertices, &self.edges).unwrap()
        }
    }

    /// Writes the graph as a database.
    pub(crate) fn write(&self, disk: &Arc<dyn Disk>, target: &Path, replace: bool) -> Result<()> {
        let (database, id_secret) = (Some(DatabaseId([5; 16])), Some(IdSecret([5; 16])));
        let options = StagingOptions { database, id_secret, created_ms: Some(1_000), replace };
        let staging = Staging::begin(Arc::clone(disk), target, options)?;
        let model = self.model();
        let graph = model.graph();
        let rows = |direction| *graph.rows(direction).unwrap();
        {
            let layer = staging.plain_layer();
            write_rows(&layer, Direction::Out, &rows(Direction::Out), self.encoding)?;
            if self.in_edges {
                write_rows(&layer, Direction::In, &rows(Direction::In), self.encoding)?;
            }
            layer.dictionary_of(1, &KINDS)?;
        }
        self.write_ids(&staging)?;
        let stamp = staging.stamp();
        staging.install(&self.edits(stamp)).map(|_| ())
    }

    /// The external id of a vertex.
    pub(crate) fn name(&self, v: VertexId) -> String {
        match self.ids {
            IdMapKind::Identity => v.to_string(),
            IdMapKind::Permuted => (self.num_vertices as VertexId - 1 - v).to_string(),
            IdMapKind::Integers => (u64::from(v) * 1_000_000_007 + 17).to_string(),
            IdMapKind::Texts => format!("vertex number {v}"),
            kind => panic!("no import makes {kind:?}"),
        }
    }

    fn write_ids(&self, staging: &Staging) -> Result<()> {
        let files = staging.id_files();
        let vertices = (0..self.num_vertices).map(vertex);
        let integers = vertices.clone().map(|v| self.name(v).parse().unwrap_or(0));
        let hashes: Vec<u64> = match self.ids {
            IdMapKind::Identity => return Ok(()),
            IdMapKind::Permuted => {
                let reversed: Vec<VertexId> = vertices.rev().collect();
                let mut writer = PermutationWriter::create(&files)?;
                writer.integers(&reversed)?;
                writer.vertices(&reversed)?;
                return writer.finish();
            }
            IdMapKind::Integers => {
                let mut writer = IntegersWriter::create(&files)?;
                integers.clone().try_for_each(|integer| writer.push(integer))?;
                writer.finish()?;
                integers.map(|integer| files.hasher.integer(integer)).collect()
            }
            IdMapKind::Texts => {
                let mut writer = TextsWriter::create(&files)?;
                vertices.clone().try_for_each(|v| writer.push(self.name(v).as_bytes()))?;
                writer.finish()?;
                vertices.map(|v| files.hasher.text(self.name(v).as_bytes())).collect()
            }
            kind => panic!("no import makes {kind:?}"),
        };
        let mut order: Vec<(u64, VertexId)> =
            hashes.into_iter().zip((0..self.num_vertices).map(vertex)).collect();
        order.sort_unstable();
        let mut writer = IndexWriter::create(&files, self.num_vertices as u64)?;
        order.into_iter().try_for_each(|(hash, v)| writer.push(hash, v))?;
        writer.finish()
    }

    fn edits(&self, stamp: Stamp) -> Vec<Edit> {
        let property = |number, name: &str, element, texts: bool| {
            let name = name.to_owned();
            Edit::AddProperty(PropertyRecord {
                number,
                owner: Owner::Edges,
                name,
                element,
                logical: if texts { LogicalType::Text } else { LogicalType::Number },
                weight: !texts,
                kind: false,
                optional: false,
            })
        };
        let model = self.model();
        let mut record = LayerRecord::first(
            &GraphShape {
                directed: self.directed,
                multigraph: self.multigraph,
                in_edges: self.in_edges,
                num_vertices: self.num_vertices as u64,
                num_edges: self.edges.len() as u64,
                num_arcs: model.graph().rows(Direction::Out).unwrap().targets().len() as u64,
                num_loops: self.edges.iter().filter(|edge| edge.0 == edge.1).count() as u64,
            },
            stamp,
        );
        record.encoding = self.encoding;
        record.dictionaries = vec![DictionaryRecord { property: 1, first: 0, count: KINDS.len() as u64 }];
        vec![
            Edit::AddLayer(record.clone()),
            Edit::SetIdMap(IdMapRecord { kind: self.ids, base: 0, order: VertexOrder::Keep, stamp }),
            property(0, "weight", ElementType::I32, false),
            property(1, "kind", ElementType::U8, true),
            Edit::AddVersion(VersionRecord::at_end_of(&record, 1_000, 1_000, "a sample".to_owned())),
        ]
    }
}

fn write_rows(
    layer: &PlainWriter<'_>,
    direction: Direction,
    rows: &Rows<'_, i32>,
    encoding: Encoding,
) -> Result<()> {
    let properties = vec![ElementType::I32, ElementType::U8];
    let shape = SectionShape { without_targets: false, complete: true, encoding, codes: None, properties };
    let mut section = SectionWriter::create(layer, direction, shape)?;
    let mut chunk = SectionChunk::default();
    chunk.main.ends.extend_from_slice(&rows.offsets()[1..]);
    chunk.main.targets.extend_from_slice(rows.targets());
    let weights = rows.weights();
    chunk.main.properties = vec![
        weights.iter().map(|weight| u64::from(weight.cast_unsigned())).collect(),
        weights.iter().map(|&weight| u64::from(kind_of(weight))).collect(),
    ];
    section.append(&chunk)?;
    section.finish().map(|_| ())
}
