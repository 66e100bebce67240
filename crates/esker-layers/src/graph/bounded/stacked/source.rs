//! Scans a complete layer together with the changes since.

use parking_lot::Mutex;
use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use esker_format::{BLOCK_BYTES, Error, Result};
use esker_graph::{AnyVisitor, Bitmap, Direction, Flow, ListAccess, Piece, Run, Select, Source, VertexId};

use super::changes::{ChangeMemory, Later, LayerChanges, VersionSide};
use super::filter::{Filtering, Reusing};
use super::following::AppendingVisitor;
use super::gather::release_later;
use super::needs::MAPPED_BYTES;
use super::overlay::LeftOutBy;
use crate::graph::bounded::headed::HeadedSource;
use crate::graph::mapped::points::{PointReads, few, share_few};
use crate::graph::side::GraphSide;
use crate::graph::versions::layered::with_joined;
use crate::graph::versions::sweep::sweep;
use crate::graph::weight::ColumnWeight;
use crate::stack::Stack;

/// Bytes that a point read brings to memory for a fragment: pages of three columns, and some around them.
const FRAGMENT_BYTES: u64 = 32 << 10;

/// One direction of a version that is more than its complete layer.
pub(crate) struct StackedSide<'a, W> {
    /// The complete layer.
    base: GraphSide<'a, W>,
    version: VersionSide<'a>,
    /// Counts what is read of the complete layer's lists beside its source.
    points: PointReads<'a>,
    /// Bytes of later layers that point reads brought to memory, about, since they were given up last.
    later_touched: AtomicU64,
    /// The memory for what changed, until that is known.
    memory: Mutex<Option<ChangeMemory>>,
    /// Known once the later layers are verified.
    changes: OnceLock<LayerChanges<'a, W>>,
}

impl<'a, W: ColumnWeight> StackedSide<'a, W> {
    /// The lists of a version of `num_arcs` arcs. `base` reads its oldest layer, with the weights of number
    /// `property`.
    pub(crate) fn new(
        base: GraphSide<'a, W>,
        stack: &'a Stack,
        direction: Direction,
        property: u32,
        num_arcs: u64,
        run: &Run,
    ) -> Result<Self> {
        let (version, memory) =
            VersionSide::new::<W>(stack, direction, property, num_arcs, base.is_scattered(), run)?;
        Self::with(base, version, Some(memory), OnceLock::new())
    }

