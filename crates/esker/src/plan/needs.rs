//! The needs of a run, and of the graph in each encoding and residency.

use esker_algo::{Estimate, Shape};
use esker_graph::{Direction, Remaining, Run, VertexId};
use esker_store::layer::{Body, PlainLayer};
use esker_store::stacked::StackedNeeds;
use esker_store::windows::WindowIndex;
use esker_store::{GraphEncoding, Residency, View, undirected_block_bytes, undirected_bytes};

use super::access_path::AccessPath;
use super::candidate::Candidate;
use super::common::{Common, read_sections};
use super::price::{Costs, DegreeSample, Stored};
use super::residency;
use super::residency_entry::ResidencyEntry;
use super::windowed::{reads_weights_beside, reads_whole_lists};
use crate::catalogue::{Entry, Params, ReadPattern, Resources, Workload};
use crate::error::Result;

/// Memory of a process beside everything that is counted: the program, threads, buffers.
pub const PROCESS_BYTES: u64 = 32 << 20;

/// The lists of later layers are few if they are fewer than this part of the vertices.
const FEW_CHANGES_DIVISOR: usize = 8;

/// What estimates depend on: the version as an algorithm will see it. Of the version that [`Entry::reading`]
/// returns, removed vertices that stay in the graph count.
///
/// # Errors
/// As [`View::num_present`].
pub fn shape_of(view: &View, weighted: bool) -> Result<Shape> {
    let (undirected, run) = (view.drops_directions(), Run::with_threads(1)?);
    let num_vertices =
        if view.keeps_removed(&run)? { view.version().num_vertices() } else { view.num_present(&run)? };
    Ok(Shape {
        num_vertices: num_vertices as u64,
        // Without directions there are fewer where edges go both ways; to count them takes a scan.
        num_arcs: view.num_arcs() * if undirected { 2 } else { 1 },
        directed: view.version().is_directed() && !undirected,
        in_edges: view.version().has(Direction::In) || view.makes_in_lists(),
        weight_bytes: match view.weight_type() {
            Some(element) if weighted => element.bytes() as u64,
            _ => 0,
        },
        scattered: false,
    })
}

