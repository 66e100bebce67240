//! The second forms of the complete layer's lists: tiles and heads, which merging keeps.
//!
//! A merge that makes a new complete layer writes its tiles and heads before the manifest names it, and one record installs them all. So no
//! reader finds the layer without them. Groups of tiles in which no edge changed are copied from the tiles of the old layer.

use std::cmp::Ordering;
use std::fmt::{Display, Formatter};
use std::path::Path;
use std::sync::Arc;

use esker_format::{
    Archive, Edit, ElementType, Encoding, Error, HeadOrder, HeadsRecord, KeptForms, LayerRecord, Owner,
    PropertyRecord, Result, TilesRecord,
};
use esker_graph::{Direction, Run, VertexId};
use esker_layers::graph::headed::{HeadedNeeds, Heads, write_heads};
use esker_layers::graph::{CompleteLists, HeadedOptions, StoredWeight};
use esker_layers::layer::{ListColumns, PlainLayer};
use esker_layers::own::OwnDirectory;
use esker_layers::stack::Stack;
use esker_layers::tiles::{
    ChangedGroups, ConvertOptions, OldTiles, PropertyWalk, TileFiles, TileProperties, TileReport, Tiles,
    write_tiles,
};

use super::apart::TargetsApart;
use super::handle::Core;
use crate::diff::TouchedVertices;
use crate::snapshot::{State, VertexEdges};

/// Changed lists between two checks for cancellation.
const CHECK_LISTS: usize = 1 << 10;

/// What a merge made beside the lists of a complete layer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FormReport {
    /// Its tiles; `None`: none.
    pub tiles: Option<TileReport>,
    /// Bytes of targets that were written, made into tiles and removed.
    pub targets_bytes: u64,
    /// Neighbours of each vertex in its stored head, at most; `None`: no heads.
    pub head_len: Option<usize>,
    /// Which neighbours these are.
    pub head_order: Option<HeadOrder>,
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
    /// Reports heads that were stored.
    pub(super) fn set_heads(&mut self, heads: &Heads) {
        (self.head_len, self.head_order) = (Some(heads.length), Some(heads.order));
    }

    /// The edits that add the forms to a layer.
    pub(super) fn edits(&self, layer: u32) -> Vec<Edit> {
        let tiles = self.tiles.map(|tiles| TilesRecord { layer, num_edges: tiles.num_edges });
        let heads = self.head_len.zip(self.head_order);
        let heads = heads.map(|(length, order)| HeadsRecord { layer, head_len: length as u64, order });
        tiles.map(Edit::SetTiles).into_iter().chain(heads.map(Edit::SetHeads)).collect()
    }
}

/// Old lists, and what a merge made of them.
pub(super) struct Replaced<'a> {
    pub(super) state: &'a State,
    /// The number of layers that were merged: the oldest ones.
    pub(super) num_layers: usize,
    /// Whether nothing but edges and their properties changed, as the merged layers say.
    pub(super) is_recorded: bool,
}

/// The second forms that merging gives the complete layer of a state.
pub(super) fn kept_forms(state: &State) -> KeptForms {
    if let Some(kept) = state.manifest().kept {
        return kept;
    }
    // A database that an older Esker wrote keeps what it has.
    let Some(number) = state.layers().first().map(|layer| layer.record().number) else {
        return KeptForms::default();
    };
    let group = |tiles: Result<Option<&Tiles>>| match tiles {
        Ok(tiles) => tiles.map_or(0, Tiles::group),
        Err(_) => ConvertOptions::default().group,
    };
    let heads = state.manifest().heads.iter().find(|record| record.layer == number);
    let head_len = heads.map_or(0, |record| record.head_len);
    KeptForms { tile_group: group(state.tiles_of(number)), head_len }
}

