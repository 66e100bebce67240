//! A filter as a graph: scans and lists of the remaining edges.

use std::cell::RefCell;
use std::sync::atomic::Ordering::Relaxed;

use esker_graph::{Direction, Flow, Graph, Lists, Piece, Run, Select, Stop, VertexId, Visitor, Weight};

use super::blocks::{BLOCK_LEN, FilterBlock, FilterBlocks};
use super::edges::{Filter, FilteredDirections};

/// The longest piece handed over, so that cancellation is checked in time.
const PIECE_LEN_MAX: usize = 1 << 20;
/// Edges buffered from partly filtered lists before they are handed over.
const BUFFERED: usize = 512;

impl<G: Lists> Graph for Filter<'_, G> {
    type Weight = G::Weight;
    type Error = G::Error;

    fn num_vertices(&self) -> usize {
        self.graph.num_vertices()
    }

    fn num_arcs(&self) -> u64 {
        self.arcs.load(Relaxed)
    }

    fn is_directed(&self) -> bool {
        self.sides != FilteredDirections::Symmetric
    }

    fn has(&self, direction: Direction) -> bool {
        direction == Direction::Out || self.sides != FilteredDirections::Out
    }

    #[inline(always)]
    fn degree(&self, direction: Direction, v: VertexId) -> usize {
        self.blocks(direction).expect("the filter covers this direction").degree(v)
    }

    fn scan<V: Visitor<G::Weight>>(
        &self,
        run: &Run,
        direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>, G::Error> {
        let blocks = self.blocks(direction)?;
        let states = self.each(
            run,
            direction,
            select,
            || (visitor.new_state(), PieceBuffer::default()),
            |(state, buffer), v| {
                if !visitor.wants(v) {
                    return Ok(());
                }
                self.graph.with_list(direction, v, |list, weights| {
                    let whole = blocks.degree(v) == list.len();
                    let mut hand = |targets: &[VertexId], weights: &[G::Weight]| -> Result<Flow, Stop> {
                        let parts = targets.chunks(PIECE_LEN_MAX).zip(weights.chunks(PIECE_LEN_MAX));
                        for (i, (targets, weights)) in parts.enumerate() {
                            if i > 0 {
                                run.check()?;
                            }
                            let piece = Piece { targets, weights, exclusive: true };
                            if visitor.visit(state, v, piece) == Flow::Enough {
                                return Ok(Flow::Enough);
                            }
                        }
                        Ok(Flow::More)
                    };
                    if whole {
                        hand(list, weights).map(drop)
                    } else {
                        buffer.hand_over(blocks.of(v), list, weights, hand)
                    }
                })??;
                Ok(())
            },
        )?;
        Ok(states.into_iter().map(|(state, _)| state).collect())
    }
}

/// Buffers the active edges of a partly filtered list.
struct PieceBuffer<W> {
    targets: Vec<VertexId>,
    weights: Vec<W>,
}

impl<W> Default for PieceBuffer<W> {
    fn default() -> Self {
        Self { targets: Vec::new(), weights: Vec::new() }
    }
}

impl<W: Weight> PieceBuffer<W> {
    fn hand_over(
        &mut self,
        blocks: impl Iterator<Item = FilterBlock>,
        list: &[VertexId],
        weights: &[W],
        mut hand: impl FnMut(&[VertexId], &[W]) -> Result<Flow, Stop>,
    ) -> Result<(), Stop> {
        self.targets.clear();
        self.weights.clear();
        for block in blocks {
            self.take(block, list, weights);
            if self.targets.len() > BUFFERED - BLOCK_LEN {
                if hand(&self.targets, &self.weights)? == Flow::Enough {
                    return Ok(());
                }
                self.targets.clear();
                self.weights.clear();
            }
        }
        if !self.targets.is_empty() {
            hand(&self.targets, &self.weights)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self, block: FilterBlock, list: &[VertexId], weights: &[W]) {
        if block.bits == u64::MAX {
            self.targets.extend_from_slice(&list[block.first..block.first + BLOCK_LEN]);
            self.weights.extend_from_slice(&weights[block.first..block.first + BLOCK_LEN]);
            return;
        }
        let mut bits = block.bits;
        while bits != 0 {
            let at = block.first + bits.trailing_zeros() as usize;
            self.targets.push(list[at]);
            self.weights.push(weights[at]);
            bits &= bits - 1;
        }
    }
}

thread_local! {
    /// Buffers for partly filtered lists; several exist while calls are nested.
    static BUFFERS: RefCell<Vec<Vec<VertexId>>> = const { RefCell::new(Vec::new()) };
}

impl<G: Lists> Lists for Filter<'_, G> {
    fn with_list<R>(
        &self,
        direction: Direction,
        v: VertexId,
        f: impl FnOnce(&[VertexId], &[G::Weight]) -> R,
    ) -> Result<R, G::Error> {
        let blocks: &FilterBlocks = self.blocks(direction)?;
        if blocks.degree(v) == 0 {
            return Ok(f(&[], &[]));
        }
        self.graph.with_list(direction, v, |list, weights| {
            if blocks.degree(v) == list.len() {
                return f(list, weights);
            }
            let targets = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
            let mut buffer = PieceBuffer { targets, weights: Vec::new() };
            buffer.targets.clear();
            blocks.of(v).for_each(|block| buffer.take(block, list, weights));
            let result = f(&buffer.targets, &buffer.weights);
            BUFFERS.with_borrow_mut(|buffers| buffers.push(buffer.targets));
            result
        })
    }
}
