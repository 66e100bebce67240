//! Random histories of small graphs, and layers built directly from them, for tests.
//!
//! A [`History`] is the model: every copy of every edge, with the versions in which it was born and died.
//! [`History::layers`] writes it as layers with given ranges, and [`check_version`] compares a stack of
//! layers with the model.

mod tests;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use esker_format::io::{Disk, MemoryDisk};
use esker_format::{
    DatabaseId, ElementType, Encoding, LayerRecord, LogicalType, Origin, Owner, PropertyRecord, SectionRecord,
};
use esker_graph::random::Random;
use esker_graph::{Direction, Flow, Run, VertexId, vertex};
use esker_layers::layer::{
    Address, ArcChunk, PlainLayer, PlainWriter, SectionChunk, SectionShape, SectionWriter, code_type,
};
use esker_layers::stack::Stack;

pub(crate) const ORIGIN: Origin = Origin::of_import(DatabaseId([6; 16]));

/// A random subset of `items`, each with a probability of `percent`.
pub(crate) fn some(random: &mut Random, items: impl IntoIterator<Item = u64>, percent: usize) -> Vec<u64> {
    items.into_iter().filter(|_| random.index(100) < percent).collect()
}

/// The kind of a graph.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraphKind {
    pub(crate) directed: bool,
    pub(crate) multigraph: bool,
    pub(crate) in_edges: bool,
    /// Whether the complete layer is compressed.
    pub(crate) compressed: bool,
}

impl GraphKind {
    pub(crate) fn random(random: &mut Random) -> Self {
        let directed = random.index(100) < 60;
        let in_edges = directed && (random.index(100) < 70);
        Self {
            directed,
            multigraph: (random.index(100) < 40),
            in_edges,
            compressed: (random.index(100) < 50),
        }
    }

    pub(crate) fn directions(self) -> &'static [Direction] {
        if self.in_edges { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
    }
}

/// A change to the edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HistoryChange {
    /// Adds an edge with a weight; replaces the edge unless the graph is a multigraph.
    Add(VertexId, VertexId, i32),
    /// Removes all copies of an edge, if there are any.
    Delete(VertexId, VertexId),
}

/// An edge that exists in the versions `born..died`.
#[derive(Debug, Clone, Copy)]
struct EdgeLifetime {
    from: VertexId,
    to: VertexId,
    weight: i32,
    born: u64,
    died: u64,
}

impl EdgeLifetime {
    fn at(&self, version: u64) -> bool {
        self.born <= version && self.died > version
    }
}

/// An arc of a list: its target, and the lifetime of its edge.
type ListEntry = (VertexId, EdgeLifetime);

/// All versions of a small graph. Version 1 is the import.
#[derive(Debug, Clone)]
pub(crate) struct History {
    pub(crate) kind: GraphKind,
    /// The changes that made each version, from version 1 on.
    pub(crate) changes: Vec<Vec<HistoryChange>>,
    num_vertices: Vec<usize>,
    lives: Vec<EdgeLifetime>,
    /// For each pair of vertices, the indexes in `lives` of the living edges.
    alive: HashMap<(VertexId, VertexId), Vec<usize>>,
}

impl History {
    /// A history without versions.
    pub(crate) fn new(kind: GraphKind) -> Self {
        Self { kind, changes: Vec::new(), num_vertices: Vec::new(), lives: Vec::new(), alive: HashMap::new() }
    }

    /// A random history of `versions` versions.
    pub(crate) fn random(kind: GraphKind, random: &mut Random, versions: usize) -> Self {
        let mut history = Self::new(kind);
        let mut n = 1 + random.index(8);
        let size = 1 + random.index(12);
        for version in 0..versions {
            let count = if version == 0 { random.index(3 * n) } else { random.index(size) };
            let changes = (0..count).map(|_| {
                let (from, to) = (vertex(random.index(n)), vertex(random.index(n)));
                if random.index(100) < 35 {
                    HistoryChange::Delete(from, to)
                } else {
                    HistoryChange::Add(from, to, random.index(3) as i32)
                }
            });
            history.commit(n, changes.collect());
            n += usize::from(random.index(100) < 20) * random.index(3);
        }
        history
    }

