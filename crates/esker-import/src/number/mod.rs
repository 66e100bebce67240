//! Turns sparse integers and texts into dense vertices, in bounded memory: integers numbered in ascending
//! order, texts by first appearance.
//!
//! 1. *Cut* (`part`): each batch is cut into 256 partitions by the leading bits of the hash of its ids. The
//!    ids of a partition lie in one *lane* (`lane`), in input order; the *route* says for each id of the
//!    input, in order, its partition (one byte).
//! 2. *Resolve* (`resolve`): each partition by itself, on all threads: a table in the cache numbers its ids
//!    by first appearance in the partition. A table that does not fit the budget is cut again by the next
//!    bits.
//! 3. *Rank* (`rank`): a walk along the route meets the first appearances of all partitions in input order,
//!    and so gives each text its final number. Integers are sorted.
//! 4. *Translate*, per partition: numbers become final numbers.
//! 5. *Gather*: a second walk along the route merges the partitions into edges in input order.
//!
//! All passes are sequential. Bytes moved for each id of the input: its encoding (an integer 8, a text its
//! length and at least 1) and a byte of route, then twice 4 (8 with `id64`) of numbers, then the edges. They
//! lie in memory while the budget allows, else in temporary files. Beside lanes, memory holds 256 open
//! blocks, for each thread one table that takes what the budget has free, and at least one batch. The result
//! depends neither on the budget nor on the threads.

mod lane;
mod bits;
mod key;
mod part;
mod context;
mod rank;
mod resolve;
mod place;
mod names;
mod ascending;

use esker_format::Result;
use esker_graph::VertexId;
use esker_layers::ids::IdHasher;

use self::context::{Context, on_each};
use self::key::{Int, Kind, Text, garbled};
use self::lane::{Lane, LaneWriter};
use self::names::DistinctIds;
use self::part::{FIRST, KeyType};
use self::rank::{Gather, RankedIds, rank, rank_ascending, translate};
use self::resolve::resolve;
use super::keys::{Keys, Numbered};
use super::sort::scratch::Workspace;
use super::sort::spool::{SPOOL_BLOCK_BYTES, Spool};

pub(crate) use self::ascending::write_ascending;
pub(crate) use self::part::Parted;

/// Gives each distinct key a number, `0..`: integers in ascending order; texts in order of first appearance,
/// batch by batch, in a batch edge by edge, the source before the target. All keys of one import are of one
/// kind.
pub(crate) struct Numberer {
    context: Context,
    key_type: Option<KeyType>,
    route: LaneWriter<u8>,
    parts: Vec<LaneWriter<u8>>,
    stretches: Vec<IdStretch>,
    keeps_vertices: bool,
}

/// Ids of the input that are ends of edges, and then some that are vertices without an edge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct IdStretch {
    num_ends: u64,
    num_vertices: u64,
}

impl Numberer {
    /// For an import that shares `work`, of ids with this hash.
    pub(crate) fn new(work: &Workspace, hasher: IdHasher) -> Self {
        let context = Context::new(work, hasher);
        Self {
            key_type: None,
            route: LaneWriter::new(&context.shelf, context.block_bytes),
            parts: (0..FIRST.num_parts())
                .map(|_| LaneWriter::new(&context.shelf, context.block_bytes))
                .collect(),
            stretches: vec![IdStretch::default()],
            keeps_vertices: false,
            context,
        }
    }

    /// Gives the numbers of vertices named without an edge too, because they have properties.
    pub(crate) fn keep_vertices(&mut self, keeps: bool) {
        self.keeps_vertices = keeps;
    }

    /// The same for keys that are texts, also if there will be none.
    pub(crate) fn of_texts(mut self) -> Self {
        self.key_type = Some(KeyType::Text);
        self
    }

    /// The hash of the ids.
    pub(super) fn hasher(&self) -> IdHasher {
        self.context.hasher
    }

    fn note_stretch(&mut self, num_ends: u64, num_vertices: u64) {
        match self.stretches.last_mut() {
            Some(last) if last.num_vertices == 0 || num_ends == 0 => {
                last.num_ends += num_ends;
                last.num_vertices += num_vertices;
            }
            _ => self.stretches.push(IdStretch { num_ends, num_vertices }),
        }
    }

