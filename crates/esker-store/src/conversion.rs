//! Makes the second forms of a complete layer, tiles and heads, of its lists.
//!
//! They are written before the manifest names them: by an import before the database exists, by a merge
//! before the layer does.

use std::fmt::{Display, Formatter};
use std::path::Path;
use std::sync::Arc;

use esker_format::io::{Disk, parent};
use esker_format::{
    Archive, Edit, ElementType, Encoding, HeadsRecord, KeptForms, LayerRecord, Owner, PropertyRecord, Result,
    Stamp, TilesRecord,
};
use esker_graph::{Direction, Run};
use esker_layers::FormFiles;
use esker_layers::graph::ArcWeights;
use esker_layers::graph::bounded::headed::{HeadedNeeds, Heads, write_heads};
use esker_layers::graph::{CompleteLists, HeadedOptions, StoredWeight};
use esker_layers::layer::PlainLayer;
use esker_layers::stack::Stack;
use esker_layers::tiles::{ConvertOptions, OldTiles, PropertyWalk, TileProperties, TileReport, write_tiles};

use crate::temporary_targets::TemporaryTargets;

/// What a merge made beside the lists of a complete layer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FormReport {
    /// Its tiles; `None`: none.
    pub tiles: Option<TileReport>,
    /// Bytes of targets that were written, made into tiles and removed.
    pub targets_bytes: u64,
    /// Its heads; `None`: none.
    pub heads: Option<Heads>,
    /// Why there are no heads although the database kept them.
    pub heads_left_out: Option<HeadsLeftOut>,
}

/// Why a merge made no heads of a database that kept them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadsLeftOut {
    /// The lists are kept as tiles alone now, and the database keeps no heads from now on.
    TilesOnly,
    /// They need at least `needed_bytes`, and only `free_bytes` were free. The next merge tries again.
    Memory {
        /// Memory for heads of no neighbours.
        needed_bytes: u64,
        /// What was left of the limit.
        free_bytes: u64,
    },
}

impl Display for HeadsLeftOut {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::TilesOnly => {
                f.write_str("the heads were removed: lists that are kept as tiles only have none")
            }
            Self::Memory { needed_bytes, free_bytes } => {
                let (needed, free) = (needed_bytes.div_ceil(1 << 20), free_bytes >> 20);
                write!(
                    f,
                    "no heads were made: they need {needed} MiB of memory, and {free} MiB were free; merge again with a higher limit"
                )
            }
        }
    }
}

impl FormReport {
    /// The edits that add the forms to a layer, with which they were written.
    pub fn edits(&self, record: &LayerRecord) -> Vec<Edit> {
        let LayerRecord { number: layer, stamp, .. } = *record;
        let tiles = self.tiles.as_ref().map(|tiles| tiles_record(tiles, layer, stamp));
        let heads = self.heads.map(|heads| HeadsRecord {
            layer,
            stamp,
            head_len: heads.length as u64,
            order: heads.order,
        });
        tiles.map(Edit::SetTiles).into_iter().chain(heads.map(Edit::SetHeads)).collect()
    }
}

/// The record of the tiles of a layer.
pub(crate) fn tiles_record(tiles: &TileReport, layer: u32, stamp: Stamp) -> TilesRecord {
    TilesRecord { layer, stamp, num_edges: tiles.num_edges, shared: tiles.shared.clone() }
}

/// The second forms that a new complete layer gets.
#[derive(Debug, Clone, Copy, Default)]
pub struct WantedForms {
    /// Those that merging keeps.
    pub kept: KeptForms,
    /// Heads to store instead of those of the kept length.
    pub heads: Option<HeadedOptions>,
}

/// Makes the forms of a layer whose lists are written. `write_tiles` makes its tiles. Lists that are to
/// be kept as tiles alone lie apart, and go.
pub(crate) fn write_forms(
    files: FormFiles<'_>,
    record: &LayerRecord,
    properties: &[PropertyRecord],
    wanted: WantedForms,
    run: &Run,
    write_tiles: impl FnOnce(&Arc<PlainLayer>, &ConvertOptions) -> Result<TileReport>,
) -> Result<FormReport> {
    let WantedForms { mut kept, heads } = wanted;
    let mut report = FormReport::default();
    let is_tiles_alone = record.encoding == Encoding::Tiles;
    if is_tiles_alone && kept.tile_group == 0 {
        kept.tile_group = ConvertOptions::default().group;
    }
    if kept == KeptForms::default() && heads.is_none() {
        return Ok(report);
    }
    let FormFiles { disk, directory, origin } = files;
    let archive = Archive::open(disk, directory)?;
    let apart = TemporaryTargets { files: &archive, disk, directory };
    let lists = match is_tiles_alone {
        true => {
            PlainLayer::open(&apart, directory, origin, &TemporaryTargets::record_of(record), properties)?
        }
        false => PlainLayer::open(&archive, directory, origin, record, properties)?,
    };
    let lists = Arc::new(lists);
    expect_layer_directory(disk.as_ref(), directory)?;
    if kept.tile_group > 0 {
        let memory_bytes = ConvertOptions::within(run.budget().free_bytes()).memory_bytes;
        let memory_bytes = memory_bytes.min(ConvertOptions::default().memory_bytes);
        let _memory = run.budget().try_reserve(memory_bytes);
        let options = ConvertOptions { group: kept.tile_group, memory_bytes };
        report.tiles = Some(write_tiles(&lists, &options)?);
    }
    let heads = match heads {
        Some(options) => {
            Some(Ok(HeadedNeeds::for_layer(&lists, None, run.threads())?.heads(&lists, options, run)?))
        }
        None if kept.head_len > 0 => Some(heads_again(&lists, kept.head_len, run)?),
        None => None,
    };
    match heads {
        Some(Ok(heads)) => {
            write_heads(&lists, &heads, run, files)?;
            report.heads = Some(heads);
        }
        Some(Err(left_out)) => report.heads_left_out = Some(left_out),
        None => {}
    }
    drop(lists);
    if is_tiles_alone {
        report.targets_bytes = apart.remove()?;
    }
    disk.sync_directory(directory)?;
    Ok(report)
}

