//! Input graphs of the benchmark: read from files of other benchmark suites, or generated.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use esker_graph::generate::{Generator, Model, RMat, Uniform, WattsStrogatz, Weighting};
use esker_graph::random::{hash, scale};
use esker_graph::{CsrGraph, Direction, Graph, Rows, VertexId, Weight, vertex};

/// A family of graphs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Family {
    /// A few vertices have most of the edges.
    Kronecker,
    /// Edges are uniformly random.
    Uniform,
    /// Vertices are on a circle and adjacent to the nearest ones: a large diameter.
    Ring,
}

/// The arrays of an undirected graph. Weights come from the file, or are generated on demand.
pub(crate) struct Arrays {
    offsets: Vec<u64>,
    targets: Vec<VertexId>,
    weights: Vec<i32>,
    units: Vec<()>,
}

impl Arrays {
    /// Reads GAP's serialised form (`.sg`, `.wsg`) or the text form of Ligra and GBBS (`AdjacencyGraph`,
    /// `WeightedAdjacencyGraph`), depending on the first bytes.
    pub(crate) fn read(path: &str) -> Self {
        let file = File::open(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut reader = BufReader::with_capacity(1 << 20, file);
        let begin = reader.fill_buf().expect("the file can be read");
        if begin.starts_with(b"AdjacencyGraph") {
            Self::from_text(reader, false)
        } else if begin.starts_with(b"WeightedAdjacencyGraph") {
            Self::from_text(reader, true)
        } else {
            Self::from_serialised(reader, path.ends_with(".wsg"))
        }
    }

    /// Text form: a line with the kind, then numbers: vertices, arcs, the start of each list, neighbours,
    /// weights.
    fn from_text(mut reader: impl BufRead, weighted: bool) -> Self {
        reader.skip_until(b'\n').expect("a first line");
        let mut number = || next_number(&mut reader);
        let (n, arcs) = (number() as usize, number());
        let offsets = (0..n).map(|_| number()).collect::<Vec<_>>().into_iter().chain([arcs]).collect();
        let targets = (0..arcs).map(|_| vertex(number() as usize)).collect();
        let weights = if weighted { (0..arcs).map(|_| number() as i32).collect() } else { Vec::new() };
        Self::new(offsets, targets, weights)
    }

    /// Serialised form: one byte for directed, 64 bits each for arcs and vertices, 64-bit offsets, 32-bit
    /// neighbours, each followed by its weight if there are weights.
    fn from_serialised(mut reader: impl Read, weighted: bool) -> Self {
        let mut directed = [0];
        reader.read_exact(&mut directed).expect("a first byte");
        assert_eq!(directed[0], 0, "the benchmark takes undirected graphs only");
        let mut word = || {
            let mut bytes = [0; 8];
            reader.read_exact(&mut bytes).expect("the file has more data");
            u64::from_le_bytes(bytes)
        };
        let (arcs, n) = (word() as usize, word() as usize);
        let offsets = (0..=n).map(|_| word()).collect();
        let mut half = || {
            let mut bytes = [0; 4];
            reader.read_exact(&mut bytes).expect("the file has more data");
            u32::from_le_bytes(bytes)
        };
        let (mut targets, mut weights) = (Vec::with_capacity(arcs), Vec::new());
        for _ in 0..arcs {
            targets.push(vertex(half() as usize));
            if weighted {
                weights.push(half() as i32);
            }
        }
        Self::new(offsets, targets, weights)
    }

    /// Generates a graph of about `degree` arcs per vertex. Keeps repeated edges.
    pub(crate) fn generate(scale: u32, degree: u64, family: Family) -> Self {
        let n = 1u64 << scale;
        let model = match family {
            Family::Kronecker => Model::RMat(RMat::kronecker(scale, degree / 2)),
            Family::Uniform => {
                Model::Uniform(Uniform { num_vertices: n, num_edges: n * degree / 2, directed: false })
            }
            Family::Ring => Model::WattsStrogatz(WattsStrogatz { num_vertices: n, degree, rewire: 0.0 }),
        };
        let made = Generator::new(&model, Weighting::None, 1).expect("a sound model");
        let mut arcs: Vec<(VertexId, VertexId)> = made
            .edges()
            .into_iter()
            .filter(|(u, v, ())| u != v)
            .flat_map(|(u, v, ())| [(u, v), (v, u)])
            .collect();
        arcs.sort_unstable();
        let mut offsets = vec![0; n as usize + 1];
        arcs.iter().for_each(|arc| offsets[arc.0 as usize + 1] += 1);
        (0..n as usize).for_each(|v| offsets[v + 1] += offsets[v]);
        Self::new(offsets, arcs.into_iter().map(|arc| arc.1).collect(), Vec::new())
    }

    fn new(offsets: Vec<u64>, targets: Vec<VertexId>, weights: Vec<i32>) -> Self {
        let units = vec![(); targets.len()];
        Self { offsets, targets, weights, units }
    }

    /// The same graph with vertices renumbered by descending degree, as an import can do.
    pub(crate) fn by_degree(&self) -> Self {
        let n = self.offsets.len() - 1;
        let list = |v: usize| self.offsets[v] as usize..self.offsets[v + 1] as usize;
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&v| std::cmp::Reverse(list(v).len()));
        let mut numbers = vec![0; n];
        order.iter().enumerate().for_each(|(number, &v)| numbers[v] = vertex(number));
        let mut new = Self::new(vec![0], Vec::with_capacity(self.targets.len()), Vec::new());
        for v in order {
            let mut arcs: Vec<(VertexId, Option<&i32>)> =
                list(v).map(|i| (numbers[self.targets[i] as usize], self.weights.get(i))).collect();
            arcs.sort_unstable();
            new.targets.extend(arcs.iter().map(|arc| arc.0));
            new.weights.extend(arcs.iter().filter_map(|arc| arc.1));
            new.offsets.push(new.targets.len() as u64);
        }
        new.units = vec![(); new.targets.len()];
        new
    }

