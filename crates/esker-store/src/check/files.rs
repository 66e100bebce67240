//! Checks of all files that the manifest names, whatever is in them.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use esker_format::{Archive, ElementType, Error, Origin, Owner, Result};
use esker_graph::random::hash;
use esker_graph::{Direction, Operation, Run, Select, Setting, VertexId, Visitor, vertex};
use esker_graph::{Flow, Graph, Lists, Piece, Weight};
use esker_layers::graph::ArcWeights;
use esker_layers::graph::{CompleteLists, StoredGraph, StoredWeight};
use esker_layers::stack::Stack;
use esker_layers::tiles::Tiles;

use super::columns::contents;
use super::report::Report;
use crate::version::{Layer, State};

/// Lists that a thread reads one by one at a time.
const UNIT_LISTS: usize = 1 << 12;

/// Verifies the checksums of all columns of an archive that no other check has verified; returns whether all
/// columns are intact. An archive that is open has no other bytes that are not verified.
pub(super) fn check_archive(
    archive: &Archive,
    origin: Origin,
    run: &Run,
    report: &mut Report,
) -> Result<bool> {
    let mut intact = true;
    for values in contents(archive, origin) {
        match values {
            Ok(None) => {}
            Ok(Some(values)) if report.has_verified(&values) => {}
            Ok(Some(values)) => intact &= report.column(&values, values.verify(run))?,
            Err(problem) => intact &= report.note(Err(problem))?,
        }
    }
    Ok(intact)
}

/// Verifies the changes of vertex properties in all layers of a state, and the remaining columns.
pub(super) fn check_layers(state: &State, run: &Run, report: &mut Report) -> Result<()> {
    for layer in state.layers() {
        let record = layer.record();
        for column in record.vertex_properties.iter().filter_map(|&number| layer.vertex_property(number)) {
            report.note(column.verify(record.num_vertices as usize, record.num_versions, run))?;
        }
        check_archive(layer.archive(), layer.origin(state.manifest().database), run, report)?;
    }
    Ok(())
}

/// Verifies the tiles of all layers that have any, and that they contain the edges of the lists of their
/// layer with their properties.
pub(super) fn check_tiles(state: &State, run: &Run, report: &mut Report) -> Result<()> {
    for layer in state.layers() {
        let known = report.problems.len();
        match state.tiles_of(layer.record().number) {
            Ok(None) => {}
            Ok(Some(tiles)) => check_tiles_of(state, layer, tiles, run, report)?,
            Err(problem) => {
                report.note(Err(problem))?;
            }
        }
        if layer.lists().out().main().tiles().is_none() {
            report.remedy(Operation::Compact.with(Setting::Encoding.to("tiles")), known);
        }
    }
    Ok(())
}

/// Verifies the stored heads of all layers that have any, and that they are those of the lists of their
/// layer.
pub(super) fn check_heads(state: &State, run: &Run, report: &mut Report) -> Result<()> {
    for layer in state.layers() {
        let known = report.problems.len();
        let number = layer.record().number;
        match state.heads_of(number) {
            Ok(None) => {}
            Ok(Some(heads)) => {
                if check_archive(heads.archive(), heads.origin(), run, report)? {
                    let what = format!("the heads of layer {number} are those of its lists");
                    report.holds(&what, heads.verify(state.disk().as_ref(), layer.lists(), run))?;
                }
            }
            Err(problem) => {
                report.note(Err(problem))?;
            }
        }
        report.remedy(Operation::Compact.with(Setting::Heads.to_some("LENGTH")), known);
    }
    Ok(())
}

