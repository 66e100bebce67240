//! What `pins` is synchronised by: the standard library's, or another in `tests/interleave`.

pub(super) use std::sync::atomic::{AtomicBool, Ordering};
pub(super) use std::sync::{Arc, RwLock};