    /// If there are no weights, derives weights from 1 to 255 from the ends of each edge.
    pub(crate) fn need_weights(&mut self) {
        if !self.weights.is_empty() {
            return;
        }
        for v in 0..self.offsets.len() - 1 {
            let list = &self.targets[self.offsets[v] as usize..self.offsets[v + 1] as usize];
            let drawn = list.iter().map(|&u| {
                let (low, high) = ((v as u64).min(u as u64), (v as u64).max(u as u64));
                1 + scale(hash(low << 32 ^ high), 255) as i32
            });
            self.weights.extend(drawn);
        }
    }

    pub(crate) fn plain(&self) -> CsrGraph<'_, ()> {
        self.over(&self.units)
    }

    pub(crate) fn weighted(&self) -> CsrGraph<'_, i32> {
        self.over(&self.weights)
    }

    fn over<'a, W: Weight>(&'a self, weights: &'a [W]) -> CsrGraph<'a, W> {
        CsrGraph::undirected(Rows::new(&self.offsets, &self.targets, weights).expect("sound rows"))
    }

    /// A vertex of the highest degree.
    pub(crate) fn hub(&self) -> VertexId {
        let graph = self.plain();
        (0..graph.num_vertices()).map(vertex).max_by_key(|&v| graph.degree(Direction::Out, v)).unwrap_or(0)
    }
}

/// The next number in a text, whatever separates it from the previous one.
fn next_number(reader: &mut impl BufRead) -> u64 {
    let (mut number, mut begun) = (0, false);
    loop {
        let buffer = reader.fill_buf().expect("the file can be read");
        assert!(begun || !buffer.is_empty(), "the file ends early");
        let mut used = 0;
        for &byte in buffer {
            used += 1;
            if byte.is_ascii_digit() {
                number = number * 10 + u64::from(byte - b'0');
                begun = true;
            } else if begun {
                reader.consume(used);
                return number;
            }
        }
        reader.consume(used);
        if used == 0 {
            return number;
        }
    }
}
