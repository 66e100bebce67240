//! Databases as a program uses them: on a real disk, in several processes, by many threads.
//!
//! `tests/memory` is a program of its own, because it replaces the allocator.
// The tests read and write files of their own.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

mod backups;
mod commits;
mod holding;
mod processes;
mod queue;
