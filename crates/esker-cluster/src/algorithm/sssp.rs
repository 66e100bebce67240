//! Shortest paths from one source over edges with lengths: the weights of the cluster, or 1 if edges have none.
//!
//! Distances are settled in windows, the same for all processes: a window begins at the least distance that is not settled anywhere. Inside a
//! shard vertices of the window are settled by distance from a heap. Ghosts that come nearer are told to their owners, which may open
//! the window again; it is over when no ghost came nearer anywhere. The ghosts of a delegate are told when it comes nearer, and settle their part of its
//! list. The distances are a least fixed point: they do not depend on the number of
//! processes or the width of the windows, and are those of one machine bit for bit.
//!
//! Work O(m log n). Messages: 12 bytes for each ghost and round in which it comes nearer. Memory: 8 bytes a vertex, 24 a waiting entry.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use esker_algo::lengths::Length;
use esker_format::{ElementType, Error, Result};
use esker_graph::{Direction, Graph, Lists, VertexId};

use super::local::{Found, Local, Options, unsuitable};
use crate::answer::{Cell, ColumnKind, Outline};
use crate::engine::Engine;

/// A distance of no vertex: larger than any other, as a key.
const FAR: u64 = u64::MAX;
/// Edges from which the default width of a window is taken, in each process.
const SAMPLE_LEN: usize = 1 << 12;

/// Distances as keys that have the same order.
trait Keyed: Copy {
    const KIND: ColumnKind;
    fn to_key(self) -> u64;
    fn of_key(key: u64) -> Self;
    fn to_cell(self) -> Cell;
    /// The distance that ends a window of a width that begins at this one, and is beyond it.
    fn beyond(self, width: f64) -> Self;
}

impl Keyed for i64 {
    const KIND: ColumnKind = ColumnKind::Count;

    fn to_key(self) -> u64 {
        self as u64
    }

    fn of_key(key: u64) -> Self {
        key as Self
    }

    fn to_cell(self) -> Cell {
        Cell::Count(self as u64)
    }

    fn beyond(self, width: f64) -> Self {
        self.saturating_add((width as Self).max(1))
    }
}

impl Keyed for f64 {
    const KIND: ColumnKind = ColumnKind::Float;

    /// Bits of floats from zero have their order.
    fn to_key(self) -> u64 {
        self.to_bits()
    }

    fn of_key(key: u64) -> Self {
        Self::from_bits(key)
    }

    fn to_cell(self) -> Cell {
        Cell::Float(self)
    }

    fn beyond(self, width: f64) -> Self {
        (self + width).max(self.next_up())
    }
}

/// A distance in a graph.
type Distance<G> = <<G as Graph>::Weight as Length>::Distance;

pub(crate) fn sssp(local: &Local<'_, '_>, engine: &mut Engine<'_>, options: &Options<'_>) -> Result<Found> {
    match local.snapshot.weight_type() {
        None => search(local, local.graph, engine, options),
        Some(ElementType::I64) => search(local, &local.snapshot.graph::<i64>(local.run)?, engine, options),
        Some(ElementType::F64) => search(local, &local.snapshot.graph::<f64>(local.run)?, engine, options),
        Some(other) => Err(unsuitable(format!(
            "cannot take weights of the type {} as lengths: make a cluster with --weights int or float",
            other.name()
        ))),
    }
}

fn search<G: Lists<Weight: Length<Distance: Keyed>, Error = Error>>(
    local: &Local<'_, '_>,
    graph: &G,
    engine: &mut Engine<'_>,
    options: &Options<'_>,
) -> Result<Found> {
    let source = options.text("source").ok_or_else(|| {
        Error::Usage("sssp needs a vertex to begin with: give its id as the option source".to_owned())
    })?;
    let mut settling = Settling {
        local,
        graph,
        distances: vec![FAR; graph.num_vertices()],
        waiting: BinaryHeap::new(),
        nearer: Vec::new(),
        delegates: Vec::new(),
    };
    let start = local.find_owned(source)?;
    let width = options.number("delta", mean_length(local, graph, engine)?)?;
    if width <= 0.0 {
        return Err(Error::Usage(format!("delta={width} is not a width of a window: give a number above 0")));
    }
    if let Some(v) = start {
        settling.come_nearer(v, <G::Weight as Length>::ORIGIN.to_key());
    }
    let (mut rounds, mut windows) = (0, 0);
    loop {
        let least = engine.gather(settling.least())?.into_iter().min().unwrap_or(FAR);
        if least == FAR {
            break;
        }
        windows += 1;
        let end = Distance::<G>::of_key(least).beyond(width).to_key();
        loop {
            settling.settle_before(end)?;
            let told = settling.take_nearer();
            let mut heard = Vec::new();
            let active =
                local.routes.tell_owners(engine, told.len() as u64, told.into_iter(), |v, key| {
                    heard.push((v, key));
                })?;
            heard.into_iter().for_each(|(v, key)| settling.come_nearer(v, key));
            let (told, mut heard) = (settling.take_delegates(), Vec::new());
            let nearer = |v| told.binary_search(&v).is_ok().then(|| settling.distances[v as usize]);
            let spread = local.routes.to_delegates(engine, told.len() as u64, nearer, |ghost, key| {
                heard.push((ghost, key));
            })?;
            heard.into_iter().for_each(|(ghost, key)| settling.spread_from(ghost, key));
            rounds += 1;
            if active + spread == 0 {
                break;
            }
        }
    }
    let distances = settling.distances;
    let reached = local.routes.owned().filter(|&v| distances[v as usize] != FAR).count();
    let [reached] = engine.sum([reached as u64])?;
    let outline = Outline::new(&[("distance", Distance::<G>::KIND)], rounds)
        .with_fact("reached", reached as f64)
        .with_fact("windows", f64::from(windows));
    let cells = move |v: VertexId| match distances[v as usize] {
        FAR => vec![Cell::Missing],
        key => vec![Distance::<G>::of_key(key).to_cell()],
    };
    Ok((outline, Box::new(cells)))
}

