//! Scans over one complete layer whose lists are coded, as `esker_graph::Rows` scans arrays.
//!
//! Each worker decodes into a buffer of its own: lists as a whole, so that a visit sees what it would see of an array; but for visitors
//! that soon have enough, few arcs first. What is compiled for each visitor is the loop around it; decoding is not. A huge list is
//! left for the end of a scan and then shared by all threads, block by block: its pieces are not exclusive, and since nothing else
//! happens meanwhile, words of bits are still apart.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use esker_graph::{Bitmap, Flow, Run, Select, Stop, VertexId, Visitor, vertex};

use super::offer::{Decoded, Offer, PIECE_LEN};
use super::weight::StoredWeight;
use crate::layer::{CodedLists, Index, Place, Places};

/// Entries (arcs plus vertices) below which a scan stays on the calling thread.
const SERIAL_ENTRIES_MAX: usize = 1 << 13;
/// Entries of a unit of shared work.
const UNIT_ENTRIES: usize = 1 << 16;
/// Units per worker when there is less, so that uneven units even out.
const UNITS_PER_WORKER: usize = 16;
/// Vertices of a list that are located side by side.
const BATCH: usize = 16;
/// Longer lists are handed over last, in pieces of [`PIECE_LEN`] that all threads share.
const HUGE_LEN: usize = 1 << 18;

thread_local! {
    /// Buffers for lists at random. Several, for such calls are nested.
    static BUFFERS: RefCell<Vec<Vec<VertexId>>> = const { RefCell::new(Vec::new()) };
}

/// One direction of a coded layer, verified.
#[derive(Debug)]
pub(super) struct Compressed<'a, W> {
    offer: Offer<'a, W>,
    huge_len: usize,
}

impl<'a, W: StoredWeight> Compressed<'a, W> {
    pub(super) fn new(lists: CodedLists<'a>, weights: &'a [W]) -> Self {
        Self { offer: Offer::new(lists, weights), huge_len: HUGE_LEN }
    }

    /// Shares lists that are longer than this.
    #[cfg(test)]
    fn with_huge_len(self, huge_len: usize) -> Self {
        Self { huge_len, ..self }
    }

    pub(super) fn scan<V: Visitor<W>>(
        &self,
        run: &Run,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>, Stop> {
        let shares = run.threads() > 1 && !run.deterministic();
        let pass = Pass { graph: self, run, visitor, huge: shares.then(Mutex::default) };
        let workers = match select {
            Select::All => pass.ranges(None),
            Select::Bits(bits) => pass.ranges(Some(bits)),
            Select::List(list) => pass.list(list),
        }?;
        pass.offer_huge(workers)
    }

    /// Calls `f` with a whole list.
    #[inline]
    pub(super) fn with_list<R>(&self, v: VertexId, f: impl FnOnce(&[VertexId], &[W]) -> R) -> R {
        let place = self.index().place(v as usize);
        let mut buffer = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
        let targets = self.offer.lists.piece(v, place, 0..place.degree, &mut buffer);
        let result = f(targets, &self.offer.weights[place.arc..place.arc + place.degree]);
        BUFFERS.with_borrow_mut(|buffers| buffers.push(buffer));
        result
    }

    #[inline(always)]
    fn index(&self) -> Index<'a> {
        self.offer.lists.index()
    }
}

/// What a worker carries besides the visitor's state.
struct Worker<S> {
    state: S,
    decoded: Decoded,
    /// Of the group in hand.
    places: Places,
}

/// One scan.
struct Pass<'p, 'a, W, V> {
    graph: &'p Compressed<'a, W>,
    run: &'p Run,
    visitor: &'p V,
    /// The vertices whose huge lists are still to be handed over; `None` if each is when its turn comes. So it is in a run of one thread,
    /// and in a deterministic one: a sum of numbers depends on the order of its parts.
    huge: Option<Mutex<Vec<VertexId>>>,
}

impl<W: StoredWeight, V: Visitor<W>> Pass<'_, '_, W, V> {
    fn worker(&self) -> Worker<V::State> {
        let decoded = Decoded::new(V::STOPS, self.run.deterministic());
        Worker { state: self.visitor.new_state(), decoded, places: Places::default() }
    }

