//! Triangles: how many there are in the undirected simple graph that underlies the cluster, and how many each
//! vertex is in.
//!
//! Vertices are ordered by degree, and by address where degrees are equal. A triangle u < v < w is found
//! once, by intersecting the later neighbours of u with those of v; for that, the later neighbours of u go to
//! each shard that owns one of them [1]. Then counts go to the owners of the vertices. Directions, loops and
//! parallel edges are ignored. Work O(m^1.5). Messages: 8 bytes a later neighbour and shard that owns some of
//! them, and 16 a vertex that was counted elsewhere. Memory: 16 bytes for each end of an edge; a round sends
//! some 16 MiB a process.
//!
//! [1] S. Arifuzzaman, M. Khan, M. Marathe, "PATRIC: a parallel algorithm for counting triangles in massive
//!     networks", CIKM 2013.

use std::collections::HashMap;

use esker_format::{Error, Result};

use super::entry::ClusterAlgorithm;
use super::full_lists::{address, full_lists, number_of, shard_of};
use super::local::{FoundValues, Local, Options};
use crate::model::answer::{Cell, ColumnKind, Outline};
use crate::model::needs::{AlgorithmNeeds, Sends, ShardShape};
use crate::net::engine::Engine;
use crate::net::wire::{Taker, put_u64};

/// Bytes that a process sends in a round, about.
const ROUND_BYTES: usize = 1 << 24;

/// Its entry in the catalogue.
pub(crate) const ENTRY: ClusterAlgorithm = ClusterAlgorithm {
    name: "triangles",
    about: "number of triangles, and of those that each vertex is in",
    options: &[],
    reads_weights: false,
    needs,
    run: triangles,
};

fn needs(shape: &ShardShape) -> AlgorithmNeeds {
    let (n, ends, round) = (shape.vertices(), shape.ends(), ROUND_BYTES as u64);
    let sent = round + 16 * n + 8 * ends;
    AlgorithmNeeds {
        array_bytes: 48 * n + 32 * ends + 6 * round + 64 * shape.arcs_of_parts(),
        sends: Sends::ARound(sent.max(shape.ghost_id_bytes) + 24 * shape.arcs_of_parts()),
    }
}

fn triangles(local: &Local<'_, '_>, engine: &mut Engine<'_>, _: &Options<'_>) -> Result<FoundValues> {
    let me = local.routes.shard();
    let mut lists = full_lists(local, engine)?;
    let degrees = NeighbourDegrees::of(&lists, me, engine)?;
    for (v, list) in lists.iter_mut().enumerate() {
        let own = degrees.rank(address(me, v));
        list.retain(|&other| degrees.rank(other) > own);
        list.shrink_to_fit();
    }
    drop(degrees);
    let mut counts = TriangleCounts { me, own: vec![0; lists.len()], others: HashMap::new(), triangles: 0 };
    let (mut next, mut rounds) = (0, 0);
    loop {
        let mut blocks = vec![vec![0; 8]; engine.peers()];
        let mut sent_bytes = 0;
        while next < lists.len() && sent_bytes < ROUND_BYTES {
            let later = &lists[next];
            let mut shards: Vec<usize> = later.iter().map(|&other| shard_of(other)).collect();
            // Addresses ascend, so equal shards are beside each other.
            shards.dedup();
            for shard in shards.into_iter().filter(|_| later.len() > 1) {
                let block = &mut blocks[shard];
                put_u64(block, address(me, next));
                put_u64(block, later.len() as u64);
                later.iter().for_each(|&other| put_u64(block, other));
                sent_bytes += 8 * later.len() + 16;
            }
            next += 1;
        }
        let is_over = next == lists.len();
        blocks.iter_mut().for_each(|block| block[0] = u8::from(is_over));
        rounds += 1;
        let mut are_all_over = true;
        for block in engine.exchange(blocks) {
            let mut taker = Taker(&block);
            are_all_over &= taker.u64()? == 1;
            counts.take(&mut taker, &lists, local)?;
        }
        if are_all_over {
            break;
        }
    }
    let [triangles] = engine.sum([counts.triangles])?;
    let own = counts.finish(engine)?;
    let outline =
        Outline::new(&[("triangles", ColumnKind::Count)], rounds).with_fact("triangles", triangles as f64);
    Ok((outline, Box::new(move |v, row| row.push(Cell::Count(own[v as usize])))))
}

fn broken() -> Error {
    Error::invalid(
        "a process sent a vertex that this shard does not have: all must run the same Esker".to_owned(),
    )
}

