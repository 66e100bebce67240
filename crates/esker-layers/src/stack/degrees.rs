//! Degrees without the rest of a vertex table, for scans that read later layers vertex by vertex and follow
//! no chain.

use std::sync::Arc;

use esker_format::Result;
use esker_graph::{Direction, Reservation, Run, VertexId};

use super::chain::Chains;
use super::table::edit;
use crate::lama::Lama;

/// The greatest position of a layer that is kept for a vertex. It stands for all layers from there on.
const POSITION_MAX: usize = u8::MAX as usize;

/// The degree of each vertex of one direction of a stack, and the layer of its newest fragment. Only for a
/// version that sees its layers wholly.
///
/// Memory: a vertex id and a byte for each vertex, minus the pages shared with other versions.
#[derive(Debug, Clone)]
pub struct NewestDegrees {
    degrees: Lama<VertexId>,
    /// Positions in the stack, at most [`POSITION_MAX`]; 0: the vertex is in no later layer.
    newest: Lama<u8>,
    /// Held as long as the degrees.
    pub(super) memory: Option<Arc<Reservation>>,
}

impl NewestDegrees {
    /// The most bytes that the degrees of `num_vertices` vertices take.
    pub(crate) fn bytes_for(num_vertices: usize) -> usize {
        num_vertices.saturating_mul(size_of::<VertexId>() + size_of::<u8>())
    }

    /// Reads the lengths of the oldest layer's lists, and the degrees in the others.
    pub(super) fn new(stack: &Chains, direction: Direction, run: &Run) -> Result<Self> {
        let first = stack.section(0, direction)?;
        let extents = first.main().extents(run)?;
        let (n, listed) = (stack.num_vertices(), extents.len());
        let degrees = Lama::build(run, n, |first, degrees: &mut [VertexId]| -> Result<()> {
            for (v, degree) in (first..listed).zip(degrees) {
                *degree = extents.range(v).len() as VertexId;
            }
            Ok(())
        })?;
        // Not in memory beside later layers, nor beside tiles, which do without offsets.
        first.release();
        Self { degrees, newest: Lama::with_len(n), memory: None }.extended(stack, 1, direction, run)
    }

    /// Applies the layers of `stack` from position `from` to these degrees of the layers before.
    pub(super) fn extended(
        &self,
        stack: &Chains,
        from: usize,
        direction: Direction,
        run: &Run,
    ) -> Result<Self> {
        let mut all = self.clone();
        let n = stack.num_vertices();
        all.degrees.grow(n);
        all.newest.grow(n);
        for layer in from..stack.layers().len() {
            run.check()?;
            let section = stack.section(layer, direction)?;
            let vertices = section.main().vertices(run)?.ok_or_else(|| stack.no_directory(layer))?;
            let (degrees, _) = section.links(run)?.ok_or_else(|| stack.no_directory(layer))?;
            let vertices = &vertices[..vertices.partition_point(|&v| (v as usize) < n)];
            let position = layer.min(POSITION_MAX) as u8;
            edit(&mut all.degrees, vertices, run, |slot| Ok(degrees[slot]))?;
            edit(&mut all.newest, vertices, run, |_| Ok(position))?;
            section.release();
        }
        Ok(all)
    }

    /// The degree of `v`.
    #[inline(always)]
    pub(crate) fn degree(&self, v: VertexId) -> usize {
        self.degrees.get(v as usize) as usize
    }

    /// The newest fragment of `v`: the position of its layer, and its slot. Searches one layer.
    pub(super) fn newest_fragment(
        &self,
        stack: &Chains,
        direction: Direction,
        v: VertexId,
    ) -> Result<Option<(usize, usize)>> {
        let layer = usize::from(self.newest.get(v as usize));
        let above = if layer == POSITION_MAX { stack.layers().len() } else { layer + 1 };
        stack.search(above, direction, v)
    }
}
