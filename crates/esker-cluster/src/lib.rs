//! One graph over the shards of a cluster: databases that are changed and analysed together, each by a
//! process of its own.
//!
//! A [`Cluster`] is a directory with a manifest and a database for each shard ([`disk`], [`model`]). A vertex
//! belongs to the shard that a seeded hash of its external id names ([`model::owner`]). An edge lies with the
//! owner of its source, an undirected one also with the owner of its target. Edges of hubs lie on all
//! shards (`model::placement`). A shard keeps ghosts: copies of vertices that other shards own.
//!
//! A [`Supervisor`] starts a worker process for each shard ([`process`]), and ends them all when one fails.
//! Workers exchange blocks through a dataflow engine ([`net::engine`]). Both sides of a connection prove that
//! they know the secret of the cluster ([`net::handshake`]); between machines connections may be encrypted
//! (`net::tunnel`). A version of the whole exists once every shard has synced its part and the manifest names
//! all parts.
//!
//! Bottom to top: [`net`], [`model`], [`disk`], `exchange`, `change`, [`algorithm`], [`follow`],
//! [`catalogue`], [`process`].
//!
//! `docs/concepts/cluster.md` says what users may rely on, `docs/internals/cluster.md` how it is done.

#![forbid(unsafe_code)]

pub mod net;
pub mod model;
pub mod disk;
mod exchange;
mod change;
pub mod algorithm;
pub mod follow;
pub mod catalogue;
pub mod process;
#[cfg(test)]
mod model_tests;

pub use change::apply::{Prepared, Publisher, change};
pub use disk::cluster::{Cluster, read_secret};
pub use disk::creating::{CreateOptions, HUB_DEGREE};
pub use exchange::counters::{ChangeTimes, WorkerCounters};
pub use model::weights::WeightKind;
pub use process::advance::FollowedVersion;
pub use process::all_shards::{CheckReport, GraphCounts, check, counts, estimate, export};
pub use process::requests::{create_on, roll_back, unpublished, weights};
pub use process::reshard::{NewShards, merge, rebalance, split};
pub use process::shard_requests::write_id;
pub use process::supervisor::{ChangeReport, ClusterAnswer, News, SILENCE, Supervisor};
pub use process::worker::WorkerCommand;

/// The example of README.md, run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
