//! Readers of binary formats: Parquet, Arrow IPC, GAP's serialised graphs, GBBS's graphs, edges of Graph500
//! and X-Stream, matrices of SciPy.
//!
//! All but Graph500 need random access: the parsers read what they want from the file themselves, so that
//! decoding is parallel, and a block only notes the rows that it stands for (`runs`).

mod region;
mod contain;
mod shared;
mod runs;
mod simple;
mod converted;
mod long;
mod holds;
mod reasons;
mod faults;
mod vectors;
mod left_out;
mod ends;
mod table;
mod batch;
mod notes;
mod vertices;
mod parquet;
mod arrow;
mod gap;
mod gbbs;
mod gbbs_bytes;
mod graph500;
mod x_stream;
mod npz;
mod graph_frames;
mod vertex_files;

pub(crate) use arrow::ARROW;
pub use arrow::table_in_memory;
pub(crate) use gap::{SG, WSG};
pub(crate) use gbbs::GBBS;
pub(crate) use gbbs_bytes::GBBS_BYTES;
pub(crate) use graph_frames::GRAPH_FRAMES;
pub(crate) use graph500::{GRAPH500, GRAPH500_64};
pub use left_out::vertex_row;
pub use long::{LongText, text_bytes, without_long_texts};
pub(crate) use npz::NPZ;
pub(crate) use parquet::PARQUET;
pub use simple::simplified;
pub use vertex_files::TypedVertices;
pub(crate) use vertex_files::{WithVertexFiles, may_be_vertices, open_typed_vertices, typed_title};
pub(crate) use x_stream::X_STREAM;

#[cfg(test)]
mod tests;