/// The estimate of an algorithm on a version, with what the version itself needs: tables of vertices, the
/// numbers of those that are left.
///
/// ```
/// # let (directory, csv) = (tempfile::tempdir()?, *b"source,target\nalice,bob\nbob,carol\n");
/// # let path = directory.path().join("web.esker");
/// # let read = esker::import::ReadOptions {
/// #     properties: esker::import::PickProperties::All,
/// #     ..Default::default()
/// # };
/// # let edges = [esker::import::Input::memory("web.csv", csv)];
/// # esker::import::import_inputs(&edges, &path, &read, &Default::default())?;
/// # let version = esker::store::Store::open(&path)?.latest()?;
/// use esker::catalogue::{Params, Resources, find};
/// use esker::graph::Run;
/// use esker::plan::estimate_on;
///
/// let view = version.view();
/// let resources = Resources::of(&Run::with_threads(1)?);
/// let estimate = estimate_on(&view, find("wcc")?, &Params::default(), &resources)?;
/// assert!(estimate.memory_bytes >= 4 * 3); // a label for each of three vertices
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Entry::estimate`] and [`View::num_present`].
pub fn estimate_on(view: &View, entry: &Entry, params: &Params, resources: &Resources) -> Result<Estimate> {
    estimate_as(AccessPath::lists(Residency::Mapped), view, entry, params, resources)
}

/// The same, with the given encoding and residency.
pub(super) fn estimate_as(
    path: AccessPath,
    view: &View,
    entry: &Entry,
    params: &Params,
    resources: &Resources,
) -> Result<Estimate> {
    entry.check_weight(view.is_weight_chosen())?;
    let view = &entry.reading(view);
    let mut shape = shape_of(view, entry.reads_weights(view))?;
    // Among removed vertices, lists are renumbered and handed over piece by piece.
    let is_scattered = path.encoding == GraphEncoding::Tiles && !view.drops_directions();
    shape.scattered = is_scattered && shape.num_vertices == view.version().num_vertices() as u64;
    let mut estimate = entry.estimate(shape, params, resources)?;
    let numbers = view.version().num_vertices() as u64;
    if shape.num_vertices < numbers {
        estimate.memory_bytes += Remaining::bytes(numbers, numbers - shape.num_vertices);
    } else if view.keeps_removed(&Run::with_threads(1)?)? {
        // The vertices of the rows; before, where PageRank may jump to.
        estimate.memory_bytes += Remaining::bytes(numbers, 0).max(numbers * size_of::<f64>() as u64);
    }
    // Beside tiles, pools and heads, later layers are gathered, unless a window leaves some of them out.
    let follows_chains = ResidencyEntry::of(path.residency).follows_chains_in(path.encoding);
    let stack = view.version().stack();
    estimate.memory_bytes += match path.encoding {
        _ if follows_chains || view.window_index().is_some() => stack.table_bytes(),
        GraphEncoding::Tiles => stack.degrees_bytes(|_| true),
        GraphEncoding::Lists => stack.degrees_bytes(|direction| view.reads(direction)),
    };
    if entry.reads.ids && view.version().ids().is_text() {
        // The vertex of each rank of a text.
        estimate.memory_bytes += shape.num_vertices * size_of::<VertexId>() as u64;
    }
    if view.window_index().is_some() {
        estimate.memory_bytes += WindowIndex::bytes(numbers, view.version().is_directed());
    }
    if view.drops_directions() {
        estimate.memory_bytes += undirected_bytes(numbers);
    }
    Ok(estimate)
}

/// Bytes of what later layers of a version change, which is in memory beside pools and heads, and beside
/// tiles.
pub(super) fn changed_bytes(view: &View) -> Result<[u64; 2]> {
    let needs = StackedNeeds::for_version(view.version().stack(), view.version().num_arcs(), 0)?;
    Ok([needs.rows_bytes, needs.tiles_bytes])
}

/// Memory in which the lists of both directions are collected, if a directed graph is read as undirected.
fn collecting_bytes(view: &View, shape: &Shape, from_tiles: bool) -> u64 {
    if !view.drops_directions() {
        return 0;
    }
    let (n, arcs) = (view.version().num_vertices() as u64, view.num_arcs());
    undirected_block_bytes(n, arcs, shape.weight_bytes, from_tiles)
}

/// The version, whose in-lists are made where a run needs them and they are not kept.
pub(super) fn with_in_lists(view: &View, entry: &Entry, params: &Params) -> View {
    let needs = view.drops_directions() || view.is_reversed() || entry.needs_in_lists(params);
    view.clone().making_in_lists(needs)
}

/// Why lists are read one by one, if they are.
fn list_by_list(entry: &Entry, view: &View, weighted: bool) -> Option<String> {
    match entry.reads.pattern {
        ReadPattern::Points => Some(format!("{} reads single lists at random", entry.name)),
        _ if view.is_filtered() => Some("edges are filtered list by list".to_owned()),
        _ if reads_whole_lists(view, weighted) => Some("the window is read list by list".to_owned()),
        ReadPattern::Scans | ReadPattern::Few => None,
    }
}

/// All candidates.
pub(super) fn candidates(
    view: &View,
    entry: &Entry,
    params: &Params,
    resources: &Resources,
) -> Result<Vec<Candidate>> {
    let view = &with_in_lists(&entry.reading(view), entry, params);
    let estimate = |path| estimate_as(path, view, entry, params, resources);
    let on_lists = estimate(AccessPath::lists(Residency::Mapped))?;
    let arrays_bytes = on_lists.memory_bytes;
    let shape = shape_of(view, entry.reads_weights(view))?;
    let two = [Direction::Out, Direction::In].iter().all(|&direction| view.reads(direction));
    let sections = if shape.directed && two { 2 } else { 1 };
    let index = view.window_index();
    // The times stand beside the weights.
    let weight_bytes = shape.weight_bytes + index.map_or(0, |_| size_of::<i64>() as u64);
    let weighted = shape.weight_bytes > 0;
    let [collecting, from_tiles] = [false, true].map(|tiles| collecting_bytes(view, &shape, tiles));
    // Lists that are kept in tiles alone are decoded from these, whichever way they are read.
    let base_bytes =
        arrays_bytes + PROCESS_BYTES + if view.version().keeps_only_tiles() { from_tiles } else { 0 };
    let stacked = StackedNeeds::for_version(view.version().stack(), view.version().num_arcs(), weight_bytes)?;
    // What needs memory while changes are gathered is gone when the algorithm takes its own.
    let own_bytes = arrays_bytes.saturating_sub(view.version().stack().table_bytes());
    let changes = |gathering: u64| stacked.mapped_bytes + gathering.saturating_sub(own_bytes);
    let on_tiles = estimate(AccessPath::tiles(Residency::Pooled))?.memory_bytes;
    let beside_tiles = stacked.tiles_bytes + changes(stacked.tiles_gathering_bytes) + from_tiles;
    let saved = arrays_bytes - estimate(AccessPath::lists(Residency::Pooled))?.memory_bytes;
    let beside_lists = stacked.rows_bytes + changes(stacked.rows_gathering_bytes) + collecting;
    let common = Common {
        view,
        entry,
        shape,
        threads: resources.threads,
        weight_bytes,
        columns: 1 + u64::from(reads_weights_beside(view, weighted)),
        list_bytes: list_bytes(view, weight_bytes),
        reads: (on_lists.read_bytes, shape.weighted_list_bytes() * sections),
        base_bytes,
        bounded_bytes: base_bytes - saved + beside_lists,
        tiles_bytes: on_tiles + beside_tiles + PROCESS_BYTES,
        unsuited: list_by_list(entry, view, weighted),
    };
    let mut all = residency::candidates(&common)?;
    let work = work_on(view, entry.work(&shape, params)?);
    let costs = Costs {
        later_bytes: stacked.later_bytes,
        chains: chains(view, &shape, entry.reads.pattern),
        ..costs(&common, work, &shape, resources, &all)?
    };
    for one in all.iter_mut().filter(|one| one.obstacle.is_none()) {
        one.price = residency::price(&costs, one.path(), one.least_bytes, resources.memory.bytes());
    }
    Ok(all)
}

/// The work of an algorithm, with the scan that counts degrees where a directed graph is read as undirected.
fn work_on(view: &View, mut work: Workload) -> Workload {
    if view.drops_directions() {
        let Workload { scans, tails, even_scans, even_tails, tiles, layers, .. } = &mut work;
        for scans in [scans, tails, even_scans, even_tails, tiles, layers] {
            *scans += 1.0;
        }
    }
    work
}

/// What the prices of the candidates depend on.
fn costs<'a>(
    common: &Common<'_>,
    work: Workload,
    shape: &Shape,
    resources: &'a Resources,
    candidates: &[Candidate],
) -> Result<Costs<'a>> {
    let view = common.view;
    let sections = read_sections(view, view.version().complete_layer()).count() as u64;
    let kinds: &[&str] = if common.weight_bytes > 0 {
        &["offsets", "targets", "lists", "property"]
    } else {
        &["offsets", "targets", "lists"]
    };
    let sides = [(Direction::Out, "out"), (Direction::In, "in")];
    let prefixes: Vec<_> = sides
        .iter()
        .filter(|(direction, _)| view.reads(*direction))
        .flat_map(|(_, side)| kinds.iter().map(move |kind| format!("{side}.{kind}")))
        .collect();
    let tiles = candidates.iter().find(|one| one.encoding == GraphEncoding::Tiles && one.obstacle.is_none());
    // Files hold the weights of the whole version, not those of a window.
    let weight_bytes = view.version().num_arcs() * sections * common.weight_bytes;
    let offset_bytes = view.version().num_vertices() as u64 * 8 * sections;
    Ok(Costs {
        rates: &resources.rates,
        work,
        threads: resources.threads,
        num_vertices: shape.num_vertices,
        num_arcs: view.num_arcs() * sections,
        degrees: DegreeSample::of(view)?,
        num_layers: view.version().stack().layers().len(),
        later_bytes: 0,
        chains: 0.0,
        decodes_tiles: view.version().keeps_only_tiles(),
        merges_directions: view.drops_directions(),
        is_compressed: matches!(view.version().complete_layer().out().main().body(), Body::Coded(_)),
        lists: Stored::of(view, common.list_bytes, weight_bytes, &prefixes),
        tiles: tiles.map_or_else(Stored::default, |one| {
            Stored::of(view, one.graph_bytes, weight_bytes / 2, &["tiles".to_owned()])
        }),
        offset_bytes,
        head_bytes: head_bytes(view, sections),
    })
}

/// Bytes of all stored heads, at most; `None` if there are none, or they cannot be read, which hinders only
/// what reads them.
fn head_bytes(view: &View, sections: u64) -> Option<u64> {
    let heads = view.version().stored_heads().ok().flatten()?;
    let (lists, arcs) =
        (view.version().num_vertices() as u64 * sections, view.version().num_arcs() * sections);
    Some(head_bytes_max(heads.head_len() as u64, lists, arcs))
}

/// Bytes of the heads of some lists, at most. The manifest may name any length.
pub(super) fn head_bytes_max(head_len: u64, num_lists: u64, num_arcs: u64) -> u64 {
    head_len.saturating_mul(num_lists).min(num_arcs) * size_of::<VertexId>() as u64
}

/// How slowly lists are found in the layers of a version, and merged of two directions: what a scan loses
/// against one of plain lists in a single layer, as a part of what it loses in eleven layers. The proportions
/// were measured: see `docs/decisions/scanning-layers.md`.
fn chains(view: &View, shape: &Shape, pattern: ReadPattern) -> f64 {
    let stack = view.version().stack();
    let later_lists: usize = stack.layers()[1..].iter().map(|layer| layer.out().main().num_lists()).sum();
    let many = later_lists >= stack.num_vertices() / FEW_CHANGES_DIVISOR || stack.rank().is_some();
    // Numbers among removed vertices are translated, in batches.
    let among_removed = shape.num_vertices < view.version().num_vertices() as u64;
    match pattern {
        _ if view.drops_directions() => MERGED,
        // Each list is found along its chain.
        ReadPattern::Points if !stack.is_plain() => 1.0,
        ReadPattern::Points => 0.0,
        _ if among_removed => AMONG_REMOVED,
        _ if many => 1.0,
        _ if !stack.is_plain() => FEW_CHANGED,
        _ => 0.0,
    }
}

/// Both lists of a vertex are merged.
const MERGED: f64 = 3.0;
/// Numbers of vertices are translated.
const AMONG_REMOVED: f64 = 1.5;
/// Later layers have few lists.
const FEW_CHANGED: f64 = 0.25;

/// Bytes of all lists that a run on a version reads, and of the weights beside them.
fn list_bytes(view: &View, weight_bytes: u64) -> u64 {
    let of_layer = |layer: &PlainLayer| -> u64 {
        let arcs: usize = read_sections(view, layer).map(|section| section.main().num_arcs()).sum();
        layer.list_bytes(|direction| view.reads(direction)) + arcs as u64 * weight_bytes
    };
    view.version().stack().layers().iter().map(|layer| of_layer(layer)).sum()
}
