//! R-MAT and Kronecker graphs: each edge descends a quad-tree over the adjacency matrix.
//!
//! Each level chooses one of four quadrants, with probabilities `a`, `b`, `c` and the rest [1]. Four levels
//! at once come from a table of 256 outcomes by the alias method [2]: 32 random bits, no branch. Graph500's
//! Kronecker graph is R-MAT with a = 0.57, b = c = 0.19, sixteen edges per vertex, and randomly renumbered
//! vertices. Noise varies the probabilities from level to level, which smooths the steps of the degree
//! distribution [3]. Self-loops and duplicates occur, as in the originals. Work: O(scale / 4) per edge.
//!
//! [1] D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT: A Recursive Model for Graph Mining", SDM 2004.
//! [2] M. Vose, "A Linear Algorithm for Generating Random Numbers with a Given Distribution", 1991.
//! [3] C. Seshadhri, A. Pinar, T. Kolda, "An In-Depth Analysis of Stochastic Kronecker Graphs", J. ACM
//!     60(2), 2013.

use crate::random::{Random, RandomKey};
use crate::stop::Stop;

use super::bijection::Bijection;
use super::limits;
use super::stream::GeneratedEdges;

/// Levels decided by one random number.
const LEVELS_PER_DRAW: u32 = 4;
const OUTCOMES: usize = 1 << (2 * LEVELS_PER_DRAW);
/// Random bits that choose between an outcome and its alias.
const THRESHOLD_BITS: u32 = 24;

/// An R-MAT graph of `2^scale` vertices.
#[derive(Debug, Clone, PartialEq)]
pub struct RMat {
    /// Base-2 logarithm of the number of vertices.
    pub scale: u32,
    /// Edges per vertex; the graph has exactly `degree * 2^scale` edges.
    pub degree: u64,
    /// Probability of the quadrant of low sources and low targets.
    pub a: f64,
    /// Probability of the quadrant of low sources and high targets.
    pub b: f64,
    /// Probability of the quadrant of high sources and low targets. The rest is for high sources and high
    /// targets.
    pub c: f64,
    /// The largest change of `b` and `c` at a level, at most the lesser of them; 0 for none.
    pub noise: f64,
    /// Whether vertices are renumbered at random, so that a low id does not mean a high degree.
    pub permute: bool,
    /// Whether the edges are directed.
    pub directed: bool,
}

impl RMat {
    /// Graph500's Kronecker graph, also used by the GAP suite: undirected and permuted.
    pub fn kronecker(scale: u32, degree: u64) -> Self {
        Self { scale, degree, a: 0.57, b: 0.19, c: 0.19, noise: 0.0, permute: true, directed: false }
    }

    pub(super) fn prepare(&self, seed: u64) -> Result<RMatEdges, Stop> {
        let (num_vertices, num_edges) = self.size(self.scale).ok_or_else(|| {
            let fits = (0..self.scale.min(u64::BITS)).rev().find(|&scale| self.size(scale).is_some());
            let remedy = fits.map_or_else(
                || "give a lower degree".to_owned(),
                |scale| format!("with {} edges a vertex the scale can be {scale} at most", self.degree),
            );
            Stop::unsuitable(format!("scale {} is too large: {remedy}", self.scale))
        })?;
        self.check_probabilities()?;
        let mut noise = RandomKey::new(seed, 1).sequence(0);
        let levels: Vec<[f64; 4]> = (0..self.scale).map(|_| self.level(&mut noise)).collect();
        Ok(RMatEdges {
            num_vertices,
            num_edges,
            directed: self.directed,
            key: RandomKey::new(seed, 2),
            // The upper levels come first; the last table may have fewer than four levels.
            tables: levels.chunks(LEVELS_PER_DRAW as usize).map(AliasTable::new).collect(),
            renumber: self.permute.then(|| Bijection::new(num_vertices, RandomKey::new(seed, 3))),
        })
    }

    /// The numbers of vertices and edges at a scale, if they are within the limits.
    fn size(&self, scale: u32) -> Option<(u64, u64)> {
        let num_vertices = limits::vertices(1_u128.checked_shl(scale)?).ok()?;
        let num_edges = limits::edges(u128::from(self.degree) * u128::from(num_vertices)).ok()?;
        Some((num_vertices, num_edges))
    }

