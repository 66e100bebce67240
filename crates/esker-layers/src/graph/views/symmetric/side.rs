//! Reads the lists of both directions as one merged list.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use esker_format::{Error, Result};
use esker_graph::{
    AnyVisitor, Bitmap, Extents, ListAccess, Reservation, Run, STRIP_LEN, Select, Sink, Source, Units,
    VertexId, drive, ones, vertex,
};

use super::block::{BLOCK_LEN, BlockRoom, CELL_LEN, CollectedBlock, VERTEX_BYTES, sort_bytes};
use super::merge::{BothLists, Merge};
use crate::graph::list_by_list::ListByList;
use crate::graph::mapped::points::few;
use crate::graph::side::GraphSide;
use crate::graph::weight::ColumnWeight;

/// Vertices whose lists one unit of work measures.
const GRAIN: usize = 1 << 12;
/// Number of arcs of both directions in a block: one part in `parts` of all arcs, but at least `arcs_min` (or
/// all, if the graph has fewer) and at most `arcs_max`. A list that is longer is a block of its own.
struct BlockSizes {
    arcs_min: u64,
    parts: u64,
    arcs_max: u64,
}

const OF_LISTS: BlockSizes = if cfg!(test) {
    BlockSizes { arcs_min: 1 << 7, parts: 64, arcs_max: 1 << 8 }
} else {
    BlockSizes { arcs_min: 1 << 20, parts: 64, arcs_max: 1 << 24 }
};
/// Larger, because for each block that lies in a strip of tiles, all of them are decoded.
const OF_TILES: BlockSizes =
    if cfg!(test) { OF_LISTS } else { BlockSizes { arcs_min: 1 << 22, parts: 8, arcs_max: 1 << 26 } };

/// The purpose of the reservations, for messages.
const WHAT: &str = "an undirected view";

/// Both directions of a directed graph.
///
/// Cost of opening: every list is read once, because degrees are those of merged lists. Memory: 8 bytes a
/// vertex; where lists are collected in blocks, also [`undirected_block_bytes`].
pub(crate) struct SymmetricSide<'a, W> {
    out: GraphSide<'a, W>,
    incoming: GraphSide<'a, W>,
    access: ListAccess,
    /// Whether lists come from tiles, so that a block should not end within a strip.
    by_strips: bool,
    multigraph: bool,
    /// Arcs of a block, unless one list is longer.
    block_arcs: usize,
    num_vertices: usize,
    /// Arcs before each vertex, and in all.
    offsets: Vec<u64>,
    _memory: [Option<Reservation>; 2],
}

impl<'a, W: ColumnWeight> SymmetricSide<'a, W> {
    /// Verifies and reads all lists of a graph of `num_vertices` vertices and `num_arcs` arcs.
    pub(crate) fn new(
        out: GraphSide<'a, W>,
        incoming: GraphSide<'a, W>,
        num_vertices: usize,
        num_arcs: u64,
        multigraph: bool,
        run: &Run,
    ) -> Result<Self> {
        let n = num_vertices as u64;
        let memory = run.budget().reserve("the degrees of an undirected view", undirected_bytes(n))?;
        out.prepare(run)?;
        incoming.prepare(run)?;
        let access = out.list_access().max(incoming.list_access());
        let by_strips = out.is_scattered() || incoming.is_scattered();
        let block_arcs = block_arcs(num_arcs, by_strips) as usize;
        let mut side = Self {
            out,
            incoming,
            access,
            by_strips,
            multigraph,
            block_arcs,
            num_vertices,
            offsets: Vec::new(),
            _memory: [Some(memory), None],
        };
        if access != ListAccess::Single {
            // Both lists of a vertex are in a block.
            let longest = side.longest(run)?.saturating_sub(block_arcs as u64);
            let bytes = undirected_block_bytes(n, num_arcs, size_of::<W>() as u64, by_strips)
                + longest * arc_bytes::<W>();
            side._memory[1] = Some(run.budget().reserve(WHAT, bytes)?);
        }
        side.offsets = side.count(run)?;
        Ok(side)
    }

