//! The arcs and the lists that a version leaves out of its complete layer.

use std::ops::Range;

use esker_format::{Error, Result};
use esker_graph::{Direction, Flow, Operation, Reservation, Run, VertexId, message, vertex};

use super::dead_tiles::dead_tiles;
use super::growing::append;
use super::hidden_lists::HiddenLists;
use super::needs::Bounds;
use crate::graph::arc_sets::dead_arcs::{DeadArcs, DeadUnit};
use crate::graph::arc_sets::unit::UNIT_LEN;
use crate::graph::mapped::points::PointReads;
use crate::graph::weight::ColumnWeight;
use crate::layer::Section;
use crate::stack::{ListTable, Stack};
use crate::tiles::TileEdges;

/// The purpose of the memory, for messages.
pub(super) const WHAT: &str = "arcs that changed since the complete layer";

/// The arcs and lists of one direction that a version leaves out of its complete layer.
#[derive(Debug)]
pub(super) struct Overlay<W> {
    /// Vertices whose lists are left out as a whole.
    hidden: HiddenLists,
    /// Arcs that are left out of the other lists, with all their copies.
    dead: DeadArcs,
    /// Copies of dead arcs that the version has nevertheless: vertex, target, weight, in the order of the
    /// layer.
    kept: Vec<(VertexId, VertexId, W)>,
    /// The dead arcs once more, if the complete layer is read from tiles.
    dead_tiles: Option<TileEdges<()>>,
    /// What leaves out dead arcs.
    by: LeftOutBy,
    _memory: Vec<Reservation>,
}

/// What leaves dead arcs out of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeftOutBy {
    /// A filter between the source and the visitor; tiles leave out their own.
    Filter,
    /// The tiles, by `dead_tiles`. Only that says what is left out; no lists are hidden.
    Tiles,
    /// The source of heads: they are left out of the heads when these are opened, and of tails as these are
    /// read.
    Heads,
}

/// The arcs and lists of a unit of vertices that a version leaves out.
#[derive(Debug, Default)]
pub(super) struct RangeChanges<W> {
    hidden: Vec<VertexId>,
    dead: DeadUnit,
    kept: Vec<(VertexId, VertexId, W)>,
}

/// Gathers the arcs and lists of a range of vertices that a version leaves out.
#[derive(Debug, Default)]
pub(super) struct RangeMaker<W> {
    hidden: Vec<VertexId>,
    /// The vertices with dead arcs, and where those of each end.
    lists: Vec<(VertexId, u32)>,
    dead: Vec<VertexId>,
    kept: Vec<(VertexId, VertexId, W)>,
}

/// Where the arcs and lists that a version leaves out come from.
pub(super) enum FoundChanges<'t, W> {
    /// They were found while later lists were gathered, for consecutive ranges of vertices.
    Ranges(Vec<RangeChanges<W>>),
    /// The version lies in the middle of the complete layer, the only one: arcs born later are left out.
    Births(u32),
    /// The tombstones along the chains that begin in a table.
    Chains(&'t ListTable),
}

/// Makes the parts of an overlay.
struct Maker<'a> {
    stack: &'a Stack,
    direction: Direction,
    section: &'a Section,
    points: PointReads<'a>,
    run: &'a Run,
}

impl<W: ColumnWeight> Overlay<W> {
    /// The memory for what a version leaves out.
    pub(super) fn reserve(bounds: &Bounds, with_tiles: bool, run: &Run) -> Result<Reservation> {
        Ok(run.budget().reserve(WHAT, bounds.left_out_bytes(with_tiles))?)
    }

    /// The overlay of edges that are known only in the order of tiles.
    pub(super) fn of_tiles(dead: TileEdges<()>, memory: Vec<Reservation>) -> Self {
        let (hidden, dead_arcs) = (HiddenLists::new(0), DeadArcs::default());
        Self {
            hidden,
            dead: dead_arcs,
            kept: Vec::new(),
            dead_tiles: Some(dead),
            by: LeftOutBy::Tiles,
            _memory: memory,
        }
    }

