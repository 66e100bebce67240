//! Complete layers that keep a bounded part in memory: in a pool, or as heads; and other versions of them.

pub mod headed;
pub mod pooled;
pub mod stacked;
