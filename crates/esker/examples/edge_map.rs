//! A new algorithm over `edge_map`: which of several sources is the nearest to each vertex.
//!
//! `edge_map` applies an operator to the edges that leave a frontier, pushing or pulling as is cheaper, and
//! returns the next frontier. The algorithm below runs on every graph: in memory, mapped, pooled, of your
//! own. Of sources at the same distance the one with the least number wins, so the answer does not depend on
//! timing. Prints, for a grid of 5 by 5 with sources in three corners:
//!
//! ```text
//!  0  0  0  4  4
//!  0  0  0  4  4
//!  0  0  0  4  4
//! 20 20 20  4  4
//! 20 20 20 20  4
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;

use esker::algo::primitive::{EdgeOp, Frontier, VertexArray, edge_map};
use esker::graph::{Csr, Graph, NONE, Run, VertexId};

fn main() -> Result<(), Box<dyn Error>> {
    run(Path::new(""), &mut stdout())
}

/// Spreads the sources one step. The state: the source of each vertex, and its distance.
struct Spread<'a> {
    nearest: &'a VertexArray,
    distance: &'a VertexArray,
    round: VertexId,
}

impl EdgeOp<()> for Spread<'_> {
    /// A vertex joins the next frontier once, although its source may improve several times in a round.
    const REPEATS: bool = true;

    fn wants(&self, dst: VertexId) -> bool {
        let distance = self.distance.get(dst);
        distance == NONE || distance == self.round
    }

    fn push(&self, src: VertexId, dst: VertexId, _weight: ()) -> bool {
        self.distance.set(dst, self.round); // threads race, but all write the same
        self.nearest.lower(dst, self.nearest.get(src)).is_some()
    }
}

/// The nearest source of each vertex, [`NONE`] where none leads to. Memory: two ids a vertex, and frontiers.
fn nearest<G: Graph<Weight = ()>>(
    graph: &G,
    run: &Run,
    sources: &[VertexId],
) -> Result<Vec<VertexId>, G::Error> {
    let nearest = VertexArray::filled(run, graph.num_vertices(), NONE);
    let distance = VertexArray::filled(run, graph.num_vertices(), NONE);
    for &source in sources {
        nearest.set(source, source);
        distance.set(source, 0);
    }
    let mut frontier = Frontier::from_list(graph, sources.to_vec());
    for round in 1.. {
        if frontier.is_empty() {
            break;
        }
        run.round(frontier.len())?; // reports progress, and ends a cancelled run
        frontier =
            edge_map(graph, run, &frontier, &Spread { nearest: &nearest, distance: &distance, round })?;
    }
    Ok(nearest.into_vec())
}

pub(crate) fn run(_directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let right = (0..25).filter(|v| v % 5 < 4).map(|v| (v, v + 1, ()));
    let down = (0..20).map(|v| (v, v + 5, ()));
    let grid = Csr::undirected(25, &right.chain(down).collect::<Vec<_>>())?;
    let found = nearest(&grid.graph(), &Run::with_threads(2)?, &[0, 4, 20])?;
    for row in found.chunks(5) {
        let row: Vec<String> = row.iter().map(|source| format!("{source:2}")).collect();
        writeln!(out, "{}", row.join(" "))?;
    }
    Ok(())
}
