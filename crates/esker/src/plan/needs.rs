//! The needs of a run, and of the graph in each encoding and residency.

use esker_algo::{Estimate, Shape};
use esker_graph::{Direction, Remaining, Run, STRIP_LEN, VertexId};
use esker_store::layer::{PlainLayer, Section};
use esker_store::pool::PoolOptions;
use esker_store::pooled::PooledNeeds;
use esker_store::stacked::StackedNeeds;
use esker_store::tiles::MAPPED_WEIGHTS_MAX;
use esker_store::windows::{Copies, WindowIndex};
use esker_store::{GraphEncoding, Residency, Snapshot, StoredGraph, WEIGHTS_MAX};

use super::candidate::Candidate;
use crate::catalogue::{Entry, Params, ReadPattern, Resources};
use crate::error::Result;

/// Memory of a process beside everything that is counted: the program, threads, buffers.
pub const PROCESS_BYTES: u64 = 32 << 20;

/// What a thread gathers for each vertex of a strip of tiles that others write to as well, at most.
const SHARED_VERTEX_BYTES: u64 = 16;

/// Why a directed graph is read as undirected from mapped lists only: both lists of a vertex are needed at a time, sorted.
const ONLY_MAPPED_LISTS: &str = "a directed graph is read as undirected from mapped lists: run it with --residency mapped --encoding lists";

/// What estimates depend on: the version as an algorithm will see it.
///
/// # Errors
/// As [`Snapshot::num_present`].
pub fn shape_of(snapshot: &Snapshot, weighted: bool) -> Result<Shape> {
    let undirected = snapshot.drops_directions();
    Ok(Shape {
        num_vertices: snapshot.num_present(&Run::with_threads(1)?)? as u64,
        // Without directions there are fewer where edges go both ways; to count them takes a scan.
        num_arcs: snapshot.num_arcs() * if undirected { 2 } else { 1 },
        directed: snapshot.is_directed() && !undirected,
        in_edges: snapshot.has(Direction::In),
        weight_bytes: match snapshot.weight_type() {
            Some(element) if weighted => element.bytes() as u64,
            _ => 0,
        },
        scattered: false,
    })
}

/// The estimate of an algorithm on a version, with what the version itself needs: tables of vertices, the numbers of those that are left.
///
/// # Errors
/// As [`Entry::estimate`] and [`Snapshot::num_present`].
pub fn estimate_on(
    snapshot: &Snapshot,
    entry: &Entry,
    params: &Params,
    resources: &Resources,
) -> Result<Estimate> {
    estimate_as(GraphEncoding::Lists, snapshot, entry, params, resources)
}

/// The same, with the given encoding.
pub(super) fn estimate_as(
    encoding: GraphEncoding,
    snapshot: &Snapshot,
    entry: &Entry,
    params: &Params,
    resources: &Resources,
) -> Result<Estimate> {
    entry.check_weight(snapshot.is_weight_chosen())?;
    let mut shape = shape_of(snapshot, entry.reads_weights(snapshot))?;
    // Among removed vertices, lists are renumbered and handed over piece by piece.
    shape.scattered =
        encoding == GraphEncoding::Tiles && shape.num_vertices == snapshot.num_vertices() as u64;
    let mut estimate = entry.estimate(shape, params, resources)?;
    let numbers = snapshot.num_vertices() as u64;
    if shape.num_vertices < numbers {
        estimate.memory_bytes += Remaining::bytes(numbers, numbers - shape.num_vertices);
    }
    estimate.memory_bytes += snapshot.stack().table_bytes();
    if entry.reads.ids && snapshot.state().has_text_ids() {
        // The vertex of each rank of a text.
        estimate.memory_bytes += shape.num_vertices * size_of::<VertexId>() as u64;
    }
    if snapshot.window_index().is_some() {
        estimate.memory_bytes += WindowIndex::bytes(numbers, shape.directed && shape.in_edges);
    }
    if snapshot.drops_directions() {
        estimate.memory_bytes += StoredGraph::<()>::undirected_bytes(numbers);
    }
    Ok(estimate)
}

/// Memory of the edges of a window, copied; `None` without one.
pub(super) fn gathered_bytes(snapshot: &Snapshot, entry: &Entry) -> Option<u64> {
    let weight = snapshot.weight_type().filter(|_| entry.reads_weights(snapshot));
    let weight_bytes = weight.map_or(0, |element| element.bytes() as u64);
    snapshot.window_index().map(|index| index.gathered_bytes(weight_bytes))
}

