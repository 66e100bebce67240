//! Groups of rows that have the same keys.

use std::collections::HashMap;

use esker_graph::{Reservation, Run};

use super::keys::KeyBits;
use super::measures::MeasureColumn;
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
    /// One key that counts from 0: its group, from 1; behind all, that of rows without the key.
    Dense(Vec<u32>),
    Hashed(HashMap<KeyBits, u32>),
}

impl Groups {
    /// No groups yet. `domain` is how many values the only key has, if they count from 0.
    ///
    /// # Errors
    /// The memory limit of `run`.
    pub(super) fn new(domain: Option<usize>, measures: &[MeasureColumn], run: &Run) -> Result<Self> {
        let (index, reserved) = match domain {
            Some(domain) => {
                let memory = run.budget().reserve("the groups of edges", 4 * (domain as u64 + 1))?;
                (GroupIndex::Dense(vec![0; domain + 1]), vec![memory])
            }
            None => (GroupIndex::Hashed(HashMap::new()), Vec::new()),
        };
        Ok(Self { index, keys: Vec::new(), measures: measures.to_vec(), reserved, room: 0 })
    }

    /// The group of some keys, a new one if there is none.
    fn group(&mut self, keys: KeyBits, run: &Run) -> Result<usize> {
        let next = self.keys.len() as u32 + 1;
        let group = match &mut self.index {
            GroupIndex::Dense(groups) => {
                let place = keys.get(0).map_or(groups.len() - 1, |key| key as usize);
                if groups[place] == 0 {
                    groups[place] = next;
                }
                groups[place]
            }
            GroupIndex::Hashed(groups) => *groups.entry(keys).or_insert(next),
        };
        if group == next {
            if next == u32::MAX {
                return Err(Error::usage("there are more than four thousand million groups".to_owned()));
            }
            if self.keys.len() == self.room {
                let bytes = GROUP_BYTES + self.measures.len() as u64 * MeasureColumn::CELL_BYTES;
                let more = RESERVED_GROUPS.max(self.room / 2);
                self.reserved.push(run.budget().reserve("the groups of edges", more as u64 * bytes)?);
                self.room += more;
            }
            self.keys.push(keys);
            let len = self.keys.len();
            self.measures.iter_mut().for_each(|measure| measure.grow(len));
        }
        Ok(group as usize - 1)
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