impl Core {
    /// Writes the second forms of a new complete layer into its directory.
    pub(super) fn write_forms(
        &self,
        layer: (&LayerRecord, &[PropertyRecord], &Path),
        kept: KeptForms,
        replaced: &Replaced<'_>,
        run: &Run,
    ) -> Result<FormReport> {
        let (record, properties, directory) = layer;
        let mut report = FormReport::default();
        let mut kept = kept;
        if record.encoding == Encoding::Tiles && kept.tile_group == 0 {
            kept.tile_group = ConvertOptions::default().group;
        }
        if kept == KeptForms::default() {
            return Ok(report);
        }
        let database = replaced.state.manifest().database;
        let archive = Archive::open(&self.disk, directory)?;
        let is_tiles_alone = record.encoding == Encoding::Tiles;
        let apart = TargetsApart { files: &archive, disk: &self.disk, directory };
        let lists = match is_tiles_alone {
            true => {
                let plain = LayerRecord { encoding: Encoding::Plain, ..record.clone() };
                PlainLayer::open(&apart, directory, database, &plain, properties)?
            }
            false => PlainLayer::open(&archive, directory, database, record, properties)?,
        };
        let lists = Arc::new(lists);
        self.expect_directory(directory)?;
        if kept.tile_group > 0 {
            let memory_bytes = ConvertOptions::within(run.budget().free_bytes()).memory_bytes;
            let memory_bytes = memory_bytes.min(ConvertOptions::default().memory_bytes);
            let _memory = run.budget().try_reserve(memory_bytes);
            let options = ConvertOptions { group: kept.tile_group, memory_bytes };
            report.tiles = Some(self.write_tiles_again(&lists, properties, &options, replaced, run)?);
        }
        if kept.head_len > 0 {
            match self.write_heads_again(&lists, kept.head_len, replaced.state, run)? {
                Ok(heads) => report.set_heads(&heads),
                Err(left_out) => report.heads_left_out = Some(left_out),
            }
        }
        drop(lists);
        if is_tiles_alone {
            report.targets_bytes = apart.remove()?;
        }
        self.disk.sync_directory(directory)?;
        Ok(report)
    }

    /// Writes tiles, of which unchanged groups are copied where that is possible.
    fn write_tiles_again(
        &self,
        lists: &Arc<PlainLayer>,
        properties: &[PropertyRecord],
        options: &ConvertOptions,
        replaced: &Replaced<'_>,
        run: &Run,
    ) -> Result<TileReport> {
        let copied = old_tiles(lists, properties, options, replaced, run).and_then(|old| {
            let Some(old) = old else { return Ok(None) };
            self.write_tiles_of(lists, properties, options, Some(&old), run).map(Some)
        });
        match copied {
            Ok(Some(report)) => Ok(report),
            // Old tiles may be damaged; the lists are what counts.
            Ok(None) | Err(Error::Corrupt { .. }) => {
                self.remove_tile_files(lists.directory())?;
                self.write_tiles_of(lists, properties, options, None, run)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the tiles of a complete layer into its directory, which exists.
    pub(super) fn write_tiles_of(
        &self,
        lists: &Arc<PlainLayer>,
        properties: &[PropertyRecord],
        options: &ConvertOptions,
        old: Option<&OldTiles<'_>>,
        run: &Run,
    ) -> Result<TileReport> {
        let (record, stack) = (lists.record(), stack_of(std::slice::from_ref(lists))?);
        let graph = <()>::open(&stack, (0, record.num_arcs), CompleteLists::Mapped, None, run)?;
        graph.prepare(run, Direction::Out)?;
        let weights = WeightProperties { stack: &stack, num_arcs: record.num_arcs, properties, run };
        let place = (&self.disk, lists.directory(), self.state().manifest().database);
        write_tiles(&graph, &weights, run, options, old, place)
    }

    /// Stores heads again, as [`heads_again`] chooses them.
    fn write_heads_again(
        &self,
        lists: &PlainLayer,
        head_len: u64,
        state: &State,
        run: &Run,
    ) -> Result<std::result::Result<Heads, HeadsLeftOut>> {
        let heads = match heads_again(lists, head_len, run)? {
            Ok(heads) => heads,
            Err(left_out) => return Ok(Err(left_out)),
        };
        write_heads(lists, &heads, run, (&self.disk, lists.directory(), state.manifest().database))?;
        Ok(Ok(heads))
    }

    pub(super) fn remove_tile_files(&self, directory: &Path) -> Result<()> {
        let files = TileFiles::of(directory);
        OwnDirectory::Tiles.remove(self.disk.as_ref(), &files.directory)?;
        if self.disk.look(directory)?.is_none() {
            return Ok(());
        }
        for entry in self.disk.list(directory)? {
            if TileFiles::is_data(&entry.name) && !entry.is_directory {
                self.disk.remove_file(&directory.join(&entry.name))?;
            }
        }
        Ok(())
    }

    /// Creates the directory of a layer if all its columns lie in its archive.
    pub(super) fn expect_directory(&self, directory: &Path) -> Result<()> {
        if self.disk.look(directory)?.is_none() {
            self.disk.create_directory(directory)?;
            self.disk.sync_directory(&self.path.join("layers"))?;
        }
        Ok(())
    }
}

/// Heads of the same length as before, or as long as the memory of `run` allows. Without memory for any, there are none: runs gather heads
/// without stored ones.
pub(super) fn heads_again(
    lists: &PlainLayer,
    head_len: u64,
    run: &Run,
) -> Result<std::result::Result<Heads, HeadsLeftOut>> {
    let mut needs = HeadedNeeds::of(lists, None, run.threads())?;
    needs.stored_len = Some(head_len as usize);
    let memory_bytes = run.budget().free_bytes();
    if needs.fixed_bytes > memory_bytes {
        let left_out = HeadsLeftOut::Memory { needed_bytes: needs.fixed_bytes, free_bytes: memory_bytes };
        return Ok(Err(left_out));
    }
    needs.heads(lists, HeadedOptions { head_len: None, memory_bytes }, run).map(Ok)
}

/// The tiles of the replaced layer with the groups that changed; `None` if nothing can be copied from them.
fn old_tiles<'a>(
    lists: &Arc<PlainLayer>,
    properties: &[PropertyRecord],
    options: &ConvertOptions,
    replaced: &Replaced<'a>,
    run: &Run,
) -> Result<Option<OldTiles<'a>>> {
    let state = replaced.state;
    let layers: Vec<_> =
        state.layers()[..replaced.num_layers].iter().map(|layer| Arc::clone(layer.lists())).collect();
    let Some(base) = layers.first().filter(|_| replaced.is_recorded) else { return Ok(None) };
    let Some(tiles) = state.tiles_of(base.record().number)?.filter(|tiles| tiles.group() == options.group)
    else {
        return Ok(None);
    };
    if !weights_of(properties).all(|property| tiles.has_property(property.number, property.element)) {
        return Ok(None);
    }
    let weights: Vec<u32> = weights_of(properties).map(|property| property.number).collect();
    let changed = changed_groups(tiles, &layers, lists, &weights, run)?;
    if changed.are_all() { Ok(None) } else { OldTiles::new(tiles, changed, run).map(Some) }
}

/// The groups of tiles that a merge of layers into a new one changed.
fn changed_groups(
    tiles: &Tiles,
    layers: &[Arc<PlainLayer>],
    new: &Arc<PlainLayer>,
    weights: &[u32],
    run: &Run,
) -> Result<ChangedGroups> {
    let (all, old, new) = (stack_of(layers)?, stack_of(&layers[..1])?, stack_of(std::slice::from_ref(new))?);
    let mut changed = ChangedGroups::none_of(tiles, new.num_vertices());
    let mut touched = TouchedVertices::new(&all, layers[0].record().last_version, None, run)?;
    let mut count = 0;
    while let Some(v) = touched.next()? {
        if count % CHECK_LISTS == 0 {
            run.check()?;
            if changed.are_all() {
                break;
            }
        }
        count += 1;
        note_changes(v, [&old, &new], weights, &mut changed)?;
    }
    Ok(changed)
}

/// The newest version of some layers.
fn stack_of(layers: &[Arc<PlainLayer>]) -> Result<Stack> {
    let newest = layers[layers.len() - 1].record();
    Stack::new(layers, newest.last_version, newest.num_vertices)
}

/// The list of a vertex; `None` if the stack does not have it.
fn read(v: VertexId, stack: &Stack) -> Result<Option<VertexEdges<'_>>> {
    let has = (v as usize) < stack.num_vertices();
    has.then(|| VertexEdges::read(stack, Direction::Out, v)).transpose()
}