/// Whether a window is read list by list: copies of an edge are joined, or weights are read beside the times.
fn reads_whole_lists(index: &WindowIndex, weighted: bool) -> bool {
    weighted || index.window().copies != Copies::All
}

/// What all candidates depend on.
struct Common<'a> {
    snapshot: &'a Snapshot,
    threads: usize,
    /// Bytes of a weight; 0 if the algorithm does not read weights.
    weight_bytes: u64,
    /// Bytes of all lists and weights.
    list_bytes: u64,
    /// Bytes that the run reads of uncompressed lists, and the bytes of these.
    reads: (u64, u64),
    /// Why the algorithm is for mapped lists only.
    unsuited: Option<String>,
}

impl Common<'_> {
    /// The reads of a run from an encoding of this size.
    fn read_bytes(&self, graph_bytes: u64) -> u64 {
        let (read_bytes, uncompressed) = self.reads;
        (u128::from(read_bytes) * u128::from(graph_bytes) / u128::from(uncompressed.max(1))) as u64
    }

    /// Memory of the weights beside pooled or headed lists.
    fn weights_beside(&self) -> u64 {
        let layer = self.snapshot.complete_layer();
        // The times of a window are a column of their own.
        let times = self.snapshot.window_index().map_or(0, |_| size_of::<i64>() as u64);
        let of_side = |section: &Section| {
            let arcs = section.main().num_arcs() as u64;
            [times, self.weight_bytes - times]
                .map(|bytes| (arcs * bytes).min(WEIGHTS_MAX))
                .iter()
                .sum::<u64>()
        };
        std::iter::once(layer.out()).chain(layer.incoming()).map(of_side).sum()
    }

    /// A candidate with the needs of an encoding of `graph_bytes`.
    fn candidate(
        &self,
        (encoding, residency): (GraphEncoding, Residency),
        graph_bytes: u64,
        least_bytes: u64,
        whole_bytes: u64,
    ) -> Candidate {
        let only_mapped_lists = (encoding, residency) != (GraphEncoding::Lists, Residency::Mapped);
        Candidate {
            encoding,
            residency,
            graph_bytes,
            read_bytes: self.read_bytes(graph_bytes),
            least_bytes,
            whole_bytes,
            obstacle: None,
            unsuited: self.unsuited.clone().filter(|_| only_mapped_lists),
        }
    }
}

/// All candidates, in order of preference.
pub(super) fn candidates(
    snapshot: &Snapshot,
    entry: &Entry,
    params: &Params,
    resources: &Resources,
) -> Result<Vec<Candidate>> {
    let estimate = |encoding| estimate_as(encoding, snapshot, entry, params, resources);
    let on_lists = estimate(GraphEncoding::Lists)?;
    let arrays_bytes = on_lists.memory_bytes;
    let shape = shape_of(snapshot, entry.reads_weights(snapshot))?;
    let sections = if shape.directed && shape.in_edges { 2 } else { 1 };
    let index = snapshot.window_index();
    let points = entry.reads.pattern == ReadPattern::Points;
    // The times stand beside the weights.
    let weight_bytes = shape.weight_bytes + index.map_or(0, |_| size_of::<i64>() as u64);
    let joins = index.is_some_and(|index| reads_whole_lists(index, shape.weight_bytes > 0));
    let common = Common {
        snapshot,
        threads: resources.threads,
        weight_bytes,
        list_bytes: list_bytes(snapshot, weight_bytes),
        reads: (on_lists.read_bytes, shape.weighted_list_bytes() * sections),
        unsuited: if points {
            Some(format!("{} reads single lists at random", entry.name))
        } else {
            joins.then(|| "the window is read list by list".to_owned())
        },
    };
    let base = arrays_bytes + PROCESS_BYTES;
    let mapped = (GraphEncoding::Lists, Residency::Mapped);
    let lists = common.candidate(mapped, common.list_bytes, arrays_bytes, base + common.list_bytes);
    let stacked = StackedNeeds::of(snapshot.stack(), snapshot.version().num_arcs, weight_bytes)?;
    let changes = stacked.fixed_bytes + stacked.mapped_bytes;
    let [tiles, pooled_tiles] = tiles(&common, estimate(GraphEncoding::Tiles)?.memory_bytes, changes);
    let headed = headed(&common, base + changes);
    let pooled_lists = pooled_lists(&common, base + changes);
    let mut others = if entry.reads.pattern == ReadPattern::Few {
        [headed, tiles, pooled_tiles, pooled_lists]
    } else {
        [tiles, pooled_tiles, headed, pooled_lists]
    };
    if snapshot.drops_directions() {
        for one in &mut others {
            one.obstacle = Some(ONLY_MAPPED_LISTS.to_owned());
        }
    }
    Ok(std::iter::once(lists).chain(others).collect())
}

