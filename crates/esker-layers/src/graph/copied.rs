//! Copies the lists of one direction to memory, however they are stored.

use esker_format::Result;
use esker_graph::{Run, VertexId, vertex};

use super::gathered::{GatheredSide, Unit};
use super::mapped::points::odd_list;
use super::side::GraphSide;
use super::versions::chains::LaterLayers;
use super::versions::layered::Layered;
use super::weight::ColumnWeight;

/// Memory of copied lists of one direction: 8 bytes a vertex, an id and a weight an arc.
pub const fn copied_bytes(num_vertices: u64, num_arcs: u64, weight_bytes: u64) -> u64 {
    (num_vertices + 1) * size_of::<u64>() as u64 + num_arcs * (size_of::<VertexId>() as u64 + weight_bytes)
}

/// Copies all lists, on the threads of the run. The caller has reserved the memory. Each list is read by
/// itself, in order of the vertices: what is spread over layers is joined in the cache, and written once.
pub(super) fn copy<W: ColumnWeight>(
    side: &GraphSide<'_, W>,
    num_vertices: usize,
    run: &Run,
) -> Result<GatheredSide<W>> {
    side.prepare(run)?;
    let mut end = 0;
    let ends = (0..num_vertices).map(|v| {
        end += side.degree(vertex(v)) as u64;
        end
    });
    let offsets = std::iter::once(0).chain(ends).collect();
    let layered = match side {
        GraphSide::Layered(side) => {
            let lists = side.lists(run)?;
            LaterLayers::new(lists, None, run)?.map(|layers| (lists, layers))
        }
        _ => None,
    };
    GatheredSide::fill(offsets, run, || (), |(), unit| copy_unit(side, layered.as_ref(), unit))
}

/// Copies some lists. If `layered` is given, those of several layers are read layer by layer; else each along
/// its chain.
fn copy_unit<'a, W: ColumnWeight>(
    side: &GraphSide<'_, W>,
    layered: Option<&(&Layered<'a, W>, LaterLayers<'a, W>)>,
    unit: Unit<'_, W>,
) -> Result<()> {
    let Unit { places, targets: mut all_targets, weights: mut all_weights } = unit;
    let mut take = |v: VertexId, targets: &[VertexId], weights: &[W]| {
        let degree = side.degree(v);
        if targets.len() != degree {
            return Err(odd_list(v));
        }
        all_targets.split_off_mut(..degree).unwrap_or_default().copy_from_slice(targets);
        all_weights.split_off_mut(..degree).unwrap_or_default().copy_from_slice(weights);
        Ok(())
    };
    if let Some((lists, layers)) = layered
        && layers.for_each_list(lists, places.clone(), &mut take)?
    {
        return Ok(());
    }
    places.map(vertex).try_for_each(|v| side.with_list(v, |targets, weights| take(v, targets, weights))?)
}