    /// The overlay of a version over its complete layer. Reads what was not found before: the tombstones; for
    /// a version in the middle of the layer, when arcs were born, and the lists with arcs that were born
    /// later.
    pub(super) fn new(
        stack: &Stack,
        direction: Direction,
        property: u32,
        found: FoundChanges<'_, W>,
        with_tiles: bool,
        memory: Reservation,
        run: &Run,
    ) -> Result<Self> {
        let section = stack.section(0, direction)?;
        let n = section.main().num_lists();
        let points = PointReads::new(section.main(), property, true);
        let maker = Maker { stack, direction, section, points, run };
        let is_found = matches!(found, FoundChanges::Ranges(_));
        let parts = match found {
            FoundChanges::Ranges(parts) => parts,
            FoundChanges::Births(rank) => maker.parts(|part, range| maker.unborn(rank, range, part))?,
            FoundChanges::Chains(table) => maker.parts(|part, range| maker.replaced(table, range, part))?,
        };
        let (mut hidden, mut units, mut kept) = (HiddenLists::new(n), Vec::new(), Vec::new());
        if is_found {
            (stack.num_vertices()..n).for_each(|v| hidden.insert(vertex(v)));
        }
        for part in parts {
            part.hidden.iter().for_each(|&v| hidden.insert(v));
            units.push(part.dead);
            kept.extend(part.kept);
        }
        let mut dead = DeadArcs::new(units);
        let num_dead = dead.num_arcs();
        let directed = stack.layers()[0].is_directed();
        if with_tiles && !directed && stack.layers().len() == 1 {
            dead = maker.with_both_ends(dead, &hidden, &mut kept)?;
        }
        // Each arc that was added takes a target, a place in a tile, and at most the start of a list.
        let added_bytes = (dead.num_arcs() - num_dead) * (2 * size_of::<VertexId>() + size_of::<usize>());
        let kept_bytes = kept.capacity() * size_of::<(VertexId, VertexId, W)>();
        let memory = vec![memory, run.budget().reserve(WHAT, (kept_bytes + added_bytes) as u64)?];
        let direction = directed.then_some(direction);
        let dead_tiles =
            with_tiles.then(|| dead_tiles(n.max(stack.num_vertices()), &dead, &hidden, direction, run));
        Ok(Self { hidden, dead, kept, dead_tiles, by: LeftOutBy::Filter, _memory: memory })
    }

    /// The dead arcs in the order of tiles, if the complete layer is read from tiles.
    pub(super) fn dead_tiles(&self) -> Option<&TileEdges<()>> {
        self.dead_tiles.as_ref()
    }

    /// What leaves out dead arcs.
    pub(super) fn by(&self) -> LeftOutBy {
        self.by
    }

    /// Hands over the dead arcs to lists that leave them out themselves.
    pub(super) fn hand_over_dead(&mut self) -> DeadArcs {
        self.by = LeftOutBy::Heads;
        std::mem::take(&mut self.dead)
    }

    /// Vertices whose lists in the complete layer are left out as a whole.
    pub(super) fn hidden(&self) -> &HiddenLists {
        &self.hidden
    }

    /// Whether some of the list of `v` is left out.
    #[inline(always)]
    pub(super) fn changes(&self, v: VertexId) -> bool {
        self.hidden.has(v) || self.dead.has(v)
    }

    /// The targets that are left out of the list of `v`, sorted.
    #[inline]
    pub(super) fn dead(&self, v: VertexId) -> &[VertexId] {
        self.dead.targets(v)
    }

    /// Arcs of the complete layer that the version has although [`Overlay::dead`] has their targets, by
    /// vertex.
    pub(super) fn kept(&self) -> impl Iterator<Item = &[(VertexId, VertexId, W)]> {
        self.kept.chunk_by(|a, b| a.0 == b.0)
    }
}