    fn check_probabilities(&self) -> Result<(), Stop> {
        let Self { a, b, c, noise, .. } = *self;
        let d = 1.0 - a - b - c;
        if ![a, b, c].iter().all(|p| (0.0..=1.0).contains(p)) || d < -1e-9 {
            return Err(Stop::unsuitable(format!(
                "the probabilities a = {a}, b = {b}, c = {c} must be at least 0 and add up to at most 1"
            )));
        }
        let most = b.min(c).min((a + d) / 2.0);
        if !(0.0..=most.max(0.0)).contains(&noise) {
            return Err(Stop::unsuitable(format!(
                "the noise is {noise} but must be between 0 and {most}, which these probabilities allow"
            )));
        }
        Ok(())
    }

    /// The probabilities of one level [3, section 5].
    fn level(&self, draws: &mut Random) -> [f64; 4] {
        let Self { a, b, c, .. } = *self;
        let d = (1.0 - a - b - c).max(0.0);
        let change = (2.0 * draws.unit() - 1.0) * self.noise;
        let diagonal = if a + d > 0.0 { 1.0 - 2.0 * change / (a + d) } else { 1.0 };
        [a * diagonal, b + change, c + change, d * diagonal]
    }
}

/// The edges of an R-MAT graph, in no particular order.
#[derive(Debug)]
pub(super) struct RMatEdges {
    num_vertices: u64,
    num_edges: u64,
    directed: bool,
    key: RandomKey,
    tables: Vec<AliasTable>,
    renumber: Option<Bijection>,
}

impl GeneratedEdges for RMatEdges {
    fn num_vertices(&self) -> u64 {
        self.num_vertices
    }

    fn num_edges(&self) -> u64 {
        self.num_edges
    }

    fn is_directed(&self) -> bool {
        self.directed
    }

    #[inline(always)]
    fn edge(&self, slot: u64) -> Option<(u64, u64)> {
        let mut draws = self.key.sequence(slot);
        let (mut source, mut target) = (0, 0);
        for pair in self.tables.chunks(2) {
            let bits = draws.next_u64();
            pair[0].descend(bits as u32, &mut source, &mut target);
            if let Some(table) = pair.get(1) {
                table.descend((bits >> 32) as u32, &mut source, &mut target);
            }
        }
        Some(match &self.renumber {
            Some(renumber) => (renumber.apply(source), renumber.apply(target)),
            None => (source, target),
        })
    }
}

/// Outcomes of up to four levels. An outcome has four bits of the source above four bits of the target.
#[derive(Debug)]
struct AliasTable {
    levels: u32,
    /// A 24-bit threshold above an 8-bit alias.
    entries: Box<[u32; OUTCOMES]>,
}

impl AliasTable {
    /// The table of consecutive levels, highest first.
    fn new(levels: &[[f64; 4]]) -> Self {
        let mut weight = [0.0; OUTCOMES];
        let count = levels.len();
        for (outcome, weight) in weight.iter_mut().enumerate() {
            let (source, target) = (outcome >> LEVELS_PER_DRAW, outcome & ((1 << LEVELS_PER_DRAW) - 1));
            if source >> count == 0 && target >> count == 0 {
                *weight = (0..count)
                    .map(|i| levels[count - 1 - i][(source >> i & 1) << 1 | target >> i & 1])
                    .product();
            }
        }
        Self { levels: count as u32, entries: alias(&weight) }
    }

    /// Appends the bits of a random outcome to source and target.
    #[inline(always)]
    fn descend(&self, random: u32, source: &mut u64, target: &mut u64) {
        let first = random >> THRESHOLD_BITS;
        let entry = self.entries[first as usize];
        let below = (random & ((1 << THRESHOLD_BITS) - 1)) < entry >> 8;
        let outcome = if below { first } else { entry & 0xff };
        *source = *source << self.levels | u64::from(outcome >> LEVELS_PER_DRAW);
        *target = *target << self.levels | u64::from(outcome & ((1 << LEVELS_PER_DRAW) - 1));
    }
}