/// A candidate that the database does not allow.
fn absent((encoding, residency): (GraphEncoding, Residency), reason: &esker_store::Error) -> Candidate {
    Candidate {
        encoding,
        residency,
        graph_bytes: 0,
        read_bytes: 0,
        least_bytes: 0,
        whole_bytes: 0,
        obstacle: Some(reason.to_string()),
        unsuited: None,
    }
}

/// Tiles, mapped and pooled. The version needs `changes` bytes for what is not in the tiles.
fn tiles(common: &Common<'_>, arrays_bytes: u64, changes: u64) -> [Candidate; 2] {
    let both = [Residency::Mapped, Residency::Pooled].map(|residency| (GraphEncoding::Tiles, residency));
    if let Some(reason) = &common.unsuited {
        let message = format!("{reason}, and tiles hold no lists: run it with --encoding lists");
        let reason = esker_store::Error::Invalid(message);
        return both.map(|which| absent(which, &reason));
    }
    let tiles = match common.snapshot.tiles() {
        Ok(tiles) => tiles,
        Err(reason) => return both.map(|which| absent(which, &reason)),
    };
    let weights = tiles.shape().num_edges * common.weight_bytes;
    let graph_bytes = tiles.file_bytes() + weights;
    let mapped = weights.min(MAPPED_WEIGHTS_MAX);
    let shared = (STRIP_LEN as u64).min(tiles.shape().num_vertices) * SHARED_VERTEX_BYTES;
    let base = arrays_bytes + changes + PROCESS_BYTES + shared * common.threads as u64;
    let least = base + tiles.resident_bytes() + mapped + PoolOptions::default().bytes_min();
    both.map(|which| {
        let least_bytes = if which.1 == Residency::Mapped { arrays_bytes + changes } else { least };
        common.candidate(which, graph_bytes, least_bytes, base + graph_bytes)
    })
}

/// Headed lists.
fn headed(common: &Common<'_>, base: u64) -> Candidate {
    let which = (GraphEncoding::Lists, Residency::Headed);
    let needs = match common.snapshot.headed_needs(common.threads) {
        Ok(needs) => needs,
        Err(reason) => return absent(which, &reason),
    };
    let least_bytes = base + needs.fixed_bytes + needs.mapped_bytes + common.weights_beside();
    common.candidate(which, common.list_bytes, least_bytes, least_bytes + needs.list_bytes)
}

/// Pooled lists.
fn pooled_lists(common: &Common<'_>, base: u64) -> Candidate {
    let which = (GraphEncoding::Lists, Residency::Pooled);
    let needs = match PooledNeeds::of(common.snapshot.complete_layer(), common.threads) {
        Ok(needs) => needs,
        Err(reason) => return absent(which, &reason),
    };
    let fixed = base + needs.fixed_bytes + needs.mapped_bytes + common.weights_beside();
    let whole_bytes = fixed + needs.list_bytes.max(needs.least_bytes);
    common.candidate(which, common.list_bytes, fixed + needs.least_bytes, whole_bytes)
}

/// Bytes of all lists that a version reads, and of the weights beside them.
fn list_bytes(snapshot: &Snapshot, weight_bytes: u64) -> u64 {
    let of_layer = |layer: &PlainLayer| -> u64 {
        let sections = std::iter::once(layer.out()).chain(layer.incoming()).map(Section::main);
        sections.map(|lists| lists.list_bytes() + lists.num_arcs() as u64 * weight_bytes).sum()
    };
    snapshot.stack().layers().iter().map(|layer| of_layer(layer)).sum()
}
