//! The graph as the algorithms see it.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use esker_graph::{Direction, Flow, Graph, Lists, Piece, Run, Select, Stop, VertexId, Visitor, vertex};

use super::needs::{HeadedNeeds, arrays};
use super::share::LastHead;
use super::side::HeadedSide;
use super::tails::{TailReader, Want};
use crate::error::{Error, Result};
use crate::io::Disk;
use crate::layer::{ListColumns, PlainLayer, Section};
use crate::snapshot::{HeadedOptions, Snapshot, StoredWeight};

/// Entries (edges plus vertices) of a unit of work, and how many units each worker gets at least: tails of one unit are read together, so
/// it is larger than where all is in memory.
const UNIT_ENTRIES: usize = 1 << 18;
const UNITS_PER_WORKER: usize = 8;
/// Entries below which a scan stays on the calling thread.
const SERIAL_ENTRIES_MAX: usize = 1 << 13;
/// Tails that wait for one another before they are read: so much memory are they at most.
const PENDING_MAX: usize = 1 << 15;
/// Vertices whose heads are looked for side by side.
const BATCH: usize = 64;
/// Pieces of heads and tails are no longer.
const PIECE_LEN_MAX: usize = 1 << 16;

/// A complete layer with plain lists, their heads in memory. Weights are read through the page cache.
pub struct HeadedGraph<'a, W> {
    out: Side<'a, W>,
    /// `None`: not kept, or (undirected) the same as `out`.
    incoming: Option<Side<'a, W>>,
    directed: bool,
    num_arcs: u64,
}

struct Side<'a, W> {
    lists: HeadedSide<'a>,
    weights: &'a [W],
    /// Readers that nobody uses at the moment.
    readers: Mutex<Vec<TailReader>>,
}

impl<W> std::fmt::Debug for HeadedGraph<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HeadedGraph").field("num_arcs", &self.num_arcs).finish_non_exhaustive()
    }
}

impl<'a, W: StoredWeight> HeadedGraph<'a, W> {
    /// The graph of a version that is one complete layer. Reads all of its lists once to gather their heads.
    ///
    /// # Errors
    /// As [`HeadedGraph::new`]; [`Error::Invalid`] also if the edges have no such weight.
    pub fn of(snapshot: &'a Snapshot, options: HeadedOptions, run: &Run) -> Result<Self> {
        let layer = snapshot.complete_layer()?;
        Self::new(snapshot.state().disk(), layer, snapshot.weight_number::<W>()?, options, run)
    }

    /// Reads all lists of `layer` once to gather their heads. `property` is the number of the weight.
    ///
    /// # Errors
    /// [`Stop::OverBudget`] if the memory holds nothing but what must be there; [`Error::Invalid`] if the layer is not complete or its lists
    /// are no arrays; [`Error::Corrupt`]; [`Error::Io`]; cancellation.
    pub fn new(
        disk: &std::sync::Arc<dyn Disk>,
        layer: &'a PlainLayer,
        property: u32,
        options: HeadedOptions,
        run: &Run,
    ) -> Result<Self> {
        let needs = HeadedNeeds::of(layer, run.threads())?;
        let heads = needs.heads(layer, options, run)?;
        let gather = |lists: &'a ListColumns| -> Result<Side<'a, W>> {
            let arrays = arrays(lists)?;
            let offsets = arrays.offsets(run)?;
            let weights = W::all(lists, property, run)?;
            let lists = HeadedSide::gather(disk, offsets, arrays.targets_column(), heads.length, run)?;
            Ok(Side { lists, weights, readers: Mutex::default() })
        };
        let (out, incoming) = (layer.out().main(), layer.incoming().map(Section::main));
        Ok(Self {
            out: gather(out)?,
            incoming: incoming.map(gather).transpose()?,
            directed: layer.is_directed(),
            num_arcs: out.num_arcs() as u64,
        })
    }

    /// Neighbours of each vertex that are in memory, and the share of all arcs that these are.
    pub fn heads(&self) -> (usize, f64) {
        let lists = &self.out.lists;
        (lists.starts.head_len(), lists.heads.len() as f64 / (self.num_arcs.max(1)) as f64)
    }

    #[inline(always)]
    fn kept(&self, direction: Direction) -> Option<&Side<'a, W>> {
        match (direction, self.directed) {
            (Direction::In, true) => self.incoming.as_ref(),
            _ => Some(&self.out),
        }
    }

    fn side(&self, direction: Direction) -> Result<&Side<'a, W>> {
        self.kept(direction)
            .ok_or_else(|| Stop::Unsuitable("the graph is stored without its in-edges".to_owned()).into())
    }
}

/// One thread of a scan.
struct Worker<S> {
    state: S,
    /// Made when first needed.
    reader: Option<TailReader>,
    /// What is left of lists whose visitors want more.
    pending: Vec<Want>,
    wants: Vec<Want>,
}

