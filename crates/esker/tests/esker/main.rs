//! The catalogue on every kind of graph that the store can hold.
#![allow(clippy::disallowed_methods)] // The tests read and write files of their own.

#[path = "../../../esker-algo/tests/algo/common/mod.rs"]
mod common;
mod forms;
mod requests;

mod catalogue;
mod delta;
mod directions;
mod documents;
mod doors;
mod dynamic;
mod edge_ids;
mod encodings;
mod examples;
mod follow;
mod limits;
mod matrix;
mod missing;
mod operations;
mod remembered;
mod removed;
mod residencies;
mod rows;
mod session;
mod slides;
mod syncs;
mod texts;
mod windows;