/// Vose's alias table for the given weights, with thresholds rounded to 24 bits.
fn alias(weight: &[f64; OUTCOMES]) -> Box<[u32; OUTCOMES]> {
    let total: f64 = weight.iter().sum();
    let mut left: Vec<f64> = weight.iter().map(|w| w / total * OUTCOMES as f64).collect();
    // Initially each outcome is its own alias, so its threshold does not matter.
    let mut entries: Box<[u32; OUTCOMES]> = Box::new(std::array::from_fn(|i| i as u32));
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..OUTCOMES).partition(|&i| left[i] < 1.0);
    while let (Some(poor), Some(&rich)) = (small.pop(), large.last()) {
        let threshold = (left[poor] * f64::from(1 << THRESHOLD_BITS)) as u32;
        entries[poor] = threshold << 8 | rich as u32;
        left[rich] -= 1.0 - left[poor];
        if left[rich] < 1.0 {
            large.pop();
            small.push(rich);
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fraction of edges in each of the four quadrants of the highest level.
    fn quadrants(model: &RMat, seed: u64) -> [f64; 4] {
        let edges = model.prepare(seed).unwrap();
        let mut hits = [0.0; 4];
        for slot in 0..edges.num_edges() {
            let (u, v) = edges.edge(slot).unwrap();
            hits[((u >> (model.scale - 1)) << 1 | v >> (model.scale - 1)) as usize] += 1.0;
        }
        hits.map(|x| x / edges.num_edges() as f64)
    }

    #[test]
    fn quadrants_have_the_requested_probabilities() {
        let model =
            RMat { a: 0.4, b: 0.3, c: 0.2, permute: false, directed: true, ..RMat::kronecker(10, 100) };
        for (got, want) in quadrants(&model, 1).into_iter().zip([0.4, 0.3, 0.2, 0.1]) {
            // Five standard deviations: 0.0077.
            assert!((got - want).abs() < 0.007, "{got} instead of {want}");
        }
    }

    #[test]
    fn every_level_has_the_same_probabilities_also_in_a_short_last_table() {
        for scale in [1, 3, 4, 5, 9] {
            let model = RMat { permute: false, ..RMat::kronecker(scale, 1 << (17 - scale)) };
            let edges = model.prepare(3).unwrap();
            for level in 0..scale {
                let high =
                    (0..edges.num_edges()).filter(|&i| edges.edge(i).unwrap().0 >> level & 1 == 1).count();
                let share = high as f64 / edges.num_edges() as f64;
                assert!((share - 0.24).abs() < 0.007, "scale {scale}, level {level}: {share}");
            }
        }
    }

    #[test]
    fn noise_keeps_the_probabilities_of_a_level_adding_up_to_one() {
        let model = RMat { noise: 0.1, ..RMat::kronecker(16, 16) };
        let mut draws = RandomKey::new(1, 1).sequence(0);
        let levels: Vec<_> = (0..16).map(|_| model.level(&mut draws)).collect();
        assert!(levels.iter().all(|p| (p.iter().sum::<f64>() - 1.0).abs() < 1e-12));
        assert!(levels.iter().all(|p| p.iter().all(|&x| x >= 0.0)));
        assert_ne!(levels[0], levels[1]);
    }

    #[test]
    fn renumbering_keeps_the_degrees() {
        let degrees = |permute| {
            let edges = RMat { permute, ..RMat::kronecker(8, 16) }.prepare(4).unwrap();
            let mut degree = vec![0; 256];
            for (u, v) in (0..edges.num_edges()).filter_map(|i| edges.edge(i)) {
                degree[u as usize] += 1;
                degree[v as usize] += 1;
            }
            degree
        };
        let (mut plain, mut renumbered) = (degrees(false), degrees(true));
        assert_ne!(plain, renumbered);
        plain.sort_unstable();
        renumbered.sort_unstable();
        assert_eq!(plain, renumbered);
    }

    #[test]
    fn impossible_probabilities_are_refused() {
        let base = RMat::kronecker(4, 4);
        for model in [
            RMat { a: 0.9, ..base.clone() },
            RMat { b: -0.1, ..base.clone() },
            RMat { c: f64::NAN, ..base.clone() },
        ] {
            let error = model.prepare(0).unwrap_err().to_string();
            assert!(error.contains("must be at least 0 and add up to at most 1"), "{error}");
        }
        let error = RMat { noise: 0.2, ..base }.prepare(0).unwrap_err().to_string();
        assert!(error.contains("the noise is 0.2 but must be between 0 and 0.19"), "{error}");
    }
}