    /// Adds a version.
    pub(crate) fn commit(&mut self, num_vertices: usize, changes: Vec<HistoryChange>) {
        let version = self.last() + 1;
        for &change in &changes {
            let (HistoryChange::Add(from, to, _) | HistoryChange::Delete(from, to)) = change;
            let pair = if self.kind.directed { (from, to) } else { (from.min(to), from.max(to)) };
            let alive = self.alive.entry(pair).or_default();
            if !(self.kind.multigraph && matches!(change, HistoryChange::Add(..))) {
                alive.drain(..).for_each(|index| self.lives[index].died = version);
            }
            if let HistoryChange::Add(from, to, weight) = change {
                alive.push(self.lives.len());
                self.lives.push(EdgeLifetime { from, to, weight, born: version, died: u64::MAX });
            }
        }
        self.num_vertices.push(num_vertices);
        self.changes.push(changes);
    }

    /// The newest version.
    pub(crate) fn last(&self) -> u64 {
        self.changes.len() as u64
    }

    pub(crate) fn num_vertices(&self, version: u64) -> usize {
        self.num_vertices[version as usize - 1]
    }

    /// The numbers of edges, arcs and self-loops.
    pub(crate) fn counts(&self, version: u64) -> (u64, u64, u64) {
        let edges = || self.lives.iter().filter(|life| life.at(version));
        let (num_edges, num_loops) =
            (edges().count() as u64, edges().filter(|e| e.from == e.to).count() as u64);
        let num_arcs = if self.kind.directed { num_edges } else { 2 * num_edges - num_loops };
        (num_edges, num_arcs, num_loops)
    }

    /// The list of each vertex that ever had an arc, sorted by target.
    fn lists(&self, direction: Direction) -> BTreeMap<VertexId, Vec<ListEntry>> {
        let mut lists: BTreeMap<VertexId, Vec<ListEntry>> = BTreeMap::new();
        for life in self.lives.iter().filter(|life| life.born < life.died) {
            let both = !self.kind.directed && life.from != life.to;
            if direction == Direction::Out || both {
                lists.entry(life.from).or_default().push((life.to, *life));
            }
            if direction == Direction::In || both {
                lists.entry(life.to).or_default().push((life.from, *life));
            }
        }
        lists.values_mut().for_each(|list| list.sort_by_key(|entry| (entry.0, entry.1.born)));
        lists
    }

    /// The lists of a version: targets and weights, sorted.
    pub(crate) fn lists_at(&self, direction: Direction, version: u64) -> Vec<Vec<(VertexId, i32)>> {
        let mut lists = vec![Vec::new(); self.num_vertices(version)];
        for (v, list) in self.lists(direction) {
            let alive = list.iter().filter(|(_, life)| life.at(version));
            let alive: Vec<_> = alive.map(|(target, life)| (*target, life.weight)).collect();
            if !alive.is_empty() {
                lists[v as usize] = alive;
                lists[v as usize].sort_unstable();
            }
        }
        lists
    }

    /// Writes the whole history as layers that end at `cuts` (ascending; the last is the newest version) and
    /// distinguish the versions `distinguished` and `cuts`. `random` decides which fragments are whole.
    pub(crate) fn layers(&self, random: &mut Random, cuts: &[u64], distinguished: &[u64]) -> TestLayers {
        let mut layers =
            TestLayers { disk: MemoryDisk::new(), layers: Vec::new(), distinguished: distinguished.to_vec() };
        layers.distinguished.extend(cuts);
        layers.distinguished.sort_unstable();
        layers.distinguished.dedup();
        let mut heads = [HashMap::new(), HashMap::new()];
        let mut first = 1;
        for (number, &last) in (1..).zip(cuts) {
            let versions: Vec<u64> = layers
                .distinguished
                .iter()
                .copied()
                .filter(|version| (first..=last).contains(version))
                .collect();
            let range = LayerRange { number, first, last, versions, sloppy: (random.index(100) < 30) };
            let mut record = self.record(&range);
            let directory = layer_directory(number);
            layers.disk.create_directory(&directory).unwrap();
            let writer = PlainWriter::new(&layers.disk, &directory, ORIGIN);
            for &direction in self.kind.directions() {
                let section =
                    self.section(&writer, direction, &range, &mut heads[direction as usize], random);
                match direction {
                    Direction::Out => record.out = section,
                    Direction::In => record.incoming = section,
                }
            }
            if range.versions.len() > 1 {
                writer.versions(&range.versions).unwrap();
            }
            layers.layers.push(layers.open(&record));
            first = last + 1;
        }
        layers
    }

