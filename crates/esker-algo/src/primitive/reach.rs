//! Reachability: all vertices to which a path leads, found in no particular order.
//!
//! A breadth-first search of a path of a million vertices takes a million rounds, but reachability needs no
//! levels. Each worker follows edges depth-first from its share of the frontier up to a limit and leaves its
//! open vertices to the next round, so every graph takes few rounds. A frontier too small to share stays on
//! the calling thread. This is the "vertical granularity control" of [1]. If a large fraction of all arcs
//! leaves the frontier, the round pulls instead: each unreached vertex looks for a reached neighbour, as in
//! [2].
//!
//! [1] L. Wang, X. Dong, Y. Gu, Y. Sun, "Parallel Strong Connectivity Based on Faster Reachability",
//!     SIGMOD 2023.
//! [2] S. Beamer, K. Asanović, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012.

use esker_graph::{Bitmap, Direction, Flow, Lists, Piece, Run, Select, VertexId, Visitor, Weight};

/// Fewer open vertices than this are not shared among threads.
const SHARED_LEN_MIN: usize = 256;
/// Open vertices at the start of one unit of shared work.
const UNIT_LEN: usize = 32;
/// Entries that a unit follows before it leaves its open vertices to the next round.
const UNIT_ENTRIES: usize = 1 << 14;
/// A round pulls if more than one in this many arcs leaves the frontier.
const PULL_SHARE: u64 = 16;

/// Adds to `reached` every vertex to which a path in `direction` leads from `source` through `allowed`
/// vertices.
///
/// Work: O(n + m) of the reached part. Memory: at most two ids per vertex reached. Reads the list of each
/// reached vertex once, in no order; a pull reads the opposite lists of all unreached vertices, each up to
/// its first reached neighbour. The graph must have both directions.
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
            let pull = PullReached { reached, allowed: &allowed };
            open = graph.scan(run, direction.reverse(), Select::All, &pull)?.concat();
            continue;
        }
        let left = run.share(open.len().div_ceil(UNIT_LEN), Vec::new, |left: &mut Vec<VertexId>, unit| {
            let kept = left.len();
            left.extend_from_slice(&open[unit * UNIT_LEN..open.len().min((unit + 1) * UNIT_LEN)]);
            let mut entries = 0;
            while left.len() > kept && entries < UNIT_ENTRIES {
                let v = left.pop().expect("the list is longer than `kept`");
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

/// Adds every vertex that has a reached neighbour.
struct PullReached<'a, A> {
    reached: &'a Bitmap,
    allowed: &'a A,
}

impl<W: Weight, A: Fn(VertexId) -> bool + Sync> Visitor<W> for PullReached<'_, A> {
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
