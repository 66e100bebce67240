//! Encodes lists arc by arc; memory is that of one block, however long a list is.

use esker_graph::VertexId;

use super::block::{AHEAD_BYTES, BLOCK_LEN, encode};
use super::index::{GROUP_LEN, GroupRecord, width_log};

/// Encoded elements that were not yet taken.
#[derive(Debug, Default)]
pub struct EncodedLists {
    /// For the column `groups`.
    pub groups: Vec<u64>,
    /// For the column `sizes`.
    pub sizes: Vec<u8>,
    /// For the column `lists`.
    pub lists: Vec<u8>,
    /// For the column `blocks`.
    pub blocks: Vec<u64>,
}

/// Encodes lists in the order of their vertices.
///
/// Memory: 2 KiB and [`Coder::parts`], which the caller writes and clears.
#[derive(Debug)]
pub struct Coder {
    parts: EncodedLists,
    /// Elements of `sizes`, `lists` and `blocks` that were already taken.
    taken: [u64; 3],
    source: VertexId,
    /// The targets of the current block.
    block: [VertexId; BLOCK_LEN],
    block_len: usize,
    /// Arcs of the current list in blocks that are already encoded.
    list_arcs: u64,
    /// Start of the current list in the column `lists`.
    list_start: u64,
    /// Degrees and lengths of the lists of the current group.
    degrees: [u64; GROUP_LEN],
    lengths: [u64; GROUP_LEN],
    group_len: usize,
    /// Arcs and bytes before the current group.
    before: [u64; 2],
}

impl Default for Coder {
    fn default() -> Self {
        Self {
            parts: EncodedLists::default(),
            taken: [0; 3],
            source: 0,
            block: [0; BLOCK_LEN],
            block_len: 0,
            list_arcs: 0,
            list_start: 0,
            degrees: [0; GROUP_LEN],
            lengths: [0; GROUP_LEN],
            group_len: 0,
            before: [0; 2],
        }
    }
}

impl Coder {
    /// Encoded elements that were not yet taken.
    pub fn parts(&self) -> &EncodedLists {
        &self.parts
    }

    /// Clears [`Coder::parts`] after the caller has written them.
    pub(crate) fn clear(&mut self) {
        let EncodedLists { groups, sizes, lists, blocks } = &mut self.parts;
        for (taken, len) in self.taken.iter_mut().zip([sizes.len(), lists.len(), blocks.len()]) {
            *taken += len as u64;
        }
        groups.clear();
        sizes.clear();
        lists.clear();
        blocks.clear();
    }

    fn num_bytes(&self) -> u64 {
        self.taken[1] + self.parts.lists.len() as u64
    }

    /// Appends ascending targets to the current list.
    pub fn append(&mut self, mut targets: &[VertexId]) {
        while !targets.is_empty() {
            if self.block_len == BLOCK_LEN {
                if self.list_arcs == 0 {
                    // A second block follows, so the list begins with a link to `blocks`.
                    let place = self.taken[2] + self.parts.blocks.len() as u64;
                    self.parts.lists.extend_from_slice(&place.to_le_bytes());
                }
                self.code_block();
            }
            let (now, later) = targets.split_at(targets.len().min(BLOCK_LEN - self.block_len));
            self.block[self.block_len..self.block_len + now.len()].copy_from_slice(now);
            self.block_len += now.len();
            targets = later;
        }
    }

    fn code_block(&mut self) {
        if self.list_arcs > 0 {
            let place = self.num_bytes();
            self.parts.blocks.push(place);
        }
        encode(self.source, &self.block[..self.block_len], &mut self.parts.lists);
        self.list_arcs += self.block_len as u64;
        self.block_len = 0;
    }

    /// Ends the current list; the next one belongs to the next vertex.
    pub fn end_list(&mut self) {
        if self.block_len > 0 {
            self.code_block();
        }
        let end = self.num_bytes();
        self.degrees[self.group_len] = self.list_arcs;
        self.lengths[self.group_len] = end - self.list_start;
        self.group_len += 1;
        if self.group_len == GROUP_LEN {
            self.end_group();
        }
        self.source = self.source.wrapping_add(1);
        (self.list_arcs, self.list_start) = (0, end);
    }

    fn end_group(&mut self) {
        let widths = [width_log(&self.degrees), width_log(&self.lengths)];
        self.push_record(widths);
        for (sizes, width) in [&self.degrees, &self.lengths].into_iter().zip(widths) {
            for size in sizes {
                self.parts.sizes.extend_from_slice(&size.to_le_bytes()[..1 << width]);
            }
        }
        self.before[0] += self.degrees.iter().sum::<u64>();
        self.before[1] += self.lengths.iter().sum::<u64>();
        (self.degrees, self.lengths) = ([0; GROUP_LEN], [0; GROUP_LEN]);
        self.group_len = 0;
    }

    fn push_record(&mut self, widths: [u32; 2]) {
        let place = self.taken[0] + self.parts.sizes.len() as u64;
        let [arcs, bytes] = self.before;
        self.parts.groups.extend(GroupRecord { arcs, bytes, place, widths }.to_words());
    }

    /// Ends the last group. The contents of [`Coder::parts`] then complete the columns.
    pub fn finish(&mut self) {
        if self.group_len > 0 {
            self.end_group();
        }
        self.push_record([0; 2]);
        self.parts.lists.extend_from_slice(&[0; AHEAD_BYTES]);
    }
}
