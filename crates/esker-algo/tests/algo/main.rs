//! Tests every algorithm against its verifier, and on many threads. One program, because each
//! would link the whole library.

mod common;
mod betweenness;
mod bfs;
mod biconnectivity;
mod cdlp;
mod cliques;
mod closeness;
mod colouring;
mod degrees;
mod densest;
mod filter;
mod forest;
mod graphalytics;
mod kcore;
mod lcc;
mod ldd;
mod leiden;
mod matching;
mod mis;
mod msf;
mod pagerank;
mod mixing;
mod parallel;
mod paths;
mod quality;
mod scc;
mod set_cover;
mod spanner;
mod sssp;
mod triangles;
mod truss;
mod verifiers;
mod wcc;
