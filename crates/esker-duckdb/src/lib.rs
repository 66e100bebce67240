//! A loadable extension of DuckDB: `esker_edges`, `esker_vertices`, `esker_versions` and `esker_run` are
//! table functions over a database of Esker.
//!
//! The extension uses the stable C interface of DuckDB (version 1), so that one build serves all versions of
//! DuckDB from 1.2 on. It reads; nothing is written.

mod columns;
mod table;
mod capi;
mod arguments;
mod edges;
mod vertices;
mod versions;
mod answers;
mod entry;
