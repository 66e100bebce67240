//! One budget of memory that everything large draws from.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::stop::Stop;

/// An amount of memory that several users share: imports, pools, runs, commits. Clones share the amount.
///
/// It counts; it does not allocate. The code that is about to allocate something large reserves its bytes and
/// keeps the [`Reservation`] beside it, which gives them back when it is dropped. The default has no limit.
///
/// ```
/// use esker_graph::Budget;
///
/// let budget = Budget::new(100);
/// let scores = budget.reserve("scores", 60)?;
/// assert_eq!(budget.free_bytes(), 40);
/// let refused = budget.reserve("labels", 50).unwrap_err();
/// assert!(refused.to_string().contains("labels"));
/// drop(scores);
/// assert_eq!((budget.free_bytes(), budget.peak_bytes()), (100, 60));
/// # Ok::<(), esker_graph::Stop>(())
/// ```
#[derive(Debug, Clone)]
pub struct Budget(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limit_bytes: u64,
    used_bytes: AtomicU64,
    peak_bytes: AtomicU64,
    /// Released since the last call of `trim`.
    released_bytes: AtomicU64,
    /// Makes the allocator return free memory to the system.
    trim: Option<fn()>,
}

/// Memory is trimmed once this much, and an eighth of the limit, was released.
const TRIM_BYTES_MIN: u64 = 8 << 20;

impl Default for Budget {
    fn default() -> Self {
        Self::new(u64::MAX)
    }
}

impl Budget {
    /// A budget of `limit_bytes`, all of it free.
    pub fn new(limit_bytes: u64) -> Self {
        Self::of(limit_bytes, None)
    }

    /// A budget that calls `trim` before a reservation if much was released before. So the process takes what
    /// is reserved now, not what was once reserved.
    pub fn trimmed(limit_bytes: u64, trim: fn()) -> Self {
        Self::of(limit_bytes, Some(trim))
    }

    fn of(limit_bytes: u64, trim: Option<fn()>) -> Self {
        Self(Arc::new(Inner {
            limit_bytes,
            used_bytes: AtomicU64::new(0),
            peak_bytes: AtomicU64::new(0),
            released_bytes: AtomicU64::new(0),
            trim,
        }))
    }

    /// The limit; `u64::MAX` if there is none.
    pub fn limit_bytes(&self) -> u64 {
        self.0.limit_bytes
    }

    /// Bytes that are not reserved now.
    pub fn free_bytes(&self) -> u64 {
        self.0.limit_bytes - self.0.used_bytes.load(Ordering::Relaxed)
    }

    /// The most that was ever reserved at one time.
    pub fn peak_bytes(&self) -> u64 {
        self.0.peak_bytes.load(Ordering::Relaxed)
    }

    /// Reserves `bytes` for `what`.
    ///
    /// # Errors
    /// [`Stop::OverBudget`] if they are not free, with the limit that would suffice.
    pub fn reserve(&self, what: &str, bytes: u64) -> Result<Reservation, Stop> {
        self.take(bytes).map_err(|used| Stop::OverBudget {
            what: what.to_owned(),
            needed_bytes: used.saturating_add(bytes),
            budget_bytes: self.0.limit_bytes,
        })?;
        Ok(Reservation { budget: self.clone(), bytes })
    }

    /// Reserves `bytes` if they are free, for callers that can do with less or use the disk instead.
    pub fn try_reserve(&self, bytes: u64) -> Option<Reservation> {
        self.take(bytes).ok()?;
        Some(Reservation { budget: self.clone(), bytes })
    }

    /// Takes `bytes`. Returns the bytes in use if they do not fit.
    fn take(&self, bytes: u64) -> Result<(), u64> {
        let fits = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.0.limit_bytes);
        let used = self.0.used_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits)?;
        self.0.peak_bytes.fetch_max(used + bytes, Ordering::Relaxed);
        if let Some(trim) = self.0.trim
            && self.0.released_bytes.load(Ordering::Relaxed) >= TRIM_BYTES_MIN.max(self.0.limit_bytes / 8)
        {
            self.0.released_bytes.store(0, Ordering::Relaxed);
            trim();
        }
        Ok(())
    }

    fn release(&self, bytes: u64) {
        self.0.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.0.released_bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Elements by which a list grows at least.
const GROWTH_MIN: usize = 1 << 8;

/// Bytes of a [`Budget`], reserved until this is dropped.
#[derive(Debug)]
pub struct Reservation {
    budget: Budget,
    bytes: u64,
}

impl Reservation {
    /// Number of reserved bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds `bytes` if they are free. Returns whether they were.
    pub fn try_grow(&mut self, bytes: u64) -> bool {
        let fits = self.budget.take(bytes).is_ok();
        if fits {
            self.bytes += bytes;
        }
        fits
    }

    /// Gives back all but `bytes`.
    pub fn shrink_to(&mut self, bytes: u64) {
        let surplus = self.bytes.saturating_sub(bytes);
        self.budget.release(surplus);
        self.bytes -= surplus;
    }

    /// Changes the number of reserved bytes. Returns whether it could: a smaller number always fits.
    pub fn resize(&mut self, bytes: u64) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        self.shrink_to(bytes);
        more == 0 || self.try_grow(more)
    }

    /// Appends an element to a list, of whose elements `copies` are reserved as the list grows. Returns
    /// whether that fits: if not, the list is as it was.
    #[must_use]
    pub fn push<T>(&mut self, list: &mut Vec<T>, element: T, copies: usize) -> bool {
        if list.len() == list.capacity() {
            let more = list.len().max(GROWTH_MIN);
            if !self.try_grow((more * copies * size_of::<T>()) as u64) {
                return false;
            }
            list.reserve_exact(more);
        }
        list.push(element);
        true
    }

    /// Joins `other`, which must be of the same budget, to this one.
    pub fn absorb(&mut self, mut other: Reservation) {
        debug_assert!(Arc::ptr_eq(&self.budget.0, &other.budget.0));
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.release(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_grows_within_its_reservation() {
        let budget = Budget::new((3 * GROWTH_MIN * 2 * size_of::<u64>()) as u64);
        let (mut memory, mut list) = (budget.try_reserve(0).unwrap(), Vec::new());
        while memory.push(&mut list, 7_u64, 2) {
            assert!(memory.bytes() >= (list.capacity() * 2 * size_of::<u64>()) as u64);
        }
        assert_eq!(list, vec![7; 2 * GROWTH_MIN], "it was to double once more");
    }

    #[test]
    fn what_is_reserved_comes_back() {
        let budget = Budget::new(100);
        let mut first = budget.reserve("first", 60).unwrap();
        assert!(budget.try_reserve(41).is_none());
        let second = budget.try_reserve(40).unwrap();
        assert_eq!(budget.free_bytes(), 0);
        assert!(!first.try_grow(1));
        first.shrink_to(10);
        assert_eq!(budget.free_bytes(), 50);
        first.absorb(second);
        assert_eq!((first.bytes(), budget.free_bytes()), (50, 50));
        drop(first);
        assert_eq!((budget.free_bytes(), budget.peak_bytes()), (100, 100));
    }

    #[test]
    fn a_refusal_names_the_sufficient_limit() {
        let budget = Budget::new(100);
        let _held = budget.reserve("held", 30).unwrap();
        let refusal = budget.reserve("a table", 90).unwrap_err();
        assert!(
            matches!(&refusal, Stop::OverBudget { what, needed_bytes: 120, budget_bytes: 100 } if what == "a table"),
            "{refusal}"
        );
        assert!(budget.reserve("too much", u64::MAX).is_err());
    }
}
