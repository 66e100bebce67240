//! Groups of rows that have the same keys.

use std::collections::HashMap;

use esker_graph::{Reservation, Run};

use super::keys::{KeyBits, KeyColumn};
use super::measures::MeasureColumn;
use super::rows::QueryScan;
use crate::edge_rows::EdgeRowBlock;
use crate::error::{Error, Result};

/// Bytes that a group takes beside its measures: its keys, twice, and its number.
const GROUP_BYTES: u64 = 2 * size_of::<KeyBits>() as u64 + 16;
/// New groups for which memory is reserved at a time.
const RESERVED_GROUPS: usize = 1 << 12;

/// Rows by keys.
pub(super) struct Groups {
    index: GroupIndex,
    keys: Vec<KeyBits>,
    measures: Vec<MeasureColumn>,
    reserved: Vec<Reservation>,
    room: usize,
}

enum GroupIndex {
    /// Keys that count from 0: the group of each combination, from 1. A key beyond its domain is missing.
    Dense {
        groups: Vec<u32>,
        domains: Vec<usize>,
    },
    Hashed(HashMap<KeyBits, u32>),
}

/// Combinations of several keys for which groups are found without hashing.
const COMBINATIONS_MAX: usize = 1 << 20;

/// How many combinations keys have, each with one value more, for missing ones.
fn combinations(domains: &[usize]) -> Option<usize> {
    domains.iter().try_fold(1_usize, |all, domain| all.checked_mul(domain + 1))
}

impl Groups {
    /// No groups yet. `domains` says for each key how many values it has, if they count from 0.
    ///
    /// # Errors
    /// The memory limit of `run`.
    pub(super) fn new(domains: &[Option<usize>], measures: &[MeasureColumn], run: &Run) -> Result<Self> {
        let domains: Option<Vec<usize>> = domains.iter().copied().collect();
        let dense = domains.and_then(|domains| Some((combinations(&domains)?, domains)));
        let dense = dense.filter(|(all, domains)| domains.len() <= 1 || *all <= COMBINATIONS_MAX);
        let (index, reserved) = match dense {
            Some((all, domains)) => {
                let memory = run.budget().reserve("the groups of edges", 4 * all as u64)?;
                (GroupIndex::Dense { groups: vec![0; all], domains }, vec![memory])
            }
            None => (GroupIndex::Hashed(HashMap::new()), Vec::new()),
        };
        Ok(Self { index, keys: Vec::new(), measures: measures.to_vec(), reserved, room: 0 })
    }

    /// The group of some keys, a new one if there is none.
    fn group(&mut self, keys: KeyBits, run: &Run) -> Result<usize> {
        let next = self.keys.len() as u32 + 1;
        let group = match &mut self.index {
            GroupIndex::Dense { groups, domains } => {
                let place = domains.iter().enumerate().rev().fold(0, |place, (key, domain)| {
                    place * (domain + 1) + keys.get(key).map_or(*domain, |value| value as usize)
                });
                &mut groups[place]
            }
            GroupIndex::Hashed(groups) => groups.entry(keys).or_insert(0),
        };
        if *group == 0 {
            *group = next;
            self.begin(keys, run)?;
            return Ok(next as usize - 1);
        }
        Ok(*group as usize - 1)
    }

    /// Makes the next group.
    fn begin(&mut self, keys: KeyBits, run: &Run) -> Result<()> {
        if self.keys.len() + 1 >= u32::MAX as usize {
            return Err(Error::usage("there are more than four thousand million groups".to_owned()));
        }
        if self.keys.len() == self.room {
            let bytes = GROUP_BYTES + self.measures.iter().map(MeasureColumn::cell_bytes).sum::<u64>();
            let more = RESERVED_GROUPS.max(self.room / 2);
            self.reserved.push(run.budget().reserve("the groups of edges", more as u64 * bytes)?);
            self.room += more;
        }
        self.keys.push(keys);
        let len = self.keys.len();
        self.measures.iter_mut().for_each(|measure| measure.grow(len));
        Ok(())
    }