    /// Shares ranges of vertices that hold about equally many entries and begin at multiples of 64.
    fn ranges(&self, bits: Option<&Bitmap>) -> Result<Vec<Worker<V::State>>, Stop> {
        let index = self.graph.index();
        let entries = index.entries();
        let units = if entries <= SERIAL_ENTRIES_MAX || self.run.threads() == 1 {
            entries.div_ceil(UNIT_ENTRIES)
        } else {
            entries.div_ceil(UNIT_ENTRIES).max(self.run.threads() * UNITS_PER_WORKER)
        };
        let bound = |unit: usize| {
            index.slot_at_entry((entries as u128 * unit as u128 / units.max(1) as u128) as usize)
        };
        self.run.share(
            units,
            || self.worker(),
            |worker, unit| {
                let vertices = bound(unit)..bound(unit + 1);
                vertices
                    .clone()
                    .step_by(64)
                    .try_for_each(|first| self.offer_group(worker, first..vertices.end.min(first + 64), bits))
            },
        )
    }

    /// Which of the lists of a group are wanted is found for all of them, before their sizes are looked at.
    #[inline(always)]
    fn offer_group(
        &self,
        worker: &mut Worker<V::State>,
        vertices: Range<usize>,
        bits: Option<&Bitmap>,
    ) -> Result<(), Stop> {
        let mut wanted = 0;
        let selected = bits.map_or(u64::MAX, |bits| bits.word(vertices.start / 64));
        if selected != 0 {
            for (i, v) in vertices.clone().enumerate() {
                wanted |= u64::from(self.visitor.wants(vertex(v))) << i;
            }
        }
        wanted &= selected;
        if wanted == 0 {
            return Ok(());
        }
        self.graph.offer.lists.places(vertices.start, &mut worker.places);
        if !V::STOPS || worker.decoded.is_whole() {
            return self.offer_whole(worker, vertices.start, wanted);
        }
        while wanted != 0 {
            let index = wanted.trailing_zeros() as usize;
            wanted &= wanted - 1;
            let v = vertex(vertices.start + index);
            // Visits may change what is wanted.
            if self.visitor.wants(v) {
                self.offer(worker, v, worker.places.at(index))?;
            }
        }
        Ok(())
    }

    /// Hands over whole lists of a group.
    #[inline(always)]
    fn offer_whole(&self, worker: &mut Worker<V::State>, first: usize, mut wanted: u64) -> Result<(), Stop> {
        while wanted != 0 {
            let index = wanted.trailing_zeros() as usize;
            let place = worker.places.at(index);
            if place.degree > self.graph.huge_len {
                wanted &= wanted - 1;
                self.defer(worker, vertex(first + index), place)?;
                continue;
            }
            let Worker { state, decoded, places } = worker;
            let some = (wanted, self.graph.huge_len);
            wanted &= !self.graph.offer.group(self.visitor, (state, decoded), (first, places), some);
        }
        Ok(())
    }

    fn list(&self, list: &[VertexId]) -> Result<Vec<Worker<V::State>>, Stop> {
        let run = self.run;
        if run.threads() == 1 || self.is_handful(list) {
            let mut worker = self.worker();
            run.check()?;
            self.offer_list(&mut worker, list)?;
            return Ok(vec![worker]);
        }
        let unit = (list.len() / (run.threads() * UNITS_PER_WORKER)).clamp(1, 1 << 10);
        run.share(
            list.len().div_ceil(unit),
            || self.worker(),
            |worker, i| self.offer_list(worker, &list[i * unit..((i + 1) * unit).min(list.len())]),
        )
    }

    fn is_handful(&self, list: &[VertexId]) -> bool {
        let mut entries = list.len();
        entries <= SERIAL_ENTRIES_MAX
            && list.iter().all(|&v| {
                entries += self.graph.index().degree(v as usize);
                entries <= SERIAL_ENTRIES_MAX
            })
    }