impl<W: StoredWeight> Side<'_, W> {
    fn scan<V: Visitor<W>>(&self, run: &Run, select: Select<'_>, visitor: &V) -> Result<Vec<V::State>> {
        let workers = match select {
            Select::All => self.share_ranges(run, visitor, |worker, range| {
                self.visit_vertices(run, visitor, worker, range.map(vertex))
            }),
            Select::Bits(bits) => self.share_ranges(run, visitor, |worker, range| {
                self.visit_vertices(run, visitor, worker, bits.iter_range(range))
            }),
            Select::List(list) => self.scan_list(run, visitor, list),
        }?;
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(workers
            .into_iter()
            .map(|worker| {
                readers.extend(worker.reader);
                worker.state
            })
            .collect())
    }

    fn worker<V: Visitor<W>>(&self, visitor: &V) -> Worker<V::State> {
        Worker { state: visitor.new_state(), reader: None, pending: Vec::new(), wants: Vec::new() }
    }

    fn share_ranges<V: Visitor<W>>(
        &self,
        run: &Run,
        visitor: &V,
        range: impl Fn(&mut Worker<V::State>, Range<usize>) -> Result<()> + Sync,
    ) -> Result<Vec<Worker<V::State>>> {
        let offsets = self.lists.offsets;
        let n = offsets.len() - 1;
        let entries = n + self.weights.len();
        let units = match entries {
            ..=SERIAL_ENTRIES_MAX => 1,
            _ => entries.div_ceil(UNIT_ENTRIES).max(run.threads() * UNITS_PER_WORKER),
        };
        let bound = |unit: usize| {
            let entry = (entries as u128 * unit as u128 / units as u128) as u64;
            let (mut low, mut high) = (0, n);
            while low < high {
                let middle = low + (high - low) / 2;
                if offsets[middle] + (middle as u64) < entry { low = middle + 1 } else { high = middle }
            }
            low.next_multiple_of(64).min(n)
        };
        let new_worker = || self.worker(visitor);
        run.share(units, new_worker, |worker, unit| range(worker, bound(unit)..bound(unit + 1)))
    }

    fn scan_list<V: Visitor<W>>(
        &self,
        run: &Run,
        visitor: &V,
        list: &[VertexId],
    ) -> Result<Vec<Worker<V::State>>> {
        // In order of the lists on disk.
        let mut sorted = list.to_vec();
        sorted.sort_unstable();
        let mut entries = sorted.len();
        let is_handful = sorted.iter().all(|&v| {
            entries += self.lists.degree(v);
            entries <= SERIAL_ENTRIES_MAX
        });
        if run.threads() == 1 || is_handful {
            run.check()?;
            let mut worker = self.worker(visitor);
            self.visit_vertices(run, visitor, &mut worker, sorted.iter().copied())?;
            return Ok(vec![worker]);
        }
        let unit = (sorted.len() / (run.threads() * UNITS_PER_WORKER)).clamp(1, 1 << 12);
        let chunks: Vec<&[VertexId]> = sorted.chunks(unit).collect();
        run.share(
            chunks.len(),
            || self.worker(visitor),
            |worker, index| self.visit_vertices(run, visitor, worker, chunks[index].iter().copied()),
        )
    }

    /// Hands over heads, and then what visitors want of tails. Where the heads of a batch begin is found first, and the first entry of each
    /// is read: each may miss all caches, and so the misses pass side by side.
    fn visit_vertices<V: Visitor<W>>(
        &self,
        run: &Run,
        visitor: &V,
        worker: &mut Worker<V::State>,
        vertices: impl Iterator<Item = VertexId>,
    ) -> Result<()> {
        let mut last = LastHead::default();
        let (mut batch, mut len) = ([(0, 0); BATCH], 0);
        for v in vertices {
            if self.lists.degree(v) == 0 || !visitor.wants(v) {
                continue;
            }
            let start = self.lists.head_start(v, &mut last);
            std::hint::black_box(self.lists.heads.get(start).copied());
            batch[len] = (v, start);
            len += 1;
            if len == BATCH {
                self.visit_heads(run, visitor, worker, &batch)?;
                len = 0;
            }
        }
        self.visit_heads(run, visitor, worker, &batch[..len])?;
        self.visit_all_tails(run, visitor, worker)
    }

    /// Hands over heads, and keeps in mind whose tails are wanted.
    fn visit_heads<V: Visitor<W>>(
        &self,
        run: &Run,
        visitor: &V,
        worker: &mut Worker<V::State>,
        batch: &[(VertexId, usize)],
    ) -> Result<()> {
        let offsets = self.lists.offsets;
        for &(v, start) in batch {
            // The visits before may have changed it.
            if !visitor.wants(v) {
                continue;
            }
            let head = self.lists.head_at(v, start);
            let arcs = offsets[v as usize]..offsets[v as usize + 1];
            let head_end = arcs.start + head.len() as u64;
            let flow = self.visit(visitor, &mut worker.state, v, arcs.start..head_end, head);
            if head_end < arcs.end && !(V::STOPS && flow == Flow::Enough) {
                worker.pending.push(Want { v, arcs: head_end..arcs.end });
            }
        }
        if worker.pending.len() >= PENDING_MAX { self.visit_all_tails(run, visitor, worker) } else { Ok(()) }
    }

    /// Reads what is pending until nothing is.
    fn visit_all_tails<V: Visitor<W>>(
        &self,
        run: &Run,
        visitor: &V,
        worker: &mut Worker<V::State>,
    ) -> Result<()> {
        let mut chunk_entries = 0;
        while !worker.pending.is_empty() {
            run.check()?;
            chunk_entries = self.visit_tails(run, visitor, worker, chunk_entries)?;
        }
        Ok(())
    }

    /// Reads a part of each pending tail, all of it if the visitor wants whole lists; a search wants longer parts each time.
    fn visit_tails<V: Visitor<W>>(
        &self,
        run: &Run,
        visitor: &V,
        worker: &mut Worker<V::State>,
        chunk_entries: u64,
    ) -> Result<u64> {
        let Worker { state, reader, pending, wants } = worker;
        wants.clear();
        wants.extend(pending.iter().map(|want| {
            let end = match (V::STOPS, chunk_entries) {
                (false, _) => want.arcs.end,
                (true, 0) => want.first_end(&self.lists.file),
                (true, entries) => want.arcs.end.min(want.arcs.start + entries),
            };
            Want { v: want.v, arcs: want.arcs.start..end }
        }));
        let reader = match reader {
            Some(reader) => reader,
            None => reader.insert(self.reader()?),
        };
        let mut read_entries = 0;
        reader.read(&self.lists.file, wants, &mut |place, arcs, targets| {
            run.check()?;
            let (want, rest) = (&wants[place], &mut pending[place]);
            read_entries = read_entries.max(arcs.end - arcs.start);
            // Parts come in any order: what was stopped stays so.
            if rest.arcs.is_empty() {
                return Ok(());
            }
            if self.visit(visitor, state, want.v, arcs, targets) == Flow::Enough && V::STOPS {
                rest.arcs.start = rest.arcs.end;
            }
            Ok(())
        })?;
        for (rest, want) in pending.iter_mut().zip(&*wants) {
            rest.arcs.start = rest.arcs.start.max(want.arcs.end);
        }
        pending.retain(|rest| !rest.arcs.is_empty());
        Ok((chunk_entries.max(read_entries) * 4).min(1 << 18))
    }

    #[inline(always)]
    fn visit<V: Visitor<W>>(
        &self,
        visitor: &V,
        state: &mut V::State,
        v: VertexId,
        arcs: Range<u64>,
        targets: &[VertexId],
    ) -> Flow {
        let weights = &self.weights[arcs.start as usize..arcs.end as usize];
        if targets.is_empty() {
            return Flow::More;
        }
        if targets.len() <= PIECE_LEN_MAX {
            return visitor.visit(state, v, Piece { targets, weights, exclusive: true });
        }
        let pieces = targets.chunks(PIECE_LEN_MAX).zip(weights.chunks(PIECE_LEN_MAX));
        for (targets, weights) in pieces {
            if visitor.visit(state, v, Piece { targets, weights, exclusive: true }) == Flow::Enough {
                return Flow::Enough;
            }
        }
        Flow::More
    }

    fn reader(&self) -> Result<TailReader> {
        let kept = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.map_or_else(|| TailReader::new(&self.lists.file), Ok)
    }
}

