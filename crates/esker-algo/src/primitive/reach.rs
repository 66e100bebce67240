//! Reachability: the vertices to which a path leads, in no particular order.
//!
//! A breadth-first search of a path of a million vertices takes a million rounds. Reachability needs no levels: each
//! worker follows edges depth first from its share of the frontier for a while and leaves what is open then to the next
//! round, so rounds are few on every graph, and a frontier too small to share is followed on the calling thread. The
//! idea is the "vertical granularity control" of [1].
//!
//! [1] L. Wang, X. Dong, Y. Gu, Y. Sun, "Parallel Strong Connectivity Based on Faster Reachability", SIGMOD 2023.

use esker_graph::{Bitmap, Direction, Lists, Run, VertexId};

/// Open vertices that are worth sharing among threads.
const SHARED_LEN_MIN: usize = 256;
/// Vertices that one unit of shared work begins with.
const UNIT_LEN: usize = 32;
/// Entries of lists that a unit follows before it leaves the rest to the next round.
const UNIT_ENTRIES: usize = 1 << 14;

/// Adds to `reached` everything to which paths in `direction` lead from `source` through vertices that are `allowed`.
///
/// Work O(n + m) of what is reached. Memory: at most two ids for each vertex reached. Reads the list of each vertex
/// reached once, in no order.
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
