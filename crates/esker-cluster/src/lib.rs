//! One graph over the shards of a cluster: databases that are changed and analysed together, each by a
//! process of its own.
//!
//! A [`Cluster`] is a directory with a manifest and a database for each shard ([`mod@cluster`],
//! [`manifest`]). A vertex belongs to the shard that a seeded hash of its external id names ([`owner`]). An
//! edge lies with the owner of its source; an undirected one also with that of its target; those of hubs are
//! spread over the shards (`placement`). What a shard holds of other shards' vertices are ghosts.
//!
//! A [`Supervisor`] starts a worker process for each shard ([`worker`]), and ends them all when one fails.
//! Workers exchange blocks through a dataflow engine ([`engine`]) over connections on which both sides have
//! proved that they know the secret of the cluster ([`handshake`]); between machines they may be encrypted
//! (`tunnel`). A version of the whole exists once every shard has synced its part and the manifest names all
//! parts.
//!
//! `docs/cluster.md` is the page for users.

#![forbid(unsafe_code)]

pub mod owner;
mod wire;
mod threads;
mod placement;
pub mod manifest;
mod fence;
mod excerpt;
pub mod engine;
mod tunnel;
mod connection;
pub mod handshake;
pub mod hosts;
mod counters;
mod weights;
mod staging;
pub mod cluster;
mod creating;
mod shard;
pub mod job;
mod outbox;
mod hubs;
mod mark;
mod parts;
mod rounds;
mod change;
mod publishing;
pub mod answer;
pub mod needs;
mod own_ids;
mod blocks;
mod routes;
pub mod algorithm;
pub mod follow;
mod portion;
mod single;
mod control;
mod remote;
mod asking;
mod whole;
pub mod worker;
pub mod host;
mod children;
mod stopping;
mod forward;
mod watch;
mod supervisor;
mod advance;
mod split;
#[cfg(test)]
mod model_tests;

pub use advance::FollowedVersion;
pub use asking::{create_on, roll_back, unpublished, weights};
pub use change::{Prepared, Publisher, change};
pub use cluster::{Cluster, read_secret};
pub use counters::{ChangeTimes, WorkerCounters};
pub use creating::{CreateOptions, HUB_DEGREE};
pub use single::write_id;
pub use split::{NewShards, merge, rebalance, split};
pub use supervisor::{ChangeReport, ClusterAnswer, News, SILENCE, Supervisor};
pub use weights::WeightKind;
pub use whole::{CheckReport, Counts, check, counts, estimate, export};
pub use worker::WorkerCommand;
