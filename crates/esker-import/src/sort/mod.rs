//! Records in memory or on disk, and sorting them in bounded memory.

pub mod scratch;
pub mod spool;
pub(crate) mod radix;
pub(crate) mod external;
