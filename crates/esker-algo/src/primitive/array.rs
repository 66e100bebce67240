//! One value per vertex, read and written by many threads without locks and without `unsafe`.
//!
//! Each value is an atomic of its own size, accessed with `Relaxed` ordering: on common machines a get or set
//! is a plain load or store. The joins at the end of each parallel loop order accesses between threads.

use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use esker_graph::{Run, VertexId};
use rayon::prelude::*;

/// A type that a [`VertexValues`] can hold.
pub trait ArrayValue: Copy + PartialOrd + Send + Sync + 'static {
    /// The atomic type that stores a value.
    type Atomic: Send + Sync;
    /// Makes an atomic from a value.
    fn wrap(self) -> Self::Atomic;
    /// Takes the value out of an atomic.
    fn unwrap(cell: Self::Atomic) -> Self;
    /// Loads the value.
    fn load(cell: &Self::Atomic) -> Self;
    /// Stores a value.
    fn store(cell: &Self::Atomic, value: Self);
    /// Atomically stores `new` if the current bits equal those of `expected`; otherwise returns the current
    /// value.
    fn replace(cell: &Self::Atomic, expected: Self, new: Self) -> Result<(), Self>;
    /// The sum of two values. Integers wrap.
    fn plus(self, other: Self) -> Self;
    /// Atomically adds `value` and returns the previous value.
    #[inline(always)]
    fn add(cell: &Self::Atomic, value: Self) -> Self {
        let mut current = Self::load(cell);
        loop {
            match Self::replace(cell, current, current.plus(value)) {
                Ok(()) => return current,
                Err(now) => current = now,
            }
        }
    }
}

