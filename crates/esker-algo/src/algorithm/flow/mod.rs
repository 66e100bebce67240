//! Flows and cuts.

pub mod max_flow;
