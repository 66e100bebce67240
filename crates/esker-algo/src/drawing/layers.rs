//! Places vertices in layers, for graphs whose edges mostly lead one way: dependencies, citations,
//! generations.
//!
//! **Method.** The steps of Sugiyama et al. [1]. Edges that close a cycle are turned round for the time
//! being. The layer of a vertex is the length of the longest path to it; one without edges that arrive goes
//! right above the next that it leads to. Where an edge passes layers it gets a bend in each. Layers are
//! sorted by the mean place of the neighbours in the layer before, down and up in turn, and the order with
//! the fewest crossings stays. Then each point goes as near to the mean of its neighbours as the order and a
//! least distance allow, by pooling adjacent violators [2].
//!
//! **Work.** O((n + b) log n) a sweep with `b` bends. **Memory.** 100 bytes a vertex, an edge and a bend.
//!
//! **Depends on** the order of vertices and edges, which decides between equals.
//!
//! [1] K. Sugiyama, S. Tagawa, M. Toda, "Methods for Visual Understanding of Hierarchical System Structures",
//! IEEE Transactions on Systems, Man and Cybernetics 11(2), 1981.
//! [2] R. Barlow, D. Bartholomew, J. Bremner, H. Brunk, "Statistical Inference under Order Restrictions",
//! 1972.

use esker_graph::{Run, Stop};

use super::drawn::{DrawnGraph, Neighbours, Place};

/// Sweeps, down and up in turn, that sort layers.
const SORTS: usize = 24;
/// Sweeps that move points to the mean of their neighbours.
const MOVES: usize = 16;
/// Beyond so many bends edges are straight.
const BENDS_MAX: usize = 1 << 20;
/// The distance of layers, where that of neighbours in a layer is 1.
const LAYER_DISTANCE: f64 = 1.6;
/// What bends need of the distance that vertices need.
const BEND_DISTANCE: f64 = 0.4;

/// A drawing in layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Layered {
    /// The place of each vertex; vertices of a layer have the same height, and a distance of at least 1.
    pub places: Vec<Place>,
    /// The layer of each vertex, from 0.
    pub layers: Vec<u32>,
    /// Of each edge, the places that it passes between its ends.
    pub bends: Vec<Vec<Place>>,
}

/// Places for the vertices of a drawing, in layers from the top.
///
/// ```
/// use esker_algo::drawing::DrawnGraph;
/// use esker_algo::drawing::layers::layered;
/// use esker_graph::Run;
///
/// let drawn = DrawnGraph { num_vertices: 4, edges: vec![(0, 1), (0, 2), (1, 3), (2, 3)] };
/// let found = layered(&drawn, &Run::with_threads(1)?)?;
/// assert_eq!(found.layers, [0, 1, 1, 2]);
/// assert_eq!(found.places[0][0], found.places[3][0]); // 0 and 3 above each other, between 1 and 2
/// # Ok::<(), esker_graph::Stop>(())
/// ```
///
/// # Errors
/// [`Stop::Unsuitable`] for an edge of other vertices; [`Stop::OverBudget`]; cancellation.
pub fn layered(graph: &DrawnGraph, run: &Run) -> Result<Layered, Stop> {
    graph.check()?;
    let parts = graph.num_vertices + graph.edges.len();
    let run = &run.begin("a drawing in layers", 100 * parts as u64)?;
    let arcs = without_cycles(graph);
    let layers = layers_of(graph.num_vertices, &arcs);
    let bends: usize = arcs.iter().map(|&(u, v)| span(&layers, u, v).saturating_sub(1)).sum();
    let bend_bytes = if bends <= BENDS_MAX { 100 * bends as u64 } else { 0 };
    let run = &run.begin("a drawing in layers", 100 * parts as u64 + bend_bytes)?;
    let mut points = Points::new(&arcs, &layers, bends <= BENDS_MAX);
    points.sort(run)?;
    points.settle(run)?;
    let place = |&point: &u32| points.places[point as usize];
    let places = (0..graph.num_vertices as u32).map(|v| place(&v)).collect();
    let turned = graph.edges.iter().zip(&arcs).map(|(edge, arc)| edge != arc);
    let bends = points.bends.iter().zip(turned).map(|(bends, is_turned)| {
        let bends = bends.iter().map(place);
        if is_turned { bends.rev().collect() } else { bends.collect() }
    });
    Ok(Layered { places, bends: bends.collect(), layers })
}

fn span(layers: &[u32], u: u32, v: u32) -> usize {
    layers[v as usize].abs_diff(layers[u as usize]) as usize
}

