//! Scans over a complete layer and what changed since.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use esker_format::{Error, Result};
use esker_graph::{
    AnyVisitor, Bitmap, Direction, Flow, ListAccess, Piece, Reservation, Run, Select, Source, VertexId,
};

use super::filter::{Filtering, Reusing};
use super::gather::{ChangeGatherer, release_later};
use super::later::LaterRows;
use super::needs::{Bounds, MAPPED_BYTES};
use super::overlay::Overlay;
use crate::graph::layered::{Layered, with_joined};
use crate::graph::points::{PointReads, few};
use crate::graph::side::Side;
use crate::graph::sweep::sweep;
use crate::graph::weight::ColumnWeight;
use crate::stack::{Stack, Table};
use crate::tiles::TileEdges;

/// Bytes that a point read brings to memory for a fragment: pages of three columns, and some around them.
const FRAGMENT_BYTES: u64 = 32 << 10;

/// One direction of a version that is more than its complete layer.
pub(crate) struct StackedSide<'a, W> {
    /// The complete layer.
    base: Side<'a, W>,
    stack: &'a Stack,
    direction: Direction,
    table: Arc<Table>,
    property: u32,
    /// Arcs of the version.
    num_arcs: u64,
    /// Counts what is read of the complete layer's lists beside its source.
    points: PointReads<'a>,
    /// Bytes of later layers that point reads brought to memory, about, since they were given up last.
    later_touched: AtomicU64,
    /// The memory for what is left out of the complete layer, until that is known.
    memory: Mutex<Option<Reservation>>,
    /// Known once the later layers are verified.
    changes: OnceLock<Changes<'a, W>>,
}

/// What changed since the complete layer.
struct Changes<'a, W> {
    /// What is left out of its lists.
    overlay: Overlay<W>,
    /// The later layers, or the past of the complete one.
    later: Later<'a, W>,
}

/// What is read beside the complete layer's lists.
enum Later<'a, W> {
    /// Gathered in memory.
    Rows(LaterRows<W>),
    /// The same, in the order of tiles.
    Tiles(TileEdges<W>),
    /// Mapped, and swept in each scan.
    Swept(Box<Layered<'a, W>>),
}

impl<'a, W: ColumnWeight> StackedSide<'a, W> {
    /// Of a version of `num_arcs` arcs. `base` reads its oldest layer, with the weights of number `property`.
    pub(crate) fn new(
        base: Side<'a, W>,
        stack: &'a Stack,
        direction: Direction,
        (property, num_arcs): (u32, u64),
        run: &Run,
    ) -> Result<Self> {
        let table = stack.table(direction, run)?;
        let bounds = Bounds::of(stack, direction, num_arcs)?;
        let memory = Mutex::new(Some(Overlay::<W>::reserve(&bounds, base.is_scattered(), run)?));
        let points = PointReads::new(stack.section(0, direction)?.main(), property, true);
        let changes = OnceLock::new();
        let later_touched = AtomicU64::new(0);
        Ok(Self { base, stack, direction, table, property, num_arcs, points, later_touched, memory, changes })
    }

