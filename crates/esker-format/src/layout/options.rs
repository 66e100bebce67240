//! Options of a database, which every process that writes to it obeys.

use crate::file::field::{codes, layout};

codes! {
    /// Which changed lists a layer holds whole, instead of only their changes.
    pub enum CopyPolicy: u8 {
        /// None: the smallest layers.
        Chain = 1,
        /// All: the fastest reads.
        Copy = 2,
        /// Lists of at most 4 edges, or 32 where some are deleted, and the few largest.
        Mixed = 3,
    }
}

impl Default for CopyPolicy {
    /// The thesis on LLAMA found worthwhile to copy short lists, and the largest (4.5, 4.9.2).
    fn default() -> Self {
        Self::Mixed
    }
}

impl CopyPolicy {
    /// All policies.
    pub const ALL: [Self; 3] = [Self::Mixed, Self::Chain, Self::Copy];

    /// The name of the policy for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Copy => "copy",
            Self::Mixed => "mixed",
        }
    }
}

layout! {
    /// How commits become layers.
    #[derive(Copy)]
    pub struct WriteOptions {
        /// Which changed lists a layer holds whole.
        policy: CopyPolicy,
        /// Commits that take this many bytes of memory are frozen.
        freeze_bytes: u64,
        /// Whether layers are merged in the background after freezing.
        auto_merge: bool,
    }
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { policy: CopyPolicy::default(), freeze_bytes: 64 << 20, auto_merge: true }
    }
}

codes! {
    /// The unit of a length of time.
    pub enum SpanUnit: u8 {
        /// That of the times.
        OfTimes = 1,
        /// Nanoseconds.
        Nanoseconds = 2,
        /// Microseconds.
        Microseconds = 3,
        /// Milliseconds.
        Milliseconds = 4,
        /// Seconds.
        Seconds = 5,
        /// Minutes.
        Minutes = 6,
        /// Hours.
        Hours = 7,
        /// Days.
        Days = 8,
        /// Weeks.
        Weeks = 9,
    }
}

impl SpanUnit {
    /// All units, and their symbols for users.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::OfTimes, ""),
        (Self::Nanoseconds, "ns"),
        (Self::Microseconds, "us"),
        (Self::Milliseconds, "ms"),
        (Self::Seconds, "s"),
        (Self::Minutes, "m"),
        (Self::Hours, "h"),
        (Self::Days, "d"),
        (Self::Weeks, "w"),
    ];
}

layout! {
    /// A length of time.
    #[derive(Copy)]
    pub struct SpanRecord {
        /// Number of units; 0 for no length.
        number: u64,
        /// The unit.
        unit: SpanUnit,
    }
}

codes! {
    /// The unit of the times of a stream.
    pub enum StreamUnit: u8 {
        /// As the times look, or as the type of the property says.
        Guessed = 1,
        /// Seconds since 1970.
        Seconds = 2,
        /// Milliseconds since 1970.
        Milliseconds = 3,
        /// Microseconds since 1970.
        Microseconds = 4,
        /// Nanoseconds since 1970.
        Nanoseconds = 5,
    }
}

layout! {
    /// A declared stream: which times its edges have, and how long they stay.
    pub struct StreamRecord {
        /// The edge property that holds the times.
        time: String,
        /// The unit of the times.
        unit: StreamUnit,
        /// By how much edges may be out of order.
        delay: SpanRecord,
        /// The age from which edges are removed.
        expire: SpanRecord,
    }
}