    pub(crate) fn num_arcs(&self) -> u64 {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Arcs of `v` in both directions.
    fn arcs_of(&self, v: VertexId) -> usize {
        self.out.degree(v) + self.incoming.degree(v)
    }

    /// The most arcs that a vertex has in both directions.
    fn longest(&self, run: &Run) -> Result<u64> {
        let longest = run.share_ranges(
            self.num_vertices,
            GRAIN,
            || 0,
            |longest, range| {
                *longest = range.map(|v| self.arcs_of(vertex(v))).fold(*longest, usize::max);
                Ok::<_, Error>(())
            },
        )?;
        Ok(longest.into_iter().max().unwrap_or(0) as u64)
    }

    /// The arcs before each vertex, from the lists.
    fn count(&self, run: &Run) -> Result<Vec<u64>> {
        let n = self.num_vertices;
        let degrees: Vec<AtomicU64> = (0..=n).map(|_| AtomicU64::new(0)).collect();
        let note = |v: VertexId, lists: BothLists<'_, W>| {
            let degree = Merge::new(v, lists, self.multigraph).count();
            degrees[v as usize + 1].store(degree as u64, Relaxed);
        };
        if self.access == ListAccess::Single {
            run.share_ranges(
                n,
                GRAIN,
                || (),
                |(), range| {
                    range.into_iter().try_for_each(|v| self.both(vertex(v), |lists| note(vertex(v), lists)))
                },
            )?;
        } else {
            self.blocks(run, None, &|_, selected| selected, || (), |(), v, lists| note(v, lists))?;
        }
        let mut sum = 0;
        let sums = degrees.into_iter().map(|degree| {
            sum += degree.into_inner();
            sum
        });
        Ok(sums.collect())
    }

    /// Calls `f` with the out-list and the in-list of `v`.
    fn both<R>(&self, v: VertexId, f: impl FnOnce(BothLists<'_, W>) -> R) -> Result<R> {
        self.out.with_list(v, |targets, weights| {
            self.incoming
                .with_list(v, |sources, their_weights| f([(targets, weights), (sources, their_weights)]))
        })?
    }

    /// Calls `each` with both lists of the vertices that are selected and wanted, block by block, on the
    /// threads of the run. A thread has all selected vertices of a word of a bitmap.
    fn blocks<S: Send>(
        &self,
        run: &Run,
        bits: Option<&Bitmap>,
        wanted: &(dyn Fn(usize, u64) -> u64 + Sync),
        new_state: impl Fn() -> S + Sync,
        each: impl Fn(&mut S, VertexId, BothLists<'_, W>) + Sync,
    ) -> Result<()> {
        let chosen = Bitmap::new(self.num_vertices);
        let mut room = BlockRoom::new(self.block_arcs);
        let mut start = 0;
        while start < self.num_vertices {
            run.check()?;
            let (end, has_any) = self.choose(start, bits, wanted, &chosen);
            let block = CollectedBlock { vertices: std::mem::replace(&mut start, end)..end, chosen: &chosen };
            if !has_any {
                continue;
            }
            let [out, incoming] = room.collect([&self.out, &self.incoming], &block, wanted, run)?;
            run.share(
                out.len(),
                || (new_state(), Vec::new()),
                |(state, order), cell| {
                    let (mut out, mut incoming) = (out[cell].lock(), incoming[cell].lock());
                    for i in ones(block.chosen_in(cell)) {
                        let v = vertex(block.base() + cell * CELL_LEN + i);
                        each(state, v, [out.list(i, v, order)?, incoming.list(i, v, order)?]);
                    }
                    Ok::<_, Error>(())
                },
            )?;
            (block.base() / 64..end.div_ceil(64)).for_each(|word| chosen.set_word(word, 0));
        }
        Ok(())
    }

    /// Chooses the vertices of a block that begins with `start`: those that are selected and wanted and have
    /// arcs. Returns its end, and whether there are any.
    fn choose(
        &self,
        start: usize,
        bits: Option<&Bitmap>,
        wanted: &(dyn Fn(usize, u64) -> u64 + Sync),
        chosen: &Bitmap,
    ) -> (usize, bool) {
        let last = self.num_vertices.min(start + BLOCK_LEN);
        let mut arcs = 0;
        for first in (start / 64 * 64..last).step_by(64) {
            let selected = Bitmap::selected(bits, first, last) & u64::MAX << start.saturating_sub(first);
            let wanted = if selected == 0 { 0 } else { wanted(first, selected) };
            for v in ones(wanted).map(|i| vertex(first + i)) {
                let more = self.arcs_of(v);
                if arcs > 0 && arcs + more > self.block_arcs {
                    let strip = v as usize / STRIP_LEN * STRIP_LEN;
                    if !self.by_strips || strip <= start {
                        return (v as usize, true);
                    }
                    (strip / 64..(v as usize).div_ceil(64)).for_each(|word| chosen.set_word(word, 0));
                    return (strip, true);
                }
                arcs += more;
                if more > 0 {
                    chosen.insert_alone(v);
                }
            }
        }
        (last, arcs > 0)
    }
}

/// Memory that a graph of a number of vertices takes to be read as undirected.
pub const fn undirected_bytes(num_vertices: u64) -> u64 {
    (num_vertices + 1) * 8
}

/// Memory for the blocks of lists that come from a pool, heads or tiles, where no list is longer than a
/// block.
pub const fn undirected_block_bytes(
    num_vertices: u64,
    num_arcs: u64,
    weight_bytes: u64,
    from_tiles: bool,
) -> u64 {
    let vertices = if num_vertices < BLOCK_LEN as u64 { num_vertices } else { BLOCK_LEN as u64 };
    // Room for both directions, the order of lists that are sorted, and two selections of vertices.
    block_arcs(num_arcs, from_tiles)
        * (size_of::<VertexId>() as u64 + weight_bytes + sort_bytes(weight_bytes))
        + (vertices + CELL_LEN as u64) * 2 * VERTEX_BYTES
        + num_vertices / 4
}

/// Arcs of a block of a graph with `num_arcs` arcs, each of which is in two lists.
const fn block_arcs(num_arcs: u64, from_tiles: bool) -> u64 {
    let BlockSizes { arcs_min, parts, arcs_max } = if from_tiles { OF_TILES } else { OF_LISTS };
    let all = num_arcs.saturating_mul(2);
    let part = all / parts;
    let part = if part < arcs_min { arcs_min } else { part };
    let part = if part > arcs_max { arcs_max } else { part };
    if part > all { all } else { part }
}

const fn arc_bytes<W>() -> u64 {
    (size_of::<VertexId>() + size_of::<W>()) as u64 + sort_bytes(size_of::<W>() as u64)
}

impl<W: ColumnWeight> Extents for SymmetricSide<'_, W> {
    fn num_vertices(&self) -> usize {
        self.num_vertices
    }

    fn entries_before(&self, v: usize) -> usize {
        v + self.offsets[v] as usize
    }

    fn degree(&self, v: VertexId) -> usize {
        (self.offsets[v as usize + 1] - self.offsets[v as usize]) as usize
    }
}

/// One thread that hands over merged lists. Its sink serves one block after another.
struct BorrowedSink<'s, 'v, W> {
    sink: Option<Box<dyn Sink<W> + 'v>>,
    idle: &'s Mutex<Vec<Box<dyn Sink<W> + 'v>>>,
    targets: Vec<VertexId>,
    weights: Vec<W>,
}

impl<W> Drop for BorrowedSink<'_, '_, W> {
    fn drop(&mut self) {
        self.idle.lock().extend(self.sink.take());
    }
}

impl<W: ColumnWeight> Source<W, Error> for SymmetricSide<'_, W> {
    fn degree(&self, v: VertexId) -> usize {
        Extents::degree(self, v)
    }