    /// Follows the chains of all lists that changed, at the first call.
    fn changes(&self, run: &Run) -> Result<&Changes<'a, W>> {
        if let Some(changes) = self.changes.get() {
            return Ok(changes);
        }
        let (stack, direction, table) = (self.stack, self.direction, Arc::clone(&self.table));
        let layers = Layered::above(1, stack, direction, table, self.property, run)?;
        let (bounds, with_tiles) = (Bounds::of(stack, direction, self.num_arcs)?, self.base.is_scattered());
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner).take();
        let reserve = || Overlay::<W>::reserve(&bounds, with_tiles, run);
        let memory = memory.map_or_else(reserve, Ok)?;
        // The past of the complete layer is not on chains.
        let added = if stack.layers().len() > 1 {
            let bytes = bounds.added_bytes(with_tiles, size_of::<W>() as u64);
            run.budget().try_reserve(bytes)
        } else {
            None
        };
        let memory = if added.is_none() && bounds.compares {
            // Swept, lists say what is left out of them; that takes more.
            drop(memory);
            Overlay::<W>::reserve(&bounds.swept(), with_tiles, run)?
        } else {
            memory
        };
        let (later, found) = match added {
            Some(added) if with_tiles && bounds.compares => {
                let (edges, dead) = ChangeGatherer::new(&layers, self.property, run)?.tiles(run)?;
                let overlay = Overlay::of_tiles(dead, vec![memory, added]);
                return Ok(self.changes.get_or_init(|| Changes { overlay, later: Later::Tiles(edges) }));
            }
            Some(added) => {
                let (rows, found) = ChangeGatherer::new(&layers, self.property, run)?.rows(added, run)?;
                (Later::Rows(rows), Some(found))
            }
            None => (Later::Swept(Box::new(layers)), None),
        };
        let of = (stack, &*self.table, direction);
        let overlay = Overlay::new(of, self.property, found, with_tiles, memory, run)?;
        Ok(self.changes.get_or_init(|| Changes { overlay, later }))
    }

    /// Calls `take` with the pieces of the list of `v`, newest first.
    fn visit(&self, v: VertexId, mut take: impl FnMut(Cow<'a, [VertexId]>, &'a [W]) -> Flow) -> Result<()> {
        let (mut bytes, mut fragments) = (0, 0);
        self.stack.visit(self.direction, v, |stretch| {
            if self.stack.is_left_out(stretch.layer) {
                return Ok(Flow::More);
            }
            let arcs = stretch.start..stretch.start + stretch.targets.len();
            let weights = W::some(stretch.lists, self.property, arcs)?;
            bytes += stretch.targets.len() * (size_of::<VertexId>() + size_of::<W>());
            fragments += 1;
            Ok(take(stretch.targets, weights))
        })?;
        self.points.touch((PointReads::LIST_BYTES + bytes) as u64);
        let touched = fragments * FRAGMENT_BYTES;
        if self.later_touched.fetch_add(touched, Relaxed) + touched > MAPPED_BYTES {
            self.later_touched.store(0, Relaxed);
            release_later(self.stack, self.direction)?;
        }
        Ok(())
    }

    /// Hands over the lists of a few vertices along their chains.
    fn scan_few(&self, run: &Run, list: &[VertexId], visitor: &dyn AnyVisitor<W>) -> Result<()> {
        run.check()?;
        let mut sink = visitor.sink();
        for &v in list.iter().filter(|&&v| visitor.wants(v)) {
            self.visit(v, |targets, weights| {
                sink.visit_one(v, Piece { targets: &targets, weights, exclusive: true })
            })?;
        }
        Ok(())
    }

    fn scan_later(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        let is_partial = self.stack.layers().len() == 1;
        if is_partial && self.stack.rank().is_none() {
            return Ok(());
        }
        let bits;
        let select = match select {
            // Past arcs are not found along chains that end above the complete layer.
            Select::List(list) if is_partial => {
                bits = bits_of(self.stack.num_vertices(), list.iter().copied());
                Select::Bits(&bits)
            }
            select => select,
        };
        let changes = self.changes(run)?;
        match &changes.later {
            Later::Rows(rows) => rows.scan(run, select, visitor)?,
            Later::Tiles(edges) => edges.scan(run, self.direction, select, visitor)?,
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
        let (n, base_n) =
            (self.stack.num_vertices(), self.stack.section(0, self.direction)?.main().num_lists());
        let overlay = &self.changes(run)?.overlay;
        let visitor = Filtering { visitor, overlay, num_vertices: n };
        match select {
            Select::Bits(bits) if n != base_n => {
                let same = Bitmap::new(base_n);
                bits.iter_range(0..n.min(base_n)).for_each(|v| same.insert_alone(v));
                self.base.scan_any(run, Select::Bits(&same), &visitor)
            }
            // From tiles, few lists are not read one by one: what is left out of them is known by tile alone.
            Select::List(list) if overlay.is_by_tiles() => {
                let list = list.iter().copied().filter(|&v| (v as usize) < base_n);
                self.base.scan_any(run, Select::Bits(&bits_of(base_n, list)), &visitor)
            }
            Select::List(list) => {
                let is_there = |v: &VertexId| (*v as usize) < base_n && !overlay.gone().has(*v);
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
        self.table.degree(v)
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
            && let Some(list) = few(select, self.num_arcs, |v| self.degree(v))
        {
            return self.scan_few(run, list, visitor);
        }
        let visitor = Reusing::new(visitor);
        self.scan_later(run, select, &visitor)?;
        self.scan_base(run, select, &visitor)
    }

    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<()> {
        let mut stretches = Vec::new();
        self.visit(v, |targets, weights| {
            stretches.push((targets, weights));
            Flow::More
        })?;
        with_joined(stretches, take);
        Ok(())
    }
}
