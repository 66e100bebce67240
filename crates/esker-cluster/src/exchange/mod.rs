//! Edges and values on their way to the shards that own them.

pub(crate) mod counters;
pub(crate) mod outbox;
pub(crate) mod hubs;
pub(crate) mod rounds;
pub(crate) mod id_lookup;
pub(crate) mod blocks;
pub(crate) mod routes;
