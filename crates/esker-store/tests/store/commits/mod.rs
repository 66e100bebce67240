//! A database in use: killed at random moments, shared by many threads, with very many versions.

mod model;
mod kill;
mod stress;
mod many;
mod options;
mod positions;
mod points;
mod kinds;
mod rules;
mod times;
mod widen;
mod missing;
