//! Edges on their way to the shards that hold them.
//!
//! An edge goes to the shards that hold it (`placement`). Where a directed edge has its target elsewhere, the
//! owner of the target is told of the vertex, unless edges are removed: then all vertices stay.

use std::ops::Range;

use esker_format::{Error, Result};
use esker_graph::message;
use esker_import::read::source::{EdgeBatch, id_at};
use esker_store::ids::ExternalId;

use crate::disk::cluster::Cluster;
use crate::model::owner::OwnedId;
use crate::model::placement::{EdgePlace, Placement};
use crate::model::weights::WeightKind;
use crate::net::wire::{Taker, put_id, put_u64};

/// Vertices of other owners that a process remembers to have announced: a power of two.
const ANNOUNCED_LEN: usize = 1 << 18;
/// Vertices that a format counts and that a process announces in a round.
const COUNTED_LEN: u64 = 1 << 16;

/// What a process read in a round: the head of each of its blocks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ReadBlocks {
    /// Whether the process has read all.
    pub(crate) is_done: bool,
    /// Whether it asks for a version after the round.
    pub(crate) commits: bool,
    /// Whether it has found a hub in earlier rounds.
    pub(crate) has_hub: bool,
    pub(crate) edges: u64,
    pub(crate) vertices: u64,
}

impl ReadBlocks {
    /// Takes the head of a block.
    pub(crate) fn take(taker: &mut Taker<'_>) -> Result<Self> {
        let flags = taker.u64()?;
        Ok(Self {
            is_done: flags & 1 != 0,
            commits: flags & 2 != 0,
            has_hub: flags & 4 != 0,
            edges: taker.u64()?,
            vertices: taker.u64()?,
        })
    }
}

/// Blocks for the owners, as they are filled.
pub(crate) struct Outbox {
    placement: Placement,
    removes: bool,
    weights: Option<WeightKind>,
    edges: Vec<Vec<u8>>,
    vertices: Vec<Vec<u8>>,
    /// Integer ids of vertices that were announced, each plus one, at the place of its last bits.
    announced: Vec<u64>,
}

impl Outbox {
    pub(crate) fn new(cluster: &Cluster, removes: bool, weights: Option<WeightKind>) -> Self {
        let shards = cluster.num_shards();
        Self {
            placement: cluster.placement(cluster.manifest().newest().number),
            removes,
            weights,
            edges: vec![Vec::new(); shards],
            vertices: vec![Vec::new(); shards],
            announced: vec![0; ANNOUNCED_LEN],
        }
    }

    /// Where edges lie.
    pub(crate) fn placement(&self) -> &Placement {
        &self.placement
    }

    /// Makes vertices delegates: from now on their edges go to the owners of the other ends.
    pub(crate) fn add_delegates(&mut self, delegates: &[OwnedId]) {
        self.placement.extend(delegates.iter().cloned());
    }

    /// Takes some edges of a batch, with the weights in a column if the cluster has weights. If
    /// `is_reversed`, each stands for its reverse too.
    ///
    /// # Errors
    /// [`Error::Invalid`] if a weight is not of the cluster's kind.
    pub(crate) fn take(
        &mut self,
        batch: &EdgeBatch,
        rows: Range<usize>,
        weight: Option<usize>,
        is_reversed: bool,
    ) -> Result<ReadBlocks> {
        let weights = match (self.weights, weight) {
            (Some(kind), Some(column)) => {
                let column = batch.properties[column].slice(rows.start, rows.len());
                Some(kind.bits_of(&column).map_err(|bad| {
                    let row = rows.start + bad.row;
                    let (source, target) = (id_at(&batch.source, row), id_at(&batch.target, row));
                    let edge = format!("the edge from {source} to {target} has the weight ");
                    Error::invalid(message![edge, bad.reason])
                })?)
            }
            _ => None,
        };
        let is_first = rows.start == 0;
        let mut given = ReadBlocks { edges: rows.len() as u64, ..ReadBlocks::default() };
        for (place, index) in rows.enumerate() {
            let (source, target) = (id_at(&batch.source, index), id_at(&batch.target, index));
            let weight = weights.as_ref().map(|weights| weights[place]);
            self.put_edge(source, target, weight);
            if is_reversed {
                self.put_edge(target, source, weight);
            }
        }
        if let Some(vertices) = batch.vertices.as_ref().filter(|_| is_first && !self.removes) {
            (0..vertices.len()).for_each(|index| self.put_vertex(id_at(vertices, index)));
            given.vertices = vertices.len() as u64;
        }
        Ok(given)
    }

    /// Announces some more of the vertices that the format counts.
    pub(crate) fn take_counted(&mut self, counted: &mut Range<u64>) -> u64 {
        let len = COUNTED_LEN.min(counted.end - counted.start);
        (counted.start..counted.start + len).for_each(|id| self.put_vertex(ExternalId::Int(id)));
        counted.start += len;
        len
    }

    fn put_edge(&mut self, source: ExternalId<'_>, target: ExternalId<'_>, weight: Option<u64>) {
        let EdgePlace { shard, other, told } = self.placement.of_edge(source, target);
        put_edge(&mut self.edges[shard], source, target, weight);
        if let Some(other) = other {
            put_edge(&mut self.edges[other], source, target, weight);
        }
        if let Some(owner) = told.filter(|_| !self.removes) {
            self.announce(owner, target);
        }
    }

    fn put_vertex(&mut self, id: ExternalId<'_>) {
        put_id(&mut self.vertices[self.placement.owners().of(id)], id);
    }

    /// Tells an owner of its vertex, unless that was done not long ago.
    fn announce(&mut self, owner: usize, id: ExternalId<'_>) {
        if let ExternalId::Int(number) = id {
            let place = &mut self.announced[number as usize % ANNOUNCED_LEN];
            if *place == number.wrapping_add(1) && number != u64::MAX {
                return;
            }
            *place = number.wrapping_add(1);
        }
        put_id(&mut self.vertices[owner], id);
    }

    /// The blocks of a round: the head, the bytes of edges, edges, vertices. A process counts what it read in
    /// the block to itself and to each other alike, so all processes have the same counts.
    pub(crate) fn blocks(&mut self, given: ReadBlocks) -> Vec<Vec<u8>> {
        let blocks = self.edges.iter_mut().zip(&mut self.vertices).map(|(edges, vertices)| {
            let mut block = Vec::with_capacity(32 + edges.len() + vertices.len());
            let flags = [given.is_done, given.commits, given.has_hub];
            let flags = flags.iter().rev().fold(0, |flags, &flag| flags << 1 | u64::from(flag));
            let words = [flags, given.edges, given.vertices, edges.len() as u64];
            words.iter().for_each(|word| put_u64(&mut block, *word));
            block.append(edges);
            block.append(vertices);
            block
        });
        blocks.collect()
    }
}

/// Appends an edge, with the bits of its weight if edges have weights.
pub(crate) fn put_edge(
    block: &mut Vec<u8>,
    source: ExternalId<'_>,
    target: ExternalId<'_>,
    weight: Option<u64>,
) {
    put_id(block, source);
    put_id(block, target);
    if let Some(bits) = weight {
        put_u64(block, bits);
    }
}
