//! The directory of a cluster and the databases of its shards.

pub(crate) mod fence;
pub(crate) mod staging;
pub mod cluster;
pub(crate) mod creating;
pub(crate) mod shard;
pub mod job;