    /// `order` numbers the distinct ids, given the route, their first appearances in each partition, and the
    /// ids.
    fn finish_kind<K: Kind>(
        self,
        order: impl FnOnce(&Context, &Lane<u8>, &[Lane<u64>], Vec<Lane<u8>>) -> Result<(RankedIds, Vec<Lane<u8>>)>,
    ) -> Result<Numbered> {
        let route = self.route.finish()?;
        let parts = self.parts.into_iter().map(LaneWriter::finish).collect::<Result<Vec<_>>>()?;
        let mut context = self.context;
        context = context.next_phase();
        let resolved = on_each(&context, parts, |keys| resolve::<K>(&context, &keys, FIRST))?;
        let (mut numbers, mut firsts, mut keys) = (Vec::new(), Vec::new(), Vec::new());
        for part in resolved {
            numbers.push(part.numbers);
            firsts.push(part.firsts);
            keys.push(part.keys);
        }
        context = context.next_phase();
        let (RankedIds { route: route_of_keys, ranks }, keys) = order(&context, &route, &firsts, keys)?;
        drop(firsts);
        let pairs = numbers.into_iter().zip(ranks).collect();
        let numbers = on_each(&context, pairs, |(numbers, ranks)| translate(&context, &numbers, &ranks))?;
        let gathered = gather_edges(&context, route, numbers, &self.stretches, self.keeps_vertices)?;
        let num_vertices = route_of_keys.len();
        let map = Box::new(DistinctIds::<K>::new(context.next_phase(), route_of_keys, keys));
        Ok(Numbered { num_vertices, edges: gathered.edges, vertices: gathered.vertices, map })
    }
}

impl Numberer {
    /// Does the work on a batch that needs no order: hashing and cutting. Any thread, several at the same
    /// time.
    ///
    /// # Errors
    /// If some ids are integers and others texts, or sources and targets differ in number.
    pub(crate) fn prepare(keys: &Keys, hasher: &IdHasher) -> Result<Parted> {
        part::cut(keys, hasher)
    }

    /// Takes the next batch, in order of the input. Any thread, one at a time.
    ///
    /// # Errors
    /// If a temporary file cannot be written; cancellation.
    pub(crate) fn push(&mut self, batch: &Parted) -> Result<()> {
        self.context.work.check()?;
        if *self.key_type.get_or_insert(batch.key_type) != batch.key_type {
            return Err(part::mixed());
        }
        self.route.extend(&batch.route)?;
        let mut start = 0;
        for (part, &end) in self.parts.iter_mut().zip(&batch.bounds) {
            part.extend(&batch.keys[start..end])?;
            start = end;
        }
        let num_vertices = (batch.route.len() - batch.num_ends) as u64;
        self.note_stretch(batch.num_ends as u64, num_vertices);
        Ok(())
    }

    /// Ends the input. Works on all threads of the import.
    ///
    /// # Errors
    /// As [`Numberer::push`]; if there are more keys than a [`VertexId`] can number.
    pub(crate) fn finish(self) -> Result<Numbered> {
        match self.key_type {
            Some(KeyType::Text) => self.finish_kind::<Text>(|context, route, firsts, keys| {
                rank(context, route, firsts).map(|ranked| (ranked, keys))
            }),
            Some(KeyType::Int) | None => {
                self.finish_kind::<Int>(|context, _, _, keys| rank_ascending(context, keys))
            }
        }
    }
}

/// The numbers of the ids of an input, in its order.
struct GatheredNumbers {
    edges: Spool<[VertexId; 2]>,
    vertices: Spool<VertexId>,
}

/// The edges in input order, and the vertices named without an edge if they are to be kept.
fn gather_edges(
    context: &Context,
    route: Lane<u8>,
    numbers: Vec<Lane<VertexId>>,
    stretches: &[IdStretch],
    keeps_vertices: bool,
) -> Result<GatheredNumbers> {
    let block_len = SPOOL_BLOCK_BYTES / size_of::<[VertexId; 2]>();
    let mut edges = Spool::new(&context.work, context.keep_free_after_bytes);
    let mut vertices = Spool::new(&context.work, context.keep_free_after_bytes);
    let mut gather = Gather::new(route.into_reader(), numbers);
    let mut next = || gather.next()?.ok_or_else(garbled);
    for stretch in stretches {
        let mut left = stretch.num_ends / 2;
        while left > 0 {
            context.work.check()?;
            let len = left.min(block_len as u64);
            for _ in 0..len {
                edges.push([next()?, next()?])?;
            }
            left -= len;
        }
        for _ in 0..stretch.num_vertices {
            let number = next()?;
            if keeps_vertices {
                vertices.push(number)?;
            }
        }
    }
    edges.finish()?;
    vertices.finish()?;
    Ok(GatheredNumbers { edges, vertices })
}

#[cfg(test)]
mod tests;
