//! The values of the vertices that two shards share, as they travel: in the order of a list that both have.

use esker_format::{Error, Result};
use esker_graph::{Bitmap, VertexId, ones};

use crate::net::wire::{Taker, Travels, put_u64};

/// The error of values for more vertices than two shards share.
pub(crate) fn unshared() -> Error {
    Error::invalid("a process sent a value for a vertex that is not shared with it".to_owned())
}

/// Bytes of a pair of place and value.
const PAIR_BYTES: usize = 12;
/// Pairs of place and value.
pub(crate) const SPARSE: u64 = 0;
/// All values.
const DENSE: u64 = 1;
/// The value of all places but for those that follow in pairs.
const MOSTLY: u64 = 2;

pub(crate) fn encode_start(head: u64, kind: u64) -> Vec<u8> {
    let mut block = Vec::new();
    put_u64(&mut block, head);
    put_u64(&mut block, kind);
    block
}

pub(crate) fn put_pair(block: &mut Vec<u8>, place: usize, value: u64) {
    block.extend_from_slice(&(place as u32).to_le_bytes());
    put_u64(block, value);
}

/// A block that names the members of a list: their places, or a bit for each of the list, whichever is
/// shorter.
pub(crate) fn encode_members(head: u64, list: &[VertexId], members: &Bitmap) -> Vec<u8> {
    let words = list
        .chunks(64)
        .map(|part| part.iter().zip(0..).fold(0, |word, (&v, bit)| word | u64::from(members.get(v)) << bit));
    let words: Vec<u64> = words.collect();
    let count: usize = words.iter().map(|word| word.count_ones() as usize).sum();
    if size_of::<u32>() * count < size_of::<u64>() * words.len() {
        let mut block = encode_start(head, SPARSE);
        for (first, word) in (0..).step_by(64).zip(words) {
            ones(word).for_each(|bit| block.extend_from_slice(&((first + bit) as u32).to_le_bytes()));
        }
        return block;
    }
    let mut block = encode_start(head, DENSE);
    u64::put_all(words.into_iter(), &mut block);
    block
}

/// Takes the members of a list from a block of [`encode_members`], after its head.
pub(crate) fn take_members(
    block: &mut Taker<'_>,
    list: &[VertexId],
    take: &mut impl FnMut(VertexId),
) -> Result<()> {
    if block.u64()? == SPARSE {
        while !block.is_empty() {
            take(*list.get(block.u32()? as usize).ok_or_else(unshared)?);
        }
        return Ok(());
    }
    for part in list.chunks(64) {
        for bit in ones(block.u64()?) {
            take(*part.get(bit).ok_or_else(unshared)?);
        }
    }
    Ok(())
}

/// A block of the values of a list: pairs of place and value, or if all are there one of them, and the pairs
/// of those that differ from it, or all. Whichever is shortest, where the one is the most frequent.
pub(crate) fn encode(head: u64, values: impl Iterator<Item = Option<u64>> + Clone) -> Vec<u8> {
    let put_pairs = |block: &mut Vec<u8>, but: Option<u64>| {
        for (place, value) in values.clone().enumerate().filter(|(_, value)| *value != but) {
            value.iter().for_each(|value| put_pair(block, place, *value));
        }
    };
    let Some((common, len)) = majority(values.clone()) else {
        let mut block = encode_start(head, SPARSE);
        put_pairs(&mut block, None);
        return block;
    };
    let others = values.clone().filter(|value| *value != Some(common)).count();
    if others * PAIR_BYTES < (len - others) * size_of::<u64>() {
        let mut block = encode_start(head, MOSTLY);
        put_u64(&mut block, common);
        put_pairs(&mut block, Some(common));
        return block;
    }
    let mut block = encode_start(head, DENSE);
    values.flatten().for_each(|value| put_u64(&mut block, value));
    block
}

/// Takes the values of a list from a block of [`encode`], after its head.
pub(crate) fn take_values(
    block: &mut Taker<'_>,
    list: &[VertexId],
    take: &mut impl FnMut(VertexId, u64),
) -> Result<()> {
    let kind = block.u64()?;
    if kind == DENSE {
        for (&v, value) in list.iter().zip(u64::take(block, list.len())?) {
            take(v, value);
        }
        return if block.is_empty() { Ok(()) } else { Err(unshared()) };
    }
    let common = if kind == MOSTLY { Some(block.u64()?) } else { None };
    let mut next = 0;
    while !block.is_empty() {
        let (place, value) = (block.u32()? as usize, block.u64()?);
        if let Some(common) = common {
            list.get(next..place).ok_or_else(unshared)?.iter().for_each(|&v| take(v, common));
            next = place + 1;
        }
        take(*list.get(place).ok_or_else(unshared)?, value);
    }
    if let Some(common) = common {
        list[next..].iter().for_each(|&v| take(v, common));
    }
    Ok(())
}

/// The number of values, and that which is more than half of them, if one is; `None` if one is missing, or
/// all are.
///
/// R. Boyer, J. Moore, "MJRTY: A Fast Majority Vote Algorithm", in "Automated Reasoning", 1991.
fn majority(values: impl Iterator<Item = Option<u64>>) -> Option<(u64, usize)> {
    let (mut leader, mut lead, mut len) = (None, 0_usize, 0);
    for value in values {
        let value = value?;
        len += 1;
        match lead {
            0 => (leader, lead) = (Some(value), 1),
            _ if leader == Some(value) => lead += 1,
            _ => lead -= 1,
        }
    }
    leader.map(|leader| (leader, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_arrive_however_they_are_written() {
        let list: Vec<VertexId> = (0..90).map(|i| 3 * i).collect();
        let all_but = |missing: usize, common: usize| -> Vec<Option<u64>> {
            (0..90_usize)
                .map(|i| (i >= missing).then_some(if i % 9 < common { 5 } else { i as u64 }))
                .collect()
        };
        for (missing, common, kind) in
            [(0, 0, DENSE), (0, 3, DENSE), (0, 8, MOSTLY), (0, 9, MOSTLY), (1, 9, SPARSE), (90, 9, SPARSE)]
        {
            let values = all_but(missing, common);
            let block = encode(7, values.iter().copied());
            assert_eq!(block[..16], encode_start(7, kind)[..], "{missing} missing, {common} of 9 alike");
            let (mut taker, mut taken) = (Taker(&block[8..]), vec![None; 90]);
            take_values(&mut taker, &list, &mut |v, value| taken[v as usize / 3] = Some(value))
                .expect("take");
            assert_eq!(taken, values);
            // With too short a list, taking a value beyond its end is an error.
            let is_cut = take_values(&mut Taker(&block[8..]), &list[..80], &mut |_, _| {}).is_err();
            assert_eq!(is_cut, missing < 90 && (kind, common) != (MOSTLY, 9));
        }
    }

    #[test]
    fn members_arrive_however_they_are_written() {
        let list: Vec<VertexId> = (0..130).map(|i| 129 - i).collect();
        for every in [1, 20, 200] {
            let members = Bitmap::new(130);
            (0..130).step_by(every).for_each(|v| members.insert_alone(v));
            let block = encode_members(7, &list, &members);
            let mut taken = Vec::new();
            take_members(&mut Taker(&block[8..]), &list, &mut |v| taken.push(v)).expect("take");
            taken.sort_unstable();
            assert_eq!(taken, members.iter().collect::<Vec<_>>());
            assert!(block.len() <= 16 + 24, "a bit for each, or less");
        }
    }
}