impl Maker<'_> {
    /// The parts of all vertices, in order.
    fn parts<W: ColumnWeight>(
        &self,
        find: impl Fn(&mut RangeMaker<W>, Range<usize>) -> Result<()> + Sync,
    ) -> Result<Vec<RangeChanges<W>>> {
        let (n, num_vertices) = (self.section.main().num_lists(), self.stack.num_vertices());
        let parts = self.run.share(n.div_ceil(UNIT_LEN), Vec::new, |parts, unit| {
            let first = unit * UNIT_LEN;
            let end = n.min(first + UNIT_LEN);
            let hidden = (first.max(num_vertices)..end).map(vertex).collect();
            let mut part = RangeMaker { hidden, ..RangeMaker::default() };
            find(&mut part, first..end.min(num_vertices))?;
            parts.push((first, part.finish()));
            Ok::<_, Error>(())
        })?;
        self.points.release();
        self.section.born().into_iter().for_each(|born| born.column().release());
        let mut parts: Vec<_> = parts.into_iter().flatten().collect();
        parts.sort_unstable_by_key(|part| part.0);
        Ok(parts.into_iter().map(|part| part.1).collect())
    }

    /// The dead arcs of a version in the middle of the complete layer, with those that only the list of their
    /// other end leaves out. A tile has an edge once, for both ends.
    ///
    /// Both ends have the same arcs in each version. But where an edge was deleted and added again with the
    /// same properties, one list may have the first copy among its past arcs, while the other has one copy
    /// that never died. A list that was written whole does not tell a merge which of its arcs were
    /// deleted and added again.
    fn with_both_ends<W: ColumnWeight>(
        &self,
        dead: DeadArcs,
        hidden: &HiddenLists,
        kept: &mut Vec<(VertexId, VertexId, W)>,
    ) -> Result<DeadArcs> {
        let n = self.section.main().num_lists();
        let arcs = |unit| {
            let lists = dead.iter_unit(unit);
            lists.flat_map(|(v, targets): (VertexId, &[VertexId])| {
                targets.iter().map(move |&target| (v, target))
            })
        };
        let is_one_sided = |&(v, target): &(VertexId, VertexId)| {
            (target as usize) < n && !hidden.has(target) && dead.targets(target).binary_search(&v).is_err()
        };
        let parts = self.run.share(dead.num_units(), Vec::new, |added, unit| {
            added.extend(arcs(unit).filter(is_one_sided).map(|(v, target)| (target, v)));
            Ok::<_, Error>(())
        })?;
        let mut added = parts.concat();
        if added.is_empty() {
            return Ok(dead);
        }
        added.sort_unstable();
        for arcs in added.chunk_by(|a, b| a.0 == b.0) {
            self.add_living(arcs, kept)?;
        }
        kept.sort_by_key(|arc| (arc.0, arc.1));
        let count = dead.num_arcs() + added.len();
        let _memory = self.run.budget().reserve(WHAT, (count * size_of::<(VertexId, VertexId)>()) as u64)?;
        let mut all = Vec::with_capacity(count);
        all.extend((0..dead.num_units()).flat_map(arcs).chain(added));
        all.sort_unstable();
        Ok(DeadArcs::from_sorted(n, &all))
    }

    /// Adds those of some arcs of one vertex whose copies are alive in the version to `kept`.
    fn add_living<W: ColumnWeight>(
        &self,
        arcs: &[(VertexId, VertexId)],
        kept: &mut Vec<(VertexId, VertexId, W)>,
    ) -> Result<()> {
        let v = arcs[0].0;
        let list = self.section.main().list(v as usize)?;
        let range = list.start..list.start + list.targets.len();
        let born = self.section.born().zip(self.stack.rank());
        let codes = born.map(|(born, rank)| Ok::<_, Error>((born.get(range)?, rank))).transpose()?;
        self.points.with_list(v, |targets, weights: &[W]| {
            for (at, &target) in targets.iter().enumerate() {
                let is_alive = codes.as_ref().is_none_or(|(codes, rank)| codes.at(at) <= *rank);
                if is_alive && arcs.binary_search(&(v, target)).is_ok() {
                    kept.push((v, target, weights[at]));
                }
            }
        })
    }

    /// The lists and arcs that later layers replaced or deleted.
    fn replaced<W>(&self, table: &ListTable, vertices: Range<usize>, part: &mut RangeMaker<W>) -> Result<()> {
        let layers = self.stack.layers().len();
        for v in table.skipped(0).iter_range(vertices.start, vertices.end).map(vertex) {
            let head = table.head(v).filter(|_| table.special().has(v as usize));
            let dead = match head {
                Some(head) => {
                    let place = self.stack.place(layers, head, self.direction, v)?;
                    self.stack.visit_above(1, place, self.direction, v, &mut |_| Ok(Flow::More))?
                }
                None => None,
            };
            match dead {
                Some(mut dead) => {
                    dead.dedup();
                    part.add(v, &dead)?;
                }
                None => part.add_hidden(v),
            }
        }
        Ok(())
    }

    /// The arcs born after the version, which lies in the middle of the complete layer.
    fn unborn<W: ColumnWeight>(
        &self,
        rank: u32,
        vertices: Range<usize>,
        part: &mut RangeMaker<W>,
    ) -> Result<()> {
        let extents = self.section.main().extents(self.run)?;
        let Some(born) = self.section.born() else { return Ok(()) };
        let mut dead = Vec::new();
        for v in vertices {
            let range = extents.range(v);
            let codes = born.get(range.clone())?;
            let count = codes.count_up_to(rank);
            if count == range.len() {
                continue;
            }
            let v = vertex(v);
            if count == 0 {
                part.hidden.push(v);
                continue;
            }
            dead.clear();
            self.points.with_list(v, |targets, weights: &[W]| {
                let mut start = 0;
                for copies in targets.chunk_by(|a, b| a == b) {
                    let alive = (start..start + copies.len()).filter(|&i| codes.at(i) <= rank);
                    let before = part.kept.len();
                    part.kept.extend(alive.map(|i| (v, targets[i], weights[i])));
                    // All copies are alive, or they are dead and those that are alive are kept apart.
                    if part.kept.len() - before == copies.len() {
                        part.kept.truncate(before);
                    } else {
                        dead.push(copies[0]);
                    }
                    start += copies.len();
                }
            })?;
            part.add(v, &dead)?;
        }
        Ok(())
    }
}

impl<W> RangeMaker<W> {
    /// Leaves out the whole list of `v`.
    pub(super) fn add_hidden(&mut self, v: VertexId) {
        self.hidden.push(v);
    }

    /// Leaves out the ascending targets `dead` of the list of `v`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are more than 2^32 of one range.
    pub(super) fn add(&mut self, v: VertexId, dead: &[VertexId]) -> Result<()> {
        if !dead.is_empty() {
            append(&mut self.dead, dead);
            let end = u32::try_from(self.dead.len());
            self.lists.push((v, end.map_err(|_| too_many(v))?));
        }
        Ok(())
    }

    pub(super) fn finish(self) -> RangeChanges<W> {
        RangeChanges { hidden: self.hidden, dead: DeadUnit::new(&self.lists, self.dead), kept: self.kept }
    }
}

/// The error about more changes than one range of vertices can have.
pub(super) fn too_many(v: VertexId) -> Error {
    let changed = format!("too many arcs of vertex {v} and its neighbours by number changed: run ");
    Error::invalid(message![changed, Operation::Compact])
}
