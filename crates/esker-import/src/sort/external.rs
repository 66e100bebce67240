//! External sort: stable, of fixed-width records by an integer key, in a given amount of memory.
//!
//! Runs that fill the memory are radix sorted by all threads and set aside; at the end they are merged, at
//! most [`FAN_IN_MAX`] at a time. When everything fits in memory nothing is written.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bytemuck::Pod;
use esker_format::Result;
use esker_graph::Reservation;

use crate::sort::radix::{RadixKey, sort_parallel};
use crate::sort::scratch::Workspace;
use crate::sort::spool::{SPOOL_BLOCK_BYTES, Spool};

/// The most runs that one merge reads at the same time.
pub(crate) const FAN_IN_MAX: usize = 256;

/// The fewest records of a run, so that the files of runs stay few however little memory there is.
const RUN_LEN_MIN: usize = 64;

/// Collects records and gives them back in order of their keys; equal keys in the order of collection.
///
/// Memory: what it was given, half of it for records and half for the other side of the radix sort.
pub(crate) struct Sorter<T, K, F> {
    work: Workspace,
    key: F,
    records: Vec<T>,
    spare: Vec<T>,
    run_len: usize,
    block_bytes: usize,
    runs: Vec<Spool<T>>,
    memory: Reservation,
    _key: std::marker::PhantomData<K>,
}

impl<T, K, F> Sorter<T, K, F>
where
    T: Pod + Send + Sync,
    K: RadixKey,
    F: Fn(&T) -> K + Copy + Sync,
{
    /// A sorter of `what` that takes `memory_bytes` of the budget of `work` until it is finished and read.
    ///
    /// # Errors
    /// If that much is not free.
    pub(crate) fn new(work: &Workspace, what: &str, memory_bytes: u64, key: F) -> Result<Self> {
        let memory = work.budget.reserve(what, memory_bytes)?;
        let run_len =
            (usize::try_from(memory_bytes).unwrap_or(usize::MAX) / (2 * size_of::<T>())).max(RUN_LEN_MIN);
        // A merge of FAN_IN_MAX runs, one block each, must fit in the same memory.
        let block_bytes = (memory_bytes as usize / FAN_IN_MAX / 2).clamp(4096, SPOOL_BLOCK_BYTES);
        Ok(Self {
            work: work.clone(),
            key,
            records: Vec::new(),
            spare: Vec::new(),
            run_len,
            block_bytes,
            runs: Vec::new(),
            memory,
            _key: std::marker::PhantomData,
        })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// If a run cannot be set aside, or cancellation.
    #[inline]
    pub(crate) fn push(&mut self, record: T) -> Result<()> {
        if self.records.len() == self.run_len {
            self.close_run()?;
        }
        if self.records.len() == self.records.capacity() {
            self.reserve_records(1);
        }
        self.records.push(record);
        Ok(())
    }

    fn reserve_records(&mut self, more: usize) {
        let needed = self.records.len() + more;
        if needed > self.records.capacity() {
            let capacity = (2 * needed).min(self.run_len);
            self.records.reserve_exact(capacity - self.records.len());
        }
    }

    fn sort_records(&mut self) -> Result<()> {
        self.spare.resize(self.records.len(), T::zeroed());
        sort_parallel(&self.work.run, &mut self.records, &mut self.spare, self.key)
    }

    fn close_run(&mut self) -> Result<()> {
        self.sort_records()?;
        let mut run = Spool::with_block_bytes(&self.work, u64::MAX, self.block_bytes);
        run.extend(&self.records)?;
        run.finish()?;
        self.runs.push(run);
        self.records.clear();
        Ok(())
    }

    /// Ends the collection and sorts what there is.
    ///
    /// # Errors
    /// As [`Sorter::push`].
    pub(crate) fn finish(mut self) -> Result<Sorted<T, K, F>> {
        if self.runs.is_empty() {
            self.sort_records()?;
            self.spare = Vec::new();
        } else {
            if !self.records.is_empty() {
                self.close_run()?;
            }
            (self.records, self.spare) = (Vec::new(), Vec::new());
            while self.runs.len() > FAN_IN_MAX {
                self.merge_some()?;
            }
        }
        Ok(Sorted {
            work: self.work,
            key: self.key,
            records: self.records,
            runs: self.runs,
            _memory: self.memory,
            _key: std::marker::PhantomData,
        })
    }

    /// Merges each [`FAN_IN_MAX`] neighbouring runs into one, so the order of equal keys is kept.
    fn merge_some(&mut self) -> Result<()> {
        let mut merged = Vec::new();
        let mut runs = std::mem::take(&mut self.runs).into_iter().peekable();
        while runs.peek().is_some() {
            let group: Vec<Spool<T>> = runs.by_ref().take(FAN_IN_MAX).collect();
            let mut output = Spool::with_block_bytes(&self.work, u64::MAX, self.block_bytes);
            merge(&self.work, &group, self.key, |record| output.push(record))?;
            output.finish()?;
            merged.push(output);
        }
        self.runs = merged;
        Ok(())
    }
}

/// Records in the order of their keys, to be read any number of times.
pub(crate) struct Sorted<T, K, F> {
    work: Workspace,
    key: F,
    /// All of them, if they fit.
    records: Vec<T>,
    runs: Vec<Spool<T>>,
    _memory: Reservation,
    _key: std::marker::PhantomData<K>,
}

impl<T, K, F> Sorted<T, K, F>
where
    T: Pod + Send + Sync,
    K: RadixKey,
    F: Fn(&T) -> K + Copy + Sync,
{
    /// Calls `visit` with every record in order.
    ///
    /// # Errors
    /// If a temporary file cannot be read, cancellation, or the first error of `visit`.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(T) -> Result<()>) -> Result<()> {
        if self.runs.is_empty() {
            return self.in_memory(visit);
        }
        merge(&self.work, &self.runs, self.key, &mut visit)
    }

    fn in_memory(&self, mut visit: impl FnMut(T) -> Result<()>) -> Result<()> {
        for block in self.records.chunks(1 << 14) {
            self.work.check()?;
            block.iter().try_for_each(|&record| visit(record))?;
        }
        Ok(())
    }
}

