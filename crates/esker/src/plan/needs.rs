//! What a run needs, and what the graph takes in each form.

use esker_algo::{Estimate, Shape};
use esker_graph::{Direction, Remaining, Run, STRIP_LEN, VertexId};
use esker_store::Snapshot;
use esker_store::headed::HeadedNeeds;
use esker_store::layer::{PlainLayer, Section};
use esker_store::pool::PoolOptions;
use esker_store::pooled::PooledNeeds;
use esker_store::tiles::MAPPED_WEIGHTS_MAX;

use super::way::{Form, Kept, Means, Way};
use crate::catalogue::{Entry, Params, Resources};
use crate::error::Result;

/// Memory of a process beside everything that is counted: the program, threads, buffers.
pub const PROCESS_BYTES: u64 = 32 << 20;

/// What a thread gathers for each vertex of a strip of tiles that others write to as well, at most.
const SHARED_VERTEX_BYTES: u64 = 16;

/// Algorithms that read single lists at random more than they scan: neither tiles nor heads are of use to them.
const READ_SINGLE_LISTS: [&str; 7] = ["cdlp", "cliques", "lcc", "matching", "scc", "triangles", "truss"];

/// Algorithms that look at few vertices in most rounds, or at few neighbours of each: heads serve them better than tiles, which are
/// decoded as a whole.
const LOOK_AT_FEW: [&str; 7] = ["betweenness", "bfs", "kcore", "sssp", "wbfs", "wcc", "widest"];

