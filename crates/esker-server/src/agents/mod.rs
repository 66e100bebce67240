//! The Model Context Protocol: programs of language models ask the questions of the HTTP interface, as tools.
//!
//! A tool is a route, with the same parameters and the same answer, but for runs: these are refused while an
//! estimate says that they take much and nobody confirmed that, and one call waits for the answer. Answers
//! are bounded in rows and bytes, and say how much of them is shown.

mod tools;
mod excerpt;
mod shared;
mod ranking_run;
mod lines;
mod service;

pub use service::AgentServer;
