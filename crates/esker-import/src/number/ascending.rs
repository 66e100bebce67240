//! Writes the id map of integers that are numbered in ascending order, which takes no [`super::Numberer`].

use esker_format::Result;
use esker_graph::{VertexId, vertex};
use esker_layers::ids::{IdFiles, IdHasher, IndexWriter};

use super::context::Context;
use super::key::{Int, Kind, garbled};
use super::lane::LaneWriter;
use super::names::DistinctIds;
use super::part::FIRST;
use crate::keys::NumberedIds;
use crate::sort::radix::sort_parallel;
use crate::sort::scratch::Workspace;
use crate::sort::spool::Spool;

/// Integers between two looks for cancellation.
const CHECK_EVERY: usize = 1 << 20;

/// Writes the map of `count` integers `ids`, which ascend; `renumbered` as for [`NumberedIds::write`].
///
/// Memory: 40 bytes for each, or lanes if there is no room for that. The files are the same.
///
/// # Errors
/// As [`NumberedIds::write`].
pub(crate) fn write_ascending(
    work: &Workspace,
    files: &IdFiles<'_>,
    ids: impl Iterator<Item = u64>,
    count: u64,
    renumbered: Option<&Spool<VertexId>>,
) -> Result<()> {
    match work.budget.try_reserve(40 * count) {
        Some(_room) => write_in_memory(work, files, ids, count as usize, renumbered),
        None => Box::new(names(work, files.hasher, ids)?).write(files, renumbered),
    }
}

fn write_in_memory(
    work: &Workspace,
    files: &IdFiles<'_>,
    ids: impl Iterator<Item = u64>,
    count: usize,
    renumbered: Option<&Spool<VertexId>>,
) -> Result<()> {
    let mut vertices = renumbered.map(Spool::cursor);
    let mut integers = vec![0; count];
    let mut pairs = Vec::with_capacity(count);
    for (rank, id) in ids.enumerate() {
        if rank % CHECK_EVERY == 0 {
            work.check()?;
        }
        let v = match &mut vertices {
            None => vertex(rank),
            Some(vertices) => vertices.next_record()?.ok_or_else(garbled)?,
        };
        integers[v as usize] = id;
        pairs.push([Int::hash(&files.hasher, id), v as usize as u64]);
    }
    let mut spare = vec![[0; 2]; pairs.len()];
    sort_parallel(&work.run, &mut pairs, &mut spare, |&[hash, _]| hash)?;
    drop(spare);
    // With a secret, two ids may have one hash: the index then has their vertices in order.
    pairs
        .chunk_by_mut(|a, b| a[0] == b[0])
        .filter(|same| same.len() > 1)
        .for_each(<[[u64; 2]]>::sort_unstable);
    let mut index = IndexWriter::create(files, count as u64)?;
    for pairs in pairs.chunks(CHECK_EVERY) {
        work.check()?;
        pairs.iter().try_for_each(|&[hash, v]| index.push(hash, v as VertexId))?;
    }
    index.finish()?;
    let mut writer = Int::create(files)?;
    for integers in integers.chunks(CHECK_EVERY) {
        work.check()?;
        integers.iter().try_for_each(|&id| Int::write(&mut writer, id))?;
    }
    Int::finish(writer)
}

fn names(work: &Workspace, hasher: IdHasher, ids: impl Iterator<Item = u64>) -> Result<DistinctIds<Int>> {
    let context = Context::new(work, hasher);
    let mut route = LaneWriter::new(&context.lasting, context.block_bytes);
    let mut keys: Vec<_> =
        (0..FIRST.num_parts()).map(|_| LaneWriter::new(&context.lasting, context.block_bytes)).collect();
    for (rank, id) in ids.enumerate() {
        if rank % CHECK_EVERY == 0 {
            work.check()?;
        }
        let part = FIRST.part_of(Int::hash(&hasher, id));
        route.push(part)?;
        keys[usize::from(part)].extend(&id.to_le_bytes())?;
    }
    let keys = keys.into_iter().map(LaneWriter::finish).collect::<Result<_>>()?;
    Ok(DistinctIds::new(context, route.finish()?, keys))
}