    fn record(&self, range: &LayerRange) -> LayerRecord {
        let (num_edges, num_arcs, num_loops) = self.counts(range.last);
        LayerRecord {
            number: range.number,
            stamp: ORIGIN.stamp,
            first_version: range.first,
            last_version: range.last,
            num_versions: range.versions.len() as u32,
            encoding: self.encoding(range.number == 1),
            complete: range.number == 1,
            directed: self.kind.directed,
            multigraph: self.kind.multigraph,
            in_edges: self.kind.in_edges,
            num_vertices: self.num_vertices(range.last) as u64,
            num_edges,
            num_arcs,
            num_loops,
            previous_commit: 0,
            last_commit: 0,
            out: SectionRecord::default(),
            incoming: SectionRecord::default(),
            num_new_ids: 0,
            dictionaries: Vec::new(),
            vertex_properties: Vec::new(),
        }
    }

    fn encoding(&self, complete: bool) -> Encoding {
        if complete && self.kind.compressed { Encoding::Compressed } else { Encoding::Plain }
    }

    fn section(
        &self,
        writer: &PlainWriter<'_>,
        direction: Direction,
        range: &LayerRange,
        heads: &mut HashMap<VertexId, Address>,
        random: &mut Random,
    ) -> SectionRecord {
        let complete = range.number == 1;
        let codes = (range.versions.len() > 1).then(|| code_type(range.versions.len() as u32));
        // The codes of texts grow wider in later layers.
        let texts = if range.number < 3 { ElementType::U8 } else { ElementType::U16 };
        let shape = SectionShape {
            without_targets: false,
            complete,
            encoding: self.encoding(complete),
            codes,
            properties: vec![ElementType::I32, texts],
        };
        let mut section = SectionWriter::create(writer, direction, shape).unwrap();
        let lists = self.lists(direction);
        let touched: Vec<VertexId> = if complete {
            (0..self.num_vertices(range.last)).map(vertex).collect()
        } else {
            let in_range = |version| (range.first..=range.last).contains(&version);
            let is_touched =
                |list: &[ListEntry]| list.iter().any(|(_, l)| in_range(l.born) || in_range(l.died));
            lists.iter().filter(|(_, list)| is_touched(list)).map(|(&v, _)| v).collect()
        };
        let mut chunk = SectionChunk::default();
        for (slot, v) in touched.into_iter().enumerate() {
            let list = lists.get(&v).map_or(&[][..], Vec::as_slice);
            let previous = heads.insert(v, Address::new(range.number, slot));
            let whole = complete || previous.is_none() || (random.index(100) < 30);
            range.fragment(
                &mut chunk,
                v,
                list,
                if whole { Address::default() } else { previous.unwrap() },
                random,
            );
            if random.index(100) < 20 {
                section.append(&std::mem::take(&mut chunk)).unwrap();
            }
        }
        section.append(&chunk).unwrap();
        section.finish().unwrap()
    }
}

/// The range of a layer.
struct LayerRange {
    number: u32,
    first: u64,
    last: u64,
    versions: Vec<u64>,
    /// Whether to write entries that no reader may see: tombstones for arcs that do not exist, and arcs that
    /// no version saw.
    sloppy: bool,
}

impl LayerRange {
    fn code(&self, version: u64) -> u32 {
        if version < self.first || (self.number == 1 && version == 1) {
            return 0;
        }
        self.versions.partition_point(|&distinguished| distinguished < version) as u32 + 1
    }

    /// Adds the fragment of a vertex; `list` is its list throughout the history.
    fn fragment(
        &self,
        chunk: &mut SectionChunk,
        v: VertexId,
        list: &[ListEntry],
        previous: Address,
        random: &mut Random,
    ) {
        let whole = previous == Address::default();
        let first = self.versions.first().copied().unwrap_or(self.last);
        let (mut degree, mut dead, mut has_past) = (0, BTreeMap::new(), false);
        for &(target, life) in
            list.iter().filter(|(_, life)| life.born <= self.last && life.died >= self.first)
        {
            let old = life.born < self.first;
            degree += usize::from(life.at(self.last));
            let (born, died) = (self.code(life.born), self.code(life.died));
            if life.at(self.last) && (whole || !old) {
                push(&mut chunk.main, target, life.weight, born, None);
            } else if life.died <= self.last && old && !whole {
                dead.insert(target, died);
            } else if life.died <= self.last && self.versions.len() > 1 {
                let seen = born.max(1) < died || (self.sloppy && born < died && first > 1);
                if seen {
                    push(&mut chunk.past, target, life.weight, born, Some(died));
                    has_past = true;
                }
            } else if self.sloppy && !whole && life.died <= self.last && (random.index(100) < 50) {
                dead.entry(target).or_insert(died);
            }
        }
        chunk.main.end_list();
        if self.number > 1 {
            chunk.vertices.push(v);
            chunk.degrees.push(vertex(degree));
            chunk.previous.push(previous.0);
        }
        if has_past {
            chunk.past_vertices.push(v);
            chunk.past.end_list();
        }
        if !dead.is_empty() {
            chunk.dead_vertices.push(v);
            for (target, died) in dead {
                chunk.dead.targets.push(target);
                chunk.dead.died.push(died);
            }
            chunk.dead.end_list();
        }
    }
}

