//! A graph of one's own behind the trait `Graph`: a hypercube, whose lists are computed and never stored.
//!
//! Whatever implements `Graph` runs every algorithm that scans. Prints how many vertices lie at each distance
//! from vertex 0 of a hypercube of 10 dimensions, and its number of components:
//!
//! ```text
//! 1 10 45 120 210 252 210 120 45 10 1
//! 1 component
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;

use esker::algo::algorithm::components::wcc::{WccOptions, wcc};
use esker::algo::algorithm::paths::bfs::{BfsOptions, bfs};
use esker::graph::{Direction, Graph, Piece, Run, Select, Stop, VertexId, Visitor, vertex};

fn main() -> Result<(), Box<dyn Error>> {
    run(Path::new(""), &mut stdout())
}

/// Vertices are numbers of so many bits; an edge joins two that differ in one bit.
struct Hypercube {
    dimensions: u32,
}

/// Vertices that a thread takes at a time; a multiple of 64, so that no two threads share a word of a bitmap.
const GRAIN: usize = 1 << 10;

impl Graph for Hypercube {
    type Weight = ();
    type Error = Stop; // lists are never read from anywhere, so a scan can only be cancelled

    fn num_vertices(&self) -> usize {
        1 << self.dimensions
    }

    fn num_arcs(&self) -> u64 {
        u64::from(self.dimensions) << self.dimensions
    }

    fn is_directed(&self) -> bool {
        false
    }

    fn has(&self, _direction: Direction) -> bool {
        true
    }

    fn degree(&self, _direction: Direction, _v: VertexId) -> usize {
        self.dimensions as usize
    }

    fn scan<V: Visitor<()>>(
        &self,
        run: &Run,
        _direction: Direction,
        select: Select<'_>,
        visitor: &V,
    ) -> Result<Vec<V::State>, Stop> {
        let new_state = || (visitor.new_state(), Vec::new());
        let visit = |(state, list): &mut (V::State, Vec<VertexId>), v: VertexId| {
            if visitor.wants(v) {
                list.clear();
                list.extend((0..self.dimensions).map(|bit| v ^ (1 << bit)));
                let weights = &vec![(); list.len()][..]; // takes no memory
                visitor.visit(state, v, Piece { targets: list, weights, exclusive: true });
            }
        };
        // One piece a list, by one thread: `exclusive` holds. All workers' states go back to the caller.
        let (len, list) = match select {
            Select::List(list) => (list.len(), Some(list)),
            Select::All | Select::Bits(_) => (self.num_vertices(), None),
        };
        let states = run.share_ranges(len, GRAIN, new_state, |state, range| {
            for index in range {
                match (select, list) {
                    (_, Some(list)) => visit(state, list[index]),
                    (Select::Bits(bits), None) if !bits.get(vertex(index)) => {}
                    _ => visit(state, vertex(index)),
                }
            }
            Ok::<_, Stop>(())
        })?;
        Ok(states.into_iter().map(|(state, _)| state).collect())
    }
}

pub(crate) fn run(_directory: &Path, out: &mut dyn Write) -> Result<(), Box<dyn Error>> {
    let (cube, run) = (Hypercube { dimensions: 10 }, Run::with_threads(2)?);
    let depths = bfs(&cube, &run, &[0], &BfsOptions::default())?.depths.unwrap_or_default();
    let counts: Vec<String> =
        (0..=10).map(|depth| depths.iter().filter(|&&found| found == depth).count().to_string()).collect();
    writeln!(out, "{}", counts.join(" "))?;
    writeln!(out, "{} component", wcc(&cube, &run, &WccOptions::default())?.components)?;
    Ok(())
}
