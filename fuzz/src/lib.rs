//! Mutation fuzzing of everything in Esker that reads bytes which somebody else wrote.
//!
//! A case is a well-formed input, changed in one to eight ways and read in one of several; all follow from a seed and the case's
//! number. Whatever the bytes are, a reader gives edges that keep its contract, or an error that says what is wrong:
//! never a panic, a hang or a broken promise. `corpus/` has an input for every kind of message; the tests replay it.

mod random;
mod mutate;
mod seeds;
pub mod outcome;
mod database;
mod log;
pub mod target;
pub mod run;