    fn read_bytes(&self) -> u64 {
        self.out.read_bytes() + self.incoming.read_bytes()
    }

    fn point_reads(&self) -> (u64, u64) {
        let (out, incoming) = (self.out.point_reads(), self.incoming.point_reads());
        (out.0 + incoming.0, out.1 + incoming.1)
    }

    fn list_access(&self) -> ListAccess {
        self.access
    }

    fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<W>) -> Result<()> {
        let is_few = || few(select, self.num_arcs(), |v| Extents::degree(self, v)).is_some();
        if self.access == ListAccess::Single || self.access == ListAccess::Scans && is_few() {
            return drive(run, self, Units::default(), select, &|| {
                let (mut targets, mut weights) = (Vec::new(), Vec::new());
                ListByList::boxed(visitor, move |v, sink| {
                    self.both(v, |lists| {
                        let merge = Merge::new(v, lists, self.multigraph);
                        merge.hand_over(v, sink, &mut targets, &mut weights);
                    })
                })
            });
        }
        let listed;
        let bits = match select {
            Select::All => None,
            Select::Bits(bits) => Some(bits),
            Select::List(list) => {
                listed = Bitmap::new(self.num_vertices);
                list.iter().for_each(|&v| listed.insert_alone(v));
                Some(&listed)
            }
        };
        let idle = Mutex::new(Vec::new());
        let new_state = || {
            let sink = idle.lock().pop();
            let sink = Some(sink.unwrap_or_else(|| visitor.sink()));
            BorrowedSink { sink, idle: &idle, targets: Vec::new(), weights: Vec::new() }
        };
        let wanted = |first, selected| visitor.wanted(first, selected);
        self.blocks(run, bits, &wanted, new_state, |state, v, lists| {
            let BorrowedSink { sink: Some(sink), targets, weights, .. } = state else { return };
            Merge::new(v, lists, self.multigraph).hand_over(v, sink.as_mut(), targets, weights);
        })
    }

    fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[W])) -> Result<()> {
        self.both(v, |lists| Merge::new(v, lists, self.multigraph).with_merged(take))
    }
}