/// Notes the edges in which the old list of a vertex and the new one differ.
fn note_changes(
    v: VertexId,
    stacks: [&Stack; 2],
    weights: &[u32],
    changed: &mut ChangedGroups,
) -> Result<()> {
    let lists = [read(v, stacks[0])?, read(v, stacks[1])?];
    let [old, new] = [0, 1].map(|which| lists[which].as_ref().map_or(&[][..], VertexEdges::targets));
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        let order = match (old.get(i), new.get(j)) {
            (Some(before), Some(after)) => before.cmp(after),
            (Some(_), None) => Ordering::Less,
            _ => Ordering::Greater,
        };
        let is_same = order.is_eq() && is_same(&lists, [i, j], weights)?;
        if !is_same {
            changed.note(v, if order.is_gt() { new[j] } else { old[i] });
        }
        (i, j) = (i + usize::from(order.is_le()), j + usize::from(order.is_ge()));
    }
    Ok(())
}

/// Whether an edge has the same weights in both lists. A property that was defined later is 0 in the old one.
fn is_same(lists: &[Option<VertexEdges<'_>>; 2], at: [usize; 2], weights: &[u32]) -> Result<bool> {
    let [Some(old), Some(new)] = lists else { return Ok(false) };
    let bits = |(lists, at): (&ListColumns, usize), property: u32| {
        lists.property(property as usize).map_or(Ok(0), |values| values.bits_at(at))
    };
    for &property in weights {
        if bits(old.place(at[0]), property)? != bits(new.place(at[1]), property)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The properties that tiles keep: those that can be weights or times.
pub(super) fn weights_of(properties: &[PropertyRecord]) -> impl Iterator<Item = &PropertyRecord> {
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
        let graph = W::open(self.stack, (number, self.num_arcs), CompleteLists::Mapped, None, self.run)?;
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
