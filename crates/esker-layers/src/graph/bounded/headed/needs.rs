//! The memory that headed lists need.

use esker_format::{Error, HeadOrder, Result};
use esker_graph::{Direction, Run, Stop, VertexId};

use super::degrees::ListDegrees;
use super::head_lengths::{all_entries, head_len};
use super::lists::directions;
use super::side::HeadedSide;
use super::stored::StoredHeads;
use super::tails::WORKER_BYTES;
use crate::graph::mapped::dense::{DenseLists, file_bytes};
use crate::graph::mapped::points::PointReads;
use crate::graph::residency::HeadedOptions;
use crate::layer::{Body, PlainLayer};

/// The memory that a layer needs if it is headed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadedNeeds {
    /// Bytes besides the heads: their offsets, checksums of pages, frames for reading.
    pub fixed_bytes: u64,
    /// Bytes of mapped offsets; in the end all of them are in memory.
    pub mapped_bytes: u64,
    /// Bytes of all neighbours.
    pub list_bytes: u64,
    /// Neighbours in each stored head, at most; `None`: no heads are stored.
    pub stored_len: Option<usize>,
    /// The one direction whose lists have heads; `None`: both have.
    pub only: Option<Direction>,
}

/// Heads of lists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Heads {
    /// Neighbours of each vertex in memory.
    pub length: usize,
    /// The neighbours that heads hold, if heads are gathered.
    pub order: HeadOrder,
    /// Their share of all arcs.
    pub share: f64,
    /// Bytes of memory, including those besides the heads.
    pub memory_bytes: u64,
}

impl HeadedNeeds {
    /// The needs of a complete layer.
    ///
    /// # Errors
    /// [`Error::Invalid`] for any other layer.
    pub fn for_layer(layer: &PlainLayer, stored: Option<&StoredHeads>, threads: usize) -> Result<Self> {
        Self::for_direction(None, layer, stored, threads)
    }

    /// As [`HeadedNeeds::for_layer`], if only one direction has heads. The lists of the other are mapped.
    ///
    /// # Errors
    /// As [`HeadedNeeds::for_layer`].
    pub fn for_direction(
        only: Option<Direction>,
        layer: &PlainLayer,
        stored: Option<&StoredHeads>,
        threads: usize,
    ) -> Result<Self> {
        let mut needs = Self {
            fixed_bytes: HeadedSide::gather_bytes(layer.out().main(), threads),
            mapped_bytes: 0,
            list_bytes: 0,
            stored_len: stored.map(StoredHeads::head_len),
            only,
        };
        for (direction, section) in directions(layer) {
            let lists = section.main();
            needs.mapped_bytes += file_bytes(lists)?.0;
            if !needs.has_heads(direction) {
                continue;
            }
            let workers = WORKER_BYTES * threads as u64;
            needs.fixed_bytes += HeadedSide::fixed_bytes(lists) + workers;
            if let Body::Coded(_) = lists.body() {
                // Of long lists, which are read from the map.
                needs.fixed_bytes += PointReads::TOUCHED_BYTES_MAX;
            }
            needs.list_bytes += (lists.num_arcs() * size_of::<VertexId>()) as u64;
        }
        Ok(needs)
    }

    fn has_heads(&self, direction: Direction) -> bool {
        self.only.is_none_or(|only| only == direction)
    }

    /// The heads that the options ask for. Without that: the stored ones, or the longest that fit the memory
    /// if those do not fit or there are none.
    ///
    /// # Errors
    /// [`Stop::OverBudget`] if they do not fit; [`Error::Corrupt`]; cancellation.
    pub fn heads(&self, layer: &PlainLayer, options: HeadedOptions, run: &Run) -> Result<Heads> {
        let over = |what: String, needed_bytes| {
            let budget_bytes = options.memory_bytes;
            Error::Stop(Stop::OverBudget { what, needed_bytes, budget_bytes })
        };
        let rest = options.memory_bytes.saturating_sub(self.fixed_bytes);
        let headed = directions(layer).filter(|&(direction, _)| self.has_heads(direction));
        let lists = headed.map(|(_, section)| Ok(DenseLists::new(section.main(), run)?.extents()));
        let lists = lists.collect::<Result<Vec<_>>>()?;
        let (fitting, longest) = head_len(&lists, rest / size_of::<VertexId>() as u64);
        let preferred = self.stored_len.map_or(fitting, |stored| stored.min(fitting));
        let length = options.head_len.map_or(preferred, |length| length.min(longest));
        let kept = lists.iter().map(|lists| all_entries(lists, length) as u64).sum::<u64>();
        let memory_bytes = self.fixed_bytes + kept * size_of::<VertexId>() as u64;
        if length > fitting || options.memory_bytes < self.fixed_bytes {
            let what = match length {
                0 => "preparing lists for heads".to_owned(),
                length => format!("keeping {length} neighbours of each vertex"),
            };
            return Err(over(what, memory_bytes));
        }
        let arcs = self.list_bytes / size_of::<VertexId>() as u64;
        let order = ListDegrees::for_layer(layer, run)?.best_order(layer.record().multigraph, length);
        Ok(Heads { length, order, share: kept as f64 / arcs.max(1) as f64, memory_bytes })
    }
}