/// Merges sorted runs; of equal keys, those of the earlier run come first.
fn merge<T: Pod, K: RadixKey>(
    work: &Workspace,
    runs: &[Spool<T>],
    key: impl Fn(&T) -> K,
    mut visit: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let mut cursors: Vec<_> = runs.iter().map(Spool::cursor).collect();
    let mut heads = Vec::with_capacity(runs.len());
    let mut heap = BinaryHeap::with_capacity(runs.len());
    for (index, cursor) in cursors.iter_mut().enumerate() {
        let first = cursor.next_record()?;
        heads.push(first.unwrap_or_else(T::zeroed));
        if let Some(first) = first {
            heap.push(Reverse((key(&first), index)));
        }
    }
    let mut until_check = 0;
    while let Some(mut top) = heap.peek_mut() {
        if until_check == 0 {
            work.check()?;
            until_check = 1 << 14;
        }
        until_check -= 1;
        let index = top.0.1;
        visit(heads[index])?;
        match cursors[index].next_record()? {
            Some(next) => {
                heads[index] = next;
                top.0.0 = key(&next);
            }
            None => {
                std::collections::binary_heap::PeekMut::pop(top);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use esker_format::Error;
    use esker_graph::{Run, RunOptions, Stop};
    use proptest::prelude::*;

    use super::*;

    fn sorted(records: &[[u32; 2]], memory_bytes: u64, threads: usize) -> Vec<[u32; 2]> {
        let dir = tempfile::tempdir().unwrap();
        let work = Workspace::new(Arc::new(Run::with_threads(threads).unwrap()), memory_bytes, dir.path());
        let mut sorter = Sorter::new(&work, "test", memory_bytes, |r: &[u32; 2]| r[0]).unwrap();
        records.iter().for_each(|&r| sorter.push(r).unwrap());
        let sorted = sorter.finish().unwrap();
        let mut all = Vec::new();
        sorted
            .for_each(|r| {
                all.push(r);
                Ok(())
            })
            .unwrap();
        drop(sorted);
        assert_eq!(work.budget.free_bytes(), memory_bytes);
        all
    }

    proptest! {
        #![proptest_config(esker_format::testing::cases(200))]
        #[test]
        fn same_as_a_stable_sort(keys in prop::collection::vec(0u32..50, 0..2000), memory_bytes in 16u64..40_000) {
            let records: Vec<[u32; 2]> = keys.iter().zip(0..).map(|(&k, i)| [k, i]).collect();
            let mut expected = records.clone();
            expected.sort_by_key(|r| r[0]);
            prop_assert_eq!(sorted(&records, memory_bytes, 2), expected);
        }
    }

    #[test]
    fn more_runs_than_one_merge_takes() {
        let records: Vec<[u32; 2]> = (0..20_000).map(|i| [i * 7919 % 1000, i]).collect();
        let mut expected = records.clone();
        expected.sort_by_key(|r| r[0]);
        assert_eq!(sorted(&records, 64, 1), expected);
    }

    #[test]
    fn cancellation_stops_it() {
        let dir = tempfile::tempdir().unwrap();
        let run = Arc::new(Run::new(RunOptions { threads: 1, ..RunOptions::default() }).unwrap());
        let work = Workspace::new(run.clone(), 1 << 20, dir.path());
        let mut sorter = Sorter::new(&work, "test", 1 << 20, |r: &u64| *r).unwrap();
        [3, 1, 2].into_iter().for_each(|record| sorter.push(record).unwrap());
        let sorted = sorter.finish().unwrap();
        run.cancel().cancel();
        let stopped = sorted.for_each(|_| Ok(())).unwrap_err();
        assert!(matches!(stopped, Error::Stop(Stop::Cancelled)), "{stopped}");
    }
}
