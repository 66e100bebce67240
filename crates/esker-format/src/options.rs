//! Options of a database, which every process that writes to it obeys.

use super::field::{codes, layout};

codes! {
    /// Which changed lists a layer holds whole, instead of only their changes.
    pub enum CopyPolicy: u8 {
        /// None: the smallest layers.
        Chain = 1,
        /// All: the fastest reads.
        Copy = 2,
        /// Lists of at most 4 edges, or 32 where some are deleted, and the few largest.
        Mixed = 3,
    }
}

impl Default for CopyPolicy {
    /// The thesis on LLAMA found worthwhile to copy short lists, and the largest (4.5, 4.9.2).
    fn default() -> Self {
        Self::Mixed
    }
}

impl CopyPolicy {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::Mixed, Self::Chain, Self::Copy];

    /// The name of the policy for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Copy => "copy",
            Self::Mixed => "mixed",
        }
    }
}

layout! {
    /// How commits become layers.
    #[derive(Copy)]
    pub struct WriteOptions {
        /// Which changed lists a layer holds whole.
        policy: CopyPolicy,
        /// Commits that take this many bytes of memory are frozen.
        freeze_bytes: u64,
        /// Whether layers are merged in the background after freezing.
        auto_merge: bool,
    }
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { policy: CopyPolicy::default(), freeze_bytes: 64 << 20, auto_merge: true }
    }
}
