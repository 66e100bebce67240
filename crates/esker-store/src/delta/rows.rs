//! Everything that a dynamic graph holds, list by list: what freezing it needs.

use std::ops::Range;

use esker_graph::{Direction, Run, VertexId};
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::memory::no_memory;

use super::chunk::Edge;
use super::graph::DynamicGraph;
use super::layout::Payload;
use super::shard::{Place, Shard};
use super::side::{Side, with_shards};

/// Entries of one unit of shared work, about.
const UNIT_ENTRIES: usize = 1 << 14;
/// Lists whose chunks are read side by side.
const BATCH: usize = 16;

/// All lists of one direction, sorted: compressed rows with a directory of the vertices that have any.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SortedLists<P> {
    /// Vertices with a non-empty list, ascending.
    pub sources: Vec<VertexId>,
    /// Where the list of each source begins, and the end of the last: one more than there are sources.
    pub offsets: Vec<u64>,
    /// The lists, each ascending; several copies of a target in no order.
    pub targets: Vec<VertexId>,
    /// What stands beside each entry.
    pub payloads: Vec<P>,
}

impl<P> SortedLists<P> {
    /// The entries of the list at `index` of [`SortedLists::sources`].
    pub fn list(&self, index: usize) -> Range<usize> {
        self.offsets[index] as usize..self.offsets[index + 1] as usize
    }
}

impl<P: Payload, V: Payload> DynamicGraph<P, V> {
    /// All lists of a direction, on the threads of `run`. Memory: the result, and 16 to 24 bytes a source.
    ///
    /// # Errors
    /// [`esker_graph::Stop::Unsuitable`] if the direction is not kept; if there is no memory; cancellation.
    pub fn sorted_lists(&self, direction: Direction, run: &Run) -> Result<SortedLists<P>> {
        let side = self.kept(direction)?;
        with_shards!(&side.shards, shards => sorted_lists(shards, side.bits, run))
    }

    /// Calls `f` with every vertex that has a list of the direction, and that list as two slices of equal length that it may
    /// change (sort, say), in no order, on the threads of `run`. Each worker makes a state with `new_state`, and all are returned.
    ///
    /// # Errors
    /// [`esker_graph::Stop::Unsuitable`] if the direction is not kept; the first error of `f`; cancellation.
    pub fn for_each_list<S: Send>(
        &self,
        direction: Direction,
        run: &Run,
        new_state: impl Fn() -> S + Sync,
        f: impl Fn(&mut S, VertexId, &mut [VertexId], &mut [P]) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let side = self.kept(direction)?;
        let new_state = || (new_state(), Vec::new(), Vec::new());
        let states = with_shards!(&side.shards, shards => run.share(
            shards.len(),
            new_state,
            |(state, targets, payloads), number| each_list(&shards[number], targets, payloads, |v, targets, payloads| {
                f(state, v, targets, payloads)
            })
        ))?;
        Ok(states.into_iter().map(|(state, _, _)| state).collect())
    }
}

fn each_list<E: Edge, P: Payload>(
    shard: &Shard<E, P>,
    targets: &mut Vec<VertexId>,
    payloads: &mut Vec<P>,
    mut f: impl FnMut(VertexId, &mut [VertexId], &mut [P]) -> Result<()>,
) -> Result<()> {
    let mut done = Ok(());
    shard.each_source(|v, degree, place| {
        if done.is_ok() {
            targets.clear();
            payloads.clear();
            done = targets.try_reserve(degree).and_then(|()| payloads.try_reserve(degree)).map_err(no_memory);
            if done.is_ok() {
                shard.each_entry(v, place, |target, payload| {
                    targets.push(target);
                    payloads.push(payload);
                });
                done = f(v, targets, payloads);
            }
        }
    });
    done
}

/// Where the list of a source lies and how long it is.
struct Listed {
    source: VertexId,
    degree: u32,
    place: Place,
}

/// A run of consecutive lists and where they go.
struct Unit<'a, P> {
    lists: &'a [Listed],
    targets: &'a mut [VertexId],
    payloads: &'a mut [P],
}

