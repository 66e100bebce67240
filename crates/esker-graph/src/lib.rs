//! What a graph is to Esker.
//!
//! Vertex ids, the trait through which every algorithm sees every graph ([`Graph`]), the settings and threads
//! of a computation ([`Run`]), and the reference graph in memory ([`Csr`]). No files, no `unsafe`.

#![forbid(unsafe_code)]

mod id;
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
pub use csr::{Csr, CsrGraph};
pub use drive::{Extents, ScanWorker, Units, drive};
pub use fragmented::Fragmented;
pub use graph::{Direction, End, Flow, Graph, Lists, Patch, Piece, STRIP_LEN, Select, Visitor, Weight};
pub use id::{AtomicVertexId, NONE, VertexId, vertex};
pub use induced::Induced;
pub use layout::{BATCH_LEN, HUGE_LEN, Layout, ones, scan};
pub use remaining::Remaining;
pub use rows::Rows;
pub use run::{Cancel, OnProgress, Progress, Run, RunOptions, Stop};
pub use source::{AnyVisitor, Boxed, DynVisitor, SINK_BATCH_MAX, Sink, Source, collect, take_once};