/// The edges, those turned round that lead back to where a depth-first search came from.
fn without_cycles(graph: &DrawnGraph) -> Vec<(u32, u32)> {
    let n = graph.num_vertices;
    let out = Neighbours::of(graph, false);
    let mut has_arriving = vec![false; n];
    out.targets.iter().for_each(|&v| has_arriving[v as usize] = true);
    // The place of a vertex in the order in which the search leaves vertices, from the last to the first.
    let (mut left, mut next_left) = (vec![0_u32; n], n as u32);
    let mut begun = vec![false; n];
    let sources = (0..n).filter(|&v| !has_arriving[v]).chain((0..n).filter(|&v| has_arriving[v]));
    let mut path: Vec<(usize, usize)> = Vec::new();
    for source in sources {
        if std::mem::replace(&mut begun[source], true) {
            continue;
        }
        path.push((source, 0));
        while let Some((v, tried)) = path.last_mut() {
            match out.of_vertex(*v).get(*tried) {
                Some(&next) => {
                    *tried += 1;
                    if !std::mem::replace(&mut begun[next as usize], true) {
                        path.push((next as usize, 0));
                    }
                }
                None => {
                    next_left -= 1;
                    left[*v] = next_left;
                    path.pop();
                }
            }
        }
    }
    let forward = |&(u, v): &(u32, u32)| if left[u as usize] <= left[v as usize] { (u, v) } else { (v, u) };
    graph.edges.iter().map(forward).collect()
}

/// The layers of the vertices of a graph without cycles but loops.
fn layers_of(n: usize, arcs: &[(u32, u32)]) -> Vec<u32> {
    let graph = DrawnGraph { num_vertices: n, edges: arcs.to_vec() };
    let out = Neighbours::of(&graph, false);
    let mut arriving = vec![0_u32; n];
    out.targets.iter().for_each(|&v| arriving[v as usize] += 1);
    let is_first: Vec<bool> = arriving.iter().map(|&count| count == 0).collect();
    let mut layers = vec![0_u32; n];
    let mut ready: Vec<usize> = (0..n).filter(|&v| is_first[v]).collect();
    while let Some(v) = ready.pop() {
        for &next in out.of_vertex(v) {
            let next = next as usize;
            layers[next] = layers[next].max(layers[v] + 1);
            arriving[next] -= 1;
            if arriving[next] == 0 {
                ready.push(next);
            }
        }
    }
    for v in (0..n).filter(|&v| is_first[v]) {
        let lowest = out.of_vertex(v).iter().map(|&next| layers[next as usize]).min();
        layers[v] = lowest.map_or(0, |next| next - 1);
    }
    layers
}

/// Vertices and bends, in layers.
struct Points {
    /// The points of each layer, in their order.
    layers: Vec<Vec<u32>>,
    /// The bends of each edge, from its upper end.
    bends: Vec<Vec<u32>>,
    /// Neighbours of each point in the layer above and in that below.
    above: Vec<Vec<u32>>,
    below: Vec<Vec<u32>>,
    /// The place of each point in its layer.
    ranks: Vec<u32>,
    places: Vec<Place>,
    num_vertices: usize,
}

impl Points {
    fn new(arcs: &[(u32, u32)], layers: &[u32], with_bends: bool) -> Self {
        let num_layers = layers.iter().max().map_or(0, |&layer| layer as usize + 1);
        let mut points = Self {
            layers: vec![Vec::new(); num_layers],
            bends: Vec::with_capacity(arcs.len()),
            above: vec![Vec::new(); layers.len()],
            below: vec![Vec::new(); layers.len()],
            ranks: Vec::new(),
            places: Vec::new(),
            num_vertices: layers.len(),
        };
        for (v, &layer) in layers.iter().enumerate() {
            points.layers[layer as usize].push(v as u32);
        }
        for &(u, v) in arcs {
            let (from, to) = (layers[u as usize] as usize, layers[v as usize] as usize);
            let mut bends = Vec::new();
            if from < to && (with_bends || from + 1 == to) {
                let mut last = u;
                for layer in from + 1..to {
                    let bend = points.above.len() as u32;
                    points.above.push(Vec::new());
                    points.below.push(Vec::new());
                    points.layers[layer].push(bend);
                    points.join(last, bend);
                    bends.push(bend);
                    last = bend;
                }
                points.join(last, v);
            }
            points.bends.push(bends);
        }
        points.ranks = vec![0; points.above.len()];
        points.places = vec![[0.0; 2]; points.above.len()];
        points
    }

    fn join(&mut self, upper: u32, lower: u32) {
        self.below[upper as usize].push(lower);
        self.above[lower as usize].push(upper);
    }

    fn rank_layer(&mut self, layer: usize) {
        for (rank, &point) in (0..).zip(&self.layers[layer]) {
            self.ranks[point as usize] = rank;
        }
    }

