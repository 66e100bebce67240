//! Scans over one complete layer whose lists are compressed.
//!
//! Each worker decodes into a buffer of its own: lists as a whole, so that a visit sees what it would see of an array; but only a few arcs
//! first for visitors that soon have enough. Only the loop around the decoder is compiled for each visitor. Pieces of a huge list begin with
//! blocks, which decode independently.

use std::cell::RefCell;
use std::ops::Range;

use esker_graph::{
    BATCH_LEN, Extents, Flow, HUGE_LEN, Layout, Run, Select, Stop, VertexId, Visitor, scan, vertex,
};

use super::offer::{Decoded, Offer};
use super::weight::StoredWeight;
use crate::layer::{CodedLists, Index, Place, Places};

thread_local! {
    /// Buffers for point reads. Several, because such reads are nested.
    static BUFFERS: RefCell<Vec<Vec<VertexId>>> = const { RefCell::new(Vec::new()) };
}

/// One direction of a compressed layer, verified.
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
        scan(self, run, select, visitor)
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

    /// Hands over the list of `v`, unless it is huge.
    #[inline(always)]
    fn offer<V: Visitor<W>>(
        &self,
        visitor: &V,
        into: (&mut V::State, &mut Decoded),
        (v, place): (VertexId, Place),
        huge: &mut Vec<VertexId>,
    ) {
        if !visitor.wants(v) {
            return;
        }
        if place.degree > self.huge_len {
            huge.push(v);
        } else {
            self.offer.arcs(visitor, into, v, place, (0..place.degree, true));
        }
    }
}

/// What a worker decodes into, and the places of the block in hand.
pub(super) struct Buffer {
    decoded: Decoded,
    places: Places,
}

impl<W: StoredWeight> Extents for Compressed<'_, W> {
    fn num_vertices(&self) -> usize {
        self.index().len()
    }

    fn entries_before(&self, v: usize) -> usize {
        v + self.index().before(v)
    }

    fn degree(&self, v: VertexId) -> usize {
        self.index().degree(v as usize)
    }
}

impl<W: StoredWeight> Layout<W> for Compressed<'_, W> {
    type Buffer = Buffer;

    fn new_buffer(&self, stops: bool, deterministic: bool) -> Buffer {
        Buffer { decoded: Decoded::new(stops, deterministic), places: Places::default() }
    }

    #[inline(always)]
    fn visit_block<V: Visitor<W>>(
        &self,
        visitor: &V,
        (state, buffer): (&mut V::State, &mut Buffer),
        first: usize,
        mut wanted: u64,
        huge: &mut Vec<VertexId>,
    ) {
        let Buffer { decoded, places } = buffer;
        self.offer.lists.places(first, places);
        let whole = !V::STOPS || decoded.is_whole();
        while wanted != 0 {
            let index = wanted.trailing_zeros() as usize;
            let (v, place) = (vertex(first + index), places.at(index));
            if whole && place.degree <= self.huge_len {
                let some = (wanted, self.huge_len);
                wanted &= !self.offer.group(visitor, (state, decoded), (first, places), some);
            } else {
                wanted &= wanted - 1;
                self.offer(visitor, (state, decoded), (v, place), huge);
            }
        }
    }

    /// The lists of a batch are located first, so that the processor's waits for memory overlap.
    #[inline(always)]
    fn visit_batch<V: Visitor<W>>(
        &self,
        visitor: &V,
        (state, buffer): (&mut V::State, &mut Buffer),
        batch: &[VertexId],
        huge: &mut Vec<VertexId>,
    ) {
        let mut places = [Place::default(); BATCH_LEN];
        for (place, &v) in places.iter_mut().zip(batch) {
            *place = self.index().place(v as usize);
        }
        places[..batch.len()].iter().for_each(|&place| self.offer.lists.touch(place));
        for (&place, &v) in places.iter().zip(batch) {
            self.offer(visitor, (state, &mut buffer.decoded), (v, place), huge);
        }
    }

    fn visit_piece<V: Visitor<W>>(
        &self,
        visitor: &V,
        (state, buffer): (&mut V::State, &mut Buffer),
        v: VertexId,
        arcs: Range<usize>,
        exclusive: bool,
    ) -> Flow {
        let place = self.index().place(v as usize);
        self.offer.arcs(visitor, (state, &mut buffer.decoded), v, place, (arcs, exclusive))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use esker_format::Encoding;
    use esker_format::io::{Disk, FaultyDisk};
    use esker_graph::{Bitmap, Direction, Piece};
    use proptest::prelude::*;

    use super::*;
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
        #![proptest_config(esker_format::testing::cases(60))]
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
