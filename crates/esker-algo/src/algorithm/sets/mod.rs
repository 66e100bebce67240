//! Sets of vertices or edges: independent, matched, coloured, covering.

pub mod mis;
pub mod colouring;
pub mod set_cover;
pub mod matching;
pub mod hopcroft_karp;
