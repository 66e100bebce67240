//! The second forms of the complete layer's lists: tiles and heads, which merging keeps.
//!
//! A merge that makes a new complete layer writes its tiles and heads before the manifest names it, and one
//! record installs them all. So no reader finds the layer without them. Groups of tiles in which no edge
//! changed are copied from the tiles of the old layer.

use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;

use esker_format::{Error, KeptForms, LayerRecord, Origin, PropertyRecord, Result, Stamp};
use esker_graph::{Direction, Run, VertexId};
use esker_layers::FormFiles;
use esker_layers::known_files::DirectoryKind;
use esker_layers::layer::{ListColumns, PlainLayer};
use esker_layers::stack::Stack;
use esker_layers::tiles::{ChangedGroups, ConvertOptions, OldTiles, TileFiles, TileReport, Tiles};

use crate::conversion::{FormReport, WantedForms, stack_of, weights_of, write_forms, write_tiles_of};
use crate::database::handle::Core;
use crate::diff::TouchedVertices;
use crate::version::{State, VertexEdges};

/// Changed lists between two checks for cancellation.
const CHECK_LISTS: usize = 1 << 10;

/// Old lists, and what a merge made of them.
pub(crate) struct Replaced<'a> {
    pub(crate) state: &'a State,
    /// The number of layers that were merged: the oldest ones.
    pub(crate) num_layers: usize,
    /// Whether nothing but edges and their properties changed, as the merged layers say.
    pub(crate) is_recorded: bool,
}

/// The second forms that merging gives the complete layer of a state.
pub(crate) fn kept_forms(state: &State) -> KeptForms {
    if let Some(kept) = state.manifest().kept {
        return kept;
    }
    // Nobody has chosen yet: it keeps what it has.
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
    /// Writes tiles, of which unchanged groups are copied where that is possible.
    fn write_tiles_again(
        &self,
        lists: &Arc<PlainLayer>,
        properties: &[PropertyRecord],
        options: &ConvertOptions,
        replaced: &Replaced<'_>,
        run: &Run,
    ) -> Result<TileReport> {
        let files = self.form_files(lists.directory(), lists.record().stamp);
        let copied = old_tiles(lists, properties, options, replaced, run).and_then(|old| {
            let Some(old) = old else { return Ok(None) };
            write_tiles_of(files, lists, properties, options, Some(&old), run).map(Some)
        });
        match copied {
            Ok(Some(report)) => Ok(report),
            // Old tiles may be damaged; the lists are what counts.
            Ok(None) | Err(Error::Corrupt { .. }) => {
                self.remove_tile_files(lists.directory())?;
                write_tiles_of(files, lists, properties, options, None, run)
            }
            Err(error) => Err(error),
        }
    }

    /// The forms of the layer in a directory, which are written as a set of this number.
    pub(crate) fn form_files<'a>(&'a self, directory: &'a Path, stamp: Stamp) -> FormFiles<'a> {
        let origin = Origin { database: self.state().manifest().database, stamp };
        FormFiles { disk: &self.disk, directory, origin }
    }

    /// Writes the second forms of a new complete layer into its directory.
    pub(crate) fn write_forms(
        &self,
        record: &LayerRecord,
        properties: &[PropertyRecord],
        directory: &Path,
        wanted: WantedForms,
        replaced: &Replaced<'_>,
        run: &Run,
    ) -> Result<FormReport> {
        let files = self.form_files(directory, record.stamp);
        write_forms(files, record, properties, wanted, run, |lists, options| {
            self.write_tiles_again(lists, properties, options, replaced, run)
        })
    }

    pub(crate) fn remove_tile_files(&self, directory: &Path) -> Result<()> {
        let files = TileFiles::in_layer(directory);
        DirectoryKind::Tiles.remove(self.disk.as_ref(), &files.directory)?;
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
    let tiles = match state.tiles_of(base.record().number) {
        // Their file may be gone; the lists are what counts.
        Err(Error::Io { .. }) => return Ok(None),
        tiles => tiles?.filter(|tiles| tiles.group() == options.group),
    };
    let Some(tiles) = tiles else { return Ok(None) };
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