/// What estimates depend on: the version as an algorithm will see it.
///
/// # Errors
/// As [`Snapshot::num_present`].
pub fn shape_of(snapshot: &Snapshot, weighted: bool) -> Result<Shape> {
    Ok(Shape {
        num_vertices: snapshot.num_present(&Run::with_threads(1)?)? as u64,
        num_arcs: snapshot.num_arcs(),
        directed: snapshot.is_directed(),
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
pub fn estimate_on(snapshot: &Snapshot, entry: &Entry, params: &Params, means: &Means) -> Result<Estimate> {
    estimate_as(Kept::Lists, snapshot, entry, params, means)
}

/// The same, if that is read of it.
pub(super) fn estimate_as(
    kept: Kept,
    snapshot: &Snapshot,
    entry: &Entry,
    params: &Params,
    means: &Means,
) -> Result<Estimate> {
    let mut shape = shape_of(snapshot, entry.weighted)?;
    // What is left of other vertices is renumbered, piece by piece.
    shape.scattered = kept == Kept::Tiles && shape.num_vertices == snapshot.num_vertices() as u64;
    let resources = Resources { threads: means.threads, deterministic: means.deterministic };
    let mut estimate = entry.estimate(shape, params, resources)?;
    let numbers = snapshot.num_vertices() as u64;
    if shape.num_vertices < numbers {
        estimate.memory_bytes += Remaining::bytes(numbers, numbers - shape.num_vertices);
    }
    estimate.memory_bytes += snapshot.stack().table_bytes();
    Ok(estimate)
}

/// What ways are weighed by.
struct Scales<'a> {
    snapshot: &'a Snapshot,
    threads: usize,
    /// Bytes of a weight; none if they are not read.
    weight_bytes: u64,
    /// Bytes of all lists and weights.
    list_bytes: u64,
    /// Why an algorithm is not for anything but lists that lie in memory.
    unsuited: Option<String>,
}

/// All ways there are, in the order in which they are preferred.
pub(super) fn ways(snapshot: &Snapshot, entry: &Entry, params: &Params, means: &Means) -> Result<Vec<Way>> {
    let arrays =
        |kept| estimate_as(kept, snapshot, entry, params, means).map(|estimate| estimate.memory_bytes);
    let arrays_bytes = arrays(Kept::Lists)?;
    let weight_bytes = shape_of(snapshot, entry.weighted)?.weight_bytes;
    let scans = !READ_SINGLE_LISTS.contains(&entry.name);
    let scales = Scales {
        snapshot,
        threads: means.threads,
        weight_bytes,
        list_bytes: list_bytes(snapshot, weight_bytes),
        unsuited: (!scans).then(|| format!("{} reads single lists at random", entry.name)),
    };
    let base = arrays_bytes + PROCESS_BYTES;
    let lists = Way {
        form: Form::Lists,
        graph_bytes: scales.list_bytes,
        least_bytes: arrays_bytes,
        whole_bytes: base + scales.list_bytes,
        obstacle: None,
        unsuited: None,
    };
    let [tiles, pooled_tiles] = tiles(&scales, arrays(Kept::Tiles)?);
    let headed = headed(&scales, base);
    let pooled_lists = pooled_lists(&scales, base);
    Ok(if LOOK_AT_FEW.contains(&entry.name) {
        vec![lists, headed, tiles, pooled_tiles, pooled_lists]
    } else {
        vec![lists, tiles, pooled_tiles, headed, pooled_lists]
    })
}

/// A way that the database does not allow.
fn absent(form: Form, reason: &esker_store::Error) -> Way {
    let obstacle = Some(reason.to_string());
    Way { form, graph_bytes: 0, least_bytes: 0, whole_bytes: 0, obstacle, unsuited: None }
}

/// Tiles, mapped and in a fixed memory.
fn tiles(scales: &Scales<'_>, arrays_bytes: u64) -> [Way; 2] {
    let tiles = match scales.snapshot.tiles() {
        Ok(tiles) => tiles,
        Err(reason) => return [Form::Tiles, Form::PooledTiles].map(|form| absent(form, &reason)),
    };
    let weights = tiles.shape().num_edges * scales.weight_bytes;
    let graph_bytes = tiles.file_bytes() + weights;
    let mapped = weights.min(MAPPED_WEIGHTS_MAX);
    let shared = (STRIP_LEN as u64).min(tiles.shape().num_vertices) * SHARED_VERTEX_BYTES;
    let base = arrays_bytes + PROCESS_BYTES + shared * scales.threads as u64;
    let least = base + tiles.resident_bytes() + mapped + PoolOptions::default().bytes_min();
    [(Form::Tiles, arrays_bytes), (Form::PooledTiles, least)].map(|(form, least_bytes)| Way {
        form,
        graph_bytes,
        least_bytes,
        whole_bytes: base + graph_bytes,
        obstacle: None,
        unsuited: scales.unsuited.clone(),
    })
}

/// Lists with their heads in memory.
fn headed(scales: &Scales<'_>, base: u64) -> Way {
    let layer = scales.snapshot.complete_layer();
    let needs = match layer.and_then(|layer| HeadedNeeds::of(layer, scales.threads)) {
        Ok(needs) => needs,
        Err(reason) => return absent(Form::Headed, &reason),
    };
    let weights = needs.list_bytes / size_of::<VertexId>() as u64 * scales.weight_bytes;
    let least_bytes = base + needs.fixed_bytes + needs.mapped_bytes + weights;
    Way {
        form: Form::Headed,
        graph_bytes: scales.list_bytes,
        least_bytes,
        whole_bytes: least_bytes + needs.list_bytes,
        obstacle: None,
        unsuited: scales.unsuited.clone(),
    }
}

/// Parts of lists in memory.
fn pooled_lists(scales: &Scales<'_>, base: u64) -> Way {
    let layer = scales.snapshot.complete_layer();
    let needs = match layer.and_then(|layer| PooledNeeds::of(layer, scales.threads)) {
        Ok(needs) => needs,
        Err(reason) => return absent(Form::PooledLists, &reason),
    };
    let kept = base + needs.fixed_bytes + needs.mapped_bytes;
    Way {
        form: Form::PooledLists,
        graph_bytes: scales.list_bytes,
        least_bytes: kept + needs.least_bytes,
        whole_bytes: kept + needs.list_bytes.max(needs.least_bytes),
        obstacle: None,
        unsuited: scales.unsuited.clone(),
    }
}

/// Bytes of all lists that a version reads, and of the weights beside them.
fn list_bytes(snapshot: &Snapshot, weight_bytes: u64) -> u64 {
    let of_layer = |layer: &PlainLayer| -> u64 {
        let sections = std::iter::once(layer.out()).chain(layer.incoming()).map(Section::main);
        sections.map(|lists| lists.list_bytes() + lists.num_arcs() as u64 * weight_bytes).sum()
    };
    snapshot.stack().layers().iter().map(|layer| of_layer(layer)).sum()
}