#[cfg(test)]
mod tests {
    use esker_graph::random::hash;
    use esker_graph::{Csr, Direction, DynVisitor, Flow, Fragmented, Graph, Lists, Piece, Visitor, collect};
    use proptest::prelude::*;

    use super::*;

    /// The lists of one direction in shuffled pieces.
    struct Shuffled<'g> {
        graph: Fragmented<'g, i32>,
        direction: Direction,
        access: ListAccess,
    }

    impl Source<i32, Error> for Shuffled<'_> {
        fn degree(&self, v: VertexId) -> usize {
            self.graph.degree(self.direction, v)
        }

        fn is_scattered(&self) -> bool {
            self.access == ListAccess::OnlyScans
        }

        fn list_access(&self) -> ListAccess {
            self.access
        }

        fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<i32>) -> Result<()> {
            let visitor = DynVisitor::<_, true>(visitor);
            Ok(self.graph.scan(run, self.direction, select, &visitor).map(drop)?)
        }

        fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[i32])) -> Result<()> {
            assert_ne!(self.access, ListAccess::OnlyScans, "a single list");
            Ok(self.graph.with_list(self.direction, v, take)?)
        }
    }

    /// Collects the arcs of vertices whose number is not a multiple of 5.
    struct Most;

    impl Visitor<i32> for Most {
        type State = Vec<(VertexId, VertexId, i32)>;

        fn new_state(&self) -> Self::State {
            Vec::new()
        }

        fn wants(&self, v: VertexId) -> bool {
            !v.is_multiple_of(5)
        }

        fn visit(&self, state: &mut Self::State, v: VertexId, piece: Piece<'_, i32>) -> Flow {
            assert!(piece.exclusive && piece.targets.is_sorted());
            state.extend(
                piece.targets.iter().zip(piece.weights).map(|(&target, &weight)| (v, target, weight)),
            );
            Flow::More
        }
    }

    fn view<'g>(
        csr: &'g Csr<i32>,
        access: ListAccess,
        multigraph: bool,
        run: &Run,
    ) -> SymmetricSide<'g, i32> {
        let graph = csr.graph();
        let [out, incoming] = [Direction::Out, Direction::In].map(|direction| {
            GraphSide::source(Shuffled { graph: Fragmented::new(graph, 7), direction, access })
        });
        let (n, arcs) = (graph.num_vertices(), graph.num_arcs());
        SymmetricSide::new(out, incoming, n, arcs, multigraph, run).unwrap()
    }

    fn arcs(side: &SymmetricSide<'_, i32>, select: Select<'_>, run: &Run) -> Vec<(VertexId, VertexId, i32)> {
        let mut arcs = collect(&Most, |visitor| side.scan(run, select, visitor)).unwrap().concat();
        arcs.sort_unstable();
        arcs
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn lists_collected_in_blocks_are_those_that_are_read_in_pairs(
            n in 1_usize..400,
            drawn in prop::collection::vec((any::<u32>(), any::<u32>(), any::<i32>()), 0..3000),
            hub in any::<bool>(),
            multigraph in any::<bool>(),
        ) {
            let end = |i: u32| (i % n as u32) as VertexId;
            let mut edges: Vec<_> = drawn.iter().map(|&(u, v, weight)| (end(u), end(v), weight)).collect();
            if hub {
                edges.extend((0..n).map(|v| (vertex(n / 2), vertex(v), v as i32)));
            }
            edges.sort_unstable();
            if !multigraph {
                edges.dedup_by_key(|edge| (edge.0, edge.1));
            }
            let csr = Csr::directed(n, &edges).unwrap();
            let run = Run::with_threads(2).unwrap();
            let pairs = view(&csr, ListAccess::Single, multigraph, &run);
            let some = Bitmap::new(n);
            (0..n).step_by(3).for_each(|v| some.insert_alone(vertex(v)));
            let list: Vec<_> = (0..n).rev().step_by(2).map(vertex).collect();
            for access in [ListAccess::Scans, ListAccess::OnlyScans] {
                let blocks = view(&csr, access, multigraph, &run);
                prop_assert_eq!(&blocks.offsets, &pairs.offsets);
                for select in [Select::All, Select::Bits(&some), Select::List(&list), Select::List(&list[..1])] {
                    prop_assert_eq!(arcs(&blocks, select, &run), arcs(&pairs, select, &run));
                }
            }
        }
    }

    #[test]
    fn blocks_end_with_strips_where_lists_come_from_tiles() {
        let n = STRIP_LEN + 500;
        let noise = |i: usize| hash(i as u64) as usize;
        let mut edges: Vec<_> =
            (0..4 * n).map(|i| (vertex(i / 4), vertex(noise(i) % n), (noise(i) % 9) as i32)).collect();
        edges.sort_unstable();
        edges.dedup_by_key(|edge| (edge.0, edge.1));
        let csr = Csr::directed(n, &edges).unwrap();
        let run = Run::with_threads(2).unwrap();
        let (pairs, strips) =
            (view(&csr, ListAccess::Single, false, &run), view(&csr, ListAccess::OnlyScans, false, &run));
        assert_eq!(pairs.offsets, strips.offsets);
        assert!(arcs(&pairs, Select::All, &run) == arcs(&strips, Select::All, &run));
        let mut ends = Vec::new();
        let chosen = Bitmap::new(n);
        while ends.last() != Some(&n) {
            let start = ends.last().copied().unwrap_or(0);
            ends.push(strips.choose(start, None, &|_, selected| selected, &chosen).0);
        }
        assert!(ends.contains(&STRIP_LEN) && ends.iter().any(|end| end % 128 != 0), "{ends:?}");
    }

    /// A source that hands over one arc more, or less, than its degrees say.
    struct Odd<'g>(Shuffled<'g>, i64);

    impl Source<i32, Error> for Odd<'_> {
        fn degree(&self, v: VertexId) -> usize {
            let degree = self.0.degree(v) as i64;
            (degree + if v == 3 { self.1 } else { 0 }) as usize
        }

        fn list_access(&self) -> ListAccess {
            ListAccess::Scans
        }

        fn scan(&self, run: &Run, select: Select<'_>, visitor: &dyn AnyVisitor<i32>) -> Result<()> {
            self.0.scan(run, select, visitor)
        }

        fn with_list(&self, v: VertexId, take: &mut dyn FnMut(&[VertexId], &[i32])) -> Result<()> {
            self.0.with_list(v, take)
        }
    }

    #[test]
    fn a_list_that_is_not_as_long_as_its_degree_is_an_error() {
        let csr = Csr::directed(5, &[(3, 1, 1), (3, 2, 1), (1, 3, 1)]).unwrap();
        let run = Run::with_threads(2).unwrap();
        for more in [-1, 0, 1] {
            let [out, incoming] = [Direction::Out, Direction::In].map(|direction| {
                let graph = Fragmented::new(csr.graph(), 7);
                GraphSide::source(Odd(Shuffled { graph, direction, access: ListAccess::Scans }, more))
            });
            let found = SymmetricSide::new(out, incoming, 5, 3, false, &run);
            let message = found.err().map(|error| error.to_string());
            assert_eq!(message.is_some(), more != 0);
            assert!(message.is_none_or(|message| message.contains("list of vertex 3")));
        }
    }

    #[test]
    fn a_list_longer_than_a_block_is_counted() {
        let edges: Vec<_> = (0..5000).map(|v| (7, v, 1)).collect();
        let csr = Csr::directed(5000, &edges).unwrap();
        let limit = |bytes| {
            let budget = esker_graph::Budget::new(bytes);
            let options = esker_graph::RunOptions { threads: 1, budget, ..Default::default() };
            Run::new(options).unwrap()
        };
        let sides = || {
            [Direction::Out, Direction::In].map(|direction| {
                let graph = Fragmented::new(csr.graph(), 7);
                GraphSide::source(Shuffled { graph, direction, access: ListAccess::Scans })
            })
        };
        let (n, arcs) = (5000, 5000);
        let fixed = undirected_bytes(n) + undirected_block_bytes(n, arcs, 4, false);
        let longest = (5001 - block_arcs(arcs, false)) * arc_bytes::<i32>();
        let open = |bytes| {
            let [out, incoming] = sides();
            SymmetricSide::new(out, incoming, 5000, arcs, false, &limit(bytes)).is_ok()
        };
        assert!(open(fixed + longest) && !open(fixed + longest - 1));
    }
}
