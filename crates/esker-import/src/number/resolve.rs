//! Numbering the ids of one partition: in a table if it fits the budget, else cut into smaller partitions.

use esker_format::Result;
use esker_graph::{VertexId, vertex};

use super::bits::BitWriter;
use super::context::{CUT_BITS, Context};
use super::key::{IdTable, Kind};
use super::lane::{Lane, LaneWriter};
use super::part::Spread;
use super::rank::{Gather, KeyGather, rank, translate};

/// The ids of a sequence, numbered by first appearance in it.
pub(super) struct SequenceNumbers {
    /// The number of each id of the sequence.
    pub(super) numbers: Lane<VertexId>,
    /// For each id of the sequence, whether it is the first of its number.
    pub(super) firsts: Lane<u64>,
    /// Each id once, in the order of the numbers.
    pub(super) keys: Lane<u8>,
}

/// Numbers the ids of a partition that was made by `spread`.
///
/// # Errors
/// If temporary files cannot be written or read; cancellation.
pub(super) fn resolve<K: Kind>(
    context: &Context,
    keys: &Lane<u8>,
    spread: Spread,
) -> Result<SequenceNumbers> {
    let next = spread.next(CUT_BITS);
    match resolve_in_memory::<K>(context, keys, next.is_none())? {
        Some(resolved) => Ok(resolved),
        None => resolve_in_parts::<K>(context, keys, next.unwrap_or(spread)),
    }
}

/// `None` if the table does not fit and need not.
fn resolve_in_memory<K: Kind>(
    context: &Context,
    keys: &Lane<u8>,
    must: bool,
) -> Result<Option<SequenceNumbers>> {
    let mut numbers = LaneWriter::new(&context.shelf, context.block_bytes);
    let mut firsts = BitWriter::new(&context.shelf, context.block_bytes / 8);
    let mut table = IdTable::<K>::new();
    let mut held = context.work.budget.reserve("a table of ids", 0)?;
    let mut fits = |table: &IdTable<K>, key: K::Key<'_>| {
        let needed = table.bytes_with(key);
        let room = held.bytes() + context.allowance_bytes;
        needed <= room || held.try_grow((needed - room).next_multiple_of(1 << 16))
    };
    let mut reader = keys.reader();
    while reader.next_block()? {
        context.work.check()?;
        let mut rest = reader.rest();
        while !rest.is_empty() {
            let key;
            (key, rest) = K::decode(rest)?;
            let (number, is_first) = match table.find(key, K::hash(&context.hasher, key)) {
                Ok(number) => (number, false),
                Err(vacancy) => {
                    if table.len() > 1 && !must && (table.is_at_limit() || !fits(&table, key)) {
                        return Ok(None);
                    }
                    table.add(key, vacancy);
                    (table.len() - 1, true)
                }
            };
            numbers.push(vertex(number))?;
            firsts.push(is_first)?;
        }
    }
    let mut distinct = LaneWriter::new(&context.lasting, context.block_bytes);
    let mut encoded = Vec::new();
    for key in table.keys() {
        encoded.resize(K::encoded_len(key), 0);
        K::encode(key, &mut encoded);
        distinct.extend(&encoded)?;
    }
    Ok(Some(SequenceNumbers {
        numbers: numbers.finish()?,
        firsts: firsts.finish()?,
        keys: distinct.finish()?,
    }))
}

/// Cuts the partition, numbers each part, and puts the numbers together again.
fn resolve_in_parts<K: Kind>(context: &Context, keys: &Lane<u8>, spread: Spread) -> Result<SequenceNumbers> {
    let (route, parts) = cut_lane::<K>(context, keys, spread)?;
    let (mut numbers, mut firsts, mut distinct) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let resolved = resolve::<K>(context, &part, spread)?;
        numbers.push(resolved.numbers);
        firsts.push(resolved.firsts);
        distinct.push(resolved.keys);
    }
    let ranked = rank(context, &route, &firsts)?;
    for (numbers, ranks) in numbers.iter_mut().zip(&ranked.ranks) {
        *numbers = translate(context, numbers, ranks)?;
    }
    let mut all_numbers = LaneWriter::new(&context.shelf, context.block_bytes);
    let mut all_firsts = BitWriter::new(&context.shelf, context.block_bytes / 8);
    let mut gather = Gather::new(route.into_reader(), numbers);
    let mut next_new = 0;
    while let Some(number) = gather.next()? {
        all_numbers.push(number)?;
        let is_first = number as usize == next_new;
        all_firsts.push(is_first)?;
        next_new += usize::from(is_first);
    }
    let mut all_keys = LaneWriter::new(&context.lasting, context.block_bytes);
    let mut gather = KeyGather::<K>::new(ranked.route.into_reader(), distinct);
    while let Some(encoded) = gather.next_encoded()? {
        all_keys.extend(encoded)?;
    }
    Ok(SequenceNumbers {
        numbers: all_numbers.finish()?,
        firsts: all_firsts.finish()?,
        keys: all_keys.finish()?,
    })
}

/// The partition of each id, and the ids of each partition.
fn cut_lane<K: Kind>(
    context: &Context,
    keys: &Lane<u8>,
    spread: Spread,
) -> Result<(Lane<u8>, Vec<Lane<u8>>)> {
    let writer = |_| LaneWriter::new(&context.shelf, context.block_bytes);
    let mut route = writer(0);
    let mut parts: Vec<_> = (0..spread.num_parts()).map(writer).collect();
    let mut reader = keys.reader();
    while reader.next_block()? {
        context.work.check()?;
        let mut rest = reader.rest();
        while !rest.is_empty() {
            let (key, after) = K::decode(rest)?;
            let part = spread.part_of(K::hash(&context.hasher, key));
            route.push(part)?;
            parts[usize::from(part)].extend(&rest[..rest.len() - after.len()])?;
            rest = after;
        }
    }
    let parts = parts.into_iter().map(LaneWriter::finish).collect::<Result<_>>()?;
    Ok((route.finish()?, parts))
}
