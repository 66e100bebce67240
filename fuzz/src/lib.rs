//! Mutation fuzzing of all code in Esker that reads foreign bytes.
//!
//! A case is a well-formed input, changed in one to eight ways and read in one of several ways. A seed and
//! the number of the case determine both. For any bytes, a reader gives edges that keep its contract, or an
//! error that says what is wrong: never a panic, a hang or a broken promise. `corpus/` has an input for every
//! kind of message; the tests replay it.

mod random;
mod mutate;
mod seeds;
pub mod outcome;
mod living;
mod database;
mod log;
pub mod target;
pub mod run;