/// Writes tiles into the directory, which exists. Groups that did not change are copied from old ones.
pub(crate) fn write_tiles_of(
    files: FormFiles<'_>,
    lists: &Arc<PlainLayer>,
    properties: &[PropertyRecord],
    options: &ConvertOptions,
    old: Option<&OldTiles<'_>>,
    run: &Run,
) -> Result<TileReport> {
    let (record, stack) = (lists.record(), stack_of(std::slice::from_ref(lists))?);
    let graph = <()>::open(
        &stack,
        ArcWeights { property: 0, num_arcs: record.num_arcs },
        CompleteLists::Mapped,
        None,
        run,
    )?;
    graph.prepare(run, Direction::Out)?;
    let weights = WeightProperties { stack: &stack, num_arcs: record.num_arcs, properties, run };
    write_tiles(&graph, &weights, run, options, old, files)
}

/// Creates the directory of a layer if all its columns lie in its archive.
pub(crate) fn expect_layer_directory(disk: &dyn Disk, directory: &Path) -> Result<()> {
    if disk.look(directory)?.is_none() {
        disk.create_directory(directory)?;
        disk.sync_directory(&parent(directory))?;
    }
    Ok(())
}

/// Heads of the same length as before, or as long as the memory of `run` allows. Without memory for any,
/// there are none: runs gather heads without stored ones.
pub(crate) fn heads_again(
    lists: &PlainLayer,
    head_len: u64,
    run: &Run,
) -> Result<std::result::Result<Heads, HeadsLeftOut>> {
    let mut needs = HeadedNeeds::for_layer(lists, None, run.threads())?;
    needs.stored_len = Some(head_len as usize);
    let memory_bytes = run.budget().free_bytes();
    if needs.fixed_bytes > memory_bytes {
        let left_out = HeadsLeftOut::Memory { needed_bytes: needs.fixed_bytes, free_bytes: memory_bytes };
        return Ok(Err(left_out));
    }
    needs.heads(lists, HeadedOptions { head_len: None, memory_bytes }, run).map(Ok)
}

/// The newest version of some layers.
pub(crate) fn stack_of(layers: &[Arc<PlainLayer>]) -> Result<Stack> {
    let newest = layers[layers.len() - 1].record();
    Stack::new(layers, newest.last_version, newest.num_vertices)
}

/// The properties that tiles keep: those that can be weights or times.
pub(crate) fn weights_of(properties: &[PropertyRecord]) -> impl Iterator<Item = &PropertyRecord> {
    use ElementType::{F32, F64, I32, I64};
    let is_kept = |property: &&PropertyRecord| {
        property.owner == Owner::Edges && matches!(property.element, I32 | I64 | F32 | F64)
    };
    properties.iter().filter(is_kept)
}

/// Writes the edge properties that can be weights or times.
struct WeightProperties<'a> {
    stack: &'a Stack,
    num_arcs: u64,
    properties: &'a [PropertyRecord],
    run: &'a Run,
}

impl WeightProperties<'_> {
    fn write_as<W: StoredWeight + esker_format::Element>(
        &self,
        number: u32,
        walk: &PropertyWalk<'_>,
    ) -> Result<()> {
        let graph = W::open(
            self.stack,
            ArcWeights { property: number, num_arcs: self.num_arcs },
            CompleteLists::Mapped,
            None,
            self.run,
        )?;
        graph.prepare(self.run, Direction::Out)?;
        walk.write(number, &graph)
    }
}

impl TileProperties for WeightProperties<'_> {
    fn write(&self, walk: &PropertyWalk<'_>) -> Result<()> {
        for property in weights_of(self.properties) {
            let number = property.number;
            match property.element {
                ElementType::I32 => self.write_as::<i32>(number, walk)?,
                ElementType::I64 => self.write_as::<i64>(number, walk)?,
                ElementType::F32 => self.write_as::<f32>(number, walk)?,
                ElementType::F64 => self.write_as::<f64>(number, walk)?,
                ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => {}
            }
        }
        Ok(())
    }
}
