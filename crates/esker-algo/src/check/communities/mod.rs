//! Verifiers of communities.

pub(super) mod leiden;
