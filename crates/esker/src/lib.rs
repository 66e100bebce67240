//! Esker, a versioned graph store with a parallel analytics engine: the facade, where the store and the
//! algorithms meet.
//!
//! ```
//! use esker::algo::algorithm::components::wcc::{WccOptions, wcc};
//! use esker::catalogue::{Job, Params, find};
//! use esker::graph::Run;
//! use esker::import::{ImportOptions, Input, ReadOptions, import_inputs};
//! use esker::store::{Database, DatabaseOptions, Store};
//! use esker::top::top;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("web.esker");
//! // A file becomes a database. This one is in memory; `import_files` takes names of files.
//! let links = Input::memory("links.csv", *b"source,target\nblog,wiki\nwiki,docs\ndocs,wiki\n");
//! import_inputs(&[links], &path, &ReadOptions::default(), &ImportOptions::default())?;
//!
//! // An algorithm by its name, on a view of a version: all edges as they are, or a part, or turned round.
//! let newest = Store::open(&path)?.latest()?; // or .at(3)
//! let view = newest.view();
//! let run = Run::with_threads(0)?; // one thread a processor
//! let params = Params::default().with("damping", "0.9");
//! let job = Job { view: &view, run: &run, params: &params, verify: false };
//! let answer = find("pagerank")?.run(&job)?;
//! let first = top(&answer, 1, run.cancel())?;
//! assert_eq!(first[0].key.to_text(newest.ids())?, "wiki");
//!
//! // A commit makes a version, durably; older versions stay.
//! let db = Database::open(&path, DatabaseOptions::default())?;
//! let mut batch = db.batch();
//! batch.add_edge("blog", "docs", &[])?;
//! let version = db.commit(batch, "one more link")?;
//! let (old, new) = (db.at(1)?, db.at(version)?);
//! assert_eq!((old.num_edges(), new.num_edges()), (3, 4));
//!
//! // An algorithm as a function, with a typed answer, on any graph.
//! let found = wcc(&new.view().graph::<()>(&run)?, &run, &WccOptions::default())?;
//! assert_eq!(found.components, 1);
//! # Ok(())
//! # }
//! ```
//!
//! The folder `examples` of this crate has a program for each task. What is where:
//!
//! * [`import`] makes databases of files, [`mod@export`] files of databases; [`store`] opens, reads and
//!   changes a database.
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
pub use esker_store::format::MemoryLimit;
pub use guard::{check_maps, guarded, silence_panics_of_changed_maps};

/// The example of README.md, run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the README.md of the repository, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct RepositoryReadme;
