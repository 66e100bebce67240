//! Places vertices by forces: ForceAtlas2.
//!
//! **Method.** Jacomy et al. [1]. Vertices push each other away, with a force in proportion to the product of
//! their degrees plus one, divided by the distance; edges draw their ends together in proportion to their
//! length; a weak force draws everything to the middle, so that components stay near. Each round moves every
//! vertex by its force times a speed: fast while most forces keep their direction from round to round, slow
//! for a vertex that would swing. Pushes of far vertices are approximated by those of squares
//! (Barnes and Hut).
//!
//! **Work.** A round: O(n log n + m).
//!
//! **Memory.** 150 bytes a vertex and 8 an edge and end.
//!
//! **Depends on** the seed and the numbering of the vertices, which give the first places; not on the number
//! of threads: sums are taken in the order of the vertices.
//!
//! [1] M. Jacomy, T. Venturini, S. Heymann, M. Bastian, "ForceAtlas2, a Continuous Graph Layout Algorithm for
//! Handy Network Visualization Designed for the Gephi Software", PLoS ONE 9(6), 2014.

use esker_graph::random::{RandomKey, unit};
use esker_graph::{Run, Stop};
use rayon::prelude::*;

use super::drawn::{DrawnGraph, Neighbours, Place};
use super::quadtree::Quadtree;

/// What the random numbers are for.
const PLACES: u64 = 0x706c_6163_6573;
/// Vertices of a unit of work.
const GRAIN: usize = 1 << 9;
/// The swinging that is tolerated [1, "Adapting the speed"]: more is faster and less exact.
const TOLERANCE: f64 = 1.0;
/// The speed of a vertex beside that of all [1: k_s].
const LOCAL_SPEED: f64 = 0.1;
/// The greatest step of a vertex is this, divided by nothing but the force [1: k_smax].
const LONGEST_STEP: f64 = 10.0;
/// The most that the speed of all may grow by in a round.
const GROWTH: f64 = 1.5;

/// With more, a square could act as one mass on a point inside it.
const OPENING_MAX: f64 = 1.9;

/// How forces act.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ForceOptions {
    /// Number of rounds.
    pub rounds: usize,
    /// Strength of the pushes beside that of the edges [1: k_r]. More makes the drawing wider.
    pub scaling: f64,
    /// Strength of the force to the middle [1: k_g].
    pub gravity: f64,
    /// A square acts as one mass if it looks at most this large: its width, divided by the distance. 0:
    /// never.
    pub opening: f64,
}

impl Default for ForceOptions {
    fn default() -> Self {
        Self { rounds: 300, scaling: 2.0, gravity: 1.0, opening: 1.2 }
    }
}

/// The state of a vertex.
#[derive(Debug, Clone, Copy, Default)]
struct Motion {
    /// The force of the round before.
    force: Place,
    /// How much the force has changed, and how much it has kept, times the mass.
    swing: f64,
    traction: f64,
}

/// Places for the vertices of a drawing, the middle of which is the origin.
///
/// ```
/// use esker_algo::drawing::DrawnGraph;
/// use esker_algo::drawing::forces::{ForceOptions, forces};
/// use esker_graph::Run;
///
/// // Two triangles that an edge joins: the ends of the edge lie between the others.
/// let edges = vec![(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)];
/// let drawn = DrawnGraph { num_vertices: 6, edges };
/// let places = forces(&drawn, &ForceOptions::default(), &Run::with_threads(2)?)?;
/// let distance = |u: usize, v: usize| {
///     (places[u][0] - places[v][0]).hypot(places[u][1] - places[v][1])
/// };
/// assert!(distance(0, 1) < distance(0, 4) && distance(2, 3) < distance(1, 5));
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] for an edge of other vertices and for options that are no finite numbers or below
/// zero; [`Stop::OverBudget`]; cancellation.
pub fn forces(graph: &DrawnGraph, options: &ForceOptions, run: &Run) -> Result<Vec<Place>, Stop> {
    graph.check()?;
    let numbers = [options.scaling, options.gravity, options.opening];
    if numbers.iter().any(|number| !number.is_finite() || *number < 0.0) || options.opening > OPENING_MAX {
        return Err(Stop::unsuitable(format!(
            "scaling and gravity are numbers from 0 on, and the opening is from 0 to {OPENING_MAX}"
        )));
    }
    let n = graph.num_vertices;
    let needed =
        n * (size_of::<(Place, Motion, f64, u32)>() + 16) + 2 * graph.edges.len() * size_of::<(u32, u32)>();
    let run = &run.begin("a drawing by forces", needed as u64 + Quadtree::bytes_max(n))?;
    run.install(|| Forces::new(graph, options, run.seed()).settle(run))
}

