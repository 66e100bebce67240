//! Verifiers of flows.

pub(crate) mod max_flow;
