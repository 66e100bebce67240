//! The rates that runs reach: a run may show that the measured rate of this machine is too low.

use esker_store::layer::Body;
use esker_store::{Access, GraphEncoding, View};

use crate::answer::Answer;
use crate::catalogue::Entry;
use crate::rates::Rate;

/// A smaller graph says nothing about a rate, because it fits the caches better than the graph with which
/// rates are measured.
const VERTICES_MIN: usize = 1 << 18;

/// The arcs a second that a run with this access read, if it read them as the measurement of a rate does:
/// rounds of PageRank over a single layer.
pub(super) fn reached(access: &Access, view: &View, entry: &Entry, answer: &Answer) -> Option<(Rate, f64)> {
    let is_plain = view.version().stack().is_plain() && view.window_index().is_none();
    let is_alike = is_plain && !view.drops_directions() && !view.version().keeps_only_tiles();
    if entry.name != "pagerank" || view.is_weight_chosen() || !is_alike {
        return None;
    }
    if view.version().num_vertices() < VERTICES_MIN || answer.rounds == 0 || answer.seconds <= 0.0 {
        return None;
    }
    let is_coded = matches!(view.version().complete_layer().out().main().body(), Body::Coded(_));
    let rate = match *access {
        Access::Mapped(GraphEncoding::Tiles) => Rate::ScanTiles,
        Access::Mapped(GraphEncoding::Lists) if is_coded => Rate::ScanCompressed,
        Access::Mapped(GraphEncoding::Lists) => Rate::ScanPlain,
        Access::Pooled(..) | Access::Headed(_) | Access::Memory => return None,
    };
    Some((rate, answer.arcs as f64 / answer.seconds))
}