impl<W: StoredWeight> Graph for HeadedGraph<'_, W> {
    type Weight = W;
    type Error = Error;

    fn num_vertices(&self) -> usize {
        self.out.lists.offsets.len() - 1
    }

    fn num_arcs(&self) -> u64 {
        self.num_arcs
    }

    fn is_directed(&self) -> bool {
        self.directed
    }

    fn has(&self, direction: Direction) -> bool {
        self.kept(direction).is_some()
    }

    #[inline(always)]
    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        self.kept(direction).expect("the direction is kept").lists.degree(v)
    }

    fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>> {
        self.side(direction)?.scan(run, select, visitor)
    }
}

impl<W: StoredWeight> Lists for HeadedGraph<'_, W> {
    fn with_list<R>(
        &self,
        direction: Direction,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[W]) -> R,
    ) -> Result<R> {
        let side = self.side(direction)?;
        let arcs = side.lists.offsets[v as usize]..side.lists.offsets[v as usize + 1];
        let weights = &side.weights[arcs.start as usize..arcs.end as usize];
        let head = side.lists.head_at(v, side.lists.head_start(v, &mut LastHead::default()));
        if head.len() == weights.len() {
            return Ok(f(head, weights));
        }
        let mut list = Vec::with_capacity(weights.len());
        list.extend_from_slice(head);
        side.lists.file.read_some(arcs.start + head.len() as u64..arcs.end, &mut list)?;
        Ok(f(&list, weights))
    }
}
