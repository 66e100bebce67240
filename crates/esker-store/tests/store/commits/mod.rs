//! A database under way: killed at random moments, used by many threads at once, with very many versions.

mod model;
mod kill;
mod stress;
mod many;
mod points;
