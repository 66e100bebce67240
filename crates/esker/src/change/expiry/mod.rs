//! The removal of old edges, and which versions did it.

mod expired;
mod expire;

pub use expire::{ExpireReport, expire, expire_as_declared};
pub(super) use expired::is_expiry;
pub use expired::{Expiries, WindowVersion};
