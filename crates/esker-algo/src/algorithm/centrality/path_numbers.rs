//! Numbers of shortest paths for betweenness: as they are, scaled by level, or as logarithms where doubles
//! cannot hold them.

use esker_graph::VertexId;

use crate::primitive::VertexValues;

/// How numbers of shortest paths are kept.
pub(crate) trait PathNumber: Sync {
    /// Stands for no path.
    const NONE: f64;
    /// Stands for one path.
    const ONE: f64;
    /// Whether contributions are kept in an array of their own. If not, the contribution of a vertex
    /// overwrites its number of paths, which is not read after that.
    const APART: bool;
    /// As [`esker_graph::Visitor::BOXED`].
    const BOXED: bool;

    /// The number, or its logarithm, that a value stands for.
    fn number(value: f64) -> f64;

    /// The sum of two values; `a` may be none.
    fn plus(a: f64, b: f64) -> f64;

    /// What a vertex contributes to its predecessors: (1 + dependency) / paths.
    fn contribution(dependency: f64, paths: f64) -> f64;

    /// The part of a dependency that comes from one contribution, before [`PathNumber::dependency`]. `paths`:
    /// the number of the predecessor.
    fn part(contribution: f64, paths: f64) -> f64;

    /// The sum of such parts over those neighbours that have a contribution.
    fn parts(contributions: &VertexValues<f64>, of: &[VertexId], paths: f64) -> f64;

    /// The dependency of a vertex from the sum of its parts.
    fn dependency(parts: f64, paths: f64) -> f64;

    /// Atomically adds to the number of a vertex. Returns the previous number.
    #[inline(always)]
    fn add(numbers: &VertexValues<f64>, v: VertexId, more: f64) -> f64 {
        let mut current = numbers.get(v);
        while !numbers.claim(v, current, Self::plus(current, more)) {
            current = numbers.get(v);
        }
        current
    }
}

/// The numbers themselves, scaled by level. They are kept with a minus sign, contributions with a plus sign,
/// in one array: random reads of one array miss the caches less often than those of two.
pub(crate) struct PathCounts;

/// The greatest number of paths that is kept as it is: its inverse, too, is kept to full precision.
pub(crate) const COUNT_MAX: f64 = 1e290;

/// Path counts up to here are exact, so they do not depend on the order in which they are added up.
pub(crate) const EXACT_MAX: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

/// How the counting of paths ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// All are counted.
    All,
    /// The counts of a level are too large and too different.
    TooDifferent,
    /// Threads added up counts that are rounded, and the run is to be `deterministic`.
    Inexact,
}

/// Levels with greater numbers are scaled by this power of two, 2^-900.
pub(crate) const COUNT_SCALE: f64 = f64::from_bits((1023 - 900) << 52);

impl PathNumber for PathCounts {
    const NONE: f64 = 0.0;
    const ONE: f64 = -1.0;
    const APART: bool = false;
    const BOXED: bool = false;

    #[inline(always)]
    fn number(value: f64) -> f64 {
        -value
    }

    #[inline(always)]
    fn plus(a: f64, b: f64) -> f64 {
        a + b
    }

    #[inline(always)]
    fn contribution(dependency: f64, paths: f64) -> f64 {
        (1.0 + dependency) / paths
    }

    #[inline(always)]
    fn part(contribution: f64, _paths: f64) -> f64 {
        contribution
    }

    #[inline(always)]
    fn parts(contributions: &VertexValues<f64>, of: &[VertexId], _paths: f64) -> f64 {
        let part = |v| {
            let value = contributions.get(v);
            if value > 0.0 { value } else { 0.0 }
        };
        let (fours, rest) = of.as_chunks::<4>();
        let mut sum = 0.0;
        for &[a, b, c, d] in fours {
            sum += (part(a) + part(b)) + (part(c) + part(d));
        }
        rest.iter().for_each(|&v| sum += part(v));
        sum
    }

    #[inline(always)]
    fn dependency(parts: f64, paths: f64) -> f64 {
        parts * paths
    }
}

/// Natural logarithms of the numbers and of contributions.
pub(crate) struct Logarithms;

impl PathNumber for Logarithms {
    const NONE: f64 = f64::NEG_INFINITY;
    const ONE: f64 = 0.0;
    const APART: bool = true;
    const BOXED: bool = true;

    fn number(value: f64) -> f64 {
        value
    }

    fn plus(a: f64, b: f64) -> f64 {
        if a == Self::NONE { b } else { a.max(b) + (-(a - b).abs()).exp().ln_1p() }
    }

    fn contribution(dependency: f64, paths: f64) -> f64 {
        dependency.ln_1p() - paths
    }

    fn part(contribution: f64, paths: f64) -> f64 {
        (contribution + paths).exp()
    }

    fn parts(contributions: &VertexValues<f64>, of: &[VertexId], paths: f64) -> f64 {
        of.iter().map(|&w| Self::part(contributions.get(w), paths)).sum()
    }

    fn dependency(parts: f64, _paths: f64) -> f64 {
        parts
    }
}
