//! The processes of an operation: the supervisor, its workers, and what is asked of one shard or of all of
//! them.

pub(crate) mod selection;
pub(crate) mod shard_requests;
pub(crate) mod control;
pub(crate) mod remote;
pub(crate) mod requests;
pub(crate) mod all_shards;
pub mod worker;
pub mod host;
pub(crate) mod children;
pub(crate) mod stopping;
pub(crate) mod forward;
pub(crate) mod watch;
pub(crate) mod supervisor;
pub(crate) mod advance;
pub(crate) mod reshard;