    /// Sorts the layers so that few edges cross.
    fn sort(&mut self, run: &Run) -> Result<(), Stop> {
        (0..self.layers.len()).for_each(|layer| self.rank_layer(layer));
        let mut best = (self.crossings(), self.layers.clone());
        for sweep in 0..SORTS {
            run.check()?;
            let down = sweep % 2 == 0;
            for step in 1..self.layers.len() {
                let layer = if down { step } else { self.layers.len() - 1 - step };
                self.sort_layer(layer, down);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.layers.clone());
            }
            if best.0 == 0 {
                break;
            }
        }
        self.layers = best.1;
        (0..self.layers.len()).for_each(|layer| self.rank_layer(layer));
        Ok(())
    }

    /// Sorts a layer by the mean rank of the neighbours above, or below; points without any stay where they
    /// are.
    fn sort_layer(&mut self, layer: usize, by_above: bool) {
        let sides = if by_above { &self.above } else { &self.below };
        let mean = |point: u32| {
            let others = &sides[point as usize];
            let sum: f64 = others.iter().map(|&other| f64::from(self.ranks[other as usize])).sum();
            (!others.is_empty()).then(|| sum / others.len() as f64)
        };
        let points = &self.layers[layer];
        let mut joined: Vec<(f64, u32)> =
            points.iter().filter_map(|&point| Some((mean(point)?, point))).collect();
        joined.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sorted = joined.into_iter().map(|(_, point)| point);
        let new = points.iter().map(|&point| match mean(point) {
            Some(_) => sorted.next().unwrap_or(point),
            None => point,
        });
        self.layers[layer] = new.collect();
        self.rank_layer(layer);
    }

    /// The number of crossings between neighbouring layers.
    fn crossings(&self) -> u64 {
        self.layers.windows(2).map(|pair| self.crossings_below(&pair[0], pair[1].len())).sum()
    }

    /// Counts pairs of edges whose ends are in different order above and below, with a tree of sums.
    fn crossings_below(&self, upper: &[u32], lower_len: usize) -> u64 {
        let (mut counts, mut total, mut crossings) = (vec![0_u64; lower_len + 1], 0, 0);
        for &point in upper {
            let mut ranks: Vec<usize> =
                self.below[point as usize].iter().map(|&other| self.ranks[other as usize] as usize).collect();
            ranks.sort_unstable();
            for &rank in &ranks {
                let (mut at, mut up_to) = (rank + 1, 0);
                while at > 0 {
                    up_to += counts[at];
                    at &= at - 1;
                }
                crossings += total - up_to;
            }
            for rank in ranks {
                let mut at = rank + 1;
                while at <= lower_len {
                    counts[at] += 1;
                    at += at & at.wrapping_neg();
                }
                total += 1;
            }
        }
        crossings
    }

    /// The distance that two neighbours in a layer need.
    fn distance(&self, left: u32, right: u32) -> f64 {
        let is_bend = |point: u32| point as usize >= self.num_vertices;
        match (is_bend(left), is_bend(right)) {
            (true, true) => BEND_DISTANCE,
            (false, false) => 1.0,
            _ => f64::midpoint(1.0, BEND_DISTANCE),
        }
    }

    /// Places the points, first beside each other, then near their neighbours.
    fn settle(&mut self, run: &Run) -> Result<(), Stop> {
        for layer in 0..self.layers.len() {
            let mut x = 0.0;
            let points = self.layers[layer].clone();
            for (i, &point) in points.iter().enumerate() {
                if i > 0 {
                    x += self.distance(points[i - 1], point);
                }
                self.places[point as usize] = [x, layer as f64 * LAYER_DISTANCE];
            }
            points.iter().for_each(|&point| self.places[point as usize][0] -= x / 2.0);
        }
        for sweep in 0..MOVES {
            run.check()?;
            for step in 0..self.layers.len() {
                let layer = if sweep % 2 == 0 { step } else { self.layers.len() - 1 - step };
                self.settle_layer(layer, sweep % 2 == 0);
            }
        }
        Ok(())
    }

    /// Moves the points of a layer to where the sum of the squares of the distances to the means of their
    /// neighbours above, or below, is least, in their order and with their distances.
    fn settle_layer(&mut self, layer: usize, by_above: bool) {
        let points = self.layers[layer].clone();
        // Without the distances that are needed, points may touch: then blocks of equal places do.
        let (mut offset, mut offsets) = (0.0, Vec::with_capacity(points.len()));
        // The sum of the wishes of a block, and the number of its points.
        let mut blocks: Vec<(f64, usize)> = Vec::new();
        for (i, &point) in points.iter().enumerate() {
            if i > 0 {
                offset += self.distance(points[i - 1], point);
            }
            offsets.push(offset);
            let sides = [&self.above[point as usize], &self.below[point as usize]];
            let [first, second] = if by_above { sides } else { [sides[1], sides[0]] };
            let others = if first.is_empty() { second } else { first };
            let sum: f64 = others.iter().map(|&other| self.places[other as usize][0]).sum();
            let wish = match others.len() {
                0 => self.places[point as usize][0],
                count => sum / count as f64,
            };
            let mut block = (wish - offset, 1);
            while let Some(&(sum, count)) = blocks.last() {
                if sum / count as f64 <= block.0 / block.1 as f64 {
                    break;
                }
                block = (block.0 + sum, block.1 + count);
                blocks.pop();
            }
            blocks.push(block);
        }
        let means = blocks.iter().flat_map(|&(sum, count)| std::iter::repeat_n(sum / count as f64, count));
        for ((point, offset), mean) in points.iter().zip(offsets).zip(means) {
            self.places[*point as usize][0] = mean + offset;
        }
    }
}