    /// Adds the rows of a block.
    ///
    /// # Errors
    /// The memory limit of `run`.
    pub(super) fn add_block(
        &mut self,
        block: &EdgeRowBlock,
        query: &QueryScan,
        keys: &[KeyColumn],
        run: &Run,
    ) -> Result<()> {
        let mut of_rows = vec![0_u32; block.len()];
        if let GroupIndex::Dense { domains, .. } = &self.index {
            // First the places of the rows in the index, then their groups.
            let mut places = vec![0_usize; block.len()];
            let mut stride = 1;
            for (number, (key, domain)) in keys.iter().zip(domains).enumerate() {
                query.each_key(block, number, key, |row, value| {
                    places[row] += stride * value.map_or(*domain, |value| value as usize);
                })?;
                stride *= domain + 1;
            }
            for (group, place) in of_rows.iter_mut().zip(places) {
                *group = self.group_at(place, run)?;
            }
        } else {
            let mut bits = vec![KeyBits::default(); block.len()];
            for (number, key) in keys.iter().enumerate() {
                query.each_key(block, number, key, |row, value| bits[row].set(number, value))?;
            }
            let mut last = None;
            for (group, bits) in of_rows.iter_mut().zip(bits) {
                *group = match last {
                    Some((keys, group)) if keys == bits => group,
                    _ => self.group(bits, run)? as u32,
                };
                last = Some((bits, *group));
            }
        }
        for (number, measure) in self.measures.iter_mut().enumerate() {
            measure.add_rows(&of_rows, query.values(block, number));
        }
        Ok(())
    }

    /// The group at a place of the dense index, a new one if there is none.
    fn group_at(&mut self, place: usize, run: &Run) -> Result<u32> {
        let GroupIndex::Dense { groups, domains } = &mut self.index else { return Ok(0) };
        let group = &mut groups[place];
        if *group != 0 {
            return Ok(*group - 1);
        }
        *group = self.keys.len() as u32 + 1;
        let (mut keys, mut rest) = (KeyBits::default(), place);
        for (key, domain) in domains.iter().enumerate() {
            let value = rest % (domain + 1);
            keys.set(key, (value < *domain).then_some(value as u64));
            rest /= domain + 1;
        }
        self.begin(keys, run)?;
        Ok(self.keys.len() as u32 - 1)
    }

    /// The rows of all, which are a group also if there are none.
    ///
    /// # Errors
    /// The memory limit of `run`.
    pub(super) fn expect_whole(&mut self, run: &Run) -> Result<()> {
        self.group(KeyBits::default(), run).map(drop)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The memory limit of `run`.
    pub(super) fn add(
        &mut self,
        keys: KeyBits,
        value: impl Fn(usize) -> Result<Option<u64>>,
        run: &Run,
    ) -> Result<()> {
        let group = self.group(keys, run)?;
        for (place, measure) in self.measures.iter_mut().enumerate() {
            measure.add(group, value(place)?);
        }
        Ok(())
    }

    /// Adds the rows of others.
    ///
    /// # Errors
    /// As [`Groups::add`].
    pub(super) fn add_all(&mut self, other: &Self, run: &Run) -> Result<()> {
        for (number, keys) in other.keys.iter().enumerate() {
            if number.is_multiple_of(RESERVED_GROUPS) {
                run.check()?;
            }
            let group = self.group(*keys, run)?;
            for (own, theirs) in self.measures.iter_mut().zip(&other.measures) {
                own.add_group(group, theirs, number);
            }
        }
        Ok(())
    }

    pub(super) fn keys(&self) -> &[KeyBits] {
        &self.keys
    }

    pub(super) fn measures(&self) -> &[MeasureColumn] {
        &self.measures
    }
}
