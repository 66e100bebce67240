//! A tree of squares over points on the plane, for forces that fall with the distance.
//!
//! **Method.** Barnes and Hut [1]: a square that looks small from a point acts as one mass in its centre.
//! Points are sorted along a Z-shaped curve, so that each square is a range of them; the squares lie in the
//! order in which a search visits them, each with the number of the one to go on with if it is not opened.
//!
//! **Memory.** 32 bytes a point and 48 a square; there is about one square for three points.
//!
//! [1] J. Barnes, P. Hut, "A hierarchical O(N log N) force-calculation algorithm", Nature 324, 1986.

use rayon::slice::ParallelSliceMut;

use super::drawn::Place;

/// Points of a square that is not divided.
const LEAF_POINTS: usize = 8;
/// Divisions of the square around all points. Points that even so lie in one square are not told apart.
const LEVELS: u32 = 26;

/// A square and what is in it.
struct Square {
    centre: Place,
    mass: f64,
    /// The square of the width: twice the way from the centre to the farthest point.
    width_squared: f64,
    /// The next square for a search that does not open this one.
    next: u32,
    /// Its points in the order of the curve, if it is not divided; else none.
    first: u32,
    count: u32,
}

/// Points with masses, ready to be asked for the force on any of them.
pub(super) struct Quadtree {
    squares: Vec<Square>,
    /// Places and masses in the order of the curve.
    points: Vec<[f64; 3]>,
    /// The points in the order of the curve: neighbours in it ask for the same squares.
    pub(super) order: Vec<u32>,
}

impl Quadtree {
    /// The most bytes of a tree over so many points.
    pub(super) fn bytes_max(points: usize) -> u64 {
        // Squares on a path without a branching are as many as levels only where points nearly coincide.
        (points * (size_of::<(u64, u32)>() + 32 + 2 * size_of::<Square>())) as u64
    }

    /// The tree of points that are finite.
    pub(super) fn new(places: &[Place], masses: &[f64]) -> Self {
        let mut corner = [f64::INFINITY; 2];
        let mut far = [f64::NEG_INFINITY; 2];
        for place in places {
            for axis in 0..2 {
                corner[axis] = corner[axis].min(place[axis]);
                far[axis] = far[axis].max(place[axis]);
            }
        }
        let side = (far[0] - corner[0]).max(far[1] - corner[1]).max(f64::MIN_POSITIVE);
        let cells = f64::from(1_u32 << LEVELS);
        let key = |place: &Place| {
            let cell =
                |axis: usize| (((place[axis] - corner[axis]) / side * cells) as u64).min((1 << LEVELS) - 1);
            spread(cell(0)) | spread(cell(1)) << 1
        };
        let mut keyed: Vec<(u64, u32)> = places.iter().zip(0..).map(|(place, v)| (key(place), v)).collect();
        keyed.par_sort_unstable();
        let point = |&(_, v): &(u64, u32)| {
            let [x, y] = places[v as usize];
            [x, y, masses[v as usize]]
        };
        let points = keyed.iter().map(point).collect();
        let order = keyed.iter().map(|&(_, v)| v).collect();
        let keys: Vec<u64> = keyed.iter().map(|&(key, _)| key).collect();
        let mut tree = Self { squares: Vec::with_capacity(places.len() / 2), points, order };
        tree.divide(&keys, 0, LEVELS);
        tree
    }

    /// Adds the square with the points `first..first + keys.len()`, whose keys agree above `level`.
    fn divide(&mut self, keys: &[u64], first: usize, level: u32) {
        let place = self.squares.len();
        let points = &self.points[first..first + keys.len()];
        let mass: f64 = points.iter().map(|point| point[2]).sum();
        let mean = |axis: usize| points.iter().map(|point| point[axis] * point[2]).sum::<f64>() / mass;
        let centre = [mean(0), mean(1)];
        let ways = points.iter().map(|&[x, y, _]| (x - centre[0]).powi(2) + (y - centre[1]).powi(2));
        let width_squared = 4.0 * ways.fold(0.0, f64::max);
        let is_leaf = keys.len() <= LEAF_POINTS || level == 0;
        self.squares.push(Square {
            centre,
            mass,
            width_squared,
            next: 0,
            first: first as u32,
            count: if is_leaf { keys.len() as u32 } else { 0 },
        });
        if !is_leaf {
            let shift = 2 * (level - 1);
            let mut begin = 0;
            for quarter in 0..4 {
                let end = begin + keys[begin..].partition_point(|key| key >> shift & 3 <= quarter);
                if end > begin {
                    self.divide(&keys[begin..end], first + begin, level - 1);
                }
                begin = end;
            }
        }
        self.squares[place].next = self.squares.len() as u32;
    }

    /// The sum over all points of their masses, divided by the distance, in the direction away from them. A
    /// square acts as one mass if its width is at most `opening` times as long as the way to it; `opening`
    /// below 2 keeps a point from being pushed by a square that it is in.
    pub(super) fn push_on(&self, [x, y]: Place, opening: f64) -> Place {
        let opening_squared = opening * opening;
        let mut sum = [0.0; 2];
        let mut add = |[to_x, to_y]: Place, mass: f64| {
            let (dx, dy) = (x - to_x, y - to_y);
            let squared = dx * dx + dy * dy;
            if squared > 0.0 {
                let factor = mass / squared;
                sum[0] += dx * factor;
                sum[1] += dy * factor;
            }
        };
        let mut at = 0;
        while let Some(square) = self.squares.get(at) {
            let (dx, dy) = (x - square.centre[0], y - square.centre[1]);
            if square.count > 0 {
                // One by one also if they are far: the mean of points that coincide is beside them by a
                // rounding error.
                let points = &self.points[square.first as usize..(square.first + square.count) as usize];
                points.iter().for_each(|&[x, y, mass]| add([x, y], mass));
                at = square.next as usize;
            } else if square.width_squared < opening_squared * (dx * dx + dy * dy) {
                add(square.centre, square.mass);
                at = square.next as usize;
            } else {
                at += 1;
            }
        }
        sum
    }
}

/// Puts a zero bit between the bits of a number of 32 bits.
fn spread(mut bits: u64) -> u64 {
    for (shift, mask) in [
        (16, 0x0000_ffff_0000_ffff),
        (8, 0x00ff_00ff_00ff_00ff),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
        (2, 0x3333_3333_3333_3333),
        (1, 0x5555_5555_5555_5555),
    ] {
        bits = (bits | bits << shift) & mask;
    }
    bits
}
