//! Verifiers of communities.

pub(super) mod leiden;
pub(super) mod quality;
pub(super) mod agreement;
