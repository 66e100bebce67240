//! Checks of all files that the manifest names, whatever is in them.

use esker_format::{Archive, DatabaseId, Result, Values};
use esker_graph::{Direction, Run, Select, VertexId, Visitor};
use esker_graph::{Flow, Graph, Piece};
use esker_layers::graph::StoredGraph;
use esker_layers::stack::Stack;
use esker_layers::tiles::Tiles;

use super::hash::mix;
use super::report::Report;
use crate::snapshot::{Layer, State};
use std::sync::Arc;

/// Verifies the checksums of all columns of an archive that no other check has verified; returns whether all columns are intact. An
/// archive that is open has no other bytes that are not verified.
pub(super) fn check_archive(
    archive: &Archive,
    database: DatabaseId,
    run: &Run,
    report: &mut Report,
) -> Result<bool> {
    let mut intact = true;
    for path in archive.paths() {
        match Values::open_any(archive, &path, database) {
            Ok(values) if report.has_verified(&values) => {}
            Ok(values) => intact &= report.column(&values, values.verify(run))?,
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
        check_archive(layer.archive(), state.manifest().database, run, report)?;
    }
    Ok(())
}

/// Verifies the tiles of all layers that have any, and that they contain the edges of the lists of their layer.
pub(super) fn check_tiles(state: &State, run: &Run, report: &mut Report) -> Result<()> {
    for layer in state.layers() {
        match state.tiles_of(layer.record().number) {
            Ok(None) => {}
            Ok(Some(tiles)) => check_tiles_of(state, layer, tiles, run, report)?,
            Err(problem) => {
                report.note(Err(problem))?;
            }
        }
    }
    Ok(())
}

/// Verifies the stored heads of all layers that have any, and that they are the beginnings of the lists of their layer.
pub(super) fn check_heads(state: &State, run: &Run, report: &mut Report) -> Result<()> {
    for layer in state.layers() {
        let number = layer.record().number;
        match state.heads_of(number) {
            Ok(None) => {}
            Ok(Some(heads)) => {
                if check_archive(heads.archive(), state.manifest().database, run, report)? {
                    let what = format!("the heads of layer {number} are the beginnings of its lists");
                    report.holds(&what, heads.verify(state.disk().as_ref(), layer.lists(), run))?;
                }
            }
            Err(problem) => {
                report.note(Err(problem))?;
            }
        }
    }
    Ok(())
}

fn check_tiles_of(state: &State, layer: &Layer, tiles: &Tiles, run: &Run, report: &mut Report) -> Result<()> {
    let mut intact = check_archive(tiles.archive(), state.manifest().database, run, report)?;
    intact &= report.column(tiles.data(), tiles.data().all(run).map(drop))?;
    if !intact {
        return Ok(());
    }
    let record = layer.record();
    let stack = Stack::new(&[Arc::clone(layer.lists())], record.last_version, record.num_vertices)?;
    let hash_of = |graph: Result<StoredGraph<'_, ()>>| -> Result<u64> {
        let sums = graph?.scan(run, Direction::Out, Select::All, &ArcHashes)?;
        Ok(sums.into_iter().fold(0, u64::wrapping_add))
    };
    let found = hash_of(StoredGraph::tiled(&stack, tiles, None, (0, layer.record().num_arcs), run));
    let expected = hash_of(StoredGraph::mapped(&stack, record.num_arcs, 0, run));
    if let (Ok(found), Ok(expected)) = (&found, &expected) {
        let what = format!("the tiles of layer {} contain the edges of its lists", record.number);
        report.expect(found == expected, &what, || {
            tiles.data().corrupt(0, "the tiles do not contain the edges of the lists")
        });
    }
    report.note(found.map(drop))?;
    report.note(expected.map(drop)).map(drop)
}

/// Sums hashes of arcs.
struct ArcHashes;

impl Visitor<()> for ArcHashes {
    type State = u64;

    fn new_state(&self) -> u64 {
        0
    }

    fn visit(&self, sum: &mut u64, v: VertexId, piece: Piece<'_, ()>) -> Flow {
        let hash = |&u: &VertexId| mix(mix(u64::from(v)) ^ u64::from(u));
        *sum = piece.targets.iter().map(hash).fold(*sum, u64::wrapping_add);
        Flow::More
    }
}
