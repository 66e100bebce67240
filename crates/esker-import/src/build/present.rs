//! The integer ids that stand in the input, and the closing of the gaps between them.
//!
//! A vertex exists if the input names it, so the integers of a range are vertices only as far as they occur.
//! A set of bits tells which do; if some do not, every id is replaced by its rank, the number of smaller ids
//! that occur.

use parking_lot::Mutex;

use esker_format::{Error, IdMapKind, Result};
use esker_graph::{Bitmap, NONE, Reservation, VertexId, vertex};
use esker_layers::ids::IdFiles;

use crate::build::gather::{GatheredInput, RawBlock, RawEnds};
use crate::keys::NumberedIds;
use crate::number::write_ascending;
use crate::options::Tracker;
use crate::sort::scratch::Workspace;
use crate::sort::spool::Spool;

/// A range is too wide for a set of bits if it has more integers than this for each id of the input: the set
/// would then be larger than the input.
const RANGE_PER_ID_MAX: u64 = 32;

/// A set of this many bits is never too large.
const RANGE_MIN: u64 = 1 << 16;

/// The distinct integer ids of an input, one bit for each integer between the least and the greatest.
///
/// Memory: an eighth of a byte for each integer of the range, and half as much again (with `id64`, as much)
/// while gaps are closed.
pub(crate) struct PresentIds {
    work: Workspace,
    least: u64,
    set: Bitmap,
    count: u64,
    room: Reservation,
}

impl PresentIds {
    /// Finds the ids of an input that has some. `None` if their range is too wide for the input or for the
    /// memory that is free.
    ///
    /// # Errors
    /// If a temporary file cannot be read; cancellation.
    pub(crate) fn find(
        work: &Workspace,
        gathered: &GatheredInput,
        tracker: &Tracker,
    ) -> Result<Option<Self>> {
        let (least, ids) = (gathered.ids.min, gathered.num_ids());
        let range = (gathered.ids.max - least).saturating_add(1);
        if range > u64::from(NONE) || range > RANGE_MIN.max(ids.saturating_mul(RANGE_PER_ID_MAX)) {
            return Ok(None);
        }
        let room = match set_bytes(range) + ranks_bytes(range) {
            needed if needed <= work.budget.free_bytes() / 4 => work.budget.try_reserve(needed),
            _ => None,
        };
        let Some(room) = room else { return Ok(None) };
        let set = Bitmap::new(range as usize);
        let insert = |id: u64| {
            set.insert((id - least) as VertexId);
        };
        work.run.share(gathered.blocks.len(), Buffers::default, |buffers, index| {
            let (block, shelf) = (&gathered.blocks[index], &gathered.shelf);
            match &block.ends {
                RawEnds::Narrow(chunk) => {
                    let pairs = shelf.get(chunk, &mut buffers.narrow)?;
                    pairs.as_flattened().iter().for_each(|&id| insert(u64::from(id)));
                }
                RawEnds::Wide(chunk) => {
                    let pairs = shelf.get(chunk, &mut buffers.wide)?;
                    pairs.as_flattened().iter().for_each(|&id| insert(id));
                }
                RawEnds::Elsewhere => {}
            }
            if let Some(named) = &block.vertices {
                shelf.get(named, &mut buffers.named)?.iter().for_each(|&id| insert(id));
            }
            tracker.advance(block.len as u64, 0);
            Ok::<(), Error>(())
        })?;
        let count = set.count() as u64;
        Ok(Some(Self { work: work.clone(), least, set, count, room }))
    }

    /// Number of ids.
    pub(crate) fn len(&self) -> u64 {
        self.count
    }

    /// Whether some integer between the least and the greatest id does not occur.
    pub(crate) fn has_gaps(&self) -> bool {
        self.count < self.set.len() as u64
    }

    /// Replaces the ids of all edges by their ranks, and returns the map of the ids.
    ///
    /// # Errors
    /// If a temporary file cannot be read or written; cancellation.
    pub(crate) fn close_gaps(mut self, gathered: &mut GatheredInput) -> Result<Box<dyn NumberedIds>> {
        let ranks = Ranks::of(&self.set);
        let rank = |id: u64| u64::from(ranks.of_member((id - self.least) as VertexId));
        gathered.rows.replace_ids(rank)?;
        let shelf = &gathered.shelf;
        let blocks: Vec<Mutex<&mut RawBlock>> = gathered.blocks.iter_mut().map(Mutex::new).collect();
        self.work.run.share(
            blocks.len(),
            || (),
            |(), index| {
                let mut block = blocks[index].lock();
                match &mut block.ends {
                    RawEnds::Narrow(chunk) => shelf.update(chunk, |pairs| {
                        // A rank is at most its id, so it fits where the id did.
                        pairs.as_flattened_mut().iter_mut().for_each(|id| *id = rank(u64::from(*id)) as u32);
                    }),
                    RawEnds::Wide(chunk) => shelf.update(chunk, |pairs| {
                        pairs.as_flattened_mut().iter_mut().for_each(|id| *id = rank(*id));
                    }),
                    RawEnds::Elsewhere => Ok(()),
                }
            },
        )?;
        drop(ranks);
        self.room.shrink_to(set_bytes(self.set.len() as u64));
        Ok(Box::new(self))
    }
}

fn set_bytes(range: u64) -> u64 {
    range.div_ceil(64) * 8
}

fn ranks_bytes(range: u64) -> u64 {
    range.div_ceil(64) * size_of::<VertexId>() as u64
}

#[derive(Default)]
struct Buffers {
    narrow: Vec<[u32; 2]>,
    wide: Vec<[u64; 2]>,
    named: Vec<u64>,
}

impl NumberedIds for PresentIds {
    fn kind(&self) -> IdMapKind {
        IdMapKind::Integers
    }

    fn name(&self, number: u64) -> Result<String> {
        let id = self.set.iter().nth(number as usize);
        Ok(id.map_or_else(String::new, |id| (self.least + id as usize as u64).to_string()))
    }

    fn write(self: Box<Self>, files: &IdFiles<'_>, renumbered: Option<&Spool<VertexId>>) -> Result<()> {
        let ids = self.set.iter().map(|v| self.least + v as usize as u64);
        write_ascending(&self.work, files, ids, self.count, renumbered)
    }
}

/// For each word of a set, the number of members before it.
struct Ranks<'a> {
    set: &'a Bitmap,
    before: Vec<VertexId>,
}

impl<'a> Ranks<'a> {
    fn of(set: &'a Bitmap) -> Self {
        let mut sum = 0;
        let before = (0..set.num_words()).map(|word| {
            let before = vertex(sum);
            sum += set.word(word).count_ones() as usize;
            before
        });
        Self { set, before: before.collect() }
    }

    /// The number of members before a member.
    #[inline(always)]
    fn of_member(&self, member: VertexId) -> VertexId {
        let word = member as usize / 64;
        let below = (1 << (member % 64)) - 1;
        self.before[word] + VertexId::from((self.set.word(word) & below).count_ones())
    }
}