    /// The lists of a version over those of its complete layer, whose heads lie in memory. Without weights,
    /// follows the chains of all lists that changed now, and leaves what was deleted out of the heads, so
    /// that no scan has to.
    pub(crate) fn over_heads(
        mut base: HeadedSource<'a, W>,
        stack: &'a Stack,
        direction: Direction,
        property: u32,
        num_arcs: u64,
        run: &Run,
    ) -> Result<GraphSide<'a, W>> {
        if stack.is_plain() {
            return Ok(GraphSide::source(base));
        }
        if HeadedSource::<'_, W>::HAS_WEIGHTS {
            return Ok(GraphSide::source(Self::new(
                GraphSide::source(base),
                stack,
                direction,
                property,
                num_arcs,
                run,
            )?));
        }
        let (version, memory) = VersionSide::new::<W>(stack, direction, property, num_arcs, false, run)?;
        let mut changes = version.changes::<W>(Some(memory), run)?;
        base.leave_out(changes.overlay.hand_over_dead(), run)?;
        Ok(GraphSide::source(Self::with(GraphSide::source(base), version, None, OnceLock::from(changes))?))
    }

    fn with(
        base: GraphSide<'a, W>,
        version: VersionSide<'a>,
        memory: Option<ChangeMemory>,
        changes: OnceLock<LayerChanges<'a, W>>,
    ) -> Result<Self> {
        let points =
            PointReads::new(version.stack.section(0, version.direction)?.main(), version.property, true);
        let later_touched = AtomicU64::new(0);
        Ok(Self { base, version, points, later_touched, memory: Mutex::new(memory), changes })
    }

    /// Follows the chains of all lists that changed, at the first call.
    fn changes(&self, run: &Run) -> Result<&LayerChanges<'a, W>> {
        if let Some(changes) = self.changes.get() {
            return Ok(changes);
        }
        let memory = self.memory.lock().take();
        let changes = self.version.changes(memory, run)?;
        Ok(self.changes.get_or_init(|| changes))
    }

    /// Calls `take` with the pieces of the list of `v`, newest first. `block` is the block of the complete
    /// layer's targets that was read last.
    fn visit(
        &self,
        v: VertexId,
        block: &mut usize,
        mut take: impl FnMut(Cow<'a, [VertexId]>, &'a [W]) -> Flow,
    ) -> Result<()> {
        let (mut bytes, mut fragments) = (0, 0);
        let arc_bytes = size_of::<VertexId>() + size_of::<W>();
        self.version.stack.visit(self.version.direction, v, |stretch| {
            if self.version.stack.is_left_out(stretch.layer) {
                return Ok(Flow::More);
            }
            let arcs = stretch.start..stretch.start + stretch.targets.len();
            let own = arcs.start * arc_bytes / BLOCK_BYTES;
            let weights = W::some(stretch.lists, self.version.property, arcs)?;
            bytes += stretch.targets.len() * arc_bytes;
            if stretch.layer > 0 {
                fragments += 1;
            } else if std::mem::replace(block, own) != own {
                bytes += PointReads::LIST_BYTES;
            }
            Ok(take(stretch.targets, weights))
        })?;
        self.points.touch(bytes as u64);
        let touched = fragments * FRAGMENT_BYTES;
        if self.later_touched.fetch_add(touched, Relaxed) + touched > MAPPED_BYTES {
            self.later_touched.store(0, Relaxed);
            release_later(self.version.stack, self.version.direction)?;
        }
        Ok(())
    }

    /// Hands over the lists of a few vertices along their chains.
    fn scan_few(&self, run: &Run, list: &[VertexId], visitor: &dyn AnyVisitor<W>) -> Result<()> {
        share_few(run, list, visitor, |sink, v, block| {
            self.visit(v, block, |targets, weights| {
                sink.visit_one(v, Piece { targets: &targets, weights, exclusive: true })
            })
        })
    }

    fn scan_later(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        let is_partial = self.version.stack.layers().len() == 1;
        if is_partial && self.version.stack.rank().is_none() {
            return Ok(());
        }
        let bits;
        let select = match select {
            // Past arcs are not found along chains that end above the complete layer.
            Select::List(list) if is_partial => {
                bits = bits_of(self.version.stack.num_vertices(), list.iter().copied());
                Select::Bits(&bits)
            }
            select => select,
        };
        let changes = self.changes(run)?;
        match &changes.later {
            Later::Rows(rows) => rows.scan(run, select, None, visitor)?,
            Later::Tiles(edges) => edges.scan(run, self.version.direction, select, visitor)?,
            Later::Swept(layers) => sweep(layers, run, select, visitor)?,
        }
        let mut sink = None;
        for arcs in changes.overlay.kept() {
            let v = arcs[0].0;
            let selected = match select {
                Select::Bits(bits) => bits.get(v),
                Select::List(list) => list.contains(&v),
                Select::All => true,
            };
            if selected && visitor.wants(v) {
                let (targets, weights): (Vec<_>, Vec<_>) =
                    arcs.iter().map(|&(_, target, weight)| (target, weight)).unzip();
                let piece = Piece { targets: &targets, weights: &weights, exclusive: true };
                sink.get_or_insert_with(|| visitor.sink()).visit_one(v, piece);
            }
        }
        Ok(())
    }

    fn scan_base(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        let (n, base_n) = (
            self.version.stack.num_vertices(),
            self.version.stack.section(0, self.version.direction)?.main().num_lists(),
        );
        let overlay = &self.changes(run)?.overlay;
        let visitor = Filtering { visitor, overlay, num_vertices: n };
        match select {
            Select::Bits(bits) if n != base_n => {
                let same = Bitmap::new(base_n);
                bits.iter_range(0..n.min(base_n)).for_each(|v| same.insert_alone(v));
                self.base.scan_any(run, Select::Bits(&same), &visitor)
            }
            // Few lists are not read one by one from tiles: which edges are left out is known only by tile.
            Select::List(list) if overlay.by() == LeftOutBy::Tiles => {
                let list = list.iter().copied().filter(|&v| (v as usize) < base_n);
                self.base.scan_any(run, Select::Bits(&bits_of(base_n, list)), &visitor)
            }
            Select::List(list) => {
                let is_there = |v: &VertexId| (*v as usize) < base_n && !overlay.hidden().has(*v);
                let list: Vec<_> = list.iter().copied().filter(is_there).collect();
                self.base.scan_any(run, Select::List(&list), &visitor)
            }
            select => self.base.scan_any(run, select, &visitor),
        }
    }
}

fn bits_of(num_vertices: usize, list: impl Iterator<Item = VertexId>) -> Bitmap {
    let bits = Bitmap::new(num_vertices);
    list.for_each(|v| bits.insert_alone(v));
    bits
}

impl<W: ColumnWeight> Source<W, Error> for StackedSide<'_, W> {
    fn degree(&self, v: VertexId) -> usize {
        self.version.degree(v)
    }

    fn is_scattered(&self) -> bool {
        self.base.is_scattered()
    }

    fn list_access(&self) -> ListAccess {
        self.base.list_access()
    }

    fn prepare(&self, run: &Run) -> Result<()> {
        self.changes(run)?;
        self.base.prepare(run)
    }

    fn read_bytes(&self) -> u64 {
        self.base.read_bytes()
    }

    fn point_reads(&self) -> (u64, u64) {
        self.base.point_reads()
    }

    fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        if self.points.are_cheap()
            && let Some(list) = few(select, self.version.num_arcs, |v| self.degree(v))
        {
            return self.scan_few(run, list, visitor);
        }
        let visitor = Reusing::new(visitor);
        let LayerChanges { overlay, later } = self.changes(run)?;
        // To mark what was handed over takes a bit a vertex, which a list of some vertices is not worth.
        let follows = visitor.stops() && !matches!(select, Select::List(_));
        if let (LeftOutBy::Heads, true, Later::Rows(rows)) = (overlay.by(), follows, later) {
            let done = Bitmap::new(self.version.stack.num_vertices());
            self.scan_base(run, select, &AppendingVisitor { visitor: &visitor, rows, done: &done })?;
            return rows.scan(run, select, Some(&done), &visitor);
        }
        self.scan_later(run, select, &visitor)?;
        self.scan_base(run, select, &visitor)
    }

    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<()> {
        let (mut stretches, mut block) = (Vec::new(), usize::MAX);
        self.visit(v, &mut block, |targets, weights| {
            stretches.push((targets, weights));
            Flow::More
        })?;
        with_joined(stretches, take);
        Ok(())
    }
}
