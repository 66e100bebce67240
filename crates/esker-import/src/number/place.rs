//! Arranging ids by vertex, after the vertices got another order.
//!
//! A record is the number of a vertex (eight bytes, little-endian) and an encoded id. Records are cut into
//! stretches of vertices, and a stretch is arranged in memory; if it does not fit, it is cut again.

use esker_format::Result;

use super::context::Context;
use super::key::{Kind, garbled};
use super::lane::{Lane, LaneWriter};

/// Parts of a cut.
pub(super) const PLACES: usize = 256;

/// Number of vertices in each part of a cut of `len` vertices.
pub(super) fn stretch(len: u64) -> u64 {
    len.div_ceil(PLACES as u64).max(1)
}

/// Makes a record.
#[inline]
pub(super) fn encode(record: &mut Vec<u8>, vertex: u64, encoded: &[u8]) {
    record.clear();
    record.extend_from_slice(&vertex.to_le_bytes());
    record.extend_from_slice(encoded);
}

/// The record at the beginning of `bytes`: its vertex, its encoded id, and what follows.
#[inline]
fn decode<K: Kind>(bytes: &[u8]) -> Result<(u64, &[u8], &[u8])> {
    let (vertex, rest) = bytes.split_first_chunk().ok_or_else(garbled)?;
    let after = K::decode(rest)?.1;
    Ok((u64::from_le_bytes(*vertex), &rest[..rest.len() - after.len()], after))
}

/// The encoded ids of the vertices `start..start + len`, in order; fewer at the end of all vertices.
///
/// # Errors
/// If temporary files cannot be written or read; cancellation.
pub(super) fn arrange<K: Kind>(
    context: &Context,
    records: &Lane<u8>,
    start: u64,
    len: u64,
) -> Result<Lane<u8>> {
    let mut arranged = LaneWriter::new(&context.shelf, context.block_bytes);
    arrange_into::<K>(context, records, start, len, &mut arranged)?;
    arranged.finish()
}

fn arrange_into<K: Kind>(
    context: &Context,
    records: &Lane<u8>,
    start: u64,
    len: u64,
    arranged: &mut LaneWriter<u8>,
) -> Result<()> {
    let bytes = records.len() + len * size_of::<usize>() as u64;
    let held = context.work.budget.try_reserve(bytes);
    if held.is_some() || bytes <= context.allowance_bytes || len == 1 {
        return arrange_in_memory::<K>(context, records, start, len, arranged);
    }
    let part_len = stretch(len);
    let mut parts: Vec<_> = (0..len.div_ceil(part_len))
        .map(|_| LaneWriter::new(&context.shelf, context.block_bytes / 4))
        .collect();
    records.for_each_block(|mut rest| {
        context.work.check()?;
        while !rest.is_empty() {
            let (vertex, _, after) = decode::<K>(rest)?;
            let part = vertex.checked_sub(start).map(|at| (at / part_len) as usize);
            let part = part.and_then(|part| parts.get_mut(part)).ok_or_else(garbled)?;
            part.extend(&rest[..rest.len() - after.len()])?;
            rest = after;
        }
        Ok(())
    })?;
    let starts = (start..).step_by(part_len as usize);
    parts
        .into_iter()
        .zip(starts)
        .try_for_each(|(part, start)| arrange_into::<K>(context, &part.finish()?, start, part_len, arranged))
}

fn arrange_in_memory<K: Kind>(
    context: &Context,
    records: &Lane<u8>,
    start: u64,
    len: u64,
    arranged: &mut LaneWriter<u8>,
) -> Result<()> {
    let mut all = Vec::with_capacity(records.len() as usize);
    // Where the record of each vertex begins, plus 1.
    let mut places = vec![0; len as usize];
    records.for_each_block(|block| {
        context.work.check()?;
        let mut rest = block;
        while !rest.is_empty() {
            let (vertex, _, after) = decode::<K>(rest)?;
            let place = vertex.checked_sub(start).and_then(|at| places.get_mut(at as usize));
            *place.ok_or_else(garbled)? = all.len() + (block.len() - rest.len()) + 1;
            rest = after;
        }
        all.extend_from_slice(block);
        Ok(())
    })?;
    for place in places.into_iter().filter(|&place| place != 0) {
        arranged.extend(decode::<K>(&all[place - 1..])?.1)?;
    }
    Ok(())
}
