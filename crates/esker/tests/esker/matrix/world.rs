//! The database of a combination, and the same graph without a history.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use arrow_array::ArrayRef;
use esker::graph::Run;
use esker::import::install::import;
use esker::import::options::{Duplicates, ImportOptions, NumberingOrder};
use esker::import::read::source::{EdgeBatch, IdKind, Numbers, Schema, id_column, text_column};
use esker::selection::{Condition, Conditions};
use esker::store::database::CompactOptions;
use esker::store::format::Encoding;
use esker::store::ids::ExternalId;
use esker::store::io::{Disk, MemoryDisk};
use esker::store::manifest::StagingOptions;
use esker::store::property::PropertyValue;
use esker::store::tiles::ConvertOptions;
use esker::store::{Batch, Database, DatabaseOptions, HeadedOptions, View};
use esker_graph::random::Random;

use super::axes::{Combination, Directions, INSIDE, Ids, OUTSIDE, Place, Removed, Window};
use crate::forms::{Listed, Weights};

/// The weights of the copies of each edge, by ends; of an undirected edge the lesser end first.
type Edges = BTreeMap<(usize, usize), Vec<f64>>;

/// One of the edges between two vertices.
struct EdgeCopy {
    weight: f64,
    time: i64,
}

/// The weight of the last of some edges; of several at one time, the least.
fn latest(copies: &[EdgeCopy]) -> f64 {
    let last = copies.iter().map(|copy| copy.time).max();
    let of_last = copies.iter().filter(|copy| Some(copy.time) == last);
    of_last.map(|copy| copy.weight).fold(f64::INFINITY, f64::min)
}

/// The vertices of a graph lie at places among those that were removed.
pub(super) struct World {
    combination: Combination,
    /// The place of each vertex that is left.
    left: Vec<usize>,
    num_places: usize,
    /// The edges of the version, by places.
    edges: Edges,
    /// Edges of other versions.
    others: Edges,
    /// Edges of the version that the window or the condition leaves out.
    outside: Edges,
}

/// Layers of [`Place::ManyLayers`].
const LAYERS: usize = 200;
/// Commits before the version.
const COMMITS: usize = 4;

/// A place; small ones are drawn more often.
fn skewed(random: &mut Random, limit: usize) -> usize {
    let most = random.index(limit) + 1;
    random.index(most)
}

/// Seeds of graphs: the same for all combinations of one graph.
fn graph_seed(combination: Combination) -> u64 {
    let Combination { weights, directions, removed, parallel, .. } = combination;
    (u64::from(parallel) * 1024 + weights as u64 * 64 + directions as u64 * 8 + removed as u64 + 1)
        .wrapping_mul(0x2545_f491_4f6c_dd1d)
}

impl World {
    pub(super) fn of(combination: Combination) -> Self {
        let mut draw = Random::new(graph_seed(combination));
        let num_vertices = 9 + draw.index(40);
        let left: Vec<usize> = match combination.removed {
            Removed::None => (0..num_vertices).collect(),
            Removed::Few => (0..num_vertices).map(|v| v + usize::from(v >= 4)).collect(),
            Removed::Many => (0..num_vertices).map(|v| 2 * v + 1).collect(),
        };
        let num_places =
            left.last().map_or(0, |&last| last + 1) + usize::from(combination.removed == Removed::Many);
        let ordered =
            |u: usize, v: usize| if combination.is_directed() { (u, v) } else { (u.min(v), u.max(v)) };
        let mut edges = Edges::new();
        for _ in 0..num_vertices * (1 + draw.index(5)) {
            let ends = ordered(left[skewed(&mut draw, num_vertices)], left[draw.index(num_vertices)]);
            let copies = if combination.parallel { [1, 1, 2, 3][draw.index(4)] } else { 1 };
            edges.insert(ends, vec![0.0; copies]);
        }
        let mut others = Edges::new();
        for _ in 0..num_vertices + 3 {
            let ends = ordered(skewed(&mut draw, num_places), draw.index(num_places));
            if !edges.contains_key(&ends) {
                others.insert(ends, vec![combination.weights.of(0)]);
            }
        }
        for v in (0..num_places).filter(|v| left.binary_search(v).is_err()) {
            for end in [skewed(&mut draw, num_places), draw.index(num_places)] {
                others.insert(ordered(v, end), vec![combination.weights.of(0)]);
            }
        }
        for (i, weight) in edges.values_mut().flatten().enumerate() {
            *weight = combination.weights.of(i);
        }
        let mut outside = Edges::new();
        if combination.leaves_out() {
            for _ in 0..num_vertices + 3 {
                let ends = ordered(left[skewed(&mut draw, num_vertices)], left[draw.index(num_vertices)]);
                if !edges.contains_key(&ends) && !others.contains_key(&ends) {
                    outside.insert(ends, vec![combination.weights.of(0)]);
                }
            }
        }
        Self { combination, left, num_places, edges, others, outside }
    }

