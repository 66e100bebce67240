//! Esker, a versioned graph store with a parallel analytics engine: the facade, where the store and the
//! algorithms meet.
//!
//! ```no_run
//! use esker::catalogue::{Job, Params, find};
//! use esker::graph::Run;
//! use esker::store::Store;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let view = Store::open("web.esker")?.latest()?.view(); // or .at(3)?.view()
//! let run = Run::with_threads(0)?; // one thread a processor
//! let params = Params::default().with("damping", "0.9");
//! let job = Job { snapshot: &view, run: &run, params: &params, verify: false };
//! let answer = find("pagerank")?.run(&job)?;
//! println!("{:?}", answer.facts); // error, converged
//! for ranked in esker::top::top(&answer, 10, run.cancel())? {
//!     println!("{ranked:?}"); // vertices by number
//! }
//! # Ok(())
//! # }
//! ```
//!
//! * [`catalogue`] has the algorithms by name, with options, estimates and verifiers; [`answer`] the one form
//!   of all answers, [`top`] their head, [`output`] their files.
//! * [`plan`] chooses what a run reads and how it is kept in memory; [`doctor`] measures the [`rates`] of the
//!   machine that its prices are computed from.
//! * [`local`] answers small questions: the edges of a vertex, the paths between two.
//! * [`selection`] selects edges by their properties.
//! * [`window`] selects the edges of a range of times; [`versions`] computes answers on several versions
//!   together.
//! * [`change`] applies files, streams and scripts of changes; [`differences`] writes the differences between
//!   versions.
//! * [`follow`] keeps an answer up to date as versions come.
//! * [`mod@graph500`] runs the benchmark of that name.
//! * [`graph`], [`store`] and [`algo`] are the crates below, for typed use: each algorithm is a generic
//!   function over [`graph::Graph`].

#![forbid(unsafe_code)]

mod error;
mod guard;
pub mod answer;
pub mod top;
pub mod histogram;
pub mod rates;
pub mod catalogue;
pub mod plan;
pub mod output;
pub mod window;
pub mod versions;
pub mod change;
pub mod differences;
pub mod local;
pub mod selection;
pub mod graph500;
pub mod follow;
pub mod doctor;

pub use error::{Error, Result};
pub use esker_algo as algo;
pub use esker_graph as graph;
pub use esker_import::{self as import, export};
pub use esker_store as store;
pub use guard::{check_maps, guarded, silence_panics_of_changed_maps};

/// The examples of README.md, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
