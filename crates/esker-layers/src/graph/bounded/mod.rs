//! Complete layers of which a bounded part is in memory: in a pool, or as heads; and other versions of them.

pub mod headed;
pub mod pooled;
pub mod stacked;