    /// Whether the view leaves out a copy of an edge.
    fn is_outside(&self, ends: (usize, usize), copy: usize) -> bool {
        let is_late = |copies: &Vec<f64>| copy >= copies.len();
        self.outside.contains_key(&ends) || self.edges.get(&ends).is_some_and(is_late)
    }

    /// Whether the condition does that, where there is one. Where there is a window too, each leaves out
    /// some.
    fn is_unmarked(&self, ends: (usize, usize), copy: usize) -> bool {
        let is_open = self.combination.window == Window::Open;
        self.combination.filtered
            && (is_open || (ends.0 + copy).is_multiple_of(2))
            && self.is_outside(ends, copy)
    }

    /// The time of a copy of an edge.
    fn time_of(&self, ends: (usize, usize), copy: usize) -> i64 {
        let is_outside = self.is_outside(ends, copy) && !self.is_unmarked(ends, copy);
        let times = if is_outside { OUTSIDE } else { INSIDE };
        times[(ends.0 + ends.1 + copy) % times.len()]
    }

    /// Its mark, on which the condition is.
    fn mark_of(&self, ends: (usize, usize), copy: usize) -> i64 {
        let noise = (ends.0 + 3 * ends.1 + copy) as i64 % 5;
        if self.is_unmarked(ends, copy) { -noise } else { 1 + noise }
    }

    /// Whether the version has a further copy of the edge with this number, which the view leaves out.
    fn has_late_copy(&self, number: usize) -> bool {
        self.combination.leaves_out() && self.combination.parallel && number.is_multiple_of(5)
    }

    /// The edges of the version as they are read: turned round, then without their directions, then joined.
    fn seen(&self) -> Edges {
        let Combination { window, directions, reversed, parallel, .. } = self.combination;
        let mut sets: BTreeMap<(usize, usize), Vec<EdgeCopy>> = BTreeMap::new();
        for (&ends, weights) in &self.edges {
            let (u, v) = if reversed { (ends.1, ends.0) } else { ends };
            let seen = if directions.are_dropped() { (u.min(v), u.max(v)) } else { (u, v) };
            let copies = weights.iter().enumerate();
            let copies = copies.map(|(copy, &weight)| EdgeCopy { weight, time: self.time_of(ends, copy) });
            sets.entry(seen).or_default().extend(copies);
        }
        let joined = |(ends, copies): ((usize, usize), Vec<EdgeCopy>)| {
            let weights: Vec<f64> = copies.iter().map(|copy| copy.weight).collect();
            let least = || weights.iter().copied().fold(f64::INFINITY, f64::min);
            let joined = match window {
                Window::Open | Window::All if directions.are_dropped() && !parallel => vec![least()],
                Window::Open | Window::All => weights,
                Window::Distinct | Window::Latest => vec![latest(&copies)],
                Window::Count => vec![weights.len() as f64],
                Window::Sum => vec![weights.iter().sum()],
                Window::Least => vec![least()],
                Window::Greatest => vec![weights.iter().copied().fold(f64::NEG_INFINITY, f64::max)],
            };
            (ends, joined)
        };
        sets.into_iter().map(joined).collect()
    }

    /// The weights that are read.
    pub(super) fn seen_weights(&self) -> Weights {
        if self.combination.window == Window::Count { Weights::Small } else { self.combination.weights }
    }

    /// Whether another combination has the same graph, among the same vertices.
    pub(super) fn is_of(&self, other: Combination) -> bool {
        let graph = |of: Combination| {
            (of.directions, of.removed, of.parallel, of.weights as usize, of.window, of.filtered, of.reversed)
        };
        graph(self.combination) == graph(other)
    }

    /// The vertices that are left, in ascending order of their ids.
    pub(super) fn num_vertices(&self) -> usize {
        self.left.len()
    }

    pub(super) fn weights(&self) -> Vec<f64> {
        self.seen().values().flatten().copied().collect()
    }

    /// The id of a place.
    fn id(&self, place: usize) -> String {
        match self.combination.ids {
            Ids::Dense => place.to_string(),
            Ids::Sparse => (1000 * place + 7).to_string(),
            Ids::Text => format!("v{place:03}"),
        }
    }

