//! What is computed on a graph. Sees `esker-graph` only: never a file, never a page.

#![forbid(unsafe_code)]