struct Forces<'a> {
    options: &'a ForceOptions,
    neighbours: Neighbours,
    masses: Vec<f64>,
    places: Vec<Place>,
    moved: Vec<Motion>,
    speed: f64,
}

impl<'a> Forces<'a> {
    fn new(graph: &DrawnGraph, options: &'a ForceOptions, seed: u64) -> Self {
        let neighbours = Neighbours::of(graph, true);
        let n = graph.num_vertices;
        let masses = (0..n).map(|v| neighbours.of_vertex(v).len() as f64 + 1.0).collect();
        let (random, side) = (RandomKey::new(seed, PLACES), 10.0 * (n as f64).sqrt());
        let coordinate = |index: usize| (unit(random.at(index as u64)) - 0.5) * side;
        let places = (0..n).map(|v| [coordinate(2 * v), coordinate(2 * v + 1)]).collect();
        Self { options, neighbours, masses, places, moved: vec![Motion::default(); n], speed: 1.0 }
    }

    fn settle(mut self, run: &Run) -> Result<Vec<Place>, Stop> {
        for _ in 0..self.options.rounds {
            run.round(self.places.len())?;
            self.round();
        }
        let n = self.places.len().max(1) as f64;
        let middle = [0, 1].map(|axis| self.places.iter().map(|place| place[axis]).sum::<f64>() / n);
        for place in &mut self.places {
            *place = [place[0] - middle[0], place[1] - middle[1]];
        }
        Ok(self.places)
    }

    fn round(&mut self) {
        let tree = Quadtree::new(&self.places, &self.masses);
        // In the order of the curve, in which neighbours ask for the same squares.
        let units = tree.order.par_chunks(GRAIN);
        let found: Vec<Vec<Motion>> =
            units.map(|unit| unit.iter().map(|&v| self.moved_by(&tree, v as usize)).collect()).collect();
        for (&v, moved) in tree.order.iter().zip(found.into_iter().flatten()) {
            self.moved[v as usize] = moved;
        }
        let swing: f64 = self.moved.iter().map(|moved| moved.swing).sum();
        let traction: f64 = self.moved.iter().map(|moved| moved.traction).sum();
        if swing > 0.0 {
            self.speed = (TOLERANCE * traction / swing).min(self.speed * GROWTH);
        }
        for ((place, moved), mass) in self.places.iter_mut().zip(&self.moved).zip(&self.masses) {
            let force = moved.force[0].hypot(moved.force[1]);
            if force > 0.0 {
                let calm = 1.0 + self.speed * (moved.swing / mass).sqrt();
                let speed = (LOCAL_SPEED * self.speed / calm).min(LONGEST_STEP / force);
                *place = [place[0] + moved.force[0] * speed, place[1] + moved.force[1] * speed];
            }
        }
    }

    /// The force on a vertex, and what has become of that of the round before.
    fn moved_by(&self, tree: &Quadtree, v: usize) -> Motion {
        let (place, mass) = (self.places[v], self.masses[v]);
        let push = tree.push_on(place, self.options.opening);
        let mut force = push.map(|push| push * mass * self.options.scaling);
        for &u in self.neighbours.of_vertex(v) {
            let other = self.places[u as usize];
            force[0] += other[0] - place[0];
            force[1] += other[1] - place[1];
        }
        let distance = place[0].hypot(place[1]);
        if distance > 0.0 {
            let pull = self.options.gravity * mass / distance;
            force = [force[0] - place[0] * pull, force[1] - place[1] * pull];
        }
        let before = self.moved[v].force;
        Motion {
            force,
            swing: mass * (force[0] - before[0]).hypot(force[1] - before[1]),
            traction: mass * (force[0] + before[0]).hypot(force[1] + before[1]) / 2.0,
        }
    }
}
