//! Edges that become a version of the cluster: reading them, applying them on all shards, publishing the
//! result.

pub(crate) mod fingerprint;
pub(crate) mod reading;
pub(crate) mod fitting;
pub(crate) mod input;
pub(crate) mod apply;
pub(crate) mod publishing;
