//! What a graph is to Esker.
//!
//! Vertex ids, the trait through which every algorithm sees every graph ([`Graph`]), the settings and threads
//! of a computation ([`Run`]), and the reference graph in memory ([`Csr`]). No files, no `unsafe`.

#![forbid(unsafe_code)]

mod id;
mod run;
mod bitmap;
mod graph;
mod rows;
mod csr;
mod fragmented;
mod remaining;
mod induced;
mod erased;
pub mod generate;

pub use bitmap::Bitmap;
pub use csr::{Csr, CsrGraph};
pub use erased::Erased;
pub use fragmented::Fragmented;
pub use graph::{
    Direction, End, Flow, Graph, Lists, Patch, Piece, RANGE_LEN_MAX, SHARED_LEN_MAX, Select, Visitor, Weight,
};
pub use id::{AtomicVertexId, NONE, VertexId, vertex};
pub use induced::Induced;
pub use remaining::Remaining;
pub use rows::Rows;
pub use run::{Cancel, OnProgress, Progress, Run, RunOptions, Stop};