/// The mean length of the first edges of all processes, in the same order everywhere; 1 if there are none.
fn mean_length<G: Lists<Weight: Length, Error = Error>>(
    local: &Local<'_, '_>,
    graph: &G,
    engine: &mut Engine<'_>,
) -> Result<f64> {
    let (mut count, mut sum) = (0, 0.0);
    for v in local.routes.owned() {
        if count >= SAMPLE_LEN {
            break;
        }
        graph.with_list(Direction::Out, v, |_, weights| {
            for weight in weights.iter().take(SAMPLE_LEN - count) {
                sum += weight.to_f64();
                count += 1;
            }
        })?;
    }
    let mean = if G::Weight::UNIT { 1.0 } else { sum / count.max(1) as f64 };
    let means = engine.gather(mean.to_bits())?;
    let sum: f64 = means.iter().map(|&bits| f64::from_bits(bits)).sum();
    let mean = sum / means.len() as f64;
    Ok(if mean.is_finite() && mean > 0.0 { mean } else { 1.0 })
}

/// The search in one shard.
struct Settling<'a, 's, G> {
    local: &'a Local<'a, 's>,
    graph: &'a G,
    /// The distance of each vertex, as a key; of a ghost the least that this shard knows.
    distances: Vec<u64>,
    /// Own vertices that came nearer since they were settled.
    waiting: BinaryHeap<Reverse<(u64, VertexId)>>,
    /// Ghosts that came nearer since they were told.
    nearer: Vec<VertexId>,
    /// Own delegates that came nearer since their ghosts were told.
    delegates: Vec<VertexId>,
}

impl<G: Lists<Weight: Length<Distance: Keyed>, Error = Error>> Settling<'_, '_, G> {
    fn come_nearer(&mut self, v: VertexId, key: u64) {
        if key >= self.distances[v as usize] {
            return;
        }
        self.distances[v as usize] = key;
        match self.local.routes.is_owned(v) {
            true => {
                self.waiting.push(Reverse((key, v)));
                if self.local.routes.is_own_delegate(v) {
                    self.delegates.push(v);
                }
            }
            false => self.nearer.push(v),
        }
    }

    /// Has a ghost of a delegate settle its part of the list, at the distance that its owner knows.
    fn spread_from(&mut self, ghost: VertexId, key: u64) {
        if key <= self.distances[ghost as usize] {
            self.distances[ghost as usize] = key;
            self.waiting.push(Reverse((key, ghost)));
        }
    }

    /// The own delegates that came nearer, ascending.
    fn take_delegates(&mut self) -> Vec<VertexId> {
        let mut delegates = std::mem::take(&mut self.delegates);
        delegates.sort_unstable();
        delegates.dedup();
        delegates
    }

    /// The least distance that is not settled.
    fn least(&self) -> u64 {
        self.waiting.peek().map_or(FAR, |Reverse((key, _))| *key)
    }

    /// Settles what is nearer than `end`.
    fn settle_before(&mut self, end: u64) -> Result<()> {
        let mut found = Vec::new();
        let mut settled = 0_u32;
        while let Some(&Reverse((key, v))) = self.waiting.peek().filter(|Reverse((key, _))| *key < end) {
            self.waiting.pop();
            if key > self.distances[v as usize] {
                continue;
            }
            settled = settled.wrapping_add(1);
            if settled.is_multiple_of(1 << 12) {
                self.local.run.check()?;
            }
            let distance = Distance::<G>::of_key(key);
            self.graph.with_list(Direction::Out, v, |targets, weights| {
                for (&target, &weight) in targets.iter().zip(weights) {
                    let sum = lengthen(distance, weight)?;
                    if sum < self.distances[target as usize] {
                        found.push((target, sum));
                    }
                }
                Ok::<(), Error>(())
            })??;
            found.drain(..).for_each(|(target, sum)| self.come_nearer(target, sum));
        }
        Ok(())
    }

    /// The ghosts that came nearer, each once, with their distances.
    fn take_nearer(&mut self) -> Vec<(VertexId, u64)> {
        let mut nearer = std::mem::take(&mut self.nearer);
        nearer.sort_unstable();
        nearer.dedup();
        nearer.into_iter().map(|v| (v, self.distances[v as usize])).collect()
    }
}

/// The distance after an edge, as a key; [`FAR`] after one that is infinitely long.
fn lengthen<W: Length<Distance: Keyed>>(distance: W::Distance, weight: W) -> Result<u64> {
    if let Some(sum) = W::extend(distance, weight) {
        return Ok(sum.to_key());
    }
    let length = weight.to_f64();
    if length.is_nan() || length < 0.0 {
        return Err(unsuitable(
            "cannot compute shortest paths: an edge has a length that is negative or not a number",
        ));
    }
    // Which paths are the shortest is not known yet.
    if W::INTEGRAL {
        return Err(unsuitable("cannot compute shortest paths: a path is longer than 63 bits hold"));
    }
    if length < f64::INFINITY {
        return Err(unsuitable("cannot compute shortest paths: a path is longer than a double holds"));
    }
    Ok(FAR)
}