fn check_tiles_of(state: &State, layer: &Layer, tiles: &Tiles, run: &Run, report: &mut Report) -> Result<()> {
    let mut intact = check_archive(tiles.archive(), tiles.origin(), run, report)?;
    for data in tiles.data().columns() {
        intact &= report.column(data, data.all(run).map(drop))?;
    }
    if !intact {
        return Ok(());
    }
    let record = layer.record();
    let stack = Stack::new(&[Arc::clone(layer.lists())], record.last_version, record.num_vertices)?;
    let compared = Compared { layer, tiles, stack: &stack, run };
    if !compared.values::<()>(0, "", report)? {
        return Ok(());
    }
    for property in state.manifest().properties.iter().filter(|property| property.owner == Owner::Edges) {
        let (number, element) = (property.number, property.element);
        if !tiles.has_property(number, element) {
            continue;
        }
        let with = format!(", with the same values of {}", property.name);
        match element {
            ElementType::I32 => compared.values::<i32>(number, &with, report)?,
            ElementType::I64 => compared.values::<i64>(number, &with, report)?,
            ElementType::F32 => compared.values::<f32>(number, &with, report)?,
            ElementType::F64 => compared.values::<f64>(number, &with, report)?,
            ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => true,
        };
    }
    Ok(())
}

/// Tiles and the lists that they were made of.
struct Compared<'a> {
    layer: &'a Layer,
    tiles: &'a Tiles,
    stack: &'a Stack,
    run: &'a Run,
}

impl Compared<'_> {
    /// Compares the arcs and their values of a property; returns whether they are equal.
    fn values<W: StoredWeight + Pod>(&self, property: u32, with: &str, report: &mut Report) -> Result<bool> {
        let Self { layer, tiles, stack, run } = *self;
        let hash_of = |graph: Result<StoredGraph<'_, W>>| -> Result<u64> {
            let sums = graph?.scan(run, Direction::Out, Select::All, &ArcHashes)?;
            Ok(sums.into_iter().fold(0, u64::wrapping_add))
        };
        let weight = ArcWeights { property, num_arcs: layer.record().num_arcs };
        let found = hash_of(W::open(stack, weight, CompleteLists::Tiled(tiles, None), None, run));
        let expected = match layer.lists().out().main().tiles() {
            // Nothing else holds the edges; but each list has the length that was recorded, and its values
            // stand beside it.
            Some(_) => self.hash_of_lists::<W>(weight),
            None => hash_of(W::open(stack, weight, CompleteLists::Mapped, None, run)),
        };
        let mut is_equal = false;
        if let (Ok(found), Ok(expected)) = (&found, &expected) {
            is_equal = found == expected;
            let what =
                format!("the tiles of layer {} contain the edges of its lists{with}", layer.record().number);
            report.expect(is_equal, &what, || {
                tiles.data().corrupt(0, format!("the tiles do not contain the edges of the lists{with}"))
            });
        }
        report.note(found.map(drop))?;
        report.note(expected.map(drop))?;
        Ok(is_equal)
    }

    /// The sum of the hashes of all arcs, of lists that are read one by one.
    fn hash_of_lists<W: StoredWeight + Pod>(&self, weight: ArcWeights) -> Result<u64> {
        let Self { stack, run, .. } = *self;
        let graph = W::open(stack, weight, CompleteLists::Mapped, None, run)?;
        let add = |sum: &mut u64, vertices: Range<usize>| {
            for v in vertices.map(vertex) {
                graph.with_list(Direction::Out, v, |targets, weights| {
                    ArcHashes.visit(sum, v, Piece { targets, weights, exclusive: true });
                })?;
            }
            Ok::<(), Error>(())
        };
        let sums = run.share_ranges(stack.num_vertices(), UNIT_LISTS, || 0, add)?;
        Ok(sums.into_iter().fold(0, u64::wrapping_add))
    }
}

/// Sums hashes of arcs and their values.
struct ArcHashes;

impl<W: Weight + Pod> Visitor<W> for ArcHashes {
    type State = u64;

    fn new_state(&self) -> u64 {
        0
    }

    fn visit(&self, sum: &mut u64, v: VertexId, piece: Piece<'_, W>) -> Flow {
        for (&u, value) in piece.targets.iter().zip(piece.weights) {
            let mut bits = [0; 8];
            bits[..size_of::<W>()].copy_from_slice(bytemuck::bytes_of(value));
            let arc = hash(hash(u64::from(v)) ^ u64::from(u));
            *sum = sum.wrapping_add(hash(arc ^ u64::from_le_bytes(bits)));
        }
        Flow::More
    }
}
