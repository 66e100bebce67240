//! What a graph is to Esker: vertex ids, the trait through which every algorithm sees every graph, and the
//! settings of a run.
//!
//! ```
//! use esker_graph::{Csr, Direction, Flow, Graph, Piece, Run, Select, VertexId, Visitor};
//!
//! /// Counts arcs. Each worker has a count of its own, so there is no shared counter and no lock.
//! struct CountArcs;
//!
//! impl Visitor<()> for CountArcs {
//!     type State = usize;
//!
//!     fn new_state(&self) -> usize {
//!         0
//!     }
//!
//!     fn visit(&self, count: &mut usize, _v: VertexId, piece: Piece<'_, ()>) -> Flow {
//!         *count += piece.targets.len();
//!         Flow::More
//!     }
//! }
//!
//! # fn main() -> Result<(), esker_graph::Stop> {
//! let csr = Csr::undirected(4, &[(0, 1, ()), (1, 2, ()), (2, 0, ()), (2, 3, ())])?;
//! let run = Run::with_threads(2)?;
//! let counts = csr.graph().scan(&run, Direction::Out, Select::All, &CountArcs)?;
//! assert_eq!(counts.iter().sum::<usize>(), 8); // an undirected edge is two arcs
//! # Ok(())
//! # }
//! ```
//!
//! * [`Graph`] is the waist between algorithms and stored graphs. A scan hands over the lists of selected
//!   vertices in pieces, in parallel, to a [`Visitor`]. [`Lists`] adds point reads of whole lists.
//! * [`Run`] holds the threads, seed, memory limit, progress report and cancel token of a computation.
//! * [`Csr`] is the reference graph in memory; [`generate`] makes graphs from a seed, of [`random`] numbers.
//! * [`Induced`], [`Boxed`] and [`Fragmented`] wrap a graph: without some vertices, with its type erased,
//!   with lists in shuffled pieces (for tests).
//! * A [`Message`] names settings and operations as facts; each interface renders them in its [`Language`].
//!
//! Vertex ids have 32 bits, or 64 with the feature `id64`. This crate knows no files, and contains `unsafe`
//! in two places: where the threads of a run share short steps, and where a cache line is prefetched.

mod counted;
pub mod random;
mod prefetch;
mod id;
pub mod message;
mod stop;
mod budget;
mod reads;
mod team;
mod run;
mod bitmap;
mod graph;
mod drive;
mod layout;
mod source;
mod rows;
mod csr;
mod fragmented;
mod remaining;
mod induced;
pub mod generate;

pub use bitmap::Bitmap;
pub use budget::{Budget, Reservation};
pub use counted::counted;
pub use csr::{Csr, CsrGraph};
pub use drive::{Extents, ScanWorker, Units, drive};
pub use fragmented::Fragmented;
pub use graph::{
    Direction, End, Flow, Graph, Lists, Patch, Piece, RowBlock, STRIP_LEN, Select, Tile, Visitor, Weight,
};
pub use id::{AtomicVertexId, NONE, VertexId, vertex};
pub use induced::Induced;
pub use layout::{BATCH_LEN, HUGE_LEN, Layout, ones, scan};
pub use message::{
    AlgorithmOption, Assignment, Call, Language, Message, MessagePart, Operation, Setting, SettingValue,
};
pub use prefetch::{prefetch, prefetch_at};
pub use reads::{ReadCount, ReadLog, SourceReads};
pub use remaining::Remaining;
pub use rows::Rows;
pub use run::{Cancel, OnProgress, Progress, Run, RunOptions};
pub use source::{
    AnyVisitor, Boxed, DynVisitor, ListAccess, SINK_BATCH_MAX, Sink, Source, collect, take_once,
    wanted_blocks,
};
pub use stop::Stop;

/// The example of README.md, run with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
