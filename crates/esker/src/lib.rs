//! Esker, a versioned graph store with a parallel analytics engine: the facade, where the store and the
//! algorithms meet.
//!
//! ```
//! use esker::algo::algorithm::components::wcc::{WccOptions, wcc};
//! use esker::{Params, Selection, Session, SessionOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let (links, path) = (directory.path().join("links.csv"), directory.path().join("web.esker"));
//! # std::fs::write(&links, "source,target\nblog,wiki\nwiki,docs\ndocs,wiki\n")?;
//! esker::import(&links, &path)?; // a file becomes a database
//!
//! // A session has one memory limit, by default half of the memory that is available.
//! let session = Session::open_to_write(&path, &SessionOptions::default())?;
//! let ranks = session.latest()?.run("pagerank", &Params::default().with("damping", "0.9"))?;
//! assert_eq!(ranks.top(1)?[0].0, "wiki");
//!
//! // A commit makes a version, durably; older versions stay.
//! let mut batch = session.batch()?;
//! batch.add_edge("blog", "docs", &[])?;
//! session.commit(batch, "one more link")?;
//! let (old, new) = (session.at("1")?, session.latest()?); // by number, tag or time
//! assert_eq!((old.num_edges(), new.num_edges()), (3, 4));
//!
//! // A view selects edges and turns them round; an algorithm can be called as a typed function.
//! let view = session.view(&Selection::at("1")?.reversed())?;
//! let found = wcc(&view.graph::<()>(session.run())?, session.run(), &WccOptions::default())?;
//! assert_eq!(found.components, 1);
//! # Ok(())
//! # }
//! ```
//!
//! The folder `examples` of this crate has a program for each task. What is where:
//!
//! * [`Session`] is the front door: it opens a database, selects, plans, runs and commits. [`Selection`] says
//!   which graph is read, [`import()`] makes a database of a file.
//! * [`mod@import`] has all options of imports, [`mod@export`] makes files of databases; [`store`] opens,
//!   reads and changes a database.
//! * [`catalogue`] has the algorithms by name, with options, estimates and verifiers; [`answer`] the one form
//!   of all answers, [`top`] their head, [`output`] their files.
//! * [`computation`] is the one way from an algorithm and a view to a plan and an answer.
//! * [`plan`] chooses what a run reads and how it is kept in memory; [`doctor`] measures the [`rates`] of the
//!   machine that its prices are computed from.
//! * [`local`] answers small questions: the edges of a vertex, the paths between two.
//! * [`drawing`] makes pictures of a part of a graph.
//! * [`selection`] selects edges by their properties.
//! * [`window`] selects the edges of a range of times; [`versions`] computes answers on several versions
//!   together; [`groups`] passes the names of groups on from one to the next; [`mod@compare`]
//!   says what differs between the answers on two graphs.
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
pub mod computation;
pub mod output;
pub mod window;
pub mod versions;
pub mod groups;
pub mod compare;
pub mod change;
pub mod differences;
pub mod selection;
pub mod edge_rows;
pub mod grouping;
pub mod local;
pub mod drawing;
pub mod graph500;
pub mod follow;
pub mod alert;
pub mod doctor;
pub mod session;

pub use answer::{Answer, Value};
pub use catalogue::{Params, find};
pub use error::{Error, Result};
pub use esker_algo as algo;
pub use esker_graph as graph;
pub use esker_import::{self as import, export};
pub use esker_store as store;
pub use esker_store::format::MemoryLimit;
pub use guard::{check_maps, guarded, silence_panics_of_changed_maps};
pub use session::{NewDatabase, Selection, Session, SessionOptions, import, import_with};

/// The example of README.md, run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the README.md of the repository, compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct RepositoryReadme;