macro_rules! integer_value {
    ($type:ty, $atomic:ty) => {
        impl ArrayValue for $type {
            type Atomic = $atomic;
            #[inline(always)]
            fn wrap(self) -> $atomic {
                <$atomic>::new(self)
            }
            #[inline(always)]
            fn unwrap(cell: $atomic) -> Self {
                cell.into_inner()
            }
            #[inline(always)]
            fn load(cell: &$atomic) -> Self {
                cell.load(Relaxed)
            }
            #[inline(always)]
            fn store(cell: &$atomic, value: Self) {
                cell.store(value, Relaxed);
            }
            #[inline(always)]
            fn replace(cell: &$atomic, expected: Self, new: Self) -> Result<(), Self> {
                cell.compare_exchange(expected, new, Relaxed, Relaxed).map(drop)
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn add(cell: &$atomic, value: Self) -> Self {
                cell.fetch_add(value, Relaxed)
            }
        }
    };
}

integer_value!(u8, AtomicU8);
integer_value!(u32, AtomicU32);
integer_value!(i32, AtomicI32);
integer_value!(u64, AtomicU64);
integer_value!(i64, AtomicI64);

macro_rules! float_value {
    ($type:ty, $atomic:ty) => {
        impl ArrayValue for $type {
            type Atomic = $atomic;
            #[inline(always)]
            fn wrap(self) -> $atomic {
                <$atomic>::new(self.to_bits())
            }
            #[inline(always)]
            fn unwrap(cell: $atomic) -> Self {
                Self::from_bits(cell.into_inner())
            }
            #[inline(always)]
            fn load(cell: &$atomic) -> Self {
                Self::from_bits(cell.load(Relaxed))
            }
            #[inline(always)]
            fn store(cell: &$atomic, value: Self) {
                cell.store(value.to_bits(), Relaxed);
            }
            #[inline(always)]
            fn replace(cell: &$atomic, expected: Self, new: Self) -> Result<(), Self> {
                cell.compare_exchange(expected.to_bits(), new.to_bits(), Relaxed, Relaxed)
                    .map(drop)
                    .map_err(Self::from_bits)
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
        }
    };
}

float_value!(f32, AtomicU32);
float_value!(f64, AtomicU64);

/// One value per vertex. Memory: `size_of::<T>()` bytes per vertex.
///
/// ```
/// use esker_algo::primitive::VertexValues;
/// use esker_graph::Run;
///
/// let distances = VertexValues::<f64>::filled(&Run::with_threads(1)?, 3, f64::INFINITY);
/// distances.set(0, 0.0);
/// assert_eq!(distances.lower(2, 4.5), Some(f64::INFINITY)); // it was lowered from this
/// assert_eq!(distances.lower(2, 7.0), None);
/// assert_eq!(distances.into_vec(), [0.0, f64::INFINITY, 4.5]);
/// # Ok::<(), esker_graph::Stop>(())
/// ```
pub struct VertexValues<T: ArrayValue> {
    cells: Vec<T::Atomic>,
}

/// One vertex id per vertex, for example a parent or a label. Memory: one id per vertex.
pub type VertexArray = VertexValues<VertexId>;

impl<T: ArrayValue> VertexValues<T> {
    /// `len` copies of `value`, written by the threads of `run`.
    pub fn filled(run: &Run, len: usize, value: T) -> Self {
        Self::from_fn(run, len, |_| value)
    }

    /// The values of `f` at `0..len`, computed by the threads of `run`.
    pub fn from_fn(run: &Run, len: usize, f: impl Fn(usize) -> T + Sync + Send) -> Self {
        if len < PARALLEL_LEN_MIN || run.threads() == 1 {
            return Self { cells: (0..len).map(|i| f(i).wrap()).collect() };
        }
        let fill = || (0..len).into_par_iter().with_min_len(PARALLEL_LEN_MIN / 4).map(|i| f(i).wrap());
        Self { cells: run.install(|| fill().collect()) }
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The value of `v`.
    #[inline(always)]
    pub fn get(&self, v: VertexId) -> T {
        T::load(&self.cells[v as usize])
    }

    /// Sets the value of `v` by a plain store.
    #[inline(always)]
    pub fn set(&self, v: VertexId, value: T) {
        T::store(&self.cells[v as usize], value);
    }

    /// Atomically replaces the value of `v` if it is `expected`. Returns whether it did.
    #[inline(always)]
    pub fn claim(&self, v: VertexId, expected: T, new: T) -> bool {
        T::replace(&self.cells[v as usize], expected, new).is_ok()
    }

    /// Atomically lowers the value of `v` to `value` if that is less. Returns the previous value if it was
    /// lowered.
    #[inline(always)]
    pub fn lower(&self, v: VertexId, value: T) -> Option<T> {
        let cell = &self.cells[v as usize];
        let mut current = T::load(cell);
        while value < current {
            match T::replace(cell, current, value) {
                Ok(()) => return Some(current),
                Err(now) => current = now,
            }
        }
        None
    }

    /// As [`VertexValues::lower`], by plain accesses. No other thread may write to `v` meanwhile.
    #[inline(always)]
    pub fn lower_alone(&self, v: VertexId, value: T) -> Option<T> {
        let current = self.get(v);
        (value < current).then(|| {
            self.set(v, value);
            current
        })
    }

    /// Atomically adds to the value of `v`. Returns the previous value.
    #[inline(always)]
    pub fn add(&self, v: VertexId, value: T) -> T {
        T::add(&self.cells[v as usize], value)
    }

    /// Adds to the value of `v` by plain accesses. No other thread may write to `v` meanwhile.
    #[inline(always)]
    pub fn add_exclusive(&self, v: VertexId, value: T) {
        self.set(v, self.get(v).plus(value));
    }

    /// The underlying atomics. A loop that keeps this slice saves one indirection per access.
    #[inline(always)]
    pub(crate) fn cells(&self) -> &[T::Atomic] {
        &self.cells
    }

    /// The values in vertex order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.cells.iter().map(T::load)
    }

    /// The values as a plain vector. Allocates nothing.
    pub fn into_vec(self) -> Vec<T> {
        self.cells.into_iter().map(T::unwrap).collect()
    }
}

impl VertexValues<u64> {
    /// Atomically sets the bits `bits` in the value of `v`. Returns the previous value.
    #[inline(always)]
    pub fn unite(&self, v: VertexId, bits: u64) -> u64 {
        self.cells[v as usize].fetch_or(bits, Relaxed)
    }
}

impl<T: ArrayValue> From<Vec<T>> for VertexValues<T> {
    fn from(values: Vec<T>) -> Self {
        Self { cells: values.into_iter().map(T::wrap).collect() }
    }
}

/// Shorter arrays are filled on the calling thread.
const PARALLEL_LEN_MIN: usize = 1 << 16;
