//! Lists as two arrays: the offset of each list, and the targets of all lists concatenated.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use esker_format::{Column, Result};
use esker_graph::{Run, VertexId};

use super::extents::{AllLists, List};
use super::offsets::{ListCounts, Offsets};

/// The offset and target columns of a set of lists.
#[derive(Debug)]
pub struct Arrays {
    offsets: Offsets,
    targets: Column<VertexId>,
    /// All vertex ids are below this number.
    num_vertices: u64,
    targets_sound: AtomicBool,
}

impl Arrays {
    /// Checks that the column lengths match the manifest.
    pub(super) fn new(
        offsets: Column<u64>,
        targets: Column<VertexId>,
        num_vertices: u64,
        counts: ListCounts,
    ) -> Result<Self> {
        let offsets = Offsets::new(offsets, counts)?;
        targets.expect_len(counts.arcs)?;
        Ok(Self { offsets, targets, num_vertices, targets_sound: AtomicBool::new(false) })
    }

    pub(super) fn num_lists(&self) -> usize {
        self.offsets.num_lists()
    }

    pub(super) fn num_arcs(&self) -> usize {
        self.targets.len()
    }

    /// The column of offsets.
    pub fn offsets_column(&self) -> &Column<u64> {
        self.offsets.column()
    }

    /// The column of targets.
    pub fn targets_column(&self) -> &Column<VertexId> {
        &self.targets
    }

    /// All offsets. The first call verifies their checksums and that they ascend from 0 to the number of
    /// arcs.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; cancellation.
    pub fn offsets(&self, run: &Run) -> Result<&[u64]> {
        self.offsets.all(run)
    }

    /// All targets. The first call verifies their checksums and that each is a vertex id.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`]; cancellation.
    pub fn targets(&self, run: &Run) -> Result<&[VertexId]> {
        if !self.targets_sound.load(Ordering::Acquire) {
            self.targets
                .inspect(run, |targets, range| self.check_targets(&targets[range.clone()], range.start))?;
            self.targets_sound.store(true, Ordering::Release);
        }
        self.targets.all(run)
    }

    pub(super) fn all(&self, run: &Run) -> Result<AllLists<'_>> {
        Ok(AllLists::Arrays { offsets: self.offsets(run)?, targets: self.targets(run)? })
    }

    /// The range of arcs of a list, for the targets and the properties.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`], also if there is no such slot.
    #[inline]
    pub(crate) fn range(&self, slot: usize) -> Result<Range<usize>> {
        self.offsets.range(slot)
    }

    /// The targets of a range from [`Arrays::range`], or of a part of it.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`], also if an entry is not a vertex.
    #[inline]
    pub(crate) fn some_targets(&self, range: Range<usize>) -> Result<&[VertexId]> {
        let start = range.start;
        let targets = self.targets.get(range)?;
        if !self.targets_sound.load(Ordering::Acquire) {
            self.check_targets(targets, start)?;
        }
        Ok(targets)
    }

    /// The arcs of a list that lead to `target`. Reads only the targets that a binary search visits.
    pub(super) fn find(&self, slot: usize, target: VertexId) -> Result<Range<usize>> {
        let range = self.range(slot)?;
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.targets.at(middle)? < target {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let mut end = low;
        while end < range.end && self.targets.at(end)? == target {
            end += 1;
        }
        Ok(low..end)
    }

    #[inline]
    pub(super) fn list(&self, slot: usize) -> Result<List<'_>> {
        let range = self.range(slot)?;
        Ok(List { start: range.start, targets: Cow::Borrowed(self.some_targets(range)?) })
    }

    /// Checks that `targets`, whose first index is `first`, are vertex ids.
    ///
    /// # Errors
    /// [`esker_format::Error::Corrupt`].
    pub fn check_targets(&self, targets: &[VertexId], first: usize) -> Result<()> {
        let n = self.num_vertices;
        // A maximum compiles to a loop without branches, which the compiler vectorises.
        let largest = targets.iter().fold(0, |largest, &target| largest.max(target));
        if targets.is_empty() || u64::from(largest) < n {
            return Ok(());
        }
        let wrong = targets.iter().position(|&target| u64::from(target) >= n).unwrap_or(0);
        Err(self.targets.corrupt(
            first + wrong,
            format!("vertex {largest} in a graph of {}", esker_graph::counted(n, "vertex", "vertices")),
        ))
    }
}
