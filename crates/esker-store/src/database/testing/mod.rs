//! Tests against models: random requests, faults, losses, forged files.

#[cfg(test)]
pub(crate) mod model;
#[cfg(test)]
pub(crate) mod random;
#[cfg(test)]
pub(crate) mod forms;
#[cfg(test)]
pub(crate) mod crash_model;
#[cfg(test)]
pub(crate) mod crashes;
#[cfg(test)]
pub(crate) mod forged;
#[cfg(test)]
pub(crate) mod losses;
#[cfg(test)]
pub(crate) mod replay;
