//! Small databases for tests.

use std::path::Path;
use std::sync::Arc;

use esker_graph::{Csr, Direction, Rows, VertexId};

use crate::error::Result;
use crate::format::{
    DatabaseId, Edit, ElementType, Encoding, IdMapKind, IdMapRecord, LayerRecord, Owner, PropertyRecord,
    VersionRecord, VertexOrder,
};
use crate::io::Disk;
use crate::layer::PlainWriter;
use crate::version::{Staging, StagingOptions};

/// The texts that the property `kind` chooses from.
pub(crate) const KINDS: [&[u8]; 3] = [b"", b"depends", b"suggests"];

/// A graph whose edges have a weight and a kind.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) num_vertices: usize,
    pub(crate) directed: bool,
    pub(crate) in_edges: bool,
    /// From, to, weight. The kind follows from the weight.
    pub(crate) edges: Vec<(VertexId, VertexId, i32)>,
}

/// The code of the kind of an edge.
pub(crate) fn kind_of(weight: i32) -> u8 {
    (weight.unsigned_abs() % 3) as u8
}

impl Sample {
    /// `count` edges that follow from `seed`.
    pub(crate) fn random(num_vertices: usize, count: usize, directed: bool, seed: u32) -> Self {
        let mut state = u64::from(seed) + 1;
        let mut next = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        let edges = (0..count)
            .map(|_| {
                (next(num_vertices) as VertexId, next(num_vertices) as VertexId, next(1000) as i32 - 500)
            })
            .collect();
        Self { num_vertices, directed, in_edges: directed, edges }
    }

    /// The same graph in memory.
    pub(crate) fn model(&self) -> Csr<i32> {
        if self.directed {
            Csr::directed(self.num_vertices, &self.edges).unwrap()
        } else {
            Csr::undirected(self.num_vertices, &self.edges).unwrap()
        }
    }

    /// Makes a database of it.
    pub(crate) fn write(&self, disk: &Arc<dyn Disk>, target: &Path, replace: bool) -> Result<()> {
        let options =
            StagingOptions { database: Some(DatabaseId([5; 16])), created_ms: Some(1_000), replace };
        let staging = Staging::begin(Arc::clone(disk), target, options)?;
        let model = self.model();
        let graph = model.graph();
        let rows = |direction| *graph.rows(direction).unwrap();
        {
            let layer = staging.plain_layer()?;
            write_rows(&layer, Direction::Out, &rows(Direction::Out))?;
            if self.in_edges {
                write_rows(&layer, Direction::In, &rows(Direction::In))?;
            }
            layer.dictionary(1, KINDS)?;
        }
        staging.install(&self.edits()).map(|_| ())
    }

    fn edits(&self) -> Vec<Edit> {
        let property = |number, name: &str, element, texts: bool| {
            let name = name.to_owned();
            Edit::AddProperty(PropertyRecord {
                number,
                owner: Owner::Edges,
                name,
                element,
                texts,
                weight: !texts,
            })
        };
        let model = self.model();
        vec![
            Edit::AddLayer(LayerRecord {
                number: 1,
                first_version: 1,
                last_version: 1,
                encoding: Encoding::Plain,
                directed: self.directed,
                in_edges: self.in_edges,
                num_vertices: self.num_vertices as u64,
                num_edges: self.edges.len() as u64,
                num_arcs: model.graph().rows(Direction::Out).unwrap().targets().len() as u64,
                num_loops: self.edges.iter().filter(|edge| edge.0 == edge.1).count() as u64,
            }),
            Edit::SetIdMap(IdMapRecord { kind: IdMapKind::Identity, base: 0, order: VertexOrder::Keep }),
            property(0, "weight", ElementType::I32, false),
            property(1, "kind", ElementType::U8, true),
            Edit::AddVersion(VersionRecord { number: 1, time_ms: 1_000, message: "a sample".to_owned() }),
        ]
    }
}

fn write_rows(layer: &PlainWriter<'_>, direction: Direction, rows: &Rows<'_, i32>) -> Result<()> {
    let mut offsets = layer.offsets(direction)?;
    offsets.append(rows.offsets())?;
    offsets.finish()?;
    let mut targets = layer.targets(direction)?;
    targets.append(rows.targets())?;
    targets.finish()?;
    let mut weights = layer.property::<i32>(direction, 0)?;
    weights.append(rows.weights())?;
    weights.finish()?;
    let kinds: Vec<u8> = rows.weights().iter().map(|&weight| kind_of(weight)).collect();
    let mut column = layer.property::<u8>(direction, 1)?;
    column.append(&kinds)?;
    column.finish()?;
    Ok(())
}
