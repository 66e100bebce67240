//! Vertices by the beginning of their ids.

use std::collections::BinaryHeap;

use esker_graph::{Run, VertexId, vertex};
use esker_store::View;
use esker_store::ids::ExternalId;

use crate::error::{Error, Result};

/// Ids between two looks for a signal.
const CHECK_IDS: usize = 1 << 14;

/// The vertices whose ids begin alike.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrefixMatches {
    /// The first of them, in the order of the bytes of their ids.
    pub vertices: Vec<VertexId>,
    /// How many there are in all.
    pub count: u64,
}

/// Finds the vertices of a view whose text ids begin with `prefix`, the first `top` in the order of the ids.
///
/// The index of ids is one of hashes, so this reads all ids, a few nanoseconds each. Memory: the ids of the
/// first `top`.
///
/// # Errors
/// [`Error::Usage`] if the ids are integers; cancellation; [`esker_store::Error::Corrupt`].
pub fn with_prefix(view: &View, prefix: &str, top: usize, run: &Run) -> Result<PrefixMatches> {
    let version = view.version();
    if !version.ids().is_text() {
        return Err(Error::usage(
            "the ids of this graph are integers, and only texts have a beginning: select a range of them by a \
             condition, such as vertex between 100 and 199",
        ));
    }
    let removed = view.removed(run)?;
    // The greatest of those that are kept is the first to go.
    let mut first: BinaryHeap<(Box<[u8]>, VertexId)> = BinaryHeap::new();
    let (mut count, mut next, num_vertices) = (0, 0, version.num_vertices());
    while next < num_vertices {
        run.check()?;
        let end = num_vertices.min(next + CHECK_IDS);
        version.ids().each_external(next..end, |id| {
            let v = vertex(next);
            next += 1;
            let ExternalId::Text(text) = id else { return Ok(()) };
            if !text.starts_with(prefix.as_bytes()) || removed.is_removed(v) {
                return Ok(());
            }
            count += 1;
            if first.len() < top {
                first.push((text.into(), v));
            } else if let Some(mut greatest) = first.peek_mut()
                && text < &*greatest.0
            {
                *greatest = (text.into(), v);
            }
            Ok(())
        })?;
    }
    let vertices = first.into_sorted_vec().into_iter().map(|(_, v)| v).collect();
    Ok(PrefixMatches { vertices, count })
}