fn sorted_lists<E: Edge, P: Payload>(shards: &[Shard<E, P>], bits: u32, run: &Run) -> Result<SortedLists<P>> {
    let lists = directory(shards, run)?;
    let mut sorted = SortedLists {
        sources: lists.iter().map(|list| list.source).collect(),
        offsets: filled(lists.len() + 1, 0)?,
        targets: Vec::new(),
        payloads: Vec::new(),
    };
    for (i, list) in lists.iter().enumerate() {
        sorted.offsets[i + 1] = sorted.offsets[i] + u64::from(list.degree);
    }
    let entries = sorted.offsets[lists.len()] as usize;
    sorted.targets = filled(entries, 0)?;
    sorted.payloads = filled(entries, P::zeroed())?;
    let work = units(&lists, &mut sorted.targets, &mut sorted.payloads)?;
    let fill = |unit: Unit<'_, P>| -> Result<()> {
        run.check()?;
        fill(shards, bits, unit.lists, unit.targets, unit.payloads)
    };
    if run.threads() == 1 {
        work.into_iter().try_for_each(fill)?;
    } else {
        run.install(|| work.into_par_iter().with_max_len(1).try_for_each(fill))?;
    }
    Ok(sorted)
}

fn filled<T: Copy>(len: usize, value: T) -> Result<Vec<T>> {
    let mut vec = Vec::new();
    vec.try_reserve_exact(len).map_err(no_memory)?;
    vec.resize(len, value);
    Ok(vec)
}

/// All sources with the places of their lists, ascending.
fn directory<E: Edge, P: Payload>(shards: &[Shard<E, P>], run: &Run) -> Result<Vec<Listed>> {
    let parts = run.share::<_, Error>(shards.len(), Vec::new, |lists: &mut Vec<Listed>, number| {
        lists.try_reserve(shards[number].sources()).map_err(no_memory)?;
        shards[number].each_source(|source, degree, place| {
            lists.push(Listed { source, degree: degree as u32, place });
        });
        Ok(())
    })?;
    let mut lists = Vec::new();
    lists.try_reserve_exact(parts.iter().map(Vec::len).sum()).map_err(no_memory)?;
    lists.extend(parts.into_iter().flatten());
    if run.threads() == 1 {
        lists.sort_unstable_by_key(|list| list.source);
    } else {
        run.install(|| lists.par_sort_unstable_by_key(|list| list.source));
    }
    Ok(lists)
}

/// Cuts the work into runs of lists of about [`UNIT_ENTRIES`], or one longer list.
fn units<'a, P>(
    mut lists: &'a [Listed],
    mut targets: &'a mut [VertexId],
    mut payloads: &'a mut [P],
) -> Result<Vec<Unit<'a, P>>> {
    let mut units = Vec::new();
    while !lists.is_empty() {
        let (mut count, mut entries) = (0, 0);
        while count < lists.len() && entries < UNIT_ENTRIES {
            entries += lists[count].degree as usize;
            count += 1;
        }
        let (mine, rest) = lists.split_at(count);
        let (to_targets, rest_targets) = targets.split_at_mut(entries);
        let (to_payloads, rest_payloads) = payloads.split_at_mut(entries);
        units.try_reserve(1).map_err(no_memory)?;
        units.push(Unit { lists: mine, targets: to_targets, payloads: to_payloads });
        (lists, targets, payloads) = (rest, rest_targets, rest_payloads);
    }
    Ok(units)
}

/// Gathers and sorts the lists of a unit.
fn fill<E: Edge, P: Payload>(
    shards: &[Shard<E, P>],
    bits: u32,
    lists: &[Listed],
    targets: &mut [VertexId],
    payloads: &mut [P],
) -> Result<()> {
    let mut at = 0;
    let mut list: Vec<(VertexId, P)> = Vec::new();
    for batch in lists.chunks(BATCH) {
        for listed in batch {
            if let Place::Chunk(chunk, class) = listed.place {
                shards[Side::<P>::place(listed.source, bits)].touch_chunk(chunk, class);
            }
        }
        for listed in batch {
            list.clear();
            list.try_reserve(listed.degree as usize).map_err(no_memory)?;
            let shard = &shards[Side::<P>::place(listed.source, bits)];
            shard.each_entry(listed.source, listed.place, |target, payload| list.push((target, payload)));
            list.sort_unstable_by_key(|&(target, _)| target);
            for &(target, payload) in &list {
                targets[at] = target;
                payloads[at] = payload;
                at += 1;
            }
        }
    }
    Ok(())
}
