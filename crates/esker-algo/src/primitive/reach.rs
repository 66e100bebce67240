//! Reachability: the vertices to which a path leads, in no particular order.
//!
//! A breadth-first search of a path of a million vertices takes a million rounds. Reachability needs no levels: each
//! worker follows edges depth first from its share of the frontier for a while and leaves what is open then to the next
//! round, so rounds are few on every graph, and a frontier too small to share is followed on the calling thread. The
//! idea is the "vertical granularity control" of [1]. A frontier from which a good part of all edges leaves is followed
//! from the other side: whatever is not reached looks for a neighbour that is, as in [2].
//!
//! [1] L. Wang, X. Dong, Y. Gu, Y. Sun, "Parallel Strong Connectivity Based on Faster Reachability", SIGMOD 2023.
//! [2] S. Beamer, K. Asanović, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.

use esker_graph::{Bitmap, Direction, Flow, Lists, Piece, Run, Select, VertexId, Visitor, Weight};

/// Open vertices that are worth sharing among threads.
const SHARED_LEN_MIN: usize = 256;
/// Vertices that one unit of shared work begins with.
const UNIT_LEN: usize = 32;
/// Entries of lists that a unit follows before it leaves the rest to the next round.
const UNIT_ENTRIES: usize = 1 << 14;
/// The frontier is followed from the other side if more than one arc in so many leaves it.
const PULL_SHARE: u64 = 16;

/// Adds to `reached` everything to which paths in `direction` lead from `source` through vertices that are `allowed`.
///
/// Work O(n + m) of what is reached. Memory: at most two ids for each vertex reached. Reads the list of each vertex
/// reached once, in no order; when pulling, the lists of the other direction of all that is not reached, up to the
/// first neighbour that is. Both directions must be kept.
pub(crate) fn reach<G: Lists>(
    graph: &G,
    run: &Run,
    direction: Direction,
    source: VertexId,
    reached: &Bitmap,
    allowed: impl Fn(VertexId) -> bool + Sync,
) -> Result<(), G::Error> {
    let follow = |v: VertexId, open: &mut Vec<VertexId>| -> Result<(), G::Error> {
        graph.with_list(direction, v, |list, _| {
            open.extend(list.iter().copied().filter(|&u| !reached.get(u) && allowed(u) && reached.insert(u)));
        })
    };
    reached.insert(source);
    let mut open = vec![source];
    while !open.is_empty() {
        run.check()?;
        let mut entries = 0;
        while open.len() < SHARED_LEN_MIN || run.threads() == 1 {
            let Some(v) = open.pop() else { return Ok(()) };
            follow(v, &mut open)?;
            entries += graph.degree(direction, v) + 1;
            if entries > UNIT_ENTRIES {
                run.check()?;
                entries = 0;
            }
        }
        let leaving: u64 = open.iter().map(|&v| graph.degree(direction, v) as u64).sum();
        if leaving > graph.num_arcs() / PULL_SHARE {
            let pull = Pull { reached, allowed: &allowed };
            open = graph.scan(run, direction.reverse(), Select::All, &pull)?.concat();
            continue;
        }
        let left = run.share(open.len().div_ceil(UNIT_LEN), Vec::new, |left: &mut Vec<VertexId>, unit| {
            let kept = left.len();
            left.extend_from_slice(&open[unit * UNIT_LEN..open.len().min((unit + 1) * UNIT_LEN)]);
            let mut entries = 0;
            while left.len() > kept && entries < UNIT_ENTRIES {
                let v = left.pop().expect("there are more than were kept");
                follow(v, left)?;
                entries += graph.degree(direction, v) + 1;
            }
            Ok::<(), G::Error>(())
        })?;
        open.clear();
        left.into_iter().for_each(|part| open.extend(part));
    }
    Ok(())
}

/// Adds every vertex that has a neighbour among those reached.
struct Pull<'a, A> {
    reached: &'a Bitmap,
    allowed: &'a A,
}

impl<W: Weight, A: Fn(VertexId) -> bool + Sync> Visitor<W> for Pull<'_, A> {
    /// The vertices added.
    type State = Vec<VertexId>;

    fn new_state(&self) -> Vec<VertexId> {
        Vec::new()
    }

    #[inline(always)]
    fn wants(&self, v: VertexId) -> bool {
        !self.reached.get(v) && (self.allowed)(v)
    }

    #[inline(always)]
    fn visit(&self, added: &mut Vec<VertexId>, v: VertexId, piece: Piece<'_, W>) -> Flow {
        if !piece.targets.iter().any(|&u| self.reached.get(u)) {
            return Flow::More;
        }
        if self.reached.insert(v) {
            added.push(v);
        }
        Flow::Enough
    }
}