/// The degrees of the own vertices and of their neighbours.
struct NeighbourDegrees {
    me: usize,
    own: Vec<u64>,
    /// Addresses of neighbours in other shards, ascending, and their degrees.
    others: Vec<u64>,
    of_others: Vec<u64>,
}

impl NeighbourDegrees {
    fn of(lists: &[Vec<u64>], me: usize, engine: &mut Engine<'_>) -> Result<Self> {
        let own: Vec<u64> = lists.iter().map(|list| list.len() as u64).collect();
        let mut others: Vec<u64> =
            lists.iter().flatten().copied().filter(|&other| shard_of(other) != me).collect();
        others.sort_unstable();
        others.dedup();
        let mut questions = vec![Vec::new(); engine.peers()];
        others.iter().for_each(|&other| put_u64(&mut questions[shard_of(other)], number_of(other) as u64));
        let mut answers = vec![Vec::new(); engine.peers()];
        for (answer, block) in answers.iter_mut().zip(engine.exchange(questions)) {
            let mut taker = Taker(&block);
            while !taker.is_empty() {
                put_u64(answer, *own.get(taker.u64()? as usize).ok_or_else(broken)?);
            }
        }
        let mut of_others = Vec::with_capacity(others.len());
        for block in engine.exchange(answers) {
            let mut taker = Taker(&block);
            while !taker.is_empty() {
                of_others.push(taker.u64()?);
            }
        }
        if of_others.len() != others.len() {
            return Err(broken());
        }
        Ok(Self { me, own, others, of_others })
    }

    fn rank(&self, address: u64) -> (u64, u64) {
        let degree = match shard_of(address) == self.me {
            true => self.own[number_of(address)],
            false => self.others.binary_search(&address).map_or(0, |place| self.of_others[place]),
        };
        (degree, address)
    }
}

/// How many triangles were found at each vertex.
struct TriangleCounts {
    me: usize,
    own: Vec<u64>,
    others: HashMap<u64, u64>,
    triangles: u64,
}

impl TriangleCounts {
    /// Takes lists of later neighbours from another process, or from this one, and intersects them with those
    /// of the own vertices among them.
    fn take(&mut self, taker: &mut Taker<'_>, lists: &[Vec<u64>], local: &Local<'_, '_>) -> Result<()> {
        let mut later = Vec::new();
        while !taker.is_empty() {
            local.run.check()?;
            let (first, len) = (taker.u64()?, taker.u64()?);
            later.clear();
            for _ in 0..len {
                later.push(taker.u64()?);
            }
            let me = self.me;
            for &second in later.iter().filter(|&&second| shard_of(second) == me) {
                let of_second = lists.get(number_of(second)).ok_or_else(broken)?;
                let found = self.triangles;
                each_common(&later, of_second, |third| {
                    self.triangles += 1;
                    self.add(third, 1);
                });
                let found = self.triangles - found;
                if found > 0 {
                    self.add(first, found);
                    self.add(second, found);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, address: u64, count: u64) {
        match shard_of(address) == self.me {
            true => self.own[number_of(address)] += count,
            false => *self.others.entry(address).or_default() += count,
        }
    }

    /// The counts of the own vertices, with what others found.
    fn finish(mut self, engine: &mut Engine<'_>) -> Result<Vec<u64>> {
        let mut blocks = vec![Vec::new(); engine.peers()];
        for (&address, &count) in &self.others {
            let block = &mut blocks[shard_of(address)];
            put_u64(block, number_of(address) as u64);
            put_u64(block, count);
        }
        for block in engine.exchange(blocks) {
            let mut taker = Taker(&block);
            while !taker.is_empty() {
                let (number, count) = (taker.u64()? as usize, taker.u64()?);
                *self.own.get_mut(number).ok_or_else(broken)? += count;
            }
        }
        Ok(self.own)
    }
}

/// If one list is this many times as long as the other, its entries are searched for.
const SEARCH_SHARE: usize = 16;

/// Calls `take` with what two ascending lists have in common.
fn each_common(a: &[u64], b: &[u64], mut take: impl FnMut(u64)) {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if long.len() / SEARCH_SHARE > short.len() {
        short.iter().filter(|one| long.binary_search(one).is_ok()).for_each(|&one| take(one));
        return;
    }
    let (mut i, mut j) = (0, 0);
    while i < short.len() && j < long.len() {
        let (x, y) = (short[i], long[j]);
        if x == y {
            take(x);
        }
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
}
