//! Copies the lists of one direction to memory, however they are stored.

use esker_format::{Error, Result};
use esker_graph::{Run, VertexId, vertex};

use super::gathered::{GatheredSide, Unit};
use super::side::Side;
use super::weight::ColumnWeight;

/// Memory of copied lists of one direction: 8 bytes a vertex, an id and a weight an arc.
pub const fn copied_bytes(num_vertices: u64, num_arcs: u64, weight_bytes: u64) -> u64 {
    (num_vertices + 1) * size_of::<u64>() as u64 + num_arcs * (size_of::<VertexId>() as u64 + weight_bytes)
}

/// Copies all lists, on the threads of the run. The caller has reserved the memory. Each list is read by itself, in order of the vertices:
/// what is spread over layers is joined in the cache, and written once.
pub(super) fn copy<W: ColumnWeight>(
    side: &Side<'_, W>,
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
    GatheredSide::fill(offsets, run, || (), |(), unit| copy_unit(side, unit))
}

fn copy_unit<W: ColumnWeight>(side: &Side<'_, W>, unit: Unit<'_, W>) -> Result<()> {
    let Unit { places, targets: mut all_targets, weights: mut all_weights } = unit;
    for v in places.map(vertex) {
        let degree = side.degree(v);
        let into_targets = all_targets.split_off_mut(..degree).unwrap_or_default();
        let into_weights = all_weights.split_off_mut(..degree).unwrap_or_default();
        let is_whole = side.with_list(v, |targets, weights| {
            let is_whole = targets.len() == degree;
            if is_whole {
                into_targets.copy_from_slice(targets);
                into_weights.copy_from_slice(weights);
            }
            is_whole
        })?;
        if !is_whole {
            let message = format!("the list of vertex {v} is not as long as its degree: run `esker check`");
            return Err(Error::Invalid(message));
        }
    }
    Ok(())
}