    /// The id of a vertex.
    pub(super) fn id_of(&self, vertex: usize) -> String {
        self.id(self.left[vertex])
    }

    /// The vertex with an id.
    pub(super) fn vertex(&self, id: ExternalId<'_>) -> usize {
        let place = match (id, self.combination.ids) {
            (ExternalId::Int(id), Ids::Sparse) => (id as usize - 7) / 1000,
            (ExternalId::Int(id), _) => id as usize,
            (ExternalId::Text(text), _) => {
                std::str::from_utf8(&text[1..]).ok().and_then(|text| text.parse().ok()).expect("an id")
            }
        };
        self.left.binary_search(&place).expect("a vertex that is left")
    }

    /// Calls `change` with the id of a place, as batches take it.
    fn with_id<T>(&self, place: usize, change: impl FnOnce(ExternalId<'_>) -> T) -> T {
        let text = self.id(place);
        match self.combination.ids {
            Ids::Text => change(ExternalId::Text(text.as_bytes())),
            _ => change(ExternalId::Int(text.parse().expect("an integer"))),
        }
    }

    fn add(&self, batch: &mut Batch, (u, v): (usize, usize), copy: usize, weight: f64) {
        let mut values = self.combination.weights.values(weight);
        if self.combination.window != Window::Open {
            values.push(PropertyValue::from(self.time_of((u, v), copy)));
        }
        if self.combination.filtered {
            values.push(PropertyValue::from(self.mark_of((u, v), copy)));
        }
        self.with_id(u, |u| self.with_id(v, |v| batch.add_edge(u, v, &values))).expect("an edge");
    }

    fn delete(&self, batch: &mut Batch, (u, v): (usize, usize)) {
        self.with_id(u, |u| self.with_id(v, |v| batch.remove_edge(u, v))).expect("an edge");
    }

    /// A column of the ids of places; `as_left`, the numbers of the vertices that are left.
    fn column(&self, places: impl Iterator<Item = usize>, as_left: bool) -> ArrayRef {
        if as_left {
            let number = |place| self.left.binary_search(&place).expect("a vertex that is left") as u64;
            return id_column(places.map(number).collect());
        }
        match self.combination.ids {
            Ids::Text => text_column(places.map(|place| self.id(place))),
            _ => id_column(places.map(|place| self.id(place).parse().expect("an integer")).collect()),
        }
    }

    /// These edges as an input: among all places, or among the vertices that are left, which are then
    /// numbered.
    fn reader(&self, edges: &Edges, as_left: bool) -> Listed {
        let Combination { weights, ids, .. } = self.combination;
        let numbered = |count: usize| IdKind::Numbered { first: 0, num_vertices: count as u64 };
        let kind = match ids {
            _ if as_left => numbered(self.left.len()),
            Ids::Dense => numbered(self.num_places),
            Ids::Sparse => IdKind::Int,
            Ids::Text => IdKind::Text,
        };
        let values: Vec<f64> = edges.values().flatten().copied().collect();
        let ends: Vec<(usize, usize)> =
            edges.iter().flat_map(|(&ends, copies)| copies.iter().map(move |_| ends)).collect();
        let weighted = weights != Weights::None;
        let mut names: Vec<_> = weighted.then(|| "weight".to_owned()).into_iter().collect();
        let mut properties = weights.columns(&values);
        let copies = edges.iter().flat_map(|(&ends, copies)| (0..copies.len()).map(move |copy| (ends, copy)));
        let mut add = |name: &str, values: Vec<i64>| {
            names.push(name.to_owned());
            properties.push(Numbers::Int(values).finish());
        };
        if self.combination.window != Window::Open {
            add("time", copies.clone().map(|(ends, copy)| self.time_of(ends, copy)).collect());
        }
        if self.combination.filtered {
            add("mark", copies.map(|(ends, copy)| self.mark_of(ends, copy)).collect());
        }
        let is_listed = !matches!(kind, IdKind::Numbered { .. });
        let batch = EdgeBatch {
            source: self.column(ends.iter().map(|ends| ends.0), as_left),
            target: self.column(ends.iter().map(|ends| ends.1), as_left),
            properties,
            vertices: is_listed.then(|| self.column(0..self.num_places, as_left)),
            ..EdgeBatch::of_integers(Vec::new(), Vec::new(), 0)
        };
        let schema = Schema {
            operation: None,
            kind: None,
            format: "list",
            ids: kind,
            properties: names,
            weight: weighted.then_some(0),
            types: Vec::new(),
            directed: Some(self.combination.is_directed()),
            time: None,
            both_ends: false,
            input_bytes: None,
        };
        Listed::of(schema, batch)
    }

    /// A database of these edges.
    fn imported(&self, edges: &Edges, encoding: Encoding, as_left: bool) -> Database {
        let Combination { directions, policy, by_degree, parallel, .. } = self.combination;
        let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
        let options = ImportOptions {
            directed: Some(self.combination.is_directed()),
            in_edges: as_left || !directions.lack_in_lists(),
            order: if by_degree && !as_left { NumberingOrder::Degree } else { NumberingOrder::Keep },
            encoding,
            duplicates: if parallel { Duplicates::Keep } else { Duplicates::default() },
            threads: 1,
            memory_bytes: 16 << 20,
            ..ImportOptions::default()
        };
        let path = Path::new("/g.esker");
        let reader = Box::new(self.reader(edges, as_left));
        import(&disk, reader, path, &options, StagingOptions::default()).expect("an import");
        let options = DatabaseOptions {
            policy: Some(policy),
            auto_merge: Some(false),
            threads: 1,
            ..DatabaseOptions::default()
        };
        Database::open_on(disk, path, options).expect("a database")
    }

    /// The graph as plain lists of one layer, whose vertices have the numbers of [`World::vertex`].
    pub(super) fn reference(&self) -> View {
        let Combination { directions, .. } = self.combination;
        let directions = if directions.are_dropped() { Directions::Undirected } else { directions };
        let (window, weights) = (Window::Open, self.seen_weights());
        let plain = Combination { directions, window, weights, ..self.combination };
        let world = Self {
            combination: Combination { filtered: false, reversed: false, ..plain },
            left: self.left.clone(),
            others: Edges::new(),
            outside: Edges::new(),
            edges: self.seen(),
            ..*self
        };
        world.imported(&world.edges, Encoding::Plain, true).latest().expect("a version").view()
    }

    /// The version of the combination, in a database that has tiles, and heads unless it has no lists.
    pub(super) fn version(&self, run: &Run) -> View {
        let Combination { place, removed, encoding, .. } = self.combination;
        let is_direct = place == Place::Whole && removed == Removed::None;
        // The first layer has some edges, some with another weight, and some that go later.
        let mut base = if is_direct { Edges::new() } else { self.others.clone() };
        base.extend(
            self.outside
                .iter()
                .filter(|(ends, _)| is_direct || ends.0 % 2 == 0)
                .map(|(k, v)| (*k, v.clone())),
        );
        for (i, (&ends, weights)) in self.edges.iter().enumerate() {
            let late = self.has_late_copy(i).then(|| self.combination.weights.of(2));
            match i % 4 {
                _ if is_direct => base.insert(ends, weights.iter().copied().chain(late).collect()),
                0 => base.insert(ends, weights.clone()),
                1 => base.insert(ends, vec![self.combination.weights.of(0)]),
                2 if weights.len() > 1 => base.insert(ends, weights[..1].to_vec()),
                _ => None,
            };
        }
        // Imports make lists, of which tiles are made.
        let is_tiles_alone = encoding == Encoding::Tiles;
        let database = self.imported(&base, if is_tiles_alone { Encoding::Plain } else { encoding }, false);
        database.make_tiles(&ConvertOptions::default(), run).expect("tiles");
        if is_tiles_alone {
            let only = CompactOptions { lists: Some(Encoding::Tiles), ..CompactOptions::default() };
            database.compact_with(only, run).expect("tiles alone");
        } else {
            let heads = HeadedOptions { head_len: Some(2), memory_bytes: 64 << 20 };
            database.make_heads(heads, run).expect("heads");
        }
        if !is_direct {
            self.change(&database, run);
        }
        let number = database.latest().expect("a version").number();
        match place {
            Place::Whole if !is_direct => {
                database.compact(run).expect("one layer");
            }
            Place::Below | Place::Buried | Place::BuriedBelow => {
                self.move_on(&database, 0);
                database.freeze(run).expect("a layer");
                if place != Place::Below {
                    database.compact(run).expect("one layer");
                }
                if place == Place::BuriedBelow {
                    self.move_on(&database, 1);
                    database.freeze(run).expect("a layer");
                }
            }
            _ => {}
        }
        let version = database.at(number).expect("a version that is kept");
        self.viewed(version.view(), run)
    }

    /// A version in the view of the combination.
    fn viewed(&self, view: View, run: &Run) -> View {
        let Combination { window, filtered, reversed, directions, .. } = self.combination;
        let window = window.range().map(|window| ("time", window));
        let conditions = filtered.then(|| "mark>=1".parse::<Condition>().expect("a condition"));
        let conditions =
            Conditions::of(conditions.as_slice(), view.version(), run).expect("a condition on a property");
        let view = match (conditions, window) {
            (Some(conditions), _) => view.filtered(conditions, window, true, run).expect("a view"),
            (None, Some((time, window))) => view.window(time, window, true, run).expect("a window"),
            (None, None) => view,
        };
        let view = if reversed { view.reversed() } else { view };
        if directions.are_dropped() { view.as_undirected() } else { view }
    }

    /// From the first layer to the version, in commits that add and delete edges and remove vertices.
    fn change(&self, database: &Database, run: &Run) {
        let Combination { place, parallel, .. } = self.combination;
        let commits = if place == Place::ManyLayers { LAYERS - 1 } else { COMMITS };
        let gone: BTreeSet<usize> =
            (0..self.num_places).filter(|v| self.left.binary_search(v).is_err()).collect();
        let stays = |&&(u, v): &&(usize, usize)| !gone.contains(&u) && !gone.contains(&v);
        let others: Vec<_> = self.others.keys().filter(stays).collect();
        for commit in 0..commits {
            let is_last = commit + 1 == commits;
            let mut batch = database.batch();
            for (i, (&ends, weights)) in self.edges.iter().enumerate() {
                // Some come, go and come back.
                let returns = i % 7 == 0 && is_last;
                if returns || i % 4 != 0 && i % commits == commit {
                    // In a multigraph an added edge is a further copy, so the old copies go first; else it
                    // replaces the edge that is there.
                    let has_first = i % 4 == 2 && i % 7 != 0 && weights.len() > 1;
                    if parallel && !has_first {
                        self.delete(&mut batch, ends);
                    }
                    let copies = weights.iter().enumerate().skip(usize::from(has_first));
                    copies.for_each(|(copy, &weight)| self.add(&mut batch, ends, copy, weight));
                } else if i % 7 == 0 && (i / 7) % (commits - 1) == commit {
                    self.delete(&mut batch, ends);
                }
            }
            if is_last {
                self.add_outside(&mut batch);
            }
            for (i, &&ends) in others.iter().enumerate() {
                // Of many layers, each adds or deletes one of them, until the last deletes all.
                match place {
                    Place::ManyLayers if !is_last && i != commit % others.len() => {}
                    Place::ManyLayers if !is_last && commit % 2 == 1 => {
                        self.add(&mut batch, ends, 0, self.combination.weights.of(1));
                    }
                    Place::ManyLayers => self.delete(&mut batch, ends),
                    _ if i % commits == commit => self.delete(&mut batch, ends),
                    _ => {}
                }
            }
            for (_, &v) in gone.iter().enumerate().filter(|(i, _)| i % commits == commit) {
                self.with_id(v, |id| batch.remove_vertex(id)).expect("a vertex");
            }
            database.commit(batch, "more, and less").expect("a commit");
            if place == Place::OverMerged && commit == commits / 2 {
                database.compact(run).expect("one layer");
            } else if !(place == Place::Log && is_last) {
                database.freeze(run).expect("a layer");
            }
        }
    }

    /// Adds what the window leaves out, unless the first layer has it.
    fn add_outside(&self, batch: &mut Batch) {
        for (&ends, weights) in self.outside.iter().filter(|(ends, _)| ends.0 % 2 == 1) {
            self.add(batch, ends, 0, weights[0]);
        }
        let late = self.edges.iter().enumerate().filter(|(i, _)| self.has_late_copy(*i));
        for (_, (&ends, weights)) in late {
            self.add(batch, ends, weights.len(), self.combination.weights.of(2));
        }
    }

    /// Another commit, after which most edges are others.
    fn move_on(&self, database: &Database, parity: usize) {
        let mut batch = database.batch();
        for (i, &ends) in self.edges.keys().enumerate() {
            if i % 2 == parity {
                self.delete(&mut batch, ends);
            } else {
                self.add(&mut batch, ends, 0, self.combination.weights.of(0));
            }
        }
        for &ends in self.others.keys() {
            self.add(&mut batch, ends, 0, self.combination.weights.of(0));
        }
        database.commit(batch, "other edges").expect("a commit");
    }
}
