//! Verifiers of sets of vertices or edges.

pub(crate) mod matching;
pub(crate) mod hopcroft_karp;
pub(crate) mod mis;
pub(crate) mod colouring;
pub(crate) mod set_cover;