fn push(chunk: &mut ArcChunk, target: VertexId, weight: i32, born: u32, died: Option<u32>) {
    chunk.targets.push(target);
    chunk.born.push(born);
    chunk.died.extend(died);
    chunk.properties.resize(2, Vec::new());
    chunk.properties[0].push(u64::from(weight.cast_unsigned()));
    chunk.properties[1].push(text_of(weight));
}

/// The text code of an edge with a weight.
pub(crate) fn text_of(weight: i32) -> u64 {
    u64::from(weight.unsigned_abs()) * 50
}

/// Layers on a disk in memory.
#[derive(Debug)]
pub(crate) struct TestLayers {
    pub(crate) disk: MemoryDisk,
    /// Oldest first.
    pub(crate) layers: Vec<Arc<PlainLayer>>,
    /// The versions that the layers distinguish.
    pub(crate) distinguished: Vec<u64>,
}

impl TestLayers {
    /// Opens the layer of a record, in the directory of its number.
    pub(crate) fn open(&self, record: &LayerRecord) -> Arc<PlainLayer> {
        let directory = layer_directory(record.number);
        Arc::new(PlainLayer::open(&self.disk, &directory, ORIGIN, record, &properties()).unwrap())
    }
}

pub(crate) fn layer_directory(number: u32) -> PathBuf {
    Path::new("layers").with_extension(number.to_string())
}

/// The edge properties: a weight, and a text that depends on it.
pub(crate) fn properties() -> Vec<PropertyRecord> {
    let property = |number, name: &str, element, texts: bool| PropertyRecord {
        number,
        owner: Owner::Edges,
        name: name.to_owned(),
        element,
        logical: if texts { LogicalType::Text } else { LogicalType::Number },
        weight: !texts,
        kind: false,
        optional: false,
    };
    vec![property(0, "weight", ElementType::I32, false), property(1, "kind", ElementType::U8, true)]
}

/// Compares a version in layers with the model: every list and degree, with and without a vertex table.
pub(crate) fn check_version(layers: &[Arc<PlainLayer>], history: &History, version: u64, run: &Run) {
    let n = history.num_vertices(version);
    let stack = Stack::new(layers, version, n as u64).unwrap();
    for &direction in history.kind.directions() {
        let expected = history.lists_at(direction, version);
        for with_table in [false, true] {
            if with_table {
                stack.table(direction, run).unwrap();
            }
            for (v, expected) in expected.iter().enumerate() {
                let mut found = Vec::new();
                let visited = stack.visit(direction, vertex(v), |stretch| {
                    for (position, &target) in (stretch.start..).zip(&*stretch.targets) {
                        let bits = |number| stretch.lists.property(number).unwrap().bits_at(position);
                        let weight = (bits(0)? as u32).cast_signed();
                        assert_eq!(bits(1)?, text_of(weight));
                        found.push((target, weight));
                    }
                    Ok(Flow::More)
                });
                visited.unwrap();
                found.sort_unstable();
                let label = || format!("{direction:?}-list of {v} in version {version}, table: {with_table}");
                assert_eq!(&found, expected, "{}", label());
                assert_eq!(stack.degree(direction, vertex(v)).unwrap(), expected.len(), "{}", label());
            }
        }
    }
    let record = stack.layers().last().unwrap().record();
    if record.last_version == version {
        assert_eq!((record.num_edges, record.num_arcs, record.num_loops), history.counts(version));
    }
}

/// A random ascending set of versions up to `last`, including `last`.
pub(crate) fn random_cuts(random: &mut Random, last: u64, percent: usize) -> Vec<u64> {
    let mut cuts = some(random, 1..last, percent);
    cuts.push(last);
    cuts
}
