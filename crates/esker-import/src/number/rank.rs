//! Makes one numbering of the ids that each partition found.
//!
//! No position is stored or sorted: the route names the partition of each id of the input, and every
//! partition keeps its ids in input order, so following the route merges the partitions.

use esker_format::{Error, Result};
use esker_graph::{NONE, VertexId, vertex};

use super::bits::BitReader;
use super::context::{BLOCK_BYTES_MAX, Context};
use super::key::{Int, Kind, garbled};
use super::lane::{Lane, LaneReader, LaneWriter};
use crate::sort::external::Sorter;

/// The distinct ids of all partitions in one order.
pub(super) struct RankedIds {
    /// The partition of each number.
    pub(super) route: Lane<u8>,
    /// For each partition, the numbers of its ids, in the order in which the partition has them.
    pub(super) ranks: Vec<Lane<VertexId>>,
}

/// Numbers the ids of all partitions by first appearance along the route.
///
/// # Errors
/// If there are more ids than [`VertexId`] can number; if temporary files cannot be written or read;
/// cancellation.
pub(super) fn rank(context: &Context, route: &Lane<u8>, firsts: &[Lane<u64>]) -> Result<RankedIds> {
    let mut readers: Vec<_> = firsts.iter().map(|lane| BitReader::new(lane.reader())).collect();
    let mut ranks: Vec<_> =
        firsts.iter().map(|_| LaneWriter::new(&context.shelf, context.block_bytes)).collect();
    let mut route_of_firsts = LaneWriter::new(&context.lasting, context.block_bytes);
    let mut count = 0usize;
    let mut route = route.reader();
    while route.next_block()? {
        context.work.check()?;
        for &part in route.rest() {
            if readers[usize::from(part)].next()? {
                if count >= NONE as usize {
                    return Err(too_many());
                }
                ranks[usize::from(part)].push(vertex(count))?;
                route_of_firsts.push(part)?;
                count += 1;
            }
        }
    }
    let ranks = ranks.into_iter().map(LaneWriter::finish).collect::<Result<_>>()?;
    Ok(RankedIds { route: route_of_firsts.finish()?, ranks })
}

/// Bits of a place that hold the index of an id in its partition; those above hold the partition.
const INDEX_BITS: u32 = 56;

/// Numbers the integers of all partitions, `keys`, in ascending order; also returns those of each partition
/// in that order.
///
/// # Errors
/// As [`rank`].
pub(super) fn rank_ascending(context: &Context, keys: Vec<Lane<u8>>) -> Result<(RankedIds, Vec<Lane<u8>>)> {
    const WHAT: &str = "numbering the ids";
    let work = &context.work;
    if keys.iter().map(Lane::len).sum::<u64>() / 8 > u64::from(NONE) {
        return Err(too_many());
    }
    let mut by_key = Sorter::new(work, WHAT, work.budget.free_bytes() / 3, |&[key, _]: &[u64; 2]| key)?;
    for (keys, part) in keys.iter().zip(0..) {
        let mut place = part << INDEX_BITS;
        keys.for_each_block(|mut rest| {
            while !rest.is_empty() {
                let key;
                (key, rest) = Int::decode(rest)?;
                by_key.push([key, place])?;
                place += 1;
            }
            Ok(())
        })?;
    }
    let num_parts = keys.len();
    drop(keys);
    let by_key = by_key.finish()?;
    let mut by_place = Sorter::new(work, WHAT, work.budget.free_bytes() / 2, |&[_, place]: &[u64; 2]| place)?;
    let mut route = LaneWriter::new(&context.lasting, context.block_bytes);
    let mut sorted: Vec<_> =
        (0..num_parts).map(|_| LaneWriter::new(&context.lasting, context.block_bytes)).collect();
    let mut count = 0;
    by_key.for_each(|[key, place]| {
        let part = place >> INDEX_BITS;
        route.push(part as u8)?;
        sorted[part as usize].extend(&key.to_le_bytes())?;
        by_place.push([count, place])?;
        count += 1;
        Ok(())
    })?;
    drop(by_key);
    let route = route.finish()?;
    let sorted = sorted.into_iter().map(LaneWriter::finish).collect::<Result<_>>()?;
    let mut ranks: Vec<_> =
        (0..num_parts).map(|_| LaneWriter::new(&context.shelf, context.block_bytes)).collect();
    by_place
        .finish()?
        .for_each(|[rank, place]| ranks[(place >> INDEX_BITS) as usize].push(rank as VertexId))?;
    let ranks = ranks.into_iter().map(LaneWriter::finish).collect::<Result<_>>()?;
    Ok((RankedIds { route, ranks }, sorted))
}

