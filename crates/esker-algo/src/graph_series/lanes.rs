//! Numbers of up to 64 graphs in the lanes of a vector: shares that vertices send, and sums over vertices.

use crate::primitive::{from_fixed, to_fixed};

/// The number of graphs in one pass.
pub const LANES: usize = 64;
/// The greatest multiple of a factor that a vertex gives.
const BYTE_MAX: f32 = 127.0;
/// Added to a number of small magnitude, it leaves the nearest whole number in the lowest bits.
const ROUNDING: f32 = 12_582_912.0;

pub(super) fn lanes_of(graphs: u64) -> [i8; LANES] {
    std::array::from_fn(|i| if graphs >> i & 1 == 1 { -1 } else { 0 })
}

/// What a vertex gives along an edge, in multiples of its factor. In one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Bytes(pub(super) [i8; LANES]);

/// Sums over vertices, one a graph, as multiples of 2^-62, those that may be negative in two's complement.
#[derive(Clone, Copy)]
pub(super) struct LaneTotals {
    /// Magnitudes of the residuals, before vertices gave of them.
    pub(super) residual: [u64; LANES],
    /// The residuals as they are once the neighbours have got what was given.
    pub(super) mass: [u64; LANES],
    /// What vertices without out-edges gave.
    pub(super) dangling: [u64; LANES],
}

impl Default for LaneTotals {
    fn default() -> Self {
        let none = [0; LANES];
        Self { residual: none, mass: none, dangling: none }
    }
}

impl LaneTotals {
    pub(super) fn plus(mut self, other: &Self) -> Self {
        for i in 0..LANES {
            self.residual[i] = self.residual[i].wrapping_add(other.residual[i]);
            self.mass[i] = self.mass[i].wrapping_add(other.mass[i]);
            self.dangling[i] = self.dangling[i].wrapping_add(other.dangling[i]);
        }
        self
    }
}

/// A number in -2..2 as a multiple of 2^-62.
pub(super) fn to_signed(number: f64) -> u64 {
    if number < 0.0 { to_fixed(-number).wrapping_neg() } else { to_fixed(number) }
}

pub(super) fn from_signed(fixed: u64) -> f64 {
    if fixed.cast_signed() < 0 { -from_fixed(fixed.wrapping_neg()) } else { from_fixed(fixed) }
}

/// The sums of some vertices, in single precision: their errors are small beside the residuals.
#[derive(Clone, Copy)]
pub(super) struct PartTotals {
    pub(super) residual: [f32; LANES],
    pub(super) mass: [f32; LANES],
    pub(super) dangling: [f32; LANES],
}

impl PartTotals {
    pub(super) const fn new() -> Self {
        let none = [0.0; LANES];
        Self { residual: none, mass: none, dangling: none }
    }
}

/// The sums of a unit.
pub(super) struct UnitTotals {
    pub(super) residual: [f64; LANES],
    pub(super) mass: [f64; LANES],
    pub(super) dangling: [f64; LANES],
}

impl UnitTotals {
    pub(super) fn new() -> Self {
        let none = [0.0; LANES];
        Self { residual: none, mass: none, dangling: none }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, part: &PartTotals) {
        for i in 0..LANES {
            self.residual[i] += f64::from(part.residual[i]);
            self.mass[i] += f64::from(part.mass[i]);
            self.dangling[i] += f64::from(part.dangling[i]);
        }
    }

    pub(super) fn fixed(&self) -> LaneTotals {
        LaneTotals {
            residual: self.residual.map(to_fixed),
            mass: self.mass.map(to_signed),
            dangling: self.dangling.map(to_signed),
        }
    }
}

/// What a vertex gives.
pub(super) struct LaneShares {
    pub(super) bytes: Bytes,
    pub(super) factor: f32,
    /// To all neighbours together, or, without any, to all vertices.
    pub(super) sums: [f32; LANES],
}

/// Rounds what a vertex should give to all its neighbours together.
#[inline(always)]
pub(super) fn give(wanted: &[f32; LANES], degrees: &[f32; LANES]) -> LaneShares {
    let mut shares = [0.0_f32; LANES];
    for i in 0..LANES {
        shares[i] = wanted[i] / degrees[i];
    }
    let most = greatest(&shares);
    let factor = most / BYTE_MAX;
    // So small a share is left as a residual.
    let (factor, inverse) = if factor > f32::MIN_POSITIVE { (factor, BYTE_MAX / most) } else { (0.0, 0.0) };
    let (mut bytes, mut sums) = (Bytes([0; LANES]), [0.0_f32; LANES]);
    for i in 0..LANES {
        let byte = (shares[i] * inverse + ROUNDING).to_bits() as u8 as i8;
        bytes.0[i] = byte;
        sums[i] = f32::from(byte) * factor * degrees[i];
    }
    LaneShares { bytes, factor, sums }
}

/// The greatest magnitude, by halves, so that it is found by vectors.
#[inline(always)]
fn greatest(shares: &[f32; LANES]) -> f32 {
    let mut most = shares.map(f32::abs);
    for half in [32, 16, 8, 4, 2, 1] {
        for i in 0..half {
            let (a, b) = (most[i], most[i + half]);
            most[i] = if b > a { b } else { a };
        }
    }
    most[0]
}

/// Adds what a vertex gave in the graphs in which it has no out-edge.
#[inline(always)]
pub(super) fn add_sinks(part: &mut PartTotals, sinks: u64, sums: &[f32; LANES]) {
    if sinks != 0 {
        let mask = mask_of(sinks);
        for i in 0..LANES {
            part.dangling[i] += masked(sums[i], mask[i]);
        }
    }
}

/// All bits of the lanes of some graphs.
#[inline(always)]
pub(super) fn mask_of(graphs: u64) -> [u32; LANES] {
    if graphs == u64::MAX {
        return [u32::MAX; LANES];
    }
    std::array::from_fn(|i| ((graphs >> i & 1) as u32).wrapping_neg())
}

/// The number, or 0. Without a branch, which would keep the compiler from vectors.
#[inline(always)]
pub(super) fn masked(number: f32, mask: u32) -> f32 {
    f32::from_bits(number.to_bits() & mask)
}