    /// Listed vertices lie anywhere: those of a batch are located first, so that the processor waits for them side by side.
    fn offer_list(&self, worker: &mut Worker<V::State>, list: &[VertexId]) -> Result<(), Stop> {
        for batch in list.chunks(BATCH) {
            let mut places = [Place::default(); BATCH];
            for (place, &v) in places.iter_mut().zip(batch) {
                *place = self.graph.index().place(v as usize);
            }
            places[..batch.len()].iter().for_each(|&place| self.graph.offer.lists.touch(place));
            for (&place, &v) in places.iter().zip(batch).filter(|(_, v)| self.visitor.wants(**v)) {
                self.offer(worker, v, place)?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn offer(&self, worker: &mut Worker<V::State>, v: VertexId, place: Place) -> Result<(), Stop> {
        if place.degree > self.graph.huge_len {
            return self.defer(worker, v, place);
        }
        let into = (&mut worker.state, &mut worker.decoded);
        self.graph.offer.arcs(self.visitor, into, v, place, (0..place.degree, true));
        Ok(())
    }

    /// Leaves a huge list for later, or hands it over piece by piece.
    #[cold]
    #[inline(never)]
    fn defer(&self, worker: &mut Worker<V::State>, v: VertexId, place: Place) -> Result<(), Stop> {
        if let Some(huge) = &self.huge {
            huge.lock().unwrap_or_else(PoisonError::into_inner).push(v);
            return Ok(());
        }
        for first in (0..place.degree).step_by(PIECE_LEN) {
            self.run.check()?;
            if self.offer_piece(worker, v, place, (first, true)) == Flow::Enough {
                break;
            }
        }
        Ok(())
    }

    fn offer_piece(
        &self,
        worker: &mut Worker<V::State>,
        v: VertexId,
        place: Place,
        (first, exclusive): (usize, bool),
    ) -> Flow {
        let arcs = first..place.degree.min(first + PIECE_LEN);
        let into = (&mut worker.state, &mut worker.decoded);
        self.graph.offer.arcs(self.visitor, into, v, place, (arcs, exclusive))
    }

    /// Hands over the lists that were left, once nobody holds a vertex alone any more.
    fn offer_huge(self, workers: Vec<Worker<V::State>>) -> Result<Vec<V::State>, Stop> {
        let left = self
            .huge
            .as_ref()
            .map(|huge| std::mem::take(&mut *huge.lock().unwrap_or_else(PoisonError::into_inner)));
        let left: Vec<(VertexId, Place)> =
            left.unwrap_or_default().into_iter().map(|v| (v, self.graph.index().place(v as usize))).collect();
        let pieces: Vec<(usize, usize)> = left
            .iter()
            .enumerate()
            .flat_map(|(at, (_, place))| (0..place.degree).step_by(PIECE_LEN).map(move |first| (at, first)))
            .collect();
        let enough = Bitmap::new(left.len());
        // Workers go on with the states that they had.
        let workers = Mutex::new(workers);
        let lock = || workers.lock().unwrap_or_else(PoisonError::into_inner);
        let used = if pieces.is_empty() {
            Vec::new()
        } else {
            self.run.share(
                pieces.len(),
                || lock().pop().unwrap_or_else(|| self.worker()),
                |worker, i| {
                    let (at, first) = pieces[i];
                    let (v, place) = left[at];
                    if !enough.get(vertex(at))
                        && self.visitor.wants(v)
                        && self.offer_piece(worker, v, place, (first, false)) == Flow::Enough
                    {
                        enough.insert(vertex(at));
                    }
                    Ok::<(), Stop>(())
                },
            )?
        };
        let workers = workers.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(workers.into_iter().chain(used).map(|worker| worker.state).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use esker_graph::{Direction, Piece};
    use proptest::prelude::*;

    use super::*;
    use crate::format::Encoding;
    use crate::io::{Disk, FaultyDisk};
    use crate::layer::Body;
    use crate::sample::Sample;
    use crate::snapshot::Snapshot;

    /// Collects arcs, and whether their pieces were exclusive; has enough of a list after so many.
    struct Taking<const STOPS: bool>(usize);

    impl<const STOPS: bool> Visitor<i32> for Taking<STOPS> {
        type State = Vec<(VertexId, VertexId, i32, bool)>;

        const STOPS: bool = STOPS;

        fn new_state(&self) -> Self::State {
            Vec::new()
        }

        fn wants(&self, v: VertexId) -> bool {
            v % 7 != 3
        }

        fn visit(&self, state: &mut Self::State, v: VertexId, piece: Piece<'_, i32>) -> Flow {
            assert!(!piece.targets.is_empty() && piece.targets.is_sorted());
            let arcs = piece.targets.iter().zip(piece.weights);
            state.extend(arcs.map(|(&target, &weight)| (v, target, weight, piece.exclusive)));
            if STOPS && state.iter().filter(|arc| arc.0 == v).count() >= self.0 {
                return Flow::Enough;
            }
            Flow::More
        }
    }

    fn scanned<const STOPS: bool>(
        graph: &Compressed<'_, i32>,
        run: &Run,
        select: Select<'_>,
        enough: usize,
    ) -> Vec<(VertexId, VertexId, i32, bool)> {
        let mut arcs = graph.scan(run, select, &Taking::<STOPS>(enough)).unwrap().concat();
        arcs.sort_unstable();
        arcs
    }

    proptest! {
        #![proptest_config(crate::cases::of(60))]
        /// Few vertices, so that there are lists of several blocks; and those that are shared.
        #[test]
        fn scans_give_the_lists(
            n in 1_usize..200, count in 0_usize..4000, directed: bool, seed: u32, threads in 1_usize..4, huge_len in 0_usize..700,
        ) {
            let sample = Sample { encoding: Encoding::Compressed, ..Sample::random(n, count, directed, seed) };
            let disk: Arc<dyn Disk> = Arc::new(FaultyDisk::new(1));
            sample.write(&disk, Path::new("c"), false).unwrap();
            let snapshot = Snapshot::open(&disk, Path::new("c")).unwrap();
            let run = Run::with_threads(threads).unwrap();
            let lists = snapshot.stack().section(0, Direction::Out).unwrap().main();
            let Body::Coded(coded) = lists.body() else { panic!("it is compressed") };
            let weights = i32::all(lists, 0, &run).unwrap();
            let graph = Compressed::new(coded.all(&run).unwrap(), weights).with_huge_len(huge_len);
            let model = sample.model();
            let rows = *model.graph().rows(Direction::Out).unwrap();
            let chosen: Vec<VertexId> = (0..n).filter(|v| v % 3 != 1).map(vertex).collect();
            let bits = Bitmap::new(n);
            chosen.iter().for_each(|&v| assert!(bits.insert(v)));
            let all: Vec<VertexId> = (0..n).map(vertex).collect();
            let expected = |chosen: &[VertexId]| {
                let wanted = chosen.iter().filter(|&&v| v % 7 != 3);
                let mut arcs: Vec<_> = wanted.flat_map(|&v| {
                    let (targets, weights) = rows.list(v);
                    let alone = threads == 1 || targets.len() <= huge_len;
                    targets.iter().zip(weights).map(move |(&target, &weight)| (v, target, weight, alone))
                }).collect();
                arcs.sort_unstable();
                arcs
            };
            for (select, chosen) in [
                (Select::All, &all), (Select::Bits(&bits), &chosen), (Select::List(&chosen), &chosen),
            ] {
                let expected = expected(chosen);
                prop_assert_eq!(&scanned::<true>(&graph, &run, select, usize::MAX), &expected);
                prop_assert_eq!(&scanned::<false>(&graph, &run, select, 0), &expected);
                let first = scanned::<true>(&graph, &run, select, 1);
                let mut vertices: Vec<VertexId> = expected.iter().map(|arc| arc.0).collect();
                vertices.dedup();
                for v in vertices {
                    // The first targets, and no list is begun as a whole after one that was enough.
                    let own: Vec<VertexId> = first.iter().filter(|arc| arc.0 == v).map(|arc| arc.1).collect();
                    let (targets, _) = rows.list(v);
                    prop_assert_eq!(&own[..], &targets[..targets.len().min(2)]);
                }
            }
            for v in all {
                // Nested, as intersections are.
                graph.with_list(v, |targets, weights| {
                    assert_eq!((targets, weights), rows.list(v));
                    let other = vertex((v as usize + 1) % n);
                    graph.with_list(other, |targets, weights| assert_eq!((targets, weights), rows.list(other)));
                    assert_eq!((targets, weights), rows.list(v));
                });
            }
        }
    }
}