fn too_many() -> Error {
    Error::invalid(format!("there are more than {NONE} distinct ids: build Esker with the feature `id64`"))
}

/// Replaces each number of a partition by its rank among all.
///
/// Memory: the ranks, if the budget has room for them. If not, what room there is, and one pass for each such
/// part.
///
/// # Errors
/// If temporary files cannot be written or read; cancellation.
pub(super) fn translate(
    context: &Context,
    numbers: &Lane<VertexId>,
    ranks: &Lane<VertexId>,
) -> Result<Lane<VertexId>> {
    let record_bytes = size_of::<VertexId>() as u64;
    let held = context.work.budget.try_reserve(ranks.len() * record_bytes);
    let window = if held.is_some() { ranks.len() } else { context.allowance_bytes / record_bytes };
    let mut window_ranks = Vec::with_capacity(window as usize);
    let mut ranks = ranks.reader();
    let mut translated = numbers.clone();
    let mut start = 0;
    loop {
        window_ranks.clear();
        while (window_ranks.len() as u64) < window
            && let Some(rank) = ranks.next()?
        {
            window_ranks.push(rank);
        }
        if window_ranks.is_empty() {
            return Ok(translated);
        }
        translated = translate_window(context, numbers, &translated, start, &window_ranks)?;
        start += window_ranks.len();
    }
}

/// Takes those numbers that are in a window from its ranks, and all others from `partly`.
fn translate_window(
    context: &Context,
    numbers: &Lane<VertexId>,
    partly: &Lane<VertexId>,
    start: usize,
    ranks: &[VertexId],
) -> Result<Lane<VertexId>> {
    let mut writer = LaneWriter::new(&context.shelf, context.block_bytes);
    let mut partly = partly.reader();
    let mut block = Vec::new();
    numbers.for_each_block(|numbers| {
        context.work.check()?;
        partly.next_block()?;
        let known = numbers.iter().zip(partly.rest());
        block.clear();
        block.extend(known.map(|(&number, &known)| {
            (number as usize).checked_sub(start).and_then(|at| ranks.get(at)).copied().unwrap_or(known)
        }));
        writer.extend(&block)
    })?;
    writer.finish()
}

/// The records of many lanes, merged along a route.
pub(super) struct Gather<T> {
    route: LaneReader<u8>,
    lanes: Vec<LaneReader<T>>,
}

impl<T: bytemuck::Pod> Gather<T> {
    pub(super) fn new(route: LaneReader<u8>, lanes: Vec<Lane<T>>) -> Self {
        Self { route, lanes: lanes.into_iter().map(Lane::into_reader).collect() }
    }

    /// The next record, or `None` at the end of the route.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    #[inline(always)]
    pub(super) fn next(&mut self) -> Result<Option<T>> {
        match self.route.next()? {
            Some(part) => self.lanes[usize::from(part)].next()?.map(Some).ok_or_else(garbled),
            None => Ok(None),
        }
    }
}

/// The ids of many lanes, merged along a route.
///
/// Memory: a block of each lane. An id that is larger than that lies alone in its block, and is read when its
/// turn comes.
pub(super) struct KeyGather<K> {
    route: LaneReader<u8>,
    lanes: Vec<LaneReader<u8>>,
    large: Vec<u8>,
    kind: std::marker::PhantomData<K>,
}

impl<K: Kind> KeyGather<K> {
    pub(super) fn new(route: LaneReader<u8>, lanes: Vec<Lane<u8>>) -> Self {
        let lanes = lanes.into_iter().map(Lane::into_reader).collect();
        Self { route, lanes, large: Vec::new(), kind: std::marker::PhantomData }
    }

    /// The next id as it is encoded, or `None` at the end of the route.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub(super) fn next_encoded(&mut self) -> Result<Option<&[u8]>> {
        let Some(part) = self.route.next()? else { return Ok(None) };
        let lane = &mut self.lanes[usize::from(part)];
        if lane.rest().is_empty() {
            if lane.next_block_len() > BLOCK_BYTES_MAX {
                lane.next_block_into(&mut self.large)?;
                return Ok(Some(&self.large));
            }
            lane.next_block()?;
        }
        let rest = lane.rest();
        let len = rest.len() - K::decode(rest)?.1.len();
        Ok(Some(lane.take(len)))
    }
}
